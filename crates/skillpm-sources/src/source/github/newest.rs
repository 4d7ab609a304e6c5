//! Repositories on GitHub: one conditional request for a reference, one for the trees of a commit.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::{GitHub, Trees, settings_for};
use crate::context::Context;
use crate::error::Result;
use crate::http::Client;
use crate::lockfile::Locked;
use crate::settings::Settings;
use crate::source::newest::{Files, NewestRevision, Query, Revisions, compare, fixed};
use crate::spec;
use crate::spec::{Identity, Reference};

/// A repository, and the trees that were listed so far.
pub(super) struct Repository<'a> {
    context: &'a Context,
    place: &'a spec::Repository,
    settings: Cow<'a, Settings>,
    client: Client,
    /// The trees by commit; `None` if the server did not list them.
    trees: BTreeMap<String, Option<Arc<Trees>>>,
}

impl<'a> Repository<'a> {
    pub(super) fn new(context: &'a Context, place: &'a spec::Repository) -> Self {
        let settings = settings_for(&context.settings, place);
        let client = Client::new(&settings, Arc::clone(&context.reporter));
        Self { context, place, settings, client, trees: BTreeMap::new() }
    }

    fn github(&self) -> Result<GitHub<'_>> {
        GitHub::new(&self.client, &self.settings, self.place)
    }

    /// Returns the trees of `commit`, or `None`. Without them it is unknown what changed, which is not a
    /// failure: servers that are compatible with GitHub's may lack them, and a limit may be reached.
    fn trees(&mut self, commit: &str) -> Option<Arc<Trees>> {
        if let Some(known) = self.trees.get(commit) {
            return known.clone();
        }
        let trees = self.github().and_then(|github| github.trees(commit)).ok().map(Arc::new);
        self.trees.insert(commit.to_owned(), trees.clone());
        trees
    }
}

impl Repository<'_> {
    /// Returns whether `commit`, which no longer has the directory of a skill, has one like it.
    fn elsewhere(&mut self, commit: &str, query: &Query<'_>) -> Files {
        let was = query.locked.revision.as_deref().and_then(|locked| self.trees(locked));
        let id = match was.map(|trees| trees.at(query.path())) {
            Some(Identity::Id(id)) => Some(id),
            _ => None,
        };
        match self.trees(commit) {
            Some(trees) if trees.has_like(query.path(), id.as_deref()) => Files::Moved,
            _ => Files::Gone,
        }
    }
}

impl Revisions for Repository<'_> {
    fn fixed(&self, reference: Option<&Reference>, locked: &Locked) -> Option<String> {
        fixed(reference, locked)
    }

    fn tip(&mut self, reference: Option<&Reference>) -> Result<Option<String>> {
        self.github()?.resolve_now(reference).map(Some)
    }

    fn compare(&mut self, now: Option<String>, query: &Query<'_>) -> Result<NewestRevision> {
        let Some(commit) = now else { return Ok(NewestRevision { revision: None, files: Files::Unknown }) };
        let context = self.context;
        let id = |commit: &str| self.trees(commit).map_or(Identity::Unknown, |trees| trees.at(query.path()));
        let files = match compare(context, query, &commit, id) {
            Files::Moved => self.elsewhere(&commit, query),
            files => files,
        };
        Ok(NewestRevision { revision: Some(commit), files })
    }

    fn tags(&mut self, prefix: &str) -> Result<Vec<String>> {
        self.github()?.tags(prefix)
    }
}
