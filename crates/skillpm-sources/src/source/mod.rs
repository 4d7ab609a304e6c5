//! Where skills come from.
//!
//! A source delivers a [`Tree`] and, if it has one, its revision. [`discover`] finds the skills in it.

#[cfg(not(all(feature = "git", feature = "http")))]
mod absent;
pub mod discover;
#[cfg(feature = "http")]
pub mod download;
mod file;
#[cfg(feature = "git")]
pub mod git;
#[cfg(feature = "http")]
pub mod github;
mod json;
mod kind;
pub mod local;
pub mod marketplace;
#[cfg(feature = "http")]
mod mcp;
pub mod newest;
#[cfg(feature = "http")]
pub mod oci;
pub mod package;
pub mod registry;
#[cfg(feature = "http")]
pub mod site;
#[cfg(feature = "http")]
pub mod skills_sh;
#[cfg(feature = "http")]
mod web;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::advice::Warning;
use crate::context::Context;
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::fs;
use crate::name::SkillName;
use crate::path::normal;
use crate::resolve::Release;
use crate::scope_kind::ScopeRoot;
use crate::settings::Settings;
use crate::spec::{Address, Identity, Origin, Reference};
use crate::tree::{Memory, Tree};
use crate::version::Version;
use discover::{Candidate, discover_in};
pub use kind::{Released, Source};

/// Returns the implementation for `origin`. This is the table of kinds.
fn of(origin: &Origin) -> &dyn Source {
    match origin {
        #[cfg(feature = "http")]
        Origin::GitHub(it) => it,
        #[cfg(feature = "git")]
        Origin::Git(it) => it,
        #[cfg(feature = "http")]
        Origin::Download(it) => it,
        #[cfg(feature = "http")]
        Origin::Mcp(it) => it,
        #[cfg(feature = "http")]
        Origin::Oci(it) => it,
        #[cfg(feature = "http")]
        Origin::Site(it) => it,
        Origin::Local(it) => it,
        Origin::Package(it) => it,
        Origin::Registry(it) => it,
        #[cfg(not(all(feature = "git", feature = "http")))]
        other => other,
    }
}

/// The result of opening a source.
#[derive(Debug, Clone)]
pub struct FetchedSource {
    /// The files. Content of a git repository that belongs to no skill may be missing; its entries are then
    /// special.
    pub tree: Tree,
    /// The revision for a lockfile, if there is one: the commit of a repository, the digest from a site, or
    /// the version of a package.
    pub revision: Option<String>,
    /// The time of the commit, in seconds since 1970, if the source provided it unasked.
    pub released: Option<i64>,
    /// The name of the tree: that of the repository, directory or archive.
    pub name: String,
    /// The index, if the source lists its skills and delivers each separately. The tree is then empty.
    pub shelf: Option<Arc<dyn SkillIndex>>,
    /// The origin as it is typed in the working directory, if that differs from the manifest.
    pub here: Option<Origin>,
}

