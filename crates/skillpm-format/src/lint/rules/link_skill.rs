//! `link-skill`

use super::link_outside::targets;
use crate::lint::{Check, Docs, Finding, Group, Levels, Needs, Outside, Rule, Subject};
use crate::requirement::Requirement;
use crate::resolve::declared::declared_in;

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "link-skill",
    group: Group::Package,
    levels: Levels::FORM,
    summary: "skills that are linked to are declared as dependencies",
    docs: Docs {
        what: "Looks for links to another skill (`../docx/SKILL.md`, or a file of it) that `metadata.skill-dependencies` \
            does not list. Each skill is reported once. A link between skills that are installed in the same directory \
            is not reported.",
        why: "Who installs this skill does not get the other one, and the link leads nowhere.",
        bad: "---\nname: pdf\ndescription: Reads PDF files.\n---\nWrite by [docx](../docx/SKILL.md).\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\nmetadata:\n  skill-dependencies: docx\n---\n\
            Write by [docx](../docx/SKILL.md).\n",
        source: "Package Format, skill dependencies",
    },
    fix: None,
    needs: Needs::Document,
    check: Check::Subject(check),
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let mut told = Vec::new();
    for (link, _, outside) in targets(subject) {
        let Outside::Skill { name, beside: false } = outside else { continue };
        let declares = |requirement: &Requirement| requirement.name().is_some_and(|known| known == name);
        let mut declared = declared_in(subject.document).into_iter();
        if told.contains(&name) || declared.any(|entry| entry.requirement.as_ref().is_ok_and(declares)) {
            continue;
        }
        let message =
            format!("the link leads to another skill, `{name}`, which is not declared as a dependency");
        let help = format!("list `{name}` in `metadata.skill-dependencies`, or only name it");
        findings.push(RULE.finding(message, link.target_span.clone()).help(help));
        told.push(name);
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    #[test]
    fn links_to_undeclared_skills_are_reported_once() {
        let body = "[a](../b/SKILL.md) [b](../b/SKILL.md#x) [c](../../SKILL.md) [d](../b/x.md)\n";
        assert_places(
            &RULE,
            &[
                (
                    &format!("---\nname: x\n---\n{body}"),
                    &[(4, 5)],
                    "the link leads to another skill, `b`, which is not declared as a dependency",
                ),
                (&format!("---\nname: x\nmetadata:\n  skill-dependencies: b >=1\n---\n{body}"), &[], ""),
            ],
        );
    }
}
