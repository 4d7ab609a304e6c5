//! Runs a script of a skill.
//!
//! A script is started without a shell, with a clean environment, from a private copy of the skill's files whose digest
//! is compared before it runs. It ends within its time limit together with everything that it started, its output is
//! limited, and on Linux it cannot access files that do not concern it. The caller decides whether it may run at all;
//! `docs/design/run.md` explains the design.

pub mod agent;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
mod environment;
#[cfg(target_os = "linux")]
mod filter;
mod follow;
mod inline;
mod interpreter;
mod limits;
mod outcome;
#[cfg_attr(not(target_os = "linux"), path = "output_elsewhere.rs")]
mod output;
mod output_event;
mod output_queue;
mod plan;
mod private_copy;
mod process;
#[cfg(target_os = "linux")]
mod process_group;
mod programs;
#[cfg(target_os = "linux")]
mod public;
mod reach;
mod run_id;
#[cfg(target_os = "linux")]
mod sandbox;
mod starter;

#[cfg(not(target_os = "linux"))]
use self::elsewhere as process_group;
#[cfg(not(target_os = "linux"))]
use self::elsewhere as sandbox;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

pub(in crate::engine) use self::environment::is_given;
pub(in crate::engine) use self::interpreter::{program_of, programs};
pub use self::limits::Limits;
pub use self::outcome::{Captured, Ended, Exit, Ran, Sandbox, ScriptError, UNHEARD};
pub(crate) use self::programs::Programs;
pub use self::reach::work_dir_here;

use self::environment::Parts;
use self::inline::{Preparation, Ready};
use self::plan::Plan;
use self::private_copy::PrivateCopy;
use self::process::Start;
use self::reach::Reach;
use self::run_id::Mark;
use self::starter::Starter;
use crate::advice::Warning;
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::settings::Settings;
use crate::tree::FileSet;

/// The number of bytes of a script that are read to determine its interpreter.
const MAX_SCRIPT: u64 = 64 << 20;

/// A script of a skill.
#[derive(Debug, Clone)]
pub struct Script {
    /// The skill's name.
    pub skill: String,
    /// The version, if it has one.
    pub version: Option<String>,
    /// All files of the skill.
    pub files: FileSet,
    /// The digest that the files must have, if known.
    pub digest: Option<Digest>,
    /// The path of the skill's directory in `files`, with `/`; empty unless the skill is part of another one.
    pub base: String,
    /// The script's path below the skill's directory, such as `scripts/greet.py`.
    pub path: String,
}

/// The environment of a script.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// The working directory.
    pub cwd: WorkDir,
    /// Variables in addition to those that every script gets.
    pub env: BTreeMap<OsString, OsString>,
}

/// The options for running a script.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The arguments, passed on unchanged.
    pub args: Vec<OsString>,
    /// The programs that run scripts, by language, such as `python` or `node`: names of programs in `PATH`, or paths, of
    /// which relative ones start at the caller's working directory. Other scripts are run by the usual programs.
    pub interpreters: BTreeMap<String, OsString>,
    /// The standard input.
    pub stdin: Stdin,
    /// The limits on what it may use.
    pub limits: Limits,
    /// Whether its access to files is restricted.
    pub sandbox: Mode,
    /// Whether its access to the network is blocked.
    pub no_network: bool,
    /// Whether it may connect to programs on this machine by unix sockets, such as those of a desktop, a container
    /// engine or a key agent. Without a sandbox it may, unless the network is blocked.
    pub unix_sockets: bool,
    /// Paths that it may read, in addition to the skill and the system. Relative ones start at the caller's working directory.
    pub read: Vec<PathBuf>,
    /// Paths that it may write, in addition to its working directory and a private one. Relative ones start at the caller's
    /// working directory.
    pub write: Vec<PathBuf>,
}

/// The standard input of a script.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Stdin {
    /// Nothing.
    #[default]
    Closed,
    /// The caller's own standard input.
    Inherited,
    /// These bytes, for example JSON.
    Bytes(Vec<u8>),
}

/// The working directory of a script.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum WorkDir {
    /// The caller's working directory.
    #[default]
    Here,
    /// The copy of the skill, which it may not write to.
    Skill,
    /// This directory.
    Dir(PathBuf),
}

/// Whether access to files is restricted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    /// No.
    Off,
    /// If the system supports it.
    #[default]
    Auto,
    /// Yes; without a sandbox the script is not run.
    Require,
}

/// One of a script's outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// A listener for the output of a running script. Its methods are called on the caller's own thread. The time limit
/// keeps running during a call, and ends the script if it expires.
pub trait Watch {
    /// Reports whether [`Watch::output`] does anything. If not, most scripts need no thread besides the caller's.
    fn hears(&self) -> bool {
        true
    }

    /// Receives a `warning` before the script starts. Reports whether the caller was told of it; otherwise it is among the
    /// warnings of the outcome.
    fn warns(&mut self, warning: &Warning) -> bool {
        let _ = warning;
        false
    }

