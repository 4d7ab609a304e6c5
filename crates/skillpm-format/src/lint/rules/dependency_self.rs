//! `dependency-self`

use crate::lint::{Check, Docs, Finding, Group, Levels, Needs, Rule, Subject};
use crate::requirement::Requirement;
use crate::resolve::declared::declared_in;

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "dependency-self",
    group: Group::Package,
    levels: Levels::PACKAGE,
    summary: "no skill needs itself",
    docs: Docs {
        what: "Looks for the skill's own name in `metadata.skill-dependencies`.",
        why: "Nothing can be installed before itself.",
        bad: "---\nname: pdf\ndescription: Reads PDF files.\nmetadata:\n  skill-dependencies: pdf docx\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\nmetadata:\n  skill-dependencies: docx\n---\n",
        source: "skillpm; the specification is silent",
    },
    fix: None,
    needs: Needs::Document,
    check: Check::Subject(check),
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    for need in declared_in(subject.document) {
        // A source may contain another skill with the same name.
        if let Ok(Requirement::Named { name, .. }) = &need.requirement
            && Some(name.as_str()) == subject.document.name()
        {
            findings
                .push(RULE.finding(format!("the skill `{name}` needs itself"), need.span).help("delete it"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    #[test]
    fn the_own_name_is_told() {
        let text = |value: &str| format!("---\nname: pdf\nmetadata:\n  skill-dependencies: {value}\n---\n");
        assert_places(
            &RULE,
            &[
                (&text("docx, pdf@^1"), &[(4, 29)], "the skill `pdf` needs itself"),
                (&text("pdfs other/repo/pdf PDF"), &[], ""),
            ],
        );
    }
}
