//! `why`: who asked for a skill, where it came from, who sees it, what it hides.

use std::os::unix::fs::symlink;

use crate::support::{Forge, Sandbox, Tree};

/// A machine with Claude Code and Codex, a skill of a repository in the project, and one of the same name
/// for the user.
fn machine() -> (Forge, Sandbox, String) {
    let forge = Forge::start();
    let mut sandbox = Sandbox::new();
    sandbox.forge(&forge);
    for agent in [".claude", ".codex"] {
        std::fs::create_dir(sandbox.home().join(agent)).expect("a directory");
    }
    let report = "---\nname: report\ndescription: Reports.\nmetadata:\n  version: \"2\"\n  skill-dependencies: pdf\n---\n";
    let tree = Tree::new().skill("skills/pdf", "pdf").file("skills/report/SKILL.md", report);
    let commit = forge.repo("acme/skills").commit(&tree);
    forge.repo("acme/skills").branch("next", &commit);
    assert_eq!(sandbox.run(&["install", "acme/skills#next", "--skill", "*"]).code, Some(0));
    (forge, sandbox, commit)
}

fn shown(sandbox: &Sandbox, words: &[&str], commit: &str) -> String {
    sandbox.run(words).to_string().replace(commit, "[COMMIT]").replace(&commit[..7], "[COMMIT]")
}

