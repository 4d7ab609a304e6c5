//! The log: a thread of its own writes the lines, so that a blocked reader blocks no request.

use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread;
use std::time::Duration;

use prometheus_client::metrics::counter::Counter;

/// The largest number of queued lines, and of their bytes.
const WAITING: (usize, usize) = (4_096, 16 << 20);
/// How long the end of the process waits for the queued lines.
const LAST: Duration = Duration::from_secs(2);

/// Queues lines to be written; drops lines that do not fit. One call of `write` is one line.
#[derive(Debug, Clone)]
pub(crate) struct Log {
    /// `None` at the end of the process.
    lines: Arc<RwLock<Option<SyncSender<Vec<u8>>>>>,
    waiting: Arc<AtomicUsize>,
    dropped: Counter,
}

/// Writes the lines that wait when it is dropped.
#[derive(Debug)]
pub(crate) struct Ending(Log, Receiver<()>);

impl Log {
    /// Starts the thread that writes to `out`, and counts in `dropped` the lines that are not written.
    pub(crate) fn start(
        mut out: impl Write + Send + 'static,
        dropped: Counter,
    ) -> io::Result<(Self, Ending)> {
        let (lines, queue) = sync_channel::<Vec<u8>>(WAITING.0);
        let (done, ended) = sync_channel::<()>(0);
        let log = Self { lines: Arc::new(RwLock::new(Some(lines))), waiting: Arc::default(), dropped };
        let (waiting, dropped) = (Arc::clone(&log.waiting), log.dropped.clone());
        thread::Builder::new().name("log".to_owned()).spawn(move || {
            for line in queue {
                if out.write_all(&line).is_err() {
                    dropped.inc();
                }
                waiting.fetch_sub(line.len(), Ordering::Relaxed);
            }
            drop(done);
        })?;
        Ok((log.clone(), Ending(log, ended)))
    }

    fn is_taken(&self, line: &[u8]) -> bool {
        let lines = self.lines.read().unwrap_or_else(PoisonError::into_inner);
        lines.as_ref().is_some_and(|lines| lines.try_send(line.to_vec()).is_ok())
    }
}

impl Write for Log {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let waiting = self.waiting.fetch_add(line.len(), Ordering::Relaxed);
        if waiting + line.len() > WAITING.1 || !self.is_taken(line) {
            self.waiting.fetch_sub(line.len(), Ordering::Relaxed);
            self.dropped.inc();
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        drop(self.0.lines.write().unwrap_or_else(PoisonError::into_inner).take());
        // It ends in an error either way: once the thread has ended, or after the time.
        let _ = self.1.recv_timeout(LAST);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// Keeps what is written once `gate` is unlocked.
    struct Slow {
        gate: Arc<Mutex<Vec<u8>>>,
    }

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.gate.lock().expect("a lock").write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_full_queue_drops_lines_and_the_rest_is_written_at_the_end() {
        let (gate, dropped) = (Arc::<Mutex<Vec<u8>>>::default(), Counter::default());
        let (mut log, ending) =
            Log::start(Slow { gate: Arc::clone(&gate) }, dropped.clone()).expect("a thread");
        let closed = gate.lock().expect("a lock");
        for _ in 0..WAITING.0 + 100 {
            log.write_all(b"line\n").expect("never fails");
        }
        log.write_all(&vec![b'a'; WAITING.1]).expect("never fails");
        drop(closed);
        drop(ending);
        log.write_all(b"late\n").expect("never fails");
        let written = gate.lock().expect("a lock").len() / 5;
        // One line may have left the queue before the gate closed or while it was.
        assert!((WAITING.0..=WAITING.0 + 2).contains(&written), "{written}");
        let lost = usize::try_from(dropped.get()).expect("a number");
        assert_eq!(written + lost, WAITING.0 + 102);
        assert_eq!(log.waiting.load(Ordering::Relaxed), 0);
    }
}
