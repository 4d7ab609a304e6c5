//! Publishing to the directory of a registry.

use std::path::Path;

use super::outcome::PublishRequest;
use crate::advice::{Opt, message};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::pack::Packed;
use crate::ops::registry::opened::{now, open, shown, writer};
use crate::registry::{Ledger, Package, RegistryDir, Staged};

/// The directory of a registry.
pub(super) struct Directory(RegistryDir);

impl Directory {
    /// Opens the registry at `path`.
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

    /// Adds `packed`. With `dry_run`, only checks whether that is possible. Returns whether the registry had the version
    /// already, with the same files.
    pub(super) fn publish(&self, context: &Context, packed: &Packed, dry_run: bool) -> Result<bool> {
        let package = Package::new(packed.bytes.clone())?;
        if dry_run {
            let staged = Ledger::new(&self.0).publish(&package, now(context)?)?;
            return Ok(matches!(staged, Staged::Already(_)));
        }
        let mut writer = writer(context, &self.0)?;
        // If this was tried before and killed, it is completed now.
        let is_unfinished = self.0.pending()?.contains(&package.facts.name);
        let staged = writer.stage(&package, now(context)?)?;
        writer.commit()?;
        Ok(matches!(staged, Staged::Already(_)) && !is_unfinished)
    }
}

/// Returns the error for a tag where there are none.
pub(super) fn no_tags() -> Error {
    Error::usage("a registry has no tags: the version comes from the skill").hint(message!(
        "leave out ",
        Opt::Tag,
        ", which is for releases on GitHub and for OCI registries"
    ))
}
