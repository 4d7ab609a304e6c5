//! `diff`: compares installed skills with the locked versions, and locked versions with newer ones.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use super::trees::VersionDiff;
use crate::advice::{Verb, Warning, message};
use crate::codes;
use crate::context::Context;
use crate::error::{Error, ErrorKind, Result};
use crate::fs::{self, Kind};
use crate::install::plan::requirement_of;
use crate::install::scope::{Scope, ScopeKind, Scopes};
use crate::install::state::Files;
use crate::lockfile::Locked;
use crate::manifest::Requirement;
use crate::name::SkillName;
use crate::ops::absent::{is_missing, no_longer_asked, not_installed, not_yet_installed};
use crate::ops::dependencies::{Deciding, Keep, VersionRequest, decide};
use crate::ops::fetcher::{Fetcher, spec_of};
use crate::ops::install::restore::lies;
use crate::source::newest::{self, Query, ask};
use crate::spec::Reference;
use crate::tree::FileSet;
use crate::version::VersionRange;

/// The versions that are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compared {
    /// The locked and the installed version: what the user edited.
    #[default]
    Installed,
    /// The locked version, and the current version that the manifest requests: what an update would bring.
    Newest,
    /// The locked version, and the newest one past the tag or commit that the manifest names.
    Latest,
}

/// A request to compare versions of skills.
#[derive(Debug, Clone, Default)]
pub struct DiffRequest {
    /// The names under which they are installed; all if empty.
    pub names: Vec<String>,
    /// The scope; `None` means both.
    pub scope: Option<ScopeKind>,
    /// The versions that are compared.
    pub compared: Compared,
}

/// A skill that differs. The JSON form of a value of this type is an interface: fields are only added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SkillDiff {
    /// The name under which it is installed.
    pub name: String,
    /// The scope in which it is installed.
    pub scope: ScopeKind,
    /// The source.
    pub source: String,
    /// The locked version.
    pub old: Side,
    /// The version that it is compared with.
    pub new: Side,
    /// The differences.
    #[serde(flatten)]
    pub diff: VersionDiff,
}

/// One of two versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Side {
    /// Which version it is.
    pub what: DiffKind,
    /// The requested revision, in git's form; `None` for an installed skill that was edited.
    pub requested: Option<String>,
    /// The commit, the digest of a site, or the version of a package.
    pub revision: Option<String>,
    /// The digest of its files.
    pub digest: String,
}

/// A version of a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DiffKind {
    /// The one that is locked.
    Locked,
    /// The one that is installed.
    Installed,
    /// The current one in the source.
    Newest,
    /// The newest one in the source, past the pin.
    Latest,
}

/// The outcome of a comparison.
#[derive(Debug, Default)]
pub struct DiffOutcome {
    /// The skills that differ, project before user, then by name.
    pub skills: Vec<SkillDiff>,
    /// The number of compared skills that are the same.
    pub same: usize,
    /// Why skills could not be compared.
    pub failures: Vec<Error>,
    /// Warnings for the user.
    pub warnings: Vec<Warning>,
}

impl DiffOutcome {
    /// Returns the kind of failure to exit with, if any: network failures come first.
    pub fn failed(&self) -> Option<ErrorKind> {
        let network = |error: &&Error| error.kind() == ErrorKind::Network;
        self.failures.iter().find(network).or(self.failures.first()).map(Error::kind)
    }
}

/// Compares versions of installed skills. Changes nothing that is installed or locked.
///
/// # Errors
///
/// Fails for a manifest, lockfile or policy that cannot be read, and for a name that is not installed. A
/// skill that cannot be compared is not an error: the outcome says why, and contains the others.
pub fn diff(context: &Context, request: &DiffRequest) -> Result<DiffOutcome> {
    let mut scopes = Vec::new();
    for scope in Scopes::new(&context.settings, request.scope)?.there {
        scopes.push((Files::read(&scope)?, scope));
    }
    let known = || {
        scopes.iter().flat_map(|(files, _)| files.manifest.skills().keys().chain(files.lock.skills.keys()))
    };
    for name in &request.names {
        if known().all(|known| known.as_str() != name) {
            return Err(not_installed(request.scope, name, known().map(SkillName::as_str)));
        }
    }
    let mut outcome = DiffOutcome::default();
    for (files, scope) in &scopes {
        let fetcher = Fetcher::new(context, scope, files)?;
        let mut compare = Compare { context, scope, files, request, fetcher, outcome: &mut outcome };
        match request.compared {
            Compared::Installed => compare.installed(),
            Compared::Newest | Compared::Latest => compare.newer(),
        }
        let warnings = std::mem::take(&mut compare.fetcher.warnings);
        outcome.warnings.extend(warnings);
    }
    Ok(outcome)
}

