//! Finds what sources offer for dependencies, under the policy.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use semver::VersionReq;

use super::installed::{locked_dependent, outside};
use crate::advice::Warning;
use crate::codes;
use crate::digest::Digest;
use crate::engine::load::{frontmatter, skill_file};
use crate::error::{Error, ErrorKind, Result};
use crate::fetch::fetcher::{Newest, Sources, dependent, spec_of};
use crate::fetch::names::install_name;
use crate::fetch::registries::spelled;
use crate::fetch::select::{candidates, select};
use crate::lockfile::Locked;
use crate::name::SkillName;
use crate::resolve::declared::Declared;
use crate::resolve::{
    Available, Dependent, Has, Location, Offer, Provider, RegistryId, Release, ReleaseAge, SkillId,
    directory_of, meets,
};
use crate::scope::Scope;
use crate::scope::state::Files;
use crate::scope_kind::ScopeKind;
use crate::skill;
use crate::source::discover::Candidate;
use crate::source::registry::went_back;
use crate::source::{self, FetchedSource, SkillIndex};
use crate::spec::{Origin, SourceSpec};
use crate::store::Store;
use crate::version::Version;

/// The longest search, fetching included: a list that was made to be hard could take hours.
const MOST_TIME: Duration = Duration::from_mins(2);

/// A skill that a source offers, as the source delivered it.
#[derive(Debug)]
pub(crate) struct Offered {
    /// The source.
    pub(crate) spec: SourceSpec,
    pub(crate) opened: FetchedSource,
    pub(crate) candidate: Candidate,
}

impl Offered {
    /// Returns the skill with its files, to be installed as `name`.
    pub(crate) fn newest(self, name: &SkillName) -> Result<Newest> {
        let own = self.candidate.meta.as_ref().ok().map(|meta| meta.name.clone());
        let own = own.filter(|own| own != name.as_str());
        Newest::new(self.spec, own, self.opened, self.candidate)
    }
}

/// A test for whether the scope has room for a skill of a given name.
pub(crate) type HasRoom<'p> = &'p dyn Fn(&SkillName) -> Result<bool>;

/// A registry that the search knows.
struct KnownRegistry {
    /// The registry as it was named first.
    origin: Origin,
    /// The directory, if it is on this machine.
    place: Option<PathBuf>,
    /// All the ways in which it was named.
    spellings: BTreeSet<Origin>,
}

/// The provider that looks into sources for the search.
pub(crate) struct SourceProvider<'p, 's> {
    pub(crate) sources: &'p mut Sources<'s>,
    files: &'p Files,
    has_room: Option<HasRoom<'p>>,
    /// The keys of the names that the user has installed for all projects, filled on first use.
    of_the_user: Option<BTreeSet<String>>,
    /// The registries, in the order of their numbers.
    registries: Vec<KnownRegistry>,
    /// The locked skills of registries.
    pub(crate) locked: BTreeMap<SkillId, &'p Locked>,
    /// Those of them that keep their versions if they can.
    pub(crate) kept: BTreeSet<SkillId>,
    began: Instant,
    pub(crate) warnings: Vec<Warning>,
}

impl<'p, 's> SourceProvider<'p, 's> {
    pub(crate) fn new(sources: &'p mut Sources<'s>, files: &'p Files, has_room: Option<HasRoom<'p>>) -> Self {
        Self {
            sources,
            files,
            has_room,
            of_the_user: None,
            registries: Vec::new(),
            locked: BTreeMap::new(),
            kept: BTreeSet::new(),
            began: Instant::now(),
            warnings: Vec::new(),
        }
    }

    /// Returns the registry at `origin`, however it is named. Returns `None` for a source of another kind.
    pub(crate) fn registry_at(&mut self, origin: &Origin) -> Result<Option<RegistryId>> {
        if !origin.has_versions() {
            return Ok(None);
        }
        if let Some(at) = self.registries.iter().position(|known| known.spellings.contains(origin)) {
            return Ok(Some(RegistryId(at)));
        }
        let Sources { context, scope, .. } = &*self.sources;
        let place = source::real_place(&context.settings, scope.as_root(), origin)?;
        let is_place = |known: &KnownRegistry| place.is_some() && known.place == place;
        if let Some(at) = self.registries.iter().position(is_place) {
            self.registries[at].spellings.insert(origin.clone());
            return Ok(Some(RegistryId(at)));
        }
        let (spellings, origin) = (BTreeSet::from([origin.clone()]), origin.clone());
        self.registries.push(KnownRegistry { origin, place, spellings });
        Ok(Some(RegistryId(self.registries.len() - 1)))
    }

