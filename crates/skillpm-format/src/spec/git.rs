//! Git repositories by address.

use std::borrow::Cow;
use std::fmt;

use super::address::is_host;
use super::kind::{Compared, Foreign, NotExpressible, PatternForm, SourceFacts, SourceKind, Typed};
use super::{
    Reference, SourceSpec, SpecError, check_commit, github, hosting, is_local, is_object_id, skill_name,
    split_directory, split_suffixes, subdirectory,
};
use crate::text::percent_decoded;

/// The address of a git repository: `https://host/repo.git`, `ssh://git@host/repo`, `git@host:repo`, `file:///repo.git`
/// or a path on this machine.
///
/// It is safe to pass to the `git` program: it is not an option, names no helper program (`ext::…`), and its host is a
/// valid host. It contains no password, so it may be committed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GitUrl(String);

/// The way a repository is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// `https://` or `http://`.
    Http,
    /// `ssh://` or `user@host:path`.
    Ssh,
    /// `file://` or a path.
    File,
}

impl GitUrl {
    /// Reads an address. The user name of an `https` address is dropped: it differs between users, and `git` asks its
    /// credential helpers.
    ///
    /// # Errors
    ///
    /// Fails with [`SpecError::Credentials`] if the address contains a password, and with [`SpecError::Unsupported`]
    /// for other schemes and for texts that are not the address of a repository.
    pub fn new(text: &str) -> Result<Self, SpecError> {
        let unsupported = || SpecError::Unsupported(text.to_owned());
        if text.chars().any(char::is_control) {
            return Err(unsupported());
        }
        if is_local(text) {
            return Ok(Self(text.to_owned()));
        }
        if text.contains(char::is_whitespace) || text.contains(['#', '?']) || text.contains("::") {
            return Err(unsupported());
        }
        let Some((scheme, rest)) = text.split_once("://") else { return Self::scp(text) };
        let scheme = scheme.to_ascii_lowercase();
        if scheme == "file" {
            return if rest.starts_with('/') && rest.len() > 1 {
                Ok(Self(format!("file://{}", rest.trim_end_matches('/'))))
            } else {
                Err(unsupported())
            };
        }
        let (authority, path) = rest.split_once('/').ok_or_else(unsupported)?;
        let path = path.trim_end_matches('/');
        let (user, host) = match authority.rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, authority),
        };
        if user.is_some_and(|user| user.contains(':')) {
            return Err(SpecError::Credentials);
        }
        if !is_host(host) || path.is_empty() || path.contains("//") {
            return Err(unsupported());
        }
        let host = host.to_ascii_lowercase();
        match scheme.as_str() {
            "https" | "http" => Ok(Self(format!("{scheme}://{host}/{path}"))),
            "ssh" => match user {
                Some(user) if !is_user(user) => Err(unsupported()),
                Some(user) => Ok(Self(format!("ssh://{user}@{host}/{path}"))),
                None => Ok(Self(format!("ssh://{host}/{path}"))),
            },
            _ => Err(unsupported()),
        }
    }

    /// Reads `user@host:path`.
    fn scp(text: &str) -> Result<Self, SpecError> {
        let unsupported = || SpecError::Unsupported(text.to_owned());
        let (login, path) = text.split_once(':').ok_or_else(unsupported)?;
        let (user, host) = login.split_once('@').ok_or_else(unsupported)?;
        let path = path.trim_end_matches('/');
        if !is_user(user) || !is_host(host) || path.is_empty() || path.starts_with('-') || path.contains("//")
        {
            return Err(unsupported());
        }
        Ok(Self(format!("{user}@{}:{path}", host.to_ascii_lowercase())))
    }

    /// Returns the text in the form for the `git` program; a path on this machine is as typed.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the way it is reached.
    pub fn transport(&self) -> Transport {
        if self.0.starts_with("https://") || self.0.starts_with("http://") {
            Transport::Http
        } else if self.0.starts_with("file://") || is_local(&self.0) {
            Transport::File
        } else {
            Transport::Ssh
        }
    }

    /// Returns the path on this machine as typed, if it is a path and not a `file://` address.
    pub fn local_path(&self) -> Option<&str> {
        is_local(&self.0).then_some(self.0.as_str())
    }

    /// Returns the path that a `file://` address leads to.
    pub fn file_path(&self) -> Option<String> {
        let path = percent_decoded(self.0.strip_prefix("file://")?);
        // `file:///C:/skills.git`: the drive is the first part, not a directory.
        let drive =
            path.strip_prefix('/').filter(|rest| cfg!(windows) && is_local(rest)).map(ToOwned::to_owned);
        Some(drive.unwrap_or_else(|| path.into_owned()))
    }

    /// Returns the name of the repository: the last part of its address, without `.git`.
    pub fn name(&self) -> &str {
        let last = self.0.rsplit(['/', ':', '\\']).find(|part| !part.is_empty()).unwrap_or(&self.0);
        last.strip_suffix(".git").unwrap_or(last)
    }
}

