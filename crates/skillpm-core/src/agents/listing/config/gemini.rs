//! Gemini CLI: `settings.json` of the machine, the user and the project, trusted folders, extensions, and its own skills.
//!
//! Measured with version 0.61.0.

use std::path::{Path, PathBuf};

use super::{Config, Matches, Says, Switch, is_match};
use crate::agents::listing::walk::Dir;
use crate::agents::listing::{Asked, Why};
use crate::agents::resolve;
use crate::agents::rules::Owner;
use crate::env;
use crate::fs;
use crate::interop::json::Json;
use crate::path::normal;

pub(super) fn read(asked: Asked<'_>, config: &mut Config) {
    let Some(home) = resolve("$GEMINI_CLI_HOME/.gemini", asked.settings) else { return };
    let cwd = &asked.settings.cwd;
    let (defaults, machine) = machine(asked);
    let own = home.join("settings.json");
    let mut files = Vec::new();
    for file in [&defaults, &own, &machine] {
        // Settings for the machine count only if no user but root can change them.
        let counts = *file == own || fs::is_of_root_alone(file);
        let settings = if counts { config.json(file) } else { None };
        files.push((file.clone(), settings.unwrap_or(Json::Null)));
    }
    // In the home directory both are one file.
    let is_home = home.parent().map(fs::resolved) == Some(fs::resolved(cwd));
    let file = cwd.join(".gemini/settings.json");
    let project = if is_home { None } else { config.json(&file) };
    let (decides, is_trusted_folder) = trusts(asked, &home, config);
    let is_trusted = |files: &[(PathBuf, Json)]| {
        let enabled = |(_, settings): &(_, Json)| flag(&settings["security"]["folderTrust"]["enabled"]);
        is_trusted_folder
            .unwrap_or_else(|is_named| is_named || files.iter().rev().find_map(enabled) == Some(false))
    };
    // A project that is not trusted does not say that it is.
    if is_trusted(&files) {
        files.splice(2..2, project.map(|project| (file, project)));
    }
    if !is_trusted(&files) {
        config.untrusted = Some(decides);
    }
    for (file, settings) in &files {
        let skills = &settings["skills"];
        config.switch_all(flag(&skills["enabled"]), file, "skills.enabled");
        let disabled = &skills["disabled"];
        for name in disabled.items().iter().chain([disabled]).filter_map(Json::as_str) {
            let why = Why::Setting { file: file.clone(), key: "skills.disabled".to_owned() };
            let says = Some(Says::Off(why));
            config.switches.push(Switch { matches: Matches::AnyCase(name.to_owned()), says });
        }
    }
    config.before = built_in(asked).into_iter().chain(extensions(&home, cwd, config)).collect();
}

/// Returns the files of defaults and of settings for the machine.
fn machine(asked: Asked<'_>) -> (PathBuf, PathBuf) {
    let named = |name| asked.settings.env.get(name).map(|path| asked.settings.cwd.join(path));
    let settings = named(env::GEMINI_CLI_SYSTEM_SETTINGS_PATH)
        .unwrap_or_else(|| PathBuf::from("/etc/gemini-cli/settings.json"));
    let defaults = named(env::GEMINI_CLI_SYSTEM_DEFAULTS_PATH)
        .unwrap_or_else(|| settings.with_file_name("system-defaults.json"));
    (defaults, settings)
}

/// Returns a setting that is true or false, also as text.
fn flag(value: &Json) -> Option<bool> {
    value.as_bool().or_else(|| value.as_str()?.to_ascii_lowercase().parse().ok())
}

/// Returns what decides whether the directory is trusted, and whether it is: `Ok` if no setting changes that, otherwise
/// whether a trusted folder is around it.
fn trusts(asked: Asked<'_>, home: &Path, config: &mut Config) -> (PathBuf, Result<bool, bool>) {
    let is = |name, word| asked.settings.env.get(name) == Some(word);
    if is(env::GEMINI_RESTRICTED_MODE, "true") {
        return (env::GEMINI_RESTRICTED_MODE.into(), Ok(false));
    }
    let workspace = env::GEMINI_CLI_TRUST_WORKSPACE;
    if is(workspace, "false") || is(workspace, "true") {
        return (workspace.into(), Ok(is(workspace, "true")));
    }
    let cwd = &asked.settings.cwd;
    let named = asked.settings.env.get(env::GEMINI_CLI_TRUSTED_FOLDERS_PATH).map(|path| cwd.join(path));
    let file = named.unwrap_or_else(|| home.join("trustedFolders.json"));
    let folders = config.json(&file).unwrap_or(Json::Null);
    let mut rules: Vec<(PathBuf, &str)> = Vec::new();
    for (folder, level) in folders.entries() {
        let (folder, level) = (normal(&cwd.join(folder)), level.as_str().unwrap_or_default());
        match rules.iter_mut().find(|(other, _)| *other == folder) {
            Some(rule) => rule.1 = level,
            None => rules.push((folder, level)),
        }
    }
    let cwd = fs::resolved(cwd);
    let length = |folder: &Path| folder.to_string_lossy().encode_utf16().count();
    rules.retain(|(folder, level)| {
        let base = if *level == "TRUST_PARENT" { folder.parent().unwrap_or(folder) } else { folder };
        cwd.starts_with(fs::resolved(base))
    });
    // The longest decides, and the first of several.
    let longest = rules.iter().rev().max_by_key(|(folder, _)| length(folder));
    (file, Err(longest.is_some_and(|(_, level)| *level != "DO_NOT_TRUST")))
}

/// Returns the directory of the skills that come with the program, if it is on this machine.
fn built_in(asked: Asked<'_>) -> Option<Dir> {
    let path = asked.settings.env.program_path();
    let mut program = env::split_paths(&path).map(|dir| dir.join("gemini"));
    let bundle = program.find_map(|program| fs::real_path(&program).ok().flatten())?;
    Some(Dir {
        path: bundle.parent()?.join("builtin"),
        owner: Owner::BuiltIn,
        plugin: None,
        skips_hidden: false,
    })
}

/// Returns the directories of skills of the extensions, which have no names of their own.
fn extensions(home: &Path, cwd: &Path, config: &mut Config) -> Vec<Dir> {
    let dir = home.join("extensions");
    let enablement = config.json(&dir.join("extension-enablement.json")).unwrap_or(Json::Null);
    let mut dirs = Vec::new();
    for name in fs::list_dir(&dir).unwrap_or_default() {
        let dir = dir.join(name);
        let link = config.json(&dir.join(".gemini-extension-install.json")).unwrap_or(Json::Null);
        let linked = link["source"].as_str().filter(|_| link["type"].as_str() == Some("link"));
        let dir = linked.map_or(dir, PathBuf::from);
        let Some(manifest) = config.json(&dir.join("gemini-extension.json")) else { continue };
        let Some(name) = manifest["name"].as_str() else { continue };
        let mut is_on = true;
        for rule in enablement[name]["overrides"].items().iter().filter_map(Json::as_str) {
            let pattern = rule.trim_start_matches('!');
            if is_match(pattern, &format!("{}/", cwd.display())) {
                is_on = !rule.starts_with('!');
            }
        }
        if is_on {
            let path = dir.join("skills");
            dirs.push(Dir { path, owner: Owner::Plugin, plugin: None, skips_hidden: false });
        }
    }
    dirs
}
