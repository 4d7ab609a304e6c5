//! Getting the files of locked skills: from the store, or else from their sources.

use std::collections::BTreeMap;
use std::path::Path;

use super::keep::keep;
use super::scoped::Fetcher;
use crate::admission::PolicySubject;
use crate::advice::{Message, Opt, Verb, Warning, message};
use crate::codes;
use crate::digest::Digest;
use crate::error::{Error, ErrorKind, Result};
use crate::fetch::policy_check::PolicyCheck;
use crate::lockfile::Locked;
use crate::name::SkillName;
use crate::refusal::Limits;
use crate::scope::Scope;
use crate::scope::health::problem;
use crate::scope::state::Files;
use crate::source::{self, FetchedSource};
use crate::spec::{Identity, Origin, Reference, SourceSpec};
use crate::store::{Store, mismatch};
use crate::tree::{FileEntry, FileSet};

impl Fetcher<'_> {
    /// Fetches, in one batch for each source that delivers skills one by one, the locked skills that are
    /// `wanted` and neither installed nor in the store.
    pub(crate) fn prefetch(&mut self, wanted: impl Fn(&SkillName, &Locked) -> bool) -> Result<()> {
        let store = Store::new(&self.context.settings).ok();
        let mut missing: BTreeMap<&Origin, Vec<(&str, Option<&str>)>> = BTreeMap::new();
        for (name, locked) in &self.files.lock.skills {
            let exists = |path: &Path| Ok::<_, Error>(crate::fs::kind(path)?.is_some());
            if !wanted(name, locked) || !locked.origin.delivers_each() || exists(&self.scope.skill_dir(name))?
            {
                continue;
            }
            if let Some(store) = &store
                && exists(&store.path(&locked.digest))?
            {
                continue;
            }
            let skill = (locked.path.as_deref().unwrap_or_default(), locked.revision.as_deref());
            missing.entry(&locked.origin).or_default().push(skill);
        }
        // A single skill is fetched when its files are read.
        for (origin, skills) in missing.into_iter().filter(|(_, skills)| skills.len() > 1) {
            self.sources.open_locked(origin, None)?.prefetch(&skills)?;
        }
        Ok(())
    }

    /// Returns the files of a locked skill for installation, if the policy admits their content: they may be
    /// older than the policy.
    pub(crate) fn admitted(&mut self, name: &SkillName, locked: &Locked) -> Result<FileSet> {
        let set = self.content(name, locked)?;
        self.sources.gate.skill(name, &set)?;
        Ok(set)
    }

    /// Checks the installed files of `name`, locked as `locked`, against its source if this user never
    /// fetched it, for example because a project keeps its skills in version control. None of its scripts
    /// runs before that.
    pub(crate) fn check(&mut self, name: &SkillName, locked: &Locked, dir: &Path) -> Result<()> {
        let is_stored = Store::new(&self.context.settings).is_ok_and(|store| store.has(&locked.digest));
        if is_stored || !has_scripts(self.scope, dir) {
            return Ok(());
        }
        match self.content(name, locked) {
            Ok(_) => Ok(()),
            Err(error) if error.kind() == ErrorKind::Integrity && locked.revision.is_some() => Err(error),
            Err(error) => {
                let message = message!(
                    format_args!("the scripts of `{name}` do not run until its source confirms them: "),
                    error.with_causes()
                );
                self.warnings.push(Warning::new(codes::SCRIPTS_UNCONFIRMED, message));
                Ok(())
            }
        }
    }

    /// Returns the files of a locked skill, checked against the digest.
    pub(crate) fn content(&mut self, name: &SkillName, locked: &Locked) -> Result<FileSet> {
        admit(&mut self.sources.gate, self.files, name, locked)?;
        let number = self.warnings.len();
        if let Some(set) = self.stored(name, locked) {
            return Ok(set);
        }
        let is_warned = self.warnings.len() > number;
        let is_readable =
            || Store::new(&self.context.settings).is_ok_and(|store| store.is_readable(&locked.digest));
        let state = match is_warned {
            true if !is_readable() => "unreadable",
            true => "damaged",
            false => "not",
        };
        let (path, revision) = (locked.path.as_deref().unwrap_or(""), locked.revision.as_deref());
        let failed =
            |error: Error| error.context(format!("`{name}` is {state} in the store and cannot be fetched"));
        let source = self.sources.open_locked(&locked.origin, revision).map_err(|error| {
            let hint = self.hint_where_gone(name, locked, &error);
            hint.into_iter().fold(failed(error), Error::hint)
        })?;
        let delivered = source.clone().subtree(path, revision);
        let opened = delivered.map_err(|error| failed(self.explained(name, locked, &source, error)))?;
        let set = opened.tree.skill(path, &Limits::default())?;
        if set.files().is_empty() {
            let typed = locked.origin.typed();
            let gone = match path {
                _ if opened.tree.submodule(path) == Some(path) => {
                    format!("`{path}` in `{typed}` is a submodule now: its files are in another repository")
                }
                "" => format!("`{typed}` is empty now"),
                path => format!("`{typed}` no longer has a directory `{path}`"),
            };
            return Err(failed(Error::usage(gone).hint(self.without(name))));
        }
        let found = set.digest()?;
        if found != locked.digest {
            let error = mismatch(&format!("`{name}` from `{}`", locked.origin), &locked.digest, &found);
            let restored_by = locked.revision.as_ref().zip(opened.revision.as_ref());
            let restored_by =
                restored_by.and_then(|(old, new)| source::restored_by(&locked.origin, old, new));
            let error = restored_by.into_iter().fold(error, Error::hint);
            return Err(error.hint(self.relock(name, locked)));
        }
        let (_, set) = keep(self.context, set, &mut self.warnings)?;
        Ok(set)
    }

    /// Adds to `error`, for which `source` has not delivered the skill, advice if the source now lists
    /// another version, or none.
    fn explained(&self, name: &SkillName, locked: &Locked, source: &FetchedSource, error: Error) -> Error {
        let Some(shelf) = &source.shelf else { return error };
        let (path, revision) = (locked.path.as_deref().unwrap_or(""), locked.revision.as_deref());
        match shelf.revision(path) {
            Ok(Identity::Absent) => {
                let gone = format!("`{}` no longer lists `{path}`", locked.origin.typed());
                Error::network(gone).hint(self.without(name))
            }
            Ok(Identity::Id(now)) if revision.is_some_and(|revision| revision != now) => {
                error.hint(self.relock(name, locked))
            }
            _ => error,
        }
    }

    /// Returns the hint on how to continue without the skill `name`.
    fn without(&self, name: &SkillName) -> Message {
        message!("remove the skill with ", Verb::Remove.within(self.scope.kind).word(name))
    }

    /// Returns the hint on how to lock the current version of the skill `name` in its source.
    fn relock(&self, name: &SkillName, locked: &Locked) -> Message {
        if !locked.origin.has_revisions() {
            return message!(
                "it has changed since: ",
                Verb::Update.within(self.scope.kind).word(name),
                " locks what is there now"
            );
        }
        // The commit is the same, so nothing counts as newer: only naming the source itself reads it again.
        let entry = self.files.manifest.skills().get(name).filter(|entry| locked.meets(entry));
        let entry = entry.cloned().unwrap_or_else(|| locked.requirement());
        let (reference, kind) = match entry.reference {
            Some(Reference::Tag(tag)) => (None, Some((Opt::Tag, tag))),
            Some(Reference::Branch(branch)) => (None, Some((Opt::Branch, branch))),
            Some(Reference::Rev(commit)) => (None, Some((Opt::Rev, commit))),
            any => (any, None),
        };
        // As it would be typed where the hint is read.
        let origin =
            source::here(&self.context.settings, self.scope.as_root(), &entry.origin).unwrap_or(entry.origin);
        let spec = SourceSpec { origin, path: locked.path.clone(), reference, skill: None }.to_string();
        let alias = locked.alias_of.as_ref().map(|_| (Opt::As, name));
        message!(
            "the source serves different bytes for the same commit: find out why before you lock them with ",
            Verb::Install.within(self.scope.kind).word(spec).options(kind).options(alias)
        )
    }

    /// Returns the files from the store, if they exist and are intact. Discards damaged files.
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
            Ok(Some(_)) => "its bytes have changed".into(),
            Err(error) => error.with_causes(),
        };
        // It may belong to another user, for example, and its content may be right.
        if !store.is_readable(&locked.digest) {
            let message = message!(format_args!("the store's copy of `{name}` cannot be read: "), reason);
            self.warnings.push(Warning::new(codes::STORE_UNREADABLE, message));
            return None;
        }
        // A store that cannot be written is not a reason to give up: the source has the bytes too.
        let thrown = match store.discard(&locked.digest) {
            Ok(()) => "was deleted",
            Err(_) => "cannot be deleted",
        };
        let message =
            message!(format_args!("the store's copy of `{name}` is damaged and {thrown}: "), reason);
        self.warnings.push(Warning::new(problem::STORE_DAMAGED.id, message));
        None
    }
}

/// Reports whether the skill in `dir` has anything that may be run: anything but text to be read.
fn has_scripts(scope: &Scope, dir: &Path) -> bool {
    let is_text = |file: &FileEntry| {
        let extension = file.path.as_str().rsplit_once('.').map(|(_, extension)| extension);
        !file.executable && extension.is_some_and(|extension| matches!(extension, "md" | "txt"))
    };
    scope.index.trees().files(dir).is_ok_and(|set| !set.files().iter().all(is_text))
}

/// Asks `gate` whether the locked version of `name` may be installed, even from the store.
pub(crate) fn admit(gate: &mut PolicyCheck, files: &Files, name: &SkillName, locked: &Locked) -> Result<()> {
    let reference = match files.manifest.skills().get(name) {
        Some(requirement) if locked.meets(requirement) => requirement.reference.clone(),
        // Without an entry, the lockfile names a commit, which is as firm as any pin.
        _ => locked.revision.clone().map(Reference::Rev),
    };
    gate.source(PolicySubject {
        origin: &locked.origin,
        path: locked.path.as_deref(),
        reference: reference.as_ref(),
    })
}
