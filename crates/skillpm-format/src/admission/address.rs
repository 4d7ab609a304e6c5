//! Addresses in the single form in which a policy compares them.
//!
//! Many spellings of an address lead to the same place. This module converts both sources and patterns to one form, so
//! that no spelling can bypass a line or slip through one.

use std::borrow::Cow;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;

use crate::path::collision_key;
use crate::spec::{Address, Compared, Ecosystem, GitUrl, Origin, PUBLIC_HOST, Repository};

/// A name by which a pattern can match a source.
#[derive(Debug, Clone)]
pub(super) struct Name {
    /// The word before the colon.
    pub(super) kind: &'static str,
    /// Where the parts start.
    pub(super) root: Root,
    /// The text after the colon, part by part.
    pub(super) parts: Result<Vec<String>, Unclear>,
    /// Whether the source is one of the kind itself. If not, it merely also has an address of that kind, and a pattern
    /// matches it only by that address.
    pub(super) own: bool,
    /// Whether it is somewhere below the parts and its address does not say where.
    pub(super) is_open: bool,
}

/// The start of the parts of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Root {
    /// A server.
    Host(Host),
    /// A directory on this machine, or the given number of directories above it.
    Local(Base, usize),
    /// The names of packages, or those that the user gives.
    Named,
}

/// A server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Host {
    pub(super) name: String,
    pub(super) port: u16,
    /// Whether the port is the default port of the scheme.
    pub(super) is_usual: bool,
}

/// The base of a path on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Base {
    /// The directory of the manifest.
    Scope,
    /// The user's home directory.
    Home,
    /// The root of the file system.
    Root,
}

/// The base directories for paths on this machine. If one is not known, paths relative to it are compared as written.
#[derive(Debug, Clone, Default)]
pub struct Dirs {
    /// The parts of the directory that paths in a manifest are relative to.
    scope: Option<Vec<String>>,
    /// The parts of the user's home directory.
    home: Option<Vec<String>>,
}

/// The reason why an address cannot be compared: where it leads depends on the reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unclear {
    /// `%2F`, `%25` and other escapes of characters with a special meaning, or invalid escapes.
    Escape,
    /// `\`.
    Backslash,
    /// `;` in the path of a web address: some servers do not treat the text after it as part of the path.
    Semicolon,
    /// `..` with no directory left to leave.
    Above,
    /// `..` next to two slashes, which some servers merge into one.
    Gap,
    /// A directory above a repository, with a name that ends like a repository's.
    Suffix,
    /// An address of GitHub that does not name the owner.
    Repository,
    /// An address of a single file, with a revision before the directory, where either may contain slashes.
    Directory,
}

impl Dirs {
    /// Creates the base directories: paths in a manifest are relative to `scope`, and those that start with `~` to
    /// `home`.
    pub fn new(scope: &Path, home: Option<&Path>) -> Self {
        let parts = |dir: &Path| match local(dir.to_str()?) {
            (Root::Local(Base::Root, _), parts) => Some(parts),
            _ => None,
        };
        Self { scope: parts(scope), home: home.and_then(parts) }
    }

    /// Returns the parts of a path on this machine from the root of the file system. Returns `None` if the path starts
    /// there anyway, or if that is not known.
    pub(super) fn whole(&self, root: &Root, parts: &[String]) -> Option<Vec<String>> {
        let (dir, up) = match root {
            Root::Local(Base::Scope, up) => (self.scope.as_ref()?, *up),
            Root::Local(Base::Home, up) => (self.home.as_ref()?, *up),
            _ => return None,
        };
        // Nothing is above the root.
        let above = dir.iter().take(dir.len().saturating_sub(up));
        Some(above.chain(parts).cloned().collect())
    }
}

