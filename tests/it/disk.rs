//! Directories that cannot be written, and disks that are full.

#![cfg(unix)]

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use crate::support::{Mount, Sandbox};

/// An id that owns nothing: for root, whom modes do not stop.
const NOBODY: u32 = 65534;

fn skill(sandbox: &Sandbox) {
    sandbox
        .write("src/pdf/SKILL.md", "---\nname: pdf\ndescription: Reads PDF files. Use it in tests.\n---\n");
    sandbox.write("src/pdf/data.bin", vec![7; 200_000]);
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The program as somebody whom modes stop, from a place that everybody can reach.
fn as_nobody(sandbox: &Sandbox, args: &[&str]) -> std::process::Output {
    let root = sandbox.project().parent().expect("a parent").to_owned();
    let program = root.join("skillpm");
    // By another process: one that this process had open for writing could not be run while the
    // child of another test, started in that moment, still holds it.
    let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_skillpm")).arg(&program).status();
    assert!(copied.expect("starts").success());
    for path in [&root, &program] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("chmod");
    }
    let mut command = Command::new(program);
    command.args(args).current_dir(sandbox.project()).env_clear().env("HOME", sandbox.home());
    if is_root() {
        std::os::unix::fs::chown(sandbox.home(), Some(NOBODY), Some(NOBODY)).expect("chown");
        command.uid(NOBODY).gid(NOBODY);
    }
    command.output().expect("starts")
}

/// The same with errors as JSON.
fn output_of_nobody(sandbox: &Sandbox, args: &[&str]) -> crate::support::Output {
    let output = as_nobody(sandbox, &[&["--error-format", "json"], args].concat());
    crate::support::Output {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

fn text(sandbox: &Sandbox, output: &std::process::Output) -> String {
    let root = sandbox.project().parent().expect("a parent").display().to_string();
    format!(
        "exit: {:?}\n{}",
        output.status.code(),
        String::from_utf8_lossy(&output.stderr).replace(&root, "[DIR]")
    )
}

#[test]
fn a_project_that_cannot_be_written() {
    let sandbox = Sandbox::new();
    skill(&sandbox);
    std::fs::set_permissions(sandbox.project(), std::fs::Permissions::from_mode(0o555)).expect("chmod");
    let before = sandbox.tree(&sandbox.project());
    let output = output_of_nobody(&sandbox, &["install", "./src/pdf"]);
    output.failed_with(6, "storage", &[".agents", "skillpm install -g ./src/pdf"]);
    assert_eq!(sandbox.tree(&sandbox.project()), before);
    std::fs::set_permissions(sandbox.project(), std::fs::Permissions::from_mode(0o755)).expect("chmod");
}

/// A tree of the store that may not be read is told as that, and not as one that is not there.
#[test]
fn a_tree_of_the_store_that_cannot_be_read() {
    let sandbox = Sandbox::new();
    skill(&sandbox);
    std::fs::set_permissions(sandbox.project(), std::fs::Permissions::from_mode(0o777)).expect("chmod");
    let output = as_nobody(&sandbox, &["install", "./src/pdf"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&sandbox, &output));
    let store = sandbox.home().join(".local/share/skillpm/store-v2/sha256");
    let objects = sandbox.tree(&store);
    let object = objects.iter().find(|line| line.starts_with("444 ") || line.starts_with("644 "));
    let (_, object) = object.expect("an object").split_once(' ').expect("a mode");
    std::fs::set_permissions(store.join(object), std::fs::Permissions::from_mode(0o000)).expect("chmod");
    for gone in ["src", ".agents/skills"] {
        std::fs::remove_dir_all(sandbox.project().join(gone)).expect("removes");
    }
    let output = as_nobody(&sandbox, &["install"]);
    let told = text(&sandbox, &output);
    assert!(told.contains("`pdf` is unreadable in the store and cannot be fetched"), "{told}");
}

/// Verbs that install nothing do not advise to install elsewhere.
#[test]
fn what_cannot_be_read_is_no_reason_to_install() {
    let sandbox = Sandbox::new();
    skill(&sandbox);
    let installed = text(&sandbox, &as_nobody(&sandbox, &["install", "./src/pdf", "--dry-run"]));
    assert!(!installed.contains("check who owns"), "{installed}");
    sandbox.write(".agents/skills/pdf/SKILL.md", "");
    let file = sandbox.project().join(".agents/skills/pdf/SKILL.md");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o000)).expect("chmod");
    for args in [&["invoke", "pdf"][..], &["show", "pdf"], &["run", "pdf", "x"], &["tools", "pdf"]] {
        let output = text(&sandbox, &as_nobody(&sandbox, args));
        assert!(output.starts_with("exit: Some(6)"), "{args:?}: {output}");
        assert!(output.ends_with("hint: check who owns the path, and its mode\n"), "{args:?}: {output}");
    }
}

