//! Detection of files that a link leads to, outside of what the user named.

use std::path::{Path, PathBuf};

use super::target::Target;
use crate::context::Context;
use crate::error::Result;
use crate::fs;
use crate::path::normal;
use crate::scope::project_root;

/// The places where files may be changed: in the project, and in what the user named outside of it. A link
/// there may lead anywhere, and its author is not the user who runs the command.
#[derive(Debug)]
pub(crate) struct Inside<'a> {
    cwd: &'a Path,
    root: PathBuf,
    named: Vec<PathBuf>,
}

impl<'a> Inside<'a> {
    /// Returns the places: the project around the working directory, and `targets`.
    pub(crate) fn new(context: &'a Context, targets: &[Target]) -> Result<Self> {
        let cwd = &context.settings.cwd;
        let paths = targets.iter().filter_map(|target| match target {
            Target::Path(typed) => Some(normal(&cwd.join(typed))),
            Target::Text { .. } => None,
        });
        Ok(Self { cwd, root: project_root(&context.settings)?, named: paths.collect() })
    }

    /// Returns the real path of `file`, if links lead it out of the project, or out of what the user named.
    pub(crate) fn leads_out(&self, file: &Path) -> Result<Option<PathBuf>> {
        let at = normal(&self.cwd.join(file));
        let dir = at.parent().unwrap_or(Path::new(""));
        let Some(real) = fs::real_path(dir)? else { return Ok(None) };
        // The usual case: the path has no link.
        if real == dir {
            return Ok(None);
        }
        let mut around: Vec<&Path> = vec![&self.root];
        if !at.starts_with(&self.root) {
            around = self.named.iter().map(PathBuf::as_path).filter(|named| at.starts_with(named)).collect();
        }
        for place in around {
            let place = if place == at { dir } else { place };
            if fs::real_path(place)?.is_some_and(|place| real.starts_with(place)) {
                return Ok(None);
            }
        }
        Ok(Some(real.join(at.file_name().unwrap_or_default())))
    }
}
