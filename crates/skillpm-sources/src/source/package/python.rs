//! Python distributions in an environment: the files that `RECORD` lists as installed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::{
    Finder, Installed, Lookup, MAX_FILE, Used, field, fields, is_below, real_within, skill_dir, sorted, text,
    toml_file,
};
use crate::env;
use crate::error::{Error, ErrorKind, FilePosition, Result};
use crate::fs::{self, Kind};
use crate::path::normal;
use crate::refusal::Limits;
use crate::scope_kind::ScopeRoot;
use crate::settings::Settings;
use crate::source::json::Json;
use crate::source::local;
use crate::spec::distribution_name;
use crate::text::percent_decoded;
use crate::tree::Tree;

/// Environments of a project, below its root.
const OWN: &[&str] = &[".venv", "venv"];
/// The directory for files that a wheel puts outside `site-packages`: the tree of a distribution begins in
/// `site-packages`.
const DATA: &str = ".data";
/// Path components below which a `SKILL.md` serves only tests.
const TESTS: &[&str] = &["tests", "test", "node_modules", ".venv", "venv", "site-packages"];

/// An environment, and whether a stranger may have made it: one inside the project may have come with it.
struct Environment {
    dir: PathBuf,
    is_own: bool,
}

pub(super) static FINDER: Finder =
    Finder { find: |settings, scope, name, _| find(settings, scope, name), used };

/// Looks for the distribution `name` in the project's environment.
fn find(settings: &Settings, scope: ScopeRoot<'_>, name: &str) -> Result<Lookup> {
    let mut looked = Vec::new();
    let Some(environment) = environment(settings, scope, &mut looked)? else {
        let hint = format!(
            "make an environment and install the package into it, or name one with `{}`",
            env::SKILLPM_PYTHON_ENV
        );
        return Ok(Lookup::Missing { looked, hint: Some(hint.into()) });
    };
    looked.clear();
    for site in environment.sites()? {
        let mut found = Vec::new();
        for entry in fs::list_dir(&site)? {
            if let Some((own, version)) = split(&entry)
                && distribution_name(own) == distribution_name(name)
            {
                found.push((entry.clone(), version.to_owned()));
            }
        }
        match &found[..] {
            [] => looked.push(site.display().to_string()),
            [(info, version)] => {
                let distribution = Distribution { environment: &environment, site: &site, info };
                return distribution.installed(scope, version).map(Lookup::Found);
            }
            [(one, _), (other, _), ..] => {
                return Err(Error::integrity(format!(
                    "`{}` holds it twice: `{one}` and `{other}`",
                    site.display()
                ))
                .hint(format!("`python -m pip install --force-reinstall {name}` repairs that")));
            }
        }
    }
    if looked.is_empty() {
        looked.push(environment.dir.display().to_string());
    }
    Ok(Lookup::Missing { looked, hint: None })
}

/// Returns the environment to use: the one that a variable names, the active one, the project's own, or that
/// of conda. Adds the places without one to `looked`.
fn environment(
    settings: &Settings,
    scope: ScopeRoot<'_>,
    looked: &mut Vec<String>,
) -> Result<Option<Environment>> {
    let foreign = |dir: PathBuf| Environment { dir, is_own: false };
    if let Some(named) = settings.env.get(env::SKILLPM_PYTHON_ENV) {
        let dir = settings.cwd.join(named);
        if is_directory(&dir)? {
            return Ok(Some(foreign(dir)));
        }
        let variable = env::SKILLPM_PYTHON_ENV;
        return Err(Error::config(format!("`{variable}` names no directory: `{named}`"))
            .hint("set it to an environment, such as `.venv`"));
    }
    let root = fs::real_path(scope.root)?.unwrap_or_else(|| scope.root.to_owned());
    let mut places: Vec<PathBuf> = settings.env.path(env::VIRTUAL_ENV).into_iter().collect();
    places.extend(OWN.iter().map(|name| scope.root.join(name)));
    places.extend(settings.env.path(env::CONDA_PREFIX));
    for place in places {
        if !is_directory(&place)? {
            looked.push(place.display().to_string());
            continue;
        }
        let real = fs::real_path(&place)?.unwrap_or_else(|| place.clone());
        if place.starts_with(scope.root) && !real.starts_with(&root) {
            looked.push(format!("{} (a link out of the project)", place.display()));
            continue;
        }
        let is_own = real.starts_with(&root);
        return Ok(Some(Environment { dir: place, is_own }));
    }
    Ok(None)
}

