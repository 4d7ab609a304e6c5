//! `registry init`: makes a directory a registry.

use std::path::PathBuf;

use serde::Serialize;

use super::opened::{path, writer};
use crate::codes;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::registry::{RegistryDir, registry_name};
use crate::text::without_secrets;

/// A request to make a registry.
#[derive(Debug, Clone, Default)]
pub struct InitRequest {
    /// The directory; by default the working directory.
    pub dir: Option<PathBuf>,
    /// Its name; by default that of the directory.
    pub name: Option<String>,
    /// Whether nothing is to be written.
    pub dry_run: bool,
}

/// The outcome. The JSON form is an interface: fields are only added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InitOutcome {
    /// The directory.
    pub registry: String,
    /// The name of the registry.
    pub name: String,
    /// Whether nothing was written because it was only to be shown.
    pub dry_run: bool,
}

/// Makes a directory a registry without skills.
///
/// # Errors
///
/// Fails for a name that no registry can have, if the directory already is a registry, and if it cannot be written.
pub fn init(context: &Context, request: &InitRequest) -> Result<InitOutcome> {
    if let Some(dir) = &request.dir
        && let Some(address) = dir.to_str().filter(|dir| dir.contains("://"))
    {
        let message =
            format!("`{}` is an address, and a registry is made in a directory", without_secrets(address));
        return Err(Error::usage(message).hint("name a directory, and serve its files there"));
    }
    let dir = path(context, request.dir.as_deref());
    let name = match &request.name {
        Some(name) => registry_name(name)
            .map_err(|error| Error::usage(error.to_string()).coded(codes::NAME_NOT_PUBLISHABLE))?,
        None => RegistryDir::default_name(&dir)?,
    };
    let registry = dir.display().to_string();
    let outcome = InitOutcome { registry, name: name.to_string(), dry_run: request.dry_run };
    if request.dry_run {
        RegistryDir::check_new(&dir)?;
        return Ok(outcome);
    }
    let registry = RegistryDir::init(&dir, name)?;
    writer(context, &registry)?.index()?;
    Ok(outcome)
}
