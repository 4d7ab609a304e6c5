//! `registry`: what was published, and what a registry has.

use std::path::Path;

use super::cache::size;
use super::table::Table;
use super::{count, error, one_line};
use crate::cli::printer::Printer;
use skillpm_core::ops::registry::mirror::{BundleOutcome, MirrorOutcome};
use skillpm_core::ops::registry::{
    AccessOutcome, AccessWorkflow, AddOutcome, IndexOutcome, InitOutcome, ListOutcome, ListedSkill,
    VerifyOutcome, YankOutcome,
};
use skillpm_format::advice::message;
use skillpm_format::text::and_more;
use skillpm_sources::error::{ErrorKind, Failure, NamedFailure};
use skillpm_sources::registry::Visibility;

/// The number of yanked versions that a row names.
const YANKED: usize = 2;

pub(crate) fn initialized(printer: &Printer, outcome: &InitOutcome, cwd: &Path, json: bool) {
    if json {
        return printer.json(outcome);
    }
    let (dir, name) = (one_line(&outcome.registry), &outcome.name);
    displaced(printer, &outcome.replaced, &outcome.removed, outcome.dry_run);
    printer.note(&if outcome.dry_run {
        format!("would make `{dir}` the registry `{name}`; this was a dry run")
    } else {
        format!("`{dir}` is the registry `{name}` now")
    });
    printer.tips(&outcome.hints(cwd));
}

/// Shows the files that were not the registry's and gave way to it.
fn displaced(printer: &Printer, replaced: &[String], removed: &[String], dry_run: bool) {
    let (replace, remove) = if dry_run { ("would replace", "would remove") } else { ("replaced", "removed") };
    for (verb, paths) in [(replace, replaced), (remove, removed)] {
        for path in paths {
            printer.note(&format!("{verb} `{}`, which was not the registry's", one_line(path)));
        }
    }
}

pub(crate) fn added(printer: &Printer, outcome: &AddOutcome, json: bool) {
    if json {
        return printer.json(outcome);
    }
    for added in &outcome.added {
        let line = format!("{} {}", added.name, one_line(&added.version));
        match (added.already, outcome.dry_run) {
            (true, _) => printer.note(&format!("{line} is already there")),
            (false, true) => printer.status("would publish", &format!("{line} ({})", size(added.size))),
            (false, false) => printer.status("published", &format!("{line} ({})", size(added.size))),
        }
    }
    if outcome.dry_run {
        printer.note("nothing was published: this was a dry run");
    }
}

pub(crate) fn indexed(printer: &Printer, outcome: &IndexOutcome, cwd: &Path, json: bool) {
    if json {
        printer.json(outcome);
        let left = outcome.left_out.iter().map(|one| format!("left out `{}`: {}", one.name, one.why.message));
        return left.for_each(|told| {
            error::failure(printer, &Failure::new(ErrorKind::Integrity, told));
        });
    }
    let (write, remove) =
        if outcome.dry_run { ("would write", "would remove") } else { ("wrote", "removed") };
    for (verb, paths) in [(write, &outcome.written), (remove, &outcome.removed)] {
        for path in paths {
            printer.detail(&format!("{verb} {}", one_line(path)));
        }
    }
    for one in &outcome.left_out {
        printer.note(&format!("left out `{}`: {}", one.name, one_line(&one.why.message.to_string())));
    }
    let changed = outcome.written.len() + outcome.removed.len();
    let end = match (changed, outcome.dry_run) {
        (0, _) => "nothing to change".to_owned(),
        (_, true) => format!("{} would change", count(changed, "file")),
        (_, false) => format!("{} changed", count(changed, "file")),
    };
    let (skills, versions) = (count(outcome.skills, "skill"), count(outcome.versions, "version"));
    printer.note(&format!("{skills}, {versions}: {end}"));
    printer.hints(&outcome.hints(cwd));
}

pub(crate) fn yanked(printer: &Printer, outcome: &YankOutcome, json: bool) {
    if json {
        return printer.json(outcome);
    }
    for version in &outcome.versions {
        let line = format!("{} {}", version.name, one_line(&version.version));
        let state = if version.yanked.is_some() { "yanked" } else { "available" };
        match (version.changed, outcome.dry_run) {
            (false, _) => printer.note(&format!("{line} is {state} already")),
            (true, true) => printer.note(&format!("{line} would be {state}")),
            (true, false) => printer.note(&format!("{line} is {state} now")),
        }
    }
    if outcome.dry_run {
        printer.note("nothing was written: this was a dry run");
    }
}

/// Shows who may publish a skill and who may see it; `is_change` if that was to be changed.
pub(crate) fn access(printer: &Printer, outcome: &AccessOutcome, is_change: bool, json: bool) {
    if json {
        return printer.json(outcome);
    }
    for owner in &outcome.owners {
        printer.data(&format!("owner      {}", one_line(owner)));
    }
    for publisher in &outcome.publishers {
        let AccessWorkflow { repository, repository_id, workflow, environment, issuer } = publisher;
        let id = repository_id.as_ref().map(|id| format!(" (id {id})")).unwrap_or_default();
        let environment = environment.as_ref().map(|name| format!(" in `{name}`")).unwrap_or_default();
        let line = format!("{workflow} of {repository}{id}{environment}, as {issuer} states");
        printer.data(&format!("publisher  {}", one_line(&line)));
    }
    let visibility = match outcome.visibility {
        Visibility::Public => "public",
        Visibility::Private => "private",
    };
    printer.data(&format!("visibility {visibility}"));
    if is_change && !outcome.changed {
        printer.note(&format!("nothing to change: the access to `{}` is already set this way", outcome.name));
    }
}

