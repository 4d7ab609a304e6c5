//! What the manifest says of one skill.

use super::{ManifestError, Requirement};
use crate::spec::{
    Ecosystem, GitUrl, Origin, PUBLIC_HOST, Package, Reference, Repository, SourceSpec, SpecError,
    check_directory,
};

/// The keys that name a source. `path` is one where none of these stands.
pub(super) const SOURCES: &[&str] = &["github", "git", "url", "python", "npm", "r", "crate"];

/// The keys that name a revision of a repository.
pub(super) const REVISIONS: &[&str] = &["tag", "branch", "rev", "ref"];

/// The keys of a skill.
pub(super) const KEYS: &[&str] = &[
    "github",
    "git",
    "url",
    "python",
    "npm",
    "r",
    "crate",
    "path",
    "subdir",
    "tag",
    "branch",
    "rev",
    "ref",
    "name",
    "agents",
    "disabled",
    "dependency",
    "editable",
];

/// Keys and values, in whichever way they were read.
pub(super) trait Said {
    /// The error that something is wrong with all of it.
    fn fault(&self, message: String) -> ManifestError;

    /// Refuses keys that are not in `known`.
    fn known(&self, known: &[&str]) -> Result<(), ManifestError>;

    /// The text under `key`, which is neither empty nor has control characters.
    fn string(&self, key: &str) -> Result<Option<&str>, ManifestError>;

    /// The list of texts under `key`.
    fn strings(&self, key: &str) -> Result<Option<Vec<String>>, ManifestError>;

    /// Whether `key` is `true`.
    fn flag(&self, key: &str) -> Result<bool, ManifestError>;
}

/// What is `said` of a skill.
///
/// # Errors
///
/// The first thing that is wrong.
pub(super) fn read(said: &impl Said) -> Result<Requirement, ManifestError> {
    let name = said.string("name")?.map(ToOwned::to_owned);
    let path = said.string("path")?;
    let mut sources = Vec::new();
    for key in SOURCES {
        sources.extend(said.string(key)?.map(|text| (*key, text)));
    }
    let (origin, keys): (_, &[&str]) = match (&sources[..], path) {
        ([(key @ ("github" | "git"), text)], _) => {
            let origin = match *key {
                "github" => Repository::parse(text).map(Origin::GitHub),
                _ => GitUrl::new(text).map(Origin::Git),
            };
            (
                origin,
                &[key, "path", "tag", "branch", "rev", "ref", "name", "agents", "disabled", "dependency"],
            )
        }
        ([("url", text)], _) => {
            (Origin::on_the_web(text), &["url", "path", "name", "agents", "disabled", "dependency"])
        }
        ([(key, text)], _) => {
            let ecosystem = Ecosystem::ALL.into_iter().find(|ecosystem| ecosystem.key() == *key);
            let package = ecosystem.map(|ecosystem| Package::new(ecosystem, text));
            let package = package.unwrap_or_else(|| Err(SpecError::Unsupported((*text).to_owned())));
            (package.map(Origin::Package), &[key, "path", "name", "agents", "disabled", "dependency"])
        }
        ([], Some(path)) if path.contains("://") => {
            let error = said
                .fault(format!("`path` names a directory or file on a machine, and `{path}` is an address"));
            return Err(ManifestError { hint: meant(path).map(|keys| format!("write `{keys}`")), ..error });
        }
        ([], Some(path)) => (
            Ok(Origin::Local(path.to_owned())),
            &["path", "subdir", "name", "editable", "agents", "disabled", "dependency"],
        ),
        ([], None) => {
            said.known(KEYS)?;
            let keys = SOURCES.join("`, `");
            return Err(said.fault(format!("a skill needs a source: `{keys}` or `path`")));
        }
        ([(one, _), (other, _), ..], _) => {
            return Err(said.fault(format!("a skill has one source: `{one}` or `{other}`")));
        }
    };
    said.known(keys)?;
    let origin = origin.map_err(|error| {
        let hint = sources.first().and_then(|(key, text)| how_to_name(key, text));
        ManifestError { hint, ..said.fault(error.to_string()) }
    })?;
    let path = if matches!(origin, Origin::Local(_)) { said.string("subdir")? } else { path };
    let path = directory(said, path)?;
    let reference = reference(said)?;
    let agents = said.strings("agents")?;
    let (disabled, dependency) = (said.flag("disabled")?, said.flag("dependency")?);
    let editable = said.flag("editable")?;
    Ok(Requirement { origin, path, reference, name, agents, disabled, dependency, editable })
}

/// What is said here in place of a key that other tools have, or that belongs to another source: `known` are the keys
/// that this one takes.
pub(super) fn elsewhere(key: &str, value: &str, known: &[&str]) -> Option<String> {
    match key {
        "commit" | "revision" | "sha" if known.contains(&"rev") => Some("did you mean `rev`?".to_owned()),
        "dir" | "directory" | "folder" | "subdir" | "subdirectory" if known.contains(&"path") => {
            let name = if known.contains(&"subdir") { "subdir" } else { "path" };
            Some(format!("did you mean `{name}`?"))
        }
        "version" if known.contains(&"tag") => {
            Some("name a version by its tag, as in `tag = \"v1.2.0\"`".to_owned())
        }
        "from" | "repo" | "repository" | "source" | "src" | "uri" => {
            meant(value).map(|keys| format!("write `{keys}`"))
        }
        "bitbucket" | "codeberg" | "gitlab" => {
            meant(&format!("{key}:{value}")).map(|keys| format!("write `{keys}`"))
        }
        _ => None,
    }
}

/// What to write in place of `text`, which `key` does not take.
fn how_to_name(key: &str, text: &str) -> Option<String> {
    let example = match key {
        "github" => Some("github = \"owner/repo\""),
        "git" => Some("git = \"https://host/repo.git\""),
        "url" => Some("url = \"https://host/skills.zip\""),
        _ => None,
    };
    Some(format!("write `{}`", meant(text).or_else(|| example.map(ToOwned::to_owned))?))
}

/// How the manifest says what `text` means after `skillpm install`.
pub(super) fn meant(text: &str) -> Option<String> {
    let SourceSpec { origin, path, reference, skill: _ } = text.parse().ok()?;
    let origin = match origin {
        Origin::GitHub(repository) => Origin::GitHub(repository.on(PUBLIC_HOST)),
        other => other,
    };
    let keys = Requirement { path, reference, ..Requirement::new(origin) }.to_toml().to_string();
    Some(keys.trim_matches(['{', '}', ' ']).to_owned())
}

fn directory(said: &impl Said, path: Option<&str>) -> Result<Option<String>, ManifestError> {
    if let Some(path) = path {
        check_directory(path).map_err(|error| said.fault(error.to_string()))?;
    }
    Ok(path.map(ToOwned::to_owned))
}

fn reference(said: &impl Said) -> Result<Option<Reference>, ManifestError> {
    let mut found = None;
    for key in REVISIONS.iter().copied() {
        let Some(name) = said.string(key)? else { continue };
        Reference::check(name).map_err(|error| said.fault(error.to_string()))?;
        let name = name.to_owned();
        let reference = match key {
            "tag" => Reference::Tag(name),
            "branch" => Reference::Branch(name),
            "rev" => Reference::Rev(name),
            _ => Reference::Any(name),
        };
        if found.replace(reference).is_some() {
            return Err(said.fault("only one of `tag`, `branch`, `rev` and `ref` can be given".to_owned()));
        }
    }
    Ok(found)
}
