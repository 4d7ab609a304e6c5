//! `install` without sources: exactly what the lockfile says, and what the manifest adds to it.

use std::collections::BTreeMap;

use super::InstallRequest;
use super::fetch::{Fetched, chain, keep, locked};
use super::select::{candidates, install_name};
use crate::context::Context;
use crate::error::{Error, ErrorKind, Result};
use crate::install::plan::Wanted;
use crate::install::scope::Scope;
use crate::install::state::{Files, digest_of};
use crate::lockfile::Locked;
use crate::manifest::Requirement;
use crate::name::SkillName;
use crate::refusal::Limits;
use crate::source::{self, Opened};
use crate::spec::{Origin, SourceSpec};
use crate::store::{self, Store, mismatch};
use crate::tree::FileSet;

/// What restoring needs.
#[derive(Debug, Default)]
pub(super) struct Restore {
    /// The skills that are to be there.
    pub(super) fetched: Fetched,
    /// Locked skills that the manifest no longer asks for.
    pub(super) orphans: Vec<SkillName>,
    /// Skills that were edited and are left as they are.
    pub(super) modified: Vec<SkillName>,
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
    let mut work = Worker { context, scope, opened: BTreeMap::new(), restore: Restore::default() };
    work.prefetch(files)?;
    for (name, requirement) in files.manifest.skills() {
        match files.lock.skills.get(name) {
            Some(locked) if meets(locked, requirement) => work.locked(name, locked, request.force)?,
            stale => work.resolve(name, requirement, stale.is_some(), request)?,
        }
    }
    for (name, locked) in &files.lock.skills {
        if files.manifest_text.is_none() {
            // A lockfile alone is enough to restore from.
            work.locked(name, locked, request.force)?;
        } else if !files.manifest.skills().contains_key(name) {
            work.restore.orphans.push(name.clone());
        }
    }
    Ok(work.restore)
}

/// Whether what is locked is what the manifest asks for.
fn meets(locked: &Locked, requirement: &Requirement) -> bool {
    locked.origin == requirement.origin
        && (requirement.path.is_none() || requirement.path == locked.path)
        && locked.requested == requirement.reference.as_ref().map(ToString::to_string)
}

struct Worker<'a> {
    context: &'a Context,
    scope: &'a Scope,
    /// Sources that were opened, so that each is fetched once.
    opened: BTreeMap<(Origin, Option<String>), Opened>,
    restore: Restore,
}

