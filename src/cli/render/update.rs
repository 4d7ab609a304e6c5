//! `update`: first the additions and what a reviewer must see, then the changes that were made.

use super::{count, counted, diff, error, install, one_line, quoted, short_revision, skills_are, steps};
use crate::cli::printer::Printer;
use crate::cli::style::{BAD, CHANGED, FAINT, GOOD, STRONG, folded_lines, paint};
use crate::cli::words::worded;
use skillpm_core::ops::update::{
    MergedPath, UpdateChange, UpdateFailure, UpdateOutcome, UpdatedSkill, Version,
};
use skillpm_format::advice::{Opt, Verb, Warning, message};
use skillpm_format::merge::{Conflict, Prefer};
use skillpm_format::review::Review;
use skillpm_format::text::without_secrets;
use skillpm_sources::error::Failure;

/// Shows the planned changes: as data if only the plan was requested, otherwise as messages.
pub(crate) fn plan(printer: &Printer, outcome: &UpdateOutcome, as_data: bool) {
    let look = printer.look();
    let colour = if as_data { look.out_colour } else { look.err_colour };
    // Additions without consent are the reason of an error, which quiet runs print too.
    let is_told = |skill: &&UpdatedSkill| as_data || !look.quiet || outcome.refused.contains(&skill.name);
    let changing = outcome.skills.iter().filter(|skill| is_change(skill.change)).filter(is_told);
    let text: String = changing.map(|skill| planned(skill, colour)).collect();
    if as_data {
        printer.styled_data(&folded_lines(&text, look.width));
    } else if !text.is_empty() {
        printer.styled_talk(&folded_lines(&text, look.err_width));
    }
}

/// Prints the other results of a dry run.
pub(crate) fn dry_run(printer: &Printer, outcome: &UpdateOutcome) {
    steps::plan(printer, &outcome.paths);
    still(printer, outcome);
    let unchanged = outcome.skills.iter().filter(|skill| skill.change == UpdateChange::Unchanged).count();
    if unchanged > 0 {
        printer.note(&format!("{} up to date", skills_are(unchanged)));
    }
    warn(printer, outcome, &[]);
    printer.hints(&outcome.hints());
}

/// Prints the changes that were made. The differences and the warnings `told` were printed before.
pub(crate) fn done(printer: &Printer, outcome: &UpdateOutcome, told: &[Warning]) {
    still(printer, outcome);
    let counts = counts(&outcome.skills);
    if counts.is_empty() {
        printer.note("there is nothing to update: no skill is installed");
        printer.hints(&outcome.elsewhere);
    } else {
        printer.note(&format!("{counts} in `{}`", one_line(&outcome.place)));
    }
    install::files(printer, outcome.scope, outcome.files);
    warn(printer, outcome, told);
    for (skill, paths) in outcome.conflicts() {
        let name = one_line(&skill.name);
        let files: Vec<_> = paths.iter().map(|path| path.path.as_str()).collect();
        printer.warning(&format!(
            "`{name}` has {} to resolve: {}",
            count(paths.len(), "conflict"),
            quoted(&files)
        ));
        printer.hint(&outcome.conflict_hint(skill));
    }
}

pub(crate) fn json(printer: &Printer, outcome: &UpdateOutcome, told: &[Warning]) {
    printer.json(outcome);
    warn(printer, outcome, told);
}

fn warn(printer: &Printer, outcome: &UpdateOutcome, told: &[Warning]) {
    printer.warnings(outcome.warnings.iter().filter(|warning| !told.contains(warning)));
    for UpdateFailure { names, why } in &outcome.failures {
        let stay = if names.len() == 1 { "was left as is: " } else { "were left as is: " };
        let message = message!(quoted(names), " ", stay, &why.message);
        error::failure(printer, &Failure { message, ..why.clone() });
    }
}

