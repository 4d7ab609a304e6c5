//! Records of merges that end with a transaction: they are kept with it, so that undoing it restores the
//! conflicts and their records.

use std::collections::BTreeMap;

use super::journal::{Change, Journal};
use super::{Transaction, own_file, record};
use crate::error::Result;
use crate::name::SkillName;
use crate::scope::files::Files;
use crate::scope::merges;
use crate::scope::plan::Plan;

impl Transaction<'_> {
    /// Keeps the records of the merges that end with `plan`.
    pub(super) fn keep_merges(&self, plan: &Plan, files: &Files) -> Result<BTreeMap<SkillName, Change>> {
        let lock = plan.lock.as_ref().unwrap_or(&files.lock);
        let mut changes = BTreeMap::new();
        for name in merges::going(self.scope, lock, &plan.ended) {
            let file = merges::file(self.scope, &name)?;
            // An unreadable record is useless.
            if let Some(text) = own_file(&file).ok().flatten() {
                let old = Some(record::keep_text(&self.directory, &file, &text)?);
                changes.insert(name, Change { old, new: None });
            }
        }
        Ok(changes)
    }

    /// Removes the records of merges that end with the transaction of `journal`, or restores those that ended
    /// with the transaction that it takes back.
    pub(super) fn replace_merges(&self, journal: &Journal) -> Result<()> {
        if journal.merges.is_empty() {
            return Ok(());
        }
        for (name, change) in &journal.merges {
            if change.new.is_some() {
                merges::prepare(self.scope)?;
            }
            self.replace(&merges::file(self.scope, name)?, Some(*change))?;
        }
        merges::tidy(self.scope);
        Ok(())
    }

    /// Reverts [`Transaction::replace_merges`].
    pub(super) fn restore_merges(&self, journal: &Journal) -> Result<()> {
        for (name, change) in &journal.merges {
            let file = merges::file(self.scope, name)?;
            let old = match change.old {
                Some(digest) => own_file(&record::kept(&self.directory, &file, digest))?,
                None => None,
            };
            if old.is_some() {
                merges::prepare(self.scope)?;
            }
            self.restore_file(&file, Some(*change), old.as_deref())?;
        }
        if !journal.merges.is_empty() {
            merges::tidy(self.scope);
        }
        Ok(())
    }
}
