//! Admission: which sources and skills may be installed, and which line of which file says so.
//!
//! A policy is written in a project's manifest and in a file of the machine. Each file must admit a
//! skill, so no project can loosen what the machine's file says.

mod age;
mod pattern;
mod place;
mod scripts;

pub use age::Age;
pub use pattern::Pattern;
pub use place::Dirs;
pub use scripts::{Permission, Scripts, ScriptsReason};

use std::cell::LazyCell;
use std::fmt;

use self::pattern::{List, Match};
use self::place::Name;
use crate::advice::{Message, Opt, message};
use crate::lint::Severity;
use crate::manifest::{LocatedText, ManifestError, PolicySettings};
use crate::spec::{Origin, Reference};

/// What all files together say.
#[derive(Debug, Clone, Default)]
pub struct Admission {
    /// From where the paths of sources count.
    dirs: Dirs,
    files: Vec<File>,
}

/// What one file says.
#[derive(Debug, Clone)]
struct File {
    allow: Vec<(Line, Pattern)>,
    deny: Vec<(Line, Pattern)>,
    age: Option<(Line, Age)>,
    age_exclude: Vec<(Line, Pattern)>,
    pin: Option<(Line, Pin)>,
    audit: Option<(Line, Severity)>,
    scripts: scripts::Rules,
    /// Whether it lies in a project, which may be a stranger's.
    of_project: bool,
}

/// A line that decided.
#[derive(Debug, Clone, PartialEq, Eq, Hash, serde::Serialize)]
pub struct Line {
    /// The file, as it is shown.
    pub file: String,
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// The key and what it says: `deny = "github:acme/*"`.
    pub text: String,
}

/// How firmly a source with revisions must be pinned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pin {
    /// To a tag or a commit.
    Tag,
    /// To a commit.
    Commit,
}

/// What one line, or the lack of one, means for a skill.
#[derive(Debug, Clone, PartialEq, Eq, Hash, serde::Serialize)]
pub struct Decision {
    /// Whether the skill may come in, as far as this line goes.
    pub admitted: bool,
    /// Why, as half a sentence: `is allowed`, `was released only 2 days ago`.
    pub reason: String,
    /// The line that says so; the first of an allow list that has none for the source.
    pub line: Line,
    /// What to type so that it comes in, where that is known.
    #[serde(skip)]
    pub hint: Option<Message>,
}

/// What one line decides only when something is there to look at.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Pending {
    /// What the line wants, as half a sentence: `has to be 7 days old`.
    pub reason: String,
    /// The line that wants it.
    pub line: Line,
}

