//! Repositories of OCI registries: artifacts that hold skills.

use super::address::is_host;
use super::kind::{Compared, PatternForm, SourceFacts, SourceKind, Typed};
use super::{
    Address, Reference, SourceSpec, SpecError, is_loopback, skill_name, split_directory, split_suffixes,
    subdirectory,
};
use crate::digest::Digest;

/// The longest name of a repository, in bytes.
const MAX_NAME: usize = 255;
/// The longest tag, in bytes.
const MAX_TAG: usize = 128;

/// A repository of an OCI registry. It is read over `https`, or over `http` if the registry is on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OciRepository(Address);

impl OciRepository {
    /// Reads `host[:port]/path/name`.
    ///
    /// # Errors
    ///
    /// Fails if the host or the name is not one that OCI's distribution specification allows.
    pub fn new(text: &str) -> Result<Self, SpecError> {
        let bad = || SpecError::BadOci(text.to_owned());
        let (host, name) = text.split_once('/').ok_or_else(bad)?;
        if host.contains('@') {
            return Err(SpecError::Credentials);
        }
        if !is_host(host) || !is_repository(name) {
            return Err(bad());
        }
        let address = Address::new(&format!("https://{host}/{name}"))?;
        if is_loopback(address.host()) {
            return Address::new(&format!("http://{host}/{name}")).map(Self);
        }
        Ok(Self(address))
    }

    /// Returns the registry: a host, with its port if it is not the usual one.
    pub fn registry(&self) -> &str {
        let text = self.text();
        text.split_once('/').map_or(text, |(registry, _)| registry)
    }

    /// Returns the name of the repository in its registry.
    pub fn name(&self) -> &str {
        self.0.path().trim_start_matches('/')
    }

    /// Reports whether the registry is on this machine, and so is read over `http`.
    pub fn is_here(&self) -> bool {
        is_loopback(self.0.host())
    }

    /// Returns the repository without the scheme.
    fn text(&self) -> &str {
        let text = self.0.as_str();
        text.split_once("://").map_or(text, |(_, rest)| rest)
    }
}

/// Reports whether `text` can be the name of a repository: components in lower case, separated by slashes.
fn is_repository(text: &str) -> bool {
    text.len() <= MAX_NAME && text.split('/').all(is_component)
}

fn is_component(text: &str) -> bool {
    let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_separator = |text: &str| matches!(text, "." | "_" | "__") || text.bytes().all(|byte| byte == b'-');
    text.starts_with(is_word) && text.ends_with(is_word) && text.split(is_word).all(is_separator)
}

/// Reports whether `text` can be a tag in an OCI registry that manifests and lockfiles can name.
pub fn is_oci_tag(text: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.len() <= MAX_TAG
        && text.starts_with(is_word)
        && text.chars().all(|c| is_word(c) || matches!(c, '.' | '-'))
        && Reference::check(text).is_ok()
}

impl SourceKind for OciRepository {
    const KEYS: &'static [&'static str] = &["oci"];
    const MANIFEST_KEYS: &'static [&'static str] = &["oci"];
    const OTHER_KEYS: &'static [&'static str] = &["path", "tag", "rev"];
    const EXAMPLE: Option<&'static str> = Some("oci = \"ghcr.io/acme/pdf\"");
    const PATTERN: PatternForm = PatternForm::Address;
    const TYPED: &'static [Typed] = &[
        (
            &["oci://host/team/pdf", "oci://host/team/pdf:1.2.0"],
            "an [artifact in an OCI registry](#oci-registries), at the tag `latest` or another one",
        ),
        (&["oci://host/team/pdf#^1.2"], "the same at the highest version in a range"),
        (&["oci://host/team/all:1.2.0@pdf"], "the skill `pdf` of a collection"),
    ];

    fn read(_: &'static str, text: &str) -> Result<Self, SpecError> {
        Self::new(text)
    }

    fn named(text: &str) -> Option<Result<SourceSpec, SpecError>> {
        text.strip_prefix("oci:").map(|rest| typed(rest.strip_prefix("//").unwrap_or(rest)))
    }
}

