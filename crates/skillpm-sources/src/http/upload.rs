//! Uploads, and the answers of servers to them.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame, SizeHint};

use super::runtime::Pulse;
use super::{Credential, Url};
use crate::fs::SharedFile;

/// Bytes that are taken at once: each piece that a slow line takes is a sign of life.
const PIECE: u64 = 64 * 1024;

/// The operation that an upload requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// To let the address hold the content: to ask twice is to ask once.
    Put,
    /// To take the content in, each time that it comes.
    Post,
    /// To change what is there as the content says.
    Patch,
    /// To remove what is there: to ask twice is to ask once.
    Delete,
}

impl Method {
    /// Returns the name that it has in HTTP.
    pub fn name(self) -> &'static str {
        match self {
            Self::Put => "PUT",
            Self::Post => "POST",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    /// Reports whether to ask twice does the same as to ask once.
    pub(super) fn is_idempotent(self) -> bool {
        matches!(self, Self::Put | Self::Delete)
    }
}

/// A request that sends something.
#[derive(Debug, Clone)]
pub struct Upload {
    /// The requested operation.
    pub method: Method,
    /// The address.
    pub url: Url,
    /// The media type that is asked for.
    pub accept: &'static str,
    /// The credential, if there is one.
    pub credential: Option<Credential>,
    /// The media type of the content.
    pub content_type: &'static str,
    /// The content to send.
    pub content: Content,
    /// The position of the first byte of the content in what it is a part of, for OCI registries; `None` for a whole.
    pub first_byte: Option<u64>,
    /// Whether the server is to refuse where the address holds something already (status 412).
    pub is_new: bool,
}

impl Upload {
    /// Returns an upload of `content`, which is of the media type `content_type`, to `url`.
    pub fn new(method: Method, url: Url, content_type: &'static str, content: Content) -> Self {
        let (accept, credential, first_byte) = ("*/*", None, None);
        Self { method, url, accept, credential, content_type, content, first_byte, is_new: false }
    }
}

/// The bytes of an upload. Clones share them.
#[derive(Debug, Clone)]
pub enum Content {
    /// Bytes in memory.
    Bytes(Arc<[u8]>),
    /// A file, as many bytes as it had when it was opened.
    File(Arc<SharedFile>),
}

impl Content {
    /// Returns the number of bytes.
    pub fn len(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::File(file) => file.len(),
        }
    }

    /// Reports whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns at most [`PIECE`] bytes from `offset` on.
    fn piece(&self, offset: u64) -> io::Result<Bytes> {
        let end = self.len().min(offset + PIECE);
        let number = |count: u64| usize::try_from(count).map_err(io::Error::other);
        match self {
            Self::Bytes(bytes) => {
                let piece = bytes.get(number(offset)?..number(end)?);
                Ok(Bytes::copy_from_slice(piece.unwrap_or_default()))
            }
            Self::File(file) => {
                let mut piece = vec![0; number(end - offset)?];
                file.read_exact_at(&mut piece, offset)?;
                Ok(piece.into())
            }
        }
    }
}

/// The answer of a server to an upload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submitted {
    /// The status: of success (2xx), or of a refusal for a reason that the request has (4xx).
    pub status: u16,
    /// The address of what was made, if the server names one, as it names it.
    pub location: Option<String>,
    /// How the server wants clients to log in (`WWW-Authenticate`).
    pub challenge: Option<String>,
    /// The body.
    pub body: Vec<u8>,
}

impl Submitted {
    /// Reports whether the server did what it was asked to do.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// Content on its way to a server.
pub(super) struct Outgoing {
    content: Content,
    offset: u64,
    sent: Pulse,
}

impl Outgoing {
    /// Returns the body of a request that sends `content`. Each piece of it that is taken counts in `sent`.
    pub(super) fn new(content: Content, sent: Pulse) -> Self {
        Self { content, offset: 0, sent }
    }
}

/// The content to send cannot be read.
#[derive(Debug)]
pub(super) struct Unreadable(pub(super) io::Error);

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the content cannot be read")
    }
}

impl std::error::Error for Unreadable {}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = Unreadable;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Unreadable>>> {
        self.sent.beat();
        if self.is_end_stream() {
            return Poll::Ready(None);
        }
        let piece = self.content.piece(self.offset).map_err(Unreadable);
        if let Ok(piece) = &piece {
            self.offset += piece.len() as u64;
        }
        Poll::Ready(Some(piece.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        self.offset >= self.content.len()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.content.len().saturating_sub(self.offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_comes_in_pieces() {
        let bytes: Vec<u8> = (0..200_000_u32).map(|i| (i % 251) as u8).collect();
        let mut file = tempfile::tempfile().expect("a file");
        io::Write::write_all(&mut file, &bytes).expect("writes");
        let file = SharedFile::from_file(file).expect("a length");
        for content in [Content::Bytes(bytes.clone().into()), Content::File(Arc::new(file))] {
            let (mut all, mut count) = (Vec::new(), 0);
            while (all.len() as u64) < content.len() {
                all.extend(content.piece(all.len() as u64).expect("a piece"));
                count += 1;
            }
            assert!(all == bytes && count == 4 && !content.is_empty());
        }
    }

    #[test]
    fn a_file_that_shrank_is_an_error() {
        let file = tempfile::tempfile().expect("a file");
        file.set_len(10).expect("a length");
        let shared = SharedFile::from_file(file.try_clone().expect("a copy")).expect("a length");
        file.set_len(5).expect("a length");
        let content = Content::File(Arc::new(shared));
        assert_eq!(content.piece(0).expect_err("too short").kind(), io::ErrorKind::UnexpectedEof);
    }
}
