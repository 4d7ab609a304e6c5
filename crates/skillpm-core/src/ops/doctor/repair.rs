//! Repairs that lose nothing.

use std::collections::BTreeMap;
use std::path::Path;

use super::examine::{Doctor, Key, key, told};
use crate::advice::{Message, message};
use crate::change::keep_replaced;
use crate::error::{Error, Result};
use crate::fs::{self, Kind};
use crate::scope::Scope;
use crate::scope::health::{Finding, Remedy};
use crate::scope::plan::{Plan, Step};
use crate::scope::state::{Files, read_manifest};
use crate::scope::transaction::Transaction;
use crate::store::{self, Note, Why, downloads};

/// The outcome of the repairs.
#[derive(Debug, Default)]
pub(super) struct Repairs {
    /// Why findings could not be repaired.
    pub(super) failures: BTreeMap<Key, Message>,
    /// The messages about saved files.
    pub(super) kept: Vec<Message>,
}

impl Repairs {
    /// Records that `finding` could not be repaired because of `error`.
    pub(super) fn failed(&mut self, finding: &Finding, error: &Error) {
        let hint = error.hints().first().map(|hint| message!("; ", hint));
        self.failures.insert(key(finding), message!(told(error), hint));
    }
}

impl Doctor<'_> {
    /// Repairs what can be repaired in `scope`, which no other process changes meanwhile.
    pub(super) fn repair(&self, scope: &Scope, repairs: &mut Repairs) {
        let begun = Transaction::begin(scope, &self.context.settings, &*self.context.reporter);
        let transaction = match begun {
            Ok(transaction) => transaction,
            Err(error) => {
                let found = self.check(scope);
                return found.iter().filter(|f| f.remedy.is_safe()).for_each(|f| repairs.failed(f, &error));
            }
        };
        // Transactions are finished now. The rest is examined again: no other process can change it any more, and the cached
        // state is not enough for a change.
        let found = self.check(&scope.unindexed());
        let broken: Vec<_> = found.iter().filter(|f| matches!(f.remedy, Remedy::Steps(_))).collect();
        // All at once where that goes, which is faster; else one by one, so that one stops no other.
        if self.apply(scope, &transaction, &broken).is_err() {
            for finding in broken {
                if let Err(error) = self.apply(scope, &transaction, &[finding]) {
                    repairs.failed(finding, &error);
                }
            }
        }
        for finding in found.iter().filter(|finding| finding.remedy == Remedy::Sweep) {
            match self.sweep(&finding.path) {
                Ok(kept) => repairs.kept.extend(kept.map(Message::from)),
                Err(error) => repairs.failed(finding, &error),
            }
        }
    }

    fn apply(&self, scope: &Scope, transaction: &Transaction<'_>, findings: &[&Finding]) -> Result<()> {
        let mut plan = Plan::default();
        let mut contents = BTreeMap::new();
        for finding in findings {
            let Remedy::Steps(steps) = &finding.remedy else { continue };
            for step in steps {
                if let Step::Put { place, name, digest, .. } = step {
                    contents.insert(name.clone(), self.content(scope, place, name, digest)?);
                }
                plan.steps.push(step.clone());
            }
        }
        keep_replaced(self.context, scope, &plan)?;
        // Both files stay as they are. The manifest says where links to editable skills lead.
        let manifest = read_manifest(scope).map(|(manifest, _)| manifest).unwrap_or_default();
        transaction.apply(&plan, &Files { manifest, ..Files::default() }, &contents)
    }

    /// Removes what a killed run left at `path`, a directory of agents or skills. What the store does not have is put
    /// there first; returns what to report about that.
    fn sweep(&self, path: &Path) -> Result<Option<String>> {
        let mut told = None;
        if fs::is_pending(path) {
            fs::remove_abandoned(path)?;
            return Ok(told);
        }
        if fs::kind(path)? == Some(Kind::Directory) {
            let set = store::read(path)?;
            let store =
                self.store.as_ref().ok_or_else(|| Error::config("there is no store to keep it in"))?;
            if !store.is_whole(&set.digest()?) {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                let note = Note::new(&name, Why::LeftOver, path.to_owned());
                let kept = store.keep(&set, Some(note))?;
                told = Some(format!(
                    "the former content of `{}` was saved in `{}`",
                    path.display(),
                    kept.display()
                ));
            }
        }
        fs::remove_tree(path)?;
        Ok(told)
    }

    /// Removes what is wrong in the store or among the downloads.
    pub(super) fn clear(&self, finding: &Finding) -> Result<()> {
        let wait = |dir: &Path| self.context.reporter.waiting_for_lock(dir);
        match (&finding.remedy, &self.store, &self.context.settings.dirs.cache) {
            (Remedy::Discard(digest), Some(store), _) => {
                let lock = store.lock(|| wait(store.root()))?;
                // Another process may have put a whole one there in the meantime.
                match lock.filter(|_| !store.is_whole(digest)) {
                    Some(lock) => lock.take(digest),
                    None => Ok(()),
                }
            }
            (Remedy::Clear, Some(store), _) if finding.path.starts_with(store.root()) => {
                let _alone = store.lock(|| wait(store.root()))?;
                Ok(fs::remove_tree(&finding.path)?)
            }
            (Remedy::Sweep, ..) => Ok(fs::remove_abandoned(&finding.path)?),
            (Remedy::Clear, _, Some(cache)) => downloads::take(cache, &finding.path).map(drop),
            _ => Ok(()),
        }
    }
}
