//! The restrictions for a script, and those that the system enforced.

use std::path::PathBuf;

use super::{Mode, Options};

/// The restrictions for a script.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is kept from it or not")]
pub(super) struct Plan {
    /// Whether it may access only files of the system and those that are [`Open`].
    pub(super) files: bool,
    /// Whether it is prevented from changing its mark.
    pub(super) keep_mark: bool,
    /// Whether the network is blocked.
    pub(super) no_network: bool,
    /// Whether unix sockets except pairs are blocked.
    pub(super) no_unix_sockets: bool,
}

impl Plan {
    /// Returns the restrictions that `options` ask for.
    pub(super) fn of(options: &Options) -> Self {
        let sandboxed = options.sandbox != Mode::Off;
        let no_network = options.no_network;
        let no_unix_sockets = (sandboxed || no_network) && !options.unix_sockets;
        Self { files: sandboxed, keep_mark: sandboxed, no_network, no_unix_sockets }
    }

    /// Reports whether there is any restriction.
    pub(super) fn restricts(self) -> bool {
        self.files || self.keep_mark || self.no_network
    }
}

/// The files that a script may access in addition to those of the system.
#[derive(Debug, Clone, Default)]
pub(super) struct Open {
    /// Directories and files that it may read.
    pub(super) read: Vec<PathBuf>,
    /// Directories and files that it may also write.
    pub(super) write: Vec<PathBuf>,
}

/// The part of a [`Plan`] that was enforced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Done {
    /// The version of Landlock that restricts its access to files.
    pub(super) landlock: Option<u32>,
    /// Whether Landlock enforces all restrictions on files.
    pub(super) whole: bool,
    /// Whether system calls are filtered.
    pub(super) seccomp: bool,
}
