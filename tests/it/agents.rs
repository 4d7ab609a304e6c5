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
    cursor       ~/.cursor  .agents/skills  ~/.agents/skills  not needed     2      -
    ");
    insta::assert_snapshot!(sandbox.run(&["agents", "cursor"]), @"
    exit: 0
    --- stdout
    cursor (Cursor)
      found by ~/.cursor
      reads the canonical copies and needs no links
      how it lists skills is unknown: these are the directories that it is said to read
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
      finds 2 skills in more than one of these directories: each is one skill
    ");
    insta::assert_snapshot!(sandbox.run(&["agents", "claude", "--scope", "project"]), @"
    exit: 0
    --- stdout
    claude-code (Claude Code)
      found by ~/.claude
      gets a link to each skill
      its model sees 2 skills, whole
      69 of 8000 characters, at a window of 200000 tokens
      not counted here: skills that come with it are listed, too, and take room first
      rules of version 2.1.240 (2026-08-22), from its documentation
      .claude/skills of the project, its own: 1 skill
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
        "listing": null,
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
    let output = sandbox.run(&["agents", "claude-code", "-p", "-v"]);
    assert!(output.stdout.contains("mine: not from skillpm"), "{output}");
    assert!(output.stderr.contains("skillpm.lock:1:1: there are merge-conflict markers"), "{output}");
    assert_eq!(output.code, Some(0));
    assert!(!sandbox.project().join(".agents").exists(), "looking makes nothing");
    let mut homeless = Sandbox::new();
    homeless.env("HOME", "");
    assert_eq!(homeless.run(&["agents"]).code, Some(0));
    assert_eq!(homeless.run(&["agents", "-g"]).code, Some(3));
}

/// What a model sees of skills that are whole, that have no room, that lose, that are hidden and that do not load; and that
/// the user's skill wins for Claude Code.
#[test]
fn what_a_model_sees() {
    let sandbox = machine();
    for (name, text) in [
        ("long", format!("description: {}\n", "Reads many files. ".repeat(30))),
        ("twin", format!("description: {}\n", "Reads many other files. ".repeat(20))),
        ("manual", "description: For people.\ndisable-model-invocation: true\n".to_owned()),
        ("broken", "description: [\n".to_owned()),
    ] {
        sandbox.write(&format!(".claude/skills/{name}/SKILL.md"), format!("---\nname: {name}\n{text}---\n"));
    }
    sandbox.write(".claude/skills/docx/SKILL.md", "---\nname: docx\ndescription: Another.\n---\n");
    insta::assert_snapshot!(sandbox.run(&["agents", "claude-code", "--window", "15k"]), @"
    exit: 0
    --- stdout
    claude-code (Claude Code)
      found by ~/.claude
      gets a link to each skill
      its model sees 5 skills: 1 to 3 whole, 2 to 4 by name only
      not listed: 1 hidden, 1 same name as another
      room for 600 characters, at a window of 15000 tokens; all would take 1114
      it drops the descriptions of the least used skills first; how it counts use is unknown
      not counted here: skills that come with it are listed, too, and take room first
      rules of version 2.1.240 (2026-08-22), from its documentation
      .claude/skills of the project, its own: 6 skills
      ~/.claude/skills of the user, its own: 1 skill
    skill   listed   why
    manual  no       .claude/skills/manual: its frontmatter says `disable-model-invocation: true`
    docx    no       .claude/skills/docx: ~/.claude/skills/docx wins
    broken  by name  .claude/skills/broken: it has no description
    --- stderr
    shortening to 200 characters would free: 344 characters of `long` and 283 of `twin`
    hint: there is no room for all: `skillpm usage` shows which are not used
    ");
    sandbox.fails(
        &["agents", "claude", "--window", "15k", "--listing"],
        2,
        "usage",
        &["use that only it counts"],
    );
    let more = sandbox.run(&["agents", "claude", "--window", "15k", "-v"]).stderr;
    assert!(more.contains("settings that are not read: settings.json: disableBundledSkills"), "{more}");
    let listing = sandbox.ok(&["agents", "claude", "--listing"]).stdout;
    assert!(listing.starts_with("- docx: Does docx. Use it in tests.\n- broken\n- long: Reads"), "{listing}");
    let seen = sandbox.run(&["agents", "claude-code", "--json", "--window", "15k"]).json();
    let listing = &seen[0]["listing"];
    assert_eq!((listing["budget"].as_u64(), listing["window"].as_u64()), (Some(600), Some(15_000)));
    let state = |name: &str| {
        let skills = listing["skills"].as_array().expect("a list");
        let of = skills.iter().filter(|skill| skill["name"] == name);
        of.map(|skill| skill["state"].as_str().expect("a text").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(state("docx"), ["uncertain", "shadowed"]);
    assert_eq!((state("broken"), state("manual")), (vec!["name-only".to_owned()], vec!["hidden".to_owned()]));
    assert_eq!(
        (listing["lacking"]["least"].as_u64(), listing["lacking"]["most"].as_u64()),
        (Some(1), Some(3))
    );
    assert_eq!(seen[0]["sees"], 5);
}

/// Nothing is guessed of an agent that nobody knows, and a window is a number of tokens.
#[test]
fn what_nobody_knows() {
    let sandbox = machine();
    let cursor = sandbox.run(&["agents", "cursor"]);
    assert!(cursor.stdout.contains("how it lists skills is unknown"), "{cursor}");
    assert_eq!(sandbox.run(&["agents", "cursor", "--json"]).json()[0]["listing"], serde_json::Value::Null);
    let listing = sandbox.run(&["agents", "cursor", "--listing"]);
    assert!(
        listing.code == Some(2) && listing.stderr.contains("`cursor` is not known to the byte"),
        "{listing}"
    );
    for window in ["0", "many", "-1", "200kb"] {
        let output = sandbox.run(&["agents", "codex", &format!("--window={window}")]);
        assert!(output.code == Some(2) && output.stderr.contains("such as `200000`"), "{output}");
    }
    assert_eq!(sandbox.run(&["agents", "--listing"]).code, Some(2));
}

/// An agent that has no room any more is told once, by the change that takes it, and by `doctor` as long as it lasts.
#[test]
fn what_has_no_room_is_told() {
    let sandbox = machine();
    let settings = "{\"skillListingBudgetFraction\": 0.00005}";
    let told = "Claude Code has no room to list all skills whole";
    sandbox
        .write("src/long/SKILL.md", format!("---\nname: long\ndescription: {}\n---\n", "Long. ".repeat(40)));
    sandbox.write("../home/.claude/settings.json", settings);
    let first = sandbox.run(&["install", "./src/long"]);
    assert!(!first.stderr.contains(told), "it had none before: {first}");
    assert_eq!(sandbox.run(&["remove", "pdf", "long"]).code, Some(0));
    let again = sandbox.run(&["install", "./src/long"]);
    assert!(again.stderr.contains(&format!("{told}: 2 of 2 are shortened or left out")), "{again}");
    let warnings = sandbox.run(&["--json", "doctor"]).json();
    let findings = warnings["findings"].as_array().expect("a list");
    let finding = findings.iter().find(|finding| finding["id"] == "listing-crowded").expect("a finding");
    assert_eq!(
        (finding["severity"].as_str(), finding["agent"].as_str()),
        (Some("note"), Some("claude-code"))
    );
}

/// An agent that the change itself adds has no room from then on.
#[test]
fn a_new_agent_that_has_no_room_is_told() {
    let sandbox = Sandbox::new();
    sandbox.write(".claude/settings.json", "{\"skillListingBudgetFraction\": 0.00005}");
    sandbox
        .write("src/long/SKILL.md", format!("---\nname: long\ndescription: {}\n---\n", "Long. ".repeat(40)));
    let output = sandbox.run(&["install", "./src/long", "--agent", "claude-code"]);
    assert!(output.stderr.contains("whole: 1 of 1 are shortened or left out"), "{output}");
}

/// The record of a session is compared with what is computed, and differences are told.
#[test]
fn what_a_session_records() {
    let sandbox = machine();
    let check = ["agents", "claude-code", "--check"];
    sandbox.fails(&check, 2, "usage", &["no session of Claude Code"]);
    sandbox.fails(&["agents", "codex", "--check"], 2, "usage", &["`codex` do not record"]);
    sandbox.fails(&["agents", "codex", "claude-code", "--check"], 2, "usage", &["that of one agent"]);
    let name: String =
        sandbox.project().display().to_string().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let session = |text: &str| {
        let record = serde_json::json!({
            "type": "attachment",
            "attachment": {"type": "skill_listing", "content": text, "skillCount": 2, "isInitial": true},
        });
        let file = format!("../home/.claude/projects/{name}/one.jsonl");
        sandbox.write(&file, format!("{{\"type\": \"user\"}}\n{record}\nnot JSON: skill_listing\n"));
    };
    let equal = "- docx: Does docx. Use it in tests.\n- pdf: Does pdf. Use it in tests.";
    session(&format!("- own: Its own.\n{equal}"));
    let output = sandbox.run(&check);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(output.stderr.contains("2 skills as computed") && output.stderr.contains("`own`"), "{output}");
    // Lines of a description may look like entries, and later records tell only what is new.
    let bullets = "Does both.\n- pdf: no entry\n- other: none either";
    let skill = format!("---\nname: both\ndescription: |\n  {}\n---\n", bullets.replace('\n', "\n  "));
    sandbox.write(".claude/skills/both/SKILL.md", skill);
    session(&format!("- both: {bullets}\n{equal}"));
    let later = sandbox.project().join(format!("../home/.claude/projects/{name}/two.jsonl"));
    std::fs::write(&later, "{\"attachment\": {\"type\": \"skill_listing\", \"content\": \"- new\"}}\n")
        .expect("is written");
    std::fs::create_dir(later.with_file_name("three.jsonl")).expect("a directory");
    let seen = sandbox.run(&["agents", "claude-code", "--check", "--json"]);
    assert_eq!((seen.code, seen.json()["equal"].as_u64()), (Some(0), Some(3)), "{seen}");
    assert_eq!(seen.json()["not_computed"], serde_json::json!([]));
    std::fs::remove_dir_all(sandbox.project().join(".claude/skills/both")).expect("is removed");
    session("- docx\n- old: Gone.");
    let seen = sandbox.run(&["agents", "claude-code", "--check", "--json"]);
    assert_eq!(seen.code, Some(1), "{seen}");
    let seen = seen.json();
    assert_eq!(
        (seen["equal"].as_u64(), &seen["not_listed"], &seen["not_computed"]),
        (Some(0), &serde_json::json!(["pdf"]), &serde_json::json!(["old"]))
    );
    assert_eq!(seen["different"][0]["listed"], "- docx");
}

/// `why` says of a skill what the agents make of it: here, the user's wins for Claude Code.
#[test]
fn why_says_who_does_not_see_it_whole() {
    let sandbox = machine();
    assert_eq!(sandbox.run(&["install", "./src/docx"]).code, Some(0));
    let why = sandbox.run(&["why", "docx", "-p"]);
    let told = "claude-code: its model does not see it: .claude/skills/docx: ~/.claude/skills/docx wins";
    assert!(why.stdout.contains(told), "{why}");
    let listed = &sandbox.run(&["--json", "why", "docx"]).json()["installed"][0]["listed"];
    assert_eq!(
        (listed[0]["agent"].as_str(), listed[0]["state"].as_str()),
        (Some("claude-code"), Some("shadowed"))
    );
}

/// Of two scopes with other files, Claude Code takes the user's, and skillpm the project's: that is told.
#[test]
fn the_user_s_copy_wins() {
    let sandbox = machine();
    assert_eq!(sandbox.run(&["install", "./src/docx"]).code, Some(0));
    let told = "Claude Code takes your own `docx`";
    assert!(!sandbox.run(&["list"]).stderr.contains(told), "they are equal");
    sandbox.write("src/docx/SKILL.md", "---\nname: docx\ndescription: Newer. Use it in tests.\n---\n");
    assert_eq!(sandbox.run(&["update", "-p", "docx"]).code, Some(0));
    for verb in [&["list"][..], &["agents", "claude-code"], &["doctor"]] {
        let output = sandbox.run(verb);
        assert!(format!("{output}").contains(told), "{verb:?}: {output}");
    }
    assert!(!sandbox.run(&["why", "docx"]).stderr.contains(told), "its page shows both");
    assert!(
        !sandbox.run(&["agents", "-p"]).stderr.contains(told),
        "one scope alone says nothing of the other"
    );
}
