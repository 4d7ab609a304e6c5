//! The lockfile, `skillpm.lock`: exactly which bytes are installed, and where they came from.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write as _};

use serde::Deserialize;

use crate::digest::Digest;
use crate::manifest::{Manifest, Requirement};
use crate::name::SkillName;
use crate::sides::Sides;
use crate::spec::{Origin, Reference, check_directory};
use crate::text::{conflict_line, line_column};
use crate::version::{Version, VersionRange};

/// The name of the file.
pub const FILE_NAME: &str = "skillpm.lock";
/// The first line of the file.
const HEADING: &str = "# Written by skillpm; `skillpm install` restores exactly this.";
/// The format version that is written, and the newest one that can be read. Raise it with any change that an older
/// reader would misunderstand.
pub const VERSION: i64 = 1;

/// A lockfile: entries by the name under which the skill is installed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lockfile {
    /// The entries.
    pub skills: BTreeMap<SkillName, Locked>,
}

/// The lockfile entry of one skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Locked {
    /// The version as the skill writes it: a label that no decision depends on.
    pub version: Option<String>,
    /// The source it came from.
    pub origin: Origin,
    /// The directory below the origin; `None` is its root.
    pub path: Option<String>,
    /// The requested revision, in git's form (`tags/v2`, `heads/main`, `main`).
    pub requested: Option<String>,
    /// The immutable revision: the commit of a repository, the digest reported by a site, the version of a package;
    /// `None` if there is no such thing.
    pub revision: Option<String>,
    /// The tree digest.
    pub digest: Digest,
    /// The names of the skills that it needs.
    pub dependencies: Vec<String>,
    /// The skill's own name, if the manifest gives it another one.
    pub alias_of: Option<String>,
    /// The ids of the agents that have a link to it or a copy of it. While the skill is disabled: the agents that get
    /// it back.
    pub agents: BTreeSet<String>,
}

impl Locked {
    /// Returns the manifest entry that requests this skill as it is locked.
    pub fn requirement(&self) -> Requirement {
        Requirement {
            path: self.path.clone(),
            reference: self.requested.as_deref().map(Reference::from_lockfile),
            name: self.alias_of.clone(),
            ..Requirement::new(self.origin.clone())
        }
    }

    /// Reports whether this entry is what the manifest requests.
    pub fn meets(&self, requirement: &Requirement) -> bool {
        let reference = requirement.reference.as_ref();
        let is_it = self.is_skill_of(requirement);
        if self.released().is_some() {
            is_it && reference.and_then(Reference::range).is_none_or(|range| self.is_in(range))
        } else {
            is_it && self.is_at(reference)
        }
    }

    /// Reports whether this entry is the skill that `manifest` requests as `requirement`, in a version that its range or
    /// an override allows.
    pub fn is_allowed_by(&self, manifest: &Manifest, requirement: &Requirement) -> bool {
        match self.overridden_by(manifest) {
            Some(range) => self.is_skill_of(requirement) && self.is_in(range),
            None => self.meets(requirement),
        }
    }

    /// Returns the override in `manifest` of the skill's versions.
    pub fn overridden_by<'m>(&self, manifest: &'m Manifest) -> Option<&'m VersionRange> {
        manifest.overrides().get(&SkillName::new(self.released()?).ok()?)
    }

    /// Returns the skill's name in its source, if that lists several versions of it.
    pub fn released(&self) -> Option<&str> {
        self.origin.released(self.path.as_deref())
    }

    /// Reports whether the locked version is in `range`.
    pub fn is_in(&self, range: &VersionRange) -> bool {
        let version = self.revision.as_deref().and_then(|revision| Version::new(revision).ok());
        version.is_some_and(|version| range.contains(&version))
    }

    /// Reports whether this entry is the skill that the manifest requests, in any version.
    pub fn is_skill_of(&self, requirement: &Requirement) -> bool {
        self.origin == requirement.origin
            && self.alias_of == requirement.name
            && (requirement.path.is_none() || requirement.path == self.path)
    }

    /// Reports whether `reference`, `None` for the default branch, was requested when this was locked.
    pub fn is_at(&self, reference: Option<&Reference>) -> bool {
        self.requested == reference.map(ToString::to_string)
    }

    /// Returns the revision that the tag `reference` led to when this was locked, if the tag now leads to `newest` and
    /// that is a different revision.
    pub fn moved_tag(&self, reference: Option<&Reference>, newest: Option<&str>) -> Option<&str> {
        let is_tag = matches!(reference, Some(Reference::Tag(_)));
        let was = self.revision.as_deref().filter(|_| is_tag && self.is_at(reference))?;
        (newest? != was).then_some(was)
    }
}

