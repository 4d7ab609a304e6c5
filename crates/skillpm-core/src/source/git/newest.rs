//! Git repositories: one `ls-remote`, and the trees of commits without the contents of files.

use super::probe;
use crate::context::Context;
use crate::error::Result;
use crate::git::Probe;
use crate::scope::ScopeRoot;
use crate::source::newest::{Ask, Files, Newest, Query, compare, fixed};
use crate::spec::{GitUrl, Identity, Reference};

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

impl Ask for Repository<'_> {
    fn tip(&mut self, reference: Option<&Reference>) -> Result<Option<String>> {
        self.probe.tip(reference)
    }

    fn newest(&mut self, reference: Option<&Reference>, queries: &[&Query<'_>]) -> Result<Vec<Newest>> {
        let mut asked = None;
        let mut answers = Vec::with_capacity(queries.len());
        for query in queries {
            let tip = match (fixed(reference, query.locked), &asked) {
                (Some(commit), _) => Some(commit),
                (None, Some(tip)) => Option::clone(tip),
                (None, None) => asked.insert(self.probe.tip(reference)?).clone(),
            };
            let files = match (&tip, query.locked.revision.as_deref()) {
                (Some(commit), Some(locked)) if commit == locked => Files::Same,
                (Some(commit), locked) => {
                    let new = self.probe.tree(commit, query.path());
                    let old =
                        || locked.map_or(Identity::Unknown, |locked| self.probe.tree(locked, query.path()));
                    compare(self.context, query, &new, old)
                }
                (None, _) => Files::Unknown,
            };
            answers.push(Newest { revision: tip, files });
        }
        Ok(answers)
    }

    fn tags(&mut self, prefix: &str) -> Result<Vec<String>> {
        self.probe.tags(prefix)
    }
}
