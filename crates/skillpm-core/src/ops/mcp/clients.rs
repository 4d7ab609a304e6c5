//! The table of clients: which file each reads, and where in it the servers are.
//!
//! The table is data (`clients.tsv`), compiled in.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use super::shape::Shape;
use crate::env;
use crate::error::{Error, Result};
use crate::fs;
use crate::interop::servers::Format;
use crate::scope::Scope;
use crate::scope_kind::ScopeKind;
use crate::settings::Settings;
use crate::text::closest;

/// The variables that the table may use, each with the directory below the home that replaces it if it is unset.
const VARIABLES: &[(&str, &str)] = &[
    (env::APPDATA, "AppData/Roaming"),
    (env::CLAUDE_CONFIG_DIR, ""),
    (env::CODEX_HOME, ".codex"),
    (env::XDG_CONFIG_HOME, ".config"),
];

/// A program that starts MCP servers, and its configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    /// The name in commands: `claude-code`.
    pub id: &'static str,
    /// The name for people: `Claude Code`.
    pub name: &'static str,
    /// The format of its files.
    pub format: Format,
    /// The key at the top of a file that holds the servers.
    pub servers: &'static str,
    /// The shape of an entry.
    pub shape: Shape,
    /// Files of the user on this system: the first that exists is used, else the first of all.
    user: Vec<&'static str>,
    /// The same for a project, below its directory. Empty for a client without such files.
    project: Vec<&'static str>,
    /// Further paths that show that the client is on the machine.
    detect: Vec<&'static str>,
}

/// Returns all clients, sorted by id.
pub fn all() -> &'static [Client] {
    static CLIENTS: LazyLock<Vec<Client>> =
        LazyLock::new(|| include_str!("clients.tsv").lines().skip(1).filter_map(parse).collect());
    &CLIENTS
}

/// Returns the directories of the files that clients may have in `scope`.
pub(in crate::ops) fn directories(settings: &Settings, scope: &Scope) -> BTreeSet<PathBuf> {
    all().iter().flat_map(|client| client.directories(settings, scope)).collect()
}

/// Returns the client with this id, ignoring case.
///
/// # Errors
///
/// Fails for an unknown id, with the most similar one or else with all of them.
pub fn find(id: &str) -> Result<&'static Client> {
    let wanted = id.trim().to_ascii_lowercase();
    all().iter().find(|client| client.id == wanted).ok_or_else(|| {
        let error = Error::usage(format!("unknown client `{id}`"));
        match closest(&wanted, all().iter().map(|client| client.id)) {
            Some(close) => error.hint(format!("did you mean `{close}`?")),
            None => error.hint(format!("clients are {}", ids(all()))),
        }
    })
}

/// Returns the ids of `clients` for a sentence.
pub(super) fn ids<'c>(clients: impl IntoIterator<Item = &'c Client>) -> String {
    let ids: Vec<_> = clients.into_iter().map(|client| format!("`{}`", client.id)).collect();
    ids.join(", ")
}

/// Parses a row of the table. Skips a row of another shape; a test counts the rows.
fn parse(row: &'static str) -> Option<Client> {
    let list = |cell: &'static str| cell.split(';').filter(|item| !item.is_empty()).collect();
    let [id, name, format, servers, shape, linux, macos, windows, project, detect] =
        row.split('\t').collect::<Vec<_>>()[..]
    else {
        return None;
    };
    let user = if cfg!(windows) {
        windows
    } else if cfg!(target_os = "macos") {
        macos
    } else {
        linux
    };
    let format = match format {
        "json" => Format::Json,
        "jsonc" => Format::Jsonc,
        "toml" => Format::Toml,
        "yaml" => Format::Yaml,
        _ => return None,
    };
    let shape = match shape {
        "plain" => Shape::Plain,
        "typed" => Shape::Typed,
        "opencode" => Shape::OpenCode,
        "goose" => Shape::Goose,
        _ => return None,
    };
    let (user, project, detect) = (list(user), list(project), list(detect));
    Some(Client { id, name, format, servers, shape, user, project, detect })
}

impl Client {
    /// Returns the client's file in `scope`, or `None` if it has none there or the home directory is not known.
    ///
    /// # Errors
    ///
    /// Fails if a path cannot be examined.
    pub fn file(&self, settings: &Settings, scope: ScopeKind) -> Result<Option<PathBuf>> {
        let files: Vec<PathBuf> = match scope {
            ScopeKind::User => self.user.iter().filter_map(|file| resolve(file, settings)).collect(),
            ScopeKind::Project => {
                let root = Scope::new(settings, ScopeKind::Project)?.root;
                self.project.iter().map(|file| root.join(file)).collect()
            }
        };
        for file in &files {
            if fs::kind(file)?.is_some() {
                return Ok(Some(file.clone()));
            }
        }
        Ok(files.into_iter().next())
    }

