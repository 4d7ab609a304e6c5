//! The header block of a tar member.

use crate::refusal::Refusal;

/// The block size: the length of everything in a tar archive is a multiple of it.
pub(super) const BLOCK: usize = 512;

/// The fields of a header that matter.
pub(super) struct Header {
    /// The name with its prefix, as written: it may be empty.
    pub(super) name: Vec<u8>,
    pub(super) mode: u64,
    pub(super) size: u64,
    pub(super) kind: u8,
    pub(super) link: Vec<u8>,
}

impl Header {
    /// Reads a header block.
    pub(super) fn parse(block: &[u8]) -> Result<Self, Refusal> {
        let lossy = || String::from_utf8_lossy(text(&block[..100])).into_owned();
        let malformed = |what: &str| Refusal::Malformed(format!("`{}`: {what}", lossy()));
        let prefix = match &block[257..265] {
            b"ustar\x0000" => text(&block[345..500]),
            // GNU tar writes this by default. It has times and a map of holes in place of the standard's
            // prefix; without them the two formats are the same.
            b"ustar  \0" if block[345..].iter().all(|byte| *byte == 0) => b"",
            _ => return Err(malformed("this header is not of the pax format")),
        };
        let sum = block.iter().map(|byte| u64::from(*byte)).sum::<u64>();
        let own = block[148..156].iter().map(|byte| u64::from(*byte)).sum::<u64>();
        // The checksum is computed with spaces in its own place.
        if octal(&block[148..156]) != Some(sum - own + 8 * u64::from(b' ')) {
            return Err(Refusal::BadChecksum(lossy()));
        }
        let number =
            |field: &[u8]| octal(field).ok_or_else(|| malformed("a number in its header is not octal"));
        let name = text(&block[..100]);
        if name.is_empty() && !prefix.is_empty() {
            return Err(malformed("a prefix without a name"));
        }
        // Some readers treat it as no prefix, and a program that needs a prefix has more to put there.
        if prefix == b"." {
            return Err(malformed("a prefix that is not a directory"));
        }
        let name = if prefix.is_empty() { name.to_vec() } else { [prefix, b"/", name].concat() };
        Ok(Self {
            name,
            mode: number(&block[100..108])?,
            size: number(&block[124..136])?,
            kind: block[156],
            link: text(&block[157..257]).to_vec(),
        })
    }
}

/// Returns the bytes of a field before its first NUL.
fn text(field: &[u8]) -> &[u8] {
    field.split(|byte| *byte == 0).next().unwrap_or_default()
}

/// Returns the number in a field: octal digits, then spaces or NULs to its end.
fn octal(field: &[u8]) -> Option<u64> {
    let digits = field.iter().position(|byte| !matches!(byte, b'0'..=b'7'))?;
    let (digits, rest) = field.split_at(digits);
    if digits.is_empty() || rest.iter().any(|byte| !matches!(byte, 0 | b' ')) {
        return None;
    }
    Some(digits.iter().fold(0, |number, digit| number << 3 | u64::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_octal_and_nothing_else() {
        assert_eq!(octal(b"0000644\0"), Some(0o644));
        assert_eq!(octal(b"011264\0 "), Some(0o11264));
        for field in [
            b"\0\0\0\0\0\0\0\0",
            b"00000000",
            b"   0644\0",
            b"0000648\0",
            b"0000\x00444",
            b"\x80\0\0\0\0\0\0\x05",
        ] {
            assert_eq!(octal(field), None, "{field:?}");
        }
    }
}