#[test]
fn why_a_skill_is_here() {
    let (_forge, sandbox, commit) = machine();
    insta::assert_snapshot!(shown(&sandbox, &["why", "pdf"], &commit), @r#"
    exit: 0
    --- stdout
    pdf, in the project
      requested by skillpm.toml:2: pdf = { github = "acme/skills", path = "skills/pdf", ref = "next" }
      needed by report
      from github:acme/skills, directory skills/pdf
      locked at [COMMIT], requested: next
      is in .agents/skills/pdf, as it is locked
      seen by codex in .agents/skills/pdf
      seen by claude-code in .claude/skills/pdf, a link
    "#);
    insta::assert_snapshot!(shown(&sandbox, &["why", "report", "--json"], &commit), @r#"
    exit: 0
    --- stdout
    {
      "name": "report",
      "installed": [
        {
          "name": "report",
          "version": "2",
          "scope": "project",
          "source": "github:acme/skills",
          "path": "skills/report",
          "revision": "[COMMIT]",
          "digest": "sha256:91c6e3c7f28605e75af4543c2a11926036cd1248d564e334951bde22c5c271d9",
          "agents": [
            "claude-code"
          ],
          "edited_copies": [],
          "state": "ok",
          "modified": false,
          "alias_of": null,
          "disabled": false,
          "editable": false,
          "location": "[DIR]/project/.agents/skills/report",
          "source_type": "github",
          "source_url": "https://github.com/acme/skills",
          "requested": "next",
          "dependencies": [
            "pdf"
          ],
          "seen_by": [
            "claude-code",
            "codex"
          ],
          "found_in": null,
          "outer": null,
          "asked": {
            "file": "[DIR]/project/skillpm.toml",
            "line": 3,
            "text": "report = { github = \"acme/skills\", path = \"skills/report\", ref = \"next\" }"
          },
          "needed_by": [],
          "seen": [
            {
              "agents": [
                "codex"
              ],
              "path": "[DIR]/project/.agents/skills/report",
              "form": "canonical"
            },
            {
              "agents": [
                "claude-code"
              ],
              "path": "[DIR]/project/.claude/skills/report",
              "form": "link"
            }
          ],
          "shadowed_by": null,
          "shadows": []
        }
      ],
      "elsewhere": [],
      "closest": null
    }
    "#);
}

#[test]
fn what_hides_what() {
    let (_forge, sandbox, commit) = machine();
    sandbox.write("mine/pdf/SKILL.md", "---\nname: pdf\ndescription: Mine. Use it in tests.\n---\n");
    assert_eq!(sandbox.run(&["install", "-g", "./mine/pdf"]).code, Some(0));
    sandbox.write(".agents/skills/pdf/notes.md", "what I wrote");
    sandbox.write(".codex/skills/pdf/SKILL.md", "x");
    sandbox.write(".goose/skills/pdf/SKILL.md", "x");
    insta::assert_snapshot!(shown(&sandbox, &["why", "pdf"], &commit), @r#"
    exit: 0
    --- stdout
    pdf, in the project
      requested by skillpm.toml:2: pdf = { github = "acme/skills", path = "skills/pdf", ref = "next" }
      needed by report
      from github:acme/skills, directory skills/pdf
      locked at [COMMIT], requested: next
      is in .agents/skills/pdf, edited since it was installed
      seen by codex in .agents/skills/pdf
      seen by claude-code in .claude/skills/pdf, a link
      comes before ~/.agents/skills/pdf

    pdf, of the user
      requested by ~/.config/skillpm/skillpm.toml:2: pdf = { path = "[DIR]/project/mine/pdf" }
      from path:[DIR]/project/mine/pdf
      is in ~/.agents/skills/pdf, as it is locked
      seen by codex in ~/.agents/skills/pdf
      seen by claude-code in ~/.claude/skills/pdf, a link
      comes after .agents/skills/pdf, where an agent takes only one

    the same name is in:
      .codex/skills/pdf: not from skillpm
      .goose/skills/pdf: not from skillpm
    "#);
    let user = shown(&sandbox, &["why", "pdf", "-g"], &commit);
    assert!(user.contains("comes after .agents/skills/pdf") && !user.contains("in the project"), "{user}");
}

#[test]
fn what_is_not_installed() {
    let (_forge, sandbox, commit) = machine();
    sandbox.write(".claude/skills/own/SKILL.md", "x");
    sandbox.write(".agents/skills/own/SKILL.md", "x");
    std::fs::create_dir_all(sandbox.home().join(".claude/skills")).expect("creates");
    symlink("/gone/own\u{1b}[2J", sandbox.home().join(".claude/skills/own")).expect("links");
    let output = shown(&sandbox, &["why", "own"], &commit);
    insta::assert_snapshot!(output, @r"
    exit: 1
    --- stdout
    a skill of this name is in:
      .agents/skills/own: not in any lockfile, seen by codex
      .claude/skills/own: not from skillpm, seen by claude-code
      ~/.claude/skills/own: a link to /gone/own\u{1b}[2J, which does not exist
    --- stderr
    `own` is not installed
    hint: `skillpm list` shows what is installed
    ");
    let json = sandbox.run(&["why", "own", "--json"]);
    let value: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!((json.code, &value["installed"]), (Some(1), &serde_json::json!([])));
    // What nothing knows is a slip, as with every other verb.
    insta::assert_snapshot!(shown(&sandbox, &["why", "reprot"], &commit), @"
    exit: 2
    --- stderr
    error: `reprot` is not installed
    hint: did you mean `report`?
    ");
    assert_eq!(sandbox.run(&["why", "reprot", "--json"]).code, Some(2));
    insta::assert_snapshot!(shown(&sandbox, &["why", "zzz", "-g"], &commit), @"
    exit: 2
    --- stderr
    error: `zzz` is not installed among your own skills
    hint: `skillpm list` shows what is installed, and where
    ");
    insta::assert_snapshot!(shown(&sandbox, &["why", "pdf", "-g"], &commit), @"
    exit: 1
    --- stdout
    a skill of this name is in:
      .agents/skills/pdf: installed, of the project, seen by codex
    --- stderr
    `pdf` is not installed among your own skills
    hint: `skillpm list -g` shows what is installed
    ");
    for name in ["../../etc", "", "\u{1b}[2J"] {
        let output = sandbox.run(&["why", name]);
        assert_eq!(output.code, Some(2), "{output}");
        assert!(output.stderr.starts_with("error: ") && !output.stderr.contains('\u{1b}'), "{output}");
    }
    assert_eq!(sandbox.run(&["why"]).code, Some(2));
    sandbox.write("skillpm.lock", "<<<<<<< ours\n");
    assert_eq!(sandbox.run(&["why", "pdf"]).code, Some(3));
}

/// A skill that the manifest does not name, and one whose copy is gone.
#[test]
fn what_nobody_asked_for_and_what_is_missing() {
    let (_forge, sandbox, commit) = machine();
    std::fs::remove_file(sandbox.project().join("skillpm.toml")).expect("removes");
    std::fs::remove_dir_all(sandbox.project().join(".agents/skills/report")).expect("removes");
    insta::assert_snapshot!(shown(&sandbox, &["why", "report"], &commit), @"
    exit: 0
    --- stdout
    report 2, in the project
      not requested: no manifest names it, and no skill needs it
      from github:acme/skills, directory skills/report
      locked at [COMMIT], requested: next
      missing from .agents/skills/report: `skillpm install` restores it
      seen by no agent on this machine
    ");
}

/// What programs get of `list`: the fields that users of other tools look for, and ours.
#[test]
fn list_in_full() {
    let (_forge, sandbox, commit) = machine();
    let output = sandbox.run(&["list", "--json"]);
    insta::assert_snapshot!(output.stdout.replace(&commit, "[COMMIT]"), @r#"
    [
      {
        "name": "pdf",
        "version": null,
        "scope": "project",
        "source": "github:acme/skills",
        "path": "skills/pdf",
        "revision": "[COMMIT]",
        "digest": "sha256:04b9d227b4981f4e9aa2239428f07f098daacc541dc9718ef47ebb3b0ea2e91d",
        "agents": [
          "claude-code"
        ],
        "edited_copies": [],
        "state": "ok",
        "modified": false,
        "alias_of": null,
        "disabled": false,
        "editable": false,
        "location": "[DIR]/project/.agents/skills/pdf",
        "source_type": "github",
        "source_url": "https://github.com/acme/skills",
        "requested": "next",
        "dependencies": [],
        "seen_by": [
          "claude-code",
          "codex"
        ],
        "found_in": null,
        "outer": null
      },
      {
        "name": "report",
        "version": "2",
        "scope": "project",
        "source": "github:acme/skills",
        "path": "skills/report",
        "revision": "[COMMIT]",
        "digest": "sha256:91c6e3c7f28605e75af4543c2a11926036cd1248d564e334951bde22c5c271d9",
        "agents": [
          "claude-code"
        ],
        "edited_copies": [],
        "state": "ok",
        "modified": false,
        "alias_of": null,
        "disabled": false,
        "editable": false,
        "location": "[DIR]/project/.agents/skills/report",
        "source_type": "github",
        "source_url": "https://github.com/acme/skills",
        "requested": "next",
        "dependencies": [
          "pdf"
        ],
        "seen_by": [
          "claude-code",
          "codex"
        ],
        "found_in": null,
        "outer": null
      }
    ]
    "#);
}

/// What an entry of the manifest can say besides: disabled, editable, another name.
#[test]
fn what_is_special_about_a_skill() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.home().join(".claude")).expect("a directory");
    for name in ["pdf", "brand"] {
        sandbox.write(
            &format!("src/{name}/SKILL.md"),
            format!("---\nname: {name}\ndescription: Does it.\n---\n"),
        );
    }
    sandbox.ok(&["install", "./src", "--skill", "pdf", "--as", "paper"]);
    sandbox.ok(&["install", "-e", "./src/brand"]);
    insta::assert_snapshot!(sandbox.run(&["why", "brand"]), @r#"
    exit: 0
    --- stdout
    brand, in the project
      requested by skillpm.toml:2: brand = { path = "./src/brand", editable = true }
      from path:./src/brand
      editable: .agents/skills/brand is a link to its working directory
      seen by claude-code in .claude/skills/brand, a link
    "#);
    std::fs::rename(sandbox.project().join("src/brand"), sandbox.project().join("src/moved")).expect("moves");
    insta::assert_snapshot!(sandbox.run(&["why", "brand"]), @r#"
    exit: 0
    --- stdout
    brand, in the project
      requested by skillpm.toml:2: brand = { path = "./src/brand", editable = true }
      from path:./src/brand
      editable: the link .agents/skills/brand or its target is missing
      seen by no agent on this machine
    "#);
    std::fs::rename(sandbox.project().join("src/moved"), sandbox.project().join("src/brand")).expect("moves");
    sandbox.ok(&["disable", "paper", "brand"]);
    insta::assert_snapshot!(sandbox.run(&["why", "brand"]), @r#"
    exit: 0
    --- stdout
    brand, in the project
      requested by skillpm.toml:2: brand = { path = "./src/brand", editable = true, disabled = true }
      from path:./src/brand
      disabled and editable: it is edited in src/brand, and no agent has a link to it
      seen by no agent on this machine
    "#);
    insta::assert_snapshot!(sandbox.run(&["why", "paper"]), @r#"
    exit: 0
    --- stdout
    paper, in the project
      requested by skillpm.toml:3: paper = { path = "./src", subdir = "pdf", name = "pdf", disabled = true }
      from path:./src, directory pdf, where its name is pdf
      disabled: it is in .agents/.skillpm-disabled/paper, where no agent looks
      seen by no agent on this machine
    "#);
    let (aside, seen) = (".agents/.skillpm-disabled/paper", ".agents/skills/paper");
    sandbox.write(&format!("{aside}/SKILL.md"), "mine");
    insta::assert_snapshot!(sandbox.run(&["why", "paper"]), @r#"
    exit: 0
    --- stdout
    paper, in the project
      requested by skillpm.toml:3: paper = { path = "./src", subdir = "pdf", name = "pdf", disabled = true }
      from path:./src, directory pdf, where its name is pdf
      disabled: it is in .agents/.skillpm-disabled/paper, where no agent looks, edited since it was installed
      seen by no agent on this machine
    "#);
    std::fs::create_dir_all(sandbox.project().join(".agents/skills")).expect("a directory");
    std::fs::rename(sandbox.project().join(aside), sandbox.project().join(seen)).expect("moves");
    insta::assert_snapshot!(sandbox.run(&["why", "paper"]), @r#"
    exit: 0
    --- stdout
    paper, in the project
      requested by skillpm.toml:3: paper = { path = "./src", subdir = "pdf", name = "pdf", disabled = true }
      from path:./src, directory pdf, where its name is pdf
      is in .agents/skills/paper, edited since it was installed (it is disabled: `skillpm install` hides it from agents)
      seen by no agent on this machine
    --- stderr
    warning: `paper` is disabled in `skillpm.toml`, but agents see it: `skillpm install` moves it away
    "#);
}

/// In the home directory the directories of the project are the user's: a skill is not elsewhere in its own place.
#[test]
fn in_the_home_directory() {
    for flag in ["-p", "-g"] {
        let sandbox = Sandbox::new();
        sandbox.write("../home/.claude/settings.json", "{}");
        sandbox.write("src/b/SKILL.md", "---\nname: b\ndescription: Does b. Use it in tests.\n---\n");
        let run = |args: &[&str]| sandbox.output(sandbox.command(args).current_dir(sandbox.home()));
        assert_eq!(run(&["install", flag, "../project/src"]).code, Some(0));
        let output = run(&["why", "b", "--json"]);
        let value: serde_json::Value = serde_json::from_str(&output.stdout).expect("JSON");
        assert_eq!(value["elsewhere"], serde_json::json!([]), "{flag}: {output}");
        assert!(!value["installed"][0]["seen"].as_array().expect("a list").is_empty(), "{flag}: {output}");
    }
}
