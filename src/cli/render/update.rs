//! `update`: first what is new and what a reviewer must see, then what was done.

use serde::Serialize;

use super::{count, diff, install, one_line, quoted, short_revision, steps};
use crate::cli::printer::Printer;
use crate::cli::style::{BAD, CHANGED, FAINT, GOOD, STRONG, paint};
use crate::install::plan::{ChangedFiles, NewLink, Step};
use crate::install::scope::ScopeKind;
use crate::merge::Conflict;
use crate::ops::policy::Decided;
use crate::ops::update::{MergedPath, UpdateChange, UpdateFailure, UpdateOutcome, UpdatedSkill, Version};

/// Shows what is about to change: as data where that is all that was asked for, else as talk.
pub(crate) fn plan(printer: &Printer, outcome: &UpdateOutcome, as_data: bool) {
    let look = printer.look();
    let colour = if as_data { look.out_colour } else { look.err_colour };
    let changing = outcome.skills.iter().filter(|skill| is_change(skill.change));
    let text: String = changing.map(|skill| planned(skill, colour)).collect();
    if as_data {
        printer.styled_data(&text);
    } else if !look.quiet {
        printer.styled_talk(&text);
    }
}

/// Tells what a dry run found besides.
pub(crate) fn dry_run(printer: &Printer, outcome: &UpdateOutcome) {
    steps::plan(printer, &outcome.steps, outcome.files);
    still(printer, outcome);
    warn(printer, outcome);
    if !outcome.refused.is_empty() {
        printer.hint(&format!(
            "somebody has to agree to what {} could do then: on a terminal, or with `--allow-new-capabilities={}`",
            quoted(&outcome.refused),
            one_line(&outcome.refused.join(","))
        ));
    }
}

/// Tells what was done; what changed was shown before.
pub(crate) fn done(printer: &Printer, outcome: &UpdateOutcome) {
    still(printer, outcome);
    let counts = counts(&outcome.skills);
    if counts.is_empty() {
        printer.note("there is nothing to update: no skill is installed");
    } else {
        printer.note(&format!("{counts} in {}", install::place(outcome.scope)));
    }
    install::files(printer, outcome.scope, outcome.files);
    warn(printer, outcome);
    for (skill, paths) in outcome.conflicts() {
        let name = one_line(&skill.name);
        let lines: Vec<_> = paths.iter().map(|path| format!("\n  {}", merged(path))).collect();
        printer.warning(&format!(
            "`{name}` has {} to resolve:{}",
            count(paths.len(), "conflict"),
            lines.concat()
        ));
        printer.hint(&format!(
            "edit the files of `{name}`, or take one side with `skillpm update {name} --ours` or `--theirs`; `skillpm update {name} --abort` goes back"
        ));
    }
}

/// The JSON form. It is an interface: fields are only added.
#[derive(Serialize)]
struct Report<'a> {
    scope: Option<ScopeKind>,
    dry_run: bool,
    skills: &'a [UpdatedSkill],
    steps: &'a [Step],
    links: &'a [NewLink],
    files_changed: ChangedFiles,
    refused: &'a [String],
    failures: &'a [UpdateFailure],
    decided: &'a [Decided],
    warnings: &'a [String],
}

pub(crate) fn json(printer: &Printer, outcome: &UpdateOutcome) {
    printer.json(&Report {
        scope: outcome.scope,
        dry_run: outcome.dry_run,
        skills: &outcome.skills,
        steps: &outcome.steps,
        links: &outcome.links,
        files_changed: outcome.files,
        refused: &outcome.refused,
        failures: &outcome.failures,
        decided: &outcome.decided,
        warnings: &outcome.warnings,
    });
    warn(printer, outcome);
}

fn warn(printer: &Printer, outcome: &UpdateOutcome) {
    for warning in &outcome.warnings {
        printer.warning(warning);
    }
    for failure in &outcome.failures {
        let stay = if failure.names.len() == 1 { "stays as it is" } else { "stay as they are" };
        printer.warning(&format!("{} {stay}: {}", quoted(&failure.names), failure.message));
        for hint in &failure.hints {
            printer.hint(hint);
        }
    }
}

