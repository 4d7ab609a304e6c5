//! `publish`: packs a skill and adds it to a registry.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::pack::{Examined, LeaveReason, LeftOut, Packed, PackedArtifact, PackedFile};
use super::registries;
use super::registry::opened::{now, open, shown, writer};
use crate::advice::{Opt, Verb, message};
use crate::codes;
use crate::context::Context;
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::install::scope::{Scope, ScopeKind, repository_of};
use crate::registry::{Ledger, Package, Record, RegistryDir, Staged};
use crate::source::local;
use crate::spec::SourceFacts as _;

/// A request to publish a skill.
#[derive(Debug, Clone, Default)]
pub struct PublishRequest {
    /// The registry: a directory, or a name of `[registries]` that has one.
    pub to: String,
    /// Whether files that git has not committed are published.
    pub allow_dirty: bool,
    /// Whether nothing is to be written.
    pub dry_run: bool,
}

/// The outcome. The JSON form is an interface: fields are only added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PublishOutcome {
    /// The directory of the registry.
    pub registry: String,
    /// The name of the skill.
    pub name: String,
    /// Its version, as written.
    pub version: String,
    /// The digest of its tree.
    pub digest: Digest,
    /// The archive.
    pub artifact: PackedArtifact,
    /// The files that are published.
    pub files: Vec<PackedFile>,
    /// What is in the directory and is not published.
    pub left_out: Vec<LeftOut>,
    /// The files that git has not committed, below the skill's directory.
    pub uncommitted: Vec<String>,
    /// Whether nothing was written because it was only to be shown.
    pub dry_run: bool,
}

/// Publishes the skill that was examined.
///
/// # Errors
///
/// Fails if the skill cannot be packed, if git has not committed its files and `request` does not allow that, if the
/// registry already has the version, and if the registry cannot be read or written. Nothing is published then.
pub fn publish(context: &Context, examined: Examined, request: &PublishRequest) -> Result<PublishOutcome> {
    let dir = examined.dir().to_owned();
    let packed = examined.pack()?;
    let registry = open(context, Some(&place(context, &request.to)?))?;
    let uncommitted = uncommitted(context, &dir, &packed.left_out, request.allow_dirty)?;
    let package = Package::new(packed.bytes.clone())?;
    if request.dry_run {
        let staged = Ledger::new(&registry).publish(&package, now(context)?)?;
        check_new(&registry, staged)?;
    } else {
        add(context, &registry, &package)?;
    }
    Ok(outcome(&registry, packed, uncommitted, request.dry_run))
}

/// Returns the directory of the registry that `to` names.
///
/// # Errors
///
/// Fails if it names none, or one that is not in a directory.
fn place(context: &Context, to: &str) -> Result<PathBuf> {
    let scope = Scope::new(&context.settings, ScopeKind::Project)?;
    let registry = registries::typed(context, &scope, to)?;
    match registry.path_here() {
        Some(path) => local::resolve(&context.settings, scope.as_root(), &path),
        None => Err(Error::usage(format!(
            "`{}` is not a directory, so nothing can be published there",
            registry.typed()
        ))
        .coded(codes::REGISTRY_ABSENT)
        .hint("publish to the directory whose files are served there, and copy it as before")),
    }
}

/// Adds `package` to `registry`.
fn add(context: &Context, registry: &RegistryDir, package: &Package) -> Result<()> {
    let mut writer = writer(context, registry)?;
    // If this was tried before and killed, it is completed now.
    let is_unfinished = registry.pending()?.contains(&package.facts.name);
    let staged = writer.stage(package, now(context)?)?;
    if !is_unfinished {
        check_new(registry, staged)?;
    }
    writer.commit()?;
    Ok(())
}

/// Fails if the registry already has what was staged.
fn check_new(registry: &RegistryDir, staged: Staged) -> Result<()> {
    match staged {
        Staged::New(_) => Ok(()),
        Staged::Already(there) => Err(already(registry, &there)),
    }
}

/// Returns the error for a version that the registry has with the same files.
fn already(registry: &RegistryDir, there: &Record) -> Error {
    let error =
        Error::usage(format!("`{}` {} is already published, with the same files", there.name, there.version))
            .coded(codes::VERSION_EXISTS);
    match registry.history(&there.name) {
        Ok(history) => {
            let next = history.next_patch(&there.version);
            error.hint(message!(
                format_args!("for other files the next version is `{next}`: "),
                Verb::Bump.call().word(&next)
            ))
        }
        // The registry has just been read.
        Err(_) => error,
    }
}

/// Returns the files below `dir` that git has not committed and that matter for the package.
///
/// # Errors
///
/// Fails if there are any, or if git cannot tell, unless that is `allowed`.
fn uncommitted(context: &Context, dir: &Path, left_out: &[LeftOut], allowed: bool) -> Result<Vec<String>> {
    let allows = || message!(Opt::AllowDirty, " publishes the files as they are");
    if repository_of(dir, |_| true)?.is_none() {
        return Ok(Vec::new());
    }
    let Some(mut paths) = asked(context, dir) else {
        if allowed {
            return Ok(Vec::new());
        }
        let message = format!("git does not tell whether the files in `{}` are committed", dir.display());
        return Err(Error::usage(message)
            .coded(codes::UNCOMMITTED)
            .hint("`git status` there shows why")
            .hint(allows()));
    };
    paths.retain(|path| !left_out.iter().any(|left| leaves_out(left, path)));
    let [first, more @ ..] = &paths[..] else { return Ok(paths) };
    if allowed {
        return Ok(paths);
    }
    let others = match more.len() {
        0 => String::new(),
        1 => " and 1 other file".to_owned(),
        more => format!(" and {more} other files"),
    };
    Err(Error::usage(format!(
        "`{first}`{others} of the skill {} not committed",
        if more.is_empty() { "is" } else { "are" }
    ))
    .coded(codes::UNCOMMITTED)
    .hint("commit first, so that everybody can see what was published")
    .hint(allows()))
}

/// Reports whether the file at `path` stays out of the package because of `left`. The file that says what stays out
/// matters for the package itself.
fn leaves_out(left: &LeftOut, path: &str) -> bool {
    let is_below = left.path.ends_with('/') && path.starts_with(&left.path);
    left.reason != LeaveReason::IgnoreFile && (is_below || left.path == path)
}

/// Returns the files below `dir` that git has not committed; `None` if git cannot tell.
#[cfg(feature = "git")]
fn asked(context: &Context, dir: &Path) -> Option<Vec<String>> {
    crate::git::uncommitted(&context.settings, dir)
}

/// Returns `None`: a build without git cannot ask it.
#[cfg(not(feature = "git"))]
fn asked(_: &Context, _: &Path) -> Option<Vec<String>> {
    None
}

fn outcome(
    registry: &RegistryDir,
    packed: Packed,
    uncommitted: Vec<String>,
    dry_run: bool,
) -> PublishOutcome {
    PublishOutcome {
        registry: shown(registry),
        artifact: PackedArtifact { digest: packed.artifact, size: packed.bytes.len() as u64 },
        name: packed.name.to_string(),
        version: packed.version.to_string(),
        digest: packed.digest,
        files: packed.files,
        left_out: packed.left_out,
        uncommitted,
        dry_run,
    }
}
