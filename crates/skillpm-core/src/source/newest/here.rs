//! Sources on this machine: they are read and hashed.

use super::{Ask, Files, Newest, Query};
use crate::context::Context;
use crate::error::Result;
use crate::refusal::Limits;
use crate::scope::ScopeRoot;
use crate::source::{Source, Wanted};
use crate::spec::Reference;
use crate::tree::Tree;

/// A source that is opened in order to query it.
pub(in crate::source) struct LocalNewest<'a> {
    pub(in crate::source) context: &'a Context,
    pub(in crate::source) scope: ScopeRoot<'a>,
    pub(in crate::source) source: &'a dyn Source,
}

impl Ask for LocalNewest<'_> {
    fn tip(&mut self, _: Option<&Reference>) -> Result<Option<String>> {
        Ok(self.source.open(self.context, self.scope, Wanted::Now(None))?.revision)
    }

    fn newest(&mut self, _: Option<&Reference>, queries: &[&Query<'_>]) -> Result<Vec<Newest>> {
        let opened = self.source.open(self.context, self.scope, Wanted::Now(None))?;
        let answer = |query: &&Query<'_>| Newest {
            revision: opened.revision.clone(),
            files: hashed(&opened.tree, query),
        };
        Ok(queries.iter().map(answer).collect())
    }
}

/// Compares the skill in `tree` with the locked one, byte by byte.
pub(in crate::source) fn hashed(tree: &Tree, query: &Query<'_>) -> Files {
    if tree.below(query.path()).next().is_none() {
        return if query.anywhere { Files::Unknown } else { Files::Gone };
    }
    // Content that no skill may have differs from what was locked.
    match tree.skill(query.path(), &Limits::default()).and_then(|set| set.digest()) {
        Ok(digest) if digest == query.locked.digest => Files::Same,
        _ => Files::Changed,
    }
}
