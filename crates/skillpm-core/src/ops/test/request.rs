//! What is to be tested, and against what.

use std::path::PathBuf;

use super::trial::AgentCommand;
use crate::agents::Agent;
use crate::paths::Changes;

/// The number of skills among which the right one has to be unless the request says otherwise.
pub const DEFAULT_TOP: usize = 5;

/// A request for a test.
#[derive(Debug, Clone)]
pub struct TestRequest {
    /// The skills, and directories with skills in them.
    pub targets: Vec<PathBuf>,
    /// Which of them are tested; the others only compete.
    pub changes: Changes,
    /// The agent whose listing counts; without one, names and descriptions of the skills alone.
    pub agent: Option<&'static Agent>,
    /// The window of its model in tokens; without one, that of its settings or its usual model.
    pub window: Option<u64>,
    /// A skill passes that is among this many.
    pub top: usize,
    /// Whether the instructions are searched too.
    pub bodies: bool,
    /// The program that is asked for real.
    pub command: Option<AgentCommand>,
}
