//! The observed behaviour of the reference validator. Each text was given to the program itself.

use proptest::prelude::*;

use super::*;
use crate::lint::{Profile, Ruleset, Severity, Subject, check_with};

/// Returns the texts of the fields that the reference sees between `---` and `---`, or why it stops.
fn read_yaml(yaml: &str) -> Result<Vec<(String, String)>, Cause> {
    let document = Document::parse(format!("---\n{yaml}\n---\n"));
    match read(&document) {
        Ok(view) => {
            let text = |node: &Node| node.text().unwrap_or(node.kind()).to_owned();
            let pairs = view.frontmatter().expect("a mapping").pairs();
            Ok(pairs.iter().map(|(key, value)| (text(key), text(value))).collect())
        }
        Err(stop) => Err(stop.cause),
    }
}

#[track_caller]
fn value(yaml: &str, expected: &str) {
    let fields = read_yaml(yaml).expect(yaml);
    assert_eq!(fields[0], ("x".to_owned(), expected.to_owned()), "{yaml:?}");
}

#[test]
fn scalars_are_text_as_written() {
    for text in [
        "null",
        "~",
        "yes",
        "1.0",
        "0x1f",
        "2026-01-01",
        "12:30:45",
        ".inf",
        "a#b",
        "http://a.b",
        "-a",
        "?a",
        ":a",
    ] {
        value(&format!("x: {text}"), text);
    }
    value("x:", "");
    value("x: # c", "");
    value("x : a", "a");
    value("? x\n: a", "a");
    value("x: a\n  b\n\n  c", "a b\nc");
    value("x: 'it''s'", "it's");
    value("x: \"\\x41\\u00e9\\ud83d\\/\\t\"", "Aé\u{fffd}/\t");
    value("x: \"a\\\n  b\"", "ab");
    value("x: 'a\n\n  b'", "a\nb");
    value("x: 'a\nb'", "a b");
    value("x: =", "a mapping");
}

#[test]
fn blocks_keep_their_last_line_end() {
    value("x: |\n  a\n  b", "a\nb\n");
    value("x: |-\n  a\n\n", "a");
    value("x: |+\n  a\n", "a\n\n");
    value("x: >\n  a\n  b\n\n  c\n   d", "a b\nc\n d\n");
    value("x: |2-\n    a\n   b", "  a\n b");
    value("x: |\n\n    a\n  # b\ny: z", "\na\n");
    value("x: >- # c\n  a", "a");
}

#[test]
fn comments_and_empty_lines_are_passed_over() {
    assert_eq!(read_yaml("# a\n\nx: y # b\n  # c\n\n\n  # d\nz: w").map(|fields| fields.len()), Ok(2));
    assert_eq!(read_yaml("x:\n a: 'b'\n\n\tc: d").map(|fields| fields.len()), Ok(1));
    // Comments in two places, with room for them.
    for yaml in [
        "x:\n  # a\n  -\n  # b\n  -",
        "x:\n  # a\n  - b # c\n  # d\n  -\n  # e\n",
        "x:\n  - # a\n    b\n  # c\n  - d",
        "x: # a\n  # b\n  | # c\n  d",
        "x: | # a\n  b\n# c\n",
        "x: # a\n\n  # b\n  - c # d\n",
        "x:\n# a\ny: # b\nz:\n  # c\n",
        "x:\n- # a\ny: z",
    ] {
        assert!(read_yaml(yaml).is_ok(), "{yaml:?}: {:?}", read_yaml(yaml));
    }
    assert_eq!(read_yaml("<<:\n  a: b\nx: y").map(|fields| fields.len()), Ok(1), "merged keys are not there");
}

#[test]
fn what_it_refuses() {
    for (yaml, cause) in [
        ("", Cause::Empty),
        ("# a", Cause::Empty),
        ("- a", Cause::NotAMapping("a list")),
        ("a", Cause::NotAMapping("text")),
        ("x: []", Cause::Flow),
        ("x: {}", Cause::Flow),
        ("[x]: y", Cause::Flow),
        ("x: &a b", Cause::Anchor),
        ("x: *a", Cause::Alias),
        ("x: !!str a", Cause::Tag),
        ("%YAML 1.2\nx: y", Cause::Start('%')),
        ("x: @a", Cause::Start('@')),
        ("x: ,a", Cause::Start(',')),
        ("x:\ty", Cause::Tab),
        ("m:\n\tx: y", Cause::Tab),
        ("x: a: b", Cause::Colon),
        ("x: - a", Cause::Entry),
        ("x: 'a", Cause::Unclosed),
        ("x: \"\\q\"", Cause::Escape),
        ("x: \"\\U00110000\"", Cause::Escape),
        ("x: |0\n  a", Cause::BlockHeader),
        ("x: | a", Cause::BlockHeader),
        ("x: y\nz", Cause::NoColon),
        ("x: y\n...\nz: w", Cause::Documents),
        ("...\nx: y", Cause::Content),
        ("x: y\nx: z", Cause::Duplicate),
        ("m:\n  a: b\n c: d", Cause::Block),
        ("? - a\n: b", Cause::KeyKind),
        ("<<: a", Cause::Merge),
        ("x: # a\n  b\n\ny: z", Cause::Comment),
        ("x:\u{2028}\n  a\n\ny: z", Cause::Comment),
        ("x:\n  -\n  # a\n  -\n  # b\n  -", Cause::Comment),
        ("x:\n# a\n- # b\n  c", Cause::Comment),
        ("x:\n  -\n\n  - # a\n    b", Cause::Comment),
        ("x:\n- # a\n-\n\n- b", Cause::Comment),
        ("x:\n\n- \u{85}\n  b", Cause::Comment),
        ("x:\n  # a\n  | # b\n  c", Cause::Comment),
        ("x:\n- # a\n  >- # b\n  c", Cause::Comment),
        ("x:\n\n? # a\n  b\n: c", Cause::Comment),
        ("? a\n: # b\n  |\n  c\n\n", Cause::Comment),
        ("m:\n  a: b\nn:\n   a: b", Cause::SiblingIndent),
        ("x: a\u{1}", Cause::Control('\u{1}')),
    ] {
        assert_eq!(read_yaml(yaml).expect_err(yaml), cause, "{yaml:?}");
    }
    let long = |length: usize| format!("{}: y", "x".repeat(length));
    assert!(read_yaml(&long(1024)).is_ok());
    assert_eq!(read_yaml(&long(1025)), Err(Cause::Colon));
    let deep = |depth: usize| format!("x: a\nm:\n  {}y", "- ".repeat(depth));
    assert!(read_yaml(&deep(240)).is_ok());
    assert_eq!(read_yaml(&deep(300)), Err(Cause::Depth));
}

