//! Patterns of sources.

use super::address::{self, Base, Dirs, Name, Root, Unclear};
use crate::manifest::{LocatedText, ManifestError};
use crate::spec::{Ecosystem, GitUrl, PUBLIC_HOST, PatternForm, kind_of_key, source_keys};

/// A pattern such as `github:acme`, `github:acme/*-skills`, `git:git.example.com/team` or `path:*`.
///
/// It matches a source and everything below it: `github:acme` matches every repository of `acme`. `*` stands for any
/// characters except a slash. Case and different spellings of an address make no difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    /// `None` means every source.
    kind: Option<&'static str>,
    /// The possible meanings, any of which may match; if empty, the pattern matches everything of the kind.
    places: Vec<PatternPath>,
}

/// The start of a pattern's path, and the parts below.
type PatternPath = (Start, Vec<String>);

/// The start of the parts of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Start {
    /// Servers with a matching name.
    Host(String, Port),
    /// See [`Root::Local`].
    Local(Base, usize),
    /// The names of packages, or those that the user gives.
    Named,
}

/// The ports of a server that match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Port {
    /// No port is named.
    Unsaid,
    /// Any port.
    Any,
    /// This port.
    Number(u16),
}

/// The purpose of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum List {
    /// Denied sources: a pattern that names no port matches all ports.
    Deny,
    /// Allowed sources: a pattern that names no port matches those of https, http and ssh. Another port may belong to a
    /// different server, which any user of the machine can start.
    Allow,
}

/// How well a pattern matches a source, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Match {
    /// It does not match.
    No,
    /// It would match if it named the port.
    Port,
    /// Whether it matches cannot be determined.
    Unclear(Unclear),
    /// It matches.
    Yes,
}

impl Pattern {
    /// Reads a pattern; paths on this machine are relative to `dirs`.
    pub(super) fn read(placed: &LocatedText, dirs: &Dirs) -> Result<Self, ManifestError> {
        let text = placed.text.as_str();
        if text == "*" {
            return Ok(Self { kind: None, places: Vec::new() });
        }
        let Some((kind, rest)) = text.split_once(':') else {
            let message = format!("`{text}` is not a source pattern");
            let hint = format!("a repository on GitHub is `github:{text}`; others begin with {}", kinds());
            return Err(placed.error(message, Some(hint.into())));
        };
        let kind = kind.to_lowercase();
        let Some((form, kind)) = kind_of_key(&kind).map(|(row, key)| (row.pattern, key)) else {
            let hint = format!("a pattern begins with one of {}", kinds());
            return Err(placed.error(format!("`{kind}:` is not a kind of source"), Some(hint.into())));
        };
        if rest == "*" {
            return Ok(Self { kind: Some(kind), places: Vec::new() });
        }
        let one = |read: Read| read.map(|place| vec![place]);
        let repository_at = |path: &str| {
            let without_suffix = |(start, parts)| (start, address::without_suffix(parts));
            local(path, dirs).map(|places| places.into_iter().map(without_suffix).collect())
        };
        let read = match form {
            PatternForm::Path => local(rest, dirs),
            PatternForm::Git => match GitUrl::new(rest) {
                Ok(url) if url.local_path().is_some() => repository_at(rest),
                Ok(url) if url.file_path().is_some() => repository_at(&url.file_path().unwrap_or_default()),
                _ => one(address(rest).map(|(start, parts)| (start, without_suffixes(parts)))),
            },
            PatternForm::Address => one(address(rest)),
            PatternForm::AddressOrName => {
                address(rest).map(|place| [place].into_iter().chain(given_name(rest)).collect())
            }
            PatternForm::Repository => {
                repository(rest).map(|place| [place].into_iter().chain(on_short_host(rest)).collect())
            }
            PatternForm::Package => one(package(kind, rest)),
        };
        let mut places = read.map_err(|fault| {
            let (message, hint) = match fault {
                PatternError::Nothing => (
                    format!("`{text}` does not name a source"),
                    format!("a pattern begins with one of {}", kinds()),
                ),
                PatternError::Host => (
                    format!("`{text}` has no valid host"),
                    "write non-ASCII letters as they appear in URLs: `xn--bcher-kva.example`".to_owned(),
                ),
                PatternError::Port => (
                    format!("`{text}` may mean a port or a directory"),
                    "write `git:host:port/path` or `git:host/path`".to_owned(),
                ),
                PatternError::Unclear(unclear) => (
                    format!("`{text}` is ambiguous: {unclear}"),
                    "write the plain path, or `*` for what cannot be spelled out".to_owned(),
                ),
            };
            placed.error(message, Some(hint.into()))
        })?;
        // All hosts together are everything of the kind.
        if places.contains(&(Start::Host("*".to_owned(), Port::Unsaid), Vec::new())) {
            places.clear();
        }
        Ok(Self { kind: Some(kind), places })
    }

