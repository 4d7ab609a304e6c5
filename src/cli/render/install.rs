//! `install`: what happened to each skill, where they are, and what to do next.

use serde::Serialize;

use super::{and, count, one_line, quoted, steps};
use crate::cli::printer::Printer;
use crate::install::agents::CANONICAL_DIR;
use crate::install::plan::Step;
use crate::install::scope::ScopeKind;
use crate::ops::install::{Change, InstallOutcome, InstalledSkill};
use crate::{lockfile, manifest};

pub(crate) fn show(printer: &Printer, outcome: &InstallOutcome) {
    if outcome.dry_run {
        plan(printer, outcome);
    } else {
        summary(printer, outcome);
    }
    warn(printer, outcome);
    if !outcome.dry_run {
        next(printer, outcome);
    }
}

/// The JSON form. It is an interface: fields are only added.
#[derive(Serialize)]
struct Report<'a> {
    scope: Option<ScopeKind>,
    dry_run: bool,
    skills: &'a [InstalledSkill],
    steps: &'a [Step],
    files_changed: bool,
    agents: &'a [String],
    left_modified: &'a [String],
    warnings: &'a [String],
}

pub(crate) fn json(printer: &Printer, outcome: &InstallOutcome) {
    printer.json(&Report {
        scope: outcome.scope,
        dry_run: outcome.dry_run,
        skills: &outcome.skills,
        steps: &outcome.steps,
        files_changed: outcome.files_changed,
        agents: &outcome.agents,
        left_modified: &outcome.left_modified,
        warnings: &outcome.warnings,
    });
    warn(printer, outcome);
}

fn plan(printer: &Printer, outcome: &InstallOutcome) {
    let mut lines: Vec<String> = outcome.steps.iter().map(steps::would).collect();
    if outcome.files_changed {
        lines.push(format!("would write {} and {}", manifest::FILE_NAME, lockfile::FILE_NAME));
    }
    printer.data(&lines.join("\n"));
    let dry = "nothing was changed: this was a dry run";
    printer.note(if lines.is_empty() { "there is nothing to do" } else { dry });
}

fn summary(printer: &Printer, outcome: &InstallOutcome) {
    for skill in &outcome.skills {
        printer.status(sign(skill.change), &line(skill));
    }
    if outcome.skills.is_empty() {
        return;
    }
    printer.note(&format!("{} in {}", counts(&outcome.skills), place(outcome.scope)));
    let linked = if outcome.agents.is_empty() { String::new() } else { and(&outcome.agents) + ", and to " };
    printer.note(&format!("available to {linked}agents that read `{CANONICAL_DIR}`; `--agent` adds others"));
    if outcome.files_changed {
        let commit = if outcome.scope == Some(ScopeKind::User) { "" } else { ": commit both" };
        printer.note(&format!("`{}` and `{}` changed{commit}", manifest::FILE_NAME, lockfile::FILE_NAME));
    }
}

fn warn(printer: &Printer, outcome: &InstallOutcome) {
    for warning in &outcome.warnings {
        printer.warning(warning);
    }
    if !outcome.left_modified.is_empty() {
        let names = quoted(&outcome.left_modified);
        let one = outcome.left_modified.len() == 1;
        let (stay, them) = if one {
            ("is edited and stays as it is", "it")
        } else {
            ("are edited and stay as they are", "them")
        };
        printer.warning(&format!("{names} {stay}: `--force` replaces {them} and keeps your copy"));
    }
}

fn next(printer: &Printer, outcome: &InstallOutcome) {
    let skills = || outcome.skills.iter();
    let new = skills().find(|skill| matches!(skill.change, Change::Added | Change::Updated));
    match new.or_else(|| skills().find(|skill| skill.change != Change::Removed)) {
        Some(skill) => printer.hint(&format!(
            "`skillpm list` shows what is installed, `skillpm invoke {}` what an agent gets of it",
            one_line(&skill.name)
        )),
        None if outcome.skills.is_empty() => {
            printer.note(&format!("there is nothing to install: `{}` names no skills", manifest::FILE_NAME));
            printer.hint("`skillpm install owner/repo` installs skills from a repository on GitHub");
        }
        None => {}
    }
}

