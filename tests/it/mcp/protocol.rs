//! Sessions, lists, tools and prompts.

use serde_json::{Value, json};

use super::{USER, audit, machine, skill, usual, with_script};
use crate::support::Sandbox;
use crate::support::mcp::{LEGACY, MODERN, Peer};

/// The text of a result.
fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().expect("text")
}

/// A session starts with every version of the protocol, and the server says the same of itself in each: C26.
#[test]
fn every_version_is_spoken() {
    let sandbox = machine();
    for version in LEGACY.into_iter().chain([MODERN]) {
        let (mut peer, told) = Peer::session(&sandbox, &[], version, json!({}));
        if version == MODERN {
            assert!(
                told["supportedVersions"].as_array().expect("versions").contains(&json!(MODERN)),
                "{told}"
            );
        } else {
            assert_eq!(told["protocolVersion"], version);
            assert_eq!(told["serverInfo"]["name"], "skillpm", "{told}");
        }
        let able = &told["capabilities"];
        for key in ["completions", "prompts", "resources", "tools"] {
            assert!(able[key].is_object(), "{version} {key}: {told}");
        }
        assert_eq!(able["extensions"]["io.modelcontextprotocol/skills"]["directoryRead"], true, "{told}");
        let instructions = told["instructions"].as_str().expect("instructions");
        assert!(instructions.contains("load_skill") && instructions.contains("Fills in forms"), "{told}");
        let tools = ["list_skills", "search_skills", "load_skill", "read_skill_file"];
        assert_eq!(peer.names("tools/list", "tools"), tools, "{version}");
        assert_eq!(peer.names("prompts/list", "prompts"), ["pdf"], "{version}");
        assert_eq!(peer.names("resources/list", "resources"), ["pdf"], "{version}");
        assert!(text(&peer.call("load_skill", json!({ "name": "pdf" }))).contains("Instructions of pdf"));
        assert!(peer.end().success(), "{}", peer.stderr());
        // The skill has fields that the specification does not know.
        assert_eq!(peer.stderr().lines().count(), 1, "{version}: {}", peer.stderr());
    }
}

