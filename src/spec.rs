//! Source specifications: what people type after `skillpm install`.

use std::fmt;
use std::str::FromStr;

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
/// | `./path`, `../path`, `/path`, `~/path` | a directory, or an archive by its ending |
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

/// The host of the public GitHub.
pub const PUBLIC_HOST: &str = "github.com";

/// A place that skills come from.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Origin {
    /// A repository on GitHub or a GitHub Enterprise server.
    GitHub(Repository),
    /// A directory or archive on this machine, as it was typed.
    Local(String),
}

/// A repository on GitHub.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Repository {
    /// The server, where one was named: `github.com` or that of an Enterprise server. In manifests
    /// and lockfiles, which must mean the same everywhere, `None` is `github.com`.
    pub host: Option<String>,
    /// The user or organisation.
    pub owner: String,
    /// The repository's name.
    pub name: String,
}

/// A revision by name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reference {
    /// A tag, branch or commit: the server decides.
    Any(String),
    /// A tag.
    Tag(String),
    /// A branch.
    Branch(String),
    /// A commit.
    Rev(String),
}

/// A text that is not a source.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// Nothing was typed.
    #[error("the source is empty")]
    Empty,
    /// A word without a slash, such as `pdf`.
    #[error("`{0}` is not a source: `owner/repo` or a path such as `./{0}` is expected")]
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
    #[error("there is no name of a skill after `@`")]
    BadSkill,
}

/// The form in lockfiles, which is git's own: `tags/v2`, `heads/main`, or the bare name where the
/// kind was not said.
impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any(name) | Self::Rev(name) => f.write_str(name),
            Self::Tag(name) => write!(f, "tags/{name}"),
            Self::Branch(name) => write!(f, "heads/{name}"),
        }
    }
}

impl Reference {
    /// The name without its kind.
    pub fn name(&self) -> &str {
        match self {
            Self::Any(name) | Self::Tag(name) | Self::Branch(name) | Self::Rev(name) => name,
        }
    }

    /// Returns a reference of unknown kind.
    ///
    /// # Errors
    ///
    /// A name that git refuses.
    pub fn any(name: &str) -> Result<Self, SpecError> {
        Self::check(name)?;
        Ok(Self::Any(name.to_owned()))
    }

    /// Checks `name` against git's rules for references, as far as they keep requests harmless.
    ///
    /// # Errors
    ///
    /// A name that git refuses.
    pub fn check(name: &str) -> Result<(), SpecError> {
        let bad = name.is_empty()
            || name.len() > 250
            || name.starts_with(['-', '/', '.'])
            || name.ends_with(['/', '.'])
            || name.strip_suffix(".lock").is_some()
            || name.contains("..")
            || name.contains("//")
            || name.contains("@{")
            || name.chars().any(|c| c.is_whitespace() || c.is_control() || "~^:?*[\\".contains(c));
        if bad { Err(SpecError::BadReference(name.to_owned())) } else { Ok(()) }
    }
}

/// Whether `text` is a full commit id.
pub fn is_commit(text: &str) -> bool {
    text.len() == 40 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

impl Repository {
    /// Returns the repository `owner/name` on `host`.
    ///
    /// # Errors
    ///
    /// Names that GitHub does not give out.
    pub fn new(host: Option<&str>, owner: &str, name: &str) -> Result<Self, SpecError> {
        let owner_ok = !owner.is_empty()
            && owner.len() <= 64
            && !owner.starts_with('-')
            && owner.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
        if !owner_ok {
            return Err(SpecError::BadName(owner.to_owned(), "owner"));
        }
        let name = name.strip_suffix(".git").unwrap_or(name);
        let name_ok = !matches!(name, "" | "." | "..")
            && name.len() <= 100
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'));
        if !name_ok {
            return Err(SpecError::BadName(name.to_owned(), "name"));
        }
        let host = host.map(str::to_ascii_lowercase);
        Ok(Self { host, owner: owner.to_owned(), name: name.to_owned() })
    }

    /// Returns the repository as manifests and lockfiles name it; `default` is the host that is
    /// meant where none was named.
    #[must_use]
    pub fn on(self, default: &str) -> Self {
        let host = self.host.unwrap_or_else(|| default.to_owned());
        Self { host: Some(host).filter(|host| host != PUBLIC_HOST), ..self }
    }

    /// Reads `owner/name` or `host/owner/name` from a manifest or lockfile.
    ///
    /// # Errors
    ///
    /// As [`Repository::new`]; more or fewer parts.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        match text.split('/').collect::<Vec<_>>()[..] {
            [owner, name] => Self::new(None, owner, name),
            [host, owner, name] if host.contains('.') => {
                Ok(Self::new(Some(host), owner, name)?.on(PUBLIC_HOST))
            }
            _ => Err(SpecError::Unsupported(text.to_owned())),
        }
    }
}

