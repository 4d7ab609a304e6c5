//! Messages over two pipes, one on each line. What is no message is answered with an error, and the session goes on: the
//! library's own transport drops it, and its client waits.

use std::io;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde::Serialize;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

use super::message::{self, Refusal};

/// The largest message, in bytes.
const MAX_LINE: usize = 16 << 20;
/// The memory for lines that is kept between two of them, in bytes.
const MAX_KEPT: usize = 1 << 20;

/// The lines of one client.
pub(super) struct Lines<R, W> {
    input: BufReader<R>,
    /// The line, as far as it has come. It is kept here since the library may drop a read at each wait.
    line: Vec<u8>,
    /// Whether the line is too long, and what still comes of it is dropped.
    is_dropped: bool,
    /// `None` once it is closed.
    output: Arc<Mutex<Option<W>>>,
    /// The answer to what was no message, while it is written. It has a task of its own, so that it is written whole.
    refused: Option<JoinHandle<io::Result<()>>>,
}

/// What came.
enum Line {
    /// A line.
    Whole,
    /// More than a message may have; it is gone.
    TooLong,
    /// No more lines.
    End,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Send + Unpin + 'static> Lines<R, W> {
    pub(super) fn new(input: R, output: W) -> Self {
        Self {
            input: BufReader::new(input),
            line: Vec::new(),
            is_dropped: false,
            output: Arc::new(Mutex::new(Some(output))),
            refused: None,
        }
    }

    /// Reads up to the next end of a line.
    async fn next(&mut self) -> Line {
        loop {
            let Ok(piece) = self.input.fill_buf().await else { return Line::End };
            if piece.is_empty() {
                return Line::End;
            }
            let end = piece.iter().position(|byte| *byte == b'\n');
            let taken = end.unwrap_or(piece.len());
            let is_dropped = self.is_dropped;
            if !is_dropped && self.line.len() + taken <= MAX_LINE {
                self.line.extend_from_slice(&piece[..taken]);
            } else {
                self.line = Vec::new();
                self.is_dropped = true;
            }
            self.input.consume(end.map_or(taken, |end| end + 1));
            if self.is_dropped {
                // Its sender learns of it at once: the end may never come.
                self.is_dropped = end.is_none();
                if !is_dropped {
                    return Line::TooLong;
                }
            } else if end.is_some() {
                return Line::Whole;
            }
        }
    }

    /// Returns the message in the line, and forgets the line. Returns `None` for an empty one.
    fn take(&mut self) -> Option<Result<RxJsonRpcMessage<RoleServer>, Refusal>> {
        let is_empty = self.line.iter().all(u8::is_ascii_whitespace);
        let read = (!is_empty).then(|| message::read(&self.line));
        self.line.clear();
        self.line.shrink_to(MAX_KEPT);
        read
    }

    fn refuse(&mut self, refusal: &Refusal) {
        if !refusal.is_notification {
            self.refused = Some(tokio::spawn(write(Arc::clone(&self.output), line_of(&refusal.to_json()))));
        }
    }
}

/// Returns `message` as a line.
fn line_of(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

/// Writes `line` to `output`.
async fn write<W: AsyncWrite + Unpin>(
    output: Arc<Mutex<Option<W>>>,
    line: io::Result<Vec<u8>>,
) -> io::Result<()> {
    let line = line?;
    let mut output = output.lock().await;
    let output = output.as_mut().ok_or(io::ErrorKind::NotConnected)?;
    output.write_all(&line).await?;
    output.flush().await
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        write(Arc::clone(&self.output), line_of(&message))
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            // One after the other: a client that does not read its answers sends nothing more.
            if let Some(refused) = &mut self.refused {
                let written = refused.await;
                self.refused = None;
                if !matches!(written, Ok(Ok(()))) {
                    return None;
                }
            }
            match self.next().await {
                Line::Whole => match self.take() {
                    Some(Ok(message)) => return Some(message),
                    Some(Err(refusal)) => self.refuse(&refusal),
                    None => {}
                },
                Line::TooLong => self.refuse(&Refusal::too_long(MAX_LINE)),
                Line::End => return None,
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        drop(self.output.lock().await.take());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    /// Returns how many messages are read of `input`, and what is written for the rest.
    fn exchanged(input: &[u8]) -> (usize, Vec<Value>) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let written = runtime.block_on(async {
            let (ours, theirs) = tokio::io::duplex(1 << 20);
            let mut lines = Lines::new(input, ours);
            let mut read = 0;
            while lines.receive().await.is_some() {
                read += 1;
            }
            lines.close().await.expect("closes");
            let mut written = Vec::new();
            tokio::io::AsyncReadExt::read_to_end(&mut { theirs }, &mut written).await.expect("reads");
            (read, written)
        });
        let (read, written) = written;
        let answers = written.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        (read, answers.map(|line| serde_json::from_slice(line).expect("JSON")).collect())
    }

    const PING: &str = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";

    /// Each line is read or answered, and the next one is read whatever it was.
    #[test]
    fn a_line_that_is_no_message_is_answered() {
        let odd = "\n  \r\nx\n{\"jsonrpc\":\"1.0\",\"method\":\"notifications/none\"}\n";
        let (read, answers) = exchanged(format!("{PING}{odd}{PING}").as_bytes());
        assert_eq!((read, answers.len()), (2, 1), "{answers:?}");
        assert_eq!((&answers[0]["error"]["code"], &answers[0]["id"]), (&Value::from(-32700), &Value::Null));
    }

    /// A line that is too long is answered once, before it ends, and takes no memory; one of the largest size is read.
    #[test]
    fn a_line_that_is_too_long_is_answered_once() {
        let largest = PING.replacen(',', &format!(",{}", " ".repeat(MAX_LINE + 1 - PING.len())), 1);
        assert_eq!(largest.len(), MAX_LINE + 1);
        let long = largest.replacen(',', ", ", 1);
        let endless = "y".repeat(2 * MAX_LINE);
        let (read, answers) = exchanged(format!("{largest}{long}{PING}{endless}").as_bytes());
        let told: Vec<_> = answers.iter().map(|answer| (&answer["error"]["code"], &answer["id"])).collect();
        let expected = (&Value::from(-32600), &Value::Null);
        assert_eq!((read, told), (2, vec![expected, expected]));
    }
}
