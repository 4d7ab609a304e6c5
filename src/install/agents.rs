//! The table of agents: where each of them looks for skills.
//!
//! The table is data ([`agents.tsv`](https://github.com/skillpm/skillpm/blob/main/src/install/agents.tsv)),
//! compiled in. Where two tools name different directories for one agent, the row carries both: the
//! first is the one that skillpm writes to, the others are where skills of that agent may already lie.
//!
//! # Who gets a link
//!
//! A skill is written once, to [`CANONICAL_DIR`] of the project or of the user's home. An agent whose
//! own project directory is that one is *universal*: the canonical copy serves it, and it never gets
//! a link, in no scope. For the user's scope that is a decision: several universal agents have a
//! directory of their own below the home, yet the tool that most people use writes `~/.agents/skills`
//! alone, and so does skillpm; a second copy would show every skill twice in agents that read both.
//!
//! Any other agent gets a link from its own directory:
//!
//! - in a project, where it was named, where its directory above the skills (`.goose/`) is already
//!   there, or where it is [Claude Code](LINKED_BY_DEFAULT) and on the machine, so that an install
//!   never sprinkles a project with directories of agents that nobody uses in it;
//! - for the user, where it was named or is found on the machine.
//!
//! [`Agent::project_link_wanted`] and [`Agent::user_link_wanted`] are these rules.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use crate::env;
use crate::settings::Settings;

/// The directory, below a project or the user's home, that holds the canonical copy of each skill.
pub const CANONICAL_DIR: &str = ".agents/skills";

/// The agent that gets a link in every project of a machine that it is on, even where its directory is
/// not there yet: it does not read [`CANONICAL_DIR`], and people expect installers to serve it.
pub const LINKED_BY_DEFAULT: &str = "claude-code";

/// Variables that the table may use, with the directory below the home that takes the place of an
/// unset one. A variable without such a directory names nothing when it is unset.
const VARIABLES: &[(&str, Option<&str>)] = &[
    (env::APPDATA, None),
    (env::AUTOHAND_HOME, Some(".autohand")),
    (env::CLAUDE_CONFIG_DIR, Some(".claude")),
    (env::CODEX_HOME, Some(".codex")),
    (env::FLATPAK_XDG_CONFIG_HOME, None),
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
    /// Names that other tools use for it.
    pub aliases: Vec<&'static str>,
    /// Directories below a project, `/`-separated; the first is written to.
    pub project_dirs: Vec<&'static str>,
    /// Directories of the user, starting with `~` or a variable; the first is written to. None for
    /// an agent that only knows projects.
    pub user_dirs: Vec<&'static str>,
    /// Paths any of which shows that the agent is on the machine. They start with `./` (the project),
    /// `~/`, a variable or `/`.
    pub detect: Vec<&'static str>,
    /// Directories of other agents that this one reads too: a skill there shows up twice.
    pub also_reads: Vec<&'static str>,
}

/// What is known of an agent when links are planned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Presence {
    /// It was named: with `--agent`, or as a target in `skillpm.toml`.
    pub named: bool,
    /// It is on the machine.
    pub detected: bool,
    /// Its own directory is in the project.
    pub root_exists: bool,
}

/// A text that is no agent's id or alias.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no agent `{given}`")]
pub struct UnknownAgent {
    /// The text.
    pub given: String,
    /// The id of the agent that was probably meant.
    pub closest: Option<&'static str>,
}

/// All agents, sorted by id.
pub fn all() -> &'static [Agent] {
    static AGENTS: LazyLock<Vec<Agent>> = LazyLock::new(|| parse(include_str!("agents.tsv")));
    &AGENTS
}

/// Returns the agent with this id or alias; upper and lower case are the same.
///
/// # Errors
///
/// Where there is none, with the closest id.
pub fn find(id_or_alias: &str) -> Result<&'static Agent, UnknownAgent> {
    let wanted = id_or_alias.trim().to_ascii_lowercase();
    if let Some(agent) = all().iter().find(|agent| agent.names().any(|name| name == wanted)) {
        return Ok(agent);
    }
    let closest = all()
        .iter()
        .flat_map(|agent| agent.names().map(|name| (name, agent.id)))
        .map(|(name, id)| (strsim::jaro_winkler(&wanted, name), id))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.1.cmp(a.1)))
        .map(|(_, id)| id);
    Err(UnknownAgent { given: id_or_alias.to_owned(), closest })
}

