//! States the problem of a search: what is asked for, and what is installed.

use std::collections::BTreeSet;

use super::provider::{HasRoom, SourceProvider, version_of};
use crate::error::Result;
use crate::lockfile::Locked;
use crate::manifest::Requirement;
use crate::name::SkillName;
use crate::resolve::graph::dependents;
use crate::resolve::{
    Dependent, Installed, OnUnresolved, Problem, Reach, RootRequirement, Settled, WantedBy,
};
use crate::scope::state::Files;
use crate::spec::{Origin, Reference, SourceSpec};
use crate::version::VersionRange;

/// A skill that the user wants from a registry.
#[derive(Debug, Clone)]
pub(crate) struct VersionRequest {
    /// The registry.
    pub(crate) origin: Origin,
    /// The name of the skill in it.
    pub(crate) name: SkillName,
    /// The name under which it is to be installed.
    pub(crate) key: SkillName,
    /// The accepted versions; `None` accepts all but pre-releases.
    pub(crate) range: Option<VersionRange>,
    /// Whether the range of the manifest holds as well.
    pub(crate) within: bool,
}

/// How versions are decided.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Deciding<'a> {
    /// The locked skills whose versions need not stay, by the names of their lock entries. The others stay if they can.
    pub(crate) free: Option<&'a BTreeSet<SkillName>>,
    /// Whether the lowest versions are taken instead of the highest.
    pub(crate) minimal: bool,
    /// Whether what skills need is left out.
    pub(crate) alone: bool,
}

/// The request of a search.
#[derive(Default)]
pub(crate) struct Asked<'a> {
    /// The skills of registries that the user wants, besides those in the manifest.
    pub(crate) requests: &'a [VersionRequest],
    /// The skills from elsewhere that come, and the skills of registries that were taken in the decided versions.
    pub(crate) incoming: Vec<Dependent>,
    /// Whether the user requests what comes, and the verb takes in what is requested. Otherwise the parties that require
    /// it stay the same.
    pub(crate) by_user: bool,
    /// The skills of registries in the files whose dependencies are unknown.
    pub(crate) fresh: BTreeSet<SkillName>,
    pub(crate) how: Deciding<'a>,
    /// Whether sources other than registries stay closed.
    pub(crate) closed: bool,
    /// Reports whether there is room for a skill of a name; without it there is.
    pub(crate) has_room: Option<HasRoom<'a>>,
    pub(crate) on_unresolved: OnUnresolved,
}

/// Returns the problem of finding what is `asked` for in a scope with the manifest and lockfile `files`.
pub(crate) fn problem<'f>(
    provider: &mut SourceProvider<'f, '_>,
    files: &'f Files,
    asked: &Asked<'_>,
) -> Result<Problem> {
    let Deciding { free, minimal, alone } = asked.how;
    let mut fresh = asked.fresh.clone();
    let mut coming = Vec::new();
    let is_asked = |name: &SkillName| files.manifest.asks_for(name) || files.manifest_text.is_none();
    let kept = files.kept();
    let comes = |name: &SkillName| asked.incoming.iter().any(|one| one.name == *name);
    let stays_for = |name: &SkillName| {
        let mut staying = files.lock.skills.iter().filter(|(by, _)| kept.contains(*by) && !comes(by));
        staying.any(|(_, locked)| locked.dependencies.iter().any(|needed| needed == name.as_str()))
    };
    let following = following(files, &asked.incoming);
    for skill in asked.incoming.iter().filter(|skill| !following.contains(&skill.name)) {
        if provider.registry_at(&skill.place.origin)?.is_some() {
            fresh.insert(skill.name.clone());
        } else {
            let by = match asked.by_user || is_asked(&skill.name) {
                true => WantedBy::User,
                false if stays_for(&skill.name) => WantedBy::Staying,
                false => WantedBy::Coming,
            };
            coming.push((skill.clone(), by));
        }
    }
    let mut problem = Problem {
        coming,
        minimal,
        alone,
        reach: match asked.closed {
            true => Reach::Registries,
            false if asked.requests.is_empty() && fresh.is_empty() && free.is_none_or(BTreeSet::is_empty) => {
                Reach::Lazy
            }
            false => Reach::Everything,
        },
        on_unresolved: asked.on_unresolved,
        ..Problem::default()
    };
    let limits = files.manifest.overrides().iter();
    problem.overrides = limits.map(|(name, range)| (name.clone(), range.parsed().clone())).collect();
    for request in asked.requests {
        require(provider, &mut problem, request)?;
    }
    let anew = asked.requests.iter().filter(|request| !request.within);
    let requested: BTreeSet<&SkillName> = anew.map(|request| &request.key).collect();
    add_manifest(provider, &mut problem, files, &requested)?;
    add_locked(provider, &mut problem, files, asked, (&requested, &fresh))?;
    add_installed(provider, &mut problem, files, (&requested, &following))?;
    Ok(problem)
}

fn require(
    provider: &mut SourceProvider<'_, '_>,
    problem: &mut Problem,
    request: &VersionRequest,
) -> Result<()> {
    let VersionRequest { origin, name, key, range, .. } = request;
    let Some(registry) = provider.registry_at(origin)? else { return Ok(()) };
    let text = range.as_ref().map_or_else(|| name.to_string(), |range| format!("{name}@{range}"));
    let range = range.as_ref().map(|range| range.parsed().clone());
    problem.roots.push(RootRequirement { registry, name: name.clone(), key: key.clone(), range, text });
    Ok(())
}

