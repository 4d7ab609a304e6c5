//! What is done with the skills of a scope: from keyword options to requests.

use pyo3::prelude::*;
use serde_json::to_value;
use skillpm_core::ops::agents::{AgentsRequest, agents as list_agents};
use skillpm_core::ops::doctor::{DoctorRequest, doctor as examine};
use skillpm_core::ops::install::{InstallRequest, install as install_skills};
use skillpm_core::ops::list::{ListRequest, list as list_skills};
use skillpm_core::ops::outdated::{OutdatedRequest, outdated as list_outdated};
use skillpm_core::ops::remove::{RemoveRequest, remove as remove_skills};
use skillpm_core::ops::search::{DEFAULT_LIMIT, SearchRequest, search as search_skills};
use skillpm_core::ops::test::{DEFAULT_TOP, TestRequest, agent_or_command, repository, test as test_skills};
use skillpm_core::ops::trust::{TrustRequest, UntrustRequest, trust as trust_dirs, untrust as untrust_dirs};
use skillpm_core::ops::verify::{VerifyRequest, verify as verify_skills};
use skillpm_core::paths::Changes;
use skillpm_format::scope_kind::ScopeKind;
use skillpm_format::spec::Reference;

use super::options::Options;
use super::review::Consent;
use super::work::{Told, Work};
use crate::errors;

/// Where skills are; `None` as on the command line: both scopes where nothing is changed, else the project.
type Scope = Option<ScopeKind>;

pub(super) fn install(options: &Options<'_>, scope: Scope) -> PyResult<Work> {
    let consent = Consent::of(options)?;
    let request = InstallRequest {
        skills: options.texts("skills")?,
        alias: options.text("as_")?,
        editable: options.flag("editable")?,
        agents: options.texts("agents")?,
        copy: options.flag("copy")?,
        dry_run: options.flag("dry_run")?,
        force: options.flag("force")?,
        allow: consent.allow,
        no_deps: options.flag("no_deps")?,
        minimal: options.flag("minimal")?,
        locked: options.flag("locked")?,
        frozen: options.flag("frozen")?,
        ..from_sources(options, scope)?
    };
    Ok(Work::reviewed(consent.accept, move |context, _| {
        let outcome = install_skills(context, &request)?;
        Ok(Told::new(to_value(&outcome))
            .failures(outcome.left_out.iter().map(|left| &left.why))
            .warnings(&outcome.warnings))
    }))
}

/// The skills of sources, without an installation.
pub(super) fn available(options: &Options<'_>, scope: Scope) -> PyResult<Work> {
    let request =
        InstallRequest { skills: options.texts("skills")?, list: true, ..from_sources(options, scope)? };
    Ok(Work::new(move |context| {
        let outcome = install_skills(context, &request)?;
        Ok(Told::new(to_value(&outcome.available)).warnings(&outcome.warnings))
    }))
}

/// The plugins of a marketplace.
pub(super) fn plugins(options: &Options<'_>, scope: Scope) -> PyResult<Work> {
    let request = InstallRequest { list: true, ..from_sources(options, scope)? };
    Ok(Work::new(move |context| {
        let outcome = install_skills(context, &request)?;
        Ok(Told::new(to_value(&outcome.plugins)).warnings(&outcome.warnings))
    }))
}

/// Where skills come from.
fn from_sources(options: &Options<'_>, scope: Scope) -> PyResult<InstallRequest> {
    Ok(InstallRequest {
        sources: options.texts("sources")?,
        marketplace: options.text("marketplace")?,
        from_project: options.flag("from_project")?,
        reference: reference(options)?,
        scope,
        ..InstallRequest::default()
    })
}

/// The one of `tag`, `branch` and `rev` that is given.
fn reference(options: &Options<'_>) -> PyResult<Option<Reference>> {
    let (tag, branch, rev) = (options.text("tag")?, options.text("branch")?, options.text("rev")?);
    options.exclusive(&[("tag", tag.is_some()), ("branch", branch.is_some()), ("rev", rev.is_some())])?;
    let reference = match (tag, branch, rev) {
        (Some(name), ..) => Reference::tag(&name),
        (_, Some(name), _) => Reference::check(&name).map(|()| Reference::Branch(name)),
        (.., Some(commit)) => Reference::rev(&commit),
        (None, None, None) => return Ok(None),
    };
    reference.map(Some).map_err(|error| errors::unknown(options.py(), &error.to_string()))
}

pub(super) fn remove(options: &Options<'_>, scope: Scope) -> PyResult<Work> {
    let request = RemoveRequest {
        names: options.texts("names")?,
        scope,
        dry_run: options.flag("dry_run")?,
        force: options.flag("force")?,
    };
    if request.names.is_empty() {
        return Err(errors::unknown(options.py(), "name the skills to remove; `*` is all of them"));
    }
    Ok(Work::new(move |context| Ok(Told::new(to_value(remove_skills(context, &request)?)))))
}

#[expect(clippy::unnecessary_wraps, reason = "it is one of the verbs")]
pub(super) fn list(_: &Options<'_>, scope: Scope) -> PyResult<Work> {
    let request = ListRequest { scope, ..ListRequest::default() };
    Ok(Work::new(move |context| {
        let outcome = list_skills(context, &request)?;
        Ok(Told::new(to_value(&outcome.skills)).warnings(&outcome.warnings))
    }))
}

