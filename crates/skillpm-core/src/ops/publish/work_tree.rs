//! The state of the work tree of the skill that is published.

use std::path::Path;

use crate::advice::{Opt, message};
use crate::codes;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::git::uncommitted as asked;
pub(super) use crate::git::{files_of, head, remote};
use crate::ops::pack::{LeaveReason, LeftOut};
use crate::scope::repository_of;

/// Returns the files below `dir` that git has not committed and that matter for the package.
pub(super) fn uncommitted(
    context: &Context,
    dir: &Path,
    left_out: &[LeftOut],
    allowed: bool,
) -> Result<Vec<String>> {
    let allows = || message!(Opt::AllowDirty, " publishes the files as they are");
    if repository_of(dir, |_| true)?.is_none() {
        return Ok(Vec::new());
    }
    let Some(mut paths) = asked(&context.settings, dir) else {
        if allowed {
            return Ok(Vec::new());
        }
        let message = format!("git does not tell whether the files in `{}` are committed", dir.display());
        return Err(Error::usage(message)
            .coded(codes::UNCOMMITTED)
            .hint("`git status` there shows why")
            .hint(allows()));
    };
    paths.retain(|path| !left_out.iter().any(|left| leaves_out(left, path)));
    let [first, more @ ..] = &paths[..] else { return Ok(paths) };
    if allowed {
        return Ok(paths);
    }
    let others = match more.len() {
        0 => String::new(),
        1 => " and 1 other file".to_owned(),
        more => format!(" and {more} other files"),
    };
    Err(Error::usage(format!(
        "`{first}`{others} of the skill {} not committed",
        if more.is_empty() { "is" } else { "are" }
    ))
    .coded(codes::UNCOMMITTED)
    .hint("commit first, so that the published files have a commit")
    .hint(allows()))
}

/// Reports whether the file at `path` stays out of the package because of `left`. The file that says what stays out
/// matters for the package itself.
fn leaves_out(left: &LeftOut, path: &str) -> bool {
    let is_below = left.path.ends_with('/') && path.starts_with(&left.path);
    left.reason != LeaveReason::IgnoreFile && (is_below || left.path == path)
}
