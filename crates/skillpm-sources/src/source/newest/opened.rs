//! Sources that answer by being opened: those on this machine, which are hashed, and those that only list their skills.

use super::{Files, NewestRevision, Query, Revisions};
use crate::context::Context;
use crate::error::Result;
use crate::refusal::Limits;
use crate::scope_kind::ScopeRoot;
use crate::source::{FetchedSource, Source, Wanted};
use crate::spec::Reference;
use crate::tree::Tree;

/// A source that is opened in order to query it.
pub(super) struct OpenedSource<'a> {
    context: &'a Context,
    scope: ScopeRoot<'a>,
    source: &'a dyn Source,
    opened: Option<FetchedSource>,
}

impl<'a> OpenedSource<'a> {
    pub(super) fn new(context: &'a Context, scope: ScopeRoot<'a>, source: &'a dyn Source) -> Self {
        Self { context, scope, source, opened: None }
    }

    fn open(&mut self) -> Result<&FetchedSource> {
        let opened = match self.opened.take() {
            Some(opened) => opened,
            None => self.source.open(self.context, self.scope, Wanted::Now(None))?,
        };
        Ok(self.opened.insert(opened))
    }
}

impl Revisions for OpenedSource<'_> {
    fn tip(&mut self, _: Option<&Reference>) -> Result<Option<String>> {
        Ok(self.open()?.revision.clone())
    }

    fn compare(&mut self, now: Option<String>, query: &Query<'_>) -> Result<NewestRevision> {
        let opened = self.open()?;
        match &opened.shelf {
            Some(shelf) => Ok(query.compared(shelf.revision(query.path())?)),
            None => Ok(NewestRevision { revision: now, files: hashed(&opened.tree, query) }),
        }
    }
}

/// Compares the skill in `tree` with the locked one, byte by byte.
pub(in crate::source) fn hashed(tree: &Tree, query: &Query<'_>) -> Files {
    if tree.below(query.path()).next().is_none() {
        return if query.anywhere { Files::Unknown } else { Files::Moved };
    }
    // Content that no skill may have differs from what was locked.
    match tree.skill(query.path(), &Limits::default()).and_then(|set| set.digest()) {
        Ok(digest) if digest == query.locked.digest => Files::Same,
        _ => Files::Changed,
    }
}
