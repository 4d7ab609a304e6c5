//! Claude Code: `settings.json` in four places, and the plugins that they enable.
//!
//! Source: code.claude.com/docs/en/settings-reference and /skills, 22 August 2026.

use std::path::{Path, PathBuf};

use super::{Config, Matches, Says, Switch};
use crate::agents::listing::walk::{Dir, upwards};
use crate::agents::listing::{Asked, Why};
use crate::agents::resolve;
use crate::agents::rules::Owner;
use crate::env;
use crate::fs;
use crate::interop::json::Json;

/// The budget in characters if the variable for it has a value that is no number.
const FALLBACK_BUDGET: u64 = 8_000;
/// The end of the name of a model with a large window, and that window in tokens (code.claude.com/docs/en/model-config).
const LARGE: &str = "[1m]";
const LARGE_WINDOW: u64 = 1_000_000;

pub(super) fn read(asked: Asked<'_>, config: &mut Config) {
    // A later file overrides an earlier one.
    let files = [
        resolve("$CLAUDE_CONFIG_DIR/settings.json", asked.settings),
        Some(asked.project.join(".claude/settings.json")),
        Some(asked.project.join(".claude/settings.local.json")),
        resolve("/etc/claude-code/managed-settings.json", asked.settings),
    ];
    let (mut enabled, mut denied) = (Vec::new(), Vec::new());
    // Settings name variables for each session, which those of the shell give way to.
    let mut variables = [None, None];
    let mut model = None;
    for file in files.into_iter().flatten() {
        let Some(settings) = config.json(&file) else { continue };
        config.part = fraction(&settings).or(config.part);
        config.longest =
            settings["skillListingMaxDescChars"].as_count().filter(|most| *most > 0).or(config.longest);
        let set = |key: &str| settings["env"][key].as_str().map(str::to_owned);
        for (value, key) in
            variables.iter_mut().zip([env::SLASH_COMMAND_TOOL_CHAR_BUDGET, env::ANTHROPIC_MODEL])
        {
            *value = set(key).or(value.take());
        }
        model = settings["model"].as_str().map(str::to_owned).or(model);
        config.switches.extend(overrides(&settings, &file));
        denied.extend(denials(&settings, &file));
        for (plugin, is_on) in settings["enabledPlugins"].entries() {
            enabled.retain(|other: &String| other != plugin);
            if is_on.as_bool().unwrap_or_default() {
                enabled.push(plugin.to_owned());
            }
        }
    }
    // What is denied stays denied, whatever else allows it.
    config.switches.extend(denied);
    let [budget, named] = variables;
    let variable = |set: Option<String>, key| set.or_else(|| asked.settings.env.get(key).map(str::to_owned));
    if let Some(text) = variable(budget, env::SLASH_COMMAND_TOOL_CHAR_BUDGET) {
        config.budget = Some(text.trim().parse().unwrap_or(FALLBACK_BUDGET));
    }
    if variable(named, env::ANTHROPIC_MODEL).or(model).is_some_and(|model| model.trim().ends_with(LARGE)) {
        config.window = Some(LARGE_WINDOW);
    }
    config.after = plugins(asked, config, &enabled);
    let own = resolve("$CLAUDE_CONFIG_DIR/commands", asked.settings).map(|path| (path, Owner::User));
    let here = upwards(&asked.settings.cwd, config, fs::exists).into_iter();
    let here = here.map(|dir| (dir.join(".claude/commands"), Owner::Project));
    let dir = |(path, owner)| Dir { path, owner, plugin: None, skips_hidden: true };
    config.commands = own.into_iter().chain(here).map(dir).collect();
}

fn fraction(settings: &Json) -> Option<f64> {
    settings["skillListingBudgetFraction"].as_f64().filter(|part| *part > 0.0 && *part <= 1.0)
}

/// Returns what `skillOverrides` says. It is not about the skills of plugins.
fn overrides(settings: &Json, file: &Path) -> impl Iterator<Item = Switch> {
    settings["skillOverrides"].entries().filter_map(move |(name, word)| {
        let why = Why::Setting { file: file.to_owned(), key: format!("skillOverrides.{name}") };
        let says = match word.as_str()? {
            "on" => None,
            "name-only" => Some(Says::NameOnly(why)),
            "off" | "user-invocable-only" => Some(Says::Off(why)),
            _ => return None,
        };
        Some(Switch { matches: Matches::OwnName(name.to_owned()), says })
    })
}

/// Returns what `permissions.deny` says: `Skill` denies all, `Skill(name)` and `Skill(name *)` one.
fn denials(settings: &Json, file: &Path) -> impl Iterator<Item = Switch> {
    let rules = settings["permissions"]["deny"].items().iter();
    rules.filter_map(Json::as_str).filter_map(move |rule| {
        let matches = match rule.strip_prefix("Skill")?.strip_prefix('(') {
            None if rule == "Skill" => Matches::Wildcard("*".to_owned()),
            None => return None,
            Some(inside) => Matches::Name(inside.strip_suffix(')')?.trim_end_matches(" *").to_owned()),
        };
        let why = Why::Setting { file: file.to_owned(), key: format!("permissions.deny: {rule}") };
        Some(Switch { matches, says: Some(Says::Off(why)) })
    })
}

/// Returns the directories of skills of the enabled plugins, as far as they are installed.
fn plugins(asked: Asked<'_>, config: &mut Config, enabled: &[String]) -> Vec<Dir> {
    let installed = resolve("$CLAUDE_CONFIG_DIR/plugins/installed_plugins.json", asked.settings);
    let Some(installed) = installed.and_then(|file| config.json(&file)) else { return Vec::new() };
    let dir = |plugin: &String| {
        let entry = &installed["plugins"][plugin.as_str()];
        // One that several scopes installed has one entry for each.
        let path =
            entry["installPath"].as_str().or_else(|| entry.items().first()?["installPath"].as_str())?;
        let name = plugin.split_once('@').map_or(plugin.as_str(), |(name, _)| name);
        let path = PathBuf::from(path).join("skills");
        Some(Dir { path, owner: Owner::Plugin, plugin: Some(name.to_owned()), skips_hidden: false })
    };
    enabled.iter().filter_map(dir).collect()
}
