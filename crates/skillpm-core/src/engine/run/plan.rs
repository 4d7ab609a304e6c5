//! What a script may access, and what the system enforces.

use std::path::PathBuf;

use super::{Mode, Options};

/// The restrictions for a script.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is kept from it or not")]
pub(super) struct Plan {
    /// Files are, but for those of the system and those that are [`Open`].
    pub(super) files: bool,
    /// Its mark cannot be changed.
    pub(super) keep_mark: bool,
    /// The network is.
    pub(super) no_network: bool,
    /// Sockets of this machine are, but for pairs.
    pub(super) no_unix_sockets: bool,
}

impl Plan {
    /// Returns what `options` ask for.
    pub(super) fn of(options: &Options) -> Self {
        let sandboxed = options.sandbox != Mode::Off;
        let no_network = options.no_network;
        let no_unix_sockets = (sandboxed || no_network) && !options.unix_sockets;
        Self { files: sandboxed, keep_mark: sandboxed, no_network, no_unix_sockets }
    }

    /// Reports whether anything is kept from it.
    pub(super) fn restricts(self) -> bool {
        self.files || self.keep_mark || self.no_network
    }
}

/// What a script may access besides the system's files.
#[derive(Debug, Clone, Default)]
pub(super) struct Open {
    /// Directories and files that it may read.
    pub(super) read: Vec<PathBuf>,
    /// Those that it may also write.
    pub(super) write: Vec<PathBuf>,
}

/// The part of a [`Plan`] that was enforced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Done {
    /// The version of Landlock that keeps files from it.
    pub(super) landlock: Option<u32>,
    /// Whether it keeps from it all that it should.
    pub(super) whole: bool,
    /// Whether system calls are filtered.
    pub(super) seccomp: bool,
}
