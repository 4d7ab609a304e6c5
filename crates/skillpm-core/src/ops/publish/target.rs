//! Where a skill is published to.

use std::path::Path;

use super::directory::Directory;
use super::github::ReleasesOf;
use super::outcome::{PublishRequest, Release};
use crate::context::Context;
use crate::error::Result;
use crate::ops::pack::Packed;

/// A place that takes packed skills.
pub(super) enum Target {
    /// The directory of a registry.
    Directory(Directory),
    /// The releases of a repository on GitHub.
    GitHub(ReleasesOf),
}

impl Target {
    /// Returns the target of `request` for the skill in the directory `dir`.
    ///
    /// # Errors
    ///
    /// Fails if there is no such target, and if `request` has what it has no use for.
    pub(super) fn open(context: &Context, dir: &Path, request: &PublishRequest) -> Result<Self> {
        match ReleasesOf::typed(context, dir, request)? {
            Some(releases) => Ok(Self::GitHub(releases)),
            None => Directory::open(context, request).map(Self::Directory),
        }
    }

    /// Returns the target as the outcome has it.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Directory(directory) => directory.shown(),
            Self::GitHub(releases) => releases.shown(),
        }
    }

    /// Publishes `packed`, the skill in the directory `dir`. With `dry_run`, only checks whether that is possible.
    ///
    /// # Errors
    ///
    /// Fails if the target has the version already, and if it cannot be read or written.
    pub(super) fn publish(
        &self,
        context: &Context,
        dir: &Path,
        packed: &Packed,
        dry_run: bool,
    ) -> Result<Option<Release>> {
        match self {
            Self::Directory(directory) => directory.publish(context, packed, dry_run).map(|()| None),
            Self::GitHub(releases) => releases.publish(context, dir, packed, dry_run).map(Some),
        }
    }
}
