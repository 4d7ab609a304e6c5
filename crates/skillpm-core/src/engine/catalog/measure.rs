//! How the size of a catalog is measured.

use crate::tokens;

/// The unit of a budget.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Measure {
    /// Tokens of a language model: as many as a text has at most.
    #[default]
    Tokens,
    /// Bytes.
    Bytes,
}

impl Measure {
    /// Returns the size of `text`.
    pub fn size(self, text: &str) -> usize {
        self.units(self.weight(text))
    }

    /// Returns the size of `text` as a weight: parts of a text together weigh at least as much as the whole.
    pub(super) fn weight(self, text: &str) -> usize {
        match self {
            Self::Tokens => tokens::most_in_sixths(text),
            Self::Bytes => text.len(),
        }
    }

    /// Returns the size of what has `weight`.
    pub(super) fn units(self, weight: usize) -> usize {
        weight.div_ceil(self.fraction())
    }

    /// Returns the weight that is within `budget`.
    pub(super) fn room(self, budget: usize) -> usize {
        budget.saturating_mul(self.fraction())
    }

    /// Returns the name of the unit.
    pub(super) fn unit(self) -> &'static str {
        match self {
            Self::Tokens => "tokens",
            Self::Bytes => "bytes",
        }
    }

    fn fraction(self) -> usize {
        match self {
            Self::Tokens => 6,
            Self::Bytes => 1,
        }
    }
}
