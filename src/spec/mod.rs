//! Source specifications: what people type after `skillpm install`.

mod address;
mod git_url;
mod hosting;
mod origin;
mod package;
mod reference;
mod repository;

use std::fmt;
use std::str::FromStr;

pub use address::{Address, file_stem, is_loopback};
pub use git_url::{GitUrl, Transport};
pub use hosting::is_page;
pub use origin::Origin;
pub use package::{Ecosystem, Package, distribution_name};
pub use reference::{Identity, Reference, is_commit, is_object_id};
pub use repository::{PUBLIC_HOST, Repository, is_github_host};

use crate::text::percent_decoded;
use address::split_scheme;

/// A source as it was typed: where skills lie, at which revision, and which of them is meant.
///
/// | text | meaning |
/// |---|---|
/// | `owner/repo` | the repository on GitHub |
/// | `owner/repo/skills/pdf` | a directory in it |
/// | `owner/repo#v2` | at the tag, branch or commit `v2` |
/// | `owner/repo@pdf` | the skill `pdf` in it: `@` never means a version |
/// | `owner/repo#v2@pdf` | both |
/// | `github:owner/repo` | the same, said in full |
/// | `https://github.com/owner/repo/tree/v2/skills/pdf` | the address of a directory |
/// | `https://host/repo.git`, `ssh://git@host/repo`, `git@host:repo`, `file:///repo` | a git repository |
/// | `git+https://host/repo` | the same, where the address does not tell |
/// | `https://host/repo.git//skills/pdf` | a directory in it |
/// | `gitlab:group/repo`, pages of GitLab, Bitbucket, Codeberg and Azure | git repositories |
/// | `https://skills.sh/owner/repo/skill` | the skill that a page of such a list is about |
/// | `https://host/skills.zip`, `https://host/SKILL.md` | a file on the network |
/// | `https://host` | a site that lists its skills |
/// | `python:name`, `npm:name`, `r:name`, `crate:name` | an installed package |
/// | `./path`, `../path`, `/path`, `~/path` | a directory, or an archive by its content |
///
/// [`Display`](fmt::Display) writes the form in full (`github:owner/repo/path#ref@skill`), which
/// reads back as the same value.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceSpec {
    /// Where the skills lie.
    pub origin: Origin,
    /// The directory below it that is meant, `/`-separated.
    pub path: Option<String>,
    /// The revision that is meant.
    pub reference: Option<Reference>,
    /// The name of the skill that is meant.
    pub skill: Option<String>,
}

