//! Inflating files that fit into memory in one call, with libdeflate: 1.7 times as fast for files of some
//! kilobytes.
//!
//! The interface of libdeflate does not report where a stream ended. Bytes behind a stream would go unnoticed
//! here, while a reader that looks at them sees another archive. In the gzip format, however, libdeflate
//! reads eight bytes behind the stream: checksum and length of the output. So the bytes are wrapped as a gzip
//! file that ends with the eight bytes that the archive declares. If libdeflate finds them, the stream ends
//! before eight such bytes; if no others like them exist, it ends where the bytes end.

use std::io::{self, Read};

use libdeflater::Decompressor;
use memchr::memmem;

use super::{CHUNK, at_most};

/// A gzip header without name, time or system.
const HEAD: [u8; 10] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF];
const TRAILER: usize = 8;

/// Buffers that a thread keeps between calls.
pub(super) struct Whole {
    engine: Decompressor,
    input: Vec<u8>,
    output: Vec<u8>,
}

impl Whole {
    pub(super) fn new() -> Self {
        Self { engine: Decompressor::new(), input: Vec::new(), output: vec![0; CHUNK] }
    }

    /// Returns the content of `size` bytes with the checksum `crc`, if the `packed` bytes of `source` are
    /// exactly one stream of it. Returns `None` if they are not, which does not say why, or if the content
    /// does not fit.
    pub(super) fn inflate(
        &mut self,
        source: &mut dyn Read,
        packed: u64,
        size: u64,
        crc: u32,
    ) -> io::Result<Option<&[u8]>> {
        if packed > CHUNK as u64 || size > CHUNK as u64 {
            return Ok(None);
        }
        let (packed, size) = (at_most(packed, CHUNK), at_most(size, CHUNK));
        self.input.clear();
        self.input.extend(HEAD);
        self.input.resize(HEAD.len() + packed, 0);
        source.read_exact(&mut self.input[HEAD.len()..])?;
        let declared = u64::from(crc) | (size as u64) << 32;
        self.input.extend(declared.to_le_bytes());
        let output = &mut self.output[..size];
        let made = self.engine.gzip_decompress(&self.input, output);
        let stream = &self.input[HEAD.len()..];
        // The position of the eight bytes proves something only if the output is as declared.
        let is_declared = made == Ok(size) && crc32fast::hash(output) == crc;
        let trailer = &stream[packed..packed + TRAILER];
        let is_whole = is_declared && memmem::find(stream, trailer) == Some(packed);
        Ok(is_whole.then_some(&*output))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillpm_testing::archive::deflate;

    fn inflated(bytes: &[u8], content: &[u8]) -> Option<Vec<u8>> {
        let (packed, size) = (bytes.len() as u64, content.len() as u64);
        let mut whole = Whole::new();
        let made = whole.inflate(&mut &*bytes, packed, size, crc32fast::hash(content));
        made.expect("reads").map(<[u8]>::to_vec)
    }

    #[test]
    fn a_stream_and_nothing_else_is_taken() {
        for content in [&b""[..], b"x", &b"text ".repeat(999), &vec![7; CHUNK]] {
            let packed = deflate(content);
            // For empty content the eight bytes are zeros, and a stream may end with a zero: that is in
            // doubt.
            assert_eq!(inflated(&packed, content).as_deref(), Some(content).filter(|c| !c.is_empty()));
            assert_eq!(inflated(&packed[..packed.len() - 1], content), None, "cut off");
            assert_eq!(inflated(&packed, &[content, b"y"].concat()), None, "shorter than declared");
            let other: Vec<u8> = content.iter().map(|byte| byte ^ 1).collect();
            assert!(content.is_empty() || inflated(&packed, &other).is_none(), "another checksum");
            // Behind the stream: arbitrary bytes, and the bytes that the stream is expected to end with.
            let size = u32::try_from(content.len()).expect("small");
            let trailer = [crc32fast::hash(content).to_le_bytes(), size.to_le_bytes()].concat();
            for behind in [&b"\0"[..], &trailer, &[&trailer[..], b"hidden"].concat(), &trailer[..4]] {
                assert_eq!(inflated(&[&packed[..], behind].concat(), content), None, "{behind:?} behind");
            }
        }
        let large = vec![7; CHUNK + 1];
        assert_eq!(inflated(&deflate(&large), &large), None);
    }
}
