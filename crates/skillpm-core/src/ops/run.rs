//! `run`: a script of a skill.
//!
//! Whether it may run is asked of [`super::permit`]; how it runs is [`crate::engine::run`]'s business.

mod call;
mod locate;
mod outcome;
mod request;
mod variables;

use std::ffi::OsString;

pub use self::call::CallRequest;
pub use self::locate::script_missing;
use self::locate::{check_plain, script_of};
pub use self::outcome::RunOutcome;
pub use self::request::{RunLocation, RunRequest};
use self::variables::variables;
use super::audit::{place, record, refused, subject, unread};
use super::permit::{PermitRequest, permit};
use super::session::SessionError;
use crate::context::Context;
use crate::engine::run::{self, Ended, Exit, Ran, Script, Surroundings, Watch, WorkDir};
use crate::engine::{NotFound, Skill};
use crate::error::Result;
use crate::scope::Scope;
use crate::scope_kind::ScopeKind;
use crate::trust::audit::{Event, Sandboxed, Subject};

/// Writes down that the script of `request` was refused, where `error` with which the skill was looked for is a
/// refusal.
pub(super) fn not_found(context: &Context, request: &RunRequest, error: &SessionError) {
    if let SessionError::Skill(NotFound { error, .. }) | SessionError::Verb(error) = error {
        let asked = Subject { skill: request.skill.clone(), ..Subject::default() };
        unread(context, &asked, &request.script, error);
    }
}

/// Runs a script of `skill` to its end. That it failed is no error; see [`Ran::success`].
pub(super) fn run_found(
    context: &Context,
    skill: &Skill,
    request: &RunRequest,
    watch: &mut dyn Watch,
) -> Result<RunOutcome> {
    let surroundings =
        Surroundings { cwd: work_dir(context, &request.cwd)?, env: variables(context, &request.env)? };
    let path = script_of(&skill.real, &request.skill, &request.script)
        .inspect_err(|error| unread(context, &place(skill), &request.script, error))?;
    check_plain(&skill.real, &path).inspect_err(|error| refused(context, skill, &path, error))?;
    let permit = permit(
        context,
        &PermitRequest {
            skill,
            script: &path,
            default_decision: request.default_decision,
            allow_scripts: request.allow_scripts,
            allow_modified: request.allow_modified,
            trusted_by_host: request.trusted_by_host,
        },
    )?;
    let checked = permit.checked;
    let subject = subject(skill, &checked);
    let source = checked.provenance.source();
    let script = Script {
        skill: skill.meta.name.clone(),
        version: skill.meta.version.clone(),
        files: checked.files,
        digest: Some(checked.digest),
        base: checked.below,
        path,
    };
    let mut options = request.options.clone();
    options.unix_sockets |= permit.unix_sockets;
    let ran = run::run(&context.settings, &script, &surroundings, &options, watch).inspect_err(|error| {
        let event = Event::Refused { script: &script.path, reason: &error.with_causes().to_string() };
        record(context, &subject, &event);
    })?;
    record(context, &subject, &event(&ran, &options.args));
    Ok(RunOutcome { ran, source, warnings: permit.warnings })
}

/// Returns what the audit log says of a run.
fn event<'a>(ran: &'a Ran, arguments: &'a [OsString]) -> Event<'a> {
    let (exit_code, signal) = match ran.exit {
        Exit::Code(code) => (Some(code), None),
        Exit::Signal(signal) => (None, Some(signal)),
        Exit::Unknown => (None, None),
    };
    Event::Run {
        script: &ran.script,
        arguments,
        duration: ran.duration,
        exit_code,
        signal,
        ended: ran.ended.map(Ended::word),
        sandbox: Sandboxed {
            landlock: ran.sandbox.landlock,
            seccomp: ran.sandbox.seccomp,
            no_network: ran.sandbox.no_network,
            no_unix_sockets: ran.sandbox.no_unix_sockets,
        },
    }
}

fn work_dir(context: &Context, place: &RunLocation) -> Result<WorkDir> {
    Ok(match place {
        RunLocation::Here => WorkDir::Here,
        RunLocation::Skill => WorkDir::Skill,
        RunLocation::Project => WorkDir::Dir(Scope::new(&context.settings, ScopeKind::Project)?.root),
        RunLocation::Dir(dir) => WorkDir::Dir(context.settings.cwd.join(dir)),
    })
}
