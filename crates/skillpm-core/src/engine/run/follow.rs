//! Follows a running script, and ends it with everything that it started.

use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use super::limits::{Limits, SOON, TICK};
use super::output::Output;
use super::output_event::OutputEvent;
use super::output_queue::OutputQueue;
use super::process_group::ProcessGroup;
use super::{Captured, Ended, Stream};
use crate::interrupt;

/// How long to retry ending a script that does not end.
const STUBBORN: Duration = Duration::from_secs(10);
/// How long to wait for the rest of the output once the whole script has ended.
pub(super) const LINGER: Duration = Duration::from_secs(1);

/// A running script.
pub(super) struct Follow<'a> {
    child: &'a mut Child,
    family: ProcessGroup,
    ears: Output,
    relay: &'a OutputQueue,
    limits: &'a Limits,
    began: Instant,
    stdout: Captured,
    stderr: Captured,
    /// The number of its outputs that are still open.
    open: u8,
    exited: bool,
    /// Whether it is being ended: from then on its output is read even without a reader.
    is_ending: bool,
    ended: Option<Ended>,
    leftovers: usize,
}

/// The results of following a script.
pub(super) struct Heeded {
    /// Why it was ended, if it was.
    pub(super) ended: Option<Ended>,
    /// The number of processes that it left behind.
    pub(super) leftovers: usize,
    pub(super) stdout: Captured,
    pub(super) stderr: Captured,
}

impl<'a> Follow<'a> {
    /// Follows `child`, the first process of `family`, and takes its outputs. It was started at `began`.
    pub(super) fn new(
        child: &'a mut Child,
        family: ProcessGroup,
        limits: &'a Limits,
        relay: &'a OutputQueue,
        began: Instant,
    ) -> Self {
        let ears = Output::of(child, limits.output);
        Self {
            child,
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
            ended: None,
            leftovers: 0,
        }
    }

    /// Follows it for a [`TICK`] or until it ends; returns whether it has ended.
    pub(super) fn is_over_soon(&mut self) -> bool {
        let most = TICK.min(self.limits.timeout);
        while !self.exited {
            let left = most.saturating_sub(self.began.elapsed());
            if left.is_zero() {
                return false;
            }
            self.hear(left);
        }
        true
    }

    /// Follows it until it ends by itself or must be ended, for example because `is_stopped` returns `true`; then ends
    /// everything that it started.
    pub(super) fn finish(&mut self, is_stopped: &mut dyn FnMut() -> bool) {
        self.ended = self.until_the_end(is_stopped);
        self.leftovers = self.clear(self.ended);
        self.drain();
    }

    /// Returns the results.
    pub(super) fn heeded(self) -> Heeded {
        let Self { ended, leftovers, stdout, stderr, .. } = self;
        Heeded { ended, leftovers, stdout, stderr }
    }

    /// Follows it until it ends by itself, or until it must be ended for the reason that is returned.
    fn until_the_end(&mut self, is_stopped: &mut dyn FnMut() -> bool) -> Option<Ended> {
        let mut looked = self.began;
        while !self.exited {
            let left = self.limits.timeout.saturating_sub(self.began.elapsed());
            if left.is_zero() {
                return Some(Ended::Timeout);
            }
            self.hear(left.min(if cfg!(target_os = "linux") { TICK } else { SOON }));
            if looked.elapsed() >= TICK {
                looked = Instant::now();
                if interrupt::asked() || is_stopped() {
                    return Some(Ended::Stopped);
                }
                if self.family.is_more_than(self.limits.processes) {
                    return Some(Ended::Processes);
                }
            }
        }
        None
    }

    /// Waits for the next events, for at most `limit`, and handles them.
    fn hear(&mut self, limit: Duration) {
        let began = Instant::now();
        // If its output is not read, the script waits as any program does, but this thread does not.
        let listens = self.is_ending || self.relay.has_room(limit.min(SOON));
        let all = self.ears.hear(if listens { limit } else { Duration::ZERO }, listens);
        if all.is_empty() && self.exited && self.open == 0 {
            // There is no more output, only processes to end.
            thread::sleep(limit.min(SOON).saturating_sub(began.elapsed()));
        }
        for heard in all {
            match heard {
                OutputEvent::Piece(stream, bytes) => {
                    self.captured(stream).bytes.extend_from_slice(&bytes);
                    self.relay.put(stream, bytes);
                }
                OutputEvent::All(stream, total) => {
                    self.captured(stream).total = total;
                    self.open = self.open.saturating_sub(1);
                }
                OutputEvent::Exited => self.exited = true,
            }
        }
        #[cfg(not(target_os = "linux"))]
        {
            self.exited |= super::process_group::has_ended(self.child);
        }
    }

    fn captured(&mut self, stream: Stream) -> &mut Captured {
        match stream {
            Stream::Out => &mut self.stdout,
            Stream::Err => &mut self.stderr,
        }
    }

    /// Ends the processes that still run: first asks them, so they can clean up, then kills them. Returns the number of
    /// processes that the script left behind when it ended by itself.
    fn clear(&mut self, ended: Option<Ended>) -> usize {
        self.is_ending = true;
        let forced = ended.is_some();
        if !self.family.is_told() {
            // The remaining processes cannot be listed.
            self.family.signal(!forced);
        }
        let others = self.family.others().len();
        if !forced && others == 0 {
            return 0;
        }
        // A script with too many processes would only start more.
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
            // If this fails, it has already ended.
            let _ = self.child.kill();
        }
    }

    fn is_gone(&self) -> bool {
        self.exited && self.family.others().is_empty()
    }

    /// Reads the rest of the output, which something outside the run may hold open.
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
