//! Sixteen processes at once, of all verbs that change something, in one scope and with one store; and
//! two projects that share a store which is cleared in between.

#![cfg(unix)]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use crate::support::machine::{ended, watched};
use crate::support::numbers::cases;
use crate::support::sandbox::Output;
use crate::support::{Numbers, Sandbox};

const OWNERS: usize = 11;

/// What is known of a skill that one process of each round works on, and no other.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Known {
    installed: bool,
    disabled: bool,
    /// Whether junie sees it by a link of its own.
    junie: bool,
    version: usize,
}

fn name(at: usize) -> String {
    format!("skill-{at:02}")
}

fn write_skill(project: &Path, name: &str, version: usize) {
    let dir = project.join("src").join(name);
    std::fs::create_dir_all(&dir).expect("a directory");
    let text = format!("---\nname: {name}\ndescription: Does {name}. Use it in tests.\n---\nv{version}\n");
    std::fs::write(dir.join("SKILL.md"), text).expect("a file");
}

/// Starts all of these at once and returns what they left; what hangs is killed, and fails the test.
fn at_once(sandbox: &Sandbox, commands: Vec<(Command, String)>) -> Vec<(String, Output)> {
    std::thread::scope(|threads| {
        let started: Vec<_> = commands
            .into_iter()
            .map(|(command, what)| threads.spawn(move || (watched(command, &what), what)))
            .collect();
        let ended = |(output, what)| (what, ended(sandbox, &output));
        started.into_iter().map(|thread| ended(thread.join().expect("no panic"))).collect()
    })
}

/// What the owner of a skill does in this round, and what is known of the skill then.
fn deed(numbers: &mut Numbers, sandbox: &Sandbox, name: &str, known: &mut Known) -> Vec<String> {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let source = format!("./src/{name}");
    if !known.installed {
        *known = Known { installed: true, version: known.version + 1, ..Known::default() };
        write_skill(&sandbox.project(), name, known.version);
        return words(&["install", &source, "--agent", "claude-code"]);
    }
    match numbers.below(8) {
        0 => {
            (known.installed, known.disabled, known.junie) = (false, false, false);
            words(&["remove", name])
        }
        1 | 2 => {
            known.disabled = !known.disabled;
            words(&[if known.disabled { "disable" } else { "enable" }, name])
        }
        3 | 4 => {
            known.junie = !known.junie;
            words(&[if known.junie { "link" } else { "unlink" }, "--agent", "junie", name])
        }
        5 => {
            known.version += 1;
            write_skill(&sandbox.project(), name, known.version);
            words(&["install", &source])
        }
        6 => {
            known.version += 1;
            write_skill(&sandbox.project(), name, known.version);
            words(&["update", name])
        }
        _ => words(&["verify", name]),
    }
}

/// Checks that the scope is what every owner knows of its skill.
fn check(sandbox: &Sandbox, known: &BTreeMap<String, Known>, round: usize) {
    let project = sandbox.project();
    let (lock, manifest) = (sandbox.read("skillpm.lock"), sandbox.read("skillpm.toml"));
    for (name, known) in known {
        let what = format!("round {round}: {name}: {known:?}");
        assert_eq!(lock.contains(&format!("name = \"{name}\"")), known.installed, "{what}: {lock}");
        let entry = manifest.lines().find(|line| line.starts_with(&format!("{name} = ")));
        assert_eq!(entry.is_some(), known.installed, "{what}: {manifest}");
        assert_eq!(entry.is_some_and(|entry| entry.contains("disabled = true")), known.disabled, "{what}");
        let seen = known.installed && !known.disabled;
        let read = |dir: &str| std::fs::read_to_string(project.join(dir).join(name).join("SKILL.md")).ok();
        for (dir, there) in [
            (".agents/skills", seen),
            (".agents/.skillpm-disabled", known.disabled),
            (".claude/skills", seen),
            (".junie/skills", seen && known.junie),
        ] {
            let text = read(dir);
            assert_eq!(text.is_some(), there, "{what}: {dir}");
            let version = format!("\nv{}\n", known.version);
            assert!(text.is_none_or(|text| text.ends_with(&version)), "{what}: {dir}");
        }
    }
    let own = lock.lines().filter(|line| line.starts_with("name = \"skill-")).count();
    assert_eq!(own, known.values().filter(|known| known.installed).count(), "round {round}: {lock}");
}

