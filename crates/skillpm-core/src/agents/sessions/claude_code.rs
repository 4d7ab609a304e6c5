//! Sessions of Claude Code: `$CLAUDE_CONFIG_DIR/projects/PROJECT/SESSION.jsonl`, and `SESSION/subagents/` beside it. It
//! deletes them after `cleanupPeriodDays`, 30 unless set.
//!
//! A use is a `tool_use` of the tool `Skill` whose `tool_result` is not an error, or a command that a person typed. The records
//! are those that several independent readers describe.

use std::path::Path;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use serde_json::Value;

use super::files::{Files, files_below};
use super::{Caller, LONGEST_LINE, RecordedUse, SessionRecords, Waiting, call_id, name_of};
use crate::fs::{self, PathError};
use crate::settings::Settings;

/// The attachment with the listing that a model got.
const LISTING: &str = "skill_listing";

static TOOL: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(b"\"Skill\""));
static COMMAND: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(b"<command-name>"));
static LISTED: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(LISTING));
static RESULT: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(b"tool_use_id"));
static DIRECTORY: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(b"\"cwd\":"));

/// Returns the files of all sessions.
pub(super) fn files(settings: &Settings) -> Files {
    files_below(&["$CLAUDE_CONFIG_DIR/projects"], 4, &["jsonl"], settings)
}

/// Reads a file of a session.
pub(super) fn read(file: &Path) -> Result<SessionRecords, PathError> {
    let is_part = file.components().any(|part| part.as_os_str() == "subagents")
        || file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("agent-"));
    let records = SessionRecords { is_whole: !is_part, ..SessionRecords::default() };
    let mut reader = Reader { file, records, waiting: Waiting::default() };
    reader.records.left_out.long_lines = fs::each_line(file, LONGEST_LINE, |line| reader.line(line))?;
    Ok(reader.records)
}

struct Reader<'a> {
    file: &'a Path,
    records: SessionRecords,
    waiting: Waiting,
}

impl Reader<'_> {
    fn line(&mut self, line: &[u8]) {
        self.records.begin(line);
        let wants_project = self.records.project.is_none() && DIRECTORY.find(line).is_some();
        if !(wants_project || self.may_tell(line)) {
            return;
        }
        let Some(record) = self.records.parsed(line) else { return };
        if wants_project {
            self.records.project = record["cwd"].as_str().map(Into::into);
        }
        let time = record["timestamp"].as_str().and_then(crate::text::milliseconds);
        match record["type"].as_str() {
            Some("assistant") => self.calls(&record, time),
            Some("user") => self.answers(&record, time),
            Some("attachment") => {
                let attachment = &record["attachment"];
                if attachment["type"] == LISTING {
                    let lines = attachment["content"].as_str().into_iter().flat_map(str::lines);
                    for name in lines.filter_map(name_in) {
                        self.records.list(name, time);
                    }
                }
            }
            _ => {}
        }
    }

    /// Searches for the bytes without which a line tells of no skill: much cheaper than to parse it.
    fn may_tell(&self, line: &[u8]) -> bool {
        TOOL.find(line).is_some()
            || COMMAND.find(line).is_some()
            || LISTED.find(line).is_some()
            || (!self.waiting.is_empty() && RESULT.find(line).is_some())
    }

    /// Notes the calls of the tool `Skill`.
    fn calls(&mut self, record: &Value, time: Option<i64>) {
        for block in blocks(record).filter(|block| block["type"] == "tool_use" && block["name"] == "Skill") {
            let (Some(id), Some(skill)) = (block["id"].as_str(), block["input"]["skill"].as_str()) else {
                continue;
            };
            let skill = skill.trim_start_matches('/').to_owned();
            let used = RecordedUse { skill, file: None, time, by: Caller::Model, is_ok: true, is_sure: true };
            self.waiting.add(id, used);
        }
    }

    /// Joins calls with their results, and notes the command that a person typed.
    fn answers(&mut self, record: &Value, time: Option<i64>) {
        for block in blocks(record).filter(|block| block["type"] == "tool_result") {
            let Some((id, mut used)) = self.waiting.take(&block["tool_use_id"]) else { continue };
            used.is_ok = block["is_error"] != true && record["toolUseResult"]["success"] != false;
            if let Some(skill) = name_of(&used.skill, used.is_ok) {
                self.records.uses.insert(call_id(&id, self.file), RecordedUse { skill, ..used });
            }
        }
        let content = &record["message"]["content"];
        let text = content.as_str().or_else(|| content[0]["text"].as_str());
        if let Some(skill) = text.and_then(command).and_then(|name| name_of(name, false)) {
            // A copy of the record has another id, and the same time.
            let id = record["timestamp"].as_str().or_else(|| record["uuid"].as_str()).unwrap_or_default();
            let by = Caller::Person;
            let used =
                RecordedUse { skill: skill.clone(), file: None, time, by, is_ok: true, is_sure: false };
            self.records.uses.insert(format!("{id} /{skill}"), used);
        }
    }
}

/// Returns the parts of a message.
fn blocks(record: &Value) -> impl Iterator<Item = &Value> {
    record["message"]["content"].as_array().into_iter().flatten()
}

/// Returns the name of the command that a text is, not one that it mentions.
fn command(text: &str) -> Option<&str> {
    let text = text.trim_start();
    if !(text.starts_with("<command-name>") || text.starts_with("<command-message>")) {
        return None;
    }
    let (_, rest) = text.split_once("<command-name>")?;
    rest.split_once("</command-name>")?.0.trim().strip_prefix('/')
}

/// Returns the name of the skill in a line of a listing: one word after `- `, with a colon and a blank or nothing behind it.
/// Descriptions may have several lines.
pub(crate) fn name_in(line: &str) -> Option<&str> {
    let line = line.strip_prefix("- ")?;
    let name = line.split_once(": ").map_or(line, |(name, _)| name);
    (!name.is_empty() && !name.contains(char::is_whitespace)).then_some(name)
}

/// Returns the last whole listing that the session `file` records.
pub(in crate::agents) fn last_listing(file: &Path) -> Result<Option<String>, PathError> {
    let mut last = None;
    fs::each_line(file, LONGEST_LINE, |line| {
        if LISTED.find(line).is_some() {
            last = whole_listing(line).or(last.take());
        }
    })?;
    Ok(last)
}

/// Returns the listing in a line of a session. A later record may tell only what is new.
fn whole_listing(line: &[u8]) -> Option<String> {
    let record: Value = serde_json::from_slice(line).ok()?;
    let attachment = &record["attachment"];
    let is_whole = attachment["type"] == LISTING && attachment["isInitial"] == true;
    is_whole.then(|| attachment["content"].as_str().map(str::to_owned)).flatten()
}
