use proptest::prelude::*;

use super::*;
use crate::lint::{Profile, RULES, Ruleset, Subject, check_with, rule};

fn strict() -> Ruleset {
    Ruleset::new(Profile::Spec)
}

fn fixed(text: &str, safety: Safety) -> Fixed {
    let rules = strict();
    let check = |document: &Document| check_with(&Subject::new(document, Some("pdf"), "SKILL.md"), &rules);
    fix_all(&Document::parse(text.to_owned()), safety, check)
}

/// Returns the whole text after safe repairs.
fn safe(text: &str) -> String {
    fixed(text, Safety::Safe).document.text().to_owned()
}

/// Returns a skill called `pdf` with `lines` in it.
fn with(lines: &str) -> String {
    format!("---\nname: pdf\ndescription: Reads PDF.\n{lines}\n---\n\nbody\n")
}

#[track_caller]
fn assert_fixes(safety: Safety, cases: &[(&str, &str)]) {
    for (before, after) in cases {
        let (old, new) = (with(before), with(after));
        let fixed = fixed(&old, safety);
        assert_eq!(fixed.document.text(), new, "{before:?}: {:?}", fixed.findings);
        assert_eq!(fixed.applied == 0, old == new, "{before:?}");
        let crlf = self::fixed(&old.replace('\n', "\r\n"), safety);
        assert_eq!(crlf.document.text(), new.replace('\n', "\r\n"), "{before:?} with CRLF");
    }
}

/// A repair that would lose something is left out, and all others are made together.
#[test]
fn a_refused_repair_stops_no_other() {
    let values: Vec<_> = (0..40).map(|at| format!("  k{at}: {at}")).collect();
    let rules = strict();
    let check = |document: &Document| {
        let mut findings = check_with(&Subject::new(document, Some("pdf"), "SKILL.md"), &rules);
        let line = "description: Reads PDF.\n";
        if let Some(start) = document.text().find(line) {
            let edits = vec![Edit { span: start..start + line.len(), text: String::new() }];
            let refused = Fix::safe("lose the description", edits);
            findings.insert(0, Finding { fix: Some(refused), ..findings[0].clone() });
        }
        findings
    };
    let fixed =
        fix_all(&Document::parse(with(&format!("metadata:\n{}", values.join("\n")))), Safety::Safe, check);
    assert_eq!((fixed.applied, fixed.skipped), (40, 1));
}

#[test]
fn safe_repairs_of_values() {
    assert_fixes(
        Safety::Safe,
        &[
            // yaml-unquoted-colon, yaml-syntax
            ("license: a: b\t", "license: \"a: b\""),
            // A possible comment does not become text, and a switch stays a switch.
            ("license: a: b # c", "license: a: b # c"),
            (
                "license: a: b # skillpm: allow-file body-lines",
                "license: \"a: b\" # skillpm: allow-file body-lines",
            ),
            (
                "license: a: b\n  c # skillpm: allow-file body-lines",
                "license: \"a: b c\" # skillpm: allow-file body-lines",
            ),
            (
                "license: a: b # skillpm: allow-file body-lines\n  c",
                "license: a: b # skillpm: allow-file body-lines\n  c",
            ),
            // A key in quotes is the next key.
            ("argument-hint: [a] [b]\n\"license\": MIT", "argument-hint: \"[a] [b]\"\n\"license\": MIT"),
            ("license: @x\n'model' : z", "license: \"@x\"\n'model' : z"),
            ("\"license\": @x", "\"license\": \"@x\""),
            // Quotes around a whole list or mapping would make it a text.
            (
                "allowed-tools:\n  - Bash(git log:*)\n  - Bash(echo: *)",
                "allowed-tools:\n  - Bash(git log:*)\n  - Bash(echo: *)",
            ),
            ("hooks:\n  a: b: c", "hooks:\n  a: b: c"),
            ("license:\n  See the file: a: b", "license: \"See the file: a: b\""),
            ("license: a: b\n  c", "license: \"a: b c\""),
            ("license: say: \"x\"", "license: 'say: \"x\"'"),
            ("license: \"é\" x", "license: '\"é\" x'"),
            ("license: @x", "license: \"@x\""),
            ("license: 'it's'", "license: \"'it's'\""),
            ("license: [a] [b]", "license: \"[a] [b]\""),
            // The blank lines at the end of a block are unchanged.
            (
                "license: a: b\ncompatibility: |+\n  git\n\n# c\n\nmetadata:\n  a: b",
                "license: \"a: b\"\ncompatibility: |+\n  git\n\n# c\n\nmetadata:\n  a: b",
            ),
            (
                "license: a: b\ncompatibility: |\n  git\n    \nmetadata:\n  a: b",
                "license: \"a: b\"\ncompatibility: |\n  git\n    \nmetadata:\n  a: b",
            ),
            // yaml-tab
            ("metadata:\n\ta: b\n\tc: d", "metadata:\n  a: b\n  c: d"),
            // yaml-duplicate-key
            ("license: x\n# c\nlicense: 'x'", "license: x\n# c"),
            ("metadata:\n  a: b\n  a: b\n  c: d", "metadata:\n  a: b\n  c: d"),
            ("license: x\nlicense: x # c", "license: x\nlicense: x # c"),
            // metadata-strings
            (
                "metadata:\n  version: 1.10 # c\n  x: true",
                "metadata:\n  version: \"1.10\" # c\n  x: \"true\"",
            ),
            ("metadata:\n  internal: true", "metadata:\n  internal: true"),
        ],
    );
}

