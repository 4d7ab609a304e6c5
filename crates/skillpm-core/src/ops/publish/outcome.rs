//! The request and the outcome of `publish`.

use schemars::JsonSchema;
use serde::Serialize;

use crate::advice::Warning;
use crate::digest::Digest;
use crate::ops::pack::{LeftOut, PackedArtifact, PackedFile, PackedKey};

/// A request to publish a skill.
#[derive(Debug, Clone, Default)]
pub struct PublishRequest {
    /// The target: the directory or the address of a registry, its name in `[registries]`, `oci://HOST/NAME` for a
    /// repository of an OCI registry, `github:OWNER/REPO`, or `github` for the repository that the remote `origin` leads to.
    pub to: String,
    /// The tag of a release or in an OCI registry, instead of the usual one.
    pub tag: Option<String>,
    /// Whether files that git has not committed are published.
    pub allow_dirty: bool,
    /// Whether files that may hold secrets are published without a question.
    pub allow_secrets: bool,
    /// Whether nothing is to be written.
    pub dry_run: bool,
}

/// The outcome. The JSON form is an interface: fields are only added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PublishOutcome {
    /// The directory or the address of the registry, `oci://HOST/NAME`, or `github:OWNER/REPO`.
    pub registry: String,
    /// The name of the skill.
    pub name: String,
    /// The version, as written.
    pub version: String,
    /// The digest of its tree.
    pub digest: Digest,
    /// The archive.
    pub artifact: PackedArtifact,
    /// The files that are published.
    pub files: Vec<PackedFile>,
    /// The files of the directory that are not published.
    pub left_out: Vec<LeftOut>,
    /// The files among those that are published whose names are usual for secrets.
    pub secrets: Vec<String>,
    /// The keys of services in the files that are published.
    pub keys: Vec<PackedKey>,
    /// The files that git has not committed, below the skill's directory.
    pub uncommitted: Vec<String>,
    /// The release, if the target is a repository on GitHub.
    pub release: Option<Release>,
    /// Whether the target had the version already, with the same files. Nothing was written then.
    pub already: bool,
    /// Whether nothing was written because it was only to be shown.
    pub dry_run: bool,
    /// Warnings for the user.
    pub warnings: Vec<Warning>,
}

/// A release of a repository on GitHub.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Release {
    /// The repository: `owner/name`, with the host before it if that is not `github.com`.
    pub repository: String,
    /// The tag.
    pub tag: String,
    /// The commit that the tag names: 40 hexadecimal digits.
    pub commit: String,
    /// The name of the archive.
    pub asset: String,
    /// The address of its page; `None` if nothing was written.
    pub url: Option<String>,
}
