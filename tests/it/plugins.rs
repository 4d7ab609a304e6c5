//! Plugins and marketplaces, end to end.

use std::path::Path;
use std::process::Command;

use crate::support::{Forge, Sandbox, Tree, program};

const MARKETPLACE: &str = r#"{
  "name": "acme",
  "owner": {"name": "Acme"},
  "metadata": {"pluginRoot": "./plugins"},
  "plugins": [
    {"name": "office", "description": "Reads and writes documents", "version": "1.2", "source": "./office"},
    {"name": "two-of-three", "source": "../plugins/office"}
  ]
}"#;

/// A machine whose GitHub has a marketplace at `acme/tools`, with `file` as its list.
fn market(file: &str) -> (Forge, Sandbox, String) {
    let forge = Forge::start();
    let mut sandbox = Sandbox::new();
    sandbox.forge(&forge);
    let tree = Tree::new()
        .file(".claude-plugin/marketplace.json", file)
        .file("plugins/office/.claude-plugin/plugin.json", "{\"name\": \"office\"}")
        .skill("plugins/office/skills/pdf", "pdf")
        .skill("plugins/office/skills/docx", "docx")
        .skill("plugins/office/examples/demo", "demo")
        .skill("skills/own", "own");
    let commit = forge.repo("acme/tools").commit(&tree);
    (forge, sandbox, commit)
}

/// `file` with these plugins.
fn plugins(entries: &str) -> String {
    format!("{{\"name\": \"acme\", \"plugins\": [\n{entries}\n]}}")
}

/// What a run left behind where it should have changed nothing.
fn left(sandbox: &Sandbox) -> Vec<String> {
    sandbox.tree(&sandbox.project())
}