#[test]
fn a_list_of_tools_becomes_text_where_that_means_the_same() {
    assert_fixes(
        Safety::Unsafe,
        &[
            ("allowed-tools:\n  - Read\n  - Bash(git:*)", "allowed-tools: Read Bash(git:*)"),
            ("allowed-tools: [Read, \"*\"] # c", "allowed-tools: Read * # c"),
            ("allowed-tools:\n- Read # all\n- Write", "allowed-tools:\n- Read # all\n- Write"),
            ("allowed-tools:\n- Ask me", "allowed-tools:\n- Ask me"),
        ],
    );
}

#[test]
fn lists_and_mappings_get_lines_of_their_own() {
    assert_fixes(
        Safety::Unsafe,
        &[
            ("metadata: {author: me, 'v': '1'} # c", "metadata: # c\n  author: me\n  'v': '1'"),
            (
                "metadata: {\"a\":{\"b\":\"📅\",\"c\":[\"d\",{\"e\":true}]}}",
                "metadata:\n  \"a\":\n    \"b\": \"📅\"\n    \"c\":\n      - \"d\"\n      - \"e\": true",
            ),
            (
                "metadata:\n  {\n    \"a\": [\"b\",\n      \"c\"]\n  }",
                "metadata:\n  \"a\":\n    - \"b\"\n    - \"c\"",
            ),
            (
                "metadata:\n    a:\n       b: c\n    d: {e: f}",
                "metadata:\n    a:\n       b: c\n    d:\n       e: f",
            ),
            (
                "metadata:\n  l:\n    - [a, b]\n    - c: [d]\n",
                "metadata:\n  l:\n    - - a\n      - b\n    - c:\n        - d\n",
            ),
            ("metadata: {a: []}", "metadata: {a: []}"),
            ("metadata: {a: b, # c\n  d: e}", "metadata: {a: b, # c\n  d: e}"),
            ("metadata: {{a: b}: c}", "metadata: {{a: b}: c}"),
            ("metadata: {a: &x b}", "metadata: {a: &x b}"),
        ],
    );
}

#[test]
fn safe_repairs_of_the_file() {
    let good = with("license: MIT");
    for bad in [format!("\u{feff}{good}"), format!("\n \n{good}"), format!("\u{feff}\n{good}")] {
        assert_eq!(safe(&bad), good);
    }
    let open = "---\nname: pdf\ndescription: x\n";
    assert_eq!(safe(&format!("{open}----\n# Body")), format!("{open}---\n# Body"));
    assert_eq!(safe(&format!("{open} ---\r\n# Body")), format!("{open}---\r\n# Body"));
    assert_eq!(safe(&format!("{open}—\n\n---- \n")), format!("{open}---\n\n---- \n"), "the first that fits");
    assert_eq!(safe(&format!("{open}\n# Body\n")), format!("{open}\n# Body\n"), "that would be a guess");
}

