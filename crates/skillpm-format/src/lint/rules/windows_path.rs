//! `windows-path`

use std::ops::Range;

use crate::document::Target;
use crate::lint::edits::rest_of_line;
use crate::lint::target;
use crate::lint::{Check, Docs, Edit, Finding, Fix, Group, Levels, Needs, Rule, Safety, Subject};
use crate::text::line_start;

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "windows-path",
    group: Group::Quality,
    levels: Levels::QUALITY,
    summary: "paths are written with forward slashes",
    docs: Docs {
        what: "Looks for links with backslashes or a drive letter, and anywhere in the body for files of the skill \
            written as `scripts\\read.py`. Paths to programs of Windows, such as `.ps1` and `.bat`, do not count, nor do \
            paths whose line also has them with forward slashes.",
        why: "Forward slashes work everywhere; outside Windows a backslash is part of the name.",
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

/// The maximum number of bytes of a path, and of the text examined before one.
const LONGEST: usize = 1024;

/// Extensions of files that only Windows runs.
const WINDOWS_ONLY: &[&str] = &[".ps1", ".psm1", ".bat", ".cmd", ".exe", ".dll", ".vbs"];

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let (body, base) = (subject.document.body(), subject.document.body_span().start);
    let mut told: Vec<Range<usize>> = Vec::new();
    for (link, _) in target::links(subject, |target| *target == Target::Windows) {
        let drive = link.target.as_bytes().get(1) == Some(&b':');
        let message = format!("the link is a Windows path: `{}`", link.target);
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
    let mut line = Line::default();
    for slash in memchr::memchr_iter(b'\\', body.as_bytes()) {
        let Some(directory) = DIRECTORIES.iter().find(|directory| body[..=slash].ends_with(**directory))
        else {
            continue;
        };
        let Some(span) = path(body, slash + 1 - directory.len(), directory.len()) else { continue };
        if !line.span.contains(&span.start) {
            line = Line::around(body, &span);
        }
        if line.is_example(&body[span.clone()]) || is_escape(subject, slash, &span) {
            continue;
        }
        let span = base + span.start..base + span.end;
        // Links are in the order of the text.
        let before = told.partition_point(|link| link.start <= span.start);
        if !told[..before].last().is_some_and(|link| link.contains(&span.start)) {
            let written = &subject.document.text()[span.clone()];
            let is_code = subject.document.markdown().is_code(span.start);
            let finding = slashes(RULE.finding(format!("`{written}` is a Windows path"), span), written);
            // In code, a backslash may mean something else.
            findings.push(if is_code { Finding { fix: None, ..finding } } else { finding });
        }
    }
}

fn slashes(finding: Finding, written: &str) -> Finding {
    let right = written.replace('\\', "/");
    let fix = Fix::safe("write forward slashes", vec![Edit::replace(finding.span.clone(), right.clone())]);
    finding.help(format!("write `{right}`")).fix(fix)
}

/// The paths with forward slashes on a line. They are searched for once: a line can be a megabyte.
#[derive(Default)]
struct Line<'a> {
    span: Range<usize>,
    /// Sorted.
    right: Vec<&'a str>,
}

impl<'a> Line<'a> {
    fn around(body: &'a str, span: &Range<usize>) -> Self {
        let start = line_start(body, span.start);
        let text = rest_of_line(body, start);
        let path = |slash: usize| {
            let directory = DIRECTORIES.iter().map(|directory| directory.trim_end_matches('\\'));
            let at = directory
                .filter(|name| text[..slash].ends_with(name))
                .map(|name| slash - name.len())
                .next()?;
            let near = &text[at..text.floor_char_boundary(text.len().min(at + LONGEST))];
            Some(&near[..near.find(|c: char| !is_part(c) && c != '/').unwrap_or(near.len())])
        };
        let mut right: Vec<_> = memchr::memchr_iter(b'/', text.as_bytes()).filter_map(path).collect();
        right.sort_unstable();
        Self { span: start..start + text.len(), right }
    }

    /// Reports whether the line also contains `written` with forward slashes, like a line about how to write paths.
    fn is_example(&self, written: &str) -> bool {
        let path = written.trim_start_matches(".\\").replace('\\', "/");
        let at = self.right.partition_point(|right| *right < path.as_str());
        self.right.get(at).is_some_and(|right| right.starts_with(&path))
    }
}

/// Reports whether the backslash at `slash` stands for a line end or a tab in a string in code, as in
/// `"the assets\nREADME.md"`.
fn is_escape(subject: &Subject<'_>, slash: usize, span: &Range<usize>) -> bool {
    let (body, base) = (subject.document.body(), subject.document.body_span().start);
    if !matches!(body.as_bytes().get(slash + 1), Some(b'n' | b'r' | b't')) {
        return false;
    }
    let Some(code) = subject.document.markdown().code_at(base + slash) else { return false };
    // No more of a line than an author would write on one: the text before it was already examined.
    let start = line_start(body, span.start).max(code.start - base).max(span.start.saturating_sub(LONGEST));
    let before = &body[body.ceil_char_boundary(start)..span.start];
    ['"', '\''].into_iter().any(|quote| before.matches(quote).count() % 2 == 1 && !before.ends_with(quote))
}

/// Returns the path around the directory at `at`, if it is one of the skill's own files.
fn path(body: &str, at: usize, length: usize) -> Option<Range<usize>> {
    let part = |c: char| is_part(c) || c == '\\';
    let before = &body[..at];
    // `.\scripts\x` starts with the skill's directory; anything else before it makes it another path.
    let start = if before.ends_with(".\\") && !before[..at - 2].ends_with(part) { at - 2 } else { at };
    if body[..start].ends_with(|c: char| part(c) || matches!(c, '/' | ':')) {
        return None;
    }
    let rest = &body[at + length..];
    let end = rest.find(|c: char| !part(c)).unwrap_or(rest.len());
    let name = rest[..end].trim_end_matches(['.', '\\']);
    let lower = name.to_ascii_lowercase();
    // `scripts\n` may be the end of a line in code: only a name with an extension is a file. Two backslashes are an
    // escaped one.
    let file = name.rsplit('\\').next()?.rsplit_once('.').is_some_and(|(stem, _)| !stem.is_empty());
    let other = name.starts_with('\\')
        || name.contains("\\\\")
        || WINDOWS_ONLY.iter().any(|end| lower.ends_with(end));
    (file && !other).then(|| start..at + length + name.len())
}

fn is_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    #[test]
    fn paths_with_backslashes_are_told_and_put_right() {
        for (body, column, fixed) in [
            ("[a](references\\a.md#x)", 5, Some("[a](references/a.md#x)")),
            ("run `python scripts\\b\\c.py`.", 13, None),
            (".\\scripts\\c.py.", 1, Some("./scripts/c.py.")),
            ("[a](C:/x/y.md)", 5, None),
            // No text around it: a path, although its backslash would be an escape there.
            ("`open(\"assets\\notes.txt\")`", 8, None),
            ("don't `run scripts\\tools.py`", 12, None),
            ("`scripts/a.p` and `scripts\\a.py`", 20, None),
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
            "`.\\scripts\\a.py` is `./scripts/a.py`, and `assets\\b\\c.md` is `x/assets/b/c.md`",
            "```python\nprint(\"my assets\\nREADME.md\")\n```",
            "Don't: `print('my assets\\tREADME.md')`",
        ] {
            assert_places(&RULE, &[(&format!("---\nname: x\n---\n{body}\n"), &[], "")]);
        }
    }
}
