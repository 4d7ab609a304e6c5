//! What this machine has.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::interpreter::Answers;
use crate::engine::run::{Programs, interpreter_of, is_given, on_path};
use crate::fs;
use crate::settings::Settings;
use crate::skill::prerequisites::{CheckedPrerequisite, Prerequisite, PrerequisiteKind, Presence};
use crate::text::and_more;

/// The maximum number of things that a sentence names.
const MAX_NAMED: usize = 5;
/// The names that agents give systems, by the name that Rust has for each.
const SYSTEMS: [(&str, &[&str]); 3] =
    [("linux", &["linux"]), ("macos", &["darwin", "macos"]), ("windows", &["win32", "windows"])];

/// This machine, as far as it was looked at.
pub(crate) struct Machine<'a> {
    settings: &'a Settings,
    /// The Python packages and modules that are there, with those that were asked for.
    python: Option<Answers>,
    /// The script that is to run, if one is.
    script: Option<Starting<'a>>,
}

/// A script that is to run.
struct Starting<'a> {
    /// The variables that it gets beside those that all get.
    own: &'a BTreeMap<OsString, OsString>,
    /// The programs for it.
    programs: &'a Programs,
    /// The one that runs it, if that is there.
    interpreter: Option<PathBuf>,
}

impl<'a> Machine<'a> {
    /// Returns a machine that starts nothing: it knows nothing about Python packages.
    pub(crate) fn new(settings: &'a Settings) -> Self {
        Self { settings, python: None, script: None }
    }

    /// Asks the Python on `PATH` for the packages and modules among `all`. A single process answers.
    pub(crate) fn asking_python<'p>(self, all: impl Iterator<Item = &'p Prerequisite>) -> Self {
        let program = ["python3", "python"].iter().find_map(|name| on_path(self.settings, name));
        let python = program.and_then(|program| Answers::of(self.settings, &program, all));
        Self { python, ..self }
    }

    /// Returns what is there for the script at `path` with the content `bytes`, which requires `all`, when skillpm runs it by
    /// one of `programs` with the variables `own`.
    pub(crate) fn of_script(
        settings: &'a Settings,
        (path, bytes): (&str, &[u8]),
        own: &'a BTreeMap<OsString, OsString>,
        programs: &'a Programs,
        all: &[Prerequisite],
    ) -> Self {
        let interpreter = interpreter_of(programs, path, bytes);
        let python = interpreter.as_ref().and_then(|program| Answers::of(settings, program, all.iter()));
        Self { settings, python, script: Some(Starting { own, programs, interpreter }) }
    }

    fn has_program(&self, name: &str) -> bool {
        let is_there = |name: &str| match &self.script {
            Some(script) => script.programs.find(name).is_some(),
            None => on_path(self.settings, name).is_some(),
        };
        // Such as `npm`, which is a script there.
        let on_windows = || [".cmd", ".bat"].iter().any(|end| is_there(&format!("{name}{end}")));
        is_there(name) || cfg!(windows) && on_windows()
    }

    fn has_variable(&self, name: &OsStr) -> bool {
        let is_set = self.settings.env.vars.contains_key(name);
        match &self.script {
            Some(script) => script.own.contains_key(name) || is_set && is_given(name),
            None => is_set,
        }
    }

    /// Reports whether a script brings along what `one` names, as far as is known.
    fn is_brought(&self, one: &Prerequisite) -> bool {
        // `uv` may find that it cannot, and so may an agent; whoever runs the script says so.
        let by_pipx = |script: &Starting<'_>| {
            script.programs.chosen("python").is_none() && script.programs.find("pipx").is_some()
        };
        one.key.starts_with("script.")
            && (self.has_program("uv") || self.script.as_ref().is_some_and(by_pipx))
    }

    /// Reports whether `one` is the program that runs the script, whatever it is called, and that is there.
    fn is_interpreter(&self, one: &Prerequisite) -> bool {
        let is_started = one.key == "#!" || one.key.starts_with('.') || one.key == "script.requires-python";
        is_started && self.script.as_ref().is_some_and(|script| script.interpreter.is_some())
    }

    /// Looks for what the skill in `dir` requires.
    pub(crate) fn check(&self, dir: &Path, all: Vec<Prerequisite>) -> Vec<CheckedPrerequisite> {
        let checked = all.into_iter().map(|prerequisite| {
            let state = self.state(dir, &prerequisite);
            CheckedPrerequisite { prerequisite, state }
        });
        checked.collect()
    }

    fn state(&self, dir: &Path, one: &Prerequisite) -> Presence {
        let any = |has: &dyn Fn(&str) -> bool| {
            if one.any_of.iter().any(|name| has(name)) { Presence::Present } else { Presence::Missing }
        };
        match one.kind {
            PrerequisiteKind::Program if self.is_interpreter(one) => Presence::Present,
            PrerequisiteKind::Program => any(&|name| self.has_program(name)),
            PrerequisiteKind::Variable => any(&|name| self.has_variable(OsStr::new(name))),
            PrerequisiteKind::System => system(&one.any_of),
            PrerequisiteKind::PythonPackage | PrerequisiteKind::PythonModule => {
                let state = self.python.as_ref().map_or(Presence::Unknown, |answers| answers.state(one));
                if state == Presence::Missing && self.is_brought(one) { Presence::Unknown } else { state }
            }
            PrerequisiteKind::NodePackage => any(&|name| has_node_package(&dir.join(&one.file), name)),
            PrerequisiteKind::McpServer
            | PrerequisiteKind::Setting
            | PrerequisiteKind::File
            | PrerequisiteKind::Text => Presence::Unknown,
        }
    }
}

/// Reports whether this is one of `systems`. Names that no agent documents say nothing.
fn system(systems: &[String]) -> Presence {
    let of = |name: &String| {
        let known =
            SYSTEMS.iter().find(|(_, names)| names.iter().any(|known| known.eq_ignore_ascii_case(name)));
        known.map(|(system, _)| *system)
    };
    let known: BTreeSet<_> = systems.iter().filter_map(of).collect();
    match known.is_empty() {
        true => Presence::Unknown,
        false if known.contains(std::env::consts::OS) => Presence::Present,
        false => Presence::Missing,
    }
}

/// Reports whether Node.js finds `package` from the script `from`. Source: "Loading from `node_modules` folders" in its
/// documentation.
fn has_node_package(from: &Path, package: &str) -> bool {
    let is_there = |dir: &Path| fs::exists(&dir.join("node_modules").join(package));
    from.ancestors().skip(1).any(is_there)
}

/// Returns what is lacking of `checked`, in words; `None` if nothing is.
pub(crate) fn lacking(checked: &[CheckedPrerequisite]) -> Option<String> {
    let lacking = checked.iter().filter(|one| one.is_lacking());
    let words: Vec<_> = lacking.map(|one| one.prerequisite.described()).collect();
    (!words.is_empty()).then(|| and_more(&words, MAX_NAMED))
}