/// Without a store that can be written the skill is installed all the same.
#[test]
fn a_home_that_cannot_be_written() {
    let sandbox = Sandbox::new();
    skill(&sandbox);
    std::fs::write(sandbox.home().join(".local"), "in the way").expect("a file");
    let output = sandbox.run(&["install", "./src/pdf"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(output.stderr.contains("the store is not writable"), "{output}");
    assert!(sandbox.project().join(".agents/skills/pdf/data.bin").exists());
}

#[test]
fn a_disk_without_room() {
    for options in ["size=100k", "nr_inodes=6"] {
        let sandbox = Sandbox::new();
        let project = sandbox.project();
        std::fs::create_dir(sandbox.home().join("src")).expect("a directory");
        let Some(_disk) = Mount::tmpfs(&project, options) else { return };
        let elsewhere = Sandbox::new();
        skill(&elsewhere);
        std::fs::rename(elsewhere.project().join("src/pdf"), sandbox.home().join("src/pdf")).expect("moved");
        let output = sandbox.run(&["install", "~/src/pdf"]);
        assert_eq!(output.code, Some(6), "{output}");
        assert!(output.stderr.contains("No space left on device"), "{output}");
        assert!(output.stderr.contains("free some space"), "{output}");
        assert_eq!(sandbox.tree(&project), Vec::<String>::new(), "{options}: nothing is left");
    }
}

/// A directory of an agent that only somebody else may read, as containers leave them, stops nobody
/// who does not use that agent; and directories without write permission go with their skill.
#[test]
fn directories_of_others_and_directories_without_write_permission() {
    if !is_root() {
        eprintln!("skipped: only root can make a directory that belongs to somebody else");
        return;
    }
    let sandbox = Sandbox::new();
    skill(&sandbox);
    std::fs::create_dir(sandbox.project().join(".junie")).expect("a directory");
    std::fs::set_permissions(sandbox.project().join(".junie"), std::fs::Permissions::from_mode(0o700))
        .expect("chmod");
    std::os::unix::fs::chown(sandbox.project(), Some(NOBODY), Some(NOBODY)).expect("chown");
    let run = |args: &[&str]| text(&sandbox, &as_nobody(&sandbox, args));
    let installed = run(&["install", "./src/pdf", "-a", "claude-code"]);
    assert!(installed.starts_with("exit: Some(0)"), "{installed}");
    assert_eq!(run(&["list", "-p"]), "exit: Some(0)\n");
    output_of_nobody(&sandbox, &["install", "./src/pdf", "-a", "junie"]).failed_with(
        6,
        "storage",
        &[".junie/skills", "skillpm install -g ./src/pdf"],
    );
    let cache = sandbox.project().join(".agents/skills/pdf/empty");
    std::fs::create_dir_all(cache.join("sub")).expect("directories");
    for dir in [cache.join("sub"), cache] {
        std::os::unix::fs::chown(&dir, Some(NOBODY), Some(NOBODY)).expect("chown");
        std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o555)).expect("chmod");
    }
    let removed = run(&["remove", "pdf"]);
    assert!(removed.starts_with("exit: Some(0)"), "{removed}");
    assert!(!sandbox.project().join(".agents/skills").exists());
    // What is kept of it can be taken away too.
    let forgotten = run(&["undo", "--forget"]);
    assert!(forgotten.starts_with("exit: Some(0)"), "{forgotten}");
    assert!(!sandbox.project().join(".agents").exists());
}

/// A sandbox with the skill `pdf` at `~/src/pdf`, beside the project.
fn beside() -> Sandbox {
    let sandbox = Sandbox::new();
    version(&sandbox, "first");
    sandbox
}

