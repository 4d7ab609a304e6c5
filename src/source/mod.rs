//! Where skills come from.

#[cfg(feature = "http")]
pub mod github;