/// `pdf 1.0 (github:anthropics/skills at 1a2b3c4)`.
fn line(skill: &InstalledSkill) -> String {
    let mut line = one_line(&skill.name);
    if let Some(version) = &skill.version {
        line = format!("{line} {}", one_line(version));
    }
    let at = skill.revision.as_deref().map_or(String::new(), |revision| {
        let short: String = revision.trim_start_matches("sha256:").chars().take(7).collect();
        format!(" at {}", one_line(&short))
    });
    format!("{line} ({}{at})", one_line(&skill.source))
}

fn sign(change: Change) -> &'static str {
    match change {
        Change::Added => "+",
        Change::Updated => "~",
        Change::Unchanged => "=",
        Change::Removed => "-",
        Change::Kept => "!",
    }
}

/// `2 skills added, 1 unchanged`.
fn counts(skills: &[InstalledSkill]) -> String {
    let kinds = [
        (Change::Added, "added"),
        (Change::Updated, "updated"),
        (Change::Unchanged, "unchanged"),
        (Change::Removed, "removed"),
        (Change::Kept, "kept as edited"),
    ];
    let number = |change| skills.iter().filter(|skill| skill.change == change).count();
    let parts = kinds.map(|(change, word)| (number(change), word)).into_iter();
    let text = |(at, (number, word)): (usize, (usize, &str))| match at {
        0 => format!("{} {word}", count(number, "skill")),
        _ => format!("{number} {word}"),
    };
    parts.filter(|(number, _)| *number > 0).enumerate().map(text).collect::<Vec<_>>().join(", ")
}

fn place(scope: Option<ScopeKind>) -> String {
    match scope {
        Some(ScopeKind::User) => format!("`~/{CANONICAL_DIR}`"),
        _ => format!("`{CANONICAL_DIR}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::look::Look;
    use crate::cli::printer::testing::printer;

    fn skill(name: &str, change: Change) -> InstalledSkill {
        InstalledSkill {
            name: name.to_owned(),
            version: (name == "pdf").then(|| "1.0".to_owned()),
            source: "github:anthropics/skills".to_owned(),
            path: Some(format!("skills/{name}")),
            revision: Some("1a2b3c4d".repeat(5)),
            digest: "sha256:00".to_owned(),
            change,
        }
    }

    fn outcome() -> InstallOutcome {
        InstallOutcome {
            skills: vec![
                skill("docx", Change::Unchanged),
                skill("old", Change::Removed),
                skill("pdf", Change::Added),
                skill("xlsx", Change::Updated),
            ],
            steps: vec![Step::Link { agent: "goose".to_owned(), name: "pdf".parse().unwrap() }],
            files_changed: true,
            agents: vec!["claude-code".to_owned(), "goose".to_owned()],
            scope: Some(ScopeKind::Project),
            warnings: vec!["`docx` has no license".to_owned()],
            left_modified: vec!["pptx".to_owned()],
            ..InstallOutcome::default()
        }
    }

    fn told(outcome: &InstallOutcome) -> (String, String) {
        let (talking, out, err) = printer(Look::PLAIN);
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
        available to claude-code and goose, and to agents that read `.agents/skills`; `--agent` adds others
        `skillpm.toml` and `skillpm.lock` changed: commit both
        warning: `docx` has no license
        warning: `pptx` is edited and stays as it is: `--force` replaces it and keeps your copy
        hint: `skillpm list` shows what is installed, `skillpm invoke pdf` what an agent gets of it
        "#);
    }

    #[test]
    fn a_dry_run_is_data() {
        let (out, err) = told(&InstallOutcome { dry_run: true, ..outcome() });
        insta::assert_snapshot!(out, @r#"
        would link pdf for goose
        would write skillpm.toml and skillpm.lock
        "#);
        insta::assert_snapshot!(err, @r#"
        nothing was changed: this was a dry run
        warning: `docx` has no license
        warning: `pptx` is edited and stays as it is: `--force` replaces it and keeps your copy
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
        let (talking, out, _) = printer(Look::PLAIN);
        json(&talking, &outcome());
        let value: serde_json::Value = serde_json::from_str(&out.text()).unwrap();
        assert_eq!(value["scope"], "project");
        assert_eq!(value["skills"][2]["change"], "added");
        assert_eq!(value["steps"][0]["link"]["agent"], "goose");
        assert_eq!(value["left_modified"][0], "pptx");
    }
}