#[test]
fn the_delimiters_are_three_bytes_anywhere() {
    let cause = |text: &str| read(&Document::parse(text.to_owned())).err().map(|stop| stop.cause);
    assert_eq!(cause("---x: y\n---"), None);
    assert_eq!(cause("---x: y---"), None);
    assert_eq!(cause("--- # a\nx: y\n  ---\n"), None);
    assert_eq!(cause("----\nx: y\n---\n"), Some(Cause::Content));
    assert_eq!(cause("\u{feff}---\nx: y\n---\n"), Some(Cause::Opening));
    assert_eq!(cause("\n---\nx: y\n---\n"), Some(Cause::Opening));
    assert_eq!(cause("---\nx: y\n--\n"), Some(Cause::NotClosed));
    assert_eq!(cause("---\rx: y\r---"), None);
}

/// One message if it stops, and otherwise the field rules on the fields that it sees.
#[test]
fn the_findings_are_those_of_the_reference() {
    let rules = |text: &str| {
        let document = Document::parse(text.to_owned());
        let findings =
            check_with(&Subject::new(&document, Some("pdf"), "SKILL.md"), &Ruleset::new(Profile::Reference));
        findings.into_iter().map(|finding| finding.rule).collect::<Vec<_>>()
    };
    assert_eq!(rules("---\nname: PDF\nx: [a]\n---\n"), ["yaml-flow-style"]);
    assert_eq!(rules("---\nname: a\u{1}\n---\n"), ["control-character"]);
    assert_eq!(rules("\u{feff}---\nname: PDF\n---\n"), ["byte-order-mark"]);
    assert_eq!(rules("\n---\nname: pdf\n"), ["frontmatter-first-line"]);
    assert_eq!(rules("---x: y\n"), ["frontmatter-unclosed"]);
    let only =
        |name: &str, text: &str| rules(&format!("---\nname: \"{name}\"\ndescription: \"{text}\"\n---\n"));
    assert_eq!(only("\\x1cpdf \\x1f", "x\\x1d"), [""; 0], "white space to Python");
    assert_eq!(only("\\x1c\\x1d", "\\x1e \\x1f"), ["name-missing", "description-missing"]);
    assert_eq!(only("p\\x1cdf", "x"), ["name-alphabet", "name-directory"]);
    assert_eq!(only("pdf", &format!("{}\\x1c", "x".repeat(1024))), ["quirk-description-length"]);
    assert_eq!(
        rules("---\nname: pdf---\ndescription: x\n---\n"),
        ["description-missing", "quirk-closing-delimiter"]
    );
    assert_eq!(rules("---\nname: pdf\ndescription: x\ncompatibility: ''\nmetadata: 1\n---\n\0"), [""; 0]);
    assert_eq!(rules("---\nname: pdf\nx: y\n---\n"), ["description-missing", "unknown-field"]);
}

proptest! {
    /// For any text: no panic, positions inside it, and one error if the reference stops.
    #[test]
    fn any_text_is_read(
        yaml in "(name|description|compatibility|x|: |:|\n|\r\n|\r|\t|  |- |-|---|\\? |\"|'|\\[|\\]|\\{|\\}|,|é|Z|\u{80}|\u{85}|\u{2028}|\0|#| #|&a|\\*a|!|<<|=|\\||>|>-|\\|2|@|%|\\.\\.\\.|\\\\|\u{feff}){0,40}",
    ) {
        for text in [format!("---\n{yaml}\n---\n"), yaml] {
            let document = Document::parse(text);
            let subject = Subject::new(&document, Some("x"), "SKILL.md");
            let findings = check_with(&subject, &Ruleset::new(Profile::Reference));
            for finding in &findings {
                prop_assert!(document.text().get(finding.span.clone()).is_some(), "{:?}", finding);
                prop_assert_eq!(finding.severity, Severity::Error);
            }
            if read(&document).is_err() {
                let told = findings.iter().filter(|finding| finding.rule != "quirk-closing-delimiter");
                prop_assert_eq!(told.count(), 1, "{:?}", findings);
            }
        }
    }
}
