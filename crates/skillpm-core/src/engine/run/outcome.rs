//! The outcome of a run.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::advice::Warning;
use crate::digest::Digest;

/// The way in which a script ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// With this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// Unknown: it ran, but this process ignores the end of its children, or another part of it consumed the status,
    /// which the system reports only once.
    Unknown,
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
            Self::Unknown => f.write_str("an unknown end"),
        }
    }
}

/// The explanation for [`Exit::Unknown`].
pub const UNHEARD: &str = "this process ignores SIGCHLD, or another part of it waits for its children";

/// The reason why a script was ended, if it did not end by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// It reached its time limit.
    Timeout,
    /// It had more processes and threads than allowed.
    Processes,
    /// The user, or the calling program, stopped it.
    Stopped,
}

impl Ended {
    /// Returns the name of the reason in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Processes => "processes",
            Self::Stopped => "stopped",
        }
    }
}

/// The output that a script wrote to one of its streams.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Captured {
    /// The first bytes, up to the limit.
    pub bytes: Vec<u8>,
    /// The total number of bytes that it wrote.
    pub total: u64,
}

impl Captured {
    /// Reports whether some of the output was discarded.
    pub fn is_cut(&self) -> bool {
        self.total > self.bytes.len() as u64
    }

    /// Returns the text, with replacement characters for invalid bytes.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

/// The restrictions that a script ran under.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sandbox {
    /// The version of Landlock that restricted its access to files; `None` without Landlock.
    pub landlock: Option<u32>,
    /// Whether its system calls were filtered.
    pub seccomp: bool,
    /// Whether the network was blocked.
    pub no_network: bool,
    /// Whether unix sockets except pairs were blocked.
    pub no_unix_sockets: bool,
    /// The working directory.
    pub cwd: PathBuf,
    /// The user's files that it could write, besides its private directory.
    pub write: Vec<PathBuf>,
    /// The user's files that it could also read, as requested.
    pub read: Vec<PathBuf>,
    /// Why its working directory was closed to it, if it was.
    pub closed: Option<String>,
}

/// A completed run.
#[derive(Debug, Clone)]
pub struct Ran {
    /// The skill's name.
    pub skill: String,
    /// The script's path below the skill's directory.
    pub script: String,
    /// The tree digest of the files that it ran from.
    pub digest: Digest,
    /// The program that ran it.
    pub interpreter: PathBuf,
    /// The way in which it ended.
    pub exit: Exit,
    /// Why it was ended, if it did not end by itself.
    pub ended: Option<Ended>,
    /// The number of processes that it left behind; they were ended.
    pub leftovers: usize,
    /// The standard output.
    pub stdout: Captured,
    /// The standard error.
    pub stderr: Captured,
    /// How long it took.
    pub duration: Duration,
    /// The warnings that the caller was not told of before.
    pub warnings: Vec<Warning>,
    /// The restrictions that it ran under.
    pub sandbox: Sandbox,
}

impl Ran {
    /// Returns this run if the script ended by itself with code 0.
    ///
    /// # Errors
    ///
    /// Fails for any other exit, with the script's standard error.
    pub fn success(self) -> Result<Self, ScriptError> {
        if self.exit == Exit::Code(0) && self.ended.is_none() {
            Ok(self)
        } else {
            Err(ScriptError(Box::new(self)))
        }
    }
}

/// A script that failed: S1's `SkillInvocationError`.
#[derive(Debug)]
pub struct ScriptError(Box<Ran>);

impl ScriptError {
    /// Returns the run.
    pub fn ran(&self) -> &Ran {
        &self.0
    }

    /// Returns its standard error.
    pub fn stderr(&self) -> String {
        self.0.stderr.text()
    }
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ran { script, skill, exit, ended, .. } = self.ran();
        write!(f, "`{script}` of `{skill}` ")?;
        match ended {
            None if *exit == Exit::Unknown => write!(f, "ran, but its exit status is unknown: {UNHEARD}")?,
            None => write!(f, "failed with {exit}")?,
            Some(Ended::Timeout) => f.write_str("was killed: it timed out")?,
            Some(Ended::Processes) => f.write_str("was killed: it had too many processes")?,
            Some(Ended::Stopped) => f.write_str("was stopped")?,
        }
        let said = self.stderr();
        let said = said.trim_end();
        if said.is_empty() { Ok(()) } else { write!(f, ": {said}") }
    }
}

impl std::error::Error for ScriptError {}
