//! Finds the scripts among the files of a skill.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::Path;

use serde::{Serialize, Serializer};

use super::{MANIFESTS, SCRIPTS, ToolDiagnostic};
use crate::engine::run;
use crate::fs::{self, Base, Kind};
use crate::path::SafePath;
use crate::profile::ScriptPlaces;
use crate::skill::skipped::is_skipped;
use crate::tree::leftovers::directories;

/// The maximum size of a script that is examined, in bytes.
pub const MAX_SCRIPT: u64 = 1 << 20;
/// The maximum number of files of a skill that are examined.
pub(super) const MAX_FILES: usize = 2_000;
/// The maximum depth, in directories, at which scripts are searched for.
const MAX_DEPTH: usize = 5;
/// Extensions of scripts (S1-FR-201.2), with their languages.
const ENDINGS: [(&str, Language); 3] =
    [("py", Language::Python), ("sh", Language::Shell), ("js", Language::JavaScript)];
/// Directories whose files are not meant to be called, except in the profile for skillkit: those of package managers,
/// and tests.
const NO_TOOLS: [&str; 4] = ["site-packages", "tests", "test", "__tests__"];
/// Interpreters whose languages are understood.
const INTERPRETERS: [(&str, Language); 9] = [
    ("python", Language::Python),
    ("sh", Language::Shell),
    ("ash", Language::Shell),
    ("bash", Language::Shell),
    ("dash", Language::Shell),
    ("ksh", Language::Shell),
    ("zsh", Language::Shell),
    ("node", Language::JavaScript),
    ("nodejs", Language::JavaScript),
];

/// The language of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Language {
    /// Python.
    Python,
    /// A shell.
    Shell,
    /// JavaScript.
    JavaScript,
    /// Any other, by the program that runs it; without a name, the manifest makes the file a script.
    Other(String),
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Python => "python",
            Self::Shell => "shell",
            Self::JavaScript => "javascript",
            Self::Other(name) => name,
        })
    }
}

skillpm_format::schema_of!(Language as String);

impl Serialize for Language {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The reason why a file is not a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It is a link: its target may change or be outside the skill.
    #[error("it is a link; put the file itself there")]
    Link,
    /// It would run with the rights of its owner or its group.
    #[error("it has the setuid or setgid bit; remove it with `chmod ug-s`")]
    SetId,
    /// It is neither a file nor a directory.
    #[error("it is not a regular file")]
    Special,
    /// The first line names a program that is not a known interpreter.
    #[error("its first line does not name a known interpreter, such as `/bin/sh` or `/usr/bin/env python3`")]
    Interpreter,
}

/// A file that can be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Script {
    /// The path in the skill, with `/`.
    pub(super) path: String,
    pub(super) language: Language,
}

/// The kind of a file.
#[derive(Debug)]
pub(super) enum ScriptFile {
    /// A script.
    Script(Script),
    /// A file that is a script only if a manifest says so.
    Other(Script),
    /// A file that is never a tool.
    Refused(Refused),
}

/// The files of a skill, by path.
#[derive(Debug)]
pub(super) struct ScriptListing {
    files: BTreeMap<String, ScriptFile>,
}

impl ScriptListing {
    /// Examines the files of the skill in `dir`.
    pub(super) fn of(dir: &Path, places: ScriptPlaces, diagnostics: &mut Vec<ToolDiagnostic>) -> Self {
        // The profile for skillkit has its own rules.
        let all = places == ScriptPlaces::Root;
        let mut walk = Walk { dir, files: BTreeMap::new(), diagnostics, full: false, all };
        let depth = if places == ScriptPlaces::Top { 0 } else { MAX_DEPTH };
        if places == ScriptPlaces::Root {
            walk.directory("", depth);
        } else {
            match fs::kind(&dir.join(SCRIPTS)) {
                Ok(Some(Kind::Directory)) => walk.directory(SCRIPTS, depth),
                Ok(Some(Kind::Symlink)) => walk.refuse(SCRIPTS, Refused::Link),
                Ok(_) => {}
                Err(error) => walk.diagnostics.push(ToolDiagnostic::Unreadable(error)),
            }
        }
        Self { files: walk.files }
    }

    /// Returns the scripts, sorted by the bytes of their paths.
    pub(super) fn scripts(&self) -> impl Iterator<Item = &Script> {
        self.files
            .values()
            .filter_map(|found| if let ScriptFile::Script(script) = found { Some(script) } else { None })
    }

    /// Returns the file at `path`.
    pub(super) fn file(&self, path: &str) -> Option<&ScriptFile> {
        self.files.get(path)
    }

    /// Also examines the file at `path` of the skill in `dir`, which a manifest names. It may be deeper than the search
    /// for scripts goes, but not behind a link.
    pub(super) fn add(&mut self, dir: &Path, path: &str) {
        let Ok(safe) = SafePath::new(path) else { return };
        if self.files.contains_key(path) {
            return;
        }
        let is_link = |path: &str| matches!(fs::kind(&dir.join(path)), Ok(Some(Kind::Symlink)));
        if safe.ancestors().any(is_link) || is_link(path) {
            self.files.insert(path.to_owned(), ScriptFile::Refused(Refused::Link));
            return;
        }
        let Some((parent, name)) = path.rsplit_once('/') else { return };
        let (Ok(Some(kind)), Ok(base)) = (fs::kind(&dir.join(path)), Base::open(&dir.join(parent))) else {
            return;
        };
        let mut walk =
            Walk { dir, files: BTreeMap::new(), diagnostics: &mut Vec::new(), full: false, all: false };
        match kind {
            Kind::File => walk.file(&base, name, path.to_owned()),
            Kind::Other => walk.refused(name, path.to_owned(), Refused::Special),
            Kind::Directory | Kind::Symlink => {}
        }
        self.files.append(&mut walk.files);
    }
}

