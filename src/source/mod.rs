//! Where skills come from.
//!
//! A source delivers a [`Tree`] and, where it knows one, the revision that the tree is of.
//! [`discover`] tells which skills are in it.

pub mod discover;
#[cfg(feature = "http")]
pub mod github;
mod json;
pub mod local;
pub mod marketplace;
pub mod package;

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
    /// What a lockfile is to say of the revision, where there is one: the commit of a repository, the
    /// digest that a site told, the version of a package.
    pub revision: Option<String>,
    /// When it was committed, in seconds since 1970, where the source told without being asked.
    pub released: Option<i64>,
    /// What the tree is called: the repository's, directory's or archive's name.
    pub name: String,
}

/// Which revision of a source is wanted.
#[derive(Debug, Clone, Copy)]
pub enum Wanted<'a> {
    /// What a reference means now; the newest of the default branch where it is `None`.
    Now(Option<&'a Reference>),
    /// Exactly what a lockfile calls this revision.
    Locked(&'a str),
}

/// Returns `origin`, as it was typed, in the form that the manifest of `scope` keeps.
///
/// # Errors
///
/// A path where nothing lies, or that cannot be written down.
pub fn settled(context: &Context, scope: &Scope, origin: Origin) -> Result<Origin> {
    match origin {
        Origin::Local(path) => local::origin(&context.settings, scope, &path),
        Origin::GitHub(repository) => Ok(Origin::GitHub(repository.on(&context.settings.github.host))),
        other => Ok(other),
    }
}

/// When `revision` of `origin` was committed, in seconds since 1970; `None` where the source does not
/// tell. It is what whoever made the commit says.
///
/// # Errors
///
/// Where the source cannot be asked.
pub fn released(context: &Context, origin: &Origin, revision: &str) -> Result<Option<i64>> {
    match origin {
        #[cfg(feature = "http")]
        Origin::GitHub(repository) => github::released(context, repository, revision),
        _ => {
            let _ = (context, revision);
            Ok(None)
        }
    }
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
        Origin::Git(_) => Err(crate::error::Error::usage(format!("`{origin}` cannot be fetched"))),
        Origin::Download(_) => Err(crate::error::Error::usage(format!("`{origin}` cannot be fetched"))),
        Origin::Site(_) => Err(crate::error::Error::usage(format!("`{origin}` cannot be fetched"))),
        Origin::Package(package) => package::open(context, scope, package, wanted),
    }
}

/// Returns the newest commits, at most `count`, that changed directory `path` of `origin` and are not newer
/// than revision `revision`; none where the kind of source does not tell.
///
/// # Errors
///
/// A source that cannot be reached.
pub fn history(
    context: &Context,
    origin: &Origin,
    revision: &str,
    path: Option<&str>,
    count: usize,
) -> Result<Vec<String>> {
    match origin {
        #[cfg(feature = "http")]
        Origin::GitHub(repository) => github::history(context, repository, revision, path, count),
        _ => {
            let _ = (context, revision, path, count);
            Ok(Vec::new())
        }
    }
}
