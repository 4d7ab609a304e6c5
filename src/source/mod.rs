//! Where skills come from.
//!
//! A source delivers a [`Tree`] and, where it knows one, the revision that the tree is of.
//! [`discover`] tells which skills are in it.

pub mod discover;
#[cfg(feature = "git")]
pub mod git;
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
    /// The files. Content of a git repository that belongs to no skill may be left out; its entries are
    /// there, as special ones.
    pub tree: Tree,
    /// What a lockfile is to say of the revision, where there is one: the commit of a repository, the
    /// digest that a site told, the version of a package.
    pub revision: Option<String>,
    /// What the tree is called: the repository's, directory's or archive's name.
    pub name: String,
    /// When this revision was made, in seconds since 1970, as far as the source says so.
    pub released: Option<i64>,
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
        Origin::Local(path) => {
            let origin = local::origin(&context.settings, scope, &path)?;
            #[cfg(feature = "git")]
            let origin = git::if_bare(context, scope, origin)?;
            Ok(origin)
        }
        Origin::Git(url) => match url.local_path() {
            // As any other path: the same on every machine.
            Some(path) => local::git_origin(&context.settings, scope, path),
            None => Ok(Origin::Git(url)),
        },
        Origin::GitHub(repository) => Ok(Origin::GitHub(repository.on(&context.settings.github.host))),
        other => Ok(other),
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
        #[cfg(feature = "git")]
        Origin::Git(url) => git::open(context, scope, url, wanted, &Limits::default()),
        #[cfg(not(feature = "git"))]
        Origin::Git(url) => Err(crate::error::Error::network(format!(
            "`{url}` cannot be fetched: this build reads no git repositories"
        ))),
        Origin::Download(_) => Err(crate::error::Error::usage(format!("`{origin}` cannot be fetched"))),
        Origin::Site(_) => Err(crate::error::Error::usage(format!("`{origin}` cannot be fetched"))),
        Origin::Package(_) => Err(crate::error::Error::usage(format!("`{origin}` cannot be fetched"))),
    }
}
