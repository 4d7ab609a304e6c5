//! Codex: `config.toml` of the machine and of the user, that of a project that the user trusts, plugins, and the skills that
//! come with the program.
//!
//! Measured with version 0.171.0. What a project says about single skills is ignored.

use std::path::{Component, Path, PathBuf};

use semver::Version;
use toml::{Table, Value};

use super::{Config, Matches, Says, Switch};
use crate::agents::listing::walk::{Dir, Manifest, is_kind, upwards};
use crate::agents::listing::{Asked, Why};
use crate::agents::resolve;
use crate::agents::rules::Owner;
use crate::error::Error;
use crate::fs::{self, Kind};
use crate::path::normal;

/// Its models, as its catalog has them: how many tokens they take, and how many a setting can make it.
const MODELS: &[(&str, i64, i64)] = &[
    ("codex-auto-review", 272_000, 872_000),
    ("gpt-5.5", 272_000, 272_000),
    ("gpt-5.6-luna", 272_000, 872_000),
    ("gpt-5.6-sol", 272_000, 872_000),
    ("gpt-5.6-terra", 272_000, 872_000),
    ("gpt-6-astra", 272_000, 872_000),
    ("gpt-6-luna", 272_000, 872_000),
    ("gpt-6-sol", 272_000, 872_000),
    ("gpt-6.1-sol", 500_000, 872_000),
    ("gpt-6.1-terra", 500_000, 872_000),
    ("gpt-6.2-astra", 272_000, 872_000),
    (MODEL, 500_000, 872_000),
    ("gpt-daybreak-blue-latest", 272_000, 872_000),
    ("gpt-daybreak-red-latest", 372_000, 372_000),
];
/// The model, if no setting names one.
const MODEL: &str = "gpt-6.2-sol";
/// The setting that switches the listing off.
const INSTRUCTIONS: &str = "skills.include_instructions";
/// The window of all other models, which a setting can make as large as it likes.
const WINDOW: i64 = 272_000;
/// The most tokens that a setting can give to the listing.
const MOST_TOKENS: u64 = 10_000;
/// The skills that come with the program and are listed: names and descriptions.
const BUILT_IN: &str = include_str!("codex.tsv");

pub(super) fn read(asked: Asked<'_>, config: &mut Config) {
    let Some(home) = resolve("$CODEX_HOME", asked.settings) else { return };
    let home = fs::resolved(&home);
    let mut settings = config.toml(Path::new("/etc/codex/config.toml"));
    let file = home.join("config.toml");
    let user = config.toml(&file);
    config.switch_all(instructs(&settings), Path::new("/etc/codex/config.toml"), INSTRUCTIONS);
    config.switch_all(instructs(&user), &file, INSTRUCTIONS);
    config.switches = switches(&user, &file, &home, asked);
    merge(&mut settings, user);
    if let Some(markers) = settings.get("project_root_markers").and_then(Value::as_array) {
        config.markers = markers.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    }
    project(&home, asked, config, &mut settings);
    let flag = |path| at(&settings, path).and_then(Value::as_bool);
    if flag(&["skills", "bundled", "enabled"]) == Some(false) {
        config.without.push(Owner::BuiltIn);
    } else if !fs::exists(&home.join("skills/.system/.codex-system-skills.marker")) {
        // It writes them when it starts. The marker of another version stands beside the skills of that one.
        config.built_in = BUILT_IN.lines().filter_map(|line| line.split_once('\t')).collect();
    }
    config.window = Some(u64::try_from(window(&settings)).unwrap_or_default());
    let budget = at(&settings, &["skills", "max_context_tokens"]).and_then(Value::as_integer);
    if budget.is_some_and(|most| most < 1) {
        let told = "Codex does not start with `skills.max_context_tokens` below 1";
        config.problems.push(Error::config(told));
    }
    let budget = budget.filter(|most| *most > 0);
    config.budget = budget.and_then(|most| u64::try_from(most).ok()).map(|most| most.min(MOST_TOKENS));
    if flag(&["features", "plugins"]) != Some(false) {
        config.after = plugins(&settings, &home);
    }
}

/// Returns whether settings want a listing.
fn instructs(settings: &Table) -> Option<bool> {
    at(settings, &["skills", "include_instructions"]).and_then(Value::as_bool)
}

