//! 295 real skills: what an agent reads from them, and our verdict next to the reference validator's.
//!
//! The data is not part of the repository: `SKILLPM_TESTDATA` names its directory, and
//! `SKILLPM_REFERENCE_CASES` a file that `tests/reference/compare.py` has written.

#![expect(clippy::disallowed_methods, reason = "test data is outside of every room of the program")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde_json::Value;

use super::reference::{self, FIELD_RULES, FILE_RULES, Reading, YAML_RULES};
use super::{Finding, Group, Level, Profile, RULES, Ruleset, Severity, Subject, check_with, rules};
use crate::document::{Document, Node, Problem, ProblemKind};
use crate::skill::{LoadError, load};

/// One skill of the data.
struct Case {
    id: String,
    file: String,
    document: Document,
    expected: Value,
}

impl Case {
    fn read(line: &str, id: &str, bytes: impl Fn(&Value, &str, &str) -> Vec<u8>) -> Self {
        let expected: Value = serde_json::from_str(line).expect("a line of JSON");
        let text = |key: &str| expected[key].as_str().expect(key).to_owned();
        let (id, file) = (text(id), text("file"));
        Self { document: Document::from_bytes(bytes(&expected, &id, &file)), id, file, expected }
    }

    fn findings(&self, profile: Profile) -> Vec<Finding> {
        let subject = Subject::new(&self.document, self.id.rsplit('/').next(), &self.file);
        check_with(&subject, &Ruleset::new(profile))
    }

    /// Returns the kinds of error that the reference validator reports.
    fn expected(&self) -> BTreeSet<&'static str> {
        let errors = self.expected["errors"].as_array().expect("a list").iter();
        errors.map(|error| kind_of_message(error.as_str().expect("a message"))).collect()
    }

    /// Returns the kinds of error that we report in `profile`.
    fn found(&self, profile: Profile) -> BTreeSet<&'static str> {
        let findings = self.findings(profile);
        let errors = findings.iter().filter(|finding| finding.severity == Severity::Error);
        errors.filter_map(|finding| kind_of_rule(finding.rule)).collect()
    }
}

fn cases() -> Option<Vec<Case>> {
    let Some(root) = std::env::var_os("SKILLPM_TESTDATA") else {
        eprintln!("SKILLPM_TESTDATA is not set: the real skills are not tested");
        return None;
    };
    let root = PathBuf::from(root).join("skills");
    let list = std::fs::read_to_string(root.join("expected.jsonl")).expect("the list of skills");
    let bytes = |_: &Value, id: &str, file: &str| std::fs::read(root.join(id).join(file)).expect("a skill");
    let cases: Vec<Case> = list.lines().map(|line| Case::read(line, "id", bytes)).collect();
    assert!(!cases.is_empty());
    Some(cases)
}

/// Returns the kind of the reference validator's message.
fn kind_of_message(message: &str) -> &'static str {
    const STARTS: &[(&str, &str)] = &[
        // Not UTF-8, or a control character; all other crashes are in the YAML reader.
        ("CRASH UnicodeDecodeError", "crash"),
        ("CRASH AttributeError: 'ReaderError'", "crash"),
        ("CRASH", "YAML"),
        ("Missing required file", "no file"),
        ("SKILL.md must start with", "no frontmatter"),
        ("SKILL.md frontmatter not properly closed", "frontmatter-unclosed"),
        ("SKILL.md frontmatter must be", "no mapping"),
        ("Invalid YAML", "YAML"),
        ("Unexpected fields", "unknown-field"),
        ("Missing required field in frontmatter: name", "name-missing"),
        ("Field 'name'", "name-missing"),
        ("Skill name cannot", "name-hyphens"),
        ("Directory name", "name-directory"),
        ("Missing required field in frontmatter: description", "description-missing"),
        ("Field 'description'", "description-missing"),
        ("Description exceeds", "description-length"),
        ("Field 'compatibility'", "compatibility"),
        ("Compatibility exceeds", "compatibility"),
    ];
    if message.starts_with("Skill name '") {
        return if message.contains("' exceeds ") { "name-length" } else { "name-alphabet" };
    }
    let row = STARTS.iter().find(|(start, _)| message.starts_with(start));
    row.unwrap_or_else(|| panic!("no kind for {message:?}")).1
}

