//! `registry mirror` and `registry bundle`: a registry, or a part of it, in another place.

mod bundle;
mod copy;
mod outcome;
mod select;

pub use bundle::{BundleOutcome, BundleRequest, bundle};
pub use copy::{MirrorRequest, mirror};
pub use outcome::{MirrorOutcome, MirroredVersion};
pub use select::Selection;
