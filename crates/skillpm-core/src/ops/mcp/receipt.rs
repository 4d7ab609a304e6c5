//! The record of an installation's edit of a file, by which it is undone byte for byte.
//!
//! A receipt holds the edit, not a copy of the file: the file may have secrets in it.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::error::Result;
use crate::fs;
use crate::settings::Settings;

/// The directory of receipts, in the state directory.
const DIRECTORY: &str = "mcp";
/// The version of the format.
const VERSION: u32 = 1;
/// The largest receipt that is read, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// The edit of a file by an installation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Receipt {
    version: u32,
    /// Whether the table of servers was added too.
    pub(super) with_table: bool,
    /// Whether the file was created.
    pub(super) created: bool,
    /// The number of directories that were created for it.
    pub(super) directories: usize,
    /// The edit; `None` if the file had been edited by others between two installations.
    edit: Option<Edit>,
}

/// An edit of a text, with what is needed to take it back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Edit {
    /// The digest of the text before.
    before: String,
    /// The digest of the text after.
    after: String,
    /// The byte from which on the texts differ.
    at: usize,
    /// The number of bytes from there on that are new.
    added: usize,
    /// The text that was there.
    removed: String,
}

/// The text that a receipt restores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Before {
    /// There was no file.
    NoFile,
    /// There was a file with this text.
    Text(String),
}

impl Receipt {
    /// Returns the receipt for the edit of `before` to `after`; `before` is `None` if the file is created.
    pub(super) fn new(before: Option<&str>, after: &str, with_table: bool, directories: usize) -> Self {
        let edit = Some(Edit::between(before.unwrap_or_default(), after));
        Self { version: VERSION, with_table, created: before.is_none(), directories, edit }
    }

    /// Returns the receipt for a further edit, to `after`, of the file with the text `now`.
    pub(super) fn followed(&self, now: &str, after: &str) -> Self {
        let edit = match self.before(now) {
            Some(Before::NoFile) => Some(Edit::between("", after)),
            Some(Before::Text(before)) => Some(Edit::between(&before, after)),
            None => None,
        };
        Self { edit, ..self.clone() }
    }

    /// Returns what was there before; `None` if `now`, the text of the file, is not what was left there.
    pub(super) fn before(&self, now: &str) -> Option<Before> {
        let before = self.edit.as_ref()?.reversed(now)?;
        Some(if self.created { Before::NoFile } else { Before::Text(before) })
    }

    /// Reads the receipt for the server `name` in the file `path`. Returns `None` if it is missing or
    /// cannot be understood: then only the entry itself is removed.
    pub(super) fn read(settings: &Settings, path: &Path, name: &str) -> Option<Self> {
        let bytes = fs::read_capped(&Self::place(settings, path, name)?, MAX_FILE).ok()??;
        let receipt: Self = serde_json::from_slice(&bytes).ok()?;
        (receipt.version == VERSION).then_some(receipt)
    }

    /// Writes the receipt for the server `name` in the file `path`, for this user only. Does nothing where there is no
    /// place for it.
    pub(super) fn write(&self, settings: &Settings, path: &Path, name: &str) -> Result<()> {
        let Some(place) = Self::place(settings, path, name) else { return Ok(()) };
        if let Some(directory) = place.parent() {
            fs::create_dir_all(directory)?;
        }
        let text = serde_json::to_vec(self).unwrap_or_default();
        Ok(fs::write_private(&place, &text)?)
    }

    /// Removes the receipt for the server `name` in the file `path`, if there is one.
    pub(super) fn remove(settings: &Settings, path: &Path, name: &str) -> Result<()> {
        match Self::place(settings, path, name) {
            Some(place) => Ok(fs::remove_if_there(&place)?),
            None => Ok(()),
        }
    }

    /// Returns the directory of all receipts; `None` without a state directory.
    pub(super) fn directory(settings: &Settings) -> Option<PathBuf> {
        Some(settings.dirs.state.as_ref()?.join(DIRECTORY))
    }

    /// Returns the path of the receipt; `None` without a state directory.
    pub(super) fn place(settings: &Settings, path: &Path, name: &str) -> Option<PathBuf> {
        let directory = Self::directory(settings)?;
        let digest = Digest::of(format!("{}\0{name}", path.display()).as_bytes());
        Some(directory.join(format!("{}.json", digest.hex())))
    }
}

impl Edit {
    fn between(before: &str, after: &str) -> Self {
        let common = before.bytes().zip(after.bytes()).take_while(|(a, b)| a == b).count();
        let at = before.floor_char_boundary(common);
        let (old, new) = (&before[at..], &after[at..]);
        let same = old.bytes().rev().zip(new.bytes().rev()).take_while(|(a, b)| a == b).count();
        let same = old.len() - old.ceil_char_boundary(old.len() - same);
        let removed = old[..old.len() - same].to_owned();
        let digest = |text: &str| Digest::of(text.as_bytes()).to_string();
        Self { before: digest(before), after: digest(after), at, added: new.len() - same, removed }
    }

    /// Returns the text before, if `now` is the text after.
    fn reversed(&self, now: &str) -> Option<String> {
        let is = |text: &str, digest: &str| Digest::of(text.as_bytes()).to_string() == digest;
        if !is(now, &self.after) {
            return None;
        }
        let rest = now.get(self.at.checked_add(self.added)?..)?;
        let before = [now.get(..self.at)?, &self.removed, rest].concat();
        is(&before, &self.before).then_some(before)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn an_edit_is_taken_back(before in "[aé\u{1f600}ê]{0,6}", after in "[aé\u{1f600}ê]{0,6}") {
            let receipt = Receipt::new(Some(&before), &after, false, 0);
            prop_assert_eq!(receipt.before(&after), Some(Before::Text(before.clone())));
            if before != after {
                prop_assert_eq!(receipt.before(&before), None);
            }
            let followed = receipt.followed(&after, "other");
            prop_assert_eq!(followed.before("other"), Some(Before::Text(before)));
            prop_assert_eq!(receipt.followed("edited", "other").before("other"), None);
        }
    }

    #[test]
    fn a_receipt_keeps_no_copy_of_the_file() {
        let receipt = Receipt::new(Some("key = 's3cret'\n"), "key = 's3cret'\n[x]\n", false, 0);
        assert!(!serde_json::to_string(&receipt).expect("JSON").contains("s3cret"));
        assert_eq!(Receipt::new(None, "x", true, 1).before("x"), Some(Before::NoFile));
    }

    /// A damaged one must not panic.
    #[test]
    fn a_receipt_that_lies_gives_nothing_back() {
        for (at, added) in [(usize::MAX, 1), (9, 0), (0, 9), (1, 0)] {
            let mut receipt = Receipt::new(Some("é"), "é", false, 0);
            if let Some(edit) = &mut receipt.edit {
                (edit.at, edit.added) = (at, added);
            }
            assert_eq!(receipt.before("é"), None, "{at} {added}");
        }
    }
}
