//! Publishing to the directory of a registry.

use std::path::Path;

use super::outcome::PublishRequest;
use crate::advice::{Opt, Verb, message};
use crate::codes;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::pack::Packed;
use crate::ops::registry::opened::{now, open, shown, writer};
use crate::registry::{Ledger, Package, Record, RegistryDir, Staged};

/// The directory of a registry.
pub(super) struct Directory(RegistryDir);

impl Directory {
    /// Opens the registry at `path`.
    ///
    /// # Errors
    ///
    /// Fails if the registry does not exist, or if `request` names a tag.
    pub(super) fn open(context: &Context, path: &Path, request: &PublishRequest) -> Result<Self> {
        let registry = open(context, Some(path))?;
        if request.tag.is_some() {
            return Err(no_tags());
        }
        Ok(Self(registry))
    }

    /// Returns its path.
    pub(super) fn shown(&self) -> String {
        shown(&self.0)
    }

    /// Adds `packed`. With `dry_run`, only checks whether that is possible.
    ///
    /// # Errors
    ///
    /// Fails if the registry has the version already, and if it cannot be read or written.
    pub(super) fn publish(&self, context: &Context, packed: &Packed, dry_run: bool) -> Result<()> {
        let package = Package::new(packed.bytes.clone())?;
        if dry_run {
            let staged = Ledger::new(&self.0).publish(&package, now(context)?)?;
            return check_new(&self.0, staged);
        }
        add(context, &self.0, &package)
    }
}

/// Returns the error for a tag where there are none.
pub(super) fn no_tags() -> Error {
    Error::usage("a registry has no tags: the version comes from the skill").hint(message!(
        "leave out ",
        Opt::Tag,
        ", which is for releases on GitHub: `github:OWNER/REPO`"
    ))
}

/// Adds `package` to `registry`.
fn add(context: &Context, registry: &RegistryDir, package: &Package) -> Result<()> {
    let mut writer = writer(context, registry)?;
    // If this was tried before and killed, it is completed now.
    let is_unfinished = registry.pending()?.contains(&package.facts.name);
    let staged = writer.stage(package, now(context)?)?;
    if !is_unfinished {
        check_new(registry, staged)?;
    }
    writer.commit()?;
    Ok(())
}

/// Fails if the registry already has what was staged.
fn check_new(registry: &RegistryDir, staged: Staged) -> Result<()> {
    match staged {
        Staged::New(_) => Ok(()),
        Staged::Already(there) => Err(already(registry, &there)),
    }
}

/// Returns the error for a version that the registry has with the same files.
fn already(registry: &RegistryDir, there: &Record) -> Error {
    let error =
        Error::usage(format!("`{}` {} is already published, with the same files", there.name, there.version))
            .coded(codes::VERSION_EXISTS);
    match registry.history(&there.name) {
        Ok(history) => {
            let next = history.next_patch(&there.version);
            error.hint(message!(
                format_args!("for other files the next version is `{next}`: "),
                Verb::Bump.call().word(&next)
            ))
        }
        // The registry has just been read.
        Err(_) => error,
    }
}
