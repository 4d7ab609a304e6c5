//! OpenCode: `opencode.json` of the user and of the directories up to the root of the repository, and variables.
//!
//! Measured with version 1.18.34.

use std::path::{Path, PathBuf};

use super::{Config, Matches, Says, Switch, is_match};
use crate::agents::listing::walk::{Dir, upwards};
use crate::agents::listing::{Asked, Why};
use crate::agents::resolve;
use crate::agents::rules::Owner;
use crate::env;
use crate::fs::{self, Kind};
use crate::interop::json::Json;

/// The tool whose permissions decide about skills, and what forbids it.
const TOOL: &str = "skill";
const DENY: &str = "deny";

pub(super) fn read(asked: Asked<'_>, config: &mut Config) {
    let settings = asked.settings;
    let is_on = |name: &str| matches!(settings.env.get(name), Some("1" | "true"));
    // A directory `.git` that git does not take for a repository is none.
    let cwd = &settings.cwd;
    let is_repository = |dir: &Path| match fs::kind(&dir.join(".git")) {
        Ok(Some(Kind::Directory)) => matches!(fs::kind(&dir.join(".git/objects")), Ok(Some(_))),
        Ok(kind) => kind.is_some(),
        Err(_) => false,
    };
    let nearest = cwd.ancestors().find(|dir| matches!(fs::kind(&dir.join(".git")), Ok(Some(_))));
    if !nearest.is_some_and(is_repository) {
        config.markers = Vec::new();
    }
    config.unbounded = true;
    let dirs = upwards(cwd, config);
    if is_on(env::OPENCODE_DISABLE_EXTERNAL_SKILLS) {
        config.without_dirs.extend([".claude/skills".to_owned(), ".agents/skills".to_owned()]);
    }
    if is_on(env::OPENCODE_DISABLE_CLAUDE_CODE_SKILLS) || is_on(env::OPENCODE_DISABLE_CLAUDE_CODE) {
        config.without_dirs.push(".claude/skills".to_owned());
    }
    let own = resolve("$XDG_CONFIG_HOME/opencode", settings);
    let in_own = own
        .iter()
        .flat_map(|own| ["config.json", "opencode.json", "opencode.jsonc"].map(|name| own.join(name)));
    let names = ["opencode.json", "opencode.jsonc"];
    let outer_first = dirs.iter().rev().flat_map(|dir| names.map(|name| dir.join(name)));
    let hidden = dirs.iter().map(|dir| dir.join(".opencode")).chain(resolve("~/.opencode", settings));
    let in_hidden = hidden.flat_map(|dir| names.map(|name| dir.join(name)));
    let files: Vec<PathBuf> = in_own.chain(outer_first).chain(in_hidden).collect();
    for file in files {
        let Some(found) = config.json(&file) else { continue };
        permissions(&found["permission"], &file, config);
        for path in found["skills"]["paths"].items().iter().filter_map(Json::as_str) {
            let path = match path.strip_prefix("~/") {
                Some(below) => settings.home.iter().map(|home| home.join(below)).next(),
                None => Some(cwd.join(path)),
            };
            let dir = |path| Dir { path, owner: Owner::Project, plugin: None, skips_hidden: true };
            config.after.extend(path.map(dir));
        }
    }
}

/// Adds what the permissions say about the tool for skills, of which the last that matches counts.
fn permissions(permission: &Json, file: &Path, config: &mut Config) {
    let mut add = |pattern: &str, word: &Json, key: String| {
        let why = || Why::Setting { file: file.to_owned(), key };
        let says = (word.as_str() == Some(DENY)).then(|| Says::Off(why()));
        config.switches.push(Switch { matches: Matches::Wildcard(pattern.to_owned()), says });
    };
    if permission.as_str().is_some() {
        add("*", permission, "permission".to_owned());
    }
    for (tool, rules) in permission.entries().filter(|(tool, _)| is_match(tool, TOOL)) {
        if rules.as_str().is_some() {
            add("*", rules, format!("permission.{tool}"));
        }
        for (pattern, word) in rules.entries() {
            add(pattern, word, format!("permission.{tool}.{pattern}"));
        }
    }
}
