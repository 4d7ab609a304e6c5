//! Checking skills where they are found.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::one::{Checker, One};
use crate::error::Result;
use crate::fs::Base;
use crate::ops::paths::Visit;

impl Visit for Checker<'_> {
    type Skill = One;

    fn visit(
        &mut self,
        base: &Base,
        dir: &Path,
        name: &OsStr,
        directory: Option<&OsStr>,
        shown: impl FnOnce() -> PathBuf,
    ) -> Result<Option<One>> {
        self.file(base, dir, name, directory, shown)
    }

    fn shown(skill: &One) -> &Path {
        &skill.file
    }
}
