//! `usage`: what sessions of agents and the audit log tell of the use of skills.

use serde_json::{Value, json};

use crate::support::{Output, Sandbox};

/// The text of a conversation, which must not come out.
const SECRET: &str = "SECRET";

const TIME: &str = "2026-11-02T10:00:00.000Z";
const LATER: &str = "2026-11-20T10:00:00.000Z";

/// Writes a session of Claude Code in the project: a listing, and these calls with how they ended.
fn session(sandbox: &Sandbox, name: &str, cwd: &str, time: &str, calls: &[(&str, bool)]) {
    let listing = format!("- pdf: {SECRET}\n- xlsx: x\n- simplify: its own");
    let mut lines = vec![
        json!({"type": "user", "cwd": cwd, "timestamp": time, "message": {"role": "user", "content": SECRET}}),
        json!({"type": "attachment", "cwd": cwd, "timestamp": time,
            "attachment": {"type": "skill_listing", "content": listing, "skillCount": 3, "isInitial": true}}),
    ];
    for (number, (skill, is_ok)) in calls.iter().enumerate() {
        let id = format!("toolu_{name}_{number:020}");
        let call =
            json!({"type": "tool_use", "id": id, "name": "Skill", "input": {"skill": skill, "args": SECRET}});
        let result = json!({"type": "tool_result", "tool_use_id": id, "content": SECRET, "is_error": !is_ok});
        let line = |kind, part| json!({"type": kind, "timestamp": time, "message": {"content": [part]}});
        lines.extend([line("assistant", call), line("user", result)]);
    }
    let lines: Vec<_> = lines.iter().map(ToString::to_string).collect();
    sandbox.write(&format!("../home/.claude/projects/-p/{name}.jsonl"), lines.join("\n"));
}

/// Three skills for Claude Code, of which one was used, here and elsewhere, and others that are gone.
fn machine() -> Sandbox {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.home().join(".claude")).expect("a directory");
    for name in ["pdf", "xlsx", "docx"] {
        let text = format!("---\nname: {name}\ndescription: Does {name}. Use it in tests.\n---\n");
        sandbox.write(&format!("src/{name}/SKILL.md"), text);
    }
    assert_eq!(sandbox.run(&["install", "./src", "--skill", "*", "--agent", "claude-code"]).code, Some(0));
    let project = sandbox.project().display().to_string();
    session(&sandbox, "one", &project, TIME, &[("pdf", true), ("gone", true), ("typo", false)]);
    session(&sandbox, "two", "/gone/project", LATER, &[("pdf", true), ("elsewhere", true)]);
    sandbox
}

fn told(output: &Output) -> Value {
    assert!(output.code == Some(0) && !output.to_string().contains(SECRET), "{output}");
    serde_json::from_str(&output.stdout).expect("JSON")
}

/// The skills with their states and the numbers of uses and failures.
fn states(told: &Value) -> Vec<String> {
    let skills = told["skills"].as_array().expect("skills").iter();
    let skills = skills.map(|skill| {
        let text = |key: &str| skill[key].as_str().unwrap_or_default().to_owned();
        format!("{} {} {} {}", text("name"), text("state"), skill["uses"], skill["failed"])
    });
    skills.collect()
}

