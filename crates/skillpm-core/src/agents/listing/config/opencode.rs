//! OpenCode: `opencode.json` of the user, of the directories up to the root of the repository and of the machine, and
//! variables.
//!
//! Measured with version 1.18.34: what all of them say is put into one value, and that is read.

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
/// The agent that answers, if no setting names another one.
const AGENT: &str = "build";
/// The files of settings in a directory.
const NAMES: [&str; 2] = ["opencode.json", "opencode.jsonc"];

/// What one file or variable says.
type Layer = (PathBuf, Json);

pub(super) fn read(asked: Asked<'_>, config: &mut Config) {
    let settings = asked.settings;
    // Any other word for yes or no, and it does not start.
    let is_on = |name: &str| matches!(settings.env.get(name), Some("true" | "yes" | "on" | "1" | "y"));
    // Git decides whether a directory `.git` makes a repository.
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
    if is_on(env::OPENCODE_DISABLE_EXTERNAL_SKILLS) {
        config.without_dirs.extend(["~/.agents/skills", ".agents/skills"]);
    }
    if [
        env::OPENCODE_DISABLE_EXTERNAL_SKILLS,
        env::OPENCODE_DISABLE_CLAUDE_CODE_SKILLS,
        env::OPENCODE_DISABLE_CLAUDE_CODE,
    ]
    .into_iter()
    .any(is_on)
    {
        config.without_dirs.extend(["~/.claude/skills", ".claude/skills"]);
    }
    let mut project = upwards(cwd, config, fs::exists);
    let without_project = settings.env.get(env::OPENCODE_DISABLE_PROJECT_CONFIG);
    if without_project.is_some_and(|word| word == "1" || word.eq_ignore_ascii_case("true")) {
        config.without_dirs.extend([".opencode/skill", ".opencode/skills"]);
        project.clear();
    }
    let layers = layers(asked, &project, config);
    let mut merged = Json::Object([].into());
    for (_, layer) in &layers {
        merge(&mut merged, layer);
    }
    let dir = |path, owner| Dir { path, owner, plugin: None, skips_hidden: true };
    if let Some(named) = own_dir(asked) {
        config.after.extend(["skill", "skills"].map(|name| dir(named.join(name), Owner::User)));
    }
    for path in merged["skills"]["paths"].items().iter().filter_map(Json::as_str) {
        let path = match (path.strip_prefix("~/"), &settings.home) {
            (Some(below), Some(home)) => home.join(below),
            (Some(_), None) => continue,
            (None, _) => cwd.join(path),
        };
        config.after.push(dir(path, Owner::Project));
    }
    let mut rules = tools(&merged);
    merge(&mut rules, &merged["permission"]);
    switches(&rules, "", &layers, config);
    let agent = merged["default_agent"].as_str().unwrap_or(AGENT);
    let mut own = Json::Object([].into());
    for group in ["agent", "mode"] {
        merge(&mut own, &merged[group][agent]["permission"]);
    }
    switches(&own, &format!("agent.{agent}."), &layers, config);
    // If the last rule denies every skill, OpenCode writes no listing.
    let last = config.switches.last();
    config.off =
        last.filter(|last| matches!(&last.matches, Matches::Wildcard(all) if all == "*")).and_then(|last| {
            let Some(Says::Off(why)) = &last.says else { return None };
            Some(why.clone())
        });
}

/// Returns the directory that a variable names.
fn own_dir(asked: Asked<'_>) -> Option<PathBuf> {
    asked.settings.env.get(env::OPENCODE_CONFIG_DIR).map(|dir| asked.settings.cwd.join(dir))
}

/// Returns what each file and variable says, of which a later one counts more. `project` are the directories from the
/// working directory to the root, if they count.
fn layers(asked: Asked<'_>, project: &[PathBuf], config: &mut Config) -> Vec<Layer> {
    let variable = |name: &str| asked.settings.env.get(name);
    let in_dir = |dir: PathBuf| NAMES.map(|name| dir.join(name));
    let mut files = Vec::new();
    if let Some(own) = resolve("$XDG_CONFIG_HOME/opencode", asked.settings) {
        files.push(own.join("config.json"));
        files.extend(in_dir(own));
    }
    files.extend(variable(env::OPENCODE_CONFIG).map(|file| asked.settings.cwd.join(file)));
    files.extend(project.iter().rev().cloned().flat_map(in_dir));
    let hidden = project.iter().map(|dir| dir.join(".opencode"));
    let hidden = hidden.chain(resolve("~/.opencode", asked.settings)).chain(own_dir(asked));
    let mut dirs: Vec<PathBuf> = Vec::new();
    for dir in hidden {
        if !dirs.contains(&dir) {
            dirs.push(dir);
        }
    }
    files.extend(dirs.into_iter().flat_map(in_dir));
    let mut layers: Vec<Layer> = Vec::new();
    let mut add = |from: PathBuf, settings: Option<Json>| {
        layers.extend(settings.map(|settings| (from, normalized(settings))));
    };
    for file in files {
        let settings = config.json(&file);
        add(file, settings);
    }
    if let Some(text) = variable(env::OPENCODE_CONFIG_CONTENT) {
        let from = PathBuf::from(env::OPENCODE_CONFIG_CONTENT);
        let settings = config.parsed(text, &from);
        add(from, settings);
    }
    let machine = variable(env::OPENCODE_TEST_MANAGED_CONFIG_DIR).unwrap_or("/etc/opencode");
    for file in in_dir(asked.settings.cwd.join(machine)) {
        let settings = config.json(&file);
        add(file, settings);
    }
    if let Some(text) = variable(env::OPENCODE_PERMISSION) {
        let from = PathBuf::from(env::OPENCODE_PERMISSION);
        // As text it is not about any tool.
        let rules = config.parsed(text, &from).filter(|rules| matches!(rules, Json::Object(_)));
        add(from, rules.map(|rules| object("permission", rules)));
    }
    layers
}

