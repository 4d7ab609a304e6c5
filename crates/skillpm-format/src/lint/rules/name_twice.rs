//! `name-twice`

use crate::lint::{Check, Docs, Finding, Group, Levels, Needs, Rule, Subject};

/// The name of the rule.
pub const ID: &str = "name-twice";

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: ID,
    group: Group::Package,
    levels: Levels::FORM,
    summary: "no two skills of a repository have the same name and different texts",
    docs: Docs {
        what: "Looks among the skills that are checked together for another one with the same name whose `SKILL.md` differs. \
            A copy for another agent, with the same text, does not count. Here `docs/pdf/SKILL.md` has the same name.",
        why: "Who installs the skill by its name gets one of them, and an agent that finds both uses one.",
        bad: "---\nname: pdf\ndescription: Reads PDF files.\n---\n",
        good: "---\nname: pdf-forms\ndescription: Reads PDF files.\n---\n",
        source: "specification, `name`",
    },
    fix: None,
    needs: Needs::Document,
    check: Check::Subject(check),
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    if let Some((node, name)) = subject.text("name")
        && let Some(twin) = subject.twin
    {
        // Not the path: a baseline compares messages, and the path depends on how the skills were named.
        let finding = RULE.finding(format!("another skill is called `{name}` too"), node.span.clone());
        findings.push(finding.help(format!("give one of them another name, or keep it like `{twin}`")));
    }
}
