//! `install` without sources: exactly what the lockfile says, and what the manifest adds to it.

mod content;
mod needs;
mod sources;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

pub(in crate::ops) use self::content::skill_file;
use self::sources::At;
pub(in crate::ops) use self::sources::{Newest, spec_of};
use super::fetch::Fetched;
use super::needs::Needer;
use super::{InstallRequest, editable};
use crate::admission::Asked;
use crate::advice::{Warning, message};
use crate::context::Context;
use crate::error::Result;
use crate::fs::{self, Kind};
use crate::install::directory::SkillsDir;
use crate::install::editable::Editable;
use crate::install::plan::{Content, Place, Wanted};
use crate::install::scope::Scope;
use crate::install::state::{Files, real_dir, why_no_skill};
use crate::lockfile::Locked;
use crate::manifest::Requirement;
use crate::name::SkillName;
use crate::ops::change::Unedited;
use crate::ops::gate::Gate;
use crate::source::Opened;
use crate::spec::{Origin, Reference};
use crate::tree::FileSet;

/// What restoring needs.
#[derive(Debug, Default)]
pub(in crate::ops) struct Restore {
    /// The skills that are to be there.
    pub(in crate::ops) fetched: Fetched,
    /// Locked skills that the manifest no longer asks for.
    pub(in crate::ops) orphans: Vec<SkillName>,
    /// Skills that were edited and are left as they are.
    pub(in crate::ops) modified: Vec<SkillName>,
    /// Skills that cannot be read and are left as they are.
    pub(in crate::ops) unreadable: Vec<SkillName>,
    /// What the manifest is to say of skills that are otherwise left alone.
    pub(in crate::ops) entries: BTreeMap<SkillName, Requirement>,
}

/// How much is done for a skill that is installed.
#[derive(Debug, Clone, Copy)]
pub(in crate::ops) struct Care {
    /// Whether what is missing comes back.
    pub(in crate::ops) bring: bool,
    /// What is replaced that is not what is locked.
    pub(in crate::ops) replaces: Replaces,
    /// Whether agents get copies, for which the locked bytes are needed.
    pub(in crate::ops) copy: bool,
    /// Whether what was never fetched here is checked against its source.
    pub(in crate::ops) check: bool,
}

/// What is replaced of trees that are not what is locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::ops) enum Replaces {
    /// Nothing.
    Nothing,
    /// Versions that nobody edited, such as the one of before somebody else's update.
    Fetched,
    /// Edited ones too.
    All,
}

/// Works out what is missing in `scope` and gets it: from the store, else from where it came.
///
/// # Errors
///
/// Bytes that are not what was locked; a source that cannot be reached; with `locked` or `frozen`,
/// a manifest that asks for more than is locked.
pub(super) fn restore(
    context: &Context,
    scope: &Scope,
    files: &Files,
    request: &InstallRequest,
) -> Result<Restore> {
    let copy = request.copy || files.manifest.agents().copy;
    let replaces = if request.force { Replaces::All } else { Replaces::Fetched };
    let care = Care { bring: true, replaces, copy, check: true };
    let mut work = Worker::new(context, scope, files)?;
    work.admit()?;
    work.prefetch()?;
    for (name, requirement) in files.manifest.skills().iter().filter(|(_, entry)| !entry.dependency) {
        match files.lock.skills.get(name) {
            _ if requirement.editable => work.editable(name, requirement, care)?,
            Some(locked) if locked.meets(requirement) && !files.is_conflict(name) => {
                work.locked(name, locked, requirement.disabled, care)?;
            }
            stale => work.resolve(name, requirement, stale.is_some(), request)?,
        }
    }
    let needs = work.complete(request)?;
    let (kept, settled) = (work.kept(), work.settled());
    for (name, locked) in &files.lock.skills {
        if !kept.contains(name) {
            work.restore.orphans.push(name.clone());
        } else if !files.manifest.asks_for(name) && !settled.contains(name) {
            // A lockfile alone is enough to restore from.
            let disabled = files.manifest.skills().get(name).is_some_and(|entry| entry.disabled);
            work.locked(name, locked, disabled, care)?;
        }
    }
    if let Some(mut needs) = needs {
        work.restore.fetched.settle_needs(&mut needs);
    }
    Ok(work.restore)
}

