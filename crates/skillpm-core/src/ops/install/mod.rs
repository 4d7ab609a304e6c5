//! `install`: installs skills from sources, or exactly what the lockfile records.
//!
//! `fetch` or `restore` determines the desired state, as a value; `goal` changes the scope to it.

use std::borrow::Cow;

pub(super) mod agent_targets;
mod alarms;
mod around;
mod ask;
mod attributes;
mod available;
pub(super) mod chosen;
mod desired;
pub(super) mod editable;
mod fetch;
mod goal;
pub(super) mod incomplete;
mod marketplace;
mod outcome;
mod project;
mod replaced;
mod request;
pub(super) mod restore;
pub(super) mod select;
mod typed;

pub(super) use self::alarms::alarms;
pub use self::available::{Available, OfferedPlugin};
pub(super) use self::chosen::{ALL, typed};
pub use self::desired::LeftOut;
pub use self::outcome::{Change, InstallOutcome, InstalledSkill};
pub use self::request::InstallRequest;
pub(super) use self::select::candidates;
#[cfg(feature = "create")]
pub(super) use self::typed::check_no_directory;
pub(super) use self::typed::unprotected;
pub use super::consent::{Allow, NewVersion};

use self::agent_targets::AgentTargets;
use self::chosen::Selection;
use super::absent::no_manifest;
use super::fetcher::Sources;
use super::home;
use super::registries::RegistryWord;
use crate::advice::{Opt, Verb, Warning, message};
use crate::codes;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::fs;
use crate::install::scope::{Scope, ScopeKind};
use crate::install::state::{Files, read_manifest};
use crate::install::transaction::Transaction;
use crate::manifest::Manifest;
use crate::spec::{SourceSpec, SpecError};
use crate::tree::leftovers::is_code;

/// Installs skills.
///
/// Sources are fetched and checked first; only then is the scope locked, and changed in one transaction.
///
/// # Errors
///
/// Fails for anything that can be wrong with a source, its content, the scope or the request. Nothing has been changed
/// then.
pub fn install(context: &Context, request: &InstallRequest) -> Result<InstallOutcome> {
    let scope = if request.list {
        Scope::new(&context.settings, request.scope.unwrap_or(ScopeKind::Project))?
    } else {
        home::to_change(context, request.scope, request.dry_run)?
    };
    let request = &*with_skills_named(context, request)?;
    if request.restores() {
        check_restore(request)?;
        return reinstall(context, &scope, request);
    }
    if request.frozen {
        return Err(Error::usage(message!(
            Opt::Frozen,
            " only restores what is locked, so it takes no source"
        ))
        .hint(message!("remove the source, or use ", Opt::Locked)));
    }
    // With a marketplace, these are names of its plugins.
    let typed = request.sources.iter().filter(|_| request.marketplace.is_none() && !request.from_project);
    let parse = |manifest: &Manifest| -> Result<Vec<SourceSpec>> {
        typed.map(|text| typed::parse(context, &scope, manifest, request, text)).collect()
    };
    if request.list {
        let manifest = read_manifest(&scope)?.0;
        return list(context, &scope, request, &manifest, &parse(&manifest)?);
    }
    let before = check_scope(context, &scope, request)?;
    let specs = parse(&before.manifest)?;
    let mut sources = Sources::new(context, &scope, &before.manifest)?;
    let selection = choose(&mut sources, request, &specs)?;
    let fetched = fetch::fetch(sources, request, selection, &before)?;
    let read = |scope: &Scope| Files::read_since(scope, before.clone());
    goal::reach(context, &scope, request, read, |state| Ok(fetched.desired(&state.files)))
}

/// Chooses the skills for `request`, from `specs` if it names sources.
///
/// # Errors
///
/// Fails for a source that cannot be opened or is refused, and for skills that do not exist.
fn choose(sources: &mut Sources<'_>, request: &InstallRequest, specs: &[SourceSpec]) -> Result<Selection> {
    match &request.marketplace {
        Some(typed) => marketplace::choose(sources, request, typed),
        None if request.from_project => project::choose(sources.context, sources.scope, request),
        None => typed::choose(sources, request, specs),
    }
}

/// Lists the skills in the sources of `request`. `specs` are the parsed sources.
fn list(
    context: &Context,
    scope: &Scope,
    request: &InstallRequest,
    manifest: &Manifest,
    specs: &[SourceSpec],
) -> Result<InstallOutcome> {
    if request.from_project && request.marketplace.is_none() {
        return project::list(context, scope, request);
    }
    let mut sources = Sources::new(context, scope, manifest)?;
    match &request.marketplace {
        Some(typed) => marketplace::list(&mut sources, request, typed),
        None => typed::list(&mut sources, request, specs),
    }
}

