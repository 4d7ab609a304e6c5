//! Provides what the inline metadata of a Python script asks for.
//!
//! Packages are fetched before the script starts and outside of its sandbox, so nothing that a stranger wrote may run
//! then: only wheels are installed, which run nothing, and only the names and versions of packages get to the program
//! that installs them. Where they come from is the user's settings alone.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::agent::{Answer, answer};
use super::interpreter::{Interpreter, PYTHON, starter_of};
use super::private_copy::PrivateCopy;
use super::programs::Programs;
use super::{MAX_SCRIPT, Options, Script, Watch};
use crate::advice::{Opt, Warning, message};
use crate::codes;
use crate::env::join_paths;
use crate::error::Result;
use crate::fs;
use crate::settings::Settings;
use crate::skill::prerequisites::python::Inline;
use crate::text::{and_more, visible, without_secrets};

/// The directory of programs in a virtual environment.
pub(super) const PROGRAMS: &str = if cfg!(windows) { "Scripts" } else { "bin" };
/// The Python of a virtual environment.
const PROGRAM: &str = if cfg!(windows) { "python.exe" } else { "python" };
/// Variables that are not passed to `uv`: they choose another environment, or contradict its options.
const HIDDEN: &[&str] = &[
    "UV_BREAK_SYSTEM_PACKAGES",
    "UV_COMPILE_BYTECODE",
    "UV_PROJECT",
    "UV_PYTHON",
    "UV_SYSTEM_PYTHON",
    "UV_WORKING_DIR",
    "VIRTUAL_ENV",
];
/// The maximum number of packages that a warning names.
const MAX_NAMED: usize = 5;
/// The maximum number of characters of a reason that another program gives.
const MAX_REASON: usize = 400;

/// Everything that decides how a script gets its packages.
pub(super) struct Preparation<'a> {
    pub(super) settings: &'a Settings,
    pub(super) script: &'a Script,
    pub(super) stage: &'a PrivateCopy,
    pub(super) programs: &'a Programs,
    pub(super) options: &'a Options,
}

/// How a script is run.
pub(super) struct Ready {
    pub(super) interpreter: Interpreter,
    /// Why it runs without the packages that it names.
    pub(super) warning: Option<Warning>,
}

