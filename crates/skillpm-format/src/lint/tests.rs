//! Properties of the linter as a whole.

use proptest::prelude::*;

use super::*;

/// A rule looks at the input that it declares.
#[test]
fn rules_look_at_no_more_than_they_say() {
    for text in RULES.iter().flat_map(|rule| [rule.docs.bad, rule.docs.good]) {
        let document = Document::parse(text.to_owned());
        let subject = Subject::new(&document, Some("pdf"), "SKILL.md");
        for rule in RULES {
            let needs_files = match rule.needs {
                Needs::Document => false,
                Needs::Paths(names_file) => names_file(&subject),
                Needs::Files => true,
            };
            let found = |subject: &Subject<'_>| {
                let mut findings = Vec::new();
                rule.look(subject, &mut findings);
                findings
            };
            if !needs_files {
                assert_eq!(found(&subject), found(&subject.with_files(&[])), "{}", rule.id);
            }
        }
    }
}

/// The default profile lists files only for documents that name one, and opens none.
#[test]
fn files_are_listed_for_the_rules_that_need_them() {
    let plain = Document::parse("---\nname: pdf\nlicense: MIT\n---\n[a](#b) [c](https://d.e)\n".to_owned());
    let linked = Document::parse("---\nname: pdf\n---\n[a](b.md)\n".to_owned());
    let licensed = Document::parse("---\nname: pdf\nlicense: see LICENSE.txt\n---\n".to_owned());
    for (profile, is_listed, is_named, is_read) in [
        (Profile::Spec, false, true, false),
        (Profile::Reference, false, false, false),
        (Profile::ClaudeCode, true, true, true),
        (Profile::ClaudeAi, false, false, false),
        (Profile::Publish, true, true, true),
        (Profile::Strict, true, true, true),
        (Profile::Lenient, false, false, false),
    ] {
        let rules = Ruleset::new(profile);
        let plan = Plan::new(&rules);
        let lists = |document| plan.lists_files(&Subject::new(document, Some("pdf"), "SKILL.md"));
        assert_eq!(lists(&plain), is_listed, "{profile}");
        assert_eq!([lists(&linked), lists(&licensed)], [is_named; 2], "{profile}");
        assert_eq!(plan.reads_files(), is_read, "{profile}");
    }
    let mut rules = Ruleset::new(Profile::Spec);
    rules.set(rule("reference-depth").expect("a rule"), Level::Warning);
    assert!(Plan::new(&rules).reads_files());
}

/// The commands would become a part of the value above.
#[test]
fn the_frontmatter_of_a_template_is_not_repaired() {
    let fixes = |text: &str| {
        let document = Document::parse(text.to_owned());
        let findings = check(&Subject::new(&document, None, "SKILL.md"));
        assert!(!findings.is_empty(), "{text}");
        findings.iter().filter(|finding| finding.fix.is_some()).count()
    };
    let template = "---\nname: {{ name }}\ndescription: Reads: all. Use it for tests.\n{% if license %}\nlicense: {{ license }}\n{% endif %}\n---\n";
    assert_eq!(fixes(template), 0);
    assert!(fixes("---\nname: a\ndescription: Reads: {% if %} all. Use it for tests.\n---\n") > 0);
}

/// Text that others read up to its closing quote, or without the comment after it, is not changed without
/// being requested.
#[test]
fn a_quote_that_is_open_is_not_repaired_unasked() {
    let safety = |description: &str| {
        let text = format!("---\nname: a\ndescription: {description}\nlicense: MIT\n---\n");
        let document = Document::parse(text);
        let findings = check(&Subject::new(&document, None, "SKILL.md"));
        findings.into_iter().find_map(|finding| finding.fix).map(|fix| fix.safety)
    };
    assert_eq!(safety("\"Reads.\nTriggers: pdf. Use it when asked.\""), None);
    assert_eq!(safety("\"Reads PDF. Use it when asked.\"#todo"), Some(Safety::Unsafe));
    assert_eq!(safety("\"Reads PDF: all. Use it when asked."), Some(Safety::Unsafe));
    assert_eq!(safety("\"Reads\" all: PDF. Use it when asked."), Some(Safety::Safe));
}

