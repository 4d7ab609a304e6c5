use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::agents;
use crate::env::Env;
use crate::fs;

/// The text of a conversation, which must not come out.
const SECRET: &str = "SECRET words of a person";

struct Home {
    dir: tempfile::TempDir,
}

impl Home {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().expect("a directory") }
    }

    fn settings(&self) -> Settings {
        let vars = [("HOME".into(), self.dir.path().into())].into();
        let env = Env { vars, cwd: self.dir.path().to_owned(), interactive: false };
        Settings::from_env(env).expect("settings")
    }

    fn write(&self, path: &str, lines: &[Value]) {
        let lines: Vec<_> = lines.iter().map(ToString::to_string).collect();
        self.write_text(path, &(lines.join("\n") + "\n"));
    }

    fn write_text(&self, path: &str, text: &str) {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("creates");
        fs::write_atomic(&path, text.as_bytes()).expect("writes");
    }

    fn read(&self, agent: &str, wanted: Wanted<'_>) -> Sessions {
        let agent = agents::find(agent).expect("an agent");
        let found = sessions(agent, &self.settings(), wanted, &|name| name == "mine").expect("sessions");
        assert!(!format!("{found:?}").contains("SECRET"), "{found:?}");
        found
    }
}

/// The uses as texts: `+` for those that succeeded.
fn told(found: &Sessions) -> Vec<String> {
    let told = found.uses.iter().map(|used| {
        let sign = if used.is_ok { '+' } else { '-' };
        format!("{sign}{} {:?}", used.skill, used.by)
    });
    told.collect()
}

fn call(id: &str, skill: &str, time: &str) -> Value {
    json!({"type": "assistant", "uuid": format!("u-{id}"), "cwd": "/work/p", "timestamp": time, "message": {"content": [
        {"type": "text", "text": SECRET},
        {"type": "tool_use", "id": id, "name": "Skill", "input": {"skill": skill, "args": SECRET}},
    ]}})
}

fn result(id: &str, is_error: bool) -> Value {
    json!({"type": "user", "cwd": "/work/p", "timestamp": "2026-11-02T10:00:09.000Z", "message": {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": id, "content": SECRET, "is_error": is_error},
    ]}})
}

fn typed(text: &str, time: &str) -> Value {
    json!({"type": "user", "cwd": "/work/p", "timestamp": time, "message": {"role": "user", "content": text}})
}

fn command(name: &str) -> String {
    format!(
        "<command-message>{name}</command-message>\n<command-name>/{name}</command-name>\n<command-args>{SECRET}"
    )
}

const TIME: &str = "2026-11-02T10:00:00.000Z";
const PROJECT: &str = ".claude/projects/-work-p";

#[test]
fn claude_code_s_calls_count_if_they_succeeded() {
    let home = Home::new();
    let lines = [
        json!({"type": "attachment", "timestamp": TIME, "attachment": {"type": "skill_listing", "isInitial": true,
            "content": "- commit: Commits.\n- pdf: Reads\n- Use it when: never\nmore\n- bare"}}),
        call("toolu_0000000000000001", "commit", TIME),
        result("toolu_0000000000000001", false),
        call("toolu_0000000000000002", "gone", TIME),
        result("toolu_0000000000000002", true),
        // No result: it never ended.
        call("toolu_0000000000000003", "pdf", TIME),
        // A text that a model made up is not a name.
        call("toolu_0000000000000004", SECRET, TIME),
        result("toolu_0000000000000004", true),
        // Texts that look like records.
        typed(&call("toolu_0000000000000005", "fake", TIME).to_string(), TIME),
        typed(&format!("look: {}", command("pdf")), TIME),
        json!({"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "x",
            "content": "\"Skill\" <command-name>/pdf</command-name>"}]}}),
        // Commands: one that was listed, one that is a skill here, one of the agent itself.
        typed(&command("pdf"), "2026-11-02T10:00:03.000Z"),
        typed(&command("mine"), "2026-11-02T10:00:04.000Z"),
        typed(&command("clear"), "2026-11-02T10:00:05.000Z"),
    ];
    home.write(&format!("{PROJECT}/one.jsonl"), &lines);
    // A session that was resumed has the same records again.
    home.write(&format!("{PROJECT}/two.jsonl"), &lines);
    home.write(
        &format!("{PROJECT}/one/subagents/agent-1.jsonl"),
        &[call("toolu_0000000000000009", "/commit", TIME), result("toolu_0000000000000009", false)],
    );
    let found = home.read("claude-code", Wanted::default());
    assert_eq!(
        told(&found),
        ["+commit Model", "+commit Model", "-gone Model", "+pdf Person", "+mine Person"]
    );
    assert_eq!(found.counts(), [("commit", 2), ("mine", 1), ("pdf", 1)].into());
    assert_eq!(found.count, 2);
    assert_eq!(found.first.map(|first| first % 60_000), Some(0));
    let listed: Vec<_> = found.listed.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    assert_eq!(listed, [("bare", 2), ("commit", 2), ("pdf", 2)]);
    assert!(found.uses.iter().all(|used| used.project.as_deref() == Some(Path::new("/work/p"))));
}

