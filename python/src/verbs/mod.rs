//! Verbs of the package manager.

mod options;
mod project;
mod registry;
mod review;
mod update;
mod work;

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use skillpm_core::ops::validate::{LintOptions, Target, ValidateRequest, validate as validate_skills};
use skillpm_format::document::LineIndex;
use skillpm_format::lint::Profile;
use skillpm_format::scope_kind::ScopeKind;
use skillpm_sources::context::Context;

use self::options::Options;
use self::review::Reviewer;
use self::work::Work;
use crate::call::Waiter;
use crate::diagnostic::Diagnostic;
use crate::given::Given;
use crate::{call, errors, json, surroundings, words};

/// What the linter finds in the skills below `path`.
#[pyfunction]
#[pyo3(signature = (path, *, profile=None))]
pub(crate) fn validate(
    py: Python<'_>,
    path: Given<PathBuf>,
    profile: Option<Given<String>>,
) -> PyResult<Vec<Diagnostic>> {
    let profile = profile.map(|profile| profile.0);
    let chosen = profile.as_deref().map(str::parse::<Profile>).transpose().map_err(|_| {
        errors::choice(py, "profile", "the name of a profile of the linter", profile.as_deref().unwrap_or(""))
    })?;
    call::run_stoppable(py, move |_| {
        let context = Context::silent(surroundings::settings(None)?);
        let options = chosen.map_or_else(LintOptions::default, LintOptions::from);
        let request =
            ValidateRequest { targets: vec![Target::Path(path.0)], options, ..ValidateRequest::default() };
        let outcome = validate_skills(&context, &request)?;
        let mut found = Vec::new();
        for skill in &outcome.skills {
            let lines = LineIndex::new(&skill.text);
            found.extend(skill.findings.iter().map(|finding| {
                let at = lines.position(finding.span.start);
                let message = finding.message.clone();
                Diagnostic::at(finding.rule, finding.severity, message, &skill.file, Some(at))
            }));
        }
        Ok(found)
    })
}

/// Does what `skillpm VERB --json` does with `options`, for the skills of `scope`, and returns that outcome and the
/// warnings. What the options are called, the flags of the command are called, too.
#[pyfunction]
#[pyo3(signature = (verb, options, *, root=None, scope=None, offline=false, waiter=None))]
pub(crate) fn manage<'py>(
    py: Python<'py>,
    verb: &str,
    options: &Bound<'py, PyDict>,
    root: Option<Given<PathBuf>>,
    scope: Option<Given<String>>,
    offline: bool,
    waiter: Option<&Waiter>,
) -> PyResult<(Bound<'py, PyAny>, Vec<String>)> {
    let scope = match scope.as_deref().map(String::as_str) {
        None => None,
        Some("project") => Some(ScopeKind::Project),
        Some("user") => Some(ScopeKind::User),
        Some(other) => return Err(errors::choice(py, "scope", "`project`, `user` or `None`", other)),
    };
    let options = Options::new(options)?;
    let Some((_, parse)) = VERBS.iter().find(|(name, _)| *name == verb) else {
        return Err(errors::unknown(py, &format!("there is no verb `{verb}`")));
    };
    let work = parse(&options, scope)?;
    options.finish()?;
    let root = root.map(|root| root.0);
    let wording = words::Python { root: root.clone() };
    let told = call::run_asking(py, &waiter.cloned().unwrap_or_default(), move |caller| {
        let mut settings = surroundings::settings(root)?;
        settings.offline |= offline;
        let reviewer = Arc::new(Reviewer::new(caller, work.accept));
        let (reporter, interact) = (Arc::clone(&reviewer), Arc::clone(&reviewer));
        let mut told = (work.run)(&Context { settings, reporter, interact }, &reviewer)?;
        told.warnings.extend(reviewer.warnings());
        Ok(told)
    })?;
    let told = told.map_err(|error| errors::of_verb(py, &error, &wording))?;
    let warnings = told.warnings.iter().map(|warning| warning.worded(&wording));
    Ok((json::to_python(py, &told.value)?, warnings.collect()))
}

/// From options and a scope to what is to be done.
type Parse = fn(&Options<'_>, Option<ScopeKind>) -> PyResult<Work>;

/// The verbs.
const VERBS: &[(&str, Parse)] = &[
    ("agents", project::agents),
    ("available", project::available),
    ("doctor", project::doctor),
    ("install", project::install),
    ("list", project::list),
    ("outdated", project::outdated),
    ("plugins", project::plugins),
    ("registry add", registry::add),
    ("registry bundle", registry::bundle),
    ("registry index", registry::index),
    ("registry init", registry::init),
    ("registry list", registry::list),
    ("registry login", registry::login),
    ("registry logins", registry::logins),
    ("registry logout", registry::logout),
    ("registry mirror", registry::mirror),
    ("registry unyank", registry::unyank),
    ("registry verify", registry::verify),
    ("registry yank", registry::yank),
    ("remove", project::remove),
    ("search", project::search),
    ("test", project::test),
    ("trust", project::trust),
    ("untrust", project::untrust),
    ("update", update::update),
    ("verify", project::verify),
];
