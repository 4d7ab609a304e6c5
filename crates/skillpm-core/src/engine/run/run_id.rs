//! The mark that identifies a run.

use std::hash::{BuildHasher as _, RandomState};

/// A number that identifies the processes of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark(u64);

impl Mark {
    /// Returns a mark that no other run has.
    pub(super) fn new() -> Self {
        // A process that is forked goes on with the random state of its parent, and so do its siblings.
        let random = RandomState::new().hash_one(std::process::id());
        // Below the limit of a process without one, and not a limit that a person would set.
        Self((random >> 4) | (1 << 60))
    }

    /// Returns the number.
    pub(super) fn number(self) -> u64 {
        self.0
    }

    /// Returns the mark as a text.
    pub(super) fn id(self) -> String {
        format!("{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_differ_and_fit() {
        let (a, b) = (Mark::new(), Mark::new());
        assert_ne!(a, b);
        assert!((1 << 60..1 << 61).contains(&a.number()), "{}", a.id());
    }
}