/// A text that is not a source.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// Nothing was typed.
    #[error("the source is empty")]
    Empty,
    /// A word without a slash, such as `pdf`.
    #[error("`{0}` is not a source: expected `owner/repo` or a path such as `./{0}`")]
    Word(String),
    /// An address or scheme that is not read.
    #[error("`{0}` is not an address that skillpm can install from")]
    Unsupported(String),
    /// A part that cannot be one of GitHub's names.
    #[error("`{0}` cannot be the {1} of a repository on GitHub")]
    BadName(String, &'static str),
    /// A directory that leaves the repository, is spelled in two ways, or ends in white space.
    #[error("`{0}` is not a directory inside a repository")]
    BadPath(String),
    /// A revision that no git server accepts, or a part that is empty.
    #[error("`{0}` is not the name of a tag, branch or commit")]
    BadReference(String),
    /// Nothing after `@`.
    #[error("the name of a skill is missing after `@`")]
    BadSkill,
    /// A name that no package has.
    #[error("`{0}` cannot be the name of a package for `{1}:`")]
    BadPackage(String, &'static str),
    /// A user name or password, which would end up in files that are committed.
    #[error("addresses with a user name or password are not allowed")]
    Credentials,
    /// A revision of something that has none.
    #[error("`{0}` has no revisions, so `#` cannot be used with it")]
    NoRevisions(String),
}

impl SourceSpec {
    /// Returns the specification of a path on this machine, taken as it is: `#` and `@` are part of it.
    pub fn local(path: &str) -> Self {
        Self { origin: Origin::Local(path.to_owned()), path: None, reference: None, skill: None }
    }

    /// The same with one more part of the directory as the end of the revision's name: where a page shows both, a
    /// branch may have slashes.
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
            Reference::Rev(_) => return None,
        };
        Some(Self { path: path.map(ToOwned::to_owned), reference: Some(reference), ..self.clone() })
    }

    /// What can be typed after `skillpm install` to mean it, in the short form where there is one. What is below a path of
    /// this machine has no form of its own where that is an archive: it is chosen by the skill.
    pub fn typed(&self) -> String {
        self.with_origin(self.origin.typed())
    }

    /// The text behind `place`, that of the origin.
    fn with_origin(&self, mut place: String) -> String {
        if matches!(self.origin, Origin::Local(_)) {
            return place;
        }
        if let Some(path) = &self.path {
            // Addresses have slashes of their own.
            place.push_str(if matches!(self.origin, Origin::GitHub(_)) { "/" } else { "//" });
            place.push_str(path);
        }
        let alone = self.reference.is_none() && self.skill.is_none();
        if alone && split_suffixes(&place).2.is_some() && !place.contains('?') {
            // An `@` in the last part would begin the name of a skill.
            place.push('/');
        }
        if let Some(reference) = &self.reference {
            place.push('#');
            place.push_str(reference.name());
        }
        if let Some(skill) = &self.skill {
            // Behind a bare host, `@` would end a user name.
            let bare = |address: &Address| address.path().is_empty() && self.path.is_none();
            if matches!(&self.origin, Origin::Download(address) | Origin::Site(address) if bare(address)) {
                place.push('/');
            }
            place.push('@');
            place.push_str(skill);
        }
        place
    }

    fn github(text: &str) -> Result<Self, SpecError> {
        let (place, reference, skill) = split_suffixes(text);
        let mut parts: Vec<&str> = place.trim_end_matches('/').split('/').collect();
        // An owner has no dot, so a first part with one is a host.
        let host = (parts.len() > 2 && parts[0].contains('.')).then(|| parts.remove(0));
        let [owner, name, path @ ..] = parts.as_slice() else {
            return Err(SpecError::Word(text.to_owned()));
        };
        Ok(Self {
            origin: Origin::GitHub(Repository::new(host, owner, name)?),
            path: typed_directory(path)?,
            reference: reference.map(Reference::any).transpose()?,
            skill: skill.map(skill_name).transpose()?,
        })
    }

    /// A git repository by the form of its address: what follows `.git/` is a directory too.
    fn git_address(text: &str) -> Result<Self, SpecError> {
        let (place, ..) = split_suffixes(text);
        match (split_directory(place), place.split_once(".git/")) {
            ((_, None), Some((url, _))) => Self::git(&format!("{url}.git//{}", &text[url.len() + 5..])),
            _ => Self::git(text),
        }
    }

    /// A git repository: `URL//directory#reference@skill`.
    fn git(text: &str) -> Result<Self, SpecError> {
        let (place, reference, skill) = split_suffixes(text);
        let (url, path) = split_directory(place);
        Ok(Self {
            origin: Origin::Git(GitUrl::new(url)?),
            path: subdirectory(path)?,
            reference: reference.map(Reference::any).transpose()?,
            skill: skill.map(skill_name).transpose()?,
        })
    }

    /// An address: `URL//directory@skill`.
    fn web(text: &str, origin: impl FnOnce(Address) -> Origin) -> Result<Self, SpecError> {
        // An `@` before the first slash belongs to a user name, and those are refused.
        let start = text.find("://").map_or(0, |at| at + 3);
        let first = text[start..].find('/').map_or(text.len(), |at| start + at);
        // A query may hold anything, so nothing stands behind it.
        let (rest, reference, skill) =
            if text.contains('?') { (&text[first..], None, None) } else { split_suffixes(&text[first..]) };
        if reference.is_some() {
            return Err(SpecError::NoRevisions(text[..first + rest.len()].to_owned()));
        }
        let (place, path) = split_directory(&text[..first + rest.len()]);
        Ok(Self {
            origin: origin(Address::new(place)?),
            path: subdirectory(path)?,
            reference: None,
            skill: skill.map(skill_name).transpose()?,
        })
    }

    /// An installed package: `name//directory@skill`.
    fn package(ecosystem: Ecosystem, text: &str) -> Result<Self, SpecError> {
        if text.contains('#') {
            return Err(SpecError::NoRevisions(format!("{}:{text}", ecosystem.key())));
        }
        // The name of an npm package may begin with `@`, and then has a slash.
        let scope = text.starts_with('@').then(|| text.find('/')).flatten().map_or(0, |at| at + 1);
        let (rest, skill) = match text[scope..].rsplit_once('@') {
            Some((rest, skill)) if !skill.contains('/') => (&text[..scope + rest.len()], Some(skill)),
            _ => (text, None),
        };
        let (name, path) = split_directory(rest);
        Ok(Self {
            origin: Origin::Package(Package::new(ecosystem, name)?),
            path: subdirectory(path)?,
            reference: None,
            skill: skill.map(skill_name).transpose()?,
        })
    }

    /// An address of a page on GitHub or an Enterprise server.
    fn address(text: &str) -> Result<Self, SpecError> {
        let unsupported = || SpecError::Unsupported(text.to_owned());
        let (_, rest) = split_scheme(text).ok_or_else(unsupported)?;
        let rest = rest.split('?').next().unwrap_or(rest);
        // The address of a page says it all: an `@` in it is part of a revision or directory, and what follows `#`
        // is a place in the page.
        let is_page = ["/tree/", "/blob/"].iter().any(|page| rest.contains(page));
        let (rest, reference, skill) =
            if is_page { (rest.split('#').next().unwrap_or(rest), None, None) } else { split_suffixes(rest) };
        let (host, rest) = rest.split_once('/').ok_or_else(unsupported)?;
        let host = host.strip_prefix("www.").unwrap_or(host);
        if host.contains(['@', ':']) || !is_github_host(host) {
            return Err(unsupported());
        }
        let parts: Vec<_> = rest.trim_end_matches('/').split('/').map(percent_decoded).collect();
        let parts: Vec<&str> = parts.iter().map(AsRef::as_ref).collect();
        let [owner, name, ref page @ ..] = parts[..] else {
            return Err(unsupported());
        };
        let (revision, path): (Option<&str>, &[&str]) = match page {
            [] => (None, &[]),
            ["tree", revision, path @ ..] | ["blob", revision, path @ .., "SKILL.md"] => {
                (Some(*revision), path)
            }
            _ => return Err(unsupported()),
        };
        Ok(Self {
            origin: Origin::GitHub(Repository::new(Some(host), owner, name)?),
            path: typed_directory(path)?,
            reference: revision.or(reference).map(Reference::any).transpose()?,
            skill: skill.map(skill_name).transpose()?,
        })
    }
}

