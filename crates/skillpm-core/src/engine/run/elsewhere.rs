//! The reduced implementation for systems other than Linux.

use std::process::Child;

use super::limits::Limits;
use super::plan::{Done, Open, Plan};
use super::run_id::Mark;
use crate::error::Result;

/// A placeholder: there are no restrictions to prepare.
pub(super) struct Prepared;

/// Restricts nothing.
pub(super) fn prepare(plan: Plan) -> std::result::Result<Prepared, String> {
    if plan.no_network {
        return Err("only Linux can cut off the network".to_owned());
    }
    Ok(Prepared)
}

impl Prepared {
    /// Restricts nothing.
    #[expect(clippy::unnecessary_wraps, clippy::unused_self, reason = "as where there is something to do")]
    pub(super) fn restrict(self, _open: &Open) -> std::result::Result<Done, String> {
        Ok(Done::default())
    }
}

/// Sets no limits.
pub(super) fn limit(_child: &Child, _limits: &Limits, _before: Option<u64>) {}

/// Calls `spawn` to start a process, without a mark. The number of processes on the machine is not known.
pub(super) fn spawn<T>(
    _mark: Mark,
    _limits: &Limits,
    spawn: impl FnOnce(Option<u64>) -> Result<(Child, T)>,
) -> Result<(Child, T, ProcessGroup)> {
    spawn(None).map(|(child, done)| {
        let family = ProcessGroup::of(&child);
        (child, done, family)
    })
}

/// Reports whether `child` has ended. On Unix it is left to be waited for, because until then no other process can get
/// its PID.
pub(super) fn has_ended(child: &mut Child) -> bool {
    #[cfg(unix)]
    return super::output_event::has_ended(rustix::process::Pid::from_child(child));
    #[cfg(not(unix))]
    {
        !matches!(child.try_wait(), Ok(None))
    }
}

/// The process group of one run.
pub(super) struct ProcessGroup {
    #[cfg(unix)]
    leader: rustix::process::Pid,
}

impl ProcessGroup {
    /// Returns the group of the process `leader`, which was just started.
    fn of(leader: &Child) -> Self {
        #[cfg(not(unix))]
        let _ = leader;
        Self {
            #[cfg(unix)]
            leader: rustix::process::Pid::from_child(leader),
        }
    }

    /// Returns `false`: the system does not list processes.
    #[expect(clippy::unused_self, reason = "as where there is something to tell")]
    pub(super) fn is_told(&self) -> bool {
        false
    }

    /// Returns no processes, because none are known.
    #[expect(clippy::unused_self, reason = "as where there is something to tell")]
    pub(super) fn others(&self) -> [(); 0] {
        []
    }

    /// Returns `false`: this cannot be determined.
    #[expect(clippy::unused_self, reason = "as where there is something to tell")]
    pub(super) fn is_more_than(&mut self, _limit: u64) -> bool {
        false
    }

    /// Asks the group to end, or ends it with `kill`.
    pub(super) fn signal(&self, kill: bool) {
        #[cfg(unix)]
        {
            use rustix::process::{Signal, kill_process, kill_process_group};
            let signal = if kill { Signal::KILL } else { Signal::TERM };
            // If one of these fails, there is nothing left to end. The leader may have joined another group; it has not
            // been waited for, so no other process can have its PID.
            let _ = kill_process_group(self.leader, signal);
            let _ = kill_process(self.leader, signal);
        }
        #[cfg(not(unix))]
        let _ = kill;
    }
}
