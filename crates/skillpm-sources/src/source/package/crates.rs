//! Crates: the version in `Cargo.lock`, where Cargo unpacked it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use semver::Version;
use toml::{Table, Value};

use super::{Finder, Installed, Lookup, Used, ancestors, real_within, shipped, sorted, text, toml_file};
use crate::env;
use crate::error::{Error, ErrorKind, FilePosition, Result};
use crate::fs::{self, Kind};
use crate::scope_kind::ScopeRoot;
use crate::settings::Settings;
use crate::text::line_column;

/// The tables of `Cargo.toml` that name dependencies.
const DEPENDENCIES: &[&str] = &["dependencies", "dev-dependencies", "build-dependencies"];
/// The largest depth of a crate in a checkout of its repository.
const CHECKOUT_DEPTH: usize = 3;

#[derive(Debug, serde::Deserialize)]
struct Lock {
    #[serde(default)]
    package: Vec<LockedCrate>,
}

#[derive(Debug, Clone, serde::Deserialize)]
struct LockedCrate {
    name: String,
    version: String,
    source: Option<String>,
}

pub(super) static FINDER: Finder = Finder { find, used: |_, scope| used(scope) };

/// Looks for the crate `name`, at the version in `Cargo.lock`. If that has several, uses `wanted`, or
/// otherwise the highest.
fn find(settings: &Settings, scope: ScopeRoot<'_>, name: &str, wanted: Option<&str>) -> Result<Lookup> {
    let dirs = ancestors(scope)?;
    let top = dirs.last().map_or(scope.root, |dir| dir.as_path());
    let Some((dir, lock)) = lock(&dirs)? else {
        let looked = dirs.iter().map(|dir| dir.join("Cargo.lock").display().to_string()).collect();
        let hint = "there is no `Cargo.lock`: `cargo generate-lockfile` writes it".to_owned();
        return Ok(Lookup::Missing { looked, hint: Some(hint.into()) });
    };
    let found = lock.package.into_iter().filter(|own| same_name(&own.name, name));
    let best =
        found.max_by_key(|own| (Some(own.version.as_str()) == wanted, Version::parse(&own.version).ok()));
    let Some(found) = best else {
        return Ok(Lookup::Missing {
            looked: vec![dir.join("Cargo.lock").display().to_string()],
            hint: None,
        });
    };
    let search = Search { cargo: cargo_home(settings), dir, top, found: &found };
    let mut looked = Vec::new();
    let source = match found.source.as_deref().and_then(|source| source.split_once('+')) {
        None => search.path(&mut looked)?,
        Some(("git", address)) => search.checkout(address, &mut looked)?,
        Some((_, address)) => search.registry(address, &mut looked)?,
    };
    let Some(source) = source else {
        let hint = "it is in `Cargo.lock`: `cargo fetch` downloads it".to_owned();
        return Ok(Lookup::Missing { looked, hint: Some(hint.into()) });
    };
    let tree = shipped(&source, &[])?;
    Ok(Lookup::Found(Installed { version: Some(found.version), tree, elsewhere: Vec::new() }))
}

/// Returns the nearest `Cargo.lock`, and its directory.
fn lock(dirs: &[PathBuf]) -> Result<Option<(&Path, Lock)>> {
    for dir in dirs {
        let path = dir.join("Cargo.lock");
        let Some(text) = text(&path)? else { continue };
        let lock = toml::from_str(&text).map_err(|error| {
            let (line, column) = line_column(&text, error.span().map_or(0, |span| span.start));
            let message = error.message().lines().next().unwrap_or("it is not TOML").to_owned();
            Error::at(ErrorKind::Config, FilePosition::new(&path, line, column), message)
        })?;
        return Ok(Some((dir, lock)));
    }
    Ok(None)
}

fn cargo_home(settings: &Settings) -> Option<PathBuf> {
    settings.env.path(env::CARGO_HOME).or_else(|| settings.home.as_ref().map(|home| home.join(".cargo")))
}

