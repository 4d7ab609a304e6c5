//! The journal of a transaction: what was begun, so that it can be finished.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::install::plan::Step;

/// The version of the format. A journal of another version is an error, never guessed at.
const VERSION: u32 = 1;

/// What a transaction does, in this order: the steps, the lockfile, the manifest.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Journal {
    version: u32,
    pub(super) steps: Vec<Step>,
    pub(super) manifest: Option<Change>,
    pub(super) lockfile: Option<Change>,
}

/// One of the two files that changes: the digests of its text before and after.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Change {
    pub(super) old: Option<Digest>,
    pub(super) new: Digest,
}

impl Journal {
    pub(super) fn new(steps: Vec<Step>, lockfile: Option<Change>, manifest: Option<Change>) -> Self {
        Self { version: VERSION, steps, manifest, lockfile }
    }

    /// Reads a journal.
    ///
    /// # Errors
    ///
    /// Why it cannot be used, for people.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let journal: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if journal.version != VERSION {
            return Err(format!("it has version {}", journal.version));
        }
        Ok(journal)
    }
}
