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
    std::fs::copy(env!("CARGO_BIN_EXE_skillpm"), &program).expect("copied");
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