    /// Returns how well it matches the source with these names.
    pub(super) fn means(&self, names: &[Name], list: List) -> Match {
        if self.kind.is_none() {
            return Match::Yes;
        }
        names.iter().map(|name| self.means_one(name, list)).max().unwrap_or(Match::No)
    }

    fn means_one(&self, name: &Name, list: List) -> Match {
        if self.kind != Some(name.kind) {
            return Match::No;
        }
        if self.places.is_empty() {
            return yes(name.own);
        }
        self.places.iter().map(|place| means_at(place, name, list)).max().unwrap_or(Match::No)
    }
}

fn means_at((start, below): &PatternPath, name: &Name, list: List) -> Match {
    match (start, &name.root) {
        (Start::Host(host, port), Root::Host(named)) if fits(host, &named.name) => {
            let is_met = match port {
                Port::Any => true,
                Port::Number(port) => *port == named.port,
                Port::Unsaid => list == List::Deny || named.is_usual,
            };
            match means_parts(below, name) {
                Match::Yes if !is_met && *port == Port::Unsaid => Match::Port,
                _ if !is_met => Match::No,
                means => means,
            }
        }
        (Start::Local(base, up), Root::Local(named_base, named_up)) if base == named_base => {
            // A directory above another one contains that one too.
            if below.is_empty() {
                yes(named_up <= up)
            } else if named_up == up {
                means_parts(below, name)
            } else {
                Match::No
            }
        }
        (Start::Named, Root::Named) => means_parts(below, name),
        _ => Match::No,
    }
}

fn means_parts(below: &[String], name: &Name) -> Match {
    let parts = match &name.parts {
        Ok(parts) => parts,
        Err(_) if below.is_empty() => return Match::Yes,
        Err(unclear) => return Match::Unclear(*unclear),
    };
    if !below.iter().zip(parts).all(|(pattern, part)| fits(pattern, part)) {
        Match::No
    } else if below.len() <= parts.len() {
        Match::Yes
    } else if name.is_open {
        Match::Unclear(Unclear::Directory)
    } else {
        Match::No
    }
}

fn yes(is_meant: bool) -> Match {
    if is_meant { Match::Yes } else { Match::No }
}

fn kinds() -> String {
    format!("`{}:`", source_keys().collect::<Vec<_>>().join(":`, `"))
}

/// Reports whether `part` matches `pattern`, where `*` stands for any characters.
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

/// An error in a pattern.
enum PatternError {
    /// It names nothing.
    Nothing,
    /// It names a host that no source has.
    Host,
    /// The number is a port or a directory.
    Port,
    /// The path can be read in several ways.
    Unclear(Unclear),
}

type Read = Result<PatternPath, PatternError>;

/// Returns a path as written, and from the root of the file system if `dirs` allow that.
fn local(text: &str, dirs: &Dirs) -> Result<Vec<PatternPath>, PatternError> {
    if text.is_empty() {
        return Err(PatternError::Nothing);
    }
    let (root, parts) = address::local(text);
    // A `*` in the name of a directory would be a wildcard in a pattern.
    let from_root = dirs.whole(&root, &parts).filter(|whole| {
        let stars = |parts: &[String]| parts.iter().filter(|part| part.contains('*')).count();
        stars(whole) <= stars(&parts)
    });
    let from_root = from_root.map(|whole| (Start::Local(Base::Root, 0), whole));
    match root {
        Root::Local(base, up) => Ok([(Start::Local(base, up), parts)].into_iter().chain(from_root).collect()),
        _ => Err(PatternError::Nothing),
    }
}

