//! From sources to trees that can be installed.

use std::collections::BTreeMap;

use super::select::{available, candidates, install_name, off_specification, select};
use super::{Available, InstallRequest};
use crate::context::Context;
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::install::plan::Wanted;
use crate::install::scope::Scope;
use crate::lockfile::Locked;
use crate::manifest::Requirement;
use crate::name::SkillName;
use crate::refusal::Limits;
use crate::source::discover::Candidate;
use crate::source::{self, Opened};
use crate::spec::{Origin, SourceSpec};
use crate::store::Store;
use crate::tree::FileSet;

/// Skills that are ready to be installed.
#[derive(Debug, Default)]
pub(super) struct Fetched {
    /// What is to be there.
    pub(super) wanted: Vec<Wanted>,
    /// Where in `wanted` a skill is, by the key under which names fall together.
    by_key: BTreeMap<String, usize>,
    /// Their files.
    pub(super) contents: BTreeMap<SkillName, FileSet>,
    /// What a person should know.
    pub(super) warnings: Vec<String>,
}

/// Reads a source as it was typed, with what flags say of it.
///
/// # Errors
///
/// A text that is no source; a path that is not there; a revision said twice or for a path.
pub(super) fn parse(
    context: &Context,
    scope: &Scope,
    request: &InstallRequest,
    text: &str,
) -> Result<SourceSpec> {
    let mut spec: SourceSpec = text.parse().map_err(|error: crate::spec::SpecError| {
        Error::usage(error.to_string()).hint(
            "a source is `owner/repo`, the address of a repository on GitHub, or a path such as `./skills`",
        )
    })?;
    if let Some(reference) = &request.reference {
        if let Some(said) = &spec.reference {
            return Err(Error::usage(format!(
                "the revision is given twice: `{}` and `{}`",
                said.name(),
                reference.name()
            ))
            .hint("take `#` out of the source, or the flag away"));
        }
        #[cfg(feature = "git")]
        if let Origin::Local(path) = &spec.origin
            && let Some(origin) = source::git::at_path(context, scope, path)?
        {
            spec.origin = origin;
            spec.reference = Some(reference.clone());
            return Ok(spec);
        }
        if !spec.origin.has_revisions() {
            let what = if matches!(spec.origin, Origin::Local(_)) { "is a path: it has" } else { "has" };
            return Err(Error::usage(format!("`{text}` {what} no revisions"))
                .hint("take `--tag`, `--branch` or `--rev` away"));
        }
        spec.reference = Some(reference.clone());
    }
    spec.origin = source::settled(context, scope, spec.origin)?;
    Ok(spec)
}

/// Opens the source `spec`.
///
/// # Errors
///
/// As [`source::open`].
pub(super) fn open(context: &Context, scope: &Scope, spec: &SourceSpec) -> Result<Opened> {
    source::open(context, scope, &spec.origin, source::Wanted::Now(spec.reference.as_ref()))
}

/// Lists what the source `spec` holds.
///
/// # Errors
///
/// As [`open`] and [`candidates`].
pub(super) fn list(context: &Context, scope: &Scope, spec: &SourceSpec) -> Result<Vec<Available>> {
    let opened = open(context, scope, spec)?;
    Ok(candidates(&opened, spec)?.iter().map(|c| available(spec, &opened.name, c)).collect())
}

impl Fetched {
    /// Fetches the skills of source `spec` that `request` means.
    ///
    /// # Errors
    ///
    /// A source that cannot be opened; skills that are not there or are refused; two different
    /// skills of one name.
    pub(super) fn add(
        &mut self,
        context: &Context,
        scope: &Scope,
        request: &InstallRequest,
        spec: &SourceSpec,
    ) -> Result<()> {
        let opened = open(context, scope, spec)?;
        let found = candidates(&opened, spec)?;
        let mut names = request.skills.clone();
        names.extend(spec.skill.clone());
        let named = names.iter().any(|name| name != super::select::ALL);
        let chosen = select(context, spec, &opened.name, found, &names, request.yes)?;
        let alone = chosen.len() == 1;
        let mut installed = 0;
        for candidate in &chosen {
            match self.candidate(context, spec, &opened, candidate) {
                Ok(()) => installed += 1,
                // Of many, the ones that cannot be used are passed over, and told.
                Err(error) if !named && !alone => {
                    self.warnings.push(format!(
                        "`{}` is left out: {}",
                        candidate.title(&opened.name),
                        chain(&error)
                    ));
                }
                Err(error) => return Err(error),
            }
        }
        if installed == 0 {
            return Err(Error::integrity(format!(
                "none of the {} skills of `{spec}` can be installed",
                chosen.len()
            ))
            .hint(format!("`skillpm install --list {spec}` says why")));
        }
        Ok(())
    }

