//! Limits on the resources of a script.

use std::time::Duration;

/// The interval at which a running script is checked.
pub(super) const TICK: Duration = Duration::from_millis(20);
/// The interval at which a script that is being ended is checked.
pub(super) const SOON: Duration = Duration::from_millis(10);

/// The limits of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// The maximum run time.
    pub timeout: Duration,
    /// The time between asking it to end and killing it.
    pub grace: Duration,
    /// The maximum number of bytes of each output that are kept and passed on.
    pub output: u64,
    /// The maximum number of processes and threads at a time.
    pub processes: u64,
    /// The maximum size of a file that it writes, in bytes.
    pub file_size: Option<u64>,
    /// The maximum private memory of each of its processes, in bytes.
    pub memory: Option<u64>,
    /// The maximum CPU time of each of its processes, rounded up to whole seconds.
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
