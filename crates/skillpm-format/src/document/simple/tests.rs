use proptest::prelude::*;

use super::super::{Split, encoding, split, tree};
use super::*;

/// Returns what the parser reads from `yaml`, if it reports no problem.
fn parsed(yaml: &str, base: usize) -> Option<Node> {
    let mut problems = Vec::new();
    let text = "-".repeat(base) + yaml;
    encoding::control_characters(yaml, base, &mut problems);
    let node = tree::parse(&text[base..], base, &mut problems).ok()??;
    problems.is_empty().then_some(node)
}

/// Asserts that the two agree on `yaml`. Returns whether the fast path was taken.
fn agree(yaml: &str) -> bool {
    let simple = parse(yaml, 4);
    assert!(simple.is_none() || simple == parsed(yaml, 4), "{yaml:?}\n{simple:#?}\n{:#?}", parsed(yaml, 4));
    simple.is_some()
}

#[test]
fn usual_frontmatter_takes_the_short_way() {
    for yaml in [
        "name: pdf\n",
        "name: pdf\ndescription: Reads PDF files. Use it for PDF, e.g. http://x/#y.\n",
        "name:   a  \nlicense:\nversion: 1.10\nx: 2026-01-01\n",
        "description: \"Use when: it matters\"\nname: 'x # y'  \nz: \"\"\n",
        "description: >-\n  Reads.\n  # Writes: it.\nname: x\n",
        "description: |\n    a\n    b\n",
        "description: >\n  a\nx: |-\n  b\n  - c\n",
        "metadata:\n  author: me\n  version: \"1.0\"\n  empty:\nname: x\n",
        "metadata:\n  a: b\n",
        "allowed-tools:\n  - Read\n  -   \"Bash(git:*)\"\nname: x\n",
        "name: 技能\ndescription: Größe — “x” 日本\n",
        "a.b_c-D9: null\nt: ~x\n",
    ] {
        let simple = !yaml.contains('~');
        assert_eq!(agree(yaml), simple, "{yaml:?}");
    }
}

#[test]
fn the_parser_reads_the_rest() {
    for yaml in [
        "",
        "name: x",
        "\n",
        "# comment\nname: x\n",
        "name: x # comment\n",
        "name: x\n\nb: c\n",
        "name: a: b\n",
        "name: a:\n",
        "name: x\nname: y\n",
        "name: x\r\n",
        "name: a\tb\n",
        "name: \"a\\nb\"\n",
        "name: 'it''s'\n",
        "name: \"a\" b\n",
        "name: \"\n",
        "name: [a]\n",
        "name: &a b\n",
        "name: x\n  y\n",
        "- a\n",
        "? a\n",
        "--- a\n",
        "...\n",
        "a: b\n...\n",
        " a: b\n",
        "a:\n- b\n",
        "a:\n  b:\n    c: d\n",
        "a:\n   b: c\n  d: e\n",
        "a:\n  - b: c\n",
        "a:\n  - - b\n",
        "a: >+\n  b\n",
        "a: >\n  b\n\n  c\n",
        "a: >\n  b\n   c\n",
        "a: >\n  b \n  c\n",
        "a: >\nb: c\n",
        "a: |2\n  b\n",
        "a: b\u{85}c\n",
        "a: b\u{2028}c\n",
        "a: \u{feff}b\n",
        "a: \u{7f}\n",
        "@a: b\n",
        "\"a\": b\n",
        "a : b\n",
        "a:b\n",
    ] {
        assert!(!agree(yaml), "{yaml:?}");
    }
    let many: Vec<String> = (0..=MAX_ENTRIES).map(|n| format!("k{n}: v\n")).collect();
    assert!(!agree(&many.concat()));
    assert!(!agree(&format!("{}: v\n", "k".repeat(MAX_KEY + 1))));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn usual_lines_are_read_as_the_parser_reads_them(
        yaml in "((name|a|b-c|d_1|\\.x|-|é)(:|: |:  )(x|1\\.0|yes|a b|\"q: r\"|'s # t'|\"\"|''|a:b|a#b|a #b|é—日|/x|\\(y\\)|-|--- z|,|\\[|>-|>|\\||\\|-|\\|\\+|&a|\\*a|!b|%c|@|`|~|\\?|<<|=|\\{)?( |  )?\n( |  |    |  - |  -  )?(x|\"y\"|k: v|k:|- l|k: \"v\" |z: 'w')?\n?){1,6}"
    ) {
        agree(&yaml);
    }

    #[test]
    fn any_lines_are_read_as_the_parser_reads_them(
        yaml in "(name|description|metadata|a|: |:|\n|  |   |\n  |\n  - |- |\"|'|,|é|日|\u{80}|\u{85}|\u{2028}|\u{feff}|#| #|&a|\\.\\.\\.|---|%|\\?|\\||>-|>|\\\\|@|~|\t){0,30}\n"
    ) {
        agree(&yaml);
    }
}

/// The frontmatter of the examples and of the test data.
#[test]
#[expect(clippy::disallowed_methods, reason = "test data is outside of every room of the program")]
fn real_frontmatter_is_read_as_the_parser_reads_it() {
    let mut dirs = vec![skillpm_testing::root().join("examples")];
    match std::env::var_os("SKILLPM_TESTDATA") {
        Some(data) => dirs.push(data.into()),
        None => eprintln!("SKILLPM_TESTDATA is not set: the real skills are not tested"),
    }
    let (mut short, mut all) = (0, 0);
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(dir).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                dirs.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                let text = String::from_utf8_lossy(&std::fs::read(path).expect("reads")).into_owned();
                let Split::Found(parts) = split(text.as_bytes()) else {
                    continue;
                };
                short += usize::from(agree(&text[parts.yaml]));
                all += 1;
            }
        }
    }
    eprintln!("{short} of {all} took the short way");
    assert!(short * 2 > all, "{short} of {all}");
}
