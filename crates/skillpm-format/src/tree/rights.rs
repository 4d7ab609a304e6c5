//! What a file may be used for at most, besides what its tree says of it.

/// The permissions that a file has at most where it is written: those that it had where it was read. A digest knows
/// of them only whether the file can be run, so that two trees with other rights are one.
///
/// Files that come from sources have all of them: what everybody can fetch is for everybody to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rights(u32);

impl Rights {
    /// Nothing is held back.
    pub const ALL: Self = Self(0o777);

    /// Those of a file or directory with this mode.
    pub fn of_mode(mode: u32) -> Self {
        Self(mode & 0o777)
    }

    /// Those of a file in a directory that has `self`: who may not go through that has none.
    #[must_use]
    pub fn of_file(self, file: Self) -> Self {
        let may_pass = self.0 & 0o111;
        Self(file.0 & (may_pass | (may_pass << 1) | (may_pass << 2)))
    }

    /// What both allow.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The mode of a new file with these rights: 0644 or 0755, less what they hold back. What is executable can be
    /// run by its owner in any case, and by whoever may read it where nobody could run it before.
    pub fn mode(self, executable: bool) -> u32 {
        match executable {
            true if self.0 & 0o111 == 0 => 0o755 & (self.0 | 0o100 | ((self.0 & 0o444) >> 2)),
            true => 0o755 & (self.0 | 0o100),
            false => 0o644 & self.0,
        }
    }
}

impl Default for Rights {
    fn default() -> Self {
        Self::ALL
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_is_never_wider_than_it_was() {
        for (was, executable, mode) in [
            (0o777, false, 0o644),
            (0o777, true, 0o755),
            (0o664, false, 0o644),
            (0o600, false, 0o600),
            (0o640, false, 0o640),
            (0o440, false, 0o440),
            (0o700, true, 0o700),
            (0o744, true, 0o744),
            // Somebody else made it executable: nobody else may read it all the same.
            (0o600, true, 0o700),
            (0o640, true, 0o750),
            (0o700, false, 0o600),
        ] {
            assert_eq!(Rights::of_mode(was).mode(executable), mode, "{was:o} {executable}");
        }
        assert_eq!(Rights::of_mode(0o10_4755), Rights::of_mode(0o755));
    }

    #[test]
    fn a_directory_that_is_closed_closes_what_lies_in_it() {
        for (dir, file, mode) in [(0o755, 0o644, 0o644), (0o700, 0o644, 0o600), (0o710, 0o644, 0o640)] {
            let inside = Rights::of_mode(dir).of_file(Rights::of_mode(file));
            assert_eq!(inside.mode(false), mode, "{dir:o} {file:o}");
        }
    }
}
