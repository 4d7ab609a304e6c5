//! Hearing what a script writes, on a thread for each output.

use std::io::Read;
use std::process::Child;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use super::Stream;
use super::output_event::{OutputEvent, PIECE, Pipe};

/// The number of pieces that may wait to be passed on.
const PIECES: usize = 8;

/// The output of a script.
pub(super) struct Output(Receiver<OutputEvent>);

impl Output {
    /// Listens to `child`, whose outputs are taken: `limit` bytes of each are handed on.
    pub(super) fn of(child: &mut Child, limit: u64) -> Self {
        let (sender, events) = sync_channel(PIECES);
        if let Some(out) = child.stdout.take() {
            listen(Pipe::new(Stream::Out, out, limit), sender.clone());
        }
        if let Some(err) = child.stderr.take() {
            listen(Pipe::new(Stream::Err, err, limit), sender);
        }
        Self(events)
    }

    /// Waits until there is something to hear, `limit` at most. Unless it `listens`, nothing is.
    pub(super) fn hear(&mut self, limit: Duration, listens: bool) -> Vec<OutputEvent> {
        if !listens {
            thread::sleep(limit);
            return Vec::new();
        }
        self.0.recv_timeout(limit).ok().into_iter().collect()
    }
}

/// Passes on what is read from `pipe`, to its end.
fn listen(mut pipe: Pipe<impl Read + Send + 'static>, to: SyncSender<OutputEvent>) {
    thread::spawn(move || {
        let mut buffer = vec![0; PIECE];
        loop {
            let Some(event) = pipe.read(&mut buffer) else { continue };
            let is_all = event.ended().is_some();
            // Nobody may listen any more.
            if to.send(event).is_err() || is_all {
                return;
            }
        }
    });
}
