//! An installed skill, with what its source has now.

use schemars::JsonSchema;
use serde::Serialize;

use crate::advice::{Piece, Verb, Warning, message};
use crate::codes;
use crate::lockfile::Locked;
use crate::manifest::Requirement;
use crate::name::SkillName;
use crate::scope::state::Files;
use crate::scope_kind::ScopeKind;
use crate::source::newest;
use crate::spec::{Origin, Reference, SourceSpec};
use crate::text::{visible, visible_name};
use crate::version::Version;

/// An installed skill, with what its source has now.
#[derive(Debug, Clone)]
pub(crate) struct UpdateCandidate<'a> {
    /// The name under which it is installed.
    pub name: &'a SkillName,
    /// The entry of the manifest; for a skill that it does not name, the record of the lockfile.
    pub entry: Requirement,
    /// The locked version; `None` if none is.
    pub locked: Option<&'a Locked>,
    /// How its files compare with the locked ones, or why that is not known.
    pub status: Status,
    /// The current revision of what is requested.
    pub newest: Option<String>,
    /// The newer release past the pin or the range, if that was requested.
    pub latest: Option<Latest>,
    /// Why a policy does not admit the newest files yet, with its line.
    pub held_back: Option<String>,
    /// The new directory in its source, if it has moved.
    pub moved_to: Option<String>,
    /// If the locked version was withdrawn from its registry, the reason, which may be empty.
    pub yanked: Option<String>,
}

/// How the files of a skill in its source compare with the locked ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// They are the same.
    Current,
    /// They differ.
    Changed,
    /// They no longer exist where the skill was.
    Gone,
    /// They no longer exist where the skill was, but its source has a skill of its name elsewhere.
    Moved,
    /// The source no longer has this branch, tag or commit.
    RefGone,
    /// Only a download would show this.
    Unknown,
    /// The source could not be queried.
    Failed,
    /// The machine is offline, and nothing is cached.
    NotAsked,
    /// A policy refuses the source.
    Refused,
    /// It is a link to a directory in which it is written.
    Editable,
    /// It is locked from another place than the one in the manifest.
    LockedOtherwise,
    /// It is in the manifest and not installed yet.
    NotInstalled,
    /// Neither the manifest nor another skill requests it any more.
    NoLongerAsked,
}

/// The state of a skill's source, for programs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SourceState {
    /// How the files in its source compare with the locked ones, as `outdated` says it; `None` if the source was not asked.
    pub status: Option<Status>,
    /// Why a policy does not admit the newest files yet.
    pub held_back: Option<String>,
    /// The new directory in its source, if it has moved.
    pub moved_to: Option<String>,
}

impl From<Status> for SourceState {
    fn from(status: Status) -> Self {
        Self { status: Some(status), ..Self::default() }
    }
}

impl From<&UpdateCandidate<'_>> for SourceState {
    fn from(candidate: &UpdateCandidate<'_>) -> Self {
        Self {
            status: Some(candidate.status),
            held_back: candidate.held_back.clone(),
            moved_to: candidate.moved_to.clone(),
        }
    }
}

/// The newer release past the pin or the range of a manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Latest {
    /// The tag, the commit or the version.
    pub name: String,
    /// The reference by which a manifest requests it.
    pub reference: Reference,
}

impl From<Reference> for Latest {
    fn from(reference: Reference) -> Self {
        Self { name: reference.name().to_owned(), reference }
    }
}

impl From<newest::Files> for Status {
    fn from(files: newest::Files) -> Self {
        match files {
            newest::Files::Same => Self::Current,
            newest::Files::Changed => Self::Changed,
            newest::Files::Gone | newest::Files::Moved => Self::Gone,
            newest::Files::Unknown => Self::Unknown,
        }
    }
}

