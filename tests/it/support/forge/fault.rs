//! Ways to fail.

use std::io::{self, Write};
use std::net::TcpStream;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::Shared;
use super::server::{self, Answer, reason};

/// Which requests a fault is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Endpoint {
    /// The repository itself.
    Repository,
    /// From a reference to a commit.
    Commit,
    /// The directories of a commit.
    Trees,
    /// Tags by the beginning of their names.
    Tags,
    /// The API's address of an archive, which redirects.
    Zipball,
    /// The archive, on the second host.
    Archive,
    /// A plain file.
    File,
    /// A plain file that is the index of a site.
    Index,
    /// A release by its tag or id.
    Release,
    /// A release that is made.
    NewRelease,
    /// A file for a release.
    Asset,
    /// A release that is changed.
    ChangedRelease,
    /// A release that is deleted.
    NoRelease,
    /// All of them.
    Any,
}

/// How a request fails. What is called "the answer" is what would have come without the fault.
#[derive(Debug, Clone)]
pub enum Fault {
    /// A status with headers and a body.
    Status(u16, Vec<(&'static str, String)>, &'static str),
    /// Half of the answer's body, then the end of the connection.
    Truncated,
    /// The same without a length beforehand.
    TruncatedChunks,
    /// One kilobyte of the answer's body, then nothing for as long as the server lives.
    Stalled,
    /// No answer for as long as the server lives.
    Silent,
    /// One kilobyte of the answer's body, then the connection is reset.
    Reset,
    /// A redirect to the same address.
    Loop,
    /// A redirect to an address.
    Redirect(String),
    /// The answer with a `Content-Length` that is so many bytes off.
    WrongLength(isize),
    /// The answer in chunks, without a length beforehand; nothing is wrong with that.
    Chunked,
    /// 200 and a page to log in on.
    Html,
    /// So many bytes of zeros, compressed, with a header that says so.
    Gzip(usize),
    /// Chunks without end.
    Endless,
    /// A header of 100 KiB.
    HugeHeader,
    /// Ten thousand short headers.
    ManyHeaders,
    /// The answer as HTTP/1.0: without a length, up to the end of the connection.
    Http10,
    /// Chunks whose lengths are no numbers.
    BadChunks,
    /// The answer's body byte by byte, for as long as the server lives.
    Drip,
    /// The head of an answer byte by byte, without an end.
    DripHead,
    /// The end of the connection, in place of an answer.
    Closed,
    /// Bytes that are not HTTP.
    Garbage,
}

impl Fault {
    /// A status with a JSON body.
    pub fn status(status: u16) -> Self {
        Self::Status(
            status,
            vec![("content-type", "application/json".into())],
            "{\"message\":\"From the forge\"}",
        )
    }

    /// GitHub's answer when the allowance is used up, to be renewed after `seconds`. Its clock is
    /// thirty years behind.
    pub fn rate_limit(seconds: u64) -> Self {
        let reset = 784_111_777 + seconds;
        let headers = vec![
            ("date", "Sun, 06 Nov 1994 08:49:37 GMT".to_owned()),
            ("x-ratelimit-limit", "60".to_owned()),
            ("x-ratelimit-remaining", "0".to_owned()),
            ("x-ratelimit-reset", reset.to_string()),
        ];
        Self::Status(403, headers, "{\"message\":\"API rate limit exceeded\"}")
    }

    /// The answer to too many requests.
    pub fn too_many(retry_after: &str) -> Self {
        Self::Status(429, vec![("retry-after", retry_after.to_owned())], "")
    }

