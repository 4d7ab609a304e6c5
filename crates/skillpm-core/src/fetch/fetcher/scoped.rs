//! The fetcher of a scope.

use super::sources::Sources;
use crate::advice::Warning;
use crate::context::Context;
use crate::error::Result;
use crate::scope::Scope;
use crate::scope::state::Files;

/// A fetcher for the skills of a scope, which opens each source once, under the policy.
pub(crate) struct Fetcher<'a> {
    /// The context of the verb.
    pub(crate) context: &'a Context,
    /// Where the skills are.
    pub(crate) scope: &'a Scope,
    /// The manifest and lockfile.
    pub(crate) files: &'a Files,
    /// The open sources.
    pub(crate) sources: Sources<'a>,
    /// Warnings for the user.
    pub(crate) warnings: Vec<Warning>,
}

impl<'a> Fetcher<'a> {
    /// Returns a fetcher that has opened nothing yet.
    pub(crate) fn new(context: &'a Context, scope: &'a Scope, files: &'a Files) -> Result<Self> {
        let sources = Sources::new(context, scope, &files.manifest)?;
        Ok(Self { context, scope, files, sources, warnings: Vec::new() })
    }
}
