//! The stat cache: what did not change is not read again, and what changed always is.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::support::{Output, Sandbox};

/// A project with three skills, linked for Claude Code.
fn installed(args: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new();
    for name in ["docx", "pdf", "xlsx"] {
        let text = format!("---\nname: {name}\ndescription: Does {name}. Use it in tests.\n---\n");
        sandbox.write(&format!("src/{name}/SKILL.md"), text);
        sandbox.write(&format!("src/{name}/references/deep/a.md"), "first\n");
    }
    let output = sandbox.run(&[&["install", "./src", "-s", "*", "-a", "claude-code"], args].concat());
    assert_eq!(output.code, Some(0), "{output}");
    sandbox
}

fn directory(sandbox: &Sandbox) -> PathBuf {
    sandbox.home().join(".cache/skillpm/index-v1")
}

/// The one index there is.
fn index(sandbox: &Sandbox) -> Option<PathBuf> {
    let mut files = fs::read_dir(directory(sandbox)).ok()?.map(|entry| entry.expect("an entry").path());
    let file = files.next()?;
    assert_eq!(files.next(), None, "one scope, one index");
    Some(file)
}

/// Runs `list` until it has remembered all: what was written a moment ago is not.
fn warm(sandbox: &Sandbox) {
    let begun = Instant::now();
    loop {
        assert_eq!(sandbox.run(&["list"]).code, Some(0));
        let bytes = index(sandbox).map(|file| fs::read(file).expect("an index")).unwrap_or_default();
        if count(&bytes, b"references/deep/a.md") == 3 {
            return;
        }
        assert!(begun.elapsed() < Duration::from_mins(1), "nothing is remembered");
    }
}

fn count(bytes: &[u8], what: &[u8]) -> usize {
    bytes.windows(what.len()).filter(|window| *window == what).count()
}

fn state(sandbox: &Sandbox, name: &str) -> String {
    let skills: serde_json::Value =
        serde_json::from_str(&sandbox.run(&["list", "--json"]).stdout).expect("JSON");
    let skills = skills.as_array().expect("a list");
    let skill = skills.iter().find(|skill| skill["name"] == name).expect("it is listed");
    skill["state"].as_str().expect("a text").to_owned()
}

/// Runs the program and returns what it opened of the skills, as the system tells it.
#[cfg(target_os = "linux")]
fn opened(sandbox: &Sandbox, args: &[&str]) -> (Output, usize) {
    use rustix::fs::inotify;
    use std::mem::MaybeUninit;
    let watch = inotify::init(inotify::CreateFlags::NONBLOCK).expect("inotify");
    for name in ["docx", "pdf", "xlsx"] {
        for below in ["", "references", "references/deep"] {
            let path = sandbox.project().join(".agents/skills").join(name).join(below);
            inotify::add_watch(&watch, path, inotify::WatchFlags::OPEN).expect("a watch");
        }
    }
    let output = sandbox.run(args);
    let mut buffer = vec![MaybeUninit::uninit(); 1 << 16];
    let mut events = inotify::Reader::new(&watch, &mut buffer);
    let mut seen = 0;
    while events.next().is_ok() {
        seen += 1;
    }
    (output, seen)
}

/// Issue 5: where nothing changed, no file and no directory of a skill is opened; what changed is read,
/// and `verify` reads all of it. So does `doctor`, which tells what skills require.
#[cfg(target_os = "linux")]
#[test]
fn what_did_not_change_is_not_read() {
    let sandbox = installed(&[]);
    warm(&sandbox);
    for args in [&["list"][..], &["install"], &["install", "--locked"]] {
        let (output, seen) = opened(&sandbox, args);
        assert_eq!((output.code, seen), (Some(0), 0), "{args:?}: {output}");
    }
    assert!(opened(&sandbox, &["verify"]).1 >= 15, "three skills with three directories and two files");
    sandbox.write(".agents/skills/pdf/SKILL.md", "mine");
    assert!(opened(&sandbox, &["list"]).1 > 0);
}

