//! `description-person`

use crate::lint::words;
use crate::lint::{Check, Docs, Finding, Group, Levels, Needs, Rule, Severity, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "description-person",
    group: Group::Quality,
    levels: Levels::QUALITY,
    summary: "the description is written in the third person",
    docs: Docs {
        what: "Looks for sentences that start with `I can`, `we help`, `you will`, `your` or `let me`, and, as a note, \
            for `helps you`, `lets you` and the like. Text in quotes does not count: users say `I`.",
        why: "The description becomes part of the agent's own instructions: there, `I` and `you` mean \
            someone else, and the agent finds the skill less reliably.",
        bad: "---\nname: pdf\ndescription: I can help you with PDF files when you have some.\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files. Use when the user names a PDF.\n---\n",
        source: "Anthropic, skill authoring best practices: write in third person",
    },
    fix: None,
    needs: Needs::Document,
    check: Check::Subject(check),
};

/// The beginnings of sentences in the first or second person.
const STARTS: &[&str] = &[
    "i can", "i will", "i'll", "i’ll", "i am", "i'm", "i’m", "i help", "i have", "we can", "we will",
    "we help", "we'll", "you can", "you will", "you are", "you'll", "your ", "let me", "let's", "my ",
];

/// Words that address a person anywhere in a sentence.
const ADDRESSES: &[&str] = &[
    "help you",
    "helps you",
    "helping you",
    "lets you",
    "allow you",
    "allows you",
    "enable you",
    "enables you",
    "teaches you",
    "guides you",
    "gives you",
    "shows you",
    "assists you",
    "walks you",
    "i can help",
];

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let Some((node, text)) = subject.description else { return };
    let plain = words::without_quotes(&text.to_ascii_lowercase());
    let start = start(&plain);
    let Some((at, length)) = start.or_else(|| address(&plain)) else { return };
    let found = text[at..at + length].trim_end();
    // The words appear literally in the file, unless there is an escape or a line end between them.
    let source = &subject.document.text()[node.span.clone()];
    let span = match source.find(found) {
        Some(at) => node.span.start + at..node.span.start + at + found.len(),
        None => node.span.clone(),
    };
    let message = format!("the description speaks in the first or second person: `{found}`");
    let finding = RULE.finding(message, span).help("say what the skill does: `Reads …`, `Creates …`");
    // Whom it serves is not who speaks.
    findings.push(if start.is_some() { finding } else { finding.severity(Severity::Note) });
}

/// Returns the first sentence that starts in the wrong person.
fn start(text: &str) -> Option<(usize, usize)> {
    let after = text.match_indices(". ").map(|(at, _)| at + 2);
    std::iter::once(0).chain(after).find_map(|at| {
        let sentence = &text[at..];
        STARTS
            .iter()
            .find(|start| {
                let rest = sentence.strip_prefix(**start);
                rest.is_some_and(|rest| start.ends_with(' ') || !rest.starts_with(char::is_alphanumeric))
            })
            .map(|start| (at, start.len()))
    })
}

fn address(text: &str) -> Option<(usize, usize)> {
    ADDRESSES.iter().find_map(|address| Some((words::find(text, address)?, address.len())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lint::testing::*;

    #[test]
    fn who_speaks() {
        let text = |description: &str| format!("---\nname: x\ndescription: {description}\n---\n");
        for (description, column, found) in [
            ("I can read PDF.", 14, "I can"),
            ("Reads PDF. You can use it.", 25, "You can"),
            ("A tool that helps you read.", 26, "helps you"),
        ] {
            let message = format!("the description speaks in the first or second person: `{found}`");
            assert_places(&RULE, &[(&text(description), &[(3, column)], &message)]);
        }
    }

    /// From real skills: lists of users' phrases, and `you` for the agent.
    #[test]
    fn what_users_say_and_instructions_are_fine() {
        for description in [
            "Use when the user says \"I can not open this\" or `let me see`.",
            "Validates plans. WHEN: validate my app, where can I deploy.",
            "Turns a decision you can't answer into questions.",
            "Use when you need to read PDF.",
            "Iterates over ideas. Weekly use. Yours to keep.",
        ] {
            assert_places(&RULE, &[(&format!("---\nname: x\ndescription: {description}\n---\n"), &[], "")]);
        }
    }
}