fn is_directory(path: &Path) -> Result<bool> {
    Ok(match fs::real_path(path)? {
        Some(real) => fs::kind(&real)? == Some(Kind::Directory),
        None => false,
    })
}

impl Environment {
    /// Returns the directories of its packages, newest version first.
    fn sites(&self) -> Result<Vec<PathBuf>> {
        let mut sites = Vec::new();
        let lib = self.dir.join("lib");
        let mut versions = fs::list_dir(&lib)?;
        versions.retain(|name| name.starts_with("python") || name.starts_with("pypy"));
        // `python3.9` comes before `python3.10`.
        versions.sort_by_key(|name| (name.len(), name.clone()));
        for version in versions.iter().rev() {
            sites.push(lib.join(version).join("site-packages"));
        }
        // The name on Windows.
        sites.push(self.dir.join("Lib/site-packages"));
        let mut real = Vec::new();
        for site in sites {
            if let Some(site) = real_within(&site, &[&self.dir])?
                && !real.contains(&site)
            {
                real.push(site);
            }
        }
        Ok(real)
    }
}

/// Returns the name and version in `name-1.0.dist-info`.
fn split(entry: &str) -> Option<(&str, &str)> {
    entry.strip_suffix(".dist-info")?.rsplit_once('-')
}

struct Distribution<'a> {
    environment: &'a Environment,
    site: &'a Path,
    /// `name-1.0.dist-info`.
    info: &'a str,
}

