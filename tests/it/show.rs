//! `show`, `read` and `invoke`: what is known of a skill, and what an agent gets of it.

use std::os::unix::fs::symlink;

use serde_json::Value;

use crate::support::{Forge, Sandbox, Tree};

const SKILL: &str = "---\nname: pdf\ndescription: Reads PDF files.\nlicense: MIT\nmodel: opus\nmetadata:\n  version: \"1.10\"\n---\n\n\
                     # PDF\n\nFill $0 of $ARGUMENTS in ${SKILL_DIR}, it costs $5.\nNow: !`touch ran`\n";

/// A skill of a repository in the project, and one of its name for the user.
fn machine() -> (Forge, Sandbox, String) {
    let forge = Forge::start();
    let mut sandbox = Sandbox::new();
    sandbox.forge(&forge);
    let tree = Tree::new()
        .file("skills/pdf/SKILL.md", SKILL)
        .file("skills/pdf/references/forms.md", "# Forms\n\nFill them.\n")
        .file("skills/pdf/scripts/fill.py", "print('a')\n");
    let commit = forge.repo("acme/skills").commit(&tree);
    assert_eq!(sandbox.run(&["install", "acme/skills", "--skill", "pdf"]).code, Some(0));
    sandbox.write("../home/.agents/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Mine.\n---\n");
    (forge, sandbox, commit)
}

fn shown(sandbox: &Sandbox, words: &[&str], commit: &str) -> String {
    sandbox.run(words).to_string().replace(commit, "[COMMIT]").replace(&commit[..7], "[COMMIT]")
}

fn json(sandbox: &Sandbox, words: &[&str]) -> Value {
    let run = sandbox.run(words);
    assert_eq!(run.code, Some(0), "{run}");
    serde_json::from_str(&run.stdout).expect("JSON")
}

