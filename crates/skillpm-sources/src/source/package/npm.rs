//! npm packages in `node_modules`.

use std::path::Path;

use super::{Finder, Installed, Lookup, Used, ancestors, real_within, shipped, sorted};
use crate::error::Result;
use crate::fs::{self, Kind};
use crate::scope_kind::ScopeRoot;
use crate::source::discover::join;
use crate::source::json::{Json, Node};
use crate::spec::SourceSpec;

/// The largest `package.json` that is read, in bytes.
const MAX_FILE: u64 = 4 << 20;
/// The members of `package.json` that name dependencies.
const DEPENDENCIES: &[&str] =
    &["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"];

pub(super) static FINDER: Finder =
    Finder { find: |_, scope, name, _| find(scope, name), used: |_, scope| used(scope) };

/// Looks for the package `name`: in `node_modules` of the project, then in those above, up to the
/// repository's. Follows a link within the repository, which is where pnpm and workspaces lead.
fn find(scope: ScopeRoot<'_>, name: &str) -> Result<Lookup> {
    let dirs = ancestors(scope)?;
    let top = dirs.last().map_or(scope.root, |dir| dir.as_path());
    let mut looked = Vec::new();
    for dir in &dirs {
        let modules = dir.join("node_modules");
        let Some(package) = real_within(&modules.join(name), &[top])? else {
            looked.push(modules.display().to_string());
            continue;
        };
        let Some(json) = read(&package)? else {
            looked.push(modules.display().to_string());
            continue;
        };
        let manifest = json.root().object("package.json")?;
        let version = manifest.text_of("version")?.map(ToOwned::to_owned);
        let (declared, elsewhere) = declared(&package, &manifest)?;
        return Ok(Lookup::Found(Installed { version, tree: shipped(&package, &declared)?, elsewhere }));
    }
    Ok(Lookup::Missing { looked, hint: None })
}

fn read(dir: &Path) -> Result<Option<Json>> {
    let path = dir.join("package.json");
    // A link could lead anywhere.
    if fs::kind(&path)? != Some(Kind::File) {
        return Ok(None);
    }
    let bytes = fs::read_capped(&path, MAX_FILE)?;
    bytes.map(|bytes| Json::parse(&path.display().to_string(), bytes)).transpose()
}

/// Returns the content of the member `skills`: directories of the package, and sources elsewhere, which some
/// tools install along with it. Both are empty if a package uses the member for something else.
fn declared(dir: &Path, manifest: &Node<'_>) -> Result<(Vec<String>, Vec<String>)> {
    let (mut here, mut elsewhere) = (Vec::new(), Vec::new());
    let Some(Ok(entries)) = manifest.get("skills").map(|skills| skills.texts("skills")) else {
        return Ok((here, elsewhere));
    };
    for entry in entries {
        let Some(text) = entry.as_text() else {
            if let Ok(Some(source)) = entry.text_of("source") {
                elsewhere.extend(source_elsewhere(source));
            }
            continue;
        };
        let is_path = text.starts_with(['.', '/', '\\']);
        match join("", text) {
            Some(path) if is_path || fs::kind(&dir.join(&path))? == Some(Kind::Directory) => here.push(path),
            _ if is_path => {
                return Err(entry
                    .fault(&format!("`{text}` leads out of the package"))
                    .hint("`skills` names directories of the package, such as `./skills/name`"));
            }
            _ => elsewhere.extend(source_elsewhere(text)),
        }
    }
    // The root is all of it.
    here.retain(|path| !path.is_empty());
    Ok((here, elsewhere))
}

/// Returns the text of a source that a package names, if a command may show it: not a path on this machine,
/// and nothing that a shell would act on.
fn source_elsewhere(text: &str) -> Option<String> {
    let harmless = text.chars().all(|c| c.is_ascii_alphanumeric() || "-_./@:#+".contains(c));
    let spec = text.parse::<SourceSpec>().ok().filter(|_| harmless)?;
    spec.origin.local_path().is_none().then(|| text.to_owned())
}

/// Returns the packages that the project's `package.json` names, otherwise those in its `node_modules`.
fn used(scope: ScopeRoot<'_>) -> Result<Option<Used>> {
    if let Some(json) = read(scope.root)? {
        let manifest = json.root().object("package.json")?;
        let mut names = Vec::new();
        for member in DEPENDENCIES {
            if let Some(table) = manifest.get(member) {
                names.extend(table.object(member)?.keys().into_iter().map(ToOwned::to_owned));
            }
        }
        return Ok(Some(Used { told_by: "package.json".to_owned(), names: sorted(names) }));
    }
    let modules = scope.root.join("node_modules");
    if fs::kind(&modules)? != Some(Kind::Directory) {
        return Ok(None);
    }
    let mut names = Vec::new();
    for name in fs::list_dir(&modules)? {
        if name.starts_with('@') {
            let scoped = fs::list_dir(&modules.join(&name))?;
            names.extend(scoped.iter().map(|package| format!("{name}/{package}")));
        } else {
            names.push(name);
        }
    }
    Ok(Some(Used { told_by: "node_modules".to_owned(), names: sorted(names) }))
}
