//! Whether a script may run: what the policy says, whether the bytes are the locked ones, and where nothing
//! is locked, whether the directory is trusted.
//!
//! Anyone who starts a script asks here first, and runs the bytes that come back, not those on the disk.

use super::audit::{place, record, subject, unread};
use super::policy_check;
use super::provenance::{
    Checked, LockedSkill, Provenance, UnlockedSkill, in_force, of_place, scopes_in_force,
};
use crate::admission::{Permission, PolicySubject, Scripts, ScriptsReason};
use crate::advice::{Call, Opt, Part, Verb, Warning, message};
use crate::codes;
use crate::context::Context;
use crate::engine::Skill;
use crate::error::{Error, Result};
use crate::install::health::problem;
use crate::install::scope::{Scope, ScopeKind};
use crate::install::state::read_manifest;
use crate::tree::FileSet;
use crate::trust::audit::Event;
use crate::trust::{Standing, TrustedDirs, exposed_file};

/// The maximum number of files that differ that an error names.
const MAX_FILES: usize = 5;

/// A request for permission to run a script.
#[derive(Debug, Clone, Copy)]
pub struct PermitRequest<'a> {
    /// The skill, as it was found.
    pub skill: &'a Skill,
    /// The script, below the directory of the skill.
    pub script: &'a str,
    /// What applies if no policy decides. A person who types a command means it: `Allow`. A host that runs what a model
    /// asks for has nobody's word: `Deny` or `Ask`.
    pub default_decision: Scripts,
    /// Whether a person has already said yes to what the policy would ask.
    pub allow_scripts: bool,
    /// Whether a person has already said that edited files may run.
    pub allow_modified: bool,
    /// Whether the program that asks vouches for a directory that no lockfile knows, as its author does who
    /// ships it.
    pub trusted_by_host: bool,
}

/// The answer yes.
#[derive(Debug, Clone)]
pub struct Permit {
    /// The bytes that may run, and where they come from.
    pub checked: Checked,
    /// What a person should know.
    pub warnings: Vec<Warning>,
    /// Whether a policy opens unix sockets to its scripts.
    pub unix_sockets: bool,
}

/// Says whether a script may run. Nothing of it has run, and nothing is changed but the audit log: a refusal
/// is written down there.
///
/// A policy that asks is answered by [`PermitRequest::allow_scripts`], otherwise by the person at the terminal; it is
/// asked last, when everything else is in order.
///
/// # Errors
///
/// Fails with [`Integrity`](crate::error::ErrorKind::Integrity), and says what to do about it: a policy denies it,
/// names the line; a person says no, or nobody can be asked; edited files; a directory that is not trusted; files that
/// no skill may have. Else a policy, manifest or lockfile that cannot be read.
pub fn permit(context: &Context, request: &PermitRequest<'_>) -> Result<Permit> {
    // Files that no skill may have are refused as they are read, before there is anything to decide.
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

/// Reads every byte of the skill, and what the policies in force say of it: whether its scripts may run, and whether
/// unix sockets are open to them.
fn looked_at(context: &Context, request: &PermitRequest<'_>) -> Result<(Checked, Permission, bool)> {
    let scopes = scopes_in_force(&context.settings)?;
    let checked = of_place(&context.settings, &in_force(&scopes)?, &request.skill.real)?;
    let (permission, unix_sockets) =
        permission(context, &scopes, &checked.provenance, request.default_decision)?;
    Ok((checked, permission, unix_sockets))
}

/// Returns what a person should know, or why the script may not run.
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
        match context.interact.confirm(&question) {
            Some(true) => {}
            Some(false) => return Err(refused(request, "you said no")),
            None => return Err(nobody(request, because)),
        }
    }
    Ok(warnings)
}

/// Returns what the policies in force say of the scripts of a skill, and whether they open unix sockets to them.
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
    // The first is the nearest project. Those around it have a say about their own skills.
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

/// Refuses a skill that differs from what is locked, unless that is wanted: then it is a warning.
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
            Verb::Install.within(skill.scope).flag(Opt::Force),
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

/// Returns the call of `verb` where `skill` is installed.
fn at(skill: &LockedSkill, verb: Verb) -> Call {
    verb.within(skill.scope).project(skill.outer.as_deref())
}

/// Returns the error for a skill whose digest nobody but the lockfile knows: a script can rewrite both.
fn unchecked(request: &PermitRequest<'_>, skill: &LockedSkill) -> Error {
    let (name, place) = (&skill.name, skill.place.display());
    refused(
        request,
        format!("only `skillpm.lock` vouches for `{name}` in `{place}`: you have not fetched these files from its source"),
    )
    .hint(message!(at(skill, Verb::Install), " checks them against the source; then they run"))
}

/// Refuses a skill that no lockfile knows, unless its directory is trusted and none of `files`, which are to
/// run, is in the hands of other users.
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
        Standing::Trusted(_) => return Ok(super::trust::damaged(&dirs)),
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
