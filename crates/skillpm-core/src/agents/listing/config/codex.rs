//! Codex: `config.toml` of the machine and of the user, and that of a project that the user trusts.
//!
//! Measured with version 0.171.0. What a project says about single skills is ignored.

use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::{Config, Matches, Says, Switch};
use crate::agents::listing::walk::upwards;
use crate::agents::listing::{Asked, Why};
use crate::agents::resolve;
use crate::agents::rules::Owner;
use crate::fs;

/// The windows of its models: how many tokens they take, and how many a setting can make it. As the catalog of the
/// program has them.
const WINDOWS: &[(&str, u64, u64)] = &[
    ("gpt-6.2-sol", 500_000, 872_000),
    ("gpt-6.1-sol", 500_000, 872_000),
    ("gpt-6.1-terra", 500_000, 872_000),
    ("gpt-daybreak-red-latest", 372_000, 372_000),
    ("gpt-5.5", 272_000, 272_000),
];
/// That of all other models.
const WINDOW: (u64, u64) = (272_000, 872_000);
/// The model, if no setting names one.
const MODEL: &str = "gpt-6.2-sol";
/// The setting that switches the listing off.
const INSTRUCTIONS: &str = "skills.include_instructions";
/// The most tokens that a setting can give to the listing.
const MOST_TOKENS: u64 = 10_000;

pub(super) fn read(asked: Asked<'_>, config: &mut Config) {
    let machine = config.toml(Path::new("/etc/codex/config.toml"));
    let instructs = |table: &Table| table.get("skills")?.get("include_instructions")?.as_bool();
    config.switch_all(instructs(&machine), Path::new("/etc/codex/config.toml"), INSTRUCTIONS);
    let home = resolve("$CODEX_HOME", asked.settings);
    let file = home.as_ref().map(|home| home.join("config.toml"));
    let user = file.as_ref().map(|file| config.toml(file)).unwrap_or_default();
    if let Some(file) = &file {
        config.switch_all(instructs(&user), file, INSTRUCTIONS);
    }
    let mut merged = machine;
    merge(&mut merged, user.clone());
    let markers = merged.get("project_root_markers").and_then(Value::as_array);
    if let Some(markers) = markers {
        config.markers = markers.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    }
    let dirs = upwards(&asked.settings.cwd, config);
    let trusts = |dir: &PathBuf| {
        let project = user.get("projects").and_then(|projects| projects.get(dir.to_str()?));
        project.and_then(|project| project.get("trust_level")).and_then(Value::as_str) == Some("trusted")
    };
    if [dirs.first(), dirs.last()].into_iter().flatten().any(trusts) {
        for dir in dirs.iter().rev().map(|dir| dir.join(".codex")).filter(|dir| Some(dir) != home.as_ref()) {
            let project = config.toml(&dir.join("config.toml"));
            config.switch_all(instructs(&project), &dir.join("config.toml"), INSTRUCTIONS);
            merge(&mut merged, project);
        }
    }
    let skills = merged.get("skills");
    let flag = |value: Option<&Value>, key| value.and_then(|value| value.get(key)).and_then(Value::as_bool);
    if flag(skills.and_then(|skills| skills.get("bundled")), "enabled") == Some(false) {
        config.without.push(Owner::BuiltIn);
    }
    let model = merged.get("model").and_then(Value::as_str).unwrap_or(MODEL);
    let number =
        |value: Option<&Value>| value.and_then(Value::as_integer).and_then(|n| u64::try_from(n).ok());
    let known =
        WINDOWS.iter().filter(|(name, ..)| model.starts_with(name)).max_by_key(|(name, ..)| name.len());
    let (usual, most) = known.map_or(WINDOW, |(_, usual, most)| (*usual, *most));
    let set = number(merged.get("model_context_window"));
    config.window = Some(set.map_or(usual, |set| set.min(most)));
    let budget = number(skills.and_then(|skills| skills.get("max_context_tokens")));
    config.budget = budget.map(|budget| budget.min(MOST_TOKENS));
    if let (Some(file), Some(home)) = (file, home) {
        config.switches = switches(&user, &file, &home, asked);
    }
}

/// Returns what `[[skills.config]]` says, of which a later entry about the same skills counts.
fn switches(user: &Table, file: &Path, home: &Path, asked: Asked<'_>) -> Vec<Switch> {
    let entries = user.get("skills").and_then(|skills| skills.get("config")).and_then(Value::as_array);
    let switch = |entry: &Value| {
        let text = |key| entry.get(key).and_then(Value::as_str);
        let (key, matches) = match (text("path"), text("name").map(str::trim)) {
            (Some(path), None) => {
                let path = match path.strip_prefix("~/") {
                    Some(below) => asked.settings.home.as_ref()?.join(below),
                    None => home.join(path),
                };
                let real = fs::real_path(&path).ok().flatten();
                ("path", Matches::File(real.unwrap_or(path)))
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
