//! What was read of skills' files.

use std::path::{Path, PathBuf};

use super::{At, Visit};
use crate::engine::load::MAX_SKILL_FILE;
use crate::error::Result;
use crate::fs::{Base, Looked, PathError};

/// Room for all of nearly every `SKILL.md`.
const ROOM: usize = 16 << 10;
/// What is larger is not read ahead, in bytes: each of several in each thread would take as much memory.
const MOST_AHEAD: u64 = 256 << 10;

/// What was read of one file.
pub(super) struct Content {
    looked: Result<Looked, PathError>,
    bytes: Vec<u8>,
}

impl Default for Content {
    fn default() -> Self {
        Self { looked: Ok(Looked::Absent), bytes: Vec::with_capacity(ROOM) }
    }
}

impl Content {
    /// Reads the file at `at`, and hands it to `visitor`; it is shown as `shown` says. `None` where there is none.
    ///
    /// # Errors
    ///
    /// Where it cannot be read, and what the visit answers.
    pub(super) fn visit<V: Visit>(
        &mut self,
        at: At<'_>,
        visitor: &mut V,
        shown: impl FnOnce() -> PathBuf,
    ) -> Result<Option<V::Skill>> {
        self.looked = at.base.read_into(&at.dir.join(at.name), MAX_SKILL_FILE, &mut self.bytes);
        self.hand(at, visitor, shown)
    }

    /// As [`Self::visit`], of a file that was read ahead.
    pub(super) fn visit_read<V: Visit>(
        &mut self,
        at: At<'_>,
        visitor: &mut V,
        shown: impl FnOnce() -> PathBuf,
    ) -> Result<Option<V::Skill>> {
        if !matches!(self.looked, Ok(Looked::Other)) {
            return self.hand(at, visitor, shown);
        }
        let visited = self.visit(at, visitor, shown);
        self.bytes = Vec::with_capacity(ROOM);
        visited
    }

    fn hand<V: Visit>(
        &mut self,
        at: At<'_>,
        visitor: &mut V,
        shown: impl FnOnce() -> PathBuf,
    ) -> Result<Option<V::Skill>> {
        let bytes = match std::mem::replace(&mut self.looked, Ok(Looked::Absent))? {
            Looked::Absent => return Ok(None),
            Looked::Read => Some(&mut self.bytes),
            Looked::Other => None,
        };
        visitor.visit(at, bytes, shown).map(Some)
    }
}

/// Several files that are read before the first of them is visited. Where each is visited at once, the system's code
/// and ours take turns, and each finds that the other has taken its place in the processor's memory.
#[derive(Default)]
pub(super) struct Ahead {
    paths: Vec<PathBuf>,
    contents: Vec<Content>,
}

impl Ahead {
    /// Reads the file `name` in each of `dirs` below `base`, and returns what was read, in their order. In place of
    /// `None` nothing is read.
    pub(super) fn read<'a>(
        &mut self,
        base: &Base,
        dirs: impl ExactSizeIterator<Item = Option<&'a Path>>,
        name: &Path,
    ) -> &mut [Content] {
        let count = dirs.len();
        if self.contents.len() < count {
            self.contents.resize_with(count, Content::default);
            self.paths.resize_with(count, PathBuf::new);
        }
        let files =
            self.paths.iter_mut().zip(&mut self.contents).zip(dirs).filter_map(|((path, content), dir)| {
                path.as_mut_os_string().clear();
                path.extend([dir?, name]);
                Some((&**path, content))
            });
        base.read_several(files, |content, file| {
            content.looked = file.read_into(MOST_AHEAD, &mut content.bytes);
        });
        &mut self.contents[..count]
    }
}
