//! `publish`: packs a skill and adds it to a registry, in a directory or on a server, to a repository of an OCI
//! registry, or to the releases of a repository on GitHub.

mod directory;
mod github;
mod job;
mod oci;
mod outcome;
mod server;
mod target;
mod work_tree;

pub use outcome::{PublishOutcome, PublishRequest, Release};

use super::pack::{Examined, PackedArtifact, about};
use crate::context::Context;
use crate::error::Result;

use target::Target;

/// Publishes the skill that was examined.
///
/// # Errors
///
/// Fails if the skill cannot be packed, if git has not committed its files and `request` does not allow that, if its files
/// may hold secrets and neither `request` nor a person allows them, if the
/// target has the version with other files, and if the target cannot be read or written. Nothing is published then.
pub fn publish(context: &Context, examined: Examined, request: &PublishRequest) -> Result<PublishOutcome> {
    let (dir, typed) = (examined.dir().to_owned(), examined.typed().to_owned());
    let packed = examined.pack()?;
    let target = Target::open(context, &dir, request)?;
    let uncommitted = work_tree::uncommitted(context, &dir, &packed.left_out, request.allow_dirty)?;
    packed.ask(context, "published", request.allow_secrets, !request.dry_run)?;
    let (release, already) =
        target.publish(context, &dir, &packed, request.dry_run).map_err(|error| about(error, &typed))?;
    Ok(PublishOutcome {
        registry: target.shown(),
        artifact: PackedArtifact { digest: packed.artifact, size: packed.bytes.len() as u64 },
        name: packed.name.to_string(),
        version: packed.version.to_string(),
        digest: packed.digest,
        files: packed.files,
        left_out: packed.left_out,
        secrets: packed.secrets.files,
        keys: packed.secrets.keys,
        uncommitted,
        release,
        already,
        dry_run: request.dry_run,
        warnings: packed.warnings,
    })
}
