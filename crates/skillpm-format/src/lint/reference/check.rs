//! The verdict of the reference validator, expressed in skillpm's rules.

use super::{Cause, Reading, Stop};
use crate::document::{Document, Problem, ProblemKind};
use crate::lint::{Finding, Group, Level, RULES, Rule, Severity, Subject, rules};

/// The rules that explain why a file is not text, or has no readable frontmatter.
pub(in crate::lint) const FILE_RULES: &[&str] = &[
    "encoding",
    "control-character",
    "byte-order-mark",
    "frontmatter-first-line",
    "frontmatter-missing",
    "frontmatter-unclosed",
    "frontmatter-mapping",
];

/// The rules about the notation of the YAML.
pub(in crate::lint) const YAML_RULES: &[&str] = &[
    "yaml-flow-style",
    "yaml-unquoted-colon",
    "yaml-tab",
    "yaml-duplicate-key",
    "yaml-alias",
    "yaml-tag",
    "yaml-documents",
    "yaml-syntax",
    "merge-conflict",
];

/// The rules about fields. They check the fields that the reference validator sees.
pub(in crate::lint) const FIELD_RULES: &[&str] = &[
    "name-missing",
    "name-length",
    "name-alphabet",
    "name-hyphens",
    "name-directory",
    "description-missing",
    "description-length",
    "compatibility",
    "unknown-field",
    "client-field",
];

/// Checks `subject` by the rules that are `on`, according to the profile of the reference validator.
///
/// If the reference stops reading, its own rules report only that. Rules that are not part of its verdict report their
/// findings if they were switched on.
pub(in crate::lint) fn check(subject: &Subject<'_>, on: &[(&'static Rule, Severity)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let other_file = rules::is_other_file(subject);
    let reading = Reading::of(subject.document);
    let subject = &Subject { reading: Some(&reading), ..*subject };
    let view = reading.view();
    let stopped = match &reading {
        Reading::Stopped(stop) => explanation(stop, subject).map(|finding| Finding { ends: true, ..finding }),
        Reading::Fields(_) => None,
    };
    for (rule, severity) in on {
        let first = findings.len();
        if rule.levels.reference != Level::Error {
            rule.look(subject, &mut findings);
        } else if rule.group == Group::Quirk {
            if !other_file || rule.id == "quirk-file-name" {
                rule.look(subject, &mut findings);
            }
        } else if !other_file {
            findings.extend(stopped.clone().filter(|finding| finding.rule == rule.id));
            if let Some(view) = view {
                field(rule, subject, view, &mut findings);
            }
        }
        for finding in &mut findings[first..] {
            finding.severity = *severity;
        }
    }
    findings
}

/// Reports whether the reference validator refuses the fields in `view`.
pub(in crate::lint) fn refuses_fields(subject: &Subject<'_>, view: &Document) -> bool {
    let mut findings = Vec::new();
    for rule in RULES {
        field(rule, subject, view, &mut findings);
    }
    !findings.is_empty()
}

/// Checks the fields that the reference sees, if `rule` is about fields.
fn field(rule: &Rule, subject: &Subject<'_>, view: &Document, findings: &mut Vec<Finding>) {
    // An empty `compatibility` passes there.
    let blank =
        || view.get("compatibility").and_then(|node| node.text()).is_some_and(|s| s.trim().is_empty());
    if FIELD_RULES.contains(&rule.id) && !(rule.id == "compatibility" && blank()) {
        rule.look(&subject.seen_as(view), findings);
    }
}

/// Returns the finding that best explains why the reference stopped. Returns `None` if only one of its quirks does.
pub(in crate::lint) fn explanation(stop: &Stop, subject: &Subject<'_>) -> Option<Finding> {
    let problem = match stop.cause {
        Cause::NotUtf8 => return found(subject, &["encoding"]).into_iter().next(),
        Cause::Opening => {
            let ids = ["byte-order-mark", "frontmatter-first-line", "frontmatter-missing"];
            if let Some(finding) = found(subject, &ids).into_iter().next() {
                return Some(finding);
            }
            // skillpm's own rules do not report blank lines if the frontmatter is never closed.
            ProblemKind::LeadingBlankLines
        }
        Cause::NotClosed => ProblemKind::UnclosedFrontmatter,
        Cause::Control('\0') => ProblemKind::Nul,
        Cause::Control(c) => ProblemKind::Control(c),
        Cause::NotAMapping(kind) => ProblemKind::NotAMapping(kind),
        Cause::Empty | Cause::SiblingIndent => return None,
        cause => return yaml(cause, stop, subject),
    };
    let document = subject.document.seen_with(Problem { kind: problem, span: stop.span.clone() });
    found(&subject.seen_as(&document), FILE_RULES).into_iter().next()
}

/// Returns the finding of skillpm's own rules about YAML that the reference does not read: one on the same line,
/// otherwise an error anywhere, because parsers differ on its position.
fn yaml(cause: Cause, stop: &Stop, subject: &Subject<'_>) -> Option<Finding> {
    let lines = subject.document.line_index();
    let line = lines.position(stop.span.start).line;
    let findings = found(subject, YAML_RULES);
    let same_line = |finding: &&Finding| lines.position(finding.span.start).line == line;
    let of_cause = findings.iter().filter(same_line).find(|finding| Some(finding.rule) == cause.rule());
    of_cause
        .or_else(|| findings.iter().find(same_line))
        .or_else(|| findings.iter().find(|finding| finding.severity == Severity::Error))
        .cloned()
}

/// Returns the findings of the rules `ids`, in the order of `ids`.
fn found(subject: &Subject<'_>, ids: &[&str]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for id in ids {
        for rule in RULES.iter().filter(|rule| rule.id == *id) {
            rule.look(subject, &mut findings);
        }
    }
    findings
}
