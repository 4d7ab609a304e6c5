//! The files of a static registry: one directory that holds versions of skills, and that any web host can serve.
//!
//! The truth is one [`Record`] for each version and one [`Event`] for each later change; these files are created once
//! and never changed. A [`LogEntry`] announces them. Everything else is derived from them: a [`NameList`] for each skill, the [`SearchIndex`], and the
//! files that other tools read. [`files`] has the path of each file.
//!
//! Readers ignore fields that they do not know. Every `parse` function takes bytes that a stranger may have written.

mod account;
mod config;
mod derived;
mod error;
mod event;
mod facts;
pub mod files;
mod history;
mod json;
mod list;
mod log;
mod names;
mod reason;
mod record;
mod search;
#[cfg(test)]
mod tests;
mod timestamp;

pub use account::{Account, AccountError, RepositoryChange, TrustedPublisher};
pub use config::Config;
pub use derived::{Head, ai_catalog, are_versions, discovery, heads, versions};
pub use error::FileError;
pub use event::{Event, Visibility};
pub use facts::{Facts, FactsError};
pub use history::{History, HistoryError};
pub use list::{Listed, NameList};
pub use log::{LogChange, LogEntry};
pub use names::{NameRefusal, exact_name, registry_name, registry_version};
pub use reason::{MAX_REASON, ReasonRefusal, yank_reason};
pub use record::{Artifact, Provenance, Record};
pub use search::{SearchIndex, SearchSkill};
pub use timestamp::Timestamp;

/// The format that is written, and the newest one that is read.
pub const FORMAT: u64 = 1;
/// The largest number of bytes of a file of the registry, artifacts apart.
pub const MAX_FILE: u64 = 64 << 20;
/// The largest number of versions of one skill.
pub const MAX_VERSIONS: usize = 10_000;
/// The largest number of dependencies of one version. Each of them can cause a request, so a longer list would waste the
/// time of every reader.
pub const MAX_DEPENDENCIES: usize = 256;
/// The largest number of characters in a version. A version is part of a file name.
pub const MAX_VERSION_CHARS: usize = 128;
