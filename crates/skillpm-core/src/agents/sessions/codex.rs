//! Sessions of Codex: `$CODEX_HOME/sessions/YYYY/MM/DD/rollout-*.jsonl`, and those that were archived.
//!
//! A use is a message with the instructions of a skill that a person named as `$name`, or a command that reads the
//! `SKILL.md` of a listed skill or runs a script of it and succeeds: what Codex 0.171.0 itself calls an implicit invocation.
//! The records are those that this version was measured to write.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use memchr::memmem::Finder;
use serde_json::Value;

use super::files::{Files, files_below};
use super::{Caller, LONGEST_LINE, RecordedUse, SessionRecords, Waiting, call_id, name_of};
use crate::fs::{self, PathError};
use crate::path::normal;
use crate::settings::Settings;
use crate::text::{milliseconds, percent_decoded};

/// The message that lists skills.
const LISTING: &str = "<skills_instructions>";
/// The kind of content that a skill's instructions have.
const SELECTED: &str = "skills.selected_skill_instructions";
/// Programs that read a file, of whom Codex thinks that they read the instructions of a skill.
const READERS: [&str; 8] = ["cat", "sed", "head", "tail", "less", "more", "bat", "awk"];
/// Programs that run a script.
const RUNNERS: [&str; 10] =
    ["python", "python3", "bash", "zsh", "sh", "node", "deno", "ruby", "perl", "pwsh"];
/// Endings of scripts.
const SCRIPTS: [&str; 7] = [".py", ".sh", ".js", ".ts", ".rb", ".pl", ".ps1"];

static META: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(b"\"session_meta\""));
static LISTED: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(LISTING));
static SELECTION: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(SELECTED));
static CALL: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(b"\"function_call\""));
static OUTPUT: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(b"\"function_call_output\""));
static EXECUTION: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(b"\"CommandExecution\""));
static DOCUMENT: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(b"SKILL.md"));
static SCRIPT: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(b"scripts"));

/// Returns the files of all sessions.
pub(super) fn files(settings: &Settings) -> Files {
    files_below(&["$CODEX_HOME/sessions", "$CODEX_HOME/archived_sessions"], 3, &["jsonl"], settings)
}

/// Reads a session.
pub(super) fn read(file: &Path) -> Result<SessionRecords, PathError> {
    let records = SessionRecords { is_whole: true, ..SessionRecords::default() };
    let mut reader =
        Reader { file, line: 0, records, documents: BTreeMap::new(), waiting: Waiting::default() };
    reader.records.left_out.long_lines = fs::each_line(file, LONGEST_LINE, |line| reader.line(line))?;
    Ok(reader.records)
}

struct Reader<'a> {
    file: &'a Path,
    /// The number of the line, from 1.
    line: usize,
    records: SessionRecords,
    /// The names of the listed skills, by the paths of their `SKILL.md`.
    documents: BTreeMap<PathBuf, String>,
    waiting: Waiting,
}

