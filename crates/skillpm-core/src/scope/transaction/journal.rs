//! The journal of a transaction: what was begun, so that it can be finished.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::name::SkillName;
use crate::scope::step::{Location, Step};
use crate::scope_kind::ScopeKind;

/// The version of the format. A journal of another version is an error, never guessed at.
const VERSION: u32 = 1;

/// The changes of a transaction, in this order: the steps, the lockfile, the manifest.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Journal {
    version: u32,
    /// The scope that changes: in the user's home both share one directory. If missing, it is the reader's
    /// scope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) scope: Option<ScopeKind>,
    pub(super) steps: Vec<Step>,
    pub(super) manifest: Option<Change>,
    pub(super) lockfile: Option<Change>,
    /// The records of merges that are removed or restored, by skill.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) merges: BTreeMap<SkillName, Change>,
    /// The number N of each step's `tree-N`; the step's own number if there is no list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) slots: Vec<usize>,
    /// The links that the steps set aside, by the number of their `tree-N`: the digest of each link's text.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) links: BTreeMap<usize, Digest>,
    /// Directories that did not exist before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) made: Vec<Made>,
    /// Directories that are removed again if they are empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) emptied: Vec<Made>,
    /// Whether this transaction takes back another one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) back: bool,
    /// Whether it repeats a change that was taken back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) redo: bool,
}

/// A change of one of the two files: the digests of its text before and after; `None` if there is no file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Change {
    pub(super) old: Option<Digest>,
    pub(super) new: Option<Digest>,
}

/// The directory of a place, and how many of it and its ancestors a transaction creates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Made {
    pub(super) place: Location,
    pub(super) levels: usize,
}

impl Journal {
    pub(super) fn new(
        scope: ScopeKind,
        steps: Vec<Step>,
        lockfile: Option<Change>,
        manifest: Option<Change>,
    ) -> Self {
        let (slots, links, merges) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        let (made, emptied) = (Vec::new(), Vec::new());
        let (version, scope, back, redo) = (VERSION, Some(scope), false, false);
        Self { version, scope, steps, manifest, lockfile, merges, slots, links, made, emptied, back, redo }
    }

    /// Returns the number N of the `tree-N` of step `at`.
    pub(super) fn slot(&self, at: usize) -> usize {
        self.slots.get(at).copied().unwrap_or(at)
    }

    /// Parses a journal.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let journal: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if journal.version != VERSION {
            return Err(format!("it has version {}", journal.version));
        }
        Ok(journal)
    }
}
