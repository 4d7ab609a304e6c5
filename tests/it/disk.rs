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
    let output = as_nobody(&sandbox, &["install", "./src/pdf"]);
    insta::assert_snapshot!(text(&sandbox, &output), @"
    exit: Some(6)
    error: failed to create `[DIR]/project/.agents`
      caused by: Permission denied (os error 13)
    hint: check who owns the path, or install into the other scope with `--scope`
    ");
    assert_eq!(sandbox.tree(&sandbox.project()), before);
    std::fs::set_permissions(sandbox.project(), std::fs::Permissions::from_mode(0o755)).expect("chmod");
}

/// Without a store that can be written the skill is installed all the same.
#[test]
fn a_home_that_cannot_be_written() {
    let sandbox = Sandbox::new();
    skill(&sandbox);
    std::fs::write(sandbox.home().join(".local"), "in the way").expect("a file");
    let output = sandbox.run(&["install", "./src/pdf"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(output.stderr.contains("the store cannot be written"), "{output}");
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
        assert!(output.stderr.contains("hint: free some space"), "{output}");
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
    std::fs::create_dir(sandbox.project().join(".goose")).expect("a directory");
    std::fs::set_permissions(sandbox.project().join(".goose"), std::fs::Permissions::from_mode(0o700))
        .expect("chmod");
    std::os::unix::fs::chown(sandbox.project(), Some(NOBODY), Some(NOBODY)).expect("chown");
    let run = |args: &[&str]| text(&sandbox, &as_nobody(&sandbox, args));
    let installed = run(&["install", "./src/pdf", "-a", "claude-code"]);
    assert!(installed.starts_with("exit: Some(0)"), "{installed}");
    insta::assert_snapshot!(run(&["list", "-p"]), @"
    exit: Some(0)
    warning: failed to look at `[DIR]/project/.goose/skills`: Permission denied (os error 13)
    ");
    insta::assert_snapshot!(run(&["install", "./src/pdf", "-a", "goose"]), @"
    exit: Some(6)
    error: failed to look at `[DIR]/project/.goose/skills`
      caused by: Permission denied (os error 13)
    hint: check who owns the path, or install into the other scope with `--scope`
    ");
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
