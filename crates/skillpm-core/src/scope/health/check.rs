//! The checks of `doctor`: pure functions of the state on disk. This module lists them all, and has their shared parts.

mod agents;
mod files;
mod home;
mod names;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::Finding;
use super::inspection::{Inspection, LinkTarget};
use crate::advice::{Message, Opt, Verb, message};
use crate::scope::agent_view::alike;
use crate::scope::on_disk::OnDisk;
use crate::scope::problem;
use crate::scope::state::ClosedDir;
use crate::text::shell_word;

/// Returns the advice for a missing locked skill.
fn restore(look: &Inspection<'_>) -> Message {
    message!(Verb::Install.within(look.scope.kind), " restores it")
}

/// Returns all findings, the worst kind first.
pub(crate) fn check(look: &Inspection<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    files::runs(look, &mut found);
    files::files(look, &mut found);
    files::entries(look, &mut found);
    files::dependencies(look, &mut found);
    home::canonical(look, &mut found);
    home::disabled(look, &mut found);
    for dir in &look.agents {
        agents::directory(look, dir, &mut found);
    }
    agents::missing(look, &mut found);
    names::names(look, &mut found);
    for here in &look.here {
        agents::agent(look, here, &mut found);
    }
    for path in &look.unwritable {
        let message = format!("`{}` is not writable", path.display());
        found.push(
            Finding::new(&problem::DIRECTORY_UNWRITABLE, path, message)
                .advice("nothing can be installed there: change its owner or mode, or use the other scope"),
        );
    }
    for finding in &mut found {
        finding.scope = Some(look.scope.kind);
    }
    found.sort_by(|a, b| a.order().cmp(&b.order()));
    // Two directories may lack the same parent.
    found.dedup();
    // One link leads several directories out of the project.
    let mut outside = BTreeSet::new();
    found.retain(|finding| {
        finding.id != problem::DIRECTORY_OUTSIDE.id || outside.insert(finding.message.clone())
    });
    found
}

/// Reports whether `found`, at the entry `name` of the directory `dir`, leads to something that is not a link.
fn leads_somewhere(look: &Inspection<'_>, dir: &Path, name: &str, found: &OnDisk) -> bool {
    let Some((_, goes)) = look.link(dir, name, found) else { return *found != OnDisk::Absent };
    let LinkTarget::Canonical(to) = &goes else { return goes == LinkTarget::Elsewhere };
    let skills = look.scope.skills_dir();
    let is_itself = dir == skills && to == name;
    let there = look.canonical.as_ref().ok().and_then(|entries| entries.get(to)).filter(|_| !is_itself);
    there.is_some_and(|there| !matches!(look.link(&skills, to, there), Some((_, LinkTarget::Nowhere))))
}

fn closed(dir: &Path, closed: &ClosedDir) -> Finding {
    match closed {
        ClosedDir::Unreadable(error) => {
            let message = format!("{error}: {}", error.source);
            Finding::new(&problem::DIRECTORY_UNREADABLE, &error.path, message)
                .advice("check what it is, who owns it, and its mode")
        }
        ClosedDir::Outside(error) => Finding::new(&problem::DIRECTORY_OUTSIDE, dir, error.to_string())
            .advice(message!("remove the link, or install for the user with ", (Opt::Scope, "user"))),
    }
}

/// Returns the finding for a broken link that a person has to decide about, for lack of a better remedy.
fn broken(path: &Path, target: &Path) -> Finding {
    let message = format!("`{}` leads to `{}`, which does not exist", path.display(), target.display());
    let advice = format!("create its target, or remove the link: `rm {}`", shell_word(path));
    Finding::new(&problem::LINK_BROKEN, path, message).advice(advice)
}

/// Finds names in one directory that are the same on some file systems.
fn twins<'a>(dir: &Path, names: impl Iterator<Item = &'a String>, found: &mut Vec<Finding>) {
    let mut by_key: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for name in names {
        let alike = by_key.entry(alike(name)).or_default();
        if !alike.contains(&name.as_str()) {
            alike.push(name);
        }
    }
    for names in by_key.into_values().filter(|names| names.len() > 1) {
        let shown: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
        let message =
            format!("{} in `{}` are one name on some file systems", shown.join(" and "), dir.display());
        found.push(
            Finding::new(&problem::NAME_TWINS, dir.join(names[0]), message)
                .skill(names[0])
                .advice("rename or remove one of them"),
        );
    }
}