    /// Returns the skill `id`, if it is a skill of a registry that `origin` names, under the name `name` there.
    pub(crate) fn id(&mut self, origin: &Origin, name: Option<&str>) -> Result<Option<SkillId>> {
        let Some(registry) = self.registry_at(origin)? else { return Ok(None) };
        Ok(name.and_then(|name| SkillName::new(name).ok()).map(|name| (registry, name)))
    }

    /// Returns all the ways in which `registry` was named.
    pub(crate) fn spellings(&self, registry: RegistryId) -> impl Iterator<Item = &Origin> {
        self.registries.get(registry.0).into_iter().flat_map(|known| &known.spellings)
    }

    /// Delivers `candidate` of `opened`, if the policy admits it.
    fn deliver(
        &mut self,
        spec: SourceSpec,
        opened: FetchedSource,
        candidate: Candidate,
    ) -> Result<Available<Offered>> {
        self.sources.admit(&directory_of(&spec, &candidate.path))?;
        let (opened, candidate) = match opened.fetch(&candidate)? {
            Some(delivered) => delivered,
            None => (opened, candidate),
        };
        let name = install_name(&candidate, &opened.name)?;
        let spec = SourceSpec { skill: None, ..spec };
        let skill = dependent(&name, &spec, &candidate);
        Ok(Available { skill, candidate: Offered { spec, opened, candidate } })
    }

    /// Delivers the version `version` of the skill `name` of the registry `origin`, if the policy admits it.
    pub(crate) fn release(&mut self, origin: Origin, name: &str, version: &Version) -> Result<Offered> {
        let spec = SourceSpec::new(origin);
        let opened = self.sources.open_outside(&spec)?;
        let candidate = Candidate::listed_as(name.to_owned(), version.to_string());
        Ok(self.deliver(spec, opened, candidate)?.candidate)
    }

    /// Returns the releases of the skill `id` that `shelf`, the registry `origin`, lists. A locked version that it no longer
    /// lists is reported, and stays where it may.
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
        all.push(Release { version, dependencies: needs, yanked: Some(String::new()), published: None });
        Ok(Some(Arc::new(all)))
    }

    /// Returns the skill that is locked as `name` as it is in the store.
    fn stored(&self, name: &SkillName) -> Option<Dependent> {
        let locked = self.files.lock.skills.get(name)?;
        let set = Store::new(&self.sources.context.settings).ok()?.get(&locked.digest).ok()??;
        locked_dependent(name, locked, &set).ok()?
    }

    /// Returns the skill `name` as it is in its place.
    fn in_place(&self, name: &SkillName) -> Option<Dependent> {
        let written = self.files.manifest.skills().get(name).cloned();
        let entry = written.or_else(|| self.files.lock.skills.get(name).map(Locked::requirement))?;
        let document = frontmatter(&skill_file(&self.sources.scope.skill_dir(name)).ok()??).ok()?;
        let loaded = skill::load_in(&document, Some(name.as_str())).ok()?;
        Some(Dependent::new(name.clone(), spec_of(&entry), Some(&loaded.meta)))
    }
}