/// Returns the kind of error for a finding of `rule`, or `None` if it only explains another one.
fn kind_of_rule(rule: &'static str) -> Option<&'static str> {
    Some(match rule {
        "encoding" | "control-character" => "crash",
        "quirk-file-name" => "no file",
        "byte-order-mark" | "frontmatter-first-line" | "frontmatter-missing" => "no frontmatter",
        "frontmatter-mapping" | "quirk-empty-frontmatter" => "no mapping",
        "quirk-tab" | "quirk-sibling-indent" | "quirk-yaml-syntax" => "YAML",
        "quirk-description-length" => "description-length",
        "quirk-compatibility-length" => "compatibility",
        "quirk-closing-delimiter" => return None,
        "client-field" => "unknown-field",
        rule if YAML_RULES.contains(&rule) => "YAML",
        rule => rule,
    })
}

/// S0-US5.1: other loaders read name and description.
#[test]
fn real_skills_load_as_elsewhere() {
    let Some(cases) = cases() else { return };
    let mut loaded = 0;
    for Case { id, document, expected, .. } in &cases {
        let lenient = &expected["lenient"];
        match load(document) {
            Ok(skill) => {
                let trimmed = |key: &str| lenient[key].as_str().map(str::trim);
                assert_eq!(Some(skill.meta.name.as_str()), trimmed("name"), "{id}");
                assert_eq!(Some(skill.meta.description.as_str()), trimmed("description"), "{id}");
                loaded += 1;
            }
            Err(LoadError::Frontmatter { .. }) => assert_eq!(lenient["fm"], "none", "{id}"),
            Err(error) => {
                let field = if lenient["name"].is_string() { "description" } else { "name" };
                assert!(lenient[field].as_str().is_none_or(str::is_empty), "{id}: {error}");
            }
        }
    }
    eprintln!("{loaded} of {} skills load", cases.len());
}

/// Only rules that the reference profile knows are errors in it.
#[test]
fn every_rule_of_the_reference_profile_has_its_place() {
    for rule in RULES {
        let placed = [FIELD_RULES, FILE_RULES, YAML_RULES].iter().any(|ids| ids.contains(&rule.id));
        let error = rule.levels.reference == Level::Error;
        assert_eq!(error, placed || rule.group == Group::Quirk, "{}", rule.id);
    }
}

/// The same verdict and the same kinds of error as the reference validator.
#[test]
fn the_reference_profile_agrees_on_real_skills() {
    let Some(cases) = cases() else { return };
    assert_eq!(disagreements(&cases), Vec::<String>::new());
}

/// The same for any number of generated skills.
#[test]
fn reference_cases() {
    let Some(file) = std::env::var_os("SKILLPM_REFERENCE_CASES") else {
        eprintln!("SKILLPM_REFERENCE_CASES is not set: the reference validator is not compared");
        return;
    };
    let list = std::fs::read_to_string(file).expect("the cases");
    let bytes = |expected: &Value, _: &str, _: &str| {
        let hex = expected["hex"].as_str().expect("the bytes");
        let pairs = (0..hex.len()).step_by(2);
        pairs.map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("a byte")).collect()
    };
    let cases: Vec<Case> = list.lines().map(|line| Case::read(line, "directory", bytes)).collect();
    explained(&cases);
    let wrong = disagreements(&cases);
    eprintln!("{} of {} agree", cases.len() - wrong.len(), cases.len());
    assert!(wrong.is_empty(), "{}", wrong[..wrong.len().min(40)].join("\n"));
}

fn disagreements(cases: &[Case]) -> Vec<String> {
    let differs = |case: &&Case| case.expected() != case.found(Profile::Reference);
    let told = |case: &Case| {
        let (theirs, ours) = (case.expected(), case.found(Profile::Reference));
        let text = case.document.text();
        let text = &text[..text.floor_char_boundary(600)];
        let reason = Reading::stop(&Subject::new(&case.document, None, &case.file));
        format!("{}: {theirs:?}, here {ours:?} {reason:?}, {}\n{text:?}", case.id, case.expected["errors"])
    };
    cases.iter().filter(differs).map(told).collect()
}

/// A class of difference between the profiles: its name in `docs/reference/profiles.md`, and its rules.
struct Class {
    name: &'static str,
    rules: &'static [&'static str],
}

/// Errors of the `reference` profile that are not errors in `spec`.
const STRICTER_THERE: &[Class] = &[
    Class { name: "fields of other tools", rules: &["unknown-field", "client-field"] },
    Class { name: "flow style", rules: &["yaml-flow-style"] },
    Class { name: "tags", rules: &["yaml-tag"] },
    Class { name: "first bytes", rules: &["byte-order-mark", "frontmatter-first-line"] },
    Class { name: "other file names", rules: &["quirk-file-name"] },
    Class { name: "closing delimiter", rules: &["quirk-closing-delimiter"] },
    Class { name: "empty frontmatter", rules: &["quirk-empty-frontmatter"] },
    Class {
        name: "a stricter YAML reader",
        rules: &["quirk-tab", "quirk-sibling-indent", "quirk-yaml-syntax"],
    },
    Class { name: "white space counts", rules: &["quirk-description-length", "quirk-compatibility-length"] },
];

