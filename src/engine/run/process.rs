//! Starting a script, following it, and ending it with all that it started.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::ears::Ears;
use super::family::{self, Family};
use super::heard::Heard;
use super::interpreter::Interpreter;
use super::limits::Limits;
use super::mark::Mark;
use super::plan::{Done, Plan};
use super::relay::Relay;
use super::sandbox;
use super::stage::Stage;
use super::{Captured, Ended, Exit, Stdin, Stream, Watch};
use crate::error::{Error, Result};
use crate::fs::anonymous_temp_file;
use crate::interrupt::{self, Running};

/// How often a running script is looked at.
pub(super) const TICK: Duration = Duration::from_millis(20);
/// How often it is looked at while it is to end.
pub(super) const SOON: Duration = Duration::from_millis(10);
/// How long one goes on ending what does not end.
const STUBBORN: Duration = Duration::from_secs(10);
/// How long the rest of its output may take once all of it has ended.
const LINGER: Duration = Duration::from_secs(1);

/// A script that is ready to be started.
pub(super) struct Start<'a> {
    pub(super) interpreter: &'a Interpreter,
    pub(super) script: &'a Path,
    pub(super) args: &'a [OsString],
    pub(super) cwd: &'a Path,
    pub(super) env: BTreeMap<OsString, OsString>,
    pub(super) stdin: &'a Stdin,
    pub(super) limits: &'a Limits,
    pub(super) plan: Plan,
    /// Whether a sandbox that cannot be had is a failure.
    pub(super) require: bool,
    pub(super) mark: Mark,
    /// Where it runs from.
    pub(super) stage: &'a Stage,
}