struct Walk<'a> {
    dir: &'a Path,
    files: BTreeMap<String, ScriptFile>,
    diagnostics: &'a mut Vec<ToolDiagnostic>,
    full: bool,
    /// Whether tests and the like are tools, too.
    all: bool,
}

impl Walk<'_> {
    fn refuse(&mut self, path: &str, reason: Refused) {
        self.diagnostics.push(ToolDiagnostic::Refused { file: self.dir.join(path), reason });
    }

    /// Examines the entries of the directory `path`, and `deeper` levels below it.
    fn directory(&mut self, path: &str, deeper: usize) {
        let at = self.dir.join(path);
        let looked = fs::entries(&at).and_then(|entries| Ok((entries, Base::open(&at)?)));
        let (mut entries, base) = match looked {
            Ok(looked) => looked,
            Err(error) => return self.diagnostics.push(ToolDiagnostic::Unreadable(error)),
        };
        entries.sort_by(|(a, _), (b, _)| a.cmp(b));
        for (name, kind) in entries {
            // A name that is not UTF-8 cannot be given to a model.
            let Some(name) = name.to_str() else { continue };
            if self.full {
                return;
            }
            if self.files.len() == MAX_FILES {
                self.full = true;
                return self.diagnostics.push(ToolDiagnostic::TooMany(self.dir.to_owned()));
            }
            let below = if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
            match kind {
                Kind::Directory if deeper > 0 && self.enters(name, &at) => self.directory(&below, deeper - 1),
                Kind::Directory => {}
                Kind::File => self.file(&base, name, below),
                Kind::Symlink => self.refused(name, below, Refused::Link),
                Kind::Other => self.refused(name, below, Refused::Special),
            }
        }
    }

    /// Reports whether the directory `name` in `parent` may hold tools.
    fn enters(&self, name: &str, parent: &Path) -> bool {
        if is_skipped(name.as_ref()) || directories().contains(&name) || name.starts_with('.') {
            return false;
        }
        // Under any name of the directory, this file makes it a Python environment.
        let is_environment =
            || fs::kind(&parent.join(name).join("pyvenv.cfg")).is_ok_and(|kind| kind.is_some());
        self.all || !(NO_TOOLS.contains(&name) || is_environment())
    }

    fn file(&mut self, base: &Base, name: &str, path: String) {
        const SET_ID: u32 = 0o6000;
        if base.stat(name.as_bytes()).is_some_and(|stat| stat.mode & SET_ID != 0) {
            return self.refused(name, path, Refused::SetId);
        }
        // Neither a package's own file nor hidden files are meant to be called.
        let is_called = name != "__init__.py" && !name.starts_with('.') && (self.all || !is_test(name));
        let by_line = by_first_line(&self.dir.join(&path), &path);
        if by_line.is_err() && is_called {
            self.refuse(&path, Refused::Interpreter);
            self.files.insert(path, ScriptFile::Refused(Refused::Interpreter));
            return;
        }
        let language = by_ending(name).or(by_line.unwrap_or_default());
        let is_script = language.is_some() && is_called;
        let script =
            Script { path: path.clone(), language: language.unwrap_or(Language::Other(String::new())) };
        self.files
            .insert(path, if is_script { ScriptFile::Script(script) } else { ScriptFile::Other(script) });
    }

    fn refused(&mut self, name: &str, path: String, reason: Refused) {
        // Files that do not look like scripts are skipped in silence.
        if (by_ending(name).is_some() && !name.starts_with('.')) || MANIFESTS.contains(&name) {
            self.refuse(&path, reason);
        }
        self.files.insert(path, ScriptFile::Refused(reason));
    }
}

/// Reports whether a script of this name is a test or a helper for tests.
fn is_test(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let stem = name.rsplit_once('.').map_or(name.as_str(), |(stem, _)| stem);
    stem == "conftest"
        || stem.starts_with("test_")
        || ["_test", ".test", ".spec", "_spec"].iter().any(|end| stem.ends_with(end))
}

fn by_ending(name: &str) -> Option<Language> {
    let (_, ending) = name.rsplit_once('.')?;
    ENDINGS.iter().find(|(known, _)| ending.eq_ignore_ascii_case(known)).map(|(_, language)| language.clone())
}

/// Returns the language from the first line of the script at `at`, such as `#!/usr/bin/env python3` or `#!/bin/sh`;
/// `None` if there is no such line.
fn by_first_line(at: &Path, path: &str) -> Result<Option<Language>, Refused> {
    let bytes = fs::read_prefix(at, MAX_SCRIPT, |_| true).ok().flatten().unwrap_or_default();
    let program = run::program_of(path, &bytes).map_err(|_| Refused::Interpreter)?;
    Ok(program.map(|program| {
        let known = INTERPRETERS.iter().find(|(name, _)| *name == program);
        known.map_or_else(|| Language::Other(program.to_owned()), |(_, language)| language.clone())
    }))
}

/// Reads a script or a manifest; `None` if it no longer exists.
pub(super) fn read(path: &Path) -> Result<Option<Vec<u8>>, ToolDiagnostic> {
    fs::read_prefix(path, MAX_SCRIPT, |_| false).map_err(|error| {
        if error.source.kind() == io::ErrorKind::FileTooLarge {
            ToolDiagnostic::TooLarge(path.to_owned())
        } else {
            ToolDiagnostic::Unreadable(error)
        }
    })
}
