//! The only module that touches the file system.
//!
//! Everything here names the path in its errors, follows no link without being asked to, and leaves either
//! the old or the new file behind, never half of one.

#![expect(clippy::disallowed_methods, reason = "this room owns the file system")]

mod across;
mod append;
mod atomic;
mod beneath;
mod download;
mod file;
mod lines;
mod link;
mod list;
mod lock;
mod look;
mod opened;
mod operations;
mod own;
mod pending;
mod quick;
mod stat;
mod temp;
mod tree;
mod usage;
mod walk;
mod write;

pub use across::{beside, clear_moves, copy as copy_whole, is_leftover};
pub use append::{OpenLog, rotate, rotated};
pub use atomic::{
    exchange_file, holds, replace_file, sync_dir, write_atomic, write_out, write_over, write_private,
};
pub use beneath::{BeneathError, copy_beneath, read_beneath};
pub use download::{Download, Sink, remove_if_there, write_small, write_small_with};
pub use file::SharedFile;
pub use lines::each_line;
pub use link::{LinkKind, System, is_written_link, make_link, make_new, plain, relative, symlink};
pub use lock::{DirLock, FileLock};
#[cfg(target_os = "linux")]
pub use look::read_told;
pub use look::{
    Kind, bytes_in, exists, into_text, is_loop, is_of_root_alone, is_public, is_read_only, is_set_id, kind,
    list_dir, may_be_listed, may_execute, modified, read_capped, read_link, read_prefix, read_start,
    read_text, real_path, resolved,
};
pub use opened::read_regular;
pub use operations::{
    clear_away, create_dir, create_dir_all, exchange, make_private, move_new, remove_dir_if_empty,
    remove_link, remove_tree, temp_dir_in,
};
pub use own::{Exposure, Identity, Own, exposure_of, is_exposed, is_open_to_all, read_own};
pub use pending::{PendingDir, abandoned, clear_abandoned, is_abandoned, is_pending, remove_abandoned};
pub use quick::{Base, Looked, entries};
pub use stat::{FileStat, Moment, Stamp, is_unchanged, stamp, stat, stats, stats_but};
pub use temp::{
    anonymous_temp_file, clear_held, create_private_dir, held_temp_dir, is_empty_dir, temp_dir, temp_place,
};
pub use tree::{close, materialize, sync_filesystem};
pub use usage::{Usage, may_change, touch, usage};
pub use walk::{Walk, gather, scan, scan_places, tree_of};
pub use write::write_file;

use std::io;
use std::path::{Path, PathBuf};

/// An input or output error with its path and the action that failed.
#[derive(Debug, thiserror::Error)]
#[error("failed to {action} `{}`", path.display())]
pub struct PathError {
    /// The action, as a verb: `read`.
    pub action: &'static str,
    /// The path.
    pub path: PathBuf,
    /// The error of the operating system.
    pub source: io::Error,
}

impl PathError {
    /// Returns the same error once more, for one that is kept.
    #[must_use]
    pub fn again(&self) -> Self {
        let source = match self.source.raw_os_error() {
            Some(code) => io::Error::from_raw_os_error(code),
            None => io::Error::new(self.source.kind(), self.source.to_string()),
        };
        Self { action: self.action, path: self.path.clone(), source }
    }

    /// Reports whether the error means that nothing is there: also if a parent is not a directory.
    pub fn is_absent(&self) -> bool {
        look::is_absent(&self.source)
    }
}

/// Adds the action and the path to an [`io::Error`].
pub(crate) trait PathContext<T> {
    /// Returns the error as a [`PathError`].
    fn at(self, action: &'static str, path: &Path) -> Result<T, PathError>;
}

impl<T> PathContext<T> for io::Result<T> {
    fn at(self, action: &'static str, path: &Path) -> Result<T, PathError> {
        self.map_err(|source| PathError { action, path: path.to_owned(), source })
    }
}
