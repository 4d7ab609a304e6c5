//! What skillpm did not make is left as it is and named; `--force` moves it into the store, and `undo` brings it back,
//! later too.

#![cfg(unix)]

use std::os::unix::fs::symlink;
use std::path::Path;

use crate::support::{GitRepo, Output, Sandbox, Snapshot};

fn skill(name: &str, text: &str) -> String {
    format!("---\nname: {name}\ndescription: Does {name}. Use it in tests.\n---\n{text}\n")
}

/// A project with the source of `pdf` in `src`.
fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("src/pdf/SKILL.md", skill("pdf", "first"));
    sandbox
}

fn install(sandbox: &Sandbox, more: &[&str]) -> Output {
    let args = [&["install", "./src", "--skill", "pdf", "-y", "--agent", "claude-code"], more].concat();
    sandbox.ok(&args)
}

fn warned(output: &Output, path: &str) -> bool {
    output.stderr.contains(&format!("`{path}` is not skillpm's: left as it is"))
}

/// An author's own clone, which tries the published version: the source in `skills` is nobody's copy, with another agent on
/// the machine, whose directory has that name, too.
#[test]
fn an_author_s_sources_are_no_copies() {
    for openclaw in [false, true] {
        let sandbox = Sandbox::new();
        if openclaw {
            std::fs::create_dir_all(sandbox.home().join(".openclaw/x")).expect("a directory");
        }
        let upstream = sandbox.root().join("upstream");
        std::fs::create_dir(&upstream).expect("a directory");
        for dir in [&upstream, &sandbox.project()] {
            let file = dir.join("skills/pdf/SKILL.md");
            std::fs::create_dir_all(file.parent().expect("a parent")).expect("directories");
            std::fs::write(file, skill("pdf", "first")).expect("a file");
            let repo = GitRepo::new(dir);
            repo.git(&["add", "--all"]);
            repo.git(&["commit", "--quiet", "--message", "one"]);
        }
        let clone = GitRepo::at(&sandbox.project());
        let source = format!("git+file://{}", upstream.display());
        sandbox.ok(&["install", &source, "--skill", "pdf", "-y"]);
        for args in [
            &["doctor"][..],
            &["doctor", "--fix"],
            &["disable", "pdf"],
            &["enable", "pdf"],
            &["install"],
            &["remove", "pdf"],
        ] {
            let output = sandbox.run(args);
            assert_eq!(output.code, Some(0), "{args:?}: {output}");
            assert_eq!(clone.git(&["status", "--short", "skills"]), "", "{args:?}: {output}");
            assert_eq!(warned(&output, "skills/pdf"), openclaw && ["remove", "disable"].contains(&args[0]));
        }
        assert!(!sandbox.project().join(".agents/skills").exists());
        // Nobody asked for links in the directory that is published.
        sandbox.write("src/docx/SKILL.md", skill("docx", "first"));
        sandbox.ok(&["install", "./src", "--skill", "docx", "-y"]);
        assert_eq!(std::fs::read_dir(sandbox.project().join("skills")).expect("a directory").count(), 1);
    }
}

/// A directory of an agent may be a link to where an author keeps skills: what counts is what is there.
#[test]
fn directories_of_agents_are_seen_through() {
    for agents in [".claude", ".agents"] {
        let sandbox = project();
        sandbox.write("skills/pdf/SKILL.md", skill("pdf", "first"));
        std::fs::create_dir(sandbox.project().join(agents)).expect("a directory");
        symlink("../skills", sandbox.project().join(agents).join("skills")).expect("a link");
        let output = install(&sandbox, &[]);
        assert!(warned(&output, &format!("{agents}/skills/pdf")), "{output}");
        sandbox.ok(&["remove", "pdf"]);
        let there = sandbox.project().join("skills/pdf");
        assert!(there.join("SKILL.md").is_file() && !there.is_symlink(), "{agents}");
        // What skillpm put there goes.
        std::fs::remove_dir_all(&there).expect("removed");
        install(&sandbox, &[]);
        sandbox.ok(&["remove", "pdf"]);
        assert!(!there.exists(), "{agents}");
    }
}

/// Colleagues get what is committed: for them the lockfile is the receipt.
#[test]
fn the_lockfile_is_a_receipt() {
    for copy in [false, true] {
        let first = project();
        install(&first, if copy { &["--copy"] } else { &[] });
        let other = Sandbox::new();
        crate::support::snapshot::copy(&first.project(), &other.project());
        assert!(other.project().join(".claude/skills/pdf/SKILL.md").exists());
        other.ok(&["remove", "pdf"]);
        assert!(!other.project().join(".claude").exists());
        assert!(!other.project().join(".agents").join("skills").exists());
    }
}