impl Distribution<'_> {
    fn installed(&self, scope: ScopeRoot<'_>, version: &str) -> Result<Installed> {
        let metadata = self.read("METADATA")?.unwrap_or_default();
        let version = field(&fields(&metadata), "Version").unwrap_or(version).to_owned();
        let Some(record) = self.read("RECORD")? else {
            let error =
                Error::integrity(format!("`{}` has no `RECORD`", self.site.join(self.info).display()));
            return Err(error.hint("without it, its files are unknown: install it with pip or uv"));
        };
        let files = self.files(&record)?;
        let tree = match self.editable()? {
            Some(dir) => self.editable_tree(scope, &dir, &files)?,
            None => self.tree(&files)?,
        };
        Ok(Installed { version: Some(version), tree, elsewhere: Vec::new() })
    }

    /// Returns a file of `dist-info`, if it is a regular file.
    fn read(&self, name: &str) -> Result<Option<String>> {
        let path = self.site.join(self.info).join(name);
        if fs::kind(&path)? != Some(Kind::File) {
            return Ok(None);
        }
        let bytes = fs::read_capped(&path, MAX_FILE)?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// Returns the files that `record` names, by their path in the tree of the distribution. Leaves out
    /// commands and headers, which are elsewhere in the environment.
    fn files(&self, record: &str) -> Result<BTreeMap<String, PathBuf>> {
        let prefix = fs::real_path(&self.environment.dir)?.unwrap_or_else(|| self.environment.dir.clone());
        let fault = |at: usize, message: String| {
            let file = self.site.join(self.info).join("RECORD");
            Error::at(ErrorKind::Integrity, FilePosition::new(&file, at + 1, 1), message)
        };
        let mut files = BTreeMap::new();
        for (at, line) in record.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let path = first_field(line)
                .ok_or_else(|| fault(at, "a quote is not closed on this line".to_owned()))?;
            if path.contains('\0') {
                return Err(fault(at, "a path has a NUL character".to_owned()));
            }
            let full = normal(&self.site.join(&path));
            let below = |dir: &Path| -> Option<String> {
                let inside = full.strip_prefix(dir).ok()?.to_str()?;
                Some(if cfg!(windows) { inside.replace('\\', "/") } else { inside.to_owned() })
            };
            if let Some(inside) = below(self.site) {
                files.insert(inside, full);
            } else if let Some(inside) = below(&prefix) {
                if inside.starts_with("share/") {
                    files.insert(format!("{DATA}/{inside}"), full);
                }
            } else {
                let message = format!("`{path}` leads out of the environment");
                return Err(fault(at, message).hint(
                    "the `RECORD` of a sound package only names files of its environment: do not trust this one",
                ));
            }
        }
        Ok(files)
    }

    /// Returns the skills among `files`.
    fn tree(&self, files: &BTreeMap<String, PathBuf>) -> Result<Tree> {
        let dirs = chosen(files.keys().map(String::as_str));
        let mut taken: BTreeMap<String, PathBuf> = BTreeMap::new();
        let mut checked: BTreeSet<&Path> = BTreeSet::new();
        for (path, at) in files {
            if !dirs.iter().any(|dir| is_below(path, dir)) || is_compiled(path) {
                continue;
            }
            let parent = at.parent().unwrap_or(at);
            if checked.insert(parent) {
                let within = real_within(parent, &[&self.environment.dir])
                    .map_err(|error| error.context(format!("`{path}` is refused")))?;
                if within.as_deref() != Some(parent) {
                    return Err(self.broken(path));
                }
            }
            if fs::kind(at)?.is_none() {
                return Err(self.broken(path));
            }
            taken.insert(path.clone(), at.clone());
        }
        Ok(fs::gather(taken)?)
    }

    fn broken(&self, path: &str) -> Error {
        let name = split(self.info).map_or(self.info, |(name, _)| name);
        Error::integrity(format!("`RECORD` names `{path}`, which is missing or behind a link"))
            .hint(format!("`python -m pip install --force-reinstall {name}` restores it"))
    }

    /// Returns the source directory of an editable installation.
    fn editable(&self) -> Result<Option<PathBuf>> {
        let Some(text) = self.read("direct_url.json")? else { return Ok(None) };
        let file = self.site.join(self.info).join("direct_url.json");
        let json = Json::parse(&file.display().to_string(), text.into_bytes())?;
        let root = json.root().object("direct_url.json")?;
        let Some(info) = root.get("dir_info") else { return Ok(None) };
        match info.get("editable").map(|editable| editable.boolean("editable")).transpose()? {
            Some(true) => {}
            _ => return Ok(None),
        }
        let url = root.required("url")?;
        let path = url.text("url")?.strip_prefix("file://").map(percent_decoded);
        let dir = path.map(|path| PathBuf::from(path.into_owned())).filter(|dir| dir.is_absolute());
        dir.map(Some).ok_or_else(|| url.fault("the address of an editable package is `file:///…`"))
    }

    /// Returns the skills of an editable installation: in the directories that its `.pth` files name,
    /// otherwise in `src`, otherwise in its whole directory.
    fn editable_tree(
        &self,
        scope: ScopeRoot<'_>,
        dir: &Path,
        files: &BTreeMap<String, PathBuf>,
    ) -> Result<Tree> {
        // An environment that came with a project must not lead out of it.
        let within = if self.environment.is_own { scope.root } else { dir };
        let checked =
            real_within(dir, &[within]).map_err(|error| error.context("it is installed as editable"))?;
        let Some(dir) = checked else {
            return Err(Error::usage(format!(
                "it is installed as editable from `{}`, which does not exist",
                dir.display()
            )));
        };
        let mut roots = Vec::new();
        for (path, at) in files {
            let is_pth = Path::new(path).extension().is_some_and(|ending| ending == "pth");
            if !is_pth || path.contains('/') || fs::kind(at)? != Some(Kind::File) {
                continue;
            }
            let text = text(at)?.unwrap_or_default();
            let lines = text
                .lines()
                .map(str::trim)
                .filter(|line| !line.starts_with("import") && !line.starts_with('#'));
            for root in lines.map(Path::new).filter(|root| root.is_absolute()) {
                roots.extend(fs::real_path(root)?.filter(|root| root.starts_with(&dir)));
            }
        }
        if roots.is_empty() {
            let source = dir.join("src");
            let is_there = fs::kind(&source)? == Some(Kind::Directory);
            roots.push(if is_there { source } else { dir });
        }
        let mut taken: BTreeMap<String, PathBuf> = BTreeMap::new();
        for root in roots {
            let tree = local::open(scope, &root, &Limits::default())?.tree;
            let dirs = chosen(tree.entries().map(|(path, _)| path));
            for (path, _) in tree.entries() {
                if dirs.iter().any(|dir| is_below(path, dir)) && !is_compiled(path) {
                    taken.entry(path.to_owned()).or_insert_with(|| root.join(path));
                }
            }
        }
        Ok(fs::gather(taken)?)
    }
}

