//! A static registry on disk: one directory that any web host can serve.
//!
//! The formats are those of [`skillpm_format::registry`]; this room reads and writes the files. [`RegistryDir`] reads,
//! and [`Writer`], which holds the registry's lock, changes it. The truth is created once and never changed; everything
//! else is derived from it, and a writer that is killed leaves a marker by which the next one derives it again. See
//! `docs/design/registry.md`.

mod adopt;
mod create;
mod derive;
mod dir;
mod error;
mod ledger;
mod package;
mod resume;
mod staging;
#[cfg(test)]
mod tests;
mod verify;
mod writer;

pub use skillpm_format::registry::*;

pub use adopt::{BUNDLE_LIMITS, check_archive, check_archive_bytes};
pub use create::NewRegistry;
pub use derive::{Derived, LeftOut};
pub use dir::RegistryDir;
pub use error::not_publishable;
pub use ledger::{Ledger, Staged, stage};
pub use package::{Package, check_portable, files_in};
pub use verify::{Announcements, Defect, DefectKind, Verified};
pub use writer::Writer;
