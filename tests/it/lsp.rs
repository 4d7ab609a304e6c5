//! `lsp`, as an editor speaks with it: over pipes, one message after the other.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::support::Sandbox;

/// An editor.
struct Editor {
    server: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    requests: u64,
    /// The messages that came while an answer was awaited.
    told: Vec<Value>,
}

impl Editor {
    fn start(sandbox: &Sandbox) -> Self {
        let mut command = sandbox.command(&["lsp", "--stdio"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut server = command.spawn().expect("the program starts");
        let (input, output) = (server.stdin.take().expect("a pipe"), server.stdout.take().expect("a pipe"));
        Self { server, input, output: BufReader::new(output), requests: 0, told: Vec::new() }
    }

    fn initialized(sandbox: &Sandbox, encodings: &[&str]) -> Self {
        let mut editor = Self::start(sandbox);
        let watching = json!({ "didChangeWatchedFiles": { "dynamicRegistration": true } });
        let capabilities = json!({ "general": { "positionEncodings": encodings }, "workspace": watching });
        let answer = editor.asks("initialize", &json!({ "capabilities": capabilities }));
        let wanted = encodings.first().unwrap_or(&"utf-16");
        assert_eq!(answer["capabilities"]["positionEncoding"], *wanted, "{answer}");
        editor.tells("initialized", &json!({}));
        editor
    }

    fn writes(&mut self, bytes: &str) {
        let _ = self.input.write_all(bytes.as_bytes());
    }

    fn frame(&mut self, text: &str) {
        self.writes(&format!("Content-Length: {}\r\n\r\n{text}", text.len()));
    }

    fn tells(&mut self, method: &str, params: &Value) {
        self.frame(&json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string());
    }

    fn reads(&mut self) -> Value {
        let (mut length, mut line) = (0, String::new());
        while self.output.read_line(&mut line).expect("a header") > 2 {
            length =
                line.trim().strip_prefix("Content-Length: ").expect("a length").parse().expect("a number");
            line.clear();
        }
        let mut bytes = vec![0; length];
        self.output.read_exact(&mut bytes).expect("a message");
        serde_json::from_slice(&bytes).expect("JSON")
    }

    /// Returns the whole answer to a request.
    fn answer(&mut self, method: &str, params: &Value) -> Value {
        self.requests += 1;
        let id = self.requests;
        self.frame(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string());
        loop {
            let message = self.reads();
            if message["id"] == id {
                return message;
            }
            self.told.push(message);
        }
    }

    fn asks(&mut self, method: &str, params: &Value) -> Value {
        let mut answer = self.answer(method, params);
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].take()
    }

    fn opens(&mut self, uri: &str, text: &str) -> Vec<Value> {
        let item = json!({ "uri": uri, "languageId": "markdown", "version": 1, "text": text });
        self.tells("textDocument/didOpen", &json!({ "textDocument": item }));
        self.diagnostics(uri)
    }

    fn changes(&mut self, uri: &str, version: u64, changes: &Value) -> Vec<Value> {
        let item = json!({ "uri": uri, "version": version });
        self.tells("textDocument/didChange", &json!({ "textDocument": item, "contentChanges": changes }));
        self.diagnostics(uri)
    }

    /// Returns the next findings that are told of `uri`.
    fn diagnostics(&mut self, uri: &str) -> Vec<Value> {
        loop {
            let mut message = self.reads();
            if message["method"] == "textDocument/publishDiagnostics" && message["params"]["uri"] == uri {
                let Value::Array(all) = message["params"]["diagnostics"].take() else { panic!("{message}") };
                return all;
            }
            self.told.push(message);
        }
    }

    /// Returns the exit code and what is on standard error, after the editor has closed its end.
    fn ends(self) -> (Option<i32>, String) {
        drop(self.input);
        let output = self.server.wait_with_output().expect("it ends");
        (output.status.code(), String::from_utf8(output.stderr).expect("UTF-8"))
    }
}

/// Each finding in short: its rule, its severity and where it starts and ends.
fn short(diagnostics: &[Value]) -> Vec<String> {
    let one = |it: &Value| {
        let at = |end: &str| format!("{}:{}", it["range"][end]["line"], it["range"][end]["character"]);
        format!(
            "{} {} {}-{}",
            it["code"].as_str().unwrap_or_default(),
            it["severity"],
            at("start"),
            at("end")
        )
    };
    diagnostics.iter().map(one).collect()
}

fn uri(path: &Path) -> String {
    let path = path.to_str().expect("UTF-8").replace('\\', "/").replace(' ', "%20");
    format!("file://{}{path}", if path.starts_with('/') { "" } else { "/" })
}

const TEXT: &str = "---\nname: pdf\ndescription: 😀 Reads: all. Use it when asked.\ncompatibility: 3.10\nlicence: MIT\n\
    effort: low\n---\n\nSee [more](references/more.md).\n";

/// The text after `edits`, which are in the order of the text, of one line each.
fn edited(text: &str, edits: &Value) -> String {
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    for edit in edits.as_array().expect("edits").iter().rev() {
        let at = |end: &str, key: &str| {
            usize::try_from(edit["range"][end][key].as_u64().expect("a number")).expect("small")
        };
        assert_eq!(at("start", "line"), at("end", "line"));
        let line = &mut lines[at("start", "line")];
        let units: Vec<u16> = line.encode_utf16().collect();
        let (before, after) = (&units[..at("start", "character")], &units[at("end", "character")..]);
        let text = |units: &[u16]| String::from_utf16(units).expect("whole characters");
        *line = [&text(before), edit["newText"].as_str().expect("text"), &text(after)].concat();
    }
    lines.join("\n")
}

#[test]
fn a_skill_is_checked_while_it_is_written() {
    let sandbox = Sandbox::new();
    let file = sandbox.write("my skills/pdf/SKILL.md", "not what counts");
    sandbox.write("my skills/csv/SKILL.md", "---\nname: csv\n---\n");
    let uri = uri(&file);
    let mut editor = Editor::initialized(&sandbox, &[]);
    let found = editor.opens(&uri, TEXT);
    assert_eq!(
        short(&found),
        [
            "yaml-unquoted-colon 1 2:21-2:22",
            "yaml-unquoted-value 2 3:15-3:19",
            "unknown-field 2 4:0-4:7",
            "client-field 3 5:0-5:6",
            "link-missing 2 8:11-8:29",
        ]
    );
    assert!(
        found[1]["message"].as_str().is_some_and(|text| text.contains("\nwrite `compatibility: \"3.10\"`"))
    );
    assert!(
        found[1]["codeDescription"]["href"]
            .as_str()
            .is_some_and(|page| page.ends_with("rules/yaml-unquoted-value.md"))
    );
    assert_eq!(editor.told.last().expect("a request")["method"], "client/registerCapability");

    // Repairs: those of the range, the safe ones preferred; applied, they leave no finding.
    let position = |line: u64, character: u64| json!({ "line": line, "character": character });
    let document = json!({ "uri": uri });
    let range = json!({ "start": position(2, 20), "end": position(4, 2) });
    let params = json!({ "textDocument": document, "range": range, "context": { "diagnostics": [] } });
    let actions = editor.asks("textDocument/codeAction", &params);
    let of = |rule: &str| {
        let actions = actions.as_array().expect("actions").iter();
        actions.filter(|action| action["diagnostics"][0]["code"] == rule).collect::<Vec<_>>()
    };
    assert_eq!(of("yaml-unquoted-value")[0]["isPreferred"], true);
    assert_eq!(of("unknown-field")[0]["isPreferred"], false);
    assert!(
        of("unknown-field")[0]["title"].as_str().is_some_and(|title| title.ends_with("(unsafe: review it)"))
    );
    let edits = |rule: &str| &of(rule)[0]["edit"]["changes"][&uri];
    let text = edited(TEXT, edits("yaml-unquoted-colon"));
    assert_eq!(
        text,
        TEXT.replace("😀 Reads: all. Use it when asked.", "\"😀 Reads: all. Use it when asked.\"")
    );
    let edit = &edits("yaml-unquoted-value")[0];
    let changes = json!([{ "text": text }, { "range": edit["range"], "text": edit["newText"] }]);
    let found = editor.changes(&uri, 2, &changes);
    assert_eq!(
        short(&found),
        ["unknown-field 2 4:0-4:7", "client-field 3 5:0-5:6", "link-missing 2 8:11-8:29"]
    );

    // What a rule and a field is.
    let at = |line, character| json!({ "textDocument": document, "position": position(line, character) });
    let hover = editor.asks("textDocument/hover", &at(5, 2));
    let text = hover["contents"]["value"].as_str().expect("text");
    for part in ["A field of Claude Code", "**[client-field](https://", "Other agents ignore them"] {
        assert!(text.contains(part), "{text}");
    }
    assert_eq!(hover["range"], json!({ "start": position(5, 0), "end": position(5, 6) }));
    assert_eq!(editor.asks("textDocument/hover", &at(7, 0)), Value::Null);

    // What can be written.
    let labels = |items: &Value| {
        let items = items.as_array().expect("items").iter();
        items.map(|item| item["label"].as_str().expect("a label").to_owned()).collect::<Vec<_>>()
    };
    let items = editor.asks("textDocument/completion", &at(5, 9));
    assert_eq!(labels(&items)[..2], ["low", "medium"]);
    let edit = json!({ "range": { "start": position(5, 8), "end": position(5, 9) }, "newText": "low" });
    assert_eq!(items[0]["textEdit"], edit);
    let line = json!([{ "range": { "start": position(6, 0), "end": position(6, 0) },
        "text": "metadata:\n  skill-dependencies: \n" }]);
    editor.changes(&uri, 3, &line);
    assert_eq!(labels(&editor.asks("textDocument/completion", &at(7, 22))), ["csv"]);
    assert_eq!(editor.asks("textDocument/completion", &at(9, 0)), Value::Null);

    // A file of the skill is saved, and a manifest changes.
    let more = sandbox.write("my skills/pdf/references/more.md", "# More\n");
    editor.tells("textDocument/didSave", &json!({ "textDocument": { "uri": self::uri(&more) } }));
    let rules = |found: &[Value]| found.iter().map(|it| it["code"].clone()).collect::<Vec<_>>();
    assert!(!rules(&editor.diagnostics(&uri)).contains(&"link-missing".into()));
    let manifest = sandbox.write("skillpm.toml", "[lint.rules]\nunknown-field = \"off\"\n");
    let changed = json!({ "changes": [{ "uri": self::uri(&manifest), "type": 1 }] });
    editor.tells("workspace/didChangeWatchedFiles", &changed);
    assert!(!rules(&editor.diagnostics(&uri)).contains(&"unknown-field".into()));
    sandbox.write("skillpm.toml", "[lint]\nprofile = \"zzz\"\n");
    editor.tells("workspace/didChangeWatchedFiles", &changed);
    let found = editor.diagnostics(&uri);
    assert!(
        found[0]["message"].as_str().is_some_and(|text| text.contains("there is no profile `zzz`")),
        "{found:?}"
    );

    // A skill that is not open, by a file of it.
    std::fs::remove_file(&manifest).expect("removed");
    let script = sandbox.write("my skills/csv/scripts/a.py", "");
    editor.tells("textDocument/didSave", &json!({ "textDocument": { "uri": self::uri(&script) } }));
    let other = self::uri(&sandbox.project().join("my skills/csv/SKILL.md"));
    assert_eq!(rules(&editor.diagnostics(&other)), ["description-missing"]);
    std::fs::remove_file(sandbox.project().join("my skills/csv/SKILL.md")).expect("removed");
    editor.tells("workspace/didChangeWatchedFiles", &json!({ "changes": [{ "uri": other, "type": 3 }] }));
    assert_eq!(editor.diagnostics(&other), [Value::Null; 0]);
    editor.tells("textDocument/didClose", &json!({ "textDocument": document }));
    assert_eq!(editor.diagnostics(&uri), [Value::Null; 0]);
    assert_eq!(editor.asks("shutdown", &Value::Null), Value::Null);
    editor.tells("exit", &Value::Null);
    assert_eq!(editor.ends(), (Some(0), String::new()));
    // With the encoding that the editor prefers, columns count bytes.
    let mut editor = Editor::initialized(&sandbox, &["utf-8", "utf-16"]);
    let found = editor.opens("file:///nowhere/pdf/SKILL.md", TEXT);
    assert_eq!(short(&found)[0], "yaml-unquoted-colon 1 2:23-2:24");
}

#[test]
fn what_is_no_conversation_is_refused() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::start(&sandbox);
    assert_eq!(editor.answer("shutdown", &Value::Null)["error"]["code"], -32002);
    editor.tells("textDocument/didOpen", &json!({}));
    editor.asks("initialize", &Value::Null);
    assert_eq!(editor.answer("initialize", &json!({}))["error"]["code"], -32600);
    for (text, code) in [("{", -32700), ("[]", -32600), ("7", -32600), (&"[".repeat(100_000), -32700)] {
        editor.frame(text);
        let answer = editor.reads();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&Value::Null, &code.into()), "{text}");
    }
    assert_eq!(editor.answer("textDocument/rename", &json!({}))["error"]["code"], -32601);
    assert_eq!(editor.answer("textDocument/hover", &json!({ "position": 7 }))["error"]["code"], -32602);
    editor.tells("$/setTrace", &json!({}));
    editor.tells("textDocument/didOpen", &json!({ "textDocument": [] }));
    assert_eq!(editor.reads()["method"], "window/logMessage");
    // Positions that are nowhere, and files that are not open.
    let uri = "untitled:SKILL.md";
    editor.opens(uri, "---\nname: é");
    let range =
        json!({ "start": { "line": 9, "character": 9 }, "end": { "line": 0, "character": u32::MAX } });
    editor.changes(uri, 2, &json!([{ "range": range, "text": "\u{0}\r" }]));
    let at = |uri: &str| json!({ "textDocument": { "uri": uri }, "position": { "line": u32::MAX, "character": 3 } });
    for method in ["textDocument/hover", "textDocument/completion"] {
        assert_eq!(editor.asks(method, &at("file:///x/SKILL.md")), Value::Null);
        editor.asks(method, &at(uri));
    }
    editor.asks("shutdown", &Value::Null);
    assert_eq!(editor.answer("textDocument/hover", &at(uri))["error"]["code"], -32600);
    assert_eq!(editor.ends(), (Some(0), String::new()), "the editor is gone after it said so");
    let mut impolite = Editor::initialized(&sandbox, &[]);
    impolite.tells("exit", &Value::Null);
    assert_eq!(impolite.ends().0, Some(1));
    assert_eq!(Editor::start(&sandbox).ends().0, Some(1));
    for frame in
        ["Content-Length: 99999999999999\r\n\r\n{}", "Content-Length: x\r\n\r\n", "GET / HTTP/1.1\r\n"]
    {
        let mut editor = Editor::start(&sandbox);
        editor.writes(frame);
        let (code, stderr) = editor.ends();
        assert_eq!(code, Some(6), "{frame}: {stderr}");
        assert!(stderr.starts_with("error: the connection to the editor broke\n"), "{stderr}");
    }
}
