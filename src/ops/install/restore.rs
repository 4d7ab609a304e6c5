//! `install` without sources: exactly what the lockfile says, and what the manifest adds to it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::fetch::{self, Fetched, keep, locked};
use super::intake::{Intake, Taken};
use super::select::{candidates, install_name};
use super::{InstallRequest, editable};
use crate::admission::Asked;
use crate::context::Context;
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::fs::Kind;
use crate::install::directory::SkillsDir;
use crate::install::editable::Editable;
use crate::install::plan::{Content, Place, Wanted};
use crate::install::scope::Scope;
use crate::install::state::{Files, digest_of, real_dir};
use crate::install::transaction::Transaction;
use crate::lockfile::Locked;
use crate::manifest::Requirement;
use crate::name::SkillName;
use crate::ops::gate::Gate;
use crate::refusal::Limits;
use crate::source::discover::Candidate;
use crate::source::package::install_command;
use crate::source::{self, Opened};
use crate::spec::{Origin, Reference, SourceSpec};
use crate::store::{Store, mismatch};
use crate::tree::FileSet;
use crate::workers;

/// What restoring needs.
#[derive(Debug, Default)]
pub(in crate::ops) struct Restore {
    /// The skills that are to be there.
    pub(in crate::ops) fetched: Fetched,
    /// Locked skills that the manifest no longer asks for.
    pub(in crate::ops) orphans: Vec<SkillName>,
    /// Skills that were edited and are left as they are.
    pub(in crate::ops) modified: Vec<SkillName>,
}

/// How much is done for a skill that is installed.
#[derive(Debug, Clone, Copy)]
pub(in crate::ops) struct Care {
    /// Whether what is missing comes back.
    pub(in crate::ops) bring: bool,
    /// Whether what was edited is replaced.
    pub(in crate::ops) force: bool,
    /// Whether agents get copies, for which the locked bytes are needed.
    pub(in crate::ops) copy: bool,
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
    transaction: Option<&Transaction<'_>>,
) -> Result<Restore> {
    let copy = request.copy || files.manifest.agents().copy;
    let care = Care { bring: true, force: request.force, copy };
    let mut work = Worker::new(context, scope, files)?;
    work.admit()?;
    work.prefetch()?;
    work.take_stored(transaction)?;
    for (name, requirement) in files.manifest.skills() {
        match files.lock.skills.get(name) {
            _ if requirement.editable => work.editable(name, requirement, care)?,
            Some(locked) if locked.meets(requirement) && !files.is_conflict(name) => {
                work.locked(name, locked, requirement.disabled, care)?;
            }
            stale => work.resolve(name, requirement, stale.is_some(), request)?,
        }
    }
    for (name, locked) in &files.lock.skills {
        if files.manifest_text.is_none() {
            // A lockfile alone is enough to restore from.
            work.locked(name, locked, false, care)?;
        } else if !files.manifest.skills().contains_key(name) {
            work.restore.orphans.push(name.clone());
        }
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
        if there.is_none() && crate::fs::kind(&path)?.is_some() {
            there = Some(path);
        }
    }
    Ok(there)
}

/// At which revision a source was opened.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum At {
    Now(Option<Reference>),
    Locked(String),
}

/// What a source has now of a skill.
#[derive(Debug)]
pub(in crate::ops) struct Newest {
    spec: SourceSpec,
    /// The skill's own name, where it is installed under another one.
    own: Option<String>,
    opened: Opened,
    candidate: Candidate,
    /// Its files.
    pub(in crate::ops) set: FileSet,
}

impl Newest {
    /// What is to be locked of it; `digest` is that of its files.
    pub(in crate::ops) fn locked(&self, digest: Digest) -> Locked {
        locked(&self.spec, &self.opened, &self.candidate, self.own.clone(), digest)
    }
}

/// The source that `requirement` names.
pub(in crate::ops) fn spec_of(requirement: &Requirement) -> SourceSpec {
    SourceSpec {
        origin: requirement.origin.clone(),
        path: requirement.path.clone(),
        reference: requirement.reference.clone(),
        skill: None,
    }
}

/// Gets the files of skills: from the store, else from where they came, each source opened once.
pub(in crate::ops) struct Worker<'a> {
    context: &'a Context,
    scope: &'a Scope,
    files: &'a Files,
    /// Sources that were opened, and at which revision or reference, so that each is fetched once.
    opened: BTreeMap<(Origin, At), Opened>,
    /// Skills that were taken from the store already, all at once.
    taken: BTreeMap<SkillName, Taken>,
    canonical: SkillsDir,
    disabled: SkillsDir,
    pub(in crate::ops) restore: Restore,
}

