//! `update`: new versions, and the question of their new capabilities.

use pyo3::prelude::*;
use serde_json::to_value;
use skillpm_core::ops::update::{UpdateOutcome, UpdateRequest, prepare};
use skillpm_format::codes;
use skillpm_format::merge::Prefer;
use skillpm_format::scope_kind::ScopeKind;
use skillpm_format::version::Version;
use skillpm_sources::context::Context;
use skillpm_sources::error::{Error, ErrorKind, Result};

use super::options::Options;
use super::review::{Consent, Reviewer};
use super::work::{Told, Work};

pub(super) fn update(options: &Options<'_>, scope: Option<ScopeKind>) -> PyResult<Work> {
    let consent = Consent::of(options)?;
    let (ours, theirs) = (options.flag("ours")?, options.flag("theirs")?);
    options.exclusive(&[("ours", ours), ("theirs", theirs)])?;
    let request = UpdateRequest {
        names: options.texts("names")?,
        scope,
        latest: options.flag("latest")?,
        precise: options.parsed::<Version>("precise", "a version such as `1.2.0`")?,
        minimal: options.flag("minimal")?,
        allow: consent.allow,
        prefer: if ours { Some(Prefer::Ours) } else { theirs.then_some(Prefer::Theirs) },
        abort: options.flag("abort")?,
        force: options.flag("force")?,
        dry_run: options.flag("dry_run")?,
        no_deps: options.flag("no_deps")?,
    };
    Ok(Work::reviewed(consent.accept, move |context, reviewer| {
        let outcome = updated(context, &request, reviewer)?;
        Ok(Told::new(to_value(&outcome))
            .failures(outcome.failures.iter().map(|failure| &failure.why))
            .warnings(&outcome.warnings))
    }))
}

/// Updates what brings nothing new, and of the rest what the reviewer accepts.
fn updated(context: &Context, request: &UpdateRequest, reviewer: &Reviewer) -> Result<UpdateOutcome> {
    let mut prepared = prepare(context, request)?;
    if request.dry_run {
        return prepared.plan();
    }
    if !reviewer.asks() {
        return prepared.apply(false);
    }
    let planned = prepared.plan()?;
    let mut declined = Vec::new();
    for name in &planned.refused {
        let review = planned.skills.iter().find(|skill| skill.name == *name);
        let review = review.and_then(|skill| skill.review.clone()).unwrap_or_default();
        if !reviewer.accepts(name, &review).ok_or_else(no)? {
            declined.push(name);
        }
    }
    if declined.is_empty() {
        return prepared.apply(true);
    }
    let mut names: Vec<_> = prepared.choices(&planned).into_iter().map(|choice| choice.title).collect();
    // A skill that comes because others need it is not a choice of its own.
    let is_choice = declined.iter().all(|name| names.contains(name));
    names.retain(|name| !declined.contains(&name));
    if !is_choice || names.is_empty() {
        return Err(no());
    }
    let request = UpdateRequest { names, ..request.clone() };
    prepare(context, &request)?.agreed(&prepared).apply(false)
}

fn no() -> Error {
    Error::new(ErrorKind::Findings, "nothing was changed: the answer was no").coded(codes::NEW_CAPABILITY)
}