impl Preparation<'_> {
    /// Returns the interpreter that runs the script with the packages that its inline metadata names: that of an
    /// environment that `uv` makes with the Python of `interpreter`, or `pipx`. Without both, and for other scripts, it is
    /// `interpreter` itself.
    ///
    /// # Errors
    ///
    /// Fails if the user or `watch` stops it.
    pub(super) fn of(&self, interpreter: Interpreter, watch: &mut dyn Watch) -> Result<Ready> {
        let as_is = |interpreter| Ok(Ready { interpreter, warning: None });
        let Some(inline) = self.inline(&interpreter)? else { return as_is(interpreter) };
        let uv = self.programs.find("uv");
        let pipx = self.programs.find("pipx").filter(|_| uv.is_none() && is_for_pipx(&inline, &interpreter));
        let prepared = match (inline.unnamed(), uv, pipx) {
            (_, None, None) => return as_is(interpreter),
            (Some(text), ..) => Err(format!("`{}` does not name a package of an index", visible(text))),
            (None, Some(uv), _) => self.by_uv(&uv, &inline, &interpreter, watch)?,
            (None, None, Some(pipx)) => self.by_pipx(pipx, &interpreter),
        };
        Ok(match prepared {
            Ok(interpreter) => Ready { interpreter, warning: None },
            Err(reason) => Ready { interpreter, warning: Some(self.warning(&inline, &reason)) },
        })
    }

    /// Returns the inline metadata of the script, if `interpreter` is a Python and the metadata asks for anything. It is
    /// read from the copy, so it is that of the script that runs.
    fn inline(&self, interpreter: &Interpreter) -> Result<Option<Inline>> {
        if interpreter.language != PYTHON {
            return Ok(None);
        }
        let bytes = fs::read_prefix(&self.stage.skill().join(&self.script.path), MAX_SCRIPT, |_| false)?;
        let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
        let inline = text.and_then(|text| Inline::of(&text));
        Ok(inline.filter(|inline| inline.requires_python.is_some() || !inline.dependencies.is_empty()))
    }

    /// Makes an environment with what `inline` names, by the program `uv`. Returns its interpreter, or the reason why it could not be made.
    fn by_uv(
        &self,
        uv: &Path,
        inline: &Inline,
        interpreter: &Interpreter,
        watch: &mut dyn Watch,
    ) -> Result<Result<Interpreter, String>> {
        let environment = self.stage.environment();
        let program = environment.join(PROGRAMS).join(PROGRAM);
        let usual = interpreter.program.as_os_str();
        // A chosen Python is not replaced by one that fits better.
        let versions = inline.versions().filter(|_| !interpreter.is_chosen).map(OsStr::new);
        let start = Instant::now();
        let mut make = self.uv(uv, &["venv", "--no-project", "--no-python-downloads", "--python"]);
        make.arg(versions.unwrap_or(usual)).arg(environment);
        if let Err(reason) = self.done(make, start, watch)? {
            return Ok(Err(reason));
        }
        if !inline.dependencies.is_empty() {
            let mut install =
                self.uv(uv, &["pip", "install", "--only-binary", ":all:", "--no-compile-bytecode"]);
            // This starts the Python of the environment only before it has any packages.
            install.arg("--python").arg(&program).arg("--").args(&inline.dependencies);
            if let Err(reason) = self.done(install, start, watch)? {
                return Ok(Err(reason));
            }
        }
        let environment = Some(environment.to_owned());
        Ok(Ok(Interpreter { program, environment, ..interpreter.clone() }))
    }

    /// Returns the command `uv` with `args`. It runs at the root of the file system: a project or settings around the working
    /// directory, which may be a stranger's, have no say.
    fn uv(&self, uv: &Path, args: &[&str]) -> Command {
        #[expect(clippy::disallowed_methods, reason = "this is the one place that prepares an environment")]
        let mut command = Command::new(uv);
        let vars =
            self.settings.env.vars.iter().filter(|(name, _)| !HIDDEN.iter().any(|hidden| name == hidden));
        command.arg("--quiet").env_clear().envs(vars);
        command.env("PATH", join_paths(self.programs.search())).env("NO_COLOR", "1");
        if let Some(root) = uv.ancestors().last() {
            command.current_dir(root);
        }
        if self.options.no_network || self.settings.offline {
            command.arg("--offline");
        }
        command.args(args);
        command
    }

    /// Runs `command`, which may take the rest of the time since `start`. Returns why it failed, if it did.
    fn done(&self, command: Command, start: Instant, watch: &mut dyn Watch) -> Result<Result<(), String>> {
        let limit = self.options.limits.timeout.saturating_sub(start.elapsed());
        let Answer { errors, status, .. } = answer(command, limit, &mut || watch.is_stopped())?;
        Ok(match status {
            Some(status) if status.success() => Ok(()),
            Some(_) => Err(reason(&errors)),
            None => Err(format!("it took more than {}", seconds(self.options.limits.timeout))),
        })
    }

    /// Returns `pipx` as the interpreter, or why it cannot be that. It starts the Python of the environment that it makes, and
    /// so code of the packages. Therefore it runs in the script's sandbox, with the script's home, and keeps nothing.
    fn by_pipx(&self, pipx: PathBuf, interpreter: &Interpreter) -> Result<Interpreter, String> {
        if self.options.no_network || self.settings.offline {
            return Err("`pipx` downloads packages for each run, and the network is off".to_owned());
        }
        let starter = starter_of(&pipx);
        Ok(Interpreter { program: pipx, args: vec!["run".into()], starter, ..interpreter.clone() })
    }

    fn warning(&self, inline: &Inline, reason: &str) -> Warning {
        let Script { path, skill, .. } = self.script;
        let packages: Vec<_> =
            inline.dependencies.iter().map(|name| format!("`{}`", visible(name))).collect();
        let what = match &packages[..] {
            [] => "the Python that it requires".to_owned(),
            packages => format!("what it requires, {}", and_more(packages, MAX_NAMED)),
        };
        let told = format!("`{path}` of `{skill}` may fail: it does not get {what}: {reason}");
        let hint = message!(
            "it runs nevertheless; ",
            (Opt::Interpreter, format!("{PYTHON}=PROGRAM")),
            " chooses a Python that has the packages"
        );
        Warning { hints: vec![hint], ..Warning::new(codes::PREREQUISITE_MISSING, told) }
    }
}

/// Reports whether `pipx` is to run a script with the metadata `inline`. It fetches the packages anew for each run, so a Python
/// that was chosen is taken as it is.
fn is_for_pipx(inline: &Inline, interpreter: &Interpreter) -> bool {
    !inline.dependencies.is_empty() && !interpreter.is_chosen
}

/// Returns what a program says in its `errors` about the reason why it failed.
fn reason(errors: &[u8]) -> String {
    let text = String::from_utf8_lossy(errors);
    let first = text.split("\n\n").next().unwrap_or_default();
    let lines = first.lines().map(|line| {
        let line = line.trim();
        ["error: ", "cause: ", "Caused by: "].iter().find_map(|word| line.strip_prefix(word)).unwrap_or(line)
    });
    let joined = lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(": ");
    let short: String = without_secrets(&joined).chars().take(MAX_REASON).collect();
    if short.is_empty() { "it gave no reason".to_owned() } else { visible(&short).into_owned() }
}

fn seconds(time: Duration) -> String {
    format!("{} seconds", time.as_secs_f64())
}
