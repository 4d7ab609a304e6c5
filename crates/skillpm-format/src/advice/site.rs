//! The place in the source that made a message.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::panic::Location;

/// A place in the source. All are equal: equal messages are the same message, wherever they were made.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Site(pub(super) Option<&'static Location<'static>>);

impl PartialEq for Site {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Site {}

impl PartialOrd for Site {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Site {
    fn cmp(&self, _: &Self) -> Ordering {
        Ordering::Equal
    }
}

impl Hash for Site {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}
