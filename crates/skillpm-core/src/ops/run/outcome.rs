//! The outcome of a run, and its JSON form.

use std::path::PathBuf;

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
    /// What a person should know.
    pub warnings: Vec<Warning>,
}

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

/// The JSON form of a [`RunOutcome`]. It is an interface: fields are only added.
#[derive(Serialize)]
struct Json<'a> {
    skill: &'a str,
    source: &'a str,
    digest: String,
    script: &'a str,
    interpreter: String,
    /// `exited`, `signalled`, `timeout`, `processes`, `stopped`, or `unknown`.
    status: &'static str,
    exit_code: Option<i32>,
    signal: Option<i32>,
    stdout: OutputJson,
    stderr: OutputJson,
    leftovers: usize,
    duration_ms: u64,
    sandbox: SandboxJson,
}

#[derive(Serialize)]
struct OutputJson {
    text: String,
    bytes: u64,
    cut: bool,
}

#[derive(Serialize)]
struct SandboxJson {
    landlock: Option<u32>,
    seccomp: bool,
    network: bool,
    unix_sockets: bool,
    cwd: String,
    read: Vec<String>,
    write: Vec<String>,
    closed: Option<String>,
}

impl From<&Captured> for OutputJson {
    fn from(captured: &Captured) -> Self {
        Self { text: captured.text(), bytes: captured.total, cut: captured.is_cut() }
    }
}
