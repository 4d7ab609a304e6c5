//! `encoding`

use crate::document::{Problem, ProblemKind};
use crate::lint::{Check, Docs, Finding, Group, Levels, Needs, Rule, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "encoding",
    group: Group::Spec,
    levels: Levels::FATAL,
    summary: "the file is UTF-8 text",
    docs: Docs {
        what: "Looks for UTF-16, for bytes that are not UTF-8 and for NUL characters.",
        why: "Tools read skills as UTF-8: they fail on anything else or show the wrong characters.",
        bad: "---\nname: pdf\ndescription: Reads PDF files.\n---\n\0",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\n",
        source: "common practice; the reference validator reads UTF-8",
    },
    fix: None,
    needs: Needs::Document,
    check: Check::Problem(check),
};

fn check(_: &Subject<'_>, problem: &Problem) -> Option<Finding> {
    matches!(problem.kind, ProblemKind::Utf16 | ProblemKind::InvalidUtf8 { .. } | ProblemKind::Nul)
        .then(|| RULE.told(problem).help("open the file in an editor and save it as UTF-8 text"))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    use crate::document::Document;
    use crate::lint::{Finding, Subject};

    fn check(bytes: &[u8]) -> Vec<Finding> {
        let document = Document::from_bytes(bytes.to_vec());
        let mut findings = Vec::new();
        let subject = Subject::new(&document, None, "SKILL.md");
        RULE.look(&subject, &mut findings);
        findings
    }

    #[test]
    fn only_utf_8_passes() {
        assert_eq!(check("---\nname: é\n---\n".as_bytes()), []);
        assert_eq!(check(b"\xff\xfe-\0")[0].message, "the file is encoded as UTF-16; save it as UTF-8");
        let bad = check(b"---\nname: \xe9\n---\n");
        assert_eq!(bad[0].message, "the file is not UTF-8 text: byte 10 does not belong to a character");
        assert_eq!(bad[0].span.start, 10);
        assert_places(&RULE, &[("---\n---\na\0", &[(3, 2)], "the file has a NUL character")]);
    }
}
