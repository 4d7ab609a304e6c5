//! Fetching of skills: locked ones from the store or else from their sources, and new ones from the sources.

mod content;
mod keep;
mod newest;
mod scoped;
mod sources;
mod versions;

pub(super) use self::content::admit;
pub(super) use self::keep::{keep, unwritable};
pub(super) use self::newest::{Newest, dependent, locked, moved_to, spec_of};
pub(super) use self::scoped::Fetcher;
pub(super) use self::sources::{Sources, asked};
pub(super) use self::versions::Versions;
