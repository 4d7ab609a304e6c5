//! `import`: a table of what was found, and what to do next.

use super::table::Table;
use super::{and, counted, install, short_revision, steps};
use crate::cli::printer::Printer;
use crate::cli::words::worded;
use skillpm_core::ops::import::{FoundIn, ImportOutcome, ImportedSkill, Verdict};
use skillpm_format::manifest;
use skillpm_format::scope_kind::ScopeKind;
use skillpm_format::text::without_secrets;

pub(crate) fn show(printer: &Printer, outcome: &ImportOutcome) {
    if outcome.dry_run && !outcome.skills.is_empty() {
        for line in steps::lines(&outcome.paths) {
            printer.note(&line);
        }
    }
    printer.warnings(&outcome.warnings);
    if outcome.skills.is_empty() {
        printer.note(&format!("nothing from other tools was found {}", scope(outcome).within()));
        printer.hints(&outcome.hints());
        return;
    }
    table(&outcome.skills).show(printer);
    printer.note(&counts(&outcome.skills));
    if !outcome.needed.is_empty() {
        printer.note(&format!("also installed, because they need it: {}", and(&outcome.needed)));
    }
    if !outcome.agents.is_empty() {
        printer.note(&format!(
            "agents that see them, now in `{}`: {}",
            manifest::FILE_NAME,
            and(&outcome.agents)
        ));
    }
    next(printer, outcome);
}

pub(crate) fn json(printer: &Printer, outcome: &ImportOutcome) {
    printer.json(outcome);
    printer.warnings(&outcome.warnings);
}

fn scope(outcome: &ImportOutcome) -> ScopeKind {
    outcome.scope.unwrap_or(ScopeKind::Project)
}

fn table(skills: &[ImportedSkill]) -> Table {
    let mut table = Table::new(&["name", "outcome", "source", "why"]).state("outcome").prose("why");
    for skill in skills {
        table.row([&skill.name, word(skill), &source(skill), &worded(&skill.reason)]);
    }
    table
}

fn word(skill: &ImportedSkill) -> &'static str {
    match skill.verdict {
        Verdict::Adopted => "adopted",
        Verdict::Edited => "edited",
        Verdict::Left if skill.found_in == FoundIn::Directory => "unknown",
        Verdict::Left => "left",
        Verdict::Tracked => "tracked",
    }
}

/// Returns a text such as `github:acme/skills at 1a2b3c4`.
fn source(skill: &ImportedSkill) -> String {
    let Some(source) = skill.source.as_deref().map(without_secrets) else { return String::new() };
    match &skill.revision {
        Some(revision) => format!("{source} at {}", short_revision(revision)),
        None => source.into_owned(),
    }
}

/// Returns a text such as `2 skills adopted, 1 edited`.
fn counts(skills: &[ImportedSkill]) -> String {
    let words = [
        ("adopted", "adopted"),
        ("edited", "adopted with your edits"),
        ("left", "skipped"),
        ("unknown", "of unknown source"),
        ("tracked", "tracked before"),
    ];
    let outcomes: Vec<_> = skills.iter().map(word).collect();
    counted("skill", &outcomes, &words).join(", ")
}

fn next(printer: &Printer, outcome: &ImportOutcome) {
    if outcome.dry_run {
        printer.note("nothing was changed: this was a dry run");
        return;
    }
    install::files(printer, outcome.scope, outcome.files);
    printer.hints(&outcome.hints());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::appearance::Appearance;
    use crate::cli::printer::testing::printer;
    use skillpm_core::scope::plan::ChangedFiles;
    use skillpm_format::advice::Warning;

    fn skill(name: &str, verdict: Verdict, found_in: FoundIn, reason: &str) -> ImportedSkill {
        let known = found_in != FoundIn::Directory;
        ImportedSkill {
            name: name.to_owned(),
            verdict,
            found_in,
            source: known.then(|| "github:acme/skills".to_owned()),
            path: None,
            revision: (verdict == Verdict::Adopted).then(|| "1a2b3c4d".repeat(5)),
            digest: None,
            reason: reason.into(),
        }
    }

    fn outcome() -> ImportOutcome {
        ImportOutcome {
            skills: vec![
                skill("docx", Verdict::Edited, FoundIn::SkillsLock, "`SKILL.md` differs"),
                skill("old", Verdict::Left, FoundIn::GhSkill, "its source\n\u{1b}[2J is gone"),
                skill("own", Verdict::Left, FoundIn::Directory, "no file says where it comes from"),
                skill(
                    "pdf",
                    Verdict::Adopted,
                    FoundIn::SkillsLock,
                    "the version that `skills-lock.json` names",
                ),
                skill("xlsx", Verdict::Tracked, FoundIn::SkillsLock, "skillpm already manages it"),
            ],
            agents: vec!["claude-code".to_owned()],
            files: ChangedFiles { manifest: true, lockfile: true },
            scope: Some(ScopeKind::Project),
            warnings: vec![Warning::new("odd", "odd")],
            ..ImportOutcome::default()
        }
    }

    #[test]
    fn a_table_and_what_to_do_next() {
        let (talking, out, err) = printer(Appearance::PLAIN);
        show(&talking, &outcome());
        insta::assert_snapshot!(out.text(), @r"
        name  outcome  source                         why
        docx  edited   github:acme/skills             `SKILL.md` differs
        old   left     github:acme/skills             its source \u{1b}[2J is gone
        own   unknown  -                              no file says where it comes from
        pdf   adopted  github:acme/skills at 1a2b3c4  the version that `skills-lock.json` names
        xlsx  tracked  github:acme/skills             skillpm already manages it
        ");
        insta::assert_snapshot!(err.text(), @"
        warning: odd
        1 skill adopted, 1 adopted with your edits, 1 skipped, 1 of unknown source, 1 tracked before
        agents that see them, now in `skillpm.toml`: claude-code
        `skillpm.toml` and `skillpm.lock` changed: commit both
        hint: `skillpm install --force` installs the locked versions; the store keeps your edited copies, such as `docx`
        hint: `skillpm import own` makes `own` your own: it moves to `skills/own`
        hint: where you know its source, `skillpm install SOURCE --skill own` installs it from there
        ");
        let (talking, out, err) = printer(Appearance::PLAIN);
        show(&talking, &ImportOutcome::default());
        assert_eq!(out.text(), "");
        insta::assert_snapshot!(err.text(), @"
        nothing from other tools was found in this project
        hint: `skillpm import FILE` reads a lockfile elsewhere; `skillpm import -g` looks at your own skills
        ");
    }

    #[test]
    fn json_has_all_of_it() {
        let (talking, out, _) = printer(Appearance::PLAIN);
        json(&talking, &ImportOutcome { dry_run: true, ..outcome() });
        let value: serde_json::Value = serde_json::from_str(&out.text()).unwrap();
        assert_eq!(value["skills"][0]["verdict"], "edited");
        assert_eq!(value["skills"][1]["found_in"], "gh-skill");
        assert_eq!((&value["scope"], &value["dry_run"]), (&"project".into(), &true.into()));
    }
}
