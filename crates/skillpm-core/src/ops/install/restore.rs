//! `install` without sources: installs exactly what the lockfile records, and what the manifest adds to it.

mod dependencies;

use std::collections::{BTreeMap, BTreeSet};

use super::desired::{Desired, DesiredNotes};
use super::editable;
use super::request::InstallRequest;
use crate::advice::{Verb, Warning, message};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::fetch::dependencies::write_all;
use crate::fetch::fetcher::{Fetcher, admit, spec_of};
use crate::fs::{self, Kind};
use crate::lockfile::Locked;
use crate::manifest::Requirement;
use crate::name::SkillName;
use crate::resolve::Dependent;
use crate::scope::Scope;
use crate::scope::directory::SkillsDir;
use crate::scope::editable::Editable;
use crate::scope::evidence::Unedited;
use crate::scope::health::problem;
use crate::scope::merges::has_conflicts;
use crate::scope::plan::{Content, Location, Wanted};
use crate::scope::state::{ClosedDir, Files, ScopeState, why_no_skill};
use crate::tree::FileSet;

/// How much to do for an installed skill.
#[derive(Debug, Clone, Copy)]
pub(in crate::ops) struct RestoreMode {
    /// Whether missing parts are restored.
    pub(in crate::ops) bring: bool,
    /// Which trees that differ from the lockfile are replaced.
    pub(in crate::ops) replaces: Overwrite,
    /// Whether agents get copies, for which the locked bytes are needed.
    pub(in crate::ops) copy: bool,
    /// Whether skills that were never fetched here are checked against their sources.
    pub(in crate::ops) check: bool,
}

/// Which of the trees that differ from the lockfile are replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::ops) enum Overwrite {
    /// None.
    Nothing,
    /// Unedited versions, such as the one from before an update elsewhere.
    Fetched,
    /// Edited versions too.
    All,
}

/// Determines what is missing in the scope with `state`, and gets it from the store, or else from its source.
pub(super) fn restore(
    context: &Context,
    state: &ScopeState<'_>,
    request: &InstallRequest,
) -> Result<Desired> {
    let files = &state.files;
    let copy = request.copy || files.manifest.agents().copy;
    let replaces = if request.force { Overwrite::All } else { Overwrite::Fetched };
    let care = RestoreMode { bring: true, replaces, copy, check: true };
    let mut work = Restorer::new(context, state)?;
    work.admit()?;
    work.prefetch()?;
    let requested = files.manifest.skills().iter().filter(|(_, entry)| !entry.dependency);
    let (later, now): (Vec<_>, Vec<_>) =
        requested.partition(|(_, entry)| entry.released().is_some() && !entry.editable);
    for (name, requirement) in now {
        work.requested(name, requirement, request, care)?;
    }
    // Which versions fit depends on what came.
    let assignment = work.complete(request)?;
    let settled = work.settled();
    for (name, requirement) in later.into_iter().filter(|(name, _)| !settled.contains(*name)) {
        work.requested(name, requirement, request, care)?;
    }
    write_all(&assignment, &mut work.desired.wanted);
    let (kept, settled) = (work.kept(), work.settled());
    for (name, locked) in &files.lock.skills {
        if !kept.contains(name) {
            work.desired.orphans.push(name.clone());
        } else if !files.manifest.asks_for(name) && !settled.contains(name) {
            // A lockfile alone is enough to restore from.
            let disabled = files.manifest.skills().get(name).is_some_and(|entry| entry.disabled);
            work.locked(name, locked, disabled, care)?;
        }
    }
    Ok(work.finish())
}

/// Brings installed skills up to date when only the agents that see them change. `skills` says for each
/// whether it is to be disabled.
pub(in crate::ops) fn ensure_installed(
    context: &Context,
    state: &ScopeState<'_>,
    skills: &BTreeMap<SkillName, bool>,
    care: RestoreMode,
) -> Result<Desired> {
    let mut work = Restorer::new(context, state)?;
    for (name, disabled) in skills {
        match (state.files.manifest.skills().get(name), state.files.lock.skills.get(name)) {
            (Some(requirement), _) if requirement.editable => {
                work.editable(name, &Requirement { disabled: *disabled, ..requirement.clone() }, care)?;
            }
            (_, Some(locked)) => work.locked(name, locked, *disabled, care)?,
            // It is in the manifest but was never installed.
            (_, None) => {}
        }
    }
    Ok(work.finish())
}

