//! One skill: its file is read once and examined by the rules that are on.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::outcome::Checked;
use crate::agents;
use crate::document::Document;
use crate::engine::files::{self, Contents};
use crate::engine::load::{self, SKILL_FILE, Unusable};
use crate::error::Result;
use crate::fs::{self, Kind, Walk};
use crate::lint::{
    self, FILE_KIND, Finding, Level, OtherSkill, Outside, Plan, Profile, Ruleset, Severity, Subject, rule,
};
use crate::ops::fix;
use crate::path::normal;
use crate::paths::{Content, FileLocation};
use crate::requirement;
use crate::resolve::declared::declared_in;
use crate::skill::skipped::SKIPPED;
use crate::text::visible_name;
use crate::tree::{self, NOT_UTF_8};

/// The result for one file.
pub(super) enum Examined {
    /// It is gone by now.
    Gone,
    /// It cannot be checked, and the rule about that is off.
    Unread,
    /// It was checked; with its name, and with what it needs, if it needs others.
    Checked(Checked, Option<String>, Option<Box<Again>>),
}

/// A skill that needs others: what it takes to check it again once these are known.
pub(super) struct Again {
    pub(super) skill: OtherSkill,
    place: FileLocation,
    document: Document,
}

/// Returns the skill with what it needs, if it needs any.
fn needs(document: &Document) -> Option<OtherSkill> {
    document.get("metadata")?.get(requirement::KEY)?;
    let entries = declared_in(document).into_iter();
    let names = entries.filter_map(|entry| entry.requirement.ok()?.name().map(str::to_owned));
    Some(OtherSkill { name: document.name()?.to_owned(), needs: names.collect() })
}

/// Returns where the last line endings that `findings` or their repairs are about: what follows is not shown. Most of a
/// text does, and thousands of them would be kept.
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

/// Returns what the enabled rules of `plan` need of a skill's files.
pub(super) fn contents(plan: &Plan<'_>) -> Contents {
    if plan.reads_files() { Contents::Read } else { Contents::Unread }
}

/// Checks one skill after the other.
pub(super) struct Checker<'a> {
    plan: Plan<'a>,
    profile: Profile,
    /// The severity of what is found about the kind of a file; `None` if that rule is off.
    file_kind: Option<Severity>,
    others: &'a [OtherSkill],
    twin: Option<String>,
    contents: Contents,
}

impl<'a> Checker<'a> {
    /// Returns a checker by `rules`, for skills that stand beside `others`.
    pub(super) fn new(rules: &'a Ruleset, others: &'a [OtherSkill]) -> Self {
        let plan = Plan::new(rules);
        let contents = contents(&plan);
        let file_kind = rule(FILE_KIND).map_or(Level::Error, |rule| rules.level(rule)).severity();
        Self { plan, profile: rules.profile, file_kind, others, twin: None, contents }
    }

    /// Checks the file at `place`. A file that is not a regular one, or a large one, is a finding.
    pub(super) fn file(&self, place: &FileLocation) -> Result<Examined> {
        let document = match place.read()? {
            None => return Ok(Examined::Gone),
            Some(Content::Unread) => return self.unusual(place),
            Some(Content::Bytes(bytes)) => Document::from_bytes(bytes),
        };
        let checked = self.document(place, &document);
        let skill = needs(&document);
        let name = document.name().map(str::to_owned);
        let again = skill.map(|skill| Box::new(Again { skill, place: place.clone(), document }));
        Ok(Examined::Checked(checked, name, again))
    }

    /// Returns the same checker for a skill whose name `twin` has too.
    pub(super) fn beside(self, twin: String) -> Self {
        Self { twin: Some(twin), ..self }
    }

    /// Returns the skill at `shown` with its findings.
    fn checked(&self, shown: PathBuf, text: String, findings: Vec<Finding>) -> Checked {
        Checked { file: shown, profile: self.profile, text, findings }
    }

    /// Returns a finding about the kind of a file, unless that rule is off.
    fn of_kind(&self, message: &str, help: String) -> Option<Finding> {
        Some(finding(message).severity(self.file_kind?).help(help))
    }

    /// Checks a skill again, now that the others are known.
    pub(super) fn again(&self, again: &Again) -> Checked {
        self.document(&again.place, &again.document)
    }

    /// Checks `document`, which was read at `place`.
    fn document(&self, place: &FileLocation, document: &Document) -> Checked {
        let mut findings = self.lint_in(document, Some(&place.name), place.directory(), Some(&place.dir));
        if place.name != SKILL_FILE {
            fix::announce_rename(&place.file(), &mut findings);
        }
        // If many are checked, this is only examined where the files are read anyway.
        if place.is_named || self.contents == Contents::Read {
            findings.extend(self.odd_name(&place.dir));
        }
        let text = document.text();
        let text = text[..shown_end(text, &findings)].to_owned();
        self.checked(place.shown.clone(), text, findings)
    }

    /// Checks a text that no file holds yet, and that is to be the file `at`.
    pub(super) fn text(&self, bytes: Vec<u8>, at: Option<&Path>, shown: PathBuf) -> Checked {
        let document = Document::from_bytes(bytes);
        let dir = at.and_then(Path::parent);
        // As of a file that is there, the real name of the directory counts.
        let dir = dir.map(fs::resolved);
        let findings = match (at, dir) {
            (Some(at), Some(dir)) => {
                let there = matches!(fs::kind(&dir), Ok(Some(Kind::Directory))).then_some(&*dir);
                self.lint_in(&document, at.file_name(), dir.file_name(), there)
            }
            _ => self.plan.check(&Subject::new(&document, None, SKILL_FILE)),
        };
        self.checked(shown, document.into_text(), findings)
    }