    fn candidate(
        &mut self,
        context: &Context,
        spec: &SourceSpec,
        opened: &Opened,
        candidate: &Candidate,
    ) -> Result<()> {
        let name = install_name(candidate, &opened.name)?;
        let refused = |error: Error| error.context(format!("the skill `{name}` is refused"));
        let set = opened.tree.skill(&candidate.path, &Limits::default()).map_err(|e| refused(e.into()))?;
        let (digest, set) = keep(context, set, &mut self.warnings).map_err(refused)?;
        let locked = locked(spec, opened, candidate, digest);
        let written = candidate.meta.as_ref().ok().map(|meta| meta.name.clone());
        let requirement = Requirement {
            origin: spec.origin.clone(),
            path: locked.path.clone(),
            reference: spec.reference.clone(),
            name: written.filter(|written| written != name.as_str()),
        };
        let key = name.collision_key();
        if let Some(other) = self.by_key.get(&key).and_then(|at| self.wanted.get(*at)) {
            if other.locked.digest == digest {
                return Ok(());
            }
            let places: Vec<_> = [&other.locked, &locked]
                .map(|l| format!("\n  {} {}", l.origin, l.path.as_deref().unwrap_or(".")))
                .into();
            return Err(Error::usage(format!(
                "two different skills would be installed as `{name}`:{}",
                places.concat()
            ))
            .hint("name one of them by its path, such as `owner/repo/path`"));
        }
        if let Some(file) = set.get(&candidate.file_name) {
            let text = set.read(file)?;
            self.warnings.extend(off_specification(
                &name,
                candidate.directory_name(&opened.name),
                &candidate.file_name,
                text,
            ));
        }
        self.warnings.extend(unportable(&name, &set));
        self.by_key.insert(key, self.wanted.len());
        self.wanted.push(Wanted { name: name.clone(), locked, requirement: Some(requirement) });
        self.contents.insert(name, set);
        Ok(())
    }
}

/// What is locked of `candidate`, which was found in `opened`, the source that `spec` means.
pub(super) fn locked(spec: &SourceSpec, opened: &Opened, candidate: &Candidate, digest: Digest) -> Locked {
    Locked {
        version: candidate.meta.as_ref().ok().and_then(|meta| meta.version.clone()),
        origin: spec.origin.clone(),
        path: Some(candidate.path.clone()).filter(|path| !path.is_empty()),
        requested: spec.reference.as_ref().map(ToString::to_string),
        revision: opened.revision.clone(),
        digest,
        dependencies: Vec::new(),
    }
}

/// The message of `error` with those of its causes.
pub(super) fn chain(error: &Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

/// Puts `set` into the store and returns what lies there. Where the store cannot be written the
/// skill is installed without it, and the reason is told once.
pub(super) fn keep(context: &Context, set: FileSet, warnings: &mut Vec<String>) -> Result<(Digest, FileSet)> {
    let store = Store::new(&context.settings);
    match store.and_then(|store| Ok((store.put(&set)?, store))) {
        Ok((digest, store)) => Ok((digest, store.get(&digest)?.unwrap_or(set))),
        Err(error) if error.kind() == crate::error::ErrorKind::Integrity => Err(error),
        Err(error) => {
            let warning = format!(
                "the store cannot be written, so restoring will need the source again: {}",
                chain(&error)
            );
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
            Ok((set.digest()?, set))
        }
    }
}

fn unportable(name: &SkillName, set: &FileSet) -> Option<String> {
    let file = set.files().iter().find(|file| file.path.is_unportable())?;
    Some(format!("`{name}` has the file `{}`, a name that Windows cannot hold", file.path))
}