/// The source that is asked about.
#[derive(Debug, Clone, Copy)]
pub struct PolicySubject<'a> {
    /// Where the skill comes from.
    pub origin: &'a Origin,
    /// The directory below it.
    pub path: Option<&'a str>,
    /// The revision that is asked for.
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

    /// What its lists say of a source with these `names`.
    fn says(&self, names: &[Name]) -> Option<Decision> {
        let refused =
            |line: &Line, reason| Some(Decision { admitted: false, reason, line: line.clone(), hint: None });
        match meant(&self.deny, names, List::Deny) {
            Some((line, Match::Yes)) => return refused(line, "is denied".to_owned()),
            // What cannot be told from something that is denied may be that.
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

/// The first line that means a source most, and how far it does.
fn meant<'a>(lines: &'a [(Line, Pattern)], names: &[Name], list: List) -> Option<(&'a Line, Match)> {
    let all = lines.iter().map(|(line, pattern)| (line, pattern.means(names, list)));
    all.reduce(|best, next| if next.1 > best.1 { next } else { best })
}

impl Admission {
    /// Admits everything until a file is added. Paths of the sources that are asked about count from `dirs`.
    pub fn new(dirs: Dirs) -> Self {
        Self { dirs, files: Vec::new() }
    }

    /// Adds what the file that is shown as `file` says; the paths in its patterns count from `dirs`.
    ///
    /// # Errors
    ///
    /// A value that has no meaning, with its place.
    pub fn add(&mut self, file: &str, settings: &PolicySettings, dirs: &Dirs) -> Result<(), ManifestError> {
        self.files.push(File::read(file, settings, dirs, false)?);
        Ok(())
    }

    /// As [`Admission::add`], of the file of a project: whatever it allows, it cannot let scripts run that
    /// would not run without it.
    ///
    /// # Errors
    ///
    /// As [`Admission::add`].
    pub fn add_project(
        &mut self,
        file: &str,
        settings: &PolicySettings,
        dirs: &Dirs,
    ) -> Result<(), ManifestError> {
        self.files.push(File::read(file, settings, dirs, true)?);
        Ok(())
    }

    /// All lines, in the order of the files.
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

    /// The lines that have a say about scripts, in the order of the files.
    pub fn script_lines(&self) -> impl Iterator<Item = &Line> {
        self.files.iter().flat_map(|file| file.scripts.lines())
    }

    /// What is said of a source before anything of it is fetched.
    pub fn source(&self, asked: PolicySubject<'_>) -> Vec<Decision> {
        // Mostly no file asks for them, and there may be thousands of skills.
        let names = LazyCell::new(|| place::names(asked.origin, asked.path, &self.dirs));
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

    /// Whether the time of release has a say about a source: then it must be found out.
    pub fn asks_for_age(&self, asked: PolicySubject<'_>) -> bool {
        self.ages(asked).next().is_some()
    }

    /// What is said of a source only when it is installed: of its age, and of what is in its skills. The age of
    /// what never tells it has been decided by [`Admission::release`].
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

    /// What is said of a source that was released at `released`, at the time `now`, both in seconds
    /// since 1970. What is not known is not old enough.
    pub fn release(&self, asked: PolicySubject<'_>, released: Option<i64>, now: i64) -> Vec<Decision> {
        let decide = |(line, age): &(Line, Age)| {
            let old = released.map(|released| Age::of(now.saturating_sub(released)));
            let admitted = old.is_some_and(|old| old >= *age);
            let reason = match old {
                None => "does not say when it was released".to_owned(),
                Some(old) if admitted => format!("was released {old} ago"),
                Some(old) => format!("was released only {old} ago"),
            };
            Decision { admitted, reason, line: line.clone(), hint: None }
        };
        self.ages(asked).map(decide).collect()
    }

    fn ages<'a>(&'a self, asked: PolicySubject<'_>) -> impl Iterator<Item = &'a (Line, Age)> + use<'a> {
        let names = place::names(asked.origin, asked.path, &self.dirs);
        // What lies on this machine came here some other way.
        let local = asked.origin.is_on_this_machine();
        self.files.iter().filter_map(move |file| {
            let excluded =
                meant(&file.age_exclude, &names, List::Allow).is_some_and(|(_, found)| found == Match::Yes);
            file.age.as_ref().filter(|_| !local && !excluded)
        })
    }

    /// The least severity of a finding that keeps a skill out, with the line that says so.
    pub fn audit(&self) -> Option<(&Line, Severity)> {
        let strictest = self.files.iter().filter_map(|file| file.audit.as_ref());
        strictest.min_by_key(|(_, severity)| *severity).map(|(line, severity)| (line, *severity))
    }

    /// The line that opens unix sockets to the scripts of a skill from this source, if there is one. The file of a project
    /// opens nothing: it may be a stranger's.
    pub fn unix_sockets(&self, asked: PolicySubject<'_>) -> Option<&Line> {
        let names = LazyCell::new(|| place::names(asked.origin, asked.path, &self.dirs));
        let files = self.files.iter().filter(|file| !file.of_project);
        let mut lists = files.map(|file| &file.scripts.unix_sockets).filter(|list| !list.is_empty());
        lists.find_map(|list| match meant(list, &names, List::Allow)? {
            (line, Match::Yes) => Some(line),
            _ => None,
        })
    }

    /// Whether the scripts of a skill from this source may run: what the strictest file says, or `unsaid`
    /// where none has a say. The file of a project can only be stricter than that.
    pub fn scripts(&self, asked: PolicySubject<'_>, unsaid: Scripts) -> Permission {
        let names = place::names(asked.origin, asked.path, &self.dirs);
        let said = |of_project: bool| {
            let files = self.files.iter().filter(move |file| file.of_project == of_project);
            let said = files.filter_map(|file| file.scripts.of(&names));
            // Of two that are as strict, the first file is named: it stands above the other.
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
            Some(Reference::Branch(_)) | None => false,
        }
    }
}

#[cfg(test)]
mod tests;
