//! A bucket, as what reads and changes registries takes it.

use tokio::runtime::Handle;

use super::Objects;
use crate::error::Result;
use crate::registry::{self, Carrier, LogEnd, ReadFiles};

/// The objects of a registry in a bucket. Its calls wait for the store, so they are for threads that may.
#[derive(Debug)]
pub(super) struct Bucket {
    objects: Objects,
    runtime: Handle,
    log_end: LogEnd,
}

impl Bucket {
    /// Returns a bucket with these objects, whose requests are made by the runtime that calls this.
    pub(super) fn new(objects: Objects) -> Self {
        Self { objects, runtime: Handle::current(), log_end: LogEnd::default() }
    }
}

impl ReadFiles for Bucket {
    fn get(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>> {
        Ok(self.runtime.block_on(self.objects.get(path, limit))?.map(Into::into))
    }
}

impl registry::Objects for Bucket {
    fn head(&self, path: &str) -> Result<Option<u64>> {
        self.runtime.block_on(self.objects.size(path))
    }

    fn list(&self, below: &str) -> Result<Vec<String>> {
        self.runtime.block_on(self.objects.list(below))
    }

    fn carrier(&self) -> Carrier<'_> {
        Carrier::Bucket(self)
    }
}

impl registry::Bucket for Bucket {
    fn create(&self, path: &str, bytes: &[u8]) -> Result<bool> {
        self.runtime.block_on(self.objects.create(path, bytes.to_vec().into()))
    }

    fn log_end(&self) -> &LogEnd {
        &self.log_end
    }
}
