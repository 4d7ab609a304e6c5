//! Whether a store keeps its word.

use axum::body::Bytes;

use super::{Location, Objects};
use crate::error::{Error, Result};
use crate::random::random_hex;
use crate::registry::files;

/// The directory of probes, below that of what only the server reads.
pub(super) const PROBES: &str = "probes";

/// Checks that the store creates an object only if it does not exist: nothing else keeps a server from overwriting another
/// one's publication. An object is created twice and then removed. Fails with an error of the kind `Config` for a store that
/// accepts the second creation, and otherwise if the store does not answer.
pub(super) async fn probe(objects: &Objects, location: &Location) -> Result<()> {
    let path = format!("{}/{PROBES}/{}", files::PRIVATE, random_hex(16)?);
    let outcome = keeps_first(objects, &path).await;
    // Also if the answer was lost: the object may exist.
    if let Err(error) = objects.remove(&path).await {
        tracing::warn!(code = error.code(), "a probe stays in the store: {}", error.with_causes());
    }
    if outcome? {
        return Ok(());
    }
    Err(Error::config(format!(
        "the store of `{location}` replaces objects that exist: it ignores `If-None-Match: *`"
    ))
    .hint("two servers, or two publishers, could then replace each other's versions")
    .hint("use a store that honours conditional writes, such as Amazon S3 or MinIO, or a directory"))
}

async fn keeps_first(objects: &Objects, path: &str) -> Result<bool> {
    let is_first = objects.create(path, Bytes::from_static(b"first")).await?;
    let is_second = objects.create(path, Bytes::from_static(b"the second one")).await?;
    Ok(is_first && !is_second)
}

/// Checks the store of `location`, before a server uses it. A store that cannot be written now can still be read from. Fails for a
/// store that replaces what exists.
pub(crate) async fn check_store(location: &Location) -> Result<()> {
    let Location::Bucket(bucket) = location else { return Ok(()) };
    match probe(&bucket.objects()?, location).await {
        Err(error) if error.kind() == crate::error::ErrorKind::Config => Err(error),
        Err(error) => {
            let message = error.with_causes();
            tracing::warn!(code = error.code(), "the store could not be probed: {message}");
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}
