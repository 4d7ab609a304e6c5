//! Writes a package and what goes with it.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use super::{LeftOut, Packed, PackedFile, PackedKey};
use crate::advice::{Opt, Warning, message};
use crate::codes;
use crate::context::Context;
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::fs::{self, Kind};
use crate::interop::cyclonedx::{self, Bill};
use crate::refusal::Limits;

/// A request to write a package.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub struct PackRequest {
    /// The file to write, or an existing directory for it; the working directory by default.
    pub out: Option<PathBuf>,
    /// Whether a file with other content is replaced.
    pub force: bool,
    /// Whether a bill of materials is written beside it.
    pub sbom: bool,
    /// Whether files that may hold secrets are packed without a question.
    pub allow_secrets: bool,
    /// Whether to write nothing.
    pub dry_run: bool,
}

/// The outcome. The JSON form is an interface: fields are only added.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PackOutcome {
    /// The name of the skill.
    pub name: String,
    /// The version, as written.
    pub version: String,
    /// The description.
    pub description: String,
    /// The license.
    pub license: Option<String>,
    /// The tags.
    pub tags: Vec<String>,
    /// The skills that it needs.
    pub dependencies: Vec<String>,
    /// The digest of its tree.
    pub digest: Digest,
    /// The archive.
    pub artifact: PackedArtifact,
    /// The file of the archive, unless nothing is written.
    pub path: Option<String>,
    /// The bill of materials, if one is written.
    pub sbom: Option<String>,
    /// Whether a file was written: one that has the same content stays.
    pub changed: bool,
    /// The files with other content that were replaced, because that was forced.
    pub replaced: Vec<String>,
    /// Whether nothing was to be written.
    pub dry_run: bool,
    /// The files in the archive.
    pub files: Vec<PackedFile>,
    /// The files that stay out of it.
    pub left_out: Vec<LeftOut>,
    /// The files among those in the archive whose names are usual for secrets.
    pub secrets: Vec<String>,
    /// The keys of services in the files of the archive.
    pub keys: Vec<PackedKey>,
    /// Warnings for the user.
    pub warnings: Vec<Warning>,
}

/// The bytes of an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PackedArtifact {
    /// Their digest.
    pub digest: Digest,
    /// Their number.
    pub size: u64,
}

/// The state of the place of a file to write.
enum Existing {
    Nothing,
    /// A file with the same content.
    Same,
    /// A file with other content, which may be replaced.
    Other,
}

/// A file to write.
struct Output {
    path: PathBuf,
    bytes: Vec<u8>,
}

/// Writes `packed` into a file, and a bill of materials beside it if `request` says so. A file that already has the
/// same content stays.
///
/// # Errors
///
/// Fails if a file with other content is in the place and `request` does not force it, if something else is there, and
/// for a directory that does not exist or cannot be written. Nothing is written then, unless the disk fails between the
/// two files. Fails if the files may hold secrets, unless `request` or a person allows them.
pub fn write(context: &Context, packed: Packed, request: &PackRequest) -> Result<PackOutcome> {
    packed.ask(context, "packed", request.allow_secrets, !request.dry_run)?;
    let outputs = if request.dry_run { Vec::new() } else { outputs(context, &packed, request)? };
    let (mut to_write, mut replaced) = (Vec::new(), Vec::new());
    for output in &outputs {
        match output.look(request.force)? {
            Existing::Same => continue,
            Existing::Other => replaced.push(output.path.display().to_string()),
            Existing::Nothing => {}
        }
        to_write.push(output);
    }
    let changed = !to_write.is_empty();
    for output in to_write {
        fs::write_atomic(&output.path, &output.bytes)?;
    }
    let mut paths = outputs.into_iter().map(|output| output.path.display().to_string());
    Ok(PackOutcome {
        path: paths.next(),
        sbom: paths.next(),
        changed,
        replaced,
        dry_run: request.dry_run,
        artifact: PackedArtifact { digest: packed.artifact, size: packed.bytes.len() as u64 },
        name: packed.name.to_string(),
        version: packed.version.to_string(),
        description: packed.description,
        license: packed.license,
        tags: packed.tags,
        dependencies: packed.dependencies,
        digest: packed.digest,
        files: packed.files,
        left_out: packed.left_out,
        secrets: packed.secrets.files,
        keys: packed.secrets.keys,
        warnings: packed.warnings,
    })
}

/// Returns the archive and, if it is requested, the bill of materials.
fn outputs(context: &Context, packed: &Packed, request: &PackRequest) -> Result<Vec<Output>> {
    let cwd = &context.settings.cwd;
    let archive = packed.file_name();
    let path = match &request.out {
        None => cwd.join(archive),
        Some(out) => {
            let at = cwd.join(out);
            if is_directory(&at)? { at.join(archive) } else { at }
        }
    };
    let dir = path.parent().unwrap_or(cwd).to_owned();
    if !is_directory(&dir)? {
        return Err(Error::usage(format!("the directory `{}` does not exist", dir.display()))
            .hint("create it first, or name another one"));
    }
    let mut outputs = vec![Output { path, bytes: packed.bytes.clone() }];
    if request.sbom {
        let bytes = bill(context, packed)?.into_bytes();
        let name = format!("{}-{}{}", packed.name, packed.version, cyclonedx::ENDING);
        outputs.push(Output { path: dir.join(name), bytes });
    }
    Ok(outputs)
}

fn is_directory(path: &Path) -> Result<bool> {
    let real = fs::real_path(path)?;
    Ok(real.as_deref().map(fs::kind).transpose()?.flatten() == Some(Kind::Directory))
}

fn bill(context: &Context, packed: &Packed) -> Result<String> {
    let bill = Bill {
        name: packed.name.as_str(),
        version: packed.version.as_str(),
        description: &packed.description,
        license: packed.license.as_deref(),
        archive: packed.artifact,
        tree: packed.digest,
        files: packed.files.iter().map(|file| (file.path.as_str(), file.digest)).collect(),
        dependencies: &packed.dependencies,
        time: context.settings.source_date()?,
        tool_version: env!("CARGO_PKG_VERSION"),
    };
    Ok(bill.to_json())
}

impl Output {
    /// Returns what is in its place.
    fn look(&self, force: bool) -> Result<Existing> {
        let shown = self.path.display();
        let real = fs::real_path(&self.path)?;
        match real.as_deref().map(fs::kind).transpose()?.flatten() {
            None => return Ok(Existing::Nothing),
            Some(Kind::File) => {}
            Some(_) => {
                return Err(Error::usage(format!("`{shown}` is not a regular file"))
                    .coded(codes::OUTPUT_DIFFERS)
                    .hint("name another file"));
            }
        }
        if fs::read_capped(&self.path, Limits::default().archive_bytes)?.as_ref() == Some(&self.bytes) {
            return Ok(Existing::Same);
        }
        if force {
            return Ok(Existing::Other);
        }
        Err(Error::usage(format!("`{shown}` already exists with other content"))
            .coded(codes::OUTPUT_DIFFERS)
            .hint(message!(Opt::Force, " replaces it; a version that was published never changes")))
    }
}
