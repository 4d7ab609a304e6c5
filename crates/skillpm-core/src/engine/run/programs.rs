//! The programs that run scripts: those that the caller chose, and those in `PATH`.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{self, Path, PathBuf};

use super::interpreter::{languages, look_up};
use crate::advice::{Opt, message};
use crate::env::{join_paths, program_dirs, split_paths};
use crate::error::{Error, Result};
use crate::fs;
use crate::settings::Settings;
use crate::text;

/// The variable that lists directories of programs.
const PATH: &str = "PATH";

/// The programs that can run a script.
#[derive(Debug, Default)]
pub(crate) struct Programs {
    /// The directories in which programs are looked for.
    search: Vec<PathBuf>,
    /// The programs that the caller chose, by language.
    chosen: BTreeMap<&'static str, PathBuf>,
}

impl Programs {
    /// Returns the programs for a script that gets the variables `own`: `interpreters` has the chosen ones by language, as
    /// names or paths; relative paths start at the caller's working directory. Names are looked for in the `PATH` of the
    /// script, then in that of the caller.
    ///
    /// # Errors
    ///
    /// Fails for a language that has no interpreter, and for a program that is not there.
    pub(crate) fn of(
        settings: &Settings,
        own: &BTreeMap<OsString, OsString>,
        interpreters: &BTreeMap<String, OsString>,
    ) -> Result<Self> {
        let search = search(settings, own);
        let one = |(language, program): (&String, &OsString)| {
            let known = languages().find(|known| known == language).ok_or_else(|| unknown(language))?;
            let is_path = program.as_encoded_bytes().iter().any(|byte| path::is_separator(char::from(*byte)));
            let found = if is_path {
                Some(settings.cwd.join(program)).filter(|path| fs::may_execute(path))
            } else {
                program.to_str().and_then(|name| look_up(name, &search))
            };
            let found = found.ok_or_else(|| missing(language, program))?;
            Ok((known, found))
        };
        let chosen = interpreters.iter().map(one).collect::<Result<_>>()?;
        Ok(Self { search, chosen })
    }

    /// Returns the program that was chosen for scripts in `language`.
    pub(crate) fn chosen(&self, language: &str) -> Option<&Path> {
        self.chosen.get(language).map(PathBuf::as_path)
    }

    /// Returns the first program `name` in the directories that are searched.
    pub(crate) fn find(&self, name: &str) -> Option<PathBuf> {
        look_up(name, &self.search)
    }

    /// Returns the directories in which programs are looked for.
    pub(super) fn search(&self) -> &[PathBuf] {
        &self.search
    }

    /// Returns those in the directories `search`.
    #[cfg(test)]
    pub(super) fn usual(search: Vec<PathBuf>) -> Self {
        Self { search, ..Self::default() }
    }
}

/// Returns the directories in which the programs of a script with the variables `own` are looked for.
pub(super) fn search(settings: &Settings, own: &BTreeMap<OsString, OsString>) -> Vec<PathBuf> {
    let callers = settings.env.vars.get(OsStr::new(PATH)).map(OsString::as_os_str);
    let Some(own) = own.get(OsStr::new(PATH)) else { return program_dirs(callers) };
    let own: Vec<PathBuf> = split_paths(own).filter(|dir| dir.is_absolute()).collect();
    let both: Vec<PathBuf> = own.into_iter().chain(program_dirs(callers)).collect();
    program_dirs(Some(&join_paths(&both)))
}

fn unknown(language: &str) -> Error {
    let known: Vec<_> = languages().map(|known| format!("`{known}`")).collect();
    let error = Error::usage(format!("no interpreter is called `{language}`"));
    let error = match text::closest(language, languages()) {
        Some(closest) => error.hint(format!("did you mean `{closest}`?")),
        None => error,
    };
    error.hint(format!("a program can be chosen for {}", text::and(&known)))
}

fn missing(language: &str, program: &OsStr) -> Error {
    let shown = program.display();
    Error::usage(format!("`{shown}`, which should run scripts in `{language}`, does not exist")).hint(
        message!(
            "name a program in `PATH` or the path of one: ",
            (Opt::Interpreter, format!("{language}=PROGRAM"))
        ),
    )
}
