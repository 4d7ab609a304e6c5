//! `file-opaque`

use super::ends_in;
use crate::lint::{Check, Docs, Finding, Group, Level, Levels, Needs, Rule, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "file-opaque",
    group: Group::Quality,
    levels: Levels::FILES.publish(Level::Error),
    summary: "no file is bytecode, a program, or an archive with a password",
    docs: Docs {
        what: "Looks for files with the endings of bytecode (`.pyc`, `.pyo`, `.class`, `.luac`) or programs (`.exe`, `.dll`, `.so`, …), and for zip, rar and 7z \
            archives that need a password. Here `scripts/read.pyc` is there.",
        why: "They cannot be reviewed, and an agent can run them or open them: a description has the password, or the \
            body does.",
        bad: "---\nname: pdf\ndescription: Reads PDF files.\n---\nRun `python3 scripts/read.pyc`.\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\nRun `python3 scripts/read.py`.\n",
        source: "review of skills; the specification is silent",
    },
    fix: None,
    needs: Needs::Files,
    check: Check::Subject(check),
};

/// Extensions of compiled files that an interpreter runs.
const BYTECODE: [&str; 4] = ["pyc", "pyo", "class", "luac"];

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    for file in subject.files.unwrap_or_default() {
        let (what, help) = match file.facts() {
            Some(facts) if facts.locked => {
                ("an archive with a password", "put its files into the skill as they are")
            }
            Some(_) if ends_in(&file.path, &PROGRAMS) => {
                ("a program", "ship its source, or say where to get it")
            }
            Some(_) if ends_in(&file.path, &BYTECODE) => {
                ("bytecode", "ship the source instead, and keep `__pycache__` out")
            }
            _ => continue,
        };
        let message = format!("`{}` is {what}, which cannot be reviewed", file.path);
        findings.push(RULE.finding(message, subject.document.opening_span()).help(help));
    }
}

/// Extensions of programs and their parts for one system.
const PROGRAMS: [&str; 7] = ["exe", "dll", "so", "dylib", "scr", "com", "msi"];

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    #[test]
    fn each_file_is_told() {
        let text = "---\nname: pdf\n---\n";
        let files = [locked("data.zip"), script("lib/a.PYC", false, false), text_file("a.md", "")];
        let found: Vec<_> =
            places_with(&RULE, text, &files).into_iter().map(|(.., message)| message).collect();
        assert_eq!(
            found,
            [
                "`data.zip` is an archive with a password, which cannot be reviewed",
                "`lib/a.PYC` is bytecode, which cannot be reviewed",
            ]
        );
    }
}
