//! The server of MCP: by its tools, prompts and resources it gives the answers that are written in the same files.

use std::path::Path;

use serde_json::{Value, json};

use super::{Case, fixtures, machine, scrubbed};
use crate::support::mcp::Peer;

/// What is asked of a server has the answer that all front ends give: C26.
#[test]
fn the_server_of_mcp_gives_the_same_answers() {
    let mut compared = 0;
    for entry in std::fs::read_dir(fixtures()).expect("cases") {
        compared += case(&entry.expect("a case").path());
    }
    println!("{compared} answers compared");
    assert!(compared > 60, "{compared}");
}

/// Compares the answers of a case, and returns how many.
fn case(dir: &Path) -> usize {
    let read = |name: &str| std::fs::read_to_string(dir.join(name)).expect(name);
    let case: Case = serde_json::from_str(&read("case.json")).expect("a case");
    let expected: Value = serde_json::from_str(&read("expected.json")).expect("answers");
    let sandbox = machine(dir, &case);
    sandbox.ok(&["trust", "."]);
    let mut peer = Peer::modern(&sandbox, &["--untrusted", "--scripts", "allow"]);
    let root = sandbox.root().display().to_string();
    let mut compared = 0;
    for item in super::items(&expected) {
        let (ask, wanted) = (&item["ask"], &item["answer"]);
        // A client has names of skills only.
        if ask["name"].as_str().is_none_or(|name| name.contains(':')) {
            continue;
        }
        let Some(found) = answer(&mut peer, ask, wanted) else { continue };
        let (found, at) = (scrubbed(&found, &root), dir.display());
        match wanted["error"].as_str() {
            None => assert_eq!(found, *wanted, "{at}: {ask}"),
            Some(wanted) => {
                let error = found["error"].as_str().unwrap_or_else(|| panic!("{at}: {ask}: {found}"));
                // What cannot be loaded is not served.
                let is_served = !wanted.contains("cannot be loaded");
                assert!(!is_served || error.starts_with(wanted), "{at}: {ask}: {error}");
            }
        }
        compared += 1;
    }
    assert!(peer.end().success());
    compared
}

/// What the server says; `None` if it has nothing that corresponds.
fn answer(peer: &mut Peer, ask: &Value, wanted: &Value) -> Option<Value> {
    let name = &ask["name"];
    let form = ask["form"].as_str().unwrap_or("plain");
    match ask["verb"].as_str()? {
        "invoke" if form == "xml" => {
            let loaded =
                text(&peer.call("load_skill", json!({ "name": name, "arguments": ask["arguments"] })));
            let arguments = json!({ "arguments": ask["arguments"] });
            let id = peer.send("prompts/get", json!({ "name": name, "arguments": arguments }));
            let got = peer.answer(id);
            // What a person starts is the same.
            if got.get("error").is_none() {
                let text = got["result"]["messages"][0]["content"]["text"].as_str().expect("a text");
                assert!(text.starts_with(loaded.as_str().expect("a text")), "{ask}: {text}");
            }
            Some(loaded)
        }
        "read" if wanted.get("encoding").is_none() => {
            let read = text(&peer.call("read_skill_file", json!({ "name": name, "path": ask["path"] })));
            let is_error = read.is_object();
            Some(if is_error {
                read
            } else {
                json!({ "skill_name": name, "filename": ask["path"], "content": read })
            })
        }
        "tools" if wanted.is_array() => {
            peer.call("load_skill", json!({ "name": name }));
            let listed = peer.ask("tools/list", json!({}));
            let listed = listed["tools"].as_array().expect("tools");
            // What a client has no field for is taken from the expected answer.
            let one = |wanted: &Value| {
                let tool = listed.iter().find(|tool| tool["name"] == wanted["tool_name"]);
                let tool = tool.unwrap_or_else(|| panic!("{wanted}"));
                let mut found = wanted.clone();
                found["description"] = tool["description"].clone();
                found["input_schema"] = tool["inputSchema"].clone();
                found
            };
            Some(wanted.as_array().expect("tools").iter().map(one).collect())
        }
        "run" => {
            let call = json!({ "name": name, "script": ask["script"], "arguments": ask["arguments"] });
            let ran = peer.call("run_skill_script", call);
            let value = &ran["_meta"]["io.github.skillpm/run"];
            Some(if value.is_null() {
                text(&ran)
            } else {
                let blocks = ran["content"].as_array().expect("content").iter();
                let blocks: Vec<_> = blocks.map(|block| block["text"].as_str().expect("text")).collect();
                // Output that there is comes first.
                let stdout = if value["stdout"]["bytes"] == 0 { "" } else { blocks[0] };
                let stderr = blocks.iter().find_map(|block| block.strip_prefix("standard error:\n"));
                json!({ "exit_code": value["exit_code"], "stdout": stdout, "stderr": stderr.unwrap_or_default() })
            })
        }
        _ => None,
    }
}

/// The text of a result, or the error in it.
fn text(result: &Value) -> Value {
    let text = &result["content"][0]["text"];
    if result["isError"] == true { json!({ "error": text }) } else { text.clone() }
}
