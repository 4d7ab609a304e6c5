//! The fetcher of a scope.

use super::sources::Sources;
use crate::advice::Warning;
use crate::context::Context;
use crate::error::Result;
use crate::install::scope::Scope;
use crate::install::state::Files;

/// A fetcher for the skills of a scope, which opens each source once, under the policy.
pub(in crate::ops) struct Fetcher<'a> {
    /// What runs the verb.
    pub(super) context: &'a Context,
    /// Where the skills are.
    pub(super) scope: &'a Scope,
    /// Its manifest and lockfile.
    pub(super) files: &'a Files,
    /// The open sources.
    pub(in crate::ops) sources: Sources<'a>,
    /// Warnings for the user.
    pub(in crate::ops) warnings: Vec<Warning>,
}

impl<'a> Fetcher<'a> {
    /// Returns a fetcher that has opened nothing yet.
    pub(in crate::ops) fn new(context: &'a Context, scope: &'a Scope, files: &'a Files) -> Result<Self> {
        let sources = Sources::new(context, scope, &files.manifest)?;
        Ok(Self { context, scope, files, sources, warnings: Vec::new() })
    }
}
