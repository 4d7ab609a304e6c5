//! Helpers for the rules' own tests.

use super::{FileFacts, Finding, OtherSkill, Rule, SkillFile, SkillFileKind, Subject};
use crate::document::Document;
use crate::tree::keys::keys;

/// Returns the findings of `rule` alone in `text`.
pub(super) fn findings(rule: &Rule, text: &str, directory: Option<&str>, file_name: &str) -> Vec<Finding> {
    let document = Document::parse(text.to_owned());
    of(rule, &Subject::new(&document, directory, file_name))
}

/// Returns the findings of `rule` alone in `subject`, after checking that each can be shown and repaired.
fn of(rule: &Rule, subject: &Subject<'_>) -> Vec<Finding> {
    let text = subject.document.text();
    let mut findings = Vec::new();
    rule.look(subject, &mut findings);
    for finding in &findings {
        assert!(text.get(finding.span.clone()).is_some(), "{finding:?}");
        if let Some(fix) = &finding.fix {
            assert!(rule.fix.is_some_and(|safety| safety <= fix.safety), "{finding:?}");
            assert!(fix.edits.iter().all(|edit| text.get(edit.span.clone()).is_some()), "{finding:?}");
            assert!(fix.edits.is_sorted_by(|a, b| a.span.end <= b.span.start), "{finding:?}");
        }
        let start = finding.message.chars().next().expect("a message");
        assert!(!start.is_uppercase() && !finding.message.ends_with('.'), "{finding:?}");
        assert_eq!(finding.rule, rule.id);
    }
    findings
}

/// A file next to a `SKILL.md` of a test.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each is a property of the file")]
pub(super) struct ExampleFile {
    path: &'static str,
    executable: bool,
    shebang: bool,
    text: Option<&'static str>,
    locked: bool,
    key: bool,
    size: u64,
    unlisted: bool,
}

/// Returns a file with this text, of Markdown, a script or settings.
pub(super) const fn text_file(path: &'static str, text: &'static str) -> ExampleFile {
    ExampleFile { text: Some(text), ..script(path, false, false) }
}

/// Returns any other file, perhaps a script.
pub(super) const fn script(path: &'static str, executable: bool, shebang: bool) -> ExampleFile {
    ExampleFile { path, executable, shebang, text: None, locked: false, key: false, size: 0, unlisted: false }
}

/// Returns a directory that no search enters.
pub(super) const fn unlisted(path: &'static str) -> ExampleFile {
    ExampleFile { unlisted: true, ..script(path, false, false) }
}

/// Returns a file of `size` bytes.
pub(super) const fn large(path: &'static str, size: u64) -> ExampleFile {
    ExampleFile { size, ..script(path, false, false) }
}

/// Returns an archive that needs a password.
pub(super) const fn locked(path: &'static str) -> ExampleFile {
    ExampleFile { locked: true, ..script(path, false, false) }
}

/// Returns a script that has a key, in its first line.
pub(super) const fn with_key(path: &'static str) -> ExampleFile {
    ExampleFile { key: true, ..script(path, true, true) }
}

fn skill_files(files: &[ExampleFile]) -> Vec<SkillFile> {
    let one = |file: &ExampleFile| SkillFile {
        path: file.path.to_owned(),
        kind: if file.unlisted {
            SkillFileKind::Unlisted
        } else {
            SkillFileKind::File(FileFacts {
                executable: file.executable,
                size: file.size,
                shebang: file.shebang,
                text: file.text.map(str::to_owned),
                locked: file.locked,
                keys: if file.key { keys(b"npm_q7Rk2VbT9xWm4ZcL8nHs3YpJ6dGf1KaE5uQo") } else { Vec::new() },
            })
        },
    };
    files.iter().map(one).collect()
}

/// The files next to the examples in a rule's documentation.
const EXAMPLES: &[(&str, &[ExampleFile])] = &[
    ("link-missing", &[text_file("references/forms.md", "")]),
    (
        "reference-depth",
        &[
            text_file("references/fields.md", ""),
            text_file("references/forms.md", "See [fields](fields.md)."),
        ],
    ),
    ("script-unreferenced", &[script("scripts/read.py", true, true)]),
    ("reference-link-missing", &[text_file("references/forms.md", "See [fields](fields.md).")]),
    ("path-missing", &[script("scripts/write.py", true, true)]),
    ("file-junk", &[script("debug.log", false, false)]),
    ("file-large", &[large("assets/scan.pdf", 3 << 20)]),
    ("file-opaque", &[script("scripts/read.pyc", false, false)]),
    ("secret-in-text", &[with_key("scripts/read.py")]),
    ("script-executable", &[script("scripts/read.sh", false, true)]),
];

