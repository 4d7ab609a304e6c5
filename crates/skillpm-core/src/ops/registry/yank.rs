//! `registry yank` and `registry unyank`: which versions are no longer for new installations.

use schemars::JsonSchema;
use serde::Serialize;
#[cfg(feature = "http")]
use serde_json::json;

use super::opened::{now, shown, writer};
use super::place::{AnyRegistry, about};
#[cfg(feature = "http")]
use super::server::RegistryServer;
#[cfg(feature = "http")]
use crate::codes;
use crate::context::Context;
use crate::error::{Error, Result};
#[cfg(feature = "http")]
use crate::http::{Method, encode};
use crate::name::SkillName;
use crate::registry::{Ledger, RegistryDir, registry_name, registry_version, yank_reason};
use crate::version::Version;

/// A request to yank versions.
#[derive(Debug, Clone, Default)]
pub struct YankRequest {
    /// The registry: a directory, an address, or a name of `[registries]`; by default the working directory.
    pub registry: Option<String>,
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
    /// The registry: a directory, an address, or a name of `[registries]`; by default the working directory.
    pub registry: Option<String>,
    /// The versions, as `NAME@VERSION`.
    pub versions: Vec<String>,
    /// Whether nothing is to be written.
    pub dry_run: bool,
}

/// The change of a version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "RegistryYankOutcome")]
pub struct YankOutcome {
    /// The directory or the address of the registry.
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
/// Fails for a reason that is more than a line of visible characters, if a version does not exist, and if the registry cannot be read or written.
pub fn yank(context: &Context, request: &YankRequest) -> Result<YankOutcome> {
    let reason = yank_reason(&request.reason).map_err(|error| Error::usage(error.to_string()))?;
    let YankRequest { registry, versions, dry_run, .. } = request;
    change(context, registry.as_deref(), versions, Some(reason), *dry_run)
}

/// Makes yanked versions available again.
pub fn unyank(context: &Context, request: &UnyankRequest) -> Result<YankOutcome> {
    change(context, request.registry.as_deref(), &request.versions, None, request.dry_run)
}

fn change(
    context: &Context,
    registry: Option<&str>,
    versions: &[String],
    reason: Option<&str>,
    dry_run: bool,
) -> Result<YankOutcome> {
    let versions = versions.iter().map(|text| named(text)).collect::<Result<Vec<_>>>()?;
    let (registry, changed) = match AnyRegistry::find(context, registry)? {
        AnyRegistry::Directory(dir) => {
            let changed = change_files(context, &dir, &versions, reason, dry_run);
            (shown(&dir), changed.map_err(|error| about(error, registry))?)
        }
        #[cfg(feature = "http")]
        AnyRegistry::Server(server) => (server.shown(), ask_server(&server, &versions, reason, dry_run)?),
    };
    let version = |((name, version), changed): ((SkillName, Version), bool)| YankedVersion {
        name: name.into(),
        version: version.into(),
        yanked: reason.map(str::to_owned),
        changed,
    };
    let versions = versions.into_iter().zip(changed).map(version).collect();
    Ok(YankOutcome { registry, versions, dry_run })
}

/// Changes versions in a directory, all or none. Returns for each whether that is new.
fn change_files(
    context: &Context,
    registry: &RegistryDir,
    versions: &[(SkillName, Version)],
    reason: Option<&str>,
    dry_run: bool,
) -> Result<Vec<bool>> {
    for (name, _) in versions {
        registry.known(name)?;
    }
    let time = now(context)?;
    if dry_run {
        let mut ledger = Ledger::new(registry);
        return versions
            .iter()
            .map(|(name, version)| Ok(ledger.yank(name, version, reason, time)?.is_some()))
            .collect();
    }
    let mut writer = writer(context, registry)?;
    let changed = versions
        .iter()
        .map(|(name, version)| writer.yank(name, version, reason, time))
        .collect::<Result<_>>()?;
    writer.commit()?;
    Ok(changed)
}

/// Asks a server to change versions, one after the other, once all are known to exist. Returns for each whether that is
/// new.
#[cfg(feature = "http")]
fn ask_server(
    server: &RegistryServer,
    versions: &[(SkillName, Version)],
    reason: Option<&str>,
    dry_run: bool,
) -> Result<Vec<bool>> {
    let mut would_change = Vec::with_capacity(versions.len());
    for (name, version) in versions {
        let list = server.versions(name)?.ok_or_else(|| server.unknown(name))?;
        let listed = list.get(version).ok_or_else(|| {
            Error::usage(format!("`{name}` has no version `{version}`")).coded(codes::RELEASE_UNKNOWN)
        })?;
        would_change.push(listed.yanked.as_deref() != reason);
    }
    if dry_run {
        return Ok(would_change);
    }
    let change = |(name, version): &(SkillName, Version)| {
        let verb = if reason.is_some() { "yank" } else { "unyank" };
        let (name, version) = (encode(name.as_str()), encode(version.as_str()));
        let path = format!("skills/{name}/versions/{version}/{verb}");
        server.change(Method::Post, &path, &json!({ "reason": reason.unwrap_or_default() }))
    };
    versions.iter().map(change).collect()
}

/// Returns the name and the version in `text`.
fn named(text: &str) -> Result<(SkillName, Version)> {
    let hint = "write `NAME@VERSION`, such as `pdf@1.2.0`";
    // The `@` of an address is behind a name and a password, which no error repeats.
    let Some((name, version)) = text.split_once('@').filter(|(name, _)| !name.contains("://")) else {
        return Err(Error::usage(format!("`{text}` names no version")).hint(hint));
    };
    let name = registry_name(name).map_err(|error| Error::usage(error.to_string()).hint(hint))?;
    let version = registry_version(version).map_err(|error| Error::usage(error.to_string()).hint(hint))?;
    Ok((name, version))
}
