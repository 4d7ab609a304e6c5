//! One path in three versions.

use std::cell::OnceCell;

use super::{Conflict, Labels, Outcome, Prefer, lines};
use crate::tree::{FileEntry, FileSet, ReadError, Rights};

/// The maximum size in bytes of texts that are merged line by line: no agent reads larger ones, and comparing them
/// could take long.
pub(super) const MAX_TEXT: u64 = 1 << 20;
/// The maximum number of lines of such texts.
pub(super) const MAX_LINES: usize = 50_000;

/// A file of one version, read at most once.
pub(super) struct Side<'a> {
    set: &'a FileSet,
    entry: &'a FileEntry,
    bytes: OnceCell<Vec<u8>>,
}

impl<'a> Side<'a> {
    pub(super) fn new(set: &'a FileSet, entry: &'a FileEntry) -> Self {
        Self { set, entry, bytes: OnceCell::new() }
    }

    fn bytes(&self) -> Result<&[u8], ReadError> {
        if let Some(bytes) = self.bytes.get() {
            return Ok(bytes);
        }
        let bytes = self.set.read(self.entry)?;
        Ok(self.bytes.get_or_init(|| bytes))
    }

    fn into_item(self) -> Result<Item<'a>, ReadError> {
        self.bytes()?;
        let rights = self.rights();
        let bytes = self.bytes.into_inner().unwrap_or_default();
        Ok(Item { bytes: Bytes::Memory(bytes), executable: self.entry.executable, rights })
    }

    fn rights(&self) -> Rights {
        self.set.rights(self.entry)
    }

    fn has_bytes_of(&self, other: &Self) -> Result<bool, ReadError> {
        Ok(self.entry.size == other.entry.size && self.bytes()? == other.bytes()?)
    }

    fn equals(&self, other: &Self) -> Result<bool, ReadError> {
        Ok(self.entry.executable == other.entry.executable && self.has_bytes_of(other)?)
    }

    /// Returns the content, if it is text that can be merged.
    fn text(&self) -> Result<Option<&str>, ReadError> {
        if self.entry.size > MAX_TEXT {
            return Ok(None);
        }
        let bytes = self.bytes()?;
        let is_text =
            memchr::memchr(0, bytes).is_none() && memchr::memchr_iter(b'\n', bytes).count() <= MAX_LINES;
        Ok(std::str::from_utf8(bytes).ok().filter(|_| is_text))
    }
}

/// The place of the bytes of a file in the result.
pub(super) enum Bytes<'a> {
    /// In this file of the new version.
    Theirs(&'a FileEntry),
    /// In memory.
    Memory(Vec<u8>),
}

impl Bytes<'_> {
    pub(super) fn size(&self) -> u64 {
        match self {
            Self::Theirs(entry) => entry.size,
            Self::Memory(bytes) => bytes.len() as u64,
        }
    }
}

/// A file of the result.
pub(super) struct Item<'a> {
    pub(super) bytes: Bytes<'a>,
    pub(super) executable: bool,
    /// The permissions of the user's file, if there is one at the path.
    pub(super) rights: Rights,
}

impl Item<'_> {
    /// Reports whether both are known to be the same file.
    pub(super) fn is(&self, other: &Self) -> bool {
        match (&self.bytes, &other.bytes) {
            (Bytes::Memory(here), Bytes::Memory(there)) => {
                here == there && self.executable == other.executable
            }
            _ => false,
        }
    }
}

/// The result for one path.
pub(super) struct Path<'a> {
    pub(super) outcome: Outcome,
    /// The file at the path, if there should be one.
    pub(super) item: Option<Item<'a>>,
    /// The user's file, if it is not the file at the path.
    pub(super) kept: Option<Item<'a>>,
}

impl<'a> Path<'a> {
    fn new(outcome: Outcome, item: Option<Item<'a>>) -> Self {
        Self { outcome, item, kept: None }
    }
}

