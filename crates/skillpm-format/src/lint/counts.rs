//! The findings of the rules of quality and packages in 295 real skills: false positives show here first.
//!
//! The data is not part of the repository: `SKILLPM_TESTDATA` names its directory.

#![expect(clippy::disallowed_methods, reason = "test data is outside of every room of the program")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{FileFacts, Group, RULES, SkillFile, SkillFileKind, Subject};
use crate::document::Document;
use crate::tree::keys::keys;

/// The number of skills in which each rule finds something. A rule that is not listed finds nothing.
const EXPECTED: &[(&str, usize)] = &[
    // Links from the root of a web site.
    ("absolute-path", 2),
    ("body-lines", 6),
    ("body-tokens", 10),
    // One repository has 90 of these; each was read, and none states an occasion.
    ("description-when", 95),
    ("dollar-digit", 1),
    ("legacy-field", 92),
    ("link-missing", 1),
    // In one repository, beside `../shared/SKILL.md`. Here nothing is known of their surroundings.
    ("link-outside", 15),
    ("link-skill", 39),
];

/// Returns the files of a skill: names and modes of all, and the available texts. Unknown content is assumed
/// to be valid: executable scripts start with `#!`, others do not.
fn files(root: &Path, id: &str) -> Vec<SkillFile> {
    let list = std::fs::read_to_string(root.join(id).join("files.txt")).unwrap_or_default();
    let mut files: Vec<SkillFile> = list
        .lines()
        .filter_map(|line| {
            let mut parts = line.splitn(3, ' ');
            let (mode, _, path) = (parts.next()?, parts.next()?, parts.next()?);
            let text = std::fs::read_to_string(root.join("full-trees").join(id).join(path)).ok();
            let executable = mode == "100755";
            let keys = keys(text.as_deref().unwrap_or_default().as_bytes());
            let facts = FileFacts { executable, shebang: executable, text, keys, ..FileFacts::default() };
            let kind = SkillFileKind::File(facts);
            Some(SkillFile { path: path.to_owned(), kind })
        })
        .collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

#[test]
fn counts_on_real_skills() {
    let Some(root) = std::env::var_os("SKILLPM_TESTDATA") else {
        eprintln!("SKILLPM_TESTDATA is not set: the real skills are not counted");
        return;
    };
    let root = PathBuf::from(root).join("skills");
    let list = std::fs::read_to_string(root.join("expected.jsonl")).expect("the list of skills");
    let mut found: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for line in list.lines() {
        let expected: Value = serde_json::from_str(line).expect("a line of JSON");
        let (id, file) =
            (expected["id"].as_str().expect("an id"), expected["file"].as_str().expect("a name"));
        let document = Document::from_bytes(std::fs::read(root.join(id).join(file)).expect("a skill"));
        let files = files(&root, id);
        let subject = Subject::new(&document, id.rsplit('/').next(), file).with_files(&files);
        for rule in RULES.iter().filter(|rule| matches!(rule.group, Group::Quality | Group::Package)) {
            let mut findings = Vec::new();
            rule.look(&subject, &mut findings);
            if let Some(first) = findings.first() {
                let line = document.position(first.span.start).line;
                found.entry(rule.id).or_default().push(format!(
                    "{id}:{line}: {} (of {})",
                    first.message,
                    findings.len()
                ));
            }
        }
    }
    for (rule, skills) in &found {
        eprintln!("{:4}  {rule}", skills.len());
        // Spread over the repositories.
        for skill in skills.iter().step_by(skills.len().div_ceil(8)) {
            eprintln!("        {skill}");
        }
    }
    let counts: Vec<(&str, usize)> = found.iter().map(|(rule, skills)| (*rule, skills.len())).collect();
    assert_eq!(counts, EXPECTED);
}
