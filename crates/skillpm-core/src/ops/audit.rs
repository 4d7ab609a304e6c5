//! `audit`: what was activated, run or refused.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use crate::context::Context;
use crate::error::Result;
use crate::trust::AuditLog;
use crate::trust::audit::{AuditRecord, EventKind};

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
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
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
