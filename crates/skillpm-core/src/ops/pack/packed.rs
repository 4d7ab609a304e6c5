//! Makes the archive of a skill that was examined.

use std::io::Write as _;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::{Examined, LeftOut, Secrets, about};
use crate::advice::Warning;
use crate::archive::{open_zip, write_zip};
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::fs::{SharedFile, anonymous_temp_file};
use crate::name::SkillName;
use crate::refusal::Limits;
use crate::registry::{Facts, check_portable, not_publishable};
use crate::skill;
use crate::tree::FileSet;
use crate::version::Version;

/// The end of the names of packages.
pub(super) const ENDING: &str = ".zip";

/// A packed skill.
#[derive(Debug, Clone)]
pub struct Packed {
    /// The name, which a registry accepts.
    pub name: SkillName,
    /// The version.
    pub version: Version,
    /// What the skill does and when to use it.
    pub description: String,
    /// The license as written.
    pub license: Option<String>,
    /// The tags.
    pub tags: Vec<String>,
    /// The skills that it needs, as declared.
    pub dependencies: Vec<String>,
    /// The digest of the tree.
    pub digest: Digest,
    /// The digest of the archive.
    pub artifact: Digest,
    /// The archive.
    pub bytes: Vec<u8>,
    /// The files in it, sorted by path.
    pub files: Vec<PackedFile>,
    /// The files of the directory that are not in the archive, sorted by path.
    pub left_out: Vec<LeftOut>,
    /// The possible secrets in it.
    pub secrets: Secrets,
    /// What the rules warn of.
    pub warnings: Vec<Warning>,
}

impl Packed {
    /// Returns the usual name of the archive: `pdf-1.2.0.zip`.
    pub fn file_name(&self) -> String {
        format!("{}-{}{ENDING}", self.name, self.version)
    }
}

/// A file of a package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PackedFile {
    /// The path below the skill's directory.
    pub path: String,
    /// The size in bytes.
    pub size: u64,
    /// Whether it is executable.
    pub executable: bool,
    /// The digest of its content.
    pub digest: Digest,
}

impl Examined {
    /// Packs the skill.
    ///
    /// # Errors
    ///
    /// Fails if the profile `publish` found an error, for a file that Windows cannot store, and for a name or version that
    /// no registry accepts.
    pub fn pack(self) -> Result<Packed> {
        self.check_findings()?;
        let loaded = skill::load(&self.document).map_err(|error| Error::integrity(error.to_string()))?;
        let warnings = self.warnings();
        let facts = Facts::of(&loaded.meta).map_err(|error| about(not_publishable(&error), self.typed()))?;
        check_portable(&self.files)?;
        let files = packed_files(&self.files)?;
        let digest = self.files.digest()?;
        let bytes = write_zip(&self.files)?;
        check_archive(&bytes, &digest)?;
        let secrets = Secrets::of(&self.files, self.reports_keys())?;
        Ok(Packed {
            name: facts.name,
            version: facts.version,
            description: facts.description,
            license: facts.license,
            tags: facts.tags,
            dependencies: facts.dependencies,
            digest,
            artifact: Digest::of(&bytes),
            bytes,
            files,
            left_out: self.left_out,
            secrets,
            warnings,
        })
    }
}

fn packed_files(set: &FileSet) -> Result<Vec<PackedFile>> {
    let mut files = Vec::with_capacity(set.files().len());
    for file in set.files() {
        files.push(PackedFile {
            path: file.path.as_str().to_owned(),
            size: file.size,
            executable: file.executable,
            digest: Digest::of(&set.read(file)?),
        });
    }
    Ok(files)
}

/// Reads the archive as an installation would, and compares the result with `expected`.
fn check_archive(bytes: &[u8], expected: &Digest) -> Result<()> {
    let wrong = |reason: String| {
        Error::integrity(format!("the archive does not read back: {reason}"))
            .hint("this is a bug in skillpm; nothing was written")
    };
    let mut file = anonymous_temp_file()?;
    file.write_all(bytes)
        .and_then(|()| SharedFile::from_file(file))
        .map_err(|error| Error::io("failed to write a temporary file").because(error))
        .and_then(|file| {
            let limits = Limits::default();
            let archive = open_zip(Arc::new(file), &limits).map_err(|error| wrong(error.to_string()))?;
            let set = archive.tree.skill("", &limits).map_err(|error| wrong(error.to_string()))?;
            let digest = set.digest().map_err(|error| wrong(error.to_string()))?;
            if digest == *expected { Ok(()) } else { Err(wrong(format!("its digest is {digest}"))) }
        })
}
