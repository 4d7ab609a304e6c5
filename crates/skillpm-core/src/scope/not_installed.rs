//! Messages about names that are not installed, and about skills that are missing although files list them.

use std::collections::BTreeSet;
use std::path::Path;

use crate::advice::{Call, Message, Opt, Verb, Warning, message};
use crate::codes;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::fs;
use crate::interop::{global_lock, skills_lock};
use crate::manifest;
use crate::name::SkillName;
use crate::scope::claims;
use crate::scope::files::Files;
use crate::scope::problem;
use crate::scope::state::{Depth, ScopeState};
use crate::scope::{Scope, Scopes};
use crate::scope_kind::ScopeKind;
use crate::settings::Settings;
use crate::text::closest;

/// Returns the skills of the manifest or the lockfile that `given` names, each once. `call` is the call that got the
/// names, with the options to repeat in advice.
pub(crate) fn installed_names(
    context: &Context,
    scope: &Scope,
    files: &Files,
    (call, given): (&Call, &[String]),
) -> Result<Vec<SkillName>> {
    let mut names = Vec::new();
    for text in given {
        match files.names().find(|name| name.as_str() == text) {
            Some(name) if names.contains(name) => {}
            Some(name) => names.push(name.clone()),
            None => {
                let state = ScopeState::of(&context.settings, scope, files.clone(), Depth::Metadata);
                return Err(unknown_in(context, Some(scope.kind), &[state], (call, text)));
            }
        }
    }
    Ok(names)
}

/// Returns the error for the skill `text`, which `call` did not find in the scope `only`, or in both: with where it is, if
/// it is elsewhere.
pub(crate) fn unknown(context: &Context, only: Option<ScopeKind>, (call, text): (&Call, &str)) -> Error {
    let answer = || {
        let scopes = Scopes::new(&context.settings, only)?.there;
        let read = |scope| ScopeState::read(&context.settings, scope, Depth::Metadata);
        let states = scopes.iter().map(read).collect::<Result<Vec<_>>>()?;
        Ok::<_, Error>(unknown_in(context, only, &states, (call, text)))
    };
    answer().unwrap_or_else(|error| error)
}

