//! `path-missing`

use std::collections::BTreeSet;

use super::scripts::line_before;
use super::{ending, name};
use crate::lint::edits::rest_of_line;
use crate::lint::{Check, Docs, Finding, Group, Levels, Needs, Rule, Subject, target};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "path-missing",
    group: Group::Quality,
    levels: Levels::FILES,
    summary: "files of the skill that code names exist",
    docs: Docs {
        what: "Looks in code and backticks for paths that start with a usual directory which the skill has, such as `scripts/read.py`, \
            and name no file of it. Placeholders, patterns, examples, and files that the text creates do not count, \
            and skills about skills are not checked. Here the skill has `scripts/write.py`.",
        why: "The agent runs the script or reads the file, and gets an error.",
        bad: "---\nname: pdf\ndescription: Reads PDF files.\n---\nRun `python scripts/read.py`.\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\nRun `python scripts/write.py`.\n",
        source: "specification, file references: relative paths from the skill's directory",
    },
    fix: None,
    needs: Needs::Files,
    check: Check::Subject(check),
};

/// Directories that skills have by convention. Others may be those of the project that the skill is used in.
const DIRECTORIES: &[&str] = &["scripts", "references", "reference", "assets", "resources"];

/// The maximum number of paths that are looked up of each directory: no text names more.
const MAX_PATHS: usize = 500;

/// The maximum number of bytes of a line that are examined behind a path.
const LONGEST: usize = 512;

/// Parts of a line that say that the file is an example, or is still to be made.
const NOT_YET: &[&str] = &[
    "e.g",
    "example",
    "such as",
    "for instance",
    "creat",
    "writ",
    "generat",
    "output",
    "save",
    "mkdir",
    "touch ",
    " > ",
    ">> ",
    " -o ",
    "--out",
    "template",
    "your ",
    "if present",
    "if it exists",
    "if exists",
    "optional",
    "like ",
    "would",
    "│",
    "new file",
    "rename",
    "produce",
    "move ",
    "export",
    "store",
    "cp ",
    "copy",
    "project",
];

/// Parts of a path that stand for another name.
const PLACEHOLDERS: &[&str] = &[
    "example",
    "sample",
    "foo",
    "bar",
    "your",
    "my-",
    "my_",
    "xxx",
    "name",
    "placeholder",
    "template",
    "...",
];

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let Some(files) = subject.files else { return };
    let is_about_skills = |name: &str| name.contains("skill") || name.contains("plugin");
    if subject.document.name().is_some_and(is_about_skills) {
        return;
    }
    let (body, base) = (subject.document.body(), subject.document.body_span().start);
    let folders: BTreeSet<&str> = files
        .iter()
        .filter_map(|file| Some(file.path.split_once('/')?.0))
        .filter(|name| DIRECTORIES.contains(name))
        .collect();
    let mut told = BTreeSet::new();
    for folder in folders {
        let paths = memchr::memmem::find_iter(body.as_bytes(), folder)
            .filter_map(|at| Some((at, path_at(body, at, folder)?)));
        for (at, path) in paths.take(MAX_PATHS) {
            if target::exists(files, path) || told.contains(path) || is_other(body, at, path) {
                continue;
            }
            let code = subject.document.markdown().code_at(base + at);
            if code.is_some_and(|code| !is_of_a_project(&subject.document.text()[code.clone()])) {
                told.insert(path);
                let message = format!("the skill has no file `{path}`");
                let finding = RULE.finding(message, base + at..base + at + path.len());
                findings.push(finding.help("correct the path, or delete what names it"));
            }
        }
    }
}

/// Returns the path of a file in `folder` that starts at byte `at` of `body`.
fn path_at<'a>(body: &'a str, at: usize, folder: &str) -> Option<&'a str> {
    let before = body[..at].strip_suffix("./").unwrap_or(&body[..at]);
    let rest = &body[at..];
    let starts = before.is_empty() || before.ends_with([' ', '\n', '\t', '`', '"', '\'', '(']);
    if !starts || rest.as_bytes().get(folder.len()) != Some(&b'/') {
        return None;
    }
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    let end = rest.find(|c: char| !part(c)).unwrap_or(rest.len());
    let path = rest[..end].trim_end_matches('.');
    let ends = !rest[path.len()..].starts_with(['<', '{', '*', '$', '[', '…', '(']);
    let kind = ending(name(path));
    let is_file = !kind.is_empty() && kind.len() <= 5 && !name(path).starts_with('.');
    (ends && is_file && !path.contains("..")).then_some(path)
}

/// Reports whether the path at byte `at` is an example, or that of a file which the text creates.
fn is_other(body: &str, at: usize, path: &str) -> bool {
    let before = line_before(body, at);
    let line = rest_of_line(body, at);
    let line = &line[..line.floor_char_boundary(line.len().min(LONGEST))];
    let line = format!("{before}{line}").to_ascii_lowercase();
    let lower = path.to_ascii_lowercase();
    if is_made(body, path) || line.contains("→ `") {
        return true;
    }
    NOT_YET.iter().any(|part| line.contains(part)) || PLACEHOLDERS.iter().any(|part| lower.contains(part))
}

/// Reports whether `body` has a command that writes `path`.
fn is_made(body: &str, path: &str) -> bool {
    body.match_indices(path).any(|(at, _)| {
        let before = body[..at].trim_end_matches("./").trim_end();
        [">", "-o", "--output", "--out", "tee", "touch"].iter().any(|end| before.ends_with(end))
    })
}

/// Reports whether a block of code names a directory that projects have and skills have not.
fn is_of_a_project(code: &str) -> bool {
    ["src/", "tests/", "k8s/", "charts/"].iter().any(|dir| code.contains(dir))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    const FILES: &[ExampleFile] = &[text_file("scripts/read.py", ""), text_file("references/a.md", "")];

    fn told(body: &str) -> Vec<String> {
        let found = places_with(&RULE, &format!("---\nname: pdf\n---\n{body}\n"), FILES);
        found.into_iter().map(|(_, _, message)| message).collect()
    }

    #[test]
    fn missing_paths_are_reported_once() {
        assert_eq!(
            told("Run `python scripts/wright.py`, `./scripts/wright.py`."),
            ["the skill has no file `scripts/wright.py`"]
        );
        assert_eq!(told("```sh\nbash scripts/b.sh x\n```\nSee `references/b.md`.").len(), 2);
    }

    #[test]
    fn what_is_there_or_stands_for_something_else_is_fine() {
        for body in [
            "`scripts/read.py` `references/` `scripts/read.py:12` [a](references/gone.md) scripts/gone.py",
            "`assets/gone.png` `x/scripts/gone.py` `$D/scripts/gone.py` `scripts/*.py` `scripts/<a>.py` `scripts/{a}.py`",
            "`scripts/my-tool.py` or, for example, `scripts/gone.py`",
            "Write the result to `references/result.md`.",
            "```\npython scripts/read.py > references/out.md\n```",
        ] {
            assert_eq!(told(body), [""; 0], "{body}");
        }
    }
}
