//! One skill: its file is read once and looked at by the rules that are on.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::beside::{Place, Wanted};
use super::{Checked, FILE_KIND};
use crate::document::{Document, Node, Value};
use crate::engine::load::{self, SKILL_FILE, Unusable};
use crate::error::Result;
use crate::fs::{self, Base, Kind, Walk};
use crate::lint::{Finding, OtherSkill, Plan, Ruleset, Severity, Subject};
use crate::ops::fix;
use crate::ops::paths::At;
use crate::requirement;
use crate::skill::find::SKIPPED;
use crate::text::visible_name;
use crate::tree::{self, NOT_UTF_8};

/// A skill that was checked.
pub(super) struct One {
    /// The file, as it is to be shown.
    pub(super) file: PathBuf,
    /// In a box: nearly all have nothing of it, and there is one of this for every skill.
    more: Option<Box<More>>,
}

/// What is to be kept of a skill beside its file.
#[derive(Default)]
struct More {
    text: String,
    findings: Vec<Finding>,
    /// How it is checked again once all others are known; `None` where it needs none of them, as most.
    again: Option<Box<Again>>,
}

impl One {
    fn new(checked: Checked, again: Option<Box<Again>>) -> Self {
        let Checked { file, text, mut findings } = checked;
        // Nearly all have one, and a list has room for several.
        findings.shrink_to_fit();
        let is_more = !findings.is_empty() || again.is_some();
        Self { file, more: is_more.then(|| Box::new(More { text, findings, again })) }
    }

    /// What was found, and how the skill is checked again where it needs others.
    pub(super) fn into_parts(self) -> (Checked, Option<Box<Again>>) {
        let More { text, findings, again } = self.more.map_or_else(More::default, |more| *more);
        (Checked { file: self.file, text, findings }, again)
    }
}

/// A skill that needs others.
pub(super) struct Again {
    pub(super) skill: OtherSkill,
    at: PathBuf,
    directory: Option<OsString>,
    is_named: bool,
}

impl Again {
    /// Checks the skill with `checker`, which knows the others.
    ///
    /// # Errors
    ///
    /// Where its file can no longer be read.
    pub(super) fn check(&self, checker: &mut Checker<'_>, shown: &Path) -> Result<Option<One>> {
        let (Some(dir), Some(name)) = (self.at.parent(), self.at.file_name()) else { return Ok(None) };
        let (directory, is_named) = (self.directory.as_deref(), self.is_named);
        let at = At { base: &Base::open(dir)?, dir: Path::new(""), name, directory, is_named };
        at.visit(checker, || shown.to_owned())
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

/// Where the last line ends that `findings` or their repairs are about: what follows is not shown.
/// Most of a text does, and thousands of them would be kept.
fn shown_end(text: &str, findings: &[Finding]) -> usize {
    let spans = findings.iter().flat_map(|finding| {
        let edits = finding.fix.iter().flat_map(|fix| &fix.edits);
        edits.map(|edit| edit.span.end).chain([finding.span.end])
    });
    spans.max().map_or(0, |end| {
        let end = end.min(text.len());
        memchr::memchr(b'\n', &text.as_bytes()[end..]).map_or(text.len(), |length| end + length + 1)
    })
}

/// Checks one skill after the other.
pub(super) struct Checker<'a> {
    plan: Plan<'a>,
    others: &'a [OtherSkill],
    needs: Wanted,
}

impl<'a> Checker<'a> {
    /// A checker by `rules`, for skills that stand beside `others`.
    pub(super) fn new(rules: &'a Ruleset, others: &'a [OtherSkill]) -> Self {
        let plan = Plan::new(rules);
        let needs = Wanted::by(&plan);
        Self { plan, others, needs }
    }

    /// Checks the file at `at`, which holds `bytes`; it is shown as `shown` says. Where there are none it is no regular
    /// file, or a large one, which is a finding.
    ///
    /// # Errors
    ///
    /// Where such a file is a link to one that cannot be read.
    pub(super) fn file(
        &self,
        at: At<'_>,
        bytes: Option<&mut Vec<u8>>,
        shown: impl FnOnce() -> PathBuf,
    ) -> Result<One> {
        let Some(bytes) = bytes else {
            return Ok(One::new(self.unusual(&at.path(), at.directory, shown())?, None));
        };
        let document = Document::from_bytes(std::mem::take(bytes));
        let mut findings = self.lint(&document, Some(at.name), at.directory, Some(Place::of(at)));
        if at.name != SKILL_FILE {
            fix::announce_rename(&at.path(), &mut findings);
        }
        // Where many are checked, files are only listed for the rules that ask for them.
        if at.is_named || self.needs.files() {
            findings.extend(odd_name(&at.base.path().join(at.dir)));
        }
        let needs = needs(&document);
        let text = document.into_text();
        let kept = text[..shown_end(&text, &findings)].to_owned();
        let checked = Checked { file: shown(), text: kept, findings };
        *bytes = text.into_bytes();
        let again = needs.map(|skill| {
            let directory = at.directory.map(OsStr::to_owned);
            Box::new(Again { skill, at: at.path(), directory, is_named: at.is_named })
        });
        Ok(One::new(checked, again))
    }

