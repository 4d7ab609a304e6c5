//! Where things are: a skill that somebody writes, one that is adopted, paths from where a person stands, and projects in
//! projects.

use std::path::Path;

use serde_json::Value;

use crate::support::{GitRepo, Output, Sandbox};

fn text(name: &str) -> String {
    format!("---\nname: {name}\ndescription: Does {name}. Use it in tests.\n---\nText of {name}.\n")
}

fn skill(sandbox: &Sandbox, dir: &str, name: &str) {
    sandbox.write(&format!("{dir}/{name}/SKILL.md"), text(name));
}

/// A machine with Claude Code.
fn machine() -> Sandbox {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.home().join(".claude")).expect("a directory");
    sandbox
}

#[track_caller]
fn at(sandbox: &Sandbox, dir: &Path, args: &[&str]) -> Output {
    sandbox.output(sandbox.command(args).current_dir(dir))
}

fn states(sandbox: &Sandbox) -> Vec<String> {
    let list: Value = serde_json::from_str(&sandbox.ok(&["list", "--json"]).stdout).expect("JSON");
    let row = |row: &Value| format!("{} {}", row["name"], row["state"]).replace('"', "");
    list.as_array().expect("a list").iter().map(row).collect()
}

/// A skill that is made in a project is one that every verb knows, and agents see it at once.
#[test]
fn a_skill_that_is_made_in_a_project_is_installed() {
    let sandbox = machine();
    let output = sandbox.ok(&["create", "rel-notes", "--scope", "project", "--yes"]);
    for told in ["created `skills/rel-notes`", "available to claude-code", "`skillpm.toml` changed"] {
        assert!(output.stderr.contains(told), "{told}: {output}");
    }
    assert_eq!(states(&sandbox), ["rel-notes editable"]);
    let seen = sandbox.project().join(".claude/skills/rel-notes/SKILL.md");
    assert_eq!(
        std::fs::read(&seen).expect("is seen"),
        std::fs::read(sandbox.project().join("skills/rel-notes/SKILL.md")).expect("is there")
    );
    sandbox.ok(&["link", "--agent", "junie", "rel-notes"]);
    sandbox.ok(&["doctor"]);
    sandbox.ok(&["remove", "rel-notes"]);
    assert!(sandbox.project().join("skills/rel-notes/SKILL.md").exists(), "what somebody wrote stays");
    // For the user it is beside the user's manifest.
    sandbox.ok(&["create", "mine", "--scope", "user", "--yes"]);
    assert!(sandbox.home().join(".config/skillpm/skills/mine/SKILL.md").exists());
    assert!(sandbox.home().join(".claude/skills/mine/SKILL.md").exists());
    let json: Value = serde_json::from_str(
        &sandbox.ok(&["create", "third", "--scope", "project", "--yes", "--json"]).stdout,
    )
    .expect("JSON");
    assert_eq!(json["installed"]["seen_by"], serde_json::json!(["claude-code"]));
    assert_eq!(sandbox.run(&["create", "third", "--scope", "project", "--yes"]).code, Some(2));
}