#[test]
fn records_of_a_time_and_a_directory() {
    let home = Home::new();
    let (one, two) = ("toolu_0000000000000001", "toolu_0000000000000002");
    let late = "2026-11-03T10:00:00.000Z";
    home.write(
        &format!("{PROJECT}/one.jsonl"),
        &[call(one, "old", TIME), result(one, false), call(two, "new", late), result(two, false)],
    );
    let since = milliseconds(late);
    let told_of = |wanted| told(&home.read("claude-code", wanted));
    assert_eq!(told_of(Wanted { since, project: None }), ["+new Model"]);
    for (project, count) in [("/work", 2), ("/work/p", 2), ("/work/p/sub", 0), ("/wor", 0)] {
        let wanted = Wanted { since: None, project: Some(Path::new(project)) };
        assert_eq!(told_of(wanted).len(), count, "{project}");
    }
    // Files that did not change since are not even read.
    let since = Some(i64::MAX);
    assert_eq!(home.read("claude-code", Wanted { since, project: None }).count, 0);
}

#[test]
fn what_cannot_be_read_is_counted() {
    let home = Home::new();
    let good = [call("toolu_0000000000000001", "pdf", TIME), result("toolu_0000000000000001", false)];
    let good: Vec<_> = good.iter().map(ToString::to_string).collect();
    let deep = format!("{{\"skill_listing\":{}", "[".repeat(100_000));
    let long = format!("{{\"a\":\"{}\"Skill\"", "x".repeat(20 << 20));
    let lines =
        ["{\"name\":\"Skill\"", &deep, &long, "\u{0}\"Skill\"", &good[0], "[]", "\"Skill\"", &good[1]];
    home.write_text(&format!("{PROJECT}/one.jsonl"), &lines.join("\n"));
    let bytes = home.dir.path().join(PROJECT).join("two.jsonl");
    fs::write_atomic(&bytes, b"\xff\"Skill\"\n").expect("writes");
    let found = home.read("claude-code", Wanted::default());
    assert_eq!(told(&found), ["+pdf Model"]);
    assert_eq!(found.left_out, LeftOut { files: 0, lines: 4, long_lines: 1 });
}

/// As Codex 0.171.0 writes it.
fn codex(time: &str, payload: &Value) -> Value {
    json!({"timestamp": time, "ordinal": 1, "type": "response_item", "payload": payload})
}

fn exec(id: &str, command: &str) -> Value {
    let arguments = json!({"cmd": command}).to_string();
    codex(
        TIME,
        &json!({"type": "function_call", "name": "exec_command", "arguments": arguments, "call_id": id}),
    )
}

fn output(id: &str, text: &str) -> Value {
    codex(TIME, &json!({"type": "function_call_output", "call_id": id, "output": text}))
}

const OK: &str = "Chunk ID: 4b3bf2\nWall time: 0.0000 seconds\nProcess exited with code 0\nOutput:\nSECRET";
const FAILED: &str =
    "Wall time: 0.0000 seconds\nProcess exited with code 1\nOutput:\nProcess exited with code 0\n";

