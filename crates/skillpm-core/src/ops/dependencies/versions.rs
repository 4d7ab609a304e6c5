//! Decides which versions of skills come from registries, for all skills of a scope at once.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::elsewhere::{Need, declared_elsewhere};
use super::messages::warning_of;
use crate::advice::Warning;
use crate::codes;
use crate::context::Context;
use crate::digest::Digest;
use crate::error::{Error, ErrorKind, Result};
use crate::install::scope::Scope;
use crate::install::state::Files;
use crate::lockfile::Locked;
use crate::manifest::Requirement;
use crate::name::SkillName;
use crate::ops::fetcher::{Sources, Versions};
use crate::resolve::Notice;
use crate::resolve::declared::Declared;
use crate::resolve::versions::{
    Asker, RegistryId, Release, ReleaseAge, ReleaseProvider, RootRequirement, SkillId, VersionError,
    VersionLimit, VersionProblem, solve,
};
use crate::source::registry::went_back;
use crate::source::{self, SkillIndex};
use crate::spec::{Origin, Reference, SourceSpec};
use crate::version::{Version, VersionRange};

/// The longest search, fetching included: a list that somebody made to be hard could take hours.
const MOST_TIME: Duration = Duration::from_mins(2);

/// A skill that the user wants from a registry.
#[derive(Debug, Clone)]
pub(in crate::ops) struct VersionRequest {
    /// The registry.
    pub(in crate::ops) origin: Origin,
    /// The name of the skill in it.
    pub(in crate::ops) name: SkillName,
    /// The name under which it is to be installed.
    pub(in crate::ops) key: SkillName,
    /// The accepted versions; `None` accepts all but pre-releases.
    pub(in crate::ops) range: Option<VersionRange>,
    /// Whether the range of the manifest holds as well.
    pub(in crate::ops) within: bool,
}

impl VersionRequest {
    /// Returns the request for the skill that is installed as `key`, with the manifest entry `entry`, in any version, if
    /// the user requested it in some range.
    pub(in crate::ops) fn in_any_version(key: &SkillName, entry: &Requirement) -> Option<Self> {
        let path = entry.path.as_deref().filter(|_| entry.reference.is_some())?;
        let (origin, name) = (entry.origin.clone(), SkillName::new(path).ok()?);
        Some(Self { origin, name, key: key.clone(), range: None, within: false })
    }
}

/// What may change besides the requested skills.
#[derive(Debug, Clone, Copy)]
pub(in crate::ops) enum Keep<'a> {
    /// Locked versions stay where they can.
    Locked,
    /// Locked versions stay where they can, except those of these skills, by the names of their lock entries.
    LockedBut(&'a BTreeSet<SkillName>),
}

/// Returns the name in its registry of the skill that is `locked`.
fn in_registry(locked: &Locked) -> Option<&str> {
    locked.path.as_deref().filter(|_| locked.origin.has_versions())
}

/// Returns the version in which a skill of a registry is `locked`.
fn version_of(locked: &Locked) -> Option<Version> {
    Version::new(locked.revision.as_deref()?).ok()
}

/// How versions are decided.
#[derive(Debug, Clone, Copy)]
pub(in crate::ops) struct Deciding<'a> {
    /// Which locked versions stay.
    pub(in crate::ops) keep: Keep<'a>,
    /// Whether the lowest versions are taken instead of the highest.
    pub(in crate::ops) minimal: bool,
    /// Whether what skills need is left out.
    pub(in crate::ops) alone: bool,
}

