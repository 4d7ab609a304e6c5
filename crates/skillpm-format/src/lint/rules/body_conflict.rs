//! `body-conflict`

use crate::lint::{Check, Docs, Finding, Group, Level, Levels, Needs, Rule, Subject};
use crate::text::ConflictMark;

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "body-conflict",
    group: Group::Quality,
    levels: Levels { spec: Level::Error, claude_code: Level::Error, publish: Level::Error, ..Levels::OFF },
    summary: "the body has no merge-conflict markers",
    docs: Docs {
        what: "Looks for the lines that git leaves where it could not merge two versions, and reports the first. All \
            three kinds must be there, and code does not count: a skill may explain conflicts.",
        why: "Both versions are in the file, and the agent follows both.",
        bad: "---\nname: pdf\ndescription: Reads PDF files.\n---\n<<<<<<< ours\nRead page 1.\n=======\nRead all pages.\n\
            >>>>>>> theirs\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\nRead all pages.\n",
        source: "git-merge, how conflicts are presented",
    },
    fix: None,
    needs: Needs::Document,
    check: Check::Subject(check),
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let document = subject.document;
    if memchr::memmem::find(document.body().as_bytes(), b"<<<<<<<").is_none() {
        return;
    }
    let mut end = document.body_span().start;
    let mut markers = document.body().split_inclusive('\n').filter_map(|line| {
        let start = end;
        end += line.len();
        Some((ConflictMark::of(line)?, start..start + line.trim_end().len()))
    });
    let first = markers
        .find(|(marker, line)| *marker == ConflictMark::Start && !document.markdown().is_code(line.start));
    // In Markdown, a line of `=` or of `>` alone is a heading or a quote: only all three together are a conflict.
    let mut follows = |expected| markers.any(|(marker, _)| marker == expected);
    if let Some((_, line)) = first
        && follows(ConflictMark::Middle)
        && follows(ConflictMark::End)
    {
        let message = "the body has merge-conflict markers; choose one side and delete the marker lines";
        findings.push(RULE.finding(message, line));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    #[test]
    fn a_conflict_in_the_body() {
        let message = "the body has merge-conflict markers; choose one side and delete the marker lines";
        let text = |body: &str| format!("---\nname: x\n---\n{body}");
        let conflict = "<<<<<<< ours\r\nA.\r\n=======\r\nB.\r\n>>>>>>> theirs\r\n";
        assert_places(&RULE, &[(&text(&format!("# A\n{conflict}{conflict}")), &[(5, 1)], message)]);
        for body in
            [&format!("```text\n{conflict}```\n"), "<<<<<<< A\nB\n=======\n", "A\n=======\n>>>>>>> B\n"]
        {
            assert_places(&RULE, &[(&text(body), &[], "")]);
        }
    }
}
