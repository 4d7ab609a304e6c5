//! `name-hyphens`

use crate::lint::edits;
use crate::lint::{Check, Docs, Finding, Group, Level, Levels, Needs, Rule, Safety, Subject};
use crate::name::{NameError, SkillName};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "name-hyphens",
    group: Group::Spec,
    levels: Levels::ERROR.claude_code(Level::Warning),
    summary: "hyphens stand alone and between other characters",
    docs: Docs {
        what: "Looks for a hyphen at the start or the end of the name and for two in a row.",
        why: "A name that starts with a hyphen reads as an option on a command line.",
        bad: "---\nname: pdf--reader\ndescription: Reads PDF files.\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\n",
        source: "specification, `name`",
    },
    fix: Some(Safety::Unsafe),
    needs: Needs::Document,
    check: Check::Subject(check),
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let Some((node, name, problems)) = subject.wrong_name() else { return };
    let slug = SkillName::slug(name);
    let fix = slug.as_ref().and_then(|slug| edits::rename(subject, slug.as_str()));
    let help = slug.map(|slug| format!("call it `{slug}`, and its directory too").into());
    for problem in problems {
        if matches!(problem, NameError::EdgeHyphen(_) | NameError::DoubleHyphen(_)) {
            let finding = RULE.finding(problem.to_string(), node.span.clone());
            findings.push(Finding { help: help.clone(), fix: fix.clone(), ..finding });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    #[test]
    fn edges_and_runs_are_told() {
        assert_places(
            &RULE,
            &[
                ("---\nname: -a\n---\n", &[(2, 7)], "the name `-a` starts or ends with a hyphen"),
                (
                    "---\nname: a--b-\n---\n",
                    &[(2, 7), (2, 7)],
                    "the name `a--b-` starts or ends with a hyphen",
                ),
                ("---\nname: a-b\n---\n", &[], ""),
            ],
        );
    }
}
