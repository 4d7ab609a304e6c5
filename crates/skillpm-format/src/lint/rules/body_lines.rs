//! `body-lines`

/// A body of 512 lines.
const LONG_EXAMPLE: &str = concat!(
    "---\nname: pdf\ndescription: Reads PDF files. Use it for PDF files.\n---\n",
    sixteen!(sixteen!("Read on.\n\n"))
);

use crate::lint::{Check, Docs, Finding, Group, Levels, Needs, Rule, Severity, Subject};
use crate::tokens;

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "body-lines",
    group: Group::Quality,
    levels: Levels::QUALITY,
    summary: "the body has at most 500 lines",
    docs: Docs {
        what: "Counts the lines after the frontmatter. Up to 600, or with at most 5000 tokens, they are a note.",
        why: "The agent reads the whole body once the skill is used. What it needs only sometimes \
            belongs in separate files, which it reads when it needs them.",
        bad: LONG_EXAMPLE,
        good: "---\nname: pdf\ndescription: Reads PDF files. Use it for PDF files.\n---\n\
            See [the details](references/details.md).\n",
        source: "specification, progressive disclosure: under 500 lines",
    },
    fix: None,
    needs: Needs::Document,
    check: Check::Subject(check),
};

/// The maximum number of lines.
const MAX: usize = 500;

/// The number of tokens up to which more lines are a note.
const MAX_TOKENS: usize = 5000;

/// The number of lines up to which more than that is a note.
const NEAR: usize = 600;

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let text = subject.document.body().trim_end();
    let ends = memchr::memchr_iter(b'\n', text.as_bytes()).count();
    // The first line is the one after the delimiter.
    let count = ends + 1;
    if count > MAX
        && let Some((end, _)) = text.match_indices('\n').nth(MAX - 1)
    {
        let line = &text[end + 1..];
        let start = subject.document.body_span().start + end + 1;
        let length = line.find(['\n', '\r']).unwrap_or(line.len());
        let message = format!("the body has {count} lines; at most {MAX} are recommended");
        let help = "move what is needed only sometimes into separate files, and link to them";
        let finding = RULE.finding(message, start..start + length).label("the first line too many");
        let finding = finding.help(help);
        // Many short lines are no more than the agent can take.
        let is_short = count <= NEAR || tokens::estimate(text) <= MAX_TOKENS;
        findings.push(if is_short { finding.severity(Severity::Note) } else { finding });
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    /// SPEC R15.
    #[test]
    fn lines_of_the_body_are_counted() {
        let text = |lines: usize| format!("---\nname: x\n---\n{}", "a\r\n".repeat(lines));
        assert_places(
            &RULE,
            &[
                (&text(500), &[], ""),
                (&(text(500) + "\n\n\n"), &[], ""),
                (&text(501), &[(504, 1)], "the body has 501 lines; at most 500 are recommended"),
            ],
        );
    }
}
