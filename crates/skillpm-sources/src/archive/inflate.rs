//! Raw deflate (RFC 1951), and copying of stored content.

use std::cell::Cell;
use std::io::{self, Read};

use flate2::{Decompress, FlushDecompress, Status};

use super::bytes::at_most;

/// The number of bytes to read or inflate at a time: most files of skills fit whole.
const CHUNK: usize = 256 * 1024;

/// Takes the output, piece by piece.
pub(super) type Sink<'a> = dyn FnMut(&[u8]) -> io::Result<()> + 'a;

/// Why compressed bytes are not one complete stream of at most the given length.
#[derive(Debug)]
pub(super) enum InflateError {
    /// The bytes are not a deflate stream.
    Damaged,
    /// The bytes end before the stream does.
    Incomplete,
    /// The stream ends before the bytes do.
    Trailing,
    /// The output is longer than allowed.
    TooLong,
    /// Reading or writing failed.
    Io(io::Error),
}

/// Buffers that a thread keeps between calls: creating them costs more than inflating a small file.
struct Scratch {
    engine: Decompress,
    input: Vec<u8>,
    output: Vec<u8>,
}

impl Scratch {
    fn new() -> Box<Self> {
        Box::new(Self { engine: Decompress::new(false), input: vec![0; CHUNK], output: vec![0; CHUNK] })
    }
}

thread_local! {
    static SCRATCH: Cell<Option<Box<Scratch>>> = const { Cell::new(None) };
}

/// Runs `work` with this thread's scratch. A sink that calls this function again gets a scratch of its own.
fn with_scratch<T>(work: impl FnOnce(&mut Scratch) -> T) -> T {
    let mut scratch = SCRATCH.take().unwrap_or_else(Scratch::new);
    let result = work(&mut scratch);
    SCRATCH.set(Some(scratch));
    result
}

/// Inflates the `packed` bytes of `source`, which must be exactly one stream, into `sink`. Returns the number
/// of bytes that came out.
///
/// `sink` never gets more than `limit` bytes.
pub(super) fn inflate(
    source: &mut dyn Read,
    packed: u64,
    limit: u64,
    sink: &mut Sink<'_>,
) -> Result<u64, InflateError> {
    with_scratch(|scratch| {
        scratch.engine.reset(false);
        inflate_with(scratch, source, packed, limit, sink)
    })
}

fn inflate_with(
    scratch: &mut Scratch,
    source: &mut dyn Read,
    packed: u64,
    limit: u64,
    sink: &mut Sink<'_>,
) -> Result<u64, InflateError> {
    let Scratch { engine, input, output, .. } = scratch;
    let mut unread = packed;
    let mut pending = 0..0;
    let mut written = 0;
    loop {
        if pending.is_empty() && unread > 0 {
            pending = 0..at_most(unread, input.len());
            source.read_exact(&mut input[pending.clone()]).map_err(InflateError::Io)?;
            unread -= pending.len() as u64;
        }
        // If all input is available, the engine need not keep a copy of its window for another call.
        let flush = if unread == 0 { FlushDecompress::Finish } else { FlushDecompress::None };
        let (in_before, out_before) = (engine.total_in(), engine.total_out());
        let status =
            engine.decompress(&input[pending.clone()], output, flush).map_err(|_| InflateError::Damaged)?;
        let consumed = at_most(engine.total_in() - in_before, pending.len());
        let made = at_most(engine.total_out() - out_before, output.len());
        pending.start += consumed;
        let wanted = at_most(limit - written, made);
        sink(&output[..wanted]).map_err(InflateError::Io)?;
        written += wanted as u64;
        if wanted < made {
            return Err(InflateError::TooLong);
        }
        if status == Status::StreamEnd {
            return if unread == 0 && pending.is_empty() { Ok(written) } else { Err(InflateError::Trailing) };
        }
        if consumed == 0 && made == 0 {
            return Err(InflateError::Incomplete);
        }
    }
}

/// Copies the `len` bytes of `source` into `sink`.
pub(super) fn copy(source: &mut dyn Read, len: u64, sink: &mut Sink<'_>) -> io::Result<()> {
    with_scratch(|scratch| {
        let mut left = len;
        while left > 0 {
            let piece = &mut scratch.input[..at_most(left, CHUNK)];
            source.read_exact(piece)?;
            sink(piece)?;
            left -= piece.len() as u64;
        }
        Ok(())
    })
}
