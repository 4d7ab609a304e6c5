//! `frontmatter-unclosed`

use crate::document::{Problem, ProblemKind};
use crate::lint::delimiters;
use crate::lint::{Check, Docs, Finding, Group, Levels, Needs, Rule, Safety, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "frontmatter-unclosed",
    group: Group::Spec,
    levels: Levels::FATAL,
    summary: "the frontmatter ends with a `---` line",
    docs: Docs {
        what: "Looks for the second `---`, alone on its line.",
        why: "Nothing marks where the metadata ends, so the skill cannot be read.",
        bad: "---\nname: pdf\ndescription: Reads PDF files.\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\n",
        source: "specification, `SKILL.md` format",
    },
    fix: Some(Safety::Safe),
    needs: Needs::Document,
    check: Check::Problem(check),
};

fn check(subject: &Subject<'_>, problem: &Problem) -> Option<Finding> {
    matches!(problem.kind, ProblemKind::UnclosedFrontmatter).then(|| {
        let fix = delimiters::close(subject.document.text(), problem.span.start);
        Finding { fix, ..RULE.told(problem).label("opened here") }
    })
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    /// S0-FR-007 and oddities 16 and 28.
    #[test]
    fn only_a_line_of_its_own_closes() {
        let message = "the frontmatter is never closed: a line with only `---` must follow it";
        assert_places(
            &RULE,
            &[
                ("---\nname: x\n", &[(1, 1)], message),
                ("\n---\na: b --- c\n ---\n", &[(2, 1)], message),
                ("---\na: b --- c\n--- \n", &[], ""),
            ],
        );
    }
}