/// Returns the findings of `rule` in an example of its documentation, which is `pdf/SKILL.md`.
pub(super) fn example(rule: &Rule, text: &str, file_name: &str) -> Vec<Finding> {
    let document = Document::parse(text.to_owned());
    let subject = Subject::new(&document, Some("pdf"), file_name);
    let files = EXAMPLES.iter().find(|(id, _)| *id == rule.id).map(|(_, files)| skill_files(files));
    // These rules are about the file alone, which differs in the good example.
    let is_about_files =
        ["file-opaque", "file-junk", "file-large", "reference-link-missing", "secret-in-text"]
            .contains(&rule.id);
    let files = files.filter(|_| !is_about_files || text == rule.docs.bad);
    let docx = OtherSkill { name: "docx".to_owned(), needs: vec!["pdf".to_owned()] };
    let others = [docx];
    let subject = if rule.id == "dependency-cycle" { subject.among(&others) } else { subject };
    let is_twin = rule.id == "name-twice" && text == rule.docs.bad;
    let subject = subject.with_twin(is_twin.then_some("docs/pdf/SKILL.md"));
    match &files {
        Some(files) => of(rule, &subject.with_files(files)),
        None => of(rule, &subject),
    }
}

/// Returns the findings of `rule` in `pdf/SKILL.md` with `files` next to it: line, column and message.
pub(super) fn places_with(rule: &Rule, text: &str, files: &[ExampleFile]) -> Vec<(usize, usize, String)> {
    let document = Document::parse(text.to_owned());
    let files = skill_files(files);
    placed(&document, of(rule, &Subject::new(&document, Some("pdf"), "SKILL.md").with_files(&files)))
}

/// Returns the body after each repair by `rule`, with `files` next to it. Checks that a repair leaves no
/// finding where it was made.
pub(super) fn fixed_with(rule: &Rule, body: &str, files: &[ExampleFile]) -> Vec<String> {
    let start = "---\nname: pdf\n---\n";
    let document = Document::parse(format!("{start}{body}"));
    let files = skill_files(files);
    let findings = of(rule, &Subject::new(&document, Some("pdf"), "SKILL.md").with_files(&files));
    let fixed = findings.iter().filter_map(|finding| Some(applied(document.text(), finding.fix.as_ref()?)));
    fixed.map(|text| text[start.len()..].to_owned()).collect()
}

/// Returns the text after the first finding's repair, if it has one. Checks that the repair leaves fewer
/// findings.
pub(super) fn fixed_text(rule: &Rule, text: &str) -> Option<String> {
    let found = findings(rule, text, Some("pdf"), "SKILL.md");
    let fixed = applied(text, found.first()?.fix.as_ref()?);
    assert!(findings(rule, &fixed, Some("pdf"), "SKILL.md").len() < found.len(), "{fixed:?}");
    Some(fixed)
}

/// Returns `text` after `fix`.
pub(super) fn applied(text: &str, fix: &super::Fix) -> String {
    let mut text = text.to_owned();
    for edit in fix.edits.iter().rev() {
        text.replace_range(edit.span.clone(), &edit.text);
    }
    text
}

/// Returns the findings of `rule` in `pdf/SKILL.md`: line, column and message.
pub(super) fn places(rule: &Rule, text: &str) -> Vec<(usize, usize, String)> {
    let document = Document::parse(text.to_owned());
    placed(&document, findings(rule, text, Some("pdf"), "SKILL.md"))
}

fn placed(document: &Document, findings: Vec<Finding>) -> Vec<(usize, usize, String)> {
    findings
        .into_iter()
        .map(|finding| {
            let at = document.position(finding.span.start);
            (at.line, at.column, finding.message)
        })
        .collect()
}

/// A text, the positions of the findings in it, and a part of the first message.
type PlaceCase<'a> = (&'a str, &'a [(usize, usize)], &'a str);

/// Asserts the positions of the findings of `rule` in `pdf/SKILL.md`, and the message of the first one.
#[track_caller]
pub(super) fn assert_places(rule: &Rule, cases: &[PlaceCase<'_>]) {
    for (text, expected, message) in cases {
        let found = places(rule, text);
        let at: Vec<_> = found.iter().map(|(line, column, _)| (*line, *column)).collect();
        assert_eq!(at, *expected, "{text:?}: {found:?}");
        assert_eq!(found.first().map_or("", |(_, _, message)| message), *message, "{text:?}");
    }
}

/// Returns the help of the first finding in `pdf/SKILL.md`.
pub(super) fn help(rule: &Rule, text: &str) -> String {
    let first = findings(rule, text, Some("pdf"), "SKILL.md").into_iter().next();
    first.expect("a finding").help.expect("help").to_string()
}
