//! `install`: the result for each skill, their place, and what to do next.

use std::collections::BTreeSet;

use super::{and, counted, error, one_line, quoted, short_revision, steps};
use crate::cli::printer::Printer;
use skillpm_core::ops::install::{Change, InstallOutcome, InstalledSkill};
use skillpm_core::scope::plan::ChangedFiles;
use skillpm_format::advice::Warning;
use skillpm_format::manifest;
use skillpm_format::scope_kind::CANONICAL_DIR;
use skillpm_format::scope_kind::ScopeKind;
use skillpm_format::text::and_more;

/// The maximum number of unchanged skills that get a line each. More would bury the changes, so they are only
/// counted.
const MOST_UNCHANGED: usize = 10;
/// The number of skills that one line names.
const MOST_NAMED: usize = 3;

pub(crate) fn show(printer: &Printer, outcome: &InstallOutcome) {
    if outcome.dry_run {
        steps::plan(printer, &outcome.paths);
    } else {
        summary(printer, outcome);
    }
    warn(printer, outcome);
    if !outcome.dry_run && outcome.skills.is_empty() {
        printer.note(&format!("there is nothing to install: `{}` names no skills", manifest::FILE_NAME));
    }
    let hints = outcome.hints();
    if outcome.dry_run { printer.hints(&hints) } else { printer.tips(&hints) }
}

pub(crate) fn json(printer: &Printer, outcome: &InstallOutcome) {
    printer.json(outcome);
    warn(printer, outcome);
}

fn summary(printer: &Printer, outcome: &InstallOutcome) {
    let unchanged = outcome.skills.iter().filter(|skill| skill.change == Change::Unchanged).count();
    let told = outcome
        .skills
        .iter()
        .filter(|skill| skill.change != Change::Unchanged || unchanged <= MOST_UNCHANGED);
    printer.statuses(told.map(|skill| (sign(skill.change), line(skill))));
    if outcome.skills.is_empty() {
        return;
    }
    printer.note(&format!("{} in `{}`", counts(&outcome.skills), one_line(&outcome.place)));
    if !outcome.skills.iter().all(|skill| skill.disabled) {
        let by: BTreeSet<&String> = outcome.agents.iter().chain(&outcome.seen_by).collect();
        let by: Vec<_> = by.into_iter().collect();
        let seen = if by.is_empty() { String::new() } else { and(&by) + ", and to " };
        printer
            .note(&format!("available to {seen}agents that read `{CANONICAL_DIR}`; `--agent` adds others"));
    }
    if !outcome.remembered.is_empty() {
        printer.note(&format!("you use {}: remembered for all your projects", and(&outcome.remembered)));
    }
    if outcome.only_here.is_empty() {
        files(printer, outcome.scope, outcome.files);
    } else if let Some(changed) = changed(outcome.files) {
        let most = if printer.look().verbose { outcome.only_here.len() } else { MOST_NAMED };
        let names: Vec<_> = outcome.only_here.iter().map(|name| format!("`{name}`")).collect();
        let only = and_more(&names, most);
        let (come, them) = if outcome.only_here.len() == 1 { ("comes", "it") } else { ("come", "them") };
        printer.note(&format!(
            "{changed}; {only} {come} from outside of the project, so colleagues cannot install {them}"
        ));
    }
}

/// Reports which of manifest and lockfile changed.
pub(super) fn files(printer: &Printer, scope: Option<ScopeKind>, files: ChangedFiles) {
    if let Some(told) = changed(files) {
        let what = if files.manifest && files.lockfile { "both" } else { "it" };
        let commit = if scope == Some(ScopeKind::User) { String::new() } else { format!(": commit {what}") };
        printer.note(&format!("{told}{commit}"));
    }
}

fn changed(files: ChangedFiles) -> Option<String> {
    let names = steps::file_names(files);
    (!names.is_empty()).then(|| format!("{} changed", quoted(&names)))
}

fn warn(printer: &Printer, outcome: &InstallOutcome) {
    // For programs, what was requested and not done is an error.
    let failures = if printer.look().json { &outcome.left_out[..] } else { &[] };
    for left in failures {
        error::failure(printer, &left.why);
    }
    let is_other = |warning: &&Warning| failures.iter().all(|left| left.warning() != **warning);
    printer.warnings(outcome.warnings.iter().filter(is_other));
    if let Some(left) = outcome.left_edited() {
        error::failure(printer, &left);
    }
    if let Some(left) = outcome.left_unread().filter(|_| printer.look().json) {
        error::failure(printer, &left);
    }
}

