//! The operations of a kind of source: the half that needs a disk or the network.

use std::path::PathBuf;

use super::newest::Revisions;
use super::{FetchedSource, Wanted};
use crate::context::Context;
use crate::error::Result;
use crate::scope_kind::ScopeRoot;
use crate::settings::Settings;
use crate::spec::{Origin, Reference};

/// The release time, as far as a source reports it without being opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Released {
    /// The time in seconds since 1970, as the author of the commit claims.
    At(i64),
    /// Only opening the source reveals it.
    OnceOpened,
    /// The source never reveals it.
    Untold,
}

/// A source that can be opened and queried.
///
/// A kind is one file with one `impl`, for the type in `spec` that is its other half, and one row in the
/// table of [`source`](super).
pub trait Source {
    /// Opens the source. Paths are relative to the root of `scope`.
    ///
    /// # Errors
    ///
    /// Fails for a source that does not exist, cannot be reached, or holds what no source may hold.
    fn open(&self, context: &Context, scope: ScopeRoot<'_>, wanted: Wanted<'_>) -> Result<FetchedSource>;

    /// Prepares to ask which revisions the source has at `references`. Returns `None` if opening it costs no more: it is
    /// on this machine, or only lists its skills.
    ///
    /// # Errors
    ///
    /// Fails for a source that cannot be queried.
    fn revisions<'a>(
        &'a self,
        _context: &'a Context,
        _scope: ScopeRoot<'a>,
        _references: &[Option<&Reference>],
    ) -> Result<Option<Box<dyn Revisions + 'a>>> {
        Ok(None)
    }

    /// Returns the source, which the user typed, in the form that the manifest of `scope` keeps, or `None` if
    /// that is the same.
    ///
    /// # Errors
    ///
    /// Fails for a path where nothing is, or that cannot be written down.
    fn settle(&self, _context: &Context, _scope: ScopeRoot<'_>) -> Result<Option<Origin>> {
        Ok(None)
    }

    /// Returns the source with revisions at the same place, if there is one: the user gave a revision, and
    /// this kind has none.
    ///
    /// # Errors
    ///
    /// Fails for a path that cannot be examined.
    fn with_revisions(&self, _context: &Context, _scope: ScopeRoot<'_>) -> Result<Option<Origin>> {
        Ok(None)
    }

    /// Returns the path of the source's directory, file or repository, if it is on this machine.
    ///
    /// # Errors
    ///
    /// Fails if `~` is used and the home directory is not known.
    fn place(&self, _settings: &Settings, _scope: ScopeRoot<'_>) -> Result<Option<PathBuf>> {
        Ok(None)
    }

    /// Returns the source as it is typed in the working directory, if its path means something else there
    /// than in the manifest of `scope`.
    fn here(&self, _settings: &Settings, _scope: ScopeRoot<'_>) -> Option<Origin> {
        None
    }

    /// Returns when `revision` was released, or the whole source if it has no revisions.
    ///
    /// # Errors
    ///
    /// Fails for a source that cannot be queried, or that no longer has the revision.
    fn released(&self, _context: &Context, _revision: Option<&str>) -> Result<Released> {
        Ok(Released::Untold)
    }

    /// Returns the newest commits, at most `count`, that changed directory `path` and are not newer than
    /// `revision`; empty if the kind does not provide them.
    ///
    /// # Errors
    ///
    /// Fails for a source that cannot be reached.
    fn history(
        &self,
        _context: &Context,
        _revision: &str,
        _path: Option<&str>,
        _count: usize,
    ) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    /// Returns how to restore the revision `locked` if the source has `found` instead, if another program has
    /// to do that.
    fn restored_by(&self, _locked: &str, _found: &str) -> Option<String> {
        None
    }
}
