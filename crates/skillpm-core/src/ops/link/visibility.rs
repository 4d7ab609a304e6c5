//! Changes who sees installed skills, for `link`, `unlink`, `disable` and `enable`.

use std::collections::{BTreeMap, BTreeSet};

use crate::advice::{Verb, Warning, message};
use crate::change::Begun;
use crate::change::agent_targets::{AgentTargets, Ids};
use crate::codes;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::fs;
use crate::manifest::Requirement;
use crate::name::SkillName;
use crate::ops::install::restore::{Overwrite, RestoreMode, ensure_installed};
use crate::scope::Scope;
use crate::scope::changes::PathChange;
use crate::scope::not_installed::not_locked;
use crate::scope::plan::{ChangedFiles, Goal, Location, NewLink, Step};
use crate::scope::state::Files;

/// The options for changing installed skills.
#[derive(Debug, Clone, Copy)]
pub(in crate::ops) struct VisibilityOptions {
    /// Whether to plan only.
    pub(in crate::ops) dry_run: bool,
    /// Whether to replace what is in the way, which is saved in the store.
    pub(in crate::ops) force: bool,
    /// Whether to restore missing parts of the skills.
    pub(in crate::ops) bring: bool,
}

/// The changes to make to installed skills.
#[derive(Debug, Default)]
pub(in crate::ops) struct Edits {
    /// The skills, and whether each is to be disabled.
    pub(in crate::ops) skills: BTreeMap<SkillName, bool>,
    /// The agents that get links and copies; `None` means all that should have them.
    pub(in crate::ops) only: Option<Ids>,
    /// Agents to warn about if another directory still shows them what they should no longer see.
    pub(in crate::ops) taken: Ids,
}

/// The outcome of the change.
#[derive(Debug, Default)]
pub(in crate::ops) struct Changed {
    /// The steps that were or would be taken, in order.
    pub(in crate::ops) steps: Vec<Step>,
    /// The links that were or would be made.
    pub(in crate::ops) links: Vec<NewLink>,
    /// The paths that were or would be changed.
    pub(in crate::ops) paths: Vec<PathChange>,
    /// Which files changed or would change.
    pub(in crate::ops) files: ChangedFiles,
    /// The agents that see each of the skills through a link or copy of their own.
    pub(in crate::ops) agents: BTreeMap<SkillName, Vec<String>>,
    /// Warnings for the user.
    pub(in crate::ops) warnings: Vec<Warning>,
}

/// Changes who sees installed skills, as `edit` determines.
pub(in crate::ops) fn rearrange(
    context: &Context,
    scope: &Scope,
    how: VisibilityOptions,
    edit: impl FnOnce(&Files, &mut AgentTargets<'_>) -> Result<Edits>,
) -> Result<Changed> {
    let begun = Begun::begin(context, scope, how.dry_run)?;
    let files = begun.files();
    let mut targets = AgentTargets::read(&context.settings, scope, files)?;
    let edits = edit(files, &mut targets)?;
    if let Some(name) = edits.skills.keys().find(|name| targets.entry(name).is_none()) {
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
    // The bytes are needed if any agent gets a copy.
    let comes = edits.only.as_ref().is_none_or(|only| !only.is_empty());
    let care =
        RestoreMode { bring: how.bring, replaces: Overwrite::Nothing, copy: copy && comes, check: false };
    let mut desired = ensure_installed(context, begun.state(), &edits.skills, care)?;
    let mut changed = Changed { warnings: std::mem::take(&mut desired.notes.warnings), ..Changed::default() };
    for wanted in &mut desired.wanted {
        let was = targets.entry(&wanted.name).filter(|entry| entry.disabled != wanted.disabled);
        wanted.requirement = was;
        targets.assign(wanted);
        changed.agents.insert(wanted.name.clone(), wanted.linked().map(ToOwned::to_owned).collect());
        changed.warnings.extend(targets.still_seeing(&edits.taken, wanted).into_iter().map(
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
    let mut entries = targets.entries(&put);
    // A skill that was never installed has nothing to move.
    for (name, disabled) in edits.skills.iter().filter(|(name, _)| !put.contains(name)) {
        check_unlocked(context, scope, name, *disabled)?;
        if how.bring {
            changed.warnings.push(not_locked(scope, name));
        }
        let entry = entries.remove(name).or_else(|| targets.entry(name));
        entries.extend(entry.map(|entry| (name.clone(), Requirement { disabled: *disabled, ..entry })));
    }
    let goal = Goal {
        entries,
        manifest_agents: targets.manifest(false),
        put: desired.wanted,
        only: edits.only,
        copy,
        force: how.force,
        ..Goal::default()
    };
    let applied = begun.plan(goal)?.apply(desired.contents)?;
    changed.warnings.extend_from_slice(&applied.saved);
    changed.warnings.extend_from_slice(&applied.foreign);
    changed.warnings.extend(applied.shared());
    changed.paths = applied.paths;
    changed.files = applied.plan.files();
    (changed.steps, changed.links) = (applied.plan.steps, applied.plan.links);
    Ok(changed)
}

/// Refuses to disable or enable the skill `name`, which is in no lockfile, if its tree would have to move: it is
/// uncertain whether that tree is the one that is meant.
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