/// Every directory below a project that some agent reads its skills from, each once, for discovery in
/// repositories: [`CANONICAL_DIR`] first, then the others by name.
pub fn project_dirs() -> impl Iterator<Item = &'static str> {
    static DIRS: LazyLock<Vec<&str>> = LazyLock::new(|| {
        let mut dirs: Vec<_> = all().iter().flat_map(|agent| agent.project_dirs.iter().copied()).collect();
        dirs.sort_unstable_by_key(|dir| (*dir != CANONICAL_DIR, *dir));
        dirs.dedup();
        dirs
    });
    DIRS.iter().copied()
}

/// Reads the table. A row of another shape is left out; a test counts the rows.
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
    /// Its id and its aliases.
    fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.id).chain(self.aliases.iter().copied())
    }

    /// Whether the canonical copy serves this agent as it is, so that it needs no link.
    pub fn is_universal(&self) -> bool {
        self.project_dir() == CANONICAL_DIR
    }

    /// The directory below a project that skillpm writes this agent's skills to, `/`-separated.
    pub fn project_dir(&self) -> &'static str {
        self.project_dirs.first().copied().unwrap_or(CANONICAL_DIR)
    }

    /// The top directory of [`Agent::project_dir`]: `.goose`. Its presence is what
    /// [`Presence::root_exists`] tells.
    pub fn project_root_dir(&self) -> &'static str {
        let dir = self.project_dir();
        dir.split_once('/').map_or(dir, |(root, _)| root)
    }

    /// The user's directory that skillpm writes this agent's skills to, or `None` where the agent has
    /// none or the home directory is not known.
    pub fn user_dir(&self, settings: &Settings) -> Option<PathBuf> {
        self.user_dirs(settings).next()
    }

    /// Every directory of the user that some tool takes for this agent's.
    pub fn user_dirs(&self, settings: &Settings) -> impl Iterator<Item = PathBuf> {
        self.user_dirs.iter().filter_map(|dir| resolve(dir, settings))
    }

    /// The user's directory to write to on this machine: the first whose parent is there, so that an
    /// agent that kept a home of an older name is served; the first of all where none is.
    pub fn present_user_dir(&self, settings: &Settings, exists: &dyn Fn(&Path) -> bool) -> Option<PathBuf> {
        self.user_dirs(settings)
            .find(|dir| dir.parent().is_some_and(exists))
            .or_else(|| self.user_dir(settings))
    }

    /// Whether the agent is on this machine, or set up in the project at `project_root`. The caller
    /// tells what exists.
    pub fn detected(&self, settings: &Settings, project_root: &Path, exists: &dyn Fn(&Path) -> bool) -> bool {
        self.detect.iter().any(|sign| match sign.strip_prefix("./") {
            Some(inside) => exists(&project_root.join(inside)),
            None => resolve(sign, settings).is_some_and(|path| exists(&path)),
        })
    }

    /// What is known of this agent: `named` by the user, and what `exists` tells.
    pub fn presence(
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

    /// Whether a skill that is installed into a project is linked for this agent.
    ///
    /// A directory such as `skills/` or `data/` is in many projects and shows nothing: there the agent
    /// must be on the machine as well.
    pub fn project_link_wanted(&self, presence: Presence) -> bool {
        let root_is_its_own = self.project_dir().starts_with('.') && self.project_dir().contains('/');
        let at_home_here = presence.root_exists && (root_is_its_own || presence.detected);
        let served_by_default = self.id == LINKED_BY_DEFAULT && presence.detected;
        !self.is_universal() && (presence.named || at_home_here || served_by_default)
    }

    /// Whether a skill that is installed for the user is linked for this agent.
    pub fn user_link_wanted(&self, presence: Presence) -> bool {
        !self.is_universal() && !self.user_dirs.is_empty() && (presence.named || presence.detected)
    }
}

/// The path that `text` of the table means: after `~`, a variable, or `/`.
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
mod tests {
    use std::collections::BTreeSet;
    use std::fmt::Write as _;

    use super::*;
    use crate::env::Env;
    use crate::path::SafePath;
    use crate::testing;

    fn settings(vars: &[(&str, &str)]) -> Settings {
        let vars = vars.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
        Settings::from_env(Env { vars, ..Env::default() }).expect("valid")
    }

