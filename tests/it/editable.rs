//! Editable skills: a link to the directory that somebody works on.

#![cfg(unix)]

use std::os::unix::fs::symlink;
use std::path::Path;

use crate::support::Sandbox;

fn write_skill(sandbox: &Sandbox, dir: &str, name: &str, body: &str) {
    let text = format!("---\nname: {name}\ndescription: Does {name}. Use it in tests.\n---\n{body}\n");
    sandbox.write(&format!("{dir}/SKILL.md"), text);
}

fn links(sandbox: &Sandbox) -> String {
    let lines = sandbox.tree(&sandbox.project()).into_iter();
    lines.filter(|line| line.contains(" -> ")).collect::<Vec<_>>().join("\n")
}

/// A project with the skill `brand` beside it.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    write_skill(&sandbox, "../brand", "brand", "first");
    sandbox
}

/// No lockfile has the version of an editable skill: it is what its file says now.
#[test]
fn the_version_is_that_of_the_file() {
    let sandbox = Sandbox::new();
    let listed = |version: &str| {
        let text = format!(
            "---\nname: brand\ndescription: Does brand. Use it in tests.\nmetadata:\n  version: {version}\n---\n"
        );
        sandbox.write("brand/SKILL.md", text);
        sandbox.ok(&["install", "--editable", "./brand"]);
        let listed = sandbox.run(&["list"]).stdout;
        listed.lines().nth(1).map(|line| line.split_whitespace().take(2).collect::<Vec<_>>().join(" "))
    };
    assert_eq!(listed("0.1.0").as_deref(), Some("brand 0.1.0"));
    assert_eq!(listed("0.2.0").as_deref(), Some("brand 0.2.0"));
    sandbox.write("brand/SKILL.md", "no skill any more");
    let output = sandbox.run(&["list"]);
    assert!(output.code == Some(0) && output.stdout.contains("\nbrand  -  "), "{output}");
}

