//! Limits on what a script may use.

use std::time::Duration;

/// Limits of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// How long it may run.
    pub timeout: Duration,
    /// How long it may take to end when it is asked to.
    pub grace: Duration,
    /// How many bytes of its standard output, and of its standard error, are kept and passed on.
    pub output: u64,
    /// How many processes and threads it may have at once.
    pub processes: u64,
    /// How many bytes one file that it writes may have.
    pub file_size: Option<u64>,
    /// How many bytes of private memory each of its processes may have.
    pub memory: Option<u64>,
    /// How much CPU time each of its processes may use; whole seconds, rounded up.
    pub cpu: Option<Duration>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(30),
            grace: Duration::from_secs(1),
            output: 10 << 20,
            processes: 256,
            file_size: Some(1 << 30),
            memory: None,
            cpu: None,
        }
    }
}
