//! `listing-length`

use crate::lint::{Check, Docs, Finding, Group, Level, Levels, Needs, Rule, Subject};

/// The maximum number of characters.
const MAX: usize = 1536;

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "listing-length",
    group: Group::Spec,
    levels: Levels::OFF.claude_code(Level::Warning),
    summary: "description and `when_to_use` fit into the list of Claude Code",
    docs: Docs {
        what: "Counts the characters of `description` and `when_to_use` together.",
        why: "Claude Code cuts them at 1,536 characters in its list of skills; what comes behind is not seen before \
            the skill is loaded.",
        bad: concat!(
            "---\nname: pdf\ndescription: Reads PDF files.\nwhen_to_use: ",
            sixteen!(concat!(
                "Use it for all files of this kind, and for scans. ",
                "Use it for all files of this kind, and for scans. "
            )),
            "\n---\n"
        ),
        good: "---\nname: pdf\ndescription: Reads PDF files.\nwhen_to_use: Use it for PDF files.\n---\n",
        source: "Claude Code, <https://code.claude.com/docs/en/skills#frontmatter-reference>",
    },
    fix: None,
    needs: Needs::Document,
    check: Check::Subject(check),
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let more = subject.field("when_to_use").and_then(|(_, value)| Some((value, value.text()?)));
    let of = |text: Option<&str>| text.map_or(0, |text| text.trim().chars().count());
    let length = of(subject.description.map(|(_, text)| text)) + of(more.map(|(_, text)| text));
    let Some((node, _)) = more.or(subject.description).filter(|_| length > MAX) else { return };
    let message = format!("description and `when_to_use` have {length} characters; Claude Code shows {MAX}");
    let help = "say first what the skill does and when to use it; move the rest into the body";
    findings.push(RULE.finding(message, node.span.clone()).help(help));
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    #[test]
    fn both_fields_count() {
        let text = |a: usize, b: usize| {
            format!("---\ndescription: {}\nwhen_to_use: {}\n---\n", "a".repeat(a), "é".repeat(b))
        };
        let message = "description and `when_to_use` have 1537 characters; Claude Code shows 1536";
        assert_places(&RULE, &[(&text(1000, 536), &[], ""), (&text(1000, 537), &[(3, 14)], message)]);
        let alone = format!("---\ndescription: {}\n---\n", "a".repeat(1600));
        assert_eq!(places(&RULE, &alone).len(), 1);
    }
}
