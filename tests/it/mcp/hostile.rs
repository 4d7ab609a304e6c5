//! Clients that break the rules, and skills that change under the server: an error or a clean end, and no hang.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::symlink;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use super::{USER, machine, skill, usual, with_script};
use crate::support::Sandbox;
use crate::support::mcp::{MODERN, Peer};

/// Asks for something that always works.
#[track_caller]
fn is_alive(peer: &mut Peer) {
    assert_eq!(peer.names("prompts/list", "prompts"), ["pdf"]);
}

/// What is no message of the protocol does not end a session, and is at most answered with an error.
#[test]
fn what_is_no_message_does_not_end_a_session() {
    let sandbox = machine();
    for version in ["2025-11-25", MODERN] {
        let mut peer = Peer::session(&sandbox, &[], version, json!({})).0;
        let mut lines: Vec<String> = [
            "",
            "   ",
            "x",
            "{",
            "}",
            "null",
            "true",
            "17",
            "\"ping\"",
            "[]",
            "[[[[[[[[]]]]]]]]",
            r#"{"jsonrpc":"2.0"}"#,
            r#"{"jsonrpc":"1.0","id":1000,"method":"ping"}"#,
            r#"{"id":1001,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":1002,"method":7}"#,
            r#"{"jsonrpc":"2.0","id":1003,"method":"ping","params":7}"#,
            r#"{"jsonrpc":"2.0","id":1004,"method":"tools/call","params":[1]}"#,
            r#"{"jsonrpc":"2.0","id":1005,"method":"tools/call","params":{"name":"load_skill","arguments":[]}}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":99999999999999999999999999,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":1e400,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":-9223372036854775808,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":"","method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":2000,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":2001,"error":{"code":1,"message":"m"}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/none"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4711}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"none","progress":1}}"#,
            r#"[{"jsonrpc":"2.0","id":1006,"method":"ping"},{"jsonrpc":"2.0","id":1007,"method":"ping"}]"#,
        ]
        .map(str::to_owned)
        .into();
        lines.push("[".repeat(100_000));
        lines.push(format!(r#"{{"jsonrpc":"2.0","id":"{}","method":"ping"}}"#, "i".repeat(1 << 20)));
        lines.push(format!(r#"{{"jsonrpc":"2.0","id":1008,"method":"{}"}}"#, "m".repeat(1 << 20)));
        for line in &lines {
            peer.line(line);
        }
        peer.bytes(b"\xff\xfe\0\n");
        peer.bytes(b"{\"jsonrpc\":\"2.0\",\"id\":1009,\"method\":\"p\xffng\"}\r\n");
        is_alive(&mut peer);
        assert!(peer.end().success(), "{version}: {}", peer.stderr());
        assert!(!peer.stderr().contains("panicked"), "{}", peer.stderr());
    }
}

/// What is no message is answered: a client that made a mistake need not wait for its own time-out. JSON-RPC 2.0, 5.1.
#[test]
fn what_is_no_message_is_answered() {
    let sandbox = machine();
    let deep = format!("{}{}", "[".repeat(140), "]".repeat(140));
    let call = |id: &str| {
        format!(
            r#"{{"jsonrpc":"2.0",{id}"method":"tools/call","params":{{"name":"load_skill","arguments":{deep}}}}}"#
        )
    };
    let long = format!(r#"{{"jsonrpc":"2.0","id":900,"method":"{}"}}"#, "m".repeat(17 << 20));
    for version in ["2025-11-25", MODERN] {
        let mut peer = Peer::session(&sandbox, &[], version, json!({})).0;
        for (line, code, id) in [
            ("{\"jsonrpc\":", -32700, json!(null)),
            ("not JSON", -32700, json!(null)),
            (&deep, -32600, json!(null)),
            (&call(r#""id":901,"#), -32600, json!(901)),
            (r#"{"jsonrpc":"2.0","id":902,"method":7}"#, -32600, json!(902)),
            (&long, -32600, json!(null)),
        ] {
            peer.line(line);
            let answer = peer.find(|message| message.get("error").is_some());
            let start = &line[..line.len().min(80)];
            assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id), "{start}: {answer}");
            assert!(answer.to_string().len() < 3_000, "{start}");
        }
        // A notification is never answered.
        peer.line(&call(""));
        is_alive(&mut peer);
        assert!(peer.rest().iter().all(|message| message.get("error").is_none()));
        assert!(peer.wait().success(), "{version}: {}", peer.stderr());
    }
}

/// What is no message before the session does not end the server either, or ends it with an error.
#[test]
fn what_is_no_message_before_a_session_is_survived() {
    let sandbox = machine();
    for line in [
        "x",
        "[]",
        "null",
        r#"{"jsonrpc":"2.0","id":900,"method":"none"}"#,
        r#"{"jsonrpc":"2.0","id":901,"method":"tools/list"}"#,
    ] {
        let mut peer = Peer::start(&sandbox, &[]);
        peer.line(line);
        peer.open("2025-11-25", json!({}));
        is_alive(&mut peer);
        assert!(peer.end().success(), "{line}: {}", peer.stderr());
    }
    // What belongs to a session, as from a client that gave up on its first request.
    for version in ["2025-11-25", MODERN] {
        let mut peer = Peer::start(&sandbox, &[]);
        for line in [
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":{}}"#,
        ] {
            peer.line(line);
        }
        peer.open(version, json!({}));
        peer.notify("notifications/cancelled", json!({ "requestId": 1 }));
        is_alive(&mut peer);
        assert!(peer.end().success(), "{}", peer.stderr());
    }
}

/// Arguments of 10 MB are read; a line that is longer than any message is dropped, and one without an end takes no
/// memory.
#[test]
fn large_input_is_bounded() {
    let sandbox = machine();
    let mut peer = Peer::modern(&sandbox, &[]);
    let long = "x".repeat(10_000_000);
    let failed = peer.call("load_skill", json!({ "name": long }));
    assert_eq!(failed["isError"], true);
    assert!(failed.to_string().len() < 10_000, "a model does not get its own argument back");
    assert!(peer.call("search_skills", json!({ "query": long }))["isError"] != true);
    assert_eq!(peer.call("load_skill", json!({ "name": "pdf", "arguments": long }))["isError"], false);
    peer.line(&format!(
        r#"{{"jsonrpc":"2.0","id":900,"method":"ping","params":{{"x":"{}"}}}}"#,
        "x".repeat(20_000_000)
    ));
    is_alive(&mut peer);
    for _ in 0..100 {
        if !peer.bytes(&vec![b'y'; 1 << 20]) {
            break;
        }
    }
    let status = std::fs::read_to_string(format!("/proc/{}/status", peer.id())).unwrap_or_default();
    let memory = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
    if let Some(memory) = memory {
        let memory: u64 = memory.parse().expect("a number");
        println!("at most {} MB of memory", memory / 1024);
        assert!(memory < 300 * 1024, "{memory} kB");
    }
    assert!(peer.end().success());
}

/// A client that leaves ends the server: without a word, in the middle of a line, and while requests wait.
#[test]
fn a_client_that_leaves_ends_the_server() {
    let sandbox = machine();
    let mut peer = Peer::start(&sandbox, &[]);
    assert!(peer.end().success(), "{}", peer.stderr());
    for version in ["2025-11-25", MODERN] {
        let mut peer = Peer::session(&sandbox, &[], version, json!({})).0;
        peer.bytes(b"{\"jsonrpc\":");
        assert!(peer.end().success(), "{}", peer.stderr());
        let mut peer = Peer::session(&sandbox, &[], version, json!({})).0;
        for _ in 0..20 {
            peer.send("skills/list", json!({}));
        }
        assert!(peer.end().success(), "{}", peer.stderr());
    }
    // With its input closed from the start.
    let status = sandbox.command(&["mcp"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    assert!(status.expect("starts").success());
}

/// A client that closes the output, or never reads it, does not keep the server.
#[test]
fn a_client_that_does_not_read_does_not_keep_the_server() {
    let sandbox = machine();
    for reads in [true, false] {
        let mut child = sandbox
            .command(&["mcp"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("starts");
        let (mut stdin, mut stdout) = (child.stdin.take().expect("a pipe"), child.stdout.take());
        let meta = json!({ "io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientInfo": { "name": "p", "version": "1" }, "io.modelcontextprotocol/clientCapabilities": {} });
        let request = |id: u32| {
            json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list", "params": { "_meta": meta } })
                .to_string()
                + "\n"
        };
        stdin.write_all(request(0).as_bytes()).expect("writes");
        if reads {
            let mut first = [0; 1];
            stdout.as_mut().expect("a pipe").read_exact(&mut first).expect("an answer");
            drop(stdout.take());
        }
        // More than a pipe holds.
        for id in 1..150 {
            if stdin.write_all(request(id).as_bytes()).is_err() {
                break;
            }
        }
        drop(stdin);
        Waited(child).wait();
        drop(stdout);
    }
}

/// A process that must end by itself.
struct Waited(std::process::Child);

impl Waited {
    fn wait(&mut self) {
        let began = std::time::Instant::now();
        while self.0.try_wait().expect("a process").is_none() {
            assert!(began.elapsed() < crate::support::mcp::TIME, "the server does not end");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }
}

impl Drop for Waited {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A hundred requests at once are all answered, and a thousand cancelled ones leave the session alive.
#[test]
fn many_requests_at_once_are_answered() {
    let sandbox = machine();
    for version in ["2025-11-25", MODERN] {
        let mut peer = Peer::session(&sandbox, &[], version, json!({})).0;
        let requests = [
            ("skills/list", json!({})),
            ("tools/list", json!({})),
            ("resources/read", json!({ "uri": "skill://user/pdf/SKILL.md" })),
            ("tools/call", json!({ "name": "load_skill", "arguments": { "name": "pdf" } })),
            ("prompts/get", json!({ "name": "pdf" })),
        ];
        let ids: Vec<_> = (0..20)
            .flat_map(|_| requests.clone())
            .map(|(method, params)| peer.send(method, params))
            .collect();
        assert_eq!(ids.len(), 100);
        for id in ids {
            let answer = peer.answer(id);
            assert!(answer.get("result").is_some(), "{answer}");
        }
        for (method, params) in requests.iter().chain([&("skills/get", json!({ "uri": "x" }))]) {
            for _ in 0..5 {
                let id = peer.send(method, params.clone());
                peer.notify("notifications/cancelled", json!({ "requestId": id }));
            }
        }
        is_alive(&mut peer);
        assert!(peer.end().success());
    }
}

/// A client that says again and again that it is ready is notified of each change once.
#[test]
fn a_session_is_announced_once() {
    let sandbox = Sandbox::new();
    with_script(&sandbox, "hello", "greet", "echo hello\n");
    let mut peer = Peer::legacy(&sandbox, &["--scripts", "allow"]);
    for _ in 0..50 {
        peer.notify("notifications/initialized", json!({}));
    }
    assert_eq!(peer.names("prompts/list", "prompts"), ["hello"]);
    peer.call("load_skill", json!({ "name": "hello" }));
    peer.told("notifications/tools/list_changed");
    let rest = peer.rest();
    let changed = rest.iter().filter(|message| message["method"] == "notifications/tools/list_changed");
    assert_eq!(changed.count(), 0, "{rest:?}");
}

/// A client that subscribes again and again, and cancels, goes on; one that keeps too many requests open gets an error.
#[test]
fn requests_under_way_are_limited() {
    let sandbox = machine();
    let mut peer = Peer::modern(&sandbox, &[]);
    let listen = json!({ "notifications": { "toolsListChanged": true } });
    for _ in 0..20 {
        let id = peer.send("subscriptions/listen", listen.clone());
        peer.told("notifications/subscriptions/acknowledged");
        peer.notify("notifications/cancelled", json!({ "requestId": id }));
    }
    let ids: Vec<_> = (0..=1_000).map(|_| peer.send("subscriptions/listen", listen.clone())).collect();
    let refused = peer.find(|message| message.get("error").is_some());
    assert!(ids.iter().any(|id| refused["id"] == *id), "{refused}");
    assert!(
        refused["error"]["message"].as_str().expect("a message").contains("wait for answers"),
        "{refused}"
    );
    peer.notify("notifications/cancelled", json!({ "requestId": ids[0] }));
    is_alive(&mut peer);
    assert!(peer.end().success());
}

/// What a client sent is not sent back to it in full, whatever is wrong with it.
#[test]
fn an_error_is_short() {
    let sandbox = machine();
    let mut peer = Peer::modern(&sandbox, &["--scripts", "allow"]);
    let long = "x".repeat(100_000);
    let uri = format!("skill://user/{long}/SKILL.md");
    let answers = [
        ("none/such", json!({ "name": long })),
        (long.as_str(), json!({})),
        ("resources/read", json!({ "uri": uri })),
        ("resources/directory/read", json!({ "uri": uri })),
        ("skills/get", json!({ "uri": uri })),
        ("skills/list", json!({ "cursor": long })),
        ("prompts/get", json!({ "name": long })),
        ("prompts/get", json!({ "name": "pdf", "arguments": { long.as_str(): "x" } })),
        ("tools/call", json!({ "name": long })),
        ("tools/call", json!({ "name": "load_skill", "arguments": { "name": long } })),
        ("tools/call", json!({ "name": "load_skill", "arguments": { long.as_str(): "x" } })),
        ("tools/call", json!({ "name": "read_skill_file", "arguments": { "name": "pdf", "path": long } })),
        ("tools/call", json!({ "name": "run_skill_script", "arguments": { "name": "pdf", "script": long } })),
    ];
    for (method, params) in answers {
        let id = peer.send(method, params);
        let answer = peer.answer(id);
        assert!(answer.get("error").is_some() || answer["result"]["isError"] == true, "{answer}");
        let size = answer.to_string().len();
        assert!(size < 10_000, "{size} bytes for {}", &method[..method.len().min(30)]);
    }
    assert!(peer.end().success());
}

/// Two requests of one id do not confuse the server.
#[test]
fn an_id_that_is_used_twice_is_survived() {
    let sandbox = machine();
    let mut peer = Peer::legacy(&sandbox, &[]);
    let line = r#"{"jsonrpc":"2.0","id":"same","method":"prompts/list"}"#;
    peer.bytes(format!("{line}\n{line}\n").as_bytes());
    peer.find(|message| message["id"] == "same");
    is_alive(&mut peer);
    assert!(peer.end().success());
}

/// Ends what goes on until then, whatever a test does.
struct Done<'a>(&'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Does `change` again and again while a client reads; what it reads is judged by `judge`.
fn while_it_changes(sandbox: &Sandbox, change: impl Fn() + Send + Sync, judge: impl Fn(&str)) {
    let (done, changed) = (AtomicBool::new(false), AtomicBool::new(false));
    let mut peer = Peer::modern(sandbox, &[]);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                change();
                changed.store(true, Ordering::Relaxed);
            }
        });
        let _guard = Done(&done);
        for _ in 0..25 {
            for (method, params) in [
                ("resources/read", json!({ "uri": "skill://user/pdf/references/deep/forms.md" })),
                (
                    "tools/call",
                    json!({ "name": "read_skill_file", "arguments": { "name": "pdf", "path": "references/deep/forms.md" } }),
                ),
                ("skills/list", json!({})),
                ("skills/get", json!({ "uri": "skill://user/pdf/SKILL.md" })),
                ("resources/directory/read", json!({ "uri": "skill://user/pdf/references" })),
                ("tools/call", json!({ "name": "load_skill", "arguments": { "name": "pdf" } })),
            ] {
                let id = peer.send(method, params);
                let answer = peer.answer(id);
                if let Some(error) = answer.get("error") {
                    assert!([-32602, -32603].contains(&error["code"].as_i64().expect("a code")), "{answer}");
                }
                judge(&answer.to_string());
            }
        }
    });
    assert!(changed.into_inner());
    assert!(peer.end().success());
    assert!(!peer.stderr().contains("panicked"), "{}", peer.stderr());
}

/// A skill that goes and comes while it is read is there or it is not.
#[test]
fn a_skill_may_vanish_while_it_is_read() {
    let sandbox = machine();
    let (here, away) = (sandbox.project().join(USER).join("pdf"), sandbox.root().join("away"));
    while_it_changes(
        &sandbox,
        || {
            std::fs::rename(&here, &away).expect("moved");
            std::fs::rename(&away, &here).expect("moved");
        },
        |_| {},
    );
}

/// A directory of a skill that becomes a link leads nowhere outside of the skill.
#[test]
fn a_skill_may_become_a_link_while_it_is_read() {
    let sandbox = machine();
    sandbox.write("../outside/forms.md", "a secret");
    let (deep, away) =
        (sandbox.project().join(USER).join("pdf/references/deep"), sandbox.root().join("away"));
    let outside = sandbox.root().join("outside");
    while_it_changes(
        &sandbox,
        || {
            std::fs::rename(&deep, &away).expect("moved");
            symlink(&outside, &deep).expect("linked");
            std::fs::remove_file(&deep).expect("removed");
            std::fs::rename(&away, &deep).expect("moved");
        },
        |answer| assert!(!answer.contains("a secret"), "{answer}"),
    );
}

/// A file that is edited while it is read has the old bytes or the new ones, and the digest of one of them.
#[test]
fn a_file_may_be_edited_while_it_is_read() {
    use skillpm_format::digest::Digest;
    let sandbox = machine();
    let file = sandbox.project().join(USER).join("pdf/references/deep/forms.md");
    let (new, texts) = (sandbox.root().join("new"), ["# Forms\n", "# Other forms, and more of them\n"]);
    let digests = texts.map(|text| Digest::of(text.as_bytes()).to_string());
    while_it_changes(
        &sandbox,
        || {
            for text in texts {
                std::fs::write(&new, text).expect("written");
                std::fs::rename(&new, &file).expect("moved");
            }
        },
        |answer| {
            let answer: Value = serde_json::from_str(answer).expect("JSON");
            let lists = [&answer["result"]["skills"][0], &answer["result"]["skill"]];
            for entry in lists.into_iter().filter_map(|entry| entry["resources"].as_array()) {
                let forms = entry
                    .iter()
                    .find(|file| file["uri"].as_str().is_some_and(|uri| uri.ends_with("forms.md")));
                let forms = forms.expect("the file");
                assert!(digests.contains(&forms["digest"].as_str().expect("a digest").to_owned()), "{forms}");
            }
            if let Some(text) = answer["result"]["contents"][0]["text"].as_str() {
                assert!(texts.contains(&text), "{text}");
            }
        },
    );
}

/// A name that is no part of a URI is encoded in one, or its skill is left out; either way the others are listed.
#[test]
fn names_that_are_no_uri_spoil_nothing() {
    let sandbox = machine();
    let names = ["a b", "%41", "a?b#c", "ä", "..", ".", "a/b", "-x", "x--y", "A", "CON", "a\u{202e}b"];
    for (number, name) in names.iter().enumerate() {
        skill(&sandbox, &format!("d{number}"), &format!("name: {}\ndescription: d", json!(name)));
    }
    usual(&sandbox, &"l".repeat(65));
    let mut peer = Peer::modern(&sandbox, &[]);
    let listed = peer.skills();
    let listed: Vec<_> = listed.iter().map(|skill| skill["uri"].as_str().expect("a URI")).collect();
    assert!(listed.contains(&"skill://user/pdf/SKILL.md"), "{listed:?}");
    for uri in &listed {
        assert!(
            ["pdf", "%C3%A4"].iter().any(|name| *uri == format!("skill://user/{name}/SKILL.md")),
            "{uri}"
        );
    }
    let resources = peer.ask("resources/list", json!({}));
    let mut read = String::new();
    for resource in resources["resources"].as_array().expect("resources") {
        let uri = resource["uri"].as_str().expect("a URI");
        assert!(uri.bytes().all(|byte| byte.is_ascii_graphic()) && !uri.contains(['?', '#', '"']), "{uri}");
        let content = peer.ask("resources/read", json!({ "uri": uri }));
        assert!(
            content["contents"][0]["text"].as_str().expect("text").contains("Instructions of"),
            "{content}"
        );
        let _ = writeln!(read, "{uri}");
    }
    for name in names {
        let loaded = peer.call("load_skill", json!({ "name": name }));
        assert!(loaded["content"][0]["text"].is_string(), "{name}: {loaded}");
    }
    println!("{read}");
    assert!(peer.end().success());
}