/// Prints a line for each skill that could have changed but did not. Up-to-date skills are counted, and named
/// with `--verbose`: there may be thousands.
fn still(printer: &Printer, outcome: &UpdateOutcome) {
    let all = printer.look().verbose;
    for skill in &outcome.skills {
        let told;
        let text = match skill.change {
            UpdateChange::Unchanged if all => "is up to date",
            UpdateChange::Pinned => {
                told = worded(&message!("is pinned to a commit: ", Opt::Latest, " goes past it"));
                &told
            }
            UpdateChange::Editable => "is editable: it changes with its directory",
            UpdateChange::Missing => {
                let install = outcome.scope.map_or(Verb::Install.call(), |scope| Verb::Install.within(scope));
                told = worded(&message!("is not locked: ", install, " locks and installs it"));
                &told
            }
            UpdateChange::Unresolved => "has conflicts of an earlier update",
            // What failed is told with the reason.
            _ => continue,
        };
        let sign = if skill.change == UpdateChange::Unresolved { "!" } else { "=" };
        printer.status(sign, &format!("{} {text}", one_line(&skill.name)));
    }
}

fn is_change(change: UpdateChange) -> bool {
    use UpdateChange::{Aborted, Added, Conflict, Merged, Removed, Resolved, Updated};
    matches!(change, Updated | Merged | Conflict | Resolved | Aborted | Added | Removed)
}

/// Shows what a version of the skill `name` can do that the one before it could not. Quiet runs print it as the reason
/// of an error: the lines that were not agreed to.
pub(crate) fn new_version(printer: &Printer, name: &str, review: &Review, refused: bool) {
    let look = printer.look();
    if look.quiet && !refused {
        return;
    }
    let mut out = String::new();
    paint(&mut out, "~", CHANGED, look.err_colour);
    out.extend([" ", &one_line(name), "\n"]);
    let mut block = String::new();
    if look.quiet {
        let mut new = review.clone();
        new.changes.retain(|change| change.new_capability);
        new.omitted = new.omitted_capabilities;
        diff::review(&mut block, &new, look.err_colour);
    } else {
        diff::review(&mut block, review, look.err_colour);
    }
    indent(&mut out, &block);
    printer.styled_talk(&folded_lines(&out, look.err_width));
}

fn indent(out: &mut String, block: &str) {
    for line in block.lines() {
        out.extend(["    ", line, "\n"]);
    }
}

/// Returns the planned change of one skill.
fn planned(skill: &UpdatedSkill, colour: bool) -> String {
    let mut out = String::new();
    let (sign, style) = match skill.change {
        UpdateChange::Conflict => ("!", BAD),
        UpdateChange::Aborted => ("<", CHANGED),
        UpdateChange::Resolved | UpdateChange::Added => ("+", GOOD),
        UpdateChange::Removed => ("-", BAD),
        _ => ("~", CHANGED),
    };
    paint(&mut out, sign, style, colour);
    out.extend([" ", &heading(skill), "\n"]);
    let mut block = String::new();
    if let (Some(review), Some(counts)) = (&skill.review, &skill.counts) {
        if counts.files() == 0 {
            block.push_str("no file differs\n");
        } else {
            diff::review(&mut block, review, colour);
            paint(&mut block, &diff::counts(counts), STRONG, colour);
            block.push('\n');
        }
    }
    for path in skill.merge.iter().filter(|path| path.result != "same") {
        let style = if path.result == "conflict" { BAD } else { FAINT };
        paint(&mut block, &merged(path), style, colour);
        block.push('\n');
    }
    indent(&mut out, &block);
    out
}

