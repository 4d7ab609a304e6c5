//! File systems of their own, for tests that need one.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A file system in memory, mounted on a directory, which goes when the value does.
#[derive(Debug)]
pub struct Mount(PathBuf);

impl Mount {
    /// Mounts one on `dir` with options such as `size=1m`; `None` where that is not possible.
    pub fn tmpfs(dir: &Path, options: &str) -> Option<Self> {
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "none"])
            .arg(dir)
            .output()
            .is_ok_and(|output| output.status.success());
        if !mounted {
            eprintln!("skipped: a file system can only be mounted by root");
        }
        mounted.then(|| Self(dir.to_owned()))
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).output();
    }
}
