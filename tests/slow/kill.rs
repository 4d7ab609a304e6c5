//! Runs that are killed: every skill is old, new or absent, and the next run mends what is left.

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use skillpm_core::ops::disable::{DisableRequest, disable, enable};
use skillpm_core::ops::install::{InstallRequest, install};
use skillpm_core::ops::link::{LinkRequest, link, unlink};
use skillpm_core::ops::list::{ListRequest, SkillState, list};
use skillpm_core::ops::remove::{RemoveRequest, remove};
use skillpm_core::ops::undo::{UndoRequest, undo};
use skillpm_core::ops::update::{UpdateRequest, update};
use skillpm_format::lockfile::Lockfile;
use skillpm_format::scope_kind::ScopeKind;
use skillpm_sources::context::Context;
use skillpm_sources::env::Env;
use skillpm_sources::reporter::{Reporter, Silent};

use crate::support::Sandbox;

/// The step at which the child kills itself, and what it does until then.
const KILL_AT: &str = "SKILLPM_TEST_KILL_AT";
const DEED: &str = "SKILLPM_TEST_DEED";

/// Kills this process, as a loss of power would, at the step of the given number.
struct Killer {
    at: usize,
    steps: AtomicUsize,
}

impl Reporter for Killer {
    fn step(&self, _step: &str) {
        if self.steps.fetch_add(1, Ordering::Relaxed) == self.at {
            let me = rustix::process::getpid();
            rustix::process::kill_process(me, rustix::process::Signal::KILL).expect("a signal to itself");
        }
    }
}

/// What the child does: an installation of two skills, or a change of one or both.
fn deed(context: &Context, deed: &str) {
    let sources = vec!["./src".to_owned()];
    let all = InstallRequest {
        sources,
        skills: vec!["*".into()],
        agents: vec!["claude-code".into()],
        ..InstallRequest::default()
    };
    match deed {
        "install" => drop(install(context, &all).expect("installs")),
        "copy" => drop(install(context, &InstallRequest { copy: true, ..all }).expect("installs")),
        "remove" => {
            let request = RemoveRequest { names: vec!["one".into()], ..RemoveRequest::default() };
            drop(remove(context, &request).expect("removes"));
        }
        "link" | "unlink" => {
            let agents = vec![if deed == "link" { "junie" } else { "claude-code" }.to_owned()];
            let request = LinkRequest { agents, ..LinkRequest::default() };
            let done = if deed == "link" { link(context, &request) } else { unlink(context, &request) };
            drop(done.expect("links"));
        }
        "disable" | "enable" => {
            let request = DisableRequest { names: vec!["one".into()], ..DisableRequest::default() };
            let done = if deed == "disable" { disable(context, &request) } else { enable(context, &request) };
            drop(done.expect("moves"));
        }
        "update" => drop(update(context, &UpdateRequest::default()).expect("updates")),
        "abort" => {
            let request = UpdateRequest { abort: true, ..UpdateRequest::default() };
            drop(update(context, &request).expect("takes back"));
        }
        "edit" => {
            let sources = vec!["./src/one".to_owned()];
            let request = InstallRequest { sources, editable: true, ..InstallRequest::default() };
            drop(install(context, &request).expect("links"));
        }
        "global" => {
            let (sources, scope) = (vec!["./src/one".to_owned()], Some(ScopeKind::User));
            let request = InstallRequest { sources, scope, ..InstallRequest::default() };
            drop(install(context, &request).expect("installs"));
        }
        "undo" => drop(undo(context, &UndoRequest::default()).expect("takes back")),
        other => panic!("no deed `{other}`"),
    }
}

fn context(reporter: Arc<dyn Reporter>) -> Context {
    let settings =
        skillpm_sources::settings::Settings::from_env(Env::from_process().expect("a working directory"));
    Context { reporter, ..Context::silent(settings.expect("settings")) }
}

/// Does nothing unless it is the child of one of the tests below.
#[test]
fn child() {
    let Ok(at) = std::env::var(KILL_AT) else { return };
    let at = at.parse().expect("a number");
    deed(
        &context(Arc::new(Killer { at, steps: AtomicUsize::new(0) })),
        &std::env::var(DEED).expect("a deed"),
    );
}

