//! One skill: its file is read once and looked at by the rules that are on.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::{Checked, FILE_KIND};
use crate::document::{Document, Node, Value};
use crate::engine::files;
use crate::engine::load::{self, MAX_SKILL_FILE, SKILL_FILE, Unusable};
use crate::error::Result;
use crate::fs::{self, Base, Kind, Looked};
use crate::lint::{self, Finding, Level, OtherSkill, RULES, Ruleset, Severity, Subject};
use crate::requirement;

/// A skill that was checked.
pub(super) struct One {
    pub(super) checked: Checked,
    /// How it is checked again once all others are known; `None` where it needs none of them.
    pub(super) again: Option<Again>,
}

/// A skill that needs others.
pub(super) struct Again {
    pub(super) skill: OtherSkill,
    at: PathBuf,
    directory: Option<OsString>,
}

impl Again {
    /// Checks the skill among `others`.
    ///
    /// # Errors
    ///
    /// Where its file can no longer be read.
    pub(super) fn check(&self, rules: &Ruleset, others: &[OtherSkill], shown: &Path) -> Result<Option<One>> {
        let (Some(dir), Some(name)) = (self.at.parent(), self.at.file_name()) else { return Ok(None) };
        let mut checker = Checker::new(rules, others);
        checker.file(&Base::open(dir)?, Path::new(name), self.directory.as_deref(), || shown.to_owned())
    }
}

/// The skill with what it needs, where it needs any.
fn needs(document: &Document) -> Option<OtherSkill> {
    let value = document.get("metadata")?.get(requirement::KEY)?;
    let texts: Vec<&str> = match &value.value {
        Value::Sequence { items, .. } => items.iter().filter_map(Node::text).collect(),
        _ => value.text().into_iter().collect(),
    };
    let entries = texts.into_iter().flat_map(requirement::parse_list);
    let names = entries.filter_map(|entry| entry.requirement.ok()?.name().map(str::to_owned));
    Some(OtherSkill { name: document.name()?.to_owned(), needs: names.collect() })
}

/// Checks one skill after the other with the same memory.
pub(super) struct Checker<'a> {
    rules: &'a Ruleset,
    others: &'a [OtherSkill],
    needs_files: bool,
    bytes: Vec<u8>,
}

impl<'a> Checker<'a> {
    /// A checker by `rules`, for skills that stand beside `others`.
    pub(super) fn new(rules: &'a Ruleset, others: &'a [OtherSkill]) -> Self {
        Self { rules, others, needs_files: needs_files(rules), bytes: Vec::new() }
    }

    /// Checks the file `below` a directory, which lies in a directory whose real name is `directory`
    /// and is shown as `shown` says; `None` where there is no file.
    ///
    /// # Errors
    ///
    /// Where the file cannot be read. What is no regular file is a finding.
    pub(super) fn file(
        &mut self,
        base: &Base,
        below: &Path,
        directory: Option<&OsStr>,
        shown: impl FnOnce() -> PathBuf,
    ) -> Result<Option<One>> {
        match base.read_into(below, MAX_SKILL_FILE, &mut self.bytes)? {
            Looked::Read => {}
            Looked::Absent => return Ok(None),
            Looked::Other => {
                let checked = self.unusual(&base.path().join(below), directory, shown())?;
                return Ok(Some(One { checked, again: None }));
            }
        }
        let document = Document::from_bytes(std::mem::take(&mut self.bytes));
        let dir = || base.path().join(below.parent().unwrap_or(Path::new("")));
        let findings = self.lint(&document, below.file_name(), directory, dir);
        let needs = needs(&document);
        let mut checked = Checked { file: shown(), text: document.into_text(), findings };
        if checked.findings.is_empty() {
            self.bytes = std::mem::take(&mut checked.text).into_bytes();
        }
        let again = needs.map(|skill| Again {
            skill,
            at: base.path().join(below),
            directory: directory.map(OsStr::to_owned),
        });
        Ok(Some(One { checked, again }))
    }