fn codex_session() -> Vec<Value> {
    let listing = "<skills_instructions>\n## Skills\n### Skill roots\n- `r0` = `/work/p/.agents/skills`\n\
        ### Available skills\n- bye: say bye (file: r0/bye/SKILL.md)\n- my plug:hello: say: x (y) (file: r0/hello/SKILL.md)\n\
        - whole: (file: /abs/whole/SKILL.md)\n- broken\n</skills_instructions>";
    let message = |role: &str, kind: &str, text: &str| {
        codex(
            TIME,
            &json!({"type": "message", "id": format!("msg_{role}_{kind}_000000000000"), "role": role,
            "content": [{"type": "input_text", "text": text}],
            "internal_chat_message_metadata_passthrough": {"content_item_kinds": [kind]}}),
        )
    };
    let skill =
        "<skill>\n<name>bye</name>\n<path>/work/p/.agents/skills/bye/SKILL.md</path>\nSECRET\n</skill>";
    vec![
        json!({"timestamp": TIME, "type": "session_meta", "payload": {"id": "1", "cwd": "/work/p"}}),
        message("developer", "skills", listing),
        message("user", "skills.selected_skill_instructions", skill),
        message("user", "user.text", skill),
        // A listing that a person pasted.
        message("user", "user.text", &listing.replace("bye", "pasted")),
    ]
}

#[test]
fn codex_s_uses_are_those_of_its_own_rule() {
    let home = Home::new();
    let mut lines = codex_session();
    let commands = [
        ("cat .agents/skills/bye/SKILL.md", OK, true),
        ("sed -n 1,20p '/work/p/.agents/../.agents/skills/hello/SKILL.md'", OK, true),
        ("/usr/bin/head -5 /abs/whole/SKILL.md", "{\"output\":\"\",\"metadata\":{\"exit_code\":0}}", true),
        ("python3 -u .agents/skills/hello/scripts/deep/x.py", OK, true),
        // Not by that rule: the first word, the ending, a skill that was not listed.
        ("echo hi && cat .agents/skills/bye/SKILL.md", OK, false),
        ("rm .agents/skills/bye/SKILL.md", OK, false),
        ("python3 .agents/skills/hello/scripts/x.txt", OK, false),
        ("cat .agents/skills/missing/SKILL.md", OK, false),
        ("cat SKILL.md scripts", OK, false),
        // Nobody knows that these succeeded.
        ("cat .agents/skills/bye/SKILL.md", FAILED, false),
        ("cat .agents/skills/bye/SKILL.md", "Process running with session ID 3\nOutput:\n", false),
    ];
    let expected = commands.iter().filter(|(.., is_use)| *is_use).count();
    for (number, (command, text, _)) in commands.iter().enumerate() {
        let id = format!("call_{number:020}");
        lines.push(exec(&id, command));
        lines.push(output(&id, text));
        // The same, once more, as an event.
        if *text == OK {
            let command = ["/bin/bash", "-lc", command];
            lines.push(json!({"timestamp": TIME, "type": "event_msg", "payload": {"type": "item_completed", "item":
                {"type": "CommandExecution", "id": id, "command": command, "cwd": "file:///work/p", "exit_code": 0,
                "aggregated_output": SECRET}}}));
        }
    }
    home.write(".codex/sessions/2026/11/02/rollout-1.jsonl", &lines);
    // A copy, as a session that was forked has.
    home.write(".codex/sessions/2026/11/02/rollout-2.jsonl", &lines);
    let found = home.read("codex", Wanted::default());
    let mut told = told(&found);
    assert_eq!(told.len(), expected + 1, "{told:?}");
    told.dedup();
    assert_eq!(told, ["+bye Model", "+bye Person", "+my plug:hello Model", "+whole Model"]);
    let file = Some(Path::new("/work/p/.agents/skills/bye/SKILL.md"));
    assert!(found.uses[..2].iter().all(|used| used.file.as_deref() == file));
    assert_eq!(found.listed.keys().collect::<Vec<_>>(), ["bye", "my plug:hello", "whole"]);
    assert_eq!((found.count, found.left_out), (2, LeftOut::default()));
}

/// A model that numbers its calls anew in each session.
#[test]
fn short_ids_are_those_of_a_session() {
    let home = Home::new();
    for number in 1..=2 {
        let mut lines = codex_session();
        lines.extend([exec("c1", "cat .agents/skills/bye/SKILL.md"), output("c1", OK)]);
        home.write(&format!(".codex/sessions/2026/11/02/rollout-{number}.jsonl"), &lines);
    }
    let found = home.read("codex", Wanted::default());
    assert_eq!(told(&found).iter().filter(|told| *told == "+bye Model").count(), 2);
}