#[test]
fn unsafe_repairs() {
    let all = |text: &str| fixed(text, Safety::Unsafe).document.text().to_owned();
    let skill = |name: &str| format!("---\nname: {name}\ndescription: x\n---\n");
    for name in ["PDF", "pdf_reader", "-pdf--x", "reader", "ｐｄｆ", "\"a b\" # c"] {
        let comment = name.split_once(" #").map_or(String::new(), |(_, comment)| format!(" #{comment}"));
        assert_eq!(all(&skill(name)), skill(&format!("pdf{comment}")), "{name}");
        assert_eq!(safe(&skill(name)), skill(name));
    }
    for (before, after) in [
        ("---\ndescription: x\n---\n", "---\nname: pdf\ndescription: x\n---\n"),
        ("---\nname:\ndescription: x\n---\n", "---\nname: pdf\ndescription: x\n---\n"),
        ("---\nname: pdf\ndescription: # x: y\n---\n", "---\nname: pdf\ndescription: \"# x: y\"\n---\n"),
        ("---\nname: pdf\ndescription: a: b # c\n---\n", "---\nname: pdf\ndescription: \"a: b # c\"\n---\n"),
        (
            "---\nname: pdf\ndescription: x\nmetadata:\n  a: b: c\n---\n",
            "---\nname: pdf\ndescription: x\nmetadata:\n  a: b: c\n---\n",
        ),
        ("---\nName: pdf\ndescripton: x\n---\n", "---\nname: pdf\ndescription: x\n---\n"),
        ("---\nname: pdf\nname: x\ndescription: z\n---\n", "---\nname: pdf\ndescription: z\n---\n"),
        ("---\nname: pdf\ndescription: a\u{80}b\u{7}\n---\n", "---\nname: pdf\ndescription: ab\n---\n"),
        ("name: pdf\ndescription: x\n---\nbody\n", "---\nname: pdf\ndescription: x\n---\nbody\n"),
        (
            "name: pdf\r\ndescription: x\r\n\r\nbody\r\n",
            "---\r\nname: pdf\r\ndescription: x\r\n---\r\n\r\nbody\r\n",
        ),
        ("---\nname: pdf\ndescription: x\n\n# Body\n", "---\nname: pdf\ndescription: x\n---\n\n# Body\n"),
        (
            "---\nname: pdf\ndescription: x\ncompatibility:\n  - git\n  - jq\n---\n",
            "---\nname: pdf\ndescription: x\ncompatibility: git, jq\n---\n",
        ),
        (
            "---\nname: pdf\ndescription: x\nmetadata: {\"a\": [\"b\"}\n---\n",
            "---\nname: pdf\ndescription: x\nmetadata: '{\"a\": [\"b\"}'\n---\n",
        ),
    ] {
        assert_eq!(all(before), after);
    }
    let long = format!("---\nname: pdf\ndescription: {}\n---\n", "x".repeat(1025));
    assert_eq!(all(&long), long, "nothing is cut");
}

/// Invalid YAML may have comments that only a person can distinguish from text: no name replaces them.
#[test]
fn comments_in_a_broken_name_stay() {
    for name in ["Foo: bar # c", "\n  Foo: bar # c\n  baz", "\n  # c\n  Foo: bar", "@x # c", "'a' b # c"] {
        let text = format!("---\nname: {name}\ndescription: x\n---\n");
        assert_eq!(fixed(&text, Safety::Unsafe).document.text(), text);
    }
    let text = |name: &str| format!("---\nname: {name}\ndescription: x\n---\n");
    for (block, fixed_block) in [
        ("| # c\n  Foo Bar\n  # text\n# d", "pdf # c\n# d"),
        (">-   # c\n\n  Foo\n", "pdf # c\n"),
        ("\n  | # c\n  Foo", "pdf # c"),
        ("|\n  Foo # text", "pdf"),
    ] {
        assert_eq!(fixed(&text(block), Safety::Unsafe).document.text(), text(fixed_block));
    }
    let twice = "---\nname: pdf\ndescription: x\nlicense: |-\n  a\nlicense: |- # c\n  a\n---\n";
    assert_eq!(fixed(twice, Safety::Unsafe).document.text(), twice);
    let switch = " # skillpm: allow body-lines";
    assert_eq!(fixed(&text("Foo: bar"), Safety::Unsafe).document.text(), text("pdf"));
    assert_eq!(fixed(&text("C#: bar"), Safety::Unsafe).document.text(), text("pdf"));
    assert_eq!(
        fixed(&text(&format!("Foo: bar{switch}")), Safety::Unsafe).document.text(),
        text(&format!("pdf{switch}"))
    );
}

