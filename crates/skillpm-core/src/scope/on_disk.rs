//! The kinds of things at the places of skills.

use std::path::{Path, PathBuf};

use crate::digest::Digest;
use crate::fs::{self, PathError};

/// The content of a place for a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OnDisk {
    /// Nothing.
    Absent,
    /// A directory with this digest; `None` if it holds what no skill may have.
    Tree(Option<Digest>),
    /// A link to the canonical copy, whether that exists or not.
    OurLink,
    /// A link to somewhere else.
    OtherLink(PathBuf),
    /// A link that leads to itself, perhaps through others: it has no content.
    Loop,
    /// A file that contains our link's text, as git writes it if it cannot make links: it counts as the link.
    Written,
    /// A file, or another kind of file system entry.
    Other,
}

/// The content of the directory of a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Inside {
    /// The digest of the skill; `None` if it cannot be read as one.
    pub digest: Option<Digest>,
    /// Whether there is a git repository in it, which the digest does not cover: its history, and what is on
    /// other branches, may be nowhere else.
    pub repository: bool,
}

/// The message about a directory that is in the way and contains a repository.
pub(crate) const HAS_REPOSITORY: &str = "holds a git repository, which skillpm could not keep for you";

/// Returns `dir` with links resolved for as much of it as exists.
pub(crate) fn real_dir(dir: &Path) -> Result<PathBuf, PathError> {
    for there in dir.ancestors() {
        if let (Some(real), Ok(rest)) = (fs::real_path(there)?, dir.strip_prefix(there)) {
            return Ok(real.join(rest));
        }
    }
    Ok(dir.to_owned())
}