/// Conflict C1, C6: every field, every file, where it came from, what became of it and what it hides.
#[test]
fn the_page() {
    let (_forge, sandbox, commit) = machine();
    insta::assert_snapshot!(shown(&sandbox, &["show", "pdf"], &commit), @"
    exit: 0
    --- stdout
    pdf, in the project
      description    Reads PDF files.
      version        1.10
      license        MIT
      metadata       version: 1.10
      other field    model: opus
      directory      .agents/skills/pdf
      source         github:acme/skills, directory skills/pdf
      revision       [COMMIT], requested: the default branch
      digest         sha256:57bcad4c6c5b8f7127600ab8049c3b06bd7bba0117b4741394696c63cabc23e3
      state          as it was installed
      tokens         metadata about 5, instructions about 26, other files about 11
      hides          ~/.agents/skills/pdf (user:pdf)

    file                 bytes  sha256
    SKILL.md               179  cb9f9c96380b
    references/forms.md     20  315d82261459
    scripts/fill.py         11  62bdb208de6d
    3 files, 210 bytes

    requires                       here     stated in
    program `python3` or `python`  present  scripts/fill.py:1:1 (.py)

    look at this before an agent uses it:
    `pdf` has a command that runs before the agent reads the text: SKILL.md:13, `touch ran`
    --- stderr
    warning: the skill `pdf` was found twice: `.agents/skills/pdf` is used, `[DIR]/home/.agents/skills/pdf` is ignored
    ");
    let value = json(&sandbox, &["show", "pdf", "--json"]);
    assert_eq!(value["installed"]["revision"], commit.as_str());
    assert_eq!(value["extra"]["model"], "opus");
    sandbox.write(".agents/skills/pdf/notes.md", "mine\n");
    let value = json(&sandbox, &["info", "pdf", "--json"]);
    assert_eq!(value["installed"]["state"], "modified");
    assert_eq!(value["files"][1]["path"], "notes.md");
    let value = json(&sandbox, &["show", "pdf", "--scope", "user", "--json"]);
    assert_eq!((&value["description"], &value["installed"]["state"]), (&"Mine.".into(), &"untracked".into()));
    assert!(
        value["shadowed_by"]["location"]
            .as_str()
            .is_some_and(|at| at.ends_with("project/.agents/skills/pdf"))
    );
    assert_eq!(sandbox.run(&["show", "nothing"]).code, Some(2));
    insta::assert_snapshot!(shown(&sandbox, &["read", "pdf"], &commit), @"
    exit: 0
    --- stdout
    notes.md
    references/forms.md
    scripts/fill.py
    --- stderr
    warning: the skill `pdf` was found twice: `.agents/skills/pdf` is used, `[DIR]/home/.agents/skills/pdf` is ignored
    ");
    insta::assert_snapshot!(shown(&sandbox, &["invoke", "pdf", "a form", "b"], &commit), @"
    exit: 0
    --- stdout
    Base directory for this skill: [DIR]/project/.agents/skills/pdf

    # PDF

    Fill a form of a form b in [DIR]/project/.agents/skills/pdf, it costs $5.
    Now: !`touch ran`

    NOTE: these commands in the instructions were not run and appear as written, not as their output: `touch ran`
    --- stderr
    warning: the skill `pdf` was found twice: `.agents/skills/pdf` is used, `[DIR]/home/.agents/skills/pdf` is ignored
    warning: `pdf` has commands that some agents run before they read it; none was run: `touch ran`
    ");
}

/// S3-US-5, S3-US-11, S3-FR-11, S3-FR-16, conflict C16.
#[test]
fn files_of_a_skill_are_read_and_no_others() {
    let (_forge, sandbox, _) = machine();
    let dir = sandbox.project().join(".agents/skills/pdf");
    sandbox.write(".agents/skills/pdf-secret/key", "secret");
    symlink("../pdf-secret", dir.join("sibling")).expect("a link");
    symlink("/etc", dir.join("etc")).expect("a link");
    let read = |path: &str| sandbox.run(&["read", "pdf", path]);
    assert_eq!(read("references/forms.md").stdout, "# Forms\n\nFill them.\n");
    assert_eq!(
        json(&sandbox, &["read", "pdf", "references/forms.md", "--json"]),
        serde_json::json!({
            "skill_name": "pdf", "filename": "references/forms.md", "content": "# Forms\n\nFill them.\n",
        })
    );
    for (path, code) in [
        ("sibling/key", 5),
        ("etc/passwd", 5),
        ("../pdf-secret/key", 2),
        ("references/../../pdf-secret/key", 2),
        ("/etc/passwd", 2),
        ("references", 2),
        ("", 2),
    ] {
        let run = read(path);
        assert_eq!((run.code, run.stdout.as_str()), (Some(code), ""), "{path}: {run}");
    }
    sandbox.fails(
        &["read", "pdf", "form.md"],
        2,
        "file-not-found",
        &["form.md", "references/forms.md", "skillpm read pdf"],
    );
    sandbox.fails(&["read", "pdf", "sibling/key"], 5, "path-outside", &["sibling/key", "`pdf`"]);
    sandbox.tells(&["read", "pdf"], 0, "available_files:", &["references/forms.md", "scripts/fill.py"]);
    let listed = json(&sandbox, &["read", "pdf", "--list", "md", "--json"]);
    assert_eq!(listed["available_files"], serde_json::json!(["references/forms.md"]));
}

/// S0-US3.1, S0-US3.3, S0-US3.4, S3-FR-14, conflicts C9 and C10. Nothing runs, and nothing is written.
#[test]
fn what_an_agent_gets() {
    let (_forge, sandbox, _) = machine();
    let text = sandbox.ok(&["invoke", "pdf", "a form", "b"]).stdout;
    let filled = "# PDF\n\nFill a form of a form b in [DIR]/project/.agents/skills/pdf, it costs $5.\nNow: !`touch ran`\n";
    assert!(text.contains(filled), "{text}");
    assert!(!sandbox.project().join("ran").exists());
    let xml = sandbox.ok(&["invoke", "--format", "xml", "pdf"]).stdout;
    assert!(
        xml.starts_with("<skill_content name=\"pdf\">\n<![CDATA[# PDF\n\nFill $0 of  in [DIR]/project/"),
        "{xml}"
    );
    assert!(xml.contains("<file>scripts/fill.py</file>\n</skill_resources>"), "{xml}");
    let outcome = sandbox.ok(&["invoke", "--format", "json", "pdf", "'a form' b"]).json();
    let text = outcome["instructions"].as_str().expect("instructions");
    let filled = "# PDF\n\nFill a form of 'a form' b in [DIR]/project/.agents/skills/pdf, it costs $5.\n";
    assert!(text.starts_with(filled), "{text}");
    let markdown = sandbox.ok(&["invoke", "--format", "markdown", "pdf", "x"]).stdout;
    assert!(
        markdown.contains("\n# PDF\n\nFill x of x in ") && markdown.contains("\n- scripts/fill.py\n"),
        "{markdown}"
    );
    assert!(!sandbox.project().join("ran").exists());
    assert_eq!(json(&sandbox, &["show", "pdf", "--json"])["installed"]["state"], "ok");
}

/// What an author writes is seen and run without an installation, and a path is no way around what holds for names.
#[test]
fn a_skill_that_is_not_installed() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "skills/pdf/SKILL.md",
        "---\nname: pdf\ndescription: Reads PDF files.\n---\n\n# PDF\n\nRead $0.\n",
    );
    sandbox.write("skills/pdf/scripts/fill.sh", "echo \"filled $1\"\n");
    assert!(sandbox.ok(&["invoke", "./skills/pdf", "a.pdf"]).stdout.ends_with("# PDF\n\nRead a.pdf.\n"));
    sandbox.tells(&["show", "./skills/pdf/SKILL.md"], 0, ": name scope", &["pdf -"]);
    assert_eq!(sandbox.ok(&["read", "./skills/pdf", "scripts/fill.sh"]).stdout, "echo \"filled $1\"\n");
    assert_eq!(sandbox.run(&["read", "./skills/pdf", "../secret"]).code, Some(2));
    assert!(sandbox.ok(&["tools", "./skills/pdf"]).stdout.contains("fill.sh"));
    sandbox.fails(
        &["run", "./skills/pdf", "fill.sh", "a"],
        5,
        "script-not-permitted",
        &["scripts/fill.sh", "skillpm trust"],
    );
    sandbox.ok(&["trust", "skills"]);
    assert_eq!(sandbox.ok(&["run", "./skills/pdf", "fill.sh", "a"]).stdout, "filled a\n");
    // An installed copy that somebody edited is that, however it is named.
    sandbox.ok(&["install", "./skills/pdf"]);
    sandbox.write(".agents/skills/pdf/scripts/fill.sh", "echo changed\n");
    let refused = sandbox.run(&["run", "./.agents/skills/pdf", "fill.sh"]);
    assert!(refused.code == Some(5) && refused.stderr.contains("--allow-modified"), "{refused}");
    sandbox.fails(
        &["invoke", "skills/pdf"],
        2,
        "skill-not-found",
        &["skills/pdf", "`./skills/pdf` is the skill in that directory"],
    );
}