/// Errors of the `spec` profile that are not errors in `reference`.
const STRICTER_HERE: &[Class] = &[
    Class { name: "names that deceive", rules: &["name-homoglyph"] },
    Class { name: "tools as a mapping", rules: &["allowed-tools"] },
    Class { name: "limits", rules: &["frontmatter-limits"] },
    Class { name: "NUL in the body", rules: &["encoding"] },
    Class { name: "empty compatibility", rules: &["compatibility"] },
];

/// The classes of differences that no rule shows: the two profiles see different fields.
const OTHER_FIELDS: [&str; 3] = ["other delimiters", "a laxer YAML reader", "white space of Python"];

/// Returns the class of a difference that is a consequence: the reference does not read what we read.
fn consequence(case: &Case, rule: &str) -> String {
    let document = &case.document;
    let own_yaml = document.yaml_span().map(|yaml| yaml.end);
    let [delimiters, yaml, space] = OTHER_FIELDS;
    if own_yaml.is_none() || own_yaml != reference::slice(document).map(|yaml| yaml.end) {
        return delimiters.to_owned();
    }
    let not_read = |problem: &Problem| {
        matches!(
            problem.kind,
            ProblemKind::Yaml(_) | ProblemKind::Repaired { .. } | ProblemKind::ConflictMarker
        )
    };
    // Features of YAML 1.1 that 1.2 does not have (`<<`, `=` and three line ends), and a mark within the
    // text.
    let text = &document.text()[document.yaml_span().unwrap_or_default()];
    let old = text.contains(['=', '\u{85}', '\u{2028}', '\u{2029}', '\u{feff}']) || text.contains("<<");
    if document.problems().iter().any(not_read) || old {
        return yaml.to_owned();
    }
    let is_space = |c: char| matches!(c, '\u{1c}'..='\u{1f}');
    let values = ["name", "description"].map(|field| document.get(field).and_then(Node::text));
    if values.into_iter().flatten().any(|text| text.contains(is_space)) {
        return space.to_owned();
    }
    format!("UNEXPLAINED: {rule}")
}

/// Returns the classes of the differences between `spec` and `reference` for one skill.
fn classes(case: &Case) -> BTreeSet<String> {
    let errors = |profile| -> BTreeSet<&'static str> {
        let findings = case.findings(profile);
        findings.iter().filter(|finding| finding.severity == Severity::Error).map(|f| f.rule).collect()
    };
    let (spec, reference) = (errors(Profile::Spec), errors(Profile::Reference));
    let stopped = matches!(Reading::of(&case.document), Reading::Stopped(_));
    let class = |table: &[Class], rule: &str| {
        table.iter().find(|class| class.rules.contains(&rule)).map(|class| class.name.to_owned())
    };
    let there = reference.difference(&spec);
    let here = spec.difference(&reference);
    let mut found: BTreeSet<String> = there
        .map(|rule| class(STRICTER_THERE, rule).unwrap_or_else(|| consequence(case, rule)))
        // If the reference stops in a file, that file has one error there and perhaps more here.
        .chain(here.map(|rule| match class(STRICTER_HERE, rule) {
            Some(class) => class,
            None if stopped || rules::is_other_file(&Subject::new(&case.document, None, &case.file)) => {
                "behind the place where it stopped".to_owned()
            }
            None => consequence(case, rule),
        }))
        .collect();
    if found.is_empty() {
        found.insert(if spec.is_empty() { "both: valid" } else { "both: the same errors" }.to_owned());
    }
    found
}

/// The reference page explains each difference between the profiles `spec` and `reference`.
#[test]
fn differences_between_the_profiles_are_explained() {
    // The published package carries no pages.
    let path = skillpm_testing::root().join("docs/reference/profiles.md");
    let Ok(page) = std::fs::read_to_string(path) else { return };
    for class in STRICTER_THERE.iter().chain(STRICTER_HERE) {
        assert!(page.contains(&format!("| {} |", class.name)), "the page has no class `{}`", class.name);
        for rule in class.rules {
            assert!(page.contains(&format!("`{rule}`")), "the page does not name `{rule}`");
            assert!(RULES.iter().any(|known| known.id == *rule), "{rule}");
        }
    }
    for class in OTHER_FIELDS {
        assert!(page.contains(&format!("| {class} |")), "the page has no class `{class}`");
    }
    if let Some(cases) = cases() {
        explained(&cases);
    }
}

/// Prints the classes of difference with their counts, and fails on one that has no name.
fn explained(cases: &[Case]) {
    let mut counts: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for case in cases {
        for class in classes(case) {
            counts.entry(class).or_default().push(case.document.text());
        }
    }
    for (class, ids) in &counts {
        eprintln!("{:4}  {class}", ids.len());
    }
    let wrong: Vec<_> = counts.iter().filter(|(class, _)| class.starts_with("UNEXPLAINED")).collect();
    let first: Vec<_> = wrong.iter().map(|(class, ids)| (class, ids[0])).collect();
    assert!(wrong.is_empty(), "{first:#?}");
}
