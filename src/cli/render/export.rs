//! `export`: what was written, and what was left out.

use super::{count, error, one_line, quoted};
use crate::cli::printer::Printer;
use skillpm_core::ops::export::ExportOutcome;

pub(crate) fn show(printer: &Printer, outcome: &ExportOutcome) {
    if outcome.path.is_none() {
        printer.data(&outcome.text);
    }
    warn(printer, outcome);
    if let Some(path) = &outcome.path {
        let skills = count(outcome.exported.len(), "skill");
        let done = match outcome.changed {
            true => "written",
            false if outcome.exported.is_empty() && !outcome.left_out.is_empty() => "not written",
            false => "unchanged",
        };
        printer.note(&format!("`{}` {done}: {skills} of skillpm", one_line(path)));
    }
}

pub(crate) fn json(printer: &Printer, outcome: &ExportOutcome) {
    printer.json(outcome);
    warn(printer, outcome);
}

fn warn(printer: &Printer, outcome: &ExportOutcome) {
    for skill in &outcome.left_out {
        error::failure(printer, &skill.failure());
    }
    if !outcome.kept.is_empty() {
        let names = quoted(&outcome.kept);
        printer.note(&format!("existing entries that are not skillpm's were kept: {names}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::appearance::Appearance;
    use crate::cli::printer::testing::printer;
    use skillpm_core::ops::export::LeftOut;

    #[test]
    fn what_was_left_out_is_told() {
        let outcome = ExportOutcome {
            path: Some("/p/skills-lock.json".to_owned()),
            changed: true,
            exported: vec!["pdf".to_owned()],
            left_out: vec![LeftOut { name: "x".to_owned(), reason: "no entries for\npackages".into() }],
            kept: vec!["old".to_owned()],
            text: "{}\n".to_owned(),
        };
        let (talking, out, err) = printer(Appearance::PLAIN);
        show(&talking, &outcome);
        assert_eq!(out.text(), "");
        insta::assert_snapshot!(err.text(), @"
        warning: `x` was left out: no entries for
          packages
        existing entries that are not skillpm's were kept: `old`
        `/p/skills-lock.json` written: 1 skill of skillpm
        ");
        let (talking, out, _) = printer(Appearance::PLAIN);
        show(&talking, &ExportOutcome { path: None, ..outcome.clone() });
        assert_eq!(out.text(), "{}\n");
        let (talking, _, err) = printer(Appearance::PLAIN);
        show(&talking, &ExportOutcome { changed: false, exported: Vec::new(), ..outcome });
        assert!(err.text().ends_with("`/p/skills-lock.json` not written: 0 skills of skillpm\n"));
    }
}