/// Reads `host/name:tag//directory@skill`, with `@sha256:…` or `#range` in the place of the tag.
fn typed(text: &str) -> Result<SourceSpec, SpecError> {
    let (place, after, skill) = split_suffixes(text);
    let (place, path) = split_directory(place);
    let (repository, within) = split_revision(place);
    // The text after `@` is a digest if it has a colon, and after a tag behind `:`, a `#` would begin a second revision.
    if skill.is_some_and(|skill| skill.contains([':', '#'])) {
        return Err(SpecError::BadSkill);
    }
    let reference = match (within, after) {
        (Some(_), Some(_)) => return Err(SpecError::TwoRevisions(text.to_owned())),
        (one, other) => one.or(other).map(reference).transpose()?,
    };
    Ok(SourceSpec {
        origin: OciRepository::new(repository)?.into(),
        path: subdirectory(path)?,
        reference,
        skill: skill.map(skill_name).transpose()?,
    })
}

/// Splits the tag or the digest from a repository.
fn split_revision(place: &str) -> (&str, Option<&str>) {
    if let Some((repository, digest)) = place.split_once('@') {
        return (repository, Some(digest));
    }
    let name = place.rfind('/').map_or(place.len(), |at| at + 1);
    match place[name..].find(':') {
        Some(at) => (&place[..name + at], Some(&place[name + at + 1..])),
        None => (place, None),
    }
}

/// Returns the digest, the tag or the range of versions that `text` is.
fn reference(text: &str) -> Result<Reference, SpecError> {
    if let Ok(digest) = text.parse::<Digest>() {
        return Ok(Reference::Rev(digest.to_string()));
    }
    if is_oci_tag(text) {
        return Ok(Reference::Tag(text.to_owned()));
    }
    match Reference::version(text) {
        Ok(range) if !text.contains(':') => Ok(range),
        _ => Err(SpecError::BadTag(text.to_owned())),
    }
}

