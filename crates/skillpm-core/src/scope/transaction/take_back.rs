//! Taking back the last transaction, by its record.

use std::collections::BTreeSet;

use super::journal::{Change, Journal};
use super::record::{BACK, Record, keep_text, prepared};
use super::undo::{Text, Undo};
use super::{Old, Transaction};
use crate::advice::{Verb, message};
use crate::digest::Digest;
use crate::error::Result;
use crate::fs;
use crate::interrupt::Changing;
use crate::scope::files::{Files, read_manifest};
use crate::scope::merges;
use crate::scope::receipts::Receipts;
use crate::store;

impl Transaction<'_> {
    /// Takes back the transaction of `record` as `undo` plans it. If this fails, the scope is as it was.
    pub(crate) fn take_back(&self, record: &Record, undo: &Undo) -> Result<()> {
        let changing = Changing::begin();
        let back = record.directory.join(BACK);
        // Only needed for the receipts: a file that cannot be read contributes nothing.
        let before = Files::read(self.scope).unwrap_or_default();
        let journal = self.stage_back(record, undo).inspect_err(|_| {
            // The first error is the one to report; prepared files are not part of the record.
            let _ = fs::remove_tree(&back);
        })?;
        self.reporter.step("begin");
        fs::move_new(&record.directory, &self.directory)?;
        fs::sync_dir(&self.scope.work_dir())?;
        let mut begun = 0;
        if let Err(error) = self.run(&journal, &mut begun) {
            let old = |text: &Option<Text>| text.as_ref().and_then(|text| text.old.clone());
            let (manifest, lockfile) = (old(&undo.manifest), old(&undo.lockfile));
            let old = Old { manifest: manifest.as_deref(), lockfile: lockfile.as_deref() };
            if self.roll_back(&journal, &old, begun).is_err() {
                return Err(error.hint(message!(
                    "not everything could be undone: the next ",
                    Verb::Undo,
                    " continues"
                )));
            }
            // It is the original record again.
            let _ = fs::remove_tree(&self.directory.join(BACK))
                .and_then(|()| fs::move_new(&self.directory, &record.directory));
            return Err(self.with_saved(error));
        }
        if (undo.lockfile.is_some() || undo.manifest.is_some())
            && let Ok((manifest, _)) = read_manifest(self.scope)
        {
            let placed = Receipts::of(self.settings, self.scope);
            placed.renew(&before, &manifest, &journal.steps, &BTreeSet::new(), true);
        }
        changing.done(self.undone_by());
        self.settle(self.undoable.get())
    }

    /// Prepares everything in the record and writes the journal.
    fn stage_back(&self, record: &Record, undo: &Undo) -> Result<Journal> {
        for (slot, name, set, digest) in &undo.refills {
            Self::check_stop()?;
            self.reporter.step(&format!("stage {name}"));
            let written = fs::materialize(set, &record.tree(*slot))?;
            if written != *digest {
                return Err(store::mismatch(&format!("`{name}`"), digest, &written));
            }
        }
        let files = [(&self.scope.lockfile, &undo.lockfile), (&self.scope.manifest, &undo.manifest)];
        let mut changes = [None, None];
        for ((file, text), change) in files.into_iter().zip(&mut changes) {
            let Some(text) = text else { continue };
            self.scope.check_inside(file)?;
            if let Some(new) = &text.new {
                fs::write_small(&prepared(&record.directory, file), new)?;
            }
            let old = text.old.as_deref().map(|old| keep_text(&record.directory, file, old)).transpose()?;
            *change = Some(Change { old, new: text.new.as_deref().map(Digest::of) });
        }
        let [lockfile, manifest] = changes;
        let mut journal = Journal::new(self.scope.kind, undo.steps.clone(), lockfile, manifest);
        for (name, text) in &undo.merges {
            let file = merges::file(self.scope, name)?;
            if let Some(new) = &text.new {
                fs::write_small(&prepared(&record.directory, &file), new)?;
            }
            let old = text.old.as_deref().map(|old| keep_text(&record.directory, &file, old)).transpose()?;
            let change = Change { old, new: text.new.as_deref().map(Digest::of) };
            journal.merges.insert(name.clone(), change);
        }
        (journal.slots, journal.links) = (undo.slots.clone(), undo.links.clone());
        journal.emptied.clone_from(&record.journal.made);
        journal.made = self.before(&journal)?.1;
        (journal.back, journal.redo) = (true, record.is_undo());
        self.reporter.step("sync");
        fs::sync_filesystem(&record.directory)?;
        Self::check_stop()?;
        self.reporter.step("journal");
        self.write_journal(&journal, &record.directory.join(BACK))?;
        Ok(journal)
    }
}
