//! Where skills come from.
//!
//! A source delivers a [`Tree`] and, where it knows one, the revision that the tree is of.
//! [`discover`] tells which skills are in it.

pub mod discover;
#[cfg(feature = "http")]
pub mod github;
pub mod local;

use crate::context::Context;
use crate::error::Result;
use crate::install::scope::Scope;
use crate::refusal::Limits;
use crate::spec::{Origin, Reference};
use crate::tree::Tree;

/// What a source delivered.
#[derive(Debug, Clone)]
pub struct Opened {
    /// The files.
    pub tree: Tree,
    /// The commit, where there is one.
    pub revision: Option<String>,
    /// What the tree is called: the repository's, directory's or archive's name.
    pub name: String,
}

/// Which revision of a source is wanted.
#[derive(Debug, Clone, Copy)]
pub enum Wanted<'a> {
    /// What a reference means now; the newest of the default branch where it is `None`.
    Now(Option<&'a Reference>),
    /// Exactly this commit.
    Commit(&'a str),
}

/// Opens `origin`. Paths are relative to the root of `scope`.
///
/// # Errors
///
/// A source that is not there, cannot be reached, or holds what no source may hold.
pub fn open(context: &Context, scope: &Scope, origin: &Origin, wanted: Wanted<'_>) -> Result<Opened> {
    match origin {
        Origin::Local(path) => {
            local::open(scope, &local::resolve(&context.settings, scope, path)?, &Limits::default())
        }
        #[cfg(feature = "http")]
        Origin::GitHub(repository) => github::open(context, repository, wanted, &Limits::default()),
        #[cfg(not(feature = "http"))]
        Origin::GitHub(repository) => {
            let _ = wanted;
            Err(crate::error::Error::network(format!(
                "`{repository}` cannot be fetched: this build has no network"
            )))
        }
    }
}