fn version(sandbox: &Sandbox, body: &str) {
    let dir = sandbox.home().join("src/pdf");
    std::fs::create_dir_all(dir.join("data")).expect("directories");
    let text = format!("---\nname: pdf\ndescription: Reads PDF files. Use it in tests.\n---\n{body}\n");
    std::fs::write(dir.join("SKILL.md"), text).expect("a file");
    std::fs::write(dir.join("data/all.txt"), format!("{body}\n").repeat(3000)).expect("a file");
}

/// Which version is installed; it has to be whole.
fn installed(sandbox: &Sandbox) -> Option<String> {
    let dir = sandbox.project().join(".agents/skills/pdf");
    let all = std::fs::read_to_string(dir.join("data/all.txt")).ok()?;
    let body = all.lines().next().expect("a line").to_owned();
    assert_eq!(all, format!("{body}\n").repeat(3000));
    let skill = std::fs::read_to_string(dir.join("SKILL.md")).expect("there too");
    assert!(skill.ends_with(&format!("{body}\n")), "a mixture: {body}, {skill}");
    Some(body)
}

/// An update with less and less room left: the old version stays as it was, or the new one is there, and
/// nothing of the attempt is left. THREATS.md section 7, a loop over the room.
#[test]
fn a_disk_that_fills_up_during_an_update() {
    let sandbox = beside();
    let project = sandbox.project();
    let Some(_disk) = Mount::tmpfs(&project, "size=512k") else { return };
    let mut ends = std::collections::BTreeMap::new();
    for room in (0..=80).step_by(4) {
        version(&sandbox, "first");
        sandbox.ok(&["install", "~/src/pdf"]);
        let lock = sandbox.read("skillpm.lock");
        let before = sandbox.tree(&project);
        version(&sandbox, "second");
        // All there is, less what is to be left.
        let ballast = project.join("ballast");
        let mut bytes = 512 << 10;
        while std::fs::write(&ballast, vec![0; bytes]).is_err() {
            bytes -= 4096;
        }
        std::fs::write(&ballast, vec![0; bytes - (room << 10)]).expect("fits");
        let output = sandbox.run(&["install", "~/src/pdf"]);
        std::fs::remove_file(&ballast).expect("removed");
        if output.code == Some(0) {
            assert_eq!(installed(&sandbox).as_deref(), Some("second"), "{room}: {output}");
        } else {
            assert_eq!(output.code, Some(6), "{room}: {output}");
            assert!(output.stderr.contains("free some space"), "{room}: {output}");
            assert_eq!(installed(&sandbox).as_deref(), Some("first"), "{room}: {output}");
            assert_eq!((sandbox.read("skillpm.lock"), sandbox.tree(&project)), (lock, before), "{room}");
        }
        *ends.entry(output.code).or_insert(0) += 1;
        sandbox.ok(&["install"]);
    }
    println!("{ends:?}");
    assert_eq!(ends.len(), 2, "with little room it fails, and with enough it does not: {ends:?}");
}

/// Nothing can be written into the home directory, or the store's disk is full: skills are installed,
/// restored and removed all the same, and what cannot be kept is told.
#[test]
fn a_home_on_a_read_only_or_full_disk() {
    for options in ["ro", "size=4k", "nr_inodes=2"] {
        let sandbox = Sandbox::new();
        skill(&sandbox);
        let Some(_disk) = Mount::tmpfs(&sandbox.home(), options) else { return };
        let told = sandbox.ok(&["install", "./src/pdf", "-a", "claude-code"]).stderr;
        assert!(told.contains("warning: the store is not writable"), "{options}: {told}");
        let file = sandbox.project().join(".agents/skills/pdf/data.bin");
        assert!(file.exists());
        std::fs::remove_dir_all(sandbox.project().join(".agents")).expect("removed");
        sandbox.ok(&["install"]);
        assert!(file.exists(), "{options}: restored from its source");
        // What somebody edited is not replaced where no copy of it can be kept.
        std::fs::write(&file, "mine").expect("a file");
        let output = sandbox.run(&["install", "--force"]);
        assert_eq!(output.code, Some(6), "{options}: {output}");
        assert!(output.stderr.contains("could not be kept, so it was not replaced"), "{options}: {output}");
        assert_eq!(std::fs::read_to_string(&file).expect("there"), "mine");
        std::fs::remove_dir_all(sandbox.project().join(".agents/skills/pdf")).expect("removed");
        sandbox.ok(&["remove", "pdf"]);
        let left = sandbox.tree(&sandbox.home());
        let notes = [".local/state/skillpm/undo/", ".local/state/skillpm/placed/"];
        let is_fine = |line: &String| line.ends_with('/') || notes.iter().any(|note| line.contains(note));
        assert!(left.iter().all(is_fine), "{options}: no file is left but what is noted: {left:?}");
    }
}