/// With `--force` it goes to the store, whatever it is. `undo` brings it back at once, and later `undo --restore`.
#[test]
fn what_force_takes_comes_back() {
    for (at, kind) in ["equal", "leftovers", "link"].into_iter().enumerate() {
        let sandbox = project();
        let mine = sandbox.project().join(".claude/skills/pdf");
        if kind == "link" {
            std::fs::create_dir_all(mine.parent().expect("a parent")).expect("directories");
            symlink("../../elsewhere", &mine).expect("a link");
        } else {
            sandbox.write(".claude/skills/pdf/SKILL.md", skill("pdf", "first"));
            if kind == "leftovers" {
                sandbox.write(".claude/skills/pdf/venv/bin/tool", "x");
                symlink("/usr/bin/env", mine.join("venv/bin/python")).expect("a link");
            }
        }
        let look = || (std::fs::read_link(&mine).ok(), Snapshot::of(&mine));
        let before = look();
        let output = install(&sandbox, &["--force"]);
        assert!(output.stderr.contains("was saved"), "{kind}: {output}");
        assert_eq!(std::fs::read_link(&mine).ok().as_deref(), Some(Path::new("../../.agents/skills/pdf")));
        if at == 0 {
            sandbox.ok(&["undo"]);
            assert_eq!(look(), before, "{kind}");
            install(&sandbox, &["--force"]);
        }
        // Other changes come, so the record of this one is gone.
        sandbox.ok(&["disable", "pdf"]);
        sandbox.ok(&["remove", "pdf"]);
        assert!(!mine.exists() && !mine.is_symlink(), "{kind}");
        sandbox.ok(&["undo", "--restore", "pdf"]);
        assert_eq!(look(), before, "{kind}");
        let output = sandbox.run(&["undo", "--restore", "pdf"]);
        assert_eq!(output.code, Some(1), "{kind}: {output}");
    }
}

/// Files that tools left in a skill that goes are nowhere else: they are kept with the rest. What a tool makes again
/// by itself is not.
#[test]
fn what_tools_left_is_kept() {
    let sandbox = project();
    install(&sandbox, &[]);
    sandbox.write(".agents/skills/pdf/__pycache__/a.pyc", "x");
    sandbox.write("src/pdf/SKILL.md", skill("pdf", "second"));
    let output = sandbox.ok(&["update"]);
    assert!(!output.stderr.contains("was saved"), "{output}");
    sandbox.write(".agents/skills/pdf/venv/pyvenv.cfg", "x");
    sandbox.write(".agents/skills/pdf/notes.md~", "my notes");
    let output = sandbox.ok(&["remove", "pdf"]);
    assert!(output.stderr.contains("was saved with `notes.md~` and 1 more"), "{output}");
    install(&sandbox, &[]);
    sandbox.ok(&["remove", "pdf"]);
    sandbox.ok(&["undo", "--restore", "pdf"]);
    assert_eq!(sandbox.read(".agents/skills/pdf/notes.md~"), "my notes");
    assert_eq!(sandbox.read(".agents/skills/pdf/venv/pyvenv.cfg"), "x");
    // What `undo` removes has them, too.
    let sandbox = project();
    install(&sandbox, &[]);
    sandbox.write(".agents/skills/pdf/venv/pyvenv.cfg", "x");
    let output = sandbox.ok(&["undo"]);
    assert!(output.stderr.contains("was saved with `venv`"), "{output}");
    sandbox.ok(&["undo", "--forget"]);
    sandbox.ok(&["undo", "--restore", "pdf"]);
    assert_eq!(sandbox.read(".agents/skills/pdf/venv/pyvenv.cfg"), "x");
}

/// Lines that an author wrote beside skillpm's stay.
#[test]
fn the_lines_of_skillpm_leave_gitattributes() {
    let sandbox = project();
    GitRepo::new(&sandbox.project());
    sandbox.write(".agents/.gitattributes", "*.md diff=markdown\n");
    install(&sandbox, &[]);
    assert!(sandbox.read(".agents/.gitattributes").contains("* -text"));
    sandbox.ok(&["remove", "pdf"]);
    assert_eq!(sandbox.read(".agents/.gitattributes"), "*.md diff=markdown\n");
}

/// An agent that is neither chosen nor on this machine counts in nothing.
#[test]
fn an_agent_that_is_not_there_does_not_count() {
    let sandbox = project();
    sandbox.write("skills/pdf/SKILL.md", skill("pdf", "first"));
    install(&sandbox, &[]);
    let list: serde_json::Value =
        serde_json::from_str(&sandbox.ok(&["list", "--json"]).stdout).expect("JSON");
    assert_eq!(list[0]["agents"], serde_json::json!(["claude-code"]));
    let doctor = sandbox.ok(&["doctor"]);
    assert!(!doctor.to_string().contains("skills/pdf` is a copy"), "{doctor}");
}
