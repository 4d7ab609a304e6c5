//! Sessions of OpenCode: the database `opencode.db` in its directory of data.
//!
//! A use is a part of a message that is a call of the tool `skill` with the status `completed`. The tables are those that
//! version 1.18.34 was measured to write. The database is opened only for reading, and never locked for a writer: with a
//! journal beside it, as while OpenCode runs, SQLite reads both; without one nobody writes, and SQLite is told so, since it
//! would make files beside the database otherwise.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags, Row};
use serde_json::Value;

use super::{Caller, RecordedUse, SessionRecords, Wanted, call_id, name_of};
use crate::env;
use crate::fs;
use crate::settings::Settings;
use crate::text::percent_encoded;

/// The largest value that is read of the database, in bytes.
const LARGEST_VALUE: i32 = 64 << 20;
/// How long another process may hold a lock.
const PATIENCE: Duration = Duration::from_secs(2);

/// The sessions: where each was, and when.
const SESSIONS: &str = "SELECT id, directory, time_created, time_updated FROM session";

/// The calls of the tool. SQLite takes the few short values out of each part, so that no text of a session comes here.
const CALLS: &str = "SELECT session_id, id, time_created, CASE WHEN json_valid(data) THEN \
    json_extract(data, '$.type', '$.tool', '$.callID', '$.state.status', '$.state.input.name', '$.state.time.start') END \
    FROM part WHERE instr(data, '\"tool\":\"skill\"') > 0";

/// Reads the sessions of the database; none if there is no database.
pub(super) fn read(settings: &Settings, wanted: Wanted<'_>) -> rusqlite::Result<Vec<SessionRecords>> {
    let Some(file) = database(settings) else { return Ok(Vec::new()) };
    if !matches!(fs::kind(&file), Ok(Some(_))) {
        return Ok(Vec::new());
    }
    let database = open(&file)?;
    let mut sessions: BTreeMap<String, SessionRecords> = BTreeMap::new();
    let mut query = database.prepare(SESSIONS)?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let Some(id) = text(row, 0) else { continue };
        let updated = number(row, 3);
        if wanted.since.is_some_and(|since| updated.is_some_and(|updated| updated < since)) {
            continue;
        }
        let project = text(row, 1).map(PathBuf::from);
        let first = number(row, 2);
        let records = SessionRecords { is_whole: true, project, first, ..SessionRecords::default() };
        sessions.insert(id, records);
    }
    let mut query = database.prepare(CALLS)?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let Some(records) = text(row, 0).and_then(|id| sessions.get_mut(&id)) else { continue };
        match text(row, 3).and_then(|call| serde_json::from_str::<Value>(&call).ok()) {
            Some(call) => note(&call, &text(row, 1).unwrap_or_default(), number(row, 2), &file, records),
            None => records.left_out.lines += 1,
        }
    }
    Ok(sessions.into_values().collect())
}

/// Returns the path of the database.
fn database(settings: &Settings) -> Option<PathBuf> {
    let data = settings.env.path(env::XDG_DATA_HOME);
    let data = data.or_else(|| Some(settings.home.as_ref()?.join(".local/share")))?.join("opencode");
    Some(data.join(settings.env.get(env::OPENCODE_DB).unwrap_or("opencode.db")))
}

/// Opens the database for reading.
fn open(file: &Path) -> rusqlite::Result<Connection> {
    let mut journal = file.as_os_str().to_owned();
    journal.push("-wal");
    let is_alone = matches!(fs::kind(Path::new(&journal)), Ok(None));
    let path = percent_encoded(&file.to_string_lossy().replace('\\', "/"));
    // A path with a drive needs a slash before it.
    let slash = if path.starts_with('/') { "" } else { "/" };
    let how = if is_alone { "mode=ro&immutable=1" } else { "mode=ro" };
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let database = Connection::open_with_flags(format!("file:{slash}{path}?{how}"), flags)?;
    database.busy_timeout(PATIENCE)?;
    database.set_limit(Limit::SQLITE_LIMIT_LENGTH, LARGEST_VALUE)?;
    // What a schema may say is not done: a view of that name could do anything.
    database.pragma_update(None, "trusted_schema", false)?;
    let tables: i64 = database.query_row(
        "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('session', 'part')",
        [],
        |row| row.get(0),
    )?;
    if tables == 2 { Ok(database) } else { Err(rusqlite::Error::QueryReturnedNoRows) }
}

/// Notes a call: `[type, tool, id, status, name, start]`.
fn note(call: &Value, part: &str, created: Option<i64>, file: &Path, records: &mut SessionRecords) {
    if call[0] != "tool" || call[1] != "skill" {
        return;
    }
    let is_ok = match call[3].as_str() {
        Some("completed") => true,
        Some("error") => false,
        // It has not ended.
        _ => return,
    };
    let Some(skill) = call[4].as_str().and_then(|name| name_of(name, is_ok)) else { return };
    // A copy of a session has other parts, with the same calls.
    let id = call[2].as_str().filter(|id| id.len() >= super::WHOLE_ID).unwrap_or(part);
    let time = call[5].as_i64().or(created);
    let used = RecordedUse { skill, file: None, time, by: Caller::Model, is_ok, is_sure: true };
    records.uses.insert(call_id(id, file), used);
}

fn text(row: &Row<'_>, column: usize) -> Option<String> {
    row.get_ref(column).ok()?.as_str().ok().map(str::to_owned)
}

fn number(row: &Row<'_>, column: usize) -> Option<i64> {
    row.get_ref(column).ok()?.as_i64().ok()
}
