//! `diff`: compares installed skills with the locked versions, and locked versions with newer ones.

use schemars::JsonSchema;
use serde::Serialize;

use super::trees::{TreeDiff, VersionDiff};
use crate::advice::{Call, Opt, Verb, Warning, message};
use crate::codes;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::fetch::fetcher::Fetcher;
use crate::fs::{self, Kind};
use crate::lockfile::Locked;
use crate::manifest::Requirement;
use crate::name::SkillName;
use crate::review::Review;
use crate::scope::not_installed::{is_missing, no_longer_asked, not_locked, unknown};
use crate::scope::state::{Depth, Files, ScopeState};
use crate::scope::trees::is_same_but_line_ends;
use crate::scope::{Scope, Scopes};
use crate::scope_kind::ScopeKind;
use crate::spec::Reference;
use crate::tree::FileSet;
use crate::updates::{
    Aim, How, SourceState, Status, UpdateCandidate, check, errors_and_warnings, names, not_asked,
};

/// The versions that are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compared {
    /// The locked and the installed version: what the user edited.
    #[default]
    Installed,
    /// The locked version, and the current version that the manifest requests: what an update would bring.
    Newest,
    /// The locked version, and the newest one past the tag or commit that the manifest names.
    Latest,
}

/// A request to compare versions of skills.
#[derive(Debug, Clone, Default)]
pub struct DiffRequest {
    /// The names under which they are installed; all if empty.
    pub names: Vec<String>,
    /// The scope; `None` means both.
    pub scope: Option<ScopeKind>,
    /// The versions that are compared.
    pub compared: Compared,
}

impl DiffRequest {
    /// Returns the call that makes it, without names.
    fn call(&self) -> Call {
        let option = match self.compared {
            Compared::Installed => None,
            Compared::Newest => Some(Opt::Newest),
            Compared::Latest => Some(Opt::Latest),
        };
        option.into_iter().fold(Verb::Diff.call(), Call::flag)
    }
}

/// A skill that differs. The JSON form of a value of this type is an interface: fields are only added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SkillDiff {
    /// The name under which it is installed.
    pub name: String,
    /// The scope in which it is installed.
    pub scope: ScopeKind,
    /// The source.
    pub source: String,
    /// The locked version.
    pub old: Side,
    /// The version that it is compared with.
    pub new: Side,
    /// The state of the source, as `outdated` reports it.
    #[serde(flatten)]
    pub state: SourceState,
    /// Whether only line ends differ. A reviewer need not look at that.
    pub line_ends: bool,
    /// The differences.
    #[serde(flatten)]
    pub diff: VersionDiff,
}

/// One of two versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Side {
    /// Which version it is.
    pub what: DiffKind,
    /// The requested revision, in git's form; `None` for an installed skill that was edited.
    pub requested: Option<String>,
    /// The commit, the digest of a site, or the version of a package.
    pub revision: Option<String>,
    /// The digest of its files.
    pub digest: String,
}

/// A version of a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DiffKind {
    /// The one that is locked.
    Locked,
    /// The one that is installed.
    Installed,
    /// The current one in the source.
    Newest,
    /// The newest one in the source, past the pin.
    Latest,
}

/// The outcome of a comparison.
#[derive(Debug, Default)]
pub struct DiffOutcome {
    /// The skills that differ, project before user, then by name.
    pub skills: Vec<SkillDiff>,
    /// The number of compared skills that are the same.
    pub same: usize,
    /// Where skills are now that are no longer where they were, and why newer ones do not come.
    pub notes: Vec<Warning>,
    /// Why skills could not be compared.
    pub failures: Vec<Error>,
    /// Warnings for the user.
    pub warnings: Vec<Warning>,
}