impl<'a> UpdateCandidate<'a> {
    /// Returns what the manifest and the lockfile say about the skill `name`. Its source was not asked.
    pub(crate) fn new(files: &'a Files, name: &'a SkillName, is_kept: bool) -> Self {
        let written = files.manifest.skills().get(name);
        let locked = files.lock.skills.get(name);
        let (status, entry) = match (written, locked) {
            (Some(entry), _) if entry.editable => (Status::Editable, entry.clone()),
            (Some(entry), None) => (Status::NotInstalled, entry.clone()),
            (_, Some(locked)) if !is_kept => (Status::NoLongerAsked, locked.requirement()),
            // The locked version proves nothing about another skill.
            (Some(entry), Some(locked)) if !locked.is_skill_of(entry) => {
                (Status::LockedOtherwise, entry.clone())
            }
            (Some(entry), Some(_)) => (Status::Unknown, entry.clone()),
            (None, Some(locked)) => {
                let dependency = files.is_only_needed(name);
                (Status::Unknown, Requirement { dependency, ..locked.requirement() })
            }
            (None, None) => unreachable!("a name of one of the two files"),
        };
        Self {
            name,
            entry,
            locked,
            status,
            newest: None,
            latest: None,
            held_back: None,
            moved_to: None,
            yanked: None,
        }
    }

    /// Reports whether the requested tag led to another revision when the skill was locked.
    pub(crate) fn tag_moved(&self) -> bool {
        let was = |locked: &'a Locked| {
            locked.moved_tag(self.entry.reference.as_ref(), self.newest.as_deref()).is_some()
        };
        self.locked.is_some_and(was)
    }

    /// Returns that the locked version was withdrawn, if it was. `who` moves it to the version that comes instead.
    pub(crate) fn withdrawn(&self, who: impl Piece) -> Option<Warning> {
        let reason = self.yanked.as_deref()?;
        let locked = self.locked.and_then(|locked| locked.revision.as_deref()).unwrap_or_default();
        let reason = if reason.is_empty() { String::new() } else { format!(" ({})", visible(reason)) };
        let told = format!("`{}` {locked} was withdrawn from its registry{reason}", self.name);
        let version = |text: &str| Version::new(text).ok();
        let message = match self.newest.as_deref().filter(|newest| *newest != locked) {
            Some(newest) => {
                let goes = if version(newest) < version(locked) { "back" } else { "on" };
                message!(told, ": ", who, format_args!(" goes {goes} to {newest}"))
            }
            None => message!(told, ", which has no other version that fits"),
        };
        Some(Warning::new(codes::RELEASE_YANKED, message))
    }

    /// Returns what a person should know of where it is now, or why it does not come.
    pub(crate) fn note(&self, scope: ScopeKind) -> Option<Warning> {
        let was = self.locked.and_then(|locked| locked.path.as_deref());
        match (self.status, &self.held_back) {
            (Status::Moved, None) => {
                let message = moved(self.name, &self.entry.origin, (was, self.moved_to.as_deref()));
                let message = message!(message, ": ", Verb::Update.within(scope), " follows it");
                Some(Warning::new(codes::SKILL_MOVED, message))
            }
            (Status::Gone, _) => {
                let path = was.map(ToOwned::to_owned);
                let message = no_longer_found(
                    self.name,
                    &SourceSpec { path, ..SourceSpec::new(self.entry.origin.clone()) },
                );
                // What others need is not removed alone.
                let (verb, does) = if self.entry.dependency {
                    (Verb::Why, " shows what needs it")
                } else {
                    (Verb::Remove, " removes it")
                };
                let advice = verb.within(scope).word(self.name);
                Some(Warning::new(codes::SKILL_GONE, message!(message, ": ", advice, does)))
            }
            (_, Some(reason)) if self.yanked.is_none() => {
                let message = format!("`{}` is held back: the newest version {reason}", self.name);
                Some(Warning::new(codes::SKILL_HELD_BACK, message))
            }
            _ => self.withdrawn(Verb::Update.within(scope).word(self.name)),
        }
    }
}

/// Returns that the skill `name` is elsewhere in its source `origin` now.
pub(crate) fn moved(name: &SkillName, origin: &Origin, (from, to): (Option<&str>, Option<&str>)) -> String {
    let shown = |path: Option<&str>| match path.unwrap_or_default() {
        "" => ".".to_owned(),
        path => visible_name(path),
    };
    format!("`{name}` moved from `{}` to `{}` in `{}`", shown(from), shown(to), origin.typed())
}

/// Returns that the skill `name` is no longer in the place `spec` of its source.
pub(crate) fn no_longer_found(name: &SkillName, spec: &SourceSpec) -> String {
    format!("`{name}` is no longer found in `{spec}`")
}
