//! Where skills are now that records name.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::agents::listing::{Asked, State, listing};
use crate::agents::sessions::SessionUse;
use crate::agents::{self, Agent};
use crate::fs::{self, Kind};
use crate::ops::list::ListedSkill;
use crate::scope::project_root;
use crate::settings::Settings;

/// The most directories in which missing skills are looked for.
const MOST_DIRECTORIES: usize = 200;

/// Knows which skills there are, for each agent and directory that was asked about.
pub(super) struct Whereabouts<'a> {
    settings: &'a Settings,
    installed: BTreeSet<&'a str>,
    /// The names that an agent finds in a directory.
    names: BTreeMap<(&'static str, PathBuf), BTreeSet<String>>,
}

impl<'a> Whereabouts<'a> {
    pub(super) fn new(settings: &'a Settings, installed: &'a [ListedSkill]) -> Self {
        let installed = installed.iter().map(|skill| skill.name.as_str()).collect();
        Self { settings, installed, names: BTreeMap::new() }
    }

    /// Returns the names of the skills that `agent` finds here.
    pub(super) fn here(&mut self, agent: &'static Agent) -> BTreeSet<String> {
        let cwd = self.settings.cwd.clone();
        self.in_directory(agent, &cwd).clone()
    }

    /// Reports whether the skill `name` is here, or where one of `uses` was. `None` if that is unknown: those directories
    /// are gone or were not recorded, or an agent listed the skill, which may be built into it.
    pub(super) fn find(
        &mut self,
        name: &str,
        uses: &[(&'static str, SessionUse)],
        listed: &BTreeMap<&'static str, usize>,
    ) -> Option<bool> {
        if self.installed.contains(name) {
            return Some(true);
        }
        let named: BTreeSet<&str> = uses.iter().map(|(id, _)| *id).chain(listed.keys().copied()).collect();
        let by: Vec<&'static Agent> = agents::all().iter().filter(|agent| named.contains(agent.id)).collect();
        let cwd = self.settings.cwd.clone();
        for agent in &by {
            if self.in_directory(agent, &cwd).contains(name) {
                return Some(true);
            }
        }
        let dirs: BTreeSet<&Path> = uses.iter().filter_map(|(_, used)| used.project.as_deref()).collect();
        let dirs: Vec<_> =
            dirs.into_iter().filter(|dir| matches!(fs::kind(dir), Ok(Some(Kind::Directory)))).collect();
        for dir in &dirs {
            for agent in &by {
                if self.names.len() >= MOST_DIRECTORIES {
                    return None;
                }
                if self.in_directory(agent, dir).contains(name) {
                    return Some(true);
                }
            }
        }
        let is_somewhere = uses.iter().any(|(_, used)| used.project.is_none()) || dirs.is_empty();
        (!is_somewhere && listed.is_empty()).then_some(false)
    }

    fn in_directory(&mut self, agent: &'static Agent, dir: &Path) -> &BTreeSet<String> {
        let settings = self.settings;
        self.names.entry((agent.id, dir.to_owned())).or_insert_with(|| {
            let settings = Settings { cwd: dir.to_owned(), ..settings.clone() };
            let project = project_root(&settings).unwrap_or_else(|_| dir.to_owned());
            let found = listing(agent, Asked { settings: &settings, project: &project, window: None });
            let entries = found.into_iter().flat_map(|found| found.entries);
            let loaded = entries.filter(|entry| !matches!(entry.state, State::NotLoaded(_)));
            loaded.map(|entry| entry.name).collect()
        })
    }
}
