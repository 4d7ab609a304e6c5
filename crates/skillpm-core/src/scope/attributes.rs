//! The file that keeps git from changing the line endings of skills.

use std::path::{Path, PathBuf};

use crate::fs::{self, Kind};

/// The name, in the directory around the skills.
pub(crate) const FILE: &str = ".gitattributes";
/// The line in it that counts.
pub(crate) const LINE: &str = "* -text";
/// The content that skillpm writes.
pub(crate) const TEXT: &str = "# Written by skillpm: the bytes of skills are locked, so git must not change their line ends.\n* -text\n";

/// Returns the file in the directory `dir` and its text without what skillpm wrote, which is `None` if nothing else is
/// in it. Returns `None` if skillpm wrote nothing there.
pub(crate) fn without_ours(dir: &Path) -> Option<(PathBuf, Option<String>)> {
    let file = dir.join(FILE);
    if fs::kind(&file).ok()? != Some(Kind::File) {
        return None;
    }
    let text = String::from_utf8(fs::read_capped(&file, 1 << 20).ok()??).ok()?;
    let (before, after) = text.split_once(TEXT)?;
    let rest = format!("{before}{after}");
    Some((file, (!rest.is_empty()).then_some(rest)))
}

/// Removes what skillpm wrote into the file in the directory `dir`, and the file if nothing else is in it.
pub(crate) fn remove_ours(dir: &Path) {
    // A line that stays does no harm.
    let _ = match without_ours(dir) {
        Some((file, None)) => fs::remove_if_there(&file),
        Some((file, Some(rest))) => fs::write_atomic(&file, rest.as_bytes()),
        None => Ok(()),
    };
}
