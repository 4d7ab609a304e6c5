//! `frontmatter-first-line`

use crate::document::{Problem, ProblemKind};
use crate::lint::{Check, Docs, Edit, Finding, Fix, Group, Level, Levels, Needs, Rule, Safety, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "frontmatter-first-line",
    group: Group::Spec,
    levels: Levels::PACKAGE.reference(Level::Error).claude_code(Level::Error).claude_ai(Level::Error),
    summary: "the opening `---` is the first line",
    docs: Docs {
        what: "Looks for blank lines before the frontmatter.",
        why: "Many tools look at the first line only and then see no frontmatter.",
        bad: "\n---\nname: pdf\ndescription: Reads PDF files.\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\n",
        source: "the specification is silent; the reference validator refuses it",
    },
    fix: Some(Safety::Safe),
    needs: Needs::Document,
    check: Check::Problem(check),
};

fn check(_: &Subject<'_>, problem: &Problem) -> Option<Finding> {
    matches!(problem.kind, ProblemKind::LeadingBlankLines).then(|| {
        let fix = Fix::safe("delete the blank lines", vec![Edit::delete(problem.span.clone())]);
        let finding = RULE.told(problem).help("delete the blank lines");
        // For the reference validator there may be text before `---` other than what can be deleted.
        if problem.span.is_empty() { finding } else { finding.fix(fix) }
    })
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    /// Oddity 26.
    #[test]
    fn blank_lines_are_told() {
        let message = "the file starts with blank lines instead of `---`";
        assert_places(&RULE, &[("\r\n \n---\n---\n", &[(1, 1)], message), ("---\n\n---\n", &[], "")]);
    }
}
