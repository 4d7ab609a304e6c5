//! The private copy of a skill that a script runs from.
//!
//! What was checked and what runs must be the same bytes, also those of the files that a script reads
//! beside itself, and whatever happens to the skill's directory meanwhile. So the files are copied once,
//! and what is compared is the digest of the bytes that were written.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::Script;
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::fs;
use crate::tree::ReadError;

/// A copy of a skill, and a directory for what its script writes. Both go with the value.
pub(super) struct Stage {
    dir: TempDir,
    /// The skill's directory in the copy.
    skill: PathBuf,
    private: PathBuf,
    digest: Digest,
}

impl Stage {
    /// Copies the files of `script`, whose digest must be the one that is given, if one is.
    ///
    /// # Errors
    ///
    /// Files that are not those that were checked, or that cannot be read or written.
    pub(super) fn new(script: &Script) -> Result<Self> {
        let dir = fs::temp_dir()?;
        // As the system knows it: what a script may touch is told by such paths.
        let real = fs::real_path(dir.path())?.unwrap_or_else(|| dir.path().to_owned());
        let (skill, private) = (real.join("skill"), real.join("home"));
        let changed = || {
            Error::integrity(format!("the files of `{}` changed while they were checked", script.skill))
                .hint("nothing was run; `skillpm verify` tells what differs")
        };
        let digest = match fs::materialize(&script.files, &skill) {
            Ok(digest) => digest,
            // They are no longer what they were when they were listed.
            Err(ReadError::Refused(refusal)) => return Err(changed().because(refusal)),
            Err(error) => return Err(error.into()),
        };
        if script.digest.is_some_and(|expected| digest != expected) {
            return Err(changed());
        }
        fs::create_dir(&private)?;
        let skill = if script.base.is_empty() { skill } else { skill.join(&script.base) };
        Ok(Self { dir, skill, private, digest })
    }

    /// Where the skill lies in the copy.
    pub(super) fn skill(&self) -> &Path {
        &self.skill
    }

    /// Where the script may write.
    pub(super) fn private(&self) -> &Path {
        &self.private
    }

    /// Removes the copy, before the value goes where the process is about to end.
    pub(super) fn clear(&self) {
        // A script may have made directories that nobody may write to. What cannot be removed stays in
        // the system's temporary directory.
        let _ = fs::remove_tree(self.dir.path());
    }

    /// The digest of the copy.
    pub(super) fn digest(&self) -> Digest {
        self.digest
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.clear();
    }
}
