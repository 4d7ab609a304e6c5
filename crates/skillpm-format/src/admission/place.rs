//! Addresses in the one form in which a policy compares them.
//!
//! An address can be spelled in many ways that lead to one place. A source and a pattern are both brought
//! into the form of this module, so that no spelling leads around a line, and none through it.

use std::borrow::Cow;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;

use crate::path::collision_key;
use crate::spec::{Address, Compared, Ecosystem, GitUrl, Origin, PUBLIC_HOST, Repository};

/// A name under which a pattern can mean a source.
#[derive(Debug, Clone)]
pub(super) struct Name {
    /// The word before the colon.
    pub(super) kind: &'static str,
    /// Where the parts begin.
    pub(super) root: Root,
    /// What follows, part by part.
    pub(super) parts: Result<Vec<String>, Unclear>,
    /// Whether the source counts among all of the kind. Else it has an address of the kind too, and a pattern
    /// means it by that only.
    pub(super) own: bool,
    /// Whether it lies somewhere below the parts, and its address does not tell where.
    pub(super) is_open: bool,
}

/// Where the parts of a name begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Root {
    /// At a server.
    Host(Host),
    /// At a directory of this machine, or so many directories above it.
    Local(Base, usize),
    /// At the names of packages.
    Package,
}

/// A server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Host {
    pub(super) name: String,
    pub(super) port: u16,
    /// Whether the port is that of the scheme.
    pub(super) is_usual: bool,
}

/// What a path on this machine is relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Base {
    /// The directory of the manifest.
    Scope,
    /// The user's home directory.
    Home,
    /// The root of the file system.
    Root,
}

/// From where paths on this machine count. Where a directory is not known, paths from there are compared as written.
#[derive(Debug, Clone, Default)]
pub struct Dirs {
    /// The parts of the directory from which those in a manifest count.
    scope: Option<Vec<String>>,
    /// Those of the user's home directory.
    home: Option<Vec<String>>,
}

/// Why an address cannot be compared: where it leads depends on who reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unclear {
    /// `%2F`, `%25` and others that stand for what has a meaning of its own, or for nothing.
    Escape,
    /// `\`.
    Backslash,
    /// `;` in the path of a web address: some servers take what follows it for no part of the path.
    Semicolon,
    /// `..` where nothing is left to leave.
    Above,
    /// `..` beside two slashes, of which some servers make one.
    Gap,
    /// A directory above a repository that ends as repositories do.
    Suffix,
    /// An address of GitHub that does not say whose it is.
    Repository,
    /// An address of one file, which has a revision before the directory, and either may have slashes.
    Directory,
}

impl Dirs {
    /// Paths in a manifest count from `scope`, and those that begin with `~` from `home`.
    pub fn new(scope: &Path, home: Option<&Path>) -> Self {
        let parts = |dir: &Path| match local(dir.to_str()?) {
            (Root::Local(Base::Root, _), parts) => Some(parts),
            _ => None,
        };
        Self { scope: parts(scope), home: home.and_then(parts) }
    }

    /// The parts of a path on this machine from the root of the file system; `None` where it begins there anyway, or
    /// nobody knows.
    pub(super) fn whole(&self, root: &Root, parts: &[String]) -> Option<Vec<String>> {
        let (dir, up) = match root {
            Root::Local(Base::Scope, up) => (self.scope.as_ref()?, *up),
            Root::Local(Base::Home, up) => (self.home.as_ref()?, *up),
            _ => return None,
        };
        // Nothing lies above the root.
        let above = dir.iter().take(dir.len().saturating_sub(up));
        Some(above.chain(parts).cloned().collect())
    }
}

/// As a sentence.
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

/// Hosts that are others by another name.
const ALIASES: [(&str, &str); 7] = [
    ("www.github.com", PUBLIC_HOST),
    ("ssh.github.com", PUBLIC_HOST),
    ("www.gitlab.com", "gitlab.com"),
    ("altssh.gitlab.com", "gitlab.com"),
    ("www.bitbucket.org", "bitbucket.org"),
    ("altssh.bitbucket.org", "bitbucket.org"),
    ("www.codeberg.org", "codeberg.org"),
];

/// Hosts with files of repositories on GitHub, and what stands before the owner there.
const GITHUB_HOSTS: [(&str, &[&str]); 6] = [
    (PUBLIC_HOST, &[]),
    ("api.github.com", &["repos"]),
    ("codeload.github.com", &[]),
    ("raw.githubusercontent.com", &[]),
    ("raw.github.com", &[]),
    ("media.githubusercontent.com", &["media"]),
];

/// Servers of GitHub Enterprise that GitHub runs, and what stands before their names where files of repositories are,
/// with what stands before the owner there.
const ENTERPRISE_CLOUD: &str = ".ghe.com";
const ENTERPRISE_HOSTS: [(&str, &[&str]); 3] = [("api.", &["repos"]), ("codeload.", &[]), ("raw.", &[])];

/// The same on servers of GitHub Enterprise that others run.
const ENTERPRISE_API: &[&str] = &["api", "v3", "repos"];

/// The port of a scheme, as far as it is known.
pub(super) fn usual_port(scheme: &str) -> Option<u16> {
    match scheme {
        "https" => Some(443),
        "http" => Some(80),
        "ssh" => Some(22),
        _ => None,
    }
}