#[test]
fn the_page() {
    let file = plugins(
        r#"{"name": "office", "description": "Reads and writes\ndocuments", "version": "1.2", "source": "./plugins/office"},
{"name": "one", "source": "./plugins/office", "strict": false, "skills": ["./skills/pdf"]},
{"name": "far", "source": {"source": "github", "repo": "beta/far", "ref": "v1"}},
{"name": "packed", "source": {"source": "npm", "package": "@acme/packed"}}"#,
    );
    let (_forge, sandbox, commit) = market(&file);
    insta::assert_snapshot!(sandbox.run(&["install", "--marketplace", "acme/tools", "--list"]), @"
    exit: 0
    --- stdout
    office 1.2
      Reads and writes documents
      from github:acme/tools/plugins/office
      skill plugins/office/skills/docx
      skill plugins/office/skills/pdf
    one
      from github:acme/tools/plugins/office
      skill plugins/office/skills/pdf
    far
      from github:beta/far#v1
    packed
      cannot be installed: it is the npm package `@acme/packed`, and skillpm does not download packages
    --- stderr
    hint: name a plugin instead of `--list` to install its skills, or after `--list` to see them
    ");
    insta::assert_snapshot!(sandbox.run(&["install", "--marketplace", "acme/tools", "--list", "one"]), @"
    exit: 0
    --- stdout
    pdf
      Does what pdf does.
      plugins/office/skills/pdf in acme/tools
    --- stderr
    hint: `--skill pdf` instead of `--list` installs `pdf`, `--skill '*'` all
    ");
    let args = ["install", "--marketplace", "acme/tools", "--list", "office", "--skill", "docx"];
    let listed = sandbox.ok(&args).stdout;
    assert!(listed.contains("docx") && !listed.contains("pdf"), "{listed}");
    assert!(left(&sandbox).is_empty());
    let output = sandbox.run(&["install", "--marketplace", "acme/tools", "office", "-s", "*"]);
    insta::assert_snapshot!(output.to_string().replace(&commit[..7], "[COMMIT]"), @"
    exit: 0
    --- stderr
    + docx (github:acme/tools at [COMMIT])
    + pdf (github:acme/tools at [COMMIT])
    2 skills added in `.agents/skills`
    available to agents that read `.agents/skills`; `--agent` adds others
    `skillpm.toml` and `skillpm.lock` changed: commit both
    hint: `skillpm list` shows what is installed, `skillpm invoke docx` what an agent gets
    ");
    insta::assert_snapshot!(sandbox.read("skillpm.toml"), @r#"
    [skills]
    docx = { github = "acme/tools", path = "plugins/office/skills/docx" }
    pdf = { github = "acme/tools", path = "plugins/office/skills/pdf" }
    "#);
    insta::assert_snapshot!(sandbox.read("skillpm.lock").replace(&commit, "[COMMIT]"), @r#"
    # Written by skillpm; `skillpm install` restores exactly this.
    version = 1

    [[skill]]
    name = "docx"
    source = "github:acme/tools"
    path = "plugins/office/skills/docx"
    revision = "[COMMIT]"
    digest = "sha256:1b5540c6bce54da70dfedc8520efb0b6a8f4e9872c2a7b8de6994dabe6c7b985"

    [[skill]]
    name = "pdf"
    source = "github:acme/tools"
    path = "plugins/office/skills/pdf"
    revision = "[COMMIT]"
    digest = "sha256:04b9d227b4981f4e9aa2239428f07f098daacc541dc9718ef47ebb3b0ea2e91d"
    "#);
}

/// What is locked is the plain source: restoring asks for no marketplace.
#[test]
fn what_is_restored_needs_no_marketplace() {
    let far = Tree::new().skill("skills/x", "x").file("plugin.json", "{\"name\": \"far\"}");
    let old = Tree::new().skill("skills/x", "x").file("skills/x/old.md", "old");
    let forge = Forge::start();
    let mut sandbox = Sandbox::new();
    sandbox.forge(&forge);
    let first = forge.repo("beta/far").commit(&old);
    forge.repo("beta/far").tag("v1", &first).commit(&far);
    let file = plugins(&format!(
        r#"{{"name": "tagged", "source": {{"source": "github", "repo": "beta/far", "ref": "v1"}}}},
{{"name": "pinned", "source": {{"source": "url", "url": "https://github.com/beta/far.git", "ref": "main", "sha": "{first}"}}}},
{{"name": "newest", "source": {{"source": "git-subdir", "url": "beta/far", "path": "./skills/x"}}}}"#
    ));
    forge.repo("acme/tools").commit(&Tree::new().file(".claude-plugin/marketplace.json", &file));

    let run = |plugin: &str| {
        let output = sandbox.run(&["install", "--marketplace", "acme/tools", plugin]);
        assert_eq!(output.code, Some(0), "{output}");
        sandbox.read("skillpm.toml")
    };
    assert_eq!(run("tagged"), "[skills]\nx = { github = \"beta/far\", path = \"skills/x\", ref = \"v1\" }\n");
    assert!(sandbox.project().join(".agents/skills/x/old.md").exists());
    let pinned = run("pinned");
    assert_eq!(
        pinned,
        format!("[skills]\nx = {{ github = \"beta/far\", path = \"skills/x\", rev = \"{first}\" }}\n")
    );
    assert_eq!(run("newest"), "[skills]\nx = { github = \"beta/far\", path = \"skills/x\" }\n");
    assert!(!sandbox.project().join(".agents/skills/x/old.md").exists());

    std::fs::remove_dir_all(sandbox.project().join(".agents")).expect("removes");
    std::fs::remove_dir_all(sandbox.home().join(".local")).expect("the store is gone");
    forge.clear_requests();
    assert_eq!(sandbox.run(&["install"]).code, Some(0));
    assert!(sandbox.project().join(".agents/skills/x/SKILL.md").exists());
    assert!(forge.requests().iter().all(|request| !request.path.contains("acme/tools")));
}

#[test]
fn which_plugin_is_meant() {
    let entries = r#"{"name": "office", "source": "./plugins/office"},
{"name": "own", "source": "./", "skills": "./skills/own"},
{"name": "packed", "source": {"source": "npm", "package": "@acme/packed"}},
{"name": "bare", "source": "./plugins/bare"}"#;
    let (_forge, sandbox, _) = market(&plugins(entries));
    let market = |more: &[&str], exit: i32, code: &str, values: &[&str]| {
        sandbox.fails(&[&["install", "--marketplace", "acme/tools"], more].concat(), exit, code, values);
    };
    market(
        &[],
        2,
        "usage",
        &["own", "packed", "bare", "skillpm install --marketplace acme/tools office", "--list"],
    );
    market(&["ofice"], 2, "usage", &["ofice", "office", "skillpm install --marketplace acme/tools --list"]);
    market(
        &["packed"],
        2,
        "usage",
        &[".claude-plugin/marketplace.json:4:30", "skillpm install npm:@acme/packed"],
    );
    market(
        &["bare"],
        5,
        "integrity",
        &["plugins/bare", "github:acme/tools", ".claude-plugin/marketplace.json:5:28"],
    );
    market(
        &["office", "own", "--skill", "docs"],
        2,
        "usage",
        &["docs", "docx", "skillpm install --marketplace acme/tools --list PLUGIN"],
    );
    sandbox.fails(
        &["install", "--marketplace", "acme/tools@office"],
        2,
        "usage",
        &["@office", "skillpm install --marketplace owner/repo PLUGIN"],
    );
    sandbox.fails(
        &["install", "--marketplace", "acme/tools/plugins"],
        2,
        "usage",
        &["skillpm install acme/tools/plugins"],
    );
    assert!(left(&sandbox).is_empty());

    sandbox.ok(&["install", "--marketplace", "acme/tools", "office", "own", "--skill", "own", "-s", "pdf"]);
    assert_eq!(skills(&sandbox), ["own", "pdf"]);
    sandbox.tells(
        &["install", "--marketplace", "acme/tools", "--yes", "--dry-run"],
        1,
        "skills: name change; left_out: code name",
        &["docx added", "own unchanged", "pdf unchanged", "usage packed", "integrity bare"],
    );
}

fn skills(sandbox: &Sandbox) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(sandbox.project().join(".agents/skills"))
        .expect("installed")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .collect();
    names.sort();
    names
}

/// A marketplace that points outside its repository, and other bad files: a clear error with the place,
/// and nothing changed.
#[test]
fn a_marketplace_that_is_refused() {
    let refused = |file: &str, exit: i32, code: &str, values: &[&str]| {
        let (_forge, sandbox, _) = market(file);
        sandbox.fails(&["install", "--marketplace", "acme/tools", "office"], exit, code, values);
        assert!(left(&sandbox).is_empty(), "{:?}", left(&sandbox));
    };
    let office = r#"{"name": "office", "source": "./plugins/office"}"#;
    refused(
        MARKETPLACE,
        5,
        "integrity",
        &["github:acme/tools", "../plugins/office", ".claude-plugin/marketplace.json:7:40"],
    );
    refused(
        &plugins(&format!("{office},\n{office}")),
        5,
        "integrity",
        &[
            "github:acme/tools",
            "office",
            ".claude-plugin/marketplace.json:3:10",
            ".claude-plugin/marketplace.json:2:10",
        ],
    );
    refused(
        &plugins(&format!("{office},\n  {{\"name\": 7, \"source\": \"./x\"}}")),
        5,
        "integrity",
        &["github:acme/tools", "name", ".claude-plugin/marketplace.json:3:12"],
    );
    refused(
        &plugins(office).replace("\"acme\"", "\"agent-skills\""),
        5,
        "integrity",
        &["github:acme/tools", "agent-skills", "anthropics", ".claude-plugin/marketplace.json:1:10"],
    );
    refused(
        "{\"name\": \"acme\",\n \"plugins\": [,]}",
        5,
        "integrity",
        &["github:acme/tools", ".claude-plugin/marketplace.json:2:14"],
    );
    refused(
        &format!("{{\"name\": {:?}}}", (0..300_000).collect::<Vec<_>>()),
        5,
        "integrity",
        &["github:acme/tools", ".claude-plugin/marketplace.json"],
    );
    let strict = r#"{"name": "office", "source": "./skills", "strict": true}"#;
    refused(
        &plugins(strict),
        5,
        "integrity",
        &["office", "plugin.json", "strict", "skills", ".claude-plugin/marketplace.json:2:30"],
    );
    let missing = r#"{"name": "office", "source": "./plugins/office", "skills": ["./skills/none"]}"#;
    refused(
        &plugins(missing),
        5,
        "integrity",
        &["SKILL.md", "plugins/office/skills/none", ".claude-plugin/marketplace.json:2:61"],
    );
}

/// `.agents/plugins/marketplace.json`, as Codex has it, in a directory of this machine.
#[test]
fn a_marketplace_in_a_directory() {
    let sandbox = Sandbox::new();
    let file = plugins(
        r#"{"name": "office", "source": {"source": "local", "path": "./plugins/office"}, "policy": {"installation": "AVAILABLE"}}"#,
    );
    sandbox.write("market/.agents/plugins/marketplace.json", file);
    sandbox.write(
        "market/plugins/office/.codex-plugin/plugin.json",
        "{\"name\": \"office\", \"skills\": \"./skills/\"}",
    );
    sandbox.write(
        "market/plugins/office/skills/pdf/SKILL.md",
        "---\nname: pdf\ndescription: Reads PDF files.\n---\n",
    );
    let output = sandbox.run(&["install", "--marketplace", "./market"]);
    assert_eq!(output.code, Some(0), "{output}");
    insta::assert_snapshot!(sandbox.read("skillpm.toml"), @r#"
    [skills]
    pdf = { path = "./market", subdir = "plugins/office/skills/pdf" }
    "#);
    std::fs::remove_dir_all(sandbox.project().join(".agents")).expect("removes");
    assert_eq!(sandbox.run(&["install", "--frozen"]).code, Some(0));
    assert_eq!(skills(&sandbox), ["pdf"]);
}

/// A link in a marketplace's directory leads nowhere.
#[cfg(unix)]
#[test]
fn a_plugin_behind_a_link_is_not_there() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "market/.claude-plugin/marketplace.json",
        plugins(r#"{"name": "p", "source": "./plugins/p"}"#),
    );
    let outside = sandbox.home().join("secret");
    std::fs::create_dir_all(outside.join("skills/x")).expect("creates");
    std::fs::write(outside.join("skills/x/SKILL.md"), "---\nname: x\ndescription: y\n---\n").expect("writes");
    std::fs::create_dir(sandbox.project().join("market/plugins")).expect("creates");
    std::os::unix::fs::symlink(&outside, sandbox.project().join("market/plugins/p")).expect("links");
    let output = sandbox.run(&["install", "--marketplace", "./market", "p"]);
    assert_eq!(output.code, Some(5), "{output}");
    assert!(output.stderr.contains("there is no directory `plugins/p` in `./market`"), "{output}");
    assert!(!sandbox.project().join(".agents").exists());
    assert!(!sandbox.project().join("skillpm.toml").exists());
}

/// Agent Plugins 1.0: a repository that is a plugin, as a plain source.
#[test]
fn a_plugin_is_a_source() {
    let forge = Forge::start();
    let mut sandbox = Sandbox::new();
    sandbox.forge(&forge);
    let manifest =
        "{\"$schema\": \"https://agent-plugins.org/schemas/1.0.0/plugin.schema.json\", \"name\": \"hello\"}";
    let tree = Tree::new()
        .file("plugin.json", manifest)
        .file("mcp.json", "{}")
        .skill("skills/greet", "greet")
        .skill("docs/examples/other", "other");
    forge.repo("acme/hello").commit(&tree);
    let output = sandbox.run(&["install", "acme/hello"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert_eq!(skills(&sandbox), ["greet"]);
}

/// A marketplace and a plugin in git repositories.
#[test]
fn a_marketplace_in_a_git_repository() {
    let sandbox = Sandbox::new();
    let git = |dir: &Path, args: &[&str]| {
        let output = Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main"])
            .args(args)
            .current_dir(dir)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("HOME", sandbox.home())
            .output();
        output.is_ok_and(|output| output.status.success())
    };
    let commit = |dir: &Path| {
        git(dir, &["init", "-q"]) && git(dir, &["add", "."]) && git(dir, &["commit", "-qm", "x"])
    };
    let plugin = sandbox.home().join("plugin");
    std::fs::create_dir_all(plugin.join("skills/pdf")).expect("creates");
    let text = "---\nname: pdf\ndescription: Reads PDF files.\n---\n";
    std::fs::write(plugin.join("skills/pdf/SKILL.md"), text).expect("writes");
    if program("git").is_none() {
        return;
    }
    assert!(commit(&plugin));
    let url = format!("file://{}", plugin.display());
    let file =
        plugins(&format!("{{\"name\": \"p\", \"source\": {{\"source\": \"url\", \"url\": \"{url}\"}}}}"));
    let market = sandbox.home().join("market");
    std::fs::create_dir_all(market.join(".claude-plugin")).expect("creates");
    std::fs::write(market.join(".claude-plugin/marketplace.json"), file).expect("writes");
    assert!(commit(&market));
    let output = sandbox.run(&["install", "--marketplace", &format!("file://{}", market.display()), "p"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(sandbox.read("skillpm.toml").contains("git = \"file://"), "{}", sandbox.read("skillpm.toml"));
    assert_eq!(skills(&sandbox), ["pdf"]);
}
