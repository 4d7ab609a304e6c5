use proptest::prelude::*;

use super::*;

fn formatted(text: &str) -> Result<String, Unformattable> {
    let new = format(&Document::parse(text.to_owned()))?;
    assert_eq!(format(&Document::parse(new.clone())), Ok(new.clone()), "twice is once");
    Ok(new)
}

/// Returns the canonical form of `yaml`.
#[track_caller]
fn yaml(yaml: &str) -> String {
    let text = formatted(&format!("---\n{yaml}\n---\n")).expect("has a form");
    text.strip_prefix("---\n").and_then(|text| text.strip_suffix("---\n")).expect("delimiters").to_owned()
}

#[test]
fn the_specification_s_keys_come_first() {
    insta::assert_snapshot!(yaml(
        "# of the version\nversion: 1.0\nmetadata:\n    author:   'me'\n    tags: [a, \"b\", {c: d}]\n\
        zeta: x\n\nallowed-tools: \"Read Write\"\n# of the license\nlicense: 'MIT'   # beside\n\
        description: 'Reads: PDF'\nname: \"pdf\"\nalpha: {}"
    ), @r#"
    name: "pdf"
    description: 'Reads: PDF'
    # of the license
    license: 'MIT' # beside
    allowed-tools: "Read Write"
    metadata:
      author: 'me'
      tags: [a, "b", {c: d}]
    # of the version
    version: 1.0
    zeta: x
    alpha: {}
    "#);
}

#[test]
fn comments_stay_with_their_keys() {
    insta::assert_snapshot!(yaml(
        "# first\nname: x\nmetadata: # of metadata\n      # of a\n      a: 1 # of 1\n      # behind a\n\
        # of list\nlist:\n- # of the item\n  k: v\n# of y\n- y # beside y\n-   - deep\n    # behind deep\n\
        license: MIT # b\n  # deeper\n# the end"
    ), @r#"
    # first
    name: x
    license: MIT # b
      # deeper
    metadata: # of metadata
      # of a
      a: 1 # of 1
      # behind a
    # of list
    list:
      - # of the item
        k: v
      # of y
      - y # beside y
      - - deep
        # behind deep
    # the end
    "#);
    assert_eq!(yaml("# alone\n  # too"), "# alone\n# too\n");
}

/// Wherever a key is moved, its comments belong to it when they are read again, and those at the end stay
/// there.
#[test]
fn comments_behind_keys_that_move_stay_with_them() {
    insta::assert_snapshot!(yaml("x: y\n  # behind x\ndescription: |\n  text\n # behind description\nname: a # beside\n# end\n# skillpm: allow x"), @"
    name: a # beside
    description: |
      text
     # behind description
    x: y
      # behind x
    # end
    # skillpm: allow x
    ");
    // A missing value is not a text, and stays missing.
    assert_eq!(yaml("name: 1\ndescription: ~\nlicense: Null"), "name: 1\ndescription: ~\nlicense: Null\n");
    assert_eq!(yaml("name: a\nx: | # of nothing"), "name: a\nx: \"\" # of nothing\n");
    let folded = "---\rdescription: >-\r  a\r  b\r\r    c\r---\r";
    assert_eq!(formatted(folded).as_deref(), Ok(folded));
}

/// Between a key and its value below it there is no key that a comment could follow.
#[test]
fn comments_before_a_value_stay_there_however_deep_they_are() {
    insta::assert_snapshot!(yaml(
        "metadata:\n    # of count\n  count: 1\n  a: b\n      # behind a\nlist:\n      # first\n  - a\n  -\n        # of c\n    c: d\n\
        zeta:\n   # of zeta\n  text\nbrackets:\n# of brackets\n  []\nabsent:\n  # behind absent\nname:\n      # of name\n  pdf"
    ), @"
    # of name
    name: pdf
    metadata:
      # of count
      count: 1
      a: b
      # behind a
    list:
      # first
      - a
      -
        # of c
        c: d
    # of zeta
    zeta: text
    # of brackets
    brackets: []
    absent:
      # behind absent
    ");
}

/// People see it as written.
#[test]
fn a_text_for_people_stays_in_its_brackets() {
    let text = "---\nname: x\nargument-hint: [file] # why\npaths:\n  - a\n---\n";
    assert_eq!(formatted(text).as_deref(), Ok(text));
}

/// The rule of comments after brackets: they are about everything between the brackets.
#[test]
fn comments_behind_brackets_stay_with_the_key() {
    insta::assert_snapshot!(yaml(
        "metadata: {a: 1, b: {c: 2}} # of metadata\n  # deeper\nlist:\n  - [x, y] # of the item\n  - - [z] # of z\nlast: [\n  q ] # of q"
    ), @"
    metadata: # of metadata
      a: 1
      b:
        c: 2
        # deeper
    list:
      - [x, y] # of the item
      - - [z] # of z
    last: [
      q ] # of q
    ");
}

/// A switch applies to one line: what it applies to stays on that line, and the switch stays with it.
#[test]
fn what_a_switch_is_for_stays_in_its_line() {
    let kept = "metadata: {a: 1, b: '2'} # skillpm: allow metadata-strings, yaml-flow-style\nlist:\n  \
        # skillpm: allow yaml-flow-style\n  # why\n  - [x]\n  - {y: 1} #skillpm:allow yaml-flow-style\nlast:\n  - [q]\n";
    insta::assert_snapshot!(yaml(&format!("{kept}    # skillpm: allow x\nname: pdf")), @"
    # skillpm: allow x
    name: pdf
    metadata: {a: 1, b: '2'} # skillpm: allow metadata-strings, yaml-flow-style
    list:
      # skillpm: allow yaml-flow-style
      # why
      - [x]
      - {y: 1} #skillpm:allow yaml-flow-style
    last:
      - [q]
    ");
}

#[test]
fn blocks_keep_their_lines_and_their_meaning() {
    insta::assert_snapshot!(yaml(
        "name: x\ndescription: > # folded\n      One line\n      and one.\n\n\n        More.\n\n\nx: |+\n    a\n\n     b\n\n\
        y: |2-\n    c\n   d\nz:\n   - |\n     e # no comment\n   - >-\n     f"
    ), @r#"
    name: x
    description: > # folded
      One line
      and one.


        More.
    x: |+
      a

       b

    y: |2-
        c
       d
    z:
      - |
        e # no comment
      - >-
        f
    "#);
}

#[test]
fn quotes_and_wrapped_texts_stay_as_they_are_written() {
    insta::assert_snapshot!(yaml(
        "name: yes\ndescription: 1.10\nlicense: \"yes\"\nmetadata:\n  version: 1.10\n  quoted: '1.10'\n  \
        internal: true\nurl: 'http://x.y/#z'\ntext: 'a #1'\nlong: a b\n  c\n\n  d\ndisable-model-invocation: true\n\
        \"on\": x\nempty:\nblank: ''\nlines: \"a\\nb\""
    ), @r#"
    name: yes
    description: 1.10
    license: "yes"
    metadata:
      version: 1.10
      quoted: '1.10'
      internal: true
    url: 'http://x.y/#z'
    text: 'a #1'
    long: a b
      c

      d
    disable-model-invocation: true
    "on": x
    empty:
    blank: ''
    lines: "a\nb"
    "#);
}

#[test]
fn the_file_around_the_frontmatter() {
    let form = |text: &str| formatted(text).expect("has a form");
    assert_eq!(
        form("\u{feff}\n \n---  \nname: x  \n--- \t\n\n\n  \n    code\n\n"),
        "---\nname: x\n---\n\n    code\n\n"
    );
    assert_eq!(form("---\r\nname: x\n---\r\nbody"), "---\r\nname: x\r\n---\r\n\r\nbody\r\n");
    assert_eq!(form("---\rname: x\r---\rbody\r"), "---\rname: x\r---\r\rbody\r");
    assert_eq!(form("---\nname: x\n---"), "---\nname: x\n---\n");
    assert_eq!(form("---\nname: x\n---\n \n\t\n"), "---\nname: x\n---\n");
    assert_eq!(form("---\n{name: x, description: z}\n---\n"), "---\nname: x\ndescription: z\n---\n");
    assert_eq!(form("---\n---\n"), "---\n---\n");
}

#[test]
fn what_is_in_doubt_is_left_alone_and_its_place_is_told() {
    for (text, place, reason) in [
        ("# x\n", 0..3, "the file has no frontmatter: start it with `---`, `name`, `description` and `---`"),
        ("---\na: 1\na: 1\n---\n", 9..10, "the key `a` appears twice"),
        (
            "---\na: &x 1\n---\n",
            10..11,
            "the frontmatter has a YAML anchor; write the value where it is needed",
        ),
        ("---\n? a\n: b\n---\n", 4..5, "this has no canonical form"),
        // YAML has a line end there, which not all readers have.
        ("---\na: |+\n\nb: c\n---\n", 7..8, "this has no canonical form"),
        // For YAML 1.1, the second line of a text, and a comment that ends before a key.
        (
            "---\nb: c\na: x\u{2028}  y\n---\n",
            13..16,
            "U+2028 ends a line for some readers but not for others",
        ),
        ("---\n# c\u{85}name: x\n---\n", 7..9, "U+0085 ends a line for some readers but not for others"),
        ("---\na: {[b]: c}\n---\n", 0..0, ""),
    ] {
        match formatted(text) {
            Err(error) => assert_eq!((error.span, error.reason.as_str()), (place, reason), "{text:?}"),
            Ok(new) => assert_eq!((new.as_str(), reason), (text, ""), "nothing to change"),
        }
    }
    let error = formatted("---\na: b: c\n---\n").expect_err("not YAML");
    assert_eq!(error.span, 8..9);
    let commented = "---\na: [b, # c\n  d]\n---\n";
    assert_eq!(formatted(commented).as_deref(), Ok(commented));
}

/// Reports whether the specification's keys and all others have the same values.
fn same(a: &Document, b: &Document) -> bool {
    let value = |document: &Document| document.frontmatter().map(Node::to_json);
    value(a) == value(b)
}

proptest! {
    #[test]
    fn any_frontmatter_keeps_its_values(
        yaml in "(name: |description: |metadata:|a|b: |: |\n|\r\n|  |- |\"|'|\\[|\\]|\\{|\\}|,|é|日|#| # c\n|---|%|\\?|\\||>-|>|\\+|1|yes|x y){0,30}",
        body in "( |\n|\r\n|x|---){0,6}",
    ) {
        let document = Document::parse(format!("---\n{yaml}\n---\n{body}"));
        if let Ok(new) = format(&document) {
            let again = Document::parse(new.clone());
            prop_assert!(same(&document, &again), "{}", new);
            prop_assert_eq!(format(&again), Ok(new));
        }
    }

    /// Ordinary frontmatter has a canonical form.
    #[test]
    fn ordinary_frontmatter_has_a_form(
        entries in proptest::collection::vec(entry(), 0..8), crlf: bool, body in "(x|\n| ){0,5}",
        depths in proptest::collection::vec(proptest::option::of(0_usize..9), 1..9),
    ) {
        let yaml: String = entries.iter().enumerate().map(|(n, entry)| entry.replace("KEY", KEYS[n])).collect();
        let mut text = format!("---\n{yaml}---\n{body}");
        let mut depths = depths.into_iter().cycle();
        text = text.split_inclusive('\n').map(|line| match (line.split_once('\0'), depths.next()) {
            (Some((before, after)), Some(Some(depth))) => format!("{before}{:depth$}# {}\n{after}", "", ["at", "skillpm: allow x"][depth % 2]),
            (Some((before, after)), _) => format!("{before}{after}"),
            (None, _) => line.to_owned(),
        }).collect();
        if crlf {
            text = text.replace('\n', "\r\n");
        }
        let document = Document::parse(text.clone());
        prop_assert_eq!(document.problems(), [], "{}", text);
        let new = format(&document);
        prop_assert!(new.is_ok(), "{:?} {}", new, text);
        let new = new.expect("a form");
        let again = Document::parse(new.clone());
        prop_assert!(same(&document, &again), "{}", new);
        prop_assert!(new.trim_end().ends_with(without_blank_lines(document.body()).trim_end()));
        prop_assert_eq!(format(&again), Ok(new));
    }
}

/// Keys in an order that sorting changes.
const KEYS: [&str; 8] = ["metadata", "b", "description", "a", "name", "key5", "license", "key7"];

/// One entry in a usual form. A zero byte marks a place for a comment on its own line.
fn entry() -> impl Strategy<Value = String> {
    let word = || "[a-zé日📅]{1,6}( [a-z#]{1,5}){0,3}";
    let comment = || "( # (skillpm: allow )?[a-z: -]{0,8})?";
    prop_oneof![
        (word(), comment()).prop_map(|(w, c)| format!("KEY: '{w}'{c}\n")),
        (word(), comment()).prop_map(|(w, c)| format!("KEY: \"{w}: \\u00e9\"{c}\n# own\n\n")),
        (word(), word()).prop_map(|(v, w)| format!("KEY: >-\n   {v}\n   {w}\n\n     {v}\n")),
        (word(), word()).prop_map(|(v, w)| format!("KEY: |+\n   {v}\n     {w}\n\n\n")),
        (word(), comment()).prop_map(|(w, c)| format!(
            "\0KEY:{c}\n\0    # inner\n\0    a: 1\n\0    b:\n\0    - \"{w}\"\n\0    - c: d\n\0      e:\n"
        )),
        (word(), comment())
            .prop_map(|(w, c)| format!("\0KEY:\n\0  {{\"a\": [\"{w}\", {{b: 1.10}}], c: , 'd': true}}{c}\n")),
        (word(), comment()).prop_map(|(w, c)| format!("KEY:\n\0- \"{w}\"{c}\n\0-\n\0- - x\n\0  - y\n")),
        "(1\\.10|yes|2026-01-01|~|\"\"|''|)".prop_map(|v| format!("KEY: {v}\n")),
    ]
}
