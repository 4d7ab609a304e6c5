//! `undo`: after it the scope is what it was before the last change, and after another one what that
//! change had made of it.

#![cfg(unix)]

use std::cell::Cell;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::test_runner::{Config, TestRunner};
use skillpm_core::ops::disable::{DisableRequest, disable, enable};
use skillpm_core::ops::install::{InstallRequest, install};
use skillpm_core::ops::link::{LinkRequest, link, unlink};
use skillpm_core::ops::remove::{RemoveRequest, remove};
use skillpm_core::ops::undo::{UndoRequest, undo};
use skillpm_sources::context::Context;
use skillpm_sources::reporter::Reporter;

use crate::support::Sandbox;
use crate::support::numbers::cases;

fn write_skill(sandbox: &Sandbox, name: &str, body: &str) {
    let text = format!("---\nname: {name}\ndescription: Does {name}. Use it in tests.\n---\n{body}\n");
    sandbox.write(&format!("src/{name}/SKILL.md"), text);
    sandbox.write(&format!("src/{name}/scripts/run.sh"), format!("#!/bin/sh\necho {body}\n"));
}

/// A sandbox with the sources `pdf` and `docx`.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    write_skill(&sandbox, "pdf", "first");
    write_skill(&sandbox, "docx", "first");
    sandbox
}

/// One with both installed for Claude Code.
fn installed() -> Sandbox {
    let sandbox = sandbox();
    sandbox.ok(&["install", "./src", "--skill", "*", "--agent", "claude-code"]);
    sandbox
}

/// Runs `change`, takes it back, does it again and takes it back again.
fn there_and_back(sandbox: &Sandbox, change: &[&str]) {
    let before = sandbox.scope();
    sandbox.ok(change);
    let after = sandbox.scope();
    assert_ne!(before, after, "{change:?} changes something");
    for round in 0..2 {
        sandbox.ok(&["undo"]);
        assert_eq!(sandbox.scope(), before, "{change:?}, taken back, round {round}");
        sandbox.ok(&["undo"]);
        assert_eq!(sandbox.scope(), after, "{change:?}, done again, round {round}");
    }
}

