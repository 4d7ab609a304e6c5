//! Sources that lie where skillpm puts what it installs: an author's only copy is never taken for an installed one.

use crate::support::{GitRepo, Sandbox};

/// A project in which somebody wrote the skill `mine` below `dir`.
fn project(dir: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    skill(&sandbox, dir, "mine");
    sandbox
}

fn skill(sandbox: &Sandbox, dir: &str, name: &str) {
    let text = format!("---\nname: {name}\ndescription: Does {name}. Use it in tests.\n---\nMY-ONLY-COPY\n");
    sandbox.write(&format!("{dir}/{name}/SKILL.md"), text);
}

/// THREATS: what is installed cannot be its own source, as it would go with it.
#[test]
fn what_lies_where_skills_are_installed_is_no_source() {
    let sandbox = project(".agents/skills");
    let before = sandbox.scope();
    sandbox.fails(
        &["install", "./.agents/skills/mine"],
        2,
        "usage",
        &["./.agents/skills/mine", "skillpm import mine"],
    );
    for source in ["./.agents/skills", "./.agents", ".agents/skills/mine/SKILL.md"] {
        let output = sandbox.run(&["install", source, "--skill", "*"]);
        assert_eq!(output.code, Some(2), "{source}: {output}");
    }
    assert_eq!(sandbox.scope(), before);
    // Nor by hand.
    sandbox.write("skillpm.toml", "[skills]\nmine = { path = \"./.agents/skills/mine\" }\n");
    let output = sandbox.run(&["install"]);
    assert_eq!(output.code, Some(2), "{output}");
    assert!(output.stderr.contains("which belongs to skillpm"), "{output}");
    // Others keep their things beside it, and a template is only read.
    skill(&sandbox, ".agents/plugins/tools/skills", "other");
    sandbox.write("skillpm.toml", "[skills]\n");
    sandbox.ok(&["install", "./.agents/plugins/tools"]);
    sandbox.ok(&[
        "create",
        "mine",
        "--template",
        "./.agents/skills/mine",
        "--description",
        "Does it. Use it.",
    ]);
}

/// An agent's directory is a source as any other, as long as no link would take the place of the skill itself.
#[test]
fn a_link_never_takes_the_place_of_its_own_source() {
    let sandbox = project(".claude/skills");
    let before = sandbox.scope();
    sandbox.fails(
        &["install", "./.claude/skills/mine"],
        1,
        "findings",
        &[".claude/skills/mine", "skillpm import mine", "--editable"],
    );
    assert_eq!(sandbox.run(&["install", "./.claude/skills/mine", "--force"]).code, Some(1));
    assert_eq!(sandbox.scope(), before);
    let text = sandbox.read(".claude/skills/mine/SKILL.md");
    sandbox.ok(&["install", "./.claude/skills/mine", "--agent", "cursor"]);
    let changes = [
        &["doctor", "--fix"][..],
        &["link", "--agent", "claude-code"],
        &["install", "--agent", "claude-code", "--copy"],
    ];
    for change in changes {
        let _ = sandbox.run(change);
        assert!(!sandbox.project().join(".claude/skills/mine").is_symlink(), "{change:?}");
    }
    sandbox.ok(&["remove", "mine"]);
    assert_eq!(sandbox.read(".claude/skills/mine/SKILL.md"), text, "what was made of it goes, it stays");
    sandbox.ok(&["install", "--editable", "./.claude/skills/mine"]);
    sandbox.ok(&["remove", "mine"]);
    assert_eq!(sandbox.read(".claude/skills/mine/SKILL.md"), text);
}

/// The directory of installed skills may be a link to where their author keeps them.
#[cfg(unix)]
#[test]
fn a_link_to_the_author_s_directory_is_followed() {
    let sandbox = project("skills");
    std::fs::create_dir(sandbox.project().join(".agents")).expect("creates");
    std::os::unix::fs::symlink("../skills", sandbox.project().join(".agents/skills")).expect("links");
    for source in [&["./skills/mine"][..], &[".", "--skill", "mine"]] {
        let output = sandbox.run(&[&["install"], source].concat());
        assert!(!output.stderr.contains("1 skill added"), "{output}");
        assert_ne!(output.code, Some(0), "{output}");
    }
}

/// What a version of before adopted so is only removed by force, which keeps a copy.
#[test]
fn the_only_copy_is_not_removed_in_silence() {
    let sandbox = project("skills");
    sandbox.ok(&["install", "./skills/mine"]);
    for file in ["skillpm.toml", "skillpm.lock"] {
        sandbox.write(file, sandbox.read(file).replace("./skills/mine", "./.agents/skills/mine"));
    }
    let before = sandbox.scope();
    sandbox.fails(&["remove", "mine"], 1, "findings", &[".agents/skills/mine", "--force"]);
    assert_eq!(sandbox.scope(), before);
    let output = sandbox.run(&["remove", "mine", "--force"]);
    assert!(output.code == Some(0) && output.stderr.contains("was saved"), "{output}");
}