/// A version that nobody knows gets one that the server knows, as the protocol says.
#[test]
fn an_unknown_version_is_answered_with_a_known_one() {
    let sandbox = machine();
    let mut peer = Peer::start(&sandbox, &[]);
    let id = peer.send("ping", json!({}));
    assert_eq!(peer.answer(id)["result"], json!({}));
    peer.line(r#"{"jsonrpc":"2.0","id":90,"method":"initialize","params":{"protocolVersion":"1999-01-01","capabilities":{},"clientInfo":{"name":"p","version":"1"}}}"#);
    let told = peer.find(|message| message["id"] == 90);
    assert!(LEGACY.contains(&told["result"]["protocolVersion"].as_str().expect("a version")), "{told}");
    assert!(peer.end().success());

    let mut peer = Peer::start(&sandbox, &[]);
    peer.line(r#"{"jsonrpc":"2.0","id":91,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2999-01-01","io.modelcontextprotocol/clientInfo":{"name":"p","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#);
    let refused = peer.find(|message| message["id"] == 91);
    assert_eq!(refused["error"]["code"], -32022, "{refused}");
    assert!(refused["error"]["data"]["supported"].as_array().expect("versions").contains(&json!(MODERN)));
    assert!(peer.end().success());
}

/// Without skills there is nothing: S4-4.
#[test]
fn without_skills_there_is_nothing() {
    let sandbox = Sandbox::new();
    for version in ["2025-11-25", MODERN] {
        let (mut peer, told) = Peer::session(&sandbox, &["--scripts", "allow"], version, json!({}));
        assert!(told.get("instructions").is_none(), "{told}");
        for (method, key) in [
            ("tools/list", "tools"),
            ("prompts/list", "prompts"),
            ("resources/list", "resources"),
            ("resources/templates/list", "resourceTemplates"),
            ("skills/list", "skills"),
        ] {
            assert_eq!(peer.ask(method, json!({}))[key], json!([]), "{method}");
        }
        assert!(peer.end().success());
    }
}

/// The tools can be left out, with what names them: S4-8.
#[test]
fn the_tools_can_be_left_out() {
    let sandbox = machine();
    for version in ["2025-11-25", MODERN] {
        let (mut peer, told) = Peer::session(&sandbox, &["--no-tools"], version, json!({}));
        assert!(told.get("instructions").is_none(), "{told}");
        assert_eq!(peer.ask("tools/list", json!({}))["tools"], json!([]));
        assert_eq!(
            peer.refused("tools/call", json!({ "name": "load_skill", "arguments": { "name": "pdf" } })).0,
            -32602
        );
        assert_eq!(peer.names("prompts/list", "prompts"), ["pdf"]);
        assert_eq!(peer.skills().len(), 1);
        assert!(peer.end().success());
    }
}

/// What a model may start is in tools, what a person may start in prompts, what is disabled nowhere: C26.
#[test]
fn who_may_start_a_skill_decides_where_it_is_offered() {
    let sandbox = Sandbox::new();
    usual(&sandbox, "both");
    skill(&sandbox, "person", "name: person\ndescription: d\ndisable-model-invocation: true");
    skill(&sandbox, "model", "name: model\ndescription: d\nuser-invocable: false");
    usual(&sandbox, "off");
    sandbox
        .write("../home/.config/skillpm/skillpm.toml", "[skills.off]\npath = \"./off\"\ndisabled = true\n");
    let (mut peer, told) = Peer::session(&sandbox, &[], MODERN, json!({}));
    let instructions = told["instructions"].as_str().expect("instructions");
    assert!(instructions.contains("both") && instructions.contains("model"), "{instructions}");
    assert!(!instructions.contains("person") && !instructions.contains("off"), "{instructions}");
    let listed = peer.call("list_skills", json!({}));
    let names = |value: &Value| -> Vec<String> {
        assert!(value.get("structuredContent").is_none(), "{value}");
        let lines = text(value).lines().filter_map(|line| line.strip_prefix("- ")?.split_once(": "));
        lines.map(|(name, _)| name.to_owned()).collect()
    };
    assert_eq!(names(&listed), ["both", "model"]);
    let tools = peer.ask("tools/list", json!({}));
    let load = tools["tools"].as_array().expect("tools").iter().find(|tool| tool["name"] == "load_skill");
    let load = load.expect("the tool");
    assert_eq!(load["inputSchema"]["properties"]["name"]["enum"], json!(["both", "model"]));
    assert_eq!(load["annotations"]["readOnlyHint"], true);
    assert_eq!(load["annotations"]["destructiveHint"], false);
    assert_eq!(peer.names("prompts/list", "prompts"), ["both", "person"]);
    for (name, is_error) in
        [("both", false), ("model", false), ("person", true), ("off", true), ("bot", true)]
    {
        let loaded = peer.call("load_skill", json!({ "name": name }));
        assert_eq!(loaded["isError"] == true, is_error, "{name}: {loaded}");
    }
    assert!(text(&peer.call("load_skill", json!({ "name": "bot" }))).contains("`both`"));
    for (name, is_there) in [("both", true), ("person", true), ("model", false), ("off", false)] {
        let id = peer.send("prompts/get", json!({ "name": name }));
        let answer = peer.answer(id);
        assert_eq!(answer.get("result").is_some(), is_there, "{name}: {answer}");
        if !is_there {
            assert_eq!(answer["error"]["code"], -32602);
        }
    }
    // The extension leaves it to the host, which has the whole frontmatter.
    let listed = peer.skills();
    let names: Vec<_> =
        listed.iter().map(|skill| skill["frontmatter"]["name"].as_str().expect("a name")).collect();
    assert_eq!(names, ["both", "model", "person"]);
    assert_eq!(listed[2]["frontmatter"]["disable-model-invocation"], true);
    assert!(peer.end().success());
}

/// A tool answers what the command does; what is wrong with a call is an answer that a model can read.
#[test]
fn tools_answer_and_say_what_is_wrong() {
    let sandbox = machine();
    usual(&sandbox, "review");
    let mut peer = Peer::modern(&sandbox, &[]);
    let loaded = peer.call("load_skill", json!({ "name": "pdf", "arguments": "a b" }));
    assert!(text(&loaded).starts_with("<skill_content name=\"pdf\">"), "{loaded}");
    assert!(text(&loaded).contains("references/deep/forms.md"), "{loaded}");
    let found = peer.call("search_skills", json!({ "query": "forms" }));
    assert_eq!(text(&found), "- pdf: Fills in forms. Use it for PDF files.\n");
    let read = peer.call("read_skill_file", json!({ "name": "pdf", "path": "references/deep/forms.md" }));
    assert_eq!(text(&read), "# Forms\n");
    for (tool, arguments, word) in [
        ("read_skill_file", json!({ "name": "pdf", "path": "../review/SKILL.md" }), ".."),
        ("read_skill_file", json!({ "name": "pdf", "path": "/etc/passwd" }), "/etc/passwd"),
        ("read_skill_file", json!({ "name": "pdf", "path": "none.md" }), "none.md"),
        ("read_skill_file", json!({ "name": "pdf", "path": "assets/logo.png" }), "not text"),
        ("read_skill_file", json!({ "name": "pdf" }), "`path` is missing"),
        ("load_skill", json!({ "name": 3 }), "not a string"),
        ("load_skill", json!({ "nam": "pdf" }), "`nam`"),
        ("list_skills", json!({ "offset": -1 }), "whole number"),
    ] {
        let failed = peer.call(tool, arguments.clone());
        assert_eq!(failed["isError"], true, "{tool} {arguments}: {failed}");
        assert!(text(&failed).contains(word), "{tool} {arguments}: {failed}");
    }
    assert_eq!(peer.refused("tools/call", json!({ "name": "nothing" })).0, -32602);
    let events: Vec<_> =
        audit(&sandbox).iter().map(|line| (line["event"].clone(), line["skill"].clone())).collect();
    assert_eq!(events.iter().filter(|(event, _)| event == "activation").count(), 1, "{events:?}");
    assert!(peer.end().success());
}

/// A prompt takes the arguments of its skill, and completes what its author lists.
#[test]
fn a_prompt_has_the_skill_with_its_arguments() {
    let sandbox = machine();
    let mut peer = Peer::legacy(&sandbox, &[]);
    let prompts = peer.ask("prompts/list", json!({}));
    assert_eq!(prompts["prompts"][0]["arguments"][0]["name"], "arguments");
    let got = peer.ask("prompts/get", json!({ "name": "pdf", "arguments": { "arguments": "slow now" } }));
    let message = got["messages"][0]["content"]["text"].as_str().expect("text");
    assert!(message.contains("ARGUMENTS: slow now"), "{message}");
    assert_eq!(
        peer.refused("prompts/get", json!({ "name": "pdf", "arguments": { "other": "1" } })).0,
        -32602
    );
    let complete = |peer: &mut Peer, of: Value, name: &str, value: &str| {
        let argument = json!({ "name": name, "value": value });
        peer.ask("completion/complete", json!({ "ref": of, "argument": argument }))["completion"]["values"]
            .clone()
    };
    let prompt = json!({ "type": "ref/prompt", "name": "pdf" });
    assert_eq!(complete(&mut peer, prompt.clone(), "arguments", ""), json!(["fast", "slow"]));
    assert_eq!(complete(&mut peer, prompt, "arguments", "s"), json!(["slow"]));
    let template =
        peer.ask("resources/templates/list", json!({}))["resourceTemplates"][0]["uriTemplate"].clone();
    let resource = json!({ "type": "ref/resource", "uri": template });
    assert_eq!(complete(&mut peer, resource.clone(), "path", "user/p"), json!(["user/pdf/SKILL.md"]));
    let below = complete(&mut peer, resource, "path", "user/pdf/s");
    assert_eq!(below, json!(["user/pdf/scripts/fill.py"]));
    assert!(peer.end().success());
}

/// `--skill`, `--tag`, `--agent`, `--scope`, `--dir` and trust decide what is served.
#[test]
fn what_is_served_can_be_chosen() {
    let sandbox = machine();
    usual(&sandbox, "review");
    sandbox.write(".git/HEAD", "");
    let text = |name: &str| format!("---\nname: {name}\ndescription: d\n---\n");
    sandbox.write(".agents/skills/ours/SKILL.md", text("ours"));
    sandbox.write(".claude/skills/claudes/SKILL.md", text("claudes"));
    sandbox.write("more/extra/SKILL.md", text("extra"));
    let served = |args: &[&str]| {
        let mut peer = Peer::modern(&sandbox, args);
        let mut uris: Vec<_> =
            peer.skills().iter().map(|skill| skill["uri"].as_str().expect("a URI").to_owned()).collect();
        uris.sort();
        assert!(peer.end().success());
        (uris, peer.stderr())
    };
    let (pdf, review) = ("skill://user/pdf/SKILL.md", "skill://user/review/SKILL.md");
    let (ours, claudes) = ("skill://project/ours/SKILL.md", "skill://project/claudes/SKILL.md");
    let (uris, stderr) = served(&[]);
    assert_eq!(uris, [pdf, review], "{stderr}");
    assert!(stderr.contains("not trusted"), "{stderr}");
    assert_eq!(served(&["--untrusted"]).0, [claudes, ours, pdf, review]);
    sandbox.ok(&["trust", "."]);
    let (uris, stderr) = served(&[]);
    assert_eq!(uris, [claudes, ours, pdf, review], "{stderr}");
    assert_eq!(stderr, "");
    assert_eq!(served(&["--scope", "project"]).0, [claudes, ours]);
    assert_eq!(served(&["--scope", "user"]).0, [pdf, review]);
    assert_eq!(served(&["--skill", "pdf", "--skill", "ours"]).0, [ours, pdf]);
    assert_eq!(served(&["--tag", "office"]).0, [pdf]);
    assert_eq!(served(&["--agent", "claude-code", "--scope", "project"]).0, [claudes]);
    assert_eq!(served(&["--dir", "more", "--skill", "extra"]).0, ["skill://extra/extra/SKILL.md"]);
    assert_eq!(sandbox.run(&["mcp", "--agent", "nobody"]).code, Some(2));
}

/// A skill that is added, edited or removed is announced, to each era in its way.
#[test]
fn changes_are_announced() {
    let sandbox = machine();
    let (mut old, mut new) = (Peer::legacy(&sandbox, &[]), Peer::modern(&sandbox, &[]));
    let filter = json!({ "notifications": { "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true } });
    let listening = new.send("subscriptions/listen", filter);
    new.told("notifications/subscriptions/acknowledged");
    assert_eq!(old.names("prompts/list", "prompts"), ["pdf"]);
    let changed = |old: &mut Peer, new: &mut Peer, names: &[&str]| {
        for peer in [old, new] {
            for kind in ["tools", "prompts", "resources"] {
                peer.told(&format!("notifications/{kind}/list_changed"));
            }
            assert_eq!(peer.names("prompts/list", "prompts"), names);
        }
    };
    usual(&sandbox, "added");
    changed(&mut old, &mut new, &["added", "pdf"]);
    skill(&sandbox, "added", "name: edited\ndescription: Is another one now.");
    changed(&mut old, &mut new, &["edited", "pdf"]);
    std::fs::remove_dir_all(sandbox.project().join(USER).join("added")).expect("removed");
    changed(&mut old, &mut new, &["pdf"]);
    // What the frontmatter does not say is in the digests.
    for (file, text) in [("empty.txt", "no longer"), ("new.txt", "new")] {
        sandbox.write(&format!("{USER}/pdf/{file}"), text);
        let digest = skillpm_format::digest::Digest::of(text.as_bytes()).to_string();
        for peer in [&mut old, &mut new] {
            let is_announced = |message: &Value| {
                message["method"].as_str().is_some_and(|method| method.ends_with("/list_changed"))
            };
            assert_eq!(peer.find(is_announced)["method"], "notifications/resources/list_changed");
            assert!(peer.skills()[0].to_string().contains(&digest), "{file}");
        }
    }
    // A stream that the client cancels ends, and the session goes on.
    new.notify("notifications/cancelled", json!({ "requestId": listening }));
    assert_eq!(new.names("prompts/list", "prompts"), ["pdf"]);
    assert!(old.end().success() && new.end().success());
}

/// A load and a run are a line each in the audit log, with the client's name.
#[test]
fn loads_and_runs_are_logged() {
    let sandbox = Sandbox::new();
    with_script(&sandbox, "hello", "greet", "echo \"Hello, $1!\"\n");
    let mut peer = Peer::modern(&sandbox, &["--scripts", "allow"]);
    peer.call("load_skill", json!({ "name": "hello" }));
    let ran = peer.call(
        "run_skill_script",
        json!({ "name": "hello", "script": "greet", "arguments": { "arguments": ["you"] } }),
    );
    assert_eq!(ran["isError"], false, "{ran}");
    assert!(peer.end().success());
    let lines = audit(&sandbox);
    for event in ["activation", "run"] {
        let line = lines.iter().find(|line| line["event"] == event && line["skill"] == "hello");
        assert!(line.is_some(), "{event}: {lines:?}");
    }
}