/// For the reference validator the frontmatter begins after the delimiter, and the name is on the next
/// line.
#[test]
fn a_name_is_never_put_on_the_line_of_the_delimiter() {
    for (end, at) in [("\n", 4), ("\r\n", 5)] {
        let text = ["---", "description: >", "  Reads PDF files. Use it when asked.", "---", ""].join(end);
        let document = Document::parse(text);
        for profile in [Profile::Spec, Profile::Reference] {
            let subject = Subject::new(&document, Some("pdf"), "SKILL.md");
            let findings = check_with(&subject, &Ruleset::new(profile));
            let fix =
                findings.iter().find(|finding| finding.rule == "name-missing").and_then(|f| f.fix.as_ref());
            let edit = &fix.expect("a repair").edits[0];
            assert_eq!((edit.span.start, &*edit.text), (at, &*format!("name: pdf{end}")), "{profile:?}");
        }
    }
}

#[test]
fn every_rule_is_complete_and_its_examples_are_true() {
    let mut ids = std::collections::BTreeSet::new();
    for rule in RULES {
        assert!(ids.insert(rule.id), "{} appears twice", rule.id);
        assert!(rule.id.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", rule.id);
        assert!(!rule.summary.is_empty() && !rule.summary.ends_with('.'), "{}", rule.id);
        for text in [rule.docs.what, rule.docs.why] {
            assert!(text.ends_with('.'), "{}: {text}", rule.id);
        }
        assert!(!rule.docs.source.is_empty(), "{}", rule.id);
        // The name of a file is not in its text.
        let (bad, good) = (rule.docs.bad, rule.docs.good);
        let bad_name = match rule.id {
            "file-name" => "skill.md",
            "quirk-file-name" => "Skill.md",
            _ => "SKILL.md",
        };
        assert!(!testing::example(rule, bad, bad_name).is_empty(), "{}: bad", rule.id);
        assert_eq!(testing::example(rule, good, "SKILL.md"), [], "{}: good", rule.id);
    }
}

/// Texts that a rule repairs, although only a person knows the intended text in the example of its
/// documentation.
const REPAIRED: &[(&str, &str)] = &[
    ("frontmatter-missing", "name: pdf\ndescription: Reads PDF files.\n---\n"),
    ("name-ascii", "---\nname: ｐｄｆ\ndescription: Reads PDF files.\n---\n"),
    ("description-missing", "---\nname: pdf\ndescription: # Reads PDF files.\n---\n"),
    ("license-unknown", "---\nname: pdf\ndescription: Reads PDF files.\nlicense: MIT license\n---\n"),
    ("windows-path", "---\nname: pdf\ndescription: Reads PDF files.\n---\nSee [a](references\\a.md).\n"),
    ("link-missing", "---\nname: pdf\ndescription: Reads PDF files.\n---\nSee [forms](forms.md).\n"),
];

/// A rule that declares a repair repairs the example in its documentation. The name of a file is repaired
/// with the file.
#[test]
fn every_rule_with_a_repair_repairs_its_example() {
    let mut without = Vec::new();
    for rule in RULES.iter().filter(|rule| rule.fix.is_some()) {
        let other = REPAIRED.iter().find(|(id, _)| *id == rule.id);
        let bad = other.map_or(rule.docs.bad, |(_, text)| text);
        let found = testing::example(rule, bad, "SKILL.md");
        let Some(fix) = found.iter().find_map(|finding| finding.fix.as_ref()) else {
            without.push(rule.id);
            continue;
        };
        let fixed = testing::applied(bad, fix);
        let left = testing::example(rule, &fixed, "SKILL.md");
        assert!(left.len() < found.len(), "{}: {fixed}", rule.id);
    }
    assert_eq!(without, ["file-name"]);
}

#[test]
fn what_is_no_text_is_told_once() {
    let bytes: Vec<u8> = (0..=255).cycle().take(4096).collect();
    let document = Document::from_bytes(bytes);
    let subject = Subject::new(&document, Some("pdf"), "SKILL.md");
    for (_, profile) in Profile::ALL.iter().filter(|(_, profile)| *profile != Profile::Reference) {
        let found = check_with(&subject, &Ruleset::new(*profile));
        let told: Vec<_> = found.iter().map(|finding| (finding.rule, finding.severity)).collect();
        assert_eq!(told, [("encoding", Severity::Error)], "{profile}");
    }
}

#[test]
fn findings_come_in_the_order_of_the_text() {
    let text = "\u{feff}---\nx: [a]\nname: PDF--x\nname: pdf\n---\n";
    let document = Document::parse(text.to_owned());
    let findings = check(&Subject::new(&document, Some("pdf"), "SKILL.md"));
    let places: Vec<_> = findings.iter().map(|finding| (finding.span.start, finding.rule)).collect();
    assert!(places.is_sorted_by_key(|(at, _)| *at), "{places:?}");
    assert!(places.contains(&(7, "unknown-field")), "{places:?}");
}

/// S0-US5.1: a skill that follows the specification.
#[test]
fn a_right_skill_has_no_findings() {
    let text = "---\nname: pdf\ndescription: Reads PDF. Use it for PDF.\nlicense: MIT\n\
        compatibility: needs git\nallowed-tools: Bash(git:*) Read\nmetadata:\n  version: \"1.0\"\n\
        ---\n";
    let document = Document::parse(text.to_owned());
    let subject = Subject::new(&document, Some("pdf"), "SKILL.md");
    assert_eq!(check(&subject), []);
}

/// A NUL character in a value is also a control character, other kinds of which loading tolerates.
#[test]
fn a_nul_character_in_the_frontmatter_is_an_error_in_every_profile() {
    let document = Document::parse("---\nname: x\ndescription: \0\n---\n".to_owned());
    let subject = Subject::new(&document, Some("x"), "SKILL.md");
    for (name, profile) in Profile::ALL {
        let findings = check_with(&subject, &Ruleset::new(profile));
        let errors = findings.iter().filter(|finding| finding.severity == Severity::Error);
        assert!(errors.map(|finding| finding.rule).any(|rule| rule == "encoding"), "{name}: {findings:?}");
    }
    assert!(crate::skill::load_in(&document, Some("x")).is_err());
}

proptest! {
    #[test]
    fn any_text_is_checked(
        yaml in "(name|description|metadata|compatibility|allowed-tools|licence|x|: |:|\n|\r\n|  |- |\"|\\[|\\]|\\{|\\}|,|é|а|Z|--|\u{80}|\0|#|&a|\\*a|=======|>>>>>>> y|>-|@|1\\.10){0,40}",
        directory in "\\PC{0,5}",
    ) {
        let document = Document::parse(format!("---\n{yaml}\n---\n"));
        let subject = Subject::new(&document, Some(&directory), "SKILL.md");
        for finding in check(&subject) {
            prop_assert!(document.text().get(finding.span.clone()).is_some(), "{:?}", finding);
            prop_assert!(finding.message.len() <= MAX_MESSAGE + 3);
        }
    }

    /// Any text can be checked in any profile, and `lenient` fails exactly the texts that do not load.
    #[test]
    fn any_text_is_checked_in_any_profile(
        yaml in "(name: x\n|description: y\n|name:|description: |metadata:\n|  |a: |\n|\r\n|\t|- |---|\"|'|\\[|\\]|\\{|\\}|é|\u{80}|\0|# skillpm: allow name-missing\n|#|&a |\\*a|! |=======|>-\n|@){0,20}",
        body in "(a|\n|```|<!-- skillpm: allow|-file| name-alphabet| x|,| -->|\0|\u{feff}){0,10}",
        cut in 0_usize..200,
    ) {
        let text = format!("---\n{yaml}\n---\n{body}");
        let mut bytes = text.clone().into_bytes();
        if let Some(byte) = bytes.get_mut(cut) {
            *byte = 0xff;
        }
        for document in [Document::parse(text), Document::parse(body), Document::from_bytes(bytes)] {
            let subject = Subject::new(&document, Some("x"), "SKILL.md");
            for (name, profile) in Profile::ALL {
                let findings = check_with(&subject, &Ruleset::new(profile));
                for finding in &findings {
                    prop_assert!(document.text().get(finding.span.clone()).is_some(), "{}: {:?}", name, finding);
                }
                // A comment can silence the linter, but does not make a skill loadable.
                if profile == Profile::Lenient && !document.text().contains("skillpm:") {
                    let errors = findings.iter().any(|finding| finding.severity == Severity::Error);
                    let loaded = crate::skill::load_in(&document, Some("x"));
                    prop_assert_eq!(errors, loaded.is_err(), "{:?}\n{:?}", findings, loaded);
                }
            }
        }
    }
}