#[test]
fn a_project_on_a_read_only_disk() {
    let sandbox = beside();
    let Some(_disk) = Mount::tmpfs(&sandbox.project(), "ro") else { return };
    sandbox.fails(&["install", "~/src/pdf"], 6, "storage", &[".agents", "skillpm install -g '~/src/pdf'"]);
}

/// After the clock was set back, all that was written before is of the future, and what is written now
/// older than what it replaces: nothing that is decided hangs on that.
#[test]
fn a_clock_that_was_set_back() {
    let sandbox = beside();
    sandbox.ok(&["install", "~/src/pdf", "-a", "claude-code"]);
    sandbox.ok(&["install"]);
    let ages = [
        std::time::SystemTime::now() + std::time::Duration::from_hours(24 * 365 * 10),
        std::time::SystemTime::UNIX_EPOCH,
    ];
    for (age, body) in ages.into_iter().zip(["second", "third"]) {
        version(&sandbox, body);
        set_times(&sandbox.home(), age);
        set_times(&sandbox.project(), age);
        sandbox.ok(&["install"]);
        sandbox.ok(&["install", "~/src/pdf"]);
        assert_eq!(installed(&sandbox).as_deref(), Some(body));
        // Bytes that changed while size and time stayed are edits all the same.
        let file = sandbox.project().join(".agents/skills/pdf/data/all.txt");
        let text = std::fs::read_to_string(&file).expect("there");
        set_times(&sandbox.project(), age);
        sandbox.ok(&["install"]);
        std::fs::write(&file, text.to_uppercase()).expect("a file");
        set_times(&sandbox.project(), age);
        assert_eq!(sandbox.run(&["install"]).code, Some(1), "it is told as edited");
        std::fs::remove_dir_all(sandbox.project().join(".agents")).expect("removed");
        set_times(&sandbox.home(), age);
        sandbox.ok(&["install", "--offline"]);
        assert_eq!(installed(&sandbox).as_deref(), Some(body));
        set_times(&sandbox.home(), age);
        sandbox.ok(&["cache", "prune"]);
        sandbox.ok(&["cache", "verify"]);
        std::fs::remove_dir_all(sandbox.project().join(".agents")).expect("removed");
        sandbox.ok(&["install", "--offline"]);
    }
}

fn set_times(dir: &std::path::Path, time: std::time::SystemTime) {
    for entry in std::fs::read_dir(dir).expect("a directory") {
        let entry = entry.expect("an entry");
        let kind = entry.file_type().expect("a type");
        if kind.is_dir() {
            set_times(&entry.path(), time);
        }
        if !kind.is_symlink() {
            let times = std::fs::FileTimes::new().set_modified(time).set_accessed(time);
            std::fs::File::open(entry.path()).and_then(|file| file.set_times(times)).expect("a time");
        }
    }
}

/// What cannot be written stops `undo` before anything is done, and what is in the way of looking too.
#[test]
fn an_undo_that_cannot_be_written() {
    let sandbox = Sandbox::new();
    skill(&sandbox);
    if is_root() {
        std::os::unix::fs::chown(sandbox.project(), Some(NOBODY), Some(NOBODY)).expect("chown");
    }
    let run = |args: &[&str]| text(&sandbox, &as_nobody(&sandbox, args));
    let installed = run(&["install", "./src/pdf"]);
    assert!(installed.starts_with("exit: Some(0)"), "{installed}");
    let before = sandbox.scope();
    let mode = |dir: &str, mode| {
        let dir = sandbox.project().join(dir);
        std::fs::set_permissions(dir, std::fs::Permissions::from_mode(mode)).expect("chmod");
    };
    for (dir, place) in
        [(".agents/.skillpm-undo", "prepared"), (".agents", "begun"), (".agents/skills", "moved")]
    {
        mode(dir, 0o555);
        let output = run(&["undo"]);
        assert!(output.starts_with("exit: Some(6)"), "{place}: {output}");
        assert!(output.contains("Permission denied") && output.contains("hint: check who owns"), "{output}");
        mode(dir, 0o755);
        assert_eq!(sandbox.scope(), before, "{place}");
    }
    let undone = run(&["undo"]);
    assert!(undone.starts_with("exit: Some(0)"), "{undone}");
    assert!(!sandbox.project().join(".agents/skills").exists());
}

