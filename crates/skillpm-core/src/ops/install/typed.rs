//! Parses sources as they were typed, and opens them if the policy admits them.

use super::available::available;
use super::chosen::{ALL, Chosen, Selection};
use super::editable;
use super::outcome::InstallOutcome;
use super::request::InstallRequest;
use super::select::{by_names, candidates, elsewhere, gaps, select};
use crate::advice::{Opt, Verb, Warning, message};
use crate::codes;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::fs::{self, Kind};
use crate::install::scope::Scope;
use crate::manifest::Manifest;
use crate::ops::fetcher::Sources;
use crate::ops::registries::{self, RegistryWord};
use crate::source::discover::Candidate;
use crate::source::{self, FetchedSource, local};
use crate::spec::{Origin, Registry, SourceSpec, SpecError, is_page};
use crate::text::{shell_word, visible_name};

/// The maximum number of parts of a page's address that are tried as parts of a branch's name: each may cost
/// requests.
const MOST_PARTS: usize = 5;

/// Parses a source as it was typed.
fn parse_source(text: &str) -> Result<SourceSpec> {
    text.parse().map_err(|error: SpecError| {
        let told = Error::usage(error.to_string());
        match error {
            SpecError::Credentials => told.hint(
                "the part before `@` in a host is a login; name a skill after a slash: `https://host/@skill`",
            ),
            SpecError::Word(_) => told
                .hint(message!("a skill is named after its source: ", Verb::Install.call().word("owner/repo").word("NAME")))
                .hint("to install from a registry, name it in `skillpm.toml`: `[registries]` and `default = \"https://…\"`"),
            _ => told.hint(
                "a source is `owner/repo`, an address of a git repository, a file or a site, an installed package such as `npm:name`, or a path such as `./skills`",
            ),
        }
    })
}

/// Returns the skill that `text` means in a registry that has a name: `pdf@^1.2`, `acme:pdf`, `registry:acme//pdf`.
/// Returns `None` if it means something else.
fn of_named_registry(
    context: &Context,
    scope: &Scope,
    manifest: &Manifest,
    text: &str,
) -> Result<Option<SourceSpec>> {
    match (text.parse::<SourceSpec>(), RegistryWord::read(text)) {
        (Ok(spec), _) => match Registry::try_from(spec.origin.clone()) {
            Ok(Registry::Named(name)) => {
                let origin = registries::named(context, scope, manifest, &name)?.into();
                Ok(Some(SourceSpec { origin, ..spec }))
            }
            _ => Ok(None),
        },
        (Err(_), Some(word)) => word.source(context, scope, manifest),
        (Err(_), None) => Ok(None),
    }
}

/// Parses a source as it was typed, together with the flags that apply to it.
pub(super) fn parse(
    context: &Context,
    scope: &Scope,
    manifest: &Manifest,
    request: &InstallRequest,
    text: &str,
) -> Result<SourceSpec> {
    if let Some(spec) = of_named_registry(context, scope, manifest, text)? {
        let origin = registries::spelled(context, scope, manifest.registries(), spec.origin)?;
        let spec = SourceSpec { origin, ..spec };
        return match &request.reference {
            None => Ok(spec),
            Some(reference) => {
                let hint = format!(
                    "write the range after the name: `{}@{}`",
                    spec.path.unwrap_or_default(),
                    reference.name()
                );
                Err(Error::usage(format!(
                    "`{text}` is a skill of a registry, which has versions instead of tags"
                ))
                .hint(hint))
            }
        };
    }
    if let Some(name) = RegistryWord::with_latest(text) {
        return Err(Error::usage(format!("`{text}` names a tag, and registries have versions only"))
            .hint(message!(Verb::Install.call().word(name), " installs the highest version")));
    }
    let mut spec = parse_source(text)?;
    if let Some(reference) = &request.reference {
        if let Some(said) = &spec.reference {
            return Err(Error::usage(format!(
                "the revision is given twice: `{}` and `{}`",
                said.name(),
                reference.name()
            ))
            .hint("remove `#` from the source, or leave out the flag"));
        }
        if let Some(origin) = source::with_revisions(context, scope.as_root(), &spec.origin)? {
            spec.origin = origin;
            spec.reference = Some(reference.clone());
            return Ok(spec);
        }
        if !spec.origin.has_revisions() {
            let is_path = spec.origin.local_path().is_some();
            let what = if is_path { "is a path, so it has" } else { "has" };
            return Err(Error::usage(format!("`{text}` {what} no revisions")).hint(message!(
                "leave out ",
                Opt::Tag,
                ", ",
                Opt::Branch,
                " or ",
                Opt::Rev
            )));
        }
        spec.reference = Some(reference.clone());
    }
    check_no_directory(context, text, &spec)?;
    let origin = source::settled(context, scope.as_root(), spec.origin)?;
    spec.origin = registries::spelled(context, scope, manifest.registries(), origin)?;
    Ok(spec)
}

