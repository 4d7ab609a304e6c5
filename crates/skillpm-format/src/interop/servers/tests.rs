//! Edits of each format: what changes, what stays, what is refused. And for any JSON with comments.

use proptest::prelude::*;
use serde_json::json;

use super::*;

const KEY: Key<'_> = Key { table: "mcpServers", name: "skillpm" };

fn fields(arguments: &[&str]) -> Vec<Field> {
    vec![("command", "skillpm".into()), ("args", arguments.iter().copied().collect())]
}

/// Adds the entry to `before`, checks that the text is then `after`, and that removing the entry restores `before`.
#[track_caller]
fn assert_added(format: Format, before: &str, after: &str) {
    let added =
        format.add(before, KEY, &fields(&["mcp"])).unwrap_or_else(|error| panic!("{error}: {before:?}"));
    assert_eq!(added.text, after);
    let servers = format.servers(&added.text, KEY.table).expect("still in its format");
    assert_eq!(servers["skillpm"], json!({"command": "skillpm", "args": ["mcp"]}));
    assert_eq!(format.remove(&added.text, KEY, added.with_table).as_deref(), Ok(before));
}

#[track_caller]
fn refusal(format: Format, text: &str) -> String {
    let error = format.add(text, KEY, &fields(&["mcp"])).expect_err(text).to_string();
    let changed = format.change(text, KEY, &fields(&["mcp"])).map_err(|error| error.to_string());
    assert!(changed.is_err(), "{text:?}");
    error
}

