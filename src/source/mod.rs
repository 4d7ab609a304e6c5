//! Where skills come from.
//!
//! A source delivers a [`Tree`] and, where it knows one, the revision that the tree is of.
//! [`discover`] tells which skills are in it.

pub mod discover;
#[cfg(feature = "http")]
pub mod download;
mod file;
#[cfg(feature = "git")]
pub mod git;
#[cfg(feature = "http")]
pub mod github;
mod json;
pub mod local;
pub mod marketplace;
pub mod newest;
pub mod package;
#[cfg(feature = "http")]
pub mod site;
#[cfg(feature = "http")]
mod web;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::context::Context;
#[cfg(not(all(feature = "git", feature = "http")))]
use crate::error::Error;
use crate::error::Result;
use crate::refusal::Limits;
use crate::scope::ScopeRoot;
use crate::spec::{Address, Identity, Origin, Reference};
use crate::tree::{Memory, Tree};
use discover::{Candidate, discover_in};

/// What a source delivered.
#[derive(Debug, Clone)]
pub struct Opened {
    /// The files. Content of a git repository that belongs to no skill may be left out; its entries are
    /// there, as special ones.
    pub tree: Tree,
    /// What a lockfile is to say of the revision, where there is one: the commit of a repository, the
    /// digest that a site told, the version of a package.
    pub revision: Option<String>,
    /// When it was committed, in seconds since 1970, where the source told without being asked.
    pub released: Option<i64>,
    /// What the tree is called: the repository's, directory's or archive's name.
    pub name: String,
    /// Where the skills are, if the source lists them and delivers each by itself; nothing is in the
    /// tree then.
    pub shelf: Option<Arc<dyn Shelf>>,
    /// Where it came from as it is typed in the working directory, where that is something else than the
    /// manifest says.
    pub here: Option<Origin>,
}

/// Skills that a source lists, and that are fetched one by one: only those that are asked for.
///
/// A skill goes by the name that the source lists it under, which is also its path in lockfiles.
pub trait Shelf: fmt::Debug + Send + Sync {
    /// What the source lists. A skill that it lists wrongly says so in place of its metadata.
    ///
    /// # Errors
    ///
    /// No list, or one that cannot be read.
    fn listed(&self) -> Result<Vec<Candidate>>;

    /// Gets several skills ready to be fetched, where that is faster than one after the other. Each is
    /// given by its name and by what a lockfile calls its revision. One that the source does not have, or not as it
    /// was locked, is passed over: [`Shelf::fetch`] says so.
    ///
    /// # Errors
    ///
    /// As [`Shelf::fetch`], for the first of the others that cannot be had.
    fn prefetch(&self, wanted: &[(&str, Option<&str>)]) -> Result<()>;

    /// What the source lists of the skill `name`: what a lockfile would call its revision.
    ///
    /// # Errors
    ///
    /// As [`Shelf::listed`].
    fn revision(&self, name: &str) -> Result<Identity>;

    /// Fetches the skill `name`, at the revision of a lockfile where there is one. Its files are in a
    /// directory of that name.
    ///
    /// # Errors
    ///
    /// A skill that is not listed, cannot be reached, is refused, or is not what was locked.
    fn fetch(&self, name: &str, revision: Option<&str>) -> Result<Opened>;
}

impl Opened {
    /// Returns a source that has delivered all it has.
    pub fn new(tree: Tree, revision: Option<String>, name: &str) -> Self {
        Self { tree, revision, released: None, name: name.to_owned(), shelf: None, here: None }
    }

    /// Returns `origin`, which this was opened from, as it is typed in the working directory.
    pub fn typed_here<'a>(&'a self, origin: &'a Origin) -> &'a Origin {
        self.here.as_ref().unwrap_or(origin)
    }

