//! Copies of agents, where a skill was edited: they say what the project says, or they are told of.

use std::path::Path;

use crate::support::Sandbox;
use crate::update::skill;

const HOME: &str = ".agents/skills/pdf/SKILL.md";
const COPY: &str = ".claude/skills/pdf/SKILL.md";

fn source(sandbox: &Sandbox, lines: &[&str]) {
    sandbox.write("src/pdf/SKILL.md", skill("pdf", &lines.join("\n")));
}

/// `pdf` as a copy for one agent.
fn scene() -> Sandbox {
    let sandbox = Sandbox::new();
    source(&sandbox, &["1", "2", "3", "4", "5"]);
    sandbox.ok(&["install", "./src/pdf", "-a", "claude-code", "--copy"]);
    sandbox
}

/// The same, where an update merged what the user wrote.
fn merged() -> Sandbox {
    let sandbox = scene();
    sandbox.write(HOME, skill("pdf", "one\n2\n3\n4\n5"));
    source(&sandbox, &["1", "2", "3", "4", "five"]);
    sandbox.ok(&["update"]);
    assert_eq!(sandbox.read(COPY), skill("pdf", "one\n2\n3\n4\nfive"));
    sandbox
}

/// A copy of the merged skill is the skill, though the lockfile has other bytes.
#[test]
fn a_copy_of_a_merged_skill_is_skillpm_s() {
    let sandbox = merged();
    sandbox.tells(&["list"], 0, ": name scope state agents", &["pdf project modified claude-code"]);
    sandbox.tells(
        &["why", "pdf"],
        0,
        "installed: name scope state asked.line; installed.seen: form agents",
        &["pdf project modified 2", "copy claude-code"],
    );
    let text = sandbox.read(HOME);
    // The store may be cleared: what lies in the project says enough.
    std::fs::remove_dir_all(sandbox.home().join(".local/share/skillpm")).expect("is there");
    for (away, back) in [
        (&["disable", "pdf"][..], &["enable", "pdf"][..]),
        (&["unlink", "--agent", "claude-code"], &["link", "--agent", "claude-code"]),
    ] {
        sandbox.ok(away);
        assert!(!sandbox.project().join(COPY).exists(), "{away:?}");
        sandbox.ok(&["undo"]);
        assert_eq!(sandbox.read(COPY), text, "{away:?}, taken back");
        sandbox.ok(&["undo"]);
        assert!(!sandbox.project().join(COPY).exists(), "{away:?}, done again");
        sandbox.ok(back);
        assert_eq!(sandbox.read(COPY), text, "{back:?}: agents get the skill with the user's line");
        assert_eq!(sandbox.read(HOME), text);
    }
    sandbox.ok(&["remove", "pdf", "--force"]);
    assert!(!sandbox.project().join(COPY).exists());
}

