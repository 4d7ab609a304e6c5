//! Content that is read twice, and is kept for that.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// How many bytes are kept of one source.
const MOST_KEPT: u64 = 8 << 20;

/// The `SKILL.md` of a source's skills that were read once, to find the skills, until they are read again, to
/// install them: to open, or to inflate, a thousand files twice costs more than anything else that is done to
/// find them.
#[derive(Debug, Default)]
pub struct Kept(Mutex<Contents>);

#[derive(Debug, Default)]
struct Contents {
    by_id: BTreeMap<usize, Vec<u8>>,
    size: u64,
}

impl Kept {
    /// Whether the file `path` of `size` bytes is likely to be read twice, and small enough to be kept.
    pub fn is_wanted(path: &str, size: u64) -> bool {
        let is_skill = path.rsplit('/').next().is_some_and(|name| name.eq_ignore_ascii_case("SKILL.md"));
        is_skill && size <= MOST_KEPT / 64
    }

    /// Keeps the content of the file `id`, if there is room for it.
    pub fn put(&self, id: usize, content: Vec<u8>) {
        let size = content.len() as u64;
        let mut contents = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if contents.size + size <= MOST_KEPT && contents.by_id.insert(id, content).is_none() {
            contents.size += size;
        }
    }

    /// Gives the content of the file `id` away, if it was kept.
    pub fn take(&self, id: usize) -> Option<Vec<u8>> {
        // What is kept is whole whatever happened to another thread.
        let mut contents = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let content = contents.by_id.remove(&id)?;
        contents.size -= content.len() as u64;
        Some(content)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_given_once_and_bounded() {
        let kept = Kept::default();
        let large = vec![1; usize::try_from(MOST_KEPT).expect("fits")];
        kept.put(1, large.clone());
        kept.put(1, large.clone());
        kept.put(2, vec![2]);
        assert_eq!((kept.take(2), kept.take(1)), (None, Some(large)));
        assert_eq!(kept.take(1), None);
        kept.put(2, vec![2]);
        assert_eq!(kept.0.lock().expect("whole").size, 1);
    }

    #[test]
    fn what_is_read_twice() {
        for (path, size, wanted) in [
            ("a/SKILL.md", 1, true),
            ("skill.md", 1, true),
            ("a/SKILL.md/b", 1, false),
            ("a/other.md", 1, false),
            ("SKILL.md", MOST_KEPT, false),
        ] {
            assert_eq!(Kept::is_wanted(path, size), wanted, "{path}");
        }
    }
}
