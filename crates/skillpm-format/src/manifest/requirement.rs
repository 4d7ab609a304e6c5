//! The manifest entry of one skill.

use super::error::ManifestError;
use super::registries::Registries;
use crate::name::SkillName;
use crate::spec::{
    KINDS, Kind, Origin, PUBLIC_HOST, Reference, Registry, SourceSpec, SpecError, check_directory,
};

/// The statements of a manifest about one skill; the key is the name under which the skill is installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// The source of the skill.
    pub origin: Origin,
    /// The directory below the origin; `None` means its root, or wherever the skill is found.
    pub path: Option<String>,
    /// The requested revision; `None` means the default branch.
    pub reference: Option<Reference>,
    /// The skill's own name, if it is installed under another one.
    pub name: Option<String>,
    /// The agents that get a link to this skill, overriding [`Agents::targets`](super::Agents::targets). With an empty list, no agent gets one.
    pub agents: Option<Vec<String>>,
    /// Whether the skill stays installed but no agent sees it.
    pub disabled: bool,
    /// Whether the skill is installed only because others need it, and is removed with them.
    pub dependency: bool,
    /// Whether to link to the directory at the origin rather than copy it.
    pub editable: bool,
}

impl Requirement {
    /// Returns the skill's name in its source, if that lists several versions of it.
    pub fn released(&self) -> Option<&str> {
        self.origin.released(self.path.as_deref())
    }

    /// Returns the requirement of a skill for which only the origin is given.
    pub fn new(origin: Origin) -> Self {
        Self {
            origin,
            path: None,
            reference: None,
            name: None,
            agents: None,
            disabled: false,
            dependency: false,
            editable: false,
        }
    }

    /// Reports whether the entry can be left out: a dependency needs no entry unless it is disabled or names its agents.
    pub fn is_implied(&self) -> bool {
        self.dependency && !self.disabled && self.agents.is_none()
    }
}

/// The key of a path on this machine. For every other source it is the key of a directory in it.
const PATH: &str = "path";

/// Returns the keys that name a source, each with its kind.
fn source_keys() -> impl Iterator<Item = (&'static Kind, &'static str)> {
    KINDS.iter().flat_map(|kind| kind.manifest_keys.iter().map(move |key| (kind, *key)))
}

/// Returns the keys that name a source. `path` names one if none of these is present.
pub(super) fn sources() -> impl Iterator<Item = &'static str> {
    source_keys().map(|(_, key)| key).filter(|key| *key != PATH)
}

/// The keys that name a revision of a repository.
pub(super) const REVISIONS: &[&str] = &["tag", "branch", "rev", "ref"];
/// The key of a range of versions in a registry.
pub(super) const VERSION: &str = "version";

/// Returns the keys of sources that have revisions, as a list in a sentence.
pub(super) fn with_revisions() -> String {
    let has = |kind: &Kind, key| kind.entry_keys(key).iter().any(|key| REVISIONS.contains(key));
    let keys: Vec<_> =
        source_keys().filter(|(kind, key)| has(kind, key)).map(|(_, key)| format!("`{key}`")).collect();
    match &keys[..] {
        [others @ .., last] if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        keys => keys.concat(),
    }
}

/// Returns the keys of a skill, for sources of all kinds.
fn all_keys() -> Vec<&'static str> {
    let mut keys: Vec<_> = sources().collect();
    for key in source_keys().flat_map(|(kind, key)| kind.entry_keys(key)) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys
}

/// Keys and values, regardless of how they were read.
pub(super) trait ReferenceText {
    /// Returns an error about the whole entry.
    fn fault(&self, message: String) -> ManifestError;

    /// Refuses keys that are not in `known`.
    fn known(&self, known: &[&str]) -> Result<(), ManifestError>;

    /// Returns the text under `key`, which is neither empty nor contains control characters.
    fn string(&self, key: &str) -> Result<Option<&str>, ManifestError>;

    /// Returns the list of texts under `key`.
    fn strings(&self, key: &str) -> Result<Option<Vec<String>>, ManifestError>;

    /// Reports whether `key` is `true`.
    fn flag(&self, key: &str) -> Result<bool, ManifestError>;
}