#[test]
fn json_gets_an_entry_in_the_style_of_the_file() {
    let entry = |indent: &str, unit: &str| {
        format!(
            "\"skillpm\": {{\n{indent}{unit}\"command\": \"skillpm\",\n{indent}{unit}\"args\": [\"mcp\"]\n{indent}}}"
        )
    };
    let line = r#""skillpm": { "command": "skillpm", "args": ["mcp"] }"#;
    for (before, after) in [
        // An object of one line stays one.
        (r#"{"mcpServers": {"a": {}}}"#.to_owned(), format!(r#"{{"mcpServers": {{"a": {{}}, {line}}}}}"#)),
        (r#"{"a": 1}"#.to_owned(), format!(r#"{{"a": 1, "mcpServers": {{ {line} }}}}"#)),
        // Indentation, comments and commas are those of the file.
        (
            "{\n\t\"a\": 1 // one\n\t// end\n}\n".to_owned(),
            format!(
                "{{\n\t\"a\": 1, // one\n\t// end\n\t\"mcpServers\": {{\n\t\t{}\n\t}}\n}}\n",
                entry("\t\t", "\t")
            ),
        ),
        (
            "{\n    \"mcpServers\": {\n        \"a\": {},\n        // \"b\": {},\n    },\n}".to_owned(),
            format!(
                "{{\n    \"mcpServers\": {{\n        \"a\": {{}},\n        // \"b\": {{}},\n        {},\n    }},\n}}",
                entry("        ", "    ")
            ),
        ),
        (
            "{\n  \"mcpServers\": {},\n  \"é\": \"\u{1f600}\"\n}".to_owned(),
            format!(
                "{{\n  \"mcpServers\": {{\n    {}\n  }},\n  \"é\": \"\u{1f600}\"\n}}",
                entry("    ", "  ")
            ),
        ),
        ("{}".to_owned(), format!("{{\n  \"mcpServers\": {{\n    {}\n  }}\n}}", entry("    ", "  "))),
        // The byte order mark.
        (
            "\u{feff}{}\n".to_owned(),
            format!("\u{feff}{{\n  \"mcpServers\": {{\n    {}\n  }}\n}}\n", entry("    ", "  ")),
        ),
    ] {
        assert_added(Format::Jsonc, &before, &after);
        let crlf = |text: &str| text.replace('\n', "\r\n");
        if before.contains('\n') {
            assert_added(Format::Jsonc, &crlf(&before), &crlf(&after));
        }
    }
    let new = Format::Json.add(" \n", KEY, &fields(&["mcp"])).expect("an empty file");
    assert_eq!(new.text, format!("{{\n  \"mcpServers\": {{\n    {}\n  }}\n}}\n", entry("    ", "  ")));
    let comments = Format::Jsonc.add("// mine", KEY, &fields(&["mcp"])).expect("a comment");
    assert_eq!(comments.text, format!("// mine\n{}", new.text));
}

#[test]
fn json_that_is_wrong_or_has_no_place_is_refused() {
    for (text, error) in [
        ("{\n  \"a\": 1,\n", "1:1: unterminated object"),
        ("{\"é\": 1 \"b\": 2}", "1:8: expected comma"),
        ("{'a': 1}", "1:2: single-quoted strings are not allowed"),
        ("[]", "the file is not a table of keys and values"),
        ("{\"mcpServers\": []}", "`mcpServers` is not a table of keys and values"),
        ("{\"mcpServers\": null}", "`mcpServers` is not a table of keys and values"),
        ("{\"mcpServers\": {}, \"mcpServers\": {}}", "the key `mcpServers` occurs twice"),
        ("{\"mcpServers\": {\"skillpm\": {}, \"skillpm\": {}}}", "`skillpm` is there already"),
    ] {
        let told = refusal(Format::Jsonc, text);
        assert!(told.starts_with(error), "{text:?}: {told}");
    }
    assert_eq!(refusal(Format::Json, "{\"a\": 1} // x"), "1:10: comments are not allowed");
    assert_eq!(refusal(Format::Json, "{\"a\": 1,}"), "1:8: trailing commas are not allowed");
    let deep = format!("{{\"a\": {}", "[".repeat(100_000));
    assert!(refusal(Format::Jsonc, &deep).ends_with("maximum nesting depth exceeded"));
}

#[test]
fn a_change_keeps_what_the_user_added() {
    let old = r#"{
  "mcpServers": {
    // mine
    "skillpm": { "env": {"A": "1"}, "command": "/old/skillpm", /* x */ "args": [
      "mcp"
    ], "n": 1.50 }
  }
}"#;
    let new = Format::Jsonc.change(old, KEY, &fields(&["mcp", "--tag", "x"])).expect("changes");
    let expected =
        old.replace("/old/skillpm", "skillpm").replace("[\n      \"mcp\"\n    ]", r#"["mcp", "--tag", "x"]"#);
    assert_eq!(new, expected);
    assert_eq!(Format::Jsonc.change(&new, KEY, &fields(&["mcp", "--tag", "x"])).as_ref(), Ok(&new));
    let bare = "[mcp_servers.skillpm] # mine\nenabled = false\ncommand = 'skillpm' # x\n\n[b]\n";
    let key = Key { table: "mcp_servers", ..KEY };
    let new = Format::Toml.change(bare, key, &fields(&["mcp"])).expect("changes");
    assert_eq!(
        new,
        "[mcp_servers.skillpm] # mine\nenabled = false\ncommand = \"skillpm\" # x\nargs = [\"mcp\"]\n\n[b]\n"
    );
    let key = Key { table: "extensions", ..KEY };
    let fields = [("cmd", "skillpm".into()), ("args", json!(["mcp"]))];
    let old =
        "extensions:\n  skillpm:\n    args:\n    - mcp\n    - --tag\n    cmd: /old # x\n    enabled: false\n";
    let new = Format::Yaml.change(old, key, &fields).expect("changes");
    assert_eq!(
        new,
        "extensions:\n  skillpm:\n    args: [\"mcp\"]\n    cmd: \"skillpm\" # x\n    enabled: false\n"
    );
}

#[test]
fn removing_keeps_comments_and_neighbours() {
    let entry = r#""skillpm": {"command": "skillpm"}"#;
    for (before, after) in [
        (format!("{{\"mcpServers\": {{{entry}, \"b\": 1}}}}"), r#"{"mcpServers": { "b": 1}}"#),
        (
            format!("{{\"mcpServers\": {{\n  \"a\": 1, // a\n  {entry}, // ours\n  \"b\": 1\n}}}}"),
            "{\"mcpServers\": {\n  \"a\": 1, // a\n   // ours\n  \"b\": 1\n}}",
        ),
        (
            format!("{{\"mcpServers\": {{\n  \"a\": 1, // a\n  {entry} }}}}"),
            "{\"mcpServers\": {\n  \"a\": 1 // a\n   }}",
        ),
        (format!("{{\"mcpServers\": {{ // x\n {entry} }}}}"), "{\"mcpServers\": { // x\n  }}"),
        (format!("{{\"mcpServers\": {{ {entry}, }}}}"), "{\"mcpServers\": {}}"),
    ] {
        assert_eq!(Format::Jsonc.remove(&before, KEY, false).as_deref(), Ok(after), "{before:?}");
    }
    let toml = "# top\n[a]\nx = 1\n\n[mcp_servers.skillpm]\n# mine\ncommand = \"skillpm\"\n\n[b]\n\n[mcp_servers.skillpm.env]\nA = 1\n";
    let key = Key { table: "mcp_servers", ..KEY };
    let left = Format::Toml.remove(toml, key, false).expect("removes");
    assert_eq!(left, "# top\n[a]\nx = 1\n# mine\n\n[b]\n");
    let inline = "[mcp_servers]\nskillpm = { command = \"skillpm\" } # x\nb = {}\n";
    assert_eq!(Format::Toml.remove(inline, key, false).as_deref(), Ok("[mcp_servers]\nb = {}\n"));
    let key = Key { table: "extensions", ..KEY };
    let yaml = "extensions:\n  skillpm: # x\n    cmd: skillpm\n# last\nb: 1\n";
    assert_eq!(Format::Yaml.remove(yaml, key, false).as_deref(), Ok("extensions: {}\n# last\nb: 1\n"));
    assert_eq!(Format::Yaml.remove(yaml, key, true).as_deref(), Ok("# last\nb: 1\n"));
}

#[test]
fn toml_gets_a_table_at_its_end() {
    let entry = "[mcpServers.skillpm]\ncommand = \"skillpm\"\nargs = [\"mcp\"]";
    for (before, after) in [
        ("", format!("{entry}\n")),
        ("a = 1", format!("a = 1\n\n{entry}")),
        ("a = 1\n", format!("a = 1\n\n{entry}\n")),
        ("a = 1\n\n", format!("a = 1\n\n\n{entry}\n")),
        (
            "\u{feff}# é\n[mcpServers.b]\ncommand = 'x'\n",
            format!("\u{feff}# é\n[mcpServers.b]\ncommand = 'x'\n\n{entry}\n"),
        ),
        ("[mcpServers]\n", format!("[mcpServers]\n\n{entry}\n")),
        ("mcpServers.b.command = 'x'\n", format!("mcpServers.b.command = 'x'\n\n{entry}\n")),
    ] {
        assert_added(Format::Toml, before, &after);
        let crlf = |text: &str| text.replace('\n', "\r\n");
        if before.contains('\n') {
            assert_added(Format::Toml, &crlf(before), &crlf(&after));
        }
    }
    let told = refusal(Format::Toml, "a = 1\nb = [\n");
    assert!(told.starts_with("2:6: "), "{told}");
    assert!(refusal(Format::Toml, "mcpServers = 1\n").contains("`mcpServers` is not a table"));
    assert!(refusal(Format::Toml, "mcpServers = { b = {} }\n").contains("cannot be edited"));
    assert!(refusal(Format::Toml, "a = 1\na = 2\n").starts_with("2:1: "));
}

#[test]
fn yaml_gets_lines_of_its_own() {
    let entry =
        |indent: &str| format!("{indent}skillpm:\n{indent}  command: \"skillpm\"\n{indent}  args: [\"mcp\"]");
    for (before, after) in [
        ("", format!("mcpServers:\n{}\n", entry("  "))),
        ("# mine\n", format!("# mine\nmcpServers:\n{}\n", entry("  "))),
        ("a: 1", format!("a: 1\nmcpServers:\n{}", entry("  "))),
        ("a: 1\n# end\n", format!("a: 1\n# end\nmcpServers:\n{}\n", entry("  "))),
        ("mcpServers: {}\nb: 1\n", format!("mcpServers:\n{}\nb: 1\n", entry("  "))),
        (
            "mcpServers: # all\n    é:\n        text: 'x'\n    # end\nb: 1\n",
            format!("mcpServers: # all\n    é:\n        text: 'x'\n{}\n    # end\nb: 1\n", entry("    ")),
        ),
    ] {
        assert_added(Format::Yaml, before, &after);
        let crlf = |text: &str| text.replace('\n', "\r\n");
        if before.contains('\n') {
            assert_added(Format::Yaml, &crlf(before), &crlf(&after));
        }
    }
    let null = Format::Yaml.add("mcpServers:\nb: 1\n", KEY, &fields(&["mcp"])).expect("adds");
    assert_eq!(null.text, format!("mcpServers:\n{}\nb: 1\n", entry("  ")));
    for (text, error) in [
        ("a: 1\nb: 'x\n", "3:1: "),
        ("- a\n", "the file is not a table"),
        ("mcpServers: 1\n", "`mcpServers` is not a table"),
        ("mcpServers: {b: 1}\n", "it is written in a way"),
        ("{a: 1}\n", "it is written in a way"),
        ("a: 1\n---\nb: 1\n", "2:1: it has several documents"),
        ("mcpServers:\n  a: 1\nmcpServers:\n  b: 1\n", "the key `mcpServers` occurs twice"),
    ] {
        let told = refusal(Format::Yaml, text);
        assert!(told.starts_with(error), "{text:?}: {told}");
    }
}

#[test]
fn a_file_of_nothing_is_empty() {
    for (format, text, empty) in [
        (Format::Json, "{\n}\n", true),
        (Format::Jsonc, "\u{feff}{ }", true),
        (Format::Jsonc, "{ /* x */ }", false),
        (Format::Toml, "\n", true),
        (Format::Toml, "# x\n", false),
        (Format::Yaml, "", true),
        (Format::Yaml, "{}", false),
    ] {
        assert_eq!(format.is_empty(text), empty, "{text:?}");
    }
}

/// Blanks and comments between two tokens.
fn gap() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        5 => Just(String::new()),
        3 => Just(" ".to_owned()),
        3 => Just("\n".to_owned()),
        2 => Just("\r\n\t".to_owned()),
        2 => Just("\n    ".to_owned()),
        1 => Just("/* é, \"x\": { */".to_owned()),
        1 => Just(" // note, }\n".to_owned()),
    ];
    proptest::collection::vec(piece, 0..3).prop_map(|pieces| pieces.concat())
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[a-c]{1,2}",
        1 => Just("mcpServers".to_owned()),
        1 => Just("\\u00e9\\\"".to_owned()),
    ]
}

