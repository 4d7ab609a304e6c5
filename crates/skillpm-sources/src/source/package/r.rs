//! R packages in libraries. R installs an author's `inst/skills` as `skills`.

use std::path::{Path, PathBuf};

use super::{Finder, Installed, Lookup, Used, field, fields, real_within, skills_of, sorted, walk};
use crate::env;
use crate::error::{Error, Result};
use crate::fs::{self, Kind};
use crate::scope_kind::{ScopeKind, ScopeRoot};
use crate::settings::Settings;
use crate::source::json::{Json, Node};

/// The largest `DESCRIPTION` or `renv.lock` that is read, in bytes.
const MAX_FILE: u64 = 16 << 20;
/// The usual directories of libraries, searched after those that the user named.
const SITES: &[&str] = &[
    "/usr/local/lib/R/site-library",
    "/usr/lib/R/site-library",
    "/usr/local/lib/R/library",
    "/usr/lib/R/library",
    "/usr/lib64/R/library",
    "/opt/homebrew/lib/R/site-library",
    "/Library/Frameworks/R.framework/Versions/Current/Resources/library",
];
/// Packages that are a part of R itself.
const BASE: &[&str] = &[
    "R",
    "base",
    "compiler",
    "datasets",
    "graphics",
    "grDevices",
    "grid",
    "methods",
    "parallel",
    "splines",
    "stats",
    "stats4",
    "tcltk",
    "tools",
    "utils",
];
/// The fields of `DESCRIPTION` that name dependencies.
const DEPENDENCIES: &[&str] = &["Depends", "Imports", "LinkingTo", "Suggests"];

/// A directory of installed packages.
struct Library {
    dir: PathBuf,
    /// The directories that may hold its packages, if they are not for the user to choose.
    within: Option<Vec<PathBuf>>,
}

pub(super) static FINDER: Finder =
    Finder { find: |settings, scope, name, _| find(settings, scope, name), used };

/// Looks for the package `name`: in the library that `renv` keeps for the project, then where R looks. Does
/// not start R.
fn find(settings: &Settings, scope: ScopeRoot<'_>, name: &str) -> Result<Lookup> {
    let mut looked = Vec::new();
    for library in libraries(settings, scope)? {
        let package = library.dir.join(name);
        let package = match &library.within {
            Some(within) => real_within(&package, &within.iter().map(PathBuf::as_path).collect::<Vec<_>>())?,
            None => fs::real_path(&package)?,
        };
        let Some(description) = package.as_deref().map(description).transpose()?.flatten() else {
            looked.push(library.dir.display().to_string());
            continue;
        };
        let package = package.unwrap_or_default();
        let place = package.join("DESCRIPTION");
        let own = field(&description, "Package").unwrap_or_default();
        if own != name {
            return Err(Error::integrity(format!("`{}` belongs to the package `{own}`", place.display())));
        }
        let version = field(&description, "Version").map(ToOwned::to_owned);
        if version.is_none() {
            return Err(Error::integrity(format!("`{}` does not name a version", place.display())));
        }
        let tree = skills_of(&fs::scan_places(&package, &["skills"], walk())?);
        return Ok(Lookup::Found(Installed { version, tree, elsewhere: Vec::new() }));
    }
    let none = || format!("no library of R packages was found: name one with `{}`", env::R_LIBS);
    let hint = looked.is_empty().then(none);
    Ok(Lookup::Missing { looked, hint: hint.map(Into::into) })
}

/// Returns the fields of the package in `dir`, if it is one.
fn description(dir: &Path) -> Result<Option<Vec<(String, String)>>> {
    let path = dir.join("DESCRIPTION");
    if fs::kind(&path)? != Some(Kind::File) {
        return Ok(None);
    }
    // Old packages use other encodings; the parts read here are ASCII in all of them.
    let bytes = fs::read_capped(&path, MAX_FILE)?;
    Ok(bytes.map(|bytes| fields(&String::from_utf8_lossy(&bytes))))
}