/// Looks after skills that are installed, of which only those who see them change; `skills` says of
/// each whether it is to be disabled.
///
/// # Errors
///
/// As [`restore`], of what is missing and is to come back.
pub(in crate::ops) fn look_after(
    context: &Context,
    scope: &Scope,
    files: &Files,
    skills: &BTreeMap<SkillName, bool>,
    care: Care,
) -> Result<Restore> {
    let mut work = Worker::new(context, scope, files)?;
    for (name, disabled) in skills {
        match (files.manifest.skills().get(name), files.lock.skills.get(name)) {
            (Some(requirement), _) if requirement.editable => {
                work.editable(name, &Requirement { disabled: *disabled, ..requirement.clone() }, care)?;
            }
            (_, Some(locked)) => work.locked(name, locked, *disabled, care)?,
            // It is in the manifest and was never installed.
            (_, None) => {}
        }
    }
    Ok(work.restore)
}

/// Asks `gate` whether what is locked of `name` may come back, be it from the store.
///
/// # Errors
///
/// A policy that refuses the source.
pub(in crate::ops) fn admit(gate: &mut Gate, files: &Files, name: &SkillName, locked: &Locked) -> Result<()> {
    let reference = match files.manifest.skills().get(name) {
        Some(requirement) if locked.meets(requirement) => requirement.reference.clone(),
        // Without an entry the lockfile names a commit, as firm as any pin.
        _ => locked.revision.clone().map(Reference::Rev),
    };
    gate.source(Asked { origin: &locked.origin, path: locked.path.as_deref(), reference: reference.as_ref() })
}

/// Where the skill `name` lies: where it is to lie, else where it may still lie.
///
/// # Errors
///
/// A place that leads out of the project or cannot be looked at.
pub(in crate::ops) fn lies(
    context: &Context,
    scope: &Scope,
    name: &SkillName,
    disabled: bool,
) -> Result<Option<PathBuf>> {
    let places =
        if disabled { [Place::Disabled, Place::Canonical] } else { [Place::Canonical, Place::Disabled] };
    let mut there = None;
    for place in &places {
        let path = scope.place(&context.settings, place, name)?;
        if there.is_none() && fs::kind(&path)?.is_some() {
            there = Some(path);
        }
    }
    Ok(there)
}

/// Gets the files of skills: from the store, else from where they came, each source opened once.
pub(in crate::ops) struct Worker<'a> {
    context: &'a Context,
    scope: &'a Scope,
    files: &'a Files,
    /// Sources that were opened, and at which revision or reference, so that each is fetched once.
    opened: BTreeMap<(Origin, At), Opened>,
    canonical: SkillsDir,
    disabled: SkillsDir,
    unedited: Unedited<'a>,
    /// What is to stay, by manifest and lockfile.
    kept: BTreeSet<SkillName>,
    /// Skills that were resolved, of which is to be looked at what they need.
    came: Vec<Needer>,
    pub(in crate::ops) restore: Restore,
}

impl<'a> Worker<'a> {
    /// Has opened nothing yet.
    ///
    /// # Errors
    ///
    /// A policy that cannot be read.
    pub(in crate::ops) fn new(context: &'a Context, scope: &'a Scope, files: &'a Files) -> Result<Self> {
        Self::resume(context, scope, files, Fetched::new(Gate::new(context, scope, &files.manifest)?))
    }

    /// Goes on with what was `fetched`.
    ///
    /// # Errors
    ///
    /// Fails for a directory of skills that leads out of the project or cannot be looked at.
    pub(in crate::ops) fn resume(
        context: &'a Context,
        scope: &'a Scope,
        files: &'a Files,
        fetched: Fetched,
    ) -> Result<Self> {
        let restore = Restore { fetched, ..Restore::default() };
        let open = |dir: PathBuf| -> Result<SkillsDir> {
            scope.check_inside(&dir)?;
            Ok(SkillsDir::open(&dir, &real_dir(&scope.skills_dir())?)?)
        };
        let (canonical, disabled) = (open(scope.skills_dir())?, open(scope.disabled_dir())?);
        Ok(Self {
            context,
            scope,
            files,
            opened: BTreeMap::new(),
            canonical,
            disabled,
            unedited: Unedited::new(context, scope),
            kept: files.kept(),
            came: Vec::new(),
            restore,
        })
    }

