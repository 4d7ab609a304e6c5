//! The skills that a request means in one source.

use super::request::InstallRequest;
use crate::advice::Warning;
use crate::codes;
use crate::context::Context;
use crate::error::Result;
use crate::fetch::select::{ALL, by_names, candidates, elsewhere, gaps, select};
use crate::source::FetchedSource;
use crate::source::discover::Candidate;
use crate::spec::SourceSpec;
use crate::text::visible_name;

/// The skills that a request gets from one source.
#[derive(Debug, Default)]
pub(crate) struct Picked {
    /// The skills.
    pub(crate) skills: Vec<Candidate>,
    /// Names that were given for several sources and do not occur in this one.
    pub(crate) missed: Vec<String>,
    /// Whether the request names exactly these skills.
    pub(crate) named: bool,
    /// Warnings about what else the source has.
    pub(crate) warnings: Vec<Warning>,
}

/// Finds the skills in `opened` and picks those that `request` means. A list without names has all.
pub(crate) fn pick(
    context: &Context,
    request: &InstallRequest,
    spec: &SourceSpec,
    opened: &FetchedSource,
) -> Result<Picked> {
    let found = candidates(opened, spec)?;
    let names = names_of(request, spec);
    let mut picked = Picked { named: names.iter().any(|name| name != ALL), ..Picked::default() };
    if !picked.named {
        picked.warnings.extend(elsewhere(spec, opened, &found));
        picked.warnings.extend(gaps(spec, opened));
    }
    if request.list && names.is_empty() {
        picked.skills = found;
        return Ok(picked);
    }
    let passed_over: Vec<Candidate> = match opened.shelf {
        Some(_) if !request.list => found.iter().filter(|one| one.meta.is_err()).cloned().collect(),
        _ => Vec::new(),
    };
    (picked.skills, picked.missed) = choose_from(context, request, spec, opened, found)?;
    picked.warnings.extend(unusable(spec, &passed_over, &picked.skills));
    picked.named |= picked.skills.len() == 1;
    Ok(picked)
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
