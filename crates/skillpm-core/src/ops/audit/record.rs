//! How a verb writes down what happened to a skill.

use crate::context::Context;
use crate::engine::Skill;
use crate::error::{Error, ErrorKind};
use crate::fs::PathError;
use crate::ops::provenance::{Checked, Provenance, provenance};
use crate::spec::Origin;
use crate::trust::AuditLog;
use crate::trust::audit::{Event, Subject};

/// Writes down that `event` happened to `subject`. That it cannot be written stops nothing: anyone who looks for the
/// reason is told.
///
/// Code that hands instructions of skills to an agent uses [`Activations`](super::Activations) for that.
pub fn record(context: &Context, subject: &Subject, event: &Event<'_>) {
    if let Err(error) = AuditLog::new(&context.settings).write(subject, event) {
        context.reporter.trouble(&not_written(&error));
    }
}

/// Returns what a person is told where a line could not be written.
pub fn not_written(error: &PathError) -> String {
    format!("the audit log was not written: {error}: {}", error.source)
}

/// Returns what the log says of a skill of which no more is known than where it is.
pub(in crate::ops) fn place(skill: &Skill) -> Subject {
    let source = Origin::local(skill.real.display().to_string()).to_string();
    Subject { skill: skill.meta.name.clone(), source: Some(source), ..Subject::default() }
}

/// Writes down that `script` was refused for `error`, before anything of the skill was examined.
pub(in crate::ops) fn refused(context: &Context, skill: &Skill, script: &str, error: &Error) {
    let subject =
        provenance(context, skill).map_or_else(|_| place(skill), |checked| subject(skill, &checked));
    record(context, &subject, &Event::Refused { script, reason: &error.with_causes().to_string() });
}

/// Writes down that `script` was refused for `error`, where the reason is what a skill may not have, so that no
/// more of it could be read. What the machine or a manifest is to blame for is a failure and no refusal.
pub(in crate::ops) fn unread(context: &Context, subject: &Subject, script: &str, error: &Error) {
    if error.kind() == ErrorKind::Integrity {
        record(context, subject, &Event::Refused { script, reason: &error.with_causes().to_string() });
    }
}

/// Returns what the log says of a skill whose files were examined.
pub(in crate::ops) fn subject(skill: &Skill, checked: &Checked) -> Subject {
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
