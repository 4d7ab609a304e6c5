//! The record of a finished transaction, from which it can be taken back.
//!
//! ```text
//! .agents/.skillpm-undo/   the directory of the finished transaction, by one rename
//!   tree-0 tree-1 ...      trees and links that went
//!   skillpm.toml.<digest>  the texts that manifest and lockfile had
//!   journal.json           what was done
//!   undo.json              what is to be done now, while that is prepared
//! ```
//!
//! Taking it back is a transaction, too. It is prepared in this directory; the rename to the directory of a
//! transaction begins it, so a run that is killed before has changed nothing. What it removes takes the place
//! of what it restores, so that it can be taken back in turn.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::journal::{Journal, Made};
use super::known::{self, KnownTrees, TreeState};
use super::{JOURNAL, Transaction, own_file};
use crate::advice::{Opt, Verb, message};
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::fs::{self, Kind};
use crate::interrupt::Changing;
use crate::scope::Scope;
use crate::scope::step::{Location, Step};
use crate::scope_kind::ScopeKind;
use crate::settings::Settings;

/// The journal of the transaction that takes another one back.
pub(super) const BACK: &str = "undo.json";

/// The record of the last transaction of a scope.
#[derive(Debug)]
pub(crate) struct Record {
    pub(super) directory: PathBuf,
    pub(super) journal: Journal,
}

impl Record {
    /// Reports whether anything is at the path of a record.
    pub(crate) fn is_there(scope: &Scope) -> Result<bool> {
        Ok(fs::kind(&Self::place(scope))?.is_some())
    }

    /// Returns the path of the record, whether it exists or not.
    pub(crate) fn place(scope: &Scope) -> PathBuf {
        scope.work_dir().join(known::RECORD)
    }

    /// Reads the record of `scope`; `None` if it does not exist.
    pub(crate) fn read(settings: &Settings, scope: &Scope) -> Result<Option<Self>> {
        let (work_dir, directory) = (scope.work_dir(), Self::place(scope));
        scope.check_inside(&work_dir)?;
        match fs::kind(&directory)? {
            None => return Ok(None),
            Some(Kind::Directory) => {}
            Some(_) => return Err(foreign(&directory)),
        }
        // Without a journal it is the remainder of one that was being removed.
        let Some(text) = own_file(&directory.join(JOURNAL))? else { return Ok(None) };
        match KnownTrees::of(settings, &work_dir)?.says(&Digest::of(&text)) {
            TreeState::Ours => {}
            TreeState::Nothing => return Err(foreign(&directory)),
            TreeState::Other => return Err(damaged(&directory)),
            TreeState::Unreadable(note) => return Err(unreadable(&note)),
        }
        let journal = Journal::parse(&String::from_utf8_lossy(&text)).map_err(|reason| {
            Error::config(format!("`{}` cannot be read: {reason}", directory.join(JOURNAL).display()))
                .hint("another version of skillpm wrote it: undo the change with that one")
        })?;
        Ok(Some(Self { directory, journal }))
    }

    /// Returns the scope that was changed, if the record names it: in the user's home both scopes share one
    /// directory.
    pub(crate) fn scope(&self) -> Option<ScopeKind> {
        self.journal.scope
    }

    /// Reports whether the change took back another one. Taking this change back repeats the other one.
    pub(crate) fn is_undo(&self) -> bool {
        self.journal.back && !self.journal.redo
    }

    /// Returns the path of the tree or link with the number `slot`.
    pub(super) fn tree(&self, slot: usize) -> PathBuf {
        tree(&self.directory, slot)
    }

    /// Returns the text of `file` with `digest`, if the record has it intact.
    pub(super) fn text(&self, file: &Path, digest: Digest) -> Result<Option<Vec<u8>>> {
        let text = own_file(&kept(&self.directory, file, digest))?;
        Ok(text.filter(|text| Digest::of(text) == digest))
    }
}

/// Returns the error for a record that has changed since the last transaction.
fn damaged(directory: &Path) -> Error {
    let journal = directory.join(JOURNAL);
    Error::integrity(format!(
        "`{}` is not as the last change left it, so it is not taken back",
        journal.display()
    ))
    .hint(message!(
        "it was edited or damaged, or came with foreign files: ",
        Verb::Undo.call().flag(Opt::Forget),
        " removes it"
    ))
}

/// Returns the error for a note about the last change that cannot be read.
fn unreadable(note: &Path) -> Error {
    Error::io(format!("`{}`, which says that you made the last change here, cannot be read", note.display()))
        .hint(message!(
            "make it readable and run the command again; ",
            Verb::Undo.call().flag(Opt::Forget),
            " gives the last change up"
        ))
}

fn foreign(directory: &Path) -> Error {
    Error::integrity(format!(
        "`{}` does not record a change that you made here, so it was not undone",
        directory.display()
    ))
    .hint(message!(
        "it came with someone else's files, or the project was moved: ",
        Verb::Undo.call().flag(Opt::Forget),
        " removes it"
    ))
}

/// Returns the path of the tree or link with the number `slot` in a transaction's `directory`.
pub(super) fn tree(directory: &Path, slot: usize) -> PathBuf {
    directory.join(format!("tree-{slot}"))
}

/// Returns the path of the new text of `file` in `directory`.
pub(super) fn prepared(directory: &Path, file: &Path) -> PathBuf {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    directory.join(format!("{name}.new"))
}

/// Returns the path of the old text of `file` with `digest` in `directory`.
pub(super) fn kept(directory: &Path, file: &Path, digest: Digest) -> PathBuf {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    directory.join(format!("{name}.{}", digest.hex()))
}