/// Splits `place#reference@skill`. A skill's name has no slash and is no version, so the `@` of
/// `#@scope/pkg` and of `#pkg@1.2.0`, which are common names of tags, is part of the reference.
fn split_suffixes(text: &str) -> (&str, Option<&str>, Option<&str>) {
    let (place, reference) = match text.split_once('#') {
        Some((place, reference)) => (place, Some(reference)),
        None => (text, None),
    };
    match (reference, reference.unwrap_or(place).rsplit_once('@')) {
        // The `@` of `git@host:repo` stands before a host.
        (None, Some((before, skill))) if !skill.contains(['/', ':']) => (before, None, Some(skill)),
        (Some(_), Some((before, skill)))
            if !skill.contains('/') && !before.is_empty() && !is_version(skill) =>
        {
            (place, Some(before), Some(skill))
        }
        _ => (place, reference, None),
    }
}

/// Splits `place//directory`; the slashes after a scheme are none of these.
fn split_directory(place: &str) -> (&str, Option<&str>) {
    let start = place.find("://").map_or(0, |at| at + 3);
    match place[start..].find("//") {
        Some(at) => (&place[..start + at], Some(place[start + at..].trim_matches('/'))),
        None => (place, None),
    }
}

/// Whether `text` is the address of a git repository by its form alone.
fn is_git(text: &str) -> bool {
    let (place, ..) = split_suffixes(text);
    let scheme = place.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    match scheme.as_deref() {
        Some("ssh" | "file") => true,
        Some("https" | "http") => place.strip_suffix(".git").is_some() || place.contains(".git/"),
        Some(_) => false,
        None => place.split_once(':').is_some_and(|(login, _)| login.contains('@')),
    }
}

/// Whether `text`, an address on GitHub, is that of an archive or of a file of a release.
fn is_github_file(text: &str) -> bool {
    let (place, ..) = split_suffixes(text);
    let page: Vec<&str> = place.split('/').skip(5).take(2).collect();
    let is_page = page.first() == Some(&"archive") || page == ["releases", "download"];
    is_page && Address::new(place).is_ok_and(|address| address.is_file())
}