    /// Receives `bytes` that the script wrote, up to the limit.
    fn output(&mut self, stream: Stream, bytes: &[u8]) {
        let _ = (stream, bytes);
    }

    /// Reports whether to end the script now. Called several times per second.
    fn is_stopped(&mut self) -> bool {
        false
    }
}

/// A listener that ignores the output and never stops the script.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn hears(&self) -> bool {
        false
    }
}

/// Runs `script` in `surroundings` to its end, and ends everything that it started. A script that fails is not an
/// error; [`Ran::success`] turns it into one.
///
/// # Errors
///
/// Fails if the script does not exist or has no interpreter, if the files do not have the given digest, if a required
/// sandbox is not available, and with errors of the system.
pub fn run(
    settings: &Settings,
    script: &Script,
    surroundings: &Surroundings,
    options: &Options,
    watch: &mut dyn Watch,
) -> Result<Ran> {
    let plan = Plan::of(options);
    std::thread::scope(|scope| {
        let starter = plan.restricts().then(|| Starter::new(scope, plan)).transpose()?;
        run_by(starter, settings, script, surroundings, options, watch)
    })
}

/// Returns the first program `name` in the directories of `PATH`.
pub fn on_path(settings: &Settings, name: &str) -> Option<PathBuf> {
    interpreter::look_up(name, &programs::search(settings, &BTreeMap::new()))
}

/// Checks that `interpreters` names languages that have interpreters, and programs that are there, as
/// [`Options::interpreters`] does.
///
/// # Errors
///
/// Fails otherwise.
pub fn check_interpreters(settings: &Settings, interpreters: &BTreeMap<String, OsString>) -> Result<()> {
    Programs::of(settings, &BTreeMap::new(), interpreters).map(drop)
}

/// Returns the one of `programs` that runs the script at `path` with the content `bytes`, if there is one.
pub(in crate::engine) fn interpreter_of(programs: &Programs, path: &str, bytes: &[u8]) -> Option<PathBuf> {
    interpreter::choose(path, bytes, programs).ok().map(|interpreter| interpreter.program)
}

/// Works like [`run()`]; `starter` starts the script if it is restricted.
fn run_by(
    starter: Option<Starter<'_>>,
    settings: &Settings,
    script: &Script,
    surroundings: &Surroundings,
    options: &Options,
    watch: &mut dyn Watch,
) -> Result<Ran> {
    let programs = Programs::of(settings, &surroundings.env, &options.interpreters)?;
    let stage = PrivateCopy::of(script)?;
    let inside =
        if script.base.is_empty() { script.path.clone() } else { format!("{}/{}", script.base, script.path) };
    if script.files.get(&inside).is_none() {
        return Err(Error::usage(format!("there is no file `{}` in `{}`", script.path, script.skill)));
    }
    let at = stage.skill().join(&script.path);
    // Read from the copy, so the bytes that are examined are those that run.
    let head = crate::fs::read_prefix(&at, MAX_SCRIPT, |bytes| bytes.len() > 1 << 10)?.unwrap_or_default();
    let interpreter = interpreter::choose(&script.path, &head, &programs)?;
    let Ready { interpreter, warning } =
        Preparation { settings, script, stage: &stage, programs: &programs, options }
            .of(interpreter, watch)?;
    let warnings = warning.filter(|warning| !watch.warns(warning)).into_iter().collect();
    let search = programs.search();
    let reach = Reach::of(settings, &surroundings.cwd, options, &stage, &interpreter, search)?;
    let mark = Mark::new();
    let env = Parts {
        env: &settings.env,
        own: &surroundings.env,
        search,
        environment: interpreter.environment.as_deref(),
        skill: (&script.skill, stage.skill(), script.version.as_deref()),
        private: stage.private(),
        id: &mark.id(),
    };
    let start = Start {
        interpreter: &interpreter,
        script: &at,
        args: &options.args,
        cwd: &reach.cwd,
        env: env.join(),
        stdin: &options.stdin,
        limits: &options.limits,
        starter,
        open: reach.open,
        require: options.sandbox == Mode::Require,
        mark,
        stage: &stage,
    };
    let went = start.run(watch)?;
    let files = went.done.landlock.is_some();
    Ok(Ran {
        skill: script.skill.clone(),
        script: script.path.clone(),
        digest: stage.digest(),
        interpreter: interpreter.program,
        exit: went.exit,
        ended: went.ended,
        leftovers: went.leftovers,
        stdout: went.stdout,
        stderr: went.stderr,
        duration: went.duration,
        warnings,
        sandbox: Sandbox {
            landlock: went.done.landlock,
            seccomp: went.done.seccomp,
            no_network: options.no_network,
            no_unix_sockets: Plan::of(options).no_unix_sockets && went.done.seccomp,
            cwd: reach.cwd,
            write: if files { reach.own_write } else { Vec::new() },
            read: if files { reach.own_read } else { Vec::new() },
            closed: reach.closed.filter(|_| files),
        },
    })
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests;