impl<'a> Worker<'a> {
    /// Has opened nothing yet.
    ///
    /// # Errors
    ///
    /// A policy that cannot be read.
    pub(in crate::ops) fn new(context: &'a Context, scope: &'a Scope, files: &'a Files) -> Result<Self> {
        let fetched = Fetched::new(Gate::new(context, scope, &files.manifest)?);
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
            taken: BTreeMap::new(),
            canonical,
            disabled,
            restore,
        })
    }

    /// Whether the manifest wants what is locked of `name`; without one, all of it is wanted.
    fn is_wanted(&self, name: &SkillName, locked: &Locked) -> bool {
        match self.files.manifest.skills().get(name) {
            Some(requirement) => locked.meets(requirement),
            None => self.files.manifest_text.is_none(),
        }
    }

    /// Asks the policy about all that is locked and wanted, before anything of it is fetched.
    fn admit(&mut self) -> Result<()> {
        for (name, locked) in &self.files.lock.skills {
            if self.is_wanted(name, locked) {
                self.ask(name, locked)?;
            }
        }
        Ok(())
    }

    /// Asks the policy about what is locked of `name`.
    fn ask(&mut self, name: &SkillName, locked: &Locked) -> Result<()> {
        let reference = match self.files.manifest.skills().get(name) {
            Some(requirement) if locked.meets(requirement) => requirement.reference.clone(),
            // Without an entry the lockfile names a commit, as firm as any pin.
            _ => locked.revision.clone().map(Reference::Rev),
        };
        let (origin, path) = (&locked.origin, locked.path.as_deref());
        self.restore.fetched.gate.source(Asked { origin, path, reference: reference.as_ref() })
    }

    /// Gets what sources deliver one by one ready, all of a source at once: the locked skills that are
    /// wanted and are neither here nor in the store.
    fn prefetch(&mut self) -> Result<()> {
        let store = Store::new(&self.context.settings).ok();
        let mut missing: BTreeMap<&Origin, Vec<(&str, Option<&str>)>> = BTreeMap::new();
        for (name, locked) in &self.files.lock.skills {
            let wanted = self.is_wanted(name, locked);
            let lies = |path: &std::path::Path| Ok::<_, Error>(crate::fs::kind(path)?.is_some());
            if !wanted || !matches!(locked.origin, Origin::Site(_)) || lies(&self.scope.skill_dir(name))? {
                continue;
            }
            if let Some(store) = &store
                && lies(&store.path(&locked.digest))?
            {
                continue;
            }
            let skill = (locked.path.as_deref().unwrap_or_default(), locked.revision.as_deref());
            missing.entry(&locked.origin).or_default().push(skill);
        }
        // One alone is fetched where its files are read.
        for (origin, skills) in missing.into_iter().filter(|(_, skills)| skills.len() > 1) {
            self.open_locked(origin, None)?.prefetch(&skills)?;
        }
        Ok(())
    }

    /// Takes the skills that are wanted and lie nowhere in the scope from the store. What is not there whole
    /// is looked after where it is wanted.
    fn take_stored(&mut self, transaction: Option<&Transaction<'_>>) -> Result<()> {
        let store = Store::new(&self.context.settings).and_then(|store| store.reader());
        let Ok(Some(store)) = store else { return Ok(()) };
        let dirs = [self.scope.skills_dir(), self.scope.disabled_dir()];
        let there = dirs.iter().map(|dir| crate::fs::list_dir(dir)).collect::<Result<Vec<_>, _>>()?;
        let there: BTreeSet<_> = there.into_iter().flatten().collect();
        let missing = self.files.lock.skills.iter().filter(|(name, locked)| {
            !there.contains(name.as_str()) && self.is_wanted(name, locked) && !self.files.is_conflict(name)
        });
        let missing: Vec<_> = missing.collect();
        if missing.is_empty() {
            return Ok(());
        }
        let scene = transaction.map(|transaction| (transaction, self.files));
        let intake = Intake::reading(Some(store), self.scope, scene)?;
        let taken = workers::map(&missing, || (), |(), (name, locked)| intake.restore(name, &locked.digest));
        for ((name, _), taken) in missing.iter().zip(taken) {
            self.taken.extend(taken.map(|taken| ((*name).clone(), taken)));
        }
        Ok(())
    }

    fn locked(&mut self, name: &SkillName, locked: &Locked, disabled: bool, care: Care) -> Result<()> {
        // Where it is to lie, then where it may still lie.
        let [first, second] =
            if disabled { [&self.disabled, &self.canonical] } else { [&self.canonical, &self.disabled] };
        // What was taken from the store lies in neither.
        let there = match first.kind(name)? {
            Some(kind) => Some((first, kind)),
            None => second.kind(name)?.map(|kind| (second, kind)),
        };
        let there = there.filter(|_| !self.taken.contains_key(name));
        let digest = there.and_then(|(dir, kind)| match kind {
            Kind::Directory => dir.digest(name, &self.scope.index),
            _ => digest_of(&dir.place(name)),
        });
        match there {
            // Only links and entries may be missing; copies for agents are made from what is there.
            Some(_) if digest == Some(locked.digest) => {
                self.want(name, Content::Locked(locked.clone()), disabled, None);
            }
            Some(_) if !care.force => {
                self.restore.modified.push(name.clone());
                let set = if care.copy && !disabled { Some(self.content(name, locked)?) } else { None };
                self.want(name, Content::AsItIs(locked.clone()), disabled, set);
            }
            None if !care.bring => self.want(name, Content::AsItIs(locked.clone()), disabled, None),
            _ => {
                let set = self.content(name, locked)?;
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
        self.want(name, Content::Editable(found), requirement.disabled, None);
        Ok(())
    }

    fn want(&mut self, name: &SkillName, content: Content, disabled: bool, set: Option<FileSet>) {
        let wanted = Wanted { disabled, ..Wanted::new(name.clone(), content, None) };
        self.restore.fetched.wanted.push(wanted);
        self.restore.fetched.contents.extend(set.map(|set| (name.clone(), set)));
    }

    /// The files of a locked skill, checked against the digest.
    ///
    /// # Errors
    ///
    /// Where neither store nor source has these bytes; a policy that refuses the source.
    pub(in crate::ops) fn content(&mut self, name: &SkillName, locked: &Locked) -> Result<FileSet> {
        self.ask(name, locked)?;
        if let Some(Taken { set, planted, .. }) = self.taken.remove(name) {
            self.restore.fetched.planted.extend(planted.map(|planted| (name.clone(), planted)));
            return Ok(set);
        }
        let told = self.restore.fetched.warnings.len();
        if let Some(set) = self.stored(name, locked) {
            return Ok(set);
        }
        let lies = if self.restore.fetched.warnings.len() > told { "damaged" } else { "not" };
        let (path, revision) = (locked.path.as_deref().unwrap_or(""), locked.revision.as_deref());
        let opened = self
            .open_locked(&locked.origin, revision)
            .and_then(|opened| opened.part(path, revision))
            .map_err(|error| {
                error.context(format!("`{name}` is {lies} in the store and cannot be fetched"))
            })?;
        let set = opened.tree.skill(path, &Limits::default())?;
        let found = set.digest()?;
        if found != locked.digest {
            let error = mismatch(&format!("`{name}` from `{}`", locked.origin), &locked.digest, &found);
            let error = match (&locked.origin, &locked.revision, &opened.revision) {
                (Origin::Package(package), Some(old), Some(new)) if old != new => error.hint(format!(
                    "version {new} of `{package}` is installed, and {old} is locked: `{}` brings it back",
                    install_command(package, Some(old))
                )),
                _ => error,
            };
            let between = if matches!(locked.origin, Origin::GitHub(_)) { "/" } else { "//" };
            let path = locked.path.as_ref().filter(|_| !matches!(locked.origin, Origin::Local(_)));
            let path = path.map(|path| format!("{between}{path}")).unwrap_or_default();
            let command = format!("skillpm install {}{path}", locked.origin.typed());
            return Err(error.hint(if locked.origin.has_revisions() {
                format!("the source serves other bytes for the same commit: find out why before you lock them with `{command}`")
            } else {
                format!("it has changed since: `{command}` locks what is there now")
            }));
        }
        let (_, set) = keep(self.context, set, &mut self.restore.fetched.warnings)?;
        Ok(set)
    }

    /// The files from the store, if they are there and whole. Damaged ones are thrown away.
    fn stored(&mut self, name: &SkillName, locked: &Locked) -> Option<FileSet> {
        let store = Store::new(&self.context.settings).ok()?;
        let read = || -> Result<Option<(FileSet, Digest)>> {
            let Some(set) = store.get(&locked.digest)? else { return Ok(None) };
            let digest = set.digest()?;
            Ok(Some((set, digest)))
        };
        let reason = match read() {
            Ok(None) => return None,
            Ok(Some((set, found))) if found == locked.digest => return Some(set),
            Ok(Some(_)) => "its bytes have changed".to_owned(),
            Err(error) => error.with_causes(),
        };
        // A store that cannot be written is no reason to give up: the source has the bytes too.
        let thrown = match store.discard(&locked.digest) {
            Ok(()) => "was thrown away",
            Err(_) => "cannot be thrown away",
        };
        let warning = format!("the store's copy of `{name}` is damaged and {thrown}: {reason}");
        self.restore.fetched.warnings.push(warning);
        None
    }

    /// Opens `origin` at what a lockfile calls `revision`.
    fn open_locked(&mut self, origin: &Origin, revision: Option<&str>) -> Result<Opened> {
        // The skills of a site have a revision each, and one index.
        let revision = revision.filter(|_| !matches!(origin, Origin::Site(_)));
        self.open(origin, revision.map_or(At::Now(None), |revision| At::Locked(revision.to_owned())))
    }

    /// Asks the policy about the source of `spec`, before it is asked for anything.
    ///
    /// # Errors
    ///
    /// A policy that refuses it.
    pub(in crate::ops) fn admit_now(&mut self, spec: &SourceSpec) -> Result<()> {
        self.restore.fetched.gate.source(fetch::asked(spec))
    }

    /// Opens the source of `spec` as it is now, if the policy lets it in.
    ///
    /// # Errors
    ///
    /// As [`source::open`]; a policy that refuses the source.
    pub(in crate::ops) fn open_now(&mut self, spec: &SourceSpec) -> Result<Opened> {
        self.admit_now(spec)?;
        let opened = self.open(&spec.origin, At::Now(spec.reference.clone()))?;
        self.restore.fetched.gate.release(self.context, fetch::asked(spec), &opened)?;
        Ok(opened)
    }

    fn open(&mut self, origin: &Origin, at: At) -> Result<Opened> {
        let key = (origin.clone(), at);
        if let Some(opened) = self.opened.get(&key) {
            return Ok(opened.clone());
        }
        let wanted = match &key.1 {
            At::Now(reference) => source::Wanted::Now(reference.as_ref()),
            At::Locked(revision) => source::Wanted::Locked(revision),
        };
        let opened = source::open(self.context, self.scope, origin, wanted)?;
        self.opened.insert(key, opened.clone());
        Ok(opened)
    }

    /// Resolves what the manifest asks for and the lockfile does not have.
    fn resolve(
        &mut self,
        name: &SkillName,
        requirement: &Requirement,
        stale: bool,
        request: &InstallRequest,
    ) -> Result<()> {
        if request.locked || request.frozen {
            let what = if stale { "is locked as something else" } else { "is not in the lockfile" };
            let flag = if request.locked { "--locked" } else { "--frozen" };
            return Err(Error::config(format!(
                "`{name}` is in the manifest and {what}, and `{flag}` forbids to change that"
            ))
            .hint("run `skillpm install` without the flag and commit `skillpm.lock`"));
        }
        let newest = self.newest(name, requirement)?;
        let (locked, set) = self.take(name, &newest)?;
        self.want(name, Content::Locked(locked), requirement.disabled, Some(set));
        Ok(())
    }

    /// Puts what a source has of the skill `name` into the store, if the policy lets it in.
    ///
    /// # Errors
    ///
    /// A policy that refuses the content; files that cannot be read.
    pub(in crate::ops) fn take(&mut self, name: &SkillName, newest: &Newest) -> Result<(Locked, FileSet)> {
        let (digest, set) = keep(self.context, newest.set.clone(), &mut self.restore.fetched.warnings)?;
        self.restore.fetched.gate.content(name, &newest.candidate.file_name, &set)?;
        Ok((newest.locked(digest), set))
    }

    /// Asks the source for what `requirement` of the skill `name` means now. Nothing of it is in the
    /// store yet, and the policy was asked about the source alone.
    ///
    /// # Errors
    ///
    /// As [`Worker::open_now`]; a source that has no such skill, or more than one.
    pub(in crate::ops) fn newest(&mut self, name: &SkillName, requirement: &Requirement) -> Result<Newest> {
        let spec = spec_of(requirement);
        let opened = self.open_now(&spec)?;
        let own = requirement.name.as_deref().unwrap_or(name.as_str());
        let found = candidates(&opened, &spec)?;
        let matching: Vec<_> = match &found[..] {
            // Where no name is given, the only one there is is meant, whatever it is called.
            [one] if requirement.name.is_none() => vec![one],
            all => all
                .iter()
                .filter(|c| {
                    c.title(&opened.name) == own
                        || install_name(c, &opened.name).is_ok_and(|n| n.as_str() == own)
                })
                .collect(),
        };
        let [candidate] = matching[..] else {
            let error = match matching.len() {
                0 => Error::config(format!("`{name}`: `{spec}` has no skill of the name `{own}`"))
                    .hint(format!("correct its entry in `skillpm.toml`; `skillpm install --list {}` shows what is there", spec.origin.typed())),
                many => Error::config(format!("`{name}`: `{spec}` has {many} skills of the name `{own}`"))
                    .hint("give its directory in `skillpm.toml`, with `path`, or with `subdir` below a path of this machine"),
            };
            return Err(error);
        };
        let (opened, candidate) = match opened.deliver(candidate)? {
            Some(delivered) => delivered,
            None => (opened.clone(), (*candidate).clone()),
        };
        // What cannot be loaded says so here.
        install_name(&candidate, &opened.name)?;
        let set = opened.tree.skill(&candidate.path, &Limits::default())?;
        Ok(Newest { spec, own: requirement.name.clone(), opened, candidate, set })
    }
}
