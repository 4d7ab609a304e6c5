//! `remove`: the removed skills, and the places of edited copies.

use super::{count, install, one_line, quoted, steps};
use crate::cli::printer::Printer;
use crate::cli::words::worded;
use skillpm_core::ops::remove::RemoveOutcome;

pub(crate) fn show(printer: &Printer, outcome: &RemoveOutcome) {
    if outcome.dry_run {
        for name in &outcome.removed {
            printer.data(&format!("would remove {}", one_line(name)));
        }
        for name in &outcome.unneeded {
            printer.data(&format!("would remove {}, no longer needed", one_line(name)));
        }
        for name in &outcome.skills_lock {
            printer.data(&format!("would remove `{}` from `skills-lock.json`", one_line(name)));
        }
        steps::plan(printer, &outcome.paths);
        for kept in &outcome.kept {
            printer.note(&worded(kept));
        }
        return;
    }
    for name in &outcome.removed {
        printer.status("-", name);
    }
    for name in &outcome.unneeded {
        printer.status("-", &format!("{name}, no longer needed"));
    }
    for kept in &outcome.kept {
        printer.note(&worded(kept));
    }
    if !outcome.skills_lock.is_empty() {
        let names = quoted(&outcome.skills_lock.iter().collect::<Vec<_>>());
        printer.note(&format!("removed from `skills-lock.json` too: {names}"));
    }
    let number = outcome.removed.len() + outcome.unneeded.len();
    printer.note(&format!("{} removed", count(number, "skill")));
    install::files(printer, outcome.scope, outcome.files);
    printer.tips(&outcome.hints());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::appearance::Appearance;
    use crate::cli::printer::testing::printer;
    use skillpm_core::scope::changes::PathEffect;
    use skillpm_core::scope::plan::ChangedFiles;
    use skillpm_format::scope_kind::ScopeKind;

    #[test]
    fn what_went_and_what_is_kept() {
        let mut outcome = RemoveOutcome {
            scope: Some(ScopeKind::Project),
            removed: vec!["docx".into(), "pdf".into()],
            unneeded: Vec::new(),
            kept: vec!["the edited copy of `pdf` is kept in `kept/pdf`".into()],
            paths: vec![steps::path(".agents/skills/pdf", PathEffect::Deleted)],
            skills_lock: vec!["pdf".into()],
            files: ChangedFiles { manifest: true, lockfile: true },
            dry_run: false,
            undoable: true,
        };
        let (talking, out, err) = printer(Appearance::PLAIN);
        show(&talking, &outcome);
        assert_eq!(out.text(), "");
        insta::assert_snapshot!(err.text(), @r#"
        - docx
        - pdf
        the edited copy of `pdf` is kept in `kept/pdf`
        removed from `skills-lock.json` too: `pdf`
        2 skills removed
        `skillpm.toml` and `skillpm.lock` changed: commit both
        hint: `skillpm undo` restores them
        "#);

        outcome.scope = Some(ScopeKind::User);
        let (talking, _, err) = printer(Appearance::PLAIN);
        show(&talking, &outcome);
        assert!(err.text().ends_with("hint: `skillpm undo -g` restores them\n"), "{}", err.text());
        outcome.dry_run = true;
        let (talking, out, _) = printer(Appearance::PLAIN);
        show(&talking, &outcome);
        assert_eq!(
            out.text(),
            "would remove docx\nwould remove pdf\nwould remove `pdf` from `skills-lock.json`\nwould delete .agents/skills/pdf\n"
        );
    }
}