/// Runs the child in `sandbox`; `true` where it lived.
fn run_child(sandbox: &Sandbox, deed: &str, at: usize) -> bool {
    let status = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "kill::child", "--nocapture"])
        .env_clear()
        .env("HOME", sandbox.home())
        .env(KILL_AT, at.to_string())
        .env(DEED, deed)
        .current_dir(sandbox.project())
        .stdout(Stdio::null())
        .stderr(Stdio::inherit())
        .status()
        .expect("starts");
    assert!(status.success() || status.signal() == Some(9), "{status}");
    status.success()
}

fn write_skill(sandbox: &Sandbox, name: &str, body: &str) {
    let text = format!("---\nname: {name}\ndescription: Does {name}. Use it in tests.\n---\n{body}\n");
    sandbox.write(&format!("src/{name}/SKILL.md"), text);
    sandbox.write(&format!("src/{name}/scripts/run.sh"), format!("#!/bin/sh\necho {body}\n"));
}

/// What a skill's directory says it is: the body that its two files agree on, or a mixture.
fn state(dir: &Path) -> Option<String> {
    let skill = std::fs::read_to_string(dir.join("SKILL.md")).ok();
    let script = std::fs::read_to_string(dir.join("scripts/run.sh")).ok();
    match (skill, script) {
        (None, None) if !dir.exists() => None,
        (Some(skill), Some(script)) => {
            let body = skill.lines().last().unwrap_or_default().to_owned();
            assert!(script.contains(&body), "a mixture in {}: {skill:?} {script:?}", dir.display());
            Some(body)
        }
        other => panic!("half a skill in {}: {other:?}", dir.display()),
    }
}

/// Kills `deed` at each of its steps in turn, in a fresh copy of what `prepare` makes, and checks
/// what is left before and after the next ordinary run.
fn kill_everywhere(
    what: &str,
    prepare: impl Fn(&Sandbox),
    legal: &[Option<&str>],
    settled: impl Fn(&Sandbox, &str),
) {
    let mut points = 0;
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for at in 0.. {
        let sandbox = Sandbox::new();
        prepare(&sandbox);
        let before = std::fs::read_to_string(sandbox.project().join("skillpm.lock")).ok();
        let lived = run_child(&sandbox, what, at);
        for name in ["one", "two"] {
            let state = state(&sandbox.project().join(".agents/skills").join(name));
            assert!(legal.contains(&state.as_deref()), "step {at}: {name} is {state:?}");
            *seen.entry(format!("{state:?}")).or_default() += 1;
        }
        if ["disable", "enable", "edit"].contains(&what) {
            let places = [
                ".agents/skills/one",
                ".agents/.skillpm-disabled/one",
                ".agents/.skillpm-tx/tree-0",
                ".agents/.skillpm-tx/tree-1",
            ];
            let there = places.iter().filter(|place| state(&sandbox.project().join(place)).is_some());
            assert!(there.count() > 0, "step {at}: nothing is lost");
        }
        let after = std::fs::read_to_string(sandbox.project().join("skillpm.lock")).ok();
        let lock = after.as_deref().map(|text| Lockfile::parse(text).expect("the lockfile is whole"));
        if lived {
            assert!(points > 3, "the steps were counted");
            break;
        }
        points += 1;
        // The next ordinary run mends. Where nothing had been begun there is nothing to restore.
        let context = Context::silent(sandbox.settings());
        let restored = install(&context, &InstallRequest::default());
        match lock.or_else(|| before.as_deref().map(|text| Lockfile::parse(text).expect("valid"))) {
            Some(_) => drop(restored.expect("mends")),
            None => {
                if let Err(error) = restored {
                    assert!(error.to_string().contains("there is no `skillpm.toml`"), "step {at}: {error}");
                }
            }
        }
        let listed =
            list(&context, &ListRequest { scope: Some(ScopeKind::Project), ..ListRequest::default() })
                .expect("lists");
        assert!(listed.warnings.is_empty(), "step {at}: {:?}", listed.warnings);
        for skill in &listed.skills {
            let fine = [SkillState::Ok, SkillState::Disabled, SkillState::Editable].contains(&skill.state);
            assert!(fine && !skill.modified, "step {at}: {skill:?}");
        }
        let left: Vec<_> = sandbox
            .tree(&sandbox.project())
            .into_iter()
            .filter(|line| line.contains(".skillpm-tx"))
            .collect();
        assert!(left.is_empty(), "step {at}: {left:?}");
        // Doing it again reaches the goal, whatever was done before.
        deed_again(&context, what);
        settled(&sandbox, what);
    }
    println!("{what}: killed at {points} points, states seen {seen:?}");
}

