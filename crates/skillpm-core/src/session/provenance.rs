//! The provenance of an installed skill: what is locked of it, and whether its bytes still match.
//!
//! Every byte is read. Cached digests are not used: before running something, the bytes now on disk matter.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use crate::agents;
use crate::context::Context;
use crate::digest::Digest;
use crate::engine::Skill;
use crate::error::{Error, Result};
use crate::fs;
use crate::lockfile::{Locked, Lockfile};
use crate::name::SkillName;
use crate::refusal::Limits;
use crate::scope::Scope;
use crate::scope::differences::{ChangedFile, changed};
use crate::scope::state::{read_lock, real_dir};
use crate::scope::trees::Trees;
use crate::scope_kind::ScopeKind;
use crate::settings::Settings;
use crate::spec::Origin;
use crate::store::Store;
use crate::tree::{FileSet, ReadError};

/// A skill with its files, and their provenance.
///
/// [`Checked::digest`] is that of [`Checked::files`]. Large skills are not held in memory: code that writes
/// the files somewhere compares the result of [`fs::materialize`] with the digest, and runs nothing if they
/// differ.
#[derive(Debug, Clone)]
pub struct Checked {
    /// The provenance.
    pub provenance: Provenance,
    /// All files of the installed skill.
    pub files: FileSet,
    /// The digest of exactly these files.
    pub digest: Digest,
    /// The directory of the requested skill in [`Checked::files`], `/`-separated; empty unless it is inside
    /// another installed skill.
    pub below: String,
}

/// The provenance of an installed skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Provenance {
    /// A lockfile in force records what it should be.
    Locked(Box<LockedSkill>),
    /// No lockfile in force knows it.
    Unlocked(UnlockedSkill),
}

/// A skill that a lockfile knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockedSkill {
    /// The name under which it is installed.
    pub name: SkillName,
    /// The scope.
    pub scope: ScopeKind,
    /// The root of its project, if that is not the nearest one but one around it.
    pub outer: Option<PathBuf>,
    /// The path that was examined, with links resolved.
    pub place: PathBuf,
    /// The lock entry.
    pub locked: Locked,
    /// How it differs; `None` if every byte is as locked.
    pub modified: Option<Modified>,
    /// Whether the user's store has the locked tree: then skillpm fetched it, or checked it against its
    /// source. A lockfile alone proves nothing, since anyone who can write the skill can write the lockfile
    /// too.
    pub fetched: bool,
}

/// The difference between a skill and what is locked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Modified {
    /// The digest that was found.
    pub found: Digest,
    /// The files that differ; `None` if the store has nothing to compare them with.
    pub files: Option<Vec<ChangedFile>>,
    /// Whether only line endings differ.
    #[serde(skip)]
    pub line_ends: bool,
}

/// A skill that no lockfile knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnlockedSkill {
    /// Its directory, with links resolved.
    pub path: PathBuf,
    /// Its directory as a source, for patterns.
    pub origin: Origin,
}

impl Provenance {
    /// Returns the source for display: that of the lockfile, or the directory.
    pub fn source(&self) -> String {
        match self {
            Self::Locked(skill) => source(&skill.locked.origin, skill.locked.path.as_deref()),
            Self::Unlocked(skill) => skill.origin.to_string(),
        }
    }
}

/// A scope and what is locked in it.
#[derive(Debug)]
pub(super) struct InForce {
    pub(super) scope: Scope,
    pub(super) lock: Lockfile,
}

/// Returns the scopes whose files are in force: the project's, those of the projects around it, then the
/// user's. In the home directory itself there are both.
pub(super) fn scopes_in_force(settings: &Settings) -> Result<Vec<Scope>> {
    let project = Scope::new(settings, ScopeKind::Project)?;
    let outer = project.outer(settings)?;
    let mut scopes = vec![project];
    scopes.extend(outer);
    // Without a home directory there is no user scope.
    if settings.home.is_some() {
        scopes.push(Scope::new(settings, ScopeKind::User)?);
    }
    Ok(scopes)
}

/// Reads the lockfile of each of `scopes`. A project around the nearest one whose lockfile cannot be read
/// vouches for nothing.
pub(super) fn in_force(scopes: &[Scope]) -> Result<Vec<InForce>> {
    let read = |(at, scope): (usize, &Scope)| {
        let is_outer = at > 0 && scope.kind == ScopeKind::Project;
        let lock =
            read_lock(scope).or_else(|error| if is_outer { Ok(Lockfile::default()) } else { Err(error) });
        Ok(InForce { scope: scope.clone(), lock: lock? })
    };
    scopes.iter().enumerate().map(read).collect()
}

/// Returns the provenance of `skill` over all scopes in force. It may be a copy, a link, disabled, or inside
/// an installed skill. If two scopes know one place, the one whose lockfile it matches counts.
///
/// # Errors
///
/// Fails for a lockfile that cannot be read, and for a skill that is gone, cannot be read, or has files that
/// no skill may have.
pub fn provenance(context: &Context, skill: &Skill) -> Result<Checked> {
    of_place(&context.settings, &in_force(&scopes_in_force(&context.settings)?)?, &skill.real)
}

/// Where installed skills come from, as the lockfiles in force say. No file of a skill is read.
#[derive(Debug)]
pub struct Origins {
    settings: Settings,
    scopes: Vec<InForce>,
}

/// Where an installed skill comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockedOrigin {
    /// The source, for display.
    pub source: String,
    /// The version as the skill writes it.
    pub version: Option<String>,
    /// The digest of all its files when it was locked.
    pub digest: Digest,
}

