//! The registry that a request is about.

use std::path::{Path, PathBuf};

use crate::context::Context;
use crate::env;
use crate::error::Result;
use crate::registry::{RegistryDir, Timestamp, Writer};

/// Opens the registry in `dir`, which is relative to the working directory and by default that directory.
pub(in crate::ops) fn open(context: &Context, dir: Option<&Path>) -> Result<RegistryDir> {
    RegistryDir::open(&path(context, dir))
}

/// Returns the directory that `dir` names.
pub(in crate::ops) fn path(context: &Context, dir: Option<&Path>) -> PathBuf {
    let cwd = &context.settings.cwd;
    dir.map_or_else(|| cwd.clone(), |dir| cwd.join(dir))
}

/// Returns the path of `registry` for the outcome.
pub(in crate::ops) fn shown(registry: &RegistryDir) -> String {
    registry.path().display().to_string()
}

/// Returns the one writer of `registry`, after waiting for others.
pub(in crate::ops) fn writer<'a>(context: &Context, registry: &'a RegistryDir) -> Result<Writer<'a>> {
    Writer::new(registry, || context.reporter.waiting_for_lock(registry.path()))
}

/// Returns the time that is written into records and events.
pub(in crate::ops) fn now(context: &Context) -> Result<Timestamp> {
    let seconds = match context.settings.source_date()? {
        Some(seconds) => seconds,
        None => i64::try_from(env::now()).unwrap_or(i64::MAX),
    };
    Ok(Timestamp::new(seconds))
}
