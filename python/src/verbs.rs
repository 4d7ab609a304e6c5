//! Verbs of the package manager.

use std::path::PathBuf;

use pyo3::prelude::*;
use skillpm_core::ops::install::{InstallRequest, install as install_skills};
use skillpm_core::ops::validate::{LintOptions, Target, ValidateRequest, validate as validate_skills};
use skillpm_format::document::LineIndex;
use skillpm_format::lint::Profile;
use skillpm_format::scope_kind::ScopeKind;
use skillpm_sources::context::Context;

use crate::diagnostic::Diagnostic;
use crate::given::Given;
use crate::words::worded;
use crate::{call, errors, json, surroundings};

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

/// Installs skills; the outcome is that of `skillpm install --json`.
#[pyfunction]
#[pyo3(signature = (sources, *, skills, scope, agents, project, copy, force, no_deps, dry_run, locked, frozen,
    offline))]
#[expect(clippy::too_many_arguments, clippy::fn_params_excessive_bools, reason = "flags of the command")]
pub(crate) fn install(
    py: Python<'_>,
    sources: Given<Vec<String>>,
    skills: Given<Vec<String>>,
    scope: Given<String>,
    agents: Given<Vec<String>>,
    project: Option<Given<PathBuf>>,
    copy: bool,
    force: bool,
    no_deps: bool,
    dry_run: bool,
    locked: bool,
    frozen: bool,
    offline: bool,
) -> PyResult<(Vec<Bound<'_, PyAny>>, Vec<String>)> {
    let scope = match scope.as_str() {
        "project" => ScopeKind::Project,
        "user" => ScopeKind::User,
        other => return Err(errors::choice(py, "scope", "`project` or `user`", other)),
    };
    let request = InstallRequest {
        sources: sources.0,
        skills: skills.0,
        scope: Some(scope),
        agents: agents.0,
        copy,
        dry_run,
        force,
        no_deps,
        locked,
        frozen,
        ..InstallRequest::default()
    };
    let outcome = call::run_stoppable(py, move |reporter| {
        let mut settings = surroundings::settings(project.map(|project| project.0))?;
        settings.offline |= offline;
        let context = Context { reporter, ..Context::silent(settings) };
        Ok(install_skills(&context, &request)?)
    })?;
    let skills = outcome.skills.iter().map(|skill| {
        // Plain data always serializes.
        json::to_python(py, &serde_json::to_value(skill).unwrap_or_default())
    });
    let warnings = outcome.warnings.iter().map(|warning| worded(&warning.message));
    Ok((skills.collect::<PyResult<_>>()?, warnings.collect()))
}
