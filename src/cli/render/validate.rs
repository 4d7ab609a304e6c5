//! `validate`: each finding with its position in the text, then a summary.

use std::borrow::Cow;
use std::path::{MAIN_SEPARATOR, Path};

use super::finding::findings;
use super::{count, json_text, many, one_line};
use crate::cli::commands::validate::FormatArg;
use crate::cli::printer::Printer;
use skillpm_core::hints;
use skillpm_core::ops::validate::{Checked, Repaired, Repairs, Tree, ValidateOutcome};
use skillpm_format::lint::Severity;
use skillpm_format::lint::report::{
    LeftOut, LintReport, SkillReport, github, gitlab, json, junit, markdown, rule_list, sarif,
};
use skillpm_sources::error::Result;
use skillpm_sources::fs;

/// The number of findings up to which each is shown with its lines.
const FEW: usize = 10;

/// Prints all findings and a summary, with the flags that repair them if `flags` is set, and a link to more
/// information. `made` are the repairs that were made. `format` is one of those for people.
pub(crate) fn show(
    printer: &Printer,
    outcome: &ValidateOutcome,
    format: FormatArg,
    flags: bool,
    made: Repairs,
) {
    let look = printer.look();
    let format = if look.verbose && format == FormatArg::Human { FormatArg::Full } else { format };
    print(printer, &for_people(outcome, format, look.out_colour, look.width));
    end(printer, outcome);
    if format == FormatArg::Human && is_grouped(outcome) {
        printer.note(&rule_list(outcome.findings()));
        printer.note("`--verbose` shows each with its lines");
    }
    printer.hints(&outcome.hints(flags, made));
}

/// Prints how often each rule found something.
pub(crate) fn statistics(printer: &Printer, outcome: &ValidateOutcome) {
    if outcome.findings().next().is_some() {
        print(printer, &many::statistics(outcome, printer.look()));
    }
    end(printer, outcome);
}

pub(super) fn print(printer: &Printer, text: &str) {
    if !text.is_empty() {
        printer.styled_data(text);
    }
}

/// Prints what stands after all findings.
fn end(printer: &Printer, outcome: &ValidateOutcome) {
    repaired(printer, outcome, "repaired");
    if outcome.written.is_empty() {
        printer.note(&summary(outcome));
    }
    for written in &outcome.written {
        let file = one_line(&written.file.display().to_string());
        printer.status("+", &format!("`{file}`: {} known", count(written.findings, "finding")));
    }
    left_alone(printer, outcome);
}

/// Reports whether there are too many findings to show each with its lines.
fn is_grouped(outcome: &ValidateOutcome) -> bool {
    outcome.findings().nth(FEW).is_some()
}

/// Returns the findings in a format for people.
pub(super) fn for_people(
    outcome: &ValidateOutcome,
    format: FormatArg,
    colour: bool,
    width: Option<usize>,
) -> String {
    match format {
        FormatArg::Concise => many::concise(&outcome.skills),
        FormatArg::Human if is_grouped(outcome) => many::grouped(&outcome.skills, colour),
        _ => findings(&outcome.skills, colour, width),
    }
}

/// Prints the changes that repairs would make.
pub(crate) fn diff(printer: &Printer, outcome: &ValidateOutcome) {
    for repaired in &outcome.repaired {
        if let Some(text) = &repaired.diff {
            super::diff::show(printer, text);
        }
    }
    repaired(printer, outcome, "would be repaired");
    printer.note(&summary(outcome));
    left_alone(printer, outcome);
}

/// Reports repairs that could have been made but were not.
fn left_alone(printer: &Printer, outcome: &ValidateOutcome) {
    super::fmt::installed(printer, outcome.installed);
    for (file, real) in &outcome.outside {
        let shown = |path: &Path| one_line(&path.display().to_string());
        printer.warning(&format!("`{}` was not changed: a link leads out of the project", shown(file)));
        printer.hint(&hints::name_real(real));
    }
}

/// Reports the files that were repaired, or would be.
fn repaired(printer: &Printer, outcome: &ValidateOutcome, what: &str) {
    for Repaired { file, renamed, count: number, .. } in &outcome.repaired {
        let file = one_line(&file.display().to_string());
        if *number > 0 {
            printer.status("~", &format!("`{file}`: {} {what}", count(*number, "finding")));
        }
        if let Some(name) = renamed.as_deref().and_then(Path::file_name) {
            let name = one_line(&name.to_string_lossy());
            printer.status("~", &format!("`{file}`: its name {what}, as `{name}`"));
        }
    }
}

/// Prints a report for programs, or writes it to `file`.
pub(crate) fn deliver(
    printer: &Printer,
    outcome: &ValidateOutcome,
    text: &str,
    file: Option<&Path>,
) -> Result<()> {
    match file {
        Some(file) => fs::write_out(file, text.as_bytes())?,
        None => printer.data(text),
    }
    end(printer, outcome);
    Ok(())
}

/// The maximum size of a step's summary in bytes.
const MAX_STEP_SUMMARY: usize = 1 << 20;

/// Appends a summary to the file that a step of a workflow has for it.
pub(crate) fn step_summary(outcome: &ValidateOutcome, tree: Option<&Tree>, file: &Path) -> Result<()> {
    // What does not fit is not shown; the findings are told anyway.
    let Ok(before) = fs::read_capped(file, MAX_STEP_SUMMARY as u64) else { return Ok(()) };
    let mut text = before.unwrap_or_default();
    let room = MAX_STEP_SUMMARY.saturating_sub(text.len());
    let summary = markdown::markdown(&report(outcome, false, tree), room);
    if summary.len() <= room {
        text.extend(summary.into_bytes());
        fs::write_out(file, &text)?;
    }
    Ok(())
}