/// Writes the reason as a sentence.
impl fmt::Display for Unclear {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Escape => "an escape in its address, such as `%2F`, is read differently by some servers",
            Self::Backslash => "a backslash in its address is a slash to some servers",
            Self::Semicolon => "a semicolon in its address is read differently by some servers",
            Self::Above => "`..` in its address leads above the root of the server",
            Self::Gap => "`..` beside `//` in its address is read differently by some servers",
            Self::Suffix => "a directory in its address ends in `.git`, as only repositories should",
            Self::Repository => "its address does not show which repository it belongs to",
            Self::Directory => "its address does not show which directory of the repository it belongs to",
        })
    }
}

/// Hosts that are other names of another host.
const ALIASES: [(&str, &str); 7] = [
    ("www.github.com", PUBLIC_HOST),
    ("ssh.github.com", PUBLIC_HOST),
    ("www.gitlab.com", "gitlab.com"),
    ("altssh.gitlab.com", "gitlab.com"),
    ("www.bitbucket.org", "bitbucket.org"),
    ("altssh.bitbucket.org", "bitbucket.org"),
    ("www.codeberg.org", "codeberg.org"),
];

/// Hosts that serve files of repositories on GitHub, and the path parts before the owner there.
const GITHUB_HOSTS: [(&str, &[&str]); 6] = [
    (PUBLIC_HOST, &[]),
    ("api.github.com", &["repos"]),
    ("codeload.github.com", &[]),
    ("raw.githubusercontent.com", &[]),
    ("raw.github.com", &[]),
    ("media.githubusercontent.com", &["media"]),
];

/// Servers of GitHub Enterprise that GitHub runs, and the prefixes of their names where files of repositories are, with
/// the path parts before the owner there.
const ENTERPRISE_CLOUD: &str = ".ghe.com";
const ENTERPRISE_HOSTS: [(&str, &[&str]); 3] = [("api.", &["repos"]), ("codeload.", &[]), ("raw.", &[])];

/// The same on servers of GitHub Enterprise that others run.
const ENTERPRISE_API: &[&str] = &["api", "v3", "repos"];

/// Returns the default port of a scheme, if it is known.
pub(super) fn usual_port(scheme: &str) -> Option<u16> {
    match scheme {
        "https" => Some(443),
        "http" => Some(80),
        "ssh" => Some(22),
        _ => None,
    }
}

/// Returns the names by which a pattern can match a source: its own, and those of other addresses that lead to the same
/// place. So `deny = ["github:acme"]` cannot be bypassed with `git+https://github.com/acme/x.git` or the address of an
/// archive, nor `deny = ["path:/srv/skills"]` with a path from a project to there.
pub(super) fn names(origin: &Origin, path: Option<&str>, dirs: &Dirs) -> Vec<Name> {
    let mut names = match origin.compared() {
        Compared::Repository(repository) => of_repository(repository),
        Compared::Git(url) => of_git(url, dirs),
        Compared::Address(address) => of_address(origin.kind(), address),
        Compared::Package(ecosystem, package) => {
            vec![name(origin.kind(), Root::Named, Ok(package_parts(ecosystem, package)))]
        }
        Compared::Name(given) => vec![name(origin.kind(), Root::Named, Ok(vec![key(given)]))],
        Compared::Path(path) => {
            locals(path, dirs).map(|(root, parts)| name(origin.kind(), root, Ok(parts))).collect()
        }
    };
    let below = || path.unwrap_or_default().split('/').filter(|part| !part.is_empty()).map(key);
    for name in &mut names {
        if let Ok(parts) = &mut name.parts {
            parts.extend(below());
        }
    }
    names
}

fn name(kind: &'static str, root: Root, parts: Result<Vec<String>, Unclear>) -> Name {
    Name { kind, root, parts, own: true, is_open: false }
}

fn of_repository(repository: &Repository) -> Vec<Name> {
    let Repository { host, owner, name: repository } = repository;
    let (host, port) = split_port(host.as_deref().unwrap_or(PUBLIC_HOST));
    let root = Root::Host(self::host(host, port.and_then(|port| port.parse().ok()), "https"));
    let parts = Ok(vec![key(owner), key(repository)]);
    vec![name("github", root.clone(), parts.clone()), Name { own: false, ..name("git", root, parts) }]
}

