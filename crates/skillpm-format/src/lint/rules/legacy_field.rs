//! `legacy-field`

use crate::lint::entries::{Moved, move_below};
use crate::lint::{Check, Docs, Finding, Fix, Group, Level, Levels, Needs, Rule, Safety, Subject};
use crate::requirement;

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "legacy-field",
    group: Group::Package,
    levels: Levels::FORM.claude_ai(Level::Error),
    summary: "version, tags and dependencies belong under `metadata`",
    docs: Docs {
        what: "Looks for `version`, `tags` and `dependencies` at the top level, where many skills have them.",
        why: "The specification has no such fields, and its validator refuses the file. Its own example has \
            the version under `metadata`. `dependencies` names packages of Python or npm in most skills and skills in \
            some; the skills that a skill needs belong in `metadata.skill-dependencies`.",
        bad: "---\nname: pdf\ndescription: Reads PDF files.\nversion: 1.2.0\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\nmetadata:\n  version: \"1.2.0\"\n---\n",
        source: "specification, `metadata`; its example",
    },
    fix: Some(Safety::Unsafe),
    needs: Needs::Document,
    check: Check::Subject(check),
};

/// The fields that this rule is about.
pub(super) const FIELDS: [&str; 3] = ["version", "tags", "dependencies"];

/// The fields that are moved unchanged.
const MOVED: [&str; 2] = ["version", "tags"];

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let mut found = Vec::new();
    for field in FIELDS {
        let Some((key, _)) = subject.field(field) else { continue };
        let message = format!("`{field}` is at the top level");
        let help = match field {
            "dependencies" => format!(
                "if these are skills, list them in `metadata.{}`; packages belong in `compatibility`",
                requirement::KEY
            ),
            _ => format!("move it under `metadata`, as text in quotes: `  {field}: \"…\"`"),
        };
        found.push(RULE.finding(message, key.span.clone()).help(help));
    }
    // One repair for all: two would both create the same `metadata`.
    if let Some(first) = found.first_mut().filter(|first| !first.message.contains("dependencies")) {
        first.fix = fix(subject);
    }
    findings.append(&mut found);
}

fn fix(subject: &Subject<'_>) -> Option<Fix> {
    let movable = |field| {
        let (key, value) = subject.field(field)?;
        Moved::new(subject, field, key, value)
    };
    let (title, edits) = move_below(subject, MOVED.into_iter().filter_map(movable).collect())?;
    // A repository's own scripts may read them where they are.
    Some(Fix::unsafe_(title, edits))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    fn fixed(yaml: &str) -> Option<String> {
        let text = fixed_text(&RULE, &format!("---\n{yaml}---\nBody\n"))?;
        Some(
            text.strip_prefix("---\n")
                .expect("the start")
                .strip_suffix("---\nBody\n")
                .expect("the end")
                .to_owned(),
        )
    }

    #[test]
    fn each_field_is_told() {
        let text = "---\nversion: 1\nname: x\ntags: [a]\ndependencies: [b]\n---\n";
        assert_places(
            &RULE,
            &[
                (text, &[(2, 1), (4, 1), (5, 1)], "`version` is at the top level"),
                ("---\nname: x\nmetadata:\n  version: 1\n---\n", &[], ""),
            ],
        );
    }

    #[test]
    fn version_and_tags_are_moved() {
        for (before, after) in [
            ("name: x\nversion: 1.10\n", "name: x\nmetadata:\n  version: \"1.10\"\n"),
            ("version: '1.0' # why\nname: x\n", "metadata:\n  version: \"1.0\" # why\nname: x\n"),
            ("version: ' 1\u{a0}'\n", "metadata:\n  version: \" 1\u{a0}\"\n"),
            ("version: 1\nmetadata:\n    a: b\n", "metadata:\n    version: \"1\"\n    a: b\n"),
            ("metadata:\n  # c\n  a: b\nversion: 1\n", "metadata:\n  # c\n  version: \"1\"\n  a: b\n"),
            ("version: 1\nmetadata:\n", "metadata:\n  version: \"1\"\n"),
            ("metadata:\nversion: 1\n", "metadata:\n  version: \"1\"\n"),
            ("version: 1\nmetadata: {a: b}\n", "metadata: {version: \"1\", a: b}\n"),
            ("version: 1\nmetadata: {\"a\": {}}\n", "metadata: {\"version\": \"1\", \"a\": {}}\n"),
            ("version: 1\nmetadata: {}\n", "metadata: {version: \"1\"}\n"),
            (
                "tags: [a, \"b c\"]\nname: x\nversion: 2\n",
                "metadata:\n  tags: \"a, b c\"\n  version: \"2\"\nname: x\n",
            ),
            ("tags:\n  - a\n  - b\nname: x\n", "metadata:\n  tags: \"a, b\"\nname: x\n"),
            ("version: 1\r\nname: x\r\n", "metadata:\r\n  version: \"1\"\r\nname: x\r\n"),
            (
                "version: 1\nmetadata:\n  tags: a\ntags: b\n",
                "metadata:\n  version: \"1\"\n  tags: a\ntags: b\n",
            ),
        ] {
            assert_eq!(fixed(before).as_deref(), Some(after), "{before}");
        }
    }

    #[test]
    fn where_something_would_be_lost_nothing_is_moved() {
        for yaml in [
            "version: 1\nmetadata:\n  version: 2\n",
            "version: 1\nmetadata: text\n",
            "version: 1\nmetadata:\n  - a\n",
            "version: 1\ndescription: a: b\n",
            "version: 1\nversion: 2\n",
            "version:\nname: x\n",
            "tags:\n  - a # why\n  - b\n",
            "tags: [\"a, b\"]\n",
            "version: {a: b}\n",
            "version: 1 # why\nmetadata: {a: b}\n",
            "version: |\n  1\n",
        ] {
            assert_eq!(fixed(yaml), None, "{yaml}");
        }
        assert_eq!(fixed_text(&RULE, "---\n{version: 1, name: x}\n---\n"), None);
    }
}
