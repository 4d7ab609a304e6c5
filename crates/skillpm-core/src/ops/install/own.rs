//! Skills that people write in a scope: a directory next to the manifest, an editable entry, and links for
//! the agents.

use std::io;
use std::path::{Path, PathBuf};

use crate::advice::{Opt, Verb, message};
use crate::context::Context;
use crate::error::{Error, ErrorKind, Result};
use crate::fs::{self, DirLock};
use crate::name::SkillName;
use crate::ops::install::{InstallOutcome, InstallRequest, install};
use crate::scope::Scope;
use crate::scope_kind::ScopeKind;
use crate::source::local::portable;
#[cfg(feature = "create")]
use crate::store;
use crate::tree::FileSet;

/// The directory, next to the manifest, of the skills that people write.
const DIR: &str = "skills";

/// Returns the directory for writing the skill `name` in `scope`.
pub(crate) fn place(scope: &Scope, name: &SkillName) -> Result<PathBuf> {
    let dir = dir(scope);
    scope.check_inside(&dir)?;
    Ok(dir.join(name.as_str()))
}

/// Returns the directory of the skills that people write in `scope`.
pub(crate) fn dir(scope: &Scope) -> PathBuf {
    scope.manifest.parent().unwrap_or(&scope.root).join(DIR)
}

/// Creates the directory `path` with the files of `set`. Writes them to a temporary sibling first, so that half of it is
/// never visible. The sibling's name is derived from `path`, so a later run for the same path removes the leftovers of a
/// killed one.
pub(crate) fn write_new(path: &Path, set: &FileSet) -> Result<()> {
    let parent = path.parent().unwrap_or(Path::new(""));
    let _alone = DirLock::acquire(parent, || ())?;
    let new = fs::beside(path);
    fs::remove_tree(&new)?;
    let made = fs::materialize(set, &new).map_err(Error::from).and_then(|_| {
        fs::move_new(&new, path).map_err(|error| match error.source.kind() {
            io::ErrorKind::AlreadyExists => already_exists(path),
            _ => error.into(),
        })
    });
    made.inspect_err(|_| {
        // The first error is the one to report.
        let _ = fs::remove_tree(&new);
    })
}

/// Reports whether the directory `path` holds exactly the files of `set`.
#[cfg(feature = "create")]
pub(crate) fn holds(path: &Path, set: &FileSet) -> bool {
    let digest = |set: &FileSet| set.digest().map_err(Error::from);
    let there = store::read(path).and_then(|there| digest(&there));
    there.is_ok_and(|there| digest(set).is_ok_and(|new| there == new))
}

/// Returns the error for an existing directory.
pub(crate) fn already_exists(path: &Path) -> Error {
    Error::usage(format!("`{}` already exists", path.display()))
}

/// Adds the skills in the directories `paths` to the manifest of the scope of `kind` as editable ones, and links them for
/// `agents` besides those that see the others. Each gets the name in its `SKILL.md`, or the only one that of `alias`. With
/// `force` they replace copies, which are saved.
pub(crate) fn install_editable(
    context: &Context,
    kind: ScopeKind,
    (alias, paths): (Option<&SkillName>, &[&Path]),
    agents: Vec<String>,
    force: bool,
) -> Result<InstallOutcome> {
    let source = |path: &&Path| {
        portable(&context.settings.cwd, path).ok_or_else(|| {
            Error::new(ErrorKind::Usage, format!("the path `{}` is not UTF-8", path.display()))
                .hint("rename the directory: the path is written into `skillpm.toml`")
        })
    };
    let sources: Vec<String> = paths.iter().map(source).collect::<Result<_>>()?;
    let request = InstallRequest {
        sources: sources.clone(),
        alias: alias.map(ToString::to_string),
        editable: true,
        scope: Some(kind),
        agents,
        force,
        ..InstallRequest::default()
    };
    install(context, &request).map_err(|error| {
        error.hint(message!(
            Verb::Install.within(kind).flag(Opt::Editable).words(&sources),
            " installs what is there once that is mended"
        ))
    })
}