/// What a person wrote among the installed skills, or in an agent's directory, becomes the project's own with one
/// command, which every refusal names, and which can be taken back.
#[test]
fn a_hand_written_skill_is_adopted() {
    for dir in [".agents/skills", ".claude/skills"] {
        let sandbox = machine();
        skill(&sandbox, dir, "mine");
        sandbox.write(&format!("{dir}/mine/scripts/run.sh"), "#!/bin/sh\n");
        let before = sandbox.scope();
        let path = format!("./{dir}/mine");
        for args in [
            &["link", "--agent", "claude-code", "mine"][..],
            &["install", &path],
            &["remove", "mine"],
            &["import"],
        ] {
            let output = sandbox.run(args);
            assert!(output.stderr.contains("`skillpm import mine`"), "{args:?}: {output}");
        }
        assert_eq!(sandbox.scope(), before);
        let output = sandbox.ok(&["import", "mine", "--dry-run"]);
        assert!(output.stdout.contains("moved to `skills/mine`"), "{output}");
        assert_eq!(sandbox.scope(), before);
        let output = sandbox.ok(&["import", &path]);
        assert!(!output.stderr.contains("warning"), "{output}");
        assert_eq!(states(&sandbox), ["mine editable"]);
        let seen = sandbox.project().join(".claude/skills/mine");
        assert!(seen.is_symlink() && seen.join("scripts/run.sh").exists(), "{dir}");
        assert_eq!(sandbox.read("skills/mine/SKILL.md"), text("mine"));
        sandbox.ok(&["doctor"]);
        sandbox.ok(&["undo"]);
        assert_eq!(sandbox.read(&format!("{dir}/mine/SKILL.md")), text("mine"));
        assert!(!sandbox.project().join(dir).join("mine").is_symlink());
        // The new copy stays, and is taken where it is the same.
        assert_eq!(sandbox.read("skills/mine/SKILL.md"), text("mine"));
        sandbox.ok(&["import", "mine"]);
        assert_eq!(states(&sandbox), ["mine editable"]);
    }
}

/// Several that are adopted at once are one change, which `undo` takes back as one.
#[test]
fn several_are_adopted_as_one_change() {
    let sandbox = machine();
    for name in ["one", "two", "three"] {
        skill(&sandbox, ".claude/skills", name);
    }
    // The name of its directory counts, whatever `SKILL.md` says.
    sandbox.write(".claude/skills/three/SKILL.md", text("other"));
    let before = sandbox.tree(&sandbox.project().join(".claude"));
    sandbox.ok(&["import", "one", "two"]);
    assert_eq!(states(&sandbox), ["one editable", "three foreign", "two editable"]);
    let undone = sandbox.ok(&["undo"]).stderr;
    assert!(
        undone.contains("`skills/one` stays as it is; nothing is installed from it any more"),
        "{undone}"
    );
    assert_eq!(sandbox.tree(&sandbox.project().join(".claude")), before);
    sandbox.ok(&["import", "two", "three", "one", "two"]);
    assert_eq!(states(&sandbox), ["one editable", "three editable", "two editable"]);
}

/// Nothing that a person wrote is chosen among or written over.
#[test]
fn what_differs_is_not_adopted() {
    let sandbox = machine();
    skill(&sandbox, ".agents/skills", "mine");
    sandbox.write(".claude/skills/mine/SKILL.md", text("mine") + "More.\n");
    let before = sandbox.scope();
    let output = sandbox.run(&["import", "mine"]);
    assert!(output.code == Some(1) && output.stderr.contains("have different files"), "{output}");
    std::fs::remove_dir_all(sandbox.project().join(".claude")).expect("removes");
    sandbox.write("skills/mine/notes.md", "another one");
    let output = sandbox.run(&["import", "mine"]);
    assert!(output.code == Some(2) && output.stderr.contains("already exists"), "{output}");
    std::fs::remove_dir_all(sandbox.project().join("skills")).expect("removes");
    // One that cannot be installed stays where it is.
    sandbox.write(".agents/skills/mine/SKILL.md", "no frontmatter\n");
    for verb in ["list", "import"] {
        let output = sandbox.ok(&[verb]);
        assert!(!output.stderr.contains("import mine"), "it would be refused: {output}");
    }
    let reason = "`SKILL.md` cannot be loaded: the file has no frontmatter: start it with `---`, `name`, `description` and `---`";
    let told = format!("mine left unreadable {reason}");
    sandbox.tells(&["import"], 0, "skills: name verdict found_in reason", &[&*told]);
    let output = sandbox.run(&["import", "mine"]);
    assert_ne!(output.code, Some(0), "{output}");
    assert!(!sandbox.project().join("skills/mine").exists(), "{output}");
    assert_eq!(sandbox.read(".agents/skills/mine/SKILL.md"), "no frontmatter\n");
    for (name, told) in [("none", "there is no skill `none` here"), ("./skills/none", "does not exist")] {
        let output = sandbox.run(&["import", name]);
        assert!(output.code == Some(2) && output.stderr.contains(told), "{output}");
    }
    drop(before);
}

