//! Whoever stops a change gets all of it or nothing, and is told which.

#![cfg(unix)]

use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::forge::{Endpoint, Fault};
use crate::support::{Forge, Sandbox, Tree};

const STORE: &str = ".local/share/skillpm/store-v2";

fn start(sandbox: &Sandbox, args: &[&str]) -> Child {
    sandbox.command(args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("starts")
}

fn stop(child: Child, signal: Signal) -> (Output, String) {
    // It may have ended already.
    let _ = kill_process(Pid::from_child(&child), signal);
    let output = child.wait_with_output().expect("ends");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    (output, told)
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let since = Instant::now();
    while !is_so() {
        assert!(since.elapsed() < Duration::from_mins(1), "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The names below the store that begin as the directory of a writer does.
fn stages(sandbox: &Sandbox) -> usize {
    let entries = std::fs::read_dir(sandbox.home().join(STORE)).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("stage-")).count()
}

/// Stopped in the middle of a download, with one of two skills already written beside its place. Programs that asked for
/// JSON get their one error.
#[test]
fn what_is_only_prepared_is_cleared_away() {
    for (signal, json) in [(Signal::INT, false), (Signal::TERM, true)] {
        let forge = Forge::start();
        let mut sandbox = Sandbox::new();
        sandbox.forge(&forge).env("SKILLPM_HTTP_TIMEOUT", "600");
        let big = "x".repeat(200_000);
        forge
            .repo("acme/one")
            .commit(&Tree::new().skill("skills/docx", "docx").file("skills/docx/a.md", &big));
        forge.repo("acme/two").commit(&Tree::new().skill("skills/pdf", "pdf").file("skills/pdf/a.md", &big));
        forge.fail_always(Endpoint::Archive, Fault::Stalled);
        let install: &[_] = &["install", "acme/one", "acme/two", "--json"];
        let child = start(&sandbox, &install[..if json { 4 } else { 3 }]);
        wait_until("the archive is asked for", || {
            forge.requests().iter().any(|request| request.host == forge.archive_host())
        });
        std::thread::sleep(Duration::from_millis(100));
        let (output, told) = stop(child, signal);
        assert_eq!(output.status.signal(), Some(signal.as_raw()), "{told}");
        if json {
            let error: serde_json::Value = serde_json::from_str(&told).expect("one line of JSON");
            assert_eq!((&error["code"], told.lines().count()), (&"interrupted".into(), 1));
            assert_eq!(error["message"], "interrupted; nothing was changed");
        } else {
            assert_eq!(told, "interrupted; nothing was changed\n");
        }
        assert!(sandbox.tree(&sandbox.project()).is_empty(), "{:?}", sandbox.tree(&sandbox.project()));
        assert_eq!(stages(&sandbox), 0);
    }
}

/// Stopped at any moment: all of it or nothing, as is told, and nothing is left to be finished.
#[test]
fn a_change_is_made_or_not() {
    let sandbox = Sandbox::new();
    for at in 0..40 {
        let name = format!("s{at:02}");
        let text = format!("---\nname: {name}\ndescription: Does {name}. Use it in tests.\n---\n");
        sandbox.write(&format!("src/{name}/SKILL.md"), text);
        sandbox.write(&format!("src/{name}/more.md"), "x".repeat(4000));
    }
    let before = sandbox.tree(&sandbox.project());
    let (mut made, mut not_made) = (0, 0);
    for round in 0..24 {
        let child = start(&sandbox, &["install", "./src", "-s", "*", "-a", "claude-code"]);
        std::thread::sleep(Duration::from_millis(6 * round));
        let (output, told) = stop(child, Signal::INT);
        if told.contains("interrupted; nothing was changed") || told.is_empty() {
            // Before the first line of the program the system ends it.
            assert_eq!(output.status.signal(), Some(2), "{told}");
            assert_eq!(sandbox.tree(&sandbox.project()), before, "round {round}: {told}");
            not_made += 1;
            continue;
        }
        if output.status.code() != Some(0) {
            let made = "interrupted after the change was made; `skillpm undo` undoes it";
            assert!(told.contains(made) && output.status.signal() == Some(2), "round {round}: {told}");
        }
        made += 1;
        assert!(!sandbox.project().join(".agents/.skillpm-tx").exists(), "round {round}: {told}");
        let listed = sandbox.ok(&["list"]);
        assert_eq!((listed.stdout.matches(" ok").count(), listed.stderr.as_str()), (40, ""), "{listed}");
        sandbox.ok(&["undo"]);
        sandbox.ok(&["undo", "--forget"]);
        assert_eq!(sandbox.tree(&sandbox.project()), before, "round {round}");
    }
    assert!(not_made > 0 && made + not_made == 24);
    assert_eq!(stages(&sandbox), 0);
}

/// What a killed run left is told with a command that mends it, also where there is no manifest.
#[test]
fn the_command_that_cleans_up_works() {
    let sandbox = Sandbox::new();
    sandbox.write(".agents/.skillpm-tx/.gitignore", "*\n");
    sandbox.write(".agents/.skillpm-tx/tree-0/SKILL.md", "half");
    let listed = sandbox.ok(&["list"]);
    assert!(
        listed.stderr.contains("an earlier run was interrupted; `skillpm doctor --fix` cleans up"),
        "{listed}"
    );
    sandbox.ok(&["doctor", "--fix"]);
    assert!(sandbox.tree(&sandbox.project()).is_empty());
    assert!(!sandbox.ok(&["list"]).stderr.contains("interrupted"));
}

/// A directory that lay there stays where nothing came into it.
#[test]
fn an_empty_directory_of_skills_is_left() {
    let sandbox = Sandbox::new();
    std::fs::create_dir_all(sandbox.project().join(".agents/skills")).expect("made");
    sandbox.write("src/SKILL.md", "no skill");
    assert_eq!(sandbox.run(&["install", "./src"]).code, Some(5));
    assert!(sandbox.project().join(".agents/skills").is_dir());
    let text = "---\nname: pdf\ndescription: Does pdf. Use it in tests.\n---\n";
    sandbox.write("src/SKILL.md", text);
    sandbox.ok(&["install", "./src", "--as", "pdf"]);
    sandbox.ok(&["remove", "pdf"]);
    sandbox.ok(&["undo", "--forget"]);
    assert!(!sandbox.project().join(".agents").exists(), "what skillpm filled goes with the last skill");
}
