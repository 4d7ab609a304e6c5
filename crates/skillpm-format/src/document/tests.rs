use proptest::prelude::*;

use super::*;

fn document(text: &str) -> Document {
    Document::parse(text.to_owned())
}

/// Returns the document with `yaml` as its frontmatter.
fn with(yaml: &str) -> Document {
    document(&format!("---\n{yaml}\n---\nbody\n"))
}

/// Returns every problem with its position: `line:column kind`.
fn problems(document: &Document) -> Vec<(usize, usize, ProblemKind)> {
    let lines = document.line_index();
    document
        .problems()
        .iter()
        .map(|problem| {
            let at = lines.position(problem.span.start);
            (at.line, at.column, problem.kind.clone())
        })
        .collect()
}

fn repaired(key: &str, fault: FaultKind, raw: &str) -> ProblemKind {
    ProblemKind::Repaired { key: key.into(), fault, raw: raw.into() }
}

#[test]
fn a_line_is_the_one_of_the_index() {
    let text = "\u{feff}---\r\na: b\rc: d\n\r\n---\né";
    let document = Document::parse(text.to_owned());
    let index = document.line_index();
    // The byte-order mark is before the first line, and half of a line end is on no line.
    for at in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
        assert_eq!(document.line(at), index.line(at), "{at}");
    }
}

/// S0-US5.1, S0-FR-007, S0-FR-015: numbers and booleans keep their text.
#[test]
fn scalars_keep_their_source_text() {
    let document = with(
        "name: yes\nversion: 1.10\ndate: 2026-01-01\nn: null\nt: ~\nempty:\nquoted: ''\n\
            e: \"\\uD83D\\uDD2D\"",
    );
    assert_eq!(document.problems(), []);
    let text = |key: &str| document.get(key).and_then(Node::text).map(str::to_owned);
    assert_eq!(document.name(), Some("yes"), "oddity 10");
    assert_eq!(document.version(), Some("1.10"));
    assert_eq!(text("date").as_deref(), Some("2026-01-01"));
    assert_eq!((text("n").as_deref(), text("t").as_deref()), (Some("null"), Some("~")));
    assert_eq!(text("e").as_deref(), Some("🔭"), "oddity 9");
    let absent = |key: &str| document.get(key).is_some_and(Node::is_absent);
    assert!(absent("empty") && !absent("quoted") && !absent("t"), "empty and quoted are told apart");
}

#[test]
fn spans_are_bytes_of_the_file() {
    let document = document(
        "\u{feff}---\r\nname: é-日\r\nlist:\r\n  - a\r\n  - {b: ü}\r\nempty:\r\nx: |\r\n  text\r\n---\r\n",
    );
    let source = |node: &Node| document.text()[node.span.clone()].to_owned();
    let get = |key: &str| document.get(key).expect(key);
    assert_eq!(source(get("name")), "é-日");
    assert_eq!(source(get("list")), "- a\r\n  - {b: ü}");
    let Value::Sequence { items, layout: Layout::Block } = &get("list").value else { panic!("a block list") };
    assert_eq!(source(&items[1]), "{b: ü}");
    assert!(matches!(items[1].value, Value::Mapping { layout: Layout::Flow, .. }));
    assert_eq!(
        document.position(get("empty").span.start),
        Position { line: 6, column: 6 },
        "behind the colon's key"
    );
    assert_eq!(get("x").text(), Some("text\n"));
    assert_eq!(document.position(get("name").span.end), Position { line: 2, column: 10 });
}

/// S0-US5.4, S0-FR-010, conflict C5.
#[test]
fn tools_are_a_text_or_a_list() {
    let tools = |yaml: &str| with(yaml).allowed_tools();
    assert_eq!(tools("allowed-tools: Bash(git:*) Bash(jq:*) Read"), ["Bash(git:*)", "Bash(jq:*)", "Read"]);
    assert_eq!(
        tools("allowed-tools: Read, Write,Bash(git add, git commit)"),
        ["Read", "Write", "Bash(git add, git commit)"]
    );
    assert_eq!(tools("allowed-tools:\n  - Read\n  - Bash(ls *)"), ["Read", "Bash(ls *)"]);
    assert_eq!(tools("allowed-tools: *"), ["*"], "oddity 13");
    assert_eq!(tools("name: x"), [""; 0]);
}

