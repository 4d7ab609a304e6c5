//! One skill: its file is read once and looked at by the rules that are on.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::{Checked, FILE_KIND};
use crate::document::Document;
use crate::engine::files;
use crate::engine::load::{self, MAX_SKILL_FILE, SKILL_FILE, Unusable};
use crate::error::Result;
use crate::fs::{self, Base, Kind, Looked};
use crate::lint::{self, Finding, Group, Level, OtherSkill, RULES, Ruleset, Severity, Subject};

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
    ) -> Result<Option<Checked>> {
        match base.read_into(below, MAX_SKILL_FILE, &mut self.bytes)? {
            Looked::Read => {}
            Looked::Absent => return Ok(None),
            Looked::Other => return self.unusual(&base.path().join(below), directory, shown()).map(Some),
        }
        let document = Document::from_bytes(std::mem::take(&mut self.bytes));
        let dir = || base.path().join(below.parent().unwrap_or(Path::new("")));
        let findings = self.lint(&document, below.file_name(), directory, dir);
        let mut checked = Checked { file: shown(), text: document.into_text(), findings };
        if checked.findings.is_empty() {
            self.bytes = std::mem::take(&mut checked.text).into_bytes();
        }
        Ok(Some(checked))
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

    fn lint(
        &self,
        document: &Document,
        file_name: Option<&OsStr>,
        directory: Option<&OsStr>,
        dir: impl FnOnce() -> PathBuf,
    ) -> Vec<Finding> {
        let file_name = file_name.and_then(OsStr::to_str).unwrap_or_default();
        let subject = Subject::new(document, directory.and_then(OsStr::to_str), file_name).among(self.others);
        let beside = self.needs_files.then(|| files::of_skill(&dir()));
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

/// Whether a rule that is on looks at the other files of a skill: finding them costs more than all
/// of the rest.
fn needs_files(rules: &Ruleset) -> bool {
    RULES.iter().any(|rule| rule.group == Group::Quality && rules.level(rule) != Level::Off)
}

fn of_kind(reason: &Unusable) -> Finding {
    finding(&format!("the file cannot be checked: {reason}"))
        .help(format!("put a regular file `{SKILL_FILE}` there"))
}

fn finding(message: &str) -> Finding {
    let (severity, message) = (Severity::Error, message.to_owned());
    Finding { rule: FILE_KIND, severity, message, span: 0..0, label: None, help: None, fix: None }
}
