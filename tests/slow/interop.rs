//! Other tools' files, held against the tools themselves.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use skillpm_format::interop::hash::{computed_hash, git_tree_id};
use skillpm_format::interop::order;
use skillpm_format::interop::skills_lock::{LockedEntry, SkillsLock};
use skillpm_sources::fs;

use crate::support::git::{GitRepo, GitServer, SshServer};
use crate::support::npm::{Npm, node};
use crate::support::proxy::Proxy;
use crate::support::testdata;
use crate::support::{Forge, Sandbox, Tree, program};

fn hash_of(dir: &Path) -> String {
    computed_hash(&fs::tree_of(dir).expect("a directory"), "").expect("a hash")
}

/// INTEROP, section 1: the lockfile of a real repository and the skills that it names.
#[test]
fn real_skills_have_the_hashes_of_their_lockfile() {
    let Some(dir) = testdata::dir() else { return };
    let dir = dir.join("skills-lock");
    let text = std::fs::read_to_string(dir.join("skills-lock.json")).expect("a lockfile");
    let lock = SkillsLock::parse(&text).expect("valid");
    assert_eq!(lock.to_string(), text);
    assert_eq!(lock.skills.len(), 7);
    for (name, entry) in &lock.skills {
        assert_eq!(
            Some(hash_of(&dir.join(".agents/skills").join(name)).as_str()),
            entry.get("computedHash"),
            "{name}"
        );
    }
}

/// A generator of numbers, the same ones each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % sides
    }

    fn of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.roll(words.len())]
    }

    /// The name of a file as hostile as a file system allows.
    fn name(&mut self) -> String {
        const PARTS: &[&str] = &[
            "a", "b", "z", "A", "B", "Z", "0", "9", "10", "_", "-", ".", ",", ";", ":", "!", "?", "'", "\"",
            "(", ")", "[", "]", "{", "}", "@", "*", "&", "#", "%", "`", "^", "+", "<", "=", ">", "|", "~",
            "$", " ", "\\", "readme", "é", "É", "ß", "ss", "æ", "中", "文", "あ", "ア", "한", "я", "Ω", "ا",
            "א", "😀", "—", "…", "①", "½", "々", "e\u{301}", "ı", "ﬁ", "Ａ", "\u{a0}", "€",
        ];
        (0..=self.roll(5)).map(|_| self.of(PARTS)).collect()
    }

    /// Different paths, of which none is a directory of another.
    fn paths(&mut self, count: usize) -> Vec<String> {
        let mut paths: Vec<String> = Vec::new();
        while paths.len() < count {
            let depth = self.roll(3);
            let parts: Vec<_> = (0..=depth).map(|_| self.name()).collect();
            let path = parts.join("/");
            let plain = parts.iter().all(|part| part.trim() == part && part != "." && part != "..");
            let apart = |other: &String| {
                let below = |a: &str, b: &str| a.starts_with(&format!("{b}/"));
                *other != path && !below(other, &path) && !below(&path, other)
            };
            if plain && paths.iter().all(apart) {
                paths.push(path);
            }
        }
        paths
    }
}

