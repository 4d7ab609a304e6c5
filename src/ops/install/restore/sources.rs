//! Sources of what is locked or asked for, each opened once.

use super::Worker;
use crate::advice::{Message, Opt, Verb, Warning, message};
use crate::digest::Digest;
use crate::error::{Error, REVISION_GONE, Result};
use crate::install::plan::{Content, requirement_of};
use crate::lockfile::Locked;
use crate::manifest::Requirement;
use crate::name::SkillName;
use crate::ops::install::InstallRequest;
use crate::ops::install::fetch::{self, locked};
use crate::ops::install::incomplete::incomplete;
use crate::ops::install::intake::keep;
use crate::ops::install::needs::Needer;
use crate::ops::install::select::{candidates, install_name, is_called, of_name, source_of};
use crate::refusal::Limits;
use crate::source::discover::{Candidate, discover_in};
use crate::source::{self, Opened, Released, local};
use crate::spec::{Origin, Reference, SourceSpec, is_commit};
use crate::tree::FileSet;

/// At which revision a source was opened.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum At {
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
    /// What `opened`, the source that `spec` means, has delivered as `candidate`; `own` is its own name, where it
    /// is installed under another one.
    ///
    /// # Errors
    ///
    /// Files that no skill may have.
    pub(in crate::ops) fn new(
        spec: SourceSpec,
        own: Option<String>,
        opened: Opened,
        candidate: Candidate,
    ) -> Result<Self> {
        let set = opened.tree.skill(&candidate.path, &Limits::default()).map_err(|refusal| {
            let name = candidate.title(&opened.name);
            Error::from(refusal).context(format!("the skill `{name}` of `{spec}` is refused"))
        })?;
        Ok(Self { spec, own, opened, candidate, set })
    }

    /// The skill under the name `name`, as one of which is looked at what it needs.
    pub(in crate::ops) fn needer(&self, name: &SkillName) -> Needer {
        Needer::new(name, &self.spec, &self.candidate, false)
    }

    /// The name that the skill has there, where nobody said which one is meant and it is not `name`.
    pub(in crate::ops) fn other_name(&self, name: &SkillName) -> Option<&str> {
        let written = self.candidate.title(&self.opened.name);
        let is_it = install_name(&self.candidate, &self.opened.name).is_ok_and(|own| own == *name);
        (self.own.is_none() && !is_it).then_some(written)
    }

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

/// Whether `error` is that a source does not have the locked revision any more.
fn is_gone(error: &Error) -> bool {
    error.code() == REVISION_GONE
}