    /// Answers wrongly in place of `answer`. Returns whether the connection goes on.
    pub(super) fn commit(
        self,
        stream: &mut TcpStream,
        path: &str,
        answer: &Answer,
        shared: &Shared,
    ) -> io::Result<bool> {
        let body = &answer.body[..];
        let first = &body[..body.len().min(1024)];
        let length = |off: isize| vec![("content-length", body.len().saturating_add_signed(off).to_string())];
        match self {
            Self::Status(status, headers, body) => {
                server::send(stream, &Answer { status, headers, body: body.as_bytes().to_vec().into() })?;
                return Ok(true);
            }
            Self::Loop => {
                server::send(stream, &Answer::redirect(path.to_owned()))?;
                return Ok(true);
            }
            Self::Redirect(location) => {
                server::send(stream, &Answer::redirect(location))?;
                return Ok(true);
            }
            Self::Truncated => {
                head(stream, answer.status, &length(0))?;
                stream.write_all(&body[..body.len() / 2])?;
            }
            Self::TruncatedChunks => {
                head(stream, answer.status, &[("transfer-encoding", "chunked".into())])?;
                write!(stream, "{:x}\r\n", body.len())?;
                stream.write_all(&body[..body.len() / 2])?;
            }
            Self::Stalled => {
                head(stream, answer.status, &length(1))?;
                stream.write_all(first)?;
                server::hold(shared);
            }
            Self::Silent => server::hold(shared),
            Self::Reset => {
                head(stream, answer.status, &length(1))?;
                stream.write_all(first)?;
            }
            Self::WrongLength(off) => {
                head(stream, answer.status, &length(off))?;
                stream.write_all(body)?;
            }
            Self::Chunked => {
                head(stream, answer.status, &[("transfer-encoding", "chunked".into())])?;
                for part in body.chunks(1000) {
                    chunk(stream, part)?;
                }
                stream.write_all(b"0\r\n\r\n")?;
                return Ok(true);
            }
            Self::Html => {
                let body: Vec<u8> = b"<!DOCTYPE html>\n<title>Log in</title>\n".to_vec();
                let headers = vec![("content-type", "text/html; charset=utf-8".to_owned())];
                server::send(stream, &Answer { status: 200, headers, body: body.into() })?;
                return Ok(true);
            }
            Self::Gzip(zeros) => {
                // Many members of one MiB each: to compress it all at once could outlast the client's patience.
                let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
                encoder.write_all(&vec![0; zeros.min(1 << 20)])?;
                let body = encoder.finish()?.repeat(zeros.div_ceil(1 << 20));
                let headers = vec![("content-encoding", "gzip".to_owned())];
                server::send(stream, &Answer { status: 200, headers, body: body.into() })?;
                return Ok(true);
            }
            Self::Endless => {
                head(stream, 200, &[("transfer-encoding", "chunked".into())])?;
                // Until the client has had enough.
                while chunk(stream, &[0; 8192]).is_ok() {}
            }
            Self::ManyHeaders => {
                let headers: Vec<_> = (0..10_000).map(|_| ("x-a", "b".to_owned())).collect();
                head(stream, 200, &headers)?;
            }
            Self::Http10 => {
                write!(stream, "HTTP/1.0 {} {}\r\n", answer.status, reason(answer.status))?;
                for (name, value) in &answer.headers {
                    write!(stream, "{name}: {value}\r\n")?;
                }
                stream.write_all(b"\r\n")?;
                stream.write_all(body)?;
            }
            Self::BadChunks => {
                head(stream, answer.status, &[("transfer-encoding", "chunked".into())])?;
                write!(stream, "-{:x}\r\n", body.len())?;
                stream.write_all(body)?;
            }
            Self::Drip => {
                head(stream, answer.status, &[("transfer-encoding", "chunked".into())])?;
                while server::pause(shared) && chunk(stream, b" ").is_ok() {}
            }
            Self::DripHead => {
                write!(stream, "HTTP/1.1 200 OK\r\nx-drip: ")?;
                while server::pause(shared) && stream.write_all(b"x").is_ok() {}
            }
            Self::Closed => {}
            Self::HugeHeader => head(stream, 200, &[("x-huge", "x".repeat(100 * 1024))])?,
            Self::Garbage => stream.write_all(b"220 mail.example.com ESMTP\r\n\r\n")?,
        }
        Ok(false)
    }
}

fn head(stream: &mut TcpStream, status: u16, headers: &[(&str, String)]) -> io::Result<()> {
    stream.write_all(server::head(status, reason(status), headers).as_bytes())
}

fn chunk(stream: &mut TcpStream, bytes: &[u8]) -> io::Result<()> {
    write!(stream, "{:x}\r\n", bytes.len())?;
    stream.write_all(bytes)?;
    stream.write_all(b"\r\n")
}
