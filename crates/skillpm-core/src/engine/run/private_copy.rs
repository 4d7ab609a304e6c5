//! The private copy of a skill that a script runs from.
//!
//! What was checked and what runs must be the same bytes, including those of the other files that a script reads,
//! whatever happens to the skill's directory meanwhile. So the files are copied once, and what is compared is the
//! digest of the bytes that were written, or still are there from a run before.

use std::mem;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::Script;
use super::copy_pool::CopyPool;
use crate::advice::{Verb, message};
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::fs;
use crate::refusal::Limits;
use crate::tree::{Node, ReadError};

/// The name of the copy in its directory.
const FILES: &str = "skill";
/// The name of the directory for what the script writes.
const PRIVATE: &str = "home";

/// A copy of a skill, and a directory for what its script writes. Both are removed with the value.
#[derive(Debug)]
pub(super) struct PrivateCopy {
    dir: TempDir,
    /// The copy.
    files: PathBuf,
    /// The skill's directory in it.
    skill: PathBuf,
    private: PathBuf,
    digest: Digest,
}

impl PrivateCopy {
    /// Takes the copy of `script` out of `copies`, or makes one.
    ///
    /// # Errors
    ///
    /// Fails as [`PrivateCopy::new`] does.
    pub(super) fn of(script: &Script, copies: &CopyPool) -> Result<Self> {
        let waits = script.digest.and_then(|digest| copies.take(digest));
        let mut stage = match waits.filter(Self::renew) {
            Some(stage) => stage,
            None => Self::new(script)?,
        };
        // A skill that is inside another one is looked up in the copy of the latter.
        stage.skill =
            if script.base.is_empty() { stage.files.clone() } else { stage.files.join(&script.base) };
        Ok(stage)
    }

    /// Copies the files of `script`, whose digest must be the one that is given, if one is.
    ///
    /// # Errors
    ///
    /// Fails for files that are not those that were checked, or that cannot be read or written.
    fn new(script: &Script) -> Result<Self> {
        let dir = fs::temp_dir()?;
        // The path as the system knows it: access rights are stated with such paths.
        let real = fs::real_path(dir.path())?.unwrap_or_else(|| dir.path().to_owned());
        let (files, private) = (real.join(FILES), real.join(PRIVATE));
        let changed = || {
            Error::integrity(format!("the files of `{}` changed while they were checked", script.skill))
                .hint(message!("nothing was run; ", Verb::Verify, " shows what differs"))
        };
        let digest = match fs::materialize(&script.files, &files) {
            Ok(digest) => digest,
            // They are no longer what they were when they were listed.
            Err(ReadError::Refused(refusal)) => return Err(changed().because(refusal)),
            Err(error) => return Err(error.into()),
        };
        if script.digest.is_some_and(|expected| digest != expected) {
            return Err(changed());
        }
        fs::create_private_dir(&private)?;
        Ok(Self { dir, skill: files.clone(), files, private, digest })
    }

    /// Gives a waiting copy an empty directory to write to, to which no living process has access. Returns whether it
    /// can be used again: nobody but this user could reach it, nothing is beside it, and it is as it was made.
    fn renew(&self) -> bool {
        let dir = self.dir.path();
        let is_private = match fs::list_dir(dir) {
            Ok(names) if names == [FILES] => fs::create_private_dir(&self.private).is_ok(),
            Ok(names) if names == [PRIVATE, FILES] => self.is_empty(),
            Ok(_) | Err(_) => false,
        };
        is_private && fs::is_private_dir(dir) && self.is_unchanged()
    }

    /// Reports whether the directory for what the script writes is as it was made.
    fn is_empty(&self) -> bool {
        fs::is_private_dir(&self.private) && fs::is_empty_dir(&self.private)
    }

    /// Reports whether the files of the copy are those that were made: their names, their bytes and which are
    /// executable.
    fn is_unchanged(&self) -> bool {
        if !matches!(fs::kind(&self.files), Ok(Some(fs::Kind::Directory))) {
            return false;
        }
        let Ok(tree) = fs::tree_of(&self.files) else { return false };
        // A script could still find files that are not part of a skill.
        let is_plain = !tree.has_repository()
            && tree.entries().all(|(_, entry)| matches!(entry.node, Node::File { .. }));
        let digest = tree.skill("", &Limits::default()).and_then(|files| files.digest());
        is_plain && digest.is_ok_and(|digest| digest == self.digest)
    }

    /// Returns whether the script left nothing where it could write. Unless it `was_alone`, that directory is removed:
    /// a process that no list shows could still write there, but has no access to a new directory.
    pub(super) fn tidy(&self, was_alone: bool) -> bool {
        was_alone && self.is_empty() || fs::remove_dir_if_empty(&self.private)
    }

    /// Reports whether anyone who may write to `dir` may write to this, or to a part of it.
    pub(super) fn is_near(&self, dir: &Path) -> bool {
        self.files.starts_with(dir) || self.files.parent().is_some_and(|own| dir.starts_with(own))
    }

    /// Returns where the skill is in the copy.
    pub(super) fn skill(&self) -> &Path {
        &self.skill
    }

    /// Returns where the script may write.
    pub(super) fn private(&self) -> &Path {
        &self.private
    }

    /// Removes the copy before the value is dropped, if the process is about to end.
    pub(super) fn clear(&self) {
        // A script may have made directories that are not writable. What cannot be removed stays in the system's
        // temporary directory.
        let _ = fs::remove_tree(self.dir.path());
    }

    /// Returns the digest of the copy.
    pub(super) fn digest(&self) -> Digest {
        self.digest
    }

    /// Lets the copy stay: it is of another process.
    pub(super) fn leave(self) {
        // What is left in memory goes with the process, which was forked off the owner.
        mem::forget(self);
    }
}

impl Drop for PrivateCopy {
    fn drop(&mut self) {
        self.clear();
    }
}