/// Returns the directories of the skills that a distribution ships, out of all in `paths`: those below a
/// directory `skills`, or all if there are none.
fn chosen<'a>(paths: impl Iterator<Item = &'a str>) -> Vec<String> {
    let dirs: Vec<&str> = paths
        .filter_map(skill_dir)
        // A skill in `site-packages` itself would be all packages.
        .filter(|dir| !dir.is_empty() && !dir.split('/').any(|part| TESTS.contains(&part)))
        .collect();
    let is_kept = |dir: &&str| {
        let parts: Vec<&str> = dir.split('/').collect();
        parts[..parts.len() - 1].contains(&"skills")
    };
    let kept: Vec<_> = dirs.iter().copied().filter(|dir| is_kept(dir)).collect();
    let kept = if kept.is_empty() { dirs } else { kept };
    kept.into_iter().map(ToOwned::to_owned).collect()
}

/// Reports whether Python generated the file: such files differ from machine to machine.
fn is_compiled(path: &str) -> bool {
    path.split('/').any(|part| part == "__pycache__")
        || Path::new(path).extension().is_some_and(|e| e == "pyc")
}

/// Returns the first field of a line of comma-separated values, or `None` if a quote is not closed.
fn first_field(line: &str) -> Option<String> {
    let Some(mut rest) = line.strip_prefix('"') else {
        return Some(line.split(',').next().unwrap_or(line).to_owned());
    };
    let mut field = String::new();
    loop {
        let (part, after) = rest.split_once('"')?;
        field.push_str(part);
        match after.strip_prefix('"') {
            Some(more) => {
                field.push('"');
                rest = more;
            }
            None => return Some(field),
        }
    }
}

