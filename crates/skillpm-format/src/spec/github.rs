//! Repositories on GitHub.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use super::address::{is_host, split_scheme};
use super::kind::{Compared, Foreign, NotExpressible, PatternForm, SourceFacts, SourceKind, Typed};
use super::{
    Address, Origin, Reference, SourceSpec, SpecError, check_commit, hosting, is_commit, skill_name,
    split_suffixes, typed_directory,
};
use crate::text::percent_decoded;

/// The host of the public GitHub.
pub const PUBLIC_HOST: &str = "github.com";

/// A repository on GitHub, which takes names in any case: two that differ in nothing else are equal.
#[derive(Debug, Clone)]
pub struct Repository {
    /// The server, if one was named: `github.com` or that of an Enterprise server. In manifests and lockfiles, which
    /// must mean the same everywhere, `None` means `github.com`.
    pub host: Option<String>,
    /// The user or organization.
    pub owner: String,
    /// The repository's name.
    pub name: String,
}

impl Repository {
    /// Returns the repository `owner/name` on `host`.
    ///
    /// # Errors
    ///
    /// Fails on names that GitHub does not allow, and on a `host` that is not a host.
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
        // It becomes part of an address, where a `?` or `@` in it would change the owner of that address.
        if let Some(host) = host.filter(|host| !is_host(host)) {
            return Err(SpecError::BadName(host.to_owned(), "host"));
        }
        let host = host.map(str::to_ascii_lowercase);
        Ok(Self { host, owner: owner.to_owned(), name: name.to_owned() })
    }

    /// Returns the parts that tell it from others.
    fn key(&self) -> (Option<&str>, String, String) {
        (self.host.as_deref(), self.owner.to_ascii_lowercase(), self.name.to_ascii_lowercase())
    }

    /// Returns the repository as manifests and lockfiles name it; `default` is the host to use if none was named.
    #[must_use]
    pub fn on(self, default: &str) -> Self {
        let host = self.host.unwrap_or_else(|| default.to_owned());
        Self { host: Some(host).filter(|host| host != PUBLIC_HOST), ..self }
    }

    /// Reads `owner/name` or `host/owner/name` from a manifest or lockfile.
    ///
    /// # Errors
    ///
    /// Fails like [`Repository::new`], and on more or fewer parts.
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

impl PartialEq for Repository {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Repository {}

impl Hash for Repository {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl PartialOrd for Repository {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Repository {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl Repository {
    /// Returns the repository at `url`, the address of a remote as git has it, if it is on GitHub or on the server
    /// `host`.
    pub fn of_remote(url: &str, host: &str) -> Option<Self> {
        let (server, path) = match url.split_once("://") {
            Some((_, rest)) => rest.split_once('/')?,
            None => url.split_once(':')?,
        };
        let server = server.rsplit('@').next().unwrap_or(server);
        let server = server.split(':').next().unwrap_or(server).to_ascii_lowercase();
        let server = match server.as_str() {
            // It takes ssh where only the port of https is open.
            "ssh.github.com" | "www.github.com" => PUBLIC_HOST,
            other => other,
        };
        if server != host && !is_github_host(server) {
            return None;
        }
        let (owner, name) = path.trim_matches('/').split_once('/')?;
        Some(Self::new(Some(server), owner, name).ok()?.on(PUBLIC_HOST))
    }
}

impl SourceKind for Repository {
    const KEYS: &'static [&'static str] = &["github"];
    const MANIFEST_KEYS: &'static [&'static str] = &["github"];
    const OTHER_KEYS: &'static [&'static str] = &["path", "tag", "branch", "rev", "ref"];
    const EXAMPLE: Option<&'static str> = Some("github = \"owner/repo\"");
    const PATTERN: PatternForm = PatternForm::Repository;
    const FOREIGN_TYPES: &'static [&'static str] = &["github"];
    const TYPED: &'static [Typed] = &[
        (&["owner/repo"], "the repository on GitHub, at its default branch"),
        (&["owner/repo/skills/pdf"], "a directory in it"),
        (&["owner/repo#v2"], "at the tag, branch or commit `v2`"),
        (&["owner/repo@pdf"], "the skill `pdf` in it"),
        (&["owner/repo#v2@pdf"], "the skill `pdf` in it, at `v2`"),
        (&["github:owner/repo"], "the same as `owner/repo`, in full"),
        (&["github:ghe.example.com/owner/repo"], "a repository on an Enterprise server"),
        (&["git@github.com:owner/repo.git"], "the repository; it is read over https, not over ssh"),
        (&["https://github.com/owner/repo"], "the repository"),
        (&["https://github.com/owner/repo/tree/v2/skills/pdf"], "the directory on that page"),
        (&["https://github.com/owner/repo/blob/v2/skills/pdf/SKILL.md"], "the directory of that file"),
        (
            &["https://skills.sh/owner/repo/pdf"],
            "the skill `pdf` of `owner/repo`, which that page of a list is about; also on playbooks.com and claude-plugins.dev",
        ),
    ];

    fn read(_: &'static str, text: &str) -> Result<Self, SpecError> {
        Self::parse(text)
    }

    fn named(text: &str) -> Option<Result<SourceSpec, SpecError>> {
        if let Some(rest) = text.strip_prefix("github:") {
            return Some(short(rest));
        }
        if let Some(rest) = text.strip_prefix(SSH) {
            return Some(short(&format!("{PUBLIC_HOST}/{rest}")));
        }
        hosting::listed(text).map(Ok)
    }

    fn recognized(text: &str) -> Option<Result<SourceSpec, SpecError>> {
        // Some pages have forms that identify another kind of server on any host.
        let is_ours = is_address(text) && !is_file(text) && hosting::page(text).is_none();
        is_ours.then(|| page(text))
    }

    fn from_foreign(source: &str, _: Option<&str>) -> Result<SourceSpec, String> {
        let spec = format!("github:{}", source.trim_end_matches(".git")).parse();
        spec.map_err(|error: SpecError| error.to_string())
    }
}

