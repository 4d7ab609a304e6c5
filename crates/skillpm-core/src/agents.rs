//! The table of agents: where each agent looks for skills.
//!
//! The table is data ([`agents.tsv`](https://github.com/skillpm/skillpm/blob/main/src/agents.tsv)), compiled
//! in. If two tools name different directories for one agent, the row lists both. skillpm writes to the
//! first; skills of that agent may already be in the others.
//!
//! # Which agents get a link
//!
//! skillpm writes a skill once, to [`CANONICAL_DIR`] of the project or of the user's home. An agent whose own
//! project directory is [`CANONICAL_DIR`], or that also reads it in both scopes, is *universal*: it reads the
//! canonical copy, and never gets a link, in either scope. In the user scope this is a decision: several
//! universal agents have their own directory below the home, but the most widely used tool writes only
//! `~/.agents/skills`, and so does skillpm. A link would show every skill twice in agents that read both.
//!
//! The first installation in a scope decides which other agents get a link from their own directory. Later
//! installations add only agents that the user names. The first installation links an agent:
//!
//! - in a project, if it is named, if its directory above the skills (`.junie/`) already exists, or if it is
//!   [Claude Code](LINKED_BY_DEFAULT) and on the machine. A project therefore never gets directories of
//!   agents that are not used in it;
//! - for the user, if it is named or found on the machine.
//!
//! [`Agent::project_link_wanted`] and [`Agent::user_link_wanted`] implement these rules.

pub mod listing;
pub mod rules;
pub mod sessions;

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use crate::env;
use crate::error::Error;
use crate::scope_kind::CANONICAL_DIR;
use crate::settings::Settings;
use crate::text::closest;

/// The agent that gets a link in every project of a machine that has it, even if its directory does not exist
/// yet: it does not read [`CANONICAL_DIR`], and people expect installers to serve it.
pub(crate) const LINKED_BY_DEFAULT: &str = "claude-code";

/// [`CANONICAL_DIR`] of the user, as the table spells it.
const CANONICAL_DIR_OF_USER: &str = "~/.agents/skills";

/// The variables that the table may use, each with the directory below the home that replaces it if it is
/// unset. An unset variable without such a directory resolves to no path.
const VARIABLES: &[(&str, Option<&str>)] = &[
    (env::APPDATA, None),
    (env::AUTOHAND_HOME, Some(".autohand")),
    (env::CLAUDE_CONFIG_DIR, Some(".claude")),
    (env::CODEX_HOME, Some(".codex")),
    (env::FLATPAK_XDG_CONFIG_HOME, None),
    (env::GEMINI_CLI_HOME, Some("")),
    (env::GROK_HOME, Some(".grok")),
    (env::HERMES_HOME, Some(".hermes")),
    (env::SARVAM_HOME, Some(".sarvam")),
    (env::VIBE_HOME, Some(".vibe")),
    (env::XDG_CONFIG_HOME, Some(".config")),
];

/// A program that loads skills, and where it looks for them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// The name in commands and in `skillpm.toml`: `claude-code`.
    pub id: &'static str,
    /// The name for people: `Claude Code`.
    pub name: &'static str,
    /// Names that other tools use for this agent.
    pub aliases: Vec<&'static str>,
    /// Directories below a project, `/`-separated. skillpm writes to the first.
    pub project_dirs: Vec<&'static str>,
    /// Directories of the user, starting with `~` or a variable. skillpm writes to the first. Empty for an
    /// agent that only supports projects.
    pub user_dirs: Vec<&'static str>,
    /// Paths that show that the agent is on the machine; one is enough. They start with `./` (the project),
    /// `~/`, a variable or `/`.
    pub detect: Vec<&'static str>,
    /// Directories of other agents that this agent also reads: a skill there shows up twice.
    pub also_reads: Vec<&'static str>,
}

/// The facts about an agent that decide whether it gets a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Presence {
    /// The user named the agent, with `--agent` or as a target in `skillpm.toml`.
    pub named: bool,
    /// The agent is on the machine.
    pub detected: bool,
    /// The agent's own directory is in the project.
    pub root_exists: bool,
}

