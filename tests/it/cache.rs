//! `cache`: the store and the downloads.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use skillpm_sources::fs::DirLock;

use crate::support::fields;
use crate::support::{Forge, Sandbox, Tree};

const DAY: Duration = Duration::from_hours(24);

/// A machine with one skill from a repository, its archive, and a tree that nobody needs any more.
fn machine() -> (Forge, Sandbox) {
    let forge = Forge::start();
    let mut sandbox = Sandbox::new();
    sandbox.forge(&forge);
    forge.repo("acme/skills").commit(&Tree::new().skill("pdf", "pdf"));
    assert_eq!(sandbox.run(&["install", "acme/skills"]).code, Some(0));
    sandbox.write("docx/SKILL.md", "---\nname: docx\ndescription: Does docx. Use it in tests.\n---\n");
    assert_eq!(sandbox.run(&["install", "./docx"]).code, Some(0));
    assert_eq!(sandbox.run(&["remove", "docx"]).code, Some(0));
    (forge, sandbox)
}

fn store(sandbox: &Sandbox) -> PathBuf {
    sandbox.home().join(".local/share/skillpm/store-v2")
}

/// The trees of the store, sorted.
fn objects(sandbox: &Sandbox) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for start in std::fs::read_dir(store(sandbox).join("sha256")).into_iter().flatten() {
        let objects = std::fs::read_dir(start.expect("an entry").path()).expect("a directory");
        found.extend(objects.map(|entry| entry.expect("an entry").path()));
    }
    found.sort();
    found
}

/// The copies that a user edited.
fn kept(sandbox: &Sandbox) -> Vec<PathBuf> {
    let copies = std::fs::read_dir(store(sandbox).join("kept")).expect("a directory");
    copies.map(|entry| entry.expect("an entry").path()).collect()
}

/// Makes everything at and below `path` look as if it was last used so long ago.
fn age(path: &Path, age: Duration) {
    if path.is_dir() {
        for entry in std::fs::read_dir(path).expect("a directory") {
            self::age(&entry.expect("an entry").path(), age);
        }
    }
    let file = std::fs::File::open(path).expect("opens");
    file.set_modified(SystemTime::now() - age).expect("a time");
}

/// The output without what differs from run to run: digests and addresses.
fn shown(output: &impl ToString) -> String {
    let mut text = output.to_string();
    for (start, end, name) in [
        ("sha256/", [' ', ':', '`'], "[OBJECT]"),
        ("kept/", [' ', ':', '`'], "[KEPT]"),
        ("archives/", [' ', ':', ' '], "[ARCHIVE]"),
        ("refs/", [' ', ':', ' '], "[ANSWER]"),
    ] {
        while let Some(at) = text.find(start) {
            let length = text[at..].find(end).expect("an end");
            text.replace_range(at..at + length, name);
        }
    }
    text
}

#[test]
fn where_things_lie() {
    let (_forge, sandbox) = machine();
    let shown = sandbox.run(&["cache", "dir"]);
    assert_eq!(shown.code, Some(0));
    let lines: Vec<Vec<&str>> =
        shown.stdout.lines().map(|line| line.split("  ").filter(|cell| !cell.is_empty()).collect()).collect();
    assert_eq!(
        lines[0].iter().map(|cell| cell.trim()).collect::<Vec<_>>(),
        ["what", "size", "holds", "directory"]
    );
    assert_eq!((lines[1][0], lines[1][2].trim()), ("store", "2 skills"));
    assert_eq!(lines[1][3].trim(), "[DIR]/home/.local/share/skillpm/store-v2");
    assert_eq!(lines[2][3].trim(), "[DIR]/home/.cache/skillpm");
    let json: serde_json::Value =
        serde_json::from_str(&sandbox.run(&["cache", "dir", "--json"]).stdout).expect("JSON");
    assert_eq!(json["store"]["count"], 2);
    assert_eq!(json["downloads"], "[DIR]/home/.cache/skillpm");
    assert_eq!(json["rooms"][0]["name"], "github");
    assert!(json["rooms"][0]["bytes"].as_u64().expect("a number") > 0);

    let empty = Sandbox::new();
    let json = empty.ok(&["cache", "dir", "--json"]).json();
    assert_eq!(fields(&json, "store: count; rooms: name"), ["0"]);
    for words in [&["cache", "prune"][..], &["cache", "verify"], &["cache", "clean", "--store"]] {
        assert_eq!(empty.run(words).code, Some(0));
    }
    assert!(empty.tree(&empty.home()).is_empty(), "looking makes nothing");
}