    /// Returns the directories of the files that the client may have in `scope`.
    fn directories(&self, settings: &Settings, scope: &Scope) -> impl Iterator<Item = PathBuf> {
        let files: Vec<PathBuf> = match scope.kind {
            ScopeKind::User => self.user.iter().filter_map(|file| resolve(file, settings)).collect(),
            ScopeKind::Project => self.project.iter().map(|file| scope.root.join(file)).collect(),
        };
        files.into_iter().filter_map(|file| file.parent().map(Path::to_owned))
    }

    /// Reports whether the client has files in projects.
    pub fn has_project_file(&self) -> bool {
        !self.project.is_empty()
    }

    /// Reports whether the client is on this machine: a file of it exists, or the directory of its file.
    pub(crate) fn is_detected(&self, settings: &Settings) -> bool {
        let exists = |path: &Path| matches!(fs::kind(path), Ok(Some(_)));
        let has_directory = |file: &Path| {
            file.parent().is_some_and(|dir| Some(dir) != settings.home.as_deref() && exists(dir))
        };
        let signs = self.detect.iter().filter_map(|sign| resolve(sign, settings));
        let mut files = self.user.iter().filter_map(|file| resolve(file, settings));
        let in_project = self.file(settings, ScopeKind::Project).ok().flatten();
        files.any(|file| exists(&file) || has_directory(&file))
            || signs.into_iter().any(|sign| exists(&sign))
            || in_project.is_some_and(|file| exists(&file))
    }
}

/// Resolves `text` of the table to a path. It starts with `~` or a variable.
fn resolve(text: &str, settings: &Settings) -> Option<PathBuf> {
    let (first, rest) = text.split_once('/')?;
    let base = match first.strip_prefix('$') {
        Some(variable) => {
            let (_, default) = VARIABLES.iter().find(|(name, _)| *name == variable)?;
            settings.env.path(variable).or_else(|| Some(settings.home.as_ref()?.join(default)))?
        }
        None => settings.home.clone()?,
    };
    Some(base.join(rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::Env;

    #[test]
    fn the_table_follows_its_rules() {
        let table = include_str!("clients.tsv");
        assert_eq!(all().len(), table.lines().count() - 1, "each row is a client");
        assert!(all().is_sorted_by(|a, b| a.id < b.id));
        for row in table.lines().skip(1) {
            let cells: Vec<_> = row.split('\t').collect();
            let paths = cells[5..8].iter().chain(cells.get(9)).flat_map(|cell| cell.split(';'));
            for path in paths.filter(|path| !path.is_empty()) {
                let (first, rest) = path.split_once('/').expect("a base");
                let variable = first.strip_prefix('$');
                let is_known = |name: &str| VARIABLES.iter().any(|(known, _)| *known == name);
                assert!(first == "~" || variable.is_some_and(is_known), "{path}");
                assert!(!rest.is_empty() && !path.contains('\\'), "{path}");
            }
            for path in cells[8].split(';') {
                assert!(!path.starts_with(['/', '~', '$']) && !path.contains(".."), "{path}");
            }
        }
    }

    #[test]
    fn variables_move_files() {
        let env = |vars: &[(&str, &str)]| {
            let vars = vars.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
            Settings::from_env(Env { vars, ..Env::default() }).expect("settings")
        };
        let file = |id: &str, settings: &Settings| {
            find(id).expect("a client").file(settings, ScopeKind::User).expect("a path")
        };
        let home = env(&[("HOME", "/h")]);
        assert_eq!(file("claude-code", &home), Some("/h/.claude.json".into()));
        assert_eq!(file("codex", &home), Some("/h/.codex/config.toml".into()));
        let moved = env(&[
            ("HOME", "/h"),
            ("CLAUDE_CONFIG_DIR", "/c"),
            ("CODEX_HOME", "/x"),
            ("XDG_CONFIG_HOME", "/g"),
        ]);
        assert_eq!(file("claude-code", &moved), Some("/c/.claude.json".into()));
        assert_eq!(file("codex", &moved), Some("/x/config.toml".into()));
        assert_eq!(file("opencode", &moved), Some("/g/opencode/opencode.json".into()));
        assert_eq!(file("cursor", &env(&[])), None);
        assert!(find("Cursor").is_ok() && find("cursr").is_err_and(|error| error.hints().len() == 1));
    }
}
