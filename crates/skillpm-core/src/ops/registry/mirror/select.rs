//! Which skills and versions are mirrored.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::{Error, Result};
use crate::name::SkillName;
use crate::registry::{NameList, files, no_skill, registry_name};
use crate::requirement::Requirement;
use crate::scope::Scope;
use crate::scope::state::read_lock;
use crate::source::registry::RegistryReader;
use crate::spec::Registry;
use crate::version::Version;
use crate::workers;

/// The number of requests in progress at once.
pub(super) const CONNECTIONS: usize = 8;

/// The skills to mirror.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// All versions of all skills.
    All,
    /// All versions of skills, and unless `alone` of the skills that these need.
    Names {
        /// The names of the skills.
        names: Vec<String>,
        /// Whether what they need is left out.
        alone: bool,
    },
    /// The versions in the project's lockfile that come from the registry.
    Locked,
}

/// The skills that are mirrored, each with the keys of its versions, or `None` for all of them.
pub(super) type Wanted = BTreeMap<SkillName, Option<BTreeSet<String>>>;

/// Returns the skills that `selection` means, and the names of skills that they need and that the registry does not
/// have. `there` are the names that the mirror already has.
pub(super) fn select(
    reader: &RegistryReader,
    registry: &Registry,
    scope: &Scope,
    selection: &Selection,
    there: Vec<SkillName>,
) -> Result<(Wanted, Vec<SkillName>)> {
    match selection {
        // A skill whose versions are all yanked is not among the names, but what is mirrored of it follows.
        Selection::All => {
            let names = reader.names()?.into_iter().chain(there);
            Ok((names.map(|name| (name, None)).collect(), Vec::new()))
        }
        Selection::Names { names, alone } => {
            let names = names.iter().map(|name| known(reader, name)).collect::<Result<Vec<_>>>()?;
            if *alone {
                return Ok((names.into_iter().map(|name| (name, None)).collect(), Vec::new()));
            }
            let (names, elsewhere) = with_dependencies(reader, names)?;
            Ok((names.into_iter().map(|name| (name, None)).collect(), elsewhere))
        }
        Selection::Locked => Ok((locked(registry, scope)?, Vec::new())),
    }
}

/// Returns the name `text`, which the registry must have.
fn known(reader: &RegistryReader, text: &str) -> Result<SkillName> {
    let name = registry_name(text).map_err(|error| Error::usage(error.to_string()))?;
    match reader.list(&name)? {
        Some(_) => Ok(name),
        None => Err(no_skill(&name, &reader.names()?)),
    }
}

/// Returns `names` and all that any of their versions needs; names that the registry does not have are returned
/// separately.
fn with_dependencies(
    reader: &RegistryReader,
    names: Vec<SkillName>,
) -> Result<(BTreeSet<SkillName>, Vec<SkillName>)> {
    let (mut found, mut elsewhere) = (BTreeSet::new(), BTreeSet::new());
    let mut next: BTreeSet<SkillName> = names.into_iter().collect();
    while !next.is_empty() {
        let names: Vec<_> = std::mem::take(&mut next).into_iter().collect();
        workers::wait_for(&names, CONNECTIONS, |name| reader.list(name).map(drop))?;
        for name in names {
            let Some(list) = reader.list(&name)? else {
                elsewhere.insert(name);
                continue;
            };
            next.extend(needs(&list));
            found.insert(name);
        }
        next.retain(|name| !found.contains(name) && !elsewhere.contains(name));
    }
    Ok((found, elsewhere.into_iter().collect()))
}

/// Returns the names of the skills that any of the listed versions needs by name: only such ones can come from a
/// registry.
fn needs(list: &NameList) -> BTreeSet<SkillName> {
    let texts = list.versions.iter().flat_map(|listed| &listed.dependencies);
    let name = |text: &String| match text.parse() {
        Ok(Requirement::Named { name, .. }) => registry_name(name.as_str()).ok(),
        _ => None,
    };
    texts.filter_map(name).collect()
}

/// Returns the versions in the lockfile of `scope` that come from `registry`.
fn locked(registry: &Registry, scope: &Scope) -> Result<Wanted> {
    let mut wanted = Wanted::new();
    for locked in read_lock(scope)?.skills.values() {
        if !Registry::try_from(locked.origin.clone()).is_ok_and(|from| from == *registry) {
            continue;
        }
        let (Some(path), Some(revision)) = (&locked.path, &locked.revision) else { continue };
        let damaged =
            |reason: String| Error::config(format!("the lockfile names `{path}` {revision}: {reason}"));
        let name = registry_name(path).map_err(|error| damaged(error.to_string()))?;
        let version = Version::new(revision).map_err(|error| damaged(error.to_string()))?;
        if let Some(keys) = wanted.entry(name).or_insert_with(|| Some(BTreeSet::new())) {
            keys.insert(files::version_key(&version));
        }
    }
    if wanted.is_empty() {
        let lockfile = scope.lockfile.display();
        return Err(Error::usage(format!("`{lockfile}` has no skill from this registry"))
            .hint("name the registry as `[registries]` or the entry in `skillpm.toml` does"));
    }
    Ok(wanted)
}