#[test]
fn the_page() {
    let sandbox = machine();
    insta::assert_snapshot!(sandbox.run(&["usage"]), @"
    exit: 0
    --- stdout
    skill      state         uses  by people  failed  listed  agents       last        projects
    pdf        used             2          -       -       2  claude-code  2026-11-20         2
    elsewhere  used             1          -       -       -  claude-code  2026-11-20         1
    gone       missing          1          -       -       -  claude-code  2026-11-02         1
    typo       missing          0          -       1       -  claude-code  -                  1
    simplify   never-picked     0          -       -       2  claude-code  -                  -
    xlsx       never-picked     0          -       -       2  claude-code  -                  -
    docx       never-used       0          -       -       -  -            -                  -
    --- stderr
    Claude Code: 4 uses in 2 sessions, from 2026-11-02 on; it deletes sessions after `cleanupPeriodDays`, 30 days unless set
    ");
}

#[test]
fn what_was_used_and_what_never() {
    let sandbox = machine();
    let all = told(&sandbox.run(&["usage", "--json"]));
    assert_eq!(
        states(&all),
        [
            "pdf used 2 0",
            // Its project is gone: nobody knows whether the skill is.
            "elsewhere used 1 0",
            "gone missing 1 0",
            "typo missing 0 1",
            "simplify never-picked 0 0",
            "xlsx never-picked 0 0",
            "docx never-used 0 0",
        ]
    );
    let pdf = &all["skills"][0];
    assert_eq!((&pdf["first"], &pdf["last"]), (&TIME.into(), &LATER.into()));
    assert_eq!((&pdf["by_model"], &pdf["listed"], &pdf["found"]), (&2.into(), &2.into(), &true.into()));
    assert_eq!(pdf["projects"].as_array().map(Vec::len), Some(2));
    assert_eq!(pdf["installed"], json!(["project"]));
    let claude = &all["agents"][0];
    assert_eq!(
        (&claude["id"], &claude["sessions"], &claude["uses"]),
        (&"claude-code".into(), &2.into(), &4.into())
    );
    assert_eq!(claude["first"], TIME);

    let of = |args: &[&str]| states(&told(&sandbox.run(&[&["usage", "--json"], args].concat())));
    let here = of(&["--in", "."]);
    assert_eq!(here[..3], ["pdf used 1 0", "gone missing 1 0", "typo missing 0 1"], "{here:?}");
    let since = of(&["--since", "2026-11-10"]);
    assert!(
        since.contains(&"pdf used 1 0".to_owned()) && !since.iter().any(|one| one.contains("gone")),
        "{since:?}"
    );
    assert_eq!(of(&["--scope", "project"]).len(), 3);
    assert_eq!(of(&["--scope", "user"]), [""; 0]);
    // No session of that agent is here.
    assert_eq!(of(&["--agent", "codex"]), ["docx unknown 0 0", "pdf unknown 0 0", "xlsx unknown 0 0"]);
    let verbose = sandbox.run(&["usage", "-v"]);
    assert!(
        verbose.stdout.contains("/gone/project: 1 use\n") && !verbose.to_string().contains(SECRET),
        "{verbose}"
    );
}

/// What skillpm itself recorded counts too.
#[test]
fn uses_of_the_audit_log() {
    let sandbox = machine();
    for _ in 0..2 {
        assert_eq!(sandbox.run(&["invoke", "docx"]).code, Some(0));
    }
    let all = told(&sandbox.run(&["usage", "--json"]));
    assert!(states(&all).contains(&"docx used 2 0".to_owned()), "{all}");
    let log = all["agents"].as_array().expect("agents").last().expect("the log");
    assert_eq!((&log["id"], &log["uses"]), (&"skillpm".into(), &2.into()));
    // The log knows no directory: that it is not here says nothing.
    assert_eq!(sandbox.run(&["remove", "docx"]).code, Some(0));
    let elsewhere = told(&sandbox.run(&["usage", "--json"]));
    assert!(states(&elsewhere).contains(&"docx used 2 0".to_owned()), "{elsewhere}");
}

/// Whatever sessions say, it is shown and not obeyed, and nothing is written.
#[test]
fn hostile_sessions() {
    let sandbox = machine();
    let name = "evil\u{202e}\u{200b}name";
    session(&sandbox, "evil", "/x\u{1b}[2J\ny", LATER, &[(name, true), ("\u{1b}[2J", true), ("a\nb", false)]);
    let path = sandbox.home().join(".claude/projects/-p/zero.jsonl");
    std::fs::write(path, b"{\"name\":\"Skill\"\n\xff\xfe\"Skill\"\n\n\0\n").expect("writes");
    let output = sandbox.run(&["usage", "-v"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(!output.to_string().contains(['\u{1b}', '\u{202e}', '\u{200b}']), "{output}");
    assert!(output.stderr.contains("records of Claude Code cannot be read: 0 files and 2 lines"), "{output}");
    let found = told(&sandbox.run(&["usage", "--json"]));
    assert_eq!(found["agents"][0]["left_out"], json!({"files": 0, "lines": 2, "long_lines": 0}));
    assert!(!sandbox.home().join(".codex").exists() && !sandbox.home().join(".gemini").exists());
}

#[test]
fn what_cannot_be_asked() {
    let sandbox = Sandbox::new();
    sandbox.fails(&["usage", "--since", "yesterday"], 2, "usage", &["`yesterday` is not a time"]);
    sandbox.fails(&["usage", "--agent", "cursor"], 2, "usage", &["sessions of `cursor` cannot be read"]);
    let output = sandbox.run(&["usage"]);
    assert!(output.code == Some(0) && output.stderr.contains("no use of a skill is recorded"), "{output}");
}

/// What an agent lists, and how often it was used: Claude Code leaves out the descriptions of the least used first.
#[test]
fn agents_tell_the_least_used() {
    let sandbox = machine();
    let output = sandbox.ok(&["agents", "claude-code", "--usage"]);
    let told = "used least, by its sessions: `docx` (never), `xlsx` (never) and `pdf` (2 uses)";
    assert!(output.stderr.contains(told), "{output}");
    let json = sandbox.ok(&["agents", "claude-code", "--usage", "--json"]).json();
    assert_eq!(crate::support::fields(&json, "listing.skills: name uses"), ["docx 0", "pdf 2", "xlsx 0"]);
    let output = sandbox.run(&["agents", "cursor", "goose", "--usage"]);
    assert_eq!(output.code, Some(2));
    assert!(output.stderr.contains("sessions of `goose` cannot be read"), "{output}");
}
