//! Patterns of sources.

use crate::manifest::{ManifestError, Placed};
use crate::spec::{Address, Origin};

/// A pattern such as `github:acme`, `github:acme/*-skills`, `git:git.example.com/team` or `path:*`.
///
/// It means a source and everything below it: `github:acme` is every repository of `acme`. `*` stands
/// for any characters but a slash. Case makes no difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    kind: String,
    parts: Vec<String>,
}

/// Words before the colon.
const KINDS: [&str; 9] = ["github", "git", "url", "site", "path", "python", "npm", "r", "crate"];

impl Pattern {
    /// Reads a pattern.
    pub(super) fn read(placed: &Placed) -> Result<Self, ManifestError> {
        let text = placed.text.to_lowercase();
        let wrong = |message: String| {
            Err(placed.error(message, Some(format!("a pattern begins with one of {}", kinds()))))
        };
        if text == "*" {
            return Ok(Self { kind: "*".to_owned(), parts: Vec::new() });
        }
        let Some((kind, rest)) = text.split_once(':') else {
            let message = format!("`{}` is no pattern of sources", placed.text);
            let hint =
                format!("a repository on GitHub is `github:{}`; others begin with {}", placed.text, kinds());
            return Err(placed.error(message, Some(hint)));
        };
        if !KINDS.contains(&kind) {
            return wrong(format!("`{kind}:` is no kind of source"));
        }
        // Schemes and user names do not decide where bytes come from.
        let rest = match kind {
            "git" | "url" | "site" => place(rest),
            _ => rest.to_owned(),
        };
        let parts: Vec<String> = rest.trim_matches('/').split('/').map(ToOwned::to_owned).collect();
        let parts = if parts == ["*"] || parts == [""] { Vec::new() } else { parts };
        if rest.is_empty() || parts.iter().any(String::is_empty) {
            return wrong(format!("`{}` names no source", placed.text));
        }
        Ok(Self { kind: kind.to_owned(), parts })
    }

    /// Whether it means one of the names that a source has.
    pub(super) fn matches(&self, names: &[(String, Vec<String>)]) -> bool {
        self.kind == "*"
            || names.iter().any(|(kind, parts)| {
                *kind == self.kind
                    && parts.len() >= self.parts.len()
                    && self.parts.iter().zip(parts).all(|(pattern, part)| fits(pattern, part))
            })
    }
}

fn kinds() -> String {
    format!("`{}:`", KINDS.join(":`, `"))
}

/// Whether `part` is what `pattern` says, where `*` stands for any characters.
fn fits(pattern: &str, part: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or("");
    let Some(mut rest) = part.strip_prefix(first) else { return false };
    let Some(last) = pieces.next_back() else { return rest.is_empty() };
    for piece in pieces {
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// The names under which a pattern can mean a source: its own, and that of the repository on GitHub
/// where another kind of address leads there too. So `deny = ["github:acme"]` cannot be gone around
/// with `git+https://github.com/acme/x.git` or the address of an archive.
pub(super) fn names(origin: &Origin, path: Option<&str>) -> Vec<(String, Vec<String>)> {
    let below = path.unwrap_or("").to_lowercase();
    let name = |kind: &str, place: &str| {
        let parts = place.split('/').chain(below.split('/')).filter(|part| !part.is_empty());
        (kind.to_owned(), parts.map(ToOwned::to_owned).collect::<Vec<_>>())
    };
    match origin {
        Origin::GitHub(repository) => vec![name("github", &repository.to_string().to_lowercase())],
        Origin::Git(url) => {
            let place = place(&url.as_str().to_lowercase());
            let mut names = vec![name("git", &place)];
            names.extend(place.strip_prefix("github.com/").map(|rest| name("github", rest)));
            if url.local_path().is_some() {
                names.push(name("path", &place));
            }
            names
        }
        Origin::Download(address) => {
            let mut names = vec![name("url", &place(&address.as_str().to_lowercase()))];
            names.extend(repository_of(address).map(|rest| name("github", &rest)));
            names
        }
        Origin::Site(address) => vec![name("site", &place(&address.as_str().to_lowercase()))],
        Origin::Package(package) => {
            vec![name(package.ecosystem.key(), &package.name.to_lowercase())]
        }
        Origin::Local(path) => vec![name("path", &path.to_lowercase())],
    }
}

/// `host/path` of an address of any form, without scheme, user name, query and `.git`.
fn place(text: &str) -> String {
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let rest = rest.split(['?', '#']).next().unwrap_or(rest);
    let end = rest.find('/').unwrap_or(rest.len());
    let rest = match rest[..end].rfind('@') {
        Some(at) => &rest[at + 1..],
        None => rest,
    };
    // `git@host:path`; what follows the colon of a host is a port otherwise.
    let rest = match rest.split_once(':') {
        Some((host, path)) if !host.contains('/') && !path.starts_with(|c: char| c.is_ascii_digit()) => {
            format!("{host}/{}", path.trim_start_matches('/'))
        }
        _ => rest.to_owned(),
    };
    let rest = rest.trim_end_matches('/');
    rest.strip_suffix(".git").unwrap_or(rest).to_owned()
}

/// The repository on GitHub that the address of a file belongs to, as `owner/name`.
fn repository_of(address: &Address) -> Option<String> {
    let place = place(&address.as_str().to_lowercase());
    let (host, path) = place.split_once('/')?;
    let path = match host {
        "github.com" | "www.github.com" | "codeload.github.com" | "raw.githubusercontent.com" => path,
        "api.github.com" => path.strip_prefix("repos/")?,
        _ => return None,
    };
    let mut parts = path.splitn(3, '/');
    Some(format!("{}/{}", parts.next()?, parts.next()?))
}
