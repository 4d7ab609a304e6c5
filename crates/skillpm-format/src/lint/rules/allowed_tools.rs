//! `allowed-tools`

use crate::document::{Document, Node, Value, write_scalar};
use crate::lint::edits;
use crate::lint::{Check, Docs, Finding, Fix, Group, Level, Levels, Needs, Rule, Safety, Severity, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "allowed-tools",
    group: Group::Spec,
    levels: Levels::WARNING.claude_code(Level::Off),
    summary: "`allowed-tools` is one string with spaces between the tools",
    docs: Docs {
        what: "Looks for an `allowed-tools` that is a list, a mapping or empty, and for list entries \
            that are not text.",
        why: "The specification says text. Many tools also read a list, but not all do. No \
            tool understands a mapping, so it is an error.",
        bad: "---\nname: pdf\ndescription: Reads PDF files.\nallowed-tools:\n  - Read\n  - Write\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\nallowed-tools: Read Write\n---\n",
        source: "specification, `allowed-tools`",
    },
    fix: Some(Safety::Unsafe),
    needs: Needs::Document,
    check: Check::Subject(check),
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let Some((key, value)) = subject.field("allowed-tools") else { return };
    if value.text().is_some_and(|text| text.trim().is_empty()) {
        let finding = RULE.finding("`allowed-tools` is empty", key.span.clone());
        findings.push(finding.help("delete the line, or name the tools"));
        return;
    }
    if value.text().is_some() {
        return;
    }
    let message =
        format!("`allowed-tools` must be text with spaces between the tools, but it is {}", value.kind());
    let finding = RULE.finding(message, value.span.clone());
    // Loading skips an entry that names no tool. A repair that did the same would lose it.
    if let Value::Sequence { items, .. } = &value.value
        && let Some(odd) = items.iter().find(|item| item.text().is_none())
    {
        let message = format!("an entry of `allowed-tools` must name a tool, but it is {}", odd.kind());
        let quotes = "put the entry in quotes if it is to be one tool: a `: ` makes a mapping of it";
        let help = if odd.pairs().is_empty() { "write the name of one tool" } else { quotes };
        findings.push(finding);
        findings.push(RULE.finding(message, odd.span.clone()).help(help));
        return;
    }
    let tools = subject.document.allowed_tools();
    findings.push(if tools.is_empty() {
        finding.severity(Severity::Error)
    } else {
        let fix = fix(subject.document, key, value, &tools);
        Finding { fix, ..finding.help(format!("write `allowed-tools: {}`", tools.join(" "))) }
    });
}

/// Writes the list as text, if that names the same tools.
fn fix(document: &Document, key: &Node, value: &Node, tools: &[String]) -> Option<Fix> {
    let text = write_scalar(&tools.join(" "));
    let again = Document::parse(format!("---\nallowed-tools: {text}\n---\n"));
    let edits = edits::set_value(document, key, value, &text)?;
    (again.allowed_tools() == tools).then(|| Fix::unsafe_("write the tools as one string", edits))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    use crate::lint::Severity;

    /// Conflict C5.
    #[test]
    fn a_list_is_a_warning_and_a_mapping_an_error() {
        let list = "---\nallowed-tools:\n  - Read\n  - Bash(git:*)\n---\n";
        let mapping = "---\nallowed-tools: {Read: true}\n---\n";
        assert_places(
            &RULE,
            &[
                (
                    list,
                    &[(3, 3)],
                    "`allowed-tools` must be text with spaces between the tools, but it is a list",
                ),
                (
                    mapping,
                    &[(2, 16)],
                    "`allowed-tools` must be text with spaces between the tools, but it is a mapping",
                ),
                ("---\nallowed-tools:\n---\n", &[(2, 1)], "`allowed-tools` is empty"),
                ("---\nallowed-tools: Read, Write\n---\n", &[], ""),
            ],
        );
        assert_eq!(help(&RULE, list), "write `allowed-tools: Read Bash(git:*)`");
        let odd = "---\nallowed-tools:\n  - Read\n  - Bash(npm run test: unit)\n  - [a]\n---\n";
        let found = findings(&RULE, odd, None, "SKILL.md");
        assert_eq!(found[1].message, "an entry of `allowed-tools` must name a tool, but it is a mapping");
        assert!(found.len() == 2 && found.iter().all(|finding| finding.fix.is_none()), "nothing is lost");
        let severity = |text| findings(&RULE, text, None, "SKILL.md")[0].severity;
        assert_eq!((severity(list), severity(mapping)), (Severity::Warning, Severity::Error));
    }
}
