//! Starts a script and follows it to its end.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Write as _};
use std::mem;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::follow::{Follow, Heeded, LINGER};
use super::interpreter::Interpreter;
use super::limits::Limits;
use super::limits::{SOON, TICK};
use super::output_queue::OutputQueue;
use super::plan::{Done, Open};
use super::private_copy::PrivateCopy;
use super::process_group;
use super::run_id::Mark;
use super::starter::Starter;
use super::{Captured, Ended, Exit, Stdin, Watch};
use crate::advice::{Opt, message};
use crate::error::{Error, Result};
use crate::fs::anonymous_temp_file;
use crate::interrupt::{self, Running};

/// A script that is ready to start.
pub(super) struct Start<'a> {
    pub(super) interpreter: &'a Interpreter,
    pub(super) script: &'a Path,
    pub(super) args: &'a [OsString],
    pub(super) cwd: &'a Path,
    pub(super) env: BTreeMap<OsString, OsString>,
    pub(super) stdin: &'a Stdin,
    pub(super) limits: &'a Limits,
    /// The thread that starts it, if it is restricted.
    pub(super) starter: Option<Starter<'a>>,
    /// The files that it may access in addition.
    pub(super) open: Open,
    /// Whether to fail if no sandbox is available.
    pub(super) require: bool,
    pub(super) mark: Mark,
    /// The copy that it runs from.
    pub(super) stage: &'a PrivateCopy,
}

/// The course of a run that has ended.
pub(super) struct Went {
    pub(super) exit: Exit,
    pub(super) ended: Option<Ended>,
    pub(super) leftovers: usize,
    pub(super) stdout: Captured,
    pub(super) stderr: Captured,
    pub(super) done: Done,
    pub(super) duration: Duration,
}

impl Start<'_> {
    /// Runs the script to its end.
    pub(super) fn run(self, watch: &mut dyn Watch) -> Result<Went> {
        let began = Instant::now();
        let (mut child, done, heeded) =
            if watch.hears() { self.run_on_a_thread(watch) } else { self.run_inline(watch) }?;
        let exit = end_of(&mut child)?;
        let Heeded { ended, leftovers, stdout, stderr } = heeded;
        let duration = began.elapsed();
        Ok(Went { exit, ended, leftovers, stdout, stderr, done, duration })
    }

    /// Starts it and follows it on a separate thread, while this thread passes on its output. Does not collect its exit
    /// status yet: the caller handles the output first.
    fn run_on_a_thread(mut self, watch: &mut dyn Watch) -> Result<(Child, Done, Heeded)> {
        let relay = OutputQueue::new(true);
        let stage = self.stage;
        thread::scope(|scope| {
            // Started before the script, which might leave no room for another thread.
            let follower = thread::Builder::new().spawn_scoped(scope, || {
                let running = Running::begin();
                let ending = relay.ending();
                let followed = self.follow(&relay, |follow| follow.finish(&mut || relay.is_stopped()))?;
                drop(ending);
                shut_down(stage, &relay, running);
                Ok(followed)
            });
            let follower = follower.map_err(|error| Error::io("failed to start a thread").because(error))?;
            relay.attend(watch);
            follower.join().unwrap_or_else(|_| Err(Error::io("failed to follow the script")))
        })
    }

    /// Starts it and follows it on this thread for a short time, without calling the caller's code, which may be slow.
    /// Most scripts end within that time and need no other thread.
    fn run_inline(mut self, watch: &mut dyn Watch) -> Result<(Child, Done, Heeded)> {
        let _running = Running::begin();
        let relay = OutputQueue::new(false);
        self.follow(&relay, |follow| {
            if follow.is_over_soon() {
                follow.finish(&mut || false);
                return;
            }
            let is_followed = thread::scope(|scope| {
                let follower = thread::Builder::new().spawn_scoped(scope, || {
                    let _ending = relay.ending();
                    follow.finish(&mut || relay.is_stopped());
                });
                follower.is_ok_and(|follower| {
                    relay.attend(watch);
                    follower.join().is_ok()
                })
            });
            if !is_followed {
                // The script may have left no room for another thread, so this thread ends it.
                follow.finish(&mut || watch.is_stopped());
            }
        })
    }

    /// Starts it and calls `to_the_end` to follow it. Does not collect its exit status yet.
    fn follow(
        &mut self,
        relay: &OutputQueue,
        to_the_end: impl FnOnce(&mut Follow<'_>),
    ) -> Result<(Child, Done, Heeded)> {
        let began = Instant::now();
        let (mark, limits) = (self.mark, self.limits);
        let (mut child, done, family) = process_group::spawn(mark, limits, |before| self.spawn(before))?;
        if let Some(keys) = child.stdin.take() {
            hand_on(keys);
        }
        let mut follow = Follow::new(&mut child, family, limits, relay, began);
        to_the_end(&mut follow);
        let heeded = follow.heeded();
        Ok((child, done, heeded))
    }

    /// Starts it. `before` is the number of processes and threads on the machine.
    fn spawn(&mut self, before: Option<u64>) -> Result<(Child, Done)> {
        let mut command = self.command()?;
        let (child, done) = match self.starter.take() {
            Some(starter) => starter.start(command, mem::take(&mut self.open), self.require)?,
            None => (command.spawn(), Done::default()),
        };
        let child = child.map_err(|error| not_started(self.interpreter, error))?;
        // A restricted process may not set the limits of others.
        process_group::limit(&child, self.limits, before);
        Ok((child, done))
    }

    fn command(&self) -> Result<Command> {
        #[expect(clippy::disallowed_methods, reason = "this is the one place that starts scripts")]
        let mut command = Command::new(&self.interpreter.program);
        let stdin = match self.stdin {
            Stdin::Closed => Stdio::null(),
            // The script is in its own process group, so all of it can be ended, and a terminal stops processes that
            // read from it outside the foreground group.
            Stdin::Inherited if cfg!(unix) && io::stdin().is_terminal() => Stdio::piped(),
            Stdin::Inherited => Stdio::inherit(),
            Stdin::Bytes(bytes) => {
                // A file has no other end that could block.
                let mut file = anonymous_temp_file().map_err(Error::from)?;
                let whole = file.write_all(bytes).and_then(|()| io::Seek::rewind(&mut file));
                whole.map_err(|error| Error::io("failed to write a temporary file").because(error))?;
                Stdio::from(file)
            }
        };
        command
            .args(&self.interpreter.args)
            .arg(self.script)
            .args(self.args)
            .env_clear()
            .envs(&self.env)
            .current_dir(self.cwd)
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        Ok(command)
    }
}