/// A restoration: it determines the locked and requested skills that should be installed, and gets them.
struct Restorer<'a> {
    context: &'a Context,
    scope: &'a Scope,
    files: &'a Files,
    fetcher: Fetcher<'a>,
    canonical: &'a SkillsDir,
    disabled: &'a SkillsDir,
    unedited: Unedited<'a>,
    /// The skills that stay, according to the manifest and the lockfile.
    kept: BTreeSet<SkillName>,
    /// The skills that were resolved and whose dependencies are not yet.
    incoming: Vec<Dependent>,
    desired: Desired,
}

impl<'a> Restorer<'a> {
    /// Returns a restorer that has not opened any source yet.
    fn new(context: &'a Context, state: &'a ScopeState<'_>) -> Result<Self> {
        let (scope, files) = (state.scope, &state.files);
        let fetcher = Fetcher::new(context, scope, files)?;
        let canonical = state.canonical.as_ref().map_err(ClosedDir::error)?;
        let disabled = state.disabled.as_ref().map_err(ClosedDir::error)?;
        Ok(Self {
            context,
            scope,
            files,
            fetcher,
            canonical,
            disabled,
            unedited: Unedited::new(&context.settings, scope),
            kept: files.kept(),
            incoming: Vec::new(),
            desired: Desired::default(),
        })
    }

    /// Returns the desired state, with the collected warnings.
    fn finish(self) -> Desired {
        let Self { fetcher, desired, .. } = self;
        let decided = fetcher.sources.gate.decided();
        let notes = DesiredNotes { warnings: fetcher.warnings, decided, ..desired.notes };
        Desired { notes, ..desired }
    }

    /// Prepares the skills that sources deliver one by one.
    fn prefetch(&mut self) -> Result<()> {
        let Self { files, kept, fetcher, .. } = self;
        fetcher.prefetch(|name, locked| is_wanted(files, kept, name, locked))
    }

    /// Asks the policy about all skills that are locked and wanted, and about editable ones, before any of
    /// them is fetched.
    fn admit(&mut self) -> Result<()> {
        for (name, locked) in &self.files.lock.skills {
            if is_wanted(self.files, &self.kept, name, locked) {
                admit(&mut self.fetcher.sources.gate, self.files, name, locked)?;
            }
        }
        for requirement in self.files.manifest.skills().values().filter(|requirement| requirement.editable) {
            self.fetcher.sources.admit(&spec_of(requirement))?;
        }
        Ok(())
    }

    /// Reports whether the skill `name` is locked as the manifest requests it.
    fn is_locked(&self, name: &SkillName, requirement: &Requirement) -> bool {
        let locked = self.files.lock.skills.get(name);
        locked.is_some_and(|locked| locked.is_allowed_by(&self.files.manifest, requirement))
            && !self.files.is_conflict(name)
    }

    /// Restores the skill `name` that the manifest requests, or resolves it anew.
    fn requested(
        &mut self,
        name: &SkillName,
        requirement: &Requirement,
        request: &InstallRequest,
        care: RestoreMode,
    ) -> Result<()> {
        match self.files.lock.skills.get(name) {
            _ if requirement.editable => self.editable(name, requirement, care),
            Some(locked) if self.is_locked(name, requirement) => {
                self.locked(name, locked, requirement.disabled, care)
            }
            stale => self.resolve(name, requirement, stale.is_some(), request),
        }
    }

    fn locked(&mut self, name: &SkillName, locked: &Locked, disabled: bool, care: RestoreMode) -> Result<()> {
        // First where it should be, then where it may still be.
        let [first, second] =
            if disabled { [self.disabled, self.canonical] } else { [self.canonical, self.disabled] };
        let there = match first.kind(name.as_str())? {
            Some(kind) => Some((first, kind)),
            None => second.kind(name.as_str())?.map(|kind| (second, kind)),
        };
        let digest = there.and_then(|(dir, kind)| match kind {
            Kind::Directory => dir.digest(name.as_str(), &self.scope.index),
            _ => self.scope.index.trees().digest(&dir.place(name.as_str())),
        });
        let place = || match there {
            Some((dir, _)) if dir.real() == self.disabled.real() => Location::Disabled,
            _ => Location::Canonical,
        };
        let may_go = || match care.replaces {
            Overwrite::Nothing => false,
            Overwrite::Fetched => digest.is_some_and(|digest| self.unedited.has(&place(), name, &digest)),
            Overwrite::All => true,
        };
        match there {
            // Only links and entries may be missing; copies for agents are made from the installed tree.
            Some((dir, _)) if digest == Some(locked.digest) => {
                if care.check {
                    let place = dir.place(name.as_str());
                    self.fetcher.check(name, locked, &place)?;
                }
                self.want(name, Content::Locked(locked.clone()), disabled, None);
            }
            Some(_) if !may_go() => {
                // A tree with a digest was readable.
                let unread = there.filter(|_| digest.is_none());
                let place = there.map(|(dir, _)| dir.place(name.as_str())).unwrap_or_default();
                match unread.and_then(|_| why_no_skill(&place)) {
                    None if has_conflicts(self.scope, name, locked, &place).unwrap_or(false) => {
                        self.desired.notes.conflicts.push(name.clone());
                    }
                    None => self.desired.notes.modified.push(name.clone()),
                    Some(error) => {
                        let told = message!(
                            format_args!("`{name}` was left as is, but may differ from what is locked: "),
                            error.with_causes()
                        );
                        self.fetcher.warnings.push(Warning::new(problem::SKILL_UNREADABLE.id, told));
                        self.desired.notes.unreadable.push(name.clone());
                    }
                }
                // Copies for agents are also made from the installed tree, if it can be read.
                let copied = matches!(there, Some((_, Kind::Directory))) && digest.is_some();
                let needed = care.copy && !disabled && !copied;
                let set = if needed { Some(self.fetcher.admitted(name, locked)?) } else { None };
                self.want(name, Content::AsItIs(locked.clone()), disabled, set);
            }
            None if !care.bring => self.want(name, Content::AsItIs(locked.clone()), disabled, None),
            _ => {
                let set = self.fetcher.admitted(name, locked)?;
                self.want(name, Content::Locked(locked.clone()), disabled, Some(set));
            }
        }
        Ok(())
    }

