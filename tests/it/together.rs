//! Several at once in one scope: writers that wait for each other, some of them killed, and readers
//! that never find half a skill.

#![cfg(unix)]

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use skillpm::context::Context;
use skillpm::ops::install::{InstallRequest, install};

use crate::support::Sandbox;

const WRITERS: usize = 8;
const ROUNDS: usize = 20;
const UPDATES: usize = 200;

fn write_skill(sandbox: &Sandbox, name: &str, body: &str) {
    let text = format!("---\nname: {name}\ndescription: Does {name}. Use it in tests.\n---\n{body}\n");
    sandbox.write(&format!("src/{name}/SKILL.md"), text);
    sandbox.write(&format!("src/{name}/scripts/run.sh"), format!("echo {body}\n"));
}

fn start(sandbox: &Sandbox, args: &[&str]) -> Child {
    let mut command = sandbox.command(args);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts")
}

/// The names of the skills that are installed; each has to be whole.
fn listed(sandbox: &Sandbox) -> BTreeSet<String> {
    let output = sandbox.run(&["list", "--json", "-p"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert_eq!(output.stderr, "", "nothing is cut off");
    let skills: Vec<serde_json::Value> = serde_json::from_str(&output.stdout).expect("JSON");
    assert!(skills.iter().all(|skill| skill["state"] == "ok"), "{skills:#?}");
    skills.iter().map(|skill| skill["name"].as_str().expect("a name").to_owned()).collect()
}

/// Starts an update of the skill `victim` and kills it after it has told of `steps` steps.
fn kill_one(sandbox: &Sandbox, steps: usize) {
    let mut child = start(sandbox, &["install", "./src/victim", "-v", "-a", "claude-code"]);
    let talk = BufReader::new(child.stderr.take().expect("piped"));
    drop(talk.lines().nth(steps));
    let _ = child.kill();
    child.wait().expect("ends");
}

/// Eight processes install, remove and list in one scope, and one more is killed in each round: no
/// failure, no entry is lost, nothing is left over.
#[test]
fn many_at_once_and_one_is_killed() {
    let sandbox = Sandbox::new();
    let names: Vec<_> = (0..WRITERS).map(|at| format!("skill-{at}")).collect();
    for name in &names {
        write_skill(&sandbox, name, "x");
    }
    let mut expected = BTreeSet::new();
    for round in 0..ROUNDS {
        write_skill(&sandbox, "victim", &format!("v{round}"));
        let mut running = Vec::new();
        for (at, name) in names.iter().enumerate() {
            let source = format!("./src/{name}");
            let args = match (at + round) % 4 {
                0 => vec!["list", "--json"],
                1 if expected.contains(name) => vec!["remove", name],
                _ => vec!["install", &source, "-a", "claude-code"],
            };
            match args[0] {
                "remove" => drop(expected.remove(name)),
                "install" => drop(expected.insert(name.clone())),
                _ => {}
            }
            running.push((args.join(" "), start(&sandbox, &args)));
        }
        kill_one(&sandbox, round % 10);
        for (what, child) in running {
            let output = child.wait_with_output().expect("ends");
            let talk = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "round {round}: {what}: {talk}");
        }
        // Whatever the killed one left is mended by the next ordinary run.
        let output = sandbox.run(&["install"]);
        assert_eq!(output.code, Some(0), "round {round}: {output}");
        let mut there = listed(&sandbox);
        there.remove("victim");
        assert_eq!(there, expected, "round {round}");
        let left: Vec<_> =
            sandbox.tree(&sandbox.project()).into_iter().filter(|line| line.contains(".skillpm")).collect();
        assert!(left.is_empty(), "round {round}: {left:?}");
    }
    let store = sandbox.home().join(".local/share/skillpm/store-v2");
    write_skill(&sandbox, "last", "x");
    assert_eq!(sandbox.run(&["install", "./src/last"]).code, Some(0));
    let left = std::fs::read_dir(store).expect("a store").count();
    assert_eq!(left, 1, "stages of killed writers are swept");
}

/// A reader finds both files of a skill at every moment of 200 updates, of one version or, where an
/// update came between the two reads, of two that follow each other; never half of one.
#[test]
fn a_reader_never_finds_half_a_skill() {
    let sandbox = Sandbox::new();
    write_skill(&sandbox, "pdf", "v0");
    let context = Context::silent(sandbox.settings());
    let agents = vec!["claude-code".to_owned()];
    let request =
        InstallRequest { sources: vec!["./src/pdf".to_owned()], agents, ..InstallRequest::default() };
    install(&context, &request).expect("installs");
    let (stop, reads) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|threads| {
        for dir in [".agents/skills/pdf", ".claude/skills/pdf"] {
            let (dir, stop, reads) = (sandbox.project().join(dir), &stop, &reads);
            threads.spawn(move || {
                let version = |path: &str| {
                    let text = std::fs::read_to_string(dir.join(path)).expect("never missing");
                    let last = text.split_whitespace().last().expect("never empty");
                    last.trim_start_matches('v').parse::<usize>().expect("never cut off")
                };
                while !stop.load(Ordering::Relaxed) {
                    let (before, script, after) =
                        (version("SKILL.md"), version("scripts/run.sh"), version("SKILL.md"));
                    assert!(before <= script && script <= after, "{before} {script} {after}");
                    reads.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let failed = (1..=UPDATES).find_map(|update| {
            write_skill(&sandbox, "pdf", &format!("v{update}"));
            install(&context, &request).err()
        });
        // The readers are waited for also when this fails.
        stop.store(true, Ordering::Relaxed);
        assert!(failed.is_none(), "{failed:?}");
    });
    println!("{} reads during {UPDATES} updates", reads.load(Ordering::Relaxed));
    assert!(reads.load(Ordering::Relaxed) > UPDATES, "the readers were at work");
}
