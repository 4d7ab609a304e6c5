//! What Python scripts require: names of packages, inline metadata, and the modules of Python itself.

use serde::Deserialize;

use super::{MAX, MAX_NAME, Prerequisite, PrerequisiteKind};
use crate::document::Position;

/// The modules of Python that have no underscore in front. Source: `sys.stdlib_module_names` of Python 3.11, which has
/// those that later versions removed, and what 3.14 added.
const STANDARD: &str = "\
    abc aifc annotationlib antigravity argparse array ast asynchat asyncio asyncore atexit audioop base64 \
    bdb binascii bisect builtins bz2 cProfile calendar cgi cgitb chunk cmath cmd code codecs codeop \
    collections colorsys compileall compression concurrent configparser contextlib contextvars copy copyreg \
    crypt csv ctypes curses dataclasses datetime dbm decimal difflib dis distutils doctest email encodings \
    ensurepip enum errno faulthandler fcntl filecmp fileinput fnmatch fractions ftplib functools gc \
    genericpath getopt getpass gettext glob graphlib grp gzip hashlib heapq hmac html http idlelib imaplib \
    imghdr imp importlib inspect io ipaddress itertools json keyword lib2to3 linecache locale logging lzma \
    mailbox mailcap marshal math mimetypes mmap modulefinder msilib msvcrt multiprocessing netrc nis nntplib \
    nt ntpath nturl2path numbers opcode operator optparse os ossaudiodev pathlib pdb pickle pickletools \
    pipes pkgutil platform plistlib poplib posix posixpath pprint profile pstats pty pwd py_compile pyclbr \
    pydoc pydoc_data pyexpat queue quopri random re readline reprlib resource rlcompleter runpy sched \
    secrets select selectors shelve shlex shutil signal site smtpd smtplib sndhdr socket socketserver spwd \
    sqlite3 sre_compile sre_constants sre_parse ssl stat statistics string stringprep struct subprocess \
    sunau symtable sys sysconfig syslog tabnanny tarfile telnetlib tempfile termios textwrap this threading \
    time timeit tkinter token tokenize tomllib trace traceback tracemalloc tty turtle turtledemo types \
    typing unicodedata unittest urllib uu uuid venv warnings wave weakref webbrowser winreg winsound wsgiref \
    xdrlib xml xmlrpc zipapp zipfile zipimport zlib zoneinfo";

/// Reports whether `module` is part of Python, or private.
pub fn is_standard(module: &str) -> bool {
    module.starts_with('_') || STANDARD.split(' ').any(|standard| standard == module)
}

/// A package that a text names.
pub(super) struct Package<'a> {
    pub(super) name: &'a str,
    /// The versions, or the address, as written.
    pub(super) version: Option<String>,
    /// Whether it is for some machines only.
    pub(super) conditional: bool,
}

/// Parses a dependency such as `requests[socks]>=2; python_version < "3.12"`. Source: PEP 508.
pub(super) fn package(text: &str) -> Option<Package<'_>> {
    let (text, marker) = text.split_once(';').map_or((text, None), |(text, marker)| (text, Some(marker)));
    let text = text.trim();
    let is_name = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let (name, rest) = text.split_at(text.find(|c| !is_name(c)).unwrap_or(text.len()));
    let rest = rest.trim_start();
    let rest = match rest.strip_prefix('[') {
        Some(extras) => extras.split_once(']')?.1.trim_start(),
        None => rest,
    };
    if name.is_empty() || !rest.is_empty() && !rest.starts_with(['<', '>', '=', '!', '~', '@', '(']) {
        return None;
    }
    let version = (!rest.is_empty()).then(|| rest.chars().take(MAX_NAME).collect());
    Some(Package { name, version, conditional: marker.is_some() })
}

/// The inline metadata of a script.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct Inline {
    /// The versions of Python that run it, as written.
    pub requires_python: Option<String>,
    /// The packages that it imports, as written.
    pub dependencies: Vec<String>,
}

impl Inline {
    /// Reads the inline metadata of the script `text`; `None` if it has none that can be read.
    pub fn of(text: &str) -> Option<Self> {
        read(text).map(|(inline, _)| inline)
    }

    /// Returns a dependency that does not name a package of an index, such as one with an address.
    pub fn unnamed(&self) -> Option<&str> {
        let is_named = |text: &str| {
            let has_address =
                |package: Package<'_>| package.version.is_some_and(|text| text.starts_with('@'));
            text.starts_with(|c: char| c.is_ascii_alphanumeric())
                && !text.contains(char::is_control)
                && package(text).is_some_and(|package| !has_address(package))
        };
        self.dependencies.iter().map(String::as_str).find(|text| !is_named(text))
    }

    /// Returns the versions of Python; `None` if there are none, or if the text is something else, such as a path.
    pub fn versions(&self) -> Option<&str> {
        let text = self.requires_python.as_deref()?.trim();
        let is_part = |c: char| c.is_ascii_alphanumeric() || "<>=!~.,* ".contains(c);
        (text.starts_with(['<', '>', '=', '!', '~']) && text.chars().all(is_part)).then_some(text)
    }
}

/// Returns what the inline metadata of the script `text` in `file` requires; `None` if it has none that can be read.
pub fn inline(text: &str, file: &str) -> Option<Vec<Prerequisite>> {
    read(text).map(|(inline, places)| stated(&inline, &places, file))
}

/// Reads the inline metadata of the script `text`, with its lines and their numbers. Source: PEP 723.
fn read(text: &str) -> Option<(Inline, Vec<(usize, &str)>)> {
    let mut lines = text.lines().enumerate().skip_while(|(_, line)| line.trim_end() != "# /// script");
    lines.next()?;
    let mut content = String::new();
    let mut places = Vec::new();
    for (number, line) in lines.take(MAX) {
        let line = line.trim_end();
        if line == "# ///" {
            return Some((toml::from_str(&content).ok()?, places));
        }
        content.push_str(line.strip_prefix("# ").or_else(|| line.strip_prefix('#'))?);
        content.push('\n');
        places.push((number + 1, line));
    }
    None
}

fn stated(inline: &Inline, places: &[(usize, &str)], file: &str) -> Vec<Prerequisite> {
    let at = |text: &str| {
        let place = places.iter().find_map(|(line, content)| Some((*line, content.find(text)?, content)));
        let place = place.map(|(line, byte, content)| (line, content[..byte].chars().count() + 1));
        let (line, column) = place.unwrap_or((places.first().map_or(1, |(line, _)| *line), 1));
        Position { line, column }
    };
    let of = |kind, names: &[&str], text: &str, version| {
        let new = Prerequisite::new(kind, names.iter().copied(), ("script.dependencies", file, at(text)))?;
        Some(Prerequisite { version, ..new })
    };
    let python = inline.requires_python.iter().filter_map(|version| {
        let new = of(PrerequisiteKind::Program, &["python3", "python"], version, Some(version.clone()))?;
        Some(Prerequisite { key: "script.requires-python".to_owned(), ..new })
    });
    let packages = inline.dependencies.iter().take(MAX).filter_map(|text| {
        let package = package(text)?;
        let new = of(PrerequisiteKind::PythonPackage, &[package.name], text, package.version)?;
        Some(new.optional(package.conditional))
    });
    python.chain(packages).collect()
}
