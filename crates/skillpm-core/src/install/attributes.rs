//! The file that keeps git from changing the line endings of skills.

use std::path::Path;

use crate::fs::{self, Kind};

/// Its name, in the directory around the skills.
pub const FILE: &str = ".gitattributes";
/// The line in it that counts.
pub const LINE: &str = "* -text";
/// The content that skillpm writes.
pub const TEXT: &str = "# Written by skillpm: the bytes of skills are locked, so git must not change their line ends.\n* -text\n";

/// Removes the file from the directory `dir`, if nobody else wrote anything into it.
pub fn remove_ours(dir: &Path) {
    let file = dir.join(FILE);
    let is_ours = matches!(fs::kind(&file), Ok(Some(Kind::File)))
        && matches!(fs::read_capped(&file, 4096), Ok(Some(bytes)) if bytes == TEXT.as_bytes());
    if is_ours {
        // A file that stays does no harm.
        let _ = fs::remove_if_there(&file);
    }
}
