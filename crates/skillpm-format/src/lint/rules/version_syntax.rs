//! `version-syntax`

use crate::document::Node;
use crate::lint::{Check, Docs, Finding, Group, Levels, Needs, Rule, Subject};
use crate::version::Version;

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "version-syntax",
    group: Group::Package,
    levels: Levels::PACKAGE,
    summary: "the version follows Semantic Versioning",
    docs: Docs {
        what: "Looks for a `metadata.version`, or a `version` at the top level where there is none, that does \
            not follow Semantic Versioning 2.0 and is no date. Missing numbers count as 0, so `1.0` is valid, and so is \
            `2026.06.22`.",
        why: "Ranges such as `pdf@^1.2` can only be compared with such versions.",
        bad: "---\nname: pdf\ndescription: Reads PDF files.\nmetadata:\n  version: latest\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\nmetadata:\n  version: \"1.0\"\n---\n",
        source: "Semantic Versioning 2.0.0; the specification is silent",
    },
    fix: None,
    needs: Needs::Document,
    check: Check::Subject(check),
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let below = subject.field("metadata").and_then(|(_, metadata)| metadata.get("version"));
    let Some(node) = below.or_else(|| subject.field("version").map(|(_, value)| value)) else { return };
    // A value that is empty or not text has already been reported.
    let Some(text) = node.text().map(str::trim).filter(|text| !text.is_empty()) else { return };
    if is_date(text) {
        return;
    }
    if let Err(error) = Version::new(text) {
        findings.push(finding(node, text, &error.to_string()));
    }
}

/// Reports whether `text` is a date: `2026.06.22`, `2026-06`, `2026.6.1-rc1`.
fn is_date(text: &str) -> bool {
    let number = |part: &str, length: std::ops::RangeInclusive<usize>| {
        length.contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    let mut parts = text.splitn(3, ['.', '-']);
    let (year, month, day) = (parts.next(), parts.next(), parts.next());
    let day = day.map(|day| day.split(['.', '-', '+']).next().unwrap_or_default());
    let at_most = |part: &str, most: u8| part.parse::<u8>().is_ok_and(|value| value <= most);
    year.is_some_and(|year| (number(year, 4..=4) && year.starts_with("20")) || number(year, 2..=2))
        && month.is_some_and(|month| number(month, 1..=2) && at_most(month, 12))
        && day.is_none_or(|day| number(day, 1..=2) && at_most(day, 31))
}

fn finding(node: &Node, text: &str, message: &str) -> Finding {
    let finding = RULE.finding(message, node.span.clone());
    let numbers = text.trim_start_matches(['v', 'V', '=', ' ']);
    match Version::new(numbers) {
        Ok(_) => finding.help(format!("write `\"{numbers}\"`")),
        Err(_) => finding.help("write three numbers, as in `\"1.2.0\"`"),
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    #[test]
    fn versions_that_cannot_be_compared_are_told() {
        for (yaml, at, help_text) in [
            ("metadata:\n  version: v1.0", (3, 12), "write `\"1.0\"`"),
            ("version: 1.0.0.0", (2, 10), "write three numbers, as in `\"1.2.0\"`"),
            ("metadata:\n  a: b\nversion: 1.0.x", (4, 10), "write three numbers, as in `\"1.2.0\"`"),
        ] {
            let text = format!("---\n{yaml}\n---\n");
            let found = places(&RULE, &text);
            assert_eq!(
                found.iter().map(|(line, column, _)| (*line, *column)).collect::<Vec<_>>(),
                [at],
                "{yaml}"
            );
            assert!(found[0].2.contains("is not a version: "), "{found:?}");
            assert_eq!(help(&RULE, &text), help_text);
        }
    }

    #[test]
    fn versions_are_fine() {
        for yaml in [
            "version: 1",
            "version: \"1.10\"",
            "version: 1.2.3-rc.1+5",
            "version:",
            "version: [1]",
            "name: x",
            "metadata:\n  version: 1.0\nversion: latest",
        ] {
            assert_places(&RULE, &[(&format!("---\n{yaml}\n---\n"), &[], "")]);
        }
    }
}
