//! The audit log: what is in it, and that nothing it meets stops the work.
#![cfg(unix)]

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use skillpm_core::trust::AuditLog;
use skillpm_core::trust::audit::{Event, Rotation, Subject};

use crate::support::{Output, Sandbox};

/// How many processes write at once, and how many lines each.
const WRITERS: usize = 6;
const LINES: usize = 400;

/// A project with the skill `demo` installed.
fn installed() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox
        .write("src/demo/SKILL.md", "---\nname: demo\ndescription: Shows. Use it in tests.\n---\n\n# Demo\n");
    sandbox.write("src/demo/scripts/greet.sh", "echo \"Hello, $1!\"\nexit \"${2:-0}\"\n");
    let output = sandbox.run(&["install", "./src/demo"]);
    assert_eq!(output.code, Some(0), "{output}");
    sandbox
}

fn log(sandbox: &Sandbox) -> std::path::PathBuf {
    sandbox.home().join(".local/state/skillpm/audit.jsonl")
}

fn greet(sandbox: &Sandbox, args: &[&str]) -> Output {
    sandbox.run(&[&["run", "demo", "greet"], args].concat())
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let lines = text.lines().filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_str(line).expect(line)).collect()
}

/// What no skill may have is refused while the files are read, before anything is decided: that is a refusal too.
#[test]
fn a_refusal_of_the_files_is_a_line_as_well() {
    use std::os::unix::ffi::OsStrExt as _;

    type Spoil<'a> = (&'a str, &'a dyn Fn(&Path));
    let spoil: [Spoil<'_>; 5] = [
        ("a named pipe", &|skill| {
            let made = Command::new("mkfifo").arg(skill.join("f")).status().expect("starts");
            assert!(made.success());
        }),
        ("a link that leads out", &|skill| {
            std::os::unix::fs::symlink("../../../../elsewhere", skill.join("out")).expect("links");
        }),
        ("a name that is not UTF-8", &|skill| {
            std::fs::write(skill.join(std::ffi::OsStr::from_bytes(b"x\xff")), "").expect("writes");
        }),
        ("a name of Windows", &|skill| std::fs::write(skill.join("aux.txt"), "").expect("writes")),
        ("instructions that lie elsewhere", &|skill| {
            std::fs::remove_file(skill.join("SKILL.md")).expect("removes");
            std::os::unix::fs::symlink("../../../../elsewhere", skill.join("SKILL.md")).expect("links");
        }),
    ];
    for (what, spoil) in spoil {
        let sandbox = installed();
        let before = lines(&log(&sandbox)).len();
        sandbox.write("../elsewhere", "---\nname: demo\ndescription: x\n---\n");
        spoil(&sandbox.project().join(".agents/skills/demo"));
        let output = greet(&sandbox, &[]);
        assert_eq!(output.code, Some(5), "{what}: {output}");
        let lines = lines(&log(&sandbox));
        let [line] = &lines[before..] else { panic!("{what}: {lines:?}") };
        assert_eq!((&line["event"], &line["skill"]), (&"refused".into(), &"demo".into()), "{what}");
        let (script, reason) = (line["script"].as_str(), line["reason"].as_str());
        assert!(
            script.is_some_and(|script| script.ends_with("greet.sh") || script == "greet"),
            "{what}: {line}"
        );
        assert!(reason.is_some_and(|reason| !reason.is_empty()), "{what}: {line}");
    }
}