/// Works like [`unknown`], for the scopes of `states`.
fn unknown_in(
    context: &Context,
    only: Option<ScopeKind>,
    states: &[ScopeState<'_>],
    (call, text): (&Call, &str),
) -> Error {
    if let Some(name) = SkillName::exact(text) {
        if let Some(state) = states.iter().find(|state| state.has_lost(&name)) {
            return not_locked_error(state.scope, &name);
        }
        if let Some(hint) = states.iter().find_map(|state| seen_here(context, state, call, &name)) {
            return not_there(only, text).hint(hint);
        }
    }
    not_installed(only, text, states.iter().flat_map(|state| state.files.names()).map(SkillName::as_str))
}

/// Returns advice for the skill `name`, which is not installed in the scope of `state` but exists elsewhere: in the other
/// scope, or in a place that agents search. `call` is what to run there.
fn seen_here(context: &Context, state: &ScopeState<'_>, call: &Call, name: &SkillName) -> Option<Message> {
    let (settings, scope) = (&context.settings, state.scope);
    if state.is_anywhere(name.as_str()) {
        return Some(message!(
            "it is here and skillpm did not install it: ",
            Verb::Import.within(scope.kind).word(name),
            " adopts it"
        ));
    }
    if let Some(told) = in_outer(settings, scope, call, name) {
        return Some(told);
    }
    // In the home directory, only the name of the scope says which one is meant.
    let (other, told, call) = match scope.kind {
        ScopeKind::Project => (ScopeKind::User, "it is installed for you", for_user(call)),
        ScopeKind::User => {
            let call = call.clone().option(Opt::Scope, ScopeKind::Project);
            (ScopeKind::Project, "it is installed in this project", call)
        }
    };
    let elsewhere = Scope::new(settings, other).ok()?;
    let files = Files::read(&elsewhere).ok()?;
    files.knows(name).then(|| message!(format_args!("{told}: "), call.word(name)))
}

/// Returns where the skill `name` is installed around the project `scope`, with the `call` that works there.
fn in_outer(settings: &Settings, scope: &Scope, call: &Call, name: &SkillName) -> Option<Message> {
    let outer = scope.outer(settings).ok()?;
    let owner = outer.iter().find(|outer| Files::read(outer).is_ok_and(|files| files.knows(name)))?;
    let root = owner.shown(settings, &owner.root);
    Some(message!(
        "it is installed in the project around this one: ",
        call.clone().word(name).project(Some(Path::new(&root)))
    ))
}

/// Returns advice to run `call` for the user, for a project `scope` without skills, if the user has some.
pub(crate) fn user_has_some(settings: &Settings, scope: &Scope, call: &Call) -> Option<Message> {
    let user = Scope::new(settings, ScopeKind::User).ok().filter(|user| user.kind != scope.kind)?;
    Files::read(&user).ok()?.names().next()?;
    Some(message!("skills are installed for you: ", for_user(call)))
}

fn for_user(call: &Call) -> Call {
    Call { scope: Some(ScopeKind::User), ..call.clone() }
}

/// Returns the error for a scope without manifest and lockfile. It names the directory where they are
/// expected, which for the user is not that of the skills.
pub(crate) fn no_manifest(context: &Context, scope: &Scope) -> Error {
    let dir = scope.manifest.parent().unwrap_or(&scope.root).display();
    let error = Error::usage(format!("there is no `{}` in `{dir}`", manifest::FILE_NAME));
    if let Some(lock) = other_lock(scope) {
        return error.hint(message!(
            Verb::Import.within(scope.kind),
            format_args!(" adopts the skills that `{lock}` names")
        ));
    }
    if let Some(name) = claims::found_in(context, scope, &Files::default()).keys().next() {
        return error.hint(message!(
            format_args!("`{name}` is here and skillpm did not install it: "),
            Verb::Import.within(scope.kind),
            " shows what can be adopted"
        ));
    }
    let install = || Verb::Install.within(scope.kind);
    let error = match user_has_some(&context.settings, scope, &Verb::Install.call()) {
        Some(told) => error.hint(told),
        None => error,
    };
    error.hint(message!(
        "install something first: ",
        install().word("owner/repo"),
        ", or ",
        install().word("./skill")
    ))
}

/// Returns the name of another tool's lockfile in `scope`, if there is one.
pub(crate) fn other_lock(scope: &Scope) -> Option<String> {
    let (dir, name) = match scope.kind {
        ScopeKind::Project => (scope.root.clone(), skills_lock::FILE_NAME),
        ScopeKind::User => (scope.work_dir(), global_lock::FILE_NAME),
    };
    matches!(fs::kind(&dir.join(name)), Ok(Some(fs::Kind::File))).then(|| name.to_owned())
}

/// Returns the warning about a skill that is locked in a scope but missing.
pub(crate) fn is_missing(scope: ScopeKind, name: &SkillName) -> Warning {
    let told = message!(format_args!("`{name}` is missing: "), Verb::Install.within(scope), " restores it");
    Warning::new(problem::SKILL_MISSING.id, told)
}

/// Returns a warning for each skill that agents should see according to the manifest or lockfile of `scope`,
/// but that is missing. Ignores files that cannot be read.
pub(crate) fn missing(settings: &Settings, scope: &Scope) -> Vec<(SkillName, Warning)> {
    let Ok(state) = ScopeState::read(settings, scope, Depth::Metadata) else { return Vec::new() };
    let files = &state.files;
    let asked = files.manifest.skills().iter().filter(|(_, entry)| !entry.disabled).map(|(name, _)| name);
    let kept = files.kept();
    let needed = kept.iter().filter(|name| !files.manifest.skills().contains_key(name));
    let names: BTreeSet<_> = asked.chain(needed).collect();
    let told = |name: &SkillName| {
        let say = if files.lock.skills.contains_key(name) { is_missing } else { not_yet_installed };
        say(scope.kind, name)
    };
    names.into_iter().filter(|name| state.is_absent(name)).map(|name| (name.clone(), told(name))).collect()
}

/// The state of a skill of the manifest without a lock entry, and its treatment by an installation.
type Unlocked = (&'static str, &'static str);
const NOT_INSTALLED: Unlocked = ("not installed yet", " installs it");
const NOT_LOCKED: Unlocked = ("not locked", " locks it");

/// Returns the warning about a skill that is in the manifest of a scope but not locked yet.
pub(crate) fn not_yet_installed(scope: ScopeKind, name: &SkillName) -> Warning {
    Warning::new(codes::NOT_INSTALLED_YET, unlocked(scope, name, NOT_INSTALLED))
}

/// Returns the warning about a skill that the manifest of `scope` names and that is not locked, as after a lockfile was
/// lost.
pub(crate) fn not_locked(scope: &Scope, name: &SkillName) -> Warning {
    match state_without_lock(scope, name) {
        NOT_INSTALLED => not_yet_installed(scope.kind, name),
        state => Warning::new(problem::NOT_LOCKED.id, unlocked(scope.kind, name, state)),
    }
}

/// Works like [`not_locked`], as an error.
pub(crate) fn not_locked_error(scope: &Scope, name: &SkillName) -> Error {
    let (what, does) = state_without_lock(scope, name);
    Error::usage(format!("`{name}` is {what}")).hint(message!(Verb::Install.within(scope.kind), does))
}

fn state_without_lock(scope: &Scope, name: &SkillName) -> Unlocked {
    let is_there = matches!(fs::kind(&scope.skill_dir(name)), Ok(Some(_)));
    if is_there { NOT_LOCKED } else { NOT_INSTALLED }
}

fn unlocked(scope: ScopeKind, name: &SkillName, (what, does): Unlocked) -> Message {
    message!(format_args!("`{name}` is {what}: "), Verb::Install.within(scope), does)
}

/// Returns the warning about a skill in a scope that neither the manifest nor another skill requests any
/// more.
pub(crate) fn no_longer_asked(scope: ScopeKind, name: &SkillName) -> Warning {
    let told = message!(
        format_args!("`{name}` is no longer requested: "),
        Verb::Install.within(scope),
        " removes it"
    );
    Warning::new(problem::NO_LONGER_ASKED.id, told)
}

/// Returns the error for a name that is not among those `known` in `scope`, or in any scope if that is
/// `None`.
pub(crate) fn not_installed<'a>(
    scope: Option<ScopeKind>,
    text: &str,
    known: impl Iterator<Item = &'a str>,
) -> Error {
    let error = not_there(scope, text);
    match closest(text, known) {
        Some(close) => error.hint(format!("did you mean `{close}`?")),
        None => error.hint(message!(Verb::List, " shows what is installed, and where")),
    }
}

/// Returns the error for a name that is not in `scope`.
fn not_there(scope: Option<ScopeKind>, text: &str) -> Error {
    let place = scope.map(|scope| format!(" {}", scope.within())).unwrap_or_default();
    Error::usage(format!("`{text}` is not installed{place}"))
}