/// How a run went.
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
        let relay = Relay::default();
        thread::scope(|scope| {
            let follow = thread::Builder::new().spawn_scoped(scope, || self.follow(&relay));
            let follow = follow.map_err(|error| Error::io("failed to start a thread").because(error))?;
            relay.attend(watch);
            let followed = follow.join().unwrap_or_else(|_| Err(Error::io("failed to follow the script")));
            let (mut child, went) = followed?;
            let exit = end_of(&mut child)?;
            Ok(Went { exit, duration: began.elapsed(), ..went })
        })
    }

    /// Starts it and follows it to its end, which is not heard yet: what the caller does with the output comes first.
    fn follow(self, relay: &Relay) -> Result<(Child, Went)> {
        let running = Running::begin();
        let ending = relay.ending();
        let began = Instant::now();
        let (mark, limits) = (self.mark, self.limits);
        let (mut child, done, family) = family::born(mark, limits, || self.spawn())?;
        if let Some(keys) = child.stdin.take() {
            hand_on(keys);
        }
        let ears = Ears::of(&mut child, limits.output);
        let mut follow = Follow {
            child: &mut child,
            family,
            ears,
            relay,
            limits,
            began,
            stdout: Captured::default(),
            stderr: Captured::default(),
            open: 2,
            exited: false,
            is_ending: false,
        };
        let ended = follow.until_the_end();
        let leftovers = follow.clear(ended);
        follow.drain();
        let Follow { stdout, stderr, .. } = follow;
        drop(ending);
        self.see_off(relay, running);
        let duration = began.elapsed();
        Ok((child, Went { exit: Exit::Unknown, ended, leftovers, stdout, stderr, done, duration }))
    }

    /// Waits until the caller has handed everything on. Where nobody reads it and somebody wants this program to end,
    /// the rest is dropped: no other thread could go on then.
    fn see_off(&self, relay: &Relay, running: Running) {
        let over = Instant::now();
        while !relay.is_left(TICK) {
            if interrupt::asked() && over.elapsed() >= LINGER {
                self.stage.clear();
                // What the front end does about signals is the default from here on.
                drop(running);
                ask_again();
                return;
            }
        }
    }

    /// Starts it, from a thread that is restricted as it is to be.
    fn spawn(&self) -> Result<(Child, Done)> {
        let mut command = self.command()?;
        let mut restricted = || {
            let done = sandbox::restrict(&self.plan)
                .map_err(|reason| sandbox_missing(&format!("the system refused it: {reason}")))?;
            if self.require && !done.whole {
                return Err(sandbox_missing(if done.landlock.is_some() {
                    "the Landlock of this kernel is too old (Linux 6.2 has what is needed)"
                } else {
                    "this kernel has no Landlock, or it is switched off"
                }));
            }
            let child = command.spawn().map_err(|error| not_started(self.interpreter, error))?;
            Ok((child, done))
        };
        let born = if self.plan.restricts() {
            thread::scope(|scope| {
                let spawned = thread::Builder::new().spawn_scoped(scope, restricted);
                let spawned =
                    spawned.map_err(|error| Error::io("failed to start a thread").because(error))?;
                spawned.join().unwrap_or_else(|_| Err(Error::io("failed to start the script")))
            })
        } else {
            restricted()
        };
        // That thread may set no limits of others any more.
        if let Ok((child, _)) = &born {
            family::limit(child, self.limits);
        }
        born
    }

    fn command(&self) -> Result<Command> {
        #[expect(clippy::disallowed_methods, reason = "this is the one place that starts scripts")]
        let mut command = Command::new(&self.interpreter.program);
        let stdin = match self.stdin {
            Stdin::Closed => Stdio::null(),
            // It is in a group of its own, so that all of it can be ended, and a terminal stops whoever reads from it
            // in another group than the one in front.
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

/// Hands on what is typed, until the script or this program ends.
fn hand_on(mut keys: ChildStdin) {
    // Without a thread nothing can be handed on: what was to read it finds its end.
    let _ = thread::Builder::new().spawn(move || io::copy(&mut io::stdin().lock(), &mut keys));
}

fn sandbox_missing(why: &str) -> Error {
    Error::config(format!("the script was not run, because the sandbox cannot be had: {why}"))
        .hint("`--sandbox off` runs it without one, if you trust it")
}

fn not_started(interpreter: &Interpreter, error: io::Error) -> Error {
    let shown = interpreter.program.display();
    match error.kind() {
        io::ErrorKind::InvalidInput => {
            Error::usage("an argument or variable holds a NUL byte").because(error)
        }
        io::ErrorKind::ArgumentListTooLong => Error::usage("the arguments are too long for this system")
            .hint("hand them over by `--stdin` or in a file"),
        _ => Error::io(format!("failed to start `{shown}`"))
            .because(error)
            .hint("check that the program runs, and that the working directory is there"),
    }
}

fn exit(status: ExitStatus) -> Exit {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return Exit::Signal(signal);
    }
    Exit::Code(status.code().unwrap_or(-1))
}

/// How `child` ended, which is over. What does not end although it was killed is not waited for.
fn end_of(child: &mut Child) -> Result<Exit> {
    let began = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(exit(status)),
            Ok(None) if began.elapsed() < LINGER => thread::sleep(SOON),
            // What it wrote, and why it was ended, are no less true.
            Ok(None) => return Ok(Exit::Unknown),
            Err(error) if is_gone(&error) => return Ok(Exit::Unknown),
            Err(error) => return Err(Error::io("failed to hear how the script ended").because(error)),
        }
    }
}

/// Sends this process the signal that asked it to end once more.
#[cfg(unix)]
fn ask_again() {
    use rustix::process::{Signal, getpid, kill_process};
    let asked = interrupt::signals().asked.load(std::sync::atomic::Ordering::SeqCst);
    if let Some(signal) = i32::try_from(asked).ok().and_then(Signal::from_named_raw) {
        // Where it is refused, the caller goes on when somebody reads.
        let _ = kill_process(getpid(), signal);
    }
}

/// Elsewhere nothing asks by a signal.
#[cfg(not(unix))]
fn ask_again() {}

/// Whether a wait failed because there is no such child any more: the system does not keep how children ended for
/// a process that ignores it, and tells it only one of those who wait.
#[cfg(unix)]
fn is_gone(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::CHILD.raw_os_error())
}

/// Elsewhere whoever started a program holds it.
#[cfg(not(unix))]
fn is_gone(_: &io::Error) -> bool {
    false
}

