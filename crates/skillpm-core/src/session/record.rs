//! How a line about a skill gets into the audit log: the only way for verbs to write it.

use super::provenance::{Checked, Provenance, provenance};
use crate::context::Context;
use crate::engine::Skill;
use crate::error::{Error, ErrorKind};
use crate::fs::PathError;
use crate::spec::Origin;
use crate::trust::AuditLog;
use crate::trust::audit::{Event, Subject};

/// Records that `event` happened to `subject`. A failure to write is only reported as trouble, and stops nothing.
///
/// Code that hands instructions of skills to an agent uses [`Activations`](super::activations::Activations) instead.
pub(crate) fn record(context: &Context, subject: &Subject, event: &Event<'_>) {
    if let Err(error) = AuditLog::new(&context.settings).write(subject, event) {
        context.reporter.trouble(&not_written(&error));
    }
}

/// Returns the message about a line that could not be written.
pub(crate) fn not_written(error: &PathError) -> String {
    format!("the audit log was not written: {error}: {}", error.source)
}

/// Returns the subject for a skill of which only the location is known.
pub(crate) fn place(skill: &Skill) -> Subject {
    let source = Origin::local(skill.real.display().to_string()).to_string();
    Subject { skill: skill.meta.name.clone(), source: Some(source), ..Subject::default() }
}

/// Records that `script` was refused for `error`, before any file of the skill was examined.
pub(crate) fn refused(context: &Context, skill: &Skill, script: &str, error: &Error) {
    let subject =
        provenance(context, skill).map_or_else(|_| place(skill), |checked| subject(skill, &checked));
    record(context, &subject, &Event::Refused { script, reason: &error.with_causes().to_string() });
}

/// Records that `script` was refused for `error`, if the skill has content that no skill may have, so that
/// the rest could not be read. A fault of the machine or a manifest is a failure and not a refusal.
pub(crate) fn unread(context: &Context, subject: &Subject, script: &str, error: &Error) {
    if error.kind() == ErrorKind::Integrity {
        record(context, subject, &Event::Refused { script, reason: &error.with_causes().to_string() });
    }
}

/// Returns the subject for a skill whose files were examined.
pub(crate) fn subject(skill: &Skill, checked: &Checked) -> Subject {
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