/// The names under which a pattern can mean a source: its own, and those of other addresses that lead there
/// too. So `deny = ["github:acme"]` cannot be gone around with `git+https://github.com/acme/x.git` or the
/// address of an archive, nor `deny = ["path:/srv/skills"]` with a path from a project to there.
pub(super) fn names(origin: &Origin, path: Option<&str>, dirs: &Dirs) -> Vec<Name> {
    let mut names = match origin.compared() {
        Compared::Repository(repository) => of_repository(repository),
        Compared::Git(url) => of_git(url, dirs),
        Compared::Address(address) => of_address(origin.kind(), address),
        Compared::Package(ecosystem, package) => {
            vec![name(origin.kind(), Root::Package, Ok(package_parts(ecosystem, package)))]
        }
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
        // `git@host:path`, where what follows the colon is never a port.
        let (login, path) = text.split_once(':').unwrap_or((text, ""));
        let (login, authority) = login.rsplit_once('@').unwrap_or(("", login));
        ("ssh", login, authority, path)
    };
    let (host, port) = split_port(authority);
    let host = self::host(host, port.and_then(|port| port.parse().ok()), scheme);
    // Without `://` git hands the path on as it is: an escape is none there, and nobody needs one.
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
        // Of what the interface of GitHub offers, some tells repositories by their number.
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

/// The server of GitHub whose repositories have files at the host `name`, and what stands before the owner there.
fn server_of(name: &str) -> Option<(&str, &'static [&'static str])> {
    if let Some((_, prefix)) = GITHUB_HOSTS.iter().find(|(known, _)| *known == name) {
        return Some((PUBLIC_HOST, prefix));
    }
    ENTERPRISE_HOSTS.iter().find_map(|(before, prefix)| {
        let server = name.strip_prefix(before).filter(|server| server.ends_with(ENTERPRISE_CLOUD))?;
        Some((server, *prefix))
    })
}

/// The server `text`, which has no port any more.
pub(super) fn host(text: &str, port: Option<u16>, scheme: &str) -> Host {
    let usual = usual_port(scheme);
    let name = host_name(text);
    // These offer ssh where a firewall lets nothing else through.
    let is_alias = ALIASES.iter().any(|(alias, _)| *alias == plain_host(text));
    let is_usual = port.is_none_or(|port| Some(port) == usual || (is_alias && matches!(port, 22 | 443)));
    let port = if is_usual { usual } else { port };
    Host { name, port: port.unwrap_or_default(), is_usual }
}

/// The name of a server: in lower case, without the dot that may end it, and one of several by which it goes.
/// An address is written in its usual form: `127.1`, `0x7f000001` and `[::ffff:127.0.0.1]` are `127.0.0.1`.
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

/// The address that `text` is in one of the forms of `inet_aton`: one to four numbers, decimal, octal or
/// hexadecimal, of which the last one fills what is left.
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

/// Splits `host:port`; the colons of an address in brackets are none before a port.
pub(super) fn split_port(text: &str) -> (&str, Option<&str>) {
    let end = text.rfind(']').map_or(0, |at| at + 1);
    match text[end..].find(':') {
        Some(at) => (&text[..end + at], Some(&text[end + at + 1..])),
        None => (text, None),
    }
}

/// A path of an ssh address, which may say that it begins in the home directory of whoever logs in: that is
/// what it does on servers that serve nothing else.
pub(super) fn from_home<'a>(path: &'a str, login: &str) -> &'a str {
    let path = path.strip_prefix('/').unwrap_or(path);
    let Some(rest) = path.strip_prefix('~') else { return path };
    match rest.split_once('/') {
        Some((user, rest)) if user.is_empty() || user == login => rest,
        _ => path,
    }
}

/// As [`folded`], of the path of a web address.
fn web(path: &str) -> Result<Vec<String>, Unclear> {
    if path.contains(';') { Err(Unclear::Semicolon) } else { folded(path) }
}

/// The parts of a path on a server, without `.`, `..` and escapes.
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

/// `path` without escapes. One that stands for a character with a meaning of its own is not undone, since
/// servers differ in whether they do.
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

/// The parts of a path on this machine. Links are not followed: a path counts as it is written.
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
                // Nothing lies above the root.
                if parts.pop().is_none() && base != Base::Root {
                    up += 1;
                }
            }
            part => parts.push(key(part)),
        }
    }
    (Root::Local(base, up), parts)
}

/// A path on this machine as it is written, and from the root of the file system where `dirs` tell that.
fn locals(path: &str, dirs: &Dirs) -> impl Iterator<Item = (Root, Vec<String>)> + use<> {
    let (root, parts) = local(path);
    let from_root = dirs.whole(&root, &parts).map(|parts| (Root::Local(Base::Root, 0), parts));
    [(root, parts)].into_iter().chain(from_root)
}

/// The parts of a repository's place, which may end in `.git`, or lead to the directory `.git` itself.
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

/// The parts of the name of a package and of what follows it, by the rules of its registry for names that are one.
pub(super) fn package_parts(ecosystem: Ecosystem, text: &str) -> Vec<String> {
    let mut parts: Vec<String> = text.split('/').map(key).collect();
    if let Some(name) = parts.first_mut() {
        *name = ecosystem.compared(name);
    }
    parts
}

/// What is compared of a part: case makes no difference, nor how an accent is written.
pub(super) fn key(part: &str) -> String {
    collision_key(part).into_owned()
}
