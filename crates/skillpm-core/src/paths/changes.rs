//! The skills that changed, as git tells.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::git::changed;
use crate::scope::repository_of;

/// The skills of a request that are checked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Changes {
    /// All.
    #[default]
    All,
    /// Those with a file that is not as the newest commit has it.
    Uncommitted,
    /// Those with a file that differs from this commit, branch or tag; on a branch, from where it left that one.
    Since(String),
}

/// The changed files of each repository.
#[derive(Debug, Default)]
pub(crate) struct ChangedFiles(BTreeMap<PathBuf, BTreeSet<PathBuf>>);

impl ChangedFiles {
    /// Reports whether `changes` have a file of the skill in the directory `dir`, which has no links.
    pub(crate) fn touch(&mut self, context: &Context, changes: &Changes, dir: &Path) -> Result<bool> {
        let since = match changes {
            Changes::All => return Ok(true),
            Changes::Uncommitted => None,
            Changes::Since(reference) => Some(reference.as_str()),
        };
        let Some(root) = repository_of(dir, |_| true)? else {
            let message =
                format!("`{}` is not in a git repository, which could tell what changed", dir.display());
            return Err(Error::usage(message).hint("check all skills, or name those of a repository"));
        };
        if !self.0.contains_key(&root) {
            let files = changed(&context.settings, &root, since)
                .map_err(|why| unknown(why.is_revision, &root, since))?;
            self.0.insert(root.clone(), files.into_iter().collect());
        }
        // Paths below a directory follow it.
        let below = |files: &BTreeSet<PathBuf>| {
            files.range(dir.to_owned()..).next().is_some_and(|file| file.starts_with(dir))
        };
        Ok(self.0.get(&root).is_some_and(below))
    }
}

fn unknown(is_revision: bool, root: &Path, since: Option<&str>) -> Error {
    let root = root.display();
    match since.filter(|_| is_revision) {
        None => Error::usage(format!("git does not tell what changed in `{root}`"))
            .hint("`git status` there shows why"),
        Some(since) => Error::usage(format!("git knows no commit `{since}` in `{root}`")).hint(
            "check the spelling; a build machine has to fetch the history, as with `fetch-depth: 0` of `actions/checkout`",
        ),
    }
}
