//! `fence-unclosed`

use std::ops::Range;

use crate::lint::switch::fence_of;
use crate::lint::{Check, Docs, Finding, Group, Levels, Needs, Rule, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "fence-unclosed",
    group: Group::Quality,
    levels: Levels::QUALITY,
    summary: "every block of code is closed",
    docs: Docs {
        what: "Looks for fenced code in the body that is never closed. Often a block of Markdown contains others with \
            as many backticks, which close it too early.",
        why: "For a reader of Markdown, all text up to the end is code, its links and headings included.",
        bad: "---\nname: pdf\ndescription: Reads PDF files.\n---\n```sh\npdfinfo x.pdf\n\nThen read it.\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\n```sh\npdfinfo x.pdf\n```\n\nThen read it.\n",
        source: "CommonMark, fenced code blocks",
    },
    fix: None,
    needs: Needs::Document,
    check: Check::Subject(check),
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let body = subject.document.body();
    let has = |mark: &str| memchr::memmem::find(body.as_bytes(), mark.as_bytes()).is_some();
    if !has("```") && !has("~~~") {
        return;
    }
    let mut open = None;
    for line in body.lines() {
        let text = content(line);
        if let Some(run) = fence_of(text) {
            let is_bare = run.len() == text.trim_end().len();
            match open {
                None => open = Some(run),
                Some(first) if is_bare && run.starts_with(first) => open = None,
                Some(_) => {}
            }
        }
    }
    // Only the parser knows where quotes and lists end.
    let text = subject.document.text();
    let is_open = |code: &&Range<usize>| {
        let mut lines = text[(*code).clone()].lines().map(content);
        let Some(first) = lines.next().and_then(fence_of) else { return false };
        let closes =
            |line: &str| fence_of(line).is_some_and(|run| run == line.trim_end() && run.starts_with(first));
        !lines.next_back().is_some_and(closes)
    };
    let unclosed = open.and_then(|_| subject.document.markdown().code.iter().find(is_open));
    if let Some(code) = unclosed {
        let line = text[code.clone()].lines().next().unwrap_or_default();
        let finding = RULE.finding("this block of code is never closed", code.start..code.start + line.len());
        let help = "close it, or open a block that contains others with more backticks than they have";
        findings.push(finding.help(help));
    }
}

/// Returns a line without the marks of quotes and lists before its text.
fn content(line: &str) -> &str {
    line.trim_start_matches(|c: char| c.is_ascii_whitespace() || matches!(c, '>' | '-' | '*' | '+'))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    #[test]
    fn unclosed_code_is_reported() {
        let text = |body: &str| format!("---\nname: x\n---\n{body}\n");
        let message = "this block of code is never closed";
        for (body, place) in [
            ("```sh\nls", (4, 1)),
            ("a\n\n- ```\n  ls\n\n~~~\nb\n~~~", (6, 3)),
            ("````md\n```\nls\n```", (4, 1)),
            ("```md\n```sh\nls\n```\n```", (8, 1)),
        ] {
            assert_places(&RULE, &[(&text(body), &[place], message)]);
        }
        for body in
            ["```sh\nls\n```", "````md\n```\nls\n```\n````", "> ```\n> ls\n> ```", "use ``` here", "```ls```"]
        {
            assert_places(&RULE, &[(&text(body), &[], "")]);
        }
    }
}