/// A path in a message is one that leads there from where the command was typed.
#[test]
fn paths_are_those_that_lead_there_from_here() {
    let sandbox = machine();
    skill(&sandbox, "src", "pdf");
    sandbox.write("skillpm.toml", "");
    let deep = sandbox.project().join("a/b");
    std::fs::create_dir_all(&deep).expect("directories");
    let output = at(&sandbox, &deep, &["install", "../../src/pdf"]);
    assert!(output.stderr.contains("1 skill added in `../../.agents/skills`"), "{output}");
    assert!(output.stderr.contains("changed: commit both"), "{output}");
    let output = sandbox.ok(&["install"]);
    assert!(output.stderr.contains("unchanged in `.agents/skills`"), "{output}");
    let output = at(&sandbox, &deep, &["update"]);
    assert!(output.stderr.contains("1 skill up to date in `../../.agents/skills`"), "{output}");
    let output = at(&sandbox, &deep, &["disable", "pdf"]);
    assert!(output.stderr.contains("from `../../.agents/.skillpm-disabled`"), "{output}");
    at(&sandbox, &deep, &["enable", "pdf"]);
    // Errors, too; what is elsewhere keeps its whole path.
    sandbox.write(".agents/skills/pdf/SKILL.md", "mine");
    let told = |dir: &Path| {
        let output = at(&sandbox, dir, &["remove", "pdf"]);
        assert_eq!(output.code, Some(1), "{output}");
        output.stderr
    };
    assert!(told(&deep).contains("error: `../../.agents/skills/pdf` was edited"), "{}", told(&deep));
    assert!(told(&sandbox.project()).contains("error: `.agents/skills/pdf` was edited"));
    sandbox.write("skillpm.toml", "[skills]\nx = 1\n");
    let output = at(&sandbox, &deep, &["install"]);
    assert!(output.stderr.starts_with("error: ../../skillpm.toml:2:5: "), "{output}");
    let json = at(&sandbox, &deep, &["doctor", "--json"]);
    assert!(json.stdout.contains("\"path\": \"[DIR]/project/"), "JSON has whole paths: {json}");
}

/// A colleague cannot install from a path that only this machine has.
#[test]
fn a_source_outside_of_the_project_is_not_to_be_committed() {
    let sandbox = machine();
    skill(&sandbox, "../elsewhere", "pdf");
    let output = sandbox.ok(&["install", "../elsewhere/pdf"]);
    assert!(!output.stderr.contains("commit"), "{output}");
    assert!(output.stderr.contains("`pdf` comes from outside of the project"), "{output}");
}

/// The home directory does not become a project because somebody forgot `-g`.
#[test]
fn the_home_directory_is_no_project_in_silence() {
    let sandbox = machine();
    let home = sandbox.home();
    skill(&sandbox, "../home/src", "pdf");
    for args in [&["install", "./src/pdf"][..], &["install"], &["import"]] {
        let output = at(&sandbox, &home, args);
        assert_eq!(output.code, Some(2), "{args:?}: {output}");
        assert!(output.stderr.contains("is your home directory, not a project"), "{output}");
        assert!(output.stderr.contains("add `--scope user`"), "{output}");
    }
    assert!(!home.join("skillpm.toml").exists() && !home.join(".agents").exists());
    assert_eq!(at(&sandbox, &home, &["install", "-g", "./src/pdf"]).code, Some(0));
    // Whoever says so means it, and whoever has said so before.
    assert_eq!(at(&sandbox, &home, &["install", "--project", "./src/pdf"]).code, Some(0));
    assert_eq!(at(&sandbox, &home, &["install", "./src/pdf"]).code, Some(0));
}

