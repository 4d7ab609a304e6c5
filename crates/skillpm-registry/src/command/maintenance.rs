//! `verify`, `backup` and `garbage`: check a registry, copy it, and list files that can be removed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Deserialize;

use skillpm_format::text::visible;
use skillpm_sources::fs;

use super::Common;
use crate::access::Tokens;
use crate::app::now;
use crate::codes;
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::name::SkillName;
use crate::registry::files::FileKind;
use crate::registry::{History, NewRegistry, Objects, RegistryDir, Writer, files};
use crate::storage::{Location, Storage};

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

/// Reads every record, event, entry of the log and archive, and prints what is wrong.
pub(super) async fn verify(args: VerifyArgs) -> Result<()> {
    let storage = Storage::open(&Location::of(&args.common.settings()?)?).await?;
    let verified = storage.verify().await?;
    for defect in &verified.defects {
        anstream::println!("{}: {}", visible(&defect.path), visible(&defect.message));
    }
    for path in &verified.strays {
        anstream::eprintln!("{}: the server does not need it", visible(path));
    }
    for name in &verified.pending {
        anstream::eprintln!("a change of `{name}` was cut off: the next change completes it");
    }
    let count = verified.defects.len();
    anstream::eprintln!("{} skills, {} versions, {count} defects", verified.skills, verified.versions);
    if count == 0 { Ok(()) } else { Err(damaged()) }
}

fn damaged() -> Error {
    Error::integrity("the registry is damaged").coded(codes::REGISTRY_UNUSABLE)
}

/// How a backup treats a file of a registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// It was created once and never changes.
    Constant,
    /// It can change.
    Changing,
    /// It is made of others, or only of use to writers: the copy has its own.
    Own,
}

impl Part {
    fn of(path: &str) -> Self {
        match FileKind::of(path) {
            Some(
                FileKind::Config
                | FileKind::Record(..)
                | FileKind::Event(..)
                | FileKind::Artifact(_)
                | FileKind::Log(_),
            ) => Self::Constant,
            Some(_) => Self::Own,
            None => match path.split('/').next().unwrap_or_default() {
                files::LOCK | files::PENDING => Self::Own,
                files::INDEX | files::LOG | "artifacts" => Self::Constant,
                _ => Self::Changing,
            },
        }
    }
}

/// Copies a registry to a directory, which becomes a registry with the same files. Fails if the registry cannot be read or the
/// copy not be written; if the directory is another registry, or has other files in the places of one; and if the two have a
/// file that never changes with different bytes. Nothing is changed then. Fails at the end if the registry is damaged.
pub(super) async fn backup(args: BackupArgs) -> Result<()> {
    let common = Common { registry: Some(args.registry), config: args.config };
    let storage = Storage::open(&Location::of(&common.settings()?)?).await?;
    let name = storage.config().name.clone();
    storage.blocking(move |objects| copy_all(objects, &name, &args.dir)).await
}

/// Copies all `objects` of the registry `name` to `dir`, as [`backup`] does.
fn copy_all(objects: &dyn Objects, name: &SkillName, dir: &Path) -> Result<()> {
    let earlier = RegistryDir::open_copy(dir, name)?;
    if earlier.is_none() {
        let new = NewRegistry::new(dir, Some(name))?;
        new.check().map_err(|error| error.hint("name another directory"))?;
    }
    let paths = listed(objects)?;
    check_same(objects, &paths, dir, earlier.as_ref())?;
    let (mut copied, mut broken) = (0, 0);
    for path in &paths {
        match copy(objects, path, dir)? {
            Copied::Written => copied += 1,
            Copied::There => {}
            Copied::Broken => {
                broken += 1;
                anstream::println!("{path}: it has other bytes than its digest says, and is not copied");
            }
        }
    }
    let removed = forget(dir, &paths)?;
    // The index that a static host serves.
    let left_out = Writer::new(&RegistryDir::open(dir)?, || ())?.index()?.left_out;
    for one in &left_out {
        anstream::println!("{}: {}", one.name, visible(&one.why.message.to_string()));
    }
    anstream::println!("{} files: {copied} copied, {removed} removed", paths.len());
    if broken == 0 && left_out.is_empty() {
        return Ok(());
    }
    Err(damaged().hint("`skillpm-registry verify` lists all that is damaged"))
}

/// Returns the paths of all files that a copy gets, in the order in which they are copied: what makes it a registry,
/// archives, and only then what names them.
fn listed(objects: &dyn Objects) -> Result<Vec<String>> {
    // The log is listed before the files that it announces, and archives after the records that name them: the copy has all
    // files that its files name.
    let log = objects.list(files::LOG)?;
    let all = objects.list("")?;
    let artifacts = objects.list(files::ARTIFACTS)?;
    let is_listed = |path: &String| {
        let below = Path::new(path);
        path == files::CONFIG || below.starts_with(files::ARTIFACTS) || below.starts_with(files::LOG)
    };
    let others = all.into_iter().filter(|path| !is_listed(path) && Part::of(path) != Part::Own);
    Ok([files::CONFIG.to_owned()].into_iter().chain(artifacts).chain(others).chain(log).collect())
}