fn deed_again(context: &Context, what: &str) {
    let listed = list(context, &ListRequest { scope: Some(ScopeKind::Project), ..ListRequest::default() })
        .expect("lists");
    if what != "remove" || listed.skills.iter().any(|skill| skill.name == "one") {
        let settings = context.settings.clone();
        deed(&Context { reporter: Arc::new(Silent), ..Context::silent(settings) }, what);
    }
}

#[test]
fn a_killed_installation_leaves_nothing_or_is_finished() {
    let prepare = |sandbox: &Sandbox| {
        write_skill(sandbox, "one", "first");
        write_skill(sandbox, "two", "first");
    };
    kill_everywhere("install", prepare, &[None, Some("first")], |sandbox, _| {
        for name in ["one", "two"] {
            let link = sandbox.project().join(".claude/skills").join(name);
            assert_eq!(state(&link).as_deref(), Some("first"), "through the link");
        }
    });
}

/// Conflict C33.
#[test]
fn a_killed_update_leaves_the_old_or_the_new_version_of_each_skill() {
    let prepare = |sandbox: &Sandbox| {
        write_skill(sandbox, "one", "first");
        write_skill(sandbox, "two", "first");
        deed(&Context::silent(sandbox.settings()), "install");
        write_skill(sandbox, "one", "second");
        write_skill(sandbox, "two", "second");
    };
    kill_everywhere("install", prepare, &[Some("first"), Some("second")], |sandbox, _| {
        assert_eq!(state(&sandbox.project().join(".agents/skills/one")).as_deref(), Some("second"));
    });
}

#[test]
fn a_killed_change_from_links_to_copies_leaves_one_of_the_two() {
    let prepare = |sandbox: &Sandbox| {
        write_skill(sandbox, "one", "first");
        write_skill(sandbox, "two", "first");
        deed(&Context::silent(sandbox.settings()), "install");
    };
    kill_everywhere("copy", prepare, &[Some("first")], |sandbox, _| {
        let copy = sandbox.project().join(".claude/skills/one");
        assert!(!copy.is_symlink());
        assert_eq!(state(&copy).as_deref(), Some("first"));
    });
}

#[test]
fn a_killed_removal_leaves_the_skill_or_nothing_of_it() {
    let prepare = |sandbox: &Sandbox| {
        write_skill(sandbox, "one", "first");
        write_skill(sandbox, "two", "first");
        deed(&Context::silent(sandbox.settings()), "install");
    };
    kill_everywhere("remove", prepare, &[None, Some("first")], |sandbox, _| {
        assert_eq!(state(&sandbox.project().join(".agents/skills/one")), None);
        assert!(!sandbox.project().join(".claude/skills/one").is_symlink());
        assert_eq!(state(&sandbox.project().join(".agents/skills/two")).as_deref(), Some("first"));
    });
}

fn prepared(sandbox: &Sandbox) {
    write_skill(sandbox, "one", "first");
    write_skill(sandbox, "two", "first");
    deed(&Context::silent(sandbox.settings()), "install");
}

#[test]
fn a_killed_link_or_unlink_leaves_each_link_or_none() {
    kill_everywhere("link", prepared, &[Some("first")], |sandbox, _| {
        for agent in [".claude", ".junie"] {
            let link = sandbox.project().join(agent).join("skills/two");
            assert_eq!(state(&link).as_deref(), Some("first"), "through the link");
        }
    });
    kill_everywhere("unlink", prepared, &[Some("first")], |sandbox, _| {
        assert!(!sandbox.project().join(".claude/skills/one").is_symlink());
    });
}

#[test]
fn a_killed_disable_or_enable_leaves_the_skill_in_one_of_its_places() {
    let sees = |sandbox: &Sandbox| state(&sandbox.project().join(".claude/skills/one"));
    kill_everywhere("disable", prepared, &[None, Some("first")], |sandbox, _| {
        assert_eq!(sees(sandbox), None);
        let aside = sandbox.project().join(".agents/.skillpm-disabled/one");
        assert_eq!(state(&aside).as_deref(), Some("first"));
    });
    let disabled = |sandbox: &Sandbox| {
        prepared(sandbox);
        deed(&Context::silent(sandbox.settings()), "disable");
    };
    kill_everywhere("enable", disabled, &[None, Some("first")], |sandbox, _| {
        assert_eq!(sees(sandbox).as_deref(), Some("first"));
        assert!(!sandbox.project().join(".agents/.skillpm-disabled").exists());
    });
}

