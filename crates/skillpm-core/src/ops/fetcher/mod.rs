//! Fetching of skills: locked ones from the store or else from their sources, and new ones from the sources.

mod content;
mod keep;
mod newest;
mod sources;

pub(super) use self::content::admit;
pub(super) use self::keep::{keep, unwritable};
pub(super) use self::newest::{Newest, dependent, locked, spec_of};
pub(super) use self::sources::{Sources, asked};

use super::policy_check::PolicyCheck;
use crate::advice::Warning;
use crate::context::Context;
use crate::error::Result;
use crate::install::scope::Scope;
use crate::install::state::Files;

/// A fetcher for the skills of a scope, which opens each source once, under the policy.
pub(super) struct Fetcher<'a> {
    context: &'a Context,
    scope: &'a Scope,
    files: &'a Files,
    /// The open sources.
    pub(super) sources: Sources<'a>,
    /// Warnings for the user.
    pub(super) warnings: Vec<Warning>,
}

impl<'a> Fetcher<'a> {
    /// Returns a fetcher that has opened nothing yet.
    ///
    /// # Errors
    ///
    /// Fails for a policy that cannot be read.
    pub(super) fn new(context: &'a Context, scope: &'a Scope, files: &'a Files) -> Result<Self> {
        let gate = PolicyCheck::new(context, scope, &files.manifest)?;
        let sources = Sources::new(context, scope, gate);
        Ok(Self { context, scope, files, sources, warnings: Vec::new() })
    }
}
