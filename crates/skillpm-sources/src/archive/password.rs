//! Detection of archives that need a password.

/// Reports whether the archive that begins with `start` protects some of its content with a password.
///
/// For a zip archive the flag of each header in `start` decides, for a rar archive the first header, and for
/// a 7z archive the last header, if it is in `start` and not compressed itself.
pub fn needs_password(start: &[u8]) -> bool {
    if start.starts_with(b"PK\x03\x04") {
        // At byte 6 of a header: bit 0 means that the content is encrypted.
        let headers = memchr::memmem::find_iter(start, b"PK\x03\x04");
        return headers.into_iter().any(|at| start.get(at + 6).is_some_and(|flags| flags & 1 == 1));
    }
    if let Some(header) = start.strip_prefix(b"7z\xBC\xAF\x27\x1C") {
        return last_header(header).is_some_and(|header| memchr::memmem::find(header, AES).is_some());
    }
    // Version 4: flags behind the first header, which is the archive's. Version 5: a separate header.
    match start.strip_prefix(b"Rar!\x1a\x07") {
        Some([0, header @ ..]) => header.get(3).is_some_and(|flags| flags & 0x80 != 0),
        Some([1, 0, header @ ..]) => header.get(5) == Some(&4),
        _ => false,
    }
}

/// The id that the header of a 7z archive gives the cipher.
const AES: &[u8] = b"\x06\xF1\x07\x01";

/// Returns the last header of a 7z archive, which describes how the content is packed. The first one,
/// `header`, has its position, counted from the end of `header`, and its size, behind the version and a
/// checksum. Returns `None` if the last header is not in these bytes.
fn last_header(header: &[u8]) -> Option<&[u8]> {
    let number = |at: usize| -> Option<usize> {
        usize::try_from(u64::from_le_bytes(header.get(at..at + 8)?.try_into().ok()?)).ok()
    };
    let (place, size) = (number(6)?, number(14)?);
    header.get(26..)?.get(place..)?.get(..size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_headers_say_it() {
        let zip = |flags: u8| [b"PK\x03\x04\x14\0".as_slice(), &[flags], b"\0\0\0"].concat();
        assert!(needs_password(&zip(1)) && needs_password(&zip(9)) && !needs_password(&zip(8)));
        assert!(needs_password(&[zip(0), zip(1)].concat()), "the second file has one");
        let old = |flags: u8| [b"Rar!\x1a\x07\0".as_slice(), &[0, 0, 0x73, flags, 0]].concat();
        assert!(needs_password(&old(0x80)) && !needs_password(&old(0)));
        let new = |kind: u8| [b"Rar!\x1a\x07\x01\0".as_slice(), &[0, 0, 0, 0, 12, kind]].concat();
        assert!(needs_password(&new(4)) && !needs_password(&new(1)));
        let seven = |content: &[u8], header: &[u8]| {
            let [place, size] = [content.len() as u64, header.len() as u64].map(u64::to_le_bytes);
            [b"7z\xBC\xAF\x27\x1C\0\x04crc1", place.as_slice(), &size, b"crc2", content, header].concat()
        };
        let encrypted = seven(b"bytes", b"\x17\x06\x01\x24\x06\xF1\x07\x01");
        assert!(needs_password(&encrypted) && !needs_password(&seven(AES, b"\x01\x04\x06")));
        for length in 0..encrypted.len() {
            assert!(!needs_password(&encrypted[..length]), "{length}");
        }
        assert!(!needs_password(&[b"7z\xBC\xAF\x27\x1C".as_slice(), &[0xff; 26]].concat()));
        for other in [b"".as_slice(), b"PK\x03\x04", b"Rar!\x1a\x07", b"7z", b"text PK\x03\x04\0\0\x01"] {
            assert!(!needs_password(other));
        }
    }
}