/// An error for a lockfile that cannot be used. Such a file is never treated as empty.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LockError {
    /// Git left its markers of a merge conflict.
    #[error("{line}:1: there are merge-conflict markers")]
    MergeConflict {
        /// The line of the first marker, from 1.
        line: usize,
    },
    /// Two entries for the same skill: git merges entries line by line, and reports nothing if both sides add the same
    /// one.
    #[error("{line}:{column}: the skill `{name}` appears twice")]
    Twice {
        /// The line of the second entry, from 1.
        line: usize,
        /// The column, from 1, in characters.
        column: usize,
        /// The name of the skill.
        name: SkillName,
    },
    /// The file is not TOML, or not in the format.
    #[error("{line}:{column}: {message}")]
    Malformed {
        /// The line, from 1.
        line: usize,
        /// The column, from 1, in characters.
        column: usize,
        /// The problem.
        message: String,
    },
    /// The format is one that this program does not know.
    #[error("it has version {0}, this skillpm reads version {VERSION}")]
    Version(i64),
    /// An entry has an invalid value.
    #[error("skill `{name}`: {message}")]
    Entry {
        /// The entry.
        name: String,
        /// The problem.
        message: String,
    },
}

impl LockError {
    /// Returns the line and the column, from 1, if it is about one position.
    pub fn position(&self) -> Option<(usize, usize)> {
        match self {
            Self::MergeConflict { line } => Some((*line, 1)),
            Self::Twice { line, column, .. } | Self::Malformed { line, column, .. } => Some((*line, *column)),
            Self::Version(_) | Self::Entry { .. } => None,
        }
    }