/// Reads the entry of the skill `key_of_entry` from `said`, with the names of `registries`.
pub(super) fn read(
    said: &impl ReferenceText,
    key_of_entry: &SkillName,
    registries: &Registries,
) -> Result<Requirement, ManifestError> {
    let name = said.string("name")?.map(ToOwned::to_owned);
    let path = said.string("path")?;
    let mut named = Vec::new();
    for (kind, key) in source_keys().filter(|(_, key)| *key != PATH) {
        named.extend(said.string(key)?.map(|text| (kind, key, text)));
    }
    let local = source_keys().find(|(_, key)| *key == PATH);
    let (kind, key, text) = match (&named[..], path, local) {
        ([one], ..) => *one,
        ([], Some(path), _) if path.contains("://") => {
            let error = said
                .fault(format!("`path` names a directory or file on a machine, and `{path}` is an address"));
            return Err(ManifestError {
                hint: meant(path).map(|keys| format!("write `{keys}`").into()),
                ..error
            });
        }
        ([], Some(path), Some((kind, key))) => (kind, key, path),
        ([], ..) => {
            said.known(&all_keys())?;
            let keys = sources().collect::<Vec<_>>().join("`, `");
            return Err(said.fault(format!("a skill needs a source: `{keys}` or `path`")));
        }
        ([(_, one, _), (_, other, _), ..], ..) => {
            return Err(said.fault(format!("a skill has one source: `{one}` or `{other}`")));
        }
    };
    said.known(&kind.entry_keys(key))?;
    let origin = (kind.from_manifest)(key, text).map_err(|error: SpecError| ManifestError {
        hint: how_to_name(kind, text).map(Into::into),
        ..said.fault(error.to_string())
    })?;
    let origin = settled(said, origin, registries)?;
    let own = name.as_deref().unwrap_or(key_of_entry.as_str());
    let path = match origin.released(Some(own)) {
        Some(own) => Some(own.to_owned()),
        None => directory(said, said.string(origin.directory_key())?)?,
    };
    let reference = reference(said)?;
    let agents = said.strings("agents")?;
    let (disabled, dependency) = (said.flag("disabled")?, said.flag("dependency")?);
    let editable = said.flag("editable")?;
    Ok(Requirement { origin, path, reference, name, agents, disabled, dependency, editable })
}

/// Returns what to write here instead of a key that other tools have, or that belongs to another source: `known` are
/// the keys that this source accepts.
pub(super) fn elsewhere(key: &str, value: &str, known: &[&str]) -> Option<String> {
    match key {
        "commit" | "revision" | "sha" if known.contains(&"rev") => Some("did you mean `rev`?".to_owned()),
        "dir" | "directory" | "folder" | "subdir" | "subdirectory" if known.contains(&"path") => {
            let name = if known.contains(&"subdir") { "subdir" } else { "path" };
            Some(format!("did you mean `{name}`?"))
        }
        VERSION if known.contains(&"tag") => Some(
            "name a version by its tag, as in `tag = \"v1.2.0\"`, or tags by a range, as in `tag = \"^1.2\"`"
                .to_owned(),
        ),
        "from" | "repo" | "repository" | "source" | "src" | "uri" => {
            meant(value).map(|keys| format!("write `{keys}`"))
        }
        "bitbucket" | "codeberg" | "gitlab" => {
            meant(&format!("{key}:{value}")).map(|keys| format!("write `{keys}`"))
        }
        _ => None,
    }
}

/// Returns what to write instead of `text`, which sources of the kind `kind` do not accept.
fn how_to_name(kind: &Kind, text: &str) -> Option<String> {
    Some(format!("write `{}`", meant(text).or_else(|| kind.example.map(ToOwned::to_owned))?))
}

/// Returns the manifest form of what `text` means after `skillpm install`.
pub(super) fn meant(text: &str) -> Option<String> {
    let SourceSpec { origin, path, reference, skill: _ } = text.parse().ok()?;
    let origin = origin.or_on_host(PUBLIC_HOST);
    let requirement = Requirement { path, reference, ..Requirement::new(origin) };
    let keys = requirement.to_toml(None).to_string();
    Some(keys.trim_matches(['{', '}', ' ']).to_owned())
}

/// Returns `origin`, a registry with its address.
fn settled(
    said: &impl ReferenceText,
    origin: Origin,
    registries: &Registries,
) -> Result<Origin, ManifestError> {
    let registry = match Registry::try_from(origin) {
        Ok(registry) => registry,
        Err(origin) => return Ok(origin),
    };
    let settled = registries.settled(registry);
    settled
        .map(Into::into)
        .map_err(|(message, hint)| ManifestError { hint: Some(hint.into()), ..said.fault(message) })
}

fn directory(said: &impl ReferenceText, path: Option<&str>) -> Result<Option<String>, ManifestError> {
    if let Some(path) = path {
        check_directory(path).map_err(|error| said.fault(error.to_string()))?;
    }
    Ok(path.map(ToOwned::to_owned))
}

fn reference(said: &impl ReferenceText) -> Result<Option<Reference>, ManifestError> {
    let mut found = None;
    for key in REVISIONS.iter().copied().chain([VERSION]) {
        let Some(name) = said.string(key)? else { continue };
        let plain = |kind: fn(String) -> Reference| Reference::check(name).map(|()| kind(name.to_owned()));
        let reference = match key {
            "tag" => Reference::tag(name),
            "branch" => plain(Reference::Branch),
            "rev" => Reference::rev(name),
            VERSION => Reference::version(name),
            _ => plain(Reference::Any),
        };
        let reference = reference.map_err(|error| said.fault(error.to_string()))?;
        if found.replace(reference).is_some() {
            return Err(said.fault("only one of `tag`, `branch`, `rev` and `ref` can be given".to_owned()));
        }
    }
    Ok(found)
}
