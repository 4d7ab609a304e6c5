//! Whether an archive can be looked into at all.

/// Whether the archive that begins with `start` keeps some of what is in it behind a password.
///
/// Of zip archives the flag of each header in `start` is asked, of rar archives the header that comes first.
pub fn needs_password(start: &[u8]) -> bool {
    if start.starts_with(b"PK\x03\x04") {
        // At byte 6 of a header: bit 0 says that the content is encrypted.
        let headers = memchr::memmem::find_iter(start, b"PK\x03\x04");
        return headers.into_iter().any(|at| start.get(at + 6).is_some_and(|flags| flags & 1 == 1));
    }
    // Version 4: flags behind the first header, the one of the archive. Version 5: a header of its own.
    match start.strip_prefix(b"Rar!\x1a\x07") {
        Some([0, header @ ..]) => header.get(3).is_some_and(|flags| flags & 0x80 != 0),
        Some([1, 0, header @ ..]) => header.get(5) == Some(&4),
        _ => false,
    }
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
        for other in [b"".as_slice(), b"PK\x03\x04", b"Rar!\x1a\x07", b"7z", b"text PK\x03\x04\0\0\x01"] {
            assert!(!needs_password(other));
        }
    }
}
