//! Trees that are written while they are read, before it is known what is to be done with them.
//!
//! A tree that comes from a source or from the store is in memory once, with its digest. Written there and
//! then it need not be read and hashed again for its step. What no step asks for in the end is removed with
//! the directory of the transaction.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::Transaction;
use crate::digest::Digest;
use crate::error::Result;
use crate::fs::{self, Base};
use crate::install::plan::Step;
use crate::name::SkillName;
use crate::tree::Held;

/// Where trees are written ahead of their steps, by any number of threads.
#[derive(Debug)]
pub struct Ahead {
    base: Base,
    numbers: Arc<AtomicUsize>,
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
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        self.base.plant(&format!("tree-{number}"), held).ok()?;
        Some(Planted { number, digest: held.digest() })
    }
}

impl Transaction<'_> {
    /// Returns where trees can be written before the plan is made.
    ///
    /// # Errors
    ///
    /// Where the scope cannot be written.
    pub fn ahead(&self) -> Result<Ahead> {
        self.make_directory()?;
        Ok(Ahead { base: Base::open(&self.directory)?, numbers: Arc::clone(&self.numbers) })
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
        self.check_place()?;
        fs::create_dir(&self.directory)?;
        self.ahead.set(true);
        self.check_place()?;
        // Version control never sees this directory, even when it is left behind.
        Ok(fs::write_atomic(&self.directory.join(".gitignore"), b"*\n")?)
    }

    /// Numbers for the trees of `steps`: of those that were written ahead, the ones that they have, which
    /// are returned once more; none where nothing was. What was written and no step asks for is removed.
    pub(super) fn slots(&self, steps: &[Step]) -> Result<(Vec<usize>, BTreeSet<usize>)> {
        let ahead = self.numbers.load(Ordering::Relaxed);
        let mut used = BTreeSet::new();
        if ahead == 0 {
            return Ok((Vec::new(), used));
        }
        let mut planted = self.planted.borrow_mut();
        let mut fresh = ahead..;
        let mut slots = Vec::with_capacity(steps.len());
        for step in steps {
            let ready = match step {
                Step::Put { name, digest, .. } if planted.get(name).is_some_and(|p| p.digest == *digest) => {
                    planted.remove(name)
                }
                _ => None,
            };
            used.extend(ready.map(|ready| ready.number));
            slots.extend(ready.map(|ready| ready.number).or_else(|| fresh.next()));
        }
        for number in (0..ahead).filter(|number| !used.contains(number)) {
            fs::remove_tree(&self.tree(number))?;
        }
        Ok((slots, used))
    }

    /// Removes what was written ahead and not asked for, where nothing else was done.
    pub(super) fn clear_ahead(&self) {
        if self.ahead.get() && self.check_place().is_ok() {
            // What cannot be removed now is removed by the next run.
            let _ = fs::remove_tree(&self.directory);
        }
    }
}
