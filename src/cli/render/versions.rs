//! `diff`: each skill that differs, starting with what a reviewer must see.

use super::{count, diff, error, one_line, short_revision, skills_are};
use crate::cli::printer::Printer;
use crate::cli::style::{STRONG, paint};
use crate::cli::words::worded;
use skillpm_core::ops::diff::{Compared, DiffKind, DiffOutcome, Side, SkillDiff};
use skillpm_format::spec::Reference;

pub(crate) fn json(printer: &Printer, outcome: &DiffOutcome) {
    warn(printer, outcome);
    printer.warnings(&outcome.notes);
    printer.json(&outcome.skills);
}

/// Prints the files that differ, below the names of their skills.
pub(crate) fn names(printer: &Printer, outcome: &DiffOutcome) {
    warn(printer, outcome);
    let mut text = String::new();
    for skill in &outcome.skills {
        for file in &skill.diff.diff.files {
            text.push_str(&one_line(&format!("{}/{}", skill.name, file.path)));
            text.push('\n');
        }
    }
    printer.data(&text);
    notes(printer, outcome);
}

/// Prints the differences, without their lines if `stat` is set.
pub(crate) fn show(printer: &Printer, outcome: &DiffOutcome, compared: Compared, stat: bool) {
    warn(printer, outcome);
    let colour = printer.look().out_colour;
    let mut text = String::new();
    for (at, skill) in outcome.skills.iter().enumerate() {
        if at > 0 {
            text.push('\n');
        }
        paint(&mut text, &heading(skill), STRONG, colour);
        text.push_str("\n\n");
        let files = skill.diff.diff.files.len();
        text.push_str(&match (skill.line_ends, stat) {
            (true, _) => ["only line ends differ, in ", &count(files, "file"), "\n"].concat(),
            (false, true) => diff::stat(&skill.diff, colour),
            (false, false) => diff::version_diff(&skill.diff, colour),
        });
    }
    printer.styled_data(&text);
    notes(printer, outcome);
    printer.hints(&outcome.hints());
    if outcome.skills.is_empty() && outcome.failures.is_empty() {
        let same = count(outcome.same, "skill");
        printer.note(&match (outcome.same, compared) {
            (0, _) => "there is nothing to compare".to_owned(),
            (1, Compared::Installed) => format!("{same} is as it is locked"),
            (_, Compared::Installed) => format!("{same} are as they are locked"),
            (_, Compared::Newest) if !outcome.notes.is_empty() => "no file differs".to_owned(),
            (all, Compared::Newest) => format!("{} up to date", skills_are(all)),
            (1, Compared::Latest) => format!("{same} has nothing newer than what the manifest names"),
            (_, Compared::Latest) => format!("{same} have nothing newer than what the manifest names"),
        });
    }
}

/// Prints where skills are now, and why newer ones do not come, in the words of `outdated`.
fn notes(printer: &Printer, outcome: &DiffOutcome) {
    for note in &outcome.notes {
        printer.note(&worded(&note.message));
    }
}

fn warn(printer: &Printer, outcome: &DiffOutcome) {
    printer.warnings(&outcome.warnings);
    error::partial(printer, &outcome.failures);
}

/// Returns a text such as `pdf of github:acme/skills: locked at 1a2b3c4, newest at 5d6e7f8`.
fn heading(skill: &SkillDiff) -> String {
    one_line(&format!("{} of {}: {}, {}", skill.name, skill.source, side(&skill.old), side(&skill.new)))
}

fn side(side: &Side) -> String {
    let what = match side.what {
        DiffKind::Locked => "locked",
        DiffKind::Installed => "installed",
        DiffKind::Newest => "newest",
        DiffKind::Latest => "latest",
    };
    let revision = side.revision.as_deref().map(|revision| format!(" at {}", short_revision(revision)));
    let tag = match side.requested.as_deref().map(Reference::from_lockfile) {
        Some(Reference::Tag(tag)) => format!(" {tag}"),
        _ => String::new(),
    };
    format!("{what}{tag}{}", revision.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::appearance::Appearance;
    use crate::cli::printer::testing::printer;
    use skillpm_core::ops::diff::VersionDiff;
    use skillpm_core::updates::SourceState;
    use skillpm_format::digest::Digest;
    use skillpm_format::scope_kind::ScopeKind;

    use crate::testing::{File, file_set as set};

    fn skill(old: &[File<'_>], new: &[File<'_>]) -> SkillDiff {
        let side = |what, revision: &str| Side {
            what,
            requested: Some("tags/v1".into()),
            revision: Some(revision.repeat(40)),
            digest: Digest::of(revision.as_bytes()).to_string(),
        };
        SkillDiff {
            name: "pdf".into(),
            scope: ScopeKind::User,
            source: "github:acme/skills".into(),
            old: side(DiffKind::Locked, "a"),
            new: Side { requested: None, ..side(DiffKind::Newest, "b") },
            state: SourceState::default(),
            line_ends: false,
            diff: VersionDiff::new(&set(old), &set(new)).expect("a diff"),
        }
    }

    /// What is only elsewhere now is outdated, though none of its files differs.
    #[test]
    fn what_moved_is_not_up_to_date() {
        let note = skillpm_format::advice::Warning::new("skill-moved", "`pdf` moved from `a` to `b`");
        for (notes, told) in [
            (vec![note], "`pdf` moved from `a` to `b`\nno file differs\n"),
            (vec![], "1 skill is up to date\n"),
        ] {
            let outcome = DiffOutcome { same: 1, notes, ..DiffOutcome::default() };
            let (talking, _, err) = printer(Appearance::PLAIN);
            show(&talking, &outcome, Compared::Newest, false);
            assert_eq!(err.text(), told);
        }
    }

    /// THREATS: names and lines of files come from a stranger.
    #[test]
    fn names_and_numbers_without_lines() {
        let skill = skill(
            &[("SKILL.md", b"a\n"), ("a, b", b"x\n")],
            &[("SKILL.md", b"b\nc\n"), ("run.sh*", b"\x1b[2J\n"), ("x.png", b"\0")],
        );
        let outcome = DiffOutcome { skills: vec![skill], ..DiffOutcome::default() };
        let (talking, out, _) = printer(Appearance::PLAIN);
        show(&talking, &outcome, Compared::Newest, true);
        insta::assert_snapshot!(out.text(), @r"
        pdf of github:acme/skills: locked v1 at aaaaaaa, newest at bbbbbbb

        review: 3 changes, 3 new capabilities, marked `!`
        ! hidden-characters  run.sh:1  a hidden character: U+001B
        ! script             run.sh    \u{1b}[2J
        ! binary             x.png     not text

        4 files: 2 added, 1 removed, 1 changed; 3 lines added, 2 removed
        changed SKILL.md: 2 lines added, 1 removed
        removed a, b: 0 lines added, 1 removed
        added run.sh: executable; 1 line added, 0 removed
        added x.png: not text, 1 byte
        ");
        let (talking, out, _) = printer(Appearance::PLAIN);
        names(&talking, &outcome);
        insta::assert_snapshot!(out.text(), @"
        pdf/SKILL.md
        pdf/a, b
        pdf/run.sh
        pdf/x.png
        ");
    }
}
