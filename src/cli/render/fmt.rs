//! `fmt`: the files that changed, those without a canonical form, and a summary.

use super::{count, diff, error, one_line};
use crate::cli::printer::Printer;
use skillpm_core::hints;
use skillpm_core::ops::fmt::{FmtOutcome, Form};

pub(crate) fn show(printer: &Printer, outcome: &FmtOutcome, check: bool, with_diff: bool) {
    let verb = if check || with_diff { "would change" } else { "formatted" };
    for file in &outcome.files {
        let shown = one_line(&file.file.display().to_string());
        match &file.form {
            Form::Canonical => printer.detail(&format!("`{shown}` is canonical")),
            Form::Changed { .. } => {
                if let Some(text) = file.diff().filter(|_| with_diff) {
                    diff::show_visibly(printer, &text);
                }
                printer.status(verb, &format!("`{shown}`"));
            }
            Form::Refused { .. } => file.refusal().iter().for_each(|error| error::show(printer, error)),
        }
    }
    printer.note(&summary(outcome, verb));
    installed(printer, outcome.installed);
}

pub(crate) fn json(printer: &Printer, outcome: &FmtOutcome) {
    printer.json(outcome);
}

/// Reports the number of skills that were left alone because a lockfile lists them.
pub(super) fn installed(printer: &Printer, number: usize) {
    if number > 0 {
        printer.note(&format!("{} left as locked", count(number, "installed skill")));
        printer.hints(&hints::installed(number));
    }
}

/// Returns a text such as `3 skills: 1 formatted, 1 left as it is`.
fn summary(outcome: &FmtOutcome, verb: &str) -> String {
    let number = |wanted: fn(&Form) -> bool| outcome.files.iter().filter(|file| wanted(&file.form)).count();
    let changed = number(|form| matches!(form, Form::Changed { .. }));
    let refused = number(|form| matches!(form, Form::Refused { .. }));
    let mut parts = Vec::new();
    if changed > 0 {
        parts.push(format!("{changed} {verb}"));
    }
    if refused > 0 {
        parts.push(format!("{refused} left alone"));
    }
    if parts.is_empty() {
        parts.push("nothing to format".to_owned());
    }
    format!("{}: {}", count(outcome.files.len(), "skill"), parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::appearance::Appearance;
    use crate::cli::printer::testing::printer;
    use skillpm_core::ops::fmt::Formatted;
    use skillpm_core::ops::fmt::form;
    use skillpm_format::document::Document;

    fn outcome() -> FmtOutcome {
        let file = |name: &str, text: &str| {
            let form = form(&Document::parse(text.to_owned()));
            Formatted { file: format!("skills/{name}/SKILL.md").into(), form, text: None }
        };
        let files = vec![
            file("pdf", "---\nname: pdf\ndescription: Reads PDF.\n---\n"),
            file("docx", "---\nname:  docx\ndescription: Reads DOCX.\n---\n"),
            file("bad", "---\nname: bad\ndescription: Use: always\n---\n"),
        ];
        FmtOutcome { dry_run: true, files, installed: 0 }
    }

    fn told(check: bool, with_diff: bool) -> (String, String) {
        let (talking, out, err) = printer(Appearance::PLAIN);
        show(&talking, &outcome(), check, with_diff);
        (out.text(), err.text())
    }

    #[test]
    fn files_that_changed_or_could_not_are_told() {
        let (out, err) = told(false, false);
        assert_eq!(out, "");
        insta::assert_snapshot!(err, @"
        formatted `skills/docx/SKILL.md`
        error: `skills/bad/SKILL.md`, line 3, column 17: the value of `description` is not valid YAML: it has `: ` in it, which starts a new key unless the value is in quotes
        hint: the file was not changed; `skillpm validate skills/bad/SKILL.md` says more
        3 skills: 1 formatted, 1 left alone
        ");
    }

    #[test]
    fn a_look_says_so_and_may_show_the_difference() {
        let (out, err) = told(true, true);
        insta::assert_snapshot!(out, @"
        --- a/skills/docx/SKILL.md
        +++ b/skills/docx/SKILL.md
        @@ -1,4 +1,4 @@
         ---
        -name:  docx
        +name: docx
         description: Reads DOCX.
         ---
        ");
        insta::assert_snapshot!(err, @"
        would change `skills/docx/SKILL.md`
        error: `skills/bad/SKILL.md`, line 3, column 17: the value of `description` is not valid YAML: it has `: ` in it, which starts a new key unless the value is in quotes
        hint: the file was not changed; `skillpm validate skills/bad/SKILL.md` says more
        3 skills: 1 would change, 1 left alone
        ");
    }

    #[test]
    fn programs_are_told_all_of_it() {
        let mut outcome = outcome();
        outcome.files[0].text = Some("text".to_owned());
        outcome.installed = 2;
        let (talking, out, err) = printer(Appearance::PLAIN);
        json(&talking, &outcome);
        assert_eq!(err.text(), "");
        let value: serde_json::Value = serde_json::from_str(&out.text()).unwrap();
        let states: Vec<_> =
            value["skills"].as_array().unwrap().iter().map(|skill| &skill["state"]).collect();
        assert_eq!(states, ["canonical", "changed", "refused"]);
        assert!(value["skills"][1]["diff"].as_str().unwrap().contains("-name:  docx\n+name: docx\n"));
        assert_eq!(value["skills"][2]["at"], serde_json::json!({ "line": 3, "column": 17 }));
        assert_eq!((&value["dry_run"], &value["left_locked"]), (&true.into(), &2.into()));
    }

    #[test]
    fn canonical_files_are_only_counted() {
        let (talking, _, err) = printer(Appearance::PLAIN);
        show(&talking, &FmtOutcome::default(), false, false);
        assert_eq!(err.text(), "0 skills: nothing to format\n");
        let (talking, _, err) = printer(Appearance::PLAIN);
        show(&talking, &FmtOutcome { installed: 2, ..FmtOutcome::default() }, false, false);
        insta::assert_snapshot!(err.text(), @"
        0 skills: nothing to format
        2 installed skills left as locked
        hint: to format it anyway, name the skill's own directory; `skillpm verify` will then report it as edited
        ");
    }
}
