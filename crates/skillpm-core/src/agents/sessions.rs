//! What the sessions of agents on this machine record about skills: which were used, by whom, and which were listed.
//!
//! A name in a text proves nothing: the listing of skills names them all. A use is a record that the agent itself made of
//! it, joined with the record of how it ended. Nothing but names, times and directories leaves this module.
//!
//! Records are read line by line, and only a line with certain bytes in it is parsed, so memory does not grow with the
//! sessions. What cannot be read is counted and left out.

pub(crate) mod claude_code;
mod codex;
mod files;
mod gemini;
#[cfg(feature = "sqlite")]
mod opencode;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use self::files::of_files;
use super::Agent;
use crate::error::Error;
use crate::settings::Settings;
use crate::text::{and, milliseconds};

/// The agents whose sessions can be read.
pub const AGENTS: [&str; 4] = ["claude-code", "codex", "gemini-cli", "opencode"];

/// The longest line that is read, in bytes: images make lines of megabytes, uses of skills do not.
const LONGEST_LINE: usize = 4 << 20;
/// The most calls that wait for their results.
const MOST_WAITING: usize = 64;
/// The most characters of a name.
const LONGEST_NAME: usize = 128;
/// An id of so many characters is that of one call alone, wherever it stands; some models number their calls in each session.
const WHOLE_ID: usize = 16;

/// Who used a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Caller {
    /// A model chose it.
    Model,
    /// A person named it.
    Person,
    /// The record does not tell.
    Unknown,
}

/// A use of a skill, or the attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionUse {
    /// The name by which the agent knows the skill.
    pub skill: String,
    /// The path of its `SKILL.md`, where the record has it.
    pub file: Option<PathBuf>,
    /// When it was, in milliseconds since 1970.
    pub time: Option<i64>,
    /// The directory that the session was started in.
    pub project: Option<PathBuf>,
    /// Who used it.
    pub by: Caller,
    /// Whether the skill was loaded.
    pub is_ok: bool,
}

/// What the sessions of an agent record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sessions {
    /// The uses, in the order of their times.
    pub uses: Vec<SessionUse>,
    /// For each name that a listing for the model has, the number of sessions in which it was listed.
    pub listed: BTreeMap<String, usize>,
    /// The number of sessions that were read.
    pub count: usize,
    /// The time of the earliest record that was read, in milliseconds since 1970.
    pub first: Option<i64>,
    /// What was left out.
    pub left_out: LeftOut,
}

impl Sessions {
    /// Returns how often each skill was loaded.
    pub fn counts(&self) -> BTreeMap<&str, usize> {
        let mut counts = BTreeMap::new();
        for used in self.uses.iter().filter(|used| used.is_ok) {
            *counts.entry(used.skill.as_str()).or_default() += 1;
        }
        counts
    }
}

/// The numbers of files and lines that were left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LeftOut {
    /// Files and directories that cannot be read.
    pub files: usize,
    /// Lines that are not JSON, though they might tell of a skill.
    pub lines: usize,
    /// Lines that are too long to tell of a skill.
    pub long_lines: usize,
}

/// Which records are wanted.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wanted<'a> {
    /// Only those since this time, in milliseconds since 1970.
    pub since: Option<i64>,
    /// Only those of sessions in this directory or below.
    pub project: Option<&'a Path>,
}

impl Wanted<'_> {
    fn is_in_time(self, time: Option<i64>) -> bool {
        self.since.is_none_or(|since| time.is_some_and(|time| time >= since))
    }
}

/// Returns what the sessions of `agent` record; `None` for an agent whose sessions cannot be read. A person's command
/// counts if its name is that of a skill: one that was listed or used by a model, or for which `is_skill` returns `true`.
pub fn sessions(
    agent: &Agent,
    settings: &Settings,
    wanted: Wanted<'_>,
    is_skill: &dyn Fn(&str) -> bool,
) -> Option<Sessions> {
    let mut sessions = Sessions::default();
    let records = match agent.id {
        "claude-code" => {
            of_files(claude_code::files(settings), wanted, claude_code::read, &mut sessions.left_out)
        }
        "codex" => of_files(codex::files(settings), wanted, codex::read, &mut sessions.left_out),
        "gemini-cli" => of_files(gemini::files(settings), wanted, gemini::read, &mut sessions.left_out),
        #[cfg(feature = "sqlite")]
        "opencode" => opencode::read(settings, wanted).unwrap_or_else(|_| {
            sessions.left_out.files += 1;
            Vec::new()
        }),
        _ => return None,
    };
    join(records, wanted, is_skill, &mut sessions);
    Some(sessions)
}

/// Returns the error for an agent whose sessions cannot be read.
pub fn not_read(agent: &Agent) -> Error {
    let known: Vec<_> = AGENTS.iter().map(|id| format!("`{id}`")).collect();
    Error::usage(format!("sessions of `{}` cannot be read", agent.id))
        .hint(format!("those of {} can", and(&known)))
}

