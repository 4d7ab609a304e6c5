//! Opens sources that were typed, if the policy admits them, and chooses skills from them.

use super::available::available;
use super::chosen::{Chosen, Selection};
use super::editable;
use super::outcome::InstallOutcome;
use super::pick::{Picked, pick};
use super::request::InstallRequest;
use crate::advice::{Opt, Verb, Warning, message};
use crate::codes;
use crate::error::{Error, Result};
use crate::fetch::fetcher::Sources;
use crate::fetch::registries;
use crate::source::{self, FetchedSource, local};
use crate::spec::{Origin, SourceSpec, is_page};

/// The maximum number of parts of a page's address that are tried as parts of a branch's name: each may cost
/// requests.
const MOST_PARTS: usize = 5;

/// Opens the sources `specs`, parsed from the texts of `request`, and chooses the skills for the request.
pub(super) fn choose(
    sources: &mut Sources<'_>,
    request: &InstallRequest,
    specs: &[SourceSpec],
) -> Result<Selection> {
    let mut selection = Selection::default();
    for (text, spec) in request.sources.iter().zip(specs) {
        let chosen = choose_one(sources, request, text, spec, &mut selection.warnings)?;
        selection.sources.push(chosen);
    }
    let missed: Vec<_> = selection.sources.iter().map(|chosen| chosen.missed.clone()).collect();
    check_missed(request, &missed)?;
    Ok(selection)
}

/// Opens source `spec`, parsed from `text`, and chooses the skills for `request`.
fn choose_one(
    sources: &mut Sources<'_>,
    request: &InstallRequest,
    text: &str,
    spec: &SourceSpec,
    warnings: &mut Vec<Warning>,
) -> Result<Chosen> {
    let Sources { context, scope, .. } = *sources;
    if request.editable {
        editable::check(context, scope, spec)?;
    }
    local::check_outside(&context.settings, scope.as_root(), &spec.origin)?;
    let (spec, opened) = open_typed(sources, text, spec)?;
    warnings.extend(unprotected(&spec.origin));
    warnings.extend(told_query(&spec.origin));
    warnings.extend(registries::only_here(scope, &sources.registries, &spec.origin));
    let Picked { skills: chosen, missed, named, warnings: told } = pick(context, request, &spec, &opened)?;
    warnings.extend(told);
    if chosen.is_empty() {
        let told = format!("nothing comes from `{}`: it has none of the skills that are named", spec.typed());
        warnings.push(Warning::new(codes::SOURCE_UNUSED, told));
    }
    if let (Some(alias), false) = (&request.alias, chosen.len() == 1) {
        let number = chosen.len();
        return Err(Error::usage(message!(
            (Opt::As, alias),
            format_args!(" is for one skill, but {number} were chosen")
        ))
        .hint(message!("name the one with ", (Opt::Skill, "NAME"))));
    }
    let named = named || chosen.len() == 1;
    Ok(Chosen { spec, opened, candidates: chosen, named, missed })
}

/// Opens the source `spec`, parsed from `text`, if the policy admits it. Returns the source that was actually
/// opened.
///
/// The address of a page does not show where the name of a branch ends: if there is no such revision, longer
/// names are tried.
fn open_typed(
    sources: &mut Sources<'_>,
    text: &str,
    spec: &SourceSpec,
) -> Result<(SourceSpec, FetchedSource)> {
    let first = match sources.open(spec) {
        Ok(opened) => return Ok((spec.clone(), opened)),
        Err(error) if error.code() == codes::REVISION_UNKNOWN && is_page(text) => error,
        Err(error) => return Err(error),
    };
    let mut tried = spec.clone();
    for _ in 0..MOST_PARTS {
        let Some(longer) = tried.with_longer_reference() else { break };
        match sources.open(&longer) {
            Ok(opened) => return Ok((longer, opened)),
            Err(error) if error.code() == codes::REVISION_UNKNOWN => tried = longer,
            Err(error) => return Err(error),
        }
    }
    let shown = SourceSpec { reference: None, path: None, ..spec.clone() }.typed();
    Err(first.hint(format!("a revision can also be written after `#`, as in `{shown}#feature/x`")))
}

/// Returns the warning about a source that could be changed on the network path.
pub(in crate::ops) fn unprotected(origin: &Origin) -> Option<Warning> {
    let told = || {
        let told =
            format!("`{}` was read over `http`: anyone on the network could have changed it", origin.typed());
        Warning::new(codes::UNPROTECTED, told)
    };
    (!origin.is_private()).then(told)
}

/// Returns the warning about an address whose query is written into files that are committed: it may be a
/// secret.
fn told_query(origin: &Origin) -> Option<Warning> {
    let address = origin.web_address()?;
    let (place, _) = address.as_str().split_once('?')?;
    let instead = source::query_variable(address).map(|variable| {
        format!(
            ": if it holds a secret, leave it out of the address, and set `{variable}` to what follows `?`"
        )
    });
    let told = format!(
        "the query of `{place}` is written into `skillpm.toml` and `skillpm.lock`{}",
        instead.unwrap_or_default()
    );
    Some(Warning::new(codes::QUERY_WRITTEN, told))
}

/// Refuses names that none of several sources has. `missed` lists the names that each of them lacks.
fn check_missed(request: &InstallRequest, missed: &[Vec<String>]) -> Result<()> {
    let Some((first, others)) = missed.split_first() else { return Ok(()) };
    let Some(name) = first.iter().find(|name| others.iter().all(|other| other.contains(name))) else {
        return Ok(());
    };
    Err(Error::usage(format!("none of the {} sources has a skill `{name}`", request.sources.len())).hint(
        message!(Verb::Install.call().flag(Opt::List).words(&request.sources), " shows what they have"),
    ))
}

/// Lists what the sources hold, or the part that `request` names. `specs` are the parsed sources.
pub(super) fn list(
    sources: &mut Sources<'_>,
    request: &InstallRequest,
    specs: &[SourceSpec],
) -> Result<InstallOutcome> {
    let mut outcome = InstallOutcome::default();
    let mut missed = Vec::new();
    for (text, spec) in request.sources.iter().zip(specs) {
        let (spec, opened) = open_typed(sources, text, spec)?;
        let picked = pick(sources.context, request, &spec, &opened)?;
        outcome.warnings.extend(picked.warnings);
        missed.push(picked.missed);
        let found = picked.skills;
        outcome.available.extend(found.iter().map(|c| available(&spec, &opened.name, c)));
    }
    check_missed(request, &missed)?;
    Ok(outcome)
}