/// A lockfile of another tool that names the copy itself says nothing of where it comes from.
#[test]
fn an_import_leaves_what_names_itself_as_its_source() {
    let sandbox = project(".agents/skills");
    let lock = r#"{"version":1,"skills":{"mine":{"source":"./.agents/skills/mine","sourceType":"local","computedHash":"0"}}}"#;
    sandbox.write("skills-lock.json", lock);
    let output = sandbox.run(&["import"]);
    assert!(output.code == Some(1) && output.stdout.contains("which belongs to skillpm"), "{output}");
    assert!(!sandbox.project().join("skillpm.toml").exists());
    let sandbox = project(".claude/skills");
    sandbox.write("skills-lock.json", lock.replace(".agents", ".claude"));
    let output = sandbox.run(&["import"]);
    assert!(output.code == Some(1) && output.stdout.contains("its source is this very copy"), "{output}");
    assert!(!sandbox.project().join("skillpm.toml").exists());
}

/// What the manifest names may be a directory above the skill, which is the source all the same.
#[test]
fn a_source_is_where_the_skill_was_found() {
    for path in ["./", "./.claude", "./.claude/skills"] {
        let sandbox = project(".claude/skills");
        let manifest =
            format!("[agents]\ntargets = [\"claude-code\"]\n[skills]\nmine = {{ path = \"{path}\" }}\n");
        sandbox.write("skillpm.toml", manifest);
        let before = sandbox.scope();
        let output = sandbox.run(&["install"]);
        assert_eq!(output.code, Some(1), "{path}: {output}");
        assert!(output.stderr.contains("is both the source of `mine` and the place"), "{path}: {output}");
        assert_eq!(sandbox.scope(), before, "{path}");
    }
}

/// A repository is the only copy of its history, too, however it is named.
#[test]
fn a_repository_is_no_source_where_skills_are_installed() {
    let commit = |sandbox: &Sandbox, dir: &str| {
        let repository = GitRepo::new(&sandbox.project().join(dir));
        repository.git(&["add", "--all"]);
        repository.commit_index();
        let path = sandbox.project().display().to_string().replace(' ', "%20");
        // An escaped letter is the same path.
        [
            format!("git+./{dir}"),
            format!("git+file://{path}/{dir}"),
            format!("git+file://{path}/%2E{}", &dir[1..]),
        ]
    };
    for dir in [".claude/skills/mine", ".claude/skills"] {
        let sandbox = project(".claude/skills");
        for source in commit(&sandbox, dir) {
            let output =
                sandbox.run(&["install", &source, "--skill", "mine", "--agent", "claude-code", "--force"]);
            assert_eq!(output.code, Some(1), "{source}: {output}");
            assert!(
                output.stderr.contains("is both the source of `mine` and the place"),
                "{source}: {output}"
            );
            assert!(!sandbox.project().join(".claude/skills/mine").is_symlink(), "{source}");
            assert!(sandbox.project().join(dir).join(".git").is_dir(), "{source}");
        }
    }
    // What was committed is gone from the work tree, or was moved in it.
    let sandbox = project(".claude/skills/mine/skills");
    let [source, ..] = commit(&sandbox, ".claude/skills/mine");
    std::fs::remove_dir_all(sandbox.project().join(".claude/skills/mine/skills")).expect("removes");
    let output = sandbox.run(&["install", &source, "--agent", "claude-code", "--force"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(sandbox.project().join(".claude/skills/mine/.git").is_dir());

    let sandbox = project(".agents/skills");
    for source in commit(&sandbox, ".agents/skills/mine") {
        let output = sandbox.run(&["install", &source]);
        assert_eq!(output.code, Some(2), "{source}: {output}");
        assert!(output.stderr.contains("which belongs to skillpm"), "{source}: {output}");
    }
}

/// Some agents look into `skills/` of a project, where authors write: their own files are no copies for these agents.
#[test]
fn a_source_in_an_agent_s_directory_is_no_copy_of_it() {
    let sandbox = project("skills");
    sandbox.ok(&["install", "./skills/mine"]);
    let agents = || {
        let list = sandbox.run(&["list", "--json"]).stdout;
        serde_json::from_str::<serde_json::Value>(&list).expect("JSON")[0]["agents"].clone()
    };
    assert_eq!(agents(), serde_json::json!([]));
    sandbox.ok(&["remove", "mine"]);
    sandbox.ok(&["install", ".", "--skill", "mine"]);
    assert_eq!(agents(), serde_json::json!([]));
    assert!(sandbox.read("skills/mine/SKILL.md").contains("MY-ONLY-COPY"));
}

/// The skill at the root of the project: what skillpm writes beside it in one run is no file of it in the next.
#[test]
fn a_skill_at_the_root_is_the_same_in_each_run() {
    let sandbox = Sandbox::new();
    let repo = GitRepo::new(&sandbox.project());
    repo.commit(
        &crate::support::Tree::new()
            .file("SKILL.md", "---\nname: project\ndescription: Does things. Use it in tests.\n---\n"),
    );
    let installed = || {
        sandbox.ok(&["install", ".", "-y", "-a", "claude-code"]);
        let files = sandbox.tree(&sandbox.project().join(".agents/skills/project"));
        (files, sandbox.read("skillpm.lock"))
    };
    let first = installed();
    assert_eq!(first.0, ["644 SKILL.md"]);
    assert!(sandbox.project().join(".agents/.gitattributes").exists(), "the run wrote a file of its own");
    sandbox.write(".agents/notes/other.md", "another program's");
    for _ in 0..2 {
        assert_eq!(installed(), first);
    }
    sandbox.ok(&["verify"]);
    sandbox.ok(&["outdated"]);
}
