//! Taking skills in: each is read once, hashed, and written into the store and for its step.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use crate::context::Context;
use crate::digest::Digest;
use crate::error::{Error, ErrorKind, Result};
use crate::fs;
use crate::install::scope::Scope;
use crate::install::state::Files;
use crate::install::transaction::{Ahead, Planted, Transaction};
use crate::name::SkillName;
use crate::store::{Session, Store};
use crate::tree::{FileSet, Held};

/// Where what is read goes. Any number of threads may use it at once.
pub(in crate::ops) struct Intake<'a> {
    store: Option<Session>,
    /// Why the store cannot be written; it is told once.
    trouble: Mutex<Option<String>>,
    ahead: Option<Planting<'a>>,
}

/// Where trees are written for their steps, before these are known.
struct Planting<'a> {
    ahead: Ahead,
    files: &'a Files,
    /// The names of what lies in the scope, disabled or not.
    there: BTreeSet<String>,
}

/// A skill that was taken in.
pub(in crate::ops) struct Taken {
    /// Its digest.
    pub(in crate::ops) digest: Digest,
    /// Its files.
    pub(in crate::ops) set: FileSet,
    /// The tree that lies ready for its step.
    pub(in crate::ops) planted: Option<Planted>,
}

impl<'a> Intake<'a> {
    /// Opens the store to write to it. With a transaction, trees that are likely to be needed are written for
    /// their steps as well; `files` say what is installed.
    ///
    /// # Errors
    ///
    /// Where the scope cannot be written. A store that cannot be written is none.
    pub(in crate::ops) fn new(
        context: &Context,
        scope: &Scope,
        scene: Option<(&Transaction<'_>, &'a Files)>,
    ) -> Result<Self> {
        let store = Store::new(&context.settings).and_then(|store| store.writer());
        let intake = Self::reading(None, scope, scene)?;
        Ok(match store {
            Ok(store) => Self { store: Some(store), ..intake },
            Err(error) => {
                intake.troubled(&error);
                intake
            }
        })
    }

    /// As [`Intake::new`], of a store that is only read.
    pub(in crate::ops) fn reading(
        store: Option<Session>,
        scope: &Scope,
        scene: Option<(&Transaction<'_>, &'a Files)>,
    ) -> Result<Self> {
        let ahead = match scene {
            Some((transaction, files)) => Some(Planting {
                ahead: transaction.ahead()?,
                files,
                there: [scope.skills_dir(), scope.disabled_dir()]
                    .iter()
                    .map(|dir| fs::list_dir(dir))
                    .collect::<std::result::Result<Vec<_>, _>>()?
                    .into_iter()
                    .flatten()
                    .collect(),
            }),
            None => None,
        };
        Ok(Self { store, trouble: Mutex::default(), ahead })
    }

    /// Takes `set` in, the files of the skill `name`; `look` sees them while they are in memory, if they
    /// are not too many for that.
    ///
    /// # Errors
    ///
    /// Where it cannot be read, or is not what its source declared.
    pub(in crate::ops) fn take<T>(
        &self,
        name: &SkillName,
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
        let planted = self.plant(name, &held);
        Ok((Taken { digest: held.digest(), set: stored.unwrap_or(set), planted }, seen))
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
        Ok(Taken { digest, set, planted: None })
    }

    /// Takes the tree with `digest` of the skill `name` from the store; `None` where it is not there whole, or
    /// is too large to be held.
    pub(in crate::ops) fn restore(&self, name: &SkillName, digest: &Digest) -> Option<Taken> {
        let store = self.store.as_ref()?;
        let held = store.take(digest).ok()??;
        Some(Taken { digest: *digest, set: store.stored(&held), planted: self.plant(name, &held) })
    }

    /// Writes `held` for its step, if there is likely to be one: what is installed already stays.
    fn plant(&self, name: &SkillName, held: &Held) -> Option<Planted> {
        let Planting { ahead, files, there } = self.ahead.as_ref()?;
        let locked = files.lock.skills.get(name).map(|locked| locked.digest);
        if there.contains(name.as_str()) && locked == Some(held.digest()) {
            return None;
        }
        ahead.plant(held)
    }

    fn troubled(&self, error: &Error) {
        let told = unwritable(error);
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(told);
    }

    /// What a person should know.
    pub(in crate::ops) fn warning(self) -> Option<String> {
        self.trouble.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Puts `set` into the store and returns what lies there. Where the store cannot be written the
/// skill is installed without it, and the reason is told once.
pub(in crate::ops) fn keep(
    context: &Context,
    set: FileSet,
    warnings: &mut Vec<String>,
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
fn unwritable(error: &Error) -> String {
    format!("the store is not writable, so restoring will need the source again: {}", error.with_causes())
}
