//! `windows-path`

use std::ops::Range;

use crate::document::Target;
use crate::lint::edits::{line_start, rest_of_line};
use crate::lint::target;
use crate::lint::{Check, Docs, Edit, Finding, Fix, Group, Levels, Needs, Rule, Safety, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "windows-path",
    group: Group::Quality,
    levels: Levels::QUALITY,
    summary: "paths are written with forward slashes",
    docs: Docs {
        what: "Looks for links with backslashes or a drive letter, and anywhere in the body for files of the skill \
            written as `scripts\\read.py`. Paths to programs of Windows, such as `.ps1` and `.bat`, do not count, nor does \
            one whose line has it with forward slashes too.",
        why: "Forward slashes work everywhere; elsewhere than on Windows a backslash is a part of the name.",
        bad: "---\nname: pdf\ndescription: Reads PDF files.\n---\nRun `python scripts\\read.py`.\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\nRun `python scripts/read.py`.\n",
        source: "Anthropic, skill authoring best practices: no Windows-style paths",
    },
    fix: Some(Safety::Safe),
    needs: Needs::Document,
    check: Check::Subject(check),
};

/// The directories that skills have by convention.
const DIRECTORIES: &[&str] = &["scripts\\", "references\\", "assets\\", "templates\\", "examples\\"];

/// Endings of files that only Windows runs.
const WINDOWS_ONLY: &[&str] = &[".ps1", ".psm1", ".bat", ".cmd", ".exe", ".dll", ".vbs"];

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let (body, base) = (subject.document.body(), subject.document.body_span().start);
    let mut told: Vec<Range<usize>> = Vec::new();
    for (link, _) in target::links(subject, |target| *target == Target::Windows) {
        let drive = link.target.as_bytes().get(1) == Some(&b':');
        let message = format!("the link is a path of Windows: `{}`", link.target);
        let finding = RULE.finding(message, link.target_span.clone());
        findings.push(match &subject.document.text()[link.target_span.clone()] {
            _ if drive => finding.help("write the path from the skill's directory"),
            written if written == link.target => slashes(finding, written),
            _ => finding.help("write it with forward slashes"),
        });
        told.push(link.span.clone());
    }
    if !subject.document.sketch().backslash {
        return;
    }
    for slash in memchr::memchr_iter(b'\\', body.as_bytes()) {
        let Some(directory) = DIRECTORIES.iter().find(|directory| body[..=slash].ends_with(**directory))
        else {
            continue;
        };
        let Some(span) = path(body, slash + 1 - directory.len(), directory.len()) else { continue };
        if is_example(body, &span) {
            continue;
        }
        let span = base + span.start..base + span.end;
        if !told.iter().any(|range| range.contains(&span.start)) {
            let written = &subject.document.text()[span.clone()];
            let finding = RULE.finding(format!("`{written}` is a path of Windows"), span);
            findings.push(slashes(finding, written));
        }
    }
}

fn slashes(finding: Finding, written: &str) -> Finding {
    let right = written.replace('\\', "/");
    let fix = Fix::safe("write forward slashes", vec![Edit::replace(finding.span.clone(), right.clone())]);
    finding.help(format!("write `{right}`")).fix(fix)
}

/// Whether the line has the path with forward slashes too, as a line about how paths are written has.
fn is_example(body: &str, span: &Range<usize>) -> bool {
    let end = span.end + rest_of_line(body, span.end).len();
    body[line_start(body, span.start)..end].contains(&body[span.clone()].replace('\\', "/"))
}

/// The path around the directory at `at`, where it is one of the skill's own files.
fn path(body: &str, at: usize, length: usize) -> Option<Range<usize>> {
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '\\');
    let before = &body[..at];
    // `.\scripts\x` starts with the skill's directory; anything else before it is another path.
    let start = if before.ends_with(".\\") && !before[..at - 2].ends_with(part) { at - 2 } else { at };
    if body[..start].ends_with(|c: char| part(c) || matches!(c, '/' | ':')) {
        return None;
    }
    let rest = &body[at + length..];
    let end = rest.find(|c: char| !part(c)).unwrap_or(rest.len());
    let name = rest[..end].trim_end_matches(['.', '\\']);
    let lower = name.to_ascii_lowercase();
    // `scripts\n` may be the end of a line in code: only what has an ending is a file. Two
    // backslashes are an escaped one.
    let file = name.rsplit('\\').next()?.rsplit_once('.').is_some_and(|(stem, _)| !stem.is_empty());
    let other = name.starts_with('\\')
        || name.contains("\\\\")
        || WINDOWS_ONLY.iter().any(|end| lower.ends_with(end));
    (file && !other).then(|| start..at + length + name.len())
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    #[test]
    fn paths_with_backslashes_are_told_and_put_right() {
        for (body, column, fixed) in [
            ("[a](references\\a.md#x)", 5, Some("[a](references/a.md#x)")),
            ("run `python scripts\\b\\c.py`.", 13, Some("run `python scripts/b/c.py`.")),
            (".\\scripts\\c.py.", 1, Some("./scripts/c.py.")),
            ("[a](C:/x/y.md)", 5, None),
        ] {
            let text = format!("---\nname: x\n---\n{body}\n");
            let found = places(&RULE, &text);
            assert_eq!(
                found.iter().map(|(line, at, _)| (*line, *at)).collect::<Vec<_>>(),
                [(4, column)],
                "{body}"
            );
            assert_eq!(fixed_with(&RULE, body, &[]), fixed.into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn other_backslashes_are_fine() {
        for body in [
            "`scripts\\run.ps1` and `D:\\x\\scripts\\a.py` and `\\\\host\\assets\\b.png`",
            "`\"scripts\\n\"` and `\"assets\\\\a.png\"` and `\\d+` and `C:\\Windows`",
            "a\\_b \\[x\\](y) [c](a\\_b.md)",
            "Write `scripts/a.py`, not `scripts\\a.py`.",
        ] {
            assert_places(&RULE, &[(&format!("---\nname: x\n---\n{body}\n"), &[], "")]);
        }
    }
}
