//! Taking skills in: each is read once, hashed, and written into the store.

use std::sync::{Mutex, PoisonError};

use crate::advice::{Warning, message};
use crate::context::Context;
use crate::digest::Digest;
use crate::error::{Error, ErrorKind, Result};
use crate::store::{Session, Store};
use crate::tree::FileSet;

/// Where the skills of sources are stored. Any number of threads may use it at once.
pub(in crate::ops) struct Intake {
    store: Option<Session>,
    /// Why the store cannot be written; reported once.
    trouble: Mutex<Option<Warning>>,
}

/// A skill that was taken in.
pub(in crate::ops) struct Taken {
    pub(in crate::ops) digest: Digest,
    /// Its files: those in the store where it could be written, else those of the source.
    pub(in crate::ops) set: FileSet,
}

impl Intake {
    /// Opens the store for writing. Skills are taken in without one where it cannot be opened.
    pub(in crate::ops) fn new(context: &Context) -> Self {
        let intake = Self { store: None, trouble: Mutex::default() };
        match Store::new(&context.settings).and_then(|store| store.writer()) {
            Ok(store) => Self { store: Some(store), ..intake },
            Err(error) => {
                intake.troubled(&error);
                intake
            }
        }
    }

    /// Takes in `set`, the files of a skill. `look` sees them while they are in memory, unless they are too many for
    /// that.
    ///
    /// # Errors
    ///
    /// Where it cannot be read, or is not what its source declared.
    pub(in crate::ops) fn take<T>(
        &self,
        set: FileSet,
        look: impl FnOnce(&FileSet) -> Result<T>,
    ) -> Result<(Taken, T)> {
        let Some(held) = set.hold()? else {
            let taken = self.take_large(set)?;
            let seen = look(&taken.set)?;
            return Ok((taken, seen));
        };
        let seen = look(held.set())?;
        let stored = self.store.as_ref().and_then(|store| match store.put(&held) {
            Ok(_) => Some(store.stored(&held)),
            Err(error) => {
                self.troubled(&error);
                None
            }
        });
        Ok((Taken { digest: held.digest(), set: stored.unwrap_or(set) }, seen))
    }

    fn take_large(&self, set: FileSet) -> Result<Taken> {
        let put = self.store.as_ref().map(|store| store.put_large(&set)).transpose();
        let digest = match put {
            Ok(digest) => digest,
            Err(error) if error.kind() == ErrorKind::Integrity => return Err(error),
            Err(error) => {
                self.troubled(&error);
                None
            }
        };
        let stored = match (&self.store, digest) {
            (Some(store), Some(digest)) => store.get(&digest)?.map(|stored| (digest, stored)),
            _ => None,
        };
        let (digest, set) = match stored {
            Some(stored) => stored,
            None => (set.digest()?, set),
        };
        Ok(Taken { digest, set })
    }

    fn troubled(&self, error: &Error) {
        let told = unwritable(error);
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(told);
    }

    /// Returns why the store could not be written, for a person.
    pub(in crate::ops) fn warning(self) -> Option<Warning> {
        self.trouble.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Puts `set` into the store and returns what lies there. Where the store cannot be written the
/// skill is installed without it, and the reason is told once.
pub(in crate::ops) fn keep(
    context: &Context,
    set: FileSet,
    warnings: &mut Vec<Warning>,
) -> Result<(Digest, FileSet)> {
    let store = Store::new(&context.settings);
    match store.and_then(|store| Ok((store.put(&set)?, store))) {
        Ok((digest, store)) => Ok((digest, store.get(&digest)?.unwrap_or(set))),
        Err(error) if error.kind() == ErrorKind::Integrity => Err(error),
        Err(error) => {
            let warning = unwritable(&error);
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
            Ok((set.digest()?, set))
        }
    }
}

/// What is told where the store cannot be written.
fn unwritable(error: &Error) -> Warning {
    let told = "the store is not writable, so restoring will need the source again: ";
    Warning::new("store-unwritable", message!(told, error.with_causes()))
}
