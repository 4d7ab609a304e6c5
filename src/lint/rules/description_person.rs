//! `description-person`

use crate::lint::words;
use crate::lint::{Check, Docs, Finding, Group, Levels, Needs, Rule, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "description-person",
    group: Group::Quality,
    levels: Levels::QUALITY,
    summary: "the description is written in the third person",
    docs: Docs {
        what: "Looks for sentences that start with `I can`, `we help`, `you will`, `your` or `let me`, for `helps you`, \
            `lets you` and the like. Text in quotes does not count: users say `I`.",
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

/// How a sentence starts that somebody says of himself or to somebody.
const STARTS: &[&str] = &[
    "i can", "i will", "i'll", "i’ll", "i am", "i'm", "i’m", "i help", "i have", "we can", "we will",
    "we help", "we'll", "you can", "you will", "you are", "you'll", "your ", "let me", "let's", "my ",
];

/// What is said to somebody anywhere in a sentence.
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
    let (speaks, addresses) = (may_start(text), may_address(text));
    if !speaks && !addresses {
        return;
    }
    let plain = words::without_quotes(&text.to_ascii_lowercase());
    let found = if speaks { start(&plain) } else { None };
    let found = found.or_else(|| if addresses { address(&plain) } else { None });
    let Some((at, length)) = found else { return };
    let found = text[at..at + length].trim_end();
    // The words stand in the file as they are, unless an escape or a line end is between them.
    let source = &subject.document.text()[node.span.clone()];
    let span = match source.find(found) {
        Some(at) => node.span.start + at..node.span.start + at + found.len(),
        None => node.span.clone(),
    };
    let message = format!("the description speaks in the first or second person: `{found}`");
    findings.push(RULE.finding(message, span).help("say what the skill does: `Reads …`, `Creates …`"));
}

/// Whether some sentence may start in the wrong person. Never false where [`start`] finds one; most
/// descriptions end here.
fn may_start(text: &str) -> bool {
    let first = |at: usize| text.as_bytes().get(at).map(u8::to_ascii_lowercase);
    let starts = |at: usize| {
        // Most sentences end here.
        matches!(first(at), Some(b'i' | b'l' | b'm' | b'w' | b'y'))
            && STARTS.iter().any(|start| has(text, at, start))
    };
    starts(0) || memchr::memchr_iter(b'.', text.as_bytes()).any(|at| starts(at + 2))
}

/// Whether somebody may be spoken to. Never false where [`address`] finds one.
fn may_address(text: &str) -> bool {
    if !words::has_part(text, [*b"you", *b"elp"]) {
        return false;
    }
    let bytes = text.as_bytes();
    memchr::memchr2_iter(b'y', b'Y', bytes).any(|at| has(text, at, "you"))
        || memchr::memchr2_iter(b'h', b'H', bytes).any(|at| at > 0 && has(text, at - 1, " help"))
}

/// Whether `part` stands at byte `at` of `text`, in any case.
fn has(text: &str, at: usize, part: &str) -> bool {
    let found = text.as_bytes().get(at..at + part.len());
    found.is_some_and(|found| found.eq_ignore_ascii_case(part.as_bytes()))
}

/// The first sentence that starts in the wrong person.
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
    use proptest::prelude::*;

    use super::RULE;
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

    /// From real skills: lists of what users say, and `you` for the agent.
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

    fn nothing_is_missed_in(text: &str) {
        let plain = words::without_quotes(&text.to_ascii_lowercase());
        assert!(may_start(text) || start(&plain).is_none(), "{text:?}");
        assert!(may_address(text) || address(&plain).is_none(), "{text:?}");
    }

    #[test]
    fn nothing_in_real_skills_is_missed() {
        crate::testing::real_skills(|text| {
            text.lines().for_each(nothing_is_missed_in);
        });
    }

    proptest! {
        #[test]
        fn the_quick_look_misses_nothing(
            text in "(\\. |\\.| |I|i|we|You|you|r|'|’|ll|am|can|will|help|Let|s me|My |allows|“|”|\"|`|x|é){0,10}",
        ) {
            nothing_is_missed_in(&text);
        }
    }
}
