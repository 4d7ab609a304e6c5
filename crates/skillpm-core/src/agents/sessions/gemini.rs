//! Sessions of Gemini CLI: `~/.gemini/tmp/PROJECT/chats/session-*.jsonl`, older ones a single value in `.json`. The
//! directory of the project is in `.project_root` beside `chats`.
//!
//! A use is a call of the tool `activate_skill` with the status `success`. A message stands in several lines, of which the
//! last holds, and `$set` writes all again. What is taken back by `$rewindTo` was used nevertheless. The records are those
//! that version 0.61.0 was measured to write.

use std::path::Path;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use serde_json::Value;

use super::files::{Files, files_below};
use super::{Caller, LONGEST_LINE, RecordedUse, SessionRecords, call_id, name_of, time_in};
use crate::fs::{self, PathError};
use crate::settings::Settings;
use crate::text::milliseconds;

/// The tool that loads a skill.
const TOOL: &str = "activate_skill";
/// The largest session in a single value that is read, in bytes.
const LARGEST: u64 = 32 << 20;
/// The longest path that is read, in bytes.
const LONGEST_PATH: u64 = 16 << 10;

static CALL: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(b"\"activate_skill\""));

/// Returns the files of all sessions.
pub(super) fn files(settings: &Settings) -> Files {
    let mut files = files_below(&["$GEMINI_CLI_HOME/.gemini/tmp"], 4, &["json", "jsonl"], settings);
    files.0.retain(|file| file.components().any(|part| part.as_os_str() == "chats"));
    files
}

/// Reads a session.
pub(super) fn read(file: &Path) -> Result<SessionRecords, PathError> {
    let is_main = file.parent().is_some_and(|dir| dir.ends_with("chats"));
    let mut records = SessionRecords { is_whole: is_main, ..SessionRecords::default() };
    let chats = file.ancestors().find(|dir| dir.ends_with("chats"));
    let root = chats.and_then(Path::parent).map(|dir| dir.join(".project_root"));
    let root = root.and_then(|root| fs::read_text(&root, LONGEST_PATH).ok().flatten());
    records.project = root.map(|root| root.trim_end().into());
    if file.extension().is_some_and(|ending| ending == "json") {
        let bytes = fs::read_capped(file, LARGEST)?.unwrap_or_default();
        records.first = time_in(&bytes).or_else(|| start_in(&bytes));
        line(&bytes, file, &mut records);
        return Ok(records);
    }
    records.left_out.long_lines = fs::each_line(file, LONGEST_LINE, |bytes| {
        records.begin(bytes);
        line(bytes, file, &mut records);
    })?;
    Ok(records)
}

/// Returns when a session in a single value was started, however it is indented.
fn start_in(bytes: &[u8]) -> Option<i64> {
    let value: Value = serde_json::from_slice(bytes).ok()?;
    value["startTime"].as_str().and_then(milliseconds)
}

/// Reads a line, or all of an older session.
fn line(bytes: &[u8], file: &Path, records: &mut SessionRecords) {
    if CALL.find(bytes).is_none() {
        return;
    }
    let Some(value) = records.parsed(bytes) else { return };
    message(&value, file, records);
    for messages in [&value["messages"], &value["$set"]["messages"]] {
        for value in messages.as_array().into_iter().flatten() {
            message(value, file, records);
        }
    }
}

fn message(message: &Value, file: &Path, records: &mut SessionRecords) {
    let calls = message["toolCalls"].as_array().into_iter().flatten();
    for call in calls.filter(|call| message["type"] == "gemini" && call["name"] == TOOL) {
        let is_ok = match call["status"].as_str() {
            Some("success") => true,
            Some("error") => false,
            // It has not ended, or was not allowed.
            _ => continue,
        };
        let Some(skill) = call["args"]["name"].as_str().and_then(|name| name_of(name, is_ok)) else {
            continue;
        };
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        // A number of a call begins anew in each session; the id of its message does not.
        let id = format!("{} {}", call_id(&text(&message["id"]), file), text(&call["id"]));
        let time = [&call["timestamp"], &message["timestamp"]];
        let time = time.into_iter().find_map(|time| time.as_str().and_then(milliseconds));
        let used = RecordedUse { skill, file: None, time, by: Caller::Model, is_ok, is_sure: true };
        records.uses.insert(id, used);
    }
}
