//! Events from a script, on every system.

use std::io::{self, Read};

use super::Stream;

/// How much is read at once; a pipe holds no more.
pub(super) const PIECE: usize = 64 << 10;

/// An event from a script.
pub(super) enum OutputEvent {
    /// It wrote this.
    Piece(Stream, Vec<u8>),
    /// An output was read to its end: so many bytes.
    All(Stream, u64),
    /// It has ended, and was not waited for yet.
    Exited,
}

impl OutputEvent {
    /// Returns the output of which this is the end.
    pub(super) fn ended(&self) -> Option<Stream> {
        match self {
            Self::All(stream, _) => Some(*stream),
            _ => None,
        }
    }
}

/// One output of a script: the first bytes are passed on, and the rest is read and discarded, so that the script never
/// waits for a reader.
pub(super) struct Pipe<R> {
    stream: Stream,
    /// Where the output is read.
    pub(super) from: R,
    /// The number of bytes that are passed on.
    limit: u64,
    total: u64,
}

impl<R: Read> Pipe<R> {
    pub(super) fn new(stream: Stream, from: R, limit: u64) -> Self {
        Self { stream, from, limit, total: 0 }
    }

    /// Reads once. `None` if there is nothing to hand on: of a read that a signal interrupted, and of what is read
    /// away.
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

    /// Returns the output that this is.
    #[cfg(target_os = "linux")]
    pub(super) fn stream(&self) -> Stream {
        self.stream
    }
}

/// Reports whether the process `pid` has ended. It is left to be waited for: until then its number is nobody else's.
#[cfg(unix)]
pub(super) fn has_ended(pid: rustix::process::Pid) -> bool {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    !matches!(waitid(WaitId::Pid(pid), options), Ok(None))
}
