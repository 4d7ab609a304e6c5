//! The outcome of a run.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

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

/// Why nobody knows how a script ended.
pub const UNHEARD: &str = "this process ignores SIGCHLD, or another part of it waits for its children";

/// Why a script was ended, where it did not end by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// Its time was over.
    Timeout,
    /// It had more processes and threads than it may have.
    Processes,
    /// The user, or the program that runs it, wanted it to stop.
    Stopped,
}

impl Ended {
    /// Returns the word for it in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Processes => "processes",
            Self::Stopped => "stopped",
        }
    }
}

/// What a script wrote to one of its outputs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Captured {
    /// The first bytes, up to the limit.
    pub bytes: Vec<u8>,
    /// The total number of bytes that it wrote.
    pub total: u64,
}

impl Captured {
    /// Reports whether there was more than was kept.
    pub fn is_cut(&self) -> bool {
        self.total > self.bytes.len() as u64
    }

    /// Returns the text, with replacement characters for invalid bytes.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

/// What a script had no access to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sandbox {
    /// The version of Landlock that kept files from it; `None` if nothing did.
    pub landlock: Option<u32>,
    /// Whether its system calls were filtered.
    pub seccomp: bool,
    /// Whether the network was kept from it.
    pub no_network: bool,
    /// Whether unix sockets were, but for pairs.
    pub no_unix_sockets: bool,
    /// Where it ran.
    pub cwd: PathBuf,
    /// The user's files that it could write, besides its private directory.
    pub write: Vec<PathBuf>,
    /// The user's files that it could also read, as requested.
    pub read: Vec<PathBuf>,
    /// Why its working directory was closed to it, where it was.
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
    /// Why it was ended, where it did not end by itself.
    pub ended: Option<Ended>,
    /// The number of processes that it left behind; they were ended.
    pub leftovers: usize,
    /// What it wrote to standard output.
    pub stdout: Captured,
    /// What it wrote to standard error.
    pub stderr: Captured,
    /// How long it took.
    pub duration: Duration,
    /// What it had no access to.
    pub sandbox: Sandbox,
}

impl Ran {
    /// Returns the run where the script ended by itself and with code 0.
    ///
    /// # Errors
    ///
    /// Fails for every other exit, with what the script wrote to standard error.
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

    /// Returns what it wrote to standard error.
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