/// Returns `request` with those words among its sources that are not sources turned into names of skills, if
/// real sources accompany them, as in `owner/repo pdf`.
///
/// # Errors
///
/// Fails for a word that is also the name of a directory or file here.
fn with_skills_named<'a>(context: &Context, request: &'a InstallRequest) -> Result<Cow<'a, InstallRequest>> {
    let is_of_registry = |text: &String| {
        RegistryWord::read(text).is_some_and(|word| word.is_certain())
            || RegistryWord::with_latest(text).is_some()
    };
    let is_word = |text: &String| {
        matches!(text.parse::<SourceSpec>(), Err(SpecError::Word(_))) && !is_of_registry(text)
    };
    let (words, sources): (Vec<String>, Vec<String>) = request.sources.iter().cloned().partition(is_word);
    // Beside skills of registries alone, a word is one too.
    let has_source = sources.iter().any(|text| !is_of_registry(text));
    if request.marketplace.is_some() || words.is_empty() || !has_source {
        return Ok(Cow::Borrowed(request));
    }
    if let Some(word) =
        words.iter().find(|word| matches!(fs::kind(&context.settings.cwd.join(word)), Ok(Some(_))))
    {
        return Err(Error::usage(format!(
            "`{word}` is the name of something here, and may be a skill of `{}`",
            sources[0]
        ))
        .hint(message!((Opt::Skill, word), format_args!(" is the skill, `./{word}` what is here"))));
    }
    let skills = request.skills.iter().cloned().chain(words).collect();
    Ok(Cow::Owned(InstallRequest { sources, skills, ..request.clone() }))
}

/// Checks the manifest and the lockfile before anything is fetched.
///
/// # Errors
///
/// Fails for an invalid file, and for an agent that is unknown or has no directory in `scope`.
fn check_scope(context: &Context, scope: &Scope, request: &InstallRequest) -> Result<Files> {
    let files = Files::read(scope)?;
    AgentTargets::check(scope, &files)?;
    AgentTargets::named(&context.settings, scope, &request.agents)?;
    Ok(files)
}

/// Refuses flags that only choose among the skills of a source.
fn check_restore(request: &InstallRequest) -> Result<()> {
    let options = if request.list {
        message!(Opt::List)
    } else if !request.skills.is_empty() {
        message!(Opt::Skill)
    } else if request.reference.is_some() {
        message!(Opt::Tag, ", ", Opt::Branch, " or ", Opt::Rev)
    } else if request.alias.is_some() {
        message!(Opt::As)
    } else if request.editable {
        message!(Opt::Editable)
    } else {
        return Ok(());
    };
    Err(Error::usage(message!(options, " needs a source"))
        .hint("name one, such as `owner/repo` or `./skills`; without a source the lockfile is restored"))
}

/// Restores the skills of the manifest and the lockfile.
fn reinstall(context: &Context, scope: &Scope, request: &InstallRequest) -> Result<InstallOutcome> {
    // Their content is read once, under the lock.
    let is_absent = |file| Ok::<_, Error>(fs::real_path(file)?.is_none());
    let is_new = || Ok::<_, Error>(is_absent(&scope.manifest)? && is_absent(&scope.lockfile)?);
    let is_begun = Transaction::is_begun(scope);
    if !is_begun && is_new()? {
        return Err(no_manifest(scope));
    }
    // A merge conflict in the lockfile is repaired if the lockfile may change.
    let mends = !request.locked && !request.frozen;
    let read = if mends { Files::read_mended } else { Files::read };
    let mut outcome = goal::reach(context, scope, request, read, |state| {
        // By now the change of a killed run has been rolled back or completed, and it may have been the first
        // one.
        if is_begun && is_new()? {
            return Err(no_manifest(scope));
        }
        restore::restore(context, state, request)
    })?;
    if request.frozen {
        let names: Vec<_> = outcome.skills.iter().map(|skill| skill.name.clone()).collect();
        outcome.warnings.extend(names.iter().filter_map(|name| unlocked_code(scope, name)));
    }
    Ok(outcome)
}

/// Returns a warning about code in the directory of the skill `name` that is not part of it: in a fresh clone, somebody
/// committed it.
fn unlocked_code(scope: &Scope, name: &str) -> Option<Warning> {
    let leftovers = scope.index.leftovers(&scope.skills_dir().join(name));
    let code = leftovers.iter().find(|leftover| is_code(leftover))?;
    let told = format!("`{name}` has code that no digest covers: `{code}`");
    let verify = Verb::Verify.within(scope.kind).flag(Opt::Strict).word(name);
    let hints = vec![message!(verify, " names each file")];
    Some(Warning { hints, ..Warning::new(codes::UNLOCKED_CODE, told) })
}