    fn agent(id: &str) -> &'static Agent {
        find(id).expect("in the table")
    }

    #[test]
    fn the_table_is_whole_and_sorted_and_no_name_is_taken_twice() {
        let table = include_str!("agents.tsv");
        assert_eq!(
            table.lines().next(),
            Some("id\tname\taliases\tproject_dirs\tuser_dirs\tdetect\talso_reads")
        );
        assert_eq!(all().len(), table.lines().count() - 1, "a row has another number of columns");
        assert!(all().is_sorted_by(|a, b| a.id < b.id), "sort the rows by id");
        let mut seen = BTreeSet::new();
        for name in all().iter().flat_map(Agent::names) {
            assert!(seen.insert(name), "`{name}` is there twice");
            assert!(
                name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-.".contains(&b)),
                "{name}"
            );
        }
        for agent in all() {
            assert!(!agent.name.is_empty() && !agent.project_dirs.is_empty(), "{}", agent.id);
            for list in [&agent.project_dirs, &agent.user_dirs, &agent.detect, &agent.also_reads] {
                let unique: BTreeSet<_> = list.iter().collect();
                assert_eq!(unique.len(), list.len(), "{}: a path is there twice", agent.id);
            }
        }
    }

    #[test]
    fn directories_are_safe_and_variables_declared() {
        let safe = |path: &str| {
            SafePath::new(path).is_ok_and(|path| !path.is_unportable())
                && path.chars().all(|c| c.is_ascii_graphic())
        };
        let mut used = BTreeSet::new();
        let mut of_machine = |agent: &Agent, path: &'static str| {
            let (first, rest) = path.split_once('/').unwrap_or((path, ""));
            if let Some(variable) = first.strip_prefix('$') {
                assert!(env::VARIABLES.iter().any(|(name, _)| *name == variable), "declare {variable}");
                used.insert(variable);
                assert!(rest.is_empty() || safe(rest), "{}: {path}", agent.id);
            } else {
                assert!(matches!(first, "~" | "") && safe(rest), "{}: {path}", agent.id);
            }
        };
        for agent in all() {
            for dir in &agent.project_dirs {
                assert!(safe(dir), "{}: {dir}", agent.id);
            }
            for dir in &agent.user_dirs {
                assert!(!dir.starts_with('/'), "{}: {dir} is not the user's", agent.id);
                of_machine(agent, dir);
            }
            for path in &agent.detect {
                match path.strip_prefix("./") {
                    Some(inside) => assert!(safe(inside), "{}: {path}", agent.id),
                    None => of_machine(agent, path),
                }
            }
            for dir in &agent.also_reads {
                if dir.starts_with(['~', '$']) {
                    of_machine(agent, dir);
                } else {
                    assert!(safe(dir), "{}: {dir}", agent.id);
                }
            }
        }
        let known: BTreeSet<_> = VARIABLES.iter().map(|(name, _)| *name).collect();
        assert_eq!(used, known, "the table and `VARIABLES` differ");
    }

    #[test]
    fn the_most_used_agents() {
        let user = settings(&[("HOME", "/h")]);
        let cases = [
            ("amp", ".agents/skills", "/h/.config/agents/skills"),
            ("claude-code", ".claude/skills", "/h/.claude/skills"),
            ("cline", ".agents/skills", "/h/.agents/skills"),
            ("codex", ".agents/skills", "/h/.agents/skills"),
            ("cursor", ".agents/skills", "/h/.cursor/skills"),
            ("gemini-cli", ".agents/skills", "/h/.gemini/skills"),
            ("github-copilot", ".agents/skills", "/h/.copilot/skills"),
            ("goose", ".goose/skills", "/h/.config/goose/skills"),
            ("opencode", ".agents/skills", "/h/.config/opencode/skills"),
            ("roo", ".roo/skills", "/h/.roo/skills"),
            ("windsurf", ".windsurf/skills", "/h/.codeium/windsurf/skills"),
        ];
        for (id, project, home) in cases {
            assert_eq!(agent(id).project_dir(), project, "{id}");
            assert_eq!(agent(id).user_dir(&user), Some(PathBuf::from(home)), "{id}");
            assert_eq!(agent(id).is_universal(), project == CANONICAL_DIR, "{id}");
        }
    }

    #[test]
    fn two_tools_that_disagree_are_both_carried() {
        let user = settings(&[("HOME", "/h")]);
        let cases: [(&str, &[&str], &[&str]); 6] = [
            ("codex", &[".agents/skills", ".codex/skills"], &["/h/.agents/skills", "/h/.codex/skills"]),
            ("universal", &[".agents/skills"], &["/h/.config/agents/skills", "/h/.agents/skills"]),
            ("pi", &[".agents/skills", ".pi/skills"], &["/h/.agents/skills", "/h/.pi/agent/skills"]),
            ("droid", &[".agents/skills", ".factory/skills"], &["/h/.factory/skills"]),
            ("kilo", &[".agents/skills", ".kilocode/skills"], &["/h/.kilo/skills", "/h/.kilocode/skills"]),
            (
                "antigravity-cli",
                &[".agents/skills"],
                &["/h/.gemini/antigravity-cli/skills", "/h/.antigravity/skills"],
            ),
        ];
        for (id, project, home) in cases {
            assert_eq!(agent(id).project_dirs, project, "{id}");
            assert!(agent(id).user_dirs(&user).eq(home.iter().map(PathBuf::from)), "{id}");
        }
    }

    /// The table that ours was merged from: every agent of every tool, with every directory.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test data lies outside of the package")]
    fn every_agent_of_the_other_tools_is_carried() {
        let process = Env::from_process().expect("a working directory");
        let Some(data) = process.get("SKILLPM_TESTDATA") else {
            println!("skipped: SKILLPM_TESTDATA is not set");
            return;
        };
        let path = Path::new(data).join("../agents.tsv");
        let table = std::fs::read_to_string(&path).expect("the table of the other tools");
        let user = settings(&[("HOME", "/h")]);
        let mut rows = 0;
        for line in table.lines().skip(1) {
            let columns: Vec<_> = line.split('\t').collect();
            let [source, id, _, project, home, .., notes] = columns[..] else {
                panic!("a row of another shape: {line}");
            };
            let agent = find(id).unwrap_or_else(|error| panic!("{source}: {error}"));
            assert!(agent.project_dirs.contains(&project), "{source}, {id}: {project}");
            if !home.starts_with("N/A") {
                let home = PathBuf::from(home.replacen('~', "/h", 1));
                let ours: Vec<_> = agent.user_dirs(&user).collect();
                assert!(ours.contains(&home), "{source}, {id}: {} not in {ours:?}", home.display());
            }
            for alias in notes.split("; ").filter_map(|note| note.strip_prefix("aliases: ")) {
                for alias in alias.split(',') {
                    find(alias).unwrap_or_else(|error| panic!("{source}, {id}: {error}"));
                }
            }
            rows += 1;
        }
        assert!(rows > 200, "only {rows} rows");
    }

    #[test]
    fn variables_move_directories_and_need_no_home() {
        let dir = |id, vars| agent(id).user_dir(&settings(vars));
        assert_eq!(
            dir("claude-code", &[("HOME", "/h"), ("CLAUDE_CONFIG_DIR", "/c")]),
            Some("/c/skills".into())
        );
        assert_eq!(dir("claude-code", &[("CLAUDE_CONFIG_DIR", "/c")]), Some("/c/skills".into()));
        assert_eq!(
            dir("claude-code", &[("HOME", "/h"), ("CLAUDE_CONFIG_DIR", "relative")]),
            Some("/h/.claude/skills".into())
        );
        assert_eq!(dir("goose", &[("XDG_CONFIG_HOME", "/x")]), Some("/x/goose/skills".into()));
        assert_eq!(dir("goose", &[]), None, "no home, no directory");
        assert_eq!(dir("eve", &[("HOME", "/h")]), None, "an agent that only knows projects");
    }

    #[test]
    fn detection_looks_where_the_table_says() {
        let user = settings(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "/x"), ("APPDATA", "/a")]);
        let detected = |id, path: &str| agent(id).detected(&user, Path::new("/p"), &|p| p == Path::new(path));
        assert!(detected("claude-code", "/h/.claude"));
        assert!(detected("goose", "/x/goose"));
        assert!(!detected("goose", "/h/.config/goose"));
        assert!(detected("codex", "/etc/codex"));
        assert!(detected("replit", "/p/.replit"));
        assert!(detected("zed", "/a/Zed"));
        assert!(!agent("universal").detected(&user, Path::new("/p"), &|_| true));
        let homeless = settings(&[]);
        assert!(!agent("zed").detected(&homeless, Path::new("/p"), &|_| true));
    }

    #[test]
    fn a_home_of_an_older_name_is_served() {
        let user = settings(&[("HOME", "/h")]);
        let dir = |root: &str| agent("openclaw").present_user_dir(&user, &|path| path == Path::new(root));
        assert_eq!(dir("/h/.clawdbot"), Some("/h/.clawdbot/skills".into()));
        assert_eq!(dir("/nothing"), Some("/h/.openclaw/skills".into()));
    }

    #[test]
    fn links_in_a_project() {
        let nothing = Presence::default();
        let named = Presence { named: true, ..nothing };
        let rooted = Presence { root_exists: true, ..nothing };
        let detected = Presence { detected: true, ..nothing };
        let wanted = |id, presence| agent(id).project_link_wanted(presence);

        assert!(wanted("claude-code", detected), "by default");
        assert!(!wanted("claude-code", nothing), "nobody uses it here");
        assert!(!wanted("goose", nothing));
        assert!(!wanted("goose", detected), "it is on the machine, not in this project");
        assert!(wanted("goose", rooted));
        assert!(wanted("goose", named));
        for presence in [named, rooted, detected] {
            assert!(!wanted("codex", presence), "the canonical copy serves it");
        }
        for id in ["openclaw", "astrbot", "letta"] {
            assert!(!wanted(id, rooted), "{id}: its directory has a name that anyone may use");
            assert!(wanted(id, Presence { detected: true, ..rooted }), "{id}");
            assert!(wanted(id, named), "{id}");
        }
    }

    #[test]
    fn links_for_the_user() {
        let named = Presence { named: true, ..Presence::default() };
        let detected = Presence { detected: true, ..Presence::default() };
        let rooted = Presence { root_exists: true, ..Presence::default() };
        for (id, presence, wanted) in [
            ("claude-code", detected, true),
            ("claude-code", named, true),
            ("claude-code", rooted, false),
            ("cursor", named, false), // universal: `~/.agents/skills` alone
            ("cursor", detected, false),
            ("eve", named, false), // has no directory of the user
        ] {
            assert_eq!(agent(id).user_link_wanted(presence), wanted, "{id}, {presence:?}");
        }
    }

    #[test]
    fn presence_asks_for_the_machine_and_the_project() {
        let user = settings(&[("HOME", "/h")]);
        let there = ["/p/.goose", "/h/.config/goose"].map(Path::new);
        let presence = agent("goose").presence(&user, Path::new("/p"), false, &|path| there.contains(&path));
        assert_eq!(presence, Presence { named: false, detected: true, root_exists: true });
    }

    #[test]
    fn names_are_found_and_mistakes_understood() {
        assert_eq!(agent("claude").id, "claude-code");
        assert_eq!(agent(" Claude-Code ").id, "claude-code");
        assert_eq!(agent("copilot").id, "github-copilot");
        let closest = |given: &str| find(given).expect_err("unknown").closest;
        assert_eq!(closest("cluade-code"), Some("claude-code"));
        assert_eq!(closest("windsurfer"), Some("windsurf"));
        assert_eq!(closest("gemni"), Some("gemini-cli"));
        assert_eq!(closest(""), None);
        assert_eq!(closest("qqqq"), None);
    }

    #[test]
    fn project_directories_for_discovery() {
        let dirs: Vec<_> = project_dirs().collect();
        assert_eq!(dirs[0], CANONICAL_DIR);
        assert!(dirs[1..].is_sorted_by(|a, b| a < b), "sorted, each once");
        for dir in [".claude/skills", ".github/skills", ".codex/skills", ".opencode/skill", "skills"] {
            assert!(dirs.contains(&dir), "{dir}");
        }
    }

    #[test]
    fn the_reference_page_shows_this_table() {
        let code = |items: &[&str]| items.iter().map(|i| format!("`{i}`")).collect::<Vec<_>>().join(", ");
        let mut page = String::from(
            "| id | agent | other names | in a project | for the user | found by | reads too |\n\
             |---|---|---|---|---|---|---|\n",
        );
        for agent in all() {
            let cells = [
                code(&[agent.id]),
                agent.name.to_owned(),
                code(&agent.aliases),
                code(&agent.project_dirs),
                code(&agent.user_dirs),
                code(&agent.detect),
                code(&agent.also_reads),
            ];
            writeln!(page, "| {} |", cells.join(" | ")).expect("a string takes all");
        }
        testing::check_reference("agents.md", &page);
    }
}