/// DESIGN 4: `{ path = "../brand", editable = true }` is a link, not a copy.
#[test]
fn the_page() {
    let sandbox = sandbox();
    let args = ["install", "--editable", "../brand", "-a", "claude-code"];
    insta::assert_snapshot!(sandbox.run(&[&args[..], &["--dry-run"]].concat()), @"
    exit: 0
    --- stdout
    would create .agents/skills/brand
    would create .claude/skills/brand
    would create skillpm.toml
    --- stderr
    nothing was changed: this was a dry run
    ");
    insta::assert_snapshot!(sandbox.run(&args), @"
    exit: 0
    --- stderr
    + brand (path:../brand, editable)
    1 skill added in `.agents/skills`
    available to claude-code, and to agents that read `.agents/skills`; `--agent` adds others
    `skillpm.toml` changed; `brand` comes from outside of the project, so colleagues cannot install it
    hint: `skillpm list` shows what is installed, `skillpm invoke brand` what an agent gets
    ");
    insta::assert_snapshot!(links(&sandbox), @"
    .agents/skills/brand -> ../../../brand
    .claude/skills/brand -> ../../.agents/skills/brand
    ");
    insta::assert_snapshot!(sandbox.read("skillpm.toml"), @r#"
    [skills]
    brand = { path = "../brand", editable = true }

    [agents]
    targets = ["claude-code"]
    "#);
    assert!(!sandbox.project().join("skillpm.lock").exists(), "nothing is locked that changes at any time");
    insta::assert_snapshot!(sandbox.run(&["list"]), @"
    exit: 0
    --- stdout
    name   version  scope    source         seen by      state
    brand  -        project  path:../brand  claude-code  editable
    ");
    // An edit shows at once, and is no change of what is installed.
    write_skill(&sandbox, "../brand", "brand", "second");
    let through = sandbox.read(".claude/skills/brand/SKILL.md");
    assert!(through.ends_with("second\n"), "{through}");
    for args in [&["install"][..], &["install", "--locked"], &["install", "--frozen", "--offline"]] {
        sandbox.ok(args);
    }
    for dir in [".agents", ".claude"] {
        std::fs::remove_dir_all(sandbox.project().join(dir)).expect("removed");
    }
    sandbox.ok(&["install"]);
    insta::assert_snapshot!(sandbox.run(&["remove", "brand"]), @"
    exit: 0
    --- stderr
    - brand
    1 skill removed
    `skillpm.toml` changed: commit it
    hint: `skillpm undo` restores it
    ");
    assert_eq!(links(&sandbox), "");
    assert!(sandbox.read("../brand/SKILL.md").ends_with("second\n"), "the directory is not touched");
}

/// A directory with several skills: one link for each.
#[test]
fn a_directory_with_several_skills() {
    let sandbox = Sandbox::new();
    for name in ["docx", "pdf"] {
        write_skill(&sandbox, &format!("mine/{name}"), name, "first");
    }
    assert_eq!(sandbox.run(&["install", "-e", "./mine"]).code, Some(2), "which of them?");
    sandbox.ok(&["install", "-e", "./mine", "-s", "pdf", "--as", "paper"]);
    sandbox.ok(&["install", "-e", "./mine", "-s", "*"]);
    insta::assert_snapshot!(sandbox.read("skillpm.toml"), @r#"
    [skills]
    docx = { path = "./mine", subdir = "docx", editable = true }
    paper = { path = "./mine", subdir = "pdf", name = "pdf", editable = true }
    pdf = { path = "./mine", subdir = "pdf", editable = true }
    "#);
    insta::assert_snapshot!(links(&sandbox), @"
    .agents/skills/docx -> ../../mine/docx
    .agents/skills/paper -> ../../mine/pdf
    .agents/skills/pdf -> ../../mine/pdf
    ");
    sandbox.write("skillpm.toml", "[skills]\nmine = { path = \"./mine\", editable = true }\n");
    sandbox.fails(&["install"], 3, "configuration", &["./mine", "SKILL.md"]);
}

#[test]
fn the_scope_of_the_user() {
    let sandbox = sandbox();
    write_skill(&sandbox, "../home/mine/own", "own", "first");
    sandbox.ok(&["install", "-g", "-e", "../brand", "../home/mine/own", "-a", "junie"]);
    let home: Vec<_> =
        sandbox.tree(&sandbox.home()).into_iter().filter(|line| line.contains(" -> ")).collect();
    let dir = sandbox.home().parent().expect("a parent").display().to_string();
    insta::assert_snapshot!(home.join("\n").replace(&dir, "[DIR]"), @"
    .agents/skills/brand -> [DIR]/brand
    .agents/skills/own -> [DIR]/home/mine/own
    .junie/skills/brand -> ../../.agents/skills/brand
    .junie/skills/own -> ../../.agents/skills/own
    ");
    let text = std::fs::read_to_string(sandbox.home().join(".config/skillpm/skillpm.toml")).expect("there");
    insta::assert_snapshot!(text.replace(&dir, "[DIR]"), @r#"
    [skills]
    brand = { path = "[DIR]/brand", editable = true }
    own = { path = "~/mine/own", editable = true }

    [agents]
    targets = ["junie"]
    "#);
    sandbox.ok(&["remove", "-g", "brand", "own"]);
    assert!(sandbox.home().join("mine/own/SKILL.md").exists());
}

/// From a copy to a link and back, with edits in the way.
#[test]
fn a_copy_becomes_editable_and_back() {
    let sandbox = sandbox();
    sandbox.ok(&["install", "../brand", "-a", "claude-code"]);
    sandbox.write(".agents/skills/brand/SKILL.md", "mine");
    let output = sandbox.run(&["install", "-e", "../brand"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert_eq!(sandbox.read(".agents/skills/brand/SKILL.md"), "mine");
    sandbox.tells(
        &["install", "-e", "../brand", "--force"],
        0,
        "skills: name change editable; agents:; warnings: code",
        &["brand updated true", "claude-code", "edited-saved"],
    );
    assert!(!sandbox.read("skillpm.lock").contains("brand"));
    // By hand, too; a copy for agents is no way to follow edits.
    sandbox.write(
        "skillpm.toml",
        "[skills]\nbrand = { path = \"../brand\" }\n[agents]\ntargets = [\"claude-code\"]\ncopy = true\n",
    );
    sandbox.ok(&["install"]);
    assert_eq!(links(&sandbox), "");
    let text = sandbox.read("skillpm.toml").replace("brand\" }", "brand\", editable = true }");
    sandbox.write("skillpm.toml", text);
    assert_eq!(sandbox.run(&["install", "--locked"]).code, Some(3), "its entry would go");
    sandbox.ok(&["install"]);
    insta::assert_snapshot!(links(&sandbox), @"
    .agents/skills/brand -> ../../../brand
    .claude/skills/brand -> ../../.agents/skills/brand
    ");
    sandbox.ok(&["install", "../brand"]);
    assert!(sandbox.read("skillpm.lock").contains("brand"));
    assert!(!sandbox.read("skillpm.toml").contains("editable"));
}

/// Who is no longer named loses the link with the next run, as of skills that are locked.
#[test]
fn agents_that_are_no_longer_named_lose_their_links() {
    let sandbox = sandbox();
    sandbox.ok(&["install", "-e", "../brand", "-a", "claude-code", "-a", "junie"]);
    let rewrite = |from: &str, to: &str| {
        let text = sandbox.read("skillpm.toml");
        assert!(text.contains(from), "{text}");
        sandbox.write("skillpm.toml", text.replace(from, to));
    };
    rewrite("[\"claude-code\", \"junie\"]", "[\"claude-code\"]");
    sandbox.ok(&["install"]);
    insta::assert_snapshot!(links(&sandbox), @"
    .agents/skills/brand -> ../../../brand
    .claude/skills/brand -> ../../.agents/skills/brand
    ");
    sandbox.ok(&["doctor"]);
    rewrite("editable = true", "editable = true, agents = []");
    let output = sandbox.run(&["doctor"]);
    assert!(output.stdout.contains("[link-unwanted]"), "{output}");
    sandbox.ok(&["doctor", "--fix"]);
    insta::assert_snapshot!(links(&sandbox), @".agents/skills/brand -> ../../../brand");
    rewrite(", agents = []", "");
    sandbox.ok(&["install"]);
    rewrite("editable = true", "editable = true, agents = []");
    sandbox.ok(&["install"]);
    insta::assert_snapshot!(links(&sandbox), @".agents/skills/brand -> ../../../brand");
    // What skillpm did not make stays, whoever should see it.
    for agent in ["cursor", "junie"] {
        std::fs::create_dir_all(sandbox.project().join(format!(".{agent}/skills"))).expect("creates");
        let link = sandbox.project().join(format!(".{agent}/skills/brand"));
        symlink("../../.agents/skills/brand", link).expect("links");
    }
    sandbox.ok(&["install"]);
    insta::assert_snapshot!(links(&sandbox), @"
    .agents/skills/brand -> ../../../brand
    .cursor/skills/brand -> ../../.agents/skills/brand
    .junie/skills/brand -> ../../.agents/skills/brand
    ");
}

/// Its directory moved, and the manifest followed.
#[test]
fn a_directory_that_moved() {
    let sandbox = sandbox();
    sandbox.ok(&["install", "-e", "../brand", "-a", "claude-code"]);
    std::fs::rename(sandbox.project().join("../brand"), sandbox.project().join("moved")).expect("moved");
    sandbox.fails(&["install"], 3, "configuration", &["../brand", "skillpm remove brand"]);
    sandbox.tells(&["list"], 0, ": name scope state agents editable", &["brand project missing - true"]);
    sandbox.tells(
        &["verify"],
        5,
        "skills: name verdict; skills.places: agent verdict",
        &["brand missing", "- missing"],
    );
    let link = sandbox.project().join(".agents/skills/brand");
    let target = std::fs::read_link(&link).expect("a link");
    std::fs::remove_file(&link).expect("removed");
    sandbox.tells(
        &["verify"],
        5,
        "skills: name verdict; skills.places: agent verdict",
        &["brand missing", "- missing"],
    );
    symlink("../../moved", &link).expect("a link");
    sandbox.tells(
        &["verify"],
        5,
        "skills: name verdict; skills.places: agent verdict",
        &["brand elsewhere", "- elsewhere"],
    );
    std::fs::remove_file(&link).expect("removed");
    symlink(target, &link).expect("a link");
    // What only takes away needs no directory.
    sandbox.ok(&["unlink", "-a", "claude-code"]);
    sandbox.ok(&["disable", "brand"]);
    assert_eq!(sandbox.run(&["enable", "brand"]).code, Some(3));
    let text = sandbox.read("skillpm.toml").replace("../brand", "./moved").replace(", disabled = true", "");
    sandbox.write("skillpm.toml", text);
    sandbox.ok(&["install"]);
    assert_eq!(links(&sandbox), ".agents/skills/brand -> ../../moved");
    // Another directory under the same name is another skill.
    write_skill(&sandbox, "other", "brand", "other");
    let output = sandbox.run(&["install", "-e", "./other"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stderr.contains("`brand` is already installed from `./moved`"), "{output}");
    sandbox.ok(&["install", "-e", "./other", "--force"]);
    assert_eq!(links(&sandbox), ".agents/skills/brand -> ../../other");
}

#[test]
fn disabled_and_linked() {
    let sandbox = sandbox();
    sandbox.ok(&["install", "-e", "../brand", "-a", "claude-code"]);
    sandbox.ok(&["disable", "brand"]);
    assert_eq!(links(&sandbox), "");
    sandbox.tells(
        &["list"],
        0,
        ": name scope state disabled editable",
        &["brand project disabled true true"],
    );
    sandbox.ok(&["install"]);
    assert_eq!(links(&sandbox), "");
    sandbox.ok(&["link", "-a", "junie"]);
    sandbox.tells(&["enable", "brand"], 0, "skills: name changed agents", &["brand true claude-code,junie"]);
    insta::assert_snapshot!(links(&sandbox), @"
    .agents/skills/brand -> ../../../brand
    .claude/skills/brand -> ../../.agents/skills/brand
    .junie/skills/brand -> ../../.agents/skills/brand
    ");
}

/// An agent that reads the very directory sees it there, and the directory stays what it is.
#[test]
fn a_skill_that_lies_where_an_agent_looks() {
    let sandbox = Sandbox::new();
    write_skill(&sandbox, ".claude/skills/own", "own", "first");
    sandbox.ok(&["install", "-e", "./.claude/skills/own", "-a", "claude-code", "-a", "junie"]);
    insta::assert_snapshot!(links(&sandbox), @"
    .agents/skills/own -> ../../.claude/skills/own
    .junie/skills/own -> ../../.agents/skills/own
    ");
    sandbox.ok(&["unlink", "-a", "claude-code"]);
    sandbox.ok(&["remove", "own"]);
    assert!(sandbox.read(".claude/skills/own/SKILL.md").ends_with("first\n"));
}

#[test]
fn what_cannot_be_editable() {
    let sandbox = sandbox();
    write_skill(&sandbox, "src/pdf", "pdf", "first");
    write_skill(&sandbox, ".", "all", "first");
    sandbox.write(
        "a.zip",
        crate::support::zip::raw(&[("SKILL.md", &b"---\nname: a\ndescription: d\n---\n"[..])], ""),
    );
    sandbox.write("empty/README.md", "");
    sandbox.ok(&["install", "./src/pdf"]);
    symlink(".agents/skills/pdf", sandbox.project().join("round")).expect("a link");
    let before = (sandbox.tree(&sandbox.project()), sandbox.read("skillpm.toml"));
    for (source, message) in [
        ("./a.zip", "`./a.zip` cannot be editable: it is not a directory"),
        ("acme/skills", "`github:acme/skills` cannot be editable: it is not on this machine"),
        ("./.agents/skills/pdf", "which belongs to skillpm"),
        ("./round", "which belongs to skillpm"),
        (".", "`.agents` is inside it"),
        ("..", "`.agents` is inside it"),
        ("./empty", "there is no `SKILL.md`"),
        ("./nothing", "`./nothing` does not exist"),
    ] {
        let output = sandbox.run(&["install", "-e", source]);
        assert_eq!(output.code, Some(2), "{source}: {output}");
        assert!(output.stderr.contains(message), "{source}: {output}");
        assert!(output.stderr.contains("hint: "), "{source}: {output}");
        assert_eq!((sandbox.tree(&sandbox.project()), sandbox.read("skillpm.toml")), before);
    }
    for (entry, message) in [
        ("path = \"./a.zip\"", "it is not a directory"),
        ("path = \".\"", "`.agents` is inside it"),
        ("path = \"./src\"", "has no `SKILL.md`"),
        ("path = \"~/nothing\"", "does not exist"),
        ("github = \"a/b\"", "the key `editable` is not known here"),
    ] {
        sandbox.write("skillpm.toml", format!("[skills]\nx = {{ {entry}, editable = true }}\n"));
        let output = sandbox.run(&["install"]);
        assert!(matches!(output.code, Some(2 | 3)), "{entry}: {output}");
        assert!(output.stderr.contains(message), "{entry}: {output}");
    }
}

/// Something of the user's in the canonical place is not taken for a link of ours.
#[test]
fn what_lies_in_its_place() {
    let sandbox = sandbox();
    let place = sandbox.project().join(".agents/skills/brand");
    std::fs::create_dir_all(place.parent().expect("a parent")).expect("directories");
    symlink("/nowhere", &place).expect("a link");
    sandbox.fails(&["install", "-e", "../brand"], 1, "findings", &[".agents/skills/brand", "--force"]);
    assert_eq!(std::fs::read_link(&place).expect("a link"), Path::new("/nowhere"));
    sandbox.ok(&["install", "-e", "../brand", "--force"]);
    // Now the manifest says that it is ours.
    std::fs::remove_file(&place).expect("removed");
    symlink("/nowhere", &place).expect("a link");
    sandbox.ok(&["install"]);
    assert_eq!(std::fs::read_link(&place).expect("a link"), Path::new("../../../brand"));
}
