//! Helpers for the rules' own tests.

use super::{Finding, Rule, Subject};
use crate::document::Document;

/// What `rule` alone finds in `text`.
pub(super) fn findings(rule: &Rule, text: &str, directory: Option<&str>, file_name: &str) -> Vec<Finding> {
    let document = Document::parse(text.to_owned());
    let mut findings = Vec::new();
    (rule.check)(&Subject::new(&document, directory, file_name), &mut findings);
    for finding in &findings {
        assert!(text.get(finding.span.clone()).is_some(), "{finding:?}");
        let start = finding.message.chars().next().expect("a message");
        assert!(!start.is_uppercase() && !finding.message.ends_with('.'), "{finding:?}");
        assert_eq!(finding.rule, rule.id);
    }
    findings
}

/// What `rule` finds in `pdf/SKILL.md`: line, column and message.
pub(super) fn places(rule: &Rule, text: &str) -> Vec<(usize, usize, String)> {
    let document = Document::parse(text.to_owned());
    findings(rule, text, Some("pdf"), "SKILL.md")
        .into_iter()
        .map(|finding| {
            let at = document.position(finding.span.start);
            (at.line, at.column, finding.message)
        })
        .collect()
}

/// A text, the places in it where a rule finds something, and what it says about the first one.
type PlaceCase<'a> = (&'a str, &'a [(usize, usize)], &'a str);

/// Asserts where `rule` finds something in `pdf/SKILL.md`, and what it says about the first place.
#[track_caller]
pub(super) fn assert_places(rule: &Rule, cases: &[PlaceCase<'_>]) {
    for (text, expected, message) in cases {
        let found = places(rule, text);
        let at: Vec<_> = found.iter().map(|(line, column, _)| (*line, *column)).collect();
        assert_eq!(at, *expected, "{text:?}: {found:?}");
        assert_eq!(found.first().map_or("", |(_, _, message)| message), *message, "{text:?}");
    }
}

/// The help of the first finding in `pdf/SKILL.md`.
pub(super) fn help(rule: &Rule, text: &str) -> String {
    let first = findings(rule, text, Some("pdf"), "SKILL.md").into_iter().next();
    first.expect("a finding").help.expect("help")
}