    /// Checks a text that no file holds yet, and that is to be the file `at`.
    pub(super) fn text(&self, bytes: Vec<u8>, at: Option<&Path>, shown: PathBuf) -> Checked {
        let document = Document::from_bytes(bytes);
        let dir = at.and_then(Path::parent);
        // As of a file that is there, the real name of the directory counts.
        let dir = dir.map(|dir| fs::real_path(dir).ok().flatten().unwrap_or_else(|| dir.to_owned()));
        let findings = match (at, dir) {
            (Some(at), Some(dir)) => self.lint_in(&document, at.file_name(), dir.file_name(), &dir),
            _ => self.plan.check(&Subject::new(&document, None, SKILL_FILE)),
        };
        Checked { file: shown, text: document.into_text(), findings }
    }

    /// What is found in `document` as the file `file_name` of the directory `dir`, whose real name is
    /// `directory`.
    pub(super) fn lint_in(
        &self,
        document: &Document,
        file_name: Option<&OsStr>,
        directory: Option<&OsStr>,
        dir: &Path,
    ) -> Vec<Finding> {
        let base = Base::open(dir).ok();
        let place = base.as_ref().map(|base| Place { base, dir: Path::new("") });
        self.lint(document, file_name, directory, place)
    }

    /// As [`Self::lint_in`]; nothing is looked at beside the file where it has no place.
    fn lint(
        &self,
        document: &Document,
        file_name: Option<&OsStr>,
        directory: Option<&OsStr>,
        place: Option<Place<'_>>,
    ) -> Vec<Finding> {
        let file_name = file_name.and_then(OsStr::to_str).unwrap_or_default();
        // A name that is no text is no skill's name either.
        let directory = directory.map(OsStr::to_string_lossy);
        let subject = Subject::new(document, directory.as_deref(), file_name).among(self.others);
        let beside = place.map(|place| self.needs.look(&subject, place)).unwrap_or_default();
        let subject = match &beside.files {
            Some(files) => subject.with_files(files),
            None => subject.without(&beside.absent),
        };
        self.plan.check(&subject)
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
        let dir = at.parent().unwrap_or(Path::new(""));
        let mut findings = self.lint_in(&document, at.file_name(), directory, dir);
        fix::announce_rename(at, &mut findings);
        if fs::kind(at)? == Some(Kind::Symlink) {
            let help = "put the file itself there: installed skills have no links";
            findings.insert(0, finding("the file is a symbolic link").help(help));
        }
        Ok(Checked { file, text: document.into_text(), findings })
    }
}

/// Tells of the first file below `dir` whose name is not UTF-8: no such skill can be installed.
fn odd_name(dir: &Path) -> Option<Finding> {
    let found = fs::scan(dir, Walk { skip: SKIPPED, ..Walk::ALL }).ok()?;
    let (path, _) = found.entries().find(|(_, entry)| entry.node == tree::Node::Special(NOT_UTF_8))?;
    let message =
        format!("the name of the file `{}` is not UTF-8: no such skill can be installed", visible_name(path));
    Some(finding(&message).help("give the file a name in UTF-8"))
}

fn of_kind(reason: &Unusable) -> Finding {
    finding(&format!("the file cannot be checked: {reason}"))
        .help(format!("put a regular file `{SKILL_FILE}` there"))
}

fn finding(message: &str) -> Finding {
    let (severity, message) = (Severity::Error, message.to_owned());
    Finding {
        rule: FILE_KIND,
        severity,
        message,
        span: 0..0,
        label: None,
        help: None,
        fix: None,
        ends: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is kept of a text reaches to the end of the last line that a report tells of.
    #[test]
    fn a_text_is_kept_as_far_as_it_is_shown() {
        let text = "a\nb\nc\nd";
        let finding = |span| Finding { span, ..finding("x") };
        let edit = crate::lint::Edit::delete(4..5);
        let fixed = finding(0..1).fix(crate::lint::Fix::safe("x", vec![edit]));
        assert_eq!(shown_end(text, &[]), 0);
        assert_eq!(shown_end(text, &[finding(2..3), finding(0..1)]), 4);
        assert_eq!(shown_end(text, &[fixed]), 6);
        assert_eq!(shown_end(text, &[finding(6..7)]), 7);
        assert_eq!(shown_end(text, &[finding(0..99)]), 7);
    }
}
