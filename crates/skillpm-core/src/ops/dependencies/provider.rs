//! Finds what sources offer for dependencies, under the policy.

use std::collections::BTreeSet;

use semver::VersionReq;

use super::installed::outside;
use crate::codes;
use crate::error::{Error, Result};
use crate::install::scope::{Scope, ScopeKind};
use crate::install::state::Files;
use crate::name::SkillName;
use crate::ops::fetcher::{Newest, Sources, dependent};
use crate::ops::install::select::{candidates, install_name, select};
use crate::ops::registries::spelled;
use crate::resolve::versions::{Release, ReleaseRules};
use crate::resolve::{Available, DependencyProvider, Dependent, Has, Location, Offer, directory_of, meets};
use crate::source::FetchedSource;
use crate::source::discover::Candidate;
use crate::spec::{Origin, Reference, SourceSpec};
use crate::version::VersionRange;

/// A skill that a source offers, as the source delivered it.
#[derive(Debug)]
pub(in crate::ops) struct Offered {
    /// The source.
    pub(in crate::ops) spec: SourceSpec,
    pub(in crate::ops) opened: FetchedSource,
    pub(in crate::ops) candidate: Candidate,
}

impl Offered {
    /// Returns the skill with its files, to be installed as `name`.
    ///
    /// # Errors
    ///
    /// Fails for files that no skill may have.
    pub(in crate::ops) fn newest(self, name: &SkillName) -> Result<Newest> {
        let own = self.candidate.meta.as_ref().ok().map(|meta| meta.name.clone());
        let own = own.filter(|own| own != name.as_str());
        Newest::new(self.spec, own, self.opened, self.candidate)
    }
}

/// A test for whether the scope has room for a skill of a given name.
pub(in crate::ops) type HasRoom<'p> = &'p dyn Fn(&SkillName) -> Result<bool>;

/// The provider that looks into sources for the resolver.
pub(super) struct SourceProvider<'p, 's> {
    sources: &'p mut Sources<'s>,
    has_room: Option<HasRoom<'p>>,
    /// The keys of the names that the user has installed for all projects, filled on first use.
    of_the_user: Option<BTreeSet<String>>,
}

impl<'p, 's> SourceProvider<'p, 's> {
    pub(super) fn new(sources: &'p mut Sources<'s>, has_room: Option<HasRoom<'p>>) -> Self {
        Self { sources, has_room, of_the_user: None }
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
}

impl SourceProvider<'_, '_> {
    /// Offers the skill `name` of the registry `origin`, in the version that was decided. If none was, which is so for a
    /// dependency of a skill from elsewhere, it is the highest in `range`.
    fn of_registry(
        &mut self,
        origin: &Origin,
        name: &SkillName,
        range: Option<&VersionReq>,
    ) -> Result<Offer<Offered>> {
        let decided = self.sources.versions.get(origin, name.as_str()).map(ToString::to_string);
        let opened = self.sources.open_outside(&SourceSpec::new(origin.clone()))?;
        let Some(shelf) = opened.shelf.clone() else { return Ok(Offer::Not(Has::Nothing)) };
        let version = if decided.is_some() {
            decided
        } else {
            let Some(releases) = shelf.releases(name)? else { return Ok(Offer::Not(Has::Nothing)) };
            let rules = ReleaseRules { range, ..self.sources.release_rules(origin, name) };
            rules.highest(releases.iter().map(Release::facts)).map(|release| release.version.to_string())
        };
        let Some(version) = version else { return Ok(Offer::Not(Has::Version(None))) };
        let candidate = Candidate::listed_as(name.to_string(), version);
        let available = self.deliver(SourceSpec::new(origin.clone()), opened, candidate)?;
        Ok(Offer::Fits(Box::new(available)))
    }
}

impl DependencyProvider for SourceProvider<'_, '_> {
    type Candidate = Offered;
    type Error = Error;

    fn named(
        &mut self,
        dependent: &Dependent,
        name: &SkillName,
        range: Option<&VersionReq>,
    ) -> Result<Offer<Offered>> {
        if dependent.place.origin.has_versions() {
            return self.of_registry(&dependent.place.origin, name, range);
        }
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
        if spec.origin.has_versions() {
            let name = spec.path.as_deref().or(spec.skill.as_deref()).unwrap_or_default();
            let range = spec.reference.as_ref().and_then(Reference::range);
            let absent = || {
                let versions = range.map_or("version that may be taken".to_owned(), |range| {
                    format!("version {range} that may be taken")
                });
                Error::usage(format!("`{}` has no {versions} of `{name}`", spec.origin.typed()))
                    .coded(codes::VERSION_MISSING)
            };
            let offer = match SkillName::new(name) {
                Ok(name) => self.of_registry(&spec.origin, &name, range.map(VersionRange::parsed))?,
                Err(_) => return Err(absent()),
            };
            return match offer {
                Offer::Fits(available) => Ok(*available),
                Offer::Not(_) => Err(absent()),
            };
        }
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