/// A line for each skill that is not changed.
fn still(printer: &Printer, outcome: &UpdateOutcome) {
    for skill in &outcome.skills {
        let text = match skill.change {
            UpdateChange::Unchanged => "is up to date",
            UpdateChange::Pinned => "is pinned to a commit: `--latest` goes past it",
            UpdateChange::Editable => "is editable: it changes with its directory",
            UpdateChange::Missing => "is not installed yet: `skillpm install` brings it",
            UpdateChange::Unresolved => "has conflicts of an earlier update",
            UpdateChange::Failed => "stays as it is",
            _ => continue,
        };
        let sign =
            if matches!(skill.change, UpdateChange::Unresolved | UpdateChange::Failed) { "!" } else { "=" };
        printer.status(sign, &format!("{} {text}", one_line(&skill.name)));
    }
}

fn is_change(change: UpdateChange) -> bool {
    use UpdateChange::{Aborted, Conflict, Merged, Resolved, Updated};
    matches!(change, Updated | Merged | Conflict | Resolved | Aborted)
}

/// What is about to happen to one skill.
fn planned(skill: &UpdatedSkill, colour: bool) -> String {
    let mut out = String::new();
    let (sign, style) = match skill.change {
        UpdateChange::Conflict => ("!", BAD),
        UpdateChange::Aborted => ("<", CHANGED),
        UpdateChange::Resolved => ("+", GOOD),
        _ => ("~", CHANGED),
    };
    paint(&mut out, sign, style, colour);
    out.push_str(&format!(" {}\n", heading(skill)));
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
    for line in block.lines() {
        out.push_str("    ");
        out.push_str(line);
        out.push('\n');
    }
    out
}

/// `pdf 1.0 -> 1.1 (github:acme/skills at 1a2b3c4 -> 5d6e7f8)`.
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
    let word = match skill.change {
        UpdateChange::Merged => ": your edits are merged",
        UpdateChange::Conflict => ": your edits conflict with it",
        UpdateChange::Resolved => ": the conflicts are decided for one side",
        UpdateChange::Aborted => ": back to what it was before the merge",
        _ => "",
    };
    let (name, source) = (one_line(&skill.name), one_line(&skill.source));
    format!("{name}{version} ({source}{revision}{requested}{disabled}){word}")
}

/// What became of a file that the user had changed.
fn merged(path: &MergedPath) -> String {
    let file = one_line(path.path.as_str());
    let kept = path.kept.as_ref().map(|kept| format!("; yours is kept as `{}`", one_line(kept.as_str())));
    let kept = kept.unwrap_or_default();
    let what = match (path.result, path.conflict) {
        ("ours", _) => "yours stays",
        ("merged", _) => "both changes are in it",
        ("decided", _) => "decided for one side as a whole",
        (_, Some(Conflict::Lines)) => "both changed the same lines",
        (_, Some(Conflict::Binary)) => "both changed it and it is no text: the new one is there",
        (_, Some(Conflict::DeletedHere)) => "you deleted it and the new version changed it: it is back",
        (_, Some(Conflict::DeletedThere)) => "the new version deleted it and you changed it: yours stays",
        (_, Some(Conflict::Name)) => "the new version needs the name",
        _ => "both made the same change",
    };
    format!("{} {file}: {what}{kept}", if path.result == "conflict" { "conflict" } else { "merged" })
}

/// `2 skills updated, 1 unchanged`.
fn counts(skills: &[UpdatedSkill]) -> String {
    let kinds = [
        (UpdateChange::Updated, "updated"),
        (UpdateChange::Merged, "merged with your edits"),
        (UpdateChange::Conflict, "in conflict with your edits"),
        (UpdateChange::Resolved, "resolved"),
        (UpdateChange::Aborted, "taken back"),
        (UpdateChange::Unchanged, "up to date"),
        (UpdateChange::Pinned, "pinned"),
        (UpdateChange::Editable, "editable"),
        (UpdateChange::Missing, "not installed"),
        (UpdateChange::Unresolved, "left with conflicts"),
        (UpdateChange::Failed, "failed"),
    ];
    let number = |change| skills.iter().filter(|skill| skill.change == change).count();
    let parts = kinds.map(|(change, word)| (number(change), word)).into_iter();
    install::listed(parts)
}
