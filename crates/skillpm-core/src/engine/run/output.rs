//! Reads the output and the end of a script, on the thread that follows it.

use std::io::Read;
use std::os::fd::OwnedFd;
use std::process::Child;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::Stream;
use super::limits::SOON;
use super::output_event::{OutputEvent, PIECE, Pipe, has_ended};

/// The reading ends of a script's outputs, and a handle for its end.
pub(super) struct Output {
    pipes: Vec<Pipe<Box<dyn Source>>>,
    pid: Pid,
    /// Readable when the script has ended. The script is left to be waited for, because until then no other process can
    /// get its PID.
    end: Option<OwnedFd>,
    is_over: bool,
    buffer: Vec<u8>,
}

trait Source: Read + std::os::fd::AsFd + Send {}
impl<T: Read + std::os::fd::AsFd + Send> Source for T {}

impl Output {
    /// Listens to `child` and takes its outputs; `limit` bytes of each are passed on.
    pub(super) fn of(child: &mut Child, limit: u64) -> Self {
        let pipe = |stream, from| Pipe::new(stream, from, limit);
        let out = child.stdout.take().map(|out| pipe(Stream::Out, Box::new(out) as Box<dyn Source>));
        let err = child.stderr.take().map(|err| pipe(Stream::Err, Box::new(err) as Box<dyn Source>));
        let pid = Pid::from_child(child);
        Self {
            pipes: out.into_iter().chain(err).collect(),
            pid,
            // Kernels before 5.3 have no such handle: then the script is checked often.
            end: pidfd_open(pid, PidfdFlags::empty()).ok(),
            is_over: false,
            buffer: vec![0; PIECE],
        }
    }

    /// Waits for the next events, for at most `limit`. Unless it `listens` to the output, only the script's end counts.
    pub(super) fn hear(&mut self, limit: Duration, listens: bool) -> Vec<OutputEvent> {
        let limit = if self.end.is_none() { limit.min(SOON) } else { limit };
        let pipes = if listens { self.pipes.len() } else { 0 };
        let mut wanted: Vec<PollFd<'_>> = self
            .pipes
            .iter()
            .take(pipes)
            .map(|pipe| PollFd::from_borrowed_fd(pipe.from.as_fd(), PollFlags::IN))
            .collect();
        wanted.extend(self.end.as_ref().map(|end| PollFd::new(end, PollFlags::IN)));
        let time = Timespec::try_from(limit).ok();
        // A signal has the same effect as a timeout.
        let _ = poll(&mut wanted, time.as_ref());
        let ready: Vec<bool> = wanted.iter().map(|one| !one.revents().is_empty()).collect();
        let mut heard = Vec::new();
        for (pipe, _) in self.pipes.iter_mut().take(pipes).zip(&ready).filter(|(_, ready)| **ready) {
            heard.extend(pipe.read(&mut self.buffer));
        }
        let ended: Vec<Stream> = heard.iter().filter_map(OutputEvent::ended).collect();
        let ends = ready.get(pipes).copied();
        self.pipes.retain(|pipe| !ended.contains(&pipe.stream()));
        if !self.is_over && ends.unwrap_or_else(|| has_ended(self.pid)) {
            self.is_over = true;
            self.end = None;
            heard.push(OutputEvent::Exited);
        }
        heard
    }
}
