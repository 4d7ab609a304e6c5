//! Where a skill is published to.

use std::path::Path;

use super::directory::Directory;
use super::github::ReleasesOf;
use super::oci::Repository;
use super::outcome::{PublishRequest, Release};
use super::server::Server;
use crate::codes;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::fetch::registries;
use crate::ops::pack::Packed;
use crate::spec::SourceFacts as _;

/// A place that takes packed skills.
pub(super) enum Target {
    /// The directory of a registry.
    Directory(Directory),
    /// A registry that a server has.
    Server(Box<Server>),
    /// A repository of an OCI registry.
    Oci(Box<Repository>),
    /// The releases of a repository on GitHub.
    GitHub(ReleasesOf),
}

impl Target {
    /// Returns the target of `request` for the skill in the directory `dir`.
    pub(super) fn open(context: &Context, dir: &Path, request: &PublishRequest) -> Result<Self> {
        if let Some(releases) = ReleasesOf::typed(context, dir, request)? {
            return Ok(Self::GitHub(releases));
        }
        if let Some(repository) = Repository::typed(context, request)? {
            return Ok(Self::Oci(Box::new(repository)));
        }
        let (registry, path) = registries::to_change(context, &request.to)?;
        if let Some(address) = registry.web_address() {
            return Server::open(context, address, request).map(|server| Self::Server(Box::new(server)));
        }
        let Some(path) = path else {
            let message = format!("nothing can be published to `{}`", registry.typed());
            return Err(Error::usage(message).coded(codes::REGISTRY_ABSENT));
        };
        Directory::open(context, &path, request).map(Self::Directory)
    }

    /// Returns the target as the outcome has it.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Directory(directory) => directory.shown(),
            Self::Server(server) => server.shown(),
            Self::Oci(repository) => repository.shown(),
            Self::GitHub(releases) => releases.shown(),
        }
    }

    /// Publishes `packed`, the skill in the directory `dir`. With `dry_run`, only checks whether that is possible. Returns
    /// the release, if one was made, and whether the target had the version already, with the same files.
    pub(super) fn publish(
        &self,
        context: &Context,
        dir: &Path,
        packed: &Packed,
        dry_run: bool,
    ) -> Result<(Option<Release>, bool)> {
        match self {
            Self::Directory(directory) => Ok((None, directory.publish(context, packed, dry_run)?)),
            Self::Server(server) => Ok((None, server.publish(packed, dry_run)?)),
            Self::Oci(repository) => Ok((None, repository.publish(context, packed, dry_run)?)),
            Self::GitHub(releases) => Ok((Some(releases.publish(context, dir, packed, dry_run)?), false)),
        }
    }
}
