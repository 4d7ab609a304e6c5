//! `verify`: compares every byte of every copy, and every link, with the lockfile.
//!
//! Everything is read. Cached digests are not used: a verification concerns the bytes now on disk.

mod compare;
mod outcome;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

pub(super) use self::compare::changed;
pub use self::outcome::{
    ChangedFile, FileChange, UnlockedCode, Verdict, VerifiedPlace, VerifiedSkill, VerifyOutcome,
};
use super::list::{SkillState, closed, state_of_link};
use super::update::has_conflicts;
use crate::advice::{Verb, Warning, message};
use crate::agents;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::install::directory::SkillsDir;
use crate::install::editable::Editable;
use crate::install::health::problem;
use crate::install::scope::{Scope, ScopeKind, Scopes};
use crate::install::state::{Files, OnDisk, real_dir};
use crate::install::transaction::Transaction;
use crate::lockfile::Locked;
use crate::manifest::Requirement;
use crate::name::SkillName;
use crate::settings::Settings;
use crate::store::Store;
use crate::text::closest;
use crate::workers;

/// A request to verify skills.
#[derive(Debug, Clone, Default)]
pub struct VerifyRequest {
    /// Names of skills; all if empty.
    pub names: Vec<String>,
    /// The scope; `None` means both.
    pub scope: Option<ScopeKind>,
    /// Count code that is not part of a skill, such as compiled modules, as a difference.
    pub strict: bool,
}

/// Compares installed skills with the lockfile.
///
/// # Errors
///
/// Fails for a manifest or lockfile that cannot be read, for a name that is not installed, and for a
/// directory of skills that leads out of the project. Differences are not an error: they are in the outcome.
pub fn verify(context: &Context, request: &VerifyRequest) -> Result<VerifyOutcome> {
    let mut outcome = VerifyOutcome { strict: request.strict, ..VerifyOutcome::default() };
    let mut known: BTreeSet<String> = BTreeSet::new();
    let mut scopes = Scopes::new(&context.settings, request.scope)?;
    let twins = scopes.settle_twins(&context.settings)?;
    for scope in &scopes.there {
        outcome.warnings.extend(Transaction::cut_off(scope));
        let files = Files::read(scope)?;
        let mut names = asked(&files);
        let is_meant = |name: &SkillName| {
            request.names.is_empty() || request.names.iter().any(|meant| meant == name.as_str())
        };
        if let Some(closed) = closed(scope, request.scope)? {
            known.extend(names.iter().map(ToString::to_string));
            names.retain(is_meant);
            outcome.skills.extend(names.iter().map(|name| unlooked(scope, &files, name, &closed)));
            outcome.warnings.push(closed);
            continue;
        }
        let work = Work::new(context, scope, &files, &mut outcome.warnings)?;
        // In the home directory both scopes have the same skills: those that neither requests are reported
        // once, as the user's.
        if !twins || scope.kind == ScopeKind::User {
            let strangers = work.there().filter(|name| !twins || !known.contains(name.as_str()));
            names.extend(strangers);
        }
        known.extend(names.iter().map(ToString::to_string));
        names.retain(is_meant);
        let names: Vec<_> = names.into_iter().collect();
        outcome.skills.extend(workers::map(&names, workers::PIECE, || (), |(), name| work.skill(name)));
    }
    match request.names.iter().find(|name| !known.contains(*name)) {
        None => Ok(outcome),
        Some(name) => {
            let error = Error::usage(format!("`{name}` is not installed"));
            Err(match closest(name, known.iter().map(String::as_str)) {
                Some(close) => error.hint(format!("did you mean `{close}`?")),
                None => error.hint(message!(Verb::List, " shows what is installed, and where")),
            })
        }
    }
}

/// Returns the skills that are locked or editable.
fn asked(files: &Files) -> BTreeSet<SkillName> {
    let editable = files.manifest.skills().iter().filter(|(_, entry)| entry.editable);
    files.lock.skills.keys().chain(editable.map(|(name, _)| name)).cloned().collect()
}

/// Returns the result for the skill `name` of a scope whose skills are not examined, because of `closed`.
fn unlooked(scope: &Scope, files: &Files, name: &SkillName, closed: &Warning) -> VerifiedSkill {
    let place =
        VerifiedPlace::new(None, &scope.skill_dir(name), Verdict::Unreadable).because(closed.to_string());
    VerifiedSkill {
        name: name.to_string(),
        scope: scope.kind,
        verdict: Verdict::Unreadable,
        digest: files.lock.skills.get(name).map(|locked| locked.digest.to_string()),
        places: vec![place],
        source_gone: false,
    }
}

