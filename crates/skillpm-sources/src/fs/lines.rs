//! Reads files of any size line by line, in little memory.

use std::path::Path;

use super::{PathContext, PathError, SharedFile};

/// The number of bytes that are read at a time.
const PIECE: usize = 256 << 10;

/// Passes each line of the regular file at `path` to `take`, without its line feed, and returns how many lines were left
/// out because they have more than `longest` bytes. What is appended meanwhile is not read.
///
/// # Errors
///
/// Fails if the file cannot be opened or read, or is cut off meanwhile.
pub fn each_line(path: &Path, longest: usize, mut take: impl FnMut(&[u8])) -> Result<usize, PathError> {
    let file = SharedFile::open(path)?;
    let mut buffer = vec![0; PIECE];
    // The buffer begins with a part of a line, which has so many bytes.
    let (mut offset, mut part) = (0_u64, 0_usize);
    let (mut is_too_long, mut left_out) = (false, 0);
    loop {
        let rest = usize::try_from(file.len() - offset).unwrap_or(usize::MAX);
        let count = rest.min(buffer.len() - part);
        if count == 0 {
            break;
        }
        let filled = part + count;
        file.read_exact_at(&mut buffer[part..filled], offset).at("read", path)?;
        offset += count as u64;
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', &buffer[part..filled]) {
            let line = &buffer[start..part + end];
            if is_too_long || line.len() > longest {
                left_out += 1;
            } else {
                take(line);
            }
            (start, is_too_long) = (part + end + 1, false);
        }
        buffer.copy_within(start..filled, 0);
        part = filled - start;
        if part > longest {
            (part, is_too_long) = (0, true);
        } else if part == buffer.len() {
            buffer.resize(part * 2, 0);
        }
    }
    if is_too_long {
        left_out += 1;
    } else if part > 0 {
        take(&buffer[..part]);
    }
    Ok(left_out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(bytes: &[u8], longest: usize) -> (Vec<Vec<u8>>, usize) {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("log");
        std::fs::write(&path, bytes).expect("writes");
        let mut lines = Vec::new();
        let left_out = each_line(&path, longest, |line| lines.push(line.to_vec())).expect("reads");
        (lines, left_out)
    }

    #[test]
    fn lines_of_any_length() {
        assert_eq!(read(b"", 9), (vec![], 0));
        assert_eq!(read(b"a\n\nb", 9), (vec![b"a".to_vec(), b"".to_vec(), b"b".to_vec()], 0));
        assert_eq!(read(b"abc\nabcd\nab\nabcd", 3), (vec![b"abc".to_vec(), b"ab".to_vec()], 2));
        for long in [PIECE - 1, PIECE, PIECE + 1, 3 * PIECE] {
            let text = [vec![b'x'; long], b"\ny".to_vec()].concat();
            assert_eq!(read(&text, 4 * PIECE).0.iter().map(Vec::len).collect::<Vec<_>>(), [long, 1]);
            assert_eq!(read(&text, 9), (vec![b"y".to_vec()], 1), "{long}");
        }
    }

    #[test]
    fn what_is_no_file_is_an_error() {
        let dir = tempfile::tempdir().expect("a directory");
        assert!(each_line(dir.path(), 9, |_| ()).is_err());
        assert!(each_line(&dir.path().join("none"), 9, |_| ()).is_err());
    }

    proptest! {
        #[test]
        fn as_a_simple_reader_does(text in "(a{0,6}|\n){0,40}", longest in 0_usize..6) {
            let all: Vec<&str> = text.strip_suffix('\n').unwrap_or(&text).split('\n').collect();
            let all = if text.is_empty() { Vec::new() } else { all };
            let (lines, left_out) = read(text.as_bytes(), longest);
            let expected: Vec<_> =
                all.iter().filter(|line| line.len() <= longest).map(|line| line.as_bytes().to_vec()).collect();
            prop_assert_eq!(left_out, all.len() - expected.len());
            prop_assert_eq!(lines, expected);
        }
    }
}
