//! Git repositories: one `ls-remote`, and the trees of commits without the contents of files.

use super::probe;
use crate::context::Context;
use crate::error::Result;
use crate::git::Probe;
use crate::lockfile::Locked;
use crate::scope_kind::ScopeRoot;
use crate::source::newest::{Files, NewestRevision, Query, Revisions, compare, fixed};
use crate::spec::{GitUrl, Reference};

/// A repository.
pub(super) struct Repository<'a> {
    context: &'a Context,
    probe: Probe<'a>,
}

impl<'a> Repository<'a> {
    pub(super) fn new(
        context: &'a Context,
        scope: ScopeRoot<'_>,
        url: &'a GitUrl,
        references: &[Option<&Reference>],
    ) -> Result<Self> {
        Ok(Self { context, probe: probe(context, scope, url, references)? })
    }
}

impl Revisions for Repository<'_> {
    fn fixed(&self, reference: Option<&Reference>, locked: &Locked) -> Option<String> {
        fixed(reference, locked)
    }

    fn tip(&mut self, reference: Option<&Reference>) -> Result<Option<String>> {
        self.probe.tip(reference)
    }

    fn compare(&mut self, now: Option<String>, query: &Query<'_>) -> Result<NewestRevision> {
        let id = |commit: &str| self.probe.tree(commit, query.path());
        let files = now.as_deref().map_or(Files::Unknown, |now| compare(self.context, query, now, id));
        Ok(NewestRevision { revision: now, files })
    }

    fn tags(&mut self, prefix: &str) -> Result<Vec<String>> {
        self.probe.tags(prefix)
    }
}
