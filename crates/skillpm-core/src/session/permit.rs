//! Permission to run a script: what the policy says, whether the bytes are the locked ones, and, if nothing
//! is locked, whether the directory is trusted.
//!
//! Code that starts a script asks here first, and runs the returned bytes, not those on disk.

use super::provenance::{
    Checked, LockedSkill, Provenance, UnlockedSkill, in_force, of_place, scopes_in_force,
};
use super::record::{place, record, subject, unread};
use crate::admission::{Permission, PolicySubject, Scripts, ScriptsReason};
use crate::advice::{Call, Opt, Part, Verb, Warning, message};
use crate::codes;
use crate::context::Context;
use crate::engine::Skill;
use crate::error::{Error, Result};
use crate::fetch::policy_check;
use crate::scope::Scope;
use crate::scope::health::problem;
use crate::scope::state::read_manifest;
use crate::scope_kind::ScopeKind;
use crate::tree::FileSet;
use crate::trust::audit::Event;
use crate::trust::{Standing, TrustedDirs, exposed_file};

/// The maximum number of changed files that an error names.
const MAX_FILES: usize = 5;

/// A request for permission to run a script.
#[derive(Debug, Clone, Copy)]
pub struct PermitRequest<'a> {
    /// The skill.
    pub skill: &'a Skill,
    /// The script, relative to the directory of the skill.
    pub script: &'a str,
    /// The decision if no policy decides. A person who types a command means it: `Allow`. A host that runs
    /// what a model requests has nobody's consent: `Deny` or `Ask`.
    pub default_decision: Scripts,
    /// Whether the user has already consented to what the policy would ask.
    pub allow_scripts: bool,
    /// Whether the user has already consented to running edited files.
    pub allow_modified: bool,
    /// Whether the calling program vouches for a directory that no lockfile knows, as the author who ships it
    /// does.
    pub trusted_by_host: bool,
}

/// The permission.
#[derive(Debug, Clone)]
pub struct Permit {
    /// The bytes that may run, and their provenance.
    pub checked: Checked,
    /// Warnings for the user.
    pub warnings: Vec<Warning>,
    /// Whether a policy opens unix sockets to its scripts.
    pub unix_sockets: bool,
}

/// Decides whether a script may run. Runs nothing, and changes only the audit log, which records a refusal.
///
/// If a policy asks, [`PermitRequest::allow_scripts`] answers, or otherwise the user at the terminal. The
/// user is asked last, when everything else is in order.
///
/// # Errors
///
/// Fails with [`Integrity`](crate::error::ErrorKind::Integrity), and advice, if a policy denies it (with the
/// line); if the user declines or cannot be asked; for edited files; for a directory that is not trusted; and
/// for files that no skill may have. Fails otherwise for a policy, manifest or lockfile that cannot be read.
pub fn permit(context: &Context, request: &PermitRequest<'_>) -> Result<Permit> {
    // Files that no skill may have are refused while they are read, before there is anything to decide.
    let (checked, permission, unix_sockets) = looked_at(context, request)
        .inspect_err(|error| unread(context, &place(request.skill), request.script, error))?;
    match decide(context, request, &checked, &permission) {
        Ok(warnings) => Ok(Permit { checked, warnings, unix_sockets }),
        Err(error) => {
            let reason = std::error::Error::source(&error).and_then(|cause| cause.downcast_ref::<Reason>());
            let reason = reason.map_or_else(|| error.with_causes().to_string(), ToString::to_string);
            let event = Event::Refused { script: request.script, reason: &reason };
            record(context, &subject(request.skill, &checked), &event);
            Err(error)
        }
    }
}

/// Reads every byte of the skill, and the decisions of the policies in force: whether its scripts may run,
/// and whether unix sockets are open to them.
fn looked_at(context: &Context, request: &PermitRequest<'_>) -> Result<(Checked, Permission, bool)> {
    let scopes = scopes_in_force(&context.settings)?;
    let checked = of_place(&context.settings, &in_force(&scopes)?, &request.skill.real)?;
    let (permission, unix_sockets) =
        permission(context, &scopes, &checked.provenance, request.default_decision)?;
    Ok((checked, permission, unix_sockets))
}