/// Any JSON value with comments and trailing commas, as text.
fn any_json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("-1.50e3".to_owned()),
        Just("\"a // b\\\\\"".to_owned()),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let items = proptest::collection::vec((gap(), inner.clone(), gap()), 0..4);
        let list = (items, gap(), any::<bool>()).prop_map(|(items, end, comma)| {
            let trailing = if comma && !items.is_empty() { "," } else { "" };
            let items: Vec<_> = items.iter().map(|(a, item, b)| format!("{a}{item}{b}")).collect();
            format!("[{}{trailing}{end}]", items.join(","))
        });
        prop_oneof![1 => list, 3 => an_object(inner)]
    })
}

fn an_object(inner: impl Strategy<Value = String> + Clone) -> impl Strategy<Value = String> {
    let members = proptest::collection::vec((gap(), key(), gap(), gap(), inner, gap()), 0..4);
    (members, gap(), any::<bool>()).prop_map(|(mut members, end, comma)| {
        let mut seen = std::collections::BTreeSet::new();
        members.retain(|member| seen.insert(member.1.clone()));
        let trailing = if comma && !members.is_empty() { "," } else { "" };
        let members: Vec<_> =
            members.iter().map(|(a, key, b, c, value, d)| format!("{a}\"{key}\"{b}:{c}{value}{d}")).collect();
        format!("{{{}{trailing}{end}}}", members.join(","))
    })
}