struct Compare<'a> {
    context: &'a Context,
    scope: &'a Scope,
    files: &'a Files,
    request: &'a DiffRequest,
    fetcher: Fetcher<'a>,
    outcome: &'a mut DiffOutcome,
}

/// A locked skill, and its manifest entry.
#[derive(Clone)]
struct One<'a> {
    name: &'a SkillName,
    locked: &'a Locked,
    entry: Requirement,
}

impl<'a> Compare<'a> {
    /// Returns the requested skills that are locked, and adds warnings about the others.
    fn meant(&mut self) -> Vec<One<'a>> {
        let named = |name: &SkillName| self.request.names.iter().any(|one| one == name.as_str());
        let mut meant = Vec::new();
        let all = self.files.manifest.skills().keys().chain(self.files.lock.skills.keys());
        let all: BTreeSet<&'a SkillName> = all.collect();
        for name in all.into_iter().filter(|name| self.request.names.is_empty() || named(name)) {
            match (self.files.manifest.skills().get(name), self.files.lock.skills.get(name)) {
                (Some(entry), _) if entry.editable => {
                    if named(name) {
                        let told = format!(
                            "`{name}` is editable, a link to `{}`: there is no locked version to compare",
                            entry.origin.typed()
                        );
                        self.outcome.warnings.push(Warning::new(codes::EDITABLE, told));
                    }
                }
                (entry, Some(locked)) => {
                    let entry = entry.cloned().unwrap_or_else(|| requirement_of(locked));
                    meant.push(One { name, locked, entry });
                }
                (_, None) => {
                    self.outcome.warnings.push(not_yet_installed(self.scope.kind, name));
                }
            }
        }
        meant
    }

    /// Compares installed skills with the locked versions.
    fn installed(&mut self) {
        for one in self.meant() {
            if let Err(error) = self.edits(&one) {
                self.fail(one.name, error);
            }
        }
    }

    fn edits(&mut self, one: &One<'_>) -> Result<()> {
        let One { name, locked, entry } = one;
        let Some(path) = lies(self.context, self.scope, name, entry.disabled)? else {
            self.outcome.warnings.push(is_missing(self.scope.kind, name));
            return Ok(());
        };
        if fs::kind(&path)? != Some(Kind::Directory) {
            return Err(Error::integrity(format!("`{}` is not a directory", path.display()))
                .hint(message!(Verb::Doctor, " shows what is there")));
        }
        let lying = self.scope.index.trees().read(&path)?;
        if lying.digest == locked.digest {
            self.outcome.same += 1;
            return Ok(());
        }
        let mine = lying.files;
        let base = self.fetcher.content(name, locked)?;
        let new = (DiffKind::Installed, None, None);
        self.add(one, &base, &mine, new)
    }

    /// Compares the current versions in sources with the locked ones. Queries the sources first, so that
    /// unchanged skills are not fetched.
    fn newer(&mut self) {
        let kept = self.files.kept();
        let mut asked = Vec::new();
        for one in self.meant() {
            if !kept.contains(one.name) {
                self.outcome.warnings.push(no_longer_asked(self.scope.kind, one.name));
                continue;
            }
            match self.fetcher.sources.admit(&spec_of(&one.entry)) {
                Ok(()) => asked.push(one),
                Err(error) => self.fail(one.name, error),
            }
        }
        let latest = self.request.compared == Compared::Latest;
        // A skill that is locked from another source proves nothing about what the manifest requests now.
        let (same, moved): (Vec<_>, Vec<_>) =
            asked.into_iter().partition(|one| one.locked.is_skill_of(&one.entry));
        let (of_registries, same): (Vec<_>, Vec<_>) =
            same.into_iter().partition(|one| one.locked.origin.has_versions());
        let decided = self.decided(of_registries);
        let queries: Vec<_> = same.iter().map(|one| Query::new(one.locked, Some(&one.entry))).collect();
        let mut wanted: BTreeMap<usize, One<'a>> = BTreeMap::new();
        for answer in ask(self.context, self.scope.as_root(), &queries, latest) {
            match answer.newest.and_then(|newest| Ok((newest, answer.latest?))) {
                Ok((newest, past)) => {
                    for (at, newest) in answer.at.into_iter().zip(newest) {
                        let one = &same[at];
                        match (latest, &past) {
                            (false, _) if newest.files == newest::Files::Same => self.outcome.same += 1,
                            (false, _) => drop(wanted.insert(at, one.clone())),
                            (true, None) => self.outcome.same += 1,
                            (true, Some(past)) => {
                                let mut one = one.clone();
                                one.entry.reference = Some(past.clone());
                                wanted.insert(at, one);
                            }
                        }
                    }
                }
                Err(error) => {
                    let source = answer.at.first().map(|at| same[*at].locked.origin.typed());
                    let source = source.unwrap_or_default();
                    let error = error.context(format!("`{source}` cannot be checked for newer versions"));
                    self.outcome.failures.push(error);
                }
            }
        }
        let first = self.outcome.skills.len();
        let moved = moved.into_iter().filter(|_| !latest);
        for one in wanted.into_values().chain(decided).chain(moved) {
            if let Err(error) = self.version(&one) {
                self.fail(one.name, error);
            }
        }
        self.outcome.skills[first..].sort_by(|a, b| a.name.cmp(&b.name));
    }

    /// Decides the versions of skills of registries as an update of these skills would, and returns those that change.
    fn decided(&mut self, mut ones: Vec<One<'a>>) -> Vec<One<'a>> {
        if ones.is_empty() {
            return Vec::new();
        }
        let latest = self.request.compared == Compared::Latest;
        let free: BTreeSet<SkillName> = ones.iter().map(|one| one.name.clone()).collect();
        let any = ones.iter().filter(|_| latest);
        let requests: Vec<_> =
            any.filter_map(|one| VersionRequest::in_any_version(one.name, &one.entry)).collect();
        let how = Deciding { keep: Keep::LockedBut(&free), minimal: false, alone: false };
        match decide(&mut self.fetcher.sources, self.files, &requests, how) {
            Ok(warnings) => self.outcome.warnings.extend(warnings),
            Err(error) => {
                self.outcome.failures.push(error);
                return Vec::new();
            }
        }
        let all = ones.len();
        ones.retain_mut(|one| {
            let Some(version) = self.fetcher.sources.versions.instead_of(one.locked) else { return false };
            let range = one.entry.reference.as_ref().and_then(Reference::range);
            let is_past = latest && range.is_some_and(|range| !range.contains(version));
            if is_past {
                one.entry.reference = Some(Reference::Range(VersionRange::compatible_with(version)));
            }
            is_past || !latest
        });
        self.outcome.same += all - ones.len();
        ones
    }

    fn version(&mut self, one: &One<'_>) -> Result<()> {
        let newest = self.fetcher.newest(one.name, &one.entry)?;
        let digest = newest.set.digest()?;
        if digest == one.locked.digest {
            self.outcome.same += 1;
            return Ok(());
        }
        let base = self.fetcher.content(one.name, one.locked)?;
        let what =
            if self.request.compared == Compared::Latest { DiffKind::Latest } else { DiffKind::Newest };
        let requested = one.entry.reference.as_ref().map(Reference::to_string);
        let revision = newest.locked(digest).revision;
        self.add(one, &base, &newest.set, (what, requested, revision))
    }

    fn add(
        &mut self,
        one: &One<'_>,
        old: &FileSet,
        new: &FileSet,
        (what, requested, revision): (DiffKind, Option<String>, Option<String>),
    ) -> Result<()> {
        let locked = one.locked;
        self.outcome.skills.push(SkillDiff {
            name: one.name.to_string(),
            scope: self.scope.kind,
            source: one.entry.origin.to_string(),
            old: Side {
                what: DiffKind::Locked,
                requested: locked.requested.clone(),
                revision: locked.revision.clone(),
                digest: locked.digest.to_string(),
            },
            new: Side { what, requested, revision, digest: new.digest()?.to_string() },
            diff: VersionDiff::new(old, new)?,
        });
        Ok(())
    }

    fn fail(&mut self, name: &SkillName, error: Error) {
        self.outcome.failures.push(error.context(format!("`{name}` cannot be compared")));
    }
}
