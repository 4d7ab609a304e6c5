//! A pool of private copies that wait for the next run.
//!
//! A program that runs scripts of the same skill repeatedly would write and remove the same files each time. A copy
//! that the sandbox protected from its script can wait for the next run instead, which compares it again.

use std::process;
use std::sync::{Arc, Mutex, PoisonError};

use super::private_copy::PrivateCopy;
use crate::digest::Digest;

/// The maximum number of waiting copies.
const MOST: usize = 4;
/// The maximum size in bytes of the files of a waiting copy, because it uses space for temporary files.
const MOST_BYTES: u64 = 16 << 20;

/// A pool in which copies of skills wait for the next run of the same bytes. They are removed when the last clone of
/// this value is dropped. By default no copies wait, and each is removed when its run is over.
#[derive(Debug, Clone, Default)]
pub struct CopyPool(Option<Arc<Waiting>>);

#[derive(Debug)]
struct Waiting {
    /// The ID of the process that owns the copies. A forked child inherits this value, but must not touch the
    /// directories.
    owner: u32,
    /// The waiting copies, most recently used last; `None` once the pool is closed.
    stages: Mutex<Option<Vec<PrivateCopy>>>,
}

impl CopyPool {
    /// Returns a pool for up to four copies of at most 16 MiB each.
    pub fn waiting() -> Self {
        let (owner, stages) = (process::id(), Mutex::new(Some(Vec::new())));
        Self(Some(Arc::new(Waiting { owner, stages })))
    }

    /// Removes the waiting copies and closes the pool, for a program that ends without dropping this value.
    pub fn close(&self) {
        drop(self.change(Option::take));
    }

    /// Takes a waiting copy of the files with `digest`, if there is one. It may have changed since.
    pub(super) fn take(&self, digest: Digest) -> Option<PrivateCopy> {
        self.change(|stages| {
            let stages = stages.as_mut()?;
            let at = stages.iter().position(|stage| stage.digest() == digest)?;
            Some(stages.remove(at))
        })?
    }

    /// Keeps `stage`, whose files have `bytes` bytes in total, if it is small enough and the pool is open; otherwise
    /// removes it. If the pool is full, the least recently used copy is removed.
    pub(super) fn put(&self, stage: PrivateCopy, bytes: u64) {
        let gone = self.change(|stages| match stages {
            Some(stages) if bytes <= MOST_BYTES => {
                stages.push(stage);
                (stages.len() > MOST).then(|| stages.remove(0))
            }
            _ => Some(stage),
        });
        // Outside the lock, because removing takes a while.
        drop(gone);
    }

    /// Calls `change` on the waiting copies; does nothing and returns `None` if this process is not the owner.
    fn change<T>(&self, change: impl FnOnce(&mut Option<Vec<PrivateCopy>>) -> T) -> Option<T> {
        // Checked before locking, because another thread may have held the lock when this process was forked.
        let waiting = self.0.as_ref().filter(|waiting| waiting.owner == process::id())?;
        Some(change(&mut waiting.stages.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if self.owner != process::id()
            && let Some(stages) = self.stages.get_mut().unwrap_or_else(PoisonError::into_inner).take()
        {
            stages.into_iter().for_each(PrivateCopy::leave);
        }
    }
}