/// Returns the distributions that `pyproject.toml` names, otherwise those in the project's environment.
fn used(settings: &Settings, scope: ScopeRoot<'_>) -> Result<Option<Used>> {
    if let Some(file) = toml_file(&scope.root.join("pyproject.toml"))? {
        let mut names = Vec::new();
        let project = file.get("project").and_then(toml::Value::as_table);
        let groups = file.get("dependency-groups").and_then(toml::Value::as_table);
        let poetry = file.get("tool").and_then(|tool| tool.get("poetry")).and_then(toml::Value::as_table);
        requirements(project.and_then(|project| project.get("dependencies")), &mut names);
        let extras = project.and_then(|project| project.get("optional-dependencies")?.as_table());
        for list in extras.into_iter().chain(groups).flat_map(toml::Table::values) {
            requirements(Some(list), &mut names);
        }
        let poetry_groups = poetry.and_then(|poetry| poetry.get("group")?.as_table());
        let tables = poetry_groups.into_iter().flat_map(toml::Table::values);
        for table in tables.filter_map(toml::Value::as_table).chain(poetry) {
            for key in ["dependencies", "dev-dependencies"] {
                let own = table.get(key).and_then(toml::Value::as_table);
                names.extend(
                    own.into_iter().flat_map(toml::Table::keys).filter(|name| *name != "python").cloned(),
                );
            }
        }
        if project.is_some() || groups.is_some() || poetry.is_some() {
            return Ok(Some(Used { told_by: "pyproject.toml".to_owned(), names: sorted(names) }));
        }
    }
    let mut hints = OWN.to_vec();
    hints.extend(["requirements.txt", "setup.py", "setup.cfg", "pyproject.toml"]);
    let mut is_python = false;
    for name in hints {
        is_python |= fs::kind(&scope.root.join(name))?.is_some();
    }
    // An environment that happens to be active proves nothing about a project without Python.
    if !is_python && settings.env.get(env::SKILLPM_PYTHON_ENV).is_none() {
        return Ok(None);
    }
    let Some(environment) = environment(settings, scope, &mut Vec::new())? else { return Ok(None) };
    let mut names = Vec::new();
    for site in environment.sites()? {
        names.extend(
            fs::list_dir(&site)?
                .iter()
                .filter_map(|entry| split(entry))
                .map(|(name, _)| distribution_name(name)),
        );
    }
    let told_by = environment.dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Some(Used { told_by, names: sorted(names) }))
}

/// Adds the names of the distributions in a list of requirements: `name[extra]>=1; python_version>"3"`.
fn requirements(list: Option<&toml::Value>, names: &mut Vec<String>) {
    for requirement in
        list.and_then(toml::Value::as_array).into_iter().flatten().filter_map(toml::Value::as_str)
    {
        let requirement = requirement.trim_start();
        let end = requirement.find(|c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c));
        let name = &requirement[..end.unwrap_or(requirement.len())];
        if !name.is_empty() {
            names.push(distribution_name(name));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_as_pep_503_says() {
        for name in ["Friendly-Bard", "friendly_bard", "FRIENDLY--._bard"] {
            assert_eq!(distribution_name(name), "friendly-bard");
        }
        assert_eq!(split("some_pkg-1.0.dist-info"), Some(("some_pkg", "1.0")));
        assert_eq!(split("some_pkg-1.0.egg-info"), None);
    }

    #[test]
    fn lines_of_a_record() {
        let field = |line| first_field(line);
        assert_eq!(field("a/b.py,sha256=x,1").as_deref(), Some("a/b.py"));
        assert_eq!(field("\"a, \"\"b\"\".py\",,").as_deref(), Some("a, \"b\".py"));
        assert_eq!(field("\"a"), None);
        assert_eq!(field("").as_deref(), Some(""));
    }

    #[test]
    fn what_counts_as_shipped() {
        let dirs = |paths: &[&str]| chosen(paths.iter().copied());
        assert_eq!(
            dirs(&["p/skills/a/SKILL.md", "p/.agents/skills/b/SKILL.md", "p/template/SKILL.md", "p/x.py"]),
            ["p/skills/a", "p/.agents/skills/b"]
        );
        assert_eq!(dirs(&["p/bundled/a/SKILL.md", "p/tests/skills/t/SKILL.md", "SKILL.md"]), ["p/bundled/a"]);
        assert_eq!(dirs(&["p/skills/SKILL.md"]), ["p/skills"]);
        assert!(is_compiled("p/skills/a/__pycache__/x.cpython-311.pyc"));
    }

    #[test]
    fn names_in_requirements() {
        let list: toml::Table =
            "x = ['Django>=4; python_version>\"3\"', 'a.b[extra] @ https://h/x', ' c', {include-group = 'x'}, '@']"
                .parse()
                .unwrap();
        let mut names = Vec::new();
        requirements(list.get("x"), &mut names);
        assert_eq!(names, ["django", "a-b", "c"]);
    }
}
