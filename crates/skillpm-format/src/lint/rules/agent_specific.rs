//! `agent-specific`

use crate::lint::{Check, Docs, Finding, Group, Levels, Needs, Rule, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "agent-specific",
    group: Group::Quality,
    levels: Levels::FORM,
    summary: "the text relies on no variable or directory of a single agent",
    docs: Docs {
        what: "Looks in the body for variables that one agent fills in, such as `${CLAUDE_PLUGIN_ROOT}` and `{baseDir}`, and \
            for the directory in which one agent keeps a user's skills, such as `~/.claude/skills/`. Each is reported once.",
        why: "Other agents hand the variable on as it is, and have the skill in another directory.",
        bad: "---\nname: pdf\ndescription: Reads PDF files.\n---\nRun `{baseDir}/scripts/read.py`.\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\nRun `scripts/read.py`.\n",
        source: "specification, file references: relative paths from the skill's directory",
    },
    fix: None,
    needs: Needs::Document,
    check: Check::Subject(check),
};

/// What only one agent knows, and that agent.
const SIGNS: &[(&str, &str)] = &[
    ("${CLAUDE_PLUGIN_ROOT}", "Claude Code"),
    ("$CLAUDE_PLUGIN_ROOT", "Claude Code"),
    ("${CLAUDE_SKILL_DIR}", "Claude Code"),
    ("${CLAUDE_SESSION_ID}", "Claude Code"),
    ("${HERMES_SKILL_DIR}", "Hermes Agent"),
    ("{baseDir}", "OpenClaw"),
    ("~/.claude/skills/", "Claude Code"),
    ("~/.codex/skills/", "Codex"),
    ("~/.cursor/skills/", "Cursor"),
    ("~/.openclaw/skills/", "OpenClaw"),
    ("~/.config/opencode/skills/", "OpenCode"),
];

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let (body, base) = (subject.document.body(), subject.document.body_span().start);
    for (sign, agent) in SIGNS {
        if let Some(at) = memchr::memmem::find(body.as_bytes(), sign.as_bytes()) {
            let message = format!("`{sign}` means something to {agent} alone");
            let finding = RULE.finding(message, base + at..base + at + sign.len());
            findings.push(finding.help("write paths from the skill's directory"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    #[test]
    fn what_one_agent_knows_is_reported_once() {
        let text = "---\nname: x\n---\n`{baseDir}/a` `{baseDir}/b` `${baseDirectory}` `.claude/skills/x`\n";
        assert_places(&RULE, &[(text, &[(4, 2)], "`{baseDir}` means something to OpenClaw alone")]);
    }
}