    fn editable(&mut self, name: &SkillName, requirement: &Requirement, care: RestoreMode) -> Result<()> {
        // The directory is not needed if no agent sees the skill or it is only to be removed.
        let gone = if care.bring && !requirement.disabled {
            None
        } else {
            Editable::of(&self.context.settings, self.scope, requirement)?
        };
        let found = match gone {
            Some(found) => found,
            None => editable::find(self.context, self.scope, name, requirement)?,
        };
        // With an existing link, agents see nothing that they did not see before.
        if !requirement.disabled
            && fs::real_path(&self.scope.skill_dir(name))?.as_ref() != Some(&found.directory)
        {
            self.fetcher.sources.admit(&spec_of(requirement))?;
            self.fetcher.sources.gate.directory(name, &found.directory)?;
        }
        self.want(name, Content::Editable(found), requirement.disabled, None);
        Ok(())
    }

    /// Resolves what the manifest requests and the lockfile does not have.
    fn resolve(
        &mut self,
        name: &SkillName,
        requirement: &Requirement,
        stale: bool,
        request: &InstallRequest,
    ) -> Result<()> {
        if let Some(option) = request.forbids_change() {
            let what = if stale { "is locked as something else" } else { "is not in the lockfile" };
            return Err(Error::config(message!(
                format_args!("`{name}` is in the manifest, but {what}, and "),
                option,
                " forbids changing it"
            ))
            .hint(message!("run ", Verb::Install, " without it and commit `skillpm.lock`")));
        }
        let newest = self.fetcher.newest(name, requirement).map_err(|error| {
            if !self.files.is_conflict(name) {
                return error;
            }
            let why = format!("the sides of the merge in `skillpm.lock` differ for `{name}`, and it cannot be resolved again");
            error.context(why).hint(message!("choose one side, for example with `git checkout --ours skillpm.lock`, then run ", Verb::Install.within(self.scope.kind)))
        })?;
        if let Some(own) = newest.other_name(name) {
            let told = format!(
                "`{name}` calls itself `{own}` in `{}`, and agents may know it by that name: check that it is the right one",
                requirement.origin.typed()
            );
            self.fetcher.warnings.push(Warning::new("name-directory", told));
        }
        let (locked, set) = self.fetcher.take(name, &newest)?;
        self.incoming.push(newest.dependent(name));
        self.want(name, Content::Locked(locked), requirement.disabled, Some(set));
        Ok(())
    }

    fn want(&mut self, name: &SkillName, content: Content, disabled: bool, set: Option<FileSet>) {
        let wanted = Wanted { disabled, ..Wanted::new(name.clone(), content, None) };
        self.desired.wanted.push(wanted);
        self.desired.contents.extend(set.map(|set| (name.clone(), set)));
    }
}

/// Returns whether the locked skill `name` is wanted, by the manifest or by a skill that depends on it.
/// Without a manifest, every locked skill is. `kept` are the skills that stay.
fn is_wanted(files: &Files, kept: &BTreeSet<SkillName>, name: &SkillName, locked: &Locked) -> bool {
    match files.manifest.skills().get(name) {
        Some(requirement) if !requirement.dependency => locked.is_allowed_by(&files.manifest, requirement),
        _ => kept.contains(name),
    }
}