/// The verification of one scope.
struct Work<'a> {
    settings: &'a Settings,
    scope: &'a Scope,
    files: &'a Files,
    store: Option<Store>,
    canonical: SkillsDir,
    disabled: SkillsDir,
    /// The directories of the agents that the lockfile names, or why one is not examined.
    agents: BTreeMap<&'static str, (PathBuf, Result<SkillsDir, String>)>,
}

impl<'a> Work<'a> {
    fn new(
        context: &'a Context,
        scope: &'a Scope,
        files: &'a Files,
        warnings: &mut Vec<Warning>,
    ) -> Result<Self> {
        let skills = real_dir(&scope.skills_dir())?;
        let mut agents = BTreeMap::new();
        let named: BTreeSet<&String> = files.lock.skills.values().flat_map(|locked| &locked.agents).collect();
        for id in named {
            let Ok(agent) = agents::find(id) else {
                let told = format!(
                    "{}: there is no agent `{id}`, so its links are not verified",
                    scope.lockfile.display()
                );
                warnings.push(Warning::new(problem::AGENT_UNKNOWN.id, told));
                continue;
            };
            let Some(dir) = scope.agent_dir(&context.settings, agent) else { continue };
            let open = || -> Result<SkillsDir> {
                scope.check_inside(&dir)?;
                Ok(SkillsDir::open(&dir, &skills)?)
            };
            match open() {
                // The agent reads the canonical copy.
                Ok(opened) if opened.real() == skills => {}
                opened => {
                    let opened = opened.map_err(|error| error.with_causes().to_string());
                    agents.insert(agent.id, (dir, opened));
                }
            }
        }
        Ok(Self {
            settings: &context.settings,
            scope,
            files,
            store: Store::new(&context.settings).ok(),
            canonical: SkillsDir::open(&scope.skills_dir(), &skills)?,
            disabled: SkillsDir::open(&scope.disabled_dir(), &skills)?,
            agents,
        })
    }

    /// Returns the installed skills.
    fn there(&self) -> impl Iterator<Item = SkillName> {
        let is_there = |dir: &SkillsDir, name: &SkillName| {
            !matches!(dir.look(name, |_| None), Ok(OnDisk::Other | OnDisk::Written | OnDisk::Absent))
        };
        let there = self.canonical.names().filter(move |name| is_there(&self.canonical, name));
        there.chain(self.disabled.names().filter(move |name| is_there(&self.disabled, name)))
    }

    fn skill(&self, name: &SkillName) -> VerifiedSkill {
        let locked = self.files.lock.skills.get(name);
        let editable = self.files.manifest.skills().get(name).filter(|entry| entry.editable);
        let places = match (editable, locked) {
            (Some(entry), _) => vec![self.link(name, entry)],
            (None, Some(locked)) => self.places(name, locked),
            (None, None) => {
                let is_there = |dir: &&SkillsDir| dir.kind(name).is_ok_and(|kind| kind.is_some());
                let dirs = [&self.canonical, &self.disabled].into_iter().filter(is_there);
                dirs.map(|dir| VerifiedPlace::new(None, &dir.place(name), Verdict::Untracked)).collect()
            }
        };
        let failure = places.iter().map(|place| place.verdict).find(|verdict| verdict.is_failure());
        let verdict = failure.unwrap_or(match (editable, locked) {
            (Some(_), _) => Verdict::Editable,
            (None, Some(_)) => Verdict::Ok,
            (None, None) => Verdict::Untracked,
        });
        let digest = locked.map(|locked| locked.digest.to_string());
        let source = editable.and_then(|entry| Editable::of(self.settings, self.scope, entry).ok().flatten());
        let source_gone = source.is_some_and(|editable| !editable.is_there());
        let (name, scope) = (name.to_string(), self.scope.kind);
        VerifiedSkill { name, scope, verdict, digest, places, source_gone }
    }