/// Keeps `text`, the current content of `file`, in `directory`. It is synced with the rest of the directory.
pub(super) fn keep_text(directory: &Path, file: &Path, text: &[u8]) -> Result<Digest> {
    let digest = Digest::of(text);
    fs::write_small(&kept(directory, file, digest), text)?;
    Ok(digest)
}

/// Returns the digest of a link's text.
pub(super) fn of_text(text: &Path) -> Digest {
    Digest::of(text.as_os_str().as_encoded_bytes())
}

impl Transaction<'_> {
    /// Reports whether the last applied change can be taken back.
    pub(crate) fn is_undoable(&self) -> bool {
        self.undoable.get()
    }

    /// Reports whether [`Transaction::begin`] finished the `undo` of a killed run.
    pub(crate) fn has_finished_undo(&self) -> bool {
        self.finished_undo.get()
    }

    /// Returns what the steps of `journal` will find: the links that they will set aside, by the number of
    /// their tree, and the directories that they will create.
    pub(super) fn before(&self, journal: &Journal) -> Result<(BTreeMap<usize, Digest>, Vec<Made>)> {
        // Checked once for each directory, not for each skill.
        let mut dirs: BTreeMap<Location, (PathBuf, usize)> = BTreeMap::new();
        let (mut links, mut moved) = (BTreeMap::new(), BTreeSet::new());
        for (at, step) in journal.steps.iter().enumerate() {
            let (place, name) = step.place();
            if !dirs.contains_key(&place) {
                let dir = self.scope.dir(self.settings, &place)?;
                let mut missing = 0;
                for dir in dir.ancestors() {
                    if fs::kind(dir)?.is_some() {
                        break;
                    }
                    missing += 1;
                }
                dirs.insert(place.clone(), (dir, missing));
            }
            let sets_aside = matches!(step, Step::Link { .. } | Step::Edit { .. } | Step::Unlink { .. });
            if let Some((dir, 0)) = dirs.get(&place).filter(|_| sets_aside) {
                let target = dir.join(name.as_str());
                // A later step in the same place finds what the earlier one left.
                if let Some(text) = fs::read_link(&target)?
                    && moved.insert(target)
                {
                    links.insert(journal.slot(at), of_text(&text));
                }
            }
        }
        let made = dirs.into_iter().filter(|(place, (_, missing))| {
            // The directories of the scope itself are removed whenever they are empty.
            *missing > 0 && matches!(place, Location::Agent(_))
        });
        Ok((links, made.map(|(place, (_, levels))| Made { place, levels }).collect()))
    }

    /// Writes `journal` to `file`, and notes that it was written here.
    pub(super) fn write_journal(&self, journal: &Journal, file: &Path) -> Result<()> {
        let text = serde_json::to_string(journal).map_err(|error| Error::io(error.to_string()))?;
        let kept =
            own_file(&Record::place(self.scope).join(JOURNAL)).ok().flatten().map(|text| Digest::of(&text));
        let kept = kept.filter(|kept| self.known.has(kept));
        self.undoable.set(self.known.add(Digest::of(text.as_bytes()), kept));
        Ok(fs::write_atomic(file, text.as_bytes())?)
    }

    /// Ends a completed transaction. If `keep` says that it was begun here, what it removed is kept until the
    /// next one.
    pub(super) fn settle(&self, keep: bool) -> Result<()> {
        self.reporter.step("drop the record before");
        self.drop_record()?;
        if !keep {
            return self.clear();
        }
        let back = self.directory.join(BACK);
        if fs::kind(&back)?.is_some() {
            fs::replace_file(&back, &self.directory.join(JOURNAL))?;
        }
        self.reporter.step("keep the record");
        fs::move_new(&self.directory, &Record::place(self.scope))?;
        self.reporter.step("end");
        Ok(())
    }

    /// Removes the journal of the record, then the rest: without a journal it is garbage.
    fn drop_record(&self) -> Result<()> {
        let record = Record::place(self.scope);
        if fs::kind(&record)? == Some(Kind::Directory) {
            fs::remove_tree(&record.join(JOURNAL))?;
        }
        Ok(fs::remove_tree(&record)?)
    }

    /// Removes the record of the last transaction. Nothing can be taken back afterwards.
    pub(crate) fn forget(&self) -> Result<()> {
        let _changing = Changing::begin();
        self.drop_record()?;
        self.known.forget()
    }

    /// Removes the directories that an undone transaction had created and, in a project, those of agents from
    /// which it removed something, if they are now empty.
    pub(super) fn empty(&self, journal: &Journal) {
        let leaves =
            |step: &&Step| matches!(step, Step::Unlink { .. } | Step::Remove { .. } | Step::Disable { .. });
        let mut left: BTreeSet<Location> =
            journal.steps.iter().filter(leaves).map(|step| step.place().0).collect();
        left.retain(|place| matches!(place, Location::Agent(_)) && self.scope.kind == ScopeKind::Project);
        for place in left {
            let Ok(dir) = self.scope.dir(self.settings, &place) else { continue };
            if dir.starts_with(&self.scope.root) && self.scope.check_inside(&dir).is_ok() {
                for dir in dir.ancestors().take_while(|dir| **dir != *self.scope.root) {
                    fs::remove_dir_if_empty(dir);
                }
            }
        }
        for Made { place, levels } in &journal.emptied {
            let Ok(dir) = self.scope.dir(self.settings, place) else { continue };
            for dir in dir.ancestors().take(*levels) {
                fs::remove_dir_if_empty(dir);
            }
        }
    }
}
