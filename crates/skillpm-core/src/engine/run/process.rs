//! Starting a script.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Write as _};
use std::mem;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::follow::{Follow, Heeded, LINGER, SOON, TICK};
use super::interpreter::Interpreter;
use super::limits::Limits;
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
    /// The thread that starts it, if it is to be restricted.
    pub(super) starter: Option<Starter<'a>>,
    /// What it then has access to.
    pub(super) open: Open,
    /// Whether a sandbox that is not available is a failure.
    pub(super) require: bool,
    pub(super) mark: Mark,
    /// The copy that it runs from.
    pub(super) stage: &'a PrivateCopy,
}

/// The course of a run.
pub(super) struct Went {
    pub(super) exit: Exit,
    pub(super) ended: Option<Ended>,
    pub(super) leftovers: usize,
    /// Whether the system reports that nothing that would have to be ended is left.
    pub(super) is_gone: bool,
    /// Whether it was one process and no more.
    pub(super) was_alone: bool,
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
            if watch.hears() { self.run_aside(watch) } else { self.run_here(watch) }?;
        let exit = end_of(&mut child)?;
        let Heeded { ended, leftovers, is_gone, was_alone, stdout, stderr } = heeded;
        let duration = began.elapsed();
        Ok(Went { exit, ended, leftovers, is_gone, was_alone, stdout, stderr, done, duration })
    }

    /// Starts it and follows it on a separate thread, while this one passes on what it writes. The end is not reported
    /// yet: what the caller does with the output comes first.
    fn run_aside(mut self, watch: &mut dyn Watch) -> Result<(Child, Done, Heeded)> {
        let relay = OutputQueue::new(true);
        let stage = self.stage;
        thread::scope(|scope| {
            // Before the script starts: it might leave no room for another thread.
            let aside = thread::Builder::new().spawn_scoped(scope, || {
                let running = Running::begin();
                let ending = relay.ending();
                let followed = self.follow(&relay, |follow| follow.finish(&mut || relay.is_stopped()))?;
                drop(ending);
                shut_down(stage, &relay, running);
                Ok(followed)
            });
            let aside = aside.map_err(|error| Error::io("failed to start a thread").because(error))?;
            relay.attend(watch);
            aside.join().unwrap_or_else(|_| Err(Error::io("failed to follow the script")))
        })
    }

    /// Starts it and follows it on this thread for as long as there is nothing to ask of the caller, which may take time.
    /// Most scripts are over by then, and need no other.
    fn run_here(mut self, watch: &mut dyn Watch) -> Result<(Child, Done, Heeded)> {
        let _running = Running::begin();
        let relay = OutputQueue::new(false);
        self.follow(&relay, |follow| {
            if follow.is_over_soon() {
                follow.finish(&mut || false);
                return;
            }
            let is_followed = thread::scope(|scope| {
                let aside = thread::Builder::new().spawn_scoped(scope, || {
                    let _ending = relay.ending();
                    follow.finish(&mut || relay.is_stopped());
                });
                aside.is_ok_and(|aside| {
                    relay.attend(watch);
                    aside.join().is_ok()
                })
            });
            if !is_followed {
                // The script may have left no room for another thread. It is ended by this one then.
                follow.finish(&mut || watch.is_stopped());
            }
        })
    }

    /// Starts it and has `to_the_end` follow it. How it ended is not asked yet.
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

    /// Starts it. The machine had `before` processes and threads.
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
            // It is in a group of its own, so that all of it can be ended, and a terminal stops anyone who reads from
            // it in another group than the one in front.
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

/// Waits until the caller has handed everything on. Where nobody reads it and somebody wants this program to end, the
/// rest is dropped: no other thread could go on then.
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

/// Hands on what is typed, until the script or this program ends.
fn hand_on(mut keys: ChildStdin) {
    // Without a thread nothing can be passed on: the reader sees the end of the input.
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

/// Returns how `child` ended, which is over. What does not end although it was killed is not waited for.
fn end_of(child: &mut Child) -> Result<Exit> {
    let began = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(exit(status)),
            Ok(None) if began.elapsed() < LINGER => thread::sleep(SOON),
            // What it wrote and why it was ended are still valid.
            Ok(None) => return Ok(Exit::Unknown),
            Err(error) if is_gone(&error) => return Ok(Exit::Unknown),
            Err(error) => return Err(Error::io("failed to read the script's exit status").because(error)),
        }
    }
}

/// Sends this process the signal that asked it to end once more.
#[cfg(unix)]
fn ask_again() {
    use rustix::process::{Signal, getpid, kill_process};
    let asked = interrupt::signals().asked.load(std::sync::atomic::Ordering::SeqCst);
    if let Some(signal) = i32::try_from(asked).ok().and_then(Signal::from_named_raw) {
        // If it is refused, the caller goes on when somebody reads.
        let _ = kill_process(getpid(), signal);
    }
}

/// Elsewhere nothing asks by a signal.
#[cfg(not(unix))]
fn ask_again() {}

/// Reports whether a wait failed because there is no such child any more: the system does not keep how children ended
/// for a process that ignores it, and tells it only one of those who wait.
#[cfg(unix)]
fn is_gone(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::CHILD.raw_os_error())
}

/// Elsewhere anyone who started a program holds it.
#[cfg(not(unix))]
fn is_gone(_: &io::Error) -> bool {
    false
}
