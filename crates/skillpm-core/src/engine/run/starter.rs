//! A thread that restricts itself as a script requires, and then starts the script.
//!
//! Setting up restrictions takes a while, and most of them are the same for all scripts. So this thread applies those
//! while the skill is copied. Only then does it learn which command to start, and which of the user's directories the
//! command may access.

use std::io;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, Scope, ScopedJoinHandle};

use super::plan::{Done, Open, Plan};
use super::sandbox;
use crate::advice::{Opt, message};
use crate::error::{Error, Result};

/// A thread that starts a script. If it gets no order, it ends when this value is dropped.
pub(super) struct Starter<'scope> {
    order: Sender<Order>,
    thread: ScopedJoinHandle<'scope, Option<Result<Started>>>,
}

/// The command to start.
struct Order {
    command: Command,
    open: Open,
    /// Whether to fail if no sandbox is available.
    require: bool,
}

/// The result of starting the script, and the restrictions that were enforced.
type Started = (io::Result<Child>, Done);

impl<'scope> Starter<'scope> {
    /// Starts a thread in `scope` that restricts itself by `plan`.
    pub(super) fn new(scope: &'scope Scope<'scope, '_>, plan: Plan) -> Result<Self> {
        let (order, orders) = channel();
        let thread = Builder::new().spawn_scoped(scope, move || attend(plan, &orders));
        let thread = thread.map_err(|error| Error::io("failed to start a thread").because(error))?;
        Ok(Self { order, thread })
    }

    /// Starts `command` with access to `open`. With `require`, it is not started without a sandbox.
    pub(super) fn start(self, command: Command, open: Open, require: bool) -> Result<Started> {
        // The thread waits for an order unless it panicked, which is reported below.
        let _ = self.order.send(Order { command, open, require });
        let started = self.thread.join().ok().flatten();
        started.unwrap_or_else(|| Err(Error::io("failed to start the script")))
    }
}

fn attend(plan: Plan, orders: &Receiver<Order>) -> Option<Result<Started>> {
    let prepared = sandbox::prepare(plan);
    let order = orders.recv().ok()?;
    Some(start(prepared, order))
}

fn start(prepared: std::result::Result<sandbox::Prepared, String>, order: Order) -> Result<Started> {
    let Order { mut command, open, require } = order;
    let done = prepared
        .and_then(|prepared| prepared.restrict(&open))
        .map_err(|reason| missing(&format!("the system refused it: {reason}")))?;
    if require && !done.whole {
        return Err(missing(if done.landlock.is_some() {
            "the kernel's Landlock is too old (Linux 6.2 or later is needed)"
        } else {
            "the kernel has no Landlock, or it is switched off"
        }));
    }
    Ok((command.spawn(), done))
}

fn missing(why: &str) -> Error {
    Error::config(format!("the script was not run, because the sandbox is not available: {why}"))
        .hint(message!((Opt::Sandbox, "off"), " runs it without one, if you trust it"))
}
