//! `validate`: each finding with its position in the text, then a summary.

use std::borrow::Cow;
use std::path::{MAIN_SEPARATOR, Path};

use super::finding::{WIDTH, findings};
use super::{count, json_text, one_line};
use crate::cli::commands::validate::FormatArg;
use crate::cli::printer::Printer;
use skillpm_core::hints;
use skillpm_core::ops::validate::{Checked, Repaired, Repairs, Tree, ValidateOutcome};
use skillpm_format::lint::report::{LintReport, SkillReport, github, json, junit, sarif};
use skillpm_format::lint::{Profile, Severity};
use skillpm_sources::error::Result;
use skillpm_sources::fs;

/// Prints all findings and a summary, with the flags that repair them if `flags` is set, and a link to more
/// information. `made` are the repairs that were made.
pub(crate) fn show(printer: &Printer, outcome: &ValidateOutcome, flags: bool, made: Repairs) {
    let look = printer.look();
    let text = findings(&outcome.skills, look.out_colour, look.width.unwrap_or(WIDTH));
    if !text.is_empty() {
        printer.styled_data(&text);
    }
    repaired(printer, outcome, "repaired");
    printer.note(&summary(outcome));
    left_alone(printer, outcome);
    printer.hints(&outcome.hints(flags, made));
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
    repaired(printer, outcome, "repaired");
    printer.note(&summary(outcome));
    left_alone(printer, outcome);
    Ok(())
}

/// Returns the whole report in `format`, with paths relative to `tree`, or as displayed.
pub(crate) fn text(
    outcome: &ValidateOutcome,
    format: FormatArg,
    profile: Profile,
    strict: bool,
    tree: Option<&Tree>,
) -> String {
    let skills = outcome.skills.iter().map(|skill| skill_report(skill, tree)).collect();
    let report = LintReport { profile, strict, skills };
    match format {
        FormatArg::Human => findings(&outcome.skills, false, WIDTH),
        FormatArg::Json => json_text(&json::json(&report)),
        FormatArg::Sarif => json_text(&sarif::sarif(&report)),
        FormatArg::Github => github::github(&report),
        FormatArg::Junit => junit::junit(&report),
    }
}

fn skill_report<'a>(Checked { file, text, findings }: &'a Checked, tree: Option<&Tree>) -> SkillReport<'a> {
    let file = tree.map_or(Cow::Borrowed(file), |tree| Cow::Owned(tree.path(file)));
    let path = file.display().to_string().replace(MAIN_SEPARATOR, "/");
    SkillReport { path, text, findings }
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
        0 => text,
        notes => format!("{text}, {}", count(notes, "note")),
    }
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
        show(&talking, &outcome, true, Repairs::None);
        (out.text(), err.text())
    }

    #[test]
    fn findings_show_their_place() {
        let (out, err) = shown("---\nname: PDF\ndescription: Reads PDF if asked.\nauthor: me\n---\n");
        insta::assert_snapshot!(out, @r#"
        error[name-alphabet]: the name `PDF` has an upper-case letter
         --> skills/pdf/SKILL.md:2:7
          |
        2 | name: PDF
          |       ^^^
          |
          = help: call it `pdf`, and its directory too

        error[name-directory]: the name `PDF` differs only in case from the directory's name `pdf`
         --> skills/pdf/SKILL.md:2:7
          |
        2 | name: PDF
          |       ^^^
          |
          = help: give the directory and the skill the same name

        warning[unknown-field]: the specification has no field `author`
         --> skills/pdf/SKILL.md:4:1
          |
        4 | author: me
          | ^^^^^^
          |
          = help: move it under `metadata`, as `  author: …`
        "#);
        insta::assert_snapshot!(err, @"
        1 skill: 2 errors, 1 warning
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