    /// Returns a source that delivers its skills one by one.
    pub fn shelf(shelf: Arc<dyn Shelf>, name: &str) -> Self {
        let nothing = Tree::new(BTreeMap::new(), Arc::new(Memory::default()));
        Self { shelf: Some(shelf), ..Self::new(nothing, None, name) }
    }

    /// Gets several skills ready to be taken by [`Opened::deliver`] or [`Opened::part`].
    ///
    /// # Errors
    ///
    /// As [`Shelf::prefetch`].
    pub fn prefetch(&self, wanted: &[(&str, Option<&str>)]) -> Result<()> {
        self.shelf.as_ref().map_or(Ok(()), |shelf| shelf.prefetch(wanted))
    }

    /// Returns the source with what lies at or below `path`, at the revision of a lockfile.
    ///
    /// # Errors
    ///
    /// As [`Shelf::fetch`].
    pub fn part(self, path: &str, revision: Option<&str>) -> Result<Self> {
        match &self.shelf {
            Some(shelf) => shelf.fetch(path.split('/').next().unwrap_or(path), revision),
            None => Ok(self),
        }
    }

    /// Fetches the skill that was only listed as `listed`; `None` where it is there already, or is
    /// listed wrongly.
    ///
    /// # Errors
    ///
    /// As [`Shelf::fetch`].
    pub fn deliver(&self, listed: &Candidate) -> Result<Option<(Self, Candidate)>> {
        let Some(shelf) = self.shelf.as_ref().filter(|_| listed.meta.is_ok()) else { return Ok(None) };
        let opened = shelf.fetch(&listed.path, None)?;
        let found =
            discover_in(&opened.tree, &listed.path).into_iter().find(|found| found.path == listed.path);
        Ok(Some((opened, found.unwrap_or_else(|| listed.clone()))))
    }
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
pub fn settled(context: &Context, scope: ScopeRoot<'_>, origin: Origin) -> Result<Origin> {
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

/// The variable for what is secret in the query of `address`, where one can be named after its host.
#[cfg(feature = "http")]
pub fn query_variable(address: &Address) -> Option<String> {
    crate::http::Login::query_variable(&crate::http::Url::parse(address.as_str()).ok()?)
}

/// The variable for what is secret in the query of an address: this build fetches none.
#[cfg(not(feature = "http"))]
pub fn query_variable(_: &Address) -> Option<String> {
    None
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
pub fn open(context: &Context, scope: ScopeRoot<'_>, origin: &Origin, wanted: Wanted<'_>) -> Result<Opened> {
    let opened = delivered(context, scope, origin, wanted)?;
    Ok(Opened { here: local::here(&context.settings, scope, origin), ..opened })
}

fn delivered(context: &Context, scope: ScopeRoot<'_>, origin: &Origin, wanted: Wanted<'_>) -> Result<Opened> {
    match origin {
        Origin::Local(path) => {
            local::open(scope, &local::resolve(&context.settings, scope, path)?, &Limits::default())
        }
        #[cfg(feature = "http")]
        Origin::GitHub(repository) => github::open(context, repository, wanted, &Limits::default()),
        #[cfg(not(feature = "http"))]
        Origin::GitHub(repository) => {
            let _ = wanted;
            Err(Error::network(format!("`{repository}` cannot be fetched: this build has no network")))
        }
        #[cfg(feature = "git")]
        Origin::Git(url) => git::open(context, scope, url, wanted, &Limits::default()),
        #[cfg(not(feature = "git"))]
        Origin::Git(url) => {
            Err(Error::network(format!("`{url}` cannot be fetched: this build reads no git repositories")))
        }
        #[cfg(feature = "http")]
        Origin::Download(address) => download::open(context, address, &Limits::default()),
        #[cfg(feature = "http")]
        Origin::Site(address) => site::open(context, address, &Limits::default()),
        #[cfg(not(feature = "http"))]
        Origin::Download(_) | Origin::Site(_) => {
            Err(Error::network(format!("`{origin}` cannot be fetched: this build has no network")))
        }
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