/// A running script.
struct Follow<'a> {
    child: &'a mut Child,
    family: Family,
    ears: Ears,
    relay: &'a Relay,
    limits: &'a Limits,
    began: Instant,
    stdout: Captured,
    stderr: Captured,
    /// How many of its two outputs may still bring something.
    open: u8,
    exited: bool,
    /// Whether it is over: what it still writes is heard, whoever reads it.
    is_ending: bool,
}

impl Follow<'_> {
    /// Follows it until it ends by itself, or has to be ended for the reason that is returned.
    fn until_the_end(&mut self) -> Option<Ended> {
        let mut looked = Instant::now();
        while !self.exited {
            let left = self.limits.timeout.saturating_sub(self.began.elapsed());
            if left.is_zero() {
                return Some(Ended::Timeout);
            }
            self.hear(left.min(if cfg!(target_os = "linux") { TICK } else { SOON }));
            if looked.elapsed() >= TICK {
                looked = Instant::now();
                if interrupt::asked() || self.relay.is_stopped() {
                    return Some(Ended::Stopped);
                }
                if self.family.is_more_than(self.limits.processes) {
                    return Some(Ended::Processes);
                }
            }
        }
        None
    }

    /// Waits for what comes next, and takes it.
    fn hear(&mut self, limit: Duration) {
        let began = Instant::now();
        // Like a program that nobody reads, the script waits; this thread does not.
        let listens = self.is_ending || self.relay.has_room(limit.min(SOON));
        let all = self.ears.hear(if listens { limit } else { Duration::ZERO }, listens);
        if all.is_empty() && self.exited && self.open == 0 {
            // Nothing is left to be heard, only processes to end.
            thread::sleep(limit.min(SOON).saturating_sub(began.elapsed()));
        }
        for heard in all {
            match heard {
                Heard::Piece(stream, bytes) => {
                    self.captured(stream).bytes.extend_from_slice(&bytes);
                    self.relay.put(stream, bytes);
                }
                Heard::All(stream, total) => {
                    self.captured(stream).total = total;
                    self.open = self.open.saturating_sub(1);
                }
                Heard::Exited => self.exited = true,
            }
        }
        #[cfg(not(target_os = "linux"))]
        {
            self.exited |= family::has_ended(self.child);
        }
    }

    fn captured(&mut self, stream: Stream) -> &mut Captured {
        match stream {
            Stream::Out => &mut self.stdout,
            Stream::Err => &mut self.stderr,
        }
    }

    /// Ends what still runs: asked first, so that it can tidy up, then without asking. Returns how many
    /// processes the script left behind when it ended by itself.
    fn clear(&mut self, ended: Option<Ended>) -> usize {
        self.is_ending = true;
        let forced = ended.is_some();
        if !self.family.is_told() {
            // Who is left cannot be asked for.
            self.family.signal(!forced);
        }
        let others = self.family.others().len();
        if !forced && others == 0 {
            return 0;
        }
        // Too many would only become more.
        if ended != Some(Ended::Processes) {
            self.signal(false);
            let asked = Instant::now();
            while !self.is_gone() && asked.elapsed() < self.limits.grace {
                self.hear(SOON);
            }
        }
        let stubborn = Instant::now();
        while !self.is_gone() && stubborn.elapsed() < STUBBORN {
            self.signal(true);
            self.hear(SOON);
        }
        if forced { 0 } else { others }
    }

    fn signal(&mut self, kill: bool) {
        self.family.signal(kill);
        if cfg!(not(unix)) && kill {
            // It has ended already where this fails.
            let _ = self.child.kill();
        }
    }

    fn is_gone(&self) -> bool {
        self.exited && self.family.others().is_empty()
    }

    /// Takes the rest of the output, which may be held open by what is none of the run.
    fn drain(&mut self) {
        let began = Instant::now();
        while self.open > 0 && began.elapsed() < LINGER {
            self.hear(SOON);
        }
        for captured in [&mut self.stdout, &mut self.stderr] {
            captured.total = captured.total.max(captured.bytes.len() as u64);
        }
    }
}
