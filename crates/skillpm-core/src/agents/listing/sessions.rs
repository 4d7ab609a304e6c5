//! What Claude Code told a model the last time: the record of it in its newest session here.
//!
//! The record is an attachment `skill_listing`, which several independent readers of these files describe.

use std::path::{Path, PathBuf};

use super::Asked;
use crate::agents::resolve;
use crate::agents::sessions::claude_code::last_listing;
use crate::error::Result;
use crate::fs;

/// The listing of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The file of the session.
    pub file: PathBuf,
    /// The listing as the model got it.
    pub text: String,
}

/// Returns the last whole listing of the newest session in the working directory; `None` if there is none.
///
/// # Errors
///
/// Fails if the directory of the sessions cannot be read. A session that cannot be is passed over.
pub fn recorded(asked: Asked<'_>) -> Result<Option<Recorded>> {
    // The name of the directory is the path, with a hyphen for each character that is no letter or digit.
    let cwd = asked.settings.cwd.display().to_string();
    let name: String = cwd.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let Some(dir) = resolve("$CLAUDE_CONFIG_DIR/projects", asked.settings).map(|dir| dir.join(name)) else {
        return Ok(None);
    };
    let is_session = |name: &String| Path::new(name).extension().is_some_and(|ending| ending == "jsonl");
    let names = fs::list_dir(&dir)?.into_iter().filter(is_session);
    let mut sessions: Vec<_> =
        names.map(|name| dir.join(name)).filter_map(|file| Some((fs::modified(&file)?, file))).collect();
    sessions.sort();
    for (_, file) in sessions.into_iter().rev() {
        if let Ok(Some(text)) = last_listing(&file) {
            return Ok(Some(Recorded { file, text }));
        }
    }
    Ok(None)
}
