//! Installing, end to end: what a person types, what lies on disk afterwards, what is said.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use skillpm_sources::fs::DirLock;

use crate::support::{Forge, Sandbox, Tree};

fn forge_with(tree: &Tree) -> (Forge, Sandbox, String) {
    let forge = Forge::start();
    let mut sandbox = Sandbox::new();
    sandbox.forge(&forge);
    let commit = forge.repo("acme/skills").commit(tree);
    (forge, sandbox, commit)
}

fn two_skills() -> Tree {
    Tree::new()
        .skill("skills/pdf", "pdf")
        .executable("skills/pdf/scripts/run.sh", "#!/bin/sh\necho pdf\n")
        .file("skills/pdf/references/a.md", "a\n")
        .skill("skills/docx", "docx")
}

/// What lies in the project, without the content of the skills themselves.
fn shape(sandbox: &Sandbox) -> String {
    sandbox.tree(&sandbox.project()).join("\n")
}

/// S4-21, S4-27: the main job, from GitHub to a link in an agent's directory.
#[test]
fn the_page() {
    let (_forge, sandbox, commit) = forge_with(&two_skills());
    std::fs::create_dir(sandbox.home().join(".claude")).expect("Claude Code is on this machine");
    let output = sandbox.run(&["add", "acme/skills@pdf"]);
    let shown = output.to_string().replace(&commit[..7], "[COMMIT]");
    insta::assert_snapshot!(shown, @"
    exit: 0
    --- stderr
    + pdf (github:acme/skills at [COMMIT])
    1 skill added in `.agents/skills`
    available to claude-code, and to agents that read `.agents/skills`; `--agent` adds others
    `skillpm.toml` and `skillpm.lock` changed: commit both
    hint: `skillpm list` shows what is installed, `skillpm invoke pdf` what an agent gets
    ");
    insta::assert_snapshot!(shape(&sandbox), @"
    .agents/
    .agents/skills/
    .agents/skills/pdf/
    .agents/skills/pdf/references/
    .agents/skills/pdf/scripts/
    .claude/
    .claude/skills/
    .claude/skills/pdf -> ../../.agents/skills/pdf
    644 .agents/skills/pdf/SKILL.md
    644 .agents/skills/pdf/references/a.md
    644 skillpm.lock
    644 skillpm.toml
    755 .agents/skills/pdf/scripts/run.sh
    ");
    insta::assert_snapshot!(sandbox.read("skillpm.toml"), @r#"
    [skills]
    pdf = { github = "acme/skills", path = "skills/pdf" }

    [agents]
    targets = ["claude-code"]
    "#);
    insta::assert_snapshot!(sandbox.read("skillpm.lock").replace(&commit, "[COMMIT]"), @r#"
    # Written by skillpm; `skillpm install` restores exactly this.
    version = 1

    [[skill]]
    name = "pdf"
    source = "github:acme/skills"
    path = "skills/pdf"
    revision = "[COMMIT]"
    digest = "sha256:beb7d1b266351c607364e5710419e9b8b98ad16c1f97f927ed993fd776198974"
    agents = ["claude-code"]
    "#);
    insta::assert_snapshot!(sandbox.run(&["list"]), @"
    exit: 0
    --- stdout
    name  version  scope    source              seen by      state
    pdf   -        project  github:acme/skills  claude-code  ok
    ");
    let again = sandbox.run(&["install", "acme/skills@pdf"]).to_string().replace(&commit[..7], "[COMMIT]");
    insta::assert_snapshot!(again, @"
    exit: 0
    --- stderr
    = pdf (github:acme/skills at [COMMIT])
    1 skill unchanged in `.agents/skills`
    available to claude-code, and to agents that read `.agents/skills`; `--agent` adds others
    hint: `skillpm list` shows what is installed, `skillpm invoke pdf` what an agent gets
    ");
    insta::assert_snapshot!(sandbox.run(&["remove", "pdf", "--dry-run", "--json"]), @r#"
    exit: 0
    --- stdout
    {
      "removed": [
        "pdf"
      ],
      "unneeded": [],
      "kept": [],
      "paths": [
        {
          "path": "[DIR]/project/.agents/skills/pdf",
          "change": "deleted"
        },
        {
          "path": "[DIR]/project/.claude/skills/pdf",
          "change": "deleted"
        },
        {
          "path": "[DIR]/project/skillpm.lock",
          "change": "replaced"
        },
        {
          "path": "[DIR]/project/skillpm.toml",
          "change": "replaced"
        }
      ],
      "skills_lock": [],
      "files_changed": {
        "manifest": true,
        "lockfile": true
      },
      "dry_run": true,
      "undoable": false
    }
    "#);
    insta::assert_snapshot!(sandbox.run(&["remove", "pdf"]), @"
    exit: 0
    --- stderr
    - pdf
    1 skill removed
    `skillpm.toml` and `skillpm.lock` changed: commit both
    hint: `skillpm undo` restores it
    ");
    insta::assert_snapshot!(shape(&sandbox), @"
    .agents/
    644 skillpm.lock
    644 skillpm.toml
    ");
}

#[test]
fn what_a_source_holds_and_what_would_be_done() {
    let (_forge, sandbox, _) = forge_with(&two_skills());
    sandbox.tells(
        &["install", "--list", "acme/skills"],
        0,
        ": name path",
        &["docx skills/docx", "pdf skills/pdf"],
    );
    for named in [&["acme/skills@pdf"][..], &["acme/skills", "-s", "pdf"]] {
        let listed = sandbox.ok(&[&["install", "--list"], named].concat()).stdout;
        assert!(listed.contains("pdf") && !listed.contains("docx"), "{named:?}: {listed}");
    }
    sandbox.fails(
        &["install", "--list", "acme/skills@pfd"],
        2,
        "usage",
        &["`pfd`", "`pdf`", "skillpm install --list acme/skills"],
    );
    sandbox.tells(
        &["install", "acme/skills", "-s", "*", "-a", "claude-code", "--dry-run"],
        0,
        "skills: name change; agents:",
        &["docx added", "pdf added", "claude-code"],
    );
    assert_eq!(shape(&sandbox), "", "a plan touches nothing");
}

/// Each revision by each way of saying it; `requested` and `revision` tell which it was.
#[test]
fn revisions() {
    let (forge, sandbox, _) = forge_with(&Tree::new().skill("", "pdf"));
    let old = forge.repo("acme/skills").loose_commit(&Tree::new().skill("", "pdf").file("OLD", ""));
    forge.repo("acme/skills").tag("v1", &old).branch("old", &old);
    for (args, requested) in [
        (vec!["acme/skills#v1"], "requested = \"v1\"\n"),
        (vec!["acme/skills", "--tag", "v1"], "requested = \"tags/v1\"\n"),
        (vec!["acme/skills", "--branch", "old"], "requested = \"heads/old\"\n"),
        (vec!["acme/skills", "--rev", &old], ""),
        (vec!["https://github.com/acme/skills/tree/old"], "requested = \"old\"\n"),
    ] {
        let output = sandbox.run(&[&["install"], &args[..]].concat());
        assert_eq!(output.code, Some(0), "{output}");
        let lock = sandbox.read("skillpm.lock");
        assert!(lock.contains(&format!("{requested}revision = \"{old}\"\n")), "{args:?}: {lock}");
        assert!(sandbox.project().join(".agents/skills/pdf/OLD").exists());
    }
}

/// A branch that moves is not followed by a restore, and is by a new install.
#[test]
fn restoring_takes_the_locked_commit() {
    let (forge, sandbox, first) = forge_with(&Tree::new().skill("", "pdf"));
    assert_eq!(sandbox.run(&["install", "acme/skills"]).code, Some(0));
    let second = forge.repo("acme/skills").commit(&Tree::new().skill("", "pdf").file("NEW", ""));
    for dir in
        [sandbox.project().join(".agents"), sandbox.home().join(".local"), sandbox.home().join(".cache")]
    {
        std::fs::remove_dir_all(dir).expect("removed");
    }
    forge.clear_requests();
    assert_eq!(sandbox.run(&["install", "--frozen"]).code, Some(0));
    assert!(sandbox.read("skillpm.lock").contains(&first));
    assert!(!sandbox.project().join(".agents/skills/pdf/NEW").exists());
    assert!(
        forge.requests().iter().all(|request| !request.path.contains("/commits/")),
        "nothing is resolved"
    );
    assert_eq!(sandbox.run(&["install", "acme/skills"]).code, Some(0));
    assert!(sandbox.read("skillpm.lock").contains(&second));
    assert!(sandbox.project().join(".agents/skills/pdf/NEW").exists());
}

/// S4-24, conflict C33: what is wrong takes nothing's place.
#[test]
fn a_wrong_version_leaves_the_one_that_is_there() {
    let sandbox = Sandbox::new();
    let right = "---\nname: pdf\ndescription: Reads PDF. Use it for PDF.\n---\n\nRead it.\n";
    sandbox.write("src/pdf/SKILL.md", right);
    assert_eq!(sandbox.run(&["install", "./src/pdf"]).code, Some(0));
    let lock = sandbox.read("skillpm.lock");
    sandbox.write("src/pdf/SKILL.md", "---\nname: pdf\n---\n\nIt is worse now.\n");
    for command in [&["install", "./src/pdf"][..], &["update"], &["install", "./src/pdf", "--force"]] {
        let output = sandbox.run(command);
        assert_ne!(output.code, Some(0), "{output}");
        assert!(output.stderr.contains("`description` is missing"), "{output}");
        assert_eq!(sandbox.read(".agents/skills/pdf/SKILL.md"), right, "{command:?}");
        assert_eq!(sandbox.read("skillpm.lock"), lock, "{command:?}");
    }
}

/// Nothing was added where something was replaced.
#[test]
fn an_edited_skill_is_replaced() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "src/pdf/SKILL.md",
        "---\nname: pdf\ndescription: Reads PDF. Use it for PDF.\n---\n\nRead it.\n",
    );
    sandbox.ok(&["install", "./src/pdf"]);
    sandbox.write(".agents/skills/pdf/more.md", "mine");
    let told = sandbox.ok(&["install", "--force"]).stderr;
    assert!(told.contains("~ pdf ") && told.contains("1 skill replaced in"), "{told}");
    std::fs::remove_dir_all(sandbox.project().join(".agents/skills/pdf")).expect("removed");
    let told = sandbox.ok(&["install"]).stderr;
    assert!(told.contains("+ pdf ") && told.contains("1 skill added in"), "{told}");
}

#[test]
fn the_scope_of_the_user() {
    let (_forge, sandbox, _) = forge_with(&two_skills());
    std::fs::create_dir(sandbox.home().join(".claude")).expect("Claude Code is on this machine");
    let output = sandbox.run(&["install", "acme/skills", "-s", "docx", "-g"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert_eq!(shape(&sandbox), "", "the project is not touched");
    let home: Vec<_> = sandbox
        .tree(&sandbox.home())
        .into_iter()
        .filter(|line| line.contains("docx") && !line.contains("cache"))
        .collect();
    insta::assert_snapshot!(home.join("\n"), @"
    .agents/skills/docx/
    .claude/skills/docx -> ../../.agents/skills/docx
    644 .agents/skills/docx/SKILL.md
    ");
    let list: serde_json::Value =
        serde_json::from_str(&sandbox.run(&["list", "--json"]).stdout).expect("JSON");
    assert_eq!((&list[0]["scope"], &list[0]["state"]), (&"user".into(), &"ok".into()));
    assert_eq!(sandbox.run(&["invoke", "docx"]).code, Some(0));
}

#[test]
fn copies_in_place_of_links() {
    let (_forge, sandbox, _) = forge_with(&two_skills());
    assert_eq!(sandbox.run(&["install", "acme/skills@pdf", "--copy", "-a", "claude-code"]).code, Some(0));
    let copy = sandbox.project().join(".claude/skills/pdf");
    assert!(!copy.is_symlink() && copy.join("scripts/run.sh").exists());
    std::fs::remove_dir_all(&copy).expect("removed");
    assert_eq!(sandbox.run(&["install"]).code, Some(0));
    assert!(copy.join("scripts/run.sh").exists(), "the manifest remembers that copies are wanted");
    assert_eq!(sandbox.run(&["remove", "pdf"]).code, Some(0));
    assert!(!copy.exists());
}

/// Archives that people make: with and without a directory around the skill.
#[test]
fn archives_on_this_machine() {
    let sandbox = Sandbox::new();
    let skill: &[u8] = b"---\nname: demo\ndescription: Shows things. Use it in tests.\n---\nBody\n";
    for (name, path) in
        [("flat.zip", "SKILL.md"), ("wrapped.zip", "demo/SKILL.md"), ("deep.zip", "a/b/demo/SKILL.md")]
    {
        sandbox.write(
            name,
            crate::support::zip::raw(
                &[(path, skill), ("README.md", &b"x"[..])][..if name == "flat.zip" { 2 } else { 1 }],
                "",
            ),
        );
        // One takes the place of the other, though it comes from elsewhere.
        let output = sandbox.run(&["install", &format!("./{name}"), "--force"]);
        assert_eq!(output.code, Some(0), "{output}");
        assert!(sandbox.read(".agents/skills/demo/SKILL.md").ends_with("Body\n"));
        std::fs::remove_dir_all(sandbox.project().join(".agents")).expect("removed");
        assert_eq!(sandbox.run(&["install", "--offline"]).code, Some(0));
    }
}

/// Two at once in one scope: the second waits for the first, and both succeed.
#[test]
fn two_at_once() {
    let (_forge, sandbox, _) = forge_with(&two_skills());
    let held = DirLock::acquire(&sandbox.project().join(".agents"), || ()).expect("locked");
    let mut running: Vec<_> = ["pdf", "docx"]
        .map(|name| {
            let mut command = sandbox.command(&["install", "acme/skills", "--skill", name]);
            let mut child = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().expect("starts");
            let mut talk = BufReader::new(child.stderr.take().expect("piped"));
            let mut line = String::new();
            while !line.contains("waiting for another skillpm") {
                line.clear();
                assert_ne!(talk.read_line(&mut line).expect("reads"), 0, "it ended without waiting");
            }
            (child, talk)
        })
        .into();
    drop(held);
    for (child, talk) in &mut running {
        let rest: Vec<_> = talk.lines().map_while(Result::ok).collect();
        assert!(child.wait().expect("ends").success(), "{rest:?}");
    }
    let list: Vec<serde_json::Value> =
        serde_json::from_str(&sandbox.run(&["list", "--json"]).stdout).expect("JSON");
    assert_eq!(list.iter().map(|skill| &skill["name"]).collect::<Vec<_>>(), ["docx", "pdf"]);
    assert!(list.iter().all(|skill| skill["state"] == "ok"));
    let manifest = sandbox.read("skillpm.toml");
    assert!(manifest.contains("pdf = ") && manifest.contains("docx = "), "{manifest}");
}

/// A damaged store is noticed, and mended where the source can be reached.
#[test]
fn a_damaged_store() {
    let (_forge, sandbox, _) = forge_with(&Tree::new().skill("", "pdf"));
    assert_eq!(sandbox.run(&["install", "acme/skills"]).code, Some(0));
    let store = sandbox.home().join(".local/share/skillpm/store-v2");
    let file = sandbox.tree(&store).into_iter().find(|line| line.contains("sha256/")).expect("a file");
    let path = store.join(file.split_once(' ').expect("a mode").1);
    let text = std::fs::read_to_string(&path).expect("a tree").replace("name: pdf", "name: bad");
    assert!(text.contains("name: bad"));
    std::fs::write(&path, text).expect("damaged");
    std::fs::remove_dir_all(sandbox.project().join(".agents")).expect("removed");
    let output = sandbox.run(&["install"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(output.stderr.contains("damaged"), "{output}");
    assert!(!sandbox.read(".agents/skills/pdf/SKILL.md").contains("name: bad"));
    assert!(!std::fs::read_to_string(path).expect("written anew").contains("name: bad"));
}

/// A new installation does not take the store's word for it either.
#[test]
fn a_damaged_store_does_not_stop_an_installation() {
    let (_forge, sandbox, _) = forge_with(&Tree::new().skill("", "pdf"));
    assert_eq!(sandbox.run(&["install", "acme/skills"]).code, Some(0));
    let store = sandbox.home().join(".local/share/skillpm/store-v2");
    let file = sandbox.tree(&store).into_iter().find(|line| line.contains("sha256/")).expect("a file");
    std::fs::write(store.join(file.split_once(' ').expect("a mode").1), "damaged").expect("damaged");
    std::fs::remove_dir_all(sandbox.project().join(".agents")).expect("removed");
    let output = sandbox.run(&["install", "acme/skills"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(sandbox.read(".agents/skills/pdf/SKILL.md").contains("name: pdf"));
}

/// A manifest that changed by hand: what is new is resolved, what is gone goes.
#[test]
fn the_manifest_is_followed() {
    let (_forge, sandbox, _) = forge_with(&two_skills());
    sandbox.write("skillpm.toml", "# ours\n[skills]\npdf = { github = \"acme/skills\" }\nother = { github = \"acme/skills\", path = \"skills/docx\", name = \"docx\" }\n");
    let output = sandbox.run(&["install"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(sandbox.project().join(".agents/skills/other/SKILL.md").exists(), "installed under its alias");
    sandbox.write("skillpm.toml", "# ours\n[skills]\npdf = { github = \"acme/skills\" }\n");
    assert_eq!(sandbox.run(&["install", "--locked"]).code, Some(3));
    assert_eq!(sandbox.run(&["install"]).code, Some(0));
    assert!(!sandbox.project().join(".agents/skills/other").exists());
    assert_eq!(sandbox.read("skillpm.toml"), "# ours\n[skills]\npdf = { github = \"acme/skills\" }\n");
}

/// An agent that is on this machine and sees nothing is told while the choice is made, and once.
#[test]
fn agents_that_are_passed_over_are_named() {
    let (_forge, sandbox, _) = forge_with(&two_skills());
    for dir in [".iflow", ".config/goose", ".cursor"] {
        std::fs::create_dir_all(sandbox.home().join(dir)).expect("an agent");
    }
    let told = "iflow-cli is on this machine and does not see 1 skill: `skillpm agents use cursor goose iflow-cli` links";
    let first = sandbox.run(&["install", "acme/skills@pdf"]);
    // The other two read what is in `.agents/skills`.
    assert!(first.stderr.contains("available to cursor and goose, and to agents that read"), "{first}");
    assert!(first.stderr.contains(told), "{first}");
    let again = sandbox.run(&["install", "acme/skills@pdf"]);
    assert!(again.stderr.contains(told), "{again}");
    let named = sandbox.run(&["install", "acme/skills@pdf", "--agent", "iflow-cli"]);
    assert!(
        named.stderr.contains("available to cursor, goose and iflow-cli, and to agents that read"),
        "{named}"
    );
    assert!(!named.stderr.contains("on this machine"), "{named}");
}

/// Two agents whose directories are one through links: one copy, whatever each is called.
#[cfg(unix)]
#[test]
fn agents_that_share_a_directory_through_links() {
    let (_forge, sandbox, _) = forge_with(&two_skills());
    for dir in ["shared", ".claude", ".junie"] {
        std::fs::create_dir(sandbox.project().join(dir)).expect("a directory");
    }
    for dir in [".claude", ".junie"] {
        std::os::unix::fs::symlink("../shared", sandbox.project().join(dir).join("skills")).expect("a link");
    }
    let plan = sandbox.run(&["install", "acme/skills@pdf", "--copy", "--dry-run"]);
    let copies = [".claude/skills/pdf", ".junie/skills/pdf"].map(|path| plan.stdout.matches(path).count());
    assert_eq!(copies.iter().sum::<usize>(), 1, "{plan}");
    assert_eq!(sandbox.run(&["install", "acme/skills@pdf", "--copy"]).code, Some(0));
    assert!(sandbox.project().join("shared/pdf/scripts/run.sh").exists());
    let list: serde_json::Value =
        serde_json::from_str(&sandbox.run(&["list", "--json"]).stdout).expect("JSON");
    assert_eq!(list[0]["agents"], serde_json::json!(["claude-code", "junie"]));
    assert_eq!(sandbox.run(&["remove", "pdf"]).code, Some(0));
    assert!(!sandbox.project().join("shared/pdf").exists());
}

/// An author installs the skills of the repository that they work in, again and again: the copies of
/// the run before are no part of them.
#[test]
fn the_project_is_its_own_source() {
    let text = |body: &str| format!("---\nname: pdf\ndescription: d\n---\n{body}\n");
    for (dir, args) in [("", &[][..]), ("skills/pdf/", &[]), ("", &["--copy"])] {
        let sandbox = Sandbox::new();
        std::fs::create_dir(sandbox.home().join(".claude")).expect("Claude Code is on this machine");
        for body in ["one", "one", "two"] {
            sandbox.write(&format!("{dir}SKILL.md"), text(body));
            let output = sandbox.run(&[&["install", "."], args].concat());
            assert_eq!(output.code, Some(0), "{dir}: {output}");
            for agent in [".agents", ".claude"] {
                let copy = sandbox.project().join(agent).join("skills/pdf");
                assert!(std::fs::read_to_string(copy.join("SKILL.md")).expect("there").contains(body));
                assert_eq!(std::fs::read_dir(copy).expect("there").count(), 1, "{dir}: nothing of ours");
            }
        }
        // The bytes at the source are the locked ones, too.
        std::fs::remove_dir_all(sandbox.home().join(".local")).expect("removed");
        std::fs::remove_dir_all(sandbox.project().join(".agents")).expect("removed");
        let output = sandbox.run(&["install", "--frozen"]);
        assert_eq!(output.code, Some(0), "{output}");
    }
}

/// Paths with characters that mean something to a shell, to TOML or to skillpm's own sources.
#[cfg(unix)]
#[test]
fn directories_with_odd_names() {
    let sandbox = Sandbox::new();
    for (at, dir) in
        [r"a\b", "it's \"q\"", "é ü", "x#y@z", "~x", "-x", "%20", "a.zip"].into_iter().enumerate()
    {
        sandbox.write(&format!("{dir}/SKILL.md"), format!("---\nname: s{at}\ndescription: d\n---\n"));
        let output = sandbox.run(&["install", &format!("./{dir}")]);
        assert_eq!(output.code, Some(0), "{output}");
    }
    for dir in [".agents", "../home/.local"] {
        std::fs::remove_dir_all(sandbox.project().join(dir)).expect("removed");
    }
    let output = sandbox.run(&["install", "--frozen"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(output.stderr.contains("8 skills added"), "{output}");
    sandbox.write("new\nline/SKILL.md", "---\nname: x\ndescription: d\n---\n");
    let output = sandbox.run(&["install", "./new\nline"]);
    assert_eq!(output.code, Some(2), "{output}");
    assert!(output.stderr.contains("has a control character"), "{output}");
}

/// What the manifest has and the lockfile lacks is resolved once for each source and reference, not for
/// each skill.
#[test]
fn a_source_of_several_new_skills_is_fetched_once() {
    let forge = Forge::start();
    let mut sandbox = Sandbox::new();
    sandbox.forge(&forge);
    let names = ["a", "b", "c"];
    let tree = names.iter().fold(Tree::new(), |tree, name| tree.skill(&format!("skills/{name}"), name));
    let commit = forge.repo("acme/skills").commit(&tree);
    forge.repo("acme/skills").tag("v1", &commit);
    let entry = |name: &&str| {
        let tag = if *name == "c" { ", tag = \"v1\"" } else { "" };
        format!("{name} = {{ github = \"acme/skills\", path = \"skills/{name}\"{tag} }}\n")
    };
    sandbox.write("skillpm.toml", format!("[skills]\n{}", names.iter().map(entry).collect::<String>()));
    let output = sandbox.run(&["install"]);
    assert_eq!(output.code, Some(0), "{output}");
    let asked = forge.requests().iter().filter(|request| request.path.contains("/commits/")).count();
    assert_eq!(asked, 2, "one reference is none at all, the other a tag");
    assert_eq!(sandbox.run(&["list", "--json"]).stdout.matches("\"ok\"").count(), 3);
}

/// Who leaves out `./` gets no stranger's skills: nothing is asked of the network before it is clear what is meant.
#[test]
fn a_directory_that_is_here_is_taken_for_no_repository() {
    let forge = Forge::start();
    let mut sandbox = Sandbox::new();
    sandbox.forge(&forge);
    forge.repo("skills/pdf").commit(&Tree::new().skill("", "evil"));
    sandbox.write("skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Does pdf. Use it in tests.\n---\n");
    for command in [
        &["install", "skills/pdf"][..],
        &["install", "skills/pdf/"],
        &["create", "x", "-t", "skills/pdf", "--yes"],
    ] {
        let output = sandbox.run(command);
        assert_eq!(output.code, Some(2), "{output}");
        let told = "error: `skills/pdf` is a directory here, but could also be a repository on GitHub\n\
                    hint: `./skills/pdf` is the directory, `github:skills/pdf` the repository\n";
        assert_eq!(output.stderr, told);
    }
    assert!(forge.requests().is_empty(), "{:?}", forge.requests());
    sandbox.ok(&["install", "./skills/pdf"]);
    assert!(sandbox.read("skillpm.toml").contains("pdf = { path"));
    sandbox.ok(&["install", "github:skills/pdf"]);
    assert!(sandbox.project().join(".agents/skills/evil/SKILL.md").exists());
}
