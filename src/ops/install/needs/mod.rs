//! The skills that skills need (`metadata.skill-dependencies`): found where they are already, or to be brought.
//!
//! What is installed wins over what is declared, and what the manifest or the command asks for wins over all:
//! whoever wants another skill of a name than the one that is declared installs that. A name without a source
//! means a skill of the same source, as nothing else says where it lies.

mod bring;
mod find;
mod place;
mod values;

use std::collections::{BTreeMap, BTreeSet};

pub(in crate::ops) use self::bring::unneeded;
pub(in crate::ops::install) use self::bring::{bring, keep};
pub(in crate::ops) use self::place::Installed;
pub(in crate::ops) use self::values::{Needer, Pick};

use self::values::{Hold, There};

use super::restore::Worker;
use crate::advice::{Opt, Warning, message};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::install::plan::{Wanted, requirement_of};
use crate::install::scope::{Scope, ScopeKind};
use crate::install::state::Files;
use crate::lockfile::Locked;
use crate::manifest::Requirement;
use crate::name::SkillName;
use crate::requirement;
use crate::resolve::declared::Declared;
use crate::resolve::graph::dependents;

/// The most skills that one run brings because others need them: a chain without an end stops somewhere.
const MOST: usize = 256;

/// Says of `error`, which is about what a skill needs, how to do without that.
pub(in crate::ops) fn can_be_left_out(error: Error) -> Error {
    error.hint(message!(Opt::NoDeps, " leaves out what skills need"))
}

/// What the skills of one run need.
#[derive(Debug)]
pub(in crate::ops) struct Needs {
    /// What is installed, by the key under which names fall together.
    installed: BTreeMap<String, There>,
    /// What comes in this run.
    coming: BTreeMap<String, There>,
    /// What the user has installed for all projects, once somebody asks.
    of_the_user: Option<BTreeSet<String>>,
    /// What each skill needs, by name.
    edges: BTreeMap<SkillName, BTreeSet<String>>,
    /// What editable skills need: the manifest is to ask for it, as the lockfile says nothing of them.
    of_editable: BTreeSet<SkillName>,
    brought: BTreeSet<SkillName>,
    warnings: Vec<Warning>,
}

impl Needs {
    /// Knows what `files` say is installed.
    pub(in crate::ops) fn new(files: &Files) -> Self {
        let kept = files.kept();
        let by = dependents(&files.lock.skills);
        let mut installed = BTreeMap::new();
        for name in &kept {
            let Some(entry) = files.entry(name, &kept) else { continue };
            let locked = files.lock.skills.get(name);
            let is_asked = files.manifest.asks_for(name) || files.manifest_text.is_none();
            let by = by.get(name).into_iter().flatten().filter(|by| kept.contains(*by));
            let there = There {
                name: name.clone(),
                path: locked.map_or(entry.path, |locked| locked.path.clone()),
                requested: entry.reference.as_ref().map(ToString::to_string),
                origin: entry.origin,
                version: locked.and_then(|locked| locked.version.clone()),
                hold: if is_asked { Hold::Asked } else { Hold::Needed(by.cloned().collect()) },
            };
            installed.insert(name.collision_key(), there);
        }
        Self {
            installed,
            coming: BTreeMap::new(),
            of_the_user: None,
            edges: BTreeMap::new(),
            of_editable: BTreeSet::new(),
            brought: BTreeSet::new(),
            warnings: Vec::new(),
        }
    }

    /// Takes note of a skill that comes because somebody asks for it.
    pub(in crate::ops) fn asked(&mut self, needer: &Needer) {
        self.coming.insert(needer.name.collision_key(), There::of(needer, Hold::Asked));
    }

    /// Takes note of a skill that is installed and comes anew: who needs it needs it still.
    pub(in crate::ops) fn renewed(&mut self, needer: &Needer) {
        let key = needer.name.collision_key();
        let hold = self.installed.get(&key).map_or(Hold::Asked, |there| there.hold.clone());
        self.coming.insert(key, There::of(needer, hold));
    }

