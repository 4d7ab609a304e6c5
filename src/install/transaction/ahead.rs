//! Trees that are written while they are read, before it is known what is to be done with them.
//!
//! A tree that comes from a source or from the store is in memory once, with its digest. Written there and
//! then it need not be read and hashed again for its step. What no step asks for in the end is removed with
//! the directory of the transaction.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::Transaction;
use crate::digest::Digest;
use crate::error::Result;
use crate::fs::{self, Base};
use crate::name::SkillName;
use crate::tree::Held;

/// Where trees are written ahead of their steps, by any number of threads.
#[derive(Debug)]
pub struct Ahead {
    base: Base,
    next: AtomicUsize,
}

/// A tree that lies ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Planted {
    number: usize,
    digest: Digest,
}

impl Ahead {
    /// Writes `held`; `None` where that fails: what fails is done again at its step, which tells why.
    pub fn plant(&self, held: &Held) -> Option<Planted> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.base.plant(&name(number), held).ok()?;
        Some(Planted { number, digest: held.digest() })
    }
}

fn name(number: usize) -> String {
    format!("ahead-{number}")
}

impl Transaction<'_> {
    /// Returns where trees can be written before the plan is made.
    ///
    /// # Errors
    ///
    /// Where the scope cannot be written.
    pub fn ahead(&self) -> Result<Ahead> {
        self.make_directory()?;
        Ok(Ahead { base: Base::open(&self.directory)?, next: AtomicUsize::new(0) })
    }

    /// Takes over what was written ahead for the skill `name`.
    pub fn adopt(&self, name: &SkillName, planted: Planted) {
        self.planted.borrow_mut().insert(name.clone(), planted);
    }

    /// Makes the directory of the transaction, unless that was done already.
    pub(super) fn make_directory(&self) -> Result<()> {
        if self.ahead.get() {
            return Ok(());
        }
        fs::create_dir(&self.directory)?;
        self.ahead.set(true);
        // Version control never sees this directory, even when it is left behind.
        Ok(fs::write_atomic(&self.directory.join(".gitignore"), b"*\n")?)
    }

    /// Whether the tree of step `at` was written ahead; it is in its place then.
    pub(super) fn is_planted(&self, at: usize, name: &SkillName, digest: &Digest) -> Result<bool> {
        let mut planted = self.planted.borrow_mut();
        match planted.get(name) {
            Some(ready) if ready.digest == *digest => {
                fs::move_new(&self.directory.join(self::name(ready.number)), &self.tree(at))?;
                planted.remove(name);
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Removes what was written ahead and not asked for, where nothing else was done.
    pub(super) fn clear_ahead(&self) {
        if self.ahead.get() {
            // What cannot be removed now is removed by the next run.
            let _ = fs::remove_tree(&self.directory);
        }
    }
}
