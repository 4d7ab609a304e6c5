//! `verify`: every byte of every copy, and every link, against the lockfile.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use crate::support::Sandbox;

/// A project with three skills, `pdf` with a script, linked for Claude Code.
fn installed(args: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new();
    for name in ["docx", "pdf", "xlsx"] {
        let text = format!("---\nname: {name}\ndescription: Does {name}. Use it in tests.\n---\n");
        sandbox.write(&format!("src/{name}/SKILL.md"), text);
    }
    let script = sandbox.write("src/pdf/scripts/run.sh", "#!/bin/sh\n");
    fs::set_permissions(script, fs::Permissions::from_mode(0o755)).expect("chmod");
    sandbox.write("src/pdf/references/a.md", "first\n");
    let output = sandbox.run(&[&["install", "./src", "-s", "*", "-a", "claude-code"], args].concat());
    assert_eq!(output.code, Some(0), "{output}");
    sandbox
}

fn json(sandbox: &Sandbox, args: &[&str]) -> (Option<i32>, serde_json::Value) {
    let output = sandbox.run(&[&["verify", "--json"], args].concat());
    (output.code, serde_json::from_str(&output.stdout).expect("JSON"))
}

#[test]
fn all_is_as_locked() {
    let sandbox = installed(&[]);
    insta::assert_snapshot!(sandbox.run(&["verify"]), @"
    exit: 0
    --- stderr
    3 skills: 3 ok
    ");
    insta::assert_snapshot!(sandbox.run(&["verify", "pdf", "--verbose"]), @"
    exit: 0
    --- stdout
    ok: pdf, project
      `[DIR]/project/.agents/skills/pdf`
      claude-code, `[DIR]/project/.claude/skills/pdf`
    --- stderr
    1 skill: 1 ok
    ");
    let (code, value) = json(&sandbox, &["pdf"]);
    assert_eq!((code, &value["ok"], &value["skills"][0]["verdict"]), (Some(0), &true.into(), &"ok".into()));
    insta::assert_snapshot!(sandbox.run(&["verify", "pfd"]), @"
    exit: 2
    --- stderr
    error: `pfd` is not installed
    hint: did you mean `pdf`?
    ");
    insta::assert_snapshot!(Sandbox::new().run(&["verify"]), @"
    exit: 0
    --- stderr
    no skills are installed here
    ");
}

/// Issue 5: what was changed is told by file, where the store has what is locked.
#[test]
fn each_change_of_a_file_is_told() {
    let sandbox = installed(&[]);
    let pdf = sandbox.project().join(".agents/skills/pdf");
    sandbox.write(".agents/skills/pdf/SKILL.md", "mine");
    sandbox.write(".agents/skills/pdf/notes/deep.md", "new");
    fs::remove_file(pdf.join("references/a.md")).expect("removes");
    fs::set_permissions(pdf.join("scripts/run.sh"), fs::Permissions::from_mode(0o644)).expect("chmod");
    insta::assert_snapshot!(sandbox.run(&["verify"]), @"
    exit: 5
    --- stdout
    edited: pdf, project
      `[DIR]/project/.agents/skills/pdf` is not what is locked
        changed: SKILL.md
        extra: notes/deep.md
        missing: references/a.md
        mode: scripts/run.sh
    --- stderr
    3 skills: 2 ok, 1 edited
    hint: `skillpm install --force` restores what is locked; the store keeps your copy
    ");
    fs::remove_dir_all(sandbox.home().join(".local/share/skillpm")).expect("removes the store");
    insta::assert_snapshot!(sandbox.run(&["verify", "pdf"]), @"
    exit: 5
    --- stdout
    edited: pdf, project
      `[DIR]/project/.agents/skills/pdf` is not what is locked
        it is unknown which files differ: the store has no copy of the locked version
    --- stderr
    1 skill: 1 edited
    hint: `skillpm install --force` restores what is locked; the store keeps your copy
    ");
}

/// The stat cache is never asked: a file with all the times and the size of the one before is read.
#[test]
fn an_edit_that_hides_itself_is_found() {
    let sandbox = installed(&[]);
    let file = sandbox.project().join(".agents/skills/docx/SKILL.md");
    let (text, times) =
        (sandbox.read(".agents/skills/docx/SKILL.md"), fs::metadata(&file).expect("metadata"));
    fs::write(&file, text.replace("Does", "Dies")).expect("writes");
    let opened = fs::File::options().write(true).open(&file).expect("opens");
    opened.set_modified(times.modified().expect("a time")).expect("sets the time");
    let (code, value) = json(&sandbox, &["docx"]);
    let place = &value["skills"][0]["places"][0];
    assert_eq!((code, &place["verdict"]), (Some(5), &"modified".into()), "{value}");
    assert_eq!(place["files"], serde_json::json!([{"path": "SKILL.md", "change": "changed"}]));
}

#[test]
fn what_is_missing_or_leads_elsewhere() {
    let sandbox = installed(&[]);
    let (skills, own) = (sandbox.project().join(".agents/skills"), sandbox.project().join(".claude/skills"));
    fs::remove_dir_all(skills.join("docx")).expect("removes");
    fs::remove_file(own.join("pdf")).expect("removes");
    symlink("../../src/pdf", own.join("pdf")).expect("links");
    fs::remove_dir_all(skills.join("xlsx")).expect("removes");
    symlink("../../src/xlsx", skills.join("xlsx")).expect("links");
    insta::assert_snapshot!(sandbox.run(&["verify"]), @"
    exit: 5
    --- stdout
    missing: docx, project
      `[DIR]/project/.agents/skills/docx` does not exist
    elsewhere: pdf, project
      claude-code, `[DIR]/project/.claude/skills/pdf` leads to `../../src/pdf`
    elsewhere: xlsx, project
      `[DIR]/project/.agents/skills/xlsx` leads to `../../src/xlsx`
    --- stderr
    3 skills: 1 missing, 2 elsewhere
    hint: `skillpm doctor` shows what to do about links
    ");
    fs::remove_file(own.join("pdf")).expect("removes");
    fs::remove_file(skills.join("xlsx")).expect("removes");
    sandbox.write(".agents/skills/xlsx", "a file");
    insta::assert_snapshot!(sandbox.run(&["verify", "pdf", "xlsx"]), @"
    exit: 5
    --- stdout
    missing: pdf, project
      claude-code, `[DIR]/project/.claude/skills/pdf` does not exist
    elsewhere: xlsx, project
      `[DIR]/project/.agents/skills/xlsx`: it is not a directory
    --- stderr
    2 skills: 1 missing, 1 elsewhere
    hint: `skillpm doctor` shows what to do about links
    ");
}

/// Copies of agents are compared byte by byte, as the canonical one is; those that nobody locked are not.
#[test]
fn copies_of_agents() {
    let sandbox = installed(&["--copy"]);
    assert_eq!(sandbox.run(&["verify"]).code, Some(0));
    sandbox.write(".claude/skills/pdf/SKILL.md", "mine");
    sandbox.write(".goose/skills/pdf/SKILL.md", "somebody else's");
    insta::assert_snapshot!(sandbox.run(&["verify"]), @"
    exit: 5
    --- stdout
    edited: pdf, project
      claude-code, `[DIR]/project/.claude/skills/pdf` is not what is locked
        changed: SKILL.md
    --- stderr
    3 skills: 2 ok, 1 edited
    hint: `skillpm install --force` restores what is locked; the store keeps your copy
    ");
}

/// A tree without an entry and a skill that somebody works on are told, and are no failure.
#[test]
fn what_is_not_locked_is_told() {
    let sandbox = installed(&[]);
    sandbox.write(".agents/skills/own/SKILL.md", "x");
    sandbox.write("work/edit/SKILL.md", "---\nname: edit\ndescription: Edits. Use it in tests.\n---\n");
    assert_eq!(sandbox.run(&["install", "--editable", "./work/edit"]).code, Some(0));
    insta::assert_snapshot!(sandbox.run(&["verify"]), @"
    exit: 0
    --- stdout
    editable: edit, project
      `[DIR]/project/.agents/skills/edit` cannot be verified: it is not locked
    untracked: own, project
      `[DIR]/project/.agents/skills/own` is not in the lockfile
    --- stderr
    5 skills: 3 ok, 1 untracked, 1 editable
    ");
}

/// A disabled skill is verified where it lies, and nobody misses its links.
#[test]
fn disabled_skills() {
    let sandbox = installed(&[]);
    assert_eq!(sandbox.run(&["disable", "pdf"]).code, Some(0));
    assert_eq!(sandbox.run(&["verify"]).code, Some(0));
    sandbox.write(".agents/.skillpm-disabled/pdf/SKILL.md", "mine");
    insta::assert_snapshot!(sandbox.run(&["verify", "pdf"]), @"
    exit: 5
    --- stdout
    edited: pdf, project
      `[DIR]/project/.agents/.skillpm-disabled/pdf` is not what is locked
        changed: SKILL.md
    --- stderr
    1 skill: 1 edited
    hint: `skillpm install --force` restores what is locked; the store keeps your copy
    ");
}

/// What no skill may have is told as such, and a file that cannot be read is no success.
#[test]
fn what_cannot_be_verified() {
    let sandbox = installed(&[]);
    symlink("/etc/passwd", sandbox.project().join(".agents/skills/pdf/leak")).expect("links");
    insta::assert_snapshot!(sandbox.run(&["verify", "pdf"]), @"
    exit: 5
    --- stdout
    edited: pdf, project
      `[DIR]/project/.agents/skills/pdf`: `leak`: this is a symbolic link that leads out of the skill or to no regular file
        extra: leak
    --- stderr
    1 skill: 1 edited
    ");
    let file = sandbox.project().join(".agents/skills/docx/SKILL.md");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o0)).expect("chmod");
    if fs::read(&file).is_ok() {
        println!("skipped: this user reads everything");
        return;
    }
    let output = sandbox.run(&["verify", "docx"]);
    assert_eq!(output.code, Some(5), "{output}");
    assert!(output.stdout.starts_with("unreadable: docx, project\n"), "{output}");
}

/// Both scopes by default, as in `list`, and one of them where it is named.
#[test]
fn scopes() {
    let sandbox = installed(&[]);
    assert_eq!(sandbox.run(&["install", "./src/docx", "-g"]).code, Some(0));
    fs::remove_dir_all(sandbox.home().join(".agents/skills/docx")).expect("removes");
    let codes = [&["verify"][..], &["verify", "-p"], &["verify", "-g"], &["verify", "pdf"]];
    assert_eq!(codes.map(|args| sandbox.run(args).code), [Some(5), Some(0), Some(5), Some(0)]);
    sandbox.write("skillpm.lock", "version = 1\n[[skill]]\nname = 1\n");
    assert_eq!(sandbox.run(&["verify", "-p"]).code, Some(3));
}

/// In the home directory both scopes have the same skills: what is locked in either is verified, and told once.
#[test]
fn in_the_home_directory() {
    let sandbox = Sandbox::new();
    let run = |args: &[&str]| sandbox.output(sandbox.command(args).current_dir(sandbox.home()));
    for name in ["mine", "ours", "strange"] {
        let text = format!("---\nname: {name}\ndescription: Does {name}. Use it in tests.\n---\n");
        sandbox.write(&format!("src/{name}/SKILL.md"), &text);
    }
    assert_eq!(run(&["install", "-p", "../project/src/ours"]).code, Some(0));
    assert_eq!(run(&["install", "-g", "../project/src/mine"]).code, Some(0));
    let text = sandbox.read("src/strange/SKILL.md");
    sandbox.write("../home/.agents/skills/strange/SKILL.md", text);
    insta::assert_snapshot!(run(&["verify", "--verbose"]), @"
    exit: 0
    --- stdout
    ok: ours, project
      `[DIR]/home/.agents/skills/ours`
    ok: mine, user
      `[DIR]/home/.agents/skills/mine`
    untracked: strange, user
      `[DIR]/home/.agents/skills/strange` is not in the lockfile
    --- stderr
    3 skills: 2 ok, 1 untracked
    ");
    let copy = sandbox.write("../home/.agents/skills/ours/SKILL.md", "evil\n");
    for args in [&["verify"][..], &["verify", "ours"], &["verify", "-p"]] {
        assert_eq!(run(args).code, Some(5), "{args:?}");
    }
    // The home directory may be called by a link.
    let link = sandbox.root().join("link");
    symlink(sandbox.home(), &link).expect("a link");
    let output = sandbox.output(sandbox.command(&["verify"]).current_dir(sandbox.home()).env("HOME", &link));
    insta::assert_snapshot!(output, @"
    exit: 5
    --- stdout
    edited: ours, project
      `[DIR]/home/.agents/skills/ours` is not what is locked
        changed: SKILL.md
    untracked: strange, user
      `[DIR]/link/.agents/skills/strange` is not in the lockfile
    --- stderr
    3 skills: 1 ok, 1 edited, 1 untracked
    hint: `skillpm install --force` restores what is locked; the store keeps your copy
    ");
    fs::remove_dir_all(copy.parent().expect("a directory")).expect("removed");
    assert_eq!(run(&["verify"]).code, Some(5));
    sandbox.write("../home/skillpm.lock", "garbage");
    assert_eq!(run(&["verify"]).code, Some(3));
}