/// Returns a text such as `pdf 1.0 -> 1.1 (github:acme/skills at 1a2b3c4 -> 5d6e7f8)`.
fn heading(skill: &UpdatedSkill) -> String {
    let arrow = |old: Option<String>, new: Option<String>| match (old, new) {
        (Some(old), Some(new)) if old != new => Some(format!("{old} -> {new}")),
        (old, new) => new.or(old),
    };
    let both = |what: fn(&Version) -> Option<String>| {
        arrow(skill.from.as_ref().and_then(what), skill.to.as_ref().and_then(what))
    };
    let version = both(|version| version.version.as_deref().map(one_line));
    let version = version.map_or(String::new(), |version| format!(" {version}"));
    let requested = both(|version| {
        version.requested.as_deref().and_then(|text| text.strip_prefix("tags/")).map(one_line)
    });
    let requested = requested.map_or(String::new(), |tag| format!(", {tag}"));
    let revision = both(|version| version.revision.as_deref().map(|text| one_line(&short_revision(text))));
    let revision = revision.map_or(String::new(), |revision| format!(" at {revision}"));
    let disabled = if skill.disabled { ", disabled" } else { "" };
    let sided = skill.merge.iter().find_map(|path| path.side).map(|side| match side {
        Prefer::Ours => ": your version is kept where the two conflict",
        Prefer::Theirs => ": the new version is taken where the two conflict",
    });
    let word = match skill.change {
        UpdateChange::Merged | UpdateChange::Resolved if sided.is_some() => sided.unwrap_or_default(),
        UpdateChange::Merged => ": your edits are merged",
        UpdateChange::Conflict => ": your edits conflict with it",
        UpdateChange::Resolved => ": the conflicts are resolved",
        UpdateChange::Aborted => ": back to what it was before the merge",
        UpdateChange::Added => ": now needed by others",
        UpdateChange::Removed => ": no longer needed",
        _ => "",
    };
    let (name, source) = (one_line(&skill.name), one_line(&without_secrets(&skill.source)));
    format!("{name}{version} ({source}{revision}{requested}{disabled}){word}")
}

/// Returns the result for a file that the user had changed.
fn merged(path: &MergedPath) -> String {
    let file = one_line(path.path.as_str());
    let kept = path.kept.as_ref().map(|kept| format!("; yours is saved as `{}`", one_line(kept.as_str())));
    let kept = kept.unwrap_or_default();
    let what = match (path.result, path.conflict) {
        ("ours", _) => "yours stays",
        ("merged", _) => "it has both changes",
        ("decided", Some(conflict)) => decided(conflict, path.side),
        (_, Some(Conflict::Lines)) => "both changed the same lines",
        (_, Some(Conflict::Binary)) => "both changed it, and it is not text: the new one is installed",
        (_, Some(Conflict::DeletedHere)) => "you deleted it, but the new version changed it: it is restored",
        (_, Some(Conflict::DeletedThere)) => "the new version deleted it, but you changed it: yours is kept",
        (_, Some(Conflict::Name)) => "the new version needs the name",
        _ => "both made the same change",
    };
    format!("{} {file}: {what}{kept}", if path.result == "conflict" { "conflict" } else { "edited" })
}

/// Returns what becomes of a file in conflict, which was decided for `side`.
fn decided(conflict: Conflict, side: Option<Prefer>) -> &'static str {
    match (side, conflict) {
        (Some(Prefer::Ours), Conflict::DeletedHere) => "it stays deleted",
        (Some(Prefer::Ours), Conflict::Name) => "yours has the name: the new one is left out",
        (Some(Prefer::Ours), _) => "your version is kept",
        (_, Conflict::DeletedThere) => "yours is deleted, as in the new version",
        (_, Conflict::DeletedHere) => "it is restored, as in the new version",
        (_, Conflict::Name) => "the new version needs the name: yours is deleted",
        _ => "the new version replaces yours",
    }
}

