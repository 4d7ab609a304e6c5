//! `undo`: the result for each skill, and how to repeat the change.

use super::cache::size;
use super::{install, one_line, quoted, steps};
use crate::cli::printer::Printer;
use crate::cli::words::worded;
use skillpm_core::ops::undo::{Forgotten, UndoOutcome, Undone};
use skillpm_core::scope::plan::ChangedFiles;

pub(crate) fn show(printer: &Printer, outcome: &UndoOutcome) {
    let (files, gone) = (outcome.files, outcome.files_gone);
    let written = ChangedFiles {
        manifest: files.manifest && !gone.manifest,
        lockfile: files.lockfile && !gone.lockfile,
    };
    let removed = quoted(&steps::file_names(gone));
    if outcome.dry_run {
        steps::plan(printer, &outcome.paths);
        return printer.warnings(&outcome.warnings);
    }
    if outcome.finished {
        printer.note("an interrupted `undo` was completed");
        return printer.hints(&outcome.hints());
    }
    for kept in &outcome.kept {
        printer.note(&worded(kept));
    }
    if outcome.steps.is_empty() && outcome.files == ChangedFiles::default() {
        return printer.note("there is nothing to do: everything is as it was before the last change");
    }
    for skill in &outcome.skills {
        let (sign, end) = words(skill.change);
        printer.status(sign, &format!("{}{end}", one_line(&skill.name)));
    }
    printer.note(if outcome.redone { "the last change was redone" } else { "the last change was undone" });
    install::files(printer, outcome.scope, written);
    if !removed.is_empty() {
        printer.note(&format!("removed {removed}, which did not exist before"));
    }
    printer.warnings(&outcome.warnings);
    printer.tips(&outcome.hints());
}

fn words(change: Undone) -> (&'static str, &'static str) {
    match change {
        Undone::Back => ("+", ""),
        Undone::Gone => ("-", ""),
        Undone::Replaced => ("~", " (as it was)"),
        Undone::Disabled => ("<", " (disabled)"),
        Undone::Enabled => (">", " (enabled)"),
        Undone::Links => ("~", " (links and copies of agents)"),
    }
}

pub(crate) fn json(printer: &Printer, outcome: &UndoOutcome) {
    printer.json(outcome);
}

pub(crate) fn forgotten(printer: &Printer, outcome: Forgotten) {
    match outcome {
        Forgotten { forgotten: false, .. } => printer.note("there is nothing to forget"),
        Forgotten { bytes, dry_run: true, .. } => {
            printer.data(&format!("would forget the last change, {}", size(bytes)));
            printer.note("nothing was changed: this was a dry run");
        }
        Forgotten { bytes, .. } => {
            printer.note(&format!("the last change was forgotten, {}", size(bytes)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::appearance::Appearance;
    use crate::cli::printer::testing::printer;
    use skillpm_core::ops::undo::UndoneSkill;
    use skillpm_core::scope::changes::PathEffect;
    use skillpm_core::scope::plan::Location;
    use skillpm_core::scope::plan::Step;
    use skillpm_format::scope_kind::ScopeKind;

    #[test]
    fn a_line_for_each_skill() {
        let all =
            [Undone::Back, Undone::Gone, Undone::Replaced, Undone::Disabled, Undone::Enabled, Undone::Links];
        let skills = all
            .iter()
            .enumerate()
            .map(|(at, change)| UndoneSkill { name: format!("s{at}"), change: *change });
        let mut outcome = UndoOutcome {
            scope: Some(ScopeKind::Project),
            skills: skills.collect(),
            steps: vec![
                Step::Enable { name: "s4".parse().unwrap(), digest: None },
                // For example, an enabled skill gets its links back.
                Step::Relink {
                    place: Location::Agent("junie".to_owned()),
                    name: "s4".parse().unwrap(),
                    says: format!("sha256:{}", "0".repeat(64)).parse().unwrap(),
                },
            ],
            files: ChangedFiles { manifest: true, lockfile: true },
            files_gone: ChangedFiles { manifest: false, lockfile: true },
            paths: vec![
                steps::path(".agents/skills/s4", PathEffect::Created),
                steps::path("skillpm.lock", PathEffect::Deleted),
            ],
            kept: vec!["your copy of `s1` is kept".into()],
            warnings: Vec::new(),
            redone: false,
            finished: false,
            undoable: true,
            dry_run: false,
        };
        let (talking, out, err) = printer(Appearance::PLAIN);
        show(&talking, &outcome);
        assert_eq!(out.text(), "");
        insta::assert_snapshot!(err.text(), @"
        your copy of `s1` is kept
        + s0
        - s1
        ~ s2 (as it was)
        < s3 (disabled)
        > s4 (enabled)
        ~ s5 (links and copies of agents)
        the last change was undone
        `skillpm.toml` changed: commit it
        removed `skillpm.lock`, which did not exist before
        hint: run `skillpm undo` again to redo it
        ");
        let (talking, out, _) = printer(Appearance::PLAIN);
        json(&talking, &outcome);
        let value: serde_json::Value = serde_json::from_str(&out.text()).unwrap();
        assert_eq!((&value["skills"][5]["change"], &value["dry_run"]), (&"links".into(), &false.into()));
        for (scope, undoable, last) in [
            (ScopeKind::User, true, "hint: run `skillpm undo -g` again to redo it"),
            (ScopeKind::Project, false, "removed `skillpm.lock`, which did not exist before"),
        ] {
            let (talking, _, err) = printer(Appearance::PLAIN);
            show(&talking, &UndoOutcome { scope: Some(scope), undoable, ..outcome.clone() });
            assert_eq!(err.text().lines().last(), Some(last));
        }
        let (talking, _, err) = printer(Appearance::PLAIN);
        show(&talking, &UndoOutcome { redone: true, ..outcome.clone() });
        assert!(err.text().contains("\nthe last change was redone\n"), "{}", err.text());
        assert!(err.text().ends_with("hint: run `skillpm undo` again to undo it\n"), "{}", err.text());
        outcome.dry_run = true;
        let (talking, out, _) = printer(Appearance::PLAIN);
        show(&talking, &outcome);
        assert_eq!(out.text(), "would create .agents/skills/s4\nwould delete skillpm.lock\n");
        let (talking, _, err) = printer(Appearance::PLAIN);
        show(&talking, &UndoOutcome::default());
        show(&talking, &UndoOutcome { finished: true, ..UndoOutcome::default() });
        let user = Some(ScopeKind::User);
        show(&talking, &UndoOutcome { scope: user, finished: true, ..UndoOutcome::default() });
        forgotten(&talking, Forgotten { dry_run: false, forgotten: false, bytes: 0 });
        forgotten(&talking, Forgotten { dry_run: false, forgotten: true, bytes: 1234 });
        insta::assert_snapshot!(err.text(), @"
        there is nothing to do: everything is as it was before the last change
        an interrupted `undo` was completed
        hint: run `skillpm undo` again to redo the change
        an interrupted `undo` was completed
        hint: run `skillpm undo -g` again to redo the change
        there is nothing to forget
        the last change was forgotten, 1.2 kB
        ");
        let (talking, out, _) = printer(Appearance::PLAIN);
        forgotten(&talking, Forgotten { dry_run: true, forgotten: true, bytes: 1 });
        talking.json(&Forgotten { dry_run: true, forgotten: true, bytes: 1 });
        insta::assert_snapshot!(out.text(), @r#"
        would forget the last change, 1 byte
        {
          "dry_run": true,
          "forgotten": true,
          "bytes": 1
        }
        "#);
    }
}