fn of_git(url: &GitUrl, dirs: &Dirs) -> Vec<Name> {
    if let Some(path) = url.local_path().map(Cow::Borrowed).or_else(|| url.file_path().map(Cow::Owned)) {
        let names = locals(&path, dirs).flat_map(|(root, parts)| {
            let repository = without_suffix(parts.clone());
            [name("git", root.clone(), Ok(repository)), name("path", root, Ok(parts))]
        });
        return names.collect();
    }
    let text = url.as_str();
    let (scheme, login, authority, path) = if let Some((scheme, rest)) = text.split_once("://") {
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (login, authority) = authority.rsplit_once('@').unwrap_or(("", authority));
        (scheme, login, authority, path)
    } else {
        // `git@host:path`, where the text after the colon is never a port.
        let (login, path) = text.split_once(':').unwrap_or((text, ""));
        let (login, authority) = login.rsplit_once('@').unwrap_or(("", login));
        ("ssh", login, authority, path)
    };
    let (host, port) = split_port(authority);
    let host = self::host(host, port.and_then(|port| port.parse().ok()), scheme);
    // Without `://`, git passes the path on unchanged: escapes have no meaning there.
    let is_plain = !text.contains("://");
    let parts = match scheme {
        _ if is_plain && path.contains('%') => Err(Unclear::Escape),
        "ssh" => folded(from_home(path, login)),
        _ => web(path),
    };
    let parts = parts.map(without_suffix).and_then(|parts| {
        let is_repository = |part: &String| part.strip_suffix(".git").is_some();
        if parts.iter().any(is_repository) { Err(Unclear::Suffix) } else { Ok(parts) }
    });
    let is_github = host.name == PUBLIC_HOST;
    let root = Root::Host(host);
    vec![name("git", root.clone(), parts.clone()), Name { own: is_github, ..name("github", root, parts) }]
}

fn of_address(kind: &'static str, address: &Address) -> Vec<Name> {
    let text = address.as_str();
    let (scheme, rest) = text.split_once("://").unwrap_or(("https", text));
    let (host, port) = split_port(rest.split(['/', '?']).next().unwrap_or(rest));
    let host = self::host(host, port.and_then(|port| port.parse().ok()), scheme);
    let parts = web(address.path().trim_end_matches('/'));
    let known = server_of(&host.name);
    let repository = parts.clone().and_then(|parts| {
        let prefix = match known {
            Some((_, prefix)) => prefix,
            None if parts.iter().take(3).eq(ENTERPRISE_API) => ENTERPRISE_API,
            None => &[],
        };
        // Parts of GitHub's interface identify repositories by number.
        let is_below = parts.iter().zip(prefix).all(|(part, prefix)| part == prefix);
        if !is_below && host.name.starts_with("api.") && known.is_some() {
            return Err(Unclear::Repository);
        }
        let skipped = if is_below { prefix.len() } else { 0 };
        Ok(without_suffix(parts.into_iter().skip(skipped).take(2).collect()))
    });
    let root = match known {
        Some((server, _)) => Root::Host(Host { name: server.to_owned(), ..host.clone() }),
        None => Root::Host(host.clone()),
    };
    let is_open = address.path().to_ascii_lowercase().ends_with(".md") || kind == "site";
    let github = Name {
        own: known.is_some_and(|(server, _)| server == PUBLIC_HOST),
        is_open,
        ..name("github", root, repository)
    };
    let own = name(kind, Root::Host(host.clone()), parts);
    match known {
        Some(_) => vec![own, Name { kind: "git", own: false, ..github.clone() }, github],
        None => vec![own, github],
    }
}

