//! Notes, outside the scopes, of the transactions that this user began.
//!
//! The record that a transaction leaves for `undo` is in the project, and so may come with a clone. A note in the user's own
//! state directory lists the journals that were written here; no other is taken back.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::error::Result;
use crate::fs;
use crate::settings::Settings;

/// The directory of the record of a transaction, next to the skills.
pub(super) const RECORD: &str = ".skillpm-undo";

/// The largest note that is read, in bytes.
const MAX_NOTE: u64 = 64 << 10;

/// The note about one scope.
#[derive(Debug)]
pub(super) struct KnownTrees {
    /// `None` if there is no place for notes.
    file: Option<PathBuf>,
    work_dir: PathBuf,
}

#[derive(Debug, Serialize, Deserialize)]
struct Note {
    /// The directory of the scope that is locked, for cleaning up.
    directory: String,
    /// The digests of the journals.
    journals: Vec<Digest>,
}

impl KnownTrees {
    /// Returns the note about the scope with the directory `work_dir`. Writes nothing.
    pub(super) fn of(settings: &Settings, work_dir: &Path) -> Result<Self> {
        let work_dir = fs::real_path(work_dir)?.unwrap_or_else(|| work_dir.to_owned());
        let name = Digest::of(work_dir.as_os_str().as_encoded_bytes());
        let file = notes(settings).map(|dir| dir.join(format!("{}.json", name.hex())));
        Ok(Self { file, work_dir })
    }

    /// Reports whether the journal with `digest` was written by this user, here. An unreadable note means no.
    pub(super) fn has(&self, digest: &Digest) -> bool {
        matches!(self.says(digest), TreeState::Ours)
    }

    /// Returns what the note says about the journal with `digest`.
    pub(super) fn says(&self, digest: &Digest) -> TreeState {
        let Some(file) = &self.file else { return TreeState::Nothing };
        match read(file) {
            Some(note) if note.journals.contains(digest) => TreeState::Ours,
            Some(_) => TreeState::Other,
            None if matches!(fs::kind(file), Ok(None)) => TreeState::Nothing,
            None => TreeState::Unreadable(file.clone()),
        }
    }

    /// Records the journal with the digest `new`, in addition to `kept`, the one that can be taken back until
    /// then. Returns `false` if that fails.
    pub(super) fn add(&self, new: Digest, kept: Option<Digest>) -> bool {
        let Some(file) = &self.file else { return false };
        let directory = self.work_dir.display().to_string();
        let journals = std::iter::once(new).chain(kept).collect();
        let text = serde_json::to_string(&Note { directory, journals }).unwrap_or_default();
        // Not synced: after a power failure there is nothing to take back.
        fs::write_small(file, text.as_bytes()).is_ok()
    }

    /// Removes the note.
    pub(super) fn forget(&self) -> Result<()> {
        Ok(self.file.as_deref().map_or(Ok(()), fs::remove_if_there)?)
    }
}

/// The note about a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TreeState {
    /// This user wrote it here.
    Ours,
    /// This user wrote another one here.
    Other,
    /// There is no note.
    Nothing,
    /// The note exists but cannot be read.
    Unreadable(PathBuf),
}

/// Returns the notes about scopes with nothing left to take back, such as those of removed projects.
pub(crate) fn stale_notes(settings: &Settings) -> Result<Vec<PathBuf>> {
    let Some(dir) = notes(settings) else { return Ok(Vec::new()) };
    let files = fs::list_dir(&dir)?.into_iter().map(|name| dir.join(name));
    let is_stale = |file: &PathBuf| {
        let record = |note: Note| Path::new(&note.directory).join(RECORD);
        read(file).is_none_or(|note| matches!(fs::kind(&record(note)), Ok(None)))
    };
    Ok(files.filter(is_stale).collect())
}

fn notes(settings: &Settings) -> Option<PathBuf> {
    settings.dirs.state.as_ref().map(|state| state.join("undo"))
}

fn read(file: &Path) -> Option<Note> {
    serde_json::from_slice(&fs::read_capped(file, MAX_NOTE).ok()??).ok()
}
