//! `agents use`: which agents a person uses is a matter of theirs, and leaves the files of a team alone.

#![cfg(unix)]

use std::fs;

use crate::support::Sandbox;

/// A team's project with the skills `pdf` and `docx`, linked for Claude Code, on the machine of somebody with Windsurf.
fn team() -> Sandbox {
    let mut sandbox = Sandbox::new();
    sandbox.env("NO_COLOR", "1");
    for name in ["pdf", "docx"] {
        sandbox.write(
            &format!("../skills/{name}/SKILL.md"),
            format!("---\nname: {name}\ndescription: Works on {name} files. Use when there is one.\n---\n# Do it\n"),
        );
    }
    fs::create_dir_all(sandbox.home().join(".codeium/windsurf")).expect("a directory");
    sandbox.ok(&["install", "../skills", "--skill", "pdf", "docx", "--agent", "claude-code"]);
    sandbox
}

/// The names in a directory of the project.
fn names(sandbox: &Sandbox, dir: &str) -> Vec<String> {
    let entries = fs::read_dir(sandbox.project().join(dir)).into_iter().flatten();
    let mut names: Vec<_> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// What a person uses is linked at once and by each later installation, and neither file of the team changes.
#[test]
fn my_agents_are_linked_and_the_files_of_the_team_stay() {
    let sandbox = team();
    let files = || (sandbox.read("skillpm.toml"), sandbox.read("skillpm.lock"));
    let before = files();
    let output = sandbox.ok(&["list"]);
    let way = "`skillpm agents use windsurf` links them for you alone, `skillpm link --agent windsurf` for everybody";
    assert!(output.stderr.contains(way), "{output}");
    sandbox.ok(&["agents", "use", "windsurf"]);
    assert_eq!(names(&sandbox, ".windsurf/skills"), ["docx", "pdf"]);
    assert_eq!(sandbox.read("../home/.config/skillpm/skillpm.toml"), "[agents]\nuse = [\"windsurf\"]\n");
    fs::remove_file(sandbox.project().join(".windsurf/skills/pdf")).expect("removes");
    let output = sandbox.run(&["doctor"]);
    assert!(output.code == Some(1) && output.to_string().contains("Windsurf does not see `pdf`"), "{output}");
    sandbox.ok(&["install", "--locked"]);
    assert_eq!(names(&sandbox, ".windsurf/skills"), ["docx", "pdf"]);
    sandbox.ok(&["doctor"]);
    assert_eq!(files(), before);
    sandbox.ok(&["disable", "pdf"]);
    assert_eq!(names(&sandbox, ".windsurf/skills"), ["docx"]);
    sandbox.ok(&["enable", "pdf"]);
    assert_eq!(names(&sandbox, ".windsurf/skills"), ["docx", "pdf"]);
    // In a new project, too, they are its author's alone.
    let other = sandbox.project().join("../other");
    fs::create_dir_all(&other).expect("a directory");
    fs::write(other.join("skillpm.toml"), "").expect("writes");
    let mut install = sandbox.command(&["install", "../skills", "--skill", "pdf"]);
    assert!(install.current_dir(&other).output().expect("starts").status.success());
    let manifest = fs::read_to_string(other.join("skillpm.toml")).expect("reads");
    assert!(!manifest.contains("targets"), "{manifest}");
    assert!(other.join(".windsurf/skills/pdf").exists());
    sandbox.ok(&["remove", "pdf", "docx"]);
    assert_eq!(names(&sandbox, ".windsurf/skills"), [""; 0]);
}

/// Links go with the agent, and only those that skillpm made.
#[test]
fn an_agent_that_i_no_longer_use_loses_its_links() {
    let sandbox = team();
    sandbox.ok(&["agents", "use", "windsurf", "junie"]);
    sandbox.write(".windsurf/skills/mine/SKILL.md", "---\nname: mine\ndescription: Mine.\n---\n");
    let link = sandbox.project().join(".junie/skills/pdf");
    fs::remove_file(&link).expect("removes");
    std::os::unix::fs::symlink("/elsewhere", &link).expect("links");
    sandbox.ok(&["agents", "use", "claude-code"]);
    assert_eq!(names(&sandbox, ".windsurf/skills"), ["mine"]);
    assert_eq!(names(&sandbox, ".junie/skills"), ["pdf"]);
    assert_eq!(names(&sandbox, ".claude/skills"), ["docx", "pdf"]);
    // What was never said is what is found.
    sandbox.ok(&["agents", "use", "--forget"]);
    assert_eq!(sandbox.read("../home/.config/skillpm/skillpm.toml"), "[agents]\n");
    assert!(sandbox.ok(&["list"]).stderr.contains("windsurf is on this machine"));
}

/// `undo` takes links back and not what a person said, which it tells.
#[test]
fn undo_says_that_the_next_installation_links_again() {
    let sandbox = team();
    sandbox.ok(&["agents", "use", "windsurf", "junie"]);
    for args in [&["undo", "--dry-run"][..], &["undo"]] {
        let undone = sandbox.ok(args).stderr;
        assert!(undone.contains("junie and windsurf are some of the agents that you use, so"), "{undone}");
        assert!(undone.contains("`skillpm agents use --forget` ends that"), "{undone}");
    }
    assert_eq!(names(&sandbox, ".windsurf/skills"), [""; 0]);
    assert!(!sandbox.ok(&["undo"]).stderr.contains("that you use"), "they come back");
    assert_eq!(names(&sandbox, ".windsurf/skills"), ["docx", "pdf"]);
}

/// A project that gives nobody links, and a skill with agents of its own, have decided.
#[test]
fn what_a_team_decided_comes_before_what_i_use() {
    let sandbox = team();
    let manifest = sandbox.read("skillpm.toml");
    sandbox.write("skillpm.toml", manifest.replace("pdf = { ", "pdf = { agents = [], "));
    sandbox.ok(&["install"]);
    sandbox.ok(&["agents", "use", "windsurf"]);
    assert_eq!(names(&sandbox, ".windsurf/skills"), ["docx"]);
    sandbox.write("skillpm.toml", manifest.replace("[\"claude-code\"]", "[]"));
    sandbox.ok(&["install"]);
    assert_eq!(names(&sandbox, ".windsurf/skills"), [""; 0]);
}

#[test]
fn only_my_own_manifest_says_what_i_use() {
    let sandbox = team();
    let manifest = sandbox.read("skillpm.toml");
    sandbox.write("skillpm.toml", manifest.replace("[agents]\n", "[agents]\nuse = [\"junie\"]\n"));
    let output = sandbox.run(&["list"]);
    assert_eq!(output.code, Some(3), "{output}");
    assert!(
        output.stderr.contains("skillpm.toml:6:7: `use` in `[agents]` is a matter of each person"),
        "{output}"
    );
    sandbox.write("skillpm.toml", manifest);
    let output = sandbox.run(&["agents", "use", "windsrf"]);
    assert!(output.code == Some(2) && output.stderr.contains("did you mean `windsurf`?"), "{output}");
    assert_eq!(sandbox.run(&["agents", "use"]).code, Some(2));
}
