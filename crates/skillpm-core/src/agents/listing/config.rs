//! The settings of agents that change what they list. They are read and never written.

mod claude_code;
mod codex;
mod gemini;
mod opencode;

use std::path::{Path, PathBuf};

use glob::Pattern;

use super::walk::{Dir, FoundFile};
use super::{Asked, Why};
use crate::agents::rules::{Owner, Rules};
use crate::error::Error;
use crate::fs;
use crate::interop::json::{Json, read_settings};
use crate::text::line_column;

/// The largest file of settings that is read, in bytes.
const MAX_SETTINGS: u64 = 4 << 20;

/// What the settings of an agent say about its listing.
#[derive(Debug)]
pub(super) struct Config {
    /// More directories, which are read before the others.
    pub before: Vec<Dir>,
    /// More directories, which are read after the others.
    pub after: Vec<Dir>,
    /// What marks the root of a repository.
    pub markers: Vec<String>,
    /// Whether all directories above are searched outside of a repository; otherwise none is.
    pub unbounded: bool,
    /// The directories of the rules that are not read, as the rules name them.
    pub without_dirs: Vec<&'static str>,
    /// Whose skills are not read.
    pub without: Vec<Owner>,
    /// The file that does not name the project's directory, if the agent does not trust it.
    pub untrusted: Option<PathBuf>,
    /// The setting that switches the whole listing off.
    pub off: Option<Why>,
    /// Directories of files `*.md` that are listed like skills, and lose to them.
    pub commands: Vec<Dir>,
    /// The skills that the agent writes when it starts, by name and description; none if those on the disk count.
    pub built_in: Vec<(&'static str, &'static str)>,
    /// What they say about single skills; the last that matches counts.
    pub switches: Vec<Switch>,
    /// How much the listing may hold, in units.
    pub budget: Option<u64>,
    /// The part of the window that it may take.
    pub part: Option<f64>,
    /// The model's window, in tokens.
    pub window: Option<u64>,
    /// The longest description, in characters.
    pub longest: Option<usize>,
    /// What cannot be read.
    pub problems: Vec<Error>,
}

/// What a setting says about the skills that it matches.
#[derive(Debug)]
pub(super) struct Switch {
    /// Which skills it matches.
    pub matches: Matches,
    /// What it says; nothing if they are listed.
    pub says: Option<Says>,
}

/// The skills that a setting is about.
#[derive(Debug)]
pub(super) enum Matches {
    /// Those of this name, unless they come with a plugin.
    OwnName(String),
    /// Those of this name.
    Name(String),
    /// Those of this name in any case.
    AnyCase(String),
    /// Those whose names match, with `*` for any characters and `?` for one.
    Wildcard(String),
    /// The one in this file.
    File(PathBuf),
}

/// What a setting says.
#[derive(Debug, Clone)]
pub(super) enum Says {
    /// The skill is not listed.
    Off(Why),
    /// Only its name is.
    NameOnly(Why),
}

impl Default for Config {
    fn default() -> Self {
        Self {
            before: Vec::new(),
            after: Vec::new(),
            markers: vec![".git".to_owned()],
            unbounded: false,
            without_dirs: Vec::new(),
            without: Vec::new(),
            untrusted: None,
            off: None,
            commands: Vec::new(),
            built_in: Vec::new(),
            switches: Vec::new(),
            budget: None,
            part: None,
            window: None,
            longest: None,
            problems: Vec::new(),
        }
    }
}

impl Config {
    /// Returns what the settings say about a skill, if they say more than that it is listed.
    pub(super) fn says(&self, name: &str, found: &FoundFile) -> Option<Says> {
        let last = self.switches.iter().rev().find(|switch| match &switch.matches {
            Matches::OwnName(own) => found.plugin.is_none() && own == name,
            Matches::Name(own) => own == name,
            Matches::AnyCase(own) => own.to_lowercase() == name.to_lowercase(),
            Matches::Wildcard(pattern) => is_match(pattern, name),
            Matches::File(file) => *file == found.file || *file == found.real,
        });
        last?.says.clone()
    }

    /// Records what `key` in `file` says about the whole listing, if it says something.
    fn switch_all(&mut self, is_on: Option<bool>, file: &Path, key: &str) {
        if let Some(is_on) = is_on {
            let why = || Why::Setting { file: file.to_owned(), key: key.to_owned() };
            self.off = (!is_on).then(why);
        }
    }

    /// Reads a file of settings in JSON. Returns `None` if it does not exist; records a problem if it cannot be read.
    fn json(&mut self, path: &Path) -> Option<Json> {
        let text = self.text(path)?;
        self.parsed(&text, path)
    }

    /// Reads settings in JSON from a text. Records a problem with `from` if it cannot be read.
    fn parsed(&mut self, text: &str, from: &Path) -> Option<Json> {
        match read_settings(text) {
            Ok(value) => Some(value),
            Err((at, what)) => {
                let (line, column) = line_column(text, at);
                self.cannot_read(from, &format!("line {line}, column {column}: {what}"));
                None
            }
        }
    }

    /// Records that a file of settings cannot be read, and why.
    fn cannot_read(&mut self, path: &Path, why: &str) {
        let path = path.display();
        let message = format!("`{path}` cannot be read, so what it changes is not counted: {why}");
        self.problems.push(Error::config(message));
    }

    /// Reads a file of settings. Returns `None` if it does not exist; records a problem if it cannot be read.
    fn text(&mut self, path: &Path) -> Option<String> {
        match fs::read_text(path, MAX_SETTINGS) {
            Ok(text) => text,
            Err(error) => {
                self.problems.push(error.into());
                None
            }
        }
    }
}

/// Reads the settings of the agent.
pub(super) fn read(rules: &Rules, asked: Asked<'_>) -> Config {
    let mut config = Config::default();
    match rules.agent {
        "claude-code" => claude_code::read(asked, &mut config),
        "codex" => codex::read(asked, &mut config),
        "gemini-cli" => gemini::read(asked, &mut config),
        "opencode" => opencode::read(asked, &mut config),
        _ => {}
    }
    config
}

/// Reports whether `name` matches `pattern`, in which `*` stands for any characters and `?` for one; nothing else is special.
fn is_match(pattern: &str, name: &str) -> bool {
    let mut plain = pattern.replace('[', "[[]");
    // Two are as good as one here; elsewhere they mean directories.
    while plain.contains("**") {
        plain = plain.replace("**", "*");
    }
    Pattern::new(&plain).is_ok_and(|pattern| pattern.matches(name))
}

#[cfg(test)]
mod tests {
    use super::is_match;

    #[test]
    fn patterns_of_names() {
        for (pattern, name) in [
            ("*", ""),
            ("a*", "a/b"),
            ("**", ".x"),
            ("a?c", "aüc"),
            ("[a]", "[a]"),
            ("a**c", "abbc"),
            ("x]", "x]"),
        ] {
            assert!(is_match(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("a", "ab"), ("[a]", "a"), ("?", ""), ("A", "a"), ("*b", "abc")] {
            assert!(!is_match(pattern, name), "{pattern} {name}");
        }
    }
}