/// Compares versions of installed skills. Changes nothing that is installed or locked.
///
/// # Errors
///
/// Fails for a manifest, lockfile or policy that cannot be read, and for a name that is not installed. A
/// skill that cannot be compared is not an error: the outcome says why, and contains the others.
pub fn diff(context: &Context, request: &DiffRequest) -> Result<DiffOutcome> {
    let mut scopes = Vec::new();
    for scope in Scopes::new(&context.settings, request.scope)?.there {
        scopes.push((Files::read(&scope)?, scope));
    }
    let known = || scopes.iter().flat_map(|(files, _)| files.names());
    for name in &request.names {
        if known().all(|known| known.as_str() != name) {
            return Err(unknown(context, request.scope, (&request.call(), name)));
        }
    }
    let mut outcome = DiffOutcome::default();
    for (files, scope) in &scopes {
        let fetcher = Fetcher::new(context, scope, files)?;
        let mut compare = Compare { context, scope, files, request, fetcher, outcome: &mut outcome };
        match request.compared {
            Compared::Installed => compare.installed(),
            Compared::Newest | Compared::Latest => compare.newer(),
        }
        let warnings = std::mem::take(&mut compare.fetcher.warnings);
        outcome.warnings.extend(warnings);
    }
    Ok(outcome)
}

struct Compare<'a> {
    context: &'a Context,
    scope: &'a Scope,
    files: &'a Files,
    request: &'a DiffRequest,
    fetcher: Fetcher<'a>,
    outcome: &'a mut DiffOutcome,
}

/// A locked skill, and its manifest entry.
struct One<'a> {
    name: &'a SkillName,
    locked: &'a Locked,
    entry: Requirement,
    /// The state of the source, if it was asked.
    state: SourceState,
}

impl<'a> Compare<'a> {
    /// Compares installed skills with the locked versions.
    fn installed(&mut self) {
        for name in names(self.files, &self.request.names) {
            match (self.files.manifest.skills().get(name), self.files.lock.skills.get(name)) {
                (Some(entry), _) if entry.editable => self.editable(name, entry),
                (entry, Some(locked)) => {
                    let entry = entry.cloned().unwrap_or_else(|| locked.requirement());
                    let one = One { name, locked, entry, state: SourceState::default() };
                    if let Err(error) = self.edits(&one) {
                        self.fail(name, error);
                    }
                }
                (_, None) => self.outcome.warnings.push(not_locked(self.scope, name)),
            }
        }
        self.copies();
    }

    /// Says which copies of agents were edited: what is compared is the skill itself.
    fn copies(&mut self) {
        let state = ScopeState::of(&self.context.settings, self.scope, self.files.clone(), Depth::Metadata);
        for name in names(self.files, &self.request.names) {
            // A place that cannot be examined has been told of.
            let Ok(Some(skill)) = state.skill(name) else { continue };
            let edited = skill.copies.iter().find(|copy| copy.is_edited);
            let told = edited.and_then(|copy| copy.agents.first()).map(|agent| Warning {
                hints: vec![message!(Verb::Verify.within(self.scope.kind).word(name), " names the files")],
                ..Warning::new(codes::EDITED_LEFT, format!("{agent}'s copy of `{name}` was edited"))
            });
            self.outcome.warnings.extend(told);
        }
    }

    /// Says that an editable skill has no locked version, if it was named.
    fn editable(&mut self, name: &SkillName, entry: &Requirement) {
        if !self.request.names.is_empty() {
            let told = format!(
                "`{name}` is editable, a link to `{}`: there is no locked version to compare",
                entry.origin.typed()
            );
            self.outcome.warnings.push(Warning::new(codes::EDITABLE, told));
        }
    }

    fn edits(&mut self, one: &One<'_>) -> Result<()> {
        let One { name, locked, entry, .. } = one;
        let Some(path) = self.scope.home_of(&self.context.settings, name, entry.disabled)? else {
            self.outcome.warnings.push(is_missing(self.scope.kind, name));
            return Ok(());
        };
        if fs::kind(&path)? != Some(Kind::Directory) {
            return Err(Error::integrity(format!("`{}` is not a directory", path.display()))
                .hint(message!(Verb::Doctor, " shows what is there")));
        }
        let lying = self.scope.index.trees().read(&path)?;
        if lying.digest == locked.digest {
            self.outcome.same += 1;
            return Ok(());
        }
        let mine = lying.files;
        let base = self.fetcher.content(name, locked)?;
        let new = (DiffKind::Installed, None, None);
        self.add(one, &base, &mine, new)
    }