/// The order of hostile names is that of Node's `localeCompare`, 3,000 trees of up to nine files.
#[test]
fn the_order_is_that_of_node() {
    let Some(node) = node() else { return };
    let mut dice = Dice(1);
    let trees: Vec<Vec<String>> = (0..3000)
        .map(|_| {
            let count = 2 + dice.roll(8);
            dice.paths(count)
        })
        .collect();
    let script = "let text = ''; process.stdin.setEncoding('utf8').on('data', d => text += d).on('end', () => process.stdout.write(JSON.stringify(
        JSON.parse(text).map(names => ({
            names: names.sort((a, b) => a.localeCompare(b)),
            tie: names.some((name, at) => at > 0 && names[at - 1].localeCompare(name) === 0),
        })))))";
    let mut child = Command::new(node)
        .args(["-e", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("Node starts");
    let text = serde_json::to_string(&trees).expect("JSON");
    child.stdin.take().expect("piped").write_all(text.as_bytes()).expect("written");
    let output = child.wait_with_output().expect("ends");
    let sorted: Vec<serde_json::Value> = serde_json::from_slice(&output.stdout).expect("JSON");
    let mut ties = 0;
    for (names, sorted) in trees.iter().zip(&sorted) {
        let mut ours: Vec<&str> = names.iter().map(String::as_str).collect();
        match order::sort(&mut ours) {
            Ok(()) => assert_eq!(serde_json::json!(ours), sorted["names"]),
            Err(error) => {
                assert!(sorted["tie"] == true, "{error}");
                ties += 1;
            }
        }
    }
    assert!(ties < 100, "{ties} trees have names without an order");
}

/// The hash of trees with hostile names is the one that the npm tool writes.
#[test]
fn the_hash_is_that_of_the_npm_tool() {
    let sandbox = Sandbox::new();
    let Some(npm) = Npm::new(&sandbox) else { return };
    let mut dice = Dice(2);
    let mut trees = Tree::new();
    for at in 0..20 {
        let dir = format!("skills/s{at}");
        trees = trees
            .skill(&dir, &format!("s{at}"))
            .file(&format!("{dir}/node_modules/x.js"), "x")
            .file(&format!("{dir}/metadata.json"), "{}")
            .symlink(&format!("{dir}/link.md"), "SKILL.md");
        for path in dice.paths(12) {
            trees = trees.file(&format!("{dir}/files/{path}"), format!("{path}\r\n"));
        }
    }
    trees.write(&sandbox.project().join("source"));
    npm.run(&sandbox, &["add", "./source", "--skill", "*", "--agent", "codex", "--yes"]);
    let lock = SkillsLock::parse(&sandbox.read("skills-lock.json")).expect("valid");
    assert_eq!(lock.to_string(), sandbox.read("skills-lock.json"));
    assert_eq!(lock.skills.len(), 20);
    for (name, entry) in &lock.skills {
        let ours = hash_of(&sandbox.project().join("source/skills").join(name));
        assert_eq!(Some(ours.as_str()), entry.get("computedHash"), "{name}");
    }
}

fn skills() -> Tree {
    Tree::new()
        .skill("skills/pdf", "pdf")
        .executable("skills/pdf/scripts/run.sh", "#!/bin/sh\necho pdf\n")
        .file("skills/pdf/B é.md", "b\n")
        .file("skills/pdf/a_b.md", "a\n")
        .skill("skills/docx", "docx")
        .file("skills/docx/metadata.json", "{}\n")
}

/// All that is said, with the commit as `[COMMIT]`.
fn told(output: &crate::support::sandbox::Output, commit: &str) -> String {
    output.to_string().replace(&commit[..7], "[COMMIT]")
}

/// Done when: a project of the real npm tool is imported, verified and restored, and what `export` writes is
/// the tool's own file.
#[test]
fn a_project_of_the_npm_tool() {
    let forge = Forge::start();
    let mut sandbox = Sandbox::new();
    sandbox.forge(&forge);
    let Some(npm) = Npm::new(&sandbox) else { return };
    let commit = npm.commit(&forge, "acme/skills", &skills());
    npm.run(&sandbox, &["add", "acme/skills", "--skill", "*", "--agent", "claude-code", "codex", "--yes"]);
    let theirs = sandbox.read("skills-lock.json");
    insta::assert_snapshot!(theirs, @r#"
    {
      "version": 1,
      "skills": {
        "docx": {
          "source": "acme/skills",
          "sourceType": "github",
          "skillPath": "skills/docx/SKILL.md",
          "computedHash": "4dea4eefc42e04a1d6b9c4d1d20746a76e7b34b7efefd5d55d373b8cef8b9657"
        },
        "pdf": {
          "source": "acme/skills",
          "sourceType": "github",
          "skillPath": "skills/pdf/SKILL.md",
          "computedHash": "07df27b1463d00f4a05dfdb59de1e578206b8634d2d905464fdf8b273aa6cc7a"
        }
      }
    }
    "#);

    let before = sandbox.tree(&sandbox.project());
    assert_eq!(sandbox.run(&["import", "--dry-run"]).code, Some(0));
    assert_eq!(sandbox.tree(&sandbox.project()), before, "a plan touches nothing");
    let output = sandbox.run(&["import"]);
    insta::assert_snapshot!(told(&output, &commit), @"
    exit: 0
    --- stdout
    name  outcome  source                         why
    docx  adopted  github:acme/skills at [COMMIT]  the version that `skills-lock.json` names; restored what the npm tool leaves out: `metadata.json`
    pdf   adopted  github:acme/skills at [COMMIT]  the version that `skills-lock.json` names
    --- stderr
    warning: your edited `docx` was saved; `skillpm undo` restores it
    2 skills adopted
    agents that see them, now in `skillpm.toml`: claude-code
    `skillpm.toml` and `skillpm.lock` changed: commit both
    ");
    insta::assert_snapshot!(sandbox.read("skillpm.toml"), @r#"
    [skills]
    docx = { github = "acme/skills", path = "skills/docx" }
    pdf = { github = "acme/skills", path = "skills/pdf" }

    [agents]
    targets = ["claude-code"]
    "#);
    assert_eq!(sandbox.read("skills-lock.json"), theirs, "their file stays");
    insta::assert_snapshot!(sandbox.run(&["list"]), @"
    exit: 0
    --- stdout
    name  version  scope    source              seen by      state
    docx  -        project  github:acme/skills  claude-code  ok
    pdf   -        project  github:acme/skills  claude-code  ok
    ");

    std::fs::remove_dir_all(sandbox.project().join(".agents")).expect("removed");
    assert_eq!(sandbox.run(&["install", "--frozen"]).code, Some(0));
    assert_eq!(sandbox.run(&["install", "--locked"]).code, Some(0));
    assert!(sandbox.tree(&sandbox.project()).contains(&"755 .agents/skills/pdf/scripts/run.sh".to_owned()));
    insta::assert_snapshot!(told(&sandbox.run(&["import"]), &commit), @"
    exit: 0
    --- stdout
    name  outcome  source                         why
    docx  tracked  github:acme/skills at [COMMIT]  skillpm already manages it
    pdf   tracked  github:acme/skills at [COMMIT]  skillpm already manages it
    --- stderr
    2 skills tracked before
    ");

    assert_eq!(sandbox.run(&["export", "skills-lock"]).code, Some(0));
    assert_eq!(sandbox.read("skills-lock.json"), theirs, "unchanged where nothing changed");
    std::fs::remove_file(sandbox.project().join("skills-lock.json")).expect("removed");
    let output = sandbox.run(&["export", "skills-lock"]);
    insta::assert_snapshot!(output, @"
    exit: 0
    --- stderr
    `skills-lock.json` written: 2 skills of skillpm
    ");
    assert_eq!(sandbox.read("skills-lock.json"), theirs, "the same bytes from skillpm.lock alone");
    assert!(npm.run(&sandbox, &["check"]).contains("All project skills are up to date"));
    npm.run(&sandbox, &["experimental_install"]);
    assert_eq!(sandbox.read("skills-lock.json"), theirs, "the tool restores from it and keeps it");
}

/// A tag that was asked for, and a source on this machine.
#[test]
fn revisions_and_local_sources_of_the_npm_tool() {
    let forge = Forge::start();
    let mut sandbox = Sandbox::new();
    sandbox.forge(&forge);
    let Some(npm) = Npm::new(&sandbox) else { return };
    let commit = npm.commit(&forge, "acme/skills", &skills());
    forge.repo("acme/skills").tag("v1", &commit);
    skills().write(&sandbox.project().join("local"));
    npm.run(&sandbox, &["add", "acme/skills#main", "--skill", "pdf", "--agent", "claude-code", "--yes"]);
    npm.run(&sandbox, &["add", "./local", "--skill", "docx", "--agent", "codex", "--yes"]);
    let theirs = sandbox.read("skills-lock.json");
    let output = sandbox.run(&["import"]);
    // With Claude Code alone the tool writes a copy, and no canonical one.
    insta::assert_snapshot!(told(&output, &commit), @"
    exit: 0
    --- stdout
    name  outcome  source                         why
    docx  adopted  path:./local                   the version that `skills-lock.json` names; restored what the npm tool leaves out: `metadata.json`
    pdf   adopted  github:acme/skills at [COMMIT]  the version that `skills-lock.json` names
    --- stderr
    warning: your edited `docx` was saved; `skillpm undo` restores it
    2 skills adopted
    agents that see them, now in `skillpm.toml`: claude-code
    `skillpm.toml` and `skillpm.lock` changed: commit both
    ");
    insta::assert_snapshot!(sandbox.read("skillpm.toml"), @r#"
    [skills]
    docx = { path = "./local", subdir = "skills/docx" }
    pdf = { github = "acme/skills", path = "skills/pdf", ref = "main" }

    [agents]
    targets = ["claude-code"]
    copy = true
    "#);
    assert_eq!(sandbox.run(&["install", "--locked"]).code, Some(0));
    std::fs::remove_file(sandbox.project().join("skills-lock.json")).expect("removed");
    assert_eq!(sandbox.run(&["export", "skills-lock"]).code, Some(0));
    assert_eq!(sandbox.read("skills-lock.json"), theirs);
}

/// C32: what adopted skills need is locked as if they had been installed, and comes along where it is not there.
#[test]
fn what_adopted_skills_need() {
    let needing = |needs: &str| {
        format!("---\nname: doc\ndescription: Does.\nmetadata:\n  skill-dependencies: \"{needs}\"\n---\n")
    };
    let dir = tempfile::tempdir().expect("a directory");
    let repo = GitRepo::new(&dir.path().join("skills"));
    let tree = |needs| Tree::new().skill("skills/pdf", "pdf").file("skills/doc/SKILL.md", needing(needs));
    repo.commit(&tree("pdf"));
    let source = format!("file://{}", dir.path().join("skills").display());
    let adopting = |names: &[&str]| {
        let sandbox = Sandbox::new();
        let skills = names.iter().flat_map(|name| ["--skill", name]);
        let args: Vec<_> = ["install", &source].into_iter().chain(skills).collect();
        assert_eq!(sandbox.run(&args).code, Some(0));
        assert_eq!(sandbox.run(&["export", "skills-lock"]).code, Some(0));
        let lock = sandbox.read("skillpm.lock");
        for file in ["skillpm.toml", "skillpm.lock"] {
            std::fs::remove_file(sandbox.project().join(file)).expect("removes");
        }
        (sandbox, lock)
    };
    // Both are named by the other tool.
    let (sandbox, lock) = adopting(&["pdf", "doc"]);
    assert_eq!(sandbox.run(&["import"]).code, Some(0));
    assert_eq!(sandbox.read("skillpm.lock"), lock);
    assert_eq!(sandbox.run(&["remove", "pdf"]).code, Some(1), "`doc` needs it");
    // One is, and the other has to come.
    let file = |sandbox: &Sandbox| {
        let mut lock: serde_json::Value =
            serde_json::from_str(&sandbox.read("skills-lock.json")).expect("JSON");
        lock["skills"].as_object_mut().expect("an object").remove("pdf");
        sandbox.write("skills-lock.json", lock.to_string());
    };
    let (sandbox, lock) = adopting(&["doc"]);
    file(&sandbox);
    std::fs::remove_dir_all(sandbox.project().join(".agents")).expect("removes");
    let output = sandbox.run(&["import"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(output.stderr.contains("also installed, because they need it: pdf\n"), "{output}");
    assert_eq!(sandbox.read("skillpm.lock"), lock);
    assert!(!sandbox.read("skillpm.toml").contains("pdf"));
    assert_eq!(sandbox.run(&["install", "--locked"]).code, Some(0));
    // Something else has its place, and stays.
    let (sandbox, _) = adopting(&["doc"]);
    file(&sandbox);
    sandbox.write(".agents/skills/pdf/SKILL.md", "mine");
    let output = sandbox.run(&["import"]);
    assert!(
        output.stderr.contains("warning: `doc` needs `pdf`, but something else is in its place\n"),
        "{output}"
    );
    assert_eq!(sandbox.read(".agents/skills/pdf/SKILL.md"), "mine");
    assert!(!sandbox.read("skillpm.lock").contains("dependencies"));
    assert_eq!(sandbox.run(&["install", "--locked"]).code, Some(0));
}

/// C32: what is not available keeps nothing else away.
#[test]
fn what_adopted_skills_need_and_nobody_has() {
    let dir = tempfile::tempdir().expect("a directory");
    let needing =
        "---\nname: doc\ndescription: Does.\nmetadata:\n  skill-dependencies: \"pdf ../gone docx\"\n---\n";
    let tree = Tree::new().skill("skills/pdf", "pdf").skill("skills/docx", "docx");
    GitRepo::new(&dir.path().join("skills")).commit(&tree.file("skills/doc/SKILL.md", needing));
    let source = format!("file://{}", dir.path().join("skills").display());
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.run(&["install", "--no-deps", &source, "--skill", "doc"]).code, Some(0));
    assert_eq!(sandbox.run(&["export", "skills-lock"]).code, Some(0));
    for file in ["skillpm.toml", "skillpm.lock"] {
        std::fs::remove_file(sandbox.project().join(file)).expect("removes");
    }
    let output = sandbox.run(&["import"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(output.stderr.contains("`doc` needs `../gone`"), "{output}");
    let lock = sandbox.read("skillpm.lock");
    assert!(lock.contains("dependencies = [\"docx\", \"pdf\"]"), "{lock}");
    assert_eq!(sandbox.run(&["install", "--locked"]).code, Some(0));
}

/// Imports what the npm tool installed, restores it from nothing, and exports: the file is the tool's own.
fn there_and_back(sandbox: &Sandbox, npm: &Npm, names: &[&str]) {
    let theirs = sandbox.read("skills-lock.json");
    let output = sandbox.run(&["import", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&output.stdout).expect("JSON");
    for (at, name) in names.iter().enumerate() {
        let skill = &report["skills"][at];
        assert_eq!(
            (skill["name"].as_str(), skill["verdict"].as_str()),
            (Some(*name), Some("adopted")),
            "{report}"
        );
        let reason = skill["reason"].as_str().expect("a reason");
        assert!(reason.starts_with("the version that `skills-lock.json` names"), "{report}");
    }
    assert_eq!(
        (output.code, report["skills"].as_array().map(Vec::len)),
        (Some(0), Some(names.len())),
        "{output}"
    );
    let installed = sandbox.tree(&sandbox.project().join(".agents"));
    for gone in
        [sandbox.project().join(".agents"), sandbox.home().join(".local"), sandbox.home().join(".cache")]
    {
        let _ = std::fs::remove_dir_all(gone);
    }
    let output = sandbox.run(&["install", "--frozen"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert_eq!(sandbox.tree(&sandbox.project().join(".agents")), installed);
    let list = sandbox.run(&["list", "--json"]).stdout;
    assert_eq!(list.matches("\"ok\"").count(), names.len(), "{list}");
    let output = sandbox.run(&["export", "skills-lock"]);
    assert_eq!((output.code, sandbox.read("skills-lock.json")), (Some(0), theirs.clone()), "{output}");
    npm.run(sandbox, &["experimental_install"]);
    // The tool itself forgets that a page of a GitLab was typed.
    assert_eq!(
        sandbox.read("skills-lock.json"),
        theirs.replace("\"gitlab\"", "\"git\""),
        "the tool restores from it and keeps it"
    );
}

/// What `export` writes where there is no file yet.
fn anew(sandbox: &Sandbox) -> String {
    std::fs::remove_file(sandbox.project().join("skills-lock.json")).expect("removed");
    let output = sandbox.run(&["export", "skills-lock"]);
    assert_eq!(output.code, Some(0), "{output}");
    sandbox.read("skills-lock.json")
}

/// Repositories on servers that are not GitHub: over http with a tag, and by a `file://` address.
#[test]
fn git_servers_of_the_npm_tool() {
    let sandbox = Sandbox::new();
    let Some(npm) = Npm::new(&sandbox) else { return };
    let served = sandbox.home().join("served");
    let repo = GitRepo::new(&sandbox.home().join("work"));
    repo.commit(&skills());
    repo.git(&["tag", "v1"]);
    repo.commit(&skills().file("skills/pdf/new.md", "new").file("skills/docx/new.md", "new"));
    for name in ["team/skills.git", "own.git"] {
        std::fs::create_dir_all(served.join(name).parent().expect("a parent")).expect("directories");
        let _ = repo.bare(&served.join(name));
    }
    let server = GitServer::start(&served);
    let web = format!("{}#v1", server.url("team/skills.git"));
    let file = format!("file://{}/own.git", served.display());
    npm.run(&sandbox, &["add", &web, "--skill", "pdf", "--agent", "codex", "--yes"]);
    npm.run(&sandbox, &["add", &file, "--skill", "docx", "--agent", "codex", "--yes"]);
    let theirs = sandbox.read("skills-lock.json");
    insta::assert_snapshot!(shown(&sandbox, &theirs, &server.host()), @r#"
    {
      "version": 1,
      "skills": {
        "docx": {
          "source": "file://[DIR]/home/served/own.git",
          "sourceUrl": "file://[DIR]/home/served/own.git",
          "sourceType": "git",
          "skillPath": "skills/docx/SKILL.md",
          "computedHash": "654aeb93d465c8720e60deed9ff2a377b663c1282584b6ab311d36beebdbd9d6"
        },
        "pdf": {
          "source": "http://HOST/team/skills.git",
          "sourceUrl": "http://HOST/team/skills.git",
          "ref": "v1",
          "sourceType": "git",
          "skillPath": "skills/pdf/SKILL.md",
          "computedHash": "07df27b1463d00f4a05dfdb59de1e578206b8634d2d905464fdf8b273aa6cc7a"
        }
      }
    }
    "#);
    there_and_back(&sandbox, &npm, &["docx", "pdf"]);
    insta::assert_snapshot!(shown(&sandbox, &sandbox.read("skillpm.toml"), &server.host()), @r#"
    [skills]
    docx = { git = "file://[DIR]/home/served/own.git", path = "skills/docx" }
    pdf = { git = "http://HOST/team/skills.git", path = "skills/pdf", ref = "v1" }
    "#);
    assert_eq!(anew(&sandbox), theirs, "the same bytes from skillpm.lock alone");
}

/// `text` without the directory of the sandbox and the address of a server.
fn shown(sandbox: &Sandbox, text: &str, host: &str) -> String {
    let home = sandbox.home();
    let dir = home.parent().expect("a parent").display().to_string();
    text.replace(&dir, "[DIR]").replace(host, "HOST")
}

/// A page of a GitLab: whether it is one, only the file of the tool says.
#[test]
fn a_gitlab_of_the_npm_tool() {
    let sandbox = Sandbox::new();
    let Some(npm) = Npm::new(&sandbox) else { return };
    let served = sandbox.home().join("served");
    let repo = GitRepo::new(&sandbox.home().join("work"));
    repo.commit(&skills());
    std::fs::create_dir_all(served.join("group/sub")).expect("directories");
    let _ = repo.bare(&served.join("group/sub/skills.git"));
    let server = GitServer::start(&served);
    let page = server.url("group/sub/skills/-/tree/main/skills/pdf");
    npm.run(&sandbox, &["add", &page, "--agent", "codex", "--yes"]);
    let theirs = sandbox.read("skills-lock.json");
    insta::assert_snapshot!(shown(&sandbox, &theirs, &server.host()), @r#"
    {
      "version": 1,
      "skills": {
        "pdf": {
          "source": "http://HOST/group/sub/skills.git",
          "sourceUrl": "http://HOST/group/sub/skills.git",
          "ref": "main",
          "sourceType": "gitlab",
          "skillPath": "skills/pdf/SKILL.md",
          "computedHash": "07df27b1463d00f4a05dfdb59de1e578206b8634d2d905464fdf8b273aa6cc7a"
        }
      }
    }
    "#);
    there_and_back(&sandbox, &npm, &["pdf"]);
    assert_eq!(anew(&sandbox), theirs.replace("\"gitlab\"", "\"git\""), "but for the type, which is lost");
}

/// A repository over ssh.
#[test]
fn an_ssh_server_of_the_npm_tool() {
    let mut sandbox = Sandbox::new();
    let Some(mut npm) = Npm::new(&sandbox) else { return };
    let Some(server) = SshServer::start(&sandbox.home().join("sshd")) else { return };
    let repo = GitRepo::new(&sandbox.home().join("work"));
    repo.commit(&skills());
    let bare = sandbox.home().join("skills.git");
    let _ = repo.bare(&bare);
    let path = std::env::join_paths(
        [server.client(true, true)]
            .into_iter()
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    )
    .expect("a path");
    npm.path(&path);
    sandbox.env("PATH", path.to_str().expect("UTF-8"));
    npm.run(&sandbox, &["add", &server.url(&bare), "--skill", "pdf", "--agent", "codex", "--yes"]);
    let theirs = sandbox.read("skills-lock.json");
    assert!(theirs.contains("\"source\": \"ssh://"), "{theirs}");
    there_and_back(&sandbox, &npm, &["pdf"]);
    assert_eq!(anew(&sandbox), theirs, "the same bytes from skillpm.lock alone");
}

/// Sites of both versions of the discovery: of the older one there are no digests in the index.
#[test]
fn sites_of_the_npm_tool() {
    let (forge, sandbox) = (Forge::start(), Sandbox::new());
    let Some(npm) = Npm::new(&sandbox) else { return };
    let text = "---\nname: pdf\ndescription: Does what pdf does.\n---\n";
    let index = serde_json::json!({
        "$schema": "https://schemas.agentskills.io/discovery/0.2.0/schema.json",
        "skills": [{
            "name": "pdf", "type": "skill-md", "description": "Reads.", "url": "pdf.md",
            "digest": skillpm_format::digest::Digest::of(text.as_bytes()).to_string(),
        }],
    });
    forge.serve("/new/.well-known/agent-skills/index.json", index.to_string());
    forge.serve("/new/.well-known/agent-skills/pdf.md", text);
    let files = ["SKILL.md", "B/a.md", "a_b.md", "metadata.json"];
    let index = serde_json::json!({"skills": [{"name": "docx", "description": "Reads.", "files": files}]});
    forge.serve("/old/.well-known/skills/index.json", index.to_string());
    for file in files {
        let text = if file == "SKILL.md" { "---\nname: docx\ndescription: Reads.\n---\n" } else { file };
        forge.serve(&format!("/old/.well-known/skills/docx/{file}"), text);
    }
    for (path, name) in [("/new", "pdf"), ("/old", "docx")] {
        npm.run(&sandbox, &["add", &forge.url(path), "--skill", name, "--agent", "codex", "--yes"]);
    }
    let theirs = sandbox.read("skills-lock.json");
    insta::assert_snapshot!(shown(&sandbox, &theirs, &forge.api_host()), @r#"
    {
      "version": 1,
      "skills": {
        "docx": {
          "source": "127.0.0.1",
          "sourceUrl": "http://HOST/old",
          "sourceType": "well-known",
          "computedHash": "f7e4fabe57a34321a3aabb3dc793140d46f3649a7831c3f5dfb5e8638f70811a",
          "wellKnownDigest": "sha256:b03f32375b0b4fec51f29abb321668f96f66d8b75524e578afeb8512292b9365"
        },
        "pdf": {
          "source": "127.0.0.1",
          "sourceUrl": "http://HOST/new",
          "sourceType": "well-known",
          "computedHash": "aa60e12b461c9c8d53d04243f3f817f2b0b0ce7635c130affac9646fd8a8dd36",
          "wellKnownDigest": "sha256:ad842c30149cf6d88fc27ea6ba878edab41c4e810318ce32dd8eb257258f0e39"
        }
      }
    }
    "#);
    there_and_back(&sandbox, &npm, &["docx", "pdf"]);
    insta::assert_snapshot!(shown(&sandbox, &sandbox.read("skillpm.toml"), &forge.api_host()), @r#"
    [skills]
    docx = { url = "http://HOST/old", path = "docx" }
    pdf = { url = "http://HOST/new", path = "pdf" }
    "#);
    assert_eq!(anew(&sandbox), theirs, "the same bytes from skillpm.lock alone");
    // The site has other bytes now, which it says itself.
    forge.serve("/old/.well-known/skills/docx/a_b.md", "changed");
    for file in ["skillpm.toml", "skillpm.lock"] {
        std::fs::remove_file(sandbox.project().join(file)).expect("removed");
    }
    sandbox.write("skills-lock.json", &theirs);
    let output = sandbox.run(&["import"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stdout.contains("docx  left") && output.stdout.contains("pdf   adopted"), "{output}");
}

/// What comes over plain `http` is told once for each source, as `install` tells it.
#[test]
fn a_site_without_tls() {
    let (forge, mut sandbox) = (Forge::start(), Sandbox::new());
    let proxy = Proxy::leading_to(&forge.api_host());
    sandbox.env("http_proxy", &proxy.url());
    let entry =
        |name: &str| serde_json::json!({"name": name, "description": "Reads.", "files": ["SKILL.md"]});
    let index = serde_json::json!({"skills": [entry("pdf"), entry("docx")]});
    forge.serve("/.well-known/skills/index.json", index.to_string());
    let mut lock = SkillsLock::default();
    for name in ["pdf", "docx"] {
        let text = format!("---\nname: {name}\ndescription: Reads.\n---\n");
        forge.serve(&format!("/.well-known/skills/{name}/SKILL.md"), &text);
        sandbox.write(&format!(".agents/skills/{name}/SKILL.md"), &text);
        lock.set(
            name,
            LockedEntry::new([
                ("source", Some("skills.example")),
                ("sourceUrl", Some("http://skills.example")),
                ("sourceType", Some("well-known")),
                (
                    "computedHash",
                    Some(hash_of(&sandbox.project().join(".agents/skills").join(name)).as_str()),
                ),
            ]),
        );
    }
    sandbox.write("skills-lock.json", lock.to_string());
    insta::assert_snapshot!(sandbox.run(&["import"]), @"
    exit: 0
    --- stdout
    name  outcome  source                      why
    docx  adopted  site:http://skills.example  the version that `skills-lock.json` names
    pdf   adopted  site:http://skills.example  the version that `skills-lock.json` names
    --- stderr
    warning: `http://skills.example` was read over `http`: anyone on the network could have changed it
    2 skills adopted
    `skillpm.toml` and `skillpm.lock` changed: commit both
    ");
}

/// What the npm tool installs for the user from a site: the digest is the proof.
#[test]
fn the_user_s_skills_of_a_site() {
    let (forge, sandbox) = (Forge::start(), Sandbox::new());
    let Some(npm) = Npm::new(&sandbox) else { return };
    let index = serde_json::json!({"skills": [{"name": "pdf", "description": "Reads.", "files": ["SKILL.md", "a.md"]}]});
    forge.serve("/.well-known/skills/index.json", index.to_string());
    forge.serve("/.well-known/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Reads.\n---\n");
    forge.serve("/.well-known/skills/pdf/a.md", "a");
    npm.run(&sandbox, &["add", &forge.url(""), "--skill", "pdf", "--agent", "codex", "--global", "--yes"]);
    let report: serde_json::Value =
        serde_json::from_str(&sandbox.run(&["import", "-g", "--json"]).stdout).expect("JSON");
    assert_eq!(report["skills"][0]["verdict"], "adopted", "{report}");
    assert_eq!(report["skills"][0]["reason"], "the version that `.skill-lock.json` names");
    assert_eq!(sandbox.run(&["install", "-g", "--locked"]).code, Some(0));
}

/// What the npm tool installs for the user: git's id of the directory is the proof.
#[test]
fn the_user_s_skills_of_the_npm_tool() {
    let forge = Forge::start();
    let mut sandbox = Sandbox::new();
    sandbox.forge(&forge);
    let Some(npm) = Npm::new(&sandbox) else { return };
    npm.commit(&forge, "acme/skills", &skills());
    npm.run(
        &sandbox,
        &["add", "acme/skills", "--skill", "pdf", "--agent", "claude-code", "--global", "--yes"],
    );
    let path = sandbox.home().join(".agents/.skill-lock.json");
    // The tool asks GitHub itself for the id, which it cannot reach here.
    let text = std::fs::read_to_string(&path).expect("their file");
    assert!(text.contains("\"skillFolderHash\": \""), "{text}");
    let mut lock: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    lock["skills"]["pdf"]["skillFolderHash"] = npm.tree_id("acme/skills", "skills/pdf").into();
    std::fs::write(&path, lock.to_string()).expect("written");
    let report: serde_json::Value =
        serde_json::from_str(&sandbox.run(&["import", "-g", "--json"]).stdout).expect("JSON");
    assert_eq!(report["skills"][0]["verdict"], "adopted", "{report}");
    assert_eq!(report["skills"][0]["reason"], "the version that `.skill-lock.json` names");
    assert_eq!(sandbox.run(&["install", "-g", "--locked"]).code, Some(0));
    assert!(!sandbox.project().join("skillpm.toml").exists());
}

/// A machine with `acme/skills` on its GitHub and copies of `tree` as the npm tool makes them.
fn adopted_by_hand(tree: &Tree) -> (Forge, Sandbox, String) {
    let forge = Forge::start();
    let mut sandbox = Sandbox::new();
    sandbox.forge(&forge);
    let commit = forge.repo("acme/skills").commit(tree);
    let upstream = sandbox.home().join("upstream");
    tree.write(&upstream);
    let mut lock = SkillsLock::default();
    for name in ["pdf", "docx"] {
        let dir = upstream.join("skills").join(name);
        let entry = LockedEntry::new([
            ("source", Some("acme/skills")),
            ("sourceType", Some("github")),
            ("skillPath", Some(format!("skills/{name}/SKILL.md").as_str())),
            ("computedHash", Some(hash_of(&dir).as_str())),
        ]);
        lock.set(name, entry);
        let mut copy = Tree::from_dir(&dir);
        copy.remove("metadata.json");
        copy.write(&sandbox.project().join(".agents/skills").join(name));
    }
    sandbox.write("skills-lock.json", lock.to_string());
    (forge, sandbox, commit)
}

/// The source has moved on: the version that was installed is found among older ones, and stays.
#[test]
fn an_older_version_is_found() {
    let (forge, sandbox, commit) = adopted_by_hand(&skills());
    for at in 0..3 {
        forge.repo("acme/skills").commit(&skills().file("skills/pdf/new.md", format!("{at}")));
    }
    let output = sandbox.run(&["import"]);
    insta::assert_snapshot!(told(&output, &commit), @"
    exit: 0
    --- stdout
    name  outcome  source                         why
    docx  adopted  github:acme/skills at 3e6bdb9  the version that `skills-lock.json` names; restored what the npm tool leaves out: `metadata.json`
    pdf   adopted  github:acme/skills at [COMMIT]  the version that `skills-lock.json` names
    --- stderr
    warning: your edited `docx` was saved; `skillpm undo` restores it
    2 skills adopted
    `skillpm.toml` and `skillpm.lock` changed: commit both
    ");
    assert!(!sandbox.project().join(".agents/skills/pdf/new.md").exists());
    assert_eq!(sandbox.run(&["install", "--locked"]).code, Some(0));
}

/// What cannot be found is left as it is, and told with what to do.
#[test]
fn a_version_that_is_gone() {
    let (forge, sandbox, _) = adopted_by_hand(&skills());
    forge.repo("acme/skills").commit(&skills().file("skills/pdf/new.md", ""));
    let text = sandbox.read("skills-lock.json").replace("\"computedHash\": \"", "\"computedHash\": \"0");
    sandbox.write("skills-lock.json", text);
    let before = sandbox.tree(&sandbox.project());
    let output = sandbox.run(&["import", "skills-lock.json"]);
    insta::assert_snapshot!(output.stdout, @"
    name  outcome  source                         why
    docx  adopted  github:acme/skills at b031cbf  as its source has it now, although `skills-lock.json` names another version; restored what the npm tool leaves out: `metadata.json`
    pdf   left     github:acme/skills             its source has changed since, and the installed version was not found: `skillpm install acme/skills/skills/pdf --force` installs the newest; the store keeps your copy
    ");
    assert_eq!(output.code, Some(1));
    let docx = [".agents/skills/docx/metadata.json", "skillpm.lock", "skillpm.toml"]
        .map(|path| format!("644 {path}"));
    let mut after = sandbox.tree(&sandbox.project());
    after.retain(|line| !docx.contains(line));
    assert_eq!(after, before);
}

/// Edits are told and stay, directories without a word about their source stay, and nothing is lost.
#[test]
fn edits_and_unknown_directories_stay() {
    let (_forge, sandbox, commit) = adopted_by_hand(&skills());
    let edited = "---\nname: pdf\ndescription: Mine. Use it.\n---\n";
    sandbox.write(".agents/skills/pdf/SKILL.md", edited);
    sandbox.write(".agents/skills/own/SKILL.md", "---\nname: own\ndescription: Own. Use it.\n---\n");
    sandbox.write(".claude/skills/a.b/SKILL.md", "---\nname: a.b\ndescription: Odd. Use it.\n---\n");
    sandbox.write(".agents/skills/notes.txt", "no skill");
    // Authors keep their own skills in directories such as this one.
    sandbox.write("skills/mine/SKILL.md", "---\nname: mine\ndescription: Mine. Use it.\n---\n");
    let output = sandbox.run(&["import"]);
    insta::assert_snapshot!(told(&output, &commit), @"
    exit: 1
    --- stdout
    name  outcome  source                         why
    a.b   unknown  -                              `a.b` is not a valid skill name: install it from its source
    docx  adopted  github:acme/skills at [COMMIT]  the version that `skills-lock.json` names; restored what the npm tool leaves out: `metadata.json`
    own   unknown  -                              no file says where it comes from
    pdf   edited   github:acme/skills at [COMMIT]  your copy was kept; it differs from the version that was installed: `SKILL.md`
    --- stderr
    warning: your edited `docx` was saved; `skillpm undo` restores it
    1 skill adopted, 1 adopted with your edits, 2 of unknown source
    `skillpm.toml` and `skillpm.lock` changed: commit both
    hint: `skillpm install --force` installs the locked versions; the store keeps your edited copies, such as `pdf`
    hint: `skillpm import own` makes `own` your own: it moves to `skills/own`
    hint: where you know its source, `skillpm install SOURCE --skill own` installs it from there
    ");
    assert_eq!(sandbox.read(".agents/skills/pdf/SKILL.md"), edited);
    assert!(sandbox.project().join(".agents/skills/own/SKILL.md").exists());
    let restore = sandbox.run(&["install"]);
    assert_eq!(restore.code, Some(1), "an edited skill is told: {restore}");
    assert_eq!(sandbox.run(&["install", "--force"]).code, Some(0));
    assert!(sandbox.read(".agents/skills/pdf/SKILL.md").contains("Does what pdf does"));
}

/// Copies of `gh skill` say themselves where they come from.
#[test]
fn copies_of_gh() {
    let forge = Forge::start();
    let mut sandbox = Sandbox::new();
    sandbox.forge(&forge);
    let commit = forge.repo("acme/skills").commit(&skills());
    forge.repo("acme/skills").tag("v1", &commit);
    let upstream = sandbox.home().join("upstream");
    skills().write(&upstream);
    let tree = git_tree_id(&fs::tree_of(&upstream.join("skills/pdf")).expect("a directory"), "");
    let tree = tree.expect("reads").expect("an id");
    let copy = |name: &str, tree: &str| {
        format!(
            "---\ndescription: Does what {name} does.\nmetadata:\n    github-path: skills/{name}\n    github-ref: refs/tags/v1\n    \
             github-repo: https://github.com/acme/skills\n    github-tree-sha: {tree}\nname: {name}\n---\n# {name}\n"
        )
    };
    for dir in [".agents/skills/pdf", ".claude/skills/pdf"] {
        Tree::from_dir(&upstream.join("skills/pdf")).write(&sandbox.project().join(dir));
        sandbox.write(&format!("{dir}/SKILL.md"), copy("pdf", &tree));
    }
    sandbox.write(".claude/skills/docx/SKILL.md", copy("docx", &"0".repeat(40)) + "mine\n");
    let output = sandbox.run(&["import"]);
    insta::assert_snapshot!(told(&output, &commit), @"
    exit: 1
    --- stdout
    name  outcome  source                         why
    docx  left     github:acme/skills             its source has changed since, and the installed version was not found: `skillpm install 'acme/skills/skills/docx#v1' --force` installs the newest; the store keeps your copy
    pdf   adopted  github:acme/skills at [COMMIT]  the version that `gh skill` names; removed what `gh` wrote into the frontmatter
    --- stderr
    warning: your edited `pdf` was saved; `skillpm undo` restores it
    1 skill adopted, 1 skipped
    agents that see them, now in `skillpm.toml`: claude-code
    `skillpm.toml` and `skillpm.lock` changed: commit both
    ");
    insta::assert_snapshot!(sandbox.read("skillpm.toml"), @r#"
    [skills]
    pdf = { github = "acme/skills", path = "skills/pdf", tag = "v1" }

    [agents]
    targets = ["claude-code"]
    copy = true
    "#);
    assert!(!sandbox.read(".claude/skills/pdf/SKILL.md").contains("github-repo"));
    assert!(sandbox.read(".claude/skills/docx/SKILL.md").contains("mine"));
    assert_eq!(sandbox.run(&["list", "--json"]).stdout.matches("\"ok\"").count(), 1);
}

/// A command without `-g` would install into the project.
#[test]
fn hints_about_skills_of_the_user_have_their_scope() {
    let sandbox = Sandbox::new();
    sandbox.write("../home/.agents/skills/own/SKILL.md", "---\nname: own\ndescription: Mine. Use it.\n---\n");
    let output = sandbox.run(&["import", "-g"]);
    assert!(
        output.stderr.contains("`skillpm install -g SOURCE --skill own` installs it from there"),
        "{output}"
    );
}

/// Files of other tools that are wrong: the place, the way out, and nothing changed.
#[test]
fn files_that_cannot_be_read() {
    let sandbox = Sandbox::new();
    let good = SkillsLock::default().to_string();
    for (text, said) in [
        (good.replace('1', "2"), "skills-lock.json:2:14: it has version 2, this skillpm reads version 1"),
        (good.replace('1', "0"), "skills-lock.json:2:14: it has version 0, which is older than version 1"),
        (format!("<<<<<<< HEAD\n{good}"), "skills-lock.json:1:1: there are merge-conflict markers"),
        ("{".to_owned(), "skills-lock.json:1:1: unterminated object"),
    ] {
        sandbox.write("skills-lock.json", &text);
        for args in [&["import"][..], &["import", "--dry-run", "--json"]] {
            let output = sandbox.run(args);
            assert_eq!(output.code, Some(3), "{output}");
            assert!(output.stderr.contains(said) && output.stderr.contains("hint"), "{output}");
        }
        sandbox.write("skillpm.lock", "version = 1\n");
        let output = sandbox.run(&["export", "skills-lock"]);
        assert_eq!((output.code, sandbox.read("skills-lock.json")), (Some(3), text), "never overwritten");
        std::fs::remove_file(sandbox.project().join("skillpm.lock")).expect("removed");
    }
    std::fs::remove_file(sandbox.project().join("skills-lock.json")).expect("removed");
    insta::assert_snapshot!(sandbox.run(&["import", "other.json"]), @"
    exit: 2
    --- stderr
    error: `other.json` does not exist
    hint: name a `skills-lock.json` or `.skill-lock.json`, or leave it out: skillpm looks for both
    ");
    insta::assert_snapshot!(sandbox.run(&["import"]), @"
    exit: 0
    --- stderr
    nothing from other tools was found in this project
    hint: `skillpm import FILE` reads a lockfile elsewhere; `skillpm import -g` looks at your own skills
    ");
    insta::assert_snapshot!(sandbox.run(&["export", "skills-lock"]), @"
    exit: 2
    --- stderr
    error: there is no `skillpm.lock` in `[DIR]/project`
    hint: install something first: `skillpm install owner/repo`
    ");
    let both = sandbox.run(&["export", "skills-lock", "--json", "-o", "-"]);
    assert_eq!(both.code, Some(2), "{both}");
    assert!(both.stderr.contains("`--json` and `--output -` would both print to standard output"), "{both}");
}

/// Hostile entries: no place outside is touched, and no server that is not named is asked.
#[test]
fn hostile_entries() {
    let mut sandbox = Sandbox::new();
    sandbox.env("SKILLPM_OFFLINE", "1");
    let entry = |kind: &str, source: &str, path: &str| {
        LockedEntry::new([
            ("source", Some(source)),
            ("sourceType", Some(kind)),
            ("skillPath", Some(path)),
            ("computedHash", Some("0")),
        ])
    };
    let mut lock = SkillsLock::default();
    lock.set("../../canary", entry("github", "acme/skills", "x/SKILL.md"));
    lock.set("up", entry("github", "acme/skills", "../../x/SKILL.md"));
    lock.set("ext", entry("git", "ext::sh -c touch CANARY", "SKILL.md"));
    lock.set("oci", entry("oci", "ghcr.io/x", "SKILL.md"));
    lock.set("gone", entry("local", "../../../../nowhere", "SKILL.md"));
    lock.set("esc\u{1b}[2J", entry("oci", "\u{1b}]52;c;x\u{7}", "SKILL.md"));
    sandbox.write("skills-lock.json", lock.to_string());
    let before = sandbox.tree(&sandbox.project());
    let output = sandbox.run(&["import"]);
    assert_eq!(output.code, Some(1));
    insta::assert_snapshot!(output.stdout, @"
    name    outcome  source              why
    canary  left     github:acme/skills  `acme/skills` is not in the store, and `--offline` forbids the network
    esc-2j  left     -                   skillpm does not support sources of the type `oci`
    ext     left     -                   `ext::sh -c touch CANARY` is not an address that skillpm can install from
    gone    left     path:/nowhere       `/nowhere` does not exist
    oci     left     -                   skillpm does not support sources of the type `oci`
    up      left     -                   `../../x` is not a directory inside a repository
    ");
    assert!(!output.stdout.contains('\u{1b}'));
    assert_eq!(sandbox.tree(&sandbox.project()), before);
}

/// The npm tool keeps its file where it runs; skillpm's project may begin further up.
#[test]
fn a_lockfile_below_the_root() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.project().join(".git")).expect("a directory");
    sandbox.write("app/skills-lock.json", SkillsLock::default().to_string());
    let mut command = sandbox.command(&["import"]);
    let output = command.current_dir(sandbox.project().join("app")).output().expect("starts");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("make its directory a project of its own"));
    sandbox.write("app/skillpm.toml", "");
    let mut command = sandbox.command(&["import"]);
    let output = command.current_dir(sandbox.project().join("app")).output().expect("starts");
    assert_eq!(output.status.code(), Some(0));
}

/// What the other tool cannot express is left out and told; what it wrote besides stays.
#[test]
fn what_cannot_be_exported() {
    let forge = Forge::start();
    let mut sandbox = Sandbox::new();
    sandbox.forge(&forge);
    forge.repo("acme/skills").commit(&skills());
    sandbox.write(
        "demo.zip",
        crate::support::zip::raw(&[("SKILL.md", b"---\nname: demo\ndescription: Shows. Use it.\n---\n")], ""),
    );
    skills().write(&sandbox.project().join("local"));
    assert_eq!(
        sandbox.run(&["install", "acme/skills@pdf", "./demo.zip", "./local/skills/docx"]).code,
        Some(0)
    );
    let theirs = "{\"version\":1,\"skills\":{\"own\":{\"source\":\"o/r\",\"sourceType\":\"github\",\"computedHash\":\"h\"},\
        \"pdf\":{\"source\":\"o/old\",\"sourceType\":\"github\",\"computedHash\":\"h\",\"new\":[1.0]}}}";
    sandbox.write("sub/lock.json", theirs);
    insta::assert_snapshot!(sandbox.run(&["export", "skills-lock", "-o", "sub/lock.json"]), @"
    exit: 1
    --- stderr
    warning: `demo` was left out: `skills-lock.json` has no entries for archives
    existing entries that are not skillpm's were kept: `own`
    `sub/lock.json` written: 2 skills of skillpm
    ");
    insta::assert_snapshot!(sandbox.read("sub/lock.json"), @r#"
    {
      "version": 1,
      "skills": {
        "docx": {
          "source": "../local/skills/docx",
          "sourceType": "local",
          "computedHash": "4dea4eefc42e04a1d6b9c4d1d20746a76e7b34b7efefd5d55d373b8cef8b9657"
        },
        "own": {
          "source": "o/r",
          "sourceType": "github",
          "computedHash": "h"
        },
        "pdf": {
          "source": "acme/skills",
          "sourceType": "github",
          "skillPath": "skills/pdf/SKILL.md",
          "computedHash": "07df27b1463d00f4a05dfdb59de1e578206b8634d2d905464fdf8b273aa6cc7a",
          "new": [
            1
          ]
        }
      }
    }
    "#);
    let report = sandbox.run(&["export", "skills-lock", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&report.stdout).expect("JSON");
    assert_eq!(report["left_out"][0]["name"], "demo");
    let printed = sandbox.run(&["export", "skills-lock", "-o", "-"]);
    assert_eq!(printed.stdout, sandbox.read("skills-lock.json"));
    // A source that changed since is not passed off as what is locked.
    sandbox.write("local/skills/docx/SKILL.md", "---\nname: docx\ndescription: New. Use it.\n---\n");
    let output = sandbox.run(&["export", "skills-lock", "-o", "-"]);
    assert!(
        output.stderr.contains("`docx` was left out: its source no longer has what is locked"),
        "{output}"
    );
}

fn git(dir: &Path, args: &[&str]) -> bool {
    let fixed = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"];
    let output = Command::new("git").args(fixed).args(args).current_dir(dir).output().expect("git starts");
    output.status.success()
}

/// DESIGN, section 4, and lk09: two branches change `skillpm.lock`, git leaves its marks, and
/// `skillpm install` is the way out, as the message says.
#[test]
fn a_merge_conflict_in_the_lockfile() {
    if program("git").is_none() {
        return;
    }
    let forge = Forge::start();
    let mut sandbox = Sandbox::new();
    sandbox.forge(&forge);
    let repo = forge.repo("acme/skills");
    repo.commit(&skills());
    let project = sandbox.project();
    assert_eq!(sandbox.run(&["install", "acme/skills@pdf"]).code, Some(0));
    sandbox.write(".gitignore", ".agents\n");
    for args in [
        &["init", "--quiet", "--initial-branch=main"][..],
        &["add", "--all"],
        &["commit", "--quiet", "-m", "x"],
    ] {
        assert!(git(&project, args), "{args:?}");
    }
    // One branch adds a skill and takes a newer version of the other, and so does the second.
    assert!(git(&project, &["checkout", "--quiet", "-b", "theirs"]));
    repo.commit(&skills().file("skills/pdf/one.md", "").skill("skills/zip", "zip"));
    assert_eq!(sandbox.run(&["install", "acme/skills@pdf", "-s", "zip", "-s", "pdf"]).code, Some(0));
    assert!(git(&project, &["commit", "--quiet", "--all", "-m", "theirs"]));
    assert!(git(&project, &["checkout", "--quiet", "main"]));
    assert_eq!(sandbox.run(&["install", "--force"]).code, Some(0));
    let newest = repo.commit(&skills().file("skills/pdf/two.md", "").skill("skills/zip", "zip"));
    assert_eq!(sandbox.run(&["install", "acme/skills", "-s", "docx", "-s", "pdf"]).code, Some(0));
    assert!(git(&project, &["commit", "--quiet", "--all", "-m", "ours"]));
    assert!(!git(&project, &["merge", "--quiet", "theirs"]), "a conflict");
    assert!(sandbox.read("skillpm.lock").contains("<<<<<<< "));

    // The manifest is people's: its own conflict is settled by them.
    if sandbox.read("skillpm.toml").contains("<<<<<<< ") {
        let output = sandbox.run(&["install"]);
        assert_eq!(output.code, Some(3));
        assert!(output.stderr.contains("skillpm.toml:"), "{output}");
        assert!(output.stderr.contains("there are merge-conflict markers"), "{output}");
        let settled = sandbox.read("skillpm.toml");
        let settled: Vec<_> = settled.lines().filter(|line| !line.starts_with(['<', '=', '>'])).collect();
        sandbox.write("skillpm.toml", settled.join("\n") + "\n");
    }
    let torn = sandbox.read("skillpm.lock");
    for args in
        [&["list"][..], &["install", "--locked"], &["install", "--frozen"], &["install", "acme/skills@pdf"]]
    {
        let output = sandbox.run(args);
        assert_eq!(output.code, Some(3), "{output}");
        assert!(output.stderr.contains("hint: `skillpm install` repairs it"), "{output}");
        assert_eq!(sandbox.read("skillpm.lock"), torn, "{args:?}");
    }
    assert_eq!(sandbox.run(&["install", "--dry-run"]).code, Some(0));
    assert_eq!(sandbox.read("skillpm.lock"), torn);
    let output = sandbox.run(&["install"]);
    insta::assert_snapshot!(told(&output, &newest), @"
    exit: 0
    --- stderr
    = docx (github:acme/skills at [COMMIT])
    = pdf (github:acme/skills at [COMMIT])
    + zip (github:acme/skills at c049cce)
    1 skill added, 2 unchanged in `.agents/skills`
    available to agents that read `.agents/skills`; `--agent` adds others
    `skillpm.lock` changed: commit it
    warning: `skillpm.lock` had merge-conflict markers; both sides were combined; resolved again: `pdf`
    hint: `skillpm list` shows what is installed, `skillpm invoke zip` what an agent gets
    ");
    let lock = sandbox.read("skillpm.lock");
    assert_eq!(lock.matches("[[skill]]").count(), 3, "{lock}");
    assert!(lock.contains(&newest) && !lock.contains("<<<<<<< "), "{lock}");
    assert_eq!(sandbox.run(&["install", "--locked"]).code, Some(0));
    // What is taken back is not for a commit.
    let undo = sandbox.ok(&["undo"]).stderr;
    assert!(undo.contains("warning: `skillpm.lock` still has what a merge left in it"), "{undo}");
    assert_eq!(sandbox.read("skillpm.lock"), torn);
    assert!(!sandbox.ok(&["undo"]).stderr.contains("warning"));
    assert_eq!(sandbox.run(&["install", "--locked"]).code, Some(0));
}

/// Git says nothing of a conflict where both sides add the same skill: it is there twice then.
#[test]
fn what_a_merge_without_a_conflict_leaves() {
    let sandbox = Sandbox::new();
    for name in ["docx", "pdf"] {
        sandbox.write(
            &format!("src/{name}/SKILL.md"),
            format!("---\nname: {name}\ndescription: Does {name}.\n---\n"),
        );
    }
    sandbox.ok(&["install", "./src", "-s", "*"]);
    let lock = sandbox.read("skillpm.lock");
    let entry = &lock[lock.rfind("\n[[skill]]").expect("an entry")..];
    let digest = entry.split("sha256:").nth(1).expect("a digest");
    let changed = entry.replace(&digest[..4], "0000");
    for (second, anew) in [(entry, ""), (&changed, "; resolved again: `pdf`")] {
        sandbox.write("skillpm.lock", format!("{lock}{second}"));
        for args in [&["list"][..], &["verify"], &["install", "--locked"]] {
            let told = sandbox.run(args);
            assert_eq!(told.code, Some(3), "{told}");
            assert!(
                told.stderr.contains("the skill `pdf` appears twice\nhint: `skillpm install` repairs it"),
                "{told}"
            );
        }
        let told = sandbox.ok(&["install"]).to_string();
        let warning = format!(
            "warning: `skillpm.lock` had skills twice, as a merge can leave them; duplicates were removed{anew}\n"
        );
        assert!(told.contains(&warning), "{told}");
        assert_eq!(sandbox.read("skillpm.lock"), lock);
        sandbox.ok(&["verify"]);
    }
}

/// Sides that are not whole, and no manifest to ask: the hint names what works then.
#[test]
fn a_conflict_that_cannot_be_mended() {
    let sandbox = Sandbox::new();
    sandbox.write("skillpm.lock", "version = 1\n<<<<<<< a\n[[skill]]\n=======\n>>>>>>> b\n");
    insta::assert_snapshot!(sandbox.run(&["install"]), @"
    exit: 3
    --- stderr
    error: skillpm.lock:2:1: there are merge-conflict markers, and the sides cannot be told apart
    hint: choose one side, for example with `git checkout --ours skillpm.lock`, then run `skillpm install`: it adds what the manifest asks for
    ");
}

/// The blocks of a language in a page of the documentation.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(page)).expect("a page");
    let open = format!("```{language}\n");
    let parts = text.split(&open).skip(1);
    parts.map(|part| part.split("```").next().expect("a first part").to_owned()).collect()
}

/// What one manager of the recipe captures: its datasource, and the groups by name.
type Captured = (String, Vec<(String, String)>);

fn captured_here(recipe: &serde_json::Value, manifest: &str) -> Vec<Captured> {
    let mut found = Vec::new();
    for manager in recipe["customManagers"].as_array().expect("managers") {
        for pattern in manager["matchStrings"].as_array().expect("patterns") {
            // Renovate's engine is RE2; this one knows the same constructs, and none that RE2 lacks.
            let regex = regex::Regex::new(pattern.as_str().expect("text")).expect("a regular expression");
            for captures in regex.captures_iter(manifest) {
                let groups = regex.capture_names().flatten();
                let groups = groups.map(|name| (name.to_owned(), captures[name].to_owned()));
                let datasource = manager["datasourceTemplate"].as_str().expect("text").to_owned();
                found.push((datasource, groups.collect::<Vec<_>>()));
            }
        }
    }
    for (_, groups) in &mut found {
        groups.sort();
    }
    found.sort();
    found
}

fn captured_by_node(node: &Path, recipe: &serde_json::Value, manifest: &str) -> Vec<Captured> {
    let script = "const [recipe, manifest] = JSON.parse(process.argv[1]); const found = [];
        for (const m of recipe.customManagers) for (const p of m.matchStrings)
          for (const match of manifest.matchAll(new RegExp(p, 'g')))
            found.push([m.datasourceTemplate, Object.entries(match.groups).sort()]);
        process.stdout.write(JSON.stringify(found))";
    let input = serde_json::to_string(&(recipe, manifest)).expect("JSON");
    let output = Command::new(node).args(["-e", script, &input]).output().expect("Node starts");
    let mut found: Vec<Captured> = serde_json::from_slice(&output.stdout).expect("JSON");
    found.sort();
    found
}

/// The recipe of the guide finds what the guide says, in the guide's manifest, in one that skillpm wrote, and
/// in nothing else; in Rust's engine, which is of RE2's kind, and in JavaScript's.
#[test]
fn the_recipe_for_renovate() {
    let page = "docs/guide/renovate.md";
    let recipe: serde_json::Value = serde_json::from_str(&blocks(page, "json")[0]).expect("JSON");
    let manifest = &blocks(page, "toml")[0];
    skillpm_format::manifest::Manifest::parse(manifest).expect("the guide's manifest is one");
    let node = node();
    let captured = |manifest: &str| {
        let found = captured_here(&recipe, manifest);
        if let Some(node) = &node {
            assert_eq!(captured_by_node(node, &recipe, manifest), found, "{manifest}");
        }
        let shown = found.iter().map(|(datasource, groups)| {
            let groups: Vec<_> = groups.iter().map(|(name, value)| format!("{name}={value}")).collect();
            format!("{datasource}: {}\n", groups.join(" "))
        });
        shown.collect::<String>()
    };
    insta::assert_snapshot!(captured(manifest), @"
    git-refs: currentDigest=0123456789abcdef0123456789abcdef01234567 currentValue=main depName=acme/skills
    git-refs: currentDigest=89abcdef0123456789abcdef0123456789abcdef currentValue=dev packageName=https://git.example.com/skills.git
    git-tags: currentValue=2.0 packageName=https://git.example.com/skills.git
    github-tags: currentValue=v1.2.0 packageName=anthropics/skills
    github-tags: currentValue=v3 packageName=acme/skills
    ");

    // What skillpm itself writes.
    let forge = Forge::start();
    let mut sandbox = Sandbox::new();
    sandbox.forge(&forge);
    let commit = forge.repo("acme/skills").commit(&skills());
    forge.repo("acme/skills").tag("v1", &commit);
    assert_eq!(sandbox.run(&["install", "acme/skills@pdf", "--tag", "v1"]).code, Some(0));
    assert_eq!(sandbox.run(&["install", "acme/skills@docx", "--rev", &commit]).code, Some(0));
    let written = sandbox.read("skillpm.toml");
    assert_eq!(captured(&written), "github-tags: currentValue=v1 packageName=acme/skills\n");
    let commented = written.replace(&format!("{commit}\" }}"), &format!("{commit}\" }} # branch: main"));
    assert!(
        captured(&commented)
            .contains(&format!("git-refs: currentDigest={commit} currentValue=main depName=acme/skills"))
    );

    // Nothing is taken from another line or from a comment, and nothing that is no version.
    for none in [
        "a = { github = \"o/r\" }\nb = { path = \"x\" }\ntag = \"v1\"\n",
        "a = { github = \"o/r\" } # tag = \"v1\"\n",
        "a = { github = \"o/r\", branch = \"main\" }\n",
        "a = { github = \"o/r\", rev = \"0123456789abcdef0123456789abcdef01234567\" }\n",
        "a = { github = \"o/r\", rev = \"0123456\" } # branch: main\n",
        "a = { git = \"git@h:o/r\", tag = \"v1\" }\n",
        "a = { path = \"../x\" }\n",
    ] {
        assert_eq!(captured(none), "", "{none}");
    }
    let files = regex::Regex::new(
        recipe["customManagers"][0]["managerFilePatterns"][0].as_str().expect("text").trim_matches('/'),
    );
    let files = files.expect("a regular expression");
    assert!(
        files.is_match("skillpm.toml")
            && files.is_match("app/skillpm.toml")
            && !files.is_match("xskillpm.toml")
    );
}
