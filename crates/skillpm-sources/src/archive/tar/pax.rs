//! Extended headers (POSIX.1-2001, pax).

use super::header::BLOCK;
use crate::refusal::Refusal;

/// The records of one extended header that matter here.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Pax {
    pub(super) path: Option<Vec<u8>>,
    pub(super) linkpath: Option<Vec<u8>>,
    pub(super) size: Option<u64>,
    /// All comments: only a global header is limited to one.
    pub(super) comments: Vec<Vec<u8>>,
}

impl Pax {
    /// Reads the records that fill `bytes`.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, Refusal> {
        let mut pax = Self::default();
        let mut at = 0;
        while at < bytes.len() {
            let (len, key, value) = record(&bytes[at..])?;
            // A reader that parses a header block by block sees another record here. A record that does not
            // fit into a block is accepted if it starts with one.
            let split = at % BLOCK != 0 && at / BLOCK != (at + len - 1) / BLOCK;
            pax.take(key, value, split)?;
            at += len;
        }
        Ok(pax)
    }

    /// Reports whether the header has a record that belongs to a single member.
    pub(super) fn names_a_member(&self) -> bool {
        self.path.is_some() || self.linkpath.is_some() || self.size.is_some()
    }

    fn take(&mut self, key: &[u8], value: &[u8], split: bool) -> Result<(), Refusal> {
        let field = match key {
            b"path" => &mut self.path,
            b"linkpath" => &mut self.linkpath,
            b"comment" => {
                self.comments.push(value.to_vec());
                return Ok(());
            }
            b"size" => return self.take_size(value, split),
            b"hdrcharset" if value == b"ISO-IR 10646 2000 UTF-8" => return Ok(()),
            b"hdrcharset" => return Err(malformed("names an encoding other than UTF-8")),
            b"SCHILY.realsize" | b"SUN.holesdata" => return Err(malformed("describes a sparse file")),
            key if key.starts_with(b"GNU.sparse.") => return Err(malformed("describes a sparse file")),
            // Times, owners and extended attributes do not get into a skill.
            _ => return Ok(()),
        };
        if field.is_some() {
            return Err(malformed("has a record twice"));
        }
        if split || value.is_empty() || value.contains(&0) {
            return Err(malformed("has a name that some readers cut"));
        }
        *field = Some(value.to_vec());
        Ok(())
    }

    fn take_size(&mut self, value: &[u8], split: bool) -> Result<(), Refusal> {
        let size = Some(value).filter(|value| !split && value.iter().all(u8::is_ascii_digit));
        let size = size.and_then(|value| std::str::from_utf8(value).ok()?.parse().ok());
        if self.size.is_some() || size.is_none() {
            return Err(malformed("has no clear size"));
        }
        self.size = size;
        Ok(())
    }
}

fn malformed(what: &str) -> Refusal {
    Refusal::Malformed(format!("a pax header {what}"))
}

/// Returns the length, key and value of the first record in `bytes`: `LEN KEY=VALUE\n`. `LEN` is decimal and
/// counts the whole record, including itself.
fn record(bytes: &[u8]) -> Result<(usize, &[u8], &[u8]), Refusal> {
    let bad = || malformed("has a malformed record");
    let digits = bytes.iter().take(8).position(|byte| *byte == b' ').ok_or_else(bad)?;
    let number = std::str::from_utf8(&bytes[..digits]).map_err(|_| bad())?;
    let plain = number.bytes().all(|byte| byte.is_ascii_digit()) && !number.starts_with('0');
    let len: usize = number.parse().ok().filter(|_| plain).ok_or_else(bad)?;
    let body = bytes.get(digits + 1..len).and_then(|body| body.strip_suffix(b"\n")).ok_or_else(bad)?;
    let equals = body.iter().position(|byte| *byte == b'=').ok_or_else(bad)?;
    let (key, value) = (&body[..equals], &body[equals + 1..]);
    if key.is_empty() || key.contains(&0) || key.contains(&b'\n') {
        return Err(bad());
    }
    Ok((len, key, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_taken_by_their_length() {
        let pax = Pax::parse(b"12 path=a/b\n20 comment=x\nsize=1\n11 mtime=0\n").expect("well formed");
        let expected =
            Pax { path: Some(b"a/b".to_vec()), comments: vec![b"x\nsize=1".to_vec()], ..Pax::default() };
        assert_eq!(pax, expected);
    }

    #[test]
    fn records_that_can_be_read_in_two_ways_are_refused() {
        let cases: &[&[u8]] = &[
            b"11 path=a/b\n",
            b"13 path=a/b\n",
            b"012 path=a/b\n",
            b"+9 path=a\n",
            b" path=a\n",
            b"9 path=a",
            b"7 path\n",
            b"8 path=\n",
            b"10 path=\0a\n",
            b"10 pa\0th=a\n",
            b"9 path=a\n9 path=a\n",
            b"9 size=-\n",
            b"8 size=\n",
            b"21 hdrcharset=BINARY\n",
            b"22 GNU.sparse.major=1\n",
            b"99999999999999999999 path=a\n",
        ];
        for bytes in cases {
            assert!(matches!(Pax::parse(bytes), Err(Refusal::Malformed(_))), "{:?}", bytes.escape_ascii());
        }
    }
}