/// Refuses a text such as `skills/pdf` that is read as a repository if there is a directory with that path here: a user
/// who forgot `./` would get a stranger's skills.
pub(in crate::ops) fn check_no_directory(context: &Context, text: &str, spec: &SourceSpec) -> Result<()> {
    let typed = text.trim().trim_end_matches('/');
    // A text without any prefix is a repository on GitHub.
    let marked = || format!("github:{}", text.trim()).parse::<SourceSpec>();
    let is_bare = !text.contains(':') && marked().is_ok_and(|marked| marked.origin == spec.origin);
    if !is_bare || !matches!(fs::kind(&context.settings.cwd.join(typed)), Ok(Some(Kind::Directory))) {
        return Ok(());
    }
    Err(Error::usage(format!("`{typed}` is a directory here, but could also be a repository on GitHub"))
        .hint(format!(
            "`{}` is the directory, `{}` the repository",
            shell_word(format!("./{typed}")),
            shell_word(format!("github:{typed}")),
        )))
}

/// Returns the sources that `request` names, as they were typed. With a marketplace, these are names of its plugins.
pub(super) fn parse_all(
    context: &Context,
    scope: &Scope,
    manifest: &Manifest,
    request: &InstallRequest,
) -> Result<Vec<SourceSpec>> {
    let typed = request.sources.iter().filter(|_| request.marketplace.is_none() && !request.from_project);
    typed.map(|text| parse(context, scope, manifest, request, text)).collect()
}

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
    let found = candidates(&opened, &spec)?;
    let named = names_of(request, &spec).iter().any(|name| name != ALL);
    if !named {
        warnings.extend(elsewhere(&spec, &opened, &found));
        warnings.extend(gaps(&spec, &opened));
    }
    let passed_over: Vec<Candidate> = match opened.shelf {
        Some(_) => found.iter().filter(|candidate| candidate.meta.is_err()).cloned().collect(),
        None => Vec::new(),
    };
    let (chosen, missed) = choose_from(context, request, &spec, &opened, found)?;
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
    warnings.extend(unusable(&spec, &passed_over, &chosen));
    let named = named || chosen.len() == 1;
    Ok(Chosen { spec, opened, candidates: chosen, named, missed })
}

/// Returns the warnings about skills that a source lists incorrectly and that were not requested: its owner
/// may not know.
fn unusable(spec: &SourceSpec, listed: &[Candidate], chosen: &[Candidate]) -> Vec<Warning> {
    const MOST: usize = 20;
    let others = listed.iter().filter(|listed| chosen.iter().all(|chosen| chosen.path != listed.path));
    let mut told: Vec<String> = others
        .filter_map(|listed| {
            let problem = listed.meta.as_ref().err()?;
            let path = visible_name(&listed.path);
            Some(format!("`{path}` of `{}` cannot be installed: {problem}", spec.origin.typed()))
        })
        .collect();
    if told.len() > MOST {
        let more = told.len() - MOST;
        told.truncate(MOST);
        told.push(format!("`{}` has {more} more that cannot be installed", spec.origin.typed()));
    }
    told.into_iter().map(|told| Warning::new(codes::LISTED_WRONGLY, told)).collect()
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

/// Returns the warning about a source that anybody on the network path could change.
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

/// Returns the skills that `request` and `spec` name; empty if all skills of the source are meant.
fn names_of(request: &InstallRequest, spec: &SourceSpec) -> Vec<String> {
    request.skills.iter().chain(&spec.skill).cloned().collect()
}

/// Returns the chosen skills out of those `found` in the source `spec`, and the names given for several
/// sources that this source does not have.
fn choose_from(
    context: &Context,
    request: &InstallRequest,
    spec: &SourceSpec,
    opened: &FetchedSource,
    found: Vec<Candidate>,
) -> Result<(Vec<Candidate>, Vec<String>)> {
    let names = names_of(request, spec);
    let alone =
        request.sources.len() < 2 || request.skills.is_empty() || names.iter().any(|name| name == ALL);
    if alone {
        let asks_nothing = request.yes || request.list;
        return Ok((select(context, spec, opened, found, &names, asks_nothing)?, Vec::new()));
    }
    let (mut chosen, missed) = by_names(spec, opened, &found, &request.skills)?;
    let missed = missed.into_iter().cloned().collect();
    if let Some(own) = &spec.skill {
        let own = select(context, spec, opened, found, std::slice::from_ref(own), true)?;
        let is_new = |one: &Candidate| chosen.iter().all(|other| other.path != one.path);
        let own: Vec<_> = own.into_iter().filter(is_new).collect();
        chosen.extend(own);
    }
    Ok((chosen, missed))
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
        let mut found = candidates(&opened, &spec)?;
        if names_of(request, &spec).is_empty() {
            outcome.warnings.extend(elsewhere(&spec, &opened, &found));
            outcome.warnings.extend(gaps(&spec, &opened));
        } else {
            let not_here;
            (found, not_here) = choose_from(sources.context, request, &spec, &opened, found)?;
            missed.push(not_here);
        }
        outcome.available.extend(found.iter().map(|c| available(&spec, &opened.name, c)));
    }
    check_missed(request, &missed)?;
    Ok(outcome)
}