/// Returns a text such as `2 skills updated, 1 unchanged`.
fn counts(skills: &[UpdatedSkill]) -> String {
    let kinds = [
        (UpdateChange::Updated, "updated"),
        (UpdateChange::Merged, "merged with your edits"),
        (UpdateChange::Conflict, "in conflict with your edits"),
        (UpdateChange::Resolved, "resolved"),
        (UpdateChange::Aborted, "undone"),
        (UpdateChange::Added, "added"),
        (UpdateChange::Removed, "removed"),
        (UpdateChange::Unchanged, "up to date"),
        (UpdateChange::Pinned, "pinned"),
        (UpdateChange::Editable, "editable"),
        (UpdateChange::Missing, "not locked"),
        (UpdateChange::Unresolved, "left with conflicts"),
        (UpdateChange::Failed, "failed"),
    ];
    let changes: Vec<_> = skills.iter().map(|skill| skill.change).collect();
    counted("skill", &changes, &kinds).join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::appearance::Appearance;
    use crate::cli::printer::testing::printer;
    use skillpm_core::ops::diff::{Counts, FileStatus};
    use skillpm_core::ops::update::ChangedFile;
    use skillpm_core::scope::plan::ChangedFiles;
    use skillpm_core::updates::SourceState;
    use skillpm_format::review::{Change, Kind};
    use skillpm_format::scope_kind::CANONICAL_DIR;
    use skillpm_format::scope_kind::ScopeKind;
    use skillpm_sources::error::Error;

    fn version(number: &str) -> Version {
        Version {
            version: Some(number.to_owned()),
            requested: Some(format!("tags/v{number}")),
            revision: Some(format!("{}b3c4d", number.replace('.', "")).repeat(6)[..40].to_owned()),
            digest: format!("sha256:{}", "0".repeat(64)),
        }
    }

    fn skill(name: &str, change: UpdateChange) -> UpdatedSkill {
        let path = || "scripts/run.sh".parse().unwrap();
        let new = Change {
            kind: Kind::Command,
            new_capability: true,
            path: path(),
            line: Some(3),
            text: "curl \u{1b}[2J".into(),
        };
        let bad = |result, conflict| MergedPath { path: path(), result, conflict, side: None, kept: None };
        UpdatedSkill {
            name: name.to_owned(),
            source: "github:acme/skills".to_owned(),
            change,
            from: Some(version("1.0")),
            to: is_change(change).then(|| version("1.1")),
            state: SourceState::default(),
            disabled: name == "docx",
            review: is_change(change).then(|| Review { changes: vec![new], ..Review::default() }),
            counts: Some(Counts { changed: 1, added_lines: 1, ..Counts::default() }),
            files: vec![ChangedFile { path: path(), status: FileStatus::Changed }],
            merge: match change {
                UpdateChange::Merged => vec![bad("ours", None), bad("merged", None), bad("same", None)],
                UpdateChange::Conflict => vec![MergedPath {
                    kept: Some("scripts/run.sh.mine".parse().unwrap()),
                    ..bad("conflict", Some(Conflict::Lines))
                }],
                UpdateChange::Resolved => {
                    vec![MergedPath { side: Some(Prefer::Ours), ..bad("decided", Some(Conflict::Lines)) }]
                }
                _ => Vec::new(),
            },
        }
    }

    const CHANGES: [UpdateChange; 13] = [
        UpdateChange::Updated,
        UpdateChange::Merged,
        UpdateChange::Conflict,
        UpdateChange::Unchanged,
        UpdateChange::Pinned,
        UpdateChange::Editable,
        UpdateChange::Missing,
        UpdateChange::Unresolved,
        UpdateChange::Resolved,
        UpdateChange::Aborted,
        UpdateChange::Added,
        UpdateChange::Removed,
        UpdateChange::Failed,
    ];

    fn outcome() -> UpdateOutcome {
        let names = ["docx", "pdf", "xlsx", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
        UpdateOutcome {
            skills: names.iter().zip(CHANGES).map(|(name, change)| skill(name, change)).collect(),
            files: ChangedFiles { manifest: false, lockfile: true },
            place: CANONICAL_DIR.to_owned(),
            elsewhere: None,
            scope: Some(ScopeKind::Project),
            refused: vec!["pdf".to_owned()],
            failures: vec![UpdateFailure {
                names: vec!["j".to_owned()],
                why: (&Error::network("no such host").hint("check the spelling")).into(),
            }],
            warnings: vec![Warning::new("odd", "odd")],
            ..UpdateOutcome::default()
        }
    }

    #[test]
    fn what_is_new_then_what_was_done() {
        let (talking, out, err) = printer(Appearance::PLAIN);
        plan(&talking, &outcome(), true);
        insta::assert_snapshot!(out.text(), @r"
        ~ docx 1.0 -> 1.1 (github:acme/skills at 10b3c4d -> 11b3c4d, v1.0 -> v1.1, disabled)
            review: 1 change, 1 new capability, marked `!`
            ! command  scripts/run.sh:3  curl \u{1b}[2J
            1 file: 1 changed; 1 line added, 0 removed
        ~ pdf 1.0 -> 1.1 (github:acme/skills at 10b3c4d -> 11b3c4d, v1.0 -> v1.1): your edits are merged
            review: 1 change, 1 new capability, marked `!`
            ! command  scripts/run.sh:3  curl \u{1b}[2J
            1 file: 1 changed; 1 line added, 0 removed
            edited scripts/run.sh: yours stays
            edited scripts/run.sh: it has both changes
        ! xlsx 1.0 -> 1.1 (github:acme/skills at 10b3c4d -> 11b3c4d, v1.0 -> v1.1): your edits conflict with it
            review: 1 change, 1 new capability, marked `!`
            ! command  scripts/run.sh:3  curl \u{1b}[2J
            1 file: 1 changed; 1 line added, 0 removed
            conflict scripts/run.sh: both changed the same lines; yours is saved as `scripts/run.sh.mine`
        + f 1.0 -> 1.1 (github:acme/skills at 10b3c4d -> 11b3c4d, v1.0 -> v1.1): your version is kept where the two conflict
            review: 1 change, 1 new capability, marked `!`
            ! command  scripts/run.sh:3  curl \u{1b}[2J
            1 file: 1 changed; 1 line added, 0 removed
            edited scripts/run.sh: your version is kept
        < g 1.0 -> 1.1 (github:acme/skills at 10b3c4d -> 11b3c4d, v1.0 -> v1.1): back to what it was before the merge
            review: 1 change, 1 new capability, marked `!`
            ! command  scripts/run.sh:3  curl \u{1b}[2J
            1 file: 1 changed; 1 line added, 0 removed
        + h 1.0 -> 1.1 (github:acme/skills at 10b3c4d -> 11b3c4d, v1.0 -> v1.1): now needed by others
            review: 1 change, 1 new capability, marked `!`
            ! command  scripts/run.sh:3  curl \u{1b}[2J
            1 file: 1 changed; 1 line added, 0 removed
        - i 1.0 -> 1.1 (github:acme/skills at 10b3c4d -> 11b3c4d, v1.0 -> v1.1): no longer needed
            review: 1 change, 1 new capability, marked `!`
            ! command  scripts/run.sh:3  curl \u{1b}[2J
            1 file: 1 changed; 1 line added, 0 removed
        ");
        done(&talking, &outcome(), &[]);
        insta::assert_snapshot!(err.text(), @"
        = b is pinned to a commit: `--latest` goes past it
        = c is editable: it changes with its directory
        = d is not locked: `skillpm install` locks and installs it
        ! e has conflicts of an earlier update
        1 skill updated, 1 merged with your edits, 1 in conflict with your edits, 1 resolved, 1 undone, 1 added, 1 removed, 1 up to date, 1 pinned, 1 editable, 1 not locked, 1 left with conflicts, 1 failed in `.agents/skills`
        `skillpm.lock` changed: commit it
        warning: odd
        warning: `j` was left as is: no such host
        hint: check the spelling
        warning: `xlsx` has 1 conflict to resolve: `scripts/run.sh`
        hint: edit its files until no marker and no kept file is left, or choose a side with `skillpm update xlsx --ours` or `--theirs`; `skillpm update xlsx --abort` undoes the update
        ");
        let (talking, _, err) = printer(Appearance { verbose: true, ..Appearance::PLAIN });
        done(&talking, &outcome(), &[]);
        assert!(err.text().starts_with("= a is up to date\n= b is pinned"), "{}", err.text());
        let (talking, _, err) = printer(Appearance::PLAIN);
        done(&talking, &UpdateOutcome::default(), &[]);
        assert_eq!(err.text(), "there is nothing to update: no skill is installed\n");
        let (talking, out, err) = printer(Appearance { quiet: true, ..Appearance::PLAIN });
        plan(&talking, &outcome(), false);
        let told = err.text();
        assert!(out.text().is_empty() && told.starts_with("~ pdf ") && told.contains("! command"), "{told}");
        assert!(!told.contains("docx"), "only what was refused: {told}");
    }
}