/// Adds the skills of registries that the manifest requests, unless they are requested anew.
fn add_manifest(
    provider: &mut SourceProvider<'_, '_>,
    problem: &mut Problem,
    files: &Files,
    requested: &BTreeSet<&SkillName>,
) -> Result<()> {
    for (key, entry) in files.manifest.skills().iter().filter(|(key, _)| !requested.contains(key)) {
        if let Some(name) = entry.path.as_deref().and_then(|name| SkillName::new(name).ok()) {
            let range = entry.reference.as_ref().and_then(Reference::range).cloned();
            let (origin, key) = (entry.origin.clone(), key.clone());
            require(provider, problem, &VersionRequest { origin, name, key, range, within: true })?;
        }
    }
    Ok(())
}

/// Adds the locked skills of registries: which versions are preferred, and what they need as they are.
fn add_locked<'f>(
    provider: &mut SourceProvider<'f, '_>,
    problem: &mut Problem,
    files: &'f Files,
    asked: &Asked<'_>,
    (requested, fresh): (&BTreeSet<&SkillName>, &BTreeSet<SkillName>),
) -> Result<()> {
    let kept = files.kept();
    for (key, locked) in &files.lock.skills {
        let is_free = asked.how.free.is_some_and(|free| free.contains(key));
        let Some(id) = provider.id(&locked.origin, locked.path.as_deref())? else { continue };
        let Some(version) = version_of(locked) else { continue };
        provider.locked.insert(id.clone(), locked);
        if is_free {
            problem.last.insert(id.clone(), version.clone());
        }
        if requested.contains(key) {
            continue;
        }
        if kept.contains(key) {
            if id.1 == *key {
                problem.known.insert(id.clone());
            }
            if !fresh.contains(key) {
                let settled = Settled { version: version.clone(), dependencies: names(&locked.dependencies) };
                problem.settled.insert(id.clone(), settled);
            }
        }
        if !is_free {
            problem.locked.insert(id, version);
        }
    }
    provider.kept = problem.locked.keys().cloned().collect();
    Ok(())
}

/// Adds what is installed from elsewhere than a registry, or under another name than the registry's.
fn add_installed(
    provider: &mut SourceProvider<'_, '_>,
    problem: &mut Problem,
    files: &Files,
    (requested, following): (&BTreeSet<&SkillName>, &BTreeSet<SkillName>),
) -> Result<()> {
    let kept = files.kept();
    for name in kept.iter().filter(|name| !requested.contains(name)) {
        let Some(Requirement { origin, path, reference, editable, .. }) = files.entry(name, &kept) else {
            continue;
        };
        let locked = files.lock.skills.get(name);
        let path = locked.map_or(path, |locked| locked.path.clone());
        let id = provider.id(&origin, path.as_deref())?;
        if id.as_ref().is_some_and(|(_, own)| own == name) {
            continue;
        }
        let dependencies = names(locked.map(|locked| &locked.dependencies[..]).unwrap_or_default());
        let of_registry = |name: &SkillName| {
            let is_known = |known: &(_, SkillName)| known.1 == *name;
            problem.known.iter().any(is_known) || problem.roots.iter().any(|root| root.key == *name)
        };
        let limits = id.is_none() && (editable || dependencies.iter().any(of_registry));
        problem.installed.push(Installed {
            name: name.clone(),
            place: SourceSpec { origin, path, reference, skill: None },
            version: locked.and_then(|locked: &Locked| locked.version.clone()),
            by_user: files.manifest.asks_for(name) || files.manifest_text.is_none(),
            dependencies: if editable { Vec::new() } else { dependencies },
            limits,
            follows: following.contains(name),
        });
    }
    Ok(())
}

/// Returns the locked skills that only skills need that come from another reference of their source now.
fn following(files: &Files, incoming: &[Dependent]) -> BTreeSet<SkillName> {
    let lock = &files.lock.skills;
    let coming = |name: &SkillName| incoming.iter().find(|skill| skill.name == *name);
    let has_moved = |skill: &Dependent, old: &Locked| {
        let now = skill.place.reference.as_ref().map(ToString::to_string);
        skill.place.origin == old.origin && now != old.requested
    };
    let moved = incoming.iter().filter_map(|skill| lock.get(&skill.name).filter(|old| has_moved(skill, old)));
    let moved: BTreeSet<_> = moved.map(|old| (&old.origin, &old.requested)).collect();
    let can_follow = |(name, locked): &(&SkillName, &Locked)| {
        let is_requested = files.manifest_text.is_none() || files.manifest.asks_for(name);
        let comes_itself = coming(name).is_some_and(|skill| has_moved(skill, locked));
        moved.contains(&(&locked.origin, &locked.requested)) && !is_requested && !comes_itself
    };
    let mut following: BTreeSet<_> = lock.iter().filter(can_follow).map(|(name, _)| name.clone()).collect();
    let dependents = dependents(lock);
    loop {
        let stays = |name: &&SkillName| {
            let mut by = dependents.get(*name).into_iter().flatten();
            by.any(|by| coming(by).is_none() && !following.contains(by))
        };
        let Some(name) = following.iter().find(stays).cloned() else { return following };
        following.remove(&name);
    }
}

fn names(texts: &[String]) -> Vec<SkillName> {
    texts.iter().filter_map(|text| SkillName::new(text).ok()).collect()
}
