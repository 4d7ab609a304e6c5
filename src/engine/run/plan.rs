//! What a script may touch, and what the system does about it.

use std::path::PathBuf;

/// What a script may touch.
#[derive(Debug, Clone, Default)]
pub(super) struct Plan {
    /// Files are kept from it.
    pub(super) files: bool,
    /// Directories and files that it may read, beside the system's.
    pub(super) read: Vec<PathBuf>,
    /// Those that it may also write.
    pub(super) write: Vec<PathBuf>,
    /// Its mark cannot be changed.
    pub(super) keep_mark: bool,
    /// The network is kept from it.
    pub(super) no_network: bool,
}

impl Plan {
    /// Whether anything is kept from it.
    pub(super) fn restricts(&self) -> bool {
        self.files || self.keep_mark || self.no_network
    }
}

/// What was done of a [`Plan`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Done {
    /// The version of Landlock that keeps files from it.
    pub(super) landlock: Option<u32>,
    /// Whether it keeps from it all that it should.
    pub(super) whole: bool,
    /// Whether system calls are filtered.
    pub(super) seccomp: bool,
}
