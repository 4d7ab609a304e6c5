//! Gemini CLI: `settings.json` of the user and of the project, trusted folders, extensions, and its own skills.
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

pub(super) fn read(asked: Asked<'_>, config: &mut Config) {
    let Some(home) = resolve("~/.gemini", asked.settings) else { return };
    let cwd = &asked.settings.cwd;
    let own = home.join("settings.json");
    let user = config.json(&own).unwrap_or(Json::Null);
    let file = cwd.join(".gemini/settings.json");
    // In the home directory both are one file.
    let is_home = fs::real_path(&file).ok().flatten() == fs::real_path(&own).ok().flatten();
    let project = if is_home { None } else { config.json(&file) };
    let has_trust = |settings: &Json| settings["security"]["folderTrust"]["enabled"].as_bool();
    let is_trusted_folder = trusts(&home, cwd, config);
    let is_trusted = |enabled: Option<bool>| enabled == Some(false) || is_trusted_folder;
    let enabled_by_user = has_trust(&user);
    let mut files = vec![(own, user)];
    // A project that is not trusted does not say that it is.
    if is_trusted(enabled_by_user) {
        files.extend(project.map(|project| (file, project)));
    }
    if !is_trusted(files.iter().rev().find_map(|(_, settings)| has_trust(settings))) {
        config.untrusted = Some(home.join("trustedFolders.json"));
    }
    for (file, settings) in &files {
        let skills = &settings["skills"];
        config.switch_all(skills["enabled"].as_bool(), file, "skills.enabled");
        for name in skills["disabled"].items().iter().filter_map(Json::as_str) {
            let why = Why::Setting { file: file.clone(), key: "skills.disabled".to_owned() };
            let says = Some(Says::Off(why));
            config.switches.push(Switch { matches: Matches::AnyCase(name.to_owned()), says });
        }
    }
    config.before = built_in(asked).into_iter().chain(extensions(&home, cwd, config)).collect();
}

/// Reports whether the user trusts the directory: the longest path among the trusted folders decides.
fn trusts(home: &Path, cwd: &Path, config: &mut Config) -> bool {
    let folders = config.json(&home.join("trustedFolders.json")).unwrap_or(Json::Null);
    let real = |path: &Path| fs::real_path(path).ok().flatten().unwrap_or_else(|| path.to_owned());
    let cwd = real(cwd);
    let rules = folders.entries().filter_map(|(path, level)| {
        let level = level.as_str()?;
        let folder = Path::new(path);
        let folder = if level == "TRUST_PARENT" { folder.parent()? } else { folder };
        cwd.starts_with(real(folder)).then_some((path.len(), level != "DO_NOT_TRUST"))
    });
    rules.max_by_key(|(length, _)| *length).is_some_and(|(_, is_trusted)| is_trusted)
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
        let Some(manifest) = config.json(&dir.join("gemini-extension.json")) else { continue };
        let Some(name) = manifest["name"].as_str() else { continue };
        let mut is_on = true;
        for rule in enablement[name]["overrides"].items().iter().filter_map(Json::as_str) {
            let pattern = rule.trim_start_matches('!');
            if is_match(pattern, &format!("{}/", cwd.display())) {
                is_on = !rule.starts_with('!');
            }
        }
        let link = config.json(&dir.join(".gemini-extension-install.json")).unwrap_or(Json::Null);
        let linked = (link["type"].as_str() == Some("link"))
            .then(|| link["source"].as_str().map(PathBuf::from))
            .flatten();
        if is_on {
            let path = linked.unwrap_or(dir).join("skills");
            dirs.push(Dir { path, owner: Owner::Plugin, plugin: None, skips_hidden: false });
        }
    }
    dirs
}
