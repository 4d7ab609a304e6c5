//! The private copy of a skill that a script runs from.
//!
//! The checked bytes and the bytes that run must be the same, including those of other files that a script reads, even if
//! the skill's directory changes meanwhile. So the files are copied once, and the digest that is compared is that of the
//! bytes that were just written.

use std::path::{Path, PathBuf};
use std::sync::Once;

use tempfile::TempDir;

use super::Script;
use crate::advice::{Verb, message};
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::fs;
use crate::tree::ReadError;

/// The name of the copy in its directory.
const FILES: &str = "skill";
/// The name of the directory that the script may write to.
const PRIVATE: &str = "home";
/// The name of the virtual environment that is made for the script.
const ENVIRONMENT: &str = "environment";
/// The start of the names of the directories of copies.
const PREFIX: &str = ".skillpm-run-";

/// Whether this process has removed the copies that killed ones left.
static CLEARED: Once = Once::new();

/// A copy of a skill, and a directory that its script may write to. Both are removed on drop.
#[derive(Debug)]
pub(super) struct PrivateCopy {
    dir: TempDir,
    /// Shows other processes that this one still runs.
    _held: Option<fs::DirLock>,
    /// The skill's directory in the copy.
    skill: PathBuf,
    private: PathBuf,
    environment: PathBuf,
    digest: Digest,
}

impl PrivateCopy {
    /// Copies the files of `script` and checks their digest, if one is given.
    pub(super) fn of(script: &Script) -> Result<Self> {
        CLEARED.call_once(|| fs::clear_held(PREFIX));
        let (dir, held) = fs::held_temp_dir(PREFIX)?;
        // The real path, because access rights are given for real paths.
        let real = fs::real_path(dir.path())?.unwrap_or_else(|| dir.path().to_owned());
        let (files, private, environment) = (real.join(FILES), real.join(PRIVATE), real.join(ENVIRONMENT));
        let changed = || {
            Error::integrity(format!("the files of `{}` changed while they were checked", script.skill))
                .hint(message!("nothing was run; ", Verb::Verify, " shows what differs"))
        };
        let digest = match fs::materialize(&script.files, &files) {
            Ok(digest) => digest,
            // The files changed after they were listed.
            Err(ReadError::Refused(refusal)) => return Err(changed().because(refusal)),
            Err(error) => return Err(error.into()),
        };
        if script.digest.is_some_and(|expected| digest != expected) {
            return Err(changed());
        }
        fs::create_private_dir(&private)?;
        // A skill inside another one is looked up in the copy of the outer skill.
        let skill = if script.base.is_empty() { files } else { files.join(&script.base) };
        Ok(Self { dir, _held: held, skill, private, environment, digest })
    }

    /// Returns the path of the skill in the copy.
    pub(super) fn skill(&self) -> &Path {
        &self.skill
    }

    /// Returns the directory that the script may write to.
    pub(super) fn private(&self) -> &Path {
        &self.private
    }

    /// Returns the path for a virtual environment of the script, which may not write there.
    pub(super) fn environment(&self) -> &Path {
        &self.environment
    }

    /// Removes the copy now, for a process that is about to end without dropping the value.
    pub(super) fn clear(&self) {
        // A script may have made directories that are not writable. Files that cannot be removed stay in the system's
        // temporary directory.
        let _ = fs::remove_tree(self.dir.path());
    }

    /// Returns the digest of the copy.
    pub(super) fn digest(&self) -> Digest {
        self.digest
    }
}

impl Drop for PrivateCopy {
    fn drop(&mut self) {
        self.clear();
    }
}
