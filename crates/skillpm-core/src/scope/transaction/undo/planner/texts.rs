//! Planning of the old texts of the two files and the merge records.

use std::collections::BTreeSet;
use std::path::Path;

use super::{Done, Planner};
use crate::advice::{Opt, Verb, message};
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::fs;
use crate::lockfile::Lockfile;
use crate::scope::merges;
use crate::scope::transaction::journal::Change;
use crate::scope::transaction::undo::{Changed, ChangedKind, Text};
use crate::scope::transaction::{MAX_FILE, own_file};

impl Planner<'_> {
    /// Plans the old texts of both files.
    pub(in crate::scope::transaction::undo) fn files(&mut self) -> Done {
        let journal = &self.record.journal;
        self.undo.lockfile = self.file(&self.scope.lockfile, journal.lockfile)?;
        self.undo.manifest = self.file(&self.scope.manifest, journal.manifest)?;
        Ok(())
    }

    /// Plans the old records of merges. A record that was written or removed since stays as it is. A damaged
    /// record is skipped: its conflicts can be examined without it.
    pub(in crate::scope::transaction::undo) fn merges(&mut self) -> Done {
        for (name, change) in &self.record.journal.merges {
            let file = merges::file(self.scope, name)?;
            let old = own_file(&file)?;
            if old.as_deref().map(Digest::of) != change.new {
                continue;
            }
            let new = match change.old {
                Some(digest) => self.record.text(&file, digest)?,
                None => None,
            };
            if new.is_some() == change.old.is_some() {
                self.undo.merges.insert(name.clone(), Text { new, old });
            }
        }
        self.merges_of_what_goes()
    }

    /// Plans the removal of the records of merges into versions that are then no longer locked: a later
    /// update to the same version may have no merge.
    fn merges_of_what_goes(&mut self) -> Done {
        let Some(Text { new, .. }) = &self.undo.lockfile else { return Ok(()) };
        let lock = new.as_deref().map(|text| Lockfile::parse(&String::from_utf8_lossy(text))).transpose();
        // A lockfile that cannot be read does not show what it locks.
        let Ok(lock) = lock.map(Option::unwrap_or_default) else { return Ok(()) };
        for name in merges::going(self.scope, &lock, &BTreeSet::new()) {
            let file = merges::file(self.scope, &name)?;
            if let Some(old) = own_file(&file)?
                && !self.record.journal.merges.contains_key(&name)
            {
                self.undo.merges.insert(name, Text { new: None, old: Some(old) });
            }
        }
        Ok(())
    }

    fn file(&mut self, file: &Path, change: Option<Change>) -> Result<Option<Text>> {
        let Some(change) = change else { return Ok(None) };
        self.scope.check_inside(file)?;
        let old = fs::read_capped(file, MAX_FILE)?;
        let now = old.as_deref().map(Digest::of);
        if now == change.old {
            return Ok(None);
        }
        if now != change.new {
            if !self.force {
                self.changed.push(Changed { path: file.to_owned(), kind: ChangedKind::Edited });
                return Ok(None);
            }
            self.undo.keep_files.extend(old.is_some().then(|| file.to_owned()));
        }
        let new = match change.old {
            None => None,
            Some(digest) => Some(self.record.text(file, digest)?.ok_or_else(|| {
                let record = self.record.directory.display();
                Error::integrity(format!(
                    "the old text of `{}` is not in `{record}` unchanged, so nothing was undone",
                    file.display()
                ))
                .hint(message!(
                    "nothing was changed; ",
                    Verb::Undo.call().flag(Opt::Forget),
                    " deletes the record"
                ))
            })?),
        };
        Ok(Some(Text { new, old }))
    }
}