/// Adds the directories `.codex` of the project, and puts the settings in those that the user trusts over `settings`.
fn project(home: &Path, asked: Asked<'_>, config: &mut Config, settings: &mut Table) {
    // An empty directory `.git` makes no repository here, but it does where `.agents` are looked for.
    let is_marker = |path: &Path| match fs::real_path(path) {
        Ok(Some(real)) => {
            !path.ends_with(".git") || !is_kind(&real, Kind::Directory) || fs::exists(&real.join("HEAD"))
        }
        _ => false,
    };
    let dirs = upwards(&asked.settings.cwd, config, is_marker);
    let root = dirs.last().map_or(Path::new(""), PathBuf::as_path).to_owned();
    let mut own = dirs;
    own.retain(|dir| {
        fs::real_path(&dir.join(".codex")).is_ok_and(|real| real.is_some_and(|real| real != home))
    });
    let trust = settings.get("projects").cloned();
    let is_trusted = |dir: &Path| {
        // The first that is named decides.
        let dirs = [Some(dir.to_owned()), Some(root.clone()), main_repository(&root)];
        let mut named = dirs.iter().flatten().filter_map(|dir| trust.as_ref()?.get(dir.to_str()?));
        named.next().and_then(|project| project.get("trust_level")).and_then(Value::as_str) == Some("trusted")
    };
    for dir in own.iter().rev().filter(|dir| is_trusted(dir)) {
        let file = dir.join(".codex/config.toml");
        let more = config.toml(&file);
        config.switch_all(instructs(&more), &file, INSTRUCTIONS);
        merge(settings, more);
    }
    let skills = |dir: &PathBuf| Dir {
        path: dir.join(".codex/skills"),
        owner: Owner::Project,
        plugin: None,
        skips_hidden: true,
    };
    config.without_dirs.push(".codex/skills");
    config.before = own.iter().map(skills).collect();
}

/// Returns the directory of the repository of which the one in `root` is a worktree: its files lead there and back.
fn main_repository(root: &Path) -> Option<PathBuf> {
    let text = |path: &Path| fs::read_text(path, super::MAX_SETTINGS).ok().flatten();
    let link = root.join(".git");
    let git = normal(&root.join(text(&link)?.strip_prefix("gitdir:")?.trim()));
    let leads_to = |name: &str| Some(fs::resolved(&normal(&git.join(text(&git.join(name))?.trim()))));
    let common = leads_to("commondir")?;
    let worktrees = git.parent().filter(|dir| dir.ends_with("worktrees"))?;
    let is_worktree =
        fs::resolved(worktrees.parent()?) == common && leads_to("gitdir")? == fs::resolved(&link);
    common.parent().filter(|_| is_worktree).map(Path::to_owned)
}

/// Returns how many tokens the model takes; none or less if that is not known.
fn window(settings: &Table) -> i64 {
    let named = |name: &str| {
        let known = MODELS.iter().filter(|(start, ..)| name.starts_with(start));
        known.max_by_key(|(start, ..)| start.len())
    };
    let model = settings.get("model").and_then(Value::as_str).unwrap_or(MODEL);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let without_provider = || {
        let (provider, name) = model.split_once('/')?;
        (!provider.is_empty() && provider.chars().all(is_plain) && !name.contains('/')).then_some(name)
    };
    let known = named(model).or_else(|| named(without_provider()?));
    match (settings.get("model_context_window").and_then(Value::as_integer), known) {
        (Some(set), Some((_, _, most))) => set.min(*most),
        (Some(set), None) => set,
        (None, known) => known.map_or(WINDOW, |(_, usual, _)| *usual),
    }
}

/// Returns the directories of skills of the installed plugins that are enabled, sorted.
fn plugins(settings: &Table, home: &Path) -> Vec<Dir> {
    let named = settings.get("plugins").and_then(Value::as_table);
    let is_on = |plugin: &Value| plugin.get("enabled").and_then(Value::as_bool) != Some(false);
    let mut dirs = Vec::new();
    for (id, _) in named.into_iter().flatten().filter(|(_, plugin)| is_on(plugin)) {
        let Some((name, market)) = id
            .rsplit_once('@')
            .filter(|(name, market)| [name, market].iter().all(|part| is_part(part, &['-', '_'])))
        else {
            continue;
        };
        let Some(root) = newest(&home.join("plugins/cache").join(market).join(name)) else { continue };
        let Some(manifest) = Manifest::read(&root) else { continue };
        for path in skills(&manifest, &root) {
            let plugin = Some(manifest.name.clone());
            dirs.push(Dir { path, owner: Owner::Plugin, plugin, skips_hidden: true });
        }
    }
    dirs.sort_by(|one, other| one.path.cmp(&other.path));
    dirs
}