    /// Compares the current versions in sources with the locked ones. Queries the sources first, so that
    /// unchanged skills are not fetched.
    fn newer(&mut self) {
        let latest = self.request.compared == Compared::Latest;
        let aim = if latest { Aim::Latest } else { Aim::Newest };
        let how = How { aim, past: latest, ..How::default() };
        let names = names(self.files, &self.request.names);
        let rules = (&mut self.fetcher.sources as _, &how);
        let check = check(self.context, self.scope, self.files, names, rules);
        self.outcome.warnings.extend(check.warnings);
        self.outcome.notes.extend(not_asked(&check.candidates));
        for candidate in &check.candidates {
            if let Some(one) = self.wanted(candidate, latest)
                && let Err(error) = self.version(&one)
            {
                self.fail(one.name, error);
            }
        }
        let (failures, found) = errors_and_warnings(check.failures, &check.candidates);
        self.outcome.failures.extend(failures);
        self.outcome.warnings.extend(found);
    }

    /// Returns what `candidate` is to be compared with: nothing if an update would not bring it.
    fn wanted(&mut self, candidate: &UpdateCandidate<'a>, latest: bool) -> Option<One<'a>> {
        let UpdateCandidate { name, status, .. } = *candidate;
        let mut entry = candidate.entry.clone();
        match status {
            Status::Editable => self.editable(name, &entry),
            Status::NotInstalled => self.outcome.warnings.push(not_locked(self.scope, name)),
            Status::NoLongerAsked => self.outcome.warnings.push(no_longer_asked(self.scope.kind, name)),
            _ => {}
        }
        let past = candidate.latest.as_ref().filter(|_| latest);
        if past.is_none() {
            self.outcome.notes.extend(candidate.note(self.scope.kind));
        }
        match (past, status) {
            (Some(past), _) => entry.reference = Some(past.reference.clone()),
            (None, Status::Current) => {
                self.outcome.same += 1;
                return None;
            }
            (None, Status::Changed | Status::Unknown | Status::Moved | Status::Gone) if latest => {
                self.outcome.same += 1;
                return None;
            }
            (None, Status::Changed | Status::Unknown | Status::Moved) if candidate.held_back.is_none() => {}
            // The locked version proves nothing about what the manifest requests now.
            (None, Status::LockedOtherwise) if !latest => {}
            _ => return None,
        }
        if let Some(place) = candidate.moved_to.as_ref().filter(|_| past.is_none()) {
            entry.path = Some(place.clone()).filter(|place| !place.is_empty());
        }
        Some(One { name, locked: candidate.locked?, entry, state: candidate.into() })
    }

    fn version(&mut self, one: &One<'_>) -> Result<()> {
        let newest = self.fetcher.newest(one.name, &one.entry)?;
        let digest = newest.set.digest()?;
        if digest == one.locked.digest {
            self.outcome.same += 1;
            return Ok(());
        }
        let base = self.fetcher.content(one.name, one.locked)?;
        let what =
            if self.request.compared == Compared::Latest { DiffKind::Latest } else { DiffKind::Newest };
        let requested = one.entry.reference.as_ref().map(Reference::to_string);
        let revision = newest.locked(digest).revision;
        self.add(one, &base, &newest.set, (what, requested, revision))
    }

    fn add(
        &mut self,
        one: &One<'_>,
        old: &FileSet,
        new: &FileSet,
        (what, requested, revision): (DiffKind, Option<String>, Option<String>),
    ) -> Result<()> {
        let locked = one.locked;
        // What a source changed is reviewed, whatever it is.
        let line_ends = what == DiffKind::Installed && is_same_but_line_ends(old, new);
        self.outcome.skills.push(SkillDiff {
            name: one.name.to_string(),
            scope: self.scope.kind,
            source: one.entry.origin.to_string(),
            old: Side {
                what: DiffKind::Locked,
                requested: locked.requested.clone(),
                revision: locked.revision.clone(),
                digest: locked.digest.to_string(),
            },
            new: Side { what, requested, revision, digest: new.digest()?.to_string() },
            state: one.state.clone(),
            line_ends,
            diff: if line_ends {
                VersionDiff { review: Review::default(), diff: TreeDiff::new(old, new)? }
            } else {
                VersionDiff::new(old, new)?
            },
        });
        Ok(())
    }

    fn fail(&mut self, name: &SkillName, error: Error) {
        self.outcome.failures.push(error.context(format!("`{name}` cannot be compared")));
    }
}
