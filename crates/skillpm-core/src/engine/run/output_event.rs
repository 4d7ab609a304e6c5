//! Events from a running script, on every system.

use std::io::{self, Read};

use super::Stream;

/// The number of bytes read at a time, which is the capacity of a pipe.
pub(super) const PIECE: usize = 64 << 10;

/// An event from a script.
pub(super) enum OutputEvent {
    /// It wrote these bytes.
    Piece(Stream, Vec<u8>),
    /// An output was read to its end; the number is its total size in bytes.
    All(Stream, u64),
    /// It has ended, and was not yet waited for.
    Exited,
}

impl OutputEvent {
    /// Returns the output whose end this is.
    pub(super) fn ended(&self) -> Option<Stream> {
        match self {
            Self::All(stream, _) => Some(*stream),
            _ => None,
        }
    }
}

/// One output of a script. Its first bytes are passed on, and the rest is read and discarded, so the script never waits
/// for a reader.
pub(super) struct Pipe<R> {
    stream: Stream,
    /// The stream to read from.
    pub(super) from: R,
    /// The number of bytes that are passed on.
    limit: u64,
    total: u64,
}

impl<R: Read> Pipe<R> {
    pub(super) fn new(stream: Stream, from: R, limit: u64) -> Self {
        Self { stream, from, limit, total: 0 }
    }

    /// Reads once. `None` if there is nothing to pass on, because a signal interrupted the read or the bytes are over
    /// the limit.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> Option<OutputEvent> {
        match self.from.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => None,
            Ok(count) if count > 0 => {
                let room = usize::try_from(self.limit.saturating_sub(self.total)).unwrap_or(usize::MAX);
                self.total += count as u64;
                let piece = &buffer[..count.min(room)];
                (!piece.is_empty()).then(|| OutputEvent::Piece(self.stream, piece.to_vec()))
            }
            // An output that can no longer be read has also ended.
            _ => Some(OutputEvent::All(self.stream, self.total)),
        }
    }

    /// Returns which output this is.
    #[cfg(target_os = "linux")]
    pub(super) fn stream(&self) -> Stream {
        self.stream
    }
}

/// Reports whether the process `pid` has ended. It is left to be waited for, because until then no other process can
/// get its PID.
#[cfg(unix)]
pub(super) fn has_ended(pid: rustix::process::Pid) -> bool {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    !matches!(waitid(WaitId::Pid(pid), options), Ok(None))
}
