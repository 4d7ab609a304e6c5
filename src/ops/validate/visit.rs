//! Checking skills where they are found.

use std::path::{Path, PathBuf};

use super::one::{Checker, One};
use crate::error::Result;
use crate::ops::paths::{At, Visit};

impl Visit for Checker<'_> {
    type Skill = One;

    fn visit(
        &mut self,
        at: At<'_>,
        bytes: Option<&mut Vec<u8>>,
        shown: impl FnOnce() -> PathBuf,
    ) -> Result<One> {
        self.file(at, bytes, shown)
    }

    fn shown(skill: &One) -> &Path {
        &skill.file
    }
}
