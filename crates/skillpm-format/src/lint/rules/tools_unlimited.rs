//! `tools-unlimited`

use crate::lint::{Check, Docs, Finding, Group, Levels, Needs, Rule, Severity, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "tools-unlimited",
    group: Group::Quality,
    levels: Levels::QUALITY,
    summary: "`allowed-tools` allows no tool everything",
    docs: Docs {
        what: "Looks for entries of `allowed-tools` that are nothing but a `*`, alone or between the parentheses of a tool, \
            and, as a note, for `Bash` alone, which means the same.",
        why: "An agent does not ask before it uses the tool: for any command, any file, any address.",
        bad: "---\nname: pdf\ndescription: Reads PDF files.\nallowed-tools: Read Bash(*)\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\nallowed-tools: Read Bash(pdftotext:*)\n---\n",
        source: "least privilege; the specification is silent",
    },
    fix: None,
    needs: Needs::Document,
    check: Check::Subject(check),
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let Some((key, _)) = subject.field("allowed-tools") else { return };
    let tools = subject.document.allowed_tools();
    let is_bare = |tool: &&String| *tool == "Bash";
    if let Some(tool) = tools.iter().find(|tool| is_unlimited(tool)).or(tools.iter().find(is_bare)) {
        let what = if tool.starts_with("Bash") { "every command" } else { "everything" };
        let finding = RULE.finding(format!("`{tool}` allows {what} without asking"), key.span.clone());
        let finding = finding.help("name what the skill needs, such as `Bash(git status:*)`");
        // Most skills with tools have it, and many need it.
        findings.push(if is_bare(&tool) { finding.severity(Severity::Note) } else { finding });
    }
}

fn is_unlimited(tool: &str) -> bool {
    let inner = match tool.split_once('(') {
        Some((_, inner)) => inner.trim_end_matches(')'),
        None => tool,
    };
    inner.contains('*') && inner.chars().all(|c| matches!(c, '*' | ':' | ' ' | '/' | '.'))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    #[test]
    fn entries_without_a_limit_are_told() {
        let text = |tools: &str| format!("---\nname: x\nallowed-tools: {tools}\n---\n");
        for (tools, message) in [
            ("Bash(*) Read", "`Bash(*)` allows every command without asking"),
            ("\"Read, *\"", "`*` allows everything without asking"),
            ("Bash(*:*)", "`Bash(*:*)` allows every command without asking"),
            ("Write(**/*)", "`Write(**/*)` allows everything without asking"),
            ("Read Bash", "`Bash` allows every command without asking"),
            ("Bash Read(*)", "`Read(*)` allows everything without asking"),
        ] {
            assert_places(&RULE, &[(&text(tools), &[(3, 1)], message)]);
        }
        for tools in ["Bash(git:*)", "Read Grep", "Bash(npm *)", "mcp__server__*"] {
            assert_places(&RULE, &[(&text(tools), &[], "")]);
        }
    }
}
