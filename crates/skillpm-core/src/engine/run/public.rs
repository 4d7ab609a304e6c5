//! Finds the parts of a directory that all users may read.
//!
//! Root may read more than that, and so may its scripts unless they are restricted. Landlock opens a directory with
//! everything below it, so if some of that is not public, the rest is opened piece by piece.

use std::path::{Path, PathBuf};

use crate::fs::{self, Kind};

/// Returns `dir` itself if all users may read everything in it, otherwise the directories and files in it to which that
/// applies. Links are left out, because their targets are opened by their own paths.
pub(super) fn public(dir: &Path) -> Vec<PathBuf> {
    let mut open = Vec::new();
    gather(dir, &mut open);
    open
}

/// Adds the public parts of `dir` to `open`. Returns whether all of it is public.
fn gather(dir: &Path, open: &mut Vec<PathBuf>) -> bool {
    let Ok(entries) = fs::entries(dir) else { return false };
    let before = open.len();
    let mut whole = fs::is_public(dir);
    for (name, kind) in entries {
        let path = dir.join(name);
        whole &= match kind {
            Kind::Symlink => true,
            Kind::Directory => fs::is_public(&path) && gather(&path, open),
            _ if fs::is_public(&path) => {
                open.push(path);
                true
            }
            _ => false,
        };
    }
    if whole {
        open.truncate(before);
        open.push(dir.to_owned());
    }
    whole
}

#[cfg(test)]
mod tests {
    use rustix::fs::{Mode, chmod};

    use super::*;

    #[test]
    fn what_is_not_for_everybody_is_left_out() {
        let root = tempfile::tempdir().expect("a directory");
        let at = |path: &str| root.path().join(path);
        let mode = |path: &str, mode| chmod(at(path), Mode::from_raw_mode(mode)).expect("changes the mode");
        mode("", 0o755);
        for (path, bits) in [
            ("passwd", 0o644),
            ("shadow", 0o640),
            ("ssh/config", 0o644),
            ("ssh/key", 0o600),
            ("ssl/certs/a", 0o644),
            ("private/a", 0o644),
        ] {
            fs::create_dir_all(at(path).parent().expect("has one")).expect("creates");
            fs::write_atomic(&at(path), b"").expect("writes");
            mode(path, bits);
        }
        for (path, bits) in [("ssh", 0o755), ("ssl", 0o755), ("ssl/certs", 0o755), ("private", 0o750)] {
            mode(path, bits);
        }
        fs::symlink(&at("shadow"), &at("ssl/link")).expect("links");
        let mut open = public(root.path());
        open.sort_unstable();
        assert_eq!(open, [at("passwd"), at("ssh/config"), at("ssl")]);
        assert_eq!(public(&at("ssl")), [at("ssl")]);
        assert!(public(&at("missing")).is_empty());
    }
}
