//! Sets of versions, as sets of their ordinals.

use std::fmt;
use std::ops::Bound;

use pubgrub::{Ranges, VersionSet};

/// A set of ordinals of the versions of one skill.
///
/// Ordinals are whole numbers, but [`Ranges`] is made for orders in which there is a value between any two. All ranges
/// here are half-open, so adjacent ordinals merge and equal sets are equal values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ordinals(Ranges<u32>);

impl Ordinals {
    /// Returns the set of the ordinals that `included` is true for, where its first value is about ordinal 0.
    pub(super) fn of(included: impl IntoIterator<Item = bool>) -> Self {
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for (ordinal, _) in (0..).zip(included).filter(|(_, included)| *included) {
            match runs.last_mut() {
                Some((_, end)) if *end == ordinal => *end += 1,
                _ => runs.push((ordinal, ordinal + 1)),
            }
        }
        let bounds = runs.into_iter().map(|(start, end)| (Bound::Included(start), Bound::Excluded(end)));
        Self(bounds.collect())
    }

    /// Reports whether it is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the lowest ordinal of a set that is bounded below.
    pub(super) fn lowest(&self) -> Option<u32> {
        match self.0.bounding_range()?.0 {
            Bound::Included(start) => Some(*start),
            Bound::Excluded(_) | Bound::Unbounded => None,
        }
    }

    /// Returns the highest ordinal of a set that is bounded above.
    pub(super) fn highest(&self) -> Option<u32> {
        match self.0.bounding_range()?.1 {
            Bound::Excluded(end) => end.checked_sub(1),
            Bound::Included(_) | Bound::Unbounded => None,
        }
    }
}

impl fmt::Display for Ordinals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl VersionSet for Ordinals {
    type V = u32;

    fn empty() -> Self {
        Self(Ranges::empty())
    }

    fn full() -> Self {
        Self(Ranges::full())
    }

    fn singleton(ordinal: u32) -> Self {
        Self(Ranges::between(ordinal, ordinal + 1))
    }

    fn complement(&self) -> Self {
        Self(self.0.complement())
    }

    fn intersection(&self, other: &Self) -> Self {
        Self(self.0.intersection(&other.0))
    }

    fn union(&self, other: &Self) -> Self {
        Self(self.0.union(&other.0))
    }

    fn contains(&self, ordinal: &u32) -> bool {
        self.0.contains(ordinal)
    }

    fn is_disjoint(&self, other: &Self) -> bool {
        self.0.is_disjoint(&other.0)
    }

    fn subset_of(&self, other: &Self) -> bool {
        self.0.subset_of(&other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(bits: &str) -> Ordinals {
        Ordinals::of(bits.chars().map(|bit| bit == '1'))
    }

    #[test]
    fn equal_sets_are_equal_values() {
        assert_eq!(Ordinals::singleton(1).union(&Ordinals::singleton(2)), set("0110"));
        assert_eq!(set("0111").intersection(&Ordinals::singleton(2).complement()), set("0101"));
        assert_eq!(set("0101").union(&Ordinals::singleton(2)), set("0111"));
        assert_eq!(set("01").intersection(&set("10")), Ordinals::empty());
        assert_eq!(set(""), Ordinals::empty());
    }

    #[test]
    fn ends() {
        assert_eq!((set("01101").lowest(), set("01101").highest()), (Some(1), Some(4)));
        assert_eq!((set("000").lowest(), set("000").highest()), (None, None));
        assert!(set("000").is_empty() && !set("01").is_empty());
    }
}