/// S1-FR-205.4.
#[test]
fn a_run_and_a_refusal_are_a_line_each() {
    let mut sandbox = installed();
    sandbox.env("SKILLPM_SESSION", "session-1");
    assert_eq!(greet(&sandbox, &["secret", "3"]).code, Some(3));
    assert_eq!(std::fs::metadata(log(&sandbox)).expect("there").permissions().mode() & 0o777, 0o600);
    sandbox.write(".agents/skills/demo/scripts/greet.sh", "echo EVIL\n");
    assert_eq!(greet(&sandbox, &[]).code, Some(5));
    let [run, refused] = &lines(&log(&sandbox))[..] else { panic!("two lines") };
    let lock = sandbox.read("skillpm.lock");
    for (key, value) in [
        ("version", Value::from(1)),
        ("event", "run".into()),
        ("skill", "demo".into()),
        ("source", "path:./src/demo".into()),
        ("modified", false.into()),
        ("script", "scripts/greet.sh".into()),
        ("arguments", Value::Null),
        ("exit_code", 3.into()),
        ("signal", Value::Null),
        ("session", "session-1".into()),
    ] {
        assert_eq!(run[key], value, "{key}");
    }
    assert!(lock.contains(run["digest"].as_str().expect("a digest")), "{run}");
    assert!(run["sandbox"].is_object() && run["duration_ms"].is_u64(), "{run}");
    assert!(!run.to_string().contains("secret"), "arguments are not written down");
    assert_eq!((&refused["event"], &refused["modified"]), (&"refused".into(), &true.into()));
    let reason = refused["reason"].as_str().expect("a reason");
    assert!(reason.starts_with("`demo` in `"), "{reason}");
    assert!(reason.ends_with("differs from what is locked: `scripts/greet.sh`"), "{reason}");

    let output = sandbox.run(&["audit", "--json"]);
    let shown: Value = serde_json::from_str(&output.stdout).expect("JSON");
    assert_eq!(
        (&shown["records"][0], &shown["records"][1]["time"]),
        (run, &refused["time"]),
        "the newest last"
    );
    let only = |args: &[&str]| {
        let output = sandbox.run(&[&["audit", "--json"], args].concat());
        let shown: Value = serde_json::from_str(&output.stdout).expect("JSON");
        shown["records"].as_array().expect("a list").len()
    };
    assert_eq!(
        (only(&["-n", "1"]), only(&["demo"]), only(&["other"]), only(&["--event", "run"])),
        (1, 2, 0, 1)
    );
}

#[test]
fn it_can_be_moved_switched_off_and_hold_arguments() {
    let mut sandbox = installed();
    sandbox.env("SKILLPM_AUDIT", "off");
    assert_eq!(greet(&sandbox, &["a"]).code, Some(0));
    assert!(!log(&sandbox).exists());
    sandbox.tells(&["audit"], 0, "records:", &[]);
    let moved = sandbox.root().join("logs/a.jsonl");
    sandbox.env("SKILLPM_AUDIT", &moved.display().to_string()).env("SKILLPM_AUDIT_ARGUMENTS", "1");
    assert_eq!(greet(&sandbox, &["a b", "0"]).code, Some(0));
    assert_eq!(lines(&moved)[0]["arguments"], Value::from(vec!["a b", "0"]));
    sandbox.env("SKILLPM_AUDIT", "a.jsonl");
    sandbox.fails(&["run", "demo", "greet"], 3, "configuration", &["SKILLPM_AUDIT", "`off`", "a.jsonl"]);
}