/// Who names a skill of the other scope is told the command that reaches it.
#[test]
fn a_skill_of_the_other_scope_is_told_with_the_command() {
    let sandbox = machine();
    skill(&sandbox, "src", "docx");
    sandbox.ok(&["install", "-g", "./src/docx"]);
    let output = sandbox.run(&["remove", "docx"]);
    assert_eq!(output.code, Some(2), "{output}");
    assert!(output.stderr.contains("error: `docx` is not installed in this project\n"), "{output}");
    assert!(output.stderr.contains("hint: it is installed for you: `skillpm remove -g docx`\n"), "{output}");
}

/// In a monorepo an agent that is started in a package sees the skills of the package and those of the root.
#[test]
fn a_project_in_a_project_hides_nothing() {
    let sandbox = machine();
    GitRepo::new(&sandbox.project());
    skill(&sandbox, "src", "root");
    skill(&sandbox, "src", "both");
    sandbox.write("src/root/scripts/hello.sh", "#!/bin/sh\necho hello from root\n");
    sandbox.ok(&["install", "./src/root", "./src/both"]);
    let package = sandbox.project().join("packages/a");
    sandbox.write("packages/a/skillpm.toml", "");
    skill(&sandbox, "packages/a/src", "own");
    sandbox.write("packages/a/src/own/scripts/hello.sh", "#!/bin/sh\necho hello from own\n");
    sandbox.write("packages/a/src/both/SKILL.md", text("both").replace("Text", "The package's text"));
    assert_eq!(at(&sandbox, &package, &["install", "./src/own", "./src/both"]).code, Some(0));
    let output = at(&sandbox, &package, &["list", "--json"]);
    let list: Value = serde_json::from_str(&output.stdout).expect("JSON");
    let row = |row: &Value| format!("{} {} {}", row["name"], row["scope"], row["outer"]).replace('"', "");
    let rows: Vec<_> = list.as_array().expect("a list").iter().map(row).collect();
    assert_eq!(rows, ["both project null", "own project null", "both project ../..", "root project ../.."]);
    assert!(at(&sandbox, &package, &["list"]).stdout.contains("project ../.."));
    let output = at(&sandbox, &package, &["invoke", "root"]);
    assert!(output.code == Some(0) && output.stdout.contains("Text of root."), "{output}");
    let output = at(&sandbox, &package, &["invoke", "both"]);
    assert!(output.stdout.contains("The package's text"), "the nearest one counts: {output}");
    let output = at(&sandbox, &package, &["catalog"]);
    for name in ["own", "root", "both"] {
        assert!(output.stdout.contains(name), "{name}: {output}");
    }
    // A script runs by the lockfile and the policy of the project that has the skill.
    let run = |name: &str| at(&sandbox, &package, &["run", name, "hello.sh"]);
    #[cfg(unix)]
    {
        let output = run("root");
        assert!(output.code == Some(0) && output.stdout.contains("hello from root"), "{output}");
        sandbox.write(".agents/skills/root/scripts/hello.sh", "#!/bin/sh\necho mine\n");
        let output = run("root");
        assert_eq!(output.code, Some(5), "{output}");
        assert!(output.stderr.contains("differs from what is locked"), "{output}");
        sandbox.ok(&["install", "--force"]);
        let manifest = sandbox.read("skillpm.toml");
        sandbox.write("skillpm.toml", format!("{manifest}\n[policy]\nscripts = \"deny\"\n"));
        assert_eq!(run("root").code, Some(5), "the root's policy");
        assert_eq!(run("own").code, Some(0), "says nothing of the package's skills");
        sandbox.write("skillpm.toml", &manifest);
        let lock = sandbox.read("skillpm.lock");
        sandbox.write("skillpm.lock", "broken");
        let output = run("root");
        assert!(output.code == Some(5) && output.stderr.contains("is not trusted"), "{output}");
        assert_eq!(run("own").code, Some(0));
        sandbox.write("skillpm.lock", &lock);
    }
    // What is changed is the package's.
    let output = at(&sandbox, &package, &["remove", "root"]);
    assert_eq!(output.code, Some(2), "{output}");
    // A file of the package tells of its own skills.
    at(&sandbox, &package, &["catalog", "--write", "AGENTS.md"]);
    let written = sandbox.read("packages/a/AGENTS.md");
    assert!(written.contains("own") && !written.contains("Does root"), "{written}");
}