/// Returns the whole report in `format`, with paths relative to `tree`, or as displayed.
pub(crate) fn text(
    outcome: &ValidateOutcome,
    format: FormatArg,
    strict: bool,
    tree: Option<&Tree>,
) -> String {
    of_verb("validate", outcome, format, strict, tree)
}

/// Works like [`text`], for findings of `verb`.
pub(super) fn of_verb(
    verb: &'static str,
    outcome: &ValidateOutcome,
    format: FormatArg,
    strict: bool,
    tree: Option<&Tree>,
) -> String {
    let report = || LintReport { verb, ..report(outcome, strict, tree) };
    match format {
        FormatArg::Human | FormatArg::Full | FormatArg::Concise => for_people(outcome, format, false, None),
        FormatArg::Json => json_text(&json::json(&report())),
        FormatArg::Sarif => json_text(&sarif::sarif(&report())),
        FormatArg::Github => github::github(&report()),
        FormatArg::Gitlab => json_text(&gitlab::gitlab(&report())),
        FormatArg::Junit => junit::junit(&report()),
    }
}

fn report<'a>(outcome: &'a ValidateOutcome, strict: bool, tree: Option<&Tree>) -> LintReport<'a> {
    let skills: Vec<_> = outcome.skills.iter().map(|skill| skill_report(skill, tree)).collect();
    let profile = skills.first().map(|skill| skill.profile).unwrap_or_default();
    LintReport { verb: "validate", profile, strict, skills, left_out: outcome.left_out }
}

fn skill_report<'a>(skill: &'a Checked, tree: Option<&Tree>) -> SkillReport<'a> {
    let Checked { file, profile, text, findings } = skill;
    let file = tree.map_or(Cow::Borrowed(file), |tree| Cow::Owned(tree.path(file)));
    let path = file.display().to_string().replace(MAIN_SEPARATOR, "/");
    SkillReport { path, profile: *profile, text, findings }
}

/// Returns a text such as `3 skills: 2 errors, 1 warning`.
fn summary(outcome: &ValidateOutcome) -> String {
    let (errors, warnings) = (outcome.count(Severity::Error), outcome.count(Severity::Warning));
    let mut text = count(outcome.skills.len(), "skill");
    text.push_str(": ");
    match errors + warnings {
        0 => text.push_str("no problems found"),
        _ => text.extend([count(errors, "error"), ", ".to_owned(), count(warnings, "warning")]),
    }
    match outcome.count(Severity::Note) {
        0 => {}
        notes => text.extend([", ".to_owned(), count(notes, "note")]),
    }
    let LeftOut { excluded, unchanged, unread, known, gone } = outcome.left_out;
    let is = if excluded == 1 { "is" } else { "are" };
    for (number, what) in [
        (excluded, format!("{is} excluded")),
        (unchanged, "unchanged".to_owned()),
        (unread, "cannot be read".to_owned()),
        (known, "known by the baseline".to_owned()),
        (gone, "of the baseline gone".to_owned()),
    ] {
        if number > 0 {
            text.extend(["; ".to_owned(), number.to_string(), " ".to_owned(), what]);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::appearance::Appearance;
    use crate::cli::printer::testing::printer;
    use crate::cli::render::finding::testing::checked;
    use skillpm_format::lint::Safety;

    /// Returns what is shown of a skill with `text`, and what is told about it.
    fn shown(text: &str) -> (String, String) {
        let outcome = ValidateOutcome { skills: vec![checked(text)], ..ValidateOutcome::default() };
        let (talking, out, err) = printer(Appearance::PLAIN);
        show(&talking, &outcome, FormatArg::Human, true, Repairs::None);
        (out.text(), err.text())
    }

    #[test]
    fn findings_show_their_place() {
        let (out, err) = shown("---\nname: PDF\ndescription: Reads PDF if asked.\nauthor: me\n---\n");
        insta::assert_snapshot!(out, @"
        error[name-alphabet]: the name `PDF` has an upper-case letter
         --> skills/pdf/SKILL.md:2:7
          |
        2 | name: PDF
          |       ^^^
          |
          = help: call it `pdf`, as its directory

        note[unknown-field]: the specification has no field `author`
         --> skills/pdf/SKILL.md:4:1
          |
        4 | author: me
          | ^^^^^^
          |
          = help: move it under `metadata`, as `  author: …`
        ");
        insta::assert_snapshot!(err, @"
        1 skill: 1 error, 0 warnings, 1 note
        hint: `--fix=unsafe` repairs some of them; `--fix=unsafe` with `--diff` shows how
        hint: `skillpm explain name-alphabet` says more
        ");
    }

    /// The repair of the rule `file-name` has no edits, and is one of those that `--fix` makes.
    #[test]
    fn another_name_for_the_file_counts_as_a_repair() {
        let mut skill = checked("---\nname: PDF\ndescription: Reads PDF if asked.\n---\n");
        skill.findings.truncate(1);
        skill.findings[0].fix =
            Some(skillpm_format::lint::Fix::safe("rename the file to `SKILL.md`", Vec::new()));
        let outcome = ValidateOutcome { skills: vec![skill], ..ValidateOutcome::default() };
        let hint = |made| outcome.hints(true, made)[0].to_string();
        assert_eq!(hint(Repairs::None), "`fix` repairs it; `diff` shows how");
        assert!(hint(Repairs::Make(Safety::Safe)).starts_with("`explain "), "it was tried");
    }

    #[test]
    fn clean_skills_are_only_counted() {
        let (out, err) = shown("---\nname: pdf\ndescription: Reads PDF. Use it for PDF.\n---\n");
        assert_eq!((out.as_str(), err.as_str()), ("", "1 skill: no problems found\n"));
    }
}
