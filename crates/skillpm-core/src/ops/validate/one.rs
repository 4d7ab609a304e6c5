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
use crate::lint::{self, FILE_KIND, Finding, OtherSkill, Outside, Plan, Ruleset, Severity, Subject};
use crate::ops::fix;
use crate::path::normal;
use crate::paths::{Content, FileLocation};
use crate::requirement;
use crate::resolve::declared::declared_in;
use crate::skill::skipped::SKIPPED;
use crate::text::visible_name;
use crate::tree::{self, NOT_UTF_8};

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
    others: &'a [OtherSkill],
    contents: Contents,
}

impl<'a> Checker<'a> {
    /// Returns a checker by `rules`, for skills that stand beside `others`.
    pub(super) fn new(rules: &'a Ruleset, others: &'a [OtherSkill]) -> Self {
        let plan = Plan::new(rules);
        let contents = contents(&plan);
        Self { plan, others, contents }
    }

    /// Checks the file at `place`; `None` if it is gone by now. A file that is not a regular one, or a large one, is a
    /// finding.
    pub(super) fn file(&self, place: &FileLocation) -> Result<Option<(Checked, Option<Again>)>> {
        let document = match place.read()? {
            None => return Ok(None),
            Some(Content::Unread) => return Ok(Some((self.unusual(place)?, None))),
            Some(Content::Bytes(bytes)) => Document::from_bytes(bytes),
        };
        let checked = self.document(place, &document);
        let again = needs(&document).map(|skill| Again { skill, place: place.clone(), document });
        Ok(Some((checked, again)))
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
            findings.extend(odd_name(&place.dir));
        }
        let text = document.text();
        let text = text[..shown_end(text, &findings)].to_owned();
        Checked { file: place.shown.clone(), text, findings }
    }

    /// Checks a text that no file holds yet, and that is to be the file `at`.
    pub(super) fn text(&self, bytes: Vec<u8>, at: Option<&Path>, shown: PathBuf) -> Checked {
        let document = Document::from_bytes(bytes);
        let dir = at.and_then(Path::parent);
        // As of a file that is there, the real name of the directory counts.
        let dir = dir.map(|dir| fs::real_path(dir).ok().flatten().unwrap_or_else(|| dir.to_owned()));
        let findings = match (at, dir) {
            (Some(at), Some(dir)) => {
                let there = matches!(fs::kind(&dir), Ok(Some(Kind::Directory))).then_some(&*dir);
                self.lint_in(&document, at.file_name(), dir.file_name(), there)
            }
            _ => self.plan.check(&Subject::new(&document, None, SKILL_FILE)),
        };
        Checked { file: shown, text: document.into_text(), findings }
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
        let subject = Subject::new(document, directory.as_deref(), file_name).among(self.others);
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
    fn unusual(&self, place: &FileLocation) -> Result<Checked> {
        let at = place.file();
        let document = match load::document(&at) {
            Ok(document) => document,
            Err(Unusable::Unreadable(error)) => return Err(error.into()),
            Err(reason) => {
                let findings = vec![of_kind(&reason)];
                return Ok(Checked { file: place.shown.clone(), text: String::new(), findings });
            }
        };
        let mut findings = self.lint_in(&document, Some(&place.name), place.directory(), Some(&place.dir));
        fix::announce_rename(&at, &mut findings);
        if fs::kind(&at)? == Some(Kind::Symlink) {
            let help = "put the file itself there: installed skills have no links";
            findings.insert(0, finding("the file is a symbolic link").help(help));
        }
        Ok(Checked { file: place.shown.clone(), text: document.into_text(), findings })
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

/// Reports the first file below `dir` whose name is not UTF-8: no such skill can be installed.
fn odd_name(dir: &Path) -> Option<Finding> {
    let found = fs::scan(dir, Walk { skip: SKIPPED, ..Walk::ALL }).ok()?;
    let (path, _) = found.entries().find(|(_, entry)| entry.node == tree::Node::Special(NOT_UTF_8))?;
    let shown = visible_name(path);
    let message = format!("the name of the file `{shown}` is not UTF-8: no such skill can be installed");
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

    /// The kept part of a text reaches to the end of the last line that a report mentions.
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
