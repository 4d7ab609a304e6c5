//! `control-character`

use crate::document::{Problem, ProblemKind, is_forbidden};
use crate::lint::{Check, Docs, Edit, Finding, Fix, Group, Levels, Needs, Rule, Safety, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "control-character",
    group: Group::Spec,
    levels: Levels::FATAL,
    summary: "the frontmatter has no control characters",
    docs: Docs {
        what: "Looks for control characters other than tabs and line ends between the delimiters.",
        why: "YAML does not allow them: most parsers refuse the whole file.",
        bad: "---\nname: pdf\ndescription: Reads\u{80} PDF files.\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\n",
        source: "YAML 1.2, section 5.1",
    },
    fix: Some(Safety::Unsafe),
    needs: Needs::Document,
    check: Check::Problem(check),
};

fn check(subject: &Subject<'_>, problem: &Problem) -> Option<Finding> {
    matches!(problem.kind, ProblemKind::Control(_))
        .then(|| Finding { fix: fix(subject), ..RULE.told(problem).help("delete the character") })
}

/// Deletes all of them: only the first one is reported.
fn fix(subject: &Subject<'_>) -> Option<Fix> {
    let start = subject.document.yaml_span()?.start;
    let yaml = &subject.document.text()[subject.document.yaml_span()?];
    let controls = yaml.char_indices().filter(|(_, c)| is_forbidden(*c));
    let edits = controls.map(|(at, c)| Edit::delete(start + at..start + at + c.len_utf8())).collect();
    Some(Fix::unsafe_("delete the control characters", edits))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    /// Oddity 20.
    #[test]
    fn the_first_one_is_shown() {
        let message = "the frontmatter has the control character U+0080";
        assert_places(
            &RULE,
            &[
                ("---\nname: a\u{80}b\u{80}\n---\n", &[(2, 8)], message),
                ("---\nname: a\tb\r\n---\n\u{80}", &[], ""),
            ],
        );
    }
}