    /// Finds out what `needer` needs, and returns what has to come for it.
    ///
    /// # Errors
    ///
    /// A source that cannot be opened or has no such skill; a policy that refuses it; a skill that others need
    /// in another form; too many of them.
    pub(in crate::ops) fn of(&mut self, worker: &mut Worker<'_>, needer: &Needer) -> Result<Vec<Pick>> {
        let mut picks = Vec::new();
        // Also where there is nothing: it may have been more before.
        self.edges.entry(needer.name.clone()).or_default();
        for Declared { text, requirement } in &needer.needs {
            let found = match requirement {
                Err(error) => {
                    let name = &needer.name;
                    let told = format!("what `{name}` needs cannot be read: `{text}`: {error}");
                    self.warnings.push(Warning::new("dependency-unreadable", told));
                    continue;
                }
                Ok(requirement::Requirement::Named { name, range }) => {
                    self.named(worker, needer, text, name, range.as_ref())
                }
                Ok(requirement::Requirement::Source(spec)) => self.source(worker, needer, spec),
            };
            let found = found.map_err(|error| {
                let what = format!("`{}` needs `{text}`, which is not available", needer.name);
                can_be_left_out(error.context(what))
            })?;
            match found {
                Found::Nothing => {}
                Found::There(name) => self.connect(needer, &name),
                Found::Pick(pick) => {
                    self.connect(needer, &pick.name);
                    let hold = Hold::Needed(BTreeSet::from([needer.name.clone()]));
                    self.coming.insert(pick.name.collision_key(), There::of(&pick.needer(), hold));
                    self.brought.insert(pick.name.clone());
                    if self.brought.len() > MOST {
                        return Err(Error::integrity(format!(
                            "more than {MOST} skills are needed by others, including `{}`",
                            pick.name
                        ))
                        .hint(message!(Opt::NoDeps, " leaves them out")));
                    }
                    picks.push(*pick);
                }
            }
        }
        Ok(picks)
    }

    /// Whether `by` still needs `name`: what it needs was not looked at anew, or it does.
    fn is_live(&self, by: &SkillName, name: &SkillName) -> bool {
        let is_coming = self.coming.contains_key(&by.collision_key());
        !is_coming || self.edges.get(by).is_some_and(|needed| needed.contains(name.as_str()))
    }

    /// The skill of the name `name` that comes, or is there.
    fn there(&self, name: &SkillName) -> Option<&There> {
        let key = name.collision_key();
        self.coming.get(&key).or_else(|| self.installed.get(&key))
    }

    /// Whether the user has a skill of the name `name` for all projects.
    fn has_the_user(&mut self, context: &Context, scope: &Scope, name: &SkillName) -> bool {
        if scope.kind == ScopeKind::User {
            return false;
        }
        let all = self.of_the_user.get_or_insert_with(|| {
            // Files that cannot be read are told by whatever is about them.
            let files = Scope::new(&context.settings, ScopeKind::User).and_then(|scope| Files::read(&scope));
            files.map(|files| files.kept().iter().map(SkillName::collision_key).collect()).unwrap_or_default()
        });
        all.contains(&name.collision_key())
    }

    /// Takes note that `needer` needs `name`.
    fn connect(&mut self, needer: &Needer, name: &SkillName) {
        if *name == needer.name {
            return;
        }
        self.edges.entry(needer.name.clone()).or_default().insert(name.to_string());
        let key = name.collision_key();
        let there = self.coming.get_mut(&key).or_else(|| self.installed.get_mut(&key));
        if let Some(There { hold: Hold::Needed(by), .. }) = there {
            by.insert(needer.name.clone());
        }
        if needer.editable {
            self.of_editable.insert(name.clone());
        }
    }

    /// Whether `name` comes only because others need it.
    pub(in crate::ops) fn is_brought(&self, name: &SkillName) -> bool {
        self.brought.contains(name)
    }

    /// What the manifest is to say of `wanted`, which comes because others need it.
    pub(in crate::ops) fn entry(&self, wanted: &Wanted) -> Option<Requirement> {
        let locked = wanted.content.locked().filter(|_| self.of_editable.contains(&wanted.name));
        locked.map(requirement_of)
    }

    /// The skills that are locked for others alone and that an editable skill needs now: the manifest is to ask
    /// for them.
    pub(super) fn entries(&self, files: &Files) -> BTreeMap<SkillName, Requirement> {
        let silent = self.of_editable.iter().filter(|name| !files.manifest.asks_for(name));
        let entry = |name: &SkillName| {
            let written = files.manifest.skills().get(name).cloned();
            let entry = written.or_else(|| files.lock.skills.get(name).map(requirement_of))?;
            Some((name.clone(), Requirement { dependency: false, ..entry }))
        };
        silent.filter_map(entry).collect()
    }

    /// Writes what `name` needs into what is to be locked of it; what was not looked at stays.
    pub(in crate::ops) fn write(&self, name: &SkillName, locked: &mut Locked) {
        if let Some(needed) = self.edges.get(name) {
            locked.dependencies = needed.iter().cloned().collect();
        }
    }

    /// What a person should know.
    pub(in crate::ops) fn warnings(&mut self) -> Vec<Warning> {
        std::mem::take(&mut self.warnings)
    }
}

/// What became of one thing that is needed.
enum Found {
    /// It is there, or comes already.
    There(SkillName),
    /// It is to come.
    Pick(Box<Pick>),
    /// Nobody has it; that was told where it matters.
    Nothing,
}
