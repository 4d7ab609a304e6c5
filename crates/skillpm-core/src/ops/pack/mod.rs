//! `pack`: a skill as a package, a zip archive with the same bytes wherever it is made.

mod examine;
mod output;
mod packed;
mod secrets;
mod select;

use std::path::Path;

pub(super) use examine::about;
pub(super) use examine::skill_at;
pub use examine::{Examined, examine};
pub use output::{PackOutcome, PackRequest, PackedArtifact, write};
pub use packed::{Packed, PackedFile};
pub use secrets::{PackedKey, Secrets};
pub use select::{LeaveReason, LeftOut};

use crate::context::Context;
use crate::error::Result;
use crate::lint::RuleOptions;

/// Packs the skill in the directory `dir`, which is relative to the working directory. Writes no file.
///
/// # Errors
///
/// Fails if there is no skill, if it has files that no skill may have, if the profile `publish` finds an error, and for
/// a name or version that no registry accepts.
pub fn pack(context: &Context, dir: &Path) -> Result<Packed> {
    examine(context, dir, &RuleOptions::default())?.pack()
}