impl SourceFacts for Repository {
    fn kind(&self) -> &'static str {
        "github"
    }

    fn written(&self) -> String {
        self.to_string()
    }

    fn typed(&self) -> String {
        self.to_string()
    }

    fn directory_mark(&self) -> Option<&'static str> {
        Some("/")
    }

    fn address(&self) -> Option<String> {
        let Self { host, owner, name } = self;
        Some(format!("https://{}/{owner}/{name}", host.as_deref().unwrap_or(PUBLIC_HOST)))
    }

    fn has_revisions(&self) -> bool {
        true
    }

    fn check_revision(&self, revision: &str) -> Result<(), String> {
        check_commit(revision, is_commit)
    }

    fn compared(&self) -> Compared<'_> {
        Compared::Repository(self)
    }

    fn foreign(&self) -> Result<Foreign<'_>, NotExpressible> {
        let Self { host, owner, name } = self;
        Ok(match host {
            None => Foreign {
                kind: "github",
                source: Some(format!("{owner}/{name}").into()),
                url: None,
                in_repository: true,
            },
            Some(host) => Foreign::git("git", format!("https://{host}/{owner}/{name}.git")),
        })
    }

    fn on_host(&self, default: &str) -> Option<Origin> {
        Some(self.clone().on(default).into())
    }
}

/// The text before `owner/repo` in the ssh address of a repository on the public GitHub.
const SSH: &str = "git@github.com:";

/// Reports whether `text` is an address on the public GitHub or on a server with the usual name of an Enterprise
/// server.
pub(super) fn is_address(text: &str) -> bool {
    split_scheme(text).is_some_and(|(_, rest)| {
        let host = rest.split(['/', '?', '#']).next().unwrap_or(rest);
        is_github_host(host.strip_prefix("www.").unwrap_or(host))
    })
}

/// Reports whether `text`, an address on GitHub, is that of an archive or of a file of a release.
pub(super) fn is_file(text: &str) -> bool {
    let (place, ..) = split_suffixes(text);
    let page: Vec<&str> = place.split('/').skip(5).take(2).collect();
    let is_page = page.first() == Some(&"archive") || page == ["releases", "download"];
    is_page && Address::new(place).is_ok_and(|address| address.is_file())
}

/// Reads `owner/repo/directory#reference@skill`.
pub(super) fn short(text: &str) -> Result<SourceSpec, SpecError> {
    let (place, reference, skill) = split_suffixes(text);
    let mut parts: Vec<&str> = place.trim_end_matches('/').split('/').collect();
    // An owner has no dot, so a first part with a dot is a host.
    let host = (parts.len() > 2 && parts[0].contains('.')).then(|| parts.remove(0));
    let [owner, name, path @ ..] = parts.as_slice() else {
        return Err(SpecError::Word(text.to_owned()));
    };
    Ok(SourceSpec {
        origin: Repository::new(host, owner, name)?.into(),
        path: typed_directory(path)?,
        reference: reference.map(Reference::any).transpose()?,
        skill: skill.map(skill_name).transpose()?,
    })
}

/// Reads the address of a page on GitHub or an Enterprise server.
fn page(text: &str) -> Result<SourceSpec, SpecError> {
    let unsupported = || SpecError::Unsupported(text.to_owned());
    let (_, rest) = split_scheme(text).ok_or_else(unsupported)?;
    let rest = rest.split('?').next().unwrap_or(rest);
    // The address of a page is complete: an `@` in it is part of a revision or directory, and the text after `#` is a
    // place in the page.
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
        ["tree", revision, path @ ..] | ["blob", revision, path @ .., "SKILL.md"] => (Some(*revision), path),
        _ => return Err(unsupported()),
    };
    Ok(SourceSpec {
        origin: Repository::new(Some(host), owner, name)?.into(),
        path: typed_directory(path)?,
        reference: revision.or(reference).map(Reference::any).transpose()?,
        skill: skill.map(skill_name).transpose()?,
    })
}

impl fmt::Display for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(host) = &self.host {
            write!(f, "{host}/")?;
        }
        write!(f, "{}/{}", self.owner, self.name)
    }
}

/// Reports whether `host` uses GitHub's addresses: the public one, and Enterprise servers by their usual name. Other
/// Enterprise hosts are written `github:host/owner/repo`.
pub fn is_github_host(host: &str) -> bool {
    host.eq_ignore_ascii_case("github.com")
        || host.starts_with("github.")
        || host.starts_with("ghe.")
        || host.ends_with(".ghe.com")
}