/// Returns the version in which a skill of a registry is `locked`.
pub(crate) fn version_of(locked: &Locked) -> Option<Version> {
    Version::new(locked.revision.as_deref()?).ok()
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

pub(crate) fn too_hard() -> Error {
    Error::new(ErrorKind::Findings, "no versions that fit together were found in a reasonable time")
        .coded(codes::VERSIONS_CONFLICT)
        .hint("state narrower ranges in `skillpm.toml`")
}

impl Provider for SourceProvider<'_, '_> {
    type Candidate = Offered;
    type Error = Error;

    fn registry(&mut self, origin: &Origin) -> Result<Option<RegistryId>> {
        self.registry_at(origin)
    }

    fn origin(&self, registry: RegistryId) -> Origin {
        self.registries[registry.0].origin.clone()
    }

    fn releases(&mut self, registry: RegistryId, name: &SkillName) -> Result<Option<Arc<Vec<Release>>>> {
        let origin = self.origin(registry);
        let opened = self.sources.open(&SourceSpec::new(origin.clone()))?;
        let Some(shelf) = &opened.shelf else { return Ok(None) };
        self.with_locked(&(registry, name.clone()), &origin, &**shelf)
    }

    fn minimum_age(&mut self, registry: RegistryId, name: &SkillName) -> Option<ReleaseAge> {
        self.sources.minimum_age(&self.registries[registry.0].origin, name.as_str())
    }

    fn prefetch(&mut self, skills: &[SkillId]) {
        for (at, known) in self.registries.iter().enumerate() {
            let ours = skills.iter().filter(|(registry, _)| registry.0 == at);
            let names: Vec<SkillName> = ours.map(|(_, name)| name.clone()).collect();
            // An unreadable skill is reported when it is needed.
            if names.len() > 1
                && let Ok(opened) = self.sources.open(&SourceSpec::new(known.origin.clone()))
                && let Some(shelf) = &opened.shelf
            {
                let _ = shelf.prepare_releases(&names);
            }
        }
    }

    fn check(&mut self) -> Result<()> {
        if self.sources.context.reporter.is_stopped() {
            return Err(Error::new(ErrorKind::Findings, "the search for versions was stopped"));
        }
        if self.began.elapsed() > MOST_TIME { Err(too_hard()) } else { Ok(()) }
    }

    fn installed(&mut self, name: &SkillName) -> Option<Dependent> {
        let entry = self.files.manifest.skills().get(name);
        let stored = if entry.is_some_and(|entry| entry.editable) { None } else { self.stored(name) };
        stored.or_else(|| self.in_place(name))
    }

    fn named(
        &mut self,
        dependent: &Dependent,
        name: &SkillName,
        range: Option<&VersionReq>,
    ) -> Result<Offer<Offered>> {
        let whole = SourceSpec { path: None, skill: None, ..dependent.place.clone() };
        let opened = self.sources.open_for_dependent(&whole, dependent.revision.as_deref())?;
        // The dependency does not require the source to list skills at all.
        let mut listed = candidates(&opened, &whole).unwrap_or_default();
        listed.retain(|one| install_name(one, &opened.name).is_ok_and(|own| own == *name));
        let one = match (listed.pop(), listed.is_empty()) {
            (None, _) => return Ok(Offer::Not(Has::Nothing)),
            (Some(_), false) => return Ok(Offer::Not(Has::Several)),
            (Some(one), true) => one,
        };
        let version = one.meta.as_ref().ok().and_then(|meta| meta.version.clone());
        // A site does not reveal versions until a skill is fetched.
        if opened.shelf.is_some() || meets(range, version.as_deref()) {
            let available = self.deliver(whole, opened, one)?;
            if meets(range, available.skill.version.as_deref()) {
                return Ok(Offer::Fits(Box::new(available)));
            }
        }
        Ok(Offer::Not(Has::Version(version)))
    }

    fn locate(&mut self, dependent: &Dependent, spec: &SourceSpec) -> Result<SourceSpec> {
        let Sources { context, scope, registries, .. } = &*self.sources;
        let spec = outside(context, scope, &dependent.place, spec)?;
        let origin = spelled(context, scope, registries, spec.origin)?;
        Ok(SourceSpec { origin, ..spec })
    }

    fn at(&mut self, dependent: &Dependent, location: &Location<'_>) -> Result<Available<Offered>> {
        let spec = &location.spec;
        let opened = self.sources.open_for_dependent(spec, location.revision)?;
        let found = candidates(&opened, spec)?;
        let names: Vec<String> = spec.skill.iter().cloned().collect();
        if found.len() > 1 && names.is_empty() {
            return Err(Error::usage(format!(
                "`{spec}` has {} skills, but the dependency names none",
                found.len()
            ))
            .hint(format!("the author of `{}` must name one, as in `{spec}@NAME`", dependent.name)));
        }
        let chosen = select(self.sources.context, spec, &opened, found, &names, true)?;
        let [one] = &chosen[..] else {
            return Err(Error::usage(format!("`{spec}` has no skill")));
        };
        self.deliver(spec.clone(), opened, one.clone())
    }

    fn is_elsewhere(&mut self, name: &SkillName) -> bool {
        let Sources { context, scope, .. } = self.sources;
        if scope.kind == ScopeKind::User {
            return false;
        }
        let all = self.of_the_user.get_or_insert_with(|| {
            // Files that cannot be read are reported elsewhere.
            let files = Scope::new(&context.settings, ScopeKind::User).and_then(|scope| Files::read(&scope));
            files.map(|files| files.kept().iter().map(SkillName::collision_key).collect()).unwrap_or_default()
        });
        all.contains(&name.collision_key())
    }

    fn has_room_for(&mut self, name: &SkillName) -> Result<bool> {
        self.has_room.map_or(Ok(true), |has_room| has_room(name))
    }
}
