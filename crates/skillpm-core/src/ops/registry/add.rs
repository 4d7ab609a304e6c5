//! `registry add`: publishes skills.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use super::opened::{now, shown, writer};
use super::place::about as in_registry;
use super::place::in_directory;
use crate::advice::{Message, Opt, Verb, message};
use crate::codes;
use crate::context::Context;
use crate::digest::Digest;
use crate::engine::files;
use crate::error::{Error, ErrorKind, Result};
use crate::fs::{self, Kind};
use crate::lint::{Profile, Ruleset, Subject, check_with};
use crate::ops::pack::{Secrets, about, pack};
use crate::registry::{Ledger, Package, Staged, check_portable};
use crate::skill::SKILL_FILE;

/// A request to publish skills.
#[derive(Debug, Clone, Default)]
pub struct AddRequest {
    /// The registry: a directory, or a name of `[registries]`; by default the working directory.
    pub registry: Option<PathBuf>,
    /// Directories of skills, and archives that `pack` made.
    pub sources: Vec<PathBuf>,
    /// Whether files that may hold secrets are published without a question.
    pub allow_secrets: bool,
    /// Whether nothing is to be written.
    pub dry_run: bool,
}

/// A version that a registry has now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AddedVersion {
    /// The name of the skill.
    pub name: String,
    /// The version.
    pub version: String,
    /// The digest of the skill's files.
    pub digest: Digest,
    /// The digest of the archive.
    pub artifact: Digest,
    /// The number of bytes of the archive.
    pub size: u64,
    /// Whether the registry already had it.
    pub already: bool,
}

/// The outcome. The JSON form is an interface: fields are only added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "RegistryAddOutcome")]
pub struct AddOutcome {
    /// The directory of the registry.
    pub registry: String,
    /// The versions, in the order of the request.
    pub added: Vec<AddedVersion>,
    /// Whether nothing was written because it was only to be shown.
    pub dry_run: bool,
}

/// Publishes skills: all of them, or on a mistake in one of them none.
///
/// # Errors
///
/// Fails if a skill cannot be read, is not fit for publication, or is already published with other files, and if the
/// registry cannot be read or written.
pub fn add(context: &Context, request: &AddRequest) -> Result<AddOutcome> {
    let registry = in_directory(context, request.registry.as_deref())?;
    let published = now(context)?;
    let mut added = Vec::with_capacity(request.sources.len());
    if request.dry_run {
        let mut ledger = Ledger::new(&registry);
        for source in &request.sources {
            let package = package(context, source, request)?;
            let staged = ledger.publish(&package, published);
            added.push(version(staged.map_err(|error| about(error, source))?));
        }
    } else {
        let mut writer = writer(context, &registry)?;
        for source in &request.sources {
            let package = package(context, source, request)?;
            let staged = writer.stage(&package, published);
            added.push(version(staged.map_err(|error| about(error, source))?));
        }
        let named = request.registry.as_deref().map(Path::to_string_lossy);
        writer.commit().map_err(|error| in_registry(error, named.as_deref()))?;
    }
    Ok(AddOutcome { registry: shown(&registry), added, dry_run: request.dry_run })
}

fn version(staged: Staged) -> AddedVersion {
    let (record, already) = match staged {
        Staged::New(record) => (record, false),
        Staged::Already(record) => (record, true),
    };
    AddedVersion {
        name: record.name.into(),
        version: record.version.into(),
        digest: record.digest,
        artifact: record.artifact.digest,
        size: record.artifact.size,
        already,
    }
}

/// Returns the package of the skill that `source` names: a directory, which is packed, or an archive.
fn package(context: &Context, source: &Path, request: &AddRequest) -> Result<Package> {
    let ask = |secrets: &Secrets, name: &str| {
        secrets.ask(context, name, "published", request.allow_secrets, !request.dry_run)
    };
    let path = context.settings.cwd.join(source);
    let real = fs::real_path(&path)?.unwrap_or(path);
    match fs::kind(&real)? {
        Some(Kind::File) if source.file_name() != Some(SKILL_FILE.as_ref()) => {
            let package = Package::read(&real)?;
            check_package(&source.display().to_string(), &package)?;
            ask(&Secrets::of(&package.files()?.0, true)?, package.facts.name.as_str())?;
            Ok(package)
        }
        _ => {
            let packed = pack(context, source)?;
            ask(&packed.secrets, packed.name.as_str())?;
            Package::new(packed.bytes)
        }
    }
}

/// Checks a package by the profile for publishing, and that every system can store its files, as `pack` checks a
/// directory. `source` names it in errors.
///
/// # Errors
///
/// Fails if it is not fit for publication.
pub fn check_package(source: &str, package: &Package) -> Result<()> {
    let (set, document) = package.files()?;
    check_portable(&set).map_err(|error| error.context(format!("`{source}` is not fit for publication")))?;
    let beside = files::of_set(&set)?;
    let name = package.facts.name.as_str();
    let subject = Subject::new(&document, Some(name), SKILL_FILE).with_files(&beside);
    let findings = check_with(&subject, &Ruleset::new(Profile::Publish));
    let mut errors = findings.iter().filter(|finding| finding.forbids_publishing());
    let Some(first) = errors.next() else { return Ok(()) };
    let more = match errors.count() {
        0 => String::new(),
        1 => ", and 1 other error".to_owned(),
        more => format!(", and {more} other errors"),
    };
    let text: Message = format!("`{source}` is not fit for publication: {}{more}", first.message).into();
    Err(Error::new(ErrorKind::Findings, text).coded(codes::RELEASE_REFUSED).hint(message!(
        "unpack it: ",
        Verb::Validate.call().word("DIR").option(Opt::Profile, "publish"),
        " tells all that is wrong in its directory"
    )))
}
