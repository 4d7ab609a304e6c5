//! Notes about kept copies: the skill that each belongs to, and when and why it was kept.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::kept::KEPT;
use super::{KeptTree, Session, Store};
use crate::env;
use crate::fs;

/// The directory of the notes, separate from the copies, which people examine.
const NOTES: &str = "kept-notes";
/// The maximum size of a file of notes that is read, in bytes.
const MAX_FILE: u64 = 1 << 20;
/// The maximum number of notes for one copy; older ones are dropped.
const MOST: usize = 20;

/// A note about a copy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// The name of the skill, or of a file beside the skills.
    pub name: String,
    /// The time when it was kept, in seconds since 1970.
    pub at: u64,
    /// The part of that time below a second, in nanoseconds, which puts copies of one second in order. Notes of older
    /// versions do not have it.
    #[serde(default)]
    pub nanos: u32,
    /// Why it was kept.
    pub why: Why,
    /// The former path.
    pub from: PathBuf,
}

/// The reason why a copy is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// The skill was removed.
    Removed,
    /// Another version took its place, or was merged into it.
    Replaced,
    /// The change that had brought it was undone.
    TakenBack,
    /// It was written during a change that failed.
    Meanwhile,
    /// An interrupted run left it.
    LeftOver,
    /// It was not skillpm's, and `--force` put something else in its place.
    Foreign,
    /// Tools had left files in it that are nowhere else.
    WithToolFiles,
}

impl Note {
    /// Returns a note with the current time.
    pub fn new(name: &str, why: Why, from: PathBuf) -> Self {
        let now = env::since_1970();
        Self { name: name.to_owned(), at: now.as_secs(), nanos: now.subsec_nanos(), why, from }
    }
}

impl Store {
    /// Writes a note about the copy that is kept at `place`. The note is written to the stage of `session` first, which
    /// is removed after a killed run. If writing fails, the copy is still kept.
    pub(super) fn note(&self, session: &Session, place: &std::path::Path, note: Note) {
        let Some(file) = self.notes_of(place) else { return };
        let mut notes = read(&file).unwrap_or_default();
        notes.push(note);
        notes.drain(..notes.len().saturating_sub(MOST));
        let text = serde_json::to_string(&notes).unwrap_or_default();
        if let Some(dir) = file.parent()
            && fs::create_dir_all(dir).is_ok()
        {
            // Names and paths are private.
            fs::make_private(dir);
            let fresh = session.stage().join(NOTES);
            let _ = fs::write_small(&fresh, text.as_bytes()).and_then(|()| fs::replace_file(&fresh, &file));
        }
    }

    /// Returns the notes about `kept`, the latest last; none if they cannot be read.
    pub fn notes(&self, kept: &KeptTree) -> Vec<Note> {
        self.notes_of(&kept.path).and_then(|file| read(&file)).unwrap_or_default()
    }

    /// Returns the file of the notes about the copy at `place`; `None` for a copy in an older store.
    fn notes_of(&self, place: &std::path::Path) -> Option<PathBuf> {
        let name = place.strip_prefix(self.root.join(KEPT)).ok()?.to_str()?;
        Some(self.root.join(NOTES).join(format!("{name}.json")))
    }
}

fn read(file: &std::path::Path) -> Option<Vec<Note>> {
    let text = fs::read_text(file, MAX_FILE).ok()??;
    serde_json::from_str(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::super::tests::set;
    use super::*;

    #[test]
    fn what_is_known_of_a_copy_is_told_and_notes_do_not_grow() {
        let dir = tempfile::tempdir().expect("a directory");
        let store = Store { root: dir.path().join("store-v2") };
        let notes = || store.kept().expect("lists").iter().map(|kept| store.notes(kept)).collect::<Vec<_>>();
        let note = |at| Note { at, ..Note::new("pdf", Why::Removed, dir.path().join("pdf")) };
        let kept = store.keep(&set("mine"), None).expect("writes");
        assert_eq!(notes(), [Vec::new()]);
        for at in 0..30 {
            assert_eq!(store.keep(&set("mine"), Some(note(at))).expect("writes"), kept);
        }
        let ats: Vec<_> = notes()[0].iter().map(|note| note.at).collect();
        assert_eq!(ats, (10..30).collect::<Vec<_>>());
        let file = store.notes_of(&kept).expect("a place");
        fs::write_atomic(&file, b"[{}]").expect("writes");
        assert_eq!(notes(), [Vec::new()], "what cannot be read tells nothing");
    }
}
