//! The private copy of a skill that a script runs from.
//!
//! The checked bytes and the bytes that run must be the same, including those of other files that a script reads,
//! whatever happens to the skill's directory meanwhile. So the files are copied once, and the digest that is compared
//! is that of the bytes in the copy, which were just written or are left from an earlier run.

use std::mem;
use std::path::{Path, PathBuf};
use std::sync::Once;

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
/// The name of the directory that the script may write to.
const PRIVATE: &str = "home";
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
    /// The directory of the copy.
    files: PathBuf,
    /// The skill's directory in the copy.
    skill: PathBuf,
    private: PathBuf,
    digest: Digest,
}

impl PrivateCopy {
    /// Takes a copy of `script` from `copies`, or makes one.
    pub(super) fn of(script: &Script, copies: &CopyPool) -> Result<Self> {
        let waits = script.digest.and_then(|digest| copies.take(digest));
        let mut stage = match waits.filter(Self::renew) {
            Some(stage) => stage,
            None => Self::new(script)?,
        };
        // A skill inside another one is looked up in the copy of the outer skill.
        stage.skill =
            if script.base.is_empty() { stage.files.clone() } else { stage.files.join(&script.base) };
        Ok(stage)
    }

    /// Copies the files of `script` and checks their digest, if one is given.
    fn new(script: &Script) -> Result<Self> {
        CLEARED.call_once(|| fs::clear_held(PREFIX));
        let (dir, held) = fs::held_temp_dir(PREFIX)?;
        // The real path, because access rights are given for real paths.
        let real = fs::real_path(dir.path())?.unwrap_or_else(|| dir.path().to_owned());
        let (files, private) = (real.join(FILES), real.join(PRIVATE));
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
        Ok(Self { dir, _held: held, skill: files.clone(), files, private, digest })
    }

    /// Gives a waiting copy an empty directory to write to, which no live process can access. Returns whether the copy
    /// can be used again: only this user could access it, nothing else is beside it, and it is unchanged.
    fn renew(&self) -> bool {
        let dir = self.dir.path();
        let is_private = match fs::list_dir(dir) {
            Ok(names) if names == [FILES] => fs::create_private_dir(&self.private).is_ok(),
            Ok(names) if names == [PRIVATE, FILES] => self.is_empty(),
            Ok(_) | Err(_) => false,
        };
        is_private && fs::is_private_dir(dir) && self.is_unchanged()
    }

    /// Reports whether the directory that the script may write to is empty and private.
    fn is_empty(&self) -> bool {
        fs::is_private_dir(&self.private) && fs::is_empty_dir(&self.private)
    }

    /// Reports whether the files of the copy are unchanged: their names, their bytes and their executable bits.
    fn is_unchanged(&self) -> bool {
        if !matches!(fs::kind(&self.files), Ok(Some(fs::Kind::Directory))) {
            return false;
        }
        let Ok(tree) = fs::tree_of(&self.files) else { return false };
        // The digest covers only the files of a skill, but a script could find others.
        let is_plain = !tree.has_repository()
            && tree.entries().all(|(_, entry)| matches!(entry.node, Node::File { .. }));
        let digest = tree.skill("", &Limits::default()).and_then(|files| files.digest());
        is_plain && digest.is_ok_and(|digest| digest == self.digest)
    }

    /// Returns whether the script left no files that it wrote. Unless it `was_alone`, its directory is removed: a
    /// process that no list shows could still write there, but cannot access a new directory.
    pub(super) fn tidy(&self, was_alone: bool) -> bool {
        was_alone && self.is_empty() || fs::remove_dir_if_empty(&self.private)
    }

    /// Reports whether a process that may write to `dir` may write to this copy, or to a part of it.
    pub(super) fn is_near(&self, dir: &Path) -> bool {
        self.files.starts_with(dir) || self.files.parent().is_some_and(|own| dir.starts_with(own))
    }

    /// Returns the path of the skill in the copy.
    pub(super) fn skill(&self) -> &Path {
        &self.skill
    }

    /// Returns the directory that the script may write to.
    pub(super) fn private(&self) -> &Path {
        &self.private
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

    /// Forgets the copy without removing it, because it belongs to another process.
    pub(super) fn leave(self) {
        // The memory is freed when this process, which was forked from the owner, ends.
        mem::forget(self);
    }
}

impl Drop for PrivateCopy {
    fn drop(&mut self) {
        self.clear();
    }
}
