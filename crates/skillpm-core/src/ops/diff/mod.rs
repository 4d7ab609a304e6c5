//! Differences between two texts, as `diff -u` and `git` show them, and between two versions of a
//! skill.

mod lines;
mod trees;
mod versions;

pub use self::lines::{renamed, unified};
pub use self::trees::{
    ContentDiff, Counts, FileDiff, FileStatus, MAX_FILE, MAX_LINES, MAX_SHOWN, TreeDiff, VersionDiff,
};
pub use self::versions::{Compared, DiffKind, DiffOutcome, DiffRequest, Side, SkillDiff, diff};