/// Returns the warnings for the user, or why the script may not run.
fn decide(
    context: &Context,
    request: &PermitRequest<'_>,
    checked: &Checked,
    permission: &Permission,
) -> Result<Vec<Warning>> {
    if let Permission::Denied(because) = permission {
        return Err(denied(request, because));
    }
    let mut warnings = Vec::new();
    match &checked.provenance {
        Provenance::Locked(skill) => {
            warnings.extend(as_locked(request, skill)?);
            if !skill.fetched
                && !request.allow_modified
                && !request.trusted_by_host
                && !is_trusted(context, skill, &checked.files)?
            {
                return Err(unchecked(request, skill));
            }
        }
        Provenance::Unlocked(_) if request.trusted_by_host => {}
        Provenance::Unlocked(skill) => warnings.extend(trusted(context, request, skill, &checked.files)?),
    }
    if let Permission::Ask(because) = permission
        && !request.allow_scripts
    {
        let source = checked.provenance.source();
        let question = format!("run `{}` of `{}` ({source})?", request.script, request.skill.meta.name);
        match context.interact.confirm_run(&question, &checked.digest) {
            Some(true) => {}
            Some(false) => return Err(refused(request, "you said no")),
            None => return Err(nobody(request, because)),
        }
    }
    Ok(warnings)
}

/// Returns the decision of the policies in force about the scripts of a skill, and whether they open unix
/// sockets to them.
fn permission(
    context: &Context,
    scopes: &[Scope],
    provenance: &Provenance,
    unsaid: Scripts,
) -> Result<(Permission, bool)> {
    let (origin, path) = match provenance {
        Provenance::Locked(skill) => (&skill.locked.origin, skill.locked.path.as_deref()),
        Provenance::Unlocked(skill) => (&skill.origin, None),
    };
    let is_of = |scope: &Scope| match provenance {
        Provenance::Locked(skill) => {
            scope.kind == skill.scope && skill.outer.as_ref().is_none_or(|root| scope.root == *root)
        }
        Provenance::Unlocked(_) => true,
    };
    // The first is the nearest project. Those around it decide about their own skills too.
    let at = scopes.iter().position(is_of).unwrap_or_default();
    let asked = &scopes[at];
    let has_say =
        |(other, scope): &(usize, &Scope)| *other == 0 || *other == at || scope.kind == ScopeKind::User;
    let manifests =
        scopes.iter().enumerate().filter(has_say).map(|(_, scope)| Ok((scope, read_manifest(scope)?.0)));
    let manifests = manifests.collect::<Result<Vec<_>>>()?;
    let manifests = manifests.iter().map(|(scope, manifest)| (*scope, manifest));
    let admission = policy_check::admission_of(context, asked, manifests)?;
    let asked = PolicySubject { origin, path, reference: None };
    Ok((admission.scripts(asked, unsaid), admission.unix_sockets(asked).is_some()))
}

/// Refuses a skill that differs from what is locked, unless the user consented: then it is a warning.
fn as_locked(request: &PermitRequest<'_>, skill: &LockedSkill) -> Result<Option<Warning>> {
    let Some(modified) = &skill.modified else { return Ok(None) };
    let what = match &modified.files {
        Some(files) => {
            let names: Vec<_> = files.iter().take(MAX_FILES).map(|file| format!("`{}`", file.path)).collect();
            match files.len() - names.len() {
                0 => names.join(", "),
                more => format!("{} and {more} more", names.join(", ")),
            }
        }
        None => format!("its digest is {}, not {}", modified.found, skill.locked.digest),
    };
    let (name, place) = (&skill.name, skill.place.display());
    let differs = format!("`{name}` in `{place}` differs from what is locked: {what}");
    if request.allow_modified {
        return Ok(Some(Warning::new(problem::SKILL_EDITED.id, differs)));
    }
    if modified.line_ends {
        let differs = format!("`{name}` in `{place}` differs from what is locked in line ends only");
        return Err(refused(request, differs)
            .hint(message!(at(skill, Verb::Install), " brings back the line ends that are locked"))
            .hint(message!(Opt::AllowModified, " runs it as it is")));
    }
    Err(refused(request, differs)
        .hint(message!(
            at(skill, Verb::Diff).word(name),
            " shows what differs, ",
            at(skill, Verb::Install).flag(Opt::Force),
            " restores the locked files"
        ))
        .hint(message!(Opt::AllowModified, " runs it as it is")))
}