/// Returns the GitHub server whose repositories have files at the host `name`, and the path parts before the owner
/// there.
fn server_of(name: &str) -> Option<(&str, &'static [&'static str])> {
    if let Some((_, prefix)) = GITHUB_HOSTS.iter().find(|(known, _)| *known == name) {
        return Some((PUBLIC_HOST, prefix));
    }
    ENTERPRISE_HOSTS.iter().find_map(|(before, prefix)| {
        let server = name.strip_prefix(before).filter(|server| server.ends_with(ENTERPRISE_CLOUD))?;
        Some((server, *prefix))
    })
}

/// Returns the server `text`, which no longer has a port.
pub(super) fn host(text: &str, port: Option<u16>, scheme: &str) -> Host {
    let usual = usual_port(scheme);
    let name = host_name(text);
    // These offer ssh for users behind a firewall that lets nothing else through.
    let is_alias = ALIASES.iter().any(|(alias, _)| *alias == plain_host(text));
    let is_usual = port.is_none_or(|port| Some(port) == usual || (is_alias && matches!(port, 22 | 443)));
    let port = if is_usual { usual } else { port };
    Host { name, port: port.unwrap_or_default(), is_usual }
}

/// Returns the name of a server: in lower case, without a trailing dot, and with aliases replaced by one name. An IP
/// address is written in its usual form: `127.1`, `0x7f000001` and `[::ffff:127.0.0.1]` become `127.0.0.1`.
pub(super) fn host_name(text: &str) -> String {
    let plain = plain_host(text);
    if let Some((_, host)) = ALIASES.iter().find(|(alias, _)| *alias == plain) {
        return (*host).to_owned();
    }
    let inner = plain.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    match inner.map(str::parse::<IpAddr>) {
        Some(Ok(address)) => match address.to_canonical() {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => format!("[{address}]"),
        },
        Some(Err(_)) => plain,
        None => number_address(&plain).map_or(plain, |address| address.to_string()),
    }
}

fn plain_host(text: &str) -> String {
    text.trim_end_matches('.').to_ascii_lowercase()
}

/// Parses `text` as an address in one of the forms of `inet_aton`: one to four numbers, decimal, octal or hexadecimal,
/// where the last one fills the remaining bytes.
fn number_address(text: &str) -> Option<Ipv4Addr> {
    let number = |text: &str| match text.strip_prefix("0x") {
        Some("") => Some(0),
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None if text.len() > 1 && text.starts_with('0') => u32::from_str_radix(text, 8).ok(),
        None => text.parse().ok(),
    };
    let numbers = text.split('.').map(number).collect::<Option<Vec<_>>>()?;
    let (last, first) = numbers.split_last()?;
    if first.len() > 3 || first.iter().any(|number| *number > 255) {
        return None;
    }
    let left = 8 * (4 - u32::try_from(first.len()).ok()?);
    if u64::from(*last) >> left != 0 {
        return None;
    }
    let shifted = first.iter().zip([24, 16, 8]).map(|(number, by)| number << by);
    Some(Ipv4Addr::from_bits(shifted.sum::<u32>() | last))
}

/// Splits `host:port`; colons inside an address in brackets do not start a port.
pub(super) fn split_port(text: &str) -> (&str, Option<&str>) {
    let end = text.rfind(']').map_or(0, |at| at + 1);
    match text[end..].find(':') {
        Some(at) => (&text[..end + at], Some(&text[end + at + 1..])),
        None => (text, None),
    }
}

/// Returns the path of an ssh address, which may state explicitly that it starts in the home directory of the login:
/// that is the default on servers that serve nothing else.
pub(super) fn from_home<'a>(path: &'a str, login: &str) -> &'a str {
    let path = path.strip_prefix('/').unwrap_or(path);
    let Some(rest) = path.strip_prefix('~') else { return path };
    match rest.split_once('/') {
        Some((user, rest)) if user.is_empty() || user == login => rest,
        _ => path,
    }
}

/// Splits the path of a web address like [`folded`].
fn web(path: &str) -> Result<Vec<String>, Unclear> {
    if path.contains(';') { Err(Unclear::Semicolon) } else { folded(path) }
}

