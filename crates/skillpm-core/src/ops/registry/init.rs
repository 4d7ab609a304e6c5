//! `registry init`: makes a directory a registry.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use super::opened::path;
use crate::advice::{Opt, message};
use crate::codes;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::registry::{NewRegistry, registry_name};
use crate::text::without_secrets;

/// A request to make a registry.
#[derive(Debug, Clone, Default)]
pub struct InitRequest {
    /// The directory; by default the working directory.
    pub dir: Option<PathBuf>,
    /// The name; by default that of the directory.
    pub name: Option<String>,
    /// Whether files that are not the registry's are replaced.
    pub force: bool,
    /// Whether nothing is to be written.
    pub dry_run: bool,
}

/// The outcome. The JSON form is an interface: fields are only added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "RegistryInitOutcome")]
pub struct InitOutcome {
    /// The directory.
    pub registry: String,
    /// The name of the registry.
    pub name: String,
    /// The files that were not the registry's and were replaced, below the directory.
    pub replaced: Vec<String>,
    /// The files that were not the registry's and in its way, and were removed.
    pub removed: Vec<String>,
    /// Whether nothing was written because it was only to be shown.
    pub dry_run: bool,
}

/// Makes a directory a registry without skills. One that was begun and left unfinished is completed.
///
/// # Errors
///
/// Fails for a name that no registry can have, if the directory already is a registry, if it has files that are not the
/// registry's and `request` does not replace them, and if it cannot be written. Nothing is left then.
pub fn init(context: &Context, request: &InitRequest) -> Result<InitOutcome> {
    if let Some(dir) = &request.dir
        && let Some(address) = dir.to_str().filter(|dir| dir.contains("://"))
    {
        let message =
            format!("`{}` is an address, and a registry is made in a directory", without_secrets(address));
        return Err(Error::usage(message).hint("name a directory, and serve its files there"));
    }
    let dir = path(context, request.dir.as_deref());
    let name = request.name.as_deref().map(registry_name).transpose();
    let name = name.map_err(|error| Error::usage(error.to_string()).coded(codes::NAME_NOT_PUBLISHABLE))?;
    let new = NewRegistry::new(&dir, name.as_ref())?;
    if !request.force {
        check(&new)?;
    }
    let outcome = InitOutcome {
        registry: dir.display().to_string(),
        name: new.name().to_string(),
        replaced: new.replaced().to_vec(),
        removed: new.removed().to_vec(),
        dry_run: request.dry_run,
    };
    if !request.dry_run {
        new.create(|| context.reporter.waiting_for_lock(&dir))?;
    }
    Ok(outcome)
}

/// Fails if `new` would replace or remove a file that is not the registry's.
pub(super) fn check(new: &NewRegistry) -> Result<()> {
    new.check().map_err(|error| {
        error.hint(message!("name another directory; ", Opt::Force, " replaces or removes these files"))
    })
}