/// The error for a text that is not an agent's id or alias.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no agent `{given}`")]
pub struct UnknownAgent {
    /// The text that was given.
    pub given: String,
    /// The most similar id, if there is one.
    pub closest: Option<&'static str>,
}

impl From<UnknownAgent> for Error {
    fn from(error: UnknownAgent) -> Self {
        let hint = match error.closest {
            Some(id) => format!("did you mean `{id}`?"),
            None => "agents have names such as `claude-code`, `codex` or `cursor`".to_owned(),
        };
        Self::usage(error.to_string()).hint(hint)
    }
}

/// Returns all agents, sorted by id.
pub fn all() -> &'static [Agent] {
    static AGENTS: LazyLock<Vec<Agent>> = LazyLock::new(|| parse(include_str!("agents.tsv")));
    &AGENTS
}

/// Returns the agent with this id or alias, ignoring case.
///
/// # Errors
///
/// Fails with the most similar id if no agent has this one.
pub fn find(id_or_alias: &str) -> Result<&'static Agent, UnknownAgent> {
    let wanted = id_or_alias.trim().to_ascii_lowercase();
    if let Some(agent) = all().iter().find(|agent| agent.names().any(|name| name == wanted)) {
        return Ok(agent);
    }
    let near = closest(&wanted, all().iter().flat_map(Agent::names));
    let closest = near.and_then(|name| all().iter().find(|agent| agent.names().any(|other| other == name)));
    let closest = closest.map(|agent| agent.id);
    Err(UnknownAgent { given: id_or_alias.to_owned(), closest })
}

/// Returns every directory below a project that some agent reads its skills from, each once, for discovery in
/// repositories: [`CANONICAL_DIR`] first, then the others sorted by name.
pub fn project_dirs() -> &'static [&'static str] {
    static DIRS: LazyLock<Vec<&str>> = LazyLock::new(|| {
        let mut dirs: Vec<_> = all().iter().flat_map(|agent| agent.project_dirs.iter().copied()).collect();
        dirs.sort_unstable_by_key(|dir| (*dir != CANONICAL_DIR, *dir));
        dirs.dedup();
        dirs
    });
    &DIRS
}

/// Parses the table. Skips a row of another shape; a test counts the rows.
fn parse(table: &'static str) -> Vec<Agent> {
    let list = |cell: &'static str| cell.split(';').filter(|item| !item.is_empty()).collect();
    let row = |line: &'static str| {
        let [id, name, aliases, project_dirs, user_dirs, detect, also_reads] =
            line.split('\t').collect::<Vec<_>>()[..]
        else {
            return None;
        };
        Some(Agent {
            id,
            name,
            aliases: list(aliases),
            project_dirs: list(project_dirs),
            user_dirs: list(user_dirs),
            detect: list(detect),
            also_reads: list(also_reads),
        })
    };
    table.lines().skip(1).filter_map(row).collect()
}