/// Returns `text` without comments and trailing commas, for a parser that shares nothing with the editor.
fn plain(text: &str) -> String {
    let (mut plain, mut rest) = (String::new(), text);
    while let Some(first) = rest.chars().next() {
        let end = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").expect("closed") + 2
        } else if first == '"' {
            let mut escaped = false;
            let closes = |(_, c): &(usize, char)| {
                let closes = *c == '"' && !escaped;
                escaped = *c == '\\' && !escaped;
                closes
            };
            let end = rest.char_indices().skip(1).find(closes).expect("closed").0 + 1;
            plain.push_str(&rest[..end]);
            end
        } else {
            if matches!(first, '}' | ']') && plain.trim_end().ends_with(',') {
                plain.truncate(plain.trim_end().len() - 1);
            }
            plain.push(first);
            first.len_utf8()
        };
        rest = &rest[end..];
    }
    plain
}

fn read(text: &str) -> Value {
    serde_json::from_str(&plain(text)).unwrap_or_else(|error| panic!("{error}: {text}"))
}

proptest! {
    #[test]
    fn any_json_gets_the_entry_and_loses_it_again(text in an_object(any_json().boxed()), with_table in any::<bool>()) {
        let before = read(&text);
        match Format::Jsonc.add(&text, KEY, &fields(&["mcp"])) {
            Ok(added) => {
                let mut after = read(&added.text);
                let entry = after["mcpServers"].as_object_mut().and_then(|servers| servers.remove("skillpm"));
                prop_assert_eq!(entry, Some(json!({"command": "skillpm", "args": ["mcp"]})));
                if added.with_table {
                    after.as_object_mut().map(|file| file.remove("mcpServers"));
                }
                prop_assert_eq!(&after, &before);
                let back = Format::Jsonc.remove(&added.text, KEY, added.with_table).expect("removes");
                // Only blanks in an object of nothing else may differ.
                let place = if added.with_table { &before } else { &before["mcpServers"] };
                if place.as_object().is_some_and(|place| !place.is_empty()) {
                    prop_assert_eq!(&back, &text);
                } else {
                    let blank = |text: &str| text.split_whitespace().collect::<String>();
                    prop_assert_eq!(blank(&back), blank(&text));
                }
                let left = Format::Jsonc.remove(&added.text, KEY, with_table).expect("removes");
                prop_assert!(read(&left)["mcpServers"].get("skillpm").is_none());
                let changed = Format::Jsonc.change(&added.text, KEY, &fields(&["mcp", "--x"])).expect("changes");
                prop_assert_eq!(changed, added.text.replace("[\"mcp\"]", "[\"mcp\", \"--x\"]"));
            }
            Err(_) => prop_assert!(before.get("mcpServers").is_some_and(|servers| !servers.is_object())),
        }
    }

    #[test]
    fn no_text_panics(text in "[\\PC\n\r\t{}\\[\\]\":,/*#=]{0,60}") {
        for format in [Format::Json, Format::Jsonc, Format::Toml, Format::Yaml] {
            if let Ok(added) = format.add(&text, KEY, &fields(&["mcp"])) {
                prop_assert!(format.remove(&added.text, KEY, added.with_table).is_ok());
            }
        }
    }
}