    /// Returns what is found in `document` as the file `file_name` of a directory whose real name is `directory`.
    /// Nothing is examined beside the file unless `dir` is that directory.
    pub(super) fn lint_in(
        &self,
        document: &Document,
        file_name: Option<&OsStr>,
        directory: Option<&OsStr>,
        dir: Option<&Path>,
    ) -> Vec<Finding> {
        let file_name = file_name.and_then(OsStr::to_str).unwrap_or_default();
        // A name that is not text is not the name of a skill either.
        let directory = directory.map(OsStr::to_string_lossy);
        let subject = Subject::new(document, directory.as_deref(), file_name)
            .among(self.others)
            .with_twin(self.twin.as_deref());
        let there = dir;
        let files = dir
            .filter(|_| self.plan.lists_files(&subject))
            .and_then(|dir| files::of_skill(dir, self.contents));
        let subject = files.as_deref().map_or(subject, |files| subject.with_files(files));
        let outside = there.map(|dir| surroundings(document, dir));
        let subject = outside.as_ref().map_or(subject, |outside| subject.surrounded(outside));
        self.plan.check(&subject)
    }

    /// Checks a link, or anything else but a regular file of a moderate size.
    fn unusual(&self, place: &FileLocation) -> Result<Examined> {
        let at = place.file();
        let document = match load::document(&at) {
            Ok(document) => document,
            Err(Unusable::Unreadable(error)) => return Err(error.into()),
            Err(reason) => {
                let message = format!("the file cannot be checked: {reason}");
                let finding = self.of_kind(&message, format!("put a regular file `{SKILL_FILE}` there"));
                return Ok(finding.map_or(Examined::Unread, |finding| {
                    let findings = vec![finding];
                    Examined::Checked(self.checked(place.shown.clone(), String::new(), findings), None, None)
                }));
            }
        };
        let mut findings = self.lint_in(&document, Some(&place.name), place.directory(), Some(&place.dir));
        fix::announce_rename(&at, &mut findings);
        if fs::kind(&at)? == Some(Kind::Symlink) {
            let help = "put the file itself there: installed skills have no links".to_owned();
            findings.splice(0..0, self.of_kind("the file is a symbolic link", help));
        }
        Ok(Examined::Checked(self.checked(place.shown.clone(), document.into_text(), findings), None, None))
    }

    /// Reports the first file below `dir` whose name is not UTF-8: no such skill can be installed.
    fn odd_name(&self, dir: &Path) -> Option<Finding> {
        self.file_kind?;
        let found = fs::scan(dir, Walk { skip: SKIPPED, ..Walk::ALL }).ok()?;
        let (path, _) = found.entries().find(|(_, entry)| entry.node == tree::Node::Special(NOT_UTF_8))?;
        let shown = visible_name(path);
        let message = format!("the name of the file `{shown}` is not UTF-8: no such skill can be installed");
        self.of_kind(&message, "give the file a name in UTF-8".to_owned())
    }
}

/// Returns where the links of `document` out of the skill's directory `dir` lead.
fn surroundings(document: &Document, dir: &Path) -> BTreeMap<String, Outside> {
    let found = lint::links_outside(document).into_iter();
    found.map(|path| (path.clone(), outside(dir, &path))).collect()
}

/// Returns what is at `path`, which leads out of the skill's directory `dir`.
fn outside(dir: &Path, path: &str) -> Outside {
    let at = normal(&dir.join(path));
    // What cannot be looked at may be there.
    if matches!(fs::kind(&at), Ok(None)) {
        return Outside::Gone;
    }
    // Its skill, if it is one of those that are not around this one.
    let others = at.ancestors().take_while(|above| !dir.starts_with(above));
    let is_skill = |above: &&Path| matches!(fs::kind(&above.join(SKILL_FILE)), Ok(Some(Kind::File)));
    match others.into_iter().find(is_skill) {
        Some(skill) => Outside::Skill {
            name: skill.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            beside: skill.parent() == dir.parent() && dir.parent().is_some_and(is_of_agents),
        },
        None => Outside::File,
    }
}

/// Reports whether agents look for skills in `dir`.
fn is_of_agents(dir: &Path) -> bool {
    agents::project_dirs().iter().any(|known| dir.ends_with(known))
}

fn finding(message: &str) -> Finding {
    Finding::new(FILE_KIND, Severity::Error, message, 0..0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kept part of a text reaches to the end of the last line that a report mentions.
    #[test]
    fn a_text_is_kept_as_far_as_it_is_shown() {
        let text = "a\nb\nc\nd";
        let finding = |span| Finding { span, ..finding("x") };
        let edit = lint::Edit::delete(4..5);
        let fixed = finding(0..1).fix(lint::Fix::safe("x", vec![edit]));
        assert_eq!(shown_end(text, &[]), 0);
        assert_eq!(shown_end(text, &[finding(2..3), finding(0..1)]), 4);
        assert_eq!(shown_end(text, &[fixed]), 6);
        assert_eq!(shown_end(text, &[finding(6..7)]), 7);
        assert_eq!(shown_end(text, &[finding(0..99)]), 7);
    }
}