/// For the reference validator, which stops at the first fault.
#[test]
fn what_a_reader_did_not_come_to_is_repaired_too() {
    let rules = Ruleset::new(Profile::Reference);
    let all = |text: &str| {
        let check =
            |document: &Document| check_with(&Subject::new(document, Some("pdf"), "SKILL.md"), &rules);
        fix_all(&Document::parse(text.to_owned()), Safety::Unsafe, check)
    };
    let values = |value: &str| (0..40).map(|at| format!("  k{at}: {value}\n")).collect::<Vec<_>>().concat();
    let text = |values: &str| {
        format!("---\nname: pdf\ndescription: x\nallowed-tools: {values}metadata:\n{}---\n", "  a: b\n")
    };
    let fixed = all(&text("[a, b] # c\n").replace("  a: b\n", &values("[a]")));
    assert_eq!(fixed.findings, []);
    assert_eq!((fixed.applied, fixed.skipped), (41, 0));
    assert!(fixed.document.text().starts_with(
        "---\nname: pdf\ndescription: x\nallowed-tools: # c\n  - a\n  - b\nmetadata:\n  k0:\n    - a\n"
    ));
    // Faults of another kind after it, and one of this kind that has no repair.
    let fixed = all(&text("[a]\nauthor: me\nlicense:\n  - {a: b}\n"));
    let left = fixed.findings.iter().map(|finding| finding.rule).collect::<Vec<_>>();
    assert_eq!((fixed.applied, left), (3, vec![]));
    let fixed = all(&text("[a]\nlicense: {}\ncompatibility: [b]\n"));
    assert_eq!((fixed.applied, fixed.findings.len(), fixed.skipped), (1, 1, 0));
    // A blank line at the start, before frontmatter that is never closed.
    let fixed = all("\n \r\n---\nname: pdf\n");
    let left = fixed.findings.iter().map(|finding| finding.rule).collect::<Vec<_>>();
    assert_eq!((fixed.document.text(), left), ("---\nname: pdf\n", vec!["frontmatter-unclosed"]));
}

/// Rules declare whether and how they repair; what they repair is gone.
#[test]
fn every_repair_is_announced_and_works() {
    for rule in RULES {
        let mut document = Document::parse(rule.docs.bad.to_owned());
        let found = |document: &Document| {
            let mut findings = Vec::new();
            rule.look(&Subject::new(document, Some("pdf"), "SKILL.md"), &mut findings);
            findings
        };
        for finding in found(&document) {
            if let Some(fix) = &finding.fix {
                assert!(rule.fix.is_some_and(|safety| safety <= fix.safety), "{}", rule.id);
                assert!(!fix.title.ends_with('.') && !fix.edits.is_empty(), "{}", rule.id);
            }
        }
        let bad = found(&document).len();
        let safety = rule.fix.unwrap_or(Safety::Unsafe);
        let fixed = fix_all(&document, safety, found);
        document = fixed.document;
        assert_eq!(fixed.skipped, 0, "{}", rule.id);
        // Some can only repair a part of what they find.
        if fixed.applied > 0 {
            assert!(found(&document).len() < bad, "{}", rule.id);
        }
    }
}

#[test]
fn the_first_of_two_that_overlap_wins_and_the_rest_comes_later() {
    let text = "---\nname: pdf\ndescription: x\nmetadata: {version: 1.10}\n---\n";
    let document = Document::parse(text.to_owned());
    let findings = check_with(&Subject::new(&document, Some("pdf"), "SKILL.md"), &strict());
    let once = apply(text, &findings, Safety::Safe);
    assert_eq!((once.applied, once.skipped), (1, 1));
    assert_eq!(once.text, "---\nname: pdf\ndescription: x\nmetadata:\n  version: 1.10\n---\n");
    let all = fixed(text, Safety::Safe);
    assert_eq!((all.applied, all.skipped), (2, 0));
    assert_eq!(all.document.text(), "---\nname: pdf\ndescription: x\nmetadata:\n  version: \"1.10\"\n---\n");
}

