//! Copies of skills that wait for the next run.
//!
//! A program that runs scripts of the same skill again and again would write the same files each time, and remove them.
//! A copy that the sandbox kept its script from changing can wait for the next run instead, which compares it again.

use std::process;
use std::sync::{Arc, Mutex, PoisonError};

use super::private_copy::PrivateCopy;
use crate::digest::Digest;

/// The maximum number of copies that wait.
const MOST: usize = 4;
/// The maximum size in bytes of the files of a waiting copy, since it takes up space for temporary files.
const MOST_BYTES: u64 = 16 << 20;

/// A pool in which copies of skills wait for the next run of the same bytes. They are removed with the last clone of
/// this value. By default none waits, and each is removed when its run is over.
#[derive(Debug, Clone, Default)]
pub struct CopyPool(Option<Arc<Waiting>>);

#[derive(Debug)]
struct Waiting {
    /// The process that they are of. One that is forked off has the same directories in mind, which are not its own.
    owner: u32,
    /// The one that was used last comes last; `None` once no more are to be kept.
    stages: Mutex<Option<Vec<PrivateCopy>>>,
}

impl CopyPool {
    /// Returns a place where up to four copies of at most 16 MiB wait.
    pub fn waiting() -> Self {
        let (owner, stages) = (process::id(), Mutex::new(Some(Vec::new())));
        Self(Some(Arc::new(Waiting { owner, stages })))
    }

    /// Removes the copies that wait, and keeps none from now on: before a program ends that would not drop the value.
    pub fn close(&self) {
        drop(self.change(Option::take));
    }

    /// Takes the copy of the files with `digest`, if one waits. It may have changed since.
    pub(super) fn take(&self, digest: Digest) -> Option<PrivateCopy> {
        self.change(|stages| {
            let stages = stages.as_mut()?;
            let at = stages.iter().position(|stage| stage.digest() == digest)?;
            Some(stages.remove(at))
        })?
    }

    /// Keeps `stage`, which has files of `bytes` in all, if there is a place for it. Otherwise it is removed, as is the one
    /// that was not used for longest.
    pub(super) fn put(&self, stage: PrivateCopy, bytes: u64) {
        let gone = self.change(|stages| match stages {
            Some(stages) if bytes <= MOST_BYTES => {
                stages.push(stage);
                (stages.len() > MOST).then(|| stages.remove(0))
            }
            _ => Some(stage),
        });
        // Outside of the lock: that takes a while.
        drop(gone);
    }

    /// Has `change` change what waits; `None`, and nothing done, where this process is not the owner.
    fn change<T>(&self, change: impl FnOnce(&mut Option<Vec<PrivateCopy>>) -> T) -> Option<T> {
        // Asked before the lock, which another thread may have held when this process was forked off.
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
