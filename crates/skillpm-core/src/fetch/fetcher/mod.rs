//! Fetching of skills: locked ones from the store or else from their sources, and new ones from the sources.

mod content;
mod keep;
mod newest;
mod scoped;
mod sources;
mod versions;

pub(crate) use self::content::admit;
pub(crate) use self::keep::{keep, unwritable};
pub(crate) use self::newest::{Newest, dependent, locked, moved_to, spec_of};
pub(crate) use self::scoped::Fetcher;
pub(crate) use self::sources::{Sources, asked};
pub(crate) use self::versions::Versions;
