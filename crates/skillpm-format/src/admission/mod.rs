//! Admission: which sources and skills may be installed, and which line of which file decides it.
//!
//! A policy is written in a project's manifest and in a file of the machine. Each file must admit a skill, so no
//! project can loosen the rules in the machine's file.

use schemars::JsonSchema;
use serde::Serialize;

mod address;
mod pattern;
mod release_age;
mod scripts;

pub use address::Dirs;
pub use pattern::Pattern;
pub use release_age::Age;
pub use scripts::{Permission, Scripts, ScriptsReason};

use std::cell::LazyCell;
use std::fmt;

use self::address::Name;
use self::pattern::{List, Match};
use crate::advice::{Message, Opt, message};
use crate::lint::Severity;
use crate::manifest::{LocatedText, ManifestError, PolicySettings};
use crate::spec::{Origin, Reference};

/// The combined policy of all files.
#[derive(Debug, Clone, Default)]
pub struct Admission {
    /// The directories that the paths of sources are relative to.
    dirs: Dirs,
    files: Vec<File>,
}

/// The policy of one file.
#[derive(Debug, Clone)]
struct File {
    allow: Vec<(Line, Pattern)>,
    deny: Vec<(Line, Pattern)>,
    age: Option<(Line, Age)>,
    age_exclude: Vec<(Line, Pattern)>,
    pin: Option<(Line, Pin)>,
    audit: Option<(Line, Severity)>,
    scripts: scripts::Rules,
    /// Whether it belongs to a project, which may be a stranger's.
    of_project: bool,
}

/// A line that decided.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, JsonSchema)]
pub struct Line {
    /// The file, as displayed.
    pub file: String,
    /// The line number, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
    /// The key and its value: `deny = "github:acme/*"`.
    pub text: String,
}

/// How strictly a source with revisions must be pinned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pin {
    /// To a tag or a commit.
    Tag,
    /// To a commit.
    Commit,
}

/// The effect of one line, or of a missing line, on a skill.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, JsonSchema)]
pub struct Decision {
    /// Whether this line admits the skill.
    pub admitted: bool,
    /// The reason, as half a sentence: `is allowed`, `was released only 2 days ago`.
    pub reason: String,
    /// The line that decides; the first line of an allow list if no entry matches the source.
    pub line: Line,
    /// The change that would admit the skill, if known.
    #[serde(skip)]
    pub hint: Option<Message>,
}

/// A line that can only decide once there is content to look at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Pending {
    /// The requirement of the line, as half a sentence: `has to be 7 days old`.
    pub reason: String,
    /// The line that requires it.
    pub line: Line,
}

/// The source to check.
#[derive(Debug, Clone, Copy)]
pub struct PolicySubject<'a> {
    /// The source of the skill.
    pub origin: &'a Origin,
    /// The directory below it.
    pub path: Option<&'a str>,
    /// The requested revision.
    pub reference: Option<&'a Reference>,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: `{}`", self.file, self.line, self.column, self.text)
    }
}

impl File {
    fn read(
        file: &str,
        settings: &PolicySettings,
        dirs: &Dirs,
        of_project: bool,
    ) -> Result<Self, ManifestError> {
        let line = |key: &str, placed: &LocatedText| Line {
            file: file.to_owned(),
            line: placed.line,
            column: placed.column,
            text: format!("{key} = \"{}\"", placed.text),
        };
        let patterns = |key: &str, list: &[LocatedText]| -> Result<Vec<(Line, Pattern)>, ManifestError> {
            list.iter().map(|placed| Ok((line(key, placed), Pattern::read(placed, dirs)?))).collect()
        };
        Ok(Self {
            allow: patterns("allow", &settings.allow)?,
            deny: patterns("deny", &settings.deny)?,
            age_exclude: patterns("minimum-release-age-exclude", &settings.age_exclude)?,
            age: read(settings.age.as_ref(), |placed| {
                Ok((line("minimum-release-age", placed), Age::read(placed)?))
            })?,
            pin: read(settings.pin.as_ref(), |placed| Ok((line("require-pin", placed), Pin::read(placed)?)))?,
            audit: read(settings.audit.as_ref(), |placed| Ok((line("audit", placed), severity(placed)?)))?,
            scripts: scripts::Rules {
                deny: patterns("scripts-deny", &settings.scripts_deny)?,
                allow: patterns("scripts-allow", &settings.scripts_allow)?,
                others: read(settings.scripts.as_ref(), |placed| {
                    Ok((line("scripts", placed), Scripts::read(placed)?))
                })?,
                unix_sockets: patterns("scripts-unix-sockets", &settings.scripts_unix_sockets)?,
            },
            of_project,
        })
    }

