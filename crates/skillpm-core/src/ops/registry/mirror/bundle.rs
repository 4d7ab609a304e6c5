//! A registry, or a part of it, in one file.

use std::io;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use super::super::opened::path;
use super::copy::{MirrorRequest, mirror};
use super::select::Selection;
use crate::advice::{Opt, message};
use crate::archive::write_zip_to;
use crate::codes;
use crate::context::Context;
use crate::error::{Error, ErrorKind, NamedFailure, Result};
use crate::fs::{self, Kind, Walk};
use crate::registry::{BUNDLE_LIMITS, files};
use crate::tree::FileSet;

/// A request to write a bundle.
#[derive(Debug, Clone)]
pub struct BundleRequest {
    /// The registry: an address, a directory, a bundle, or a name of `[registries]`.
    pub source: String,
    /// The file to write.
    pub file: PathBuf,
    /// The skills in it.
    pub selection: Selection,
    /// Whether a file that is there is replaced.
    pub force: bool,
}

/// The outcome. The JSON form is an interface: fields are only added.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct BundleOutcome {
    /// The registry, as typed.
    pub source: String,
    /// The file.
    pub path: String,
    /// Whether a file that was there was replaced.
    pub replaced: bool,
    /// The number of bytes of the file.
    pub size: u64,
    /// The number of skills in it.
    pub skills: usize,
    /// The number of their versions.
    pub versions: usize,
    /// Skills that others need and that the registry does not have: they come from elsewhere.
    pub elsewhere: Vec<String>,
}

/// Writes a registry, or a part of it, into one file, from which a machine without a network installs. The same versions
/// give the same bytes.
///
/// # Errors
///
/// Fails as [`mirror`] does, if a skill is not as the registry says, and if the file is there and `request` does not
/// replace it, or cannot be written.
pub fn bundle(context: &Context, request: &BundleRequest) -> Result<BundleOutcome> {
    let file = path(context, Some(&request.file));
    let there = fs::real_path(&file)?.as_deref().map(fs::kind).transpose()?.flatten();
    if there.is_some_and(|there| there != Kind::File) {
        return Err(Error::usage(format!("`{}` is not a regular file", request.file.display()))
            .coded(codes::OUTPUT_DIFFERS)
            .hint("name another file"));
    }
    if !request.force && there.is_some() {
        return Err(Error::usage(format!("`{}` already exists", request.file.display()))
            .coded(codes::OUTPUT_DIFFERS)
            .hint(message!(Opt::Force, " replaces it")));
    }
    let parent = file.parent().unwrap_or(&context.settings.cwd);
    let temporary = fs::PendingDir::new_in(parent)?;
    let dir = temporary.path().join("registry");
    let (source, selection) = (request.source.clone(), request.selection.clone());
    let mirrored = mirror(context, &MirrorRequest { source, dir: dir.clone(), selection, force: false })?;
    if let Some(failure) = mirrored.failures.first() {
        return Err(not_bundled(failure));
    }
    let set = content(&dir)?;
    let (mut packed, size) = write_zip_to(&set, fs::anonymous_temp_file()?)?;
    fs::write_small_with(&file, |out| io::copy(&mut packed, out).map(drop))?;
    Ok(BundleOutcome {
        source: mirrored.source,
        path: file.display().to_string(),
        replaced: there.is_some(),
        size,
        skills: mirrored.skills,
        versions: mirrored.versions,
        elsewhere: mirrored.elsewhere,
    })
}

/// Returns what is in a bundle of the registry in `dir`: everything but what only writers need.
fn content(dir: &std::path::Path) -> Result<FileSet> {
    let walk = Walk { skip: &[], depth: usize::MAX, entries: BUNDLE_LIMITS.archive_entries };
    let tree = fs::scan(dir, walk)?;
    let is_for_writers = |path: &str| path == files::LOCK || path.starts_with(files::PENDING);
    Ok(tree.without(is_for_writers).skill("", &BUNDLE_LIMITS)?)
}

/// Returns the error for a skill that cannot be in a bundle.
fn not_bundled(failure: &NamedFailure) -> Error {
    let why = &failure.why;
    // For any reason: the requested bundle cannot be made.
    let error = Error::new(ErrorKind::Integrity, why.message.clone())
        .coded(why.code)
        .context(format!("`{}` cannot be bundled", failure.name));
    why.hints.iter().fold(error, |error, hint| error.hint(hint.clone()))
}
