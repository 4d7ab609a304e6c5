//! A registry: files in one directory that any web host can serve, or in a bucket.
//!
//! The formats are those of [`skillpm_format::registry`]; this room reads and writes the files. [`Objects`] is what they lie
//! in: a [`RegistryDir`], or a [`Bucket`] of a server. Everything is read through it, [`Writer`] changes it, and [`verify()`]
//! reads every byte. The truth is created once and never changed; in a directory everything else is derived from it, and a
//! writer that is killed leaves a marker by which the next one derives it again. See `docs/design/registry.md`.

mod adopt;
mod announced;
mod change;
mod create;
mod derive;
mod dir;
mod dir_staging;
mod error;
mod ledger;
mod objects;
mod package;
mod read;
mod resume;
mod staging;
#[cfg(test)]
mod tests;
mod verify;
mod writer;

pub use skillpm_format::registry::*;

pub use adopt::{BUNDLE_LIMITS, check_archive};
pub use change::{Decide, Publication, change, publish};
pub use create::NewRegistry;
pub use derive::Derived;
pub use dir::RegistryDir;
pub use error::not_publishable;
pub use ledger::{Ledger, Staged, no_skill};
pub use objects::{Bucket, Carrier, LogEnd, Objects};
pub use package::{Package, check_portable, document_of, files_in};
pub use package::{digest_of, shared};
pub use read::parsed;
pub use read::{ReadFiles, config, read};
pub use verify::{Defect, DefectKind, Verified, verify};
pub use writer::Writer;
