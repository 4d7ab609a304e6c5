//! `body-tokens`

use crate::lint::{Check, Docs, Finding, Group, Levels, Needs, Rule, Severity, Subject};
use crate::tokens;

/// A body of about 5,900 tokens.
const LONG_EXAMPLE: &str = concat!(
    "---\nname: pdf\ndescription: Reads PDF files. Use it for PDF files.\n---\n",
    sixteen!(sixteen!(
        "Read the file, then look at each page from the first to the last, and say what is on it. "
    ))
);

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "body-tokens",
    group: Group::Quality,
    levels: Levels::QUALITY,
    summary: "the body has at most about 5000 tokens",
    docs: Docs {
        what: "Estimates the tokens of the text after the frontmatter: one for every six letters of a word that were \
            begun, one for each digit, each character beyond ASCII and each run of line ends, one for two other marks, \
            four for five Chinese, Japanese or Korean characters. Nine of ten texts are within a fifth of that, so a body \
            is reported from 5500 tokens on, up to 6250 as a note.",
        why: "The agent reads the whole body once the skill is used, and keeps it in its context.",
        bad: LONG_EXAMPLE,
        good: "---\nname: pdf\ndescription: Reads PDF files. Use it for PDF files.\n---\n\
            See [the details](references/details.md).\n",
        source: "specification, progressive disclosure: under 5000 tokens",
    },
    fix: None,
    needs: Needs::Document,
    check: Check::Subject(check),
};

/// The maximum number of tokens.
const MAX: usize = 5000;

/// The estimate from which on a body probably has more.
const LIKELY: usize = 5500;

/// The estimate from which on a body nearly always has more: a fifth less is the maximum.
const SURE: usize = 6250;

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let body = subject.document.body();
    // No text except a column of digits has more tokens than half its bytes; most bodies end here.
    if body.len() <= 2 * LIKELY {
        return;
    }
    if tokens::quickly_at_most(body) <= LIKELY || tokens::at_most(body) <= LIKELY {
        return;
    }
    let count = tokens::estimate(body);
    if count > LIKELY {
        let start = subject.document.body_span().start + (body.len() - body.trim_start().len());
        let line = &subject.document.text()[start..];
        let length = line.find(['\n', '\r']).unwrap_or(line.len());
        // The estimate is no more precise than that.
        let about = count.div_ceil(100) * 100;
        let message =
            format!("the body has about {about} tokens, give or take a fifth; at most {MAX} are recommended");
        let help = "move what is needed only sometimes into separate files, and link to them";
        let finding = RULE.finding(message, start..start + length).help(help);
        findings.push(if count <= SURE { finding.severity(Severity::Note) } else { finding });
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    /// SPEC R15.
    #[test]
    fn tokens_of_the_body_are_estimated() {
        let text = |words: usize| format!("---\nname: x\n---\n\n{}", "word ".repeat(words));
        let message = "the body has about 5600 tokens, give or take a fifth; at most 5000 are recommended";
        assert_places(&RULE, &[(&text(5490), &[], ""), (&text(5510), &[(5, 1)], message)]);
    }
}
