//! Hearing what a script writes, on a thread for each output.

use std::io::{self, Read};
use std::process::Child;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use super::Stream;
use super::process::{Heard, PIECE};

/// How many pieces wait to be handed on.
const PIECES: usize = 8;

/// What is heard of a script.
pub(super) struct Ears(Receiver<Heard>);

impl Ears {
    /// Listens to `child`, whose outputs are taken: `limit` bytes of each are handed on.
    pub(super) fn of(child: &mut Child, limit: u64) -> Self {
        let (sender, heard) = sync_channel(PIECES);
        if let Some(out) = child.stdout.take() {
            listen(out, Stream::Out, limit, sender.clone());
        }
        if let Some(err) = child.stderr.take() {
            listen(err, Stream::Err, limit, sender);
        }
        Self(heard)
    }

    /// Waits until there is something to hear, `limit` at most.
    pub(super) fn hear(&mut self, limit: Duration) -> Vec<Heard> {
        self.0.recv_timeout(limit).ok().into_iter().collect()
    }
}

/// Hands on what comes from `from`, `limit` bytes of it, and reads the rest away.
fn listen(mut from: impl Read + Send + 'static, stream: Stream, limit: u64, to: SyncSender<Heard>) {
    thread::spawn(move || {
        let mut buffer = vec![0; PIECE];
        let mut total: u64 = 0;
        loop {
            match from.read(&mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(count) if count > 0 => {
                    let room = usize::try_from(limit.saturating_sub(total)).unwrap_or(usize::MAX);
                    total += count as u64;
                    let piece = &buffer[..count.min(room)];
                    if !piece.is_empty() && to.send(Heard::Piece(stream, piece.to_vec())).is_err() {
                        return;
                    }
                }
                _ => {
                    // Nobody may listen any more.
                    let _ = to.send(Heard::All(stream, total));
                    return;
                }
            }
        }
    });
}
