//! The tolerance of loading: the `lenient` profile reports errors where [`crate::skill::load`] refuses.

use super::{Finding, Ruleset, Severity, Subject};
use crate::document::ProblemKind;

/// Turns errors in `findings` that do not prevent loading of `document` into warnings.
///
/// The levels of the rules cover nearly all of this. The exceptions: a value that is not YAML and was taken literally,
/// a control character in it, and wrong bytes in the body are reported by the same rules as YAML that cannot be
/// repaired and wrong bytes in the frontmatter.
pub(super) fn demote(subject: &Subject<'_>, rules: &Ruleset, findings: &mut [Finding]) {
    let document = subject.document;
    // A missing name is replaced by that of the directory. For a name that is not text, no tool guesses what was meant.
    let has_name = document.get("name").is_some_and(|name| name.text().is_none());
    if subject.directory_name.is_some() && !has_name && !rules.is_switched("name-missing") {
        for finding in findings.iter_mut().filter(|finding| finding.rule == "name-missing") {
            finding.severity = Severity::Warning;
        }
    }
    let body = document.body_span();
    let no_tree = document.problems().iter().any(|problem| matches!(problem.kind, ProblemKind::Yaml(_)));
    for problem in document.problems() {
        let tolerated = match problem.kind {
            ProblemKind::Repaired { .. } => true,
            ProblemKind::InvalidUtf8 { .. } | ProblemKind::Nul => body.start <= problem.span.start,
            ProblemKind::Control(_) => !no_tree,
            _ => false,
        };
        // Matched by rule as well as by place: a NUL character in a value is reported as a control character and as wrong
        // encoding.
        let reports = |rule: &str| match problem.kind {
            ProblemKind::InvalidUtf8 { .. } | ProblemKind::Nul => rule == "encoding",
            _ => rule.starts_with("yaml-") || rule == "control-character",
        };
        if tolerated {
            for finding in findings.iter_mut().filter(|finding| {
                finding.span == problem.span && !rules.is_switched(finding.rule) && reports(finding.rule)
            }) {
                finding.severity = Severity::Warning;
            }
        }
    }
}