/// Reads `host/path` from an address of any form. Schemes and user names do not decide where bytes come from.
fn address(text: &str) -> Read {
    let (scheme, rest) = match text.split_once("://") {
        Some((scheme, rest)) => (Some(scheme.to_lowercase()), rest),
        None => (None, text),
    };
    let rest = rest.split(['?', '#']).next().unwrap_or(rest);
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let (login, authority) = match authority.rsplit_once('@') {
        Some((login, authority)) => (Some(login), authority),
        None => (None, authority),
    };
    let (host, port) = address::split_port(authority);
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (port, path) = match port {
        None => (Port::Unsaid, path.to_owned()),
        // As git reads `git@host:8443/x`, it names no port, but few users know that.
        Some(port) if scheme.is_none() && login.is_some() && is_number(port) => {
            return Err(PatternError::Port);
        }
        Some("*") if scheme.is_some() || login.is_none() => (Port::Any, path.to_owned()),
        Some(port) if is_number(port) => {
            let port = port.parse().map_err(|_| PatternError::Host)?;
            let usual = scheme.as_deref().and_then(address::usual_port);
            (if usual == Some(port) { Port::Unsaid } else { Port::Number(port) }, path.to_owned())
        }
        Some(_) if scheme.is_some() => return Err(PatternError::Host),
        // `git@host:path`
        Some(start) => (Port::Unsaid, format!("{start}/{path}")),
    };
    let parts = address::folded(address::from_home(&path, login.unwrap_or_default()))
        .map_err(PatternError::Unclear)?;
    Ok((Start::Host(host_pattern(host)?, port), parts))
}

fn host_pattern(text: &str) -> Result<String, PatternError> {
    if text.is_empty() {
        return Err(PatternError::Nothing);
    }
    let is_known = |c: char| c.is_ascii_alphanumeric() || "-._*".contains(c);
    let in_brackets = text.starts_with('[') && text.ends_with(']');
    if in_brackets || text.chars().all(is_known) {
        Ok(address::host_name(text))
    } else {
        Err(PatternError::Host)
    }
}

/// Returns the parts without suffixes: each part may be a repository, with more below it.
fn without_suffixes(mut parts: Vec<String>) -> Vec<String> {
    parts = address::without_suffix(parts);
    for part in &mut parts {
        if let Some(name) = part.strip_suffix(".git").filter(|name| !name.is_empty()) {
            *part = name.to_owned();
        }
    }
    parts
}

/// Reads `owner/name/directory`, below a server's name if it is not the public one. No owner has a dot or a colon.
fn repository(text: &str) -> Read {
    let parts: Vec<&str> = text.trim_matches('/').split('/').collect();
    if parts.iter().any(|part| matches!(*part, "" | "." | "..")) {
        return Err(PatternError::Nothing);
    }
    match parts.split_first() {
        Some((server, below)) if server.contains(['.', ':']) => on_server(server, below),
        _ => on_server(PUBLIC_HOST, &parts),
    }
}

/// Returns the second meaning of a pattern of repositories whose first part can be an owner or a server: `ghe/acme`. A
/// server without a dot has no other pattern. A part with `*` does not count: it would match any server whose
/// repositories have such an owner.
fn on_short_host(text: &str) -> Option<PatternPath> {
    let (server, below) = text.trim_matches('/').split_once('/')?;
    let can_be = !server.contains(['.', ':', '*']);
    let below: Vec<&str> = below.split('/').collect();
    on_server(server, &below).ok().filter(|_| can_be)
}

/// Returns `parts` on the server with that name.
fn on_server(server: &str, parts: &[&str]) -> Read {
    let (host, port) = address::split_port(server);
    let port = match port {
        None | Some("443") => Port::Unsaid,
        Some("*") => Port::Any,
        Some(port) => Port::Number(port.parse().map_err(|_| PatternError::Host)?),
    };
    let mut parts: Vec<String> = parts.iter().copied().map(address::key).collect();
    if let Some(name) = parts.get_mut(1)
        && let Some(plain) = name.strip_suffix(".git").filter(|plain| !plain.is_empty())
    {
        *name = plain.to_owned();
    }
    Ok((Start::Host(host_pattern(host)?, port), parts))
}

/// Returns the second meaning of a pattern that may be a host without a dot or a name that the user gives.
fn given_name(text: &str) -> Option<PatternPath> {
    let is_known = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '*';
    text.chars().all(is_known).then(|| (Start::Named, vec![address::key(text)]))
}

fn package(kind: &str, text: &str) -> Read {
    let ecosystem = Ecosystem::of_key(kind).ok_or(PatternError::Nothing)?;
    let parts = address::package_parts(ecosystem, text.trim_matches('/'));
    if parts.iter().any(String::is_empty) { Err(PatternError::Nothing) } else { Ok((Start::Named, parts)) }
}