/// THREATS 7: no process fails but for a good reason, none waits for ever, and nothing that one of them
/// did is lost by another.
#[test]
fn sixteen_processes_of_all_verbs() {
    let sandbox = Sandbox::new();
    let mut numbers = Numbers(16);
    let mut known: BTreeMap<String, Known> = (0..OWNERS).map(|at| (name(at), Known::default())).collect();
    // One that stays, for those who own none.
    write_skill(&sandbox.project(), "stays", 0);
    assert_eq!(sandbox.run(&["install", "./src/stays"]).code, Some(0));
    for round in 0..cases(200) {
        let mut commands = Vec::new();
        for (name, known) in &mut known {
            commands.push(deed(&mut numbers, &sandbox, name, known));
        }
        let others: [&[&str]; 8] = [
            &["list", "--json", "-p"],
            &["install"],
            &["doctor", "--fix", "-p"],
            &["cache", "prune", "--older-than", "0d"],
            &["import", "--dry-run", "-p"],
            &["cache", "verify"],
            &["verify"],
            &["tree"],
        ];
        for at in 0..5 {
            let args = others[(round + at) % others.len()];
            commands.push(args.iter().map(|word| (*word).to_owned()).collect());
        }
        let commands = commands.into_iter().map(|args| {
            let args: Vec<_> = args.iter().map(String::as_str).collect();
            (sandbox.command(&args), args.join(" "))
        });
        for (what, output) in at_once(&sandbox, commands.collect()) {
            // Those who look may see a moment in which another has not finished.
            let right: &[i32] = match &*what {
                "verify" => &[0, 5],
                _ if what.starts_with("doctor") || what.starts_with("cache verify") => &[0, 1],
                _ => &[0],
            };
            assert!(output.code.is_some_and(|code| right.contains(&code)), "round {round}: {what}: {output}");
            assert!(!output.stderr.contains("panicked"), "{what}: {output}");
        }
        check(&sandbox, &known, round);
    }
    let left: Vec<_> =
        sandbox.tree(&sandbox.project()).into_iter().filter(|line| line.contains("-tx")).collect();
    assert!(left.is_empty(), "{left:?}");
    let output = sandbox.run(&["verify"]);
    assert_eq!(output.code, Some(0), "{output}");
}

/// Two projects with the same skills and one store, from which others take trees away meanwhile: each
/// installation is whole, and what was edited is kept.
#[test]
fn two_scopes_and_a_store_that_is_cleared() {
    let sandbox = Sandbox::new();
    let second = sandbox.root().join("second");
    let projects = [sandbox.project(), second];
    let mut edits = Vec::new();
    for round in 0..20 {
        for project in &projects {
            for at in 0..3 {
                write_skill(project, &name(at), round);
            }
        }
        let mut commands = Vec::new();
        for project in &projects {
            for at in 0..3 {
                let command = sandbox.command(&["install", &format!("./src/{}", name(at)), "--force"]);
                commands.push((command, project.clone(), format!("install {at}")));
            }
        }
        for args in [&["cache", "prune", "--older-than", "0d"][..], &["cache", "clean", "--store"]] {
            commands.push((sandbox.command(args), projects[round % 2].clone(), args.join(" ")));
        }
        let commands = commands.into_iter().map(|(mut command, dir, what)| {
            command.current_dir(dir);
            (command, what)
        });
        for (what, output) in at_once(&sandbox, commands.collect()) {
            assert_eq!(output.code, Some(0), "round {round}: {what}: {output}");
        }
        for project in &projects {
            for at in 0..3 {
                let file = project.join(".agents/skills").join(name(at)).join("SKILL.md");
                let text = std::fs::read_to_string(&file).expect("installed");
                assert!(text.ends_with(&format!("\nv{round}\n")), "round {round}: {text}");
            }
            // The next round replaces this by force.
            let edit = format!("edit {round} of {}", project.display());
            std::fs::write(project.join(".agents/skills").join(name(round % 3)).join("SKILL.md"), &edit)
                .expect("edits");
            edits.push(edit);
        }
    }
    let last = edits.split_off(edits.len() - 2);
    let kept = crate::support::machine::blobs(&sandbox.home());
    for edit in edits {
        assert!(kept.contains(edit.as_bytes()), "`{edit}` is lost");
    }
    for (project, edit) in projects.iter().zip(last) {
        assert!(crate::support::machine::blobs(project).contains(edit.as_bytes()), "`{edit}` is lost");
    }
}
