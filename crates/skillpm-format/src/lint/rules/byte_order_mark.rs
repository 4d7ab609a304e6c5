//! `byte-order-mark`

use crate::document::{Problem, ProblemKind};
use crate::lint::{Check, Docs, Edit, Finding, Fix, Group, Level, Levels, Needs, Rule, Safety, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "byte-order-mark",
    group: Group::Spec,
    levels: Levels::WARNING.reference(Level::Error).claude_ai(Level::Error),
    summary: "the file does not start with a byte-order mark",
    docs: Docs {
        what: "Looks for the three invisible bytes that some editors put before UTF-8 text.",
        why: "Many tools compare the first three bytes with `---` and then see no frontmatter.",
        bad: "\u{feff}---\nname: pdf\ndescription: Reads PDF files.\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\n",
        source: "the specification is silent; the reference validator refuses it",
    },
    fix: Some(Safety::Safe),
    needs: Needs::Document,
    check: Check::Problem(check),
};

fn check(_: &Subject<'_>, problem: &Problem) -> Option<Finding> {
    matches!(problem.kind, ProblemKind::Bom).then(|| {
        RULE.told(problem)
            .help("save the file as UTF-8 without a byte-order mark")
            .fix(Fix::safe("delete the byte-order mark", vec![Edit::delete(problem.span.clone())]))
    })
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    /// Oddity 23.
    #[test]
    fn a_mark_is_told_at_the_start() {
        let message = "the file starts with a byte-order mark";
        assert_places(&RULE, &[("\u{feff}---\n---\n", &[(1, 1)], message), ("---\n---\n\u{feff}", &[], "")]);
    }
}
