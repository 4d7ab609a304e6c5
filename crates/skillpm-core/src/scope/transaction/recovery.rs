//! Recovery of interrupted transactions: the next run completes or clears away a killed one, and a failure
//! rolls back what was done.

use std::path::Path;

use super::journal::{Change, Journal};
use super::{JOURNAL, MAX_FILE, Transaction, own_file, record};
use crate::digest::Digest;
use crate::error::{Error, ErrorKind, Result};
use crate::fs::{self, Kind};
use crate::interrupt::Changing;
use crate::manifest::Manifest;
use crate::name::SkillName;
use crate::scope::Scope;
use crate::scope::files::read_manifest;
use crate::scope::on_disk::HAS_REPOSITORY;
use crate::scope::step::Step;
use crate::scope::trees::Trees;
use crate::store::{self, Note, Store, Why};

/// The previous texts of the manifest and the lockfile.
pub(super) struct Old<'a> {
    pub(super) manifest: Option<&'a [u8]>,
    pub(super) lockfile: Option<&'a [u8]>,
}

impl Transaction<'_> {
    /// Completes or clears away what a killed run left.
    pub(super) fn recover(&self, changing: &Changing) -> Result<()> {
        match fs::kind(&self.directory)? {
            None => return Ok(()),
            Some(Kind::Directory) => {}
            // Not ours: a link could lead anywhere, so only the link itself goes.
            Some(_) => return Ok(fs::remove_tree(&self.directory)?),
        }
        // If a transaction was being taken back, its own journal is there, too.
        let text = match own_file(&self.directory.join(record::BACK))? {
            Some(text) => Some(text),
            None => own_file(&self.directory.join(JOURNAL))?,
        };
        if let Some(text) = text {
            let known = self.known.has(&Digest::of(&text));
            let text = String::from_utf8_lossy(&text);
            let journal = Journal::parse(&text).map_err(|reason| self.bad_journal(&reason))?;
            let other = self.other_scope_of(&journal)?;
            let finished = match &other {
                Some(scope) => Transaction::new(scope, self.settings, self.reporter, None)
                    .and_then(|transaction| transaction.finish(&journal, known)),
                None => self.finish(&journal, known),
            };
            finished.map_err(|error| {
                let begun = self.directory.display();
                error
                    .context("an interrupted run of skillpm cannot be finished")
                    .hint(format!("delete `{begun}` to abandon it"))
            })?;
            self.finished_undo.set(known && journal.back && other.is_none());
            changing.done(None);
            return self.settle(known);
        }
        self.clear()
    }

    /// Returns the scope of `journal`, if it is not this one. A stranger's journal reaches no other scope: it
    /// must keep its skills in this very directory.
    fn other_scope_of(&self, journal: &Journal) -> Result<Option<Scope>> {
        let Some(kind) = journal.scope.filter(|kind| *kind != self.scope.kind) else { return Ok(None) };
        let other = self.scope.other_scope(self.settings)?;
        let elsewhere = || self.bad_journal(&format!("it belongs to the {kind} scope, which is not here"));
        other.map(Some).ok_or_else(elsewhere)
    }

    /// Continues the transaction of `journal`. One that is not `known` may be a stranger's: it removes no
    /// file and restores no link that it made itself.
    fn finish(&self, journal: &Journal, known: bool) -> Result<()> {
        if journal.steps.iter().any(|step| matches!(step, Step::Edit { .. })) {
            self.manifest.replace(self.manifest_of(journal)?);
        }
        for (at, step) in journal.steps.iter().enumerate() {
            if known || !matches!(step, Step::Relink { .. }) {
                self.step_again(journal.slot(at), step)?;
            }
        }
        self.sync_places(journal)?;
        for (file, change) in
            [(&self.scope.lockfile, journal.lockfile), (&self.scope.manifest, journal.manifest)]
        {
            if known || change.is_some_and(|change| change.new.is_some()) {
                self.replace(file, change)?;
            }
        }
        if known {
            self.replace_merges(journal)?;
            self.empty(journal);
        }
        Ok(())
    }

    /// Returns the manifest that the transaction of `journal` writes, or otherwise the existing one.
    fn manifest_of(&self, journal: &Journal) -> Result<Manifest> {
        if let (Some(change), Some(bytes)) =
            (journal.manifest, own_file(&self.prepared(&self.scope.manifest))?)
            && change.new == Some(Digest::of(&bytes))
            && let Ok(manifest) = Manifest::parse(&String::from_utf8_lossy(&bytes))
        {
            return Ok(manifest);
        }
        Ok(read_manifest(self.scope)?.0)
    }

    fn bad_journal(&self, reason: &str) -> Error {
        let journal = self.directory.join(JOURNAL);
        Error::config(format!("`{}` cannot be read: {reason}", journal.display()))
            .hint("a run of skillpm was interrupted there; delete the directory to abandon it")
    }

    /// Takes back the first `begun` steps, last first. The last of them may have failed halfway.
    pub(super) fn roll_back(&self, journal: &Journal, old: &Old<'_>, begun: usize) -> Result<()> {
        self.check_place()?;
        let mut result = Ok(());
        for (at, step) in journal.steps.iter().enumerate().take(begun).rev() {
            result = result.and(self.undo_step(journal.slot(at), step));
        }
        let files = [
            (&self.scope.lockfile, journal.lockfile, old.lockfile),
            (&self.scope.manifest, journal.manifest, old.manifest),
        ];
        for (file, change, old) in files {
            result = result.and(self.restore_file(file, change, old));
        }
        result = result.and(self.restore_merges(journal));
        for dir in self.made.borrow().iter().rev() {
            fs::remove_dir_if_empty(dir);
        }
        result
    }

    /// Adds to `error` where [`Transaction::save`] saved trees.
    pub(super) fn with_saved(&self, error: Error) -> Error {
        self.saved.take().into_iter().fold(error, Error::hint)
    }

    /// Saves the tree of `name` at `tree`, which is removed with the transaction: it was edited while it was in place.
    pub(super) fn save(&self, name: &SkillName, tree: &Path) -> Result<()> {
        let trees = Trees::default();
        if trees.inside(tree).repository {
            return Err(Error::new(ErrorKind::Findings, format!("`{}` {HAS_REPOSITORY}", tree.display())));
        }
        // Content that a skill may not have can only be a leftover of tools.
        let set = store::read(tree).or_else(|_| trees.read(tree).map(|lying| lying.files))?;
        let note = Note::new(name.as_str(), Why::Meanwhile, self.scope.skill_dir(name));
        let place = Store::new(self.settings)?.keep(&set, Some(note))?;
        let place = place.display();
        self.saved
            .borrow_mut()
            .push(format!("what was written into `{name}` in the meantime is in `{place}`"));
        Ok(())
    }

    /// Restores the old text of one of the two files, if the new one is in place. Moves the new one back
    /// beside the journal: if this run is killed here, the next one needs it to complete the transaction.
    pub(super) fn restore_file(&self, file: &Path, change: Option<Change>, old: Option<&[u8]>) -> Result<()> {
        let Some(change) = change else { return Ok(()) };
        if fs::read_capped(file, MAX_FILE)?.map(|bytes| Digest::of(&bytes)) != change.new {
            return Ok(());
        }
        let prepared = self.prepared(file);
        match (change.new, old) {
            (None, None) => Ok(()),
            (Some(_), None) => Ok(fs::move_new(file, &prepared)?),
            (new, Some(text)) => {
                fs::write_atomic(&prepared, text)?;
                match new {
                    Some(_) => Ok(fs::exchange_file(&prepared, file)?),
                    None => Ok(fs::replace_file(&prepared, file)?),
                }
            }
        }
    }

    /// Removes the journal, then the rest: without a journal the rest is garbage.
    pub(super) fn clear(&self) -> Result<()> {
        self.check_place()?;
        fs::remove_tree(&self.directory.join(JOURNAL))?;
        Ok(fs::remove_tree(&self.directory)?)
    }
}