/// As Gemini CLI 0.61.0 writes it.
#[test]
fn gemini_s_last_line_of_a_message_holds() {
    let home = Home::new();
    let message = |id: &str, status: Option<&str>, skill: &str| {
        let mut message = json!({"id": id, "timestamp": TIME, "type": "gemini", "content": SECRET});
        if let Some(status) = status {
            message["toolCalls"] = json!([{"id": "activate_skill__1", "name": "activate_skill", "args": {"name": skill},
                "status": status, "timestamp": TIME, "resultDisplay": SECRET}]);
        }
        message
    };
    let (one, two, three) =
        ("11111111-aaaa-bbbb-cccc-1", "22222222-aaaa-bbbb-cccc-2", "33333333-aaaa-bbbb-cccc-3");
    let lines = [
        json!({"sessionId": "s", "startTime": "2026-11-02T09:00:00.000Z", "kind": "main"}),
        message(one, None, ""),
        message(one, Some("executing"), "hello"),
        message(one, Some("success"), "hello"),
        message(two, Some("error"), "nothere"),
        message(three, Some("cancelled"), "bye"),
        json!({"$set": {"messages": [message(one, Some("success"), "hello"), {"type": "user", "content": SECRET}]}}),
        json!({"$rewindTo": one}),
        json!({"id": "x", "type": "user", "content": [{"text": message(one, Some("success"), "fake").to_string()}]}),
    ];
    home.write(".gemini/tmp/p/chats/session-1.jsonl", &lines);
    home.write_text(".gemini/tmp/p/.project_root", "/work/p");
    home.write(".gemini/tmp/p/logs/other.jsonl", &[message(three, Some("success"), "no session")]);
    let old = json!({"sessionId": "o", "startTime": TIME, "messages": [message("old", Some("success"), "old one")]});
    let old = serde_json::to_string_pretty(&old).expect("JSON");
    home.write_text(".gemini/tmp/0123/chats/session-0.json", &old);
    let found = home.read("gemini-cli", Wanted::default());
    assert_eq!(told(&found), ["+hello Model", "-nothere Model", "+old one Model"]);
    assert_eq!(found.uses[0].project.as_deref(), Some(Path::new("/work/p")));
    assert_eq!((found.count, found.uses[2].project.clone()), (2, None));
}

/// As OpenCode 1.18.34 writes it.
#[cfg(feature = "sqlite")]
mod opencode {
    use rusqlite::Connection;

    use super::*;

