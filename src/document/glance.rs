//! What one look at all bytes of a text shows: how many lines end, and where there is anything but plain ASCII.

/// How many bytes are looked at to the end, without a question after each, so that many are looked at at once. A
/// counter of one byte holds as many.
const PIECE: usize = 128;
/// The same, where one of these is odd.
const PART: usize = 16;

/// What one look at a text shows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Glance {
    /// How many line feeds there are.
    pub(crate) line_feeds: usize,
    /// The numbers of the pieces that may have odd bytes, in order.
    odd: Vec<u32>,
}

impl Glance {
    /// Looks at `text`.
    pub(crate) fn of(text: &str) -> Self {
        let mut glance = Self::default();
        let (pieces, rest) = text.as_bytes().as_chunks::<PIECE>();
        for (number, piece) in (0..).zip(pieces) {
            glance.add(number, count(piece));
        }
        // No text that is read has more of them.
        let last = u32::try_from(pieces.len()).unwrap_or(u32::MAX);
        let (parts, rest) = rest.as_chunks::<PART>();
        let counts = parts.iter().map(|part| count(part)).chain([count(rest)]);
        glance.add(last, counts.fold((0, 0), |all, part| (all.0 + part.0, all.1 + part.1)));
        glance
    }

    /// Adds what was counted in the piece `number`.
    fn add(&mut self, number: u32, (line_feeds, low): (u8, u8)) {
        self.line_feeds += usize::from(line_feeds);
        if low != line_feeds {
            self.odd.push(number);
        }
    }

    /// The first byte from `at` on that is not of a plain ASCII text, in `text`, which was looked at.
    pub(crate) fn next_odd(&self, text: &str, at: usize) -> Option<usize> {
        let first = self.odd.partition_point(|number| Self::start(number + 1) <= at);
        self.odd[first..].iter().find_map(|number| {
            let start = at.max(Self::start(*number));
            let piece = text.as_bytes().get(start..text.len().min(Self::start(number + 1)))?;
            let (parts, _) = piece.as_chunks::<PART>();
            let plain = parts.iter().take_while(|part| !has_low(part)).count() * PART;
            piece[plain..].iter().position(|byte| is_odd(*byte)).map(|odd| start + plain + odd)
        })
    }

    /// The first NUL in `text`, which was looked at.
    pub(crate) fn nul(&self, text: &str) -> Option<usize> {
        self.odd.iter().find_map(|number| {
            let start = Self::start(*number);
            let piece = text.as_bytes().get(start..text.len().min(start + PIECE))?;
            Some(start + memchr::memchr(0, piece)?)
        })
    }

    fn start(number: u32) -> usize {
        number as usize * PIECE
    }
}

/// How many line feeds there are in a piece, and how many low bytes, which line feeds are too.
fn count(piece: &[u8]) -> (u8, u8) {
    piece.iter().fold((0, 0), |(line_feeds, low), byte| {
        (line_feeds + u8::from(*byte == b'\n'), low + u8::from(is_low(*byte)))
    })
}

/// Whether there are other low bytes than line feeds in a part.
fn has_low(part: &[u8; PART]) -> bool {
    part.iter().fold(0, |any, byte| any | (u8::from(is_low(*byte)) & u8::from(*byte != b'\n'))) != 0
}

/// Whether `byte` is below the blank, or the last of ASCII, or beyond it: one up and as a signed number, these are
/// below the blank too.
fn is_low(byte: u8) -> bool {
    byte.wrapping_add(1).cast_signed() < 0x21
}

/// Whether `byte` is not of a plain ASCII text.
fn is_odd(byte: u8) -> bool {
    is_low(byte) && !matches!(byte, b'\n' | b'\r' | b'\t')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What a look at each byte shows.
    fn holds(text: &str) -> Result<(), TestCaseError> {
        let (glance, bytes) = (Glance::of(text), text.as_bytes());
        prop_assert_eq!(glance.line_feeds, text.matches('\n').count());
        prop_assert_eq!(glance.nul(text), bytes.iter().position(|byte| *byte == 0));
        let plain = |byte: u8| matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t');
        for at in 0..=bytes.len() {
            let odd = bytes[at..].iter().position(|byte| !plain(*byte)).map(|length| at + length);
            prop_assert_eq!(glance.next_odd(text, at), odd, "{:?} from {}", text, at);
        }
        prop_assert_eq!(glance.next_odd(text, bytes.len() + 1), None);
        Ok(())
    }

    #[test]
    fn every_byte_is_looked_at() {
        for byte in 0..=0x7f_u8 {
            for before in [0, 1, 15, 16, 127, 128, 300] {
                for after in [0, 1, 200] {
                    let text = format!("{}{}{}", "x".repeat(before), char::from(byte), "\n".repeat(after));
                    holds(&text).expect("is seen");
                }
            }
        }
    }

    #[test]
    fn real_skills_are_seen_as_they_are() {
        crate::testing::real_skills(|text| {
            let glance = Glance::of(text);
            let odd: Vec<_> =
                std::iter::successors(glance.next_odd(text, 0), |at| glance.next_odd(text, at + 1)).collect();
            let expected = text.bytes().enumerate().filter(|(_, byte)| is_odd(*byte)).map(|(at, _)| at);
            assert_eq!(odd, expected.collect::<Vec<_>>());
        });
    }

    proptest! {
        #[test]
        fn nothing_is_missed(text in "([a-z ]{0,40}|\n|\r\n|\t|é|—|\u{7f}|\0|\u{feff}){0,30}") {
            holds(&text)?;
        }
    }
}