/// A repair that breaks something is not made, whichever safety it declares.
#[test]
fn a_repair_that_does_harm_is_not_made() {
    let text = "---\nname: pdf\ndescription: x\nlicense: MIT\n---\nbody\n";
    let name = rule("name-missing").expect("a rule");
    for edits in [
        vec![Edit::delete(0..3)],
        vec![Edit::delete(4..14)],
        vec![Edit::insert(9, "\"")],
        vec![Edit::replace(29..30, "x\nname: y")],
        vec![Edit::delete(29..44)],
        vec![Edit::insert(9999, "x")],
        vec![],
    ] {
        let check = |document: &Document| {
            let findings = vec![name.finding("x", 0..0).fix(Fix::safe("x", edits.clone()))];
            if document.text() == text { findings } else { Vec::new() }
        };
        let fixed = fix_all(&Document::parse(text.to_owned()), Safety::Safe, check);
        assert_eq!((fixed.document.text(), fixed.applied, fixed.skipped), (text, 0, 1), "{edits:?}");
    }
}

/// A repair for one rule that causes an error of another is not made.
#[test]
fn a_repair_that_makes_an_error_is_not_made() {
    let text = |key: &str| format!("---\nname: pdf\ndescription: x\n{key}:\n  bash: true\n---\n");
    let all = fixed(&text("allowed_tools"), Safety::Unsafe);
    assert_eq!((all.document.text(), all.applied), (text("allowed_tools").as_str(), 0));
    let list = |key: &str| format!("---\nname: pdf\ndescription: x\n{key}: Read\n---\n");
    assert_eq!(fixed(&list("allowed_tools"), Safety::Unsafe).document.text(), list("allowed-tools"));
}

/// Checks that every field keeps its value, except those of findings with a repair.
fn keeps_what_it_does_not_touch(old: &Document, new: &Document) -> Result<(), TestCaseError> {
    if let (Some(_), Ok(before)) = (old.frontmatter(), skill::load(old)) {
        let after = skill::load(new);
        prop_assert!(after.is_ok(), "{}", new.text());
        let after = after.expect("loads");
        prop_assert_eq!(&before.meta.name, &after.meta.name);
        prop_assert_eq!(&before.meta.description, &after.meta.description);
        prop_assert_eq!(&before.meta.license, &after.meta.license);
        prop_assert_eq!(&before.meta.allowed_tools, &after.meta.allowed_tools);
        prop_assert_eq!(&before.meta.compatibility, &after.meta.compatibility);
        prop_assert_eq!(before.body, after.body);
    }
    Ok(())
}

proptest! {
    #[test]
    fn repairs_end_and_harm_nothing(
        yaml in "(name: pdf\n|name: X|description: |license|metadata:|allowed-tools:|compatibility|a|: |:|\n|\r\n|  |\t|- |\"|'|\\[|\\]|\\{|\\}|,|é|日|\u{80}|#| # c\n|@|1\\.10|---|&a|<<<<<<< x\n){0,30}",
        start in "(\u{feff})?(\n)?(---\n)?", body in "(\n|---|x){0,5}",
    ) {
        let text = format!("{start}{yaml}\n---\n{body}");
        let document = Document::parse(text.clone());
        let safe = fixed(&text, Safety::Safe);
        keeps_what_it_does_not_touch(&document, &safe.document)?;
        let again = fixed(safe.document.text(), Safety::Safe);
        prop_assert_eq!(again.applied, 0, "{}", safe.document.text());
        prop_assert_eq!(again.document.text(), safe.document.text());
        let all = fixed(&text, Safety::Unsafe);
        prop_assert!(skill::load(&document).is_err() || skill::load(&all.document).is_ok());
        prop_assert_eq!(fixed(all.document.text(), Safety::Unsafe).applied, 0, "{}", all.document.text());
    }

    /// Between its edits the text is unchanged, byte for byte.
    #[test]
    fn nothing_outside_of_the_edits_changes(
        text in "[a-zé\r\n]{0,30}", cuts in proptest::collection::vec((0_usize..40, 0_usize..6, "[A-Z\n]{0,3}"), 0..6),
    ) {
        let rule = RULES[0];
        let findings: Vec<Finding> = cuts
            .into_iter()
            .map(|(at, length, new)| rule.finding("x", 0..0).fix(Fix::safe("x", vec![Edit::replace(at..at + length, new)])))
            .collect();
        let Applied { text: new, applied, skipped } = apply(&text, &findings, Safety::Safe);
        prop_assert_eq!(applied + skipped, findings.len());
        // The rest of the old text is a subsequence in lower case.
        let kept: String = new.chars().filter(|c| c.is_lowercase()).collect();
        let mut old = text.chars();
        prop_assert!(kept.chars().all(|c| old.any(|o| o == c)));
        if applied == 0 {
            prop_assert_eq!(new, text);
        }
    }
}
