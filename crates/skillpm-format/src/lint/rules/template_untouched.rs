//! `template-untouched`

use crate::lint::words;
use crate::lint::{Check, Docs, Finding, Group, Levels, Needs, Rule, Subject};

/// The name of the rule.
pub const ID: &str = "template-untouched";

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: ID,
    group: Group::Quality,
    levels: Levels::PACKAGE,
    summary: "the text of a template was edited",
    docs: Docs {
        what: "Looks for the general steps of the templates that new skills are made from.",
        why: "They fit every skill, so they tell an agent nothing that it does not do anyway.",
        bad: "---\nname: pdf\ndescription: Reads PDF files.\n---\n\
            1. Read the files whose status is `ok`, and do what the request says.\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\n\
            1. Read the pages that the request names, in order.\n",
        source: "the built-in templates",
    },
    fix: None,
    needs: Needs::Document,
    check: Check::Subject(check),
};

/// A step of each built-in template, which is too general for any real skill.
const STEPS: &[&str] = &[
    "Read the request and every file that it names. Ask when the goal or its limits are not clear.",
    "Read that part of the guide. Where it leaves a choice, look for a case like it among the examples.",
    "Read the files whose status is `ok`, and do what the request says.",
    "Read the request and the files that it names. Write down the goal, the limits and how success can be seen.",
];

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let (body, base) = (subject.document.body(), subject.document.body_span().start);
    // They begin alike, and hardly another text does.
    if !words::has_text(body, &["Read th"]) {
        return;
    }
    if let Some((at, step)) = STEPS.iter().find_map(|step| Some((body.find(step)?, step))) {
        let finding = RULE.finding("this step was left from the template", base + at..base + at + step.len());
        findings.push(finding.help("write the steps of this skill"));
    }
}