/// Returns a text such as `pdf 1.0 (github:anthropics/skills at 1a2b3c4)`.
fn line(skill: &InstalledSkill) -> String {
    let mut line = one_line(&skill.name);
    if let Some(version) = &skill.version {
        line = format!("{line} {}", one_line(version));
    }
    let mut end = String::new();
    for (holds, word) in [(skill.editable, ", editable"), (skill.disabled, ", disabled")] {
        end.extend(holds.then_some(word));
    }
    if !skill.needed_by.is_empty() && skill.change != Change::Removed {
        let by: Vec<String> = skill.needed_by.iter().map(|name| one_line(name)).collect();
        end = format!("{end}, needed by {}", and(&by));
    }
    let at = skill
        .revision
        .as_deref()
        .map_or(String::new(), |revision| format!(" at {}", one_line(&short_revision(revision))));
    format!("{line} ({}{at}{end})", one_line(&skill.source))
}

fn sign(change: Change) -> &'static str {
    match change {
        Change::Added => "+",
        Change::Updated | Change::Replaced => "~",
        Change::Unchanged => "=",
        Change::Removed => "-",
        Change::Kept => "!",
        Change::Disabled => "<",
        Change::Enabled => ">",
    }
}

/// Returns a text such as `2 skills added, 1 unchanged`.
fn counts(skills: &[InstalledSkill]) -> String {
    let kinds = [
        (Change::Added, "added"),
        (Change::Updated, "updated"),
        (Change::Replaced, "replaced"),
        (Change::Unchanged, "unchanged"),
        (Change::Removed, "removed"),
        (Change::Kept, "left as is"),
        (Change::Disabled, "disabled"),
        (Change::Enabled, "enabled"),
    ];
    let changes: Vec<_> = skills.iter().map(|skill| skill.change).collect();
    counted("skill", &changes, &kinds).join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::appearance::Appearance;
    use crate::cli::printer::testing::printer;

    use skillpm_core::scope::agent_view::Unseen;
    use skillpm_core::scope::changes::PathEffect;

    use skillpm_core::ops::install::NewVersion;
    use skillpm_core::scope::plan::Step;
    use skillpm_format::review::{self, Kind, Review};

    fn skill(name: &str, change: Change) -> InstalledSkill {
        InstalledSkill {
            name: name.to_owned(),
            version: (name == "pdf").then(|| "1.0".to_owned()),
            source: "github:anthropics/skills".to_owned(),
            path: Some(format!("skills/{name}")),
            revision: Some("1a2b3c4d".repeat(5)),
            digest: Some("sha256:00".to_owned()),
            editable: false,
            disabled: false,
            needed_by: Vec::new(),
            change,
        }
    }

    fn new_version() -> NewVersion {
        let digest = || format!("sha256:{}", "0".repeat(64)).parse().unwrap();
        let path = "SKILL.md".parse().unwrap();
        let change = review::Change {
            kind: Kind::Url,
            new_capability: true,
            path,
            line: None,
            text: "https://a.test".into(),
        };
        let review = Review { changes: vec![change], ..Review::default() };
        NewVersion::new("xlsx".parse().unwrap(), (digest(), digest()), review)
    }

    fn outcome() -> InstallOutcome {
        InstallOutcome {
            skills: vec![
                skill("docx", Change::Unchanged),
                skill("old", Change::Removed),
                skill("pdf", Change::Added),
                skill("xlsx", Change::Updated),
            ],
            steps: vec![Step::Link { agent: "junie".to_owned(), name: "pdf".parse().unwrap() }],
            paths: vec![
                steps::path(".junie/skills/pdf", PathEffect::Created),
                steps::path("skillpm.lock", PathEffect::Replaced),
            ],
            files: ChangedFiles { manifest: true, lockfile: true },
            agents: vec!["claude-code".to_owned(), "junie".to_owned()],
            scope: Some(ScopeKind::Project),
            place: CANONICAL_DIR.to_owned(),
            reviewed: vec![new_version()],
            warnings: vec![Warning::new("odd", "`docx` has no license")],
            left_modified: vec!["pptx".to_owned()],
            left_unreadable: vec!["xls".to_owned()],
            ..InstallOutcome::default()
        }
    }

    fn told(outcome: &InstallOutcome) -> (String, String) {
        let (talking, out, err) = printer(Appearance::PLAIN);
        show(&talking, outcome);
        (out.text(), err.text())
    }

    #[test]
    fn a_line_per_skill_and_what_to_do_next() {
        let (out, err) = told(&outcome());
        assert_eq!(out, "");
        insta::assert_snapshot!(err, @r#"
        = docx (github:anthropics/skills at 1a2b3c4)
        - old (github:anthropics/skills at 1a2b3c4)
        + pdf 1.0 (github:anthropics/skills at 1a2b3c4)
        ~ xlsx (github:anthropics/skills at 1a2b3c4)
        1 skill added, 1 updated, 1 unchanged, 1 removed in `.agents/skills`
        available to claude-code and junie, and to agents that read `.agents/skills`; `--agent` adds others
        `skillpm.toml` and `skillpm.lock` changed: commit both
        warning: `docx` has no license
        warning: `pptx` is edited and was left as is: `--force` replaces it; the store keeps your copy
        hint: `skillpm list` shows what is installed, `skillpm invoke pdf` what an agent gets
        "#);
    }

    /// A user who installs an agent later would look for the skills there in vain.
    #[test]
    fn agents_that_see_nothing_are_named() {
        let unseen = |agent: &str, skills: &[&str]| Unseen {
            used: vec!["claude-code", "junie"],
            blocked: false,
            chosen: false,
            agent: agent.to_owned(),
            skills: skills.iter().map(ToString::to_string).collect(),
        };
        let junie = unseen("junie", &["docx", "pdf"]);
        let told_of = |unseen| told(&InstallOutcome { unseen, ..outcome() }).1;
        let hint = "hint: junie is on this machine and does not see 2 skills: `skillpm agents use claude-code junie` links them for you alone, `skillpm link --agent junie` for everybody\n";
        assert!(told_of(vec![junie.clone()]).contains(hint));
        let both = told_of(vec![junie, unseen("roo", &["pdf"])]);
        let hint = "hint: junie and roo are on this machine and do not see 2 skills: `skillpm agents use claude-code junie` links them for you alone, `skillpm link --agent junie --agent roo` for";
        assert!(both.contains(hint), "{both}");
    }

    /// A colleague has the repository, and nothing else of this machine.
    #[test]
    fn what_only_this_machine_has_is_not_to_be_committed() {
        let only_here = vec!["pdf".to_owned()];
        let told = told(&InstallOutcome { only_here, ..outcome() }).1;
        assert!(
            !told.contains("commit") && told.contains("`pdf` comes from outside of the project"),
            "{told}"
        );
    }

    /// One update among hundreds of skills is visible.
    #[test]
    fn many_that_stay_are_counted() {
        let same = (0..=MOST_UNCHANGED).map(|number| skill(&format!("same-{number}"), Change::Unchanged));
        let few = InstallOutcome { skills: same.clone().skip(1).collect(), ..outcome() };
        assert_eq!(told(&few).1.matches("= same-").count(), MOST_UNCHANGED);
        let skills = same.chain([skill("xlsx", Change::Updated)]).collect();
        let many = InstallOutcome { skills, warnings: vec![], left_modified: vec![], ..outcome() };
        insta::assert_snapshot!(told(&many).1, @r#"
        ~ xlsx (github:anthropics/skills at 1a2b3c4)
        1 skill updated, 11 unchanged in `.agents/skills`
        available to claude-code and junie, and to agents that read `.agents/skills`; `--agent` adds others
        `skillpm.toml` and `skillpm.lock` changed: commit both
        hint: `skillpm list` shows what is installed, `skillpm invoke xlsx` what an agent gets
        "#);
    }

    #[test]
    fn a_dry_run_is_data() {
        let (out, err) = told(&InstallOutcome { dry_run: true, ..outcome() });
        insta::assert_snapshot!(out, @r#"
        would create .junie/skills/pdf
        would replace skillpm.lock
        "#);
        insta::assert_snapshot!(err, @r#"
        nothing was changed: this was a dry run
        warning: `docx` has no license
        warning: `pptx` is edited and was left as is: `--force` replaces it; the store keeps your copy
        "#);
    }

    #[test]
    fn nothing_at_all_names_a_way_on() {
        let (_, err) = told(&InstallOutcome::default());
        insta::assert_snapshot!(err, @r#"
        there is nothing to install: `skillpm.toml` names no skills
        hint: `skillpm install owner/repo` installs skills from a repository on GitHub
        "#);
        let (out, err) = told(&InstallOutcome { dry_run: true, ..InstallOutcome::default() });
        assert_eq!((out.as_str(), err.as_str()), ("", "there is nothing to do\n"));
    }

    #[test]
    fn json_has_all_of_it() {
        let (talking, out, _) = printer(Appearance::PLAIN);
        json(&talking, &outcome());
        let value: serde_json::Value = serde_json::from_str(&out.text()).unwrap();
        assert_eq!(value["scope"], "project");
        assert_eq!(value["skills"][2]["change"], "added");
        assert_eq!(value["steps"][0]["link"]["agent"], "junie");
        assert_eq!(value["left_modified"][0], "pptx");
    }
}
