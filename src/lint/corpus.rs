//! 295 real skills: what an agent reads of them, and our verdict beside the reference validator's.
//!
//! The data is not part of the repository: `SKILLPM_TESTDATA` names its directory.

#![expect(clippy::disallowed_methods, reason = "test data lies outside of every room of the program")]

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;

use super::{Finding, Severity, Subject, check};
use crate::document::Document;
use crate::skill::{LoadError, load};

/// One skill of the data.
struct Case {
    id: String,
    file: String,
    document: Document,
    expected: Value,
}

fn cases() -> Option<Vec<Case>> {
    let Some(root) = std::env::var_os("SKILLPM_TESTDATA") else {
        eprintln!("SKILLPM_TESTDATA is not set: the real skills are not tested");
        return None;
    };
    let root = PathBuf::from(root).join("skills");
    let list = std::fs::read_to_string(root.join("expected.jsonl")).expect("the list of skills");
    let cases: Vec<Case> = list
        .lines()
        .map(|line| {
            let expected: Value = serde_json::from_str(line).expect("a line of JSON");
            let text = |key: &str| expected[key].as_str().expect(key).to_owned();
            let (id, file) = (text("id"), text("file"));
            let bytes = std::fs::read(root.join(&id).join(&file)).expect("a skill");
            Case { id, file, document: Document::from_bytes(bytes), expected }
        })
        .collect();
    assert!(!cases.is_empty());
    Some(cases)
}

/// S0-US5.1, S0-US5.2, S0-US5.3, S0-FR-014: name and description are what other loaders read.
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

/// The rule that says what `message` of the reference validator says, and whether it makes an
/// error of it.
fn same_as(message: &str) -> Option<(&'static str, Severity)> {
    const TABLE: &[(&str, &str, Severity)] = &[
        ("SKILL.md must start with", "frontmatter-missing", Severity::Error),
        ("SKILL.md frontmatter not properly closed", "frontmatter-unclosed", Severity::Error),
        ("SKILL.md frontmatter must be", "frontmatter-mapping", Severity::Error),
        ("Unexpected fields", "unknown-field", Severity::Warning),
        ("Missing required field in frontmatter: name", "name-missing", Severity::Error),
        ("Field 'name'", "name-missing", Severity::Error),
        ("Skill name cannot", "name-hyphens", Severity::Error),
        ("Directory name", "name-directory", Severity::Error),
        ("Missing required field in frontmatter: description", "description-missing", Severity::Error),
        ("Field 'description'", "description-missing", Severity::Error),
        ("Description exceeds", "description-length", Severity::Error),
        ("Field 'compatibility'", "compatibility", Severity::Error),
        ("Compatibility exceeds", "compatibility", Severity::Error),
    ];
    let (rule, severity) = if message.contains("JSONesque flow") {
        ("yaml-flow-style", Severity::Warning)
    } else if message.starts_with("Invalid YAML") && message.contains("mapping values are not allowed") {
        ("yaml-unquoted-colon", Severity::Error)
    } else if message.starts_with("Skill name '") {
        (if message.contains("exceeds") { "name-length" } else { "name-alphabet" }, Severity::Error)
    } else {
        let row = TABLE.iter().find(|(start, ..)| message.starts_with(start))?;
        (row.1, row.2)
    };
    Some((rule, severity))
}

/// The classes of difference for one skill; the ones that nothing explains start with `UNEXPLAINED`.
fn differences(errors: &[&str], findings: &[Finding]) -> Vec<String> {
    let mut classes = Vec::new();
    // A parse error is all that the reference validator says about a file.
    let stopped = errors.iter().any(|e| e.starts_with("Invalid YAML"));
    let mut theirs = Vec::new();
    for error in errors {
        let Some((rule, severity)) = same_as(error) else {
            classes.push(format!("UNEXPLAINED: no rule for {error:?}"));
            continue;
        };
        theirs.push(rule);
        classes.push(match findings.iter().find(|finding| finding.rule == rule) {
            Some(finding) if finding.severity != severity => format!("UNEXPLAINED: severity of {rule}"),
            Some(_) if severity == Severity::Error => format!("both: {rule}"),
            Some(_) => format!("a warning here, an error there: {rule}"),
            None => format!("UNEXPLAINED: {rule} was not found"),
        });
    }
    for finding in findings.iter().filter(|finding| finding.severity == Severity::Error) {
        if !theirs.contains(&finding.rule) {
            classes.push(if stopped {
                format!("found behind the place where the reference stopped: {}", finding.rule)
            } else if NOT_CHECKED_THERE.contains(&finding.rule) {
                format!("not checked there: {}", finding.rule)
            } else {
                format!("UNEXPLAINED: {} is not an error there", finding.rule)
            });
        }
    }
    classes
}

/// The rules of errors that the reference validator does not know (SPEC, section 5).
const NOT_CHECKED_THERE: &[&str] = &["name-homoglyph", "allowed-tools", "frontmatter-limits", "encoding"];

/// Every difference from the reference validator belongs to a class that is explained.
#[test]
fn verdicts_on_real_skills_agree_with_the_reference_validator() {
    let Some(cases) = cases() else { return };
    let mut classes: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for Case { id, file, document, expected } in &cases {
        let directory = id.rsplit('/').next();
        let findings = check(&Subject::new(document, directory, file));
        let errors = expected["errors"].as_array().expect("a list");
        let errors: Vec<&str> = errors.iter().filter_map(Value::as_str).collect();
        let mut found = differences(&errors, &findings);
        if found.is_empty() {
            found.push("both: valid".to_owned());
        }
        found.dedup();
        for class in found {
            classes.entry(class).or_default().push(id);
        }
    }
    for (class, ids) in &classes {
        eprintln!("{:4}  {class}", ids.len());
    }
    let unexplained: Vec<_> = classes.iter().filter(|(class, _)| class.starts_with("UNEXPLAINED")).collect();
    assert!(unexplained.is_empty(), "{unexplained:#?}");
}
