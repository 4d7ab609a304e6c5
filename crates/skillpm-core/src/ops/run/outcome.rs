//! The outcome of a run, and its JSON form.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::advice::Warning;
use crate::engine::run::{Captured, Exit, Ran};

/// A run that is over.
#[derive(Debug, Clone)]
pub struct RunOutcome {
    /// How it went.
    pub ran: Ran,
    /// Where the skill comes from.
    pub source: String,
    /// The warnings.
    pub warnings: Vec<Warning>,
}

skillpm_format::schema_of!(RunOutcome as Json<'static>);

impl Serialize for RunOutcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ran = &self.ran;
        let (exit_code, signal) = match ran.exit {
            Exit::Code(code) => (Some(code), None),
            Exit::Signal(signal) => (None, Some(signal)),
            Exit::Unknown => (None, None),
        };
        let status = match ran.ended {
            Some(ended) => ended.word(),
            None if signal.is_some() => "signalled",
            None if exit_code.is_none() => "unknown",
            None => "exited",
        };
        let shown = |path: &PathBuf| path.display().to_string();
        Json {
            skill: &ran.skill,
            source: &self.source,
            digest: ran.digest.to_string(),
            script: &ran.script,
            interpreter: shown(&ran.interpreter),
            status,
            exit_code,
            signal,
            stdout: (&ran.stdout).into(),
            stderr: (&ran.stderr).into(),
            leftovers: ran.leftovers,
            duration_ms: u64::try_from(ran.duration.as_millis()).unwrap_or(u64::MAX),
            sandbox: SandboxJson {
                landlock: ran.sandbox.landlock,
                seccomp: ran.sandbox.seccomp,
                network: !ran.sandbox.no_network,
                unix_sockets: !ran.sandbox.no_unix_sockets,
                cwd: shown(&ran.sandbox.cwd),
                read: ran.sandbox.read.iter().map(shown).collect(),
                write: ran.sandbox.write.iter().map(shown).collect(),
                closed: ran.sandbox.closed.clone(),
            },
        }
        .serialize(serializer)
    }
}

/// A script that ran, in JSON. It is an interface: fields are only added.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RunOutcome")]
struct Json<'a> {
    /// The skill's name.
    skill: &'a str,
    /// Where the skill comes from.
    source: &'a str,
    /// The tree digest of the files that ran.
    digest: String,
    /// The script, below the directory of the skill.
    script: &'a str,
    /// The program that ran it.
    interpreter: String,
    /// `exited`, `signalled`, `timeout`, `processes`, `stopped`, or `unknown`.
    status: &'static str,
    /// The exit code; null if a signal ended it.
    exit_code: Option<i32>,
    /// The signal that ended it.
    signal: Option<i32>,
    /// The standard output.
    stdout: OutputJson,
    /// The standard error.
    stderr: OutputJson,
    /// How many processes it left behind, which were killed.
    leftovers: usize,
    /// How long it ran, in milliseconds.
    duration_ms: u64,
    /// The restrictions.
    sandbox: SandboxJson,
}

/// The output of a script on a stream.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Output")]
struct OutputJson {
    /// The text, invalid UTF-8 replaced.
    text: String,
    /// The number of bytes that were written.
    bytes: u64,
    /// Whether the text has fewer than were written.
    cut: bool,
}

/// The restrictions and permissions of the script.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Sandbox")]
struct SandboxJson {
    /// The version of Landlock that kept files from it; null if nothing did.
    landlock: Option<u32>,
    /// Whether its system calls were filtered.
    seccomp: bool,
    /// Whether it could use the network.
    network: bool,
    /// Whether it could connect to unix sockets.
    unix_sockets: bool,
    /// The directory it ran in.
    cwd: String,
    /// The paths that it could read besides the system's files.
    read: Vec<String>,
    /// The paths that it could write.
    write: Vec<String>,
    /// Why the working directory was closed to it, if it was.
    closed: Option<String>,
}

impl From<&Captured> for OutputJson {
    fn from(captured: &Captured) -> Self {
        Self { text: captured.text(), bytes: captured.total, cut: captured.is_cut() }
    }
}
