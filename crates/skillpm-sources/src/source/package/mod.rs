//! Skills in packages of other languages.
//!
//! A package is looked for where its own package manager put it. Nothing of it is run, nothing is downloaded,
//! and no link is followed out of the place that a package manager would have filled.
//! `docs/guide/packages.md` lists the places for each language, and what counts as a skill.

mod crates;
mod npm;
mod python;
mod r;

use std::path::{Path, PathBuf};

use super::{FetchedSource, Source, Wanted};
use crate::advice::{Message, Opt, Verb, Warning, message};
use crate::codes;
use crate::context::Context;
use crate::error::{Error, ErrorKind, FilePosition, Result};
use crate::fs::{self, Kind, Walk};
use crate::path::normal;
use crate::refusal::Limits;
use crate::scope_kind::ScopeRoot;
use crate::settings::Settings;
use crate::spec::{Ecosystem, Package};
use crate::text::line_column;
use crate::tree::Tree;
use crate::tree::leftovers::directories;

/// The directories of a package that may hold skills.
const PLACES: &[&str] = &["skills", ".agents/skills", "dist/skills"];
/// The largest depth of a skill below one of these.
const PLACE_DEPTH: usize = 3;
/// Files that package managers add to what they unpack: with them the same package would have other bytes on
/// another machine.
const ADDED: &[&str] = &[".cargo-ok", ".cargo-checksum.json"];
/// The largest file of a package manager that is read, in bytes.
const MAX_FILE: u64 = 32 << 20;
/// The longest recorded version, in characters.
const MAX_VERSION: usize = 128;

/// A package that was found.
#[derive(Debug)]
struct Installed {
    /// The version, if the package states one.
    version: Option<String>,
    /// The package's skills, without its other files.
    tree: Tree,
    /// Sources outside the package that it recommends.
    elsewhere: Vec<String>,
}

/// The result of looking for a package.
#[derive(Debug)]
enum Lookup {
    /// The package is installed.
    Found(Installed),
    /// The package is not installed. Holds the places that were examined, and what to do.
    Missing { looked: Vec<String>, hint: Option<Message> },
}

/// A language's packages in a project.
#[derive(Debug)]
struct Used {
    /// Where the names come from: a file, or the environment with the packages.
    told_by: String,
    /// Their names, sorted.
    names: Vec<String>,
}

/// The skills in a project's packages.
#[derive(Debug, Default)]
pub struct Project {
    /// The packages with skills.
    pub packages: Vec<(Package, FetchedSource)>,
    /// Descriptions of what was examined: `12 packages of package.json`.
    pub looked: Vec<String>,
    /// Warnings for the user.
    pub warnings: Vec<Warning>,
}

/// The lookup of an ecosystem's packages: a file and a row in [`finder`].
struct Finder {
    /// Looks for the package with this name. If several versions are installed, uses the wanted one.
    find: fn(&Settings, ScopeRoot<'_>, &str, Option<&str>) -> Result<Lookup>,
    /// Returns the packages that a project uses, or `None` if it uses none of the ecosystem.
    used: fn(&Settings, ScopeRoot<'_>) -> Result<Option<Used>>,
}

fn finder(ecosystem: Ecosystem) -> &'static Finder {
    match ecosystem {
        Ecosystem::Python => &python::FINDER,
        Ecosystem::Npm => &npm::FINDER,
        Ecosystem::R => &r::FINDER,
        Ecosystem::Crate => &crates::FINDER,
    }
}

impl Source for Package {
    fn open(&self, context: &Context, scope: ScopeRoot<'_>, wanted: Wanted<'_>) -> Result<FetchedSource> {
        open(context, scope, self, wanted)
    }

