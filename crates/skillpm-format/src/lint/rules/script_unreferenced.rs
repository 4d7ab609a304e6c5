//! `script-unreferenced`

use super::scripts::{is_mentioned, scripts, uses};
use crate::lint::{Check, Docs, Finding, Group, Levels, Needs, Rule, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "script-unreferenced",
    group: Group::Quality,
    levels: Levels::FILES,
    summary: "every script in `scripts/` is named somewhere",
    docs: Docs {
        what: "Looks for scripts right in `scripts/` whose names appear neither in `SKILL.md` nor in another \
            Markdown file of the skill, and which no other file imports, sources or runs: imports of Python and \
            JavaScript are read, and names in scripts and settings. Tests and `_x.py` do not count. Here the skill has `scripts/read.py`.",
        why: "The agent runs what the text mentions. A script that is mentioned nowhere is dead weight, or its mention is missing.",
        bad: "---\nname: pdf\ndescription: Reads PDF files.\n---\nRead the file.\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\nRun `scripts/read.py FILE`.\n",
        source: "specification, `scripts/`; Anthropic, skill authoring best practices",
    },
    fix: None,
    needs: Needs::Files,
    check: Check::Subject(check),
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let Some(files) = subject.files else { return };
    if !scripts(files).any(|_| true) {
        return;
    }
    let mut texts = vec![subject.document.body()];
    for file in files.iter().filter(|file| file.is_markdown()) {
        // A file that was too large to read may name everything.
        let Some(text) = file.markdown() else { return };
        texts.push(text);
    }
    // A reader who is pointed to all of them finds each one.
    if texts.iter().any(|text| names_all(text)) {
        return;
    }
    for (path, ..) in scripts(files) {
        let name = &path["scripts/".len()..];
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        if !name.contains('/')
            && !is_support(stem)
            && !texts.iter().any(|text| is_mentioned(text, name, stem))
            && !files.iter().any(|file| uses(file, path))
        {
            let message = format!("nothing says what `{path}` is for");
            let finding = RULE.finding(message, subject.document.opening_span());
            findings.push(finding.help("tell the agent when to run it, or delete it"));
        }
    }
}

/// Reports whether `text` names the directory itself or a pattern: `scripts/`, `ls scripts`, `scripts/*`, `scripts/{`.
fn names_all(text: &str) -> bool {
    // Without its first letter the word cannot overlap with itself.
    memchr::memmem::find_iter(text.as_bytes(), "cripts").any(|at| {
        let (before, after) = text.split_at(at);
        before.ends_with("ls s")
            || (before.ends_with('s')
                && (after == "cripts/"
                    || matches!(
                        after.as_bytes()[6..],
                        [
                            b'/',
                            b'*' | b'<' | b'{' | b'[' | b'`' | b')' | b' ' | b'\n' | b'.' | b',' | b'"',
                            ..
                        ]
                    )))
    })
}

/// Reports whether a script with that stem is found by its name: a test, a part of a package, a setting of a tool.
fn is_support(stem: &str) -> bool {
    let lower = stem.to_ascii_lowercase().replace('-', "_");
    ["conftest", "setup"].contains(&lower.as_str())
        || ["_", "test_", "tests_"].iter().any(|start| lower.starts_with(start))
        || ["_test", ".test", ".spec", ".config"].iter().any(|end| lower.ends_with(end))
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
            text_file("scripts/__init__.py", ""),
            script("scripts/test_a.py", false, false),
            script("scripts/lib/a.py", false, false),
            script("scripts/data.json", false, false),
            script("assets/a.py", false, false),
        ];
        assert_eq!(told("", &files), Vec::<String>::new());
        let files = [
            text_file("scripts/main.py", "from utils import read\n"),
            script("scripts/utils.py", false, false),
            text_file("scripts/main.sh", "node \"$HERE/helpers.js\"\n"),
            script("scripts/helpers.js", false, false),
        ];
        assert_eq!(
            told("", &files),
            ["nothing says what `scripts/main.py` is for", "nothing says what `scripts/main.sh` is for"]
        );
        assert_eq!(told("See `scripts/`.", &files), Vec::<String>::new());
        let files = [script("scripts/a.py", true, true), text_file("references/x.md", "Run scripts/a.py.")];
        assert_eq!(told("", &files), Vec::<String>::new());
        // A file that was not read may name it.
        let files = [script("scripts/a.py", true, true), script("references/large.md", false, false)];
        assert_eq!(told("", &files), Vec::<String>::new());
    }
}