/// Reports whether the directory of `skill`, with all its `files`, is trusted.
fn is_trusted(context: &Context, skill: &LockedSkill, files: &FileSet) -> Result<bool> {
    let dirs = TrustedDirs::read(&context.settings);
    let standing = dirs.standing(&skill.place)?;
    Ok(matches!(standing, Standing::Trusted(_)) && exposed_file(&skill.place, files)?.is_none())
}

/// Returns the call of `verb` for the scope in which `skill` is installed.
fn at(skill: &LockedSkill, verb: Verb) -> Call {
    verb.within(skill.scope).project(skill.outer.as_deref())
}

/// Returns the error for a skill whose digest is only in the lockfile: a script can rewrite both.
fn unchecked(request: &PermitRequest<'_>, skill: &LockedSkill) -> Error {
    let (name, place) = (&skill.name, skill.place.display());
    refused(
        request,
        format!("only `skillpm.lock` vouches for `{name}` in `{place}`: you have not fetched these files from its source"),
    )
    .hint(message!(at(skill, Verb::Install), " checks them against the source; then they run"))
}

/// Refuses a skill that no lockfile knows, unless its directory is trusted and no other user controls any of
/// `files`, which are to run.
fn trusted(
    context: &Context,
    request: &PermitRequest<'_>,
    skill: &UnlockedSkill,
    files: &FileSet,
) -> Result<Option<Warning>> {
    let dirs = TrustedDirs::read(&context.settings);
    let place = skill.path.display();
    let mut standing = dirs.standing(&skill.path)?;
    if let Standing::Trusted(_) = standing
        && let Some((path, reason)) = exposed_file(&skill.path, files)?
    {
        standing = Standing::Exposed { path, reason };
    }
    let error = match standing {
        Standing::Trusted(_) => return Ok(dirs.damage()),
        Standing::Untrusted => refused(
            request,
            format!("the skill in `{place}` was not installed by skillpm, and its directory is not trusted"),
        )
        .hint(message!("read what it does, then run ", Verb::Trust.call().path(&skill.path))),
        Standing::Replaced(dir) => {
            let shown = dir.path.display();
            refused(
                request,
                format!("`{shown}` is not the directory that was trusted: another one replaced it"),
            )
            .hint(message!("read what is in it, then run ", Verb::Trust.call().path(&dir.path)))
        }
        Standing::Exposed { path, reason } => {
            refused(request, format!("`{}` is no longer trusted: {reason}", path.display()))
                .hint("change its owner or its mode, as with `chmod o-w`")
        }
    };
    Err(match dirs.damage() {
        Some(damage) => error.hint(damage),
        None => error,
    })
}

/// The reason, as the cause of an error.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Reason(String);

fn refused(request: &PermitRequest<'_>, reason: impl Into<String>) -> Error {
    let message = format!("`{}` of `{}` may not run", request.script, request.skill.meta.name);
    Error::integrity(message).coded(codes::SCRIPT_NOT_PERMITTED).because(Reason(reason.into()))
}

fn denied(request: &PermitRequest<'_>, because: &ScriptsReason) -> Error {
    let error = refused(request, because.to_string());
    match because.line {
        Some(_) => error.hint(message!(Verb::Policy, " shows every line that applies")),
        None => error.hint(message!(
            Part::Setting("scripts", "allow".to_owned()),
            " or `scripts-allow` in the policy of the machine or in yours allows it"
        )),
    }
}

fn nobody(request: &PermitRequest<'_>, because: &ScriptsReason) -> Error {
    let reason = match because.line {
        Some(_) => format!("a person must be asked, but nobody is there to answer: {because}"),
        None => "a person must be asked, but nobody is there to answer".to_owned(),
    };
    refused(request, reason).hint(message!(Opt::AllowScripts, " answers yes"))
}
