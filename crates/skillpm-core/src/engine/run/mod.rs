//! Running a script of a skill.
//!
//! A script is started without a shell, with a clean environment, from a private copy of the skill's files whose digest
//! is compared before it runs. It ends within its time with everything that it started, its output is bounded, and on
//! Linux it has no access to files that do not concern it. Whether it may run is asked elsewhere; `docs/design/run.md`
//! says why all this is done as it is.

mod copy_pool;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
mod environment;
#[cfg(target_os = "linux")]
mod filter;
mod follow;
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

pub use self::copy_pool::CopyPool;
pub(in crate::engine) use self::interpreter::program_of;
pub use self::limits::Limits;
pub use self::outcome::{Captured, Ended, Exit, Ran, Sandbox, ScriptError, UNHEARD};

use self::environment::Parts;
use self::plan::Plan;
use self::private_copy::PrivateCopy;
use self::process::Start;
use self::reach::Reach;
use self::run_id::Mark;
use self::starter::Starter;
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::settings::Settings;
use crate::tree::FileSet;

/// The amount of a script that is read to determine what runs it.
const MAX_SCRIPT: u64 = 64 << 20;

/// A script of a skill.
#[derive(Debug, Clone)]
pub struct Script {
    /// The skill's name.
    pub skill: String,
    /// Its version, where it has one.
    pub version: Option<String>,
    /// All files of the skill.
    pub files: FileSet,
    /// The digest that these must have.
    pub digest: Option<Digest>,
    /// The place of the skill in these, with `/` between the parts; empty unless it is a part of another.
    pub base: String,
    /// The script's path below the skill's directory, such as `scripts/greet.py`.
    pub path: String,
}

/// What a script runs in.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// Its working directory.
    pub cwd: WorkDir,
    /// Variables beside those that every script gets.
    pub env: BTreeMap<OsString, OsString>,
}

/// The options for running a script.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Its arguments, handed over as they are.
    pub args: Vec<OsString>,
    /// Its standard input.
    pub stdin: Stdin,
    /// The limits on what it may use.
    pub limits: Limits,
    /// Whether files are kept from it.
    pub sandbox: Mode,
    /// Whether the network is kept from it.
    pub no_network: bool,
    /// Whether it may reach programs of this machine by unix sockets, as those of a desktop, a container engine or an
    /// agent of keys. Without a sandbox it may, unless the network is kept from it.
    pub unix_sockets: bool,
    /// Paths that it may read, beside the skill and the system. Relative ones start at the caller's working directory.
    pub read: Vec<PathBuf>,
    /// Paths that it may write, beside its working directory and a private one. Relative ones start at the caller's
    /// working directory.
    pub write: Vec<PathBuf>,
    /// The pool in which the copy that it runs from may wait for the next run.
    pub copies: CopyPool,
}

/// The standard input of a script.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Stdin {
    /// Nothing.
    #[default]
    Closed,
    /// The caller's own standard input.
    Inherited,
    /// These bytes: a JSON text, for example.
    Bytes(Vec<u8>),
}

/// The working directory of a script.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum WorkDir {
    /// The caller's working directory.
    #[default]
    Here,
    /// In the copy of the skill, which it may not write to.
    Skill,
    /// In this directory.
    Dir(PathBuf),
}

/// Whether files are kept from a script.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    /// No.
    Off,
    /// If the system supports it.
    #[default]
    Auto,
    /// Yes, or it is not run.
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

/// A listener for what a script writes while it runs. Calls are made on the caller's own thread. The script's time
/// keeps running during a call, and the script is ended when it is up.
pub trait Watch {
    /// Reports whether [`Watch::output`] does anything. Where it does not, most scripts need no thread beside the
    /// caller's.
    fn hears(&self) -> bool {
        true
    }

    /// It wrote `bytes`, which are within the limit.
    fn output(&mut self, stream: Stream, bytes: &[u8]) {
        let _ = (stream, bytes);
    }

    /// Reports whether it is to be ended now. Asked several times a second.
    fn is_stopped(&mut self) -> bool {
        false
    }
}

/// Hears nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn hears(&self) -> bool {
        false
    }
}

/// Runs `script` in `surroundings` to its end, and ends everything that it started. A script that fails is not an error
/// here: [`Ran::success`] turns that into one.
///
/// # Errors
///
/// Fails for a script that is not there or has no interpreter, files that are not those of the digest, a sandbox that
/// is required and not available, and what the system says.
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

/// [`run()`], where `starter` starts it if it is to be restricted.
fn run_by(
    starter: Option<Starter<'_>>,
    settings: &Settings,
    script: &Script,
    surroundings: &Surroundings,
    options: &Options,
    watch: &mut dyn Watch,
) -> Result<Ran> {
    let search =
        crate::env::program_dirs(settings.env.vars.get(std::ffi::OsStr::new("PATH")).map(AsRef::as_ref));
    let stage = PrivateCopy::of(script, &options.copies)?;
    let inside =
        if script.base.is_empty() { script.path.clone() } else { format!("{}/{}", script.base, script.path) };
    if script.files.get(&inside).is_none() {
        return Err(Error::usage(format!("there is no file `{}` in `{}`", script.path, script.skill)));
    }
    let at = stage.skill().join(&script.path);
    // Read from the copy, so that what is examined is what runs.
    let head = crate::fs::read_prefix(&at, MAX_SCRIPT, |bytes| bytes.len() > 1 << 10)?.unwrap_or_default();
    let interpreter = interpreter::choose(&script.path, &head, &search)?;
    let reach = Reach::of(settings, &surroundings.cwd, options, &stage, &interpreter, &search)?;
    let mark = Mark::new();
    let env = Parts {
        env: &settings.env,
        own: &surroundings.env,
        search: &search,
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
    let digest = stage.digest();
    // The script could not change the copy, and nothing is left of it.
    let is_out_of_reach = went.done.whole && !reach.own_write.iter().any(|dir| stage.is_near(dir));
    if is_out_of_reach && went.is_gone && went.exit != Exit::Unknown && stage.tidy(went.was_alone) {
        options.copies.put(stage, script.files.files().iter().map(|file| file.size).sum());
    }
    Ok(Ran {
        skill: script.skill.clone(),
        script: script.path.clone(),
        digest,
        interpreter: interpreter.program,
        exit: went.exit,
        ended: went.ended,
        leftovers: went.leftovers,
        stdout: went.stdout,
        stderr: went.stderr,
        duration: went.duration,
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
