//! `audit`: what was activated, run or refused. Also the only way for verbs to write the audit log.

mod activations;

use std::path::PathBuf;

use serde::Serialize;

pub use activations::Activations;

use super::provenance::{Checked, Provenance, provenance};
use crate::context::Context;
use crate::engine::Skill;
use crate::error::{Error, ErrorKind, Result};
use crate::fs::PathError;
use crate::spec::Origin;
use crate::trust::AuditLog;
use crate::trust::audit::{AuditRecord, Event, EventKind, Subject};

/// A request to show the log.
#[derive(Debug, Clone)]
pub struct AuditRequest {
    /// The maximum number of records; the newest are kept.
    pub last: usize,
    /// Only records of the skill with this name.
    pub skill: Option<String>,
    /// Only records of this kind.
    pub event: Option<EventKind>,
}

/// The content of the log. The JSON form is an interface: fields are only added.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct AuditOutcome {
    /// The path of the log; `None` if it is switched off.
    pub file: Option<PathBuf>,
    /// The records, the newest last.
    pub records: Vec<AuditRecord>,
    /// The number of lines that were skipped because they cannot be read.
    pub unreadable: usize,
}

/// Returns the newest records of the log.
///
/// # Errors
///
/// Fails if the log exists and cannot be read.
pub fn audit(context: &Context, request: &AuditRequest) -> Result<AuditOutcome> {
    let log = AuditLog::new(&context.settings);
    let mut found = log.last(request.last, |record| {
        request.skill.as_ref().is_none_or(|skill| *skill == record.skill)
            && request.event.is_none_or(|event| event == record.event)
    })?;
    found.records.reverse();
    Ok(AuditOutcome { file: log.file, records: found.records, unreadable: found.unreadable })
}

/// Records that `event` happened to `subject`. A failure to write is only reported as trouble, and stops nothing.
///
/// Code that hands instructions of skills to an agent uses [`Activations`] instead.
pub fn record(context: &Context, subject: &Subject, event: &Event<'_>) {
    if let Err(error) = AuditLog::new(&context.settings).write(subject, event) {
        context.reporter.trouble(&not_written(&error));
    }
}

/// Returns the message about a line that could not be written.
pub fn not_written(error: &PathError) -> String {
    format!("the audit log was not written: {error}: {}", error.source)
}

/// Returns the subject for a skill of which only the location is known.
pub(super) fn place(skill: &Skill) -> Subject {
    let source = Origin::local(skill.real.display().to_string()).to_string();
    Subject { skill: skill.meta.name.clone(), source: Some(source), ..Subject::default() }
}

/// Records that `script` was refused for `error`, before any file of the skill was examined.
pub(super) fn refused(context: &Context, skill: &Skill, script: &str, error: &Error) {
    let subject =
        provenance(context, skill).map_or_else(|_| place(skill), |checked| subject(skill, &checked));
    record(context, &subject, &Event::Refused { script, reason: &error.with_causes().to_string() });
}

/// Records that `script` was refused for `error`, if the skill has content that no skill may have, so that
/// the rest could not be read. A fault of the machine or a manifest is a failure and not a refusal.
pub(super) fn unread(context: &Context, subject: &Subject, script: &str, error: &Error) {
    if error.kind() == ErrorKind::Integrity {
        record(context, subject, &Event::Refused { script, reason: &error.with_causes().to_string() });
    }
}

/// Returns the subject for a skill whose files were examined.
pub(super) fn subject(skill: &Skill, checked: &Checked) -> Subject {
    let modified = match &checked.provenance {
        Provenance::Locked(locked) => Some(locked.modified.is_some()),
        Provenance::Unlocked(_) => None,
    };
    Subject {
        skill: skill.meta.name.clone(),
        digest: Some(checked.digest),
        source: Some(checked.provenance.source()),
        modified,
    }
}