/// Returns a path in conflict, decided for `side`, whose file is `item`.
fn decided(conflict: Conflict, side: Prefer, item: Option<Item<'_>>) -> Path<'_> {
    Path::new(Outcome::Decided(conflict, side), item)
}

/// Merges the versions of one path, at least one of which exists.
pub(super) fn merge<'a>(
    base: Option<Side<'a>>,
    ours: Option<Side<'a>>,
    theirs: Option<Side<'a>>,
    labels: &Labels<'_>,
    prefer: Option<Prefer>,
) -> Result<Path<'a>, ReadError> {
    let new = |side: &Side<'a>| {
        let (executable, rights) = (side.entry.executable, Rights::ALL);
        Some(Item { bytes: Bytes::Theirs(side.entry), executable, rights })
    };
    Ok(match (base, ours, theirs) {
        (base, Some(ours), Some(theirs)) => return both(base.as_ref(), ours, &theirs, labels, prefer),
        (_, None, None) => Path::new(Outcome::Same, None),
        (None, Some(ours), None) => Path::new(Outcome::Ours, Some(ours.into_item()?)),
        (None, None, Some(theirs)) => Path::new(Outcome::Theirs, new(&theirs)),
        (Some(base), Some(ours), None) if ours.equals(&base)? => Path::new(Outcome::Theirs, None),
        (Some(base), None, Some(theirs)) if theirs.equals(&base)? => Path::new(Outcome::Ours, None),
        (Some(_), Some(ours), None) => match prefer {
            Some(Prefer::Theirs) => decided(Conflict::DeletedThere, Prefer::Theirs, None),
            Some(Prefer::Ours) => decided(Conflict::DeletedThere, Prefer::Ours, Some(ours.into_item()?)),
            None => Path::new(Outcome::Conflict(Conflict::DeletedThere), Some(ours.into_item()?)),
        },
        (Some(_), None, Some(theirs)) => match prefer {
            Some(Prefer::Ours) => decided(Conflict::DeletedHere, Prefer::Ours, None),
            Some(Prefer::Theirs) => decided(Conflict::DeletedHere, Prefer::Theirs, new(&theirs)),
            None => Path::new(Outcome::Conflict(Conflict::DeletedHere), new(&theirs)),
        },
    })
}

/// Merges a path that both sides have.
fn both<'a>(
    base: Option<&Side<'a>>,
    ours: Side<'a>,
    theirs: &Side<'a>,
    labels: &Labels<'_>,
    prefer: Option<Prefer>,
) -> Result<Path<'a>, ReadError> {
    let unchanged = |side: &Side<'_>| base.map_or(Ok(false), |base| base.equals(side));
    let same_bytes = |side: &Side<'_>| base.map_or(Ok(false), |base| base.has_bytes_of(side));
    // If the sides differ, one of them is unchanged; if there was no file before, it was not executable.
    let was_executable = base.is_some_and(|base| base.entry.executable);
    let executable = match (ours.entry.executable, theirs.entry.executable) {
        (here, there) if here == there => here,
        _ => !was_executable,
    };
    // Users who may not read the user's file may not read its replacement either.
    let rights = ours.rights();
    let in_theirs = Some(Item { bytes: Bytes::Theirs(theirs.entry), executable, rights });
    if ours.equals(theirs)? {
        let outcome = if unchanged(&ours)? { Outcome::Unchanged } else { Outcome::Same };
        return Ok(Path::new(outcome, in_theirs));
    }
    if unchanged(&ours)? {
        return Ok(Path::new(Outcome::Theirs, in_theirs));
    }
    if unchanged(theirs)? {
        return Ok(Path::new(Outcome::Ours, Some(ours.into_item()?)));
    }
    if ours.has_bytes_of(theirs)? || same_bytes(&ours)? {
        return Ok(Path::new(Outcome::Merged, in_theirs));
    }
    if same_bytes(theirs)? {
        let item = Item { executable, ..ours.into_item()? };
        return Ok(Path::new(Outcome::Merged, Some(item)));
    }
    let before = base.map_or(Ok(Some("")), Side::text)?;
    let lines = match (before, ours.text()?, theirs.text()?) {
        (Some(before), Some(here), Some(there)) => Some(lines::merge(before, here, there, labels)),
        _ => None,
    };
    let conflict = match &lines {
        Some(lines) if !lines.conflict => None,
        Some(_) => Some(Conflict::Lines),
        None => Some(Conflict::Binary),
    };
    if let (Some(conflict), Some(prefer)) = (conflict, prefer) {
        let item = match prefer {
            Prefer::Ours => Some(ours.into_item()?),
            Prefer::Theirs => {
                let executable = theirs.entry.executable;
                Some(Item { bytes: Bytes::Theirs(theirs.entry), executable, rights })
            }
        };
        return Ok(decided(conflict, prefer, item));
    }
    let Some(lines) = lines else {
        let outcome = Outcome::Conflict(Conflict::Binary);
        return Ok(Path { outcome, item: in_theirs, kept: Some(ours.into_item()?) });
    };
    let item = Some(Item { bytes: Bytes::Memory(lines.text.into_bytes()), executable, rights });
    if !lines.conflict {
        return Ok(Path::new(Outcome::Merged, item));
    }
    Ok(Path { outcome: Outcome::Conflict(Conflict::Lines), item, kept: Some(ours.into_item()?) })
}