/// Decides the versions of the skills in `requests`, of the other skills of registries in `files`, and of all that they
/// need: the highest that fit, or the lowest, as `how` says. The decision is kept in `sources`, and returned with what a person should know.
///
/// # Errors
///
/// Fails for a registry that cannot be read or is refused, and if no choice of versions meets all requirements.
pub(in crate::ops) fn decide(
    sources: &mut Sources<'_>,
    files: &Files,
    requests: &[VersionRequest],
    how: Deciding<'_>,
) -> Result<Vec<Warning>> {
    let Deciding { keep, minimal, alone } = how;
    let mut statement = Statement::new(sources, requests)?;
    statement.add_manifest(files)?;
    let has_locked = || files.lock.skills.values().any(|locked| locked.origin.has_versions());
    if !alone && (!statement.problem.roots.is_empty() || has_locked()) {
        statement.add_needs(declared_elsewhere(sources, files), files)?;
    }
    if statement.problem.roots.is_empty() {
        return Ok(Vec::new());
    }
    let locked = statement.add_locked(files, keep)?;
    let Statement { registries, mut problem, .. } = statement;
    let origins: Vec<Origin> = registries.iter().map(|registry| registry.origin.clone()).collect();
    problem.minimal = minimal;
    let limits = files.manifest.overrides().iter();
    problem.overrides =
        limits.map(|(name, range)| (name.clone(), VersionLimit::Range(range.parsed().clone()))).collect();
    problem.registries = origins.iter().map(|origin| origin.typed()).collect();
    let scope = sources.scope.kind;
    let mut provider = RegistryProvider {
        sources,
        origins: &origins,
        locked,
        kept: problem.locked.keys().cloned().collect(),
        alone,
        began: Instant::now(),
        warnings: Vec::new(),
    };
    let solution = solve(&problem, &mut provider).map_err(error_of)?;
    let mut warnings = provider.warnings;
    warnings.extend(sources.take_warnings());
    let notices = solution.notices.iter().filter(|notice| !is_in_force(files, notice));
    warnings.extend(notices.map(|notice| warning_of(notice, scope)));
    let mut versions = BTreeMap::new();
    for ((registry, name), chosen) in solution.versions {
        let spellings = registries.get(registry.0).map(|registry| registry.spellings.iter());
        for origin in spellings.into_iter().flatten() {
            versions.insert((origin.clone(), name.clone()), chosen.version.clone());
        }
    }
    sources.versions = Versions::new(versions);
    Ok(warnings)
}

/// A registry in a problem.
struct StatedRegistry {
    /// The registry as it was named first.
    origin: Origin,
    /// Its directory, if it is on this machine.
    place: Option<PathBuf>,
    /// All the ways in which it was named.
    spellings: BTreeSet<Origin>,
}

/// A problem while it is stated.
struct Statement<'a> {
    context: &'a Context,
    scope: &'a Scope,
    /// The registries, in the order of their numbers.
    registries: Vec<StatedRegistry>,
    /// The names under which skills are requested anew: what the files say of them does not count.
    requested: BTreeSet<SkillName>,
    /// The registries of the skills that the user requests under their own names.
    bound: BTreeMap<SkillName, RegistryId>,
    problem: VersionProblem,
}

impl<'a> Statement<'a> {
    fn new(sources: &Sources<'a>, requests: &[VersionRequest]) -> Result<Self> {
        let anew = requests.iter().filter(|request| !request.within);
        let mut statement = Self {
            context: sources.context,
            scope: sources.scope,
            registries: Vec::new(),
            requested: anew.map(|request| request.key.clone()).collect(),
            bound: BTreeMap::new(),
            problem: VersionProblem::default(),
        };
        for VersionRequest { origin, name, key, range, .. } in requests {
            statement.require(origin, key, name.clone(), range.as_ref())?;
        }
        Ok(statement)
    }

    /// Returns the registry at `origin`, however it is named.
    fn registry(&mut self, origin: &Origin) -> Result<RegistryId> {
        let is_spelling = |known: &StatedRegistry| known.spellings.contains(origin);
        if let Some(at) = self.registries.iter().position(is_spelling) {
            return Ok(RegistryId(at));
        }
        let place = source::real_place(&self.context.settings, self.scope.as_root(), origin)?;
        let is_place = |known: &StatedRegistry| place.is_some() && known.place == place;
        if let Some(at) = self.registries.iter().position(is_place) {
            self.registries[at].spellings.insert(origin.clone());
            return Ok(RegistryId(at));
        }
        let (spellings, origin) = (BTreeSet::from([origin.clone()]), origin.clone());
        self.registries.push(StatedRegistry { origin, place, spellings });
        Ok(RegistryId(self.registries.len() - 1))
    }

    fn require(
        &mut self,
        origin: &Origin,
        key: &SkillName,
        name: SkillName,
        range: Option<&VersionRange>,
    ) -> Result<()> {
        let registry = self.registry(origin)?;
        if name == *key {
            self.bound.insert(name.clone(), registry);
        }
        let text = range.map_or_else(|| name.to_string(), |range| format!("{name}@{range}"));
        let range = range.map(|range| range.parsed().clone());
        self.problem.roots.push(RootRequirement { registry, name, range, by: Asker::User, text });
        Ok(())
    }

