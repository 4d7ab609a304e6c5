//! `tools-commas`

use crate::document::{Document, write_scalar};
use crate::lint::{Check, Docs, Finding, Fix, Group, Levels, Needs, Rule, Safety, Subject, edits};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "tools-commas",
    group: Group::Spec,
    levels: Levels::FORM,
    summary: "spaces alone separate the tools of `allowed-tools`",
    docs: Docs {
        what: "Looks for commas between the tools of `allowed-tools`.",
        why: "The specification separates tools by spaces. Many readers take commas too, others get a tool called `Read,`.",
        bad: "---\nname: pdf\ndescription: Reads PDF files.\nallowed-tools: Read, Write\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\nallowed-tools: Read Write\n---\n",
        source: "specification, `allowed-tools`",
    },
    fix: Some(Safety::Unsafe),
    needs: Needs::Document,
    check: Check::Subject(check),
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let Some((key, value)) = subject.field("allowed-tools") else { return };
    let Some(text) = value.text().filter(|text| has_comma(text)) else { return };
    let tools = subject.document.allowed_tools();
    let joined = tools.join(" ");
    // A comma inside the name of a tool stays.
    if has_comma(&joined) || text.trim().is_empty() {
        return;
    }
    let finding =
        RULE.finding("commas separate the tools of `allowed-tools`, not spaces", value.span.clone());
    let finding = finding.help(format!("write `allowed-tools: {joined}`"));
    let written = write_scalar(&joined);
    let again = Document::parse(format!("---\nallowed-tools: {written}\n---\n"));
    let edits = edits::set_value(subject.document, key, value, &written);
    let fix = edits.filter(|_| again.allowed_tools() == tools);
    let fix = fix.map(|edits| Fix::unsafe_("separate the tools by spaces", edits));
    findings.push(Finding { fix, ..finding });
}

/// Reports whether `text` has a comma outside of parentheses.
fn has_comma(text: &str) -> bool {
    let mut depth = 0_usize;
    text.chars().any(|c| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    })
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    #[test]
    fn commas_between_tools_are_reported() {
        let text = |tools: &str| format!("---\nname: x\nallowed-tools: {tools}\n---\n");
        let message = "commas separate the tools of `allowed-tools`, not spaces";
        assert_places(&RULE, &[(&text("Read, Bash(git:*), Write"), &[(3, 16)], message)]);
        assert_eq!(fixed_text(&RULE, &text("Read, Bash(a, b)")), Some(text("Read Bash(a, b)")));
        for tools in ["Read Write", "Bash(a, b) Read", "[Read, Write]", "\"\""] {
            assert_places(&RULE, &[(&text(tools), &[], "")]);
        }
    }
}