#[test]
fn the_page() {
    let (_forge, sandbox) = machine();
    insta::assert_snapshot!(sandbox.run(&["cache", "prune"]), @"
    exit: 0
    --- stderr
    there is nothing to remove
    ");
    age(&store(&sandbox), 40 * DAY);
    age(&sandbox.home().join(".cache/skillpm"), 40 * DAY);
    let before = sandbox.tree(&sandbox.home());
    insta::assert_snapshot!(shown(&sandbox.run(&["cache", "prune", "--dry-run"])), @"
    exit: 0
    --- stdout
    would remove [DIR]/home/.local/share/skillpm/store-v2/[OBJECT] (167 bytes)
    would remove [DIR]/home/.cache/skillpm/github/[ARCHIVE] (551 bytes)
    would remove [DIR]/home/.cache/skillpm/github/[ANSWER] (106 bytes)
    --- stderr
    3 entries, 824 bytes; nothing was removed: this was a dry run
    ");
    assert_eq!(sandbox.tree(&sandbox.home()), before);
    assert_eq!(sandbox.run(&["cache", "prune", "--older-than", "7w"]).code, Some(0));
    assert_eq!(objects(&sandbox).len(), 2);
    insta::assert_snapshot!(shown(&sandbox.run(&["cache", "prune"])), @"
    exit: 0
    --- stderr
    3 entries removed, 824 bytes
    ");
    assert_eq!(objects(&sandbox).len(), 1, "the one that the lockfile names");
    std::fs::remove_dir_all(sandbox.project().join(".agents")).expect("removes");
    assert_eq!(sandbox.run(&["--offline", "install"]).code, Some(0), "it is still in the store");
}

/// A tree that is used is not old, though no lockfile here names it.
#[test]
fn using_a_tree_makes_it_young() {
    let (_forge, sandbox) = machine();
    age(&store(&sandbox), 40 * DAY);
    assert_eq!(sandbox.run(&["install", "./docx"]).code, Some(0));
    assert_eq!(sandbox.run(&["remove", "docx"]).code, Some(0));
    assert_eq!(sandbox.run(&["cache", "prune"]).code, Some(0));
    assert_eq!(objects(&sandbox).len(), 2);
}

/// Nothing that a user wrote is lost: copies that `--force` replaced stay, however old they are.
#[test]
fn edited_copies_stay() {
    let (_forge, sandbox) = machine();
    sandbox.write(".agents/skills/pdf/SKILL.md", "my own work");
    assert_eq!(sandbox.run(&["install", "--force"]).code, Some(0));
    age(&store(&sandbox), 400 * DAY);
    sandbox.ok(&["cache", "clean", "--store"]);
    assert!(objects(&sandbox).is_empty());
    let left = kept(&sandbox);
    assert_eq!(left.len(), 1);
    assert_eq!(std::fs::read_to_string(left[0].join("SKILL.md")).expect("reads"), "my own work");
    std::fs::write(left[0].join("SKILL.md"), "damaged, and still the best that there is").expect("writes");
    let output = sandbox.run(&["cache", "verify", "--fix", "--json"]);
    assert_eq!(output.code, Some(5), "{output}");
    assert_eq!(output.json()["damaged"].as_array().map(Vec::len), Some(1), "{output}");
    assert_eq!(kept(&sandbox), left);
}

#[test]
fn everything_that_can_be_had_again_goes() {
    let (_forge, sandbox) = machine();
    // A room of a source that comes later, with a repository in it.
    let git = sandbox.home().join(".cache/skillpm/git/skills-0123/repository");
    std::fs::create_dir_all(git.join("objects/pack")).expect("creates");
    std::fs::write(git.join("HEAD"), "ref: refs/heads/main\n").expect("writes");
    let busy = DirLock::acquire(git.parent().expect("a parent"), || ()).expect("locks");
    let output = sandbox.run(&["cache", "clean"]);
    assert!(
        output.stderr.contains("`[DIR]/home/.cache/skillpm/git/skills-0123` is in use and was kept"),
        "{output}"
    );
    assert!(git.join("HEAD").exists());
    drop(busy);
    assert_eq!(sandbox.run(&["cache", "clean", "--json"]).code, Some(0));
    let mut left = sandbox.tree(&sandbox.home().join(".cache/skillpm"));
    // What is remembered of trees comes when their times are old enough, and is no download.
    left.retain(|line| !line.contains("index-v1/"));
    assert_eq!(left, Vec::<String>::new());
    assert_eq!(objects(&sandbox).len(), 2, "the store stays");
    assert_eq!(sandbox.run(&["cache", "clean", "--store"]).code, Some(0));
    assert!(objects(&sandbox).is_empty());
    std::fs::remove_dir_all(sandbox.project().join(".agents")).expect("removes");
    assert_eq!(sandbox.run(&["install"]).code, Some(0), "it is fetched again");
}

/// THREATS: every kind of damage to the store is found, and thrown away where it can be had again.
#[test]
fn damage_is_found_and_thrown_away() {
    let (_forge, sandbox) = machine();
    assert_eq!(sandbox.ok(&["cache", "verify", "--json"]).json()["damaged"], serde_json::json!([]));
    let both = objects(&sandbox);
    std::fs::write(&both[0], "other bytes").expect("writes");
    let whole = std::fs::read(&both[1]).expect("reads");
    std::fs::write(&both[1], &whole[..whole.len() - 1]).expect("writes");
    let archive = sandbox
        .tree(&sandbox.home())
        .into_iter()
        .find_map(|line| {
            line.strip_prefix("600 ").filter(|path| path.contains("/archives/")).map(ToOwned::to_owned)
        })
        .expect("an archive");
    std::fs::write(sandbox.home().join(&archive), "<html>").expect("writes");
    let json = sandbox.run(&["cache", "verify", "--json"]);
    let value: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!((json.code, value["damaged"].as_array().map(Vec::len)), (Some(5), Some(3)));
    let dry = sandbox.run(&["cache", "verify", "--fix", "--dry-run"]);
    assert_eq!(dry.code, Some(5));
    assert_eq!(dry.stdout.matches("it would be deleted").count(), 3, "{dry}");
    assert_eq!(objects(&sandbox), both);
    let fixed = sandbox.run(&["cache", "verify", "--fix"]);
    assert_eq!(fixed.code, Some(0));
    assert_eq!(fixed.stdout.matches("it was deleted").count(), 3, "{fixed}");
    assert!(objects(&sandbox).is_empty());
    assert_eq!(sandbox.run(&["cache", "verify"]).code, Some(0));
    std::fs::remove_dir_all(sandbox.project().join(".agents")).expect("removes");
    assert_eq!(sandbox.run(&["install"]).code, Some(0));
}

/// What killed processes left goes, and nothing else: neither rooms nor what somebody writes now.
#[test]
fn leftovers_of_killed_processes_go() {
    let (_forge, sandbox) = machine();
    let cache = sandbox.home().join(".cache/skillpm");
    std::fs::create_dir_all(store(&sandbox).join("stage-dead/tree")).expect("creates");
    std::fs::create_dir_all(cache.join("gone-dead/it")).expect("creates");
    std::fs::write(cache.join("github/.download-old"), "half").expect("writes");
    age(&cache.join("github/.download-old"), 2 * DAY);
    std::fs::write(cache.join("github/.download-new"), "half").expect("writes");
    let before = sandbox.tree(&sandbox.home());
    sandbox.ok(&["cache", "prune", "--dry-run"]);
    assert_eq!(sandbox.tree(&sandbox.home()), before);
    assert_eq!(sandbox.run(&["cache", "prune"]).code, Some(0));
    assert!(!store(&sandbox).join("stage-dead").exists() && !cache.join("gone-dead").exists());
    assert!(!cache.join("github/.download-old").exists() && cache.join("github/.download-new").exists());
    assert_eq!(objects(&sandbox).len(), 2);
}

/// A process that reads from the store is waited for.
#[test]
fn a_running_installation_is_waited_for() {
    let (_forge, sandbox) = machine();
    let reading = DirLock::shared(&store(&sandbox)).expect("locks");
    let mut child = sandbox
        .command(&["--verbose", "cache", "clean", "--store"])
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stderr.take().expect("piped")));
    let first = lines.next().expect("a line").expect("text");
    assert!(first.contains("waiting"), "{first}");
    assert_eq!(objects(&sandbox).len(), 2);
    drop(reading);
    assert!(child.wait().expect("ends").success());
    assert!(objects(&sandbox).is_empty());
}

#[test]
fn mistakes() {
    let sandbox = Sandbox::new();
    for (words, code) in [
        (&["cache"][..], 2),
        (&["cache", "prune", "--older-than", "soon"], 2),
        (&["cache", "dir", "--dry-run"], 2),
        (&["cache", "empty"], 2),
    ] {
        let output = sandbox.run(words);
        assert_eq!(output.code, Some(code), "{output}");
    }
    sandbox.fails(
        &["cache", "prune", "--older-than", "soon"],
        2,
        "usage",
        &["soon", "--older-than <AGE>", "`w`", "30d", "skillpm cache prune --help"],
    );
    let mut homeless = Sandbox::new();
    homeless.env("HOME", "");
    assert_eq!(homeless.run(&["cache", "dir"]).code, Some(3));
}