#[test]
fn a_killed_change_to_an_editable_skill_leaves_the_copy_or_the_link() {
    let edited = |sandbox: &Sandbox| {
        prepared(sandbox);
        write_skill(sandbox, "one", "second");
    };
    kill_everywhere("edit", edited, &[None, Some("first"), Some("second")], |sandbox, _| {
        let link = sandbox.project().join(".agents/skills/one");
        assert!(link.is_symlink());
        assert_eq!(state(&sandbox.project().join(".claude/skills/one")).as_deref(), Some("second"));
    });
}

/// Kills `undo` at each of its steps after the deeds `before`: what is left is the state before it or
/// after it once the next run has been there, and can be taken back from either.
fn kill_undo(before: &[&str]) {
    let prepare = || {
        let sandbox = Sandbox::new();
        write_skill(&sandbox, "one", "first");
        write_skill(&sandbox, "two", "first");
        for deed_before in before {
            if *deed_before == "change" {
                write_skill(&sandbox, "one", "second");
                write_skill(&sandbox, "two", "second");
            } else {
                deed(&Context::silent(sandbox.settings()), deed_before);
            }
        }
        sandbox
    };
    let sandbox = prepare();
    let (done, context) = (sandbox.scope(), Context::silent(sandbox.settings()));
    deed(&context, "undo");
    let undone = sandbox.scope();
    assert_ne!(done, undone, "{before:?}");
    let mut states = BTreeMap::new();
    for at in 0.. {
        let sandbox = prepare();
        let context = Context::silent(sandbox.settings());
        assert_eq!(sandbox.scope(), done);
        let lived = run_child(&sandbox, "undo", at);
        for name in ["one", "two"] {
            let state = state(&sandbox.project().join(".agents/skills").join(name));
            assert!([None, Some("first"), Some("second")].contains(&state.as_deref()), "{at}: {state:?}");
        }
        // Whoever asks again wants it done once, not taken back again; any other run finishes it too.
        let begun = sandbox.project().join(".agents/.skillpm-tx").exists();
        if begun && at % 2 == 0 {
            deed(&context, "undo");
        } else {
            // Where nothing is installed afterwards, there is nothing to restore.
            let _ = install(&context, &InstallRequest::default());
        }
        let now = sandbox.scope();
        let (word, other) = if now == undone { ("after", &done) } else { ("before", &undone) };
        assert!(now == undone || now == done, "{before:?} killed at {at}: {now:#?}");
        assert!(!lived || word == "after");
        *states.entry(word).or_insert(0) += 1;
        deed(&context, "undo");
        assert_eq!(&sandbox.scope(), other, "{before:?} killed at {at}, then taken back");
        if lived {
            assert!(at > 5 && states.len() == 2, "{before:?}: {states:?}");
            println!("undo after {before:?}: killed at {at} points, states seen {states:?}");
            break;
        }
    }
}

#[test]
fn a_killed_undo_leaves_the_state_before_or_after_it() {
    kill_undo(&["install"]);
    kill_undo(&["install", "change", "install"]);
    kill_undo(&["install", "remove"]);
    kill_undo(&["install", "copy"]);
}

#[test]
fn a_killed_undo_of_moves_and_links_leaves_the_state_before_or_after_it() {
    kill_undo(&["install", "unlink"]);
    kill_undo(&["install", "disable"]);
    kill_undo(&["install", "edit"]);
    kill_undo(&["install", "remove", "undo"]);
}