impl SourceKind for GitUrl {
    const KEYS: &'static [&'static str] = &["git"];
    const MANIFEST_KEYS: &'static [&'static str] = &["git"];
    const OTHER_KEYS: &'static [&'static str] = &["path", "tag", "branch", "rev", "ref"];
    const EXAMPLE: Option<&'static str> = Some("git = \"https://host/repo.git\"");
    const PATTERN: PatternForm = PatternForm::Git;
    const FOREIGN_TYPES: &'static [&'static str] = &["git", "gitlab"];
    const TYPED: &'static [Typed] = &[
        (
            &["https://host/team/repo.git", "ssh://git@host/repo"],
            "a git repository, fetched by the `git` program",
        ),
        (&["git@host:team/repo.git"], "the same over ssh"),
        (&["file:///srv/repo.git"], "a git repository on this machine"),
        (&["git+https://host/repo", "git+./repo"], "the same, where the address does not tell"),
        (&["https://host/repo.git//skills/pdf#v2@pdf"], "a directory, a revision and a skill in it"),
        (
            &["gitlab:group/repo", "bitbucket:team/repo", "codeberg:team/repo"],
            "a git repository on that site",
        ),
        (
            &["https://gitlab.com/group/repo/-/tree/v2/skills/pdf"],
            "the directory on that page; also on Bitbucket, Codeberg, Azure DevOps, Forgejo and Gitea",
        ),
    ];

    fn read(_: &'static str, text: &str) -> Result<Self, SpecError> {
        Self::new(text)
    }

    fn named(text: &str) -> Option<Result<SourceSpec, SpecError>> {
        text.strip_prefix("git+").map(repository).or_else(|| hosting::prefixed(text))
    }

    fn recognized(text: &str) -> Option<Result<SourceSpec, SpecError>> {
        let by_form = || (!github::is_address(text) && is_git(text)).then(|| address(text));
        hosting::page(text).or_else(by_form)
    }

    fn from_foreign(source: &str, url: Option<&str>) -> Result<SourceSpec, String> {
        let said = |error: SpecError| error.to_string();
        let address = url.unwrap_or(source);
        if !address.contains(':') {
            return Err(format!("`{address}` does not say which server it is on"));
        }
        let spec: SourceSpec = address.parse().map_err(said)?;
        if spec.origin.has_revisions() { Ok(spec) } else { format!("git+{address}").parse().map_err(said) }
    }
}

impl SourceFacts for GitUrl {
    fn kind(&self) -> &'static str {
        "git"
    }

    fn written(&self) -> String {
        self.0.clone()
    }

    fn in_full(&self) -> String {
        format!("git+{self}")
    }

    fn address(&self) -> Option<String> {
        Some(self.0.clone())
    }

    fn path_here(&self) -> Option<Cow<'_, str>> {
        self.local_path().map(Cow::Borrowed).or_else(|| self.file_path().map(Cow::Owned))
    }

    fn has_revisions(&self) -> bool {
        true
    }

    fn check_revision(&self, revision: &str) -> Result<(), String> {
        check_commit(revision, is_object_id)
    }

    fn compared(&self) -> Compared<'_> {
        Compared::Git(self)
    }

    fn foreign(&self) -> Result<Foreign<'_>, NotExpressible> {
        let text = self.as_str();
        let host = text.split_once("://").and_then(|(_, rest)| rest.split('/').next());
        let is_web = self.transport() == Transport::Http;
        match host {
            _ if Self::local_path(self).is_some() => {
                Err(NotExpressible::Kind("git repositories that are named by a path"))
            }
            Some("gitlab.com") => {
                Ok(Foreign::git("gitlab", format!("{}.git", text.trim_end_matches(".git"))))
            }
            _ if is_web && text.strip_suffix(".git").is_none() && !text.contains("/_git/") => {
                Err(NotExpressible::Address(text.to_owned()))
            }
            _ => Ok(Foreign::git("git", text)),
        }
    }
}

impl<'a> Foreign<'a> {
    /// Returns the repository at `url`, with the type `kind`.
    pub(super) fn git(kind: &'static str, url: impl Into<Cow<'a, str>>) -> Self {
        let url = url.into();
        Self { kind, source: Some(url.clone()), url: Some(url), in_repository: true }
    }
}

/// Reads the address of a repository that is recognizable by its form: the text after `.git/` is a directory.
fn address(text: &str) -> Result<SourceSpec, SpecError> {
    let (place, ..) = split_suffixes(text);
    match (split_directory(place), place.split_once(".git/")) {
        ((_, None), Some((url, _))) => repository(&format!("{url}.git//{}", &text[url.len() + 5..])),
        _ => repository(text),
    }
}

/// Reads `URL//directory#reference@skill`.
fn repository(text: &str) -> Result<SourceSpec, SpecError> {
    let (place, reference, skill) = split_suffixes(text);
    let (url, path) = split_directory(place);
    Ok(SourceSpec {
        origin: GitUrl::new(url)?.into(),
        path: subdirectory(path)?,
        reference: reference.map(Reference::any).transpose()?,
        skill: skill.map(skill_name).transpose()?,
    })
}

/// Reports whether `text` is recognizable by its form alone as the address of a git repository.
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

impl fmt::Display for GitUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn is_user(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with('-')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+'))
}