/// Conflicts C6 and C7.
#[test]
fn fields_beyond_the_specification_are_kept() {
    let document = with(
        "name: x\nversion: 1.0\ntags: [a, b]\nmetadata:\n  version: \"2.10\"\n  os: {linux: true}\n\
            compatibility:\n  - git\n  - jq",
    );
    assert_eq!(document.version(), Some("2.10"), "metadata first");
    let unknown: Vec<_> = document.unknown_fields().filter_map(|(key, _)| key.text()).collect();
    assert_eq!(unknown, ["version", "tags"]);
    assert_eq!(document.compatibility().as_deref(), Some("git, jq"), "oddity 45");
    assert_eq!(document.metadata_get("os"), None);
    assert_eq!(document.get("metadata").expect("there").to_json()["os"]["linux"], "true");
    assert_eq!(with("version: 1.0\nmetadata: {version: }").version(), Some("1.0"));
}

/// The oddities for which the verdict is "repair".
#[test]
fn values_that_are_no_yaml_are_taken_as_text() {
    let name = (1, 1, "x");
    for (oddity, line, column, key, fault, raw) in [
        (1, "description: Usage: /x <a|b>", 19, "description", FaultKind::Colon, "Usage: /x <a|b>"),
        (
            3,
            "argument-hint: [title] [message]",
            16,
            "argument-hint",
            FaultKind::Brackets,
            "[title] [message]",
        ),
        (
            7,
            "metadata: {\"a\":{\"b\":[\"c\"]}",
            11,
            "metadata",
            FaultKind::Brackets,
            "{\"a\":{\"b\":[\"c\"]}",
        ),
        (11, "description: @Observable é", 14, "description", FaultKind::ReservedStart('@'), "@Observable é"),
        (12, "tools: [vue, @vue/x]", 8, "tools", FaultKind::Brackets, "[vue, @vue/x]"),
        (13, "allowed-tools: *", 16, "allowed-tools", FaultKind::ReservedStart('*'), "*"),
        (17, "description: \"Chat,\"  react", 14, "description", FaultKind::AfterQuote, "\"Chat,\"  react"),
        (18, "description: \"Qdrant\\'s API\"", 14, "description", FaultKind::Escape, "Qdrant's API"),
        (20, "description: a\u{80}b", 14, "description", FaultKind::Control('\u{80}'), "a\u{80}b"),
        (21, "description: , it might", 14, "description", FaultKind::ReservedStart(','), ", it might"),
        (0, "description: \"open", 14, "description", FaultKind::UnclosedQuote, "\"open"),
        (0, "description: 'it's'", 14, "description", FaultKind::AfterQuote, "'it's'"),
    ] {
        let document = with(&format!("name: {}\n{line}\nlicense: MIT", name.2));
        let found = problems(&document);
        let last = found.last().expect("a problem");
        assert_eq!(*last, (3, column, repaired(key, fault, raw)), "oddity {oddity}: {line}");
        assert_eq!(document.name(), Some("x"), "oddity {oddity}");
        assert_eq!(document.get(key).and_then(Node::text), Some(raw));
        assert_eq!(document.license().as_deref(), Some("MIT"), "what follows is read");
    }
}

#[test]
fn continuation_lines_belong_to_the_repaired_value() {
    let document = with("description: Use when: a\r\n  b\r\n\r\n  c\r\nname: x");
    assert_eq!(document.description(), Some("Use when: a b c"));
    let document = with("description: >\n  a\n\tb\n x\nbad: a: b");
    assert!(document.description().is_some());
}

#[test]
fn keys_in_quotes_are_keys() {
    let text = |document: &Document, key: &str| document.get(key).and_then(Node::text).map(str::to_owned);
    let document = with("hint: [a] [b]\n\"license\": MIT\n'it''s' : x: y\n\"a\\\"b\": z");
    assert_eq!(text(&document, "hint").as_deref(), Some("[a] [b]"));
    assert_eq!(document.license().as_deref(), Some("MIT"));
    assert_eq!(text(&document, "a\"b").as_deref(), Some("z"));
    let document = with("\"name\": x: y\nlicense: MIT");
    assert_eq!((document.name(), document.license().as_deref()), (Some("x: y"), Some("MIT")));
    let braces = with("description: a: b\nmetadata: {\n\"a\": \"b\",\n\"c\": [d}\n]\n}\nname: x");
    assert_eq!((braces.name(), text(&braces, "a")), (Some("x"), None), "entries in braces are no fields");
    let open = with("metadata: {\"a\": [\n\"license\": MIT\nname: x");
    assert!(matches!(open.problems()[0].kind, ProblemKind::Yaml(_)), "whose line that is, nobody knows");
}

/// A switch belongs to the linter, not to the value.
#[test]
fn a_switch_is_no_part_of_a_value() {
    for (yaml, value) in [
        ("license: a: b # skillpm: allow x", "a: b"),
        ("license: a: b\n  c\t#skillpm:allow x", "a: b c"),
        ("license: a: b\n  # skillpm: allow x", "a: b"),
        ("license: a: b # c", "a: b # c"),
        ("license: a: b#skillpm: allow x", "a: b#skillpm: allow x"),
    ] {
        assert_eq!(with(yaml).license().as_deref(), Some(value), "{yaml:?}");
    }
}