    /// Returns what its lists decide about a source with these `names`.
    fn says(&self, names: &[Name]) -> Option<Decision> {
        let refused =
            |line: &Line, reason| Some(Decision { admitted: false, reason, line: line.clone(), hint: None });
        match meant(&self.deny, names, List::Deny) {
            Some((line, Match::Yes)) => return refused(line, "is denied".to_owned()),
            // If it cannot be distinguished from something that is denied, it may be exactly that.
            Some((line, Match::Unclear(why))) => {
                return refused(line, format!("cannot be told apart from a denied source: {why}"));
            }
            _ => {}
        }
        match meant(&self.allow, names, List::Allow)? {
            (line, Match::Yes) => Some(Decision {
                admitted: true,
                reason: "is allowed".to_owned(),
                line: line.clone(),
                hint: None,
            }),
            (line, Match::Unclear(why)) => {
                refused(line, format!("cannot be compared with the `allow` list: {why}"))
            }
            (line, Match::Port) => {
                let reason =
                    "is allowed on the usual ports only: another port must be named on the `allow` list";
                refused(line, reason.to_owned())
            }
            (line, Match::No) => refused(line, "is not on the `allow` list".to_owned()),
        }
    }
}

/// Returns the first line that matches a source best, and how well it matches.
fn meant<'a>(lines: &'a [(Line, Pattern)], names: &[Name], list: List) -> Option<(&'a Line, Match)> {
    let all = lines.iter().map(|(line, pattern)| (line, pattern.means(names, list)));
    all.reduce(|best, next| if next.1 > best.1 { next } else { best })
}

impl Admission {
    /// Creates an admission that admits everything until a file is added. Paths of the sources to check are relative to
    /// `dirs`.
    pub fn new(dirs: Dirs) -> Self {
        Self { dirs, files: Vec::new() }
    }

    /// Adds the policy of the file displayed as `file`; the paths in its patterns are relative to `dirs`.
    ///
    /// # Errors
    ///
    /// Fails on a value that has no meaning, with its position.
    pub fn add(&mut self, file: &str, settings: &PolicySettings, dirs: &Dirs) -> Result<(), ManifestError> {
        self.files.push(File::read(file, settings, dirs, false)?);
        Ok(())
    }

    /// Adds the policy of a project's file, like [`Admission::add`]. It cannot enable scripts that would not run without it.
    pub fn add_project(
        &mut self,
        file: &str,
        settings: &PolicySettings,
        dirs: &Dirs,
    ) -> Result<(), ManifestError> {
        self.files.push(File::read(file, settings, dirs, true)?);
        Ok(())
    }

    /// Returns all lines, in the order of the files.
    pub fn lines(&self) -> Vec<&Line> {
        let lines = self.files.iter().flat_map(|file| {
            let lists =
                [&file.deny, &file.allow, &file.age_exclude].into_iter().flatten().map(|(line, _)| line);
            lists
                .chain(file.age.iter().map(|(line, _)| line))
                .chain(file.pin.iter().map(|(line, _)| line))
                .chain(file.audit.iter().map(|(line, _)| line))
                .chain(file.scripts.lines())
        });
        lines.collect()
    }

    /// Returns the lines that affect scripts, in the order of the files.
    pub fn script_lines(&self) -> impl Iterator<Item = &Line> {
        self.files.iter().flat_map(|file| file.scripts.lines())
    }

    /// Returns the decisions about a source before any of it is fetched.
    pub fn source(&self, asked: PolicySubject<'_>) -> Vec<Decision> {
        // Usually no file needs them, and there may be thousands of skills.
        let names = LazyCell::new(|| address::names(asked.origin, asked.path, &self.dirs));
        let mut decisions = Vec::new();
        for file in &self.files {
            if !(file.deny.is_empty() && file.allow.is_empty()) {
                decisions.extend(file.says(&names));
            }
            if let Some((line, pin)) = &file.pin
                && asked.origin.has_revisions()
            {
                let admitted = pin.is_met(asked.reference);
                let mut hint = None;
                let reason = match (pin, asked.reference) {
                    _ if admitted => "is pinned".to_owned(),
                    (Pin::Commit, _) => "is not pinned to a commit".to_owned(),
                    (Pin::Tag, Some(Reference::Any(name))) => {
                        hint = Some(message!(
                            "if it is a tag, say so: ",
                            (Opt::Tag, name),
                            ", or `tag` in `skillpm.toml`"
                        ));
                        format!("does not say whether `{name}` is a tag or a branch")
                    }
                    (Pin::Tag, _) => "is pinned to neither a tag nor a commit".to_owned(),
                };
                decisions.push(Decision { admitted, reason, line: line.clone(), hint });
            }
        }
        decisions
    }

