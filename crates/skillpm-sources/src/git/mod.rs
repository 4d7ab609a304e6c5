//! Git repositories: fetched by the `git` program, read from their object databases.
//!
//! The program supports the user's logins, keys and proxies, shallow and partial fetches, and all servers.
//! libgit2 then reads what was fetched into a bare repository in the cache. No work tree is ever checked out,
//! so no hook, filter, submodule or link of a foreign repository takes effect. See `docs/design/git.md`.

mod cache;
mod errors;
mod fetch;
mod names;
mod objects;
mod probe;
mod program;
mod work_tree;

use std::path::Path;

use crate::context::Context;
use crate::error::{Error, Result};
use crate::refusal::Limits;
use crate::spec::{Reference, Transport, is_commit, is_object_id};
use crate::tree::Tree;

pub use probe::Probe;
pub use work_tree::{Unchanged, changed, files_of, head, is_ignored, is_tracked, remote, uncommitted};

/// The revision at which a repository is opened.
#[derive(Debug, Clone, Copy)]
pub enum WantedRevision<'a> {
    /// The commit that a reference means now; `None` is the newest commit of the default branch.
    Reference(Option<&'a Reference>),
    /// This commit.
    Commit(&'a str),
}

/// The files of one commit.
#[derive(Debug, Clone)]
pub struct OpenRepository {
    /// The files. Content that was not fetched, because it belongs to no skill, is a special entry.
    pub tree: Tree,
    /// The commit's id.
    pub commit: String,
    /// The time of the commit, in seconds since 1970.
    pub time: i64,
}

/// Fetches the wanted revision of the repository at `url` and opens it. Uses the cache when offline, and if
/// the commit was fetched before.
///
/// `url` must have been checked to be the address of a repository.
///
/// # Errors
///
/// Fails for a repository that cannot be reached, does not exist or requires a login; for a revision that it
/// does not have; for a tree that is refused; and without a `git` program.
pub fn fetch(
    context: &Context,
    url: &str,
    transport: Transport,
    at: WantedRevision<'_>,
    limits: &Limits,
) -> Result<OpenRepository> {
    check(at)?;
    cache::Remote::new(context, url, transport, limits).open(at)
}

/// Opens the repository whose own files are in directory `git_dir`, without the `git` program. Returns `None`
/// if only the program can read it. `shown` is the name for messages.
pub(crate) fn open_local(
    git_dir: &Path,
    shown: &str,
    at: WantedRevision<'_>,
    limits: &Limits,
) -> Result<Option<OpenRepository>> {
    check(at)?;
    objects::open_local(git_dir, shown, at, limits)
}

/// Refuses commits with other than 40 digits: libgit2 does not read the longer ids of SHA-256 yet.
fn check(at: WantedRevision<'_>) -> Result<()> {
    let (commit, right) = match at {
        WantedRevision::Reference(None) => return Ok(()),
        WantedRevision::Commit(commit) => (commit, is_commit(commit)),
        WantedRevision::Reference(Some(reference @ Reference::Rev(commit))) => {
            (commit.as_str(), reference.commit_digits().is_some())
        }
        WantedRevision::Reference(Some(reference)) => {
            return Reference::check(reference.name())
                .map_err(|error| Error::usage(error.to_string()).hint("check the spelling"));
        }
    };
    match right {
        true => Ok(()),
        false if is_object_id(&commit.to_ascii_lowercase()) => Err(errors::sha256()),
        false => Err(Error::not_a_commit(commit)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lk19_a_name_is_no_commit() {
        let sha256 = "a".repeat(64);
        for (at, said) in [
            (WantedRevision::Commit("main"), "`main` is not a commit"),
            (WantedRevision::Commit("abc1234"), "`abc1234` is not a commit"),
            (WantedRevision::Commit(&sha256), "SHA-256"),
            (WantedRevision::Reference(Some(&Reference::Rev("main".into()))), "`main` is not a commit"),
            (
                WantedRevision::Reference(Some(&Reference::Tag("--upload-pack=x".into()))),
                "`--upload-pack=x` is not",
            ),
        ] {
            let error = check(at).expect_err(said);
            assert!(error.to_string().contains(said), "{error}");
        }
        for reference in [Reference::Rev("ABC1".into()), Reference::Any("v1".into())] {
            check(WantedRevision::Reference(Some(&reference))).expect("allowed");
        }
    }
}
