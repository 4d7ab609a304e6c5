//! `template-text`

use crate::lint::words;
use crate::lint::{Check, Docs, Finding, Group, Levels, Needs, Rule, Subject};
use std::ops::Range;

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "template-text",
    group: Group::Quality,
    levels: Levels::PACKAGE,
    summary: "no template text is left",
    docs: Docs {
        what: "Looks for what templates leave: `[TODO: …]`, a line that starts with `TODO:`, \
            the sentences of Anthropic's skill creator, `lorem ipsum`; in name and description also `TODO`, `{{name}}` and `<your …>`. Code does not count, and in the body neither \
            do placeholders, which skills have for their own templates, nor words in brackets or quotes.",
        why: "A description that still says what belongs there makes the agent use the skill at the wrong time.",
        bad: "---\nname: pdf\ndescription: \"[TODO: say what the skill does]\"\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files. Use when the user names one.\n---\n",
        source: "templates of skill-creator and others",
    },
    fix: None,
    needs: Needs::Document,
    check: Check::Subject(check),
};

/// Leftovers of a template that count anywhere outside code. In lower case.
const ANYWHERE: &[&str] = &[
    "[todo:",
    "[todo]",
    "lorem ipsum",
    "replace with actual",
    "replace with description of",
    "replace this placeholder",
    "replace this with your",
    "replace this text",
    "delete this entire \"structuring this skill\"",
    "this is a placeholder for",
    "<your skill",
    "{{skill_name}}",
    "{{skill-name}}",
    "{{description}}",
];

/// Every body that contains one of the texts above contains one of these, in the spellings that users write. They are
/// searched for as they are, which is ten times as fast as examining every byte.
const SIGNS: &[&str] = &[
    "TODO",
    "eplace with actual",
    "eplace with description",
    "eplace this",
    "orem ipsum",
    "elete this entire",
    "his is a placeholder",
    "[todo",
    "[Todo",
    "<your skill",
    "{{skill",
    "{{SKILL",
    "{{description",
    "{{DESCRIPTION",
];

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    // A template is a template.
    if subject.directory_name.is_some_and(|name| name.contains("template")) {
        return;
    }
    for field in ["name", "description"] {
        if let Some((node, text)) = subject.text(field)
            && let Some(found) = in_field(text)
        {
            let source = &subject.document.text()[node.span.clone()];
            let span = match source.find(found) {
                Some(at) => node.span.start + at..node.span.start + at + found.len(),
                None => node.span.clone(),
            };
            findings.push(finding(found, span));
        }
    }
    let (body, base) = (subject.document.body(), subject.document.body_span().start);
    let spans = if words::has_text(body, SIGNS) { in_body(body) } else { Vec::new() };
    for span in spans {
        let at = base + span.start;
        // A checklist may say what must not be there: `no placeholder text ("lorem ipsum")`.
        let is_quoted = body[..span.start].ends_with(['(', '"', '“', '\'', '/']);
        if !is_quoted && !subject.document.markdown().is_code(at) {
            findings.push(finding(&body[span.clone()], at..base + span.end));
        }
    }
}

fn finding(found: &str, span: Range<usize>) -> Finding {
    let found: String = found.split_whitespace().collect::<Vec<_>>().join(" ");
    let finding = RULE.finding(format!("template text is left: `{found}`"), span);
    finding.help("write what belongs there, or delete it")
}

/// Reports whether [`in_field`] may find something. Never false if it does; most texts end here.
fn may_have_in_field(text: &str) -> bool {
    let bytes = text.as_bytes();
    let has = |at: usize, parts: &[&str]| {
        parts.iter().any(|part| {
            let found = bytes.get(at..at + part.len());
            found.is_some_and(|found| found.eq_ignore_ascii_case(part.as_bytes()))
        })
    };
    // Many descriptions contain the word `place`.
    let places = ["psum", "placeholder", "place with actual", "place with desc", "place this "];
    text.starts_with("TODO")
        || memchr::memchr3_iter(b'[', b'{', b'<', bytes).any(|at| has(at, &["[todo", "{{", "<your"]))
        || (words::has_part(text, [*b"lac", *b"psu"])
            && memchr::memchr2_iter(b'p', b'P', bytes).any(|at| has(at, &places)))
        || memchr::memchr_iter(b'"', bytes).any(|at| has(at, &["\"structuring"]))
}

/// Returns a leftover in a name or a description, which have no use for placeholders.
fn in_field(text: &str) -> Option<&str> {
    if !may_have_in_field(text) {
        return None;
    }
    in_field_any(text)
}

/// Computes [`in_field`] without the fast path.
fn in_field_any(text: &str) -> Option<&str> {
    let lower = text.to_ascii_lowercase();
    let whole = |at: usize, end: &str| {
        let length = text[at..].find(end).map_or(text.len() - at, |length| length + end.len());
        &text[at..at + length]
    };
    // `${{ … }}` is an expression of GitHub Actions.
    if let Some((at, _)) = lower.match_indices("{{").find(|(at, _)| !lower[..*at].ends_with('$')) {
        let found = text[at..].contains("}}").then(|| whole(at, "}}"));
        // Empty ones are the syntax that a skill is about.
        return found.filter(|found| !found.trim_matches(['{', '}', ' ']).is_empty());
    }
    for (start, end) in [("[todo", "]"), ("<your ", ">"), ("<your-", ">")] {
        if let Some(at) = lower.find(start) {
            return Some(whole(at, end));
        }
    }
    if text.starts_with("TODO") {
        return Some("TODO");
    }
    ANYWHERE.iter().find_map(|part| lower.find(part).map(|at| &text[at..at + part.len()]))
}