/// An index of skills that are fetched one by one, only on request.
///
/// A skill is identified by its key in the index, which is also its path in lockfiles: mostly a name.
pub trait SkillIndex: fmt::Debug + Send + Sync {
    /// Returns the key of the skill at or above `path`: the first component, since a name has no slash.
    fn key<'p>(&self, path: &'p str) -> &'p str {
        path.split('/').next().unwrap_or(path)
    }

    /// Returns the listed skills. A skill that is listed incorrectly has an error instead of metadata.
    ///
    /// # Errors
    ///
    /// Fails for a missing or unreadable list.
    fn listed(&self) -> Result<Vec<Candidate>>;

    /// Returns what the source lists as `name`. Returns `None` if only the whole list shows it.
    ///
    /// # Errors
    ///
    /// Fails for a source that can look up single names and does not have this one.
    fn look_up(&self, _name: &str) -> Result<Option<Candidate>> {
        Ok(None)
    }

    /// Returns the versions of the skill `name`, from which a solver chooses. Returns `None` for a name that the source
    /// does not have, and for a source without versions.
    ///
    /// # Errors
    ///
    /// Fails for a source that cannot be reached, or whose list cannot be used.
    fn releases(&self, _name: &SkillName) -> Result<Option<Arc<Vec<Release>>>> {
        Ok(None)
    }

    /// Returns the tree digest that the source lists for a version of the skill `name`, if it does.
    fn digest(&self, _name: &SkillName, _version: &Version) -> Result<Option<Digest>> {
        Ok(None)
    }

    /// Reports whether `error` of a fetch is about that skill alone, so that others of the source, each with its own
    /// digest, may be used. A source with one list that vouches for all has no such errors.
    fn is_of_one(&self, _error: &Error) -> bool {
        false
    }

    /// Returns what a person should know of the lists that were read, each warning once.
    fn take_warnings(&self) -> Vec<Warning> {
        Vec::new()
    }

    /// Reports whether it is known without a request that the source has versions of the skill `name`.
    fn is_known(&self, _name: &SkillName) -> bool {
        false
    }

    /// Prepares [`SkillIndex::releases`] for several names, if that is faster than one after the other.
    fn prepare_releases(&self, _names: &[SkillName]) -> Result<()> {
        Ok(())
    }

    /// Prepares to fetch several skills, if that is faster than one after the other. Each is given by its
    /// name and its locked revision. Skips a skill that the source does not have, or not as it was locked:
    /// [`SkillIndex::fetch`] reports it.
    ///
    /// # Errors
    ///
    /// Fails as [`SkillIndex::fetch`] does, for the first of the others that is not available.
    fn prefetch(&self, wanted: &[(&str, Option<&str>)]) -> Result<()>;

    /// Returns the listed revision of the skill `name`, as a lockfile records it.
    fn revision(&self, name: &str) -> Result<Identity>;

    /// Fetches the skill `name`, at the locked revision if there is one. Its files are in a directory of that
    /// name.
    ///
    /// # Errors
    ///
    /// Fails for a skill that is not listed, cannot be reached, is refused, or is not what was locked.
    fn fetch(&self, name: &str, revision: Option<&str>) -> Result<FetchedSource>;
}

impl FetchedSource {
    /// Returns a source that has delivered everything it has.
    pub fn new(tree: Tree, revision: Option<String>, name: &str) -> Self {
        Self { tree, revision, released: None, name: name.to_owned(), shelf: None, here: None }
    }

    /// Returns `origin`, from which this was opened, as it is typed in the working directory.
    pub fn typed_here<'a>(&'a self, origin: &'a Origin) -> &'a Origin {
        self.here.as_ref().unwrap_or(origin)
    }

    /// Returns a source that delivers its skills one by one.
    pub fn shelf(shelf: Arc<dyn SkillIndex>, name: &str) -> Self {
        let nothing = Tree::new(BTreeMap::new(), Arc::new(Memory::default()));
        Self { shelf: Some(shelf), ..Self::new(nothing, None, name) }
    }

    /// Prepares several skills for [`FetchedSource::fetch`] or [`FetchedSource::subtree`].
    pub fn prefetch(&self, wanted: &[(&str, Option<&str>)]) -> Result<()> {
        self.shelf.as_ref().map_or(Ok(()), |shelf| shelf.prefetch(wanted))
    }

    /// Returns the source with what is at or below `path`, at the locked `revision`.
    pub fn subtree(self, path: &str, revision: Option<&str>) -> Result<Self> {
        match &self.shelf {
            Some(shelf) => shelf.fetch(shelf.key(path), revision),
            None => Ok(self),
        }
    }

    /// Fetches the skill that is only listed so far as `listed`. Returns `None` if its files are available
    /// already, or if it is listed incorrectly.
    pub fn fetch(&self, listed: &Candidate) -> Result<Option<(Self, Candidate)>> {
        let Some(shelf) = self.shelf.as_ref().filter(|_| listed.meta.is_ok()) else { return Ok(None) };
        let opened = shelf.fetch(&listed.path, listed.revision.as_deref())?;
        let found =
            discover_in(&opened.tree, &listed.path).into_iter().find(|found| found.path == listed.path);
        Ok(Some((opened, found.unwrap_or_else(|| listed.clone()))))
    }
}