fn libraries(settings: &Settings, scope: ScopeRoot<'_>) -> Result<Vec<Library>> {
    let mut libraries = Vec::new();
    if scope.kind == ScopeKind::Project {
        let mut within = caches(settings);
        within.push(scope.root.to_owned());
        let mut found = Vec::new();
        // `renv/library/R-4.4/x86_64-pc-linux-gnu`, in newer versions below the name of a platform.
        projects(&scope.root.join("renv/library"), 3, &mut found)?;
        libraries.extend(found.into_iter().map(|dir| Library { dir, within: Some(within.clone()) }));
    }
    let mut dirs = Vec::new();
    for variable in [env::R_LIBS, env::R_LIBS_USER, env::R_LIBS_SITE] {
        let separator = if cfg!(windows) { ';' } else { ':' };
        for path in settings.env.get(variable).into_iter().flat_map(|value| value.split(separator)) {
            let path = match (path.strip_prefix("~/"), &settings.home) {
                (Some(rest), Some(home)) => home.join(rest),
                _ => PathBuf::from(path),
            };
            // Only R itself knows what `%v` stands for.
            if path.is_absolute() && !path.to_string_lossy().contains('%') {
                dirs.push(path);
            }
        }
    }
    dirs.extend(settings.env.path(env::R_HOME).map(|home| home.join("library")));
    for below in ["R", "Library/R"] {
        let Some(own) = settings.home.as_ref().map(|home| home.join(below)) else { continue };
        // `~/R/x86_64-pc-linux-gnu-library/4.4`, `~/Library/R/arm64/4.4/library`; the newest first.
        for platform in fs::list_dir(&own)?.into_iter().rev() {
            for version in fs::list_dir(&own.join(&platform))?.into_iter().rev() {
                let dir = own.join(&platform).join(version);
                if below == "Library/R" {
                    dirs.push(dir.join("library"));
                } else if platform.ends_with("-library") {
                    dirs.push(dir);
                }
            }
        }
    }
    dirs.extend(SITES.iter().map(PathBuf::from));
    for dir in dirs {
        if fs::real_path(&dir)?.is_some() && !libraries.iter().any(|library| library.dir == dir) {
            libraries.push(Library { dir, within: None });
        }
    }
    Ok(libraries)
}

/// Finds the libraries below `dir`: the content of directories named like `R-4.4`.
fn projects(dir: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<()> {
    if depth == 0 || fs::kind(dir)? != Some(Kind::Directory) {
        return Ok(());
    }
    let is_version = dir.file_name().is_some_and(|name| name.to_string_lossy().starts_with("R-"));
    for name in fs::list_dir(dir)?.into_iter().rev() {
        let below = dir.join(&name);
        if is_version {
            found.push(below);
        } else {
            projects(&below, depth - 1, found)?;
        }
    }
    Ok(())
}

/// Returns the directories in which `renv` keeps the packages that its libraries link to.
fn caches(settings: &Settings) -> Vec<PathBuf> {
    let env = &settings.env;
    let below = |dir: Option<PathBuf>, path: &str| dir.map(|dir| dir.join(path));
    let home = |path: &str| below(settings.home.clone(), path);
    [
        env.path(env::RENV_PATHS_CACHE),
        below(env.path(env::RENV_PATHS_ROOT), "cache"),
        below(env.path(env::R_USER_CACHE_DIR), "R/renv"),
        below(env.path(env::XDG_CACHE_HOME), "R/renv"),
        home(".cache/R/renv"),
        home("Library/Caches/org.R-project.R/R/renv"),
        home("AppData/Local/R/cache/R/renv"),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Returns the packages that the project's `DESCRIPTION` names, otherwise its `renv.lock`, otherwise those in the
/// library that `renv` keeps for it.
fn used(settings: &Settings, scope: ScopeRoot<'_>) -> Result<Option<Used>> {
    let known = |told_by: &str, names: Vec<String>| {
        let names = sorted(names).into_iter().filter(|name| !BASE.contains(&name.as_str())).collect();
        Ok(Some(Used { told_by: told_by.to_owned(), names }))
    };
    let description = description(scope.root)?.unwrap_or_default();
    if field(&description, "Package").is_some() {
        let lists = DEPENDENCIES.iter().filter_map(|name| field(&description, name));
        // `dplyr (>= 1.0), rlang`.
        let name = |entry: &str| entry.split('(').next().unwrap_or(entry).trim().to_owned();
        return known("DESCRIPTION", lists.flat_map(|list| list.split(',')).map(name).collect());
    }
    let lock = scope.root.join("renv.lock");
    if let Some(bytes) = fs::read_capped(&lock, MAX_FILE)? {
        let json = Json::parse("renv.lock", bytes)?;
        let packages = json.root().object("renv.lock")?.get("Packages");
        let names = packages.map(|packages| packages.object("Packages")).transpose()?;
        let names = names.iter().flat_map(Node::keys).map(ToOwned::to_owned).collect();
        return known("renv.lock", names);
    }
    let own = libraries(settings, scope)?.into_iter().find(|library| library.within.is_some());
    let Some(library) = own else { return Ok(None) };
    known("renv/library", fs::list_dir(&library.dir)?)
}