/// Returns `text` as it is shown if its server `skillpm` is this program's.
fn shown(format: Format, text: &str) -> String {
    format.redacted(text, KEY.table, Some(Shown { name: KEY.name, fields: &["command", "args"] }))
}

#[test]
fn of_other_entries_only_keys_are_shown() {
    for (format, text, expected) in [
        (
            Format::Jsonc,
            "{\n  // S1\n  \"n\": -12, /* S2 */\n  \"mcpServers\": {\n    \"b\": {\n      \"env\": { \"T\": \"S3\" },\n      \"args\": [\n        \"S4,}\", // S5\n      ],\n    }, // S6\n    \"skillpm\": {\"command\": \"skillpm\", \"args\": [\"mcp\"], \"env\": {\"T\": \"S7\"}}\n  }\n}\n",
            "{\n  // …\n  \"n\": -…\n  \"mcpServers\": {\n    \"b\": {\n      \"env\": { … },\n      \"args\": [\n        …\n      ],\n    }, // …\n    \"skillpm\": {\"command\": \"skillpm\", \"args\": [\"mcp\"], \"env\": {…}}\n  }\n}\n",
        ),
        (
            Format::Json,
            "{\"a\":{\"S1\":[true]},\"mcpServers\":{\"b\":{\"env\":{\"T\":\"S2\"}},\"skillpm\":{\"command\":\"skillpm\",\"args\":[]}},\"c\":\"S3\"}",
            "{\"a\":{…},\"mcpServers\":{\"b\":{…},\"skillpm\":{\"command\":\"skillpm\",\"args\":[]}},\"c\":…}",
        ),
        (
            Format::Toml,
            "# S1\nmodel = \"S2\" # S3\nx.y = 1\n\n[mcpServers.b] # S4\ncommand = 'S5'\r\nopts = { T = \"S6\" }\nnote = \"\"\"\nS7\nS8\"\"\"\n[mcpServers.b.env]\n\"T#\" = \"S9\"\n\n[mcpServers.skillpm]\ncommand = \"skillpm\"\nargs = [\"mcp\"]\n[[many]]\na = 1\n[[many]]\nb = 2\n",
            "# …\nmodel = …\nx.y = …\n\n[mcpServers.b] # …\ncommand = …\r\nopts = { … }\nnote = …\n…\n…\n[mcpServers.b.env]\n\"T#\" = …\n\n[mcpServers.skillpm]\ncommand = \"skillpm\"\nargs = [\"mcp\"]\n[[many]]\na = …\n[[many]]\nb = …\n",
        ),
        (
            Format::Yaml,
            "# S1\nmodel: S2 # S3\nmcpServers:\n  b:\n    env:\n      T: S4\n    flow: {T: S5}\n    text: |\n      S6\n      S7\n    list:\n    - S8\n    - k: S9\n  skillpm:\n    command: \"skillpm\"\n    args: [\"mcp\"]\n    envs: {T: S0}\n",
            "# …\nmodel: …\nmcpServers:\n  b:\n    env:\n      T: …\n    flow: {…}\n    text: |\n      …\n      …\n    list:\n    - …\n    - …\n  skillpm:\n    command: \"skillpm\"\n    args: [\"mcp\"]\n    envs: {…}\n",
        ),
        (Format::Json, "{\"a\": S1\n}", "{…\n}"),
    ] {
        let shown = shown(format, text);
        assert_eq!(shown, expected, "{format:?}");
        assert!(
            !format.redacted(text, KEY.table, None).contains("mcp\""),
            "without an own entry: {format:?}"
        );
        assert_eq!(format.redacted(&format!("\u{feff}{text}"), "x", None).chars().next(), Some('\u{feff}'));
    }
}
