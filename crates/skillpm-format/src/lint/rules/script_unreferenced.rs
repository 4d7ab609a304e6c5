//! `script-unreferenced`

use super::scripts::{is_mentioned, scripts};
use crate::lint::{Check, Docs, Finding, Group, Levels, Needs, Rule, SkillFileKind, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "script-unreferenced",
    group: Group::Quality,
    levels: Levels::FILES,
    summary: "every script in `scripts/` is named somewhere",
    docs: Docs {
        what: "Looks for scripts right in `scripts/` whose names appear neither in `SKILL.md` nor in another \
            Markdown file of the skill. Files that other scripts import do not count: `_x.py`, `utils.py`, tests. \
            Here the skill has `scripts/read.py`.",
        why: "The agent runs what the text mentions. A script that is mentioned nowhere is dead weight, or its mention is missing.",
        bad: "---\nname: pdf\ndescription: Reads PDF files.\n---\nRead the file.\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\nRun `scripts/read.py FILE`.\n",
        source: "specification, `scripts/`; Anthropic, skill authoring best practices",
    },
    fix: None,
    needs: Needs::Files,
    check: Check::Subject(check),
};

/// The stems of files that other scripts import.
const IMPORTED: &[&str] = &[
    "utils",
    "util",
    "common",
    "helpers",
    "helper",
    "shared",
    "lib",
    "config",
    "constants",
    "types",
    "index",
    "conftest",
    "setup",
    "models",
    "base",
    "errors",
    "client",
];

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let Some(files) = subject.files else { return };
    if !scripts(files).any(|_| true) {
        return;
    }
    let mut texts = vec![subject.document.body()];
    for file in files {
        match &file.kind {
            SkillFileKind::File { markdown: Some(text), .. } => texts.push(text),
            // A file that was too large to read may name everything.
            SkillFileKind::File { .. } if is_markdown(&file.path) => return,
            _ => {}
        }
    }
    // A reader who is pointed to all of them finds each one.
    if texts.iter().any(|text| names_all(text)) {
        return;
    }
    for (path, ..) in scripts(files) {
        let name = &path["scripts/".len()..];
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        if !name.contains('/')
            && !is_imported(stem)
            && !texts.iter().any(|text| is_mentioned(text, name, stem))
        {
            let message = format!("nothing says what `{path}` is for");
            let finding = RULE.finding(message, subject.document.opening_span());
            findings.push(finding.help("tell the agent when to run it, or delete it"));
        }
    }
}

/// Reports whether `text` contains one of `scripts/*`, `ls scripts`, `scripts/<`, `scripts/{`, `scripts/[`.
fn names_all(text: &str) -> bool {
    // Without its first letter the word cannot overlap with itself.
    memchr::memmem::find_iter(text.as_bytes(), "cripts").any(|at| {
        let (before, after) = text.split_at(at);
        before.ends_with("ls s")
            || (before.ends_with('s')
                && matches!(after.as_bytes()[6..], [b'/', b'*' | b'<' | b'{' | b'[', ..]))
    })
}

fn is_markdown(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, ending)| ending.eq_ignore_ascii_case("md"))
}

/// Reports whether a script with that stem serves other scripts.
fn is_imported(stem: &str) -> bool {
    let lower = stem.to_ascii_lowercase().replace('-', "_");
    IMPORTED.contains(&lower.as_str())
        || ["_", "test_", "tests_"].iter().any(|start| lower.starts_with(start))
        || ["_test", ".test", ".spec", ".config", "_utils", "_common", "_helpers", "_lib"]
            .iter()
            .any(|end| lower.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    fn told(body: &str, files: &[ExampleFile]) -> Vec<String> {
        let found = places_with(&RULE, &format!("---\nname: pdf\n---\n{body}\n"), files);
        found.into_iter().map(|(_, _, message)| message).collect()
    }

    #[test]
    fn scripts_that_nobody_names_are_told() {
        let files = [script("scripts/a.py", true, true), script("scripts/b.sh", true, true)];
        assert_eq!(told("Run a.py. xb.sh b.shx", &files), ["nothing says what `scripts/b.sh` is for"]);
    }

    #[test]
    fn scripts_that_are_named_or_imported_are_fine() {
        let files = [script("scripts/read.py", true, true)];
        for body in [
            "scripts/read.py",
            "`python -m scripts.read`",
            "run `read.py`",
            "`scripts/read --help`",
            "`scripts/*.py`",
        ] {
            assert_eq!(told(body, &files), Vec::<String>::new(), "{body}");
        }
        let files = [
            script("scripts/utils.py", false, false),
            script("scripts/__init__.py", false, false),
            script("scripts/test_a.py", false, false),
            script("scripts/pdf-helpers.js", false, false),
            script("scripts/lib/a.py", false, false),
            script("scripts/data.json", false, false),
            script("assets/a.py", false, false),
        ];
        assert_eq!(told("", &files), Vec::<String>::new());
        let files = [script("scripts/a.py", true, true), markdown("references/x.md", "Run scripts/a.py.")];
        assert_eq!(told("", &files), Vec::<String>::new());
        // A file that was not read may name it.
        let files = [script("scripts/a.py", true, true), script("references/large.md", false, false)];
        assert_eq!(told("", &files), Vec::<String>::new());
    }
}
