//! 295 real skills of five repositories, installed, restored without a network and verified.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use skillpm_core::ops::install::{InstallRequest, install};
use skillpm_sources::context::Context;

use crate::support::testdata::{self, Expected, REPOSITORIES};
use crate::support::{Forge, Sandbox};

fn listed(sandbox: &Sandbox) -> Vec<serde_json::Value> {
    let output = sandbox.run(&["list", "--json"]);
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    serde_json::from_str(&output.stdout).expect("JSON")
}

fn digests(list: &[serde_json::Value]) -> BTreeMap<String, String> {
    let text = |value: &serde_json::Value| value.as_str().expect("text").to_owned();
    list.iter().map(|skill| (text(&skill["name"]), text(&skill["digest"]))).collect()
}

/// Everything that an agent could load is installed; then the project is deleted and comes back
/// from the store, byte for byte, with the server stopped.
#[test]
fn five_repositories_are_installed_and_come_back_offline() {
    let Some(testdata) = testdata::dir() else { return };
    let forge = Forge::start();
    let mut sandbox = Sandbox::new();
    sandbox.forge(&forge);
    for name in REPOSITORIES {
        forge.repo(name).commit(&testdata::repository(&testdata, name));
        let output = sandbox.run(&["install", name, "--skill", "*", "--agent", "claude-code"]);
        assert_eq!(output.code, Some(0), "{name}: {}", output.stderr);
    }
    // What lies in a plugin's directory only is hidden by `skills/` and has to be named.
    let found: BTreeSet<_> = digests(&listed(&sandbox)).into_keys().collect();
    let all = outermost_skills(&testdata);
    for (name, source) in all.iter().filter(|(name, _)| !found.contains(*name)) {
        let output = sandbox.run(&["install", source]);
        assert_eq!(output.code, Some(0), "{name}: {output}");
    }
    let before = listed(&sandbox);
    let names: BTreeSet<_> = digests(&before).into_keys().collect();
    assert_eq!(names, all.into_keys().collect());
    println!("{} skills of {} repositories", names.len(), REPOSITORIES.len());
    for skill in &before {
        assert_eq!(skill["state"], "ok", "{skill}");
        assert_eq!(skill["agents"], serde_json::json!(["claude-code"]), "{skill}");
    }

    let invoked = sandbox.run(&["invoke", "gws-calendar-agenda", "next week"]);
    assert_eq!(invoked.code, Some(0), "{}", invoked.stderr);
    assert!(
        invoked
            .stdout
            .starts_with("Base directory for this skill: [DIR]/project/.agents/skills/gws-calendar-agenda\n")
    );
    assert!(invoked.stdout.contains("ARGUMENTS: next week"));

    let lock = sandbox.read("skillpm.lock");
    for dir in [".agents", ".claude"] {
        std::fs::remove_dir_all(sandbox.project().join(dir)).expect("removed");
    }
    std::fs::remove_dir_all(sandbox.home().join(".cache")).expect("removed");
    drop(forge);
    let output = sandbox.run(&["install", "--offline"]);
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    let after = listed(&sandbox);
    assert_eq!(digests(&after), digests(&before));
    assert_eq!(after, before);
    assert_eq!(sandbox.read("skillpm.lock"), lock, "restoring changes nothing");
}

/// All skills that are not a part of another one, by name, with a source that means each. Two
/// repositories hold second copies of theirs, for plugins: the same names.
fn outermost_skills(testdata: &std::path::Path) -> BTreeMap<String, String> {
    let all = testdata::expected(testdata);
    let is_inner = |skill: &Expected| {
        all.iter().any(|o| o.repo == skill.repo && skill.dir().starts_with(&format!("{}/", o.dir())))
    };
    let source = |skill: &Expected| format!("{}/{}", skill.repo, skill.dir());
    let outer = all.iter().filter(|skill| !is_inner(skill));
    outer.filter_map(|skill| Some((skill.lenient.name.clone()?, source(skill)))).collect()
}

/// Each of the 295 by its path: what can be loaded is installed, the others are refused with the
/// reason, and nothing else is left out.
#[test]
fn each_skill_by_its_path() {
    let Some(testdata) = testdata::dir() else { return };
    let forge = Forge::start();
    let mut sandbox = Sandbox::new();
    sandbox.forge(&forge);
    for name in REPOSITORIES {
        forge.repo(name).commit(&testdata::repository(&testdata, name));
    }
    let context = Context {
        reporter: Arc::new(skillpm_sources::reporter::Silent),
        ..Context::silent(sandbox.settings())
    };
    let (mut installed, mut off_specification, mut refused) = (0, 0, Vec::new());
    for expected in testdata::expected(&testdata) {
        let source = format!("{}/{}", expected.repo, expected.dir());
        let request =
            InstallRequest { sources: vec![source.clone()], dry_run: true, ..InstallRequest::default() };
        match install(&context, &request) {
            Ok(outcome) => {
                assert_eq!(outcome.skills.len(), 1, "{source}: a skill's directory is not searched further");
                assert!(expected.lenient.name.is_some(), "{source} has no name that can be read");
                installed += 1;
                off_specification += usize::from(
                    outcome.warnings.iter().any(|w| w.to_string().contains("off the specification")),
                );
            }
            Err(error) => {
                assert_eq!(expected.lenient.name, None, "{source}: {error}");
                refused.push(format!("{source}: {}", error_chain(&error)));
            }
        }
    }
    println!(
        "{installed} installed, {off_specification} of them off the specification, {} refused",
        refused.len()
    );
    assert_eq!((installed, refused.len()), (289, 6), "{refused:#?}");
    assert!(refused.iter().all(|line| line.contains("no frontmatter")), "{refused:#?}");
}

fn error_chain(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {}", error_chain(cause)),
        None => error.to_string(),
    }
}