/// A tree that its user made read-only cannot be moved: it is told, and not the place where it should have gone.
#[test]
fn a_tree_that_may_not_be_moved() {
    if !is_root() {
        eprintln!("skipped: only root can be somebody else");
        return;
    }
    let sandbox = Sandbox::new();
    skill(&sandbox);
    std::os::unix::fs::chown(sandbox.project(), Some(NOBODY), Some(NOBODY)).expect("chown");
    let run = |args: &[&str]| text(&sandbox, &as_nobody(&sandbox, args));
    let installed = run(&["install", "./src/pdf"]);
    assert!(installed.starts_with("exit: Some(0)"), "{installed}");
    let tree = sandbox.project().join(".agents/skills/pdf");
    std::fs::set_permissions(&tree, std::fs::Permissions::from_mode(0o555)).expect("chmod");
    output_of_nobody(&sandbox, &["remove", "pdf"]).failed_with(6, "storage", &[".agents/skills/pdf"]);
    assert!(tree.join("SKILL.md").exists());
}

/// A skill that cannot be read is left out of the other tool's lockfile, and said so; the others are in it. If there is
/// no other, there is nothing to write.
#[test]
fn an_export_leaves_out_what_cannot_be_read() {
    let sandbox = Sandbox::new();
    for name in ["a", "b"] {
        let text = format!("---\nname: {name}\ndescription: Does {name}. Use it in tests.\n---\n");
        sandbox.write(&format!("skills/{name}/SKILL.md"), text);
    }
    sandbox.ok(&["install", ".", "--skill", "a", "--skill", "b"]);
    std::fs::set_permissions(sandbox.project(), std::fs::Permissions::from_mode(0o777)).expect("chmod");
    let whole = as_nobody(&sandbox, &["export", "skills-lock"]);
    assert_eq!(text(&sandbox, &whole), "exit: Some(0)\n`skills-lock.json` written: 2 skills of skillpm\n");
    let close = |name: &str, mode| {
        let dir = sandbox.project().join("skills").join(name);
        std::fs::set_permissions(dir, std::fs::Permissions::from_mode(mode)).expect("chmod");
    };
    let before = sandbox.read("skills-lock.json");
    close("a", 0o000);
    let output = as_nobody(&sandbox, &["export", "skills-lock"]);
    let said = text(&sandbox, &output);
    assert!(said.starts_with("exit: Some(1)\nwarning: `a` was left out: "), "{said}");
    // Its entry is of an earlier export.
    assert!(said.ends_with("`skills-lock.json` unchanged: 1 skill of skillpm\n"), "{said}");
    assert!(!said.contains("not skillpm's"), "{said}");
    assert_eq!(sandbox.read("skills-lock.json"), before);
    close("b", 0o000);
    std::fs::remove_file(sandbox.project().join("skills-lock.json")).expect("removes");
    let output = as_nobody(&sandbox, &["export", "skills-lock"]);
    let said = text(&sandbox, &output);
    assert!(said.starts_with("exit: Some(1)\n") && said.contains("`skills-lock.json` not written"), "{said}");
    assert!(!sandbox.project().join("skills-lock.json").exists());
    close("a", 0o755);
    close("b", 0o755);
    // What is no file of that tool is not written over.
    sandbox.write("notes.json", "{\"mine\": true}");
    let output = sandbox.run(&["export", "skills-lock", "-o", "notes.json"]);
    assert_eq!((output.code, sandbox.read("notes.json").as_str()), (Some(3), "{\"mine\": true}"), "{output}");
}
