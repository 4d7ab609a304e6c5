//! What a user keeps to himself in an installed skill: no change of skillpm opens it to others.

#![cfg(unix)]

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::support::Sandbox;
use crate::update::skill;

const HOME: &str = ".agents/skills/pdf";
const KEPT: &str = ".local/share/skillpm/store-v2/kept";
/// What others may do with a file.
const OTHERS: u32 = 0o077;

fn source(sandbox: &Sandbox, text: &str) {
    sandbox.write("src/pdf/SKILL.md", skill("pdf", text));
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())).permissions().mode()
}

/// `pdf` with a secret of the user, with a line of his in the skill, and with a directory that is closed.
fn scene(args: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new();
    source(&sandbox, "1\n2\n3\n4\n5");
    sandbox.write("src/pdf/config", "a\nb\nc\nd\n");
    sandbox.ok(&[&["install", "./src/pdf", "-a", "claude-code"], args].concat());
    let own = |path: &str, text: &str, mode: u32| {
        let path = sandbox.write(&format!("{HOME}/{path}"), text);
        std::fs::set_permissions(path, Permissions::from_mode(mode)).expect("chmod");
    };
    own(".env", "KEY=1\n", 0o600);
    own("config", "a\nb\nc\nmine\n", 0o600);
    own("private/token", "x", 0o644);
    own("notes", "for all", 0o644);
    let private = sandbox.project().join(HOME).join("private");
    std::fs::set_permissions(private, Permissions::from_mode(0o700)).expect("chmod");
    sandbox
}

/// Every file below `dir`, wherever it lies, by its name.
fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_symlink() {
        } else if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found
}

/// Asserts that nobody else can read what the user wrote, in the project and in the store.
#[track_caller]
fn is_closed(sandbox: &Sandbox) {
    let places =
        [sandbox.project().join(".agents"), sandbox.project().join(".claude"), sandbox.home().join(KEPT)];
    let mut found = 0;
    let is_of_a_skill = |path: &PathBuf| !path.components().any(|part| part.as_os_str() == ".skillpm-merge");
    for path in places.iter().flat_map(|place| files(place)).filter(is_of_a_skill) {
        let text = std::fs::read(&path).unwrap_or_default();
        let is = |wanted: &[u8]| text.windows(wanted.len()).any(|part| part == wanted);
        let inside = path.parent().is_some_and(|dir| dir.ends_with("private") && mode(dir) & OTHERS == 0);
        if (is(b"KEY=1") || is(b"mine") || text == b"x") && !inside {
            found += 1;
            assert_eq!(mode(&path) & OTHERS, 0, "{}", path.display());
        }
    }
    assert!(found > 0);
}

#[test]
fn an_update_opens_nothing() {
    for args in [&[][..], &["--copy"]] {
        let sandbox = scene(args);
        source(&sandbox, "1\n2\n3\n4\nfive");
        sandbox.ok(&["update"]);
        is_closed(&sandbox);
        let home = sandbox.project().join(HOME);
        assert_eq!(mode(&home.join("notes")) & 0o044, mode(&home.join("SKILL.md")) & 0o044);
        // Once more, from what the first one made.
        source(&sandbox, "1\n2\n3\n4\n5\n6");
        sandbox.ok(&["update"]);
        is_closed(&sandbox);
        for _ in 0..2 {
            sandbox.ok(&["undo"]);
            is_closed(&sandbox);
        }
    }
}

#[test]
fn a_merge_that_is_taken_back_opens_nothing() {
    for flag in ["--abort", "--ours", "--theirs"] {
        let sandbox = scene(&["--copy"]);
        sandbox.write("src/pdf/config", "a\nb\nc\ntheirs\n");
        sandbox.write("src/pdf/.env", "KEY=\n");
        let output = sandbox.run(&["update"]);
        assert_eq!(output.code, Some(1), "{output}");
        is_closed(&sandbox);
        sandbox.ok(&["update", "pdf", flag]);
        is_closed(&sandbox);
    }
}

#[test]
fn what_is_kept_and_brought_back_is_closed() {
    for change in [&["install", "--force"][..], &["remove", "pdf", "--force"]] {
        let sandbox = scene(&["--copy"]);
        // As an earlier version kept it: open.
        sandbox.ok(&["install", "--force"]);
        let kept = files(&sandbox.home().join(KEPT));
        assert!(!kept.is_empty());
        for path in kept {
            std::fs::set_permissions(path, Permissions::from_mode(0o644)).expect("chmod");
        }
        sandbox.ok(&["undo"]);
        sandbox.ok(change);
        is_closed(&sandbox);
        sandbox.ok(&["undo"]);
        is_closed(&sandbox);
    }
}

#[test]
fn moves_and_copies_for_agents_open_nothing() {
    let sandbox = scene(&["--copy"]);
    sandbox.ok(&["disable", "pdf"]);
    is_closed(&sandbox);
    sandbox.ok(&["enable", "pdf"]);
    let copy = sandbox.project().join(".claude/skills/pdf/.env");
    assert_eq!(std::fs::read_to_string(copy).expect("agents get the skill as it is there"), "KEY=1\n");
    is_closed(&sandbox);
}