impl Agent {
    /// Returns the id and the aliases.
    fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.id).chain(self.aliases.iter().copied())
    }

    /// Reports whether the agent reads the canonical copy itself and needs no link.
    pub(crate) fn is_universal(&self) -> bool {
        let reads = |dir| self.also_reads.contains(&dir);
        self.project_dir() == CANONICAL_DIR || reads(CANONICAL_DIR) && reads(CANONICAL_DIR_OF_USER)
    }

    /// Returns the directory below a project that skillpm writes this agent's skills to, `/`-separated.
    pub(crate) fn project_dir(&self) -> &'static str {
        self.project_dirs.first().copied().unwrap_or(CANONICAL_DIR)
    }

    /// Returns the top directory of [`Agent::project_dir`]: `.junie`. [`Presence::root_exists`] records
    /// whether it exists.
    pub(crate) fn project_root_dir(&self) -> &'static str {
        let dir = self.project_dir();
        dir.split_once('/').map_or(dir, |(root, _)| root)
    }

    /// Returns the user's directory that skillpm writes this agent's skills to, or `None` if the agent has none or the
    /// home directory is not known.
    pub(crate) fn user_dir(&self, settings: &Settings) -> Option<PathBuf> {
        self.user_dirs(settings).next()
    }

    /// Returns every directory of the user that some tool uses for this agent.
    pub fn user_dirs(&self, settings: &Settings) -> impl Iterator<Item = PathBuf> {
        self.user_dirs.iter().filter_map(|dir| resolve(dir, settings))
    }

    /// Returns the user's directory to write to on this machine: the first whose parent exists, so that an
    /// agent whose home still has an older name is served; otherwise the first of all.
    pub(crate) fn present_user_dir(
        &self,
        settings: &Settings,
        exists: &dyn Fn(&Path) -> bool,
    ) -> Option<PathBuf> {
        self.user_dirs(settings)
            .find(|dir| dir.parent().is_some_and(exists))
            .or_else(|| self.user_dir(settings))
    }

    /// Returns the directories of other agents, below a project, that this agent also reads.
    pub(crate) fn shared_project_dirs(&self) -> impl Iterator<Item = &'static str> {
        self.also_reads.iter().copied().filter(|dir| !dir.starts_with(['~', '$', '/']))
    }

    /// Returns the directories of other agents, of the user, that this agent also reads.
    pub(crate) fn shared_user_dirs(&self, settings: &Settings) -> impl Iterator<Item = PathBuf> {
        let of_user = self.also_reads.iter().filter(|dir| dir.starts_with(['~', '$', '/']));
        of_user.filter_map(|dir| resolve(dir, settings))
    }

    /// Returns the existing paths that show that the agent is on this machine, or set up in the project at
    /// `project_root`. `exists` reports whether a path exists.
    pub fn signs(
        &self,
        settings: &Settings,
        project_root: &Path,
        exists: &dyn Fn(&Path) -> bool,
    ) -> Vec<PathBuf> {
        let path = |sign: &&str| match sign.strip_prefix("./") {
            Some(inside) => Some(project_root.join(inside)),
            None => resolve(sign, settings),
        };
        self.detect.iter().filter_map(path).filter(|path| exists(path)).collect()
    }

    /// Reports whether the agent is on this machine, or set up in the project at `project_root`. `exists`
    /// reports whether a path exists.
    pub fn detected(&self, settings: &Settings, project_root: &Path, exists: &dyn Fn(&Path) -> bool) -> bool {
        !self.signs(settings, project_root, exists).is_empty()
    }

    /// Returns the facts about this agent: `named` says whether the user named it, `exists` whether a path
    /// exists.
    pub(crate) fn presence(
        &self,
        settings: &Settings,
        project_root: &Path,
        named: bool,
        exists: &dyn Fn(&Path) -> bool,
    ) -> Presence {
        Presence {
            named,
            detected: self.detected(settings, project_root, exists),
            root_exists: exists(&project_root.join(self.project_root_dir())),
        }
    }

    /// Reports whether a skill that is installed into a project is linked for this agent.
    ///
    /// Many projects have a directory such as `skills/` or `data/`, which proves nothing: such an agent must
    /// be on the machine as well.
    pub(crate) fn project_link_wanted(&self, presence: Presence) -> bool {
        let root_is_its_own = self.project_dir().starts_with('.') && self.project_dir().contains('/');
        let at_home_here = presence.root_exists && (root_is_its_own || presence.detected);
        let served_by_default = self.id == LINKED_BY_DEFAULT && presence.detected;
        !self.is_universal() && (presence.named || at_home_here || served_by_default)
    }

    /// Reports whether a skill that is installed for the user is linked for this agent.
    pub(crate) fn user_link_wanted(&self, presence: Presence) -> bool {
        !self.is_universal() && !self.user_dirs.is_empty() && (presence.named || presence.detected)
    }
}

/// Resolves `text` of the table to a path. It starts with `~`, a variable, or `/`.
fn resolve(text: &str, settings: &Settings) -> Option<PathBuf> {
    let (first, rest) = text.split_once('/').unwrap_or((text, ""));
    let base = match first.strip_prefix('$') {
        Some(variable) => {
            let (_, default) = VARIABLES.iter().find(|(name, _)| *name == variable)?;
            settings
                .env
                .path(variable)
                .or_else(|| Some(settings.home.as_ref()?.join(default.as_ref().copied()?)))?
        }
        None if first == "~" => settings.home.clone()?,
        None if first.is_empty() => PathBuf::from("/"),
        None => return None,
    };
    Some(if rest.is_empty() { base } else { base.join(rest) })
}

#[cfg(test)]
mod tests;