    /// Returns what is wrong, without the position.
    pub fn reason(&self) -> String {
        let text = self.to_string();
        let at = self.position().map(|(line, column)| format!("{line}:{column}: "));
        at.and_then(|at| text.strip_prefix(&at)).unwrap_or(&text).to_owned()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawLock {
    version: i64,
    #[serde(default)]
    skill: Vec<toml::Spanned<RawEntry>>,
}

#[derive(Deserialize)]
struct RawVersion {
    version: i64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawEntry {
    name: String,
    version: Option<String>,
    source: String,
    path: Option<String>,
    requested: Option<String>,
    revision: Option<String>,
    digest: String,
    #[serde(default)]
    dependencies: Vec<String>,
    #[serde(rename = "alias-of")]
    alias_of: Option<String>,
    #[serde(default)]
    agents: Vec<String>,
}

impl Lockfile {
    /// Reads a lockfile. Every field is checked: the file may come from a stranger's repository.
    ///
    /// # Errors
    ///
    /// Returns the first error, with its position.
    pub fn parse(text: &str) -> Result<Self, LockError> {
        if let Some(line) = conflict_line(text) {
            return Err(LockError::MergeConflict { line });
        }
        let raw: RawLock = toml::from_str(text).map_err(|error| {
            // Errors about fields of a newer format would only confuse: the version is what matters.
            if let Ok(RawVersion { version }) = toml::from_str(text)
                && version != VERSION
            {
                return LockError::Version(version);
            }
            let (line, column) = line_column(text, error.span().map_or(0, |span| span.start));
            LockError::Malformed { line, column, message: error.message().to_owned() }
        })?;
        if raw.version != VERSION {
            return Err(LockError::Version(raw.version));
        }
        let mut skills = BTreeMap::new();
        let mut keys = BTreeSet::new();
        for entry in raw.skill {
            let start = entry.span().start;
            let (name, locked) = entry.into_inner().check()?;
            if !keys.insert(name.collision_key()) {
                // Computed only here: counting the lines before each entry would be quadratic.
                let (line, column) = line_column(text, start);
                return Err(LockError::Twice { line, column, name });
            }
            skills.insert(name, locked);
        }
        Ok(Self { skills })
    }
}

impl LockError {
    /// Reports whether the error was caused by a merge, so that [`Mended`] may be able to read the file.
    pub fn is_of_merge(&self) -> bool {
        matches!(self, Self::MergeConflict { .. } | Self::Twice { .. })
    }
}

/// A lockfile that git merged, with or without conflict markers, mended as far as both sides agree.
///
/// Entries have lines in common, such as all those from one source, and git treats these as the same line. So an entry
/// may occur twice, be cut in half, or be made of two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mended {
    /// The entries of both sides; if they differ, those of the first side, with the agents of both.
    pub lock: Lockfile,
    /// The other entries of skills for which the sides differ, and those that may be made of two.
    pub others: BTreeMap<SkillName, Locked>,
    /// Whether there are unreadable entries. They are left out.
    pub is_torn: bool,
}

impl Mended {
    /// Reads each side of the conflicts in `text` separately and joins them. Without conflict markers, both sides are
    /// the whole text.
    ///
    /// # Errors
    ///
    /// Fails with [`LockError::MergeConflict`] if the markers do not come in pairs, with any error in the text before
    /// the entries, and on names that are the same on some file systems.
    pub fn parse(text: &str) -> Result<Self, LockError> {
        let Sides { ours, theirs, .. } = Sides::of(text).map_err(|line| LockError::MergeConflict { line })?;
        let ((ours, torn), (theirs, torn_too)) = (entries(&ours)?, entries(&theirs)?);
        let mut mended =
            Self { lock: Lockfile::default(), others: BTreeMap::new(), is_torn: torn || torn_too };
        for (side, other) in [(&ours, &theirs), (&theirs, &ours)] {
            // The merge did not touch what both sides have.
            let both: BTreeSet<_> = other.iter().map(|(name, locked)| (name, locked.digest)).collect();
            for (name, locked) in side {
                let is_sure = both.contains(&(name, locked.digest)) || has_its_directory(name, locked);
                let lock = mended.lock.skills.entry(name.clone()).or_insert_with(|| locked.clone());
                // An agent that only one side linked is still wanted, and is no reason to ask again.
                lock.agents.extend(locked.agents.iter().cloned());
                let other = Locked { agents: lock.agents.clone(), ..locked.clone() };
                if *lock != other || !is_sure {
                    mended.others.insert(name.clone(), other);
                }
            }
        }
        let mut keys = BTreeSet::new();
        match mended.lock.skills.keys().find(|name| !keys.insert(name.collision_key())) {
            Some(name) => Err(LockError::Entry {
                name: name.to_string(),
                message: "the other side has a name that is the same on some file systems".to_owned(),
            }),
            None => Ok(mended),
        }
    }
}

/// Reports whether the directory of an entry has the name of the skill, or its name is unknown.
fn has_its_directory(name: &SkillName, locked: &Locked) -> bool {
    let directory = locked.path.as_deref().and_then(|path| path.rsplit('/').next());
    locked.alias_of.is_some() || directory.is_none_or(|directory| directory == name.as_str())
}

/// Returns the entries of one side, and whether some of them cannot be read.
fn entries(text: &str) -> Result<(Vec<(SkillName, Locked)>, bool), LockError> {
    if let Ok(lock) = Lockfile::parse(text) {
        return Ok((lock.skills.into_iter().collect(), false));
    }
    let is_start = |line: &&str| line.trim_end() == "[[skill]]";
    let mut lines = text.split_inclusive('\n').peekable();
    let mut piece = |first: &str| {
        let mut piece = first.to_owned();
        while let Some(line) = lines.next_if(|line| !is_start(line)) {
            piece.push_str(line);
        }
        (piece, lines.next())
    };
    let (head, mut next) = piece("");
    Lockfile::parse(&head)?;
    let (mut entries, mut is_torn) = (Vec::new(), false);
    while let Some(first) = next {
        let (entry, following) = piece(first);
        match Lockfile::parse(&format!("version = {VERSION}\n{entry}")) {
            Ok(one) => entries.extend(one.skills),
            Err(_) => is_torn = true,
        }
        next = following;
    }
    Ok((entries, is_torn))
}

impl RawEntry {
    fn check(self) -> Result<(SkillName, Locked), LockError> {
        let fault = |message: String| LockError::Entry { name: self.name.clone(), message };
        let name = SkillName::new(&self.name).map_err(|e| fault(e.to_string()))?;
        let origin: Origin =
            self.source.parse().map_err(|_| fault(format!("`{}` is not a source", self.source)))?;
        if let Some(path) = &self.path {
            check_directory(path).map_err(|e| fault(e.to_string()))?;
        }
        check_revision(&origin, self.revision.as_deref()).map_err(fault)?;
        if let Some(agent) = self.agents.iter().find(|agent| !is_agent(agent)) {
            return Err(fault(format!("`{agent}` cannot be the id of an agent")));
        }
        let digest = self.digest.parse().map_err(|e: crate::digest::DigestError| fault(e.to_string()))?;
        let locked = Locked {
            version: self.version,
            origin,
            path: self.path,
            requested: self.requested,
            revision: self.revision,
            digest,
            dependencies: self.dependencies,
            alias_of: self.alias_of,
            agents: self.agents.into_iter().collect(),
        };
        Ok((name, locked))
    }
}

/// Reports whether `text` has the form of an agent id. Which agents exist is not for the lockfile to decide.
fn is_agent(text: &str) -> bool {
    let is_word = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    text.split(['-', '.']).all(|part| !part.is_empty() && part.bytes().all(is_word))
}

/// Checks that a source of this kind can have `revision`.
fn check_revision(origin: &Origin, revision: Option<&str>) -> Result<(), String> {
    let Some(revision) = revision else {
        return if origin.has_revisions() { Err("there is no `revision`".to_owned()) } else { Ok(()) };
    };
    origin.check_revision(revision)
}

/// Writes the text of the file: sorted by name, without times or local paths, so that it changes only when content
/// changes, and merges line by line.
impl fmt::Display for Lockfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{HEADING}\nversion = {VERSION}\n")?;
        for (name, skill) in &self.skills {
            let mut line = |key: &str, value: Option<&str>| match value {
                Some(value) => writeln!(f, "{key} = {}", quoted(value)),
                None => Ok(()),
            };
            line("\n[[skill]]\nname", Some(name.as_str()))?;
            line("alias-of", skill.alias_of.as_deref())?;
            line("version", skill.version.as_deref())?;
            line("source", Some(&skill.origin.to_string()))?;
            line("path", skill.path.as_deref())?;
            line("requested", skill.requested.as_deref())?;
            line("revision", skill.revision.as_deref())?;
            line("digest", Some(&skill.digest.to_string()))?;
            let mut list = |key: &str, texts: Vec<&String>| match &texts[..] {
                [] => Ok(()),
                texts => {
                    let texts: Vec<_> = texts.iter().map(|text| quoted(text)).collect();
                    writeln!(f, "{key} = [{}]", texts.join(", "))
                }
            };
            list("dependencies", skill.dependencies.iter().collect())?;
            list("agents", skill.agents.iter().collect())?;
        }
        Ok(())
    }
}

/// Returns `text` as a TOML basic string.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => {
                // Writing to a string cannot fail.
                let _ = write!(quoted, "\\u{:04X}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests;
