//! A request to run a script.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::admission::Scripts;
use crate::engine::run::Options;

/// A request to run a script.
#[derive(Debug, Clone)]
pub struct RunRequest {
    /// The skill's name.
    pub skill: String,
    /// The script: its path below the skill or below `scripts/`, or its name there without the ending.
    pub script: String,
    /// Where it runs.
    pub cwd: RunLocation,
    /// Variables beside those that every script gets: `NAME` as it is here, or `NAME=VALUE`.
    pub env: Vec<OsString>,
    /// How it runs.
    pub options: Options,
    /// The default if no policy decides.
    pub default_decision: Scripts,
    /// Whether a person has already agreed to scripts for which a policy requires a question.
    pub allow_scripts: bool,
    /// Whether files that are not as locked may run.
    pub allow_modified: bool,
    /// Whether the program that asks vouches for a directory that no lockfile knows.
    pub trusted_by_host: bool,
}

impl RunRequest {
    /// Returns the request for `script` of `skill` with everything else as it is for a person who types the command.
    pub fn new(skill: impl Into<String>, script: impl Into<String>) -> Self {
        Self {
            skill: skill.into(),
            script: script.into(),
            cwd: RunLocation::Here,
            env: Vec::new(),
            options: Options::default(),
            default_decision: Scripts::Allow,
            allow_scripts: false,
            allow_modified: false,
            trusted_by_host: false,
        }
    }
}

/// The working directory of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunLocation {
    /// Where the caller is: what an argument names is found there, as with every other program.
    Here,
    /// In the skill's directory.
    Skill,
    /// In the root of the project.
    Project,
    /// In this directory.
    Dir(PathBuf),
}