/// Returns the directory of the version of a plugin that is used: `local`, or the newest.
fn newest(plugin: &Path) -> Option<PathBuf> {
    let entries = fs::entries(plugin).ok()?.into_iter();
    let versions = entries.filter(|(_, kind)| *kind == Kind::Directory);
    let mut versions: Vec<String> = versions.filter_map(|(name, _)| name.into_string().ok()).collect();
    versions.retain(|version| is_part(version, &['-', '_', '.', '+']) && version != "." && version != "..");
    let by_age = |one: &String, other: &String| match (Version::parse(one), Version::parse(other)) {
        (Ok(one), Ok(other)) => one.cmp(&other),
        _ => one.cmp(other),
    };
    versions.sort_unstable_by(by_age);
    let local = versions.iter().find(|version| *version == "local");
    Some(plugin.join(local.or(versions.last())?))
}

/// Returns where the skills of a plugin are: the paths in the manifest that are below the plugin, or `skills`.
fn skills(manifest: &Manifest, root: &Path) -> Vec<PathBuf> {
    let paths = match &manifest.skills {
        serde_json::Value::String(path) => vec![path.as_str()],
        serde_json::Value::Array(paths) => {
            paths.iter().map(serde_json::Value::as_str).collect::<Option<_>>().unwrap_or_default()
        }
        _ => Vec::new(),
    };
    let below = |path: &str| {
        let path = Path::new(path.strip_prefix("./").filter(|below| !below.is_empty())?);
        let is_below = path.components().all(|part| matches!(part, Component::Normal(_)));
        is_below.then(|| root.join(path.components().collect::<PathBuf>()))
    };
    let dirs: Vec<_> = paths.into_iter().filter_map(below).collect();
    if dirs.is_empty() { vec![root.join("skills")] } else { dirs }
}

/// Reports whether `text` is a name of a plugin, a marketplace or a version, which may have some `marks`.
fn is_part(text: &str, marks: &[char]) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || marks.contains(&c))
}

/// Returns what `[[skills.config]]` says, of which a later entry about the same skills counts.
fn switches(user: &Table, file: &Path, home: &Path, asked: Asked<'_>) -> Vec<Switch> {
    let entries = at(user, &["skills", "config"]).and_then(Value::as_array);
    let switch = |entry: &Value| {
        let text = |key| entry.get(key).and_then(Value::as_str);
        let (key, matches) = match (text("path"), text("name").map(str::trim)) {
            (Some(path), None) => {
                let path = match path.strip_prefix("~/") {
                    Some(below) => asked.settings.home.as_ref()?.join(below),
                    None => home.join(path),
                };
                ("path", Matches::File(fs::resolved(&path)))
            }
            (None, Some(name)) if !name.is_empty() => ("name", Matches::Name(name.to_owned())),
            _ => return None,
        };
        let says = (!entry.get("enabled")?.as_bool()?)
            .then(|| Says::Off(Why::Setting { file: file.to_owned(), key: format!("skills.config: {key}") }));
        Some(Switch { matches, says })
    };
    entries.into_iter().flatten().filter_map(switch).collect()
}

/// Returns the value at a path of keys.
fn at<'a>(table: &'a Table, keys: &[&str]) -> Option<&'a Value> {
    let (first, rest) = keys.split_first()?;
    rest.iter().try_fold(table.get(*first)?, |value, key| value.get(key))
}

/// Puts the values of `over` into `table`, those of tables one by one.
fn merge(table: &mut Table, over: Table) {
    for (key, value) in over {
        match (table.get_mut(&key), value) {
            (Some(Value::Table(inner)), Value::Table(value)) => merge(inner, value),
            (_, value) => drop(table.insert(key, value)),
        }
    }
}

impl Config {
    fn toml(&mut self, path: &Path) -> Table {
        let Some(text) = self.text(path) else { return Table::new() };
        text.parse().unwrap_or_else(|error: toml::de::Error| {
            self.cannot_read(path, error.message());
            Table::new()
        })
    }
}