impl Origins {
    /// Reads the lockfiles.
    ///
    /// # Errors
    ///
    /// Fails for one that cannot be read.
    pub fn read(context: &Context) -> Result<Self> {
        let settings = context.settings.clone();
        Ok(Self { scopes: in_force(&scopes_in_force(&settings)?)?, settings })
    }

    /// Returns where `skill` comes from; `None` if no lockfile knows it.
    pub fn of(&self, skill: &Skill) -> Option<LockedOrigin> {
        let claim = self.scopes.iter().find_map(|scope| claim(&self.settings, scope, &skill.real))?;
        let Locked { origin, path, version, digest, .. } = claim.locked;
        Some(LockedOrigin {
            source: source(origin, path.as_deref()),
            version: version.clone(),
            digest: *digest,
        })
    }
}

/// Returns the source of a skill at `path` below `origin`, for display.
fn source(origin: &Origin, path: Option<&str>) -> String {
    path.map_or_else(|| origin.to_string(), |path| format!("{origin}/{path}"))
}

/// Works like [`provenance`], for the directory `real`, with lockfiles that were read before.
pub(super) fn of_place(settings: &Settings, scopes: &[InForce], real: &Path) -> Result<Checked> {
    let claims: Vec<_> = scopes.iter().filter_map(|scope| claim(settings, scope, real)).collect();
    // A directory inside an installed skill is a part of it, whoever put it there.
    let (root, below) = match claims.first() {
        Some(claim) => (claim.place.clone(), claim.below.clone()),
        None => (real.to_owned(), String::new()),
    };
    let trees = claims.first().map(|claim| claim.trees);
    let (files, digest) = read(&root, trees).map_err(|error| unreadable(&root, error))?;
    let same_place = |claim: &&Claim| claim.place == root;
    let exact = claims.iter().filter(same_place).find(|claim| claim.locked.digest == digest);
    let provenance = if let Some(claim) = exact.or(claims.first()) {
        let (locked, store) = (claim.locked.clone(), Store::new(settings).ok());
        let modified = exact.is_none().then(|| Modified {
            found: digest,
            files: changed(&files, &locked.digest, store.as_ref()),
            line_ends: claim.trees.has_other_line_ends(&files, &locked.digest),
        });
        let fetched = store.is_some_and(|store| store.has(&locked.digest));
        let (name, scope) = (claim.name.clone(), claim.scope.kind);
        let is_nearest = scopes.first().is_some_and(|nearest| nearest.scope.root == claim.scope.root);
        let outer = (scope == ScopeKind::Project && !is_nearest).then(|| claim.scope.root.clone());
        let place = root;
        Provenance::Locked(Box::new(LockedSkill { name, scope, outer, place, locked, modified, fetched }))
    } else {
        let origin = Origin::local(root.display().to_string());
        Provenance::Unlocked(UnlockedSkill { path: root, origin })
    };
    Ok(Checked { provenance, files, digest, below })
}

/// A lockfile's claim to a place.
struct Claim<'a> {
    name: SkillName,
    scope: &'a Scope,
    place: PathBuf,
    below: String,
    locked: &'a Locked,
    trees: &'a Trees,
}

/// Returns the claim of a scope's lockfile to the directory `real`, which is a place of one of its skills or
/// inside one.
fn claim<'a>(settings: &Settings, InForce { scope, lock }: &'a InForce, real: &Path) -> Option<Claim<'a>> {
    if lock.skills.is_empty() {
        return None;
    }
    // Thousands of skills name the same few agents, and usually these are not needed.
    let named = || lock.skills.values().flat_map(|locked| &locked.agents).collect::<BTreeSet<_>>();
    let agents = std::iter::once_with(named).flatten().filter_map(|id| agents::find(id).ok());
    let of_agents = agents.filter_map(|agent| Some((Some(agent.id), scope.agent_dir(settings, agent)?)));
    let dirs = [(None, scope.skills_dir()), (None, scope.disabled_dir())].into_iter().chain(of_agents);
    for (agent, dir) in dirs {
        // A directory that leads out of the project does not belong to this scope.
        if scope.check_inside(&dir).is_err() {
            continue;
        }
        let Some(rest) = real_dir(&dir).ok().and_then(|dir| real.strip_prefix(dir).ok().map(Path::to_owned))
        else {
            continue;
        };
        let mut parts = rest.components().map(|part| match part {
            Component::Normal(part) => part.to_str(),
            _ => None,
        });
        let Some(name) = parts.next().flatten().and_then(|first| SkillName::new(first).ok()) else {
            continue;
        };
        let Some((name, locked)) = lock.skills.get_key_value(&name) else { continue };
        if agent.is_some_and(|id| !locked.agents.contains(id)) {
            continue;
        }
        let Some(below) = parts.collect::<Option<Vec<_>>>() else { continue };
        let place = real.ancestors().nth(below.len()).unwrap_or(real).to_owned();
        let (name, below) = (name.clone(), below.join("/"));
        return Some(Claim { name, scope, place, below, locked, trees: scope.index.trees() });
    }
    None
}

/// Returns the files at `path` and their digest. If `trees` know what is locked, leaves out leftovers of
/// tools. Small files stay in memory: what runs is what was checked.
fn read(path: &Path, trees: Option<&Trees>) -> Result<(FileSet, Digest), ReadError> {
    let set = match trees {
        Some(trees) => trees.files(path)?,
        None => fs::tree_of(path)?.skill("", &Limits::default())?,
    };
    match set.hold()? {
        Some(held) => Ok((held.set().clone(), held.digest())),
        None => Ok((set.clone(), set.digest()?)),
    }
}

fn unreadable(path: &Path, error: ReadError) -> Error {
    Error::from(error).context(format!("the skill in `{}` cannot be run", path.display()))
}