impl Reader<'_> {
    fn line(&mut self, line: &[u8]) {
        self.line += 1;
        self.records.begin(line);
        if !self.may_tell(line) {
            return;
        }
        let Some(record) = self.records.parsed(line) else { return };
        let time = record["timestamp"].as_str().and_then(milliseconds);
        let payload = &record["payload"];
        match (record["type"].as_str(), payload["type"].as_str()) {
            (Some("session_meta"), _) if self.records.project.is_none() => {
                self.records.project = payload["cwd"].as_str().map(Into::into);
            }
            (Some("response_item"), Some("message")) => self.message(payload, time),
            (Some("response_item"), Some("function_call")) => self.call(payload, time),
            (Some("response_item"), Some("function_call_output")) => self.output(payload),
            (Some("event_msg"), Some("item_completed")) => self.execution(&payload["item"], time),
            _ => {}
        }
    }

    /// Searches for the bytes without which a line tells of no skill: much cheaper than to parse it.
    fn may_tell(&self, line: &[u8]) -> bool {
        let has = |finder: &Finder<'_>| finder.find(line).is_some();
        (self.records.project.is_none() && has(&META))
            || has(&LISTED)
            || has(&SELECTION)
            || (!self.waiting.is_empty() && has(&OUTPUT))
            || ((has(&DOCUMENT) || has(&SCRIPT)) && (has(&CALL) || has(&EXECUTION)))
    }

    /// Notes what is listed, and the skills that a person named.
    fn message(&mut self, message: &Value, time: Option<i64>) {
        let kinds = &message["internal_chat_message_metadata_passthrough"]["content_item_kinds"];
        for (at, part) in message["content"].as_array().into_iter().flatten().enumerate() {
            let Some(text) = part["text"].as_str() else { continue };
            if message["role"] == "developer" && text.starts_with(LISTING) {
                for (name, file) in listed(text) {
                    self.records.list(name, time);
                    self.documents.insert(file, name.to_owned());
                }
            } else if kinds[at] == SELECTED
                && let Some(skill) = between(text, "<name>", "</name>").and_then(|name| name_of(name, true))
            {
                let file = between(text, "<path>", "</path>").map(PathBuf::from);
                let line = self.line.to_string();
                let id = call_id(message["id"].as_str().unwrap_or(&line), self.file);
                let by = Caller::Person;
                let used = RecordedUse { skill, file, time, by, is_ok: true, is_sure: true };
                self.records.uses.insert(format!("{id} {at}"), used);
            }
        }
    }

    /// Notes a command that uses a skill, if it succeeds.
    fn call(&mut self, call: &Value, time: Option<i64>) {
        let arguments = call["arguments"].as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
        let (Some(id), Some(arguments)) = (call["call_id"].as_str(), arguments) else { return };
        let command = [&arguments["cmd"], &arguments["command"]].into_iter().find_map(words);
        let dir = arguments["workdir"].as_str().map_or_else(PathBuf::new, PathBuf::from);
        let used = command.and_then(|words| self.used_by(&words, &dir, time));
        if let Some(used) = used {
            self.waiting.add(id, used);
        }
    }

    fn output(&mut self, output: &Value) {
        let Some((id, used)) = self.waiting.take(&output["call_id"]) else { return };
        let text = output["output"].as_str().or_else(|| output["output"]["content"].as_str());
        if text.is_some_and(is_success) {
            self.records.uses.insert(call_id(&id, self.file), used);
        }
    }

    /// Notes a command that was executed: its id is that of the call, if a model called for it directly.
    fn execution(&mut self, item: &Value, time: Option<i64>) {
        let is_success = item["type"] == "CommandExecution" && item["exit_code"] == 0;
        let (Some(id), true) = (item["id"].as_str(), is_success) else { return };
        let dir = item["cwd"].as_str().unwrap_or_default();
        let dir = PathBuf::from(&*percent_decoded(dir.strip_prefix("file://").unwrap_or(dir)));
        if let Some(used) = words(&item["command"]).and_then(|words| self.used_by(&words, &dir, time)) {
            self.records.uses.insert(call_id(id, self.file), used);
        }
    }

    /// Returns the listed skill that a command in the directory `dir` uses, by the rule of Codex.
    fn used_by(&self, words: &[String], dir: &Path, time: Option<i64>) -> Option<RecordedUse> {
        let (program, arguments) = words.split_first()?;
        let program = program.rsplit('/').next().unwrap_or(program).to_ascii_lowercase();
        let program = program.strip_suffix(".exe").unwrap_or(&program);
        let dir = self.records.project.as_deref().map_or_else(|| dir.to_owned(), |project| project.join(dir));
        let mut arguments = arguments.iter().filter(|argument| !argument.starts_with('-'));
        let resolve = |argument: &str| normal(&dir.join(argument));
        let file = if READERS.contains(&program) {
            arguments.map(|argument| resolve(argument)).find(|path| self.documents.contains_key(path))?
        } else if RUNNERS.contains(&program) {
            let script = arguments.next().filter(|script| {
                let script = script.to_ascii_lowercase();
                SCRIPTS.iter().any(|ending| script.ends_with(ending))
            })?;
            let script = resolve(script);
            let dirs = script.ancestors().filter(|dir| dir.ends_with("scripts"));
            let mut documents = dirs.filter_map(|dir| Some(dir.parent()?.join("SKILL.md")));
            documents.find(|path| self.documents.contains_key(path))?
        } else {
            return None;
        };
        let skill = self.documents.get(&file)?.clone();
        let by = Caller::Model;
        Some(RecordedUse { skill, file: Some(file), time, by, is_ok: true, is_sure: true })
    }
}

/// Returns the words of a command: of a text, of a list, or of the text that a shell in a list is given.
fn words(command: &Value) -> Option<Vec<String>> {
    let split = |text: &str| {
        shlex::split(text).unwrap_or_else(|| text.split_whitespace().map(str::to_owned).collect())
    };
    if let Some(text) = command.as_str() {
        return Some(split(text));
    }
    let words = command.as_array()?.iter().map(|word| word.as_str().map(str::to_owned));
    let words: Vec<String> = words.collect::<Option<_>>()?;
    match &words[..] {
        [_, flags, script] if flags.starts_with('-') && flags.ends_with('c') => Some(split(script)),
        _ => Some(words),
    }
}

/// Returns the names that a listing has, with the paths of their files.
pub(super) fn listed(text: &str) -> impl Iterator<Item = (&str, PathBuf)> {
    let mut roots: BTreeMap<&str, &str> = BTreeMap::new();
    text.lines().filter_map(move |line| {
        let entry = line.strip_prefix("- ")?;
        if let Some((alias, root)) = entry.strip_prefix('`').and_then(|rest| rest.split_once("` = `")) {
            roots.insert(alias, root.strip_suffix('`')?);
            return None;
        }
        let (name, rest) = entry.split_once(": ")?;
        let (_, file) = rest.strip_suffix(')')?.rsplit_once("(file: ")?;
        let below =
            file.split_once('/').and_then(|(alias, rest)| Some(Path::new(roots.get(alias)?).join(rest)));
        Some((name, normal(&below.unwrap_or_else(|| PathBuf::from(file)))))
    })
}

/// Reports whether the text that a model got of a command says before its output that it succeeded.
fn is_success(text: &str) -> bool {
    if let Ok(Value::Object(told)) = serde_json::from_str(text) {
        return told.get("metadata").is_some_and(|metadata| metadata["exit_code"] == 0);
    }
    let mut head = text.lines().take_while(|line| *line != "Output:");
    head.any(|line| matches!(line, "Process exited with code 0" | "Exit code: 0"))
}

/// Returns what stands between the first `start` and the `end` after it.
fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    Some(text.split_once(start)?.1.split_once(end)?.0)
}
