//! Progress of downloads.

use std::io::{self, Write};

use crate::fs::Sink;
use crate::reporter::Reporter;

/// A sink that reports what passes through it to the reporter.
pub(super) struct Progress<'a> {
    reporter: &'a dyn Reporter,
    sink: &'a mut dyn Sink,
}

impl<'a> Progress<'a> {
    /// Reports to `reporter` that a download of `what` starts, of `total` bytes if that is known, and returns a writer that
    /// forwards to `sink`.
    pub(super) fn start(
        reporter: &'a dyn Reporter,
        what: &str,
        total: Option<u64>,
        sink: &'a mut dyn Sink,
    ) -> Self {
        reporter.download_started(what, total);
        Self { reporter, sink }
    }
}

impl Write for Progress<'_> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        if self.reporter.is_stopped() {
            return Err(io::Error::other("the download was stopped"));
        }
        let count = self.sink.write(buf)?;
        self.reporter.download_progressed(count as u64);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

impl Drop for Progress<'_> {
    fn drop(&mut self) {
        self.reporter.download_finished();
    }
}
