//! What Claude Code told a model the last time: the record of it in its newest session here.
//!
//! The record is an attachment `skill_listing`, which several independent readers of these files describe.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::Asked;
use crate::agents::resolve;
use crate::error::Result;
use crate::fs;

/// The largest session that is read, in bytes.
const MAX_SESSION: u64 = 512 << 20;
/// What a line with such a record has in it.
const RECORD: &str = "skill_listing";

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
        let Ok(Some(bytes)) = fs::read_capped(&file, MAX_SESSION) else { continue };
        let text = String::from_utf8_lossy(&bytes);
        let last = text.lines().rev().filter(|line| line.contains(RECORD)).find_map(listing_of);
        if let Some(text) = last {
            return Ok(Some(Recorded { file, text }));
        }
    }
    Ok(None)
}

/// Returns the listing in a line of a session. A later record may tell only what is new.
fn listing_of(line: &str) -> Option<String> {
    let record: Value = serde_json::from_str(line).ok()?;
    let attachment = &record["attachment"];
    let is_whole = attachment["type"] == RECORD && attachment["isInitial"] == true;
    is_whole.then(|| attachment["content"].as_str().map(str::to_owned)).flatten()
}
