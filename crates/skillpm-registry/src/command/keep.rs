//! `verify`, `backup` and `garbage`: whether a registry is as it should be, a copy of it, and what nobody needs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Deserialize;

use skillpm_core::fs;

use super::Common;
use crate::access::Tokens;
use crate::app::now;
use crate::codes;
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::registry::{History, Package, Record, files};
use crate::storage::{Objects, Storage};

/// The directory of what is never served.
const PRIVATE: &str = "private/";

#[derive(Debug, Args)]
pub(super) struct VerifyArgs {
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Args)]
pub(super) struct BackupArgs {
    /// the registry: a directory, or `s3://BUCKET/PREFIX`
    #[arg(value_name = "REGISTRY")]
    registry: String,

    /// the directory of the copy; what it already has is not fetched again
    #[arg(value_name = "DIR")]
    dir: PathBuf,

    /// the file with the settings; `SKILLPM_REGISTRY_CONFIG` names it too
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct GarbageArgs {
    #[command(flatten)]
    common: Common,
}

/// Reads every record, event and archive, and prints what is wrong.
///
/// # Errors
///
/// Fails if something is.
pub(super) async fn verify(args: VerifyArgs) -> Result<()> {
    let storage = Storage::open(&args.common.settings()?.place()?).await?;
    let histories = storage.load().await?.histories;
    let (mut versions, mut defects) = (0, 0);
    for record in histories.iter().flat_map(History::records) {
        versions += 1;
        if let Some(defect) = defect(storage.files(), record).await? {
            defects += 1;
            anstream::println!("{} {}: {defect}", record.name, record.version);
        }
    }
    let skills = histories.iter().filter(|history| !history.records().is_empty()).count();
    anstream::eprintln!("{skills} skills, {versions} versions, {defects} defects");
    if defects == 0 {
        return Ok(());
    }
    Err(Error::integrity("the registry is damaged").coded(codes::REGISTRY_UNUSABLE))
}

/// Returns what is wrong with the archive of a version.
async fn defect(objects: &Objects, record: &Record) -> Result<Option<String>> {
    let path = files::artifact(&record.artifact.digest);
    let Some(bytes) = objects.get(&path, u64::MAX).await? else {
        return Ok(Some(format!("`{path}` is missing")));
    };
    if Digest::of(&bytes) != record.artifact.digest || bytes.len() as u64 != record.artifact.size {
        return Ok(Some(format!("`{path}` has other bytes than it had")));
    }
    let package = match Package::new(bytes.into()) {
        Ok(package) => package,
        Err(error) => return Ok(Some(format!("`{path}`: {}", error.with_causes()))),
    };
    if package.digest != record.digest {
        return Ok(Some(format!("`{path}` has other files than its record says")));
    }
    let difference = record.difference(&package.facts);
    Ok(difference.map(|field| format!("the record has another `{field}` than the skill")))
}

/// Copies a registry to a directory.
///
/// # Errors
///
/// Fails if the registry cannot be read, or the copy not be written.
pub(super) async fn backup(args: BackupArgs) -> Result<()> {
    let common = Common { registry: Some(args.registry), config: args.config };
    let storage = Storage::open(&common.settings()?.place()?).await?;
    let objects = storage.files();
    // Archives are listed after what names them, and copied before: the copy has whatever its records name.
    let listed = objects.list("").await?;
    let artifacts = format!("{}/", files::ARTIFACTS);
    let mut paths: Vec<_> = objects
        .list(files::ARTIFACTS)
        .await?
        .into_iter()
        .filter(|path| path.starts_with(&artifacts))
        .collect();
    let others = listed.into_iter().filter(|path| !path.starts_with(&artifacts));
    paths.extend(others.filter(|path| path != files::LOCK && !path.starts_with(files::PENDING)));
    let mut copied = 0;
    for path in &paths {
        copied += usize::from(copy(objects, path, &args.dir).await?);
    }
    let removed = forget(&args.dir, &paths)?;
    anstream::println!("{} files: {copied} copied, {removed} removed", paths.len());
    Ok(())
}

/// Copies the object at `path`, unless the copy has it. Returns whether it was copied.
async fn copy(objects: &Objects, path: &str, dir: &Path) -> Result<bool> {
    let to = dir.join(path);
    // An archive has the digest of its bytes as its name.
    if path.starts_with(files::ARTIFACTS) && fs::kind(&to)?.is_some() {
        return Ok(false);
    }
    let Some(bytes) = objects.get(path, u64::MAX).await? else { return Ok(false) };
    if fs::read_capped(&to, bytes.len() as u64 + 1).ok().flatten().is_some_and(|there| there == bytes) {
        return Ok(false);
    }
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write_atomic(&to, &bytes)?;
    Ok(true)
}

/// Removes tokens from the copy in `dir` that are not among `paths`: they were revoked, and must not come back with it.
fn forget(dir: &Path, paths: &[String]) -> Result<usize> {
    let kept: BTreeSet<_> = paths.iter().map(String::as_str).collect();
    let mut removed = 0;
    for below in ["tokens", "statements"] {
        let below = format!("{PRIVATE}{below}");
        let place = dir.join(&below);
        for name in fs::list_dir(&place)? {
            if !kept.contains(format!("{below}/{name}").as_str()) {
                fs::remove_if_there(&place.join(name))?;
                removed += 1;
            }
        }
    }
    Ok(removed)
}

#[derive(Deserialize)]
struct Statement {
    expires: i64,
}

/// Prints what nobody needs: archives that no record names, tokens and statements that have expired. Removes nothing.
///
/// # Errors
///
/// Fails if the registry cannot be read.
pub(super) async fn garbage(args: GarbageArgs) -> Result<()> {
    let storage = Storage::open(&args.common.settings()?.place()?).await?;
    let objects = storage.files();
    // Archives are listed first: one that is published meanwhile is not taken for garbage.
    let artifacts = objects.list(files::ARTIFACTS).await?;
    let histories = storage.load().await?.histories;
    let records = histories.iter().flat_map(History::records);
    let named: BTreeSet<_> = records.map(|record| files::artifact(&record.artifact.digest)).collect();
    for path in artifacts.iter().filter(|path| !named.contains(*path)) {
        anstream::println!("{path}: no record names it");
    }
    let now = now();
    for token in Tokens::new(storage.private()).list().await? {
        if token.expires.is_some_and(|expires| expires <= now) {
            anstream::println!("token {} of {}: it has expired", token.id, token.holder);
        }
    }
    for path in objects.list(&format!("{PRIVATE}statements")).await? {
        let bytes = objects.get(&path, u64::MAX).await?.unwrap_or_default();
        let statement = serde_json::from_slice::<Statement>(&bytes).ok();
        if statement.is_some_and(|statement| statement.expires < now.seconds()) {
            anstream::println!("{path}: it has expired");
        }
    }
    Ok(())
}