/// Issue 5: each kind of change is seen by the very next command.
#[test]
fn each_change_is_seen_at_once() {
    type Change = (&'static str, fn(&Sandbox, &Path));
    let changes: [Change; 7] = [
        ("an edit of the same size, with the old time", |sandbox, pdf| {
            let (file, text) = (pdf.join("SKILL.md"), sandbox.read(".agents/skills/pdf/SKILL.md"));
            let time = fs::metadata(&file).expect("metadata").modified().expect("a time");
            fs::write(&file, text.replace("Does", "Dies")).expect("writes");
            let opened = fs::File::options().append(true).open(&file).expect("opens");
            opened.set_modified(time).expect("sets the time");
        }),
        ("another file of the same size and time", |sandbox, pdf| {
            let (file, text) = (pdf.join("SKILL.md"), sandbox.read(".agents/skills/pdf/SKILL.md"));
            let time = fs::metadata(&file).expect("metadata").modified().expect("a time");
            let new = sandbox.write("new", text.replace("Does", "Dies"));
            fs::File::options().append(true).open(&new).expect("opens").set_modified(time).expect("sets");
            fs::rename(new, file).expect("renames");
        }),
        ("another tree in its place", |sandbox, pdf| {
            fs::rename(pdf, sandbox.project().join("old")).expect("renames");
            fs::write(sandbox.project().join("src/docx/mine.md"), "").expect("writes");
            fs::rename(sandbox.project().join("src/docx"), pdf).expect("renames");
        }),
        ("a file in a deep directory", |_, pdf| {
            fs::write(pdf.join("references/deep/b.md"), "").expect("writes");
        }),
        ("another mode", |_, pdf| {
            fs::set_permissions(pdf.join("SKILL.md"), fs::Permissions::from_mode(0o755)).expect("chmod");
        }),
        ("a link instead of a file", |_, pdf| {
            fs::remove_file(pdf.join("references/deep/a.md")).expect("removes");
            symlink("../../SKILL.md", pdf.join("references/deep/a.md")).expect("links");
        }),
        ("a link instead of a directory", |sandbox, pdf| {
            fs::rename(pdf.join("references"), sandbox.project().join("references")).expect("renames");
            symlink("../../../references", pdf.join("references")).expect("links");
        }),
    ];
    for (what, change) in changes {
        let sandbox = installed(&[]);
        warm(&sandbox);
        change(&sandbox, &sandbox.project().join(".agents/skills/pdf"));
        let output = sandbox.run(&["install"]);
        assert_eq!(output.code, Some(1), "{what}: {output}");
        assert_eq!(state(&sandbox, "pdf"), "modified", "{what}");
        assert_eq!(state(&sandbox, "docx"), "ok", "{what}");
    }
}

/// What is edited again and again, faster than any clock goes, is never taken for what it was.
#[test]
fn edits_within_one_tick() {
    let sandbox = installed(&[]);
    warm(&sandbox);
    let text = sandbox.read(".agents/skills/pdf/SKILL.md");
    for round in 0..20 {
        let (new, expected) = match round % 2 {
            0 => (text.replace("Does", "Dies"), "modified"),
            _ => (text.clone(), "ok"),
        };
        sandbox.write(".agents/skills/pdf/SKILL.md", new);
        assert_eq!(state(&sandbox, "pdf"), expected, "{round}");
    }
}

/// A cache that is damaged, or has no place, changes nothing but the speed.
#[test]
fn a_damaged_index_is_none() {
    let sandbox = installed(&[]);
    warm(&sandbox);
    let file = index(&sandbox).expect("an index");
    let (good, expected) = (fs::read(&file).expect("reads"), sandbox.run(&["list"]));
    let half = &good[..good.len() / 2];
    let mut flipped = good.clone();
    flipped[good.len() / 2] ^= 1;
    for bytes in [&b""[..], half, &flipped, b"noise"] {
        fs::write(&file, bytes).expect("writes");
        assert_eq!(sandbox.run(&["list"]), expected);
    }
    fs::remove_dir_all(directory(&sandbox)).expect("removes");
    fs::write(directory(&sandbox), "in the way").expect("writes");
    assert_eq!(sandbox.run(&["list"]), expected);
    let output = sandbox.run(&["install"]);
    assert!(output.code == Some(0) && !output.stderr.contains("index"), "{output}");
}

/// Makes the index say the digest `to` where it has `from`, wherever that is.
fn poison(sandbox: &Sandbox, from: &str, to: &str) {
    let bytes = |hex: &str| -> Vec<u8> {
        let hex = hex.trim_start_matches("sha256:");
        (0..32).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).expect("hexadecimal")).collect()
    };
    rewrite(sandbox, &bytes(from), &bytes(to));
}

