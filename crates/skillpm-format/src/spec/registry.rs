//! Registries: skills with versions, in files at an address or in a directory on this machine.

use std::borrow::Cow;

use super::kind::{Compared, PatternForm, SourceFacts, SourceKind, Typed};
use super::{
    Address, KINDS, Kind, Origin, Reference, SourceSpec, SpecError, is_local, skill_name, split_directory,
    split_suffixes, subdirectory,
};
use crate::version::Version;

/// A registry of skills.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Registry {
    /// Files at an address on the web.
    Web(Address),
    /// A directory on this machine, as typed.
    Directory(String),
    /// A name that `[registries]` of the manifest gives to one of the others.
    Named(String),
}

/// The name of the registry that is meant where none is named.
pub const DEFAULT_REGISTRY: &str = "default";

impl Registry {
    /// Reads the address or directory of a registry. `file:///srv/registry` is the directory `/srv/registry`.
    ///
    /// # Errors
    ///
    /// Fails if `text` is neither.
    pub fn new(text: &str) -> Result<Self, SpecError> {
        let unsupported = || SpecError::Unsupported(text.to_owned());
        if text.chars().any(char::is_control) || text.contains("//#") {
            return Err(unsupported());
        }
        if let Some(path) = text.strip_prefix("file://") {
            // `file:///C:/registry`: the drive is the first part, not a directory.
            let drive = path.strip_prefix('/').filter(|rest| rest.as_bytes().get(1) == Some(&b':'));
            let path = drive.unwrap_or(path);
            return if is_local(path) { Ok(Self::Directory(path.to_owned())) } else { Err(unsupported()) };
        }
        if is_local(text) {
            let path = text.trim_end_matches('/');
            return Ok(Self::Directory(if path.is_empty() { "/".to_owned() } else { path.to_owned() }));
        }
        let address = Address::new(text)?;
        // A path below it could not be named.
        if address.as_str().contains('?') { Err(unsupported()) } else { Ok(Self::Web(address)) }
    }

    /// Reads the value of the key `registry` of a manifest: a name, or the forms of [`Registry::new`].
    ///
    /// # Errors
    ///
    /// Fails for any other text.
    pub fn named_or_new(text: &str) -> Result<Self, SpecError> {
        if is_registry_name(text) { Ok(Self::Named(text.to_owned())) } else { Self::new(text) }
    }
}

/// Reports whether `text` can be the name of a registry in `[registries]`.
pub fn is_registry_name(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    // One letter could be a drive of Windows.
    text.len() > 1 && text.len() <= 64 && text.chars().all(is_part) && !text.starts_with('-')
}

/// Reports whether `text`, before a colon, begins a source of some kind: `npm:pdf`, `https://host`.
pub fn is_source_prefix(text: &str) -> bool {
    const SCHEMES: &[&str] = &["file", "http", "https", "ssh"];
    let typed = format!("{text}:x");
    let is_of = |kind: &Kind| {
        kind.keys.contains(&text) || kind.manifest_keys.contains(&text) || (kind.named)(&typed).is_some()
    };
    SCHEMES.contains(&text) || KINDS.iter().any(is_of)
}

impl SourceKind for Registry {
    const KEYS: &'static [&'static str] = &["registry"];
    const MANIFEST_KEYS: &'static [&'static str] = &["registry"];
    const OTHER_KEYS: &'static [&'static str] = &["version"];
    const EXAMPLE: Option<&'static str> = Some("registry = \"https://skills.example.com\"");
    const PATTERN: PatternForm = PatternForm::Address;
    const TYPED: &'static [Typed] = &[
        (
            &["registry:https://host//pdf", "registry:https://host//pdf#^1.2"],
            "the skill `pdf` of a [registry](../guide/versions.md), in a range of versions",
        ),
        (
            &["registry:./dir//pdf"],
            "the same of a registry in a directory on this machine, or in a [bundle](../guide/air-gap.md)",
        ),
    ];

    fn read(_: &'static str, text: &str) -> Result<Self, SpecError> {
        Self::new(text)
    }

    fn from_manifest(_: &'static str, text: &str) -> Result<Origin, SpecError> {
        Self::named_or_new(text).map(Into::into)
    }

    fn named(text: &str) -> Option<Result<SourceSpec, SpecError>> {
        text.strip_prefix("registry:").map(typed)
    }
}