impl Worker<'_> {
    /// Gets what sources deliver one by one ready, all of a source at once: the locked skills that are
    /// wanted and are neither here nor in the store.
    fn prefetch(&mut self, files: &Files) -> Result<()> {
        let store = Store::new(&self.context.settings).ok();
        let mut missing: BTreeMap<&Origin, Vec<(&str, Option<&str>)>> = BTreeMap::new();
        for (name, locked) in &files.lock.skills {
            let wanted = match files.manifest.skills().get(name) {
                Some(requirement) => meets(locked, requirement),
                None => files.manifest_text.is_none(),
            };
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
            self.open(origin, None)?.prefetch(&skills)?;
        }
        Ok(())
    }

    fn locked(&mut self, name: &SkillName, locked: &Locked, force: bool) -> Result<()> {
        let place = self.scope.skill_dir(name);
        let there = crate::fs::kind(&place)?.is_some();
        if there && digest_of(&place) == Some(locked.digest) {
            // Only links and entries may be missing; copies for agents are made from what is there.
            self.want(name, locked.clone(), store::read(&place)?);
            return Ok(());
        }
        if there && !force {
            self.restore.modified.push(name.clone());
            return Ok(());
        }
        let set = self.content(name, locked)?;
        self.want(name, locked.clone(), set);
        Ok(())
    }

    fn want(&mut self, name: &SkillName, locked: Locked, set: FileSet) {
        self.restore.fetched.wanted.push(Wanted { name: name.clone(), locked, requirement: None });
        self.restore.fetched.contents.insert(name.clone(), set);
    }

    /// The files of a locked skill, checked against the digest.
    fn content(&mut self, name: &SkillName, locked: &Locked) -> Result<FileSet> {
        if let Some(set) = self.stored(name, locked) {
            return Ok(set);
        }
        let (path, revision) = (locked.path.as_deref().unwrap_or(""), locked.revision.as_deref());
        let opened = self
            .open(&locked.origin, revision)
            .and_then(|opened| opened.part(path, revision))
            .map_err(|error| error.context(format!("`{name}` is not in the store and cannot be fetched")))?;
        let set = opened.tree.skill(path, &Limits::default())?;
        let found = set.digest()?;
        if found != locked.digest {
            let error = mismatch(&format!("`{name}` from `{}`", locked.origin), &locked.digest, &found);
            return Err(if locked.origin.has_revisions() {
                error.hint("the source serves other bytes for the same commit: find out why before you lock them with `skillpm install owner/repo`")
            } else {
                let path = locked.path.as_ref().filter(|_| !matches!(locked.origin, Origin::Local(_)));
                let path = path.map(|path| format!("//{path}")).unwrap_or_default();
                error.hint(format!(
                    "it has changed since: `skillpm install {}{path}` locks what is there now",
                    locked.origin.typed()
                ))
            });
        }
        let (_, set) = keep(self.context, set, &mut self.restore.fetched.warnings)?;
        Ok(set)
    }

    /// The files from the store, if they are there and whole. Damaged ones are thrown away.
    fn stored(&mut self, name: &SkillName, locked: &Locked) -> Option<FileSet> {
        let store = Store::new(&self.context.settings).ok()?;
        let read = || -> Result<Option<(FileSet, crate::digest::Digest)>> {
            let Some(set) = store.get(&locked.digest)? else { return Ok(None) };
            let digest = set.digest()?;
            Ok(Some((set, digest)))
        };
        let reason = match read() {
            Ok(None) => return None,
            Ok(Some((set, found))) if found == locked.digest => return Some(set),
            Ok(Some(_)) => "its bytes have changed".to_owned(),
            Err(error) => chain(&error),
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

    fn open(&mut self, origin: &Origin, revision: Option<&str>) -> Result<Opened> {
        // The skills of a site have a revision each, and one index.
        let revision = revision.filter(|_| !matches!(origin, Origin::Site(_)));
        let key = (origin.clone(), revision.map(ToOwned::to_owned));
        if let Some(opened) = self.opened.get(&key) {
            return Ok(opened.clone());
        }
        let wanted = revision.map_or(source::Wanted::Now(None), source::Wanted::Locked);
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
        let spec = SourceSpec {
            origin: requirement.origin.clone(),
            path: requirement.path.clone(),
            reference: requirement.reference.clone(),
            skill: None,
        };
        let opened = source::open(
            self.context,
            self.scope,
            &spec.origin,
            source::Wanted::Now(spec.reference.as_ref()),
        )?;
        let own = requirement.name.as_deref().unwrap_or(name.as_str());
        let found = candidates(&opened, &spec)?;
        let matching: Vec<_> = match &found[..] {
            [one] => vec![one],
            all => all
                .iter()
                .filter(|c| {
                    c.title(&opened.name) == own
                        || install_name(c, &opened.name).is_ok_and(|n| n.as_str() == own)
                })
                .collect(),
        };
        let [candidate] = matching[..] else {
            return Err(Error::new(
                ErrorKind::Config,
                format!("`{name}`: `{spec}` has {} skills of the name `{own}`", matching.len()),
            )
            .hint("give its directory in `skillpm.toml` with `path`"));
        };
        let delivered = opened.deliver(candidate)?;
        let (opened, candidate) = match &delivered {
            Some((opened, candidate)) => (opened, candidate),
            None => (&opened, candidate),
        };
        // What cannot be loaded says so here.
        install_name(candidate, &opened.name)?;
        let set = opened.tree.skill(&candidate.path, &Limits::default())?;
        let (digest, set) = keep(self.context, set, &mut self.restore.fetched.warnings)?;
        let locked = locked(&spec, opened, candidate, digest);
        self.want(name, locked, set);
        Ok(())
    }
}
