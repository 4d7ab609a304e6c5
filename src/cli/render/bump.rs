//! `bump`: the old and the new version.

use super::{diff, one_line};
use crate::cli::printer::Printer;
use skillpm_core::ops::bump::BumpOutcome;

pub(crate) fn show(printer: &Printer, outcome: &BumpOutcome) {
    let file = one_line(&outcome.path);
    let new = one_line(&outcome.new);
    if !outcome.changed {
        printer.note(&format!("`{file}` already has version {new}"));
        return;
    }
    if let Some(text) = outcome.diff.as_deref().filter(|_| outcome.dry_run) {
        diff::show(printer, text);
    }
    let verb = if outcome.dry_run { "would set" } else { "set" };
    let old = outcome.old.as_deref().map_or_else(|| "none".to_owned(), one_line);
    printer.status(verb, &format!("the version in `{file}`: {old} -> {new}"));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::appearance::Appearance;
    use crate::cli::printer::testing::printer;

    fn outcome() -> BumpOutcome {
        BumpOutcome {
            path: "./SKILL.md".to_owned(),
            old: Some("1.2".to_owned()),
            new: "1.3".to_owned(),
            changed: true,
            dry_run: false,
            diff: Some("--- a/SKILL.md\n+++ b/SKILL.md\n@@ -1 +1 @@\n-a\n+b\n".to_owned()),
        }
    }

    fn told(outcome: &BumpOutcome) -> (String, String) {
        let (talking, out, err) = printer(Appearance::PLAIN);
        show(&talking, outcome);
        (out.text(), err.text())
    }

    #[test]
    fn both_versions_are_shown() {
        assert_eq!(
            told(&outcome()),
            (String::new(), "set the version in `./SKILL.md`: 1.2 -> 1.3\n".to_owned())
        );
        let first = BumpOutcome { old: None, dry_run: true, ..outcome() };
        let (out, err) = told(&first);
        assert!(out.contains("+b\n"));
        assert_eq!(err, "would set the version in `./SKILL.md`: none -> 1.3\n");
        let same = BumpOutcome { changed: false, diff: None, ..outcome() };
        assert_eq!(told(&same).1, "`./SKILL.md` already has version 1.3\n");
    }
}