/// What a killed change leaves can be taken back once the next run has finished it.
#[test]
fn a_change_that_was_killed_and_finished_can_be_taken_back() {
    let mut finished = 0;
    for at in 0.. {
        let sandbox = Sandbox::new();
        prepared(&sandbox);
        let before = sandbox.scope();
        let lived = run_child(&sandbox, "remove", at);
        let context = Context::silent(sandbox.settings());
        drop(install(&context, &InstallRequest::default()).expect("mends"));
        if sandbox.scope() != before {
            finished += 1;
            deed(&context, "undo");
            assert_eq!(sandbox.scope(), before, "killed at {at}");
        }
        if lived {
            break;
        }
    }
    assert!(finished > 3, "{finished}");
}
/// In the user's home, where both scopes have one directory, what was begun in the one is finished in it
/// and not in the other.
#[test]
fn a_killed_change_is_finished_in_its_own_scope() {
    let mut finished = 0;
    for at in 0.. {
        let sandbox = Sandbox::new();
        write_skill(&sandbox, "one", "first");
        let lived = run_child(&sandbox, "global", at);
        let cwd = sandbox.home();
        let vars = [("HOME".into(), sandbox.home().into())].into();
        let settings = skillpm_sources::settings::Settings::from_env(Env { vars, cwd, interactive: false });
        let context = Context::silent(settings.expect("settings"));
        // Nothing is installed into the home without a word, but what was begun is finished first.
        install(&context, &InstallRequest::default()).expect_err("the home is no project");
        assert!(!sandbox.home().join("skillpm.toml").exists(), "killed at {at}");
        assert!(!sandbox.home().join("skillpm.lock").exists(), "killed at {at}");
        let is_there = sandbox.home().join(".agents/skills/one").exists();
        let manifest = sandbox.home().join(".config/skillpm/skillpm.toml");
        assert_eq!(manifest.exists(), is_there, "killed at {at}");
        if is_there {
            finished += 1;
            undo(&context, &UndoRequest::default()).expect_err("it was in the other scope");
            let scope = Some(ScopeKind::User);
            undo(&context, &UndoRequest { scope, ..UndoRequest::default() }).expect("takes back");
            assert!(!manifest.exists(), "killed at {at}");
        }
        if lived {
            break;
        }
    }
    assert!(finished > 3, "{finished}");
}

/// The files of the installed skill `one`, with their bytes.
fn files_of_one(sandbox: &Sandbox) -> Vec<(String, Vec<u8>)> {
    let dir = sandbox.project().join(".agents/skills/one");
    let read = |line: String| {
        let bytes = std::fs::read(dir.join(line.split_once(' ').map_or("", |(_, path)| path)));
        (line, bytes.unwrap_or_default())
    };
    sandbox.tree(&dir).into_iter().map(read).collect()
}

/// Issue 5: a merge that is killed, and one that is killed while it is taken back: the edits or the merge, never
/// a mixture, and either way back stays open.
#[test]
fn a_killed_merge_leaves_the_edits_or_the_merge() {
    let edited = || {
        let sandbox = Sandbox::new();
        write_skill(&sandbox, "one", "first");
        assert_eq!(sandbox.run(&["install", "./src/one", "-a", "claude-code"]).code, Some(0));
        let text = sandbox.read(".agents/skills/one/SKILL.md").replace("first", "mine");
        sandbox.write(".agents/skills/one/SKILL.md", text);
        write_skill(&sandbox, "one", "second");
        sandbox
    };
    let whole = edited();
    let (mine, old) = (files_of_one(&whole), whole.read("skillpm.lock"));
    assert_eq!(whole.run(&["update"]).code, Some(1));
    let (merged, new) = (files_of_one(&whole), whole.read("skillpm.lock"));
    assert_ne!((&mine, &old), (&merged, &new));
    for deed in ["update", "abort"] {
        for at in 0.. {
            let sandbox = edited();
            if deed == "abort" {
                assert_eq!(sandbox.run(&["update"]).code, Some(1));
            }
            let lived = run_child(&sandbox, deed, at);
            let (files, lock) = (files_of_one(&sandbox), sandbox.read("skillpm.lock"));
            assert!(files == mine || files == merged, "{deed} {at}: a mixture");
            assert!(lock == old || lock == new, "{deed} {at}");
            // The next run finishes what was begun, and finds that out of it which was there before.
            let code = sandbox.run(&["update"]).code;
            assert_eq!(code, Some(1), "{deed} {at}");
            assert_eq!((files_of_one(&sandbox), sandbox.read("skillpm.lock")), (merged.clone(), new.clone()));
            assert_eq!(sandbox.run(&["update", "--abort"]).code, Some(0), "{deed} {at}");
            assert_eq!((files_of_one(&sandbox), sandbox.read("skillpm.lock")), (mine.clone(), old.clone()));
            assert!(!sandbox.project().join(".agents/.skillpm-merge").exists());
            if lived {
                assert!(at > 5, "{deed}: only {at} steps");
                break;
            }
        }
    }
}
