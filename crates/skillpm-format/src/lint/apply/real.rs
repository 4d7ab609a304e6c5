//! The results of repairs and formatting for 295 real skills.
//!
//! The data is not part of the repository: `SKILLPM_TESTDATA` names its directory.

#![expect(clippy::disallowed_methods, reason = "test data is outside of every room of the program")]

use std::path::PathBuf;

use super::*;
use crate::document::{format, split};
use crate::lint::{Severity, Subject, check};

/// Returns each skill with the name of its directory and of its file.
fn skills() -> Vec<(String, String, Document)> {
    let Some(root) = std::env::var_os("SKILLPM_TESTDATA") else {
        println!("SKILLPM_TESTDATA is not set: the real skills are not tested");
        return Vec::new();
    };
    let root = PathBuf::from(root).join("skills");
    let list = std::fs::read_to_string(root.join("expected.jsonl")).expect("the list of skills");
    let one = |line: &str| {
        let line: Json = serde_json::from_str(line).expect("a line of JSON");
        let text = |key: &str| line[key].as_str().expect(key).to_owned();
        let bytes = std::fs::read(root.join(text("id")).join(text("file"))).expect("a skill");
        (text("id"), text("file"), Document::from_bytes(bytes))
    };
    list.lines().map(one).collect()
}

fn errors(findings: &[Finding]) -> usize {
    findings.iter().filter(|finding| finding.severity == Severity::Error).count()
}

/// After safe repairs, every skill whose only faults can be repaired safely is valid.
#[test]
fn safe_repairs_make_real_skills_valid() {
    let (mut wrong, mut repairable, mut changed, mut fixes) = (0, 0, 0, 0);
    for (id, file, document) in skills() {
        let directory = id.rsplit('/').next();
        let find = |document: &Document| check(&Subject::new(document, directory, &file));
        let before = find(&document);
        let is_safe = |finding: &Finding| finding.fix.as_ref().is_some_and(|fix| fix.safety == Safety::Safe);
        let only_safe = before.iter().filter(|f| f.severity == Severity::Error).all(is_safe);
        let fixed = fix_all(&document, Safety::Safe, find);
        assert_eq!(fixed.skipped, 0, "{id}: {:?}", fixed.findings);
        assert!(errors(&fixed.findings) <= errors(&before), "{id}");
        assert_eq!(fixed.document.body(), document.body(), "{id}");
        assert_eq!(fix_all(&fixed.document, Safety::Safe, find).applied, 0, "{id}");
        if errors(&before) > 0 {
            wrong += 1;
            if only_safe {
                repairable += 1;
                assert_eq!(errors(&fixed.findings), 0, "{id}: {:?}", fixed.findings);
            }
        }
        changed += usize::from(fixed.applied > 0);
        fixes += fixed.applied;
        if let (Ok(old), Ok(new)) = (skill::load(&document), skill::load(&fixed.document)) {
            assert_eq!((old.meta.name, old.meta.description), (new.meta.name, new.meta.description), "{id}");
        }
    }
    println!("errors: {wrong} skills, safely repaired: {repairable}; {fixes} repairs in {changed} skills");
}

#[test]
fn unsafe_repairs_of_real_skills() {
    let (mut before, mut after) = (0, 0);
    for (id, file, document) in skills() {
        let directory = id.rsplit('/').next();
        let find = |document: &Document| check(&Subject::new(document, directory, &file));
        let fixed = fix_all(&document, Safety::Unsafe, find);
        before += usize::from(errors(&find(&document)) > 0);
        after += usize::from(errors(&fixed.findings) > 0);
        assert_eq!(fixed.skipped, 0, "{id}: {:?}", fixed.findings);
        assert_eq!(fix_all(&fixed.document, Safety::Unsafe, find).applied, 0, "{id}");
    }
    println!("skills with errors: {before} before, {after} after all repairs");
}

/// Values, body and comments stay, and formatting twice equals formatting once.
#[test]
fn real_skills_have_a_canonical_form() {
    let (mut canonical, mut changed, mut left) = (0, 0, 0);
    for (id, _, document) in skills() {
        let Ok(new) = format(&document) else {
            assert!(!document.problems().is_empty(), "{id}: {:?}", format(&document));
            left += 1;
            continue;
        };
        if new == document.text() {
            canonical += 1;
        } else {
            changed += 1;
        }
        let formatted = Document::parse(new.clone());
        assert_eq!(fields(&document), fields(&formatted), "{id}");
        assert_eq!(document.body().trim(), formatted.body().trim(), "{id}");
        assert_eq!(format(&formatted).as_ref(), Ok(&new), "{id}");
        assert!(matches!(split(new.as_bytes()), crate::document::Split::Found(_)), "{id}");
    }
    println!("canonical: {canonical}, changed: {changed}, left alone: {left}");
}

/// Returns every `SKILL.md` below the test data.
fn all_files() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut dirs: Vec<PathBuf> =
        std::env::var_os("SKILLPM_TESTDATA").into_iter().map(PathBuf::from).collect();
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(&dir).expect("a directory") {
            let entry = entry.expect("an entry");
            if entry.file_type().expect("a kind").is_dir() {
                dirs.push(entry.path());
            } else if entry.file_name() == "SKILL.md" {
                found.push(entry.path());
            }
        }
    }
    found
}

/// Repairs and formatting agree: neither undoes what the other does, in whichever order they run.
#[test]
fn repairs_and_formatting_agree() {
    let mut both = 0;
    for file in all_files() {
        let document = Document::from_bytes(std::fs::read(&file).expect("a skill"));
        // What cannot be read in one way only is repaired first: it has no form before.
        let Ok(formatted) = format(&document) else { continue };
        let directory = file.parent().and_then(|dir| dir.file_name()?.to_str());
        let find = |document: &Document| check(&Subject::new(document, directory, "SKILL.md"));
        for safety in [Safety::Safe, Safety::Unsafe] {
            let fix = |document: &Document| fix_all(document, safety, find).document;
            let form = |document: &Document| Document::parse(format(document).expect("has a form"));
            let done = form(&fix(&document));
            let place = file.display();
            assert_eq!(fix(&Document::parse(formatted.clone())).text(), done.text(), "{place}");
            assert_eq!(fix(&done).text(), done.text(), "{place}");
            assert_eq!(form(&done).text(), done.text(), "{place}");
            both += 1;
        }
    }
    println!("repaired and formatted in both orders: {both}");
}