    /// Adds what skills from elsewhere need of registries. A skill of that name that the user requests from elsewhere
    /// stays; whoever resolves the dependencies says so.
    fn add_needs(&mut self, needs: Vec<Need>, files: &Files) -> Result<()> {
        for Need { dependent, by, text, name, origin, range } in needs {
            if self.requested.contains(&dependent) || self.problem.fixed.contains_key(&name) {
                continue;
            }
            let named = origin.map(|origin| self.registry(&origin)).transpose()?;
            let there = match self.bound.get(&name) {
                Some(registry) => Some(*registry),
                None => self.locked_in(&name, files)?,
            };
            let is_requested = self.bound.contains_key(&name);
            let registry = match (named, there) {
                (Some(named), Some(there)) if named != there => continue,
                (Some(registry), _) | (None, Some(registry)) => registry,
                (None, None) => continue,
            };
            // Whatever the user requests satisfies those that accept any version.
            if range.is_some() || !is_requested {
                self.problem.roots.push(RootRequirement { registry, name, range, by, text });
            }
        }
        Ok(())
    }

    /// Returns the registry from which the skill `name` is locked under its own name.
    fn locked_in(&mut self, name: &SkillName, files: &Files) -> Result<Option<RegistryId>> {
        let locked = files.lock.skills.get(name).filter(|locked| in_registry(locked) == Some(name.as_str()));
        locked.map(|locked| self.registry(&locked.origin)).transpose()
    }

    /// Adds what the manifest requests: skills of registries as requirements, unless they are requested anew, and
    /// others as names that no registry is asked for.
    fn add_manifest(&mut self, files: &Files) -> Result<()> {
        for (key, entry) in files.manifest.skills() {
            if self.requested.contains(key) {
                continue;
            }
            let name = entry.path.as_deref().and_then(|name| SkillName::new(name).ok());
            let name = name.filter(|_| entry.origin.has_versions());
            if name.as_ref() != Some(key) {
                // Whatever is installed under the name satisfies those that need a skill of that name.
                let locked = files.lock.skills.get(key).and_then(|locked| locked.version.as_deref());
                let version = locked.and_then(|version| Version::new(version).ok());
                self.problem.fixed.insert(key.clone(), version);
            }
            if let Some(name) = name {
                let range = entry.reference.as_ref().and_then(Reference::range);
                self.require(&entry.origin, key, name, range)?;
            }
        }
        Ok(())
    }

    /// Adds the locked versions as preferences, and returns the locked skills of registries.
    fn add_locked<'f>(&mut self, files: &'f Files, keep: Keep<'_>) -> Result<BTreeMap<SkillId, &'f Locked>> {
        let mut all = BTreeMap::new();
        for (key, locked) in &files.lock.skills {
            let is_free = match keep {
                Keep::Locked => false,
                Keep::LockedBut(free) => free.contains(key),
            };
            let name = in_registry(locked).and_then(|name| SkillName::new(name).ok());
            let Some((name, version)) = name.zip(version_of(locked)) else { continue };
            let id = (self.registry(&locked.origin)?, name);
            all.insert(id.clone(), locked);
            if !is_free && !self.requested.contains(key) {
                self.problem.locked.insert(id, version);
            }
        }
        Ok(all)
    }
}

/// The provider that reads the lists of registries for the solver.
struct RegistryProvider<'p, 's> {
    sources: &'p mut Sources<'s>,
    origins: &'p [Origin],
    /// The locked skills of registries.
    locked: BTreeMap<SkillId, &'p Locked>,
    /// Those of them that keep their versions if they can.
    kept: BTreeSet<SkillId>,
    /// Whether what skills need is left out.
    alone: bool,
    began: Instant,
    warnings: Vec<Warning>,
}

impl RegistryProvider<'_, '_> {
    fn read(&mut self, registry: RegistryId, name: &SkillName) -> Result<Option<Arc<Vec<Release>>>> {
        let Some(origin) = self.origins.get(registry.0) else { return Ok(None) };
        let opened = self.sources.open(&SourceSpec::new(origin.clone()))?;
        let Some(shelf) = &opened.shelf else { return Ok(None) };
        let releases = self.with_locked(&(registry, name.clone()), origin, &**shelf)?;
        let Some(releases) = releases else { return Ok(None) };
        if !self.alone {
            return Ok(Some(releases));
        }
        let alone = |release: &Release| Release { dependencies: Vec::new(), ..release.clone() };
        Ok(Some(Arc::new(releases.iter().map(alone).collect())))
    }
}