/// Oddities 2, 8, 16, 31, 37 and 42.
#[test]
fn more_shapes_of_real_files() {
    let colon =
        with("name: x\r\ndescription: Executes. Trigger keywords: execute.\r\ncompatibility:\r\n  - git\r");
    assert_eq!(colon.description(), Some("Executes. Trigger keywords: execute."));
    assert_eq!(colon.compatibility().as_deref(), Some("git"));
    let json = with("name: x\nmetadata: {\"a\":{\"bins\":[\"bc\"],[\"touch\"]}}\r");
    assert_eq!(json.problems(), [], "a list as a key is valid YAML");
    let dashes = with("description: slides (separated by `---` or `# `): notes: x");
    assert_eq!(dashes.description(), Some("slides (separated by `---` or `# `): notes: x"));
    let setext = document("---\n\n## name: molthunt\nversion: 1\n\nThe launchpad for agents\n---\n");
    assert!(matches!(setext.problems()[0].kind, ProblemKind::Yaml(_)));
    let escaped = with("name: novafon\\_api\nmetadata: {\"bins\":\\[\"curl\"]}");
    assert_eq!(escaped.name(), Some("novafon\\_api"));
    assert!(matches!(escaped.problems()[0].kind, ProblemKind::Repaired { fault: FaultKind::Brackets, .. }));
    assert_eq!(with("description: x").name(), None);
}

/// Oddity 19.
#[test]
fn a_merge_conflict_is_told_and_both_sides_are_read() {
    let document = with("name: x\n<<<<<<< Updated\ndescription: a\n=======\ndescription: b\n>>>>>>> Stashed");
    assert_eq!(document.description(), Some("b"));
    let kinds = problems(&document);
    let markers: Vec<_> = kinds.iter().filter(|p| p.2 == ProblemKind::ConflictMarker).map(|p| p.0).collect();
    assert_eq!(markers, [3, 5, 7]);
    assert!(kinds.iter().any(|p| matches!(p.2, ProblemKind::DuplicateKey { .. }) && p.0 == 6));
}

/// One case per kind; `Repaired` and `ConflictMarker` have their own tests.
#[test]
fn every_kind_of_problem_has_its_place() {
    let big = format!("---\na: {}\n---\n", "x".repeat(MAX_FRONTMATTER));
    let deep = format!("---\na: {}\n---\n", "[".repeat(40));
    let mixed = format!("---\n{}---\n", (0..20).map(|n| " ".repeat(n) + "a:\n").collect::<String>());
    let many = format!("---\na: [{}]\n---\n", "x,".repeat(MAX_NODES + 1));
    let size = big.len() - 8;
    for (text, expected) in [
        ("---\na: b\n---\n\0", (4, 1, ProblemKind::Nul)),
        ("---\na: \"\u{7}\"\n---\n", (2, 5, ProblemKind::Control('\u{7}'))),
        ("\u{feff}---\na: b\n---\n", (1, 1, ProblemKind::Bom)),
        ("\n \n---\na: b\n---\n", (1, 1, ProblemKind::LeadingBlankLines)),
        ("\n# x\n", (2, 1, ProblemKind::MissingFrontmatter(Hint::Unknown))),
        ("---\na: b\n", (1, 1, ProblemKind::UnclosedFrontmatter)),
        (&big, (1, 1, ProblemKind::TooLarge(size))),
        (&deep, (2, 20, ProblemKind::TooDeep)),
        (&mixed, (18, 17, ProblemKind::TooDeep)),
        (&many, (2, 2 * MAX_NODES + 3, ProblemKind::TooManyValues)),
        ("---\n- a\n---\n", (2, 1, ProblemKind::NotAMapping("a list"))),
        ("---\njust text\n---\n", (2, 1, ProblemKind::NotAMapping("text"))),
        ("---\na: b\nc: d\na: e\n---\n", (4, 1, ProblemKind::DuplicateKey { key: "a".into(), first: 4..5 })),
        (
            "---\na:\n  b: 1\n  b: 1\n---\n",
            (4, 3, ProblemKind::DuplicateKey { key: "b".into(), first: 9..10 }),
        ),
        ("---\na: &x b\n---\n", (2, 7, ProblemKind::Anchor)),
        ("---\na: !!str b\n---\n", (2, 10, ProblemKind::Tag)),
        ("---\na: b\n...\nc: d\n---\n", (4, 1, ProblemKind::SeveralDocuments)),
        ("---\na:\n\tb: c\nx\n---\n", (3, 2, ProblemKind::Yaml(FaultKind::Tab))),
    ] {
        let found = problems(&document(text));
        assert!(found.contains(&expected), "{found:?} in {:?}", &text[..text.len().min(60)]);
    }
    assert_eq!(problems(&with("a: &x b\nc: *x")).last(), Some(&(3, 4, ProblemKind::Alias)));
}