    /// Returns what is decided about a source only once it is installed: its age, and the content of its skills. If a
    /// source never reports its age, [`Admission::release`] has already decided.
    pub fn pending(&self, asked: PolicySubject<'_>) -> Vec<Pending> {
        let ages = self.ages(asked).filter(|_| asked.origin.has_revisions()).map(|(line, age)| Pending {
            reason: format!("must be at least {age} old to be installed"),
            line: line.clone(),
        });
        let audit = self.audit().map(|(line, threshold)| {
            let what = if threshold == Severity::Error { "errors" } else { "errors and warnings" };
            let reason = format!("may only bring skills without {what}");
            Pending { reason, line: line.clone() }
        });
        ages.chain(audit).collect()
    }

    /// Returns the lowest severity of a finding that blocks a skill, with the line that sets it.
    pub fn audit(&self) -> Option<(&Line, Severity)> {
        let strictest = self.files.iter().filter_map(|file| file.audit.as_ref());
        strictest.min_by_key(|(_, severity)| *severity).map(|(line, severity)| (line, *severity))
    }

    /// Returns the line that opens unix sockets to the scripts of a skill from this source, if there is one. A
    /// project's file cannot open any: it may be a stranger's.
    pub fn unix_sockets(&self, asked: PolicySubject<'_>) -> Option<&Line> {
        let names = LazyCell::new(|| address::names(asked.origin, asked.path, &self.dirs));
        let files = self.files.iter().filter(|file| !file.of_project);
        let mut lists = files.map(|file| &file.scripts.unix_sockets).filter(|list| !list.is_empty());
        lists.find_map(|list| match meant(list, &names, List::Allow)? {
            (line, Match::Yes) => Some(line),
            _ => None,
        })
    }

    /// Returns whether the scripts of a skill from this source may run: the decision of the strictest file, or `unsaid`
    /// if no file decides. A project's file can only be stricter than that.
    pub fn scripts(&self, asked: PolicySubject<'_>, unsaid: Scripts) -> Permission {
        let names = address::names(asked.origin, asked.path, &self.dirs);
        let said = |of_project: bool| {
            let files = self.files.iter().filter(move |file| file.of_project == of_project);
            let said = files.filter_map(|file| file.scripts.of(&names));
            // Of two equally strict files the first one is named: it ranks above the other.
            said.reduce(|strictest, other| if other.scripts > strictest.scripts { other } else { strictest })
        };
        let base = said(false)
            .unwrap_or_else(|| scripts::ScriptsLine { scripts: unsaid, because: ScriptsReason::default() });
        let said = match said(true) {
            Some(narrower) if narrower.scripts > base.scripts => narrower,
            Some(same) if same.scripts == base.scripts && base.because.line.is_none() => same,
            _ => base,
        };
        said.scripts.permission(said.because)
    }
}

/// Reads a value that may be missing.
fn read<T>(
    placed: Option<&LocatedText>,
    read: impl FnOnce(&LocatedText) -> Result<T, ManifestError>,
) -> Result<Option<T>, ManifestError> {
    placed.map(read).transpose()
}

fn severity(placed: &LocatedText) -> Result<Severity, ManifestError> {
    match placed.text.as_str() {
        "error" => Ok(Severity::Error),
        "warning" => Ok(Severity::Warning),
        _ => Err(placed
            .error(format!("`{}` is not a threshold: expected `error` or `warning`", placed.text), None)),
    }
}

impl Pin {
    fn read(placed: &LocatedText) -> Result<Self, ManifestError> {
        match placed.text.as_str() {
            "tag" => Ok(Self::Tag),
            "commit" => Ok(Self::Commit),
            _ => Err(placed
                .error(format!("`{}` is not a kind of pin: expected `tag` or `commit`", placed.text), None)),
        }
    }

    fn is_met(self, reference: Option<&Reference>) -> bool {
        match reference {
            Some(Reference::Rev(_)) => true,
            // A full id written after `#` can mean nothing else.
            Some(Reference::Any(name)) => crate::spec::is_object_id(name),
            Some(Reference::Tag(_)) => self == Self::Tag,
            Some(Reference::Branch(_) | Reference::Range(_)) | None => false,
        }
    }
}

#[cfg(test)]
mod tests;
