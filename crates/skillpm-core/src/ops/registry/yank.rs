//! `registry yank` and `registry unyank`: which versions are no longer for new installations.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::opened::{now, open, shown, writer};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::name::SkillName;
use crate::registry::{Ledger, registry_name, registry_version};
use crate::version::Version;

/// The largest number of characters in a reason.
const MAX_REASON: usize = 500;

/// A request to yank versions.
#[derive(Debug, Clone, Default)]
pub struct YankRequest {
    /// The registry; that in the working directory if there is none.
    pub registry: Option<PathBuf>,
    /// The versions, as `NAME@VERSION`.
    pub versions: Vec<String>,
    /// Why; may be empty.
    pub reason: String,
    /// Whether nothing is to be written.
    pub dry_run: bool,
}

/// A request to take that back.
#[derive(Debug, Clone, Default)]
pub struct UnyankRequest {
    /// The registry; that in the working directory if there is none.
    pub registry: Option<PathBuf>,
    /// The versions, as `NAME@VERSION`.
    pub versions: Vec<String>,
    /// Whether nothing is to be written.
    pub dry_run: bool,
}

/// What happened to a version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct YankedVersion {
    /// The name of the skill.
    pub name: String,
    /// The version.
    pub version: String,
    /// If it is yanked now: the reason, which may be empty.
    pub yanked: Option<String>,
    /// Whether that is new.
    pub changed: bool,
}

/// The outcome. The JSON form is an interface: fields are only added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct YankOutcome {
    /// The directory of the registry.
    pub registry: String,
    /// The versions, in the order of the request.
    pub versions: Vec<YankedVersion>,
    /// Whether nothing was written because it was only to be shown.
    pub dry_run: bool,
}

/// Yanks versions: new resolutions no longer take them, and those who have them locked still get them.
///
/// # Errors
///
/// Fails if a version does not exist, and if the registry cannot be read or written.
pub fn yank(context: &Context, request: &YankRequest) -> Result<YankOutcome> {
    let reason = request.reason.trim();
    check_reason(reason)?;
    let YankRequest { registry, versions, dry_run, .. } = request;
    change(context, registry.as_deref(), versions, Some(reason), *dry_run)
}

/// Makes yanked versions available again.
///
/// # Errors
///
/// Fails as [`yank`] does.
pub fn unyank(context: &Context, request: &UnyankRequest) -> Result<YankOutcome> {
    change(context, request.registry.as_deref(), &request.versions, None, request.dry_run)
}

fn change(
    context: &Context,
    registry: Option<&Path>,
    versions: &[String],
    reason: Option<&str>,
    dry_run: bool,
) -> Result<YankOutcome> {
    let versions = versions.iter().map(|text| named(text)).collect::<Result<Vec<_>>>()?;
    let registry = open(context, registry)?;
    let time = now(context)?;
    let mut changed = Vec::with_capacity(versions.len());
    if dry_run {
        let mut ledger = Ledger::new(&registry);
        for (name, version) in &versions {
            changed.push(ledger.yank(name, version, reason, time)?.is_some());
        }
    } else {
        let mut writer = writer(context, &registry)?;
        for (name, version) in &versions {
            changed.push(writer.yank(name, version, reason, time)?);
        }
        writer.commit()?;
    }
    let version = |((name, version), changed): ((SkillName, Version), bool)| YankedVersion {
        name: name.into(),
        version: version.into(),
        yanked: reason.map(str::to_owned),
        changed,
    };
    let versions = versions.into_iter().zip(changed).map(version).collect();
    Ok(YankOutcome { registry: shown(&registry), versions, dry_run })
}

/// Returns the name and the version in `text`.
fn named(text: &str) -> Result<(SkillName, Version)> {
    let hint = "write `NAME@VERSION`, such as `pdf@1.2.0`";
    let Some((name, version)) = text.split_once('@') else {
        return Err(Error::usage(format!("`{text}` names no version")).hint(hint));
    };
    let name = registry_name(name).map_err(|error| Error::usage(error.to_string()).hint(hint))?;
    let version = registry_version(version).map_err(|error| Error::usage(error.to_string()).hint(hint))?;
    Ok((name, version))
}

/// Checks that `reason` is one line that can be shown.
fn check_reason(reason: &str) -> Result<()> {
    let count = reason.chars().count();
    if count > MAX_REASON {
        return Err(Error::usage(format!("the reason has {count} characters, {MAX_REASON} are allowed")));
    }
    if reason.chars().any(|c| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')) {
        return Err(Error::usage("the reason has more than one line, or a control character"));
    }
    Ok(())
}