impl Worker<'_> {
    /// Opens `origin` at what a lockfile calls `revision`.
    pub(super) fn open_locked(&mut self, origin: &Origin, revision: Option<&str>) -> Result<Opened> {
        // The skills of a site have a revision each, and one index.
        let revision = revision.filter(|_| !origin.delivers_each());
        self.open(origin, revision.map_or(At::Now(None), |revision| At::Locked(revision.to_owned())))
    }

    /// Opens the source of what is locked at the locked revision, with its files.
    ///
    /// # Errors
    ///
    /// As [`source::open`].
    pub(super) fn open_part(&mut self, locked: &Locked) -> Result<Opened> {
        let (path, revision) = (locked.path.as_deref().unwrap_or_default(), locked.revision.as_deref());
        self.open_locked(&locked.origin, revision)?.part(path, revision)
    }

    /// Why nobody can have what is `locked` any more; `None` where it is there, or its source does not tell.
    pub(in crate::ops) fn gone(&mut self, locked: &Locked) -> Option<Error> {
        // A small question in place of an archive, where the source answers it.
        let asked = source::released(self.context, &locked.origin, locked.revision.as_deref());
        let opened = asked.and_then(|released| match released {
            Released::At(_) => Ok(()),
            Released::OnceOpened | Released::Untold => self.open_part(locked).map(drop),
        });
        opened.err().filter(is_gone)
    }

    /// Says how to lock what the source of `name` has now, where `error` is that it does not have the locked commit.
    pub(super) fn hint_where_gone(
        &self,
        name: &SkillName,
        locked: &Locked,
        error: &Error,
    ) -> Option<Message> {
        let entry = self.files.manifest.skills().get(name).cloned();
        let reference = entry.unwrap_or_else(|| requirement_of(locked)).reference;
        let is_pinned = match reference {
            Some(Reference::Rev(_)) => true,
            Some(Reference::Any(name)) => is_commit(&name),
            _ => false,
        };
        let update = Verb::Update.within(self.scope.kind).word(name);
        let update = if is_pinned { update.flag(Opt::Latest) } else { update };
        let hint = || message!(update, " locks what is there now");
        (is_gone(error) && locked.origin.has_revisions()).then(hint)
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
        local::check_outside(&self.context.settings, self.scope.as_root(), &spec.origin)?;
        let opened = self.open(&spec.origin, At::Now(spec.reference.clone()))?;
        self.restore.fetched.gate.release(self.context, fetch::asked(spec), &opened)?;
        Ok(opened)
    }

    /// Opens the source of `spec` for a skill that needs something of it: at the revision of a lockfile where
    /// there is one, else as it is now.
    ///
    /// # Errors
    ///
    /// As [`Worker::open_now`].
    pub(in crate::ops) fn opened_for(&mut self, spec: &SourceSpec, revision: Option<&str>) -> Result<Opened> {
        match revision {
            Some(_) => {
                self.admit_now(spec)?;
                self.open_locked(&spec.origin, revision)
            }
            None => self.open_now(spec),
        }
    }

    /// Takes note of a source that somebody has opened as it is now.
    pub(in crate::ops) fn is_open(&mut self, spec: &SourceSpec, opened: &Opened) {
        self.opened.insert((spec.origin.clone(), At::Now(spec.reference.clone())), opened.clone());
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
        let opened = source::open(self.context, self.scope.as_root(), origin, wanted)?;
        self.opened.insert(key, opened.clone());
        Ok(opened)
    }

    /// Resolves what the manifest asks for and the lockfile does not have.
    pub(super) fn resolve(
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
        let newest = self.newest(name, requirement).map_err(|error| {
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
            self.restore.fetched.warnings.push(Warning::new("name-directory", told));
        }
        let (locked, set) = self.take(name, &newest)?;
        self.came.push(newest.needer(name));
        self.want(name, Content::Locked(locked), requirement.disabled, Some(set));
        Ok(())
    }

    /// Puts what a source has of the skill `name` into the store, if the policy lets it in.
    ///
    /// # Errors
    ///
    /// A policy that refuses the content; files that cannot be read.
    pub(in crate::ops) fn take(&mut self, name: &SkillName, newest: &Newest) -> Result<(Locked, FileSet)> {
        let warnings = &mut self.restore.fetched.warnings;
        warnings.extend(incomplete(name, &newest.opened.tree, &newest.candidate.path, &newest.set));
        let (digest, set) = keep(self.context, newest.set.clone(), warnings)?;
        self.restore.fetched.gate.content(name, &newest.candidate, &set)?;
        Ok((newest.locked(digest), set))
    }

    /// The directory in which the source of `requirement` has the skill `name` now, where there is none any more in
    /// the one that `requirement` names, and exactly one of that name elsewhere.
    pub(in crate::ops) fn moved(&mut self, name: &SkillName, requirement: &Requirement) -> Option<String> {
        let old = requirement.path.as_deref()?;
        let opened = self.open_now(&spec_of(requirement)).ok()?;
        let own = requirement.name.as_deref().unwrap_or(name.as_str());
        if !discover_in(&opened.tree, old).is_empty() {
            return None;
        }
        of_name(&opened, own).map(|candidate| candidate.path)
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
            all => all.iter().filter(|c| is_called(c, &opened.name, own)).collect(),
        };
        let [candidate] = matching[..] else {
            let error = match matching.len() {
                0 => Error::config(format!("`{name}`: `{spec}` has no skill named `{own}`"))
                    .hint(message!("correct its entry in `skillpm.toml`; ", Verb::Install.call().flag(Opt::List).word(source_of(&spec, &opened)), " shows what is available")),
                many => Error::config(format!("`{name}`: `{spec}` has {many} skills named `{own}`"))
                    .hint("set its directory in `skillpm.toml`, with `path`, or with `subdir` for a path on this machine"),
            };
            return Err(error);
        };
        let (opened, candidate) = match opened.deliver(candidate)? {
            Some(delivered) => delivered,
            None => (opened.clone(), (*candidate).clone()),
        };
        // What cannot be loaded says so here.
        install_name(&candidate, &opened.name)?;
        Newest::new(spec, requirement.name.clone(), opened, candidate)
    }
}