    /// Checks a text that no file holds yet, and that is to be the file `at`.
    pub(super) fn text(&self, bytes: Vec<u8>, at: Option<&Path>, shown: PathBuf) -> Checked {
        let document = Document::from_bytes(bytes);
        let dir = at.and_then(Path::parent);
        let findings = match (at, dir) {
            (Some(at), Some(dir)) => self.lint(&document, at.file_name(), dir.file_name(), || dir.to_owned()),
            _ => lint::check_with(&Subject::new(&document, None, SKILL_FILE), self.rules),
        };
        Checked { file: shown, text: document.into_text(), findings }
    }

    /// What is found in `document` as the file `file_name` of the directory `dir`, whose real name is
    /// `directory`.
    pub(super) fn lint(
        &self,
        document: &Document,
        file_name: Option<&OsStr>,
        directory: Option<&OsStr>,
        dir: impl FnOnce() -> PathBuf,
    ) -> Vec<Finding> {
        let file_name = file_name.and_then(OsStr::to_str).unwrap_or_default();
        let subject = Subject::new(document, directory.and_then(OsStr::to_str), file_name).among(self.others);
        let beside = self.needs_files.then(|| files::of_skill(&dir())).flatten();
        let subject = beside.as_deref().map_or(subject, |files| subject.with_files(files));
        lint::check_with(&subject, self.rules)
    }

    /// Checks a link, or whatever else is no regular file of a moderate size.
    fn unusual(&self, at: &Path, directory: Option<&OsStr>, file: PathBuf) -> Result<Checked> {
        let document = match load::document(at) {
            Ok(document) => document,
            Err(Unusable::Unreadable(error)) => return Err(error.into()),
            Err(reason) => {
                return Ok(Checked { file, text: String::new(), findings: vec![of_kind(&reason)] });
            }
        };
        let dir = || at.parent().unwrap_or(Path::new("")).to_owned();
        let mut findings = self.lint(&document, at.file_name(), directory, dir);
        if fs::kind(at)? == Some(Kind::Symlink) {
            let help = "put the file itself there: a skill that is installed has no links";
            findings.insert(0, finding("the file is a symbolic link").help(help));
        }
        Ok(Checked { file, text: document.into_text(), findings })
    }
}

/// The rules that look at the other files of a skill.
const NEED_FILES: [&str; 5] =
    ["license-unknown", "link-missing", "reference-depth", "script-executable", "script-unreferenced"];

/// Whether one of [`NEED_FILES`] is on: finding the files costs more than all of the rest.
fn needs_files(rules: &Ruleset) -> bool {
    RULES.iter().any(|rule| NEED_FILES.contains(&rule.id) && rules.level(rule) != Level::Off)
}

fn of_kind(reason: &Unusable) -> Finding {
    finding(&format!("the file cannot be checked: {reason}"))
        .help(format!("put a regular file `{SKILL_FILE}` there"))
}

fn finding(message: &str) -> Finding {
    let (severity, message) = (Severity::Error, message.to_owned());
    Finding { rule: FILE_KIND, severity, message, span: 0..0, label: None, help: None, fix: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A rule that looks at files and is not in the list would find nothing where the others are off.
    #[test]
    fn the_rules_that_look_at_files_are_known() {
        for id in NEED_FILES {
            assert!(lint::rule(id).is_ok(), "{id}");
        }
        let files = [];
        let texts = RULES.iter().flat_map(|rule| [rule.docs.bad, rule.docs.good]);
        for text in texts {
            let document = Document::parse(text.to_owned());
            let subject = Subject::new(&document, Some("pdf"), SKILL_FILE);
            for rule in RULES.iter().filter(|rule| !NEED_FILES.contains(&rule.id)) {
                let (mut without, mut with) = (Vec::new(), Vec::new());
                (rule.check)(&subject, &mut without);
                (rule.check)(&subject.with_files(&files), &mut with);
                assert_eq!(without, with, "{}", rule.id);
            }
        }
    }
}