pub(super) fn outdated(options: &Options<'_>, scope: Scope) -> PyResult<Work> {
    let request = OutdatedRequest { names: options.texts("names")?, scope };
    Ok(Work::new(move |context| {
        let outcome = list_outdated(context, &request)?;
        Ok(Told::new(to_value(&outcome.skills))
            .errors(&outcome.failures)
            .warnings(&outcome.warnings)
            .warnings(&outcome.notes))
    }))
}

pub(super) fn search(options: &Options<'_>, _: Scope) -> PyResult<Work> {
    let query = options.text("query")?.unwrap_or_default();
    let request = SearchRequest {
        words: query.split_whitespace().map(str::to_owned).collect(),
        registry: options.text("registry")?,
        installed: options.flag("installed")?,
        skills_sh: options.flag("skills_sh")?,
        limit: options.count("limit")?.unwrap_or(DEFAULT_LIMIT),
    };
    options.exclusive(&[("registry", request.registry.is_some()), ("installed", request.installed)])?;
    options.exclusive(&[("skills_sh", request.skills_sh), ("installed", request.installed)])?;
    Ok(Work::new(move |context| {
        let outcome = search_skills(context, &request)?;
        Ok(Told::new(to_value(&outcome)).errors(&outcome.failures).warnings(&outcome.warnings))
    }))
}

pub(super) fn verify(options: &Options<'_>, scope: Scope) -> PyResult<Work> {
    let (names, strict) = (options.texts("names")?, options.flag("strict")?);
    let request = VerifyRequest { names, scope, strict };
    Ok(Work::new(move |context| {
        let outcome = verify_skills(context, &request)?;
        Ok(Told::new(to_value(&outcome)).warnings(&outcome.warnings))
    }))
}

pub(super) fn doctor(options: &Options<'_>, scope: Scope) -> PyResult<Work> {
    let request = DoctorRequest { scope, fix: options.flag("fix")?, dry_run: options.flag("dry_run")? };
    Ok(Work::new(move |context| Ok(Told::new(to_value(examine(context, &request)?)))))
}

pub(super) fn trust(options: &Options<'_>, _: Scope) -> PyResult<Work> {
    let directories = options.paths("directories")?;
    let request = TrustRequest { directories, force: options.flag("force")? };
    Ok(Work::new(move |context| {
        let outcome = trust_dirs(context, &request)?;
        Ok(Told::new(to_value(&outcome)).warnings(&outcome.warnings))
    }))
}

pub(super) fn untrust(options: &Options<'_>, _: Scope) -> PyResult<Work> {
    let request = UntrustRequest { directories: options.paths("directories")? };
    Ok(Work::new(move |context| {
        let outcome = untrust_dirs(context, &request)?;
        Ok(Told::new(to_value(&outcome)).warnings(&outcome.warnings))
    }))
}

pub(super) fn agents(options: &Options<'_>, scope: Scope) -> PyResult<Work> {
    let request = AgentsRequest {
        names: options.texts("names")?,
        all: options.flag("all")?,
        scope,
        window: options.count("window")?.map(|window| window as u64),
        usage: options.flag("usage")?,
    };
    Ok(Work::new(move |context| {
        let outcome = list_agents(context, &request)?;
        Ok(Told::new(to_value(&outcome.agents)).warnings(&outcome.warnings))
    }))
}

pub(super) fn test(options: &Options<'_>, _: Scope) -> PyResult<Work> {
    let (mut targets, all) = (options.paths("paths")?, options.flag("all")?);
    options.exclusive(&[("paths", !targets.is_empty()), ("all", all)])?;
    let (since, changed) = (options.text("since")?, options.flag("changed")?);
    options.exclusive(&[("since", since.is_some()), ("changed", changed)])?;
    let changes = match since {
        Some(since) => Changes::Since(since),
        None if changed => Changes::Uncommitted,
        None => Changes::All,
    };
    let mut request = TestRequest {
        targets: Vec::new(),
        changes,
        agent: None,
        window: options.count("window")?.map(|window| window as u64),
        top: options.count("top")?.unwrap_or(DEFAULT_TOP),
        bodies: options.flag("bodies")?,
        command: None,
    };
    let agent = options.text("agent")?;
    let (repeat, timeout) = (options.count("repeat")?, options.seconds("timeout")?);
    let keep = options.path("keep")?;
    Ok(Work::new(move |context| {
        let settings = &context.settings;
        if let Some(agent) = agent {
            (request.agent, request.command) = agent_or_command(&agent, &settings.cwd)?;
        }
        if let Some(command) = &mut request.command {
            command.repeat = repeat.unwrap_or(command.repeat);
            command.timeout = timeout.unwrap_or(command.timeout);
            command.keep = keep.map(|dir| settings.cwd.join(dir));
        }
        if targets.is_empty() {
            targets.push(if all { repository(settings)? } else { settings.cwd.clone() });
        }
        request.targets = targets;
        Ok(Told::new(to_value(test_skills(context, &request)?)))
    }))
}