impl RegistryProvider<'_, '_> {
    /// Returns the releases of the skill `id` that `shelf`, the registry `origin`, lists. A locked version that it no
    /// longer lists is told, and stays where it may.
    ///
    /// # Errors
    ///
    /// Fails for a registry that cannot be read, and for one that lists other files for the locked version.
    fn with_locked(
        &mut self,
        id: &SkillId,
        origin: &Origin,
        shelf: &dyn SkillIndex,
    ) -> Result<Option<Arc<Vec<Release>>>> {
        let name = &id.1;
        let releases = shelf.releases(name)?;
        let Some((locked, version)) = self.locked.get(id).and_then(|one| Some((*one, version_of(one)?)))
        else {
            return Ok(releases);
        };
        if let Some(digest) = shelf.digest(name, &version)? {
            return if digest == locked.digest {
                Ok(releases)
            } else {
                Err(changed(origin, name, locked, &digest))
            };
        }
        self.warnings.push(went_back(&origin.typed(), name, &[&version]));
        if !self.kept.contains(id) {
            return Ok(releases);
        }
        let needs = locked.dependencies.iter();
        let needs = needs.map(|text| Declared { text: text.clone(), requirement: text.parse() }).collect();
        let mut all = releases.map(|all| all.to_vec()).unwrap_or_default();
        all.push(Release { version, dependencies: needs, yanked: true, published: None });
        Ok(Some(Arc::new(all)))
    }
}

/// Reports whether `notice` is about an override whose skills are locked in these versions: it was told before.
fn is_in_force(files: &Files, notice: &Notice) -> bool {
    let Notice::Overridden { dependent, by, name, version, .. } = notice else { return false };
    let is_locked = |name: &SkillName, version: &Version| {
        files.lock.skills.get(name).and_then(version_of).as_ref() == Some(version)
    };
    is_locked(dependent, by) && is_locked(name, version)
}

/// Returns the error for a version of the skill `name` of `origin` that is `locked` and that the registry lists with
/// another digest.
fn changed(origin: &Origin, name: &SkillName, locked: &Locked, digest: &Digest) -> Error {
    let version = locked.revision.as_deref().unwrap_or_default();
    Error::integrity(format!(
        "the registry `{}` lists other files for `{name}` {version} than are locked: {digest}, not {}",
        origin.typed(),
        locked.digest
    ))
    .coded(codes::REGISTRY_MISMATCH)
    .hint("a version never changes: ask the owner of the registry what happened")
}

impl ReleaseProvider for RegistryProvider<'_, '_> {
    type Error = Error;

    fn releases(&mut self, registry: RegistryId, name: &SkillName) -> Result<Option<Arc<Vec<Release>>>> {
        self.read(registry, name)
    }

    fn minimum_age(&mut self, registry: RegistryId, name: &SkillName) -> Option<ReleaseAge> {
        self.sources.minimum_age(self.origins.get(registry.0)?, name.as_str())
    }

    fn check(&mut self) -> Result<()> {
        if self.sources.context.reporter.is_stopped() {
            return Err(Error::new(ErrorKind::Findings, "the search for versions was stopped"));
        }
        if self.began.elapsed() > MOST_TIME { Err(too_hard()) } else { Ok(()) }
    }

    fn prefetch(&mut self, skills: &[SkillId]) {
        for (at, origin) in self.origins.iter().enumerate() {
            let names: Vec<SkillName> = skills
                .iter()
                .filter(|(registry, _)| registry.0 == at)
                .map(|(_, name)| name.clone())
                .collect();
            // What cannot be read is reported when it is needed.
            if names.len() > 1
                && let Ok(opened) = self.sources.open(&SourceSpec::new(origin.clone()))
                && let Some(shelf) = &opened.shelf
            {
                let _ = shelf.prepare_releases(&names);
            }
        }
    }
}

fn too_hard() -> Error {
    Error::new(ErrorKind::Findings, "no versions that fit together were found in a reasonable time")
        .coded(codes::VERSIONS_CONFLICT)
        .hint("state narrower ranges in `skillpm.toml`")
}

/// Returns the error for a problem without a solution.
fn error_of(error: VersionError<Error>) -> Error {
    let explanation = match error {
        VersionError::Provider(error) => return error,
        VersionError::NoSolution(explanation) => *explanation,
        VersionError::TwoRegistries(two) => two.explanation,
        VersionError::TooMany(name) => {
            return Error::integrity(format!("too many skills are needed, including `{name}`"));
        }
        VersionError::TooHard => return too_hard(),
    };
    let sentences = explanation.sentences.into_iter();
    let text = sentences.fold(crate::advice::message!("no versions fit together:"), |text, sentence| {
        crate::advice::message!(text, "\n  ", sentence)
    });
    let error = Error::new(ErrorKind::Findings, text).coded(codes::VERSIONS_CONFLICT);
    explanation.hints.into_iter().fold(error, Error::hint)
}
