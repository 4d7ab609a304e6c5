//! The uses that skillpm itself recorded, whoever asked for them.

use std::collections::BTreeSet;

use crate::agents::sessions::{Caller, LeftOut, SessionUse, Sessions, Wanted};
use crate::error::Result;
use crate::settings::Settings;
use crate::text::milliseconds;
use crate::trust::AuditLog;
use crate::trust::audit::EventKind;

/// What stands for the audit log among agents.
pub(super) const ID: &str = "skillpm";
/// The name for people.
pub(super) const NAME: &str = "skillpm's audit log";

/// Reads the audit log. Each activation is a use, and a script that ran without one in the same session. The log knows no
/// directories, so it has nothing about one.
///
/// # Errors
///
/// Fails if the log exists and cannot be read.
pub(super) fn read(settings: &Settings, wanted: Wanted<'_>) -> Result<Sessions> {
    let mut found = Sessions::default();
    if wanted.project.is_some() {
        return Ok(found);
    }
    let log = AuditLog::new(settings).last(usize::MAX, |_| true)?;
    found.left_out = LeftOut { lines: log.unreadable, ..LeftOut::default() };
    let (mut sessions, mut used): (BTreeSet<String>, BTreeSet<(String, String)>) = Default::default();
    // The newest come first.
    for record in log.records.into_iter().rev() {
        let time = milliseconds(&record.time);
        let key = (record.session.clone(), record.skill.clone());
        let is_first = used.insert(key);
        let is_in_time = wanted.since.is_none_or(|since| time.is_some_and(|time| time >= since));
        if !is_in_time {
            continue;
        }
        found.first = found.first.or(time);
        sessions.insert(record.session);
        if record.event == EventKind::Activation || is_first {
            let is_ok = record.event != EventKind::Refused;
            let skill = record.skill;
            found.uses.push(SessionUse {
                skill,
                file: None,
                time,
                project: None,
                by: Caller::Unknown,
                is_ok,
            });
        }
    }
    found.count = sessions.len();
    Ok(found)
}