impl SourceFacts for OciRepository {
    fn kind(&self) -> &'static str {
        "oci"
    }

    fn written(&self) -> String {
        self.text().to_owned()
    }

    fn in_full(&self) -> String {
        format!("oci://{}", self.text())
    }

    fn revision_mark(&self, reference: &Reference) -> Option<String> {
        match reference {
            Reference::Tag(tag) => Some(format!(":{tag}")),
            Reference::Rev(digest) => Some(format!("@{digest}")),
            Reference::Any(_) | Reference::Branch(_) | Reference::Range(_) => None,
        }
    }

    fn address(&self) -> Option<String> {
        Some(self.0.to_string())
    }

    fn has_revisions(&self) -> bool {
        true
    }

    fn check_revision(&self, revision: &str) -> Result<(), String> {
        match revision.parse::<Digest>() {
            Ok(_) => Ok(()),
            Err(error) => Err(format!("the revision of an artifact is the digest of its manifest: {error}")),
        }
    }

    fn compared(&self) -> Compared<'_> {
        Compared::Address(&self.0)
    }

    fn version_hint(&self) -> &'static str {
        "`@` names a skill; a tag follows `:`, as in `oci://host/team/pdf:1.2.0`"
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn repositories_of_registries() {
        for (text, written, registry, name, is_here) in [
            ("ghcr.io/acme/pdf", "ghcr.io/acme/pdf", "ghcr.io", "acme/pdf", false),
            ("GHCR.io:443/a", "ghcr.io/a", "ghcr.io", "a", false),
            ("host:5000/a/b__c/d-.e", "", "", "", false),
            (
                "host:5000/a/b__c/d---e.f_0",
                "host:5000/a/b__c/d---e.f_0",
                "host:5000",
                "a/b__c/d---e.f_0",
                false,
            ),
            ("localhost:5000/pdf", "localhost:5000/pdf", "localhost:5000", "pdf", true),
            ("[::1]:5000/pdf", "[::1]:5000/pdf", "[::1]:5000", "pdf", true),
            ("127.0.0.1.example/pdf", "127.0.0.1.example/pdf", "127.0.0.1.example", "pdf", false),
        ] {
            let repository = match OciRepository::new(text) {
                Ok(repository) => repository,
                Err(error) => {
                    assert!(written.is_empty(), "{text}: {error}");
                    continue;
                }
            };
            assert_eq!(repository.written(), written);
            assert_eq!((repository.registry(), repository.name()), (registry, name));
            assert_eq!(repository.is_here(), is_here, "{text}");
            assert_eq!(OciRepository::new(written), Ok(repository));
        }
        let long = format!("host/{}", "a".repeat(256));
        for text in [
            "",
            "pdf",
            "host/",
            "/pdf",
            "host/Acme",
            "host/a//b",
            "host/a/",
            "host/a..b",
            "host/a___b",
            "host/-a",
            "host/a_",
            "host/a b",
            "host/a?b",
            "host:x/a",
            "me@host/a",
            "host/é",
            "host/a:b",
            "http://host/a",
            &long,
        ] {
            assert!(OciRepository::new(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_typed_reads_back() {
        let digest = format!("sha256:{}", "0a".repeat(32));
        let tag = |tag: &str| Some(Reference::Tag(tag.to_owned()));
        for (text, full, reference) in [
            ("oci://host/a/pdf", "oci://host/a/pdf", None),
            ("oci:host/a/pdf", "oci://host/a/pdf", None),
            ("oci://host:5000/pdf:1.2.0", "oci://host:5000/pdf:1.2.0", tag("1.2.0")),
            ("oci://host/pdf#1.2.0", "oci://host/pdf:1.2.0", tag("1.2.0")),
            ("oci://host/pdf:V_1@docx", "oci://host/pdf:V_1@docx", tag("V_1")),
            ("oci://host/all:1//a/b@x", "oci://host/all:1//a@x", tag("1")),
            ("oci://host/all:1//a@b/", "oci://host/all:1//a@b/", tag("1")),
            (&format!("oci://host/pdf@{digest}"), &format!("oci://host/pdf@{digest}"), None),
            (&format!("oci://host/pdf@{digest}@x"), &format!("oci://host/pdf@{digest}@x"), None),
        ] {
            let spec: SourceSpec = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
            if !text.contains("//a/b") {
                assert_eq!(spec.to_string(), full);
            }
            assert_eq!(spec.to_string().parse().as_ref(), Ok(&spec), "{text}");
            if let Some(reference) = reference {
                assert_eq!(spec.reference, Some(reference));
            }
        }
        let range: SourceSpec = "oci://host/pdf#^1.2@x".parse().expect("a range");
        assert!(range.reference.as_ref().is_some_and(|reference| reference.range().is_some()));
        assert_eq!(range.to_string(), "oci://host/pdf#^1.2@x");
        let long = format!("oci://host/pdf:{}", "a".repeat(129));
        let both = format!("oci://host/pdf:1@{digest}");
        for text in [
            "oci:",
            "oci://",
            "oci://host",
            "oci://host/pdf:",
            "oci://host/pdf:-1",
            "oci://host/pdf:1#2",
            "oci://host/pdf@sha512:00",
            "oci://host/pdf@sha256:00",
            "oci://host/pdf:a:b",
            "oci://host/pdf@",
            &long,
            &both,
        ] {
            assert!(text.parse::<SourceSpec>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_accepted_reads_back(text in "(host|a\\.b:50|\\[::1\\])/[a-b_./:@#-]{0,12}(sha256:[0-9a-f]{64})?[a@:#/]{0,3}") {
            if let Ok(spec) = format!("oci://{text}").parse::<SourceSpec>() {
                prop_assert_eq!(spec.to_string().parse(), Ok(spec.clone()));
                prop_assert_eq!(spec.origin.to_string().parse(), Ok(spec.origin));
            }
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,40}") {
            let _ = format!("oci:{text}").parse::<SourceSpec>();
            let _ = OciRepository::new(&text);
        }
    }
}