/// Two people who each add a skill on a branch of their own do not meet in one line.
#[test]
fn two_branches_that_each_add_a_skill_merge() {
    let sandbox = machine();
    for name in ["beta", "delta", "kappa", "alpha", "zeta", "gamma", "mu"] {
        skill(&sandbox, "src", name);
    }
    let repo = GitRepo::new(&sandbox.project());
    sandbox.ok(&["install", "./src/beta", "./src/delta", "./src/kappa"]);
    repo.git(&["add", "-A"]);
    repo.git(&["commit", "-m", "base"]);
    let main = repo.git(&["branch", "--show-current"]);
    repo.git(&["checkout", "-b", "one"]);
    sandbox.ok(&["install", "./src/gamma"]);
    repo.git(&["add", "-A"]);
    repo.git(&["commit", "-m", "one"]);
    repo.git(&["checkout", main.trim()]);
    sandbox.ok(&["install", "./src/alpha", "./src/mu"]);
    repo.git(&["add", "-A"]);
    repo.git(&["commit", "-m", "two"]);
    repo.git(&["merge", "one", "-m", "merge"]);
    let manifest = sandbox.read("skillpm.toml");
    let names: Vec<_> = manifest.lines().filter_map(|line| Some(line.split_once(" = {")?.0)).collect();
    assert_eq!(names, ["alpha", "beta", "delta", "gamma", "kappa", "mu"], "{manifest}");
    sandbox.ok(&["install"]);
}

/// Where both add a skill in the same place, `install` takes both: in the manifest, too.
#[test]
fn two_branches_that_add_neighbours_merge_by_an_installation() {
    let sandbox = machine();
    for name in ["beta", "gamma", "delta", "zeta"] {
        skill(&sandbox, "src", name);
    }
    let repo = GitRepo::new(&sandbox.project());
    let save = |message: &str| {
        repo.git(&["add", "-A"]);
        repo.git(&["commit", "-m", message]);
    };
    sandbox.ok(&["install", "./src/beta", "./src/zeta"]);
    save("base");
    let main = repo.git(&["branch", "--show-current"]);
    repo.git(&["checkout", "-b", "one"]);
    sandbox.ok(&["install", "./src/gamma"]);
    save("one");
    repo.git(&["checkout", main.trim()]);
    sandbox.ok(&["install", "./src/delta"]);
    save("two");
    repo.fails(&["merge", "one", "-m", "merge"]);
    let output = sandbox.run(&["list"]);
    assert_eq!(output.code, Some(3), "{output}");
    assert!(output.stderr.contains("hint: `skillpm install` combines the skills of both sides"), "{output}");
    assert_eq!(sandbox.run(&["install", "--locked"]).code, Some(3));
    let output = sandbox.ok(&["install"]);
    assert!(output.stderr.contains("`skillpm.toml` had merge-conflict markers"), "{output}");
    let manifest = sandbox.read("skillpm.toml");
    let names: Vec<_> = manifest.lines().filter_map(|line| Some(line.split_once(" = {")?.0)).collect();
    assert_eq!(names, ["beta", "delta", "gamma", "zeta"], "{manifest}");
    sandbox.ok(&["install", "--locked"]);
    sandbox.ok(&["verify"]);
}

/// Another source of the same bytes is told, and so is that a name is only skillpm's.
#[test]
fn what_a_source_or_a_name_changes_is_told() {
    let sandbox = machine();
    skill(&sandbox, "one", "pdf");
    skill(&sandbox, "two", "pdf");
    sandbox.ok(&["install", "./one/pdf"]);
    let output = sandbox.ok(&["install", "./two/pdf", "--force"]);
    assert!(output.stderr.contains("`pdf` has the same files as before, and comes from"), "{output}");
    let output = sandbox.ok(&["install", "./two/pdf", "--as", "pdf3"]);
    assert!(
        output.stderr.contains("agents that take the name from `SKILL.md` still call `pdf3` `pdf`"),
        "{output}"
    );
}
