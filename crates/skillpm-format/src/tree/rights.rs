//! The maximum permissions of a file, in addition to what its tree states.

/// The maximum permissions of a file where it is written: those it had where it was read. The digest only covers whether the
/// file is executable, so two trees that differ in other permissions are equal.
///
/// Files that come from sources have all permissions: they are public anyway.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rights(u32);

impl Rights {
    /// All permissions.
    pub const ALL: Self = Self(0o777);

    /// Returns the permissions of a file or directory with this mode.
    pub fn of_mode(mode: u32) -> Self {
        Self(mode & 0o777)
    }

    /// Returns the permissions of a file in a directory that has `self`: users who may not enter the directory have
    /// none.
    #[must_use]
    pub fn of_file(self, file: Self) -> Self {
        let may_pass = self.0 & 0o111;
        Self(file.0 & (may_pass | (may_pass << 1) | (may_pass << 2)))
    }

    /// Returns the permissions that both allow.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns the mode of a new file with these permissions: 0644 or 0755, minus what they withhold. The owner can always
    /// run an executable file, and so can everyone who may read it if it was not executable before.
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
            // Another program made it executable: others still may not read it.
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
