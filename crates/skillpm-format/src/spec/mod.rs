//! Source specifications: what users type after `skillpm install`.

mod address;
mod download;
mod git;
mod github;
mod hosting;
mod kind;
mod local;
mod mcp;
mod oci;
mod origin;
mod package;
mod reference;
mod registry;
mod site;

use std::fmt;
use std::str::FromStr;

pub use address::{Address, file_stem, is_loopback};
pub use download::Download;
pub use git::{GitUrl, Transport};
pub use github::{PUBLIC_HOST, Repository, is_github_host};
pub use hosting::is_page;
pub use kind::{Compared, Foreign, Kind, NotExpressible, PatternForm, SourceFacts, SourceKind, Typed};
pub use local::{LocalPath, is_local};
pub use mcp::{McpServer, is_program_name};
pub use oci::{OciRepository, is_oci_tag};
pub use origin::{KINDS, Origin, kind_of_key, source_keys};
pub use package::{Ecosystem, Package, distribution_name};
pub use reference::{Identity, Reference, is_commit, is_object_id};
pub use registry::{DEFAULT_REGISTRY, Registry, is_registry_name, is_source_prefix};
pub use site::Site;

/// A source as typed: where skills are, at which revision, and which of them is meant.
///
/// The forms that can be typed are listed with each kind, in [`SourceKind::TYPED`], and in the reference,
/// `docs/reference/sources.md`.
///
/// [`Display`](fmt::Display) writes the full form (`github:owner/repo/path#ref@skill`), which reads back as the same
/// value.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceSpec {
    /// The source that contains the skills.
    pub origin: Origin,
    /// The requested directory below it, `/`-separated.
    pub path: Option<String>,
    /// The requested revision.
    pub reference: Option<Reference>,
    /// The name of the requested skill.
    pub skill: Option<String>,
}

/// An error for text that is not a source.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// Nothing was typed.
    #[error("the source is empty")]
    Empty,
    /// A word without a slash, such as `pdf`.
    #[error("`{0}` is not a source: expected `owner/repo` or a path such as `./{0}`")]
    Word(String),
    /// An address or scheme that is not supported.
    #[error("`{0}` is not an address that skillpm can install from")]
    Unsupported(String),
    /// A part that cannot be a name on GitHub.
    #[error("`{0}` cannot be the {1} of a repository on GitHub")]
    BadName(String, &'static str),
    /// A directory that leaves the repository, has two spellings, or ends in white space.
    #[error("`{0}` is not a directory inside a repository")]
    BadPath(String),
    /// A revision that no git server accepts, or an empty part.
    #[error("`{0}` is not the name of a tag, branch or commit")]
    BadReference(String),
    /// A text that is not a range of versions.
    #[error("`{0}` is not a version range such as `^1.2` or `>=1.2, <2`")]
    BadRange(String),
    /// Nothing after `@`.
    #[error("the name of a skill is missing after `@`")]
    BadSkill,
    /// A name that no package can have.
    #[error("`{0}` cannot be the name of a package for `{1}:`")]
    BadPackage(String, &'static str),
    /// A text that is neither the address nor the name of an MCP server.
    #[error(
        "`{0}` is not an MCP server: expected an address such as `https://host/mcp`, or a name from `[mcp]` of your own manifest"
    )]
    BadServer(String),
    /// A text that is not a repository of an OCI registry.
    #[error(
        "`{0}` is not a repository of an OCI registry: expected `host/path/name` with the name in lower case"
    )]
    BadOci(String),
    /// A text that is neither a tag nor a digest.
    #[error("`{0}` is neither a tag nor a digest such as `sha256:…` of an OCI registry")]
    BadTag(String),
    /// Two revisions of one source.
    #[error("`{0}` names two revisions")]
    TwoRevisions(String),
    /// A user name or password, which would end up in committed files.
    #[error("addresses with a user name or password are not allowed")]
    Credentials,
    /// A revision of a source that has no revisions.
    #[error("`{0}` has no revisions, so `#` cannot be used with it")]
    NoRevisions(String),
}

impl SourceSpec {
    /// Returns the specification of the whole of `origin`, in its current state.
    pub fn new(origin: impl Into<Origin>) -> Self {
        Self { origin: origin.into(), path: None, reference: None, skill: None }
    }

    /// Returns the specification of a path on this machine, taken literally: `#` and `@` are part of it.
    pub fn local(path: &str) -> Self {
        Self::new(Origin::local(path))
    }

    /// Returns the same specification with one more part of the directory added to the revision's name: on a page that
    /// shows both, the name of a branch may contain slashes.
    #[must_use]
    pub fn with_longer_reference(&self) -> Option<Self> {
        let path = self.path.as_deref()?;
        let (part, path) = path.split_once('/').map_or((path, None), |(part, rest)| (part, Some(rest)));
        let longer =
            |name: &str| Reference::any(&format!("{name}/{part}")).ok().map(|new| new.name().to_owned());
        let reference = match self.reference.as_ref()? {
            Reference::Any(name) => Reference::Any(longer(name)?),
            Reference::Branch(name) => Reference::Branch(longer(name)?),
            Reference::Tag(name) => Reference::Tag(longer(name)?),
            Reference::Rev(_) | Reference::Range(_) => return None,
        };
        Some(Self { path: path.map(ToOwned::to_owned), reference: Some(reference), ..self.clone() })
    }

    /// Returns what to type after `skillpm install` to name it, in the short form if there is one. A directory below a
    /// local path has no form if that path is an archive: it is chosen by the skill.
    pub fn typed(&self) -> String {
        self.with_origin(self.origin.typed())
    }