/// Waits until the caller has taken all output. If the output is not read and this program was asked to end, the rest
/// is dropped, because the program could not end otherwise.
fn shut_down(stage: &PrivateCopy, relay: &OutputQueue, running: Running) {
    let over = Instant::now();
    while !relay.is_left(TICK) {
        if interrupt::asked() && over.elapsed() >= LINGER {
            stage.clear();
            // From here on, signals have their default effect again.
            drop(running);
            ask_again();
            return;
        }
    }
}

/// Passes on typed input until the script or this program ends.
fn hand_on(mut keys: ChildStdin) {
    // If there is no thread, nothing is passed on, and the script sees the end of its input.
    let _ = thread::Builder::new().spawn(move || io::copy(&mut io::stdin().lock(), &mut keys));
}

fn not_started(interpreter: &Interpreter, error: io::Error) -> Error {
    let shown = interpreter.program.display();
    match error.kind() {
        io::ErrorKind::InvalidInput => {
            Error::usage("an argument or variable holds a NUL byte").because(error)
        }
        io::ErrorKind::ArgumentListTooLong => Error::usage("the arguments are too long for this system")
            .hint(message!("pass them with ", Opt::Stdin, " or in a file")),
        _ => Error::io(format!("failed to start `{shown}`"))
            .because(error)
            .hint("check that the program runs, and that the working directory exists"),
    }
}

fn exit(status: ExitStatus) -> Exit {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return Exit::Signal(signal);
    }
    Exit::Code(status.code().unwrap_or(-1))
}

/// Returns how `child`, which is over, ended. Does not wait for a process that survives being killed.
fn end_of(child: &mut Child) -> Result<Exit> {
    let began = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(exit(status)),
            Ok(None) if began.elapsed() < LINGER => thread::sleep(SOON),
            // Its output and the reason why it was ended are still valid.
            Ok(None) => return Ok(Exit::Unknown),
            Err(error) if is_gone(&error) => return Ok(Exit::Unknown),
            Err(error) => return Err(Error::io("failed to read the script's exit status").because(error)),
        }
    }
}

/// Sends this process again the signal that asked it to end.
#[cfg(unix)]
fn ask_again() {
    use rustix::process::{Signal, getpid, kill_process};
    let asked = interrupt::signals().asked.load(std::sync::atomic::Ordering::SeqCst);
    if let Some(signal) = i32::try_from(asked).ok().and_then(Signal::from_named_raw) {
        // If this fails, the caller continues once its output is read.
        let _ = kill_process(getpid(), signal);
    }
}

/// Does nothing: on other systems, no signal asks a process to end.
#[cfg(not(unix))]
fn ask_again() {}

/// Reports whether a wait failed because the child no longer exists. A process that ignores the end of its children
/// gets no exit status, and if several threads wait, the system reports the status to only one of them.
#[cfg(unix)]
fn is_gone(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::CHILD.raw_os_error())
}

/// Returns `false`: on other systems, a process is kept as long as its parent holds it.
#[cfg(not(unix))]
fn is_gone(_: &io::Error) -> bool {
    false
}