/// Replaces bytes of the index, so that it is still a whole one.
fn rewrite(sandbox: &Sandbox, from: &[u8], to: &[u8]) {
    let file = index(sandbox).expect("an index");
    let mut all = fs::read(&file).expect("reads");
    assert!(count(&all, from) > 0, "it is remembered");
    for at in 0..=all.len() - from.len() {
        if all[at..].starts_with(from) {
            all[at..at + from.len()].copy_from_slice(to);
        }
    }
    let head = b"skillpm index\n".len() + 8;
    let mut sum = u32::MAX;
    for byte in &all[head..] {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = if sum & 1 == 1 { sum >> 1 ^ 0xEDB8_8320 } else { sum >> 1 };
        }
    }
    all[head - 4..head].copy_from_slice(&(!sum).to_le_bytes());
    fs::write(file, all).expect("writes");
}

/// An edited skill of which the cache wrongly says that it is as locked.
fn fooled() -> Sandbox {
    let sandbox = installed(&[]);
    sandbox.write(".agents/skills/pdf/SKILL.md", "mine");
    warm(&sandbox);
    let verified: serde_json::Value =
        serde_json::from_str(&sandbox.run(&["verify", "pdf", "--json"]).stdout).expect("JSON");
    let digest = |value: &serde_json::Value| value.as_str().expect("a digest").to_owned();
    let skill = &verified["skills"][0];
    poison(&sandbox, &digest(&skill["places"][0]["found"]), &digest(&skill["digest"]));
    assert_eq!(state(&sandbox, "pdf"), "ok", "the cache is used, or this test shows nothing");
    sandbox
}

/// Issue 5: nothing of a user's is thrown away because a cache says so, whatever it says.
#[test]
fn a_cache_that_lies_loses_nothing() {
    let commands: [&[&str]; 6] = [
        &["verify"],
        &["remove", "pdf"],
        &["install", "./src", "-s", "pdf"],
        &["unlink", "-a", "claude-code", "pdf"],
        &["install", "--copy"],
        &["doctor", "--fix", "-p"],
    ];
    for args in commands {
        let sandbox = fooled();
        let skill = sandbox.project().join("src/pdf/SKILL.md");
        fs::write(&skill, fs::read_to_string(&skill).expect("reads") + "newer\n").expect("writes");
        let output = sandbox.run(args);
        assert_eq!(sandbox.read(".agents/skills/pdf/SKILL.md"), "mine", "{args:?}: {output}");
        if args == ["verify"] {
            assert_eq!(output.code, Some(5), "{output}");
        }
    }
    // Made editable, the copy would go.
    let sandbox = fooled();
    let manifest =
        sandbox.read("skillpm.toml").replace("subdir = \"pdf\"", "subdir = \"pdf\", editable = true");
    sandbox.write("skillpm.toml", manifest);
    let output = sandbox.run(&["install"]);
    assert_eq!(sandbox.read(".agents/skills/pdf/SKILL.md"), "mine", "{output}");
    assert_eq!(output.code, Some(1), "{output}");
}

