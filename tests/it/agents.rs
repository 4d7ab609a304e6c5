//! `agents`: who is here, where each reads, what it sees.

use crate::support::Sandbox;

/// A machine with Claude Code and Cursor, one skill for the project and one for the user.
fn machine() -> Sandbox {
    let sandbox = Sandbox::new();
    for agent in [".claude", ".cursor"] {
        std::fs::create_dir(sandbox.home().join(agent)).expect("a directory");
    }
    for name in ["pdf", "docx"] {
        let text = format!("---\nname: {name}\ndescription: Does {name}. Use it in tests.\n---\n");
        sandbox.write(&format!("src/{name}/SKILL.md"), text);
    }
    assert_eq!(sandbox.run(&["install", "./src/pdf"]).code, Some(0));
    assert_eq!(sandbox.run(&["install", "-g", "./src/docx", "--agent", "claude-code"]).code, Some(0));
    sandbox
}

/// INTEROP 5: Cursor reads the directories of Claude Code and Codex too, so it finds the links as well.
#[test]
fn the_page() {
    let sandbox = machine();
    insta::assert_snapshot!(sandbox.run(&["agents"]), @"
    exit: 0
    --- stdout
    agent        found by   in a project    for the user      links       sees  twice
    claude-code  ~/.claude  .claude/skills  ~/.claude/skills  yes            2      -
    cursor       ~/.cursor  .agents/skills  ~/.agents/skills  not needed     2      2
    --- stderr
    hint: `skillpm agents cursor` shows which skills it finds twice, and where
    ");
    insta::assert_snapshot!(sandbox.run(&["agents", "cursor"]), @"
    exit: 0
    --- stdout
    cursor (Cursor)
      found by ~/.cursor
      reads the canonical copies and needs no links
      .agents/skills of the project, canonical copies: 1 skill
        pdf: canonical copy
      .cursor/skills of the project, in some versions or tools: not there
      .claude/skills of the project, another agent's directory, read too: 1 skill
        pdf: link to the canonical copy
      .codex/skills of the project, another agent's directory, read too: not there
      ~/.agents/skills of the user, canonical copies: 1 skill
        docx: canonical copy
      ~/.cursor/skills of the user, its own: not there
      ~/.claude/skills of the user, another agent's directory, read too: 1 skill
        docx: link to the canonical copy
      ~/.codex/skills of the user, another agent's directory, read too: not there
      twice: docx in ~/.agents/skills/docx and ~/.claude/skills/docx (one skill, found in several ways)
      twice: pdf in .agents/skills/pdf and .claude/skills/pdf (one skill, found in several ways)
    ");
    insta::assert_snapshot!(sandbox.run(&["agents", "claude", "--scope", "project"]), @"
    exit: 0
    --- stdout
    claude-code (Claude Code)
      found by ~/.claude
      gets a link to each skill
      .claude/skills of the project, its own: 1 skill
        pdf: link to the canonical copy
    ");
}

#[test]
fn all_that_lies_in_a_directory_is_told_apart() {
    let sandbox = machine();
    sandbox.write(".claude/skills/mine/SKILL.md", "---\nname: mine\ndescription: Mine.\n---\n");
    sandbox.write(".claude/skills/no-skill/README.md", "x");
    sandbox.write(".agents/skills/new/SKILL.md", "---\nname: new\ndescription: New.\n---\n");
    let link = |target: &str, name: &str| {
        std::os::unix::fs::symlink(target, sandbox.project().join(".claude/skills").join(name))
            .expect("links");
    };
    link("../../gone", "gone\u{1b}[2J");
    link("../../src/docx", "docx");
    let output = sandbox.run(&["agents", "claude-code", "-p"]);
    sandbox.tells(&["agents", "claude-code", "-p"], 0, ": id detected chosen", &["claude-code true project"]);
    assert!(!output.stdout.contains('\u{1b}'), "ms30-desc-escape");
}

/// Roo Code has a directory of its own and reads the canonical copies too: a link would show skills twice.
#[test]
fn an_agent_that_reads_both_needs_no_link() {
    let sandbox = machine();
    std::fs::create_dir(sandbox.home().join(".roo")).expect("a directory");
    std::fs::create_dir_all(sandbox.home().join(".codeium/windsurf")).expect("a directory");
    let output = sandbox.run(&["agents"]).stdout;
    let links = |agent: &str| output.lines().find(|line| line.starts_with(agent)).expect(agent).to_owned();
    assert!(links("roo").contains("not needed"), "{output}");
    assert!(links("windsurf").contains("not chosen"), "{output}");
}

#[test]
fn for_programs() {
    let sandbox = machine();
    let output = sandbox.run(&["agents", "cursor", "--json"]);
    insta::assert_snapshot!(output.stdout, @r#"
    [
      {
        "id": "cursor",
        "name": "Cursor",
        "detected": true,
        "found_by": [
          "[DIR]/home/.cursor"
        ],
        "universal": true,
        "chosen": [],
        "directories": [
          {
            "scope": "project",
            "path": "[DIR]/project/.agents/skills",
            "role": "canonical",
            "exists": true,
            "skills": [
              {
                "name": "pdf",
                "form": "canonical",
                "target": null
              }
            ],
            "problem": null
          },
          {
            "scope": "project",
            "path": "[DIR]/project/.cursor/skills",
            "role": "other",
            "exists": false,
            "skills": [],
            "problem": null
          },
          {
            "scope": "project",
            "path": "[DIR]/project/.claude/skills",
            "role": "shared",
            "exists": true,
            "skills": [
              {
                "name": "pdf",
                "form": "link",
                "target": "../../.agents/skills/pdf"
              }
            ],
            "problem": null
          },
          {
            "scope": "project",
            "path": "[DIR]/project/.codex/skills",
            "role": "shared",
            "exists": false,
            "skills": [],
            "problem": null
          },
          {
            "scope": "user",
            "path": "[DIR]/home/.agents/skills",
            "role": "canonical",
            "exists": true,
            "skills": [
              {
                "name": "docx",
                "form": "canonical",
                "target": null
              }
            ],
            "problem": null
          },
          {
            "scope": "user",
            "path": "[DIR]/home/.cursor/skills",
            "role": "own",
            "exists": false,
            "skills": [],
            "problem": null
          },
          {
            "scope": "user",
            "path": "[DIR]/home/.claude/skills",
            "role": "shared",
            "exists": true,
            "skills": [
              {
                "name": "docx",
                "form": "link",
                "target": "../../.agents/skills/docx"
              }
            ],
            "problem": null
          },
          {
            "scope": "user",
            "path": "[DIR]/home/.codex/skills",
            "role": "shared",
            "exists": false,
            "skills": [],
            "problem": null
          }
        ],
        "sees": 2,
        "twice": [
          {
            "name": "docx",
            "places": [
              "[DIR]/home/.agents/skills/docx",
              "[DIR]/home/.claude/skills/docx"
            ],
            "same": true
          },
          {
            "name": "pdf",
            "places": [
              "[DIR]/project/.agents/skills/pdf",
              "[DIR]/project/.claude/skills/pdf"
            ],
            "same": true
          }
        ]
      }
    ]
    "#);
    let all = sandbox.run(&["agents", "--all", "--json"]);
    let all: serde_json::Value = serde_json::from_str(&all.stdout).expect("JSON");
    assert!(all.as_array().expect("a list").len() > 80);
}

#[test]
fn nobody_mistakes_and_damage() {
    let sandbox = Sandbox::new();
    sandbox.tells(&["agents"], 0, ": id detected", &[]);
    assert_eq!(sandbox.run(&["agents", "--json"]).stdout, "[]\n");
    sandbox.fails(&["agents", "cluade-code"], 2, "usage", &["cluade-code", "claude-code"]);
    assert_eq!(sandbox.run(&["agents", "cursor", "--all"]).code, Some(2));
    // A lockfile that cannot be read keeps nobody from seeing what lies there.
    sandbox.write("skillpm.lock", "<<<<<<< ours\n");
    sandbox.write(".claude/skills/mine/SKILL.md", "x");
    let output = sandbox.run(&["agents", "claude-code", "-p"]);
    assert!(output.stdout.contains("mine: not from skillpm"), "{output}");
    assert!(output.stderr.contains("skillpm.lock:1:1: there are merge-conflict markers"), "{output}");
    assert_eq!(output.code, Some(0));
    assert!(!sandbox.project().join(".agents").exists(), "looking makes nothing");
    let mut homeless = Sandbox::new();
    homeless.env("HOME", "");
    assert_eq!(homeless.run(&["agents"]).code, Some(0));
    assert_eq!(homeless.run(&["agents", "-g"]).code, Some(3));
}
