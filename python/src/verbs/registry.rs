//! What is done with a registry: from keyword options to requests.

use pyo3::prelude::*;
use serde_json::to_value;
use skillpm_core::ops::registry::mirror::{BundleRequest, MirrorRequest, Selection, bundle as write_bundle};
use skillpm_core::ops::registry::{self as verbs, mirror as mirrors};
use skillpm_core::ops::registry::{
    AddRequest, IndexRequest, InitRequest, ListRequest, LoginRequest, UnyankRequest, VerifyRequest,
    YankRequest,
};
use skillpm_format::scope_kind::ScopeKind;

use super::options::Options;
use super::work::{Told, Work};

/// A registry is in no scope.
type Scope = Option<ScopeKind>;

pub(super) fn init(options: &Options<'_>, _: Scope) -> PyResult<Work> {
    let request = InitRequest {
        dir: options.path("registry")?,
        name: options.text("name")?,
        force: options.flag("force")?,
        dry_run: options.flag("dry_run")?,
    };
    Ok(Work::new(move |context| Ok(Told::new(to_value(verbs::init(context, &request)?)))))
}

pub(super) fn add(options: &Options<'_>, _: Scope) -> PyResult<Work> {
    let request = AddRequest {
        registry: options.path("registry")?,
        sources: options.paths("sources")?,
        allow_secrets: options.flag("allow_secrets")?,
        dry_run: options.flag("dry_run")?,
    };
    Ok(Work::new(move |context| Ok(Told::new(to_value(verbs::add(context, &request)?)))))
}

pub(super) fn index(options: &Options<'_>, _: Scope) -> PyResult<Work> {
    let request = IndexRequest { registry: options.path("registry")?, dry_run: options.flag("dry_run")? };
    Ok(Work::new(move |context| {
        let outcome = verbs::index(context, &request)?;
        Ok(Told::new(to_value(&outcome)).failures(outcome.left_out.iter().map(|left| &left.why)))
    }))
}

pub(super) fn yank(options: &Options<'_>, _: Scope) -> PyResult<Work> {
    let request = YankRequest {
        registry: options.text("registry")?,
        versions: options.texts("versions")?,
        reason: options.text("reason")?.unwrap_or_default(),
        dry_run: options.flag("dry_run")?,
    };
    Ok(Work::new(move |context| Ok(Told::new(to_value(verbs::yank(context, &request)?)))))
}

pub(super) fn unyank(options: &Options<'_>, _: Scope) -> PyResult<Work> {
    let request = UnyankRequest {
        registry: options.text("registry")?,
        versions: options.texts("versions")?,
        dry_run: options.flag("dry_run")?,
    };
    Ok(Work::new(move |context| Ok(Told::new(to_value(verbs::unyank(context, &request)?)))))
}

pub(super) fn list(options: &Options<'_>, _: Scope) -> PyResult<Work> {
    let request = ListRequest { registry: options.text("registry")?, name: options.text("name")? };
    Ok(Work::new(move |context| {
        let outcome = verbs::list(context, &request)?;
        Ok(Told::new(to_value(&outcome)))
    }))
}

pub(super) fn verify(options: &Options<'_>, _: Scope) -> PyResult<Work> {
    let request = VerifyRequest { registry: options.path("registry")? };
    Ok(Work::new(move |context| Ok(Told::new(to_value(verbs::verify(context, &request)?)))))
}

pub(super) fn mirror(options: &Options<'_>, _: Scope) -> PyResult<Work> {
    let request = MirrorRequest {
        source: options.text("registry")?.unwrap_or_else(|| ".".to_owned()),
        dir: options.path("dir")?.unwrap_or_default(),
        selection: selection(options)?,
        force: options.flag("force")?,
    };
    Ok(Work::new(move |context| Ok(Told::new(to_value(mirrors::mirror(context, &request)?)))))
}

pub(super) fn bundle(options: &Options<'_>, _: Scope) -> PyResult<Work> {
    let request = BundleRequest {
        source: options.text("registry")?.unwrap_or_else(|| ".".to_owned()),
        file: options.path("file")?.unwrap_or_default(),
        selection: selection(options)?,
        force: options.flag("force")?,
    };
    Ok(Work::new(move |context| Ok(Told::new(to_value(write_bundle(context, &request)?)))))
}

/// The skills to copy.
fn selection(options: &Options<'_>) -> PyResult<Selection> {
    let (names, alone, locked) = (options.texts("names")?, options.flag("no_deps")?, options.flag("locked")?);
    options.exclusive(&[("names", !names.is_empty()), ("locked", locked)])?;
    Ok(match (locked, names.is_empty()) {
        (true, _) => Selection::Locked,
        (_, true) => Selection::All,
        (_, false) => Selection::Names { names, alone },
    })
}

pub(super) fn login(options: &Options<'_>, _: Scope) -> PyResult<Work> {
    let registry = options.text("registry")?.unwrap_or_default();
    let request = LoginRequest { registry, token: options.text("token")?.unwrap_or_default() };
    Ok(Work::new(move |context| {
        let outcome = verbs::login(context, &request)?;
        Ok(Told::new(to_value(&outcome)).warnings(&outcome.warnings))
    }))
}

pub(super) fn logout(options: &Options<'_>, _: Scope) -> PyResult<Work> {
    let registry = options.text("registry")?.unwrap_or_default();
    Ok(Work::new(move |context| {
        let outcome = verbs::logout(context, &registry)?;
        Ok(Told::new(to_value(&outcome)).warnings(&outcome.warnings))
    }))
}

#[expect(clippy::unnecessary_wraps, reason = "it is one of the verbs")]
pub(super) fn logins(_: &Options<'_>, _: Scope) -> PyResult<Work> {
    Ok(Work::new(move |context| {
        let outcome = verbs::logins(context)?;
        Ok(Told::new(to_value(&outcome)).warnings(&outcome.warnings))
    }))
}