/// Reports whether two names are equal: registries treat `-` and `_` as the same.
fn same_name(one: &str, other: &str) -> bool {
    one.replace('_', "-") == other.replace('_', "-")
}

struct Search<'a> {
    cargo: Option<PathBuf>,
    /// The directory of `Cargo.lock`.
    dir: &'a Path,
    /// The directory that no link may lead out of.
    top: &'a Path,
    found: &'a LockedCrate,
}

impl Search<'_> {
    /// Returns the directory of a crate from a registry: in `vendor`, otherwise where Cargo unpacked it.
    fn registry(&self, address: &str, looked: &mut Vec<String>) -> Result<Option<PathBuf>> {
        let full = format!("{}-{}", self.found.name, self.found.version);
        if !is_component(&full) {
            return Err(Error::config(format!("`{full}` in `Cargo.lock` is not a crate")));
        }
        let vendor = self.dir.join("vendor");
        for name in [&full, &self.found.name] {
            if let Some(dir) = real_within(&vendor.join(name), &[self.top])?
                && self.is_in(&dir)?
            {
                return Ok(Some(dir));
            }
        }
        looked.push(vendor.display().to_string());
        let Some(cargo) = &self.cargo else { return Ok(None) };
        let sources = cargo.join("registry/src");
        for registry in fs::list_dir(&sources)? {
            let dir = sources.join(&registry).join(&full);
            if is_of(&registry, address) && fs::kind(&dir)? == Some(Kind::Directory) && self.is_in(&dir)? {
                return Ok(Some(dir));
            }
        }
        looked.push(sources.join("*").join(full).display().to_string());
        Ok(None)
    }

    /// Returns the directory of a crate from a git repository, in the checkout that Cargo made of its commit.
    fn checkout(&self, address: &str, looked: &mut Vec<String>) -> Result<Option<PathBuf>> {
        let commit = address.rsplit_once('#').map_or("", |(_, commit)| commit);
        let Some(cargo) = self.cargo.as_ref().filter(|_| commit.len() >= 7) else { return Ok(None) };
        let checkouts = cargo.join("git/checkouts");
        for repository in fs::list_dir(&checkouts)? {
            for short in fs::list_dir(&checkouts.join(&repository))? {
                let dir = checkouts.join(&repository).join(&short);
                if short.len() >= 7
                    && commit.starts_with(&short)
                    && let Some(dir) = self.below(&dir, CHECKOUT_DEPTH)?
                {
                    return Ok(Some(dir));
                }
            }
        }
        looked.push(checkouts.display().to_string());
        Ok(None)
    }

    /// Returns the directory at or below `dir` that holds the crate.
    fn below(&self, dir: &Path, depth: usize) -> Result<Option<PathBuf>> {
        if fs::kind(dir)? != Some(Kind::Directory) {
            return Ok(None);
        }
        if self.is_in(dir)? {
            return Ok(Some(dir.to_owned()));
        }
        for name in fs::list_dir(dir)? {
            if depth > 0
                && !name.starts_with('.')
                && let Some(found) = self.below(&dir.join(name), depth - 1)?
            {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Returns the directory of a crate in the project itself or next to it.
    fn path(&self, looked: &mut Vec<String>) -> Result<Option<PathBuf>> {
        let manifest = toml_file(&self.dir.join("Cargo.toml"))?.unwrap_or_default();
        let mut places: Vec<String> = Vec::new();
        for (key, entry) in dependencies(&manifest) {
            let own = entry.get("package").and_then(Value::as_str).unwrap_or(key);
            if same_name(own, &self.found.name) {
                places.extend(entry.get("path").and_then(Value::as_str).map(ToOwned::to_owned));
            }
        }
        let members = manifest.get("workspace").and_then(|workspace| workspace.get("members")?.as_array());
        for member in members.into_iter().flatten().filter_map(Value::as_str) {
            match member.strip_suffix("/*") {
                Some(above) => {
                    let names = fs::list_dir(&self.dir.join(above))?;
                    places.extend(names.iter().map(|name| format!("{above}/{name}")));
                }
                None => places.push(member.to_owned()),
            }
        }
        places.push(".".to_owned());
        for place in places {
            let dir = self.dir.join(&place);
            if let Some(dir) = real_within(&dir, &[self.top])?
                && self.is_in(&dir)?
            {
                return Ok(Some(dir));
            }
            looked.push(dir.display().to_string());
        }
        Ok(None)
    }

    /// Reports whether the wanted crate is in `dir`.
    fn is_in(&self, dir: &Path) -> Result<bool> {
        let path = dir.join("Cargo.toml");
        if fs::kind(&path)? != Some(Kind::File) {
            return Ok(false);
        }
        let manifest = toml_file(&path)?.unwrap_or_default();
        let text = |key: &str| manifest.get("package").and_then(|package| package.get(key)?.as_str());
        // A version that the workspace provides is not a string here.
        Ok(text("name") == Some(&self.found.name)
            && text("version").is_none_or(|version| version == self.found.version))
    }
}

/// Reports whether `name` is a single path component.
fn is_component(name: &str) -> bool {
    !name.contains(['/', '\\', '\0']) && !matches!(name, "." | "..")
}

/// Reports whether Cargo's directory `registry`, named `host-hash`, may hold crates of the registry at
/// `address`. A directory without a host is a registry on this machine that replaces another.
fn is_of(registry: &str, address: &str) -> bool {
    let host = registry.rsplit_once('-').map_or(registry, |(host, _)| host);
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let own = rest.split(['/', ':', '?']).next().unwrap_or(rest);
    let public = ["index.crates.io", "github.com"];
    host.is_empty() || host == own || (rest.contains("crates.io-index") && public.contains(&host))
}

/// Returns the entries of all tables of dependencies.
fn dependencies(manifest: &Table) -> Vec<(&str, &Value)> {
    let workspace = manifest.get("workspace").and_then(Value::as_table);
    let targets = manifest.get("target").and_then(Value::as_table);
    let targets = targets.into_iter().flat_map(Table::values).filter_map(Value::as_table);
    let tables = [manifest].into_iter().chain(workspace).chain(targets);
    tables
        .flat_map(|table| DEPENDENCIES.iter().filter_map(|key| table.get(*key)?.as_table()))
        .flat_map(|table| table.iter().map(|(key, value)| (key.as_str(), value)))
        .collect()
}

/// Returns the crates that the project's `Cargo.toml` names.
fn used(scope: ScopeRoot<'_>) -> Result<Option<Used>> {
    let Some(manifest) = toml_file(&scope.root.join("Cargo.toml"))? else { return Ok(None) };
    let name =
        |(key, entry): (&str, &Value)| entry.get("package").and_then(Value::as_str).unwrap_or(key).to_owned();
    let names: BTreeSet<String> = dependencies(&manifest).into_iter().map(name).collect();
    Ok(Some(Used { told_by: "Cargo.toml".to_owned(), names: sorted(names.into_iter().collect()) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_directory_is_of_which_registry() {
        let public = "https://github.com/rust-lang/crates.io-index";
        assert!(is_of("index.crates.io-1949cf8c6b5b557f", public));
        assert!(is_of("github.com-1ecc6299db9ec823", public));
        assert!(is_of("-3c95bb1cb3d1f2a8", public));
        assert!(!is_of("crates.example.com-1949cf8c6b5b557f", public));
        assert!(is_of("crates.example.com-1949cf8c6b5b557f", "https://crates.example.com/index/"));
        assert!(!is_of("index.crates.io-1949cf8c6b5b557f", "https://crates.example.com/index/"));
    }

    #[test]
    fn all_tables_of_dependencies() {
        let manifest: Table = "[dependencies]\na = '1'\nb = { package = 'c', path = '../c' }\n\
             [target.'cfg(unix)'.dev-dependencies]\nd = '1'\n[workspace.dependencies]\ne = '1'\n"
            .parse()
            .unwrap();
        let names: Vec<_> = dependencies(&manifest).into_iter().map(|(key, _)| key).collect();
        assert_eq!(names, ["a", "b", "e", "d"]);
    }
}
