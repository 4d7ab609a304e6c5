//! Who sees skills that are installed: what `link`, `unlink`, `disable` and `enable` change.

use std::collections::{BTreeMap, BTreeSet};

use super::Begun;
use crate::advice::{Verb, Warning, message};
use crate::codes;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::fs;
use crate::install::plan::{ChangedFiles, Goal, Location, NewLink, Step};
use crate::install::scope::Scope;
use crate::install::state::Files;
use crate::manifest::Requirement;
use crate::name::SkillName;
use crate::ops::absent::not_yet_installed;
use crate::ops::install::agent_targets::{AgentTargets, Ids};
use crate::ops::install::restore::{Overwrite, RestoreMode, ensure_installed};

/// How skills are changed that are installed.
#[derive(Debug, Clone, Copy)]
pub(in crate::ops) struct VisibilityOptions {
    /// Plan only.
    pub(in crate::ops) dry_run: bool,
    /// Replace what is in the way; it is kept in the store.
    pub(in crate::ops) force: bool,
    /// Bring back what is missing of the skills.
    pub(in crate::ops) bring: bool,
}

/// What is to change of skills that are installed.
#[derive(Debug, Default)]
pub(in crate::ops) struct Edits {
    /// The skills, and whether each is to be disabled.
    pub(in crate::ops) skills: BTreeMap<SkillName, bool>,
    /// The agents that get links and copies; all that are to have some where it is `None`.
    pub(in crate::ops) only: Option<Ids>,
    /// Agents of which it is told who still shows them what they were not to see.
    pub(in crate::ops) taken: Ids,
}

/// What changed.
#[derive(Debug, Default)]
pub(in crate::ops) struct Changed {
    /// What was or would be done, in order.
    pub(in crate::ops) steps: Vec<Step>,
    /// The links that were or would be made.
    pub(in crate::ops) links: Vec<NewLink>,
    /// Which files changed or would change.
    pub(in crate::ops) files: ChangedFiles,
    /// The agents that see each of the skills through a link or copy of their own.
    pub(in crate::ops) agents: BTreeMap<SkillName, Vec<String>>,
    /// What a person should know.
    pub(in crate::ops) warnings: Vec<Warning>,
}

/// Changes who sees skills that are installed, as `edit` says.
///
/// # Errors
///
/// What `edit` answers; what is in the way; anything that cannot be written.
pub(in crate::ops) fn rearrange(
    context: &Context,
    scope: &Scope,
    how: VisibilityOptions,
    edit: impl FnOnce(&Files, &mut AgentTargets<'_>) -> Result<Edits>,
) -> Result<Changed> {
    let begun = Begun::begin(context, scope, how.dry_run)?;
    let files = begun.files();
    let mut audience = AgentTargets::read(&context.settings, scope, files)?;
    let edits = edit(files, &mut audience)?;
    if let Some(name) = edits.skills.keys().find(|name| audience.entry(name).is_none()) {
        return Err(Error::config(format!(
            "`{name}` is in the lockfile and not in `{}`",
            scope.manifest.display()
        ))
        .hint(message!(
            Verb::Install.within(scope.kind),
            " removes what the manifest does not name; restore the entry to keep it"
        )));
    }
    let copy = files.manifest.agents().copy;
    // Copies need the bytes, if anybody gets one.
    let comes = edits.only.as_ref().is_none_or(|only| !only.is_empty());
    let care =
        RestoreMode { bring: how.bring, replaces: Overwrite::Nothing, copy: copy && comes, check: false };
    let mut desired = ensure_installed(context, scope, files, &edits.skills, care)?;
    let mut changed = Changed { warnings: std::mem::take(&mut desired.notes.warnings), ..Changed::default() };
    for wanted in &mut desired.wanted {
        let was = audience.entry(&wanted.name).filter(|entry| entry.disabled != wanted.disabled);
        wanted.requirement = was;
        audience.assign(wanted);
        changed.agents.insert(wanted.name.clone(), wanted.linked().map(ToOwned::to_owned).collect());
        changed.warnings.extend(audience.still_seeing(&edits.taken, wanted).into_iter().map(
            |(agent, other)| {
                let name = &wanted.name;
                Warning::new(
                    codes::STILL_SEEN,
                    format!("`{agent}` still sees `{name}`: it reads the same directory as `{other}`"),
                )
            },
        ));
    }
    let put: BTreeSet<_> = desired.wanted.iter().map(|wanted| &wanted.name).collect();
    let mut entries = audience.entries(&put);
    // What was never installed has nothing to move.
    for (name, disabled) in edits.skills.iter().filter(|(name, _)| !put.contains(name)) {
        check_unlocked(context, scope, name, *disabled)?;
        if how.bring {
            changed.warnings.push(not_yet_installed(scope.kind, name));
        }
        let entry = entries.remove(name).or_else(|| audience.entry(name));
        entries.extend(entry.map(|entry| (name.clone(), Requirement { disabled: *disabled, ..entry })));
    }
    let goal = Goal {
        entries,
        manifest_agents: audience.manifest(false),
        put: desired.wanted,
        only: edits.only,
        copy,
        force: how.force,
        ..Goal::default()
    };
    let applied = begun.plan(goal)?.apply(desired.contents)?;
    changed.warnings.extend_from_slice(&applied.saved);
    changed.warnings.extend(applied.shared());
    changed.files = applied.plan.files();
    (changed.steps, changed.links) = (applied.plan.steps, applied.plan.links);
    Ok(changed)
}

/// Refuses to disable or enable the skill `name`, of which no lockfile knows, where its tree would have to move: nobody
/// knows whether that is what is asked for.
fn check_unlocked(context: &Context, scope: &Scope, name: &SkillName, disabled: bool) -> Result<()> {
    let from = if disabled { Location::Canonical } else { Location::Disabled };
    let path = scope.place(&context.settings, &from, name)?;
    if fs::kind(&path)? != Some(fs::Kind::Directory) {
        return Ok(());
    }
    let verb = if disabled { Verb::Disable } else { Verb::Enable };
    Err(Error::config(format!("`{name}` is in `{}`, but not in the lockfile", path.display())).hint(
        message!(
            "nothing was changed; ",
            Verb::Install.within(scope.kind),
            " locks it, then ",
            verb.within(scope.kind).word(name),
            " moves it"
        ),
    ))
}