pub(crate) fn verified(printer: &Printer, outcome: &VerifyOutcome, cwd: &Path, json: bool) {
    if json {
        return printer.json(outcome);
    }
    for defect in &outcome.defects {
        printer.data(&format!("{}: {}", one_line(&defect.path), one_line(&defect.message)));
    }
    for path in &outcome.strays {
        printer.note(&format!("`{}` belongs to nothing", one_line(path)));
    }
    for name in &outcome.pending {
        printer.note(&format!("a change of `{name}` was cut off"));
    }
    let (skills, versions) = (count(outcome.skills, "skill"), count(outcome.versions, "version"));
    let defects = if outcome.defects.is_empty() {
        "nothing is wrong".to_owned()
    } else {
        count(outcome.defects.len(), "defect")
    };
    printer.note(&format!("{skills}, {versions}, {}: {defects}", size(outcome.bytes)));
    printer.hints(&outcome.hints(cwd));
}

/// Prints why skills of a registry were not mirrored.
fn failures(printer: &Printer, outcome: &MirrorOutcome) {
    for NamedFailure { name, why } in &outcome.failures {
        let message = message!(format_args!("`{name}` was left as is: "), &why.message);
        error::failure(printer, &Failure { message, ..why.clone() });
    }
}

pub(crate) fn mirrored(printer: &Printer, outcome: &MirrorOutcome, json: bool) {
    if json {
        printer.json(outcome);
        return failures(printer, outcome);
    }
    displaced(printer, &outcome.replaced, &outcome.removed, false);
    for added in &outcome.added {
        let line = format!("{} {} ({})", added.name, one_line(&added.version), size(added.size));
        printer.status("added", &line);
    }
    for version in outcome.yanked.iter().filter(|version| version.changed) {
        let state = if version.yanked.is_some() { "yanked" } else { "available" };
        printer.note(&format!("{} {} is {state} now", version.name, one_line(&version.version)));
    }
    elsewhere(printer, &outcome.elsewhere);
    failures(printer, outcome);
    let (skills, versions) = (count(outcome.skills, "skill"), count(outcome.versions, "version"));
    let new = match outcome.fetched {
        0 => "nothing was fetched".to_owned(),
        fetched => format!("{} fetched, {}", count(fetched, "archive"), size(outcome.fetched_bytes)),
    };
    printer.note(&format!("{skills}, {versions}: {new}"));
}

pub(crate) fn bundled(printer: &Printer, outcome: &BundleOutcome, json: bool) {
    if json {
        return printer.json(outcome);
    }
    elsewhere(printer, &outcome.elsewhere);
    if outcome.replaced {
        printer.note(&format!("replaced `{}`", one_line(&outcome.path)));
    }
    let (skills, versions) = (count(outcome.skills, "skill"), count(outcome.versions, "version"));
    printer.note(&format!("{skills}, {versions}: `{}`, {}", one_line(&outcome.path), size(outcome.size)));
}

/// Lists the skills that others need and a registry does not have.
fn elsewhere(printer: &Printer, names: &[String]) {
    for name in names {
        printer.note(&format!("`{name}` is needed, and the registry does not have it"));
    }
}

pub(crate) fn listed(printer: &Printer, outcome: &ListOutcome, is_one: bool, json: bool) {
    if json {
        return printer.json(outcome);
    }
    match &outcome.skills[..] {
        [] => printer.note(&format!("the registry `{}` has no skills yet", outcome.name)),
        [skill] if is_one => versions(printer, skill),
        skills => all(printer, skills),
    }
}

/// Shows the versions of one skill, the newest first.
fn versions(printer: &Printer, skill: &ListedSkill) {
    let mut table = Table::new(&["version", "published", "size", "state"]).number("size");
    for version in skill.versions.iter().rev() {
        let state = match version.yanked.as_deref() {
            None => String::new(),
            Some("") => "yanked".to_owned(),
            Some(reason) => format!("yanked: {}", one_line(reason)),
        };
        table.row([&one_line(&version.version), &version.published, &size(version.size), &state]);
    }
    table.show(printer);
}

/// Shows all skills with their newest versions.
fn all(printer: &Printer, skills: &[ListedSkill]) {
    if skills.iter().all(|skill| skill.versions.is_empty()) {
        return newest(printer, skills);
    }
    let mut table = Table::new(&["name", "newest", "versions", "yanked", "description"]).number("versions");
    for skill in skills {
        let newest = skill.newest.as_deref().map_or_else(|| "yanked".to_owned(), one_line);
        let versions = skill.versions.len().to_string();
        let yanked = skill.versions.iter().filter(|version| version.yanked.is_some());
        let yanked: Vec<_> = yanked.map(|version| one_line(&version.version)).collect();
        let yanked = and_more(&yanked, YANKED);
        table.row([&skill.name, &newest, &versions, &yanked, &one_line(&skill.description)]);
    }
    table.show(printer);
}

/// Shows skills of a server, which says only which version is the newest.
fn newest(printer: &Printer, skills: &[ListedSkill]) {
    let mut table = Table::new(&["name", "newest", "description"]);
    for skill in skills {
        let newest = skill.newest.as_deref().map_or_else(|| "yanked".to_owned(), one_line);
        table.row([&skill.name, &newest, &one_line(&skill.description)]);
    }
    table.show(printer);
}