    fn restored_by(&self, locked: &str, found: &str) -> Option<String> {
        (locked != found).then(|| {
            format!(
                "version {found} of `{self}` is installed, and {locked} is locked: `{}` restores it",
                self.install_command(Some(locked))
            )
        })
    }
}

/// Opens the package `package` as it is installed for `scope`.
///
/// The locked revision is the version to report if the package is missing. The digest decides whether the
/// bytes are right.
///
/// # Errors
///
/// Fails for a package that is not installed, and for one whose own files lead out of it or cannot be read.
pub fn open(
    context: &Context,
    scope: ScopeRoot<'_>,
    package: &Package,
    wanted: Wanted<'_>,
) -> Result<FetchedSource> {
    let version = match wanted {
        Wanted::Locked(version) => Some(version),
        Wanted::Now(_) => None,
    };
    match find(&context.settings, scope, package, version)? {
        Lookup::Found(installed) => Ok(opened(package, installed)),
        Lookup::Missing { looked, hint } => {
            let looked: Vec<_> = looked.iter().map(|place| format!("\n  {place}")).collect();
            let message = if looked.is_empty() {
                format!("`{package}` is not installed")
            } else {
                format!("`{package}` is not installed; looked in:{}", looked.concat())
            };
            Err(Error::usage(message).hint(hint.unwrap_or_else(|| {
                let command = package.install_command(version);
                format!("install it first: `{command}`; skillpm does not install packages").into()
            })))
        }
    }
}

fn opened(package: &Package, installed: Installed) -> FetchedSource {
    let name = package.name.rsplit('/').next().unwrap_or(&package.name).to_owned();
    FetchedSource::new(installed.tree, installed.version, &name)
}

fn find(
    settings: &Settings,
    scope: ScopeRoot<'_>,
    package: &Package,
    version: Option<&str>,
) -> Result<Lookup> {
    let lookup = (finder(package.ecosystem).find)(settings, scope, &package.name, version);
    let lookup = lookup.map_err(|error| error.context(format!("`{package}` cannot be used")))?;
    if let Lookup::Found(Installed { version: Some(version), .. }) = &lookup {
        let fits = |c: char| c.is_ascii_graphic() && !"\"'`\\".contains(c);
        if version.is_empty() || version.len() > MAX_VERSION || !version.chars().all(fits) {
            let version = version.escape_debug();
            return Err(Error::integrity(format!(
                "`{package}` has the version `{version}`, which is not a version number"
            )));
        }
    }
    Ok(lookup)
}

/// Finds the skills of all packages that the project of `scope` uses.
///
/// The project's own files list the packages; without such a list, the installed packages count. A package
/// that is not installed or cannot be used is skipped, with a warning.
///
/// # Errors
///
/// Fails for a file of the project that cannot be read.
pub fn of_project(context: &Context, scope: ScopeRoot<'_>) -> Result<Project> {
    let settings = &context.settings;
    let mut project = Project::default();
    for ecosystem in Ecosystem::ALL {
        let Some(used) = (finder(ecosystem).used)(settings, scope)? else { continue };
        let plural = if used.names.len() == 1 { "" } else { "s" };
        project.looked.push(format!("{} package{plural} of `{}`", used.names.len(), used.told_by));
        let mut missing = Vec::new();
        for name in &used.names {
            // A name that no package can have belongs to another kind of entry.
            let Ok(package) = Package::new(ecosystem, name) else { continue };
            match find(settings, scope, &package, None) {
                Ok(Lookup::Found(installed)) => {
                    for source in &installed.elsewhere {
                        // Packages are installed by their own tools.
                        let first =
                            source.strip_prefix("npm:").map(|name| format!("`npm install {name}`, then "));
                        let told = message!(
                            format_args!("`{package}` recommends skills that it does not include: "),
                            first,
                            Verb::Install.call().word(source)
                        );
                        project.warnings.push(Warning::new(codes::RECOMMENDS_SKILLS, told));
                    }
                    if installed.tree.entries().next().is_some() {
                        project.packages.push((package.clone(), opened(&package, installed)));
                    }
                }
                Ok(Lookup::Missing { .. }) => missing.push(package),
                Err(error) => project.warnings.push(error.into()),
            }
        }
        project.warnings.extend(passed_over(&used.told_by, &missing));
    }
    Ok(project)
}

/// Returns the warning about packages that are not installed.
fn passed_over(told_by: &str, missing: &[Package]) -> Option<Warning> {
    const SHOWN: usize = 3;
    let names: Vec<_> = missing.iter().take(SHOWN).map(|package| format!("`{}`", package.name)).collect();
    let more = match missing.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let told = || format!("not installed, and skipped, from `{told_by}`: {}{more}", names.join(", "));
    (!missing.is_empty()).then(|| Warning::new(codes::PACKAGE_MISSING, told()))
}

/// Returns the skills in the package in `dir`: the whole package if it is one skill, otherwise the skills in
/// [`PLACES`] and in the directories that it `declared`.
fn shipped(dir: &Path, declared: &[String]) -> Result<Tree> {
    let whole = declared.is_empty() && fs::kind(&dir.join("SKILL.md"))? == Some(Kind::File);
    let tree = if whole {
        fs::scan(dir, walk())?
    } else {
        let mut places: Vec<&str> = declared.iter().map(String::as_str).collect();
        places.extend(PLACES);
        fs::scan_places(dir, &places, walk())?
    };
    let added = |path: &str| ADDED.iter().any(|name| path.rsplit('/').next() == Some(name));
    Ok(skills_of(&tree.without(added)))
}

/// Returns the walk through a package. What tools leave in a package would differ on another machine.
fn walk() -> Walk<'static> {
    Walk { skip: directories(), depth: PLACE_DEPTH, entries: Limits::default().archive_entries }
}