/// Whoever edits the skill again gets that into the copies with the next change, and an edited copy is never lost.
#[test]
fn copies_are_made_of_what_lies_there() {
    let sandbox = merged();
    sandbox.ok(&["disable", "pdf"]);
    sandbox.ok(&["enable", "pdf"]);
    let text = skill("pdf", "one\ntwo\n3\n4\nfive");
    sandbox.write(HOME, &text);
    // It is as skillpm put it there, though it is neither what is locked nor what lies in the project.
    sandbox.ok(&["disable", "pdf"]);
    sandbox.ok(&["enable", "pdf"]);
    assert_eq!(sandbox.read(COPY), text);
    sandbox.write(COPY, "mine alone");
    let output = sandbox.run(&["disable", "pdf"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert_eq!(sandbox.read(COPY), "mine alone");
}

/// A skill is not in order of which an agent sees something else.
#[test]
fn an_edited_copy_is_told() {
    let sandbox = scene();
    sandbox.write(COPY, skill("pdf", "mine"));
    sandbox.tells(&["list"], 0, ": name scope state agents", &["pdf project ok claude-code"]);
    let listed = sandbox.ok(&["list", "--json"]).stdout;
    let listed: serde_json::Value = serde_json::from_str(&listed).expect("JSON");
    assert_eq!(listed[0]["edited_copies"], serde_json::json!(["claude-code"]));
    assert_eq!((&listed[0]["state"], &listed[0]["modified"]), (&"ok".into(), &false.into()));
    assert_eq!(sandbox.run(&["doctor"]).code, Some(1));
}

/// It stops nothing else: it stays, and the rest comes.
#[test]
fn an_edited_copy_does_not_hold_up_the_rest() {
    let sandbox = scene();
    sandbox.write("src/docx/SKILL.md", skill("docx", "1"));
    sandbox.ok(&["install", "./src/docx"]);
    sandbox.write(COPY, skill("pdf", "mine"));
    std::fs::remove_dir_all(sandbox.project().join(".agents/skills/docx")).expect("removes");
    for args in [&["install"][..], &["update"]] {
        source(&sandbox, &["1", "2", "3", "4", "5"]);
        let output = sandbox.ok(args);
        assert_eq!(sandbox.read(COPY), skill("pdf", "mine"), "{output}");
        assert!(sandbox.project().join(".agents/skills/docx/SKILL.md").exists(), "{output}");
    }
    source(&sandbox, &["1", "2"]);
    let output = sandbox.ok(&["update"]);
    let told = "`.claude/skills/pdf` was edited and was left as is: `skillpm link --agent claude-code --force pdf` replaces";
    assert!(output.stderr.contains(told), "{output}");
    assert_eq!((sandbox.read(HOME), sandbox.read(COPY)), (skill("pdf", "1\n2"), skill("pdf", "mine")));
    sandbox.ok(&["link", "--agent", "claude-code", "--force", "pdf"]);
    assert_eq!(sandbox.read(COPY), skill("pdf", "1\n2"));
    assert_eq!(sandbox.run(&["remove", "pdf"]).code, Some(0));
}

/// Neither does a link that a person made. No verb says that the agent sees the skill, and the command in the warning of
/// `install` replaces the link.
#[test]
fn a_link_to_somewhere_else_does_not_hold_up_the_rest() {
    for target in ["/nowhere", "../../.agents/skills/docx"] {
        let sandbox = Sandbox::new();
        std::fs::create_dir(sandbox.home().join(".claude")).expect("a directory");
        for name in ["pdf", "docx"] {
            sandbox.write(&format!("src/{name}/SKILL.md"), skill(name, "1"));
            sandbox.ok(&["install", &format!("./src/{name}")]);
        }
        let link = sandbox.project().join(".claude/skills/pdf");
        std::fs::remove_file(&link).expect("removes");
        std::os::unix::fs::symlink(target, &link).expect("links");
        std::fs::remove_dir_all(sandbox.project().join(".agents/skills/docx")).expect("removes");
        let output = sandbox.ok(&["install"]);
        assert!(sandbox.project().join(".agents/skills/docx/SKILL.md").exists(), "{output}");
        assert_eq!(std::fs::read_link(&link).expect("a link"), Path::new(target));
        let told = format!(
            "`.claude/skills/pdf` is a link to `{target}` and was left as is: `skillpm link --agent claude-code --force pdf` replaces"
        );
        assert!(output.stderr.contains(&told), "{output}");
        sandbox.tells(&["list"], 0, ": name seen_by state", &["docx claude-code ok", "pdf - ok"]);
        assert!(!sandbox.ok(&["why", "pdf"]).stdout.contains("seen by claude-code in"));
        sandbox.ok(&["link", "--agent", "claude-code", "--force", "pdf"]);
        sandbox.tells(&["list"], 0, ": name seen_by", &["docx claude-code", "pdf claude-code"]);
    }
}

/// Every verb reports what is in the place of a directory of skills, and calls no skill seen.
#[test]
fn an_agent_s_directory_that_is_none() {
    for (what, put) in [
        ("is a link to `../gone`, which does not exist", None),
        ("it is a file, and not a directory", Some("../.agents/skills")),
    ] {
        let sandbox = Sandbox::new();
        std::fs::create_dir(sandbox.home().join(".claude")).expect("a directory");
        sandbox.write("src/pdf/SKILL.md", skill("pdf", "1"));
        sandbox.ok(&["install", "./src/pdf"]);
        let skills = sandbox.project().join(".claude/skills");
        std::fs::remove_dir_all(&skills).expect("removes");
        match put {
            Some(text) => std::fs::write(&skills, text).expect("writes"),
            None => std::os::unix::fs::symlink("../gone", &skills).expect("links"),
        }
        for (verb, code) in
            [("list", 0), ("install", if put.is_some() { 6 } else { 5 }), ("doctor", 1), ("verify", 5)]
        {
            let output = sandbox.run(&[verb]);
            assert!(output.code == Some(code) && output.to_string().contains(what), "{verb}: {output}");
        }
        sandbox.tells(&["list"], 0, ": name seen_by", &["pdf -"]);
    }
}

/// No agent sees a skill without its `SKILL.md`, and a link would not help.
#[test]
fn a_skill_that_lost_its_file() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.home().join(".claude")).expect("a directory");
    sandbox.write("src/pdf/SKILL.md", skill("pdf", "1"));
    sandbox.write("src/pdf/notes.md", "notes");
    sandbox.ok(&["install", "./src/pdf"]);
    std::fs::remove_file(sandbox.project().join(HOME)).expect("removes");
    sandbox.tells(&["list"], 0, ": name agents seen_by state", &["pdf - - modified"]);
    let output = sandbox.run(&["install"]);
    assert!(output.code == Some(1) && !output.stderr.contains("does not see"), "{output}");
    sandbox.tells(&["doctor"], 1, "findings: id skill", &["skill-unreadable pdf"]);
    assert!(sandbox.run(&["doctor"]).stdout.contains("`skillpm install --force` restores what is locked"));
    sandbox.ok(&["install", "--force"]);
    sandbox.tells(&["list"], 0, ": name seen_by state", &["pdf claude-code ok"]);
}