/// Returns the parts of a path on a server, without `.`, `..` and escapes.
pub(super) fn folded(path: &str) -> Result<Vec<String>, Unclear> {
    let path = decoded(path)?;
    if path.contains('\\') {
        return Err(Unclear::Backslash);
    }
    let path = path.strip_prefix('/').unwrap_or(&path).trim_end_matches('/');
    let mut parts = Vec::new();
    let (mut has_gap, mut climbs) = (false, false);
    for part in path.split('/') {
        match part {
            "" => has_gap = true,
            "." => {}
            ".." => {
                climbs = true;
                parts.pop().ok_or(Unclear::Above)?;
            }
            part => parts.push(key(part)),
        }
    }
    if has_gap && climbs { Err(Unclear::Gap) } else { Ok(parts) }
}

/// Returns `path` without escapes. An escape for a character with a special meaning is not decoded, since servers
/// differ in whether they do so.
fn decoded(path: &str) -> Result<Cow<'_, str>, Unclear> {
    if !path.contains('%') {
        return Ok(Cow::Borrowed(path));
    }
    let mut bytes = Vec::with_capacity(path.len());
    let mut pieces = path.split('%');
    bytes.extend_from_slice(pieces.next().unwrap_or_default().as_bytes());
    for piece in pieces {
        let (digits, rest) = piece.split_at_checked(2).ok_or(Unclear::Escape)?;
        let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let byte = u8::from_str_radix(digits, 16).ok().filter(|_| is_hex).ok_or(Unclear::Escape)?;
        if byte.is_ascii_control() || b"/\\%;*".contains(&byte) {
            return Err(Unclear::Escape);
        }
        bytes.push(byte);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).map(Cow::Owned).map_err(|_| Unclear::Escape)
}

/// Returns the parts of a path on this machine. Links are not followed: a path counts as written.
pub(super) fn local(path: &str) -> (Root, Vec<String>) {
    let path = if cfg!(windows) { Cow::Owned(path.replace('\\', "/")) } else { Cow::Borrowed(path) };
    let has_drive = cfg!(windows) && path.as_bytes().get(1) == Some(&b':');
    let (base, rest) = match path.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => (Base::Home, rest),
        _ if path.starts_with('/') || has_drive => (Base::Root, &*path),
        _ => (Base::Scope, &*path),
    };
    let (mut up, mut parts) = (0, Vec::new());
    for part in rest.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                // Nothing is above the root.
                if parts.pop().is_none() && base != Base::Root {
                    up += 1;
                }
            }
            part => parts.push(key(part)),
        }
    }
    (Root::Local(base, up), parts)
}

/// Returns a path on this machine as written, and from the root of the file system if `dirs` allow that.
fn locals(path: &str, dirs: &Dirs) -> impl Iterator<Item = (Root, Vec<String>)> + use<> {
    let (root, parts) = local(path);
    let from_root = dirs.whole(&root, &parts).map(|parts| (Root::Local(Base::Root, 0), parts));
    [(root, parts)].into_iter().chain(from_root)
}

/// Returns the parts of a repository's place, which may end in `.git`, or lead to the directory `.git` itself.
pub(super) fn without_suffix(mut parts: Vec<String>) -> Vec<String> {
    if parts.len() > 1 {
        parts.pop_if(|last| last == ".git");
    }
    if let Some(last) = parts.last_mut()
        && let Some(name) = last.strip_suffix(".git").filter(|name| !name.is_empty())
    {
        *last = name.to_owned();
    }
    parts
}

/// Returns the parts of the name of a package and of the text after it, by its registry's rules for equal names.
pub(super) fn package_parts(ecosystem: Ecosystem, text: &str) -> Vec<String> {
    let mut parts: Vec<String> = text.split('/').map(key).collect();
    if let Some(name) = parts.first_mut() {
        *name = ecosystem.compared(name);
    }
    parts
}

/// Returns the form of a part that is compared: case and the encoding of accents make no difference.
pub(super) fn key(part: &str) -> String {
    collision_key(part).into_owned()
}