/// Returns settings in the form in which they are merged: permissions are objects, and those of an agent follow its `tools`.
fn normalized(mut settings: Json) -> Json {
    if let Json::Object(entries) = &mut settings {
        if let Some(rules) = entries.get_mut("permission") {
            *rules = by_tool(rules);
        }
        for agents in ["agent", "mode"] {
            let Some(Json::Object(agents)) = entries.get_mut(agents) else { continue };
            for agent in agents.values_mut() {
                let mut rules = tools(agent);
                if let (Json::Object(rules), Json::Object(own)) = (&mut rules, by_tool(&agent["permission"]))
                {
                    rules.extend(own);
                }
                if let Json::Object(agent) = agent {
                    agent.insert("permission".to_owned(), rules);
                }
            }
        }
    }
    settings
}

/// Returns permissions by tool; one word is for all tools.
fn by_tool(rules: &Json) -> Json {
    if rules.as_str().is_some() { object("*", rules.clone()) } else { rules.clone() }
}

/// Returns what `tools` says, as permissions.
fn tools(settings: &Json) -> Json {
    let rule = |(tool, is_on): (&str, &Json)| {
        let word = if is_on.as_bool() == Some(false) { DENY } else { "allow" };
        (tool.to_owned(), word.into())
    };
    Json::Object(settings["tools"].entries().map(rule).collect())
}

fn object(key: &str, value: Json) -> Json {
    Json::Object([(key.to_owned(), value)].into())
}

/// Puts the values of `over` into `into`, those of objects one by one. A key stays where it was.
fn merge(into: &mut Json, over: &Json) {
    let (Json::Object(into), Json::Object(over)) = (into, over) else { return };
    for (key, value) in over {
        match into.get_mut(key) {
            Some(inner @ Json::Object(_)) if matches!(value, Json::Object(_)) => merge(inner, value),
            _ => drop(into.insert(key.clone(), value.clone())),
        }
    }
}

/// Adds what the permissions say about the tool for skills, of which the last that matches counts. `prefix` leads to them.
fn switches(rules: &Json, prefix: &str, layers: &[Layer], config: &mut Config) {
    for (tool, rule) in rules.entries().filter(|(tool, _)| is_match(tool, TOOL)) {
        let words = rule.as_str().map(|_| ("*", rule)).into_iter().chain(rule.entries());
        for (pattern, word) in words {
            let says = (word.as_str() == Some(DENY)).then(|| {
                let key = match rule {
                    Json::Object(_) => format!("{prefix}permission.{tool}.{pattern}"),
                    _ => format!("{prefix}permission.{tool}"),
                };
                Says::Off(Why::Setting { file: source(layers, tool, pattern), key })
            });
            // A blank and anything may be missing at the end.
            for pattern in [Some(pattern), pattern.strip_suffix(" *")].into_iter().flatten() {
                let matches = Matches::Wildcard(pattern.to_owned());
                config.switches.push(Switch { matches, says: says.clone() });
            }
        }
    }
}

/// Returns the last file or variable that says something about a pattern of a tool.
fn source(layers: &[Layer], tool: &str, pattern: &str) -> PathBuf {
    let tells = |rules: &Json| match &rules[tool] {
        Json::Object(rules) => rules.contains_key(pattern),
        rule => *rule != Json::Null,
    };
    let told = layers.iter().rev().find(|(_, settings)| {
        let agents = ["agent", "mode"].map(|group| settings[group].entries());
        let mut agents = agents.into_iter().flatten().map(|(_, agent)| &agent["permission"]);
        tells(&settings["permission"]) || tells(&settings["tools"]) || agents.any(tells)
    });
    told.map(|(from, _)| from.clone()).unwrap_or_default()
}
