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
fn a_plugin_of_the_marketplaces_own_repository() {
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
    let market = |more: &[&str]| sandbox.run(&[&["install", "--marketplace", "acme/tools"], more].concat());
    insta::assert_snapshot!(market(&[]), @"
    exit: 2
    --- stderr
    error: the marketplace `acme/tools` has 4 plugins; choose some:
      office
      own
      packed
      bare
    hint: `skillpm install --marketplace acme/tools office` installs one; `--list` describes them
    ");
    insta::assert_snapshot!(market(&["ofice"]), @"
    exit: 2
    --- stderr
    error: there is no plugin `ofice` in `acme/tools`
    hint: did you mean `office`?
    hint: `skillpm install --marketplace acme/tools --list` shows what is available
    ");
    insta::assert_snapshot!(market(&["packed"]), @"
    exit: 2
    --- stderr
    error: the plugin `packed` cannot be installed
      caused by: .claude-plugin/marketplace.json:4:30: it is the npm package `@acme/packed`, and skillpm does not download packages
    hint: install it with `npm install @acme/packed`, then `skillpm install npm:@acme/packed`
    ");
    insta::assert_snapshot!(market(&["bare"]), @"
    exit: 5
    --- stderr
    error: the plugin `bare` cannot be installed
      caused by: .claude-plugin/marketplace.json:5:28: there is no directory `plugins/bare` in `github:acme/tools`
    ");
    insta::assert_snapshot!(market(&["office", "own", "--skill", "docs"]), @"
    exit: 2
    --- stderr
    error: there is no skill `docs` in the named plugins
    hint: did you mean `docx`?
    hint: `skillpm install --marketplace acme/tools --list PLUGIN` shows them
    ");
    insta::assert_snapshot!(sandbox.run(&["install", "--marketplace", "acme/tools@office"]), @"
    exit: 2
    --- stderr
    error: `@office` names a skill, but a marketplace has plugins
    hint: name the plugin after the source: `skillpm install --marketplace owner/repo PLUGIN`
    ");
    insta::assert_snapshot!(sandbox.run(&["install", "--marketplace", "acme/tools/plugins"]), @"
    exit: 2
    --- stderr
    error: there is no marketplace in `acme/tools/plugins`
    hint: a marketplace has a `.claude-plugin/marketplace.json`; `skillpm install acme/tools/plugins` installs the skills of a source without one
    ");
    assert!(left(&sandbox).is_empty());

    let output = market(&["office", "own", "--skill", "own", "-s", "pdf"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert_eq!(skills(&sandbox), ["own", "pdf"]);
    insta::assert_snapshot!(market(&["--yes", "--dry-run"]), @"
    exit: 1
    --- stdout
    would create .agents/skills/docx
    would replace skillpm.lock
    would replace skillpm.toml
    --- stderr
    nothing was changed: this was a dry run
    warning: left out: the plugin `packed` cannot be installed: .claude-plugin/marketplace.json:4:30: it is the npm package `@acme/packed`, and skillpm does not download packages
    warning: left out: the plugin `bare` cannot be installed: .claude-plugin/marketplace.json:5:28: there is no directory `plugins/bare` in `github:acme/tools`
    ");
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
    let refused = |file: &str| {
        let (_forge, sandbox, _) = market(file);
        let output = sandbox.run(&["install", "--marketplace", "acme/tools", "office"]);
        assert!(left(&sandbox).is_empty(), "{:?}", left(&sandbox));
        output
    };
    let office = r#"{"name": "office", "source": "./plugins/office"}"#;
    insta::assert_snapshot!(refused(MARKETPLACE), @"
    exit: 5
    --- stderr
    error: the marketplace `github:acme/tools` is refused
      caused by: .claude-plugin/marketplace.json:7:40: `../plugins/office` leads out of the repository
    hint: `source` is a directory of the repository, such as `./plugins/name`
    ");
    insta::assert_snapshot!(refused(&plugins(&format!("{office},\n{office}"))), @"
    exit: 5
    --- stderr
    error: the marketplace `github:acme/tools` is refused
      caused by: .claude-plugin/marketplace.json:3:10: the plugin `office` appears twice, the first time at .claude-plugin/marketplace.json:2:10
    hint: the marketplace lists two plugins of this name; report it to its authors
    ");
    insta::assert_snapshot!(refused(&plugins(&format!("{office},\n  {{\"name\": 7, \"source\": \"./x\"}}"))), @"
    exit: 5
    --- stderr
    error: the marketplace `github:acme/tools` is refused
      caused by: .claude-plugin/marketplace.json:3:12: `name` must be a string
    ");
    insta::assert_snapshot!(refused(&plugins(office).replace("\"acme\"", "\"agent-skills\"")), @"
    exit: 5
    --- stderr
    error: the marketplace `github:acme/tools` is refused
      caused by: .claude-plugin/marketplace.json:1:10: the name `agent-skills` is reserved for marketplaces of `anthropics` on GitHub
    hint: this copy must get another name
    ");
    insta::assert_snapshot!(refused("{\"name\": \"acme\",\n \"plugins\": [,]}"), @"
    exit: 5
    --- stderr
    error: the marketplace `github:acme/tools` is refused
      caused by: .claude-plugin/marketplace.json:2:14: expected value
    ");
    insta::assert_snapshot!(refused(&format!("{{\"name\": {:?}}}", (0..300_000).collect::<Vec<_>>())), @"
    exit: 5
    --- stderr
    error: the marketplace `github:acme/tools` is refused
      caused by: `.claude-plugin/marketplace.json` cannot be read
      caused by: the content has 2288900 bytes, 1048576 are allowed
    ");
    let strict = r#"{"name": "office", "source": "./skills", "strict": true}"#;
    insta::assert_snapshot!(refused(&plugins(strict)), @"
    exit: 5
    --- stderr
    error: the plugin `office` cannot be installed
      caused by: .claude-plugin/marketplace.json:2:30: the plugin must have a `plugin.json` (`strict`), but there is none in `skills`
    ");
    let missing = r#"{"name": "office", "source": "./plugins/office", "skills": ["./skills/none"]}"#;
    insta::assert_snapshot!(refused(&plugins(missing)), @"
    exit: 5
    --- stderr
    error: the plugin `office` cannot be installed
      caused by: .claude-plugin/marketplace.json:2:61: there is no `SKILL.md` in `plugins/office/skills/none`
    hint: the plugin names a skill that it does not have
    ");
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
