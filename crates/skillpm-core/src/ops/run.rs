//! `run`: a script of a skill.
//!
//! Whether it may run is asked of [`crate::session::permit`]; how it runs is [`crate::engine::run`]'s business.

mod call;
mod locate;
mod outcome;
mod prerequisites;
mod request;
mod variables;

use std::ffi::OsString;
use std::sync::Arc;

pub use self::call::CallRequest;
pub use self::locate::script_missing;
use self::locate::{check_plain, script_of};
pub use self::outcome::RunOutcome;
pub use self::request::{RunLocation, RunRequest};
use self::variables::variables;
use crate::context::Context;
use crate::engine::run::{self, Ended, Exit, Programs, Ran, Script, Surroundings, Watch, WorkDir};
use crate::engine::{NotFound, Skill};
use crate::error::Result;
use crate::reporter::Interact;
use crate::scope::Scope;
use crate::scope_kind::ScopeKind;
use crate::session::permit::{PermitRequest, permit};
use crate::session::record::{place, record, refused, subject, unread};
use crate::session::{Session, SessionError};
use crate::trust::audit::{Event, Sandboxed, Subject};

impl Session {
    /// Runs a script of a skill to its end, if that is permitted. A script that fails is not an error.
    ///
    /// # Errors
    ///
    /// Fails as [`Session::find`] does, and for a script that is not there or may not run.
    pub fn run(&self, request: &RunRequest, watch: &mut dyn Watch) -> Result<RunOutcome, SessionError> {
        let hit = self.find(&request.skill).inspect_err(|error| {
            not_found(self.context(), request, error);
        })?;
        let mut outcome = run_found(self.context(), &hit.skill, request, watch)?;
        outcome.warnings.splice(..0, hit.warnings);
        Ok(outcome)
    }

    /// Calls a script of a skill as a tool, with named arguments that follow its schema. Asks a person through
    /// `context` if a policy requires that.
    ///
    /// # Errors
    ///
    /// Fails as [`Session::run`] does, and for arguments that do not fit.
    pub fn call(
        &self,
        call: &CallRequest,
        interact: Arc<dyn Interact>,
        watch: &mut dyn Watch,
    ) -> Result<RunOutcome, SessionError> {
        let hit = self.find(&call.request.skill)?;
        self.call_found(&hit.skill, call, interact, watch)
    }

    /// Works like [`Session::call`], for a `skill` that was already found: its name is not looked up again.
    ///
    /// # Errors
    ///
    /// Fails for a script that is not there or may not run, and for arguments that do not fit.
    pub fn call_found(
        &self,
        skill: &Skill,
        call: &CallRequest,
        interact: Arc<dyn Interact>,
        watch: &mut dyn Watch,
    ) -> Result<RunOutcome, SessionError> {
        let set = self.library().tools(skill, self.profile().scripts);
        let request = call.prepared(skill, &set)?;
        let context = Context { interact, ..self.context().clone() };
        Ok(run_found(&context, skill, &request, watch)?)
    }
}

/// Writes down that the script of `request` was refused, where `error` with which the skill was looked for is a
/// refusal.
fn not_found(context: &Context, request: &RunRequest, error: &SessionError) {
    if let SessionError::Skill(NotFound { error, .. }) | SessionError::Verb(error) = error {
        let asked = Subject { skill: request.skill.clone(), ..Subject::default() };
        unread(context, &asked, &request.script, error);
    }
}

/// Runs a script of `skill` to its end. That it failed is no error; see [`Ran::success`].
fn run_found(
    context: &Context,
    skill: &Skill,
    request: &RunRequest,
    watch: &mut dyn Watch,
) -> Result<RunOutcome> {
    let surroundings =
        Surroundings { cwd: work_dir(context, &request.cwd)?, env: variables(context, &request.env)? };
    let programs = Programs::of(&context.settings, &surroundings.env, &request.options.interpreters)?;
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
    let mut warnings = permit.warnings;
    let lacks = prerequisites::warning(context, skill, &script, &surroundings.env, &programs);
    warnings.extend(lacks.filter(|warning| !watch.warns(warning)));
    let mut ran =
        run::run(&context.settings, &script, &surroundings, &options, watch).inspect_err(|error| {
            let event = Event::Refused { script: &script.path, reason: &error.with_causes().to_string() };
            record(context, &subject, &event);
        })?;
    record(context, &subject, &event(&ran, &options.args));
    warnings.append(&mut ran.warnings);
    Ok(RunOutcome { ran, source, warnings })
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