/// Returns the leftovers in a body, without checking whether they are in code.
fn in_body(body: &str) -> Vec<Range<usize>> {
    let bytes = body.as_bytes();
    let mut found = Vec::new();
    // One pass, which checks two bytes before anything else.
    for (at, pair) in bytes.windows(2).enumerate() {
        let starts = match pair[0] {
            b'[' => matches!(pair[1], b'T' | b't'),
            b'{' => pair[1] == b'{',
            b'<' => matches!(pair[1], b'Y' | b'y'),
            b'L' | b'l' => matches!(pair[1], b'O' | b'o'),
            b'R' | b'r' | b'D' | b'd' => matches!(pair[1], b'E' | b'e'),
            b'T' | b't' => matches!(pair[1], b'H' | b'h' | b'O'),
            _ => false,
        };
        if !starts || (pair[0].is_ascii_alphabetic() && at > 0 && bytes[at - 1].is_ascii_alphanumeric()) {
            continue;
        }
        for part in ANYWHERE {
            let same = |end: &[u8]| end.eq_ignore_ascii_case(part.as_bytes());
            if bytes.get(at..at + part.len()).is_some_and(same) {
                found.push(at..end(body, at, part));
            }
        }
        if body[at..].starts_with("TODO:") && starts_line(&body[..at]) {
            found.push(at..at + "TODO:".len());
        }
    }
    found
}

/// Returns where `part` at `at` ends: for a bracket, at the matching one on the same line.
fn end(body: &str, at: usize, part: &str) -> usize {
    let after = at + part.len();
    if !part.starts_with('[') || part.ends_with(']') {
        return after;
    }
    let close = body[after..].find([']', '\n']).map(|length| after + length);
    close.filter(|close| body[*close..].starts_with(']')).map_or(after, |close| close + 1)
}

/// Reports whether only list, heading and quote markers precede the end of `before` on its line.
fn starts_line(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default();
    line.trim_matches(['-', '*', '#', '>', ' ', '\t']).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    use super::RULE;
    use crate::lint::testing::*;

    #[test]
    fn what_templates_leave_is_told() {
        let field = |value: &str| format!("---\nname: x\ndescription: {value}\n---\n");
        let body = |body: &str| format!("---\nname: x\n---\n{body}\n");
        for (text, at, found) in [
            (field("\"[TODO: Complete it]\""), (3, 15), "[TODO: Complete it]"),
            (field("Reads {{thing}} files"), (3, 20), "{{thing}}"),
            (field("Reads <your files>."), (3, 20), "<your files>"),
            (field("TODO"), (3, 14), "TODO"),
            (body("# A\n\n[TODO: 1-2 sentences\nmore]"), (6, 1), "[TODO:"),
            (body("- TODO: write"), (4, 3), "TODO:"),
            (body("Lorem ipsum dolor."), (4, 1), "Lorem ipsum"),
            (
                body("This is a placeholder for details. Replace with actual."),
                (4, 1),
                "This is a placeholder for",
            ),
        ] {
            let found = format!("template text is left: `{found}`");
            let first = places(&RULE, &text).into_iter().next().unwrap_or_else(|| panic!("{text}"));
            assert_eq!(first, (at.0, at.1, found), "{text}");
        }
    }

    #[test]
    fn skills_about_templates_and_tasks_are_fine() {
        for text in [
            "---\nname: todo-list\ndescription: Manages TODO lists and TODO comments.\n---\n",
            "---\nname: x\n---\nLook for TODO comments; `TODO: x` and `[TODO: y]`.\n\n```\nTODO: z\n[TODO: w]\n```\n",
            "---\nname: x\n---\nWrite {{name}} and <your name>, then replace `{{x}}`.\n",
            "---\nname: x\ndescription: Uses {{ for templates.\n---\n",
        ] {
            assert_places(&RULE, &[(text, &[], "")]);
        }
    }

    /// Everything that the slow path finds contains one of `SIGNS`.
    #[test]
    fn nothing_in_real_skills_is_missed() {
        skillpm_testing::real_skills(|text| {
            assert!(words::has_text(text, SIGNS) || in_body(text).is_empty(), "{text}");
        });
    }

    #[test]
    fn the_quick_look_at_fields_knows_every_text() {
        for part in ANYWHERE {
            for part in [(*part).to_owned(), part.to_uppercase()] {
                assert!(may_have_in_field(&part), "{part}");
                assert!(in_field_any(&part).is_some(), "{part}");
            }
        }
    }

    proptest! {
        #[test]
        fn the_quick_look_at_fields_misses_nothing(
            text in "(TODO|\\[|t|T|odo|ODO|L|lorem |ipsum|r|e|Place|place|holder for| |with|actual|this|text|\\[INSERT |D|elete|entire|\"|structuring this|skill\"|his is a |I|<|your|-|\\{\\{|\\{|x|é){0,12}",
        ) {
            prop_assert!(may_have_in_field(&text) || in_field_any(&text).is_none(), "{:?}", text);
        }
    }
}