    const TABLES: &str = "PRAGMA journal_mode = wal;
        CREATE TABLE session (id text PRIMARY KEY, directory text NOT NULL, title text, time_created integer NOT NULL,
            time_updated integer NOT NULL);
        CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
            time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);";

    fn database(home: &Home) -> Connection {
        home.write_text(".local/share/opencode/x", "");
        Connection::open(home.dir.path().join(".local/share/opencode/opencode.db")).expect("opens")
    }

    fn fill(database: &Connection) {
        database.execute_batch(TABLES).expect("tables");
        for (id, dir) in [("ses_1", "/work/p"), ("ses_2", "/work/q")] {
            let session = "INSERT INTO session VALUES (?1, ?2, 'SECRET', 1796024182000, 1796024182999)";
            database.execute(session, (id, dir)).expect("inserts");
        }
        let part = |id: &str, session: &str, data: &str| {
            let part = "INSERT INTO part VALUES (?1, 'm', ?2, 1796024182000, 1796024182000, ?3)";
            database.execute(part, (id, session, data)).expect("inserts");
        };
        let tool = |call: &str, state: &Value| {
            json!({"type": "tool", "tool": "skill", "callID": call, "state": state}).to_string()
        };
        let time = json!({"start": 1_796_024_182_500_i64, "end": 1_796_024_182_600_i64});
        let done = json!({"status": "completed", "input": {"name": "hello"}, "output": SECRET,
            "metadata": {"name": "hello", "dir": "/s/hello"}, "title": SECRET, "time": time});
        let failed = json!({"status": "error", "input": {"name": "nothere"}, "error": SECRET, "time": time});
        let running = json!({"status": "running", "input": {"name": "bye"}, "time": time});
        part("prt_1", "ses_1", &tool("call_00000000000000000001", &done));
        part("prt_2", "ses_1", &tool("call_2", &failed));
        part("prt_3", "ses_1", &tool("call_3", &running));
        // A copy of the first in a session that was forked.
        part("prt_4", "ses_2", &tool("call_00000000000000000001", &done));
        part("prt_5", "ses_2", &json!({"type": "text", "text": tool("call_4", &done)}).to_string());
        part("prt_6", "ses_2", "{\"tool\":\"skill\"");
        part(
            "prt_7",
            "ses_2",
            "{\"type\":\"tool\",\"tool\":\"skill\",\"state\":{\"status\":\"completed\",\"input\":3}}",
        );
        part("prt_8", "ses_none", &tool("call_5", &done));
    }

    fn files(home: &Home) -> Vec<String> {
        fs::list_dir(&home.dir.path().join(".local/share/opencode")).expect("lists")
    }

    #[test]
    fn calls_of_the_tool_count_if_they_completed() {
        let home = Home::new();
        let writer = database(&home);
        fill(&writer);
        // While OpenCode has it open, most is in the journal.
        let before = files(&home);
        assert!(before.iter().any(|name| name.ends_with("-wal")), "{before:?}");
        let open = home.read("opencode", Wanted::default());
        assert_eq!(told(&open), ["+hello Model", "-nothere Model"]);
        assert_eq!((open.count, open.left_out.lines), (2, 1));
        assert_eq!(open.uses[0].time, Some(1_796_024_182_500));
        assert_eq!(open.first, Some(1_796_024_182_000));
        assert_eq!(files(&home), before);
        // A writer is not disturbed.
        writer.execute("DELETE FROM part WHERE id = 'prt_8'", ()).expect("deletes");
        drop(writer);
        let closed = files(&home);
        assert!(!closed.iter().any(|name| name.ends_with("-wal")), "{closed:?}");
        assert_eq!(home.read("opencode", Wanted::default()), open);
        assert_eq!(files(&home), closed);
        let since = Some(1_796_024_190_000);
        assert_eq!(home.read("opencode", Wanted { since, project: None }).count, 0);
    }

    #[test]
    fn what_is_no_such_database_is_left_out() {
        let home = Home::new();
        assert_eq!(home.read("opencode", Wanted::default()), Sessions::default());
        for text in ["", "no database", "SQLite format 3\0garbage"] {
            home.write_text(".local/share/opencode/opencode.db", text);
            let found = home.read("opencode", Wanted::default());
            assert_eq!((found.count, found.left_out.files), (0, 1), "{text}");
        }
        fs::remove_tree(&home.dir.path().join(".local")).expect("removes");
        let database = database(&home);
        // A view of that name that never ends.
        database
            .execute_batch(
                "CREATE TABLE session (id, directory, time_created, time_updated);
                CREATE VIEW part AS WITH RECURSIVE c(data) AS (SELECT 1 UNION ALL SELECT data + 1 FROM c)
                    SELECT 1 AS id, 1 AS session_id, 1 AS time_created, data FROM c;",
            )
            .expect("a view");
        assert_eq!(home.read("opencode", Wanted::default()).left_out.files, 1);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// No line makes a reader panic, and nothing but a name comes out of it.
    #[test]
    fn any_line_is_survived(line in "(\"Skill\"|<command-name>|skill_listing|<skills_instructions>|function_call|SKILL.md|activate_skill|\"|\\{|\\}|\\[|\\]|:|,|- |`|\\PC| |\\\\){0,40}") {
        let home = Home::new();
        home.write_text(".claude/projects/p/a.jsonl", &line);
        home.write_text(".codex/sessions/a.jsonl", &line);
        home.write_text(".gemini/tmp/p/chats/a.jsonl", &line);
        for agent in ["claude-code", "codex", "gemini-cli"] {
            prop_assert!(home.read(agent, Wanted::default()).uses.is_empty());
        }
        let _: Vec<_> = codex::listed(&line).collect();
    }
}
