//! The operations of a kind of source: the half that needs a disk or the network.

use std::path::PathBuf;

use super::newest::Ask;
use super::{FetchedSource, Wanted};
use crate::context::Context;
use crate::error::Result;
use crate::scope::ScopeRoot;
use crate::settings::Settings;
use crate::spec::{Origin, Reference};

/// What a source says about the time of a release without being opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Released {
    /// It was at this time, in seconds since 1970. This is what the author of the commit claims.
    At(i64),
    /// Only opening the source reveals it.
    OnceOpened,
    /// The source never reveals it.
    Untold,
}

/// A source that can be opened and asked.
///
/// A kind is one file with one `impl`, for the type in `spec` that is its other half, and one row in the table of
/// [`source`](super).
pub trait Source {
    /// Opens it. Paths are relative to the root of `scope`.
    ///
    /// # Errors
    ///
    /// Fails for a source that is not there, cannot be reached, or holds what no source may hold.
    fn open(&self, context: &Context, scope: ScopeRoot<'_>, wanted: Wanted<'_>) -> Result<FetchedSource>;

    /// Prepares to ask it for what is at `references`.
    ///
    /// # Errors
    ///
    /// Fails for a source that cannot be asked.
    fn ask<'a>(
        &'a self,
        context: &'a Context,
        scope: ScopeRoot<'a>,
        references: &[Option<&Reference>],
    ) -> Result<Box<dyn Ask + 'a>>;

    /// Returns it, as it was typed, in the form that the manifest of `scope` keeps; `None` if that is the same.
    ///
    /// # Errors
    ///
    /// Fails for a path where nothing is, or that cannot be written down.
    fn settle(&self, _context: &Context, _scope: ScopeRoot<'_>) -> Result<Option<Origin>> {
        Ok(None)
    }

    /// Returns the source with revisions that is in the same place, if there is one: a revision was given, and this
    /// kind has none.
    ///
    /// # Errors
    ///
    /// Fails for a path that cannot be examined.
    fn with_revisions(&self, _context: &Context, _scope: ScopeRoot<'_>) -> Result<Option<Origin>> {
        Ok(None)
    }

    /// Returns where its directory, file or repository is on this machine, if that is what it is.
    ///
    /// # Errors
    ///
    /// Fails if `~` is used and the home directory is not known.
    fn place(&self, _settings: &Settings, _scope: ScopeRoot<'_>) -> Result<Option<PathBuf>> {
        Ok(None)
    }

    /// Returns it as it is typed in the working directory, if its path means something else there than in the manifest
    /// of `scope`.
    fn here(&self, _settings: &Settings, _scope: ScopeRoot<'_>) -> Option<Origin> {
        None
    }

    /// Asks when `revision` was released, or the whole source if it has no revisions.
    ///
    /// # Errors
    ///
    /// Fails for a source that cannot be asked, or that no longer has the revision.
    fn released(&self, _context: &Context, _revision: Option<&str>) -> Result<Released> {
        Ok(Released::Untold)
    }

    /// Returns the newest commits, at most `count`, that changed directory `path` and are not newer than `revision`;
    /// empty if the kind does not provide them.
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

    /// Returns how to restore the revision `locked` if the source has `found` instead, when that is up to another
    /// program.
    fn restored_by(&self, _locked: &str, _found: &str) -> Option<String> {
        None
    }
}