#[test]
fn bytes_that_are_no_utf_8() {
    let document = Document::from_bytes(b"---\nname: x\xff\n---\n".to_vec());
    assert_eq!(problems(&document), [(2, 8, ProblemKind::InvalidUtf8 { offset: 11 })]);
    for bytes in [&b"\xff\xfe-\0-\0-\0\n\0"[..], b"\xfe\xff\0-\0-\0-\0\n", b"-\0-\0-\0\n\0", b"\0-\0-\0-\0\n"]
    {
        let document = Document::from_bytes(bytes.to_vec());
        assert_eq!(document.problems()[0].kind, ProblemKind::Utf16);
        assert!(document.text().ends_with("---\n"));
    }
    assert_eq!(
        Document::from_bytes(Vec::new()).problems()[0].kind,
        ProblemKind::MissingFrontmatter(Hint::Empty)
    );
}

/// Aliases are not expanded, depth and size are limited: nothing takes long.
#[test]
fn attacks_are_refused_quickly() {
    let start = std::time::Instant::now();
    let bomb: Vec<String> =
        (1..=9).map(|n| format!("a{n}: &a{n} [{}]\n", vec![format!("*a{}", n - 1); 9].join(","))).collect();
    let bomb = with(&format!("a0: &a0 lol\n{}", bomb.concat()));
    assert_eq!(bomb.problems().iter().filter(|p| p.kind == ProblemKind::Alias).count(), 81);
    for attack in [
        "a: ".to_owned() + &"x".repeat(10_000_000),
        "- ".repeat(100_000),
        "a: ".to_owned() + &"[".repeat(100_000),
        "k".repeat(100_000) + ": v",
    ] {
        let document = with(&attack);
        assert!(matches!(document.problems()[0].kind, ProblemKind::TooLarge(_)));
    }
    for attack in ["- ".repeat(30_000), "? ".repeat(30_000), "a: ".to_owned() + &"{a: ".repeat(10_000)] {
        assert_eq!(problems(&with(&attack)).last().map(|p| p.2.clone()), Some(ProblemKind::TooDeep));
    }
    let keys: Vec<String> = (0..4_500).map(|n| format!("k{n}:\n")).collect();
    assert!(matches!(
        with(&(keys.concat() + "@")).problems().last().map(|p| &p.kind),
        Some(ProblemKind::Yaml(_))
    ));
    // Each takes milliseconds; the bound only distinguishes them from minutes on any machine.
    assert!(start.elapsed().as_secs() < 10);
}

/// Checks that every span is within the text and splits no character, and that the body is the text's end.
fn check(document: &Document) -> Result<(), TestCaseError> {
    let text = document.text();
    prop_assert!(text.ends_with(document.body()));
    prop_assert_eq!(document.body_span().end, text.len());
    for problem in document.problems() {
        prop_assert!(text.get(problem.span.clone()).is_some(), "{:?}", problem);
        prop_assert!(!problem.to_string().is_empty());
    }
    let mut nodes: Vec<&Node> = document.frontmatter().into_iter().collect();
    while let Some(node) = nodes.pop() {
        prop_assert!(text.get(node.span.clone()).is_some(), "{:?}", node);
        match &node.value {
            Value::Scalar { .. } => {}
            Value::Sequence { items, .. } => nodes.extend(items),
            Value::Mapping { pairs, .. } => nodes.extend(pairs.iter().flat_map(|(k, v)| [k, v])),
        }
    }
    drop(crate::skill::load(document));
    Ok(())
}

proptest! {
    #[test]
    fn any_text_is_read(text in "\\PC*") {
        check(&document(&text))?;
    }

    #[test]
    fn any_frontmatter_is_read(
        yaml in "(name|description|metadata|a|: |:|\n|\r\n|\r|  |\t|- |\"|'|\\[|\\]|\\{|\\}|,|é|日|\u{80}|\u{7}|\u{85}|\u{2028}|\u{feff}|\0|#|&a|\\*a|!!x|<<<<<<< x|=======|>>>>>>> y|\\.\\.\\.|---|%|\\?|\\||>-|\\\\u|@){0,40}"
    ) {
        check(&with(&yaml))?;
        check(&document(&format!("\u{feff}\n---\n{yaml}")))?;
    }

    #[test]
    fn any_bytes_are_read(start in 0_usize..4, bytes: Vec<u8>) {
        let start = [&b"---\n"[..], b"", b"\xff\xfe", b"\xfe\xff"][start];
        check(&Document::from_bytes([start, &bytes[..], b"\n---\n"].concat()))?;
    }
}