/// Reads `PLACE//name#range`, `PLACE@name` or `PLACE` alone.
fn typed(text: &str) -> Result<SourceSpec, SpecError> {
    let (place, reference, skill) = split_suffixes(text);
    let (place, path) = split_directory(place);
    Ok(SourceSpec {
        origin: Registry::named_or_new(place)?.into(),
        path: subdirectory(path)?,
        reference: reference.map(Reference::version).transpose()?,
        skill: skill.map(skill_name).transpose()?,
    })
}

impl SourceFacts for Registry {
    fn kind(&self) -> &'static str {
        "registry"
    }

    fn written(&self) -> String {
        match self {
            Self::Web(address) => address.to_string(),
            Self::Directory(text) | Self::Named(text) => text.clone(),
        }
    }

    fn web_address(&self) -> Option<&Address> {
        match self {
            Self::Web(address) => Some(address),
            Self::Directory(_) | Self::Named(_) => None,
        }
    }

    fn path_here(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Directory(path) => Some(path.into()),
            Self::Web(_) | Self::Named(_) => None,
        }
    }

    fn delivers_each(&self) -> bool {
        true
    }

    fn has_versions(&self) -> bool {
        true
    }

    fn range_key(&self) -> &'static str {
        "version"
    }

    fn check_revision(&self, revision: &str) -> Result<(), String> {
        match Version::new(revision) {
            Ok(_) => Ok(()),
            Err(error) => Err(format!("the revision of a skill from a registry is its version: {error}")),
        }
    }

    fn compared(&self) -> Compared<'_> {
        match self {
            Self::Web(address) => Compared::Address(address),
            Self::Directory(text) | Self::Named(text) => Compared::Path(text),
        }
    }

    fn version_hint(&self) -> &'static str {
        "a range of versions follows the name, as in `pdf@^1.2`"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_registries() {
        for (text, written) in [
            ("https://Skills.example.com/team/", "https://skills.example.com/team"),
            ("HTTPS://skills.example.com:443/team", "https://skills.example.com/team"),
            ("http://[::1]:80/", "http://[::1]"),
            ("https://skills.example.com:8443", "https://skills.example.com:8443"),
            ("file:///srv/registry", "/srv/registry"),
            ("file:///C:/registry", "C:/registry"),
            ("./registry/", "./registry"),
            ("~/registry", "~/registry"),
        ] {
            let registry = Registry::new(text).expect(text);
            assert_eq!(registry.written(), written);
            assert_eq!(Registry::new(written), Ok(registry));
        }
        for text in ["acme", "https://host/x?y", "ftp://host", "file://host/x", "https://me@host"] {
            assert!(Registry::new(text).is_err(), "{text}");
        }
        assert_eq!(Registry::named_or_new("acme"), Ok(Registry::Named("acme".to_owned())));
    }

    #[test]
    fn prefixes_of_sources() {
        for text in ["npm", "github", "registry", "git", "gitlab", "url", "site", "path", "https"] {
            assert!(is_source_prefix(text), "{text}");
        }
        for text in ["acme", "default", "skills", "npm-internal"] {
            assert!(!is_source_prefix(text), "{text}");
        }
    }

    #[test]
    fn what_is_typed_reads_back() {
        for text in [
            "registry:https://host/team//pdf#versions",
            "registry:https://host//pdf#^1.2",
            "registry:https://host//pdf#=1.2.0-rc.1",
            "registry:./dir//pdf",
            "registry:acme//pdf#~2",
            "registry:https://host",
        ] {
            let spec: Result<SourceSpec, _> = text.parse();
            match spec {
                Ok(spec) => assert_eq!(spec.to_string().parse(), Ok(spec), "{text}"),
                Err(error) => assert!(text.ends_with("#versions"), "{text}: {error}"),
            }
        }
    }
}