impl fmt::Display for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(host) = &self.host {
            write!(f, "{host}/")?;
        }
        write!(f, "{}/{}", self.owner, self.name)
    }
}

/// The form in manifests and lockfiles: `github:owner/repo` or `path:./skills`.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::GitHub(repository) => write!(f, "github:{repository}"),
            Self::Local(path) => write!(f, "path:{path}"),
        }
    }
}

impl FromStr for Origin {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        match text.split_once(':') {
            Some(("github", rest)) => Repository::parse(rest).map(Self::GitHub),
            Some(("path", path)) if !path.is_empty() && !path.chars().any(char::is_control) => {
                Ok(Self::Local(path.to_owned()))
            }
            _ => Err(SpecError::Unsupported(text.to_owned())),
        }
    }
}

impl SourceSpec {
    /// Returns the specification of a path on this machine, taken as it is: `#` and `@` are part of it.
    pub fn local(path: &str) -> Self {
        Self { origin: Origin::Local(path.to_owned()), path: None, reference: None, skill: None }
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

    /// An address of a page on GitHub or an Enterprise server.
    fn address(text: &str) -> Result<Self, SpecError> {
        let unsupported = || SpecError::Unsupported(text.to_owned());
        let rest =
            text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")).ok_or_else(unsupported)?;
        let rest = rest.split('?').next().unwrap_or(rest);
        // The address of a page says it all: what stands in it is part of a revision or directory.
        let is_page = ["/tree/", "/blob/"].iter().any(|page| rest.contains(page));
        let (rest, reference, skill) = if is_page { (rest, None, None) } else { split_suffixes(rest) };
        let (host, rest) = rest.split_once('/').ok_or_else(unsupported)?;
        let host = host.strip_prefix("www.").unwrap_or(host);
        if host.contains(['@', ':']) || !is_github_host(host) {
            return Err(unsupported());
        }
        let parts: Vec<&str> = rest.trim_end_matches('/').split('/').collect();
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

/// Hosts that speak GitHub's addresses: the public one, and Enterprise servers by their usual name.
/// Other Enterprise hosts are written `github:host/owner/repo`.
fn is_github_host(host: &str) -> bool {
    host.eq_ignore_ascii_case("github.com")
        || host.starts_with("github.")
        || host.starts_with("ghe.")
        || host.ends_with(".ghe.com")
}

/// Splits `place#reference@skill`. A skill's name has no slash and is no version, so the `@` of
/// `#@scope/pkg` and of `#pkg@1.2.0`, which are common names of tags, is part of the reference.
fn split_suffixes(text: &str) -> (&str, Option<&str>, Option<&str>) {
    let (place, reference) = match text.split_once('#') {
        Some((place, reference)) => (place, Some(reference)),
        None => (text, None),
    };
    match (reference, reference.unwrap_or(place).rsplit_once('@')) {
        (None, Some((before, skill))) if !skill.contains('/') => (before, None, Some(skill)),
        (Some(_), Some((before, skill)))
            if !skill.contains('/') && !before.is_empty() && !is_version(skill) =>
        {
            (place, Some(before), Some(skill))
        }
        _ => (place, reference, None),
    }
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

/// The same for a directory that was typed. White space at its end would be lost where the
/// specification is written and read again; a manifest can have it, if a repository does.
fn typed_directory(parts: &[&str]) -> Result<Option<String>, SpecError> {
    match directory(parts)? {
        Some(text) if text.ends_with(char::is_whitespace) => Err(SpecError::BadPath(text)),
        directory => Ok(directory),
    }
}

/// Whether `text` is a path on this machine rather than a repository.
fn is_local(text: &str) -> bool {
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
        if text.contains("://") {
            return Self::address(text);
        }
        // `scheme:rest`, `git@host:path`: not ours, and never a name on GitHub.
        let (place, ..) = split_suffixes(text);
        if place.contains(':') {
            return Err(SpecError::Unsupported(text.to_owned()));
        }
        Self::github(text)
    }
}

impl fmt::Display for SourceSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.origin {
            Origin::Local(path) => return f.write_str(path),
            Origin::GitHub(repository) => write!(f, "github:{repository}")?,
        }
        if let Some(path) = &self.path {
            write!(f, "/{path}")?;
        }
        if let Some(reference) = &self.reference {
            write!(f, "#{}", reference.name())?;
        }
        if let Some(skill) = &self.skill {
            write!(f, "@{skill}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn show(text: &str) -> String {
        text.parse::<SourceSpec>().map_or_else(|e| format!("error: {e}"), |spec| spec.to_string())
    }

    /// The forms that other tools taught people (INTEROP, verbs and flags).
    #[test]
    fn forms() {
        let cases = [
            ("owner/repo", "github:owner/repo"),
            ("owner/repo/skills/pdf", "github:owner/repo/skills/pdf"),
            ("owner/repo/", "github:owner/repo"),
            ("owner/repo@pdf", "github:owner/repo@pdf"),
            ("owner/repo#v2", "github:owner/repo#v2"),
            ("https://github.com/owner/repo@pdf ?tab=readme", "github:github.com/owner/repo@pdf"),
            ("owner/repo#v2@pdf", "github:owner/repo#v2@pdf"),
            ("owner/repo#feature/x@pdf", "github:owner/repo#feature/x@pdf"),
            ("owner/repo#@scope/pkg", "github:owner/repo#@scope/pkg"),
            ("owner/repo#pkg@1.2.0", "github:owner/repo#pkg@1.2.0"),
            ("owner/repo#pkg@v2@pdf", "github:owner/repo#pkg@v2@pdf"),
            ("owner/repo/skills/pdf#v2@pdf", "github:owner/repo/skills/pdf#v2@pdf"),
            ("github:owner/repo.js", "github:owner/repo.js"),
            ("github:ghe.example.com/owner/repo/x", "github:ghe.example.com/owner/repo/x"),
            ("github.com/owner/repo@pdf", "github:github.com/owner/repo@pdf"),
            ("git@github.com:owner/repo.git", "github:github.com/owner/repo"),
            ("https://github.com/owner/repo", "github:github.com/owner/repo"),
            ("https://github.com/owner/repo.git#v1", "github:github.com/owner/repo#v1"),
            (
                "https://www.github.com/owner/repo/tree/main/skills/pdf",
                "github:github.com/owner/repo/skills/pdf#main",
            ),
            (
                "https://github.com/owner/repo/blob/main/skills/pdf/SKILL.md",
                "github:github.com/owner/repo/skills/pdf#main",
            ),
            ("https://github.com/owner/repo/tree/v1/a@b", "github:github.com/owner/repo/a@b#v1"),
            ("https://ghe.example.com/owner/repo", "github:ghe.example.com/owner/repo"),
            ("./a#b@c", "./a#b@c"),
            ("../a.zip", "../a.zip"),
            ("~/x", "~/x"),
            ("/x", "/x"),
        ];
        for (text, full) in cases {
            assert_eq!(show(text), full, "{text}");
        }
    }

    #[test]
    fn each_error() {
        let error = |text: &str| text.parse::<SourceSpec>().expect_err(text);
        assert_eq!(error(" "), SpecError::Empty);
        assert_eq!(error("pdf"), SpecError::Word("pdf".into()));
        assert_eq!(error("ext::sh -c touch x"), SpecError::Unsupported("ext::sh -c touch x".into()));
        assert_eq!(
            error("https://user:pw@github.com/o/r"),
            SpecError::Unsupported("https://user:pw@github.com/o/r".into())
        );
        assert_eq!(
            error("https://example.com/o/r"),
            SpecError::Unsupported("https://example.com/o/r".into())
        );
        assert_eq!(error("-x/repo"), SpecError::BadName("-x".into(), "owner"));
        assert_eq!(error("owner/.."), SpecError::BadName("..".into(), "name"));
        assert_eq!(error("owner/repo/../x"), SpecError::BadPath("../x".into()));
        assert_eq!(error("owner/repo/x /"), SpecError::BadPath("x ".into()));
        assert_eq!(error("owner/repo#-x"), SpecError::BadReference("-x".into()));
        assert_eq!(error("owner/repo#a..b"), SpecError::BadReference("a..b".into()));
        assert_eq!(error("owner/repo@"), SpecError::BadSkill);
    }

    proptest! {
        #[test]
        fn display_reads_back(text in "(github:|https://github.com/|\\./)?[a-z.~-]{1,8}/[a-zA-Z0-9._-]{1,8}(/[a-z. ]{1,4}){0,3}(#[a-z/@.]{1,8})?(@ ?[a-z0-9-]{1,5})? {0,3}") {
            if let Ok(spec) = text.parse::<SourceSpec>() {
                prop_assert_eq!(spec.to_string().parse::<SourceSpec>(), Ok(spec));
            }
        }

        #[test]
        fn nothing_panics(text in "\\PC{0,60}") {
            let _ = text.parse::<SourceSpec>();
        }
    }
}
