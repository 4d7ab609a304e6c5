//! Git repositories that lie where skills are installed: no digest tells of their history, and it is never taken away.

use crate::support::Sandbox;

const COPY: &str = ".agents/skills/pdf";
const LINK: &str = ".claude/skills/pdf";
const TOLD: &str = "holds a git repository, which skillpm could not keep for you";

fn skill(sandbox: &Sandbox, dir: &str, name: &str, body: &str) {
    let text = format!("---\nname: {name}\ndescription: Does {name}. Use it in tests.\n---\n{body}\n");
    sandbox.write(&format!("{dir}/{name}/SKILL.md"), text);
}

/// A project with the sources `src/pdf` and `src/docx`.
fn sources() -> Sandbox {
    let sandbox = Sandbox::new();
    skill(&sandbox, "src", "pdf", "first");
    skill(&sandbox, "src", "docx", "first");
    sandbox
}

/// The same with `pdf` installed for Claude Code.
fn project() -> Sandbox {
    let sandbox = sources();
    sandbox.ok(&["install", "./src/pdf", "-a", "claude-code"]);
    sandbox
}

/// Puts a clone of the skill in the place of its link.
fn clone_in_place_of_the_link(sandbox: &Sandbox) {
    std::fs::remove_file(sandbox.project().join(LINK)).expect("a link");
    skill(sandbox, ".claude/skills", "pdf", "first");
    sandbox.write(&format!("{LINK}/.git/HEAD"), "my work");
}

/// Asserts that each of these is refused and changes nothing, with force and without.
fn refused(sandbox: &Sandbox, place: &str, commands: &[&[&str]]) {
    let before = sandbox.scope();
    for command in commands {
        for force in [&[][..], &["--force"]] {
            let output = sandbox.run(&[command, force].concat());
            assert_eq!(output.code, Some(1), "{command:?}: {output}");
            assert!(output.stderr.contains(&format!("{place}` {TOLD}")), "{command:?}: {output}");
            assert!(output.stderr.contains("move it away"), "{command:?}: {output}");
            assert_eq!(sandbox.scope(), before, "{command:?}");
        }
    }
}

/// Asserts that each of these is refused with force, which changes nothing.
fn refused_by_force(sandbox: &Sandbox, commands: &[&[&str]]) {
    let before = sandbox.scope();
    for command in commands {
        let output = sandbox.run(&[command, &["--force"][..]].concat());
        assert_eq!(output.code, Some(1), "{command:?}: {output}");
        assert!(output.stderr.contains(&format!("{LINK}` {TOLD}")), "{command:?}: {output}");
        assert_eq!(sandbox.scope(), before, "{command:?}");
    }
}

/// Asserts that `command` leaves the clone in the place of the link as it is, and says so.
fn left(sandbox: &Sandbox, command: &[&str]) {
    let output = sandbox.ok(command);
    assert!(output.stderr.contains(&format!("`{LINK}` is not skillpm's: left as it is")), "{output}");
    assert_eq!(sandbox.read(&format!("{LINK}/.git/HEAD")), "my work", "{command:?}");
}

/// DESIGN 2: nothing is lost. A copy with the locked files and a repository in it is no copy that a link may replace.
#[test]
fn a_clone_in_the_place_of_a_link_stays() {
    let sandbox = project();
    clone_in_place_of_the_link(&sandbox);
    sandbox.tells(
        &["doctor", "--fix"],
        1,
        "findings: id severity skill agent",
        &["stray-copy-differs warning pdf claude-code"],
    );
    let commands: [&[&str]; 2] = [&["install"], &["link", "--agent", "claude-code"]];
    refused_by_force(&sandbox, &commands);
    refused_by_force(&sandbox, &[&["remove", "pdf"]]);
    for command in [commands[0], commands[1], &["remove", "pdf"]] {
        left(&sandbox, command);
    }
    // What no lockfile knows of is in nobody's way.
    let sandbox = project();
    skill(&sandbox, ".junie/skills", "pdf", "first");
    sandbox.write(".junie/skills/pdf/.git/HEAD", "my work");
    sandbox.ok(&["remove", "pdf"]);
    assert_eq!(sandbox.read(".junie/skills/pdf/.git/HEAD"), "my work");
    // The first installation, too.
    let sandbox = sources();
    skill(&sandbox, ".claude/skills", "pdf", "first");
    sandbox.write(&format!("{LINK}/.git/HEAD"), "my work");
    let command = ["install", "./src/pdf", "-a", "claude-code"];
    refused_by_force(&sandbox, &[&command]);
    left(&sandbox, &command);
}

/// A submodule, whose `.git` is a file, or a repository further below.
#[test]
fn what_the_canonical_copy_has_of_a_repository_stays() {
    for file in [".git", ".git/HEAD", "vendor/lib/.git"] {
        let sandbox = project();
        sandbox.write(&format!("{COPY}/{file}"), "my work");
        // Where nothing has to go there is nothing to say.
        for command in [&["install"][..], &["verify"], &["disable", "pdf"], &["enable", "pdf"], &["doctor"]] {
            sandbox.ok(command);
        }
        refused(&sandbox, COPY, &[&["remove", "pdf"]]);
        skill(&sandbox, "src", "pdf", "second");
        refused(&sandbox, COPY, &[&["update"]]);
        assert_eq!(sandbox.read(&format!("{COPY}/{file}")), "my work");
    }
    // What is taken back would lie in a record that the next change removes.
    let sandbox = project();
    sandbox.write(&format!("{COPY}/.git/HEAD"), "my work");
    refused(&sandbox, COPY, &[&["undo"]]);
}

/// Where others have links, a copy becomes one as well.
#[cfg(unix)]
#[test]
fn an_import_leaves_a_clone() {
    let sandbox = sources();
    for dir in [".agents/skills", ".claude/skills"] {
        skill(&sandbox, dir, "pdf", "first");
    }
    std::fs::create_dir_all(sandbox.project().join(".junie/skills")).expect("creates");
    let link = sandbox.project().join(".junie/skills/pdf");
    std::os::unix::fs::symlink("../../.agents/skills/pdf", link).expect("links");
    sandbox.write(&format!("{LINK}/.git/HEAD"), "my work");
    let entry = r#"{"source": "./src/pdf", "sourceType": "local", "computedHash": "x"}"#;
    sandbox.write("skills-lock.json", format!(r#"{{"version": 1, "skills": {{"pdf": {entry}}}}}"#));
    let output = sandbox.run(&["import"]);
    assert_eq!(output.code, Some(1), "what stays is told as an edit is: {output}");
    assert!(output.stdout.contains("of claude-code, and was left as is"), "{output}");
    assert_eq!(sandbox.read(&format!("{LINK}/.git/HEAD")), "my work");
}

/// What an author works in is a source, with its history beside it, and a link to it is no copy.
#[test]
fn sources_may_be_repositories() {
    let sandbox = sources();
    for name in ["pdf", "docx"] {
        sandbox.write(&format!("src/{name}/.git/HEAD"), "my work");
    }
    sandbox.ok(&["install", "./src/pdf", "-a", "claude-code"]);
    sandbox.ok(&["install", "--editable", "./src/docx", "-a", "claude-code"]);
    skill(&sandbox, "src", "pdf", "second");
    sandbox.ok(&["update"]);
    sandbox.ok(&["install"]);
    sandbox.ok(&["remove", "pdf", "docx"]);
    for name in ["pdf", "docx"] {
        assert_eq!(sandbox.read(&format!("src/{name}/.git/HEAD")), "my work");
    }
}
