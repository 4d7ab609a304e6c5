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
fn the_page() {
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
          "listed": [],
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
    sandbox.write(".junie/skills/pdf/SKILL.md", "x");
    sandbox.tells(&["why", "pdf"], 0, "installed: name scope state needed_by asked.line shadowed_by shadows; installed.seen: form agents; elsewhere: scope form agents", &["pdf project modified report 2 - [DIR]/home/.agents/skills/pdf", "pdf user ok - 2 [DIR]/project/.agents/skills/pdf -", "canonical codex", "link claude-code", "canonical codex", "link claude-code", "project copy -", "project copy -"]);
    let user = shown(&sandbox, &["why", "pdf", "-g"], &commit);
    assert!(
        user.contains("skillpm takes .agents/skills/pdf before it") && !user.contains("in the project"),
        "{user}"
    );
}

#[test]
fn what_is_not_installed() {
    let (_forge, sandbox, _) = machine();
    sandbox.write(".claude/skills/own/SKILL.md", "x");
    sandbox.write(".agents/skills/own/SKILL.md", "x");
    std::fs::create_dir_all(sandbox.home().join(".claude/skills")).expect("creates");
    symlink("/gone/own\u{1b}[2J", sandbox.home().join(".claude/skills/own")).expect("links");
    let output = sandbox.run(&["why", "own", "--json"]);
    assert!(!output.stdout.contains('\u{1b}'), "{output}");
    sandbox.tells(
        &["why", "own"],
        1,
        "installed: name; elsewhere: scope form agents target",
        &["project canonical codex -", "project foreign claude-code -", "user broken - /gone/own[2J"],
    );
    // What nothing knows is a slip, as with every other verb.
    sandbox.fails(&["why", "reprot"], 2, "usage", &["reprot", "report"]);
    assert_eq!(sandbox.run(&["why", "reprot", "--json"]).code, Some(2));
    sandbox.fails(&["why", "zzz", "-g"], 2, "usage", &["`zzz`", "skillpm list"]);
    sandbox.tells(
        &["why", "pdf", "-g"],
        1,
        "installed: name scope state; elsewhere: scope form agents",
        &["project canonical codex"],
    );
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
    let (_forge, sandbox, _) = machine();
    std::fs::remove_file(sandbox.project().join("skillpm.toml")).expect("removes");
    std::fs::remove_dir_all(sandbox.project().join(".agents/skills/report")).expect("removes");
    sandbox.tells(&["why", "report"], 0, "installed: name scope state", &["report project missing"]);
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
    sandbox.tells(
        &["why", "brand"],
        0,
        "installed: name scope state asked.line editable; installed.seen: form agents",
        &["brand project editable 2 true", "link claude-code"],
    );
    std::fs::rename(sandbox.project().join("src/brand"), sandbox.project().join("src/moved")).expect("moves");
    sandbox.tells(
        &["why", "brand"],
        0,
        "installed: name scope state asked.line editable",
        &["brand project missing 2 true"],
    );
    std::fs::rename(sandbox.project().join("src/moved"), sandbox.project().join("src/brand")).expect("moves");
    sandbox.ok(&["disable", "paper", "brand"]);
    sandbox.tells(
        &["why", "brand"],
        0,
        "installed: name scope state asked.line disabled editable",
        &["brand project disabled 2 true true"],
    );
    sandbox.tells(
        &["why", "paper"],
        0,
        "installed: name scope state asked.line alias_of disabled",
        &["paper project disabled 3 pdf true"],
    );
    let (aside, seen) = (".agents/.skillpm-disabled/paper", ".agents/skills/paper");
    sandbox.write(&format!("{aside}/SKILL.md"), "mine");
    sandbox.tells(
        &["why", "paper"],
        0,
        "installed: name scope state asked.line alias_of disabled",
        &["paper project disabled 3 pdf true"],
    );
    std::fs::create_dir_all(sandbox.project().join(".agents/skills")).expect("a directory");
    std::fs::rename(sandbox.project().join(aside), sandbox.project().join(seen)).expect("moves");
    sandbox.tells(
        &["why", "paper"],
        0,
        "installed: name scope state asked.line alias_of disabled",
        &["paper project modified 3 pdf true"],
    );
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

const SOLO: &str = "---\nname: solo\ndescription: Does it. Use it in tests.\n---\n\n# Solo\n";

/// A skill of the project around this one is told with where it is, and the command that works there.
#[test]
fn a_skill_of_the_project_around_this_one() {
    let sandbox = Sandbox::new();
    sandbox.write("src/solo/SKILL.md", SOLO);
    sandbox.ok(&["install", "./src/solo"]);
    sandbox.write("packages/web/skillpm.toml", "[skills]\n");
    // Agents search upwards to the root of the repository.
    sandbox.write(".git/HEAD", "ref: refs/heads/main\n");
    for call in [
        "why",
        "remove",
        "update --ours",
        "tree",
        "verify",
        "outdated",
        "diff --newest",
        "disable",
        "link --agent cursor --agent junie",
    ] {
        let args: Vec<_> = call.split(' ').chain(["solo"]).collect();
        let mut command = sandbox.command(&args);
        let output = sandbox.output(command.current_dir(sandbox.project().join("packages/web")));
        assert_eq!(output.code, Some(2), "{output}");
        let told = format!("`skillpm {call} solo` in `../..`");
        assert!(output.stderr.contains(&told), "{output}");
    }
}

/// Paths work from the directory in which they are printed.
#[test]
fn paths_are_those_of_the_working_directory() {
    let sandbox = Sandbox::new();
    sandbox.write("src/solo/SKILL.md", SOLO);
    sandbox.ok(&["install", "./src/solo"]);
    sandbox.write("docs/deep/x", "");
    for verb in ["why", "show"] {
        let mut command = sandbox.command(&[verb, "solo"]);
        let output = sandbox.output(command.current_dir(sandbox.project().join("docs/deep")));
        assert!(output.stdout.contains(" ../../.agents/skills/solo"), "{output}");
    }
}
