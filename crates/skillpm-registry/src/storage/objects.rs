//! Small files in a directory or a bucket.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use futures_util::TryStreamExt as _;
use futures_util::stream::BoxStream;
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectStore, ObjectStoreExt as _, PutMode, PutPayload};

use crate::codes;
use crate::error::{Error, Result};

/// How often an object is created anew while another creation is under way.
const ATTEMPTS: u32 = 10;
/// How long to wait before that.
const PAUSE: Duration = Duration::from_millis(200);

/// Objects below one prefix. The only special ability that a store needs is to create an object unless it exists.
#[derive(Debug, Clone)]
pub(crate) struct Objects {
    store: Arc<dyn ObjectStore>,
    prefix: Path,
}

/// The bytes of an object, piece by piece.
pub(crate) type Pieces = BoxStream<'static, Result<Bytes>>;

impl Objects {
    /// Returns the objects of `store` below `prefix`.
    pub(crate) fn new(store: Arc<dyn ObjectStore>, prefix: &str) -> Self {
        Self { store, prefix: Path::from(prefix) }
    }

    /// Returns the objects below the directory `below`.
    pub(crate) fn below(&self, below: &str) -> Self {
        Self { store: Arc::clone(&self.store), prefix: self.path(below) }
    }

    /// Reads the object at `path`, of at most `limit` bytes; `None` if it does not exist. Fails if the store does not
    /// answer, and for a larger object.
    pub(crate) async fn get(&self, path: &str, limit: u64) -> Result<Option<Bytes>> {
        match self.store.get(&self.path(path)).await {
            Ok(found) if found.meta.size > limit => {
                let message = format!("`{path}` has {} bytes, {limit} are allowed", found.meta.size);
                Err(Error::integrity(message).coded(codes::REGISTRY_UNUSABLE))
            }
            Ok(found) => Ok(Some(found.bytes().await.map_err(|error| failed("read", path, error))?)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(failed("read", path, error)),
        }
    }

    /// Opens the bytes of `range` of the object at `path`; `None` if it does not exist.
    pub(super) async fn stream(&self, path: &str, range: Range<u64>) -> Result<Option<Pieces>> {
        let options = GetOptions { range: Some(GetRange::Bounded(range)), ..GetOptions::default() };
        match self.store.get_opts(&self.path(path), options).await {
            Ok(found) => {
                let path = path.to_owned();
                Ok(Some(Box::pin(found.into_stream().map_err(move |error| failed("read", &path, error)))))
            }
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(failed("read", path, error)),
        }
    }

    /// Creates the object at `path`. Returns whether it exists with these bytes now; otherwise it existed with others.
    ///
    /// After a late answer the request is repeated, and the store then reports that the object exists. So the existing
    /// object is read and compared before it counts as another writer's. Fails if the store does not answer, or refuses the
    /// object.
    pub(crate) async fn create(&self, path: &str, bytes: Bytes) -> Result<bool> {
        let limit = bytes.len() as u64;
        for _ in 0..ATTEMPTS {
            let payload = PutPayload::from_bytes(bytes.clone());
            match self.store.put_opts(&self.path(path), payload, PutMode::Create.into()).await {
                Ok(_) => return Ok(true),
                Err(object_store::Error::AlreadyExists { .. } | object_store::Error::Precondition { .. }) => {
                }
                Err(error) => return Err(failed("write", path, error)),
            }
            match self.size(path).await? {
                Some(size) if size != limit => return Ok(false),
                Some(_) => return Ok(self.get(path, limit).await?.is_some_and(|existed| existed == bytes)),
                // Another creation is under way, and may still fail: a missing object must not count as created.
                None => tokio::time::sleep(PAUSE).await,
            }
        }
        Err(Error::io(format!("the store does not say whether `{path}` exists")).hint("try again"))
    }

    /// Removes the object at `path`. Returns whether it existed.
    pub(crate) async fn remove(&self, path: &str) -> Result<bool> {
        // A bucket does not report whether it existed.
        let existed = self.exists(path).await?;
        match self.store.delete(&self.path(path)).await {
            Ok(()) => Ok(existed),
            Err(object_store::Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(failed("remove", path, error)),
        }
    }

    /// Reports whether the object at `path` exists.
    pub(crate) async fn exists(&self, path: &str) -> Result<bool> {
        Ok(self.size(path).await?.is_some())
    }

    /// Returns the number of bytes of the object at `path`; `None` if it does not exist.
    pub(super) async fn size(&self, path: &str) -> Result<Option<u64>> {
        match self.store.head(&self.path(path)).await {
            Ok(found) => Ok(Some(found.size)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(failed("read", path, error)),
        }
    }

    /// Reports whether all objects are below the directory `but`.
    pub(crate) async fn is_empty_but(&self, but: &str) -> Result<bool> {
        let but = self.path(but);
        let counts = |object: &object_store::ObjectMeta| !object.location.prefix_matches(&but);
        let listed = self.store.list(Some(&self.prefix));
        let first = listed.try_filter(|object| std::future::ready(counts(object))).try_next().await;
        Ok(first.map_err(|error| failed("list", self.prefix.as_ref(), error))?.is_none())
    }

    /// Returns the paths of all objects below the directory `below`, relative to that of this value, sorted.
    pub(crate) async fn list(&self, below: &str) -> Result<Vec<String>> {
        let listed = self.store.list(Some(&self.path(below)));
        let found: Vec<_> = listed.try_collect().await.map_err(|error| failed("list", below, error))?;
        let relative = |path: &Path| {
            path.prefix_match(&self.prefix).map(|parts| {
                let parts: Vec<_> = parts.map(|part| part.as_ref().to_owned()).collect();
                parts.join("/")
            })
        };
        let mut paths: Vec<_> = found.iter().filter_map(|object| relative(&object.location)).collect();
        paths.sort_unstable();
        Ok(paths)
    }

    fn path(&self, below: &str) -> Path {
        let parts = below.split('/').filter(|part| !part.is_empty());
        parts.fold(self.prefix.clone(), Path::join)
    }
}

fn failed(what: &str, path: &str, error: object_store::Error) -> Error {
    Error::io(format!("the store does not {what} `{path}`")).because(error)
}
