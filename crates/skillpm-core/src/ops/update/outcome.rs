//! The outcome of an update: what it did, or would do.

use schemars::JsonSchema;
use serde::Serialize;

use crate::advice::{Message, Warning};
use crate::error::Failure;
use crate::fetch::policy_check::PolicyDecision;
use crate::lockfile::Locked;
use crate::merge::{self, Conflict, Outcome, Prefer};
use crate::ops::diff::{Counts, FileStatus, VersionDiff};
use crate::path::SafePath;
use crate::review::Review;
use crate::scope::changes::PathChange;
use crate::scope::merges::Disputed;
use crate::scope::plan::{ChangedFiles, NewLink, Step};
use crate::scope_kind::ScopeKind;
use crate::updates::SourceState;

/// The outcome of an update. The JSON form is an interface: fields are only ever added.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct UpdateOutcome {
    /// Where the skills are.
    pub scope: Option<ScopeKind>,
    /// Whether nothing was changed because a plan was asked for.
    pub dry_run: bool,
    /// The skills that were examined, sorted by name.
    pub skills: Vec<UpdatedSkill>,
    /// The steps that were or would be taken, in order.
    pub steps: Vec<Step>,
    /// The links that were or would be made.
    pub links: Vec<NewLink>,
    /// The paths that were or would be changed.
    pub paths: Vec<PathChange>,
    /// Which files changed or would change.
    #[serde(rename = "files_changed")]
    pub files: ChangedFiles,
    /// Skills with new capabilities without consent.
    pub refused: Vec<String>,
    /// The failures.
    pub failures: Vec<UpdateFailure>,
    /// The policy lines that decided about the sources.
    pub decided: Vec<PolicyDecision>,
    /// The warnings.
    pub warnings: Vec<Warning>,
    /// The directory of the skills, as it is named in the working directory.
    #[serde(skip)]
    pub place: String,
    /// Where there are skills, if the scope has none.
    #[serde(skip)]
    pub elsewhere: Option<Message>,
}

/// A skill that was examined. The JSON form of a value of this type is an interface: fields are only added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UpdatedSkill {
    /// The name under which it is installed.
    pub name: String,
    /// The source.
    pub source: String,
    /// The change.
    pub change: UpdateChange,
    /// The version that was locked; `None` if none was.
    pub from: Option<Version>,
    /// The version that is locked now; `None` if that has not changed.
    pub to: Option<Version>,
    /// The state of the source, as `outdated` reports it.
    #[serde(flatten)]
    pub state: SourceState,
    /// Whether it is currently hidden from agents.
    pub disabled: bool,
    /// The review of the new version; `None` if it has nothing to review.
    pub review: Option<Review>,
    /// The amount of change between the two versions.
    pub counts: Option<Counts>,
    /// The files that differ between the two versions.
    pub files: Vec<ChangedFile>,
    /// The result for the files that the user had changed, or that a user has to resolve.
    pub merge: Vec<MergedPath>,
}

/// The change of a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UpdateChange {
    /// The new version took its place.
    Updated,
    /// The new version took its place, and what the user changed is in it.
    Merged,
    /// The new version took its place, and the user's changes need a review.
    Conflict,
    /// It was not there: another one needs it now.
    Added,
    /// It was removed: an unrequested skill that no other skill needs any more.
    Removed,
    /// The source has nothing newer.
    Unchanged,
    /// The manifest names a commit.
    Pinned,
    /// It is a link to a directory in which it is written.
    Editable,
    /// It is in the manifest and not installed.
    Missing,
    /// An earlier merge has to be examined first.
    Unresolved,
    /// An earlier merge was decided for one side.
    Resolved,
    /// An earlier merge was taken back.
    Aborted,
    /// It could not be asked for or used: the failures say why.
    Failed,
}

/// One version of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Version {
    /// The version as the skill writes it.
    pub version: Option<String>,
    /// The revision that is asked for; `None` is the default branch.
    pub requested: Option<String>,
    /// The commit.
    pub revision: Option<String>,
    /// The digest.
    pub digest: String,
}

/// A file that differs between two versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChangedFile {
    /// Where it is below the skill's directory.
    pub path: SafePath,
    /// The change.
    pub status: FileStatus,
}

/// The result for a file that the user had changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MergedPath {
    /// Where it is below the skill's directory.
    pub path: SafePath,
    /// `ours`, `theirs`, `same`, `merged`, `conflict`, or `decided` where a side was asked for.
    pub result: &'static str,
    /// Why it cannot be merged, where it cannot.
    pub conflict: Option<Conflict>,
    /// The side whose file is there, where a side was asked for.
    pub side: Option<Prefer>,
    /// Where the user's file is kept as it was.
    pub kept: Option<SafePath>,
}

/// Something that could not be asked or used; its skills stay as they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UpdateFailure {
    /// The skills.
    pub names: Vec<String>,
    /// The reason.
    #[serde(flatten)]
    pub why: Failure,
}

impl UpdateOutcome {
    /// Returns the skills whose merge a user has to resolve, with the files.
    pub fn conflicts(&self) -> impl Iterator<Item = (&UpdatedSkill, Vec<&MergedPath>)> {
        self.skills.iter().filter_map(|skill| {
            let open: Vec<_> = skill.merge.iter().filter(|path| path.result == "conflict").collect();
            (!open.is_empty()).then_some((skill, open))
        })
    }

    /// Reports whether a user has to resolve merges.
    pub fn has_open_merges(&self) -> bool {
        let is_open = |change| matches!(change, UpdateChange::Conflict | UpdateChange::Unresolved);
        self.skills.iter().any(|skill| is_open(skill.change))
    }
}

impl UpdatedSkill {
    pub(super) fn new(name: &str, source: String, change: UpdateChange, from: Option<&Locked>) -> Self {
        Self {
            name: name.to_owned(),
            source,
            change,
            from: from.map(Version::of),
            to: None,
            state: SourceState::default(),
            disabled: false,
            review: None,
            counts: None,
            files: Vec::new(),
            merge: Vec::new(),
        }
    }

    pub(super) fn compared(&mut self, diff: &VersionDiff) {
        self.review = Some(diff.review.clone());
        self.counts = Some(diff.diff.counts);
        self.files = diff
            .diff
            .files
            .iter()
            .map(|file| ChangedFile { path: file.path.clone(), status: file.status })
            .collect();
    }
}

impl Version {
    pub(super) fn of(locked: &Locked) -> Self {
        Self {
            version: locked.version.clone(),
            requested: locked.requested.clone(),
            revision: locked.revision.clone(),
            digest: locked.digest.to_string(),
        }
    }
}

impl MergedPath {
    /// Returns what to report about a path that has been unresolved since an earlier update.
    pub(super) fn open(disputed: &Disputed) -> Self {
        let Disputed { path, conflict, kept } = disputed.clone();
        Self { path, result: "conflict", conflict: Some(conflict), side: None, kept }
    }

    /// Returns what to report about `file`; `None` if the user has nothing to do with it.
    pub(super) fn of(file: &merge::MergedFile) -> Option<Self> {
        let (result, conflict, side) = match file.outcome {
            Outcome::Unchanged | Outcome::Theirs => return None,
            Outcome::Ours => ("ours", None, None),
            Outcome::Same => ("same", None, None),
            Outcome::Merged => ("merged", None, None),
            Outcome::Conflict(conflict) => ("conflict", Some(conflict), None),
            Outcome::Decided(conflict, side) => ("decided", Some(conflict), Some(side)),
        };
        Some(Self { path: file.path.clone(), result, conflict, side, kept: file.kept.clone() })
    }
}