#[test]
fn the_page() {
    let sandbox = sandbox();
    insta::assert_snapshot!(sandbox.run(&["undo"]), @"
    exit: 1
    --- stderr
    error: there is nothing to undo in this project
    ");
    let before = sandbox.scope();
    sandbox.ok(&["install", "./src", "--skill", "*", "--agent", "claude-code"]);
    insta::assert_snapshot!(sandbox.run(&["undo", "--dry-run"]), @"
    exit: 0
    --- stdout
    would delete .agents/skills/docx
    would delete .agents/skills/pdf
    would delete .claude/skills/docx
    would delete .claude/skills/pdf
    would delete skillpm.lock
    would delete skillpm.toml
    --- stderr
    nothing was changed: this was a dry run
    ");
    assert!(sandbox.project().join(".claude/skills/pdf").exists());
    insta::assert_snapshot!(sandbox.run(&["undo"]), @"
    exit: 0
    --- stderr
    - docx
    - pdf
    the last change was undone
    removed `skillpm.toml` and `skillpm.lock`, which did not exist before
    hint: run `skillpm undo` again to redo it
    ");
    assert_eq!(sandbox.scope(), before);
    insta::assert_snapshot!(sandbox.run(&["undo"]), @"
    exit: 0
    --- stderr
    + docx
    + pdf
    the last change was redone
    `skillpm.toml` and `skillpm.lock` changed: commit both
    hint: run `skillpm undo` again to undo it
    ");
    assert!(sandbox.project().join(".claude/skills/pdf/SKILL.md").exists());
    assert!(sandbox.ok(&["list"]).stdout.contains("pdf"));
}

#[test]
fn every_verb_is_taken_back_and_done_again() {
    let sandbox = installed();
    for change in [
        &["link", "--agent", "junie"][..],
        &["unlink", "--agent", "claude-code", "pdf"],
        &["disable", "pdf"],
        &["install", "./src/docx", "--as", "word"],
        &["install", "--copy"],
        &["disable", "docx", "word"],
        &["enable", "pdf", "docx"],
        &["install", "./src/pdf", "--editable", "--force"],
        &["remove", "pdf"],
        &["remove", "docx", "word"],
    ] {
        there_and_back(&sandbox, change);
    }
    assert!(
        !sandbox.project().join("skillpm.lock").exists() || !sandbox.read("skillpm.lock").contains("pdf")
    );
}

#[test]
fn a_newer_version_gives_way_to_the_one_before() {
    let sandbox = installed();
    write_skill(&sandbox, "pdf", "second");
    there_and_back(&sandbox, &["install", "./src/pdf"]);
    sandbox.tells(&["undo"], 0, "skills: name change", &["pdf replaced"]);
    assert!(sandbox.read(".agents/skills/pdf/SKILL.md").ends_with("first\n"));
}

#[test]
fn the_scope_of_the_user_has_a_record_of_its_own() {
    let sandbox = sandbox();
    sandbox.ok(&["install", "./src/pdf", "-g"]);
    assert!(sandbox.run(&["undo"]).stderr.contains("`skillpm undo --scope user` undoes it"));
    sandbox.ok(&["install", "./src/docx"]);
    sandbox.ok(&["undo", "-g"]);
    assert!(!sandbox.home().join(".agents/skills").exists());
    assert!(sandbox.project().join(".agents/skills/docx").exists());
}

/// In the user's home both scopes have one directory: what was done in the one is not taken back in the other.
#[test]
fn the_home_directory_is_in_two_scopes() {
    let sandbox = sandbox();
    let at_home = |args: &[&str]| {
        let mut command = sandbox.command(args);
        sandbox.output(command.current_dir(sandbox.home()))
    };
    let source = sandbox.project().join("src/pdf").display().to_string();
    assert_eq!(at_home(&["install", &source, "-g"]).code, Some(0));
    at_home(&["undo", "--json"]).failed_with(1, "findings", &["skillpm undo --scope user"]);
    assert!(sandbox.home().join(".agents/skills/pdf").exists());
    assert_eq!(at_home(&["undo", "-g"]).code, Some(0));
    assert!(!sandbox.home().join(".agents/skills/pdf").exists());
    let source = sandbox.project().join("src/docx").display().to_string();
    assert_eq!(at_home(&["install", "-p", &source]).code, Some(0));
    at_home(&["undo", "-g", "--dry-run", "--json"]).failed_with(
        1,
        "findings",
        &["skillpm undo --scope project"],
    );
    sandbox.fails(&["undo", "-g"], 1, "findings", &["skillpm undo --scope project"]);
    assert!(sandbox.home().join(".agents/skills/docx").exists());
    assert_eq!(at_home(&["undo"]).code, Some(0));
    assert!(!sandbox.home().join("skillpm.toml").exists());
}

/// A hint without the flag would take back a change of the project.
#[test]
fn hints_about_skills_of_the_user_name_their_scope() {
    let sandbox = sandbox();
    sandbox.ok(&["install", "./src/pdf", "-g"]);
    sandbox.tells(&["remove", "pdf", "-g"], 0, "removed:", &["pdf"]);
    sandbox.tells(&["undo", "-g"], 0, "skills: name change", &["pdf back"]);
    std::fs::write(sandbox.home().join(".agents/skills/pdf/notes.md"), "mine").expect("written");
    let told = sandbox.ok(&["install", "-g", "--force"]).to_string();
    assert!(told.contains("; `skillpm undo -g` restores it"), "{told}");
    std::fs::remove_dir_all(sandbox.home().join(".agents/skills/pdf")).expect("removed");
    std::fs::remove_dir_all(sandbox.home().join(".local/share")).expect("removed");
    let doctor = sandbox.run(&["doctor", "-g"]).to_string();
    assert!(doctor.contains("`skillpm install -g` restores it"), "{doctor}");
}

/// No byte that a user wrote is lost: `--force` takes it away, `undo` brings it back, and the store has it
/// besides.
#[test]
fn edits_that_were_removed_by_force_come_back() {
    let sandbox = installed();
    sandbox.write(".agents/skills/pdf/notes.md", "mine");
    std::fs::create_dir(sandbox.project().join(".agents/skills/pdf/empty")).expect("a directory");
    let edited = sandbox.scope();
    sandbox.tells(&["remove", "pdf", "--force"], 0, "removed:", &["pdf"]);
    sandbox.tells(&["undo"], 0, "skills: name change", &["pdf back"]);
    assert_eq!(
        sandbox.scope(),
        edited,
        "an empty directory is no part of a skill, and comes back all the same"
    );
    there_and_back(&sandbox, &["install", "--force"]);
}

/// The same of an agent's own copy, whichever way the skill goes.
#[test]
fn edited_copies_that_were_removed_by_force_come_back() {
    let sandbox = sandbox();
    sandbox.ok(&["install", "./src", "--skill", "*", "--agent", "claude-code", "--copy"]);
    let copy = sandbox.write(".claude/skills/pdf/notes.md", "mine");
    let edited = sandbox.scope();
    let in_the_way = |command: &[&str]| {
        sandbox.fails(command, 1, "findings", &[".claude/skills/pdf", "--force"]);
    };
    in_the_way(&["remove", "pdf"]);
    assert_eq!(sandbox.scope(), edited);
    let told = sandbox.ok(&["remove", "pdf", "--force"]).to_string();
    assert!(told.contains("your edited `pdf` was saved"), "{told}");
    assert!(!sandbox.project().join(".claude/skills/pdf").exists());
    sandbox.ok(&["undo"]);
    assert_eq!(sandbox.scope(), edited);
    // An entry that somebody took out of the manifest.
    let manifest = sandbox.read("skillpm.toml");
    let others: Vec<_> = manifest.lines().filter(|line| !line.starts_with("pdf")).collect();
    sandbox.write("skillpm.toml", others.join("\n") + "\n");
    in_the_way(&["install"]);
    assert!(copy.exists());
    sandbox.ok(&["install", "--force"]);
    assert!(!sandbox.project().join(".claude/skills/pdf").exists());
    sandbox.ok(&["undo"]);
    assert_eq!(std::fs::read(copy).expect("it is back"), b"mine");
}

/// Somebody else's link gives way by force and comes back as it was, wherever it leads.
#[test]
fn a_link_that_was_replaced_by_force_comes_back() {
    let sandbox = sandbox();
    std::fs::create_dir_all(sandbox.project().join(".claude/skills")).expect("a directory");
    symlink("../../../home/elsewhere", sandbox.project().join(".claude/skills/pdf")).expect("a link");
    there_and_back(&sandbox, &["install", "./src/pdf", "--agent", "claude-code", "--force"]);
    there_and_back(&sandbox, &["install", "--copy"]);
    sandbox.ok(&["undo"]);
    there_and_back(&sandbox, &["unlink", "--agent", "claude-code"]);
}

#[test]
fn repairs_are_taken_back() {
    let sandbox = installed();
    std::fs::remove_dir_all(sandbox.project().join(".agents/skills/pdf")).expect("removed");
    std::fs::remove_file(sandbox.project().join(".claude/skills/docx")).expect("removed");
    there_and_back(&sandbox, &["doctor", "--fix", "-p"]);
}

/// What was changed since is told, all of it, and stays; with `--force` it is kept.
#[test]
fn what_was_changed_since_is_in_the_way() {
    let sandbox = installed();
    sandbox.write(".agents/skills/pdf/notes.md", "mine");
    sandbox.write("skillpm.toml", sandbox.read("skillpm.toml") + "# mine\n");
    let link = sandbox.project().join(".claude/skills/docx");
    std::fs::remove_file(&link).expect("removed");
    symlink("../../src/docx", &link).expect("a link");
    let edited = sandbox.scope();
    sandbox.fails(
        &["undo"],
        1,
        "findings",
        &[".agents/skills/pdf", ".claude/skills/docx", "skillpm.toml", "--force"],
    );
    assert_eq!(sandbox.run(&["undo", "--dry-run"]).code, Some(1));
    assert_eq!(sandbox.scope(), edited);
    sandbox.tells(&["undo", "--force"], 0, "skills: name change", &["docx gone", "pdf gone"]);
    assert!(!sandbox.project().join(".agents/skills").exists());
    let copies = sandbox.ok(&["undo", "--list", "--json"]).stdout;
    let copies: Vec<serde_json::Value> = serde_json::from_str(&copies).expect("JSON");
    for (name, file) in [("skillpm.toml", "skillpm.toml"), ("pdf", "notes.md")] {
        let copy = copies.iter().find(|copy| copy["name"] == name).expect("listed");
        assert_eq!(copy["why"], "taken-back");
        let path =
            copy["path"].as_str().expect("a path").replace("[DIR]", &sandbox.root().display().to_string());
        assert!(std::fs::read_to_string(Path::new(&path).join(file)).expect("kept").contains("mine"));
    }
    sandbox.ok(&["undo"]);
    assert_eq!(sandbox.scope(), edited, "edits and all");
}

/// A directory that came where a skill was removed is somebody's.
#[test]
fn what_came_in_the_place_of_a_removed_skill_is_in_the_way() {
    let sandbox = installed();
    sandbox.ok(&["remove", "pdf"]);
    sandbox.write(".agents/skills/pdf/SKILL.md", "mine");
    sandbox.fails(&["undo"], 1, "findings", &[".agents/skills/pdf", "--force"]);
    sandbox.ok(&["undo", "--force"]);
    assert!(sandbox.read(".agents/skills/pdf/SKILL.md").ends_with("first\n"));
    sandbox.ok(&["undo"]);
    assert_eq!(sandbox.read(".agents/skills/pdf/SKILL.md"), "mine");
    // What the store cannot keep is not even replaced by force.
    symlink("/etc/hostname", sandbox.project().join(".agents/skills/pdf/link")).expect("a link");
    sandbox.fails(&["undo", "--force"], 1, "findings", &[".agents/skills/pdf", "link"]);
    // What the user removed by hand, or put back, needs nothing.
    std::fs::remove_dir_all(sandbox.project().join(".agents/skills/pdf")).expect("removed");
    sandbox.ok(&["undo"]);
    assert!(sandbox.read(".agents/skills/pdf/SKILL.md").ends_with("first\n"));
}

#[test]
fn a_skill_edited_while_it_was_disabled_is_enabled_with_its_edits() {
    let sandbox = installed();
    sandbox.ok(&["disable", "pdf"]);
    sandbox.write(".agents/.skillpm-disabled/pdf/notes.md", "mine");
    sandbox.ok(&["undo"]);
    assert_eq!(sandbox.read(".agents/skills/pdf/notes.md"), "mine");
    assert!(sandbox.project().join(".claude/skills/pdf/notes.md").exists());
    // One that somebody removed in the meantime comes from the store.
    sandbox.ok(&["remove", "pdf", "--force"]);
    sandbox.ok(&["disable", "docx"]);
    std::fs::remove_dir_all(sandbox.project().join(".agents/.skillpm-disabled/docx")).expect("removed");
    sandbox.ok(&["undo"]);
    assert!(sandbox.read(".agents/skills/docx/SKILL.md").ends_with("first\n"));
}

/// THREATS: a record that came with a clone is not taken back, whatever it says; another change replaces
/// it, and `--forget` removes it.
#[test]
fn a_record_of_somebody_else_is_refused() {
    let theirs = installed();
    theirs.ok(&["remove", "pdf"]);
    let ours = Sandbox::new();
    let copied = std::process::Command::new("cp")
        .args(["-a"])
        .arg(theirs.project().join("."))
        .arg(ours.project())
        .status()
        .expect("starts");
    assert!(copied.success());
    let before = ours.scope();
    ours.fails(&["undo"], 5, "integrity", &[".agents/.skillpm-undo", "skillpm undo --forget"]);
    assert_eq!(ours.run(&["undo", "--force"]).code, Some(5));
    assert_eq!(ours.run(&["undo", "--dry-run"]).code, Some(5));
    assert_eq!(ours.scope(), before);
    ours.tells(&["undo", "--forget"], 0, ": dry_run forgotten", &["false true"]);
    assert_eq!(ours.run(&["undo"]).code, Some(1));
    assert_eq!(ours.scope(), before);
}

/// THREATS: nobody can change a record, or put something else in its place.
#[test]
fn a_record_that_was_changed_is_refused() {
    type Change<'a> = (&'a str, &'a dyn Fn(&Sandbox, &Path));
    let changes: [Change<'_>; 4] = [
        ("a step more", &|sandbox, record| {
            let journal = std::fs::read_to_string(record.join("journal.json")).expect("a journal");
            let step = r#""steps":[{"relink":{"place":{"agent":"claude-code"},"name":"x","says":"sha256:0000000000000000000000000000000000000000000000000000000000000000"}},"#;
            sandbox.write(".agents/.skillpm-undo/journal.json", journal.replace(r#""steps":["#, step));
        }),
        ("a link to a directory", &|sandbox, record| {
            std::fs::rename(record, sandbox.home().join("elsewhere")).expect("moved");
            symlink("../../home/elsewhere", record).expect("a link");
        }),
        ("a file", &|sandbox, record| {
            std::fs::remove_dir_all(record).expect("removed");
            sandbox.write(".agents/.skillpm-undo", "mine");
        }),
        ("a journal that is a link", &|sandbox, record| {
            std::fs::rename(record.join("journal.json"), sandbox.home().join("j")).expect("moved");
            symlink("../../../home/j", record.join("journal.json")).expect("a link");
        }),
    ];
    for (what, change) in changes {
        let sandbox = installed();
        sandbox.ok(&["remove", "pdf"]);
        let record = sandbox.project().join(".agents/.skillpm-undo");
        change(&sandbox, &record);
        let before = sandbox.scope();
        let output = sandbox.run(&["undo", "--force"]);
        assert!(matches!(output.code, Some(1 | 5)), "{what}: {output}");
        if what == "a step more" {
            assert!(output.stderr.contains("journal.json` is not as the last change left it"), "{output}");
        }
        assert_eq!(sandbox.scope(), before, "{what}");
        // Whatever it is, it stops no other change, and nothing outside goes with it.
        sandbox.ok(&["remove", "docx"]);
        sandbox.ok(&["undo"]);
        assert_eq!(sandbox.scope(), before, "{what}");
        if what.starts_with("a link") {
            assert!(sandbox.home().join("elsewhere/tree-0").exists(), "{what}");
        }
    }
}

/// Who cannot be asked whether the last change was the user's says no, and why.
#[test]
fn a_note_that_cannot_be_read_is_told_as_that() {
    let sandbox = installed();
    sandbox.ok(&["remove", "pdf"]);
    let notes = sandbox.home().join(".local/state/skillpm/undo");
    for note in std::fs::read_dir(&notes).expect("notes") {
        std::fs::write(note.expect("a note").path(), "no note").expect("written");
    }
    let before = sandbox.scope();
    let output = sandbox.run(&["undo"]);
    assert_eq!(output.code, Some(6), "{output}");
    assert!(
        output.stderr.contains("which says that you made the last change here, cannot be read"),
        "{output}"
    );
    assert_eq!(sandbox.scope(), before);
}

/// THREATS: the journal of a killed run, made by a stranger, brings no link that it chose, removes no
/// file, and leaves nothing that could be taken back.
#[test]
fn a_stranger_s_journal_brings_no_link_and_no_record() {
    let sandbox = installed();
    let says = skillpm_format::digest::Digest::of(b"/etc");
    let toml = skillpm_format::digest::Digest::of(sandbox.read("skillpm.toml").as_bytes());
    let journal = format!(
        r#"{{"version":1,"steps":[{{"relink":{{"place":{{"agent":"claude-code"}},"name":"etc","says":"{says}"}}}}],"manifest":{{"old":"{toml}","new":null}},"lockfile":null,"links":{{"0":"{says}"}},"emptied":[{{"place":{{"agent":"claude-code"}},"levels":2}}]}}"#
    );
    let before = sandbox.scope();
    for name in ["journal.json", "undo.json"] {
        sandbox.write(&format!(".agents/.skillpm-tx/{name}"), &journal);
        symlink("/etc", sandbox.project().join(".agents/.skillpm-tx/tree-0")).expect("a link");
        let output = sandbox.run(&["undo"]);
        assert_eq!(output.code, Some(1), "{output}");
        assert!(output.stderr.contains("nothing to undo"), "{output}");
        assert_eq!(sandbox.scope(), before, "{name}");
    }
}

/// What is damaged in the record comes from the store; what is nowhere is told, and nothing is changed.
#[test]
fn what_is_damaged_in_the_record_comes_from_the_store_or_not_at_all() {
    let sandbox = installed();
    let before = sandbox.scope();
    sandbox.ok(&["remove", "pdf"]);
    let removed = sandbox.scope();
    let record = sandbox.project().join(".agents/.skillpm-undo");
    let trees = || {
        let entries =
            std::fs::read_dir(&record).expect("a record").map(|entry| entry.expect("an entry").path());
        entries.filter(|path| path.join("SKILL.md").exists()).collect::<Vec<_>>()
    };
    let [tree] = &trees()[..] else { panic!("one tree") };
    std::fs::write(tree.join("SKILL.md"), "damaged").expect("written");
    sandbox.ok(&["undo"]);
    assert_eq!(sandbox.scope(), before);
    sandbox.ok(&["undo"]);
    assert_eq!(sandbox.scope(), removed);
    for tree in trees() {
        std::fs::remove_dir_all(tree).expect("removed");
    }
    std::fs::remove_dir_all(sandbox.home().join(".local/share/skillpm/store-v2")).expect("removed");
    sandbox.fails(
        &["undo", "--force"],
        5,
        "integrity",
        &[".agents/skills/pdf", ".agents/.skillpm-undo", "skillpm undo --forget"],
    );
    assert_eq!(sandbox.scope(), removed);
    // So with a link and with the text of a file.
    for (change, damage) in
        [(&["unlink", "--agent", "claude-code"][..], "tree-0"), (&["link", "--agent", "junie"], "toml")]
    {
        sandbox.ok(change);
        let changed = sandbox.scope();
        let entries =
            std::fs::read_dir(&record).expect("a record").map(|entry| entry.expect("an entry").path());
        for path in entries.filter(|path| path.display().to_string().contains(damage)) {
            std::fs::remove_file(&path).expect("removed");
            symlink("/etc", path).expect("a link");
        }
        let output = sandbox.run(&["undo"]);
        assert_eq!(output.code, Some(5), "{output}");
        assert_eq!(sandbox.scope(), changed);
    }
}

/// Fails a run at the step that says `at`, by what it puts in the way.
struct Saboteur<F> {
    at: &'static str,
    deed: F,
}

impl<F: Fn() + Send + Sync> Reporter for Saboteur<F> {
    fn step(&self, step: &str) {
        if step == self.at {
            (self.deed)();
        }
    }
}

/// A failure in the middle leaves the scope and the record as they were.
#[test]
fn an_undo_that_fails_can_be_done_again() {
    for at in ["remove docx", "unlink docx"] {
        let sandbox = installed();
        let before = sandbox.scope();
        let path = if at == "unlink docx" { ".claude/skills/docx" } else { ".agents/skills/docx" };
        let place = sandbox.project().join(path);
        let aside = sandbox.home().join("aside");
        let deed = {
            let (place, aside) = (place.clone(), aside.clone());
            move || {
                std::fs::rename(&place, &aside).expect("moved");
                std::fs::create_dir(&place).expect("a directory in the way");
                std::fs::write(place.join("x"), "").expect("written");
            }
        };
        let context =
            Context { reporter: Arc::new(Saboteur { at, deed }), ..Context::silent(sandbox.settings()) };
        undo(&context, &UndoRequest::default()).expect_err(at);
        std::fs::remove_dir_all(&place).expect("removed");
        std::fs::rename(&aside, &place).expect("moved");
        assert_eq!(sandbox.scope(), before, "{at}");
        sandbox.ok(&["undo"]);
        assert!(!sandbox.project().join(".agents/skills").exists(), "{at}");
    }
}

/// What is kept takes room, which can be had again; `.agents` goes with it where nothing else is in it.
#[test]
fn the_record_can_be_forgotten() {
    let sandbox = installed();
    sandbox.ok(&["remove", "pdf", "docx"]);
    assert_eq!(
        std::fs::read(sandbox.project().join(".agents/.skillpm-undo/.gitignore")).expect("a file"),
        b"*\n"
    );
    sandbox.tells(&["undo", "--forget", "--dry-run"], 0, ": dry_run forgotten", &["true true"]);
    sandbox.ok(&["undo", "--forget"]);
    assert!(!sandbox.project().join(".agents").exists());
    sandbox.tells(&["undo", "--forget"], 0, ": dry_run forgotten bytes", &["false false 0"]);
    assert_eq!(sandbox.run(&["undo"]).code, Some(1));
}

/// Notes about projects that are gone do not pile up for ever.
#[test]
fn notes_about_projects_that_are_gone_are_pruned() {
    let sandbox = installed();
    let notes = sandbox.home().join(".local/state/skillpm/undo");
    let count = || std::fs::read_dir(&notes).expect("notes").count();
    sandbox.ok(&["cache", "prune", "--older-than", "0d"]);
    assert_eq!(count(), 1, "it can still be taken back");
    std::fs::remove_dir_all(sandbox.project().join(".agents")).expect("removed");
    sandbox.ok(&["cache", "prune"]);
    assert_eq!(count(), 1, "it is new");
    sandbox.ok(&["cache", "prune", "--older-than", "0d"]);
    assert_eq!(count(), 0);
}

/// Without a place for notes a change is made all the same, and cannot be taken back.
#[test]
fn without_a_place_for_notes_nothing_is_kept() {
    let mut sandbox = sandbox();
    let file = sandbox.write("src/file", "");
    sandbox.env("XDG_STATE_HOME", &file.display().to_string());
    sandbox.ok(&["install", "./src/pdf"]);
    assert!(!sandbox.project().join(".agents/.skillpm-undo").exists());
    assert_eq!(sandbox.run(&["undo"]).code, Some(1));
    // What is told of a copy that is kept does not promise it either.
    for change in [&["install", "--force"][..], &["remove", "pdf", "--force"]] {
        sandbox.write(".agents/skills/pdf/notes.md", "mine");
        let told = sandbox.ok(change).to_string();
        assert!(told.contains("your edited `pdf` was saved"), "{told}");
        assert!(
            told.contains("was saved; `skillpm undo --list` shows it") && !told.contains("undo`"),
            "{told}"
        );
    }
    sandbox.ok(&["install", "./src/pdf"]);
    let removed = sandbox.ok(&["remove", "pdf"]).to_string();
    assert!(!removed.contains("undo"), "{removed}");
    assert!(!sandbox.project().join(".agents").exists());
}

/// What is kept is no skill that anybody looks for.
#[test]
fn nobody_finds_skills_in_the_record() {
    let sandbox = installed();
    sandbox.ok(&["remove", "pdf", "docx"]);
    for dir in [".agents/.skillpm-undo", "src"] {
        assert!(sandbox.project().join(dir).exists());
    }
    std::fs::remove_dir_all(sandbox.project().join("src")).expect("removed");
    for args in [
        &["list", "--json"][..],
        &["doctor", "-p"],
        &["tree"],
        &["validate", "."],
        &["install", ".", "--list"],
    ] {
        let output = sandbox.run(args);
        assert!(!output.stdout.contains("pdf") && !output.stderr.contains("Does pdf"), "{args:?}: {output}");
    }
    // Nor in an archive of the whole project.
    let mut zip = crate::support::Tree::new();
    let text = "---\nname: pdf\ndescription: Does pdf. Use it in tests.\n---\n";
    zip = zip.file("p/.agents/.skillpm-undo/tree-0/SKILL.md", text);
    let archive = sandbox.write("p.zip", zip.zip());
    let output = sandbox.run(&["install", &archive.display().to_string(), "--list"]);
    assert!(!output.stdout.contains("pdf"), "{output}");
}

#[test]
fn json_is_for_programs() {
    let sandbox = installed();
    sandbox.ok(&["disable", "pdf"]);
    sandbox.tells(
        &["undo"],
        0,
        "skills: name change; paths: path change; files_changed: manifest lockfile; files_removed: manifest lockfile",
        &[
            "pdf enabled",
            "[DIR]/project/.agents/.skillpm-disabled/pdf deleted",
            "[DIR]/project/.agents/skills/pdf created",
            "[DIR]/project/.claude/skills/pdf created",
            "[DIR]/project/skillpm.toml replaced",
            "true false",
            "false false",
        ],
    );
}

/// A policy that came since is asked about what would come back.
#[test]
fn a_policy_keeps_out_what_would_come_back() {
    let mut sandbox = installed();
    sandbox.ok(&["remove", "pdf"]);
    let policy = sandbox.write("src/policy.toml", "allow = [\"github:acme/*\"]\n");
    sandbox.env("SKILLPM_POLICY", &policy.display().to_string());
    let before = sandbox.scope();
    let output = sandbox.run(&["undo"]);
    assert_eq!(output.code, Some(5), "{output}");
    assert_eq!(sandbox.scope(), before);
}

/// So it is of what was found in it, wherever its bytes are; what a user made of it is his own.
#[test]
fn what_would_come_back_is_asked_for_findings() {
    let mut sandbox = sandbox();
    let text = "---\nname: bad\ndescription: d\n---\nSee [x](../../x).\n";
    let source = sandbox.write("src/bad/SKILL.md", text);
    sandbox.ok(&["install", "./src/bad"]);
    std::fs::remove_file(source).expect("removes");
    sandbox.ok(&["remove", "bad"]);
    let policy = sandbox.write("src/policy.toml", "audit = \"warning\"\n");
    sandbox.env("SKILLPM_POLICY", &policy.display().to_string());
    let before = sandbox.scope();
    let refused = |sandbox: &Sandbox| {
        let output = sandbox.run(&["undo"]);
        assert_eq!(output.code, Some(5), "{output}");
        assert!(output.stderr.contains("`bad` has a finding: `SKILL.md`, 5:9"), "{output}");
        assert_eq!(sandbox.scope(), before);
    };
    refused(&sandbox);
    let tree = sandbox.project().join(".agents/.skillpm-undo/tree-0");
    std::fs::remove_dir_all(&tree).expect("removes the tree: the store has it too");
    refused(&sandbox);

    sandbox.write("src/policy.toml", "");
    sandbox.ok(&["undo"]);
    let edited = format!("{text}Mine.\n");
    sandbox.write(".agents/skills/bad/SKILL.md", &edited);
    sandbox.ok(&["remove", "bad", "--force"]);
    sandbox.write("src/policy.toml", "audit = \"warning\"\n");
    sandbox.ok(&["undo"]);
    assert_eq!(sandbox.read(".agents/skills/bad/SKILL.md"), edited);
}

/// Nothing to take back is told where nothing can be written either.
#[test]
fn a_project_without_a_record_is_not_touched() {
    let sandbox = sandbox();
    let before = sandbox.tree(&sandbox.project());
    assert_eq!(sandbox.run(&["undo"]).code, Some(1));
    assert_eq!(sandbox.run(&["undo", "--forget"]).code, Some(0));
    assert_eq!(sandbox.tree(&sandbox.project()), before);
}

/// Something that a user does.
#[derive(Debug, Clone)]
enum Deed {
    Install {
        name: &'static str,
        copy: bool,
        editable: bool,
        alias: bool,
        agents: Vec<&'static str>,
    },
    Restore {
        force: bool,
    },
    Remove {
        name: &'static str,
    },
    Disable(&'static str),
    Enable(&'static str),
    Link(&'static str),
    Unlink(&'static str),
    /// Not a verb: the source changes.
    Publish {
        name: &'static str,
        body: u8,
    },
    /// Not a verb: the installed copy is edited.
    Edit(&'static str),
    /// Not a verb: a link of the user's in an agent's directory.
    Own(&'static str),
}

fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    let name = || prop_oneof![Just("pdf"), Just("docx")];
    let agent = || prop_oneof![Just("claude-code"), Just("junie"), Just("*")];
    let agents = proptest::collection::vec(prop_oneof![Just("claude-code"), Just("junie")], 0..3);
    let flags = (proptest::bool::weighted(0.2), proptest::bool::weighted(0.2), proptest::bool::weighted(0.2));
    let deed = prop_oneof![
        4 => (name(), flags, agents).prop_map(|(name, (copy, editable, alias), agents)| Deed::Install {
            name, copy, editable: editable && !copy, alias, agents
        }),
        1 => any::<bool>().prop_map(|force| Deed::Restore { force }),
        2 => name().prop_map(|name| Deed::Remove { name }),
        2 => name().prop_map(Deed::Disable),
        2 => name().prop_map(Deed::Enable),
        2 => agent().prop_map(Deed::Link),
        2 => agent().prop_map(Deed::Unlink),
        2 => (name(), 0..4_u8).prop_map(|(name, body)| Deed::Publish { name, body }),
        2 => name().prop_map(Deed::Edit),
        1 => name().prop_map(Deed::Own),
    ];
    proptest::collection::vec(deed, 1..14)
}

/// Does it, by force; what is refused changes nothing.
fn act(sandbox: &Sandbox, context: &Context, deed: &Deed) {
    let own = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    match deed {
        Deed::Install { name, copy, editable, alias, agents } => {
            let request = InstallRequest {
                sources: vec![format!("./src/{name}")],
                alias: alias.then(|| format!("{name}-too")),
                agents: own(agents),
                copy: *copy,
                editable: *editable,
                force: true,
                ..InstallRequest::default()
            };
            let _ = install(context, &request);
        }
        Deed::Restore { force } => {
            let _ = install(context, &InstallRequest { force: *force, ..InstallRequest::default() });
        }
        Deed::Remove { name } => {
            let request = RemoveRequest { names: own(&[*name]), force: true, ..RemoveRequest::default() };
            let _ = remove(context, &request);
        }
        Deed::Disable(name) | Deed::Enable(name) => {
            let request = DisableRequest { names: own(&[*name]), force: true, ..DisableRequest::default() };
            let run = if matches!(deed, Deed::Disable(_)) { disable } else { enable };
            let _ = run(context, &request);
        }
        Deed::Link(agent) | Deed::Unlink(agent) => {
            let request = LinkRequest { agents: own(&[*agent]), force: true, ..LinkRequest::default() };
            let run = if matches!(deed, Deed::Link(_)) { link } else { unlink };
            let _ = run(context, &request);
        }
        Deed::Publish { name, body } => write_skill(sandbox, name, &format!("version {body}")),
        Deed::Edit(name) => {
            let dir = sandbox.project().join(".agents/skills").join(name);
            if dir.is_dir() && !dir.is_symlink() {
                std::fs::write(dir.join("notes.md"), "mine").expect("written");
            }
        }
        Deed::Own(name) => {
            let dir = sandbox.project().join(".claude/skills");
            std::fs::create_dir_all(&dir).expect("a directory");
            let link = dir.join(name);
            if !link.exists() && !link.is_symlink() {
                symlink("../../src", link).expect("a link");
            }
        }
    }
}

/// After whatever was done, `undo` brings back every byte, mode and link of the scope and both files, and
/// another one what was done.
#[test]
fn whatever_is_done_can_be_taken_back_and_done_again() {
    let changes = Cell::new(0);
    let mut runner =
        TestRunner::new(Config { cases: cases(160), failure_persistence: None, ..Config::default() });
    let outcome = runner.run(&deeds(), |deeds| {
        let sandbox = sandbox();
        std::fs::create_dir(sandbox.home().join(".claude")).expect("a directory");
        let context = Context::silent(sandbox.settings());
        for (at, deed) in deeds.iter().enumerate() {
            let record = sandbox.project().join(".agents/.skillpm-undo/journal.json");
            let (before, old) = (sandbox.scope(), std::fs::read(&record).ok());
            act(&sandbox, &context, deed);
            let (after, new) = (sandbox.scope(), std::fs::read(&record).ok());
            if old == new {
                continue;
            }
            changes.set(changes.get() + 1);
            let take_back = || undo(&context, &UndoRequest::default()).expect("takes back");
            take_back();
            assert_eq!(sandbox.scope(), before, "{at}: {deeds:#?}");
            take_back();
            assert_eq!(sandbox.scope(), after, "{at}: {deeds:#?}");
        }
        Ok(())
    });
    outcome.expect("holds");
    println!("{} changes taken back and done again", changes.get());
    assert!(changes.get() > 50);
}

/// What was edited is saved under its name, and comes back by it: also when another change came in between.
#[test]
fn a_saved_copy_comes_back_by_its_name() {
    let sandbox = installed();
    assert!(sandbox.ok(&["undo", "--list"]).stderr.contains("no copies of edited skills are kept"));
    let pdf = ".agents/skills/pdf/notes.md";
    sandbox.write(pdf, "first");
    sandbox.ok(&["install", "--force"]);
    sandbox.write(pdf, "second");
    sandbox.ok(&["remove", "pdf", "--force"]);
    sandbox.ok(&["install", "./src/pdf", "-a", "claude-code"]);
    let listed = sandbox.ok(&["undo", "--list", "--json"]);
    let copies: Vec<serde_json::Value> = serde_json::from_str(&listed.stdout).expect("JSON");
    let mut whys: Vec<_> = copies.iter().map(|copy| copy["why"].as_str().expect("noted")).collect();
    whys.sort_unstable();
    assert_eq!((whys, copies.len()), (vec!["removed", "replaced"], 2));
    let root = sandbox.root().display().to_string();
    for copy in &copies {
        let from = "[DIR]/project/.agents/skills/pdf";
        assert_eq!((&copy["name"], &copy["from"]), (&"pdf".into(), &from.into()));
        let path = copy["path"].as_str().expect("a path").replace("[DIR]", &root);
        assert!(Path::new(&path).join("notes.md").is_file());
        assert!(copy["kept_at"].as_str().expect("a time").starts_with("20"));
    }
    let digits = |why: &str| {
        let copy = copies.iter().find(|copy| copy["why"] == why).expect("is there");
        copy["digest"].as_str().expect("a digest")["sha256:".len()..][..7].to_owned()
    };
    let before = sandbox.scope();
    let lock = sandbox.read("skillpm.lock");
    sandbox.ok(&["undo", "--restore", &format!("pdf@{}", digits("replaced")), "--dry-run"]);
    assert_eq!(sandbox.scope(), before);
    sandbox.ok(&["undo", "--restore", &format!("pdf@{}", digits("replaced"))]);
    assert_eq!(sandbox.read(pdf), "first");
    assert_eq!(sandbox.read(".claude/skills/pdf/notes.md"), "first");
    // What lies there is somebody's work again, and is saved in turn.
    let told = sandbox.ok(&["undo", "--restore", &format!("pdf@{}", digits("removed"))]).to_string();
    assert!(told.contains("your edited `pdf` was saved; `skillpm undo` restores it"), "{told}");
    assert_eq!((sandbox.read(pdf), sandbox.read("skillpm.lock")), ("second".to_owned(), lock));
    assert!(sandbox.ok(&["list"]).stdout.contains("edited"));
    sandbox.ok(&["undo"]);
    assert_eq!(sandbox.read(pdf), "first");
    // By the name alone it is the one that was kept last.
    sandbox.ok(&["undo", "--restore", "pdf"]);
    assert!(sandbox.ok(&["undo", "--restore", "pdf"]).stderr.contains("there is nothing to do"));
    sandbox.ok(&["remove", "pdf", "--force"]);
    let output = sandbox.run(&["undo", "--restore", "pdf"]);
    assert_eq!(output.code, Some(2), "{output}");
    assert!(output.stderr.contains("your copy is in `"), "{output}");
    assert_eq!(sandbox.run(&["undo", "--restore", "pfd"]).code, Some(2));
    assert_eq!(sandbox.run(&["undo", "--restore", "pdf", "--list"]).code, Some(2));
}

/// A copy of an older version, of which nothing was noted, is listed with what it says itself.
#[test]
fn a_copy_without_a_note_is_listed_too() {
    let sandbox = installed();
    sandbox.write(".agents/skills/pdf/notes.md", "mine");
    sandbox.ok(&["install", "--force"]);
    std::fs::remove_dir_all(sandbox.home().join(".local/share/skillpm/store-v2/kept-notes")).expect("noted");
    let listed = sandbox.ok(&["undo", "--list", "--json"]);
    let copies: Vec<serde_json::Value> = serde_json::from_str(&listed.stdout).expect("JSON");
    let [copy] = &copies[..] else { panic!("{listed}") };
    assert_eq!((&copy["name"], &copy["why"]), (&"pdf".into(), &serde_json::Value::Null));
    assert!(copy["kept_at"].is_string(), "{copy}");
    sandbox.ok(&["undo", "--restore", "pdf"]);
    assert_eq!(sandbox.read(".agents/skills/pdf/notes.md"), "mine");
}
