//! `verify`: every byte of every copy, and every link, against the lockfile.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use crate::support::Sandbox;
use crate::support::fields;

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
fn the_page() {
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
    sandbox.tells(
        &["verify"],
        5,
        "skills: name verdict; skills.places: agent verdict; skills.places.files: path change",
        &[
            "docx ok",
            "pdf modified",
            "xlsx ok",
            "- ok",
            "claude-code ok",
            "- modified",
            "claude-code ok",
            "- ok",
            "claude-code ok",
            "SKILL.md changed",
            "notes/deep.md extra",
            "references/a.md missing",
            "scripts/run.sh mode",
        ],
    );
    fs::remove_dir_all(sandbox.home().join(".local/share/skillpm")).expect("removes the store");
    sandbox.tells(
        &["verify", "pdf"],
        5,
        "skills: name verdict; skills.places: agent verdict",
        &["pdf modified", "- modified", "claude-code ok"],
    );
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
    sandbox.tells(
        &["verify"],
        5,
        "skills: name verdict; skills.places: agent verdict",
        &[
            "docx missing",
            "pdf elsewhere",
            "xlsx elsewhere",
            "- missing",
            "claude-code ok",
            "- ok",
            "claude-code elsewhere",
            "- elsewhere",
            "claude-code ok",
        ],
    );
    fs::remove_file(own.join("pdf")).expect("removes");
    fs::remove_file(skills.join("xlsx")).expect("removes");
    sandbox.write(".agents/skills/xlsx", "a file");
    sandbox.tells(
        &["verify", "pdf", "xlsx"],
        5,
        "skills: name verdict; skills.places: agent verdict",
        &["pdf missing", "xlsx elsewhere", "- ok", "claude-code missing", "- elsewhere", "claude-code ok"],
    );
}

/// Copies of agents are compared byte by byte, as the canonical one is; those that nobody locked are not.
#[test]
fn copies_of_agents() {
    let sandbox = installed(&["--copy"]);
    assert_eq!(sandbox.run(&["verify"]).code, Some(0));
    sandbox.write(".claude/skills/pdf/SKILL.md", "mine");
    sandbox.write(".junie/skills/pdf/SKILL.md", "somebody else's");
    sandbox.tells(
        &["verify"],
        5,
        "skills: name verdict; skills.places: agent verdict; skills.places.files: path change",
        &[
            "docx ok",
            "pdf modified",
            "xlsx ok",
            "- ok",
            "claude-code ok",
            "- ok",
            "claude-code modified",
            "- ok",
            "claude-code ok",
            "SKILL.md changed",
        ],
    );
}

/// A tree without an entry and a skill that somebody works on are told, and are no failure.
#[test]
fn what_is_not_locked_is_told() {
    let sandbox = installed(&[]);
    sandbox.write(".agents/skills/own/SKILL.md", "x");
    sandbox.write("work/edit/SKILL.md", "---\nname: edit\ndescription: Edits. Use it in tests.\n---\n");
    assert_eq!(sandbox.run(&["install", "--editable", "./work/edit"]).code, Some(0));
    sandbox.tells(
        &["verify"],
        0,
        "skills: name verdict; skills.places: agent verdict",
        &[
            "docx ok",
            "edit editable",
            "own untracked",
            "pdf ok",
            "xlsx ok",
            "- ok",
            "claude-code ok",
            "- editable",
            "- untracked",
            "- ok",
            "claude-code ok",
            "- ok",
            "claude-code ok",
        ],
    );
}

/// A disabled skill is verified where it lies, and nobody misses its links.
#[test]
fn disabled_skills() {
    let sandbox = installed(&[]);
    assert_eq!(sandbox.run(&["disable", "pdf"]).code, Some(0));
    assert_eq!(sandbox.run(&["verify"]).code, Some(0));
    sandbox.write(".agents/.skillpm-disabled/pdf/SKILL.md", "mine");
    sandbox.tells(
        &["verify", "pdf"],
        5,
        "skills: name verdict; skills.places: agent verdict; skills.places.files: path change",
        &["pdf modified", "- modified", "SKILL.md changed"],
    );
}

/// What no skill may have is told as such, and a file that cannot be read is no success.
#[test]
fn what_cannot_be_verified() {
    let sandbox = installed(&[]);
    symlink("/etc/passwd", sandbox.project().join(".agents/skills/pdf/leak")).expect("links");
    sandbox.tells(
        &["verify", "pdf"],
        5,
        "skills: name verdict; skills.places: agent verdict; skills.places.files: path change",
        &["pdf modified", "- modified", "claude-code ok", "leak extra"],
    );
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
    let output = run(&["verify", "--json"]);
    assert_eq!(output.code, Some(0), "{output}");
    let places = "skills: name scope verdict; skills.places: path";
    let dir = "[DIR]/home/.agents/skills";
    assert_eq!(
        fields(&output.json(), places),
        [
            "ours project ok",
            "mine user ok",
            "strange user untracked",
            &format!("{dir}/ours"),
            &format!("{dir}/mine"),
            &format!("{dir}/strange"),
        ]
    );
    let copy = sandbox.write("../home/.agents/skills/ours/SKILL.md", "evil\n");
    for args in [&["verify"][..], &["verify", "ours"], &["verify", "-p"]] {
        assert_eq!(run(args).code, Some(5), "{args:?}");
    }
    // The home directory may be called by a link.
    let link = sandbox.root().join("link");
    symlink(sandbox.home(), &link).expect("a link");
    let mut command = sandbox.command(&["verify", "--json"]);
    let output = sandbox.output(command.current_dir(sandbox.home()).env("HOME", &link));
    assert_eq!(output.code, Some(5), "{output}");
    let verdicts = fields(&output.json(), "skills: name scope verdict");
    assert_eq!(verdicts, ["ours project modified", "mine user ok", "strange user untracked"]);
    fs::remove_dir_all(copy.parent().expect("a directory")).expect("removed");
    assert_eq!(run(&["verify"]).code, Some(5));
    sandbox.write("../home/skillpm.lock", "garbage");
    assert_eq!(run(&["verify"]).code, Some(3));
}
