//! What loading tolerates: the errors of the `lenient` profile are where [`crate::skill::load`] refuses.

use super::{Finding, Ruleset, Severity, Subject};
use crate::document::ProblemKind;

/// Makes warnings of the errors in `findings` that do not keep `document` from being loaded.
///
/// The levels of the rules say nearly all of it. What they cannot say: a value that is no YAML and
/// was taken as it stands, a control character in it, and wrong bytes in the body are the same
/// rules' findings as YAML that cannot be repaired and wrong bytes in the frontmatter.
pub(super) fn demote(subject: &Subject<'_>, rules: &Ruleset, findings: &mut [Finding]) {
    let document = subject.document;
    // A name that is not there is that of the directory. One that is no text is a mistake that nobody guesses at.
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
        let own = |finding: &&mut Finding| {
            let rule = finding.rule;
            finding.span == problem.span
                && !rules.is_switched(rule)
                && (rule.starts_with("yaml-") || matches!(rule, "encoding" | "control-character"))
        };
        if tolerated {
            for finding in findings.iter_mut().filter(own) {
                finding.severity = Severity::Warning;
            }
        }
    }
}