/// The records of one session, or of a file of it.
#[derive(Debug, Default)]
struct SessionRecords {
    /// Whether it is a session of its own, not a part of another one.
    is_whole: bool,
    /// The directory that it was started in.
    project: Option<PathBuf>,
    /// The time of its first record.
    first: Option<i64>,
    /// The uses, by ids that are the same in a copy of the record.
    uses: BTreeMap<String, RecordedUse>,
    /// The names that were listed, with the last time.
    listed: BTreeMap<String, Option<i64>>,
    left_out: LeftOut,
}

/// A use as it stands in a session.
#[derive(Debug)]
struct RecordedUse {
    skill: String,
    file: Option<PathBuf>,
    time: Option<i64>,
    by: Caller,
    is_ok: bool,
    /// Whether it is sure that the name is that of a skill.
    is_sure: bool,
}

/// Calls without a result so far, by their ids: the oldest gives way to one that is too many.
#[derive(Debug, Default)]
struct Waiting(Vec<(String, RecordedUse)>);

impl Waiting {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn add(&mut self, id: &str, used: RecordedUse) {
        if self.0.len() >= MOST_WAITING {
            self.0.remove(0);
        }
        self.0.push((id.to_owned(), used));
    }

    /// Returns the call that a result belongs to, and no longer waits for it.
    fn take(&mut self, id: &Value) -> Option<(String, RecordedUse)> {
        let at = self.0.iter().position(|(waiting, _)| id.as_str() == Some(waiting))?;
        Some(self.0.remove(at))
    }
}

/// Joins the records of all sessions. A session that was resumed or copied has records of another one: each counts once.
fn join(
    mut records: Vec<SessionRecords>,
    wanted: Wanted<'_>,
    is_skill: &dyn Fn(&str) -> bool,
    sessions: &mut Sessions,
) {
    let is_wanted = |records: &SessionRecords| {
        let project = || records.project.as_deref();
        wanted.project.is_none_or(|wanted| project().is_some_and(|project| project.starts_with(wanted)))
    };
    records.retain(is_wanted);
    for records in &records {
        sessions.count += usize::from(records.is_whole && records.first.is_some());
        sessions.first = [sessions.first, records.first].into_iter().flatten().min();
        sessions.left_out.lines += records.left_out.lines;
        sessions.left_out.long_lines += records.left_out.long_lines;
        for (name, _) in records.listed.iter().filter(|(_, time)| wanted.is_in_time(**time)) {
            *sessions.listed.entry(name.clone()).or_default() += 1;
        }
    }
    let sure = records.iter().flat_map(|records| records.uses.values());
    let sure: BTreeSet<String> =
        sure.filter(|used| used.is_sure && used.is_ok).map(|used| used.skill.clone()).collect();
    let mut known: BTreeSet<String> = BTreeSet::new();
    for SessionRecords { uses, project, .. } in records {
        for (id, used) in uses {
            let is_skill = || {
                sure.contains(&used.skill)
                    || sessions.listed.contains_key(&used.skill)
                    || is_skill(&used.skill)
            };
            if wanted.is_in_time(used.time) && (used.is_sure || is_skill()) && known.insert(id) {
                let RecordedUse { skill, file, time, by, is_ok, .. } = used;
                sessions.uses.push(SessionUse { skill, file, time, project: project.clone(), by, is_ok });
            }
        }
    }
    sessions.uses.sort_by(|one, other| (one.time, &one.skill).cmp(&(other.time, &other.skill)));
}

impl SessionRecords {
    /// Notes the time of the first record.
    fn begin(&mut self, line: &[u8]) {
        if self.first.is_none() {
            self.first = time_in(line);
        }
    }

    /// Parses a line; counts it if it is not JSON.
    fn parsed(&mut self, line: &[u8]) -> Option<Value> {
        let value = serde_json::from_slice(line).ok();
        self.left_out.lines += usize::from(value.is_none());
        value
    }

    fn list(&mut self, name: &str, time: Option<i64>) {
        if let Some(name) = name_of(name, true) {
            let last = self.listed.entry(name).or_default();
            *last = (*last).max(time);
        }
    }
}

/// Returns the time in a line of JSON.
fn time_in(line: &[u8]) -> Option<i64> {
    const MEMBER: &[u8] = b"\"timestamp\":";
    let rest = line[memchr::memmem::find(line, MEMBER)? + MEMBER.len()..].trim_ascii_start();
    let rest = rest.strip_prefix(b"\"")?;
    let text = &rest[..memchr::memchr(b'"', &rest[..rest.len().min(40)])?];
    milliseconds(std::str::from_utf8(text).ok()?)
}

/// Returns `text` if it can be the name of a skill. What a model wrote may be anything: if no skill was loaded by it, only a
/// word is taken for a name.
fn name_of(text: &str, is_ok: bool) -> Option<String> {
    let is_name = !text.is_empty()
        && text.chars().count() <= LONGEST_NAME
        && !text.chars().any(|c| c.is_control() || (!is_ok && c.is_whitespace()));
    is_name.then(|| text.to_owned())
}

/// Returns what tells a call apart from all others: its own id, and if that is short, the session too.
fn call_id(id: &str, session: &Path) -> String {
    if id.len() >= WHOLE_ID { id.to_owned() } else { format!("{} {id}", session.display()) }
}