/// Issue 5: whatever is not as it was seen is looked at, and told or put right.
#[test]
fn what_is_no_longer_in_order_is_seen() {
    type Change = (&'static str, fn(&Sandbox), Option<i32>, &'static str);
    let changes: [Change; 12] = [
        (
            "a link is gone",
            |s| fs::remove_file(s.project().join(".claude/skills/pdf")).expect("removes"),
            Some(0),
            "",
        ),
        (
            "another link",
            |s| {
                let link = s.project().join(".claude/skills/pdf");
                fs::remove_file(&link).expect("removes");
                symlink("../../src/pdf", link).expect("links");
            },
            Some(0),
            "`.claude/skills/pdf` is a link to `../../src/pdf` and was left as is",
        ),
        (
            "a tree is gone",
            |s| fs::remove_dir_all(s.project().join(".agents/skills/pdf")).expect("removes"),
            Some(0),
            "+ pdf",
        ),
        ("an edit", |s| drop(s.write(".agents/skills/pdf/SKILL.md", "mine")), Some(1), "! pdf"),
        (
            "a copy among the disabled",
            |s| drop(s.write(".agents/.skillpm-disabled/pdf/SKILL.md", "x")),
            Some(1),
            "edited",
        ),
        (
            "another manifest",
            |s| {
                let text = s.read("skillpm.toml");
                s.write("skillpm.toml", text.replace("pdf = { path = \"./src\", subdir = \"pdf\" }\n", ""));
            },
            Some(0),
            "- pdf",
        ),
        (
            "another lockfile",
            |s| {
                let text = s.read("skillpm.lock");
                s.write("skillpm.lock", text.replace("name = \"pdf\"", "name = \"pd\""));
            },
            Some(0),
            "pd",
        ),
        ("no lockfile", |s| fs::remove_file(s.project().join("skillpm.lock")).expect("removes"), Some(0), ""),
        ("a manifest that is wrong", |s| drop(s.write("skillpm.toml", "[skills")), Some(3), "error"),
        (
            "a policy",
            |s| {
                let text = s.read("skillpm.toml");
                s.write("skillpm.toml", text + "\n[policy]\ndeny = [\"path:*\"]\n");
            },
            Some(5),
            "error",
        ),
        (
            "an agent's directory that leads away",
            |s| {
                fs::rename(s.project().join(".claude"), s.home().join("moved")).expect("renames");
                symlink(s.home().join("moved"), s.project().join(".claude")).expect("links");
            },
            Some(5),
            "is a link that leads out of the project",
        ),
        (
            "a run that was cut off",
            |s| drop(s.write(".agents/.skillpm-tx/journal.json", "no journal")),
            Some(3),
            "journal",
        ),
    ];
    for (what, change, code, said) in changes {
        let sandbox = installed(&[]);
        warm(&sandbox);
        change(&sandbox);
        let output = sandbox.run(&["install"]);
        assert_eq!(output.code, code, "{what}: {output}");
        assert!(output.stderr.contains(said), "{what}: {output}");
    }
    // The rules of the machine and those that a variable names hold at once.
    let mut sandbox = installed(&[]);
    let policy = sandbox.write("policy.toml", "deny = [\"path:*\"]\n");
    sandbox.env("SKILLPM_POLICY", &policy.display().to_string());
    assert_eq!(sandbox.run(&["install"]).code, Some(5));
}

/// For the user, where an agent looks depends on variables and on what is there.
#[test]
fn an_agent_that_looks_elsewhere_is_served() {
    let mut sandbox = installed(&[]);
    assert_eq!(sandbox.run(&["install", "./src/pdf", "-g", "-a", "claude-code"]).code, Some(0));
    assert_eq!(sandbox.run(&["install", "-g"]).code, Some(0));
    let moved = sandbox.home().join("claude");
    sandbox.env("CLAUDE_CONFIG_DIR", &moved.display().to_string());
    assert_eq!(sandbox.run(&["install", "-g"]).code, Some(0));
    assert!(fs::read_link(moved.join("skills/pdf")).is_ok(), "it gets its link there");
}