/// Returns `tree` reduced to its skills.
fn skills_of(tree: &Tree) -> Tree {
    let dirs: Vec<String> =
        tree.entries().filter_map(|(path, _)| skill_dir(path)).map(ToOwned::to_owned).collect();
    tree.clone().without(|path| !dirs.iter().any(|dir| is_below(path, dir)))
}

/// Returns the directory of the skill, if `path` is that of its `SKILL.md`.
fn skill_dir(path: &str) -> Option<&str> {
    let (dir, name) = path.rsplit_once('/').unwrap_or(("", path));
    name.eq_ignore_ascii_case("SKILL.md").then_some(dir)
}

/// Reports whether the file at `path` is in or below directory `dir`; empty is the root.
fn is_below(path: &str, dir: &str) -> bool {
    dir.is_empty() || path.strip_prefix(dir).is_some_and(|rest| rest.starts_with('/'))
}

/// Returns the directories from the root of `scope` up to that of the repository around it, which is the last. Returns just
/// the root outside of repositories: the directories above may belong to others.
fn ancestors(scope: ScopeRoot<'_>) -> Result<Vec<PathBuf>> {
    let mut dirs = Vec::new();
    for dir in scope.root.ancestors() {
        dirs.push(dir.to_owned());
        if fs::kind(&dir.join(".git"))?.is_some() {
            return Ok(dirs);
        }
    }
    Ok(vec![scope.root.to_owned()])
}

/// Returns `dir` with all links resolved, if it is a directory in one of `within`.
fn real_within(dir: &Path, within: &[&Path]) -> Result<Option<PathBuf>> {
    let Some(real) = fs::real_path(dir)? else { return Ok(None) };
    if fs::kind(&real)? != Some(Kind::Directory) {
        return Ok(None);
    }
    for place in within {
        if fs::real_path(place)?.is_some_and(|place| real.starts_with(place)) {
            return Ok(Some(real));
        }
    }
    let dir = normal(dir);
    let message = if dir == real {
        format!("`{}` is outside the project", dir.display())
    } else {
        format!("`{}` is a link to `{}`, out of the project", dir.display(), real.display())
    };
    Err(Error::integrity(message).hint(message!(
        Verb::Install.call().flag(Opt::List).path(&real),
        " shows what could be installed from there"
    )))
}

/// Reads the file of a package manager at `path`; `None` if it does not exist.
fn text(path: &Path) -> Result<Option<String>> {
    Ok(fs::read_text(path, MAX_FILE)?)
}

/// Reads the TOML file at `path`; `None` if it does not exist.
fn toml_file(path: &Path) -> Result<Option<toml::Table>> {
    let Some(text) = text(path)? else { return Ok(None) };
    text.parse::<toml::Table>().map(Some).map_err(|error| {
        let (line, column) = line_column(&text, error.span().map_or(0, |span| span.start));
        let message = error.message().lines().next().unwrap_or("it is not TOML").to_owned();
        Error::at(ErrorKind::Config, FilePosition::new(path, line, column), message)
    })
}

/// Parses the fields of a file in the form of Debian control files: `Name: value`, continued on lines that
/// begin with white space, up to the first empty line. Python and R describe packages in this form.
fn fields(text: &str) -> Vec<(String, String)> {
    let mut fields: Vec<(String, String)> = Vec::new();
    for line in text.lines().take_while(|line| !line.trim().is_empty()) {
        match (line.starts_with([' ', '\t']), line.split_once(':')) {
            (true, _) => {
                if let Some((_, value)) = fields.last_mut() {
                    value.push(' ');
                    value.push_str(line.trim());
                }
            }
            (false, Some((name, value))) => fields.push((name.trim().to_owned(), value.trim().to_owned())),
            (false, None) => {}
        }
    }
    fields
}

/// Returns the value of the field `name`, ignoring case.
fn field<'a>(fields: &'a [(String, String)], name: &str) -> Option<&'a str> {
    fields.iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

/// Sorts names and removes duplicates.
fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.sort_unstable();
    names.dedup();
    names
}