/// Whether `text` looks like a version: `1.2`, `v2`.
fn is_version(text: &str) -> bool {
    text.strip_prefix('v').unwrap_or(text).starts_with(|c: char| c.is_ascii_digit())
}

fn skill_name(text: &str) -> Result<String, SpecError> {
    // Not at its start: ` 1.2` is a name, and `1.2` would be read as a version.
    let text = text.trim_end();
    if text.is_empty() { Err(SpecError::BadSkill) } else { Ok(text.to_owned()) }
}

/// Checks that `path` names a directory inside a repository: no empty, `.` or `..` component.
///
/// # Errors
///
/// [`SpecError::BadPath`].
pub fn check_directory(path: &str) -> Result<(), SpecError> {
    directory(&path.split('/').collect::<Vec<_>>()).map(|_| ())
}

/// The same for a directory that was typed. White space at its end would be lost where the
/// specification is written and read again; a manifest can have it, if a repository does.
fn typed_directory(parts: &[&str]) -> Result<Option<String>, SpecError> {
    match directory(parts)? {
        Some(text) if text.ends_with(char::is_whitespace) => Err(SpecError::BadPath(text)),
        directory => Ok(directory),
    }
}

/// As [`typed_directory`], of a text that may be missing or empty.
fn subdirectory(path: Option<&str>) -> Result<Option<String>, SpecError> {
    match path {
        Some(path) if !path.is_empty() => typed_directory(&path.split('/').collect::<Vec<_>>()),
        _ => Ok(None),
    }
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

/// Whether `text` is a path on this machine rather than a repository or a name.
pub fn is_local(text: &str) -> bool {
    let windows_drive = text.as_bytes().get(1) == Some(&b':') && text.as_bytes()[0].is_ascii_alphabetic();
    matches!(text, "." | ".." | "~")
        || ["./", "../", "/", "~/", ".\\", "..\\"].iter().any(|prefix| text.starts_with(prefix))
        || (windows_drive && text.as_bytes().get(2).is_some_and(|b| matches!(b, b'/' | b'\\')))
}

impl FromStr for SourceSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(SpecError::Empty);
        }
        if is_local(text) {
            return Ok(Self::local(text));
        }
        if let Some(rest) = text.strip_prefix("github:") {
            return Self::github(rest);
        }
        if let Some(rest) = text.strip_prefix("git@github.com:") {
            return Self::github(&format!("{PUBLIC_HOST}/{rest}"));
        }
        if let Some(rest) = text.strip_prefix("git+") {
            return Self::git(rest);
        }
        if let Some(spec) = hosting::listed(text) {
            return Ok(spec);
        }
        if let Some(spec) = hosting::prefixed(text).or_else(|| hosting::page(text)) {
            return spec;
        }
        if let Some(address) = hosting::with_scheme(text) {
            return address.parse();
        }
        if let Some((kind, rest)) = text.split_once(':')
            && matches!(kind, "url" | "site")
        {
            return Self::web(rest, |address| {
                if kind == "url" { Origin::Download(address) } else { Origin::Site(address) }
            });
        }
        if let Some((key, rest)) = text.split_once(':')
            && let Some(ecosystem) = Ecosystem::ALL.into_iter().find(|e| e.key() == key)
        {
            return Self::package(ecosystem, rest);
        }
        let scheme = split_scheme(text);
        let is_github = scheme.is_some_and(|(_, rest)| {
            let host = rest.split(['/', '?', '#']).next().unwrap_or(rest);
            is_github_host(host.strip_prefix("www.").unwrap_or(host))
        });
        if is_github && is_github_file(text) {
            return Self::web(text, Origin::Download);
        }
        if is_github {
            return Self::address(text);
        }
        if is_git(text) {
            return Self::git_address(text);
        }
        if scheme.is_some() {
            return Self::web(text, Origin::at);
        }
        // `scheme:rest`: not ours, and never a name on GitHub.
        let (place, ..) = split_suffixes(text);
        if place.contains(':') {
            return Err(SpecError::Unsupported(text.to_owned()));
        }
        Self::github(text)
    }
}

impl fmt::Display for SourceSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.with_origin(match &self.origin {
            Origin::Local(path) => path.clone(),
            Origin::Git(url) => format!("git+{url}"),
            origin => origin.to_string(),
        }))
    }
}

#[cfg(test)]
mod tests;