/// The wanted revision of a source.
#[derive(Debug, Clone, Copy)]
pub enum Wanted<'a> {
    /// The current meaning of a reference; `None` is the newest of the default branch.
    Now(Option<&'a Reference>),
    /// Exactly this revision of a lockfile.
    Locked(&'a str),
}

/// Returns `origin`, which the user typed, in the form that the manifest of `scope` keeps.
pub fn settled(context: &Context, scope: ScopeRoot<'_>, origin: Origin) -> Result<Origin> {
    Ok(of(&origin).settle(context, scope)?.unwrap_or(origin))
}

/// Returns the source with revisions in the same place as `origin`, which has none: [`Source::with_revisions`].
pub fn with_revisions(context: &Context, scope: ScopeRoot<'_>, origin: &Origin) -> Result<Option<Origin>> {
    of(origin).with_revisions(context, scope)
}

/// Returns the path of `origin`, if it is on this machine: [`Source::place`].
pub fn place(settings: &Settings, scope: ScopeRoot<'_>, origin: &Origin) -> Result<Option<PathBuf>> {
    of(origin).place(settings, scope)
}

/// Returns the path of `origin` without links in it, if it is on this machine: two spellings of one place have the same.
///
/// # Errors
///
/// Fails as [`place`] does, and for a path that cannot be examined.
pub fn real_place(settings: &Settings, scope: ScopeRoot<'_>, origin: &Origin) -> Result<Option<PathBuf>> {
    let Some(path) = place(settings, scope, origin)? else { return Ok(None) };
    Ok(Some(fs::real_path(&path)?.unwrap_or_else(|| normal(&path))))
}

/// Returns `origin` as it is typed in the working directory, if its path means something else there than in
/// the manifest of `scope`: the user types the command of a hint here.
pub fn here(settings: &Settings, scope: ScopeRoot<'_>, origin: &Origin) -> Option<Origin> {
    of(origin).here(settings, scope)
}

/// Returns the variable for secrets in the query of `address`, if one can be named after its host.
#[cfg(feature = "http")]
pub fn query_variable(address: &Address) -> Option<String> {
    crate::http::Login::query_variable(&crate::http::Url::parse(address.as_str()).ok()?)
}

/// Returns `None`: this build fetches no addresses.
#[cfg(not(feature = "http"))]
pub fn query_variable(_: &Address) -> Option<String> {
    None
}

/// Returns when `revision` of `origin` was released: [`Source::released`].
pub fn released(context: &Context, origin: &Origin, revision: Option<&str>) -> Result<Released> {
    of(origin).released(context, revision)
}

/// Opens `origin`. Paths are relative to the root of `scope`.
pub fn open(
    context: &Context,
    scope: ScopeRoot<'_>,
    origin: &Origin,
    wanted: Wanted<'_>,
) -> Result<FetchedSource> {
    let tag;
    let wanted = match wanted {
        Wanted::Now(Some(Reference::Range(range))) if origin.has_revisions() => {
            tag = newest::tag_in(context, scope, origin, range)?;
            Wanted::Now(Some(&tag))
        }
        other => other,
    };
    let opened = of(origin).open(context, scope, wanted)?;
    Ok(FetchedSource { here: here(&context.settings, scope, origin), ..opened })
}

/// Returns the newest commits, at most `count`, that changed directory `path` of `origin` and are not newer than
/// revision `revision`; none if the kind of source does not provide them.
pub fn history(
    context: &Context,
    origin: &Origin,
    revision: &str,
    path: Option<&str>,
    count: usize,
) -> Result<Vec<String>> {
    of(origin).history(context, revision, path, count)
}

/// Returns how to restore the revision `locked` of `origin` if it has `found` instead: [`Source::restored_by`].
pub fn restored_by(origin: &Origin, locked: &str, found: &str) -> Option<String> {
    of(origin).restored_by(locked, found)
}