/// Whoever calls `invoke` gets a skill's instructions, and that is written down as the Python package does it.
#[test]
fn what_invoke_hands_out_is_an_activation() {
    let sandbox = installed();
    assert_eq!(sandbox.run(&["invoke", "demo"]).code, Some(0));
    assert_eq!(sandbox.run(&["invoke", "demo", "a b"]).code, Some(0));
    let lines = lines(&log(&sandbox));
    assert_eq!(lines.len(), 2, "{lines:?}");
    for line in &lines {
        assert_eq!((&line["event"], &line["skill"]), (&"activation".into(), &"demo".into()), "{line}");
        assert!(line["digest"].as_str().is_some_and(|digest| digest.starts_with("sha256:")), "{line}");
    }
    assert!(sandbox.run(&["audit"]).stdout.contains("activation"));
    // Nobody is kept from the instructions by a log that cannot be written.
    std::fs::remove_file(log(&sandbox)).expect("removes");
    std::fs::create_dir(log(&sandbox)).expect("creates");
    let output = sandbox.run(&["-v", "invoke", "demo"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(
        output.stdout.contains("# Demo") && output.stderr.contains("the audit log was not written"),
        "{output}"
    );
}

/// Puts something where the log would lie.
type Put<'a> = &'a dyn Fn(&Path);

/// Whatever lies in the place of the log, the script runs, and says what it would say.
#[test]
fn nothing_in_its_place_stops_the_work() {
    let sandbox = installed();
    let state = sandbox.home().join(".local/state/skillpm");
    std::fs::create_dir_all(&state).expect("creates");
    let put: [(&str, Put); 4] = [
        ("a directory", &|path| std::fs::create_dir(path).expect("creates")),
        ("a link", &|path| std::os::unix::fs::symlink("/dev/full", path).expect("links")),
        ("a pipe", &|path| {
            let fifo = rustix::fs::FileType::Fifo;
            rustix::fs::mknodat(rustix::fs::CWD, path, fifo, 0o600.into(), 0).expect("makes");
        }),
        ("a socket", &|path| drop(std::os::unix::net::UnixListener::bind(path).expect("binds"))),
    ];
    for (what, put) in put {
        put(&log(&sandbox));
        let output = greet(&sandbox, &["you"]);
        assert_eq!((output.code, output.stdout.as_str()), (Some(0), "Hello, you!\n"), "{what}: {output}");
        assert_eq!(output.stderr, "", "{what}");
        let told = sandbox.run(&["run", "--verbose", "demo", "greet"]);
        assert!(told.stderr.contains("the audit log was not written"), "{what}: {told}");
        let path = log(&sandbox);
        if path.is_dir() { std::fs::remove_dir(path) } else { std::fs::remove_file(path) }.expect("removes");
    }
    std::fs::remove_dir_all(&state).expect("removes");
    std::fs::write(&state, "a file").expect("writes");
    assert_eq!(greet(&sandbox, &[]).code, Some(0), "the directory of the state is a file");
}

/// A writer that another test starts as a process of its own.
#[test]
#[ignore = "started by `many_processes_write_and_make_room_at_once`"]
fn writer() {
    let Some(path) = std::env::var_os("SKILLPM_TEST_LOG") else { return };
    let number = std::env::var("SKILLPM_TEST_WRITER").expect("a number");
    let log = AuditLog {
        file: Some(path.into()),
        rotation: Rotation { size: 20_000, keep: 1000 },
        arguments: false,
        session: number,
    };
    for line in 0..LINES {
        let subject = Subject { skill: format!("skill-{line}\n"), ..Subject::default() };
        log.write(&subject, &Event::Refused { script: "x", reason: &"y".repeat(line % 300) })
            .expect("writes");
    }
}

/// Real processes, none of which waits for another: each line is whole, and none is lost while the file is
/// renamed under them.
#[test]
fn many_processes_write_and_make_room_at_once() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("audit.jsonl");
    let start = |number: usize| {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.args(["--exact", "audit::writer", "--ignored", "--quiet"]).stdout(Stdio::null());
        command.env("SKILLPM_TEST_LOG", &path).env("SKILLPM_TEST_WRITER", number.to_string());
        command.spawn().expect("starts")
    };
    let writers: Vec<_> = (0..WRITERS).map(start).collect();
    for mut writer in writers {
        assert!(writer.wait().expect("ends").success());
    }
    let mut all: Vec<(String, String)> = Vec::new();
    let mut files = 0;
    for entry in std::fs::read_dir(dir.path()).expect("lists") {
        files += 1;
        for line in lines(&entry.expect("an entry").path()) {
            all.push((line["session"].to_string(), line["skill"].to_string()));
        }
    }
    assert_eq!(all.len(), WRITERS * LINES);
    all.sort();
    all.dedup();
    assert_eq!(all.len(), WRITERS * LINES, "no line appears twice");
    // How often depends on who comes while somebody else makes room.
    assert!(files > 1, "room was made: {files}");
}

/// The oldest lines go: no log grows without end.
#[test]
fn only_so_many_files_are_kept() {
    let dir = tempfile::tempdir().expect("a directory");
    let log = AuditLog {
        file: Some(dir.path().join("audit.jsonl")),
        rotation: Rotation { size: 1000, keep: 2 },
        arguments: false,
        session: "s".to_owned(),
    };
    for line in 0..100 {
        let subject = Subject { skill: format!("skill-{line}"), ..Subject::default() };
        log.write(&subject, &Event::Refused { script: "x", reason: "y" }).expect("writes");
    }
    let mut names: Vec<_> = std::fs::read_dir(dir.path())
        .expect("lists")
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    names.sort();
    assert!(names.ends_with(&["audit.jsonl.1".into(), "audit.jsonl.2".into()]), "{names:?}");
    let last = log.last(3, |_| true).expect("reads").records;
    assert_eq!(
        last.iter().map(|r| r.skill.as_str()).collect::<Vec<_>>(),
        ["skill-99", "skill-98", "skill-97"]
    );
}