    /// Checks the link to the directory of an editable skill against the manifest.
    fn link(&self, name: &SkillName, entry: &Requirement) -> VerifiedPlace {
        let new = |verdict| VerifiedPlace::new(None, &self.canonical.place(name), verdict);
        let look = || -> Result<_> {
            Ok((Editable::of(self.settings, self.scope, entry)?, self.canonical.look(name, |_| None)?))
        };
        let (editable, found) = match look() {
            Ok((Some(editable), found)) => (editable, found),
            // An archive or a repository, which cannot be editable: the manifest would not have been read.
            Ok((None, _)) => return new(Verdict::Editable),
            Err(error) => return new(Verdict::Unreadable).because(error.with_causes().to_string()),
        };
        let out_of_sight = entry.disabled && found == OnDisk::Absent;
        match (state_of_link(&editable, &found, out_of_sight), found) {
            (SkillState::Editable, _) => new(Verdict::Editable),
            (SkillState::Missing, OnDisk::Absent) if !out_of_sight => new(Verdict::Missing),
            (SkillState::Missing, _) => {
                new(Verdict::Missing).because(format!("`{}` does not exist", editable.directory.display()))
            }
            (_, OnDisk::OtherLink(target)) => {
                VerifiedPlace { target: Some(target.display().to_string()), ..new(Verdict::Elsewhere) }
            }
            _ => new(Verdict::Modified)
                .because(format!("it is not a link to `{}`", editable.directory.display())),
        }
    }

    /// Returns the results for the places of a locked skill.
    fn places(&self, name: &SkillName, locked: &Locked) -> Vec<VerifiedPlace> {
        let disabled = self.files.manifest.skills().get(name).is_some_and(|entry| entry.disabled);
        // It may be in the wrong place: that is for `doctor`, but its bytes are compared.
        let homes =
            if disabled { [&self.disabled, &self.canonical] } else { [&self.canonical, &self.disabled] };
        let mut places: Vec<_> =
            homes.iter().filter_map(|dir| self.place(dir, None, name, locked, false)).collect();
        if places.is_empty() {
            places.push(VerifiedPlace::new(None, &homes[0].place(name), Verdict::Missing));
        }
        let mut seen = BTreeSet::new();
        for id in &locked.agents {
            let Ok(agent) = agents::find(id) else { continue };
            match self.agents.get(agent.id) {
                // Agents do not see a disabled skill. If agents share a directory, one of them is enough.
                Some((_, Ok(dir))) if seen.insert(dir.real()) => {
                    places.extend(self.place(dir, Some(agent.id), name, locked, !disabled));
                }
                Some((dir, Err(reason))) => {
                    let place =
                        VerifiedPlace::new(Some(agent.id), &dir.join(name.as_str()), Verdict::Unreadable);
                    places.push(place.because(reason));
                }
                Some((_, Ok(_))) | None => {}
            }
        }
        places
    }

    /// Compares the tree at `path`, the path of `place`.
    fn tree(&self, place: VerifiedPlace, path: &Path, name: &SkillName, locked: &Locked) -> VerifiedPlace {
        let trees = self.scope.index.trees();
        let place = compare::tree(place, path, &locked.digest, trees, self.store.as_ref());
        // An agent's copy is a copy of the tree in conflict.
        let home = self.canonical.place(name);
        let is_conflict = || has_conflicts(self.scope, name, locked, &home).unwrap_or(false);
        if place.verdict == Verdict::Modified && is_conflict() {
            return VerifiedPlace { verdict: Verdict::Conflict, ..place };
        }
        place
    }

    /// Returns the result for a place in `dir`. An empty place is only reported if it is `required`.
    fn place(
        &self,
        dir: &SkillsDir,
        agent: Option<&'static str>,
        name: &SkillName,
        locked: &Locked,
        required: bool,
    ) -> Option<VerifiedPlace> {
        let path = dir.place(name);
        let new = |verdict| VerifiedPlace::new(agent, &path, verdict);
        Some(match dir.look(name, |_| None) {
            Err(error) => new(Verdict::Unreadable).because(Error::from(error).with_causes().to_string()),
            Ok(OnDisk::Absent) if required => new(Verdict::Missing),
            Ok(OnDisk::Absent) => return None,
            Ok(OnDisk::Tree(_)) => self.tree(new(Verdict::Ok), &path, name, locked),
            Ok(OnDisk::OurLink) if agent.is_some() => new(Verdict::Ok),
            Ok(OnDisk::OurLink | OnDisk::Loop) => new(Verdict::Elsewhere).because("it is a link to itself"),
            Ok(OnDisk::OtherLink(target)) => {
                VerifiedPlace { target: Some(target.display().to_string()), ..new(Verdict::Elsewhere) }
            }
            Ok(OnDisk::Written) => {
                new(Verdict::Elsewhere).because("it is a file that says where the link should lead")
            }
            Ok(OnDisk::Other) => new(Verdict::Modified).because("it is not a directory"),
        })
    }
}
