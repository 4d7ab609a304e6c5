//! Several at once in one scope: writers that wait for each other, some of them killed, and readers
//! that never find half a skill.

#![cfg(unix)]

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use skillpm_core::ops::install::{Allow, InstallRequest, install};
use skillpm_sources::context::Context;

use crate::support::Sandbox;
use crate::support::numbers::cases;

const WRITERS: usize = 8;
/// The files of the skill that is read, and how many lines each has: more than one page of memory.
const FILES: [&str; 3] = ["SKILL.md", "scripts/run.sh", "references/more.md"];
const LINES: usize = 2500;

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

/// Starts an update of the skill `victim` and kills it a while later.
fn kill_one(sandbox: &Sandbox, after: Duration) {
    let mut child = start(sandbox, &["install", "./src/victim", "-a", "claude-code"]);
    std::thread::sleep(after);
    let _ = child.kill();
    child.wait().expect("ends");
}

/// Who adopts what another tool installed waits for whoever is at work there, and reads what that one left.
#[test]
fn an_import_reads_what_others_leave() {
    let sandbox = Sandbox::new();
    for name in ["pdf", "docx"] {
        write_skill(&sandbox, name, "x");
    }
    sandbox.ok(&["install", "./src/docx"]);
    for file in ["SKILL.md", "scripts/run.sh"] {
        let text = sandbox.read(&format!("src/pdf/{file}"));
        sandbox.write(&format!(".claude/skills/pdf/{file}"), text);
    }
    let lock =
        r#"{"version":1,"skills":{"pdf":{"source":"./src/pdf","sourceType":"local","computedHash":"x"}}}"#;
    sandbox.write("skills-lock.json", lock);
    let manifest = sandbox.read("skillpm.toml");
    let held = std::fs::File::open(sandbox.project().join(".agents")).expect("opens");
    held.lock().expect("locks");
    let child = start(&sandbox, &["import"]);
    std::thread::sleep(Duration::from_millis(500));
    sandbox.write("skillpm.toml", format!("{manifest}\n# changed meanwhile\n"));
    drop(held);
    let output = child.wait_with_output().expect("ends");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    assert_eq!(listed(&sandbox), ["docx", "pdf"].map(ToOwned::to_owned).into());
    assert!(sandbox.read("skillpm.toml").contains("# changed meanwhile"));
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
    for round in 0..cases(80) {
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
        kill_one(&sandbox, Duration::from_millis(4 * (round as u64 % 10)));
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

/// Updates of one skill at once, which somebody edited: the first brings the new version, and the others find that
/// done. None of them fails, and the edit is merged once.
#[test]
fn many_updates_at_once() {
    let sandbox = Sandbox::new();
    let text = |first: &str, last: &str| {
        format!(
            "---\nname: pdf\ndescription: Does pdf. Use it in tests.\n---\n\n{first}\n\n2\n\n3\n\n{last}\n"
        )
    };
    for name in ["docx", "xlsx"] {
        write_skill(&sandbox, name, "x");
        sandbox.ok(&["install", &format!("./src/{name}"), "-a", "claude-code"]);
    }
    sandbox.write("src/pdf/SKILL.md", text("one", "four"));
    sandbox.ok(&["install", "./src/pdf", "-a", "claude-code"]);
    for round in 0..4 {
        let mine = format!("mine {round}");
        let now = sandbox.read(".agents/skills/pdf/SKILL.md");
        let first = now.lines().nth(5).expect("a line").to_owned();
        sandbox.write(".agents/skills/pdf/SKILL.md", now.replace(&first, &mine));
        let new = format!("new {round}");
        sandbox.write("src/pdf/SKILL.md", text("one", &new));
        write_skill(&sandbox, "docx", &new);
        let started: Vec<_> = (0..16)
            .map(|at| start(&sandbox, if at % 2 == 0 { &["update"] } else { &["update", "pdf", "docx"] }))
            .collect();
        for child in started {
            let output = child.wait_with_output().expect("ends");
            let told = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "round {round}: {told}");
        }
        assert_eq!(sandbox.read(".agents/skills/pdf/SKILL.md"), text(&mine, &new), "round {round}");
        assert!(sandbox.read(".agents/skills/docx/SKILL.md").contains(&new), "round {round}");
    }
    let listed = sandbox.ok(&["list"]).stdout;
    assert_eq!((listed.matches(" ok").count(), listed.matches(" edited").count()), (2, 1), "{listed}");
}

/// What a reader process is to read.
const READ: &str = "SKILLPM_TEST_READ";

/// Does nothing unless it is the reader of the test below: reads the skill in two ways until its input ends,
/// and prints what it has seen in each.
#[test]
fn reader() {
    let Some(dir) = std::env::var_os(READ).map(PathBuf::from) else { return };
    let ended = AtomicBool::new(false);
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    std::thread::scope(|threads| {
        threads.spawn(|| {
            let _ = std::io::stdin().read_to_end(&mut Vec::new());
            ended.store(true, Ordering::Relaxed);
        });
        while !ended.load(Ordering::Relaxed) {
            for state in [read_by_handle(&dir), read_by_path(&dir)] {
                *seen.entry(state).or_default() += 1;
            }
        }
    });
    println!();
    for (state, count) in seen {
        println!("seen {state} {count}");
    }
}

/// The files of the skill, through one handle of its directory: all of one version. Where that version was
/// replaced and cleared away meanwhile, the rest of it is gone, and nothing else is in its place.
fn read_by_handle(dir: &Path) -> String {
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
    let handle = rustix::fs::open(dir, flags, Mode::empty()).expect("never missing");
    let mut state = BTreeSet::new();
    for path in FILES {
        match rustix::fs::openat(&handle, path, OFlags::CLOEXEC, Mode::empty()) {
            Ok(file) => {
                let mut bytes = Vec::new();
                std::fs::File::from(file).read_to_end(&mut bytes).expect("reads");
                state.insert(version(&bytes));
            }
            Err(error) => assert_eq!(error, rustix::io::Errno::NOENT),
        }
    }
    if state.is_empty() {
        "nothing by handle".to_owned()
    } else {
        format!("{} by handle", state.into_iter().collect::<Vec<_>>().join("+"))
    }
}

/// Each file by its path: there at every moment, and whole.
fn read_by_path(dir: &Path) -> String {
    let states: BTreeSet<_> =
        FILES.iter().map(|path| version(&std::fs::read(dir.join(path)).expect("never missing"))).collect();
    // An update may come between two of them.
    if states.len() == 1 {
        format!("{} by path", states.into_iter().collect::<String>())
    } else if states.contains("torn") {
        "torn by path".to_owned()
    } else {
        "one after the other by path".to_owned()
    }
}

/// Which version the bytes of a file are of: all of them say it.
fn version(bytes: &[u8]) -> String {
    let found = ["a", "b"].into_iter().find(|version| {
        let line = format!("{version}\n").repeat(LINES);
        bytes.ends_with(line.as_bytes()) && bytes.len() < 2 * line.len()
    });
    found.unwrap_or("torn").to_owned()
}

/// Processes that read a skill while two versions of it take turns see one or the other, never a mixture.
#[test]
fn readers_see_one_of_two_versions_that_take_turns() {
    let sandbox = Sandbox::new();
    let body = |version: &str| format!("{version}\n").repeat(LINES);
    for version in ["a", "b"] {
        let text = "---\nname: pdf\ndescription: Does pdf. Use it in tests.\n---\n";
        sandbox.write(&format!("{version}/pdf/SKILL.md"), format!("{text}{}", body(version)));
        sandbox.write(&format!("{version}/pdf/scripts/run.sh"), body(version));
        sandbox.write(&format!("{version}/pdf/references/more.md"), body(version));
    }
    let context = Context::silent(sandbox.settings());
    let turn = |version: &str| {
        let agents = vec!["claude-code".to_owned()];
        let sources = vec![format!("./{version}/pdf")];
        // It comes from another directory each time, and its script calls another program.
        let request =
            InstallRequest { sources, agents, force: true, allow: Allow::All, ..InstallRequest::default() };
        install(&context, &request).map(drop)
    };
    turn("a").expect("installs");
    let reader = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "together::reader", "--nocapture"])
        .env(READ, sandbox.project().join(".claude/skills/pdf"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    let failed = (0..cases(800)).find_map(|update| turn(if update % 2 == 0 { "b" } else { "a" }).err());
    // Its input ends here.
    let output = reader.wait_with_output().expect("ends");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    let seen: BTreeMap<&str, &str> =
        text.lines().filter_map(|line| line.strip_prefix("seen ")?.rsplit_once(' ')).collect();
    println!("{seen:?}");
    let needed = ["a by handle", "b by handle", "a by path", "b by path"];
    assert!(needed.iter().all(|state| seen.contains_key(state)), "the reader was at work: {seen:?}");
    let others = ["nothing by handle", "one after the other by path"];
    assert!(seen.keys().all(|state| needed.contains(state) || others.contains(state)), "{seen:?}");
    assert!(failed.is_none(), "{failed:?}");
}

/// A reader finds both files of a skill at every moment of many updates, of one version or, where an
/// update came between the two reads, of two that follow each other; never half of one.
#[test]
fn a_reader_never_finds_half_a_skill() {
    let updates = cases(800);
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
        let failed = (1..=updates).find_map(|update| {
            write_skill(&sandbox, "pdf", &format!("v{update}"));
            install(&context, &request).err()
        });
        // The readers are waited for also when this fails.
        stop.store(true, Ordering::Relaxed);
        assert!(failed.is_none(), "{failed:?}");
    });
    println!("{} reads during {updates} updates", reads.load(Ordering::Relaxed));
    assert!(reads.load(Ordering::Relaxed) > updates, "the readers were at work");
}