    /// Returns the text after `place`, the text of the origin.
    fn with_origin(&self, mut place: String) -> String {
        let Some(mark) = self.origin.directory_mark() else { return place };
        let mut reference = self.reference.as_ref();
        if let Some(written) = reference.and_then(|reference| self.origin.revision_mark(reference)) {
            place.push_str(&written);
            reference = None;
        }
        if let Some(path) = &self.path {
            place.push_str(mark);
            place.push_str(path);
        }
        if self.skill.is_none() && split_suffixes(&place).2.is_some() && !place.contains('?') {
            // An `@` in the last part would start the name of a skill.
            place.push('/');
        }
        if let Some(reference) = reference {
            place.push('#');
            place.push_str(reference.name());
        }
        if let Some(skill) = &self.skill {
            // After a bare host, `@` would end a user name.
            let is_bare = |address: &Address| address.path().is_empty() && self.path.is_none();
            if self.origin.web_address().is_some_and(is_bare) {
                place.push('/');
            }
            place.push('@');
            place.push_str(skill);
        }
        place
    }
}

/// Splits `place#reference@skill`, and `place@skill#reference`, which people type as well. A skill's name has no slash and is
/// not a version, so the `@` of `#@scope/pkg` and of `#pkg@1.2.0`, which are common names of tags, is part of the reference.
fn split_suffixes(text: &str) -> (&str, Option<&str>, Option<&str>) {
    let (place, reference) = match text.split_once('#') {
        Some((place, reference)) => (place, Some(reference)),
        None => (text, None),
    };
    if let Some((before, skill)) = reference.and_then(|reference| reference.rsplit_once('@'))
        && !skill.contains('/')
        && !before.is_empty()
        && !is_version(skill)
    {
        return (place, Some(before), Some(skill));
    }
    match place.rsplit_once('@') {
        // The `@` of `git@host:repo` is in front of a host.
        Some((before, skill)) if !skill.contains(['/', ':']) => (before, reference, Some(skill)),
        _ => (place, reference, None),
    }
}

/// Splits `place//directory`; the slashes after a scheme do not count.
fn split_directory(place: &str) -> (&str, Option<&str>) {
    let start = place.find("://").map_or(0, |at| at + 3);
    match place[start..].find("//") {
        Some(at) => (&place[..start + at], Some(place[start + at..].trim_matches('/'))),
        None => (place, None),
    }
}

/// Reports whether `text` looks like a version: `1.2`, `v2`.
fn is_version(text: &str) -> bool {
    text.strip_prefix('v').unwrap_or(text).starts_with(|c: char| c.is_ascii_digit())
}

fn skill_name(text: &str) -> Result<String, SpecError> {
    // Not at the start: ` 1.2` is a name, and `1.2` would be read as a version.
    let text = text.trim_end();
    if text.is_empty() { Err(SpecError::BadSkill) } else { Ok(text.to_owned()) }
}

/// Checks that `path` names a directory inside a repository: no empty, `.` or `..` component.
///
/// # Errors
///
/// Fails with [`SpecError::BadPath`].
pub fn check_directory(path: &str) -> Result<(), SpecError> {
    directory(&path.split('/').collect::<Vec<_>>()).map(|_| ())
}

/// Checks a typed directory in the same way. White space at its end would be lost when the specification is written and
/// read again; a manifest can contain it, if a repository does.
fn typed_directory(parts: &[&str]) -> Result<Option<String>, SpecError> {
    match directory(parts)? {
        Some(text) if text.ends_with(char::is_whitespace) => Err(SpecError::BadPath(text)),
        directory => Ok(directory),
    }
}

/// Checks a text that may be missing or empty like [`typed_directory`].
fn subdirectory(path: Option<&str>) -> Result<Option<String>, SpecError> {
    match path {
        Some(path) if !path.is_empty() => typed_directory(&path.split('/').collect::<Vec<_>>()),
        _ => Ok(None),
    }
}

/// Checks with `is_id` that `revision` is a commit.
fn check_commit(revision: &str, is_id: fn(&str) -> bool) -> Result<(), String> {
    if is_id(revision) {
        return Ok(());
    }
    Err(format!("the revision `{revision}` is not a commit: 40 hexadecimal digits are expected"))
}

fn directory(parts: &[&str]) -> Result<Option<String>, SpecError> {
    let text = parts.join("/");
    let bad = |part: &&str| {
        matches!(*part, "" | "." | "..") || part.contains(['\\', '\0']) || part.chars().any(char::is_control)
    };
    if parts.is_empty() {
        Ok(None)
    } else if parts.iter().any(bad) {
        Err(SpecError::BadPath(text))
    } else {
        Ok(Some(text))
    }
}

impl FromStr for SourceSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(SpecError::Empty);
        }
        if let Some(spec) = origin::recognize(text, |kind| kind.named) {
            return spec;
        }
        // Known sites without their scheme, as browsers show them.
        let address = hosting::with_scheme(text);
        let text = address.as_deref().unwrap_or(text);
        if let Some(spec) = origin::recognize(text, |kind| kind.recognized) {
            return spec;
        }
        // `scheme:rest`: not supported here, and never a name on GitHub.
        let (place, ..) = split_suffixes(text);
        if place.contains(':') {
            return Err(SpecError::Unsupported(text.to_owned()));
        }
        github::short(text)
    }
}

impl fmt::Display for SourceSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.with_origin(self.origin.in_full()))
    }
}

#[cfg(test)]
mod tests;