/// Checks that the copy has no file with other bytes that never changes, and if it is no copy yet none at all.
fn check_same(
    objects: &dyn Objects,
    paths: &[String],
    dir: &Path,
    earlier: Option<&RegistryDir>,
) -> Result<()> {
    if let Some(earlier) = earlier {
        let known = paths.iter().filter(|path| Path::new(path).starts_with(files::LOG)).count() as u64;
        let copied = earlier.log_length()?;
        if copied > known {
            let message = format!(
                "the copy in `{}` knows of {copied} changes, and the registry of {known}: it is a copy of another \
                 registry, or the registry lost some",
                dir.display()
            );
            return Err(Error::integrity(message)
                .coded(codes::REGISTRY_MISMATCH)
                .hint("nothing was changed; name another directory to copy the registry as it is now"));
        }
    }
    let mut differing = Vec::new();
    for path in paths {
        let to = dir.join(path);
        if (earlier.is_some() && Part::of(path) == Part::Changing) || fs::kind(&to)?.is_none() {
            continue;
        }
        let is_same = if Path::new(path).starts_with(files::ARTIFACTS) {
            // The name of an archive is its digest.
            fs::read_capped(&to, u64::MAX)?.is_some_and(|bytes| is_artifact(path, &bytes))
        } else {
            has(&to, &objects.get(path, u64::MAX)?.unwrap_or_default())
        };
        if !is_same {
            differing.push(path);
        }
    }
    if differing.is_empty() {
        return Ok(());
    }
    for path in &differing {
        anstream::println!("{}: the copy has it with other bytes", visible(path));
    }
    let message = format!(
        "`{}` and the registry differ in {} of the files that never change, such as `{}`: one of them is damaged",
        dir.display(),
        differing.len(),
        visible(differing[0])
    );
    Err(Error::integrity(message)
        .coded(codes::REGISTRY_MISMATCH)
        .hint("nothing was changed; `skillpm-registry verify` says of each of them what is damaged"))
}

/// Reports whether the archive at `path` of a registry has the digest that it is called by.
fn is_artifact(path: &str, bytes: &[u8]) -> bool {
    files::artifact(&Digest::of(bytes)) == path
}

/// Reports whether the file at `path` has these bytes.
fn has(path: &Path, bytes: &[u8]) -> bool {
    fs::read_capped(path, bytes.len() as u64).ok().flatten().is_some_and(|there| there == bytes)
}

/// The result of copying a file.
enum Copied {
    /// It is new in the copy.
    Written,
    /// The copy already has it.
    There,
    /// It is an archive whose bytes do not match its digest.
    Broken,
}

/// Copies the object at `path`, unless the copy already has it.
fn copy(objects: &dyn Objects, path: &str, dir: &Path) -> Result<Copied> {
    let to = dir.join(path);
    if Part::of(path) == Part::Constant && fs::kind(&to)?.is_some() {
        return Ok(Copied::There);
    }
    let bytes = match objects.get(path, u64::MAX) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Ok(Copied::There),
        // A directory may have files of others beside those of the registry, such as links.
        Err(error) if Part::of(path) == Part::Changing && error.code() == codes::REGISTRY_UNUSABLE => {
            anstream::println!("{path}: it does not belong to the registry, and is not copied");
            return Ok(Copied::There);
        }
        Err(error) => return Err(error),
    };
    if path.starts_with(files::ARTIFACTS) && !is_artifact(path, &bytes) {
        return Ok(Copied::Broken);
    }
    if has(&to, &bytes) {
        return Ok(Copied::There);
    }
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent)?;
    }
    if Path::new(path).starts_with(files::PRIVATE) {
        fs::make_private(&dir.join(files::PRIVATE));
        fs::write_private(&to, &bytes)?;
    } else {
        fs::write_atomic(&to, &bytes)?;
    }
    Ok(Copied::Written)
}

/// Removes tokens from the copy in `dir` that are not among `paths`: they were revoked, and must not come back with it.
fn forget(dir: &Path, paths: &[String]) -> Result<usize> {
    let named: BTreeSet<_> = paths.iter().map(String::as_str).collect();
    let mut removed = 0;
    for below in ["tokens", "statements"] {
        let below = format!("{}/{below}", files::PRIVATE);
        let location = dir.join(&below);
        for name in fs::list_dir(&location)? {
            if !named.contains(format!("{below}/{name}").as_str()) {
                fs::remove_if_there(&location.join(name))?;
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

/// Prints the files that can be removed: archives that no record names, tokens and statements that have expired. Removes
/// nothing.
pub(super) async fn garbage(args: GarbageArgs) -> Result<()> {
    let storage = Storage::open(&Location::of(&args.common.settings()?)?).await?;
    // Archives are listed first: one that is published meanwhile is not taken for garbage.
    let artifacts = storage.blocking(|objects| objects.list(files::ARTIFACTS)).await?;
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
    for path in storage.private().list("statements").await? {
        let bytes = storage.private().get(&path, u64::MAX).await?.unwrap_or_default();
        let statement = serde_json::from_slice::<Statement>(&bytes).ok();
        if statement.is_some_and(|statement| statement.expires < now.seconds()) {
            anstream::println!("{}/{path}: it has expired", files::PRIVATE);
        }
    }
    Ok(())
}
