//! Reads the output of a script on a thread for each output.

use std::io::Read;
use std::process::Child;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use super::Stream;
use super::output_event::{OutputEvent, PIECE, Pipe};

/// The maximum number of pieces that wait to be passed on.
const PIECES: usize = 8;

/// The output of a script.
pub(super) struct Output(Receiver<OutputEvent>);

impl Output {
    /// Listens to `child` and takes its outputs; `limit` bytes of each are passed on.
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

    /// Waits for the next events, for at most `limit`. Unless it `listens` to the output, there are none.
    pub(super) fn hear(&mut self, limit: Duration, listens: bool) -> Vec<OutputEvent> {
        if !listens {
            thread::sleep(limit);
            return Vec::new();
        }
        self.0.recv_timeout(limit).ok().into_iter().collect()
    }
}

/// Passes on everything that is read from `pipe`.
fn listen(mut pipe: Pipe<impl Read + Send + 'static>, to: SyncSender<OutputEvent>) {
    thread::spawn(move || {
        let mut buffer = vec![0; PIECE];
        loop {
            let Some(event) = pipe.read(&mut buffer) else { continue };
            let is_all = event.ended().is_some();
            // The receiver may be gone.
            if to.send(event).is_err() || is_all {
                return;
            }
        }
    });
}