    /// Where and how it works.
    pub(in crate::ops) fn context(&self) -> &'a Context {
        self.context
    }

    /// The scope that it is about.
    pub(in crate::ops) fn scope(&self) -> &'a Scope {
        self.scope
    }

    /// Whether what is locked of `name` is wanted, by the manifest or by a skill that needs it; without a
    /// manifest, all of it is wanted.
    fn is_wanted(&self, name: &SkillName, locked: &Locked) -> bool {
        match self.files.manifest.skills().get(name) {
            Some(requirement) if !requirement.dependency => locked.meets(requirement),
            _ => self.kept.contains(name),
        }
    }

    /// Asks the policy about all that is locked and wanted, and about what is editable, before anything of it is
    /// fetched.
    fn admit(&mut self) -> Result<()> {
        for (name, locked) in &self.files.lock.skills {
            if self.is_wanted(name, locked) {
                self.ask(name, locked)?;
            }
        }
        for requirement in self.files.manifest.skills().values().filter(|requirement| requirement.editable) {
            self.admit_now(&spec_of(requirement))?;
        }
        Ok(())
    }

    /// Asks the policy about what is locked of `name`.
    fn ask(&mut self, name: &SkillName, locked: &Locked) -> Result<()> {
        admit(&mut self.restore.fetched.gate, self.files, name, locked)
    }

    fn locked(&mut self, name: &SkillName, locked: &Locked, disabled: bool, care: Care) -> Result<()> {
        // Where it is to lie, then where it may still lie.
        let [first, second] =
            if disabled { [&self.disabled, &self.canonical] } else { [&self.canonical, &self.disabled] };
        let there = match first.kind(name)? {
            Some(kind) => Some((first, kind)),
            None => second.kind(name)?.map(|kind| (second, kind)),
        };
        let digest = there.and_then(|(dir, kind)| match kind {
            Kind::Directory => dir.digest(name, &self.scope.index),
            _ => self.scope.index.trees().digest(&dir.place(name)),
        });
        let place = || match there {
            Some((dir, _)) if dir.real() == self.disabled.real() => Place::Disabled,
            _ => Place::Canonical,
        };
        let may_go = || match care.replaces {
            Replaces::Nothing => false,
            Replaces::Fetched => digest.is_some_and(|digest| self.unedited.has(&place(), name, &digest)),
            Replaces::All => true,
        };
        match there {
            // Only links and entries may be missing; copies for agents are made from what is there.
            Some((dir, _)) if digest == Some(locked.digest) => {
                if care.check {
                    let place = dir.place(name);
                    self.check(name, locked, &place)?;
                }
                self.want(name, Content::Locked(locked.clone()), disabled, None);
            }
            Some(_) if !may_go() => {
                // What has a digest was read.
                let unread = there.filter(|_| digest.is_none());
                match unread.and_then(|(dir, _)| why_no_skill(&dir.place(name))) {
                    None => self.restore.modified.push(name.clone()),
                    Some(error) => {
                        let told = message!(
                            format_args!("`{name}` was left as is, but may differ from what is locked: "),
                            error.with_causes()
                        );
                        self.restore.fetched.warnings.push(Warning::new("skill-unreadable", told));
                        self.restore.unreadable.push(name.clone());
                    }
                }
                // Copies for agents are made from what is there too, if it can be read.
                let copied = matches!(there, Some((_, Kind::Directory))) && digest.is_some();
                let needed = care.copy && !disabled && !copied;
                let set = if needed { Some(self.admitted(name, locked)?) } else { None };
                self.want(name, Content::AsItIs(locked.clone()), disabled, set);
            }
            None if !care.bring => self.want(name, Content::AsItIs(locked.clone()), disabled, None),
            _ => {
                let set = self.admitted(name, locked)?;
                self.want(name, Content::Locked(locked.clone()), disabled, Some(set));
            }
        }
        Ok(())
    }

    fn editable(&mut self, name: &SkillName, requirement: &Requirement, care: Care) -> Result<()> {
        // Nobody needs the directory of what nobody sees, or is only to be taken away.
        let gone = if care.bring && !requirement.disabled {
            None
        } else {
            Editable::of(&self.context.settings, self.scope, requirement)?
        };
        let found = match gone {
            Some(found) => found,
            None => editable::find(self.context, self.scope, name, requirement)?,
        };
        // Of what is linked already, agents see nothing that they did not see before.
        if !requirement.disabled
            && fs::real_path(&self.scope.skill_dir(name))?.as_ref() != Some(&found.directory)
        {
            self.admit_now(&spec_of(requirement))?;
            self.restore.fetched.gate.directory(name, &found.directory)?;
        }
        self.want(name, Content::Editable(found), requirement.disabled, None);
        Ok(())
    }

    fn want(&mut self, name: &SkillName, content: Content, disabled: bool, set: Option<FileSet>) {
        let wanted = Wanted { disabled, ..Wanted::new(name.clone(), content, None) };
        self.restore.fetched.wanted.push(wanted);
        self.restore.fetched.contents.extend(set.map(|set| (name.clone(), set)));
    }
}