/// A copy that says what the skill said a while ago is not edited: the next `install` renews it.
#[test]
fn an_earlier_copy_is_not_edited() {
    let sandbox = merged();
    sandbox.write(HOME, skill("pdf", "one\n2\n3\n4\nfive\nsix"));
    let listed = sandbox.ok(&["list"]);
    assert!(listed.to_string().contains("claude-code  edited\n"), "{listed}");
    assert_eq!(sandbox.run(&["install"]).code, Some(1), "what is edited stays");
    assert_eq!(sandbox.read(COPY), sandbox.read(HOME));
}

/// What skills are installed from is nobody's copy.
#[test]
fn a_source_in_an_agent_s_directory_is_no_copy() {
    let sandbox = Sandbox::new();
    sandbox.write(COPY, skill("pdf", "1"));
    sandbox.ok(&["install", "./.claude/skills/pdf", "-a", "cursor", "--copy"]);
    sandbox.write(COPY, skill("pdf", "2"));
    let listed = sandbox.ok(&["list"]);
    assert!(!listed.to_string().contains("copy edited"), "{listed}");
}

/// With `--force`, whatever differs from the lockfile is saved before it goes, even if only its line ends do.
#[test]
fn other_line_ends_are_saved_with_force() {
    let sandbox = Sandbox::new();
    sandbox.write("src/pdf/SKILL.md", "---\nname: pdf\ndescription: Does. Use it in tests.\n---\nfirst\n");
    sandbox.ok(&["install", "./src/pdf"]);
    let windows = sandbox.read(HOME).replace('\n', "\r\n");
    sandbox.write(HOME, &windows);
    let forced = sandbox.ok(&["install", "--force"]).to_string();
    assert!(forced.contains("your edited `pdf` was saved"), "{forced}");
    assert!(!sandbox.read(HOME).contains('\r'));
    sandbox.ok(&["undo"]);
    assert_eq!(sandbox.read(HOME), windows);
}
