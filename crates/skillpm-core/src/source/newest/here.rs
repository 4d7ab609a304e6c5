//! What is on this machine: it is read and hashed.

use super::{Ask, Files, Newest, Query};
use crate::context::Context;
use crate::error::Result;
use crate::refusal::Limits;
use crate::scope::ScopeRoot;
use crate::source::{Source, Wanted};
use crate::spec::Reference;
use crate::tree::Tree;

/// A source that is opened to be asked.
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

/// Returns how the skill in `tree` compares with what is locked, byte by byte.
pub(in crate::source) fn hashed(tree: &Tree, query: &Query<'_>) -> Files {
    if tree.below(query.path()).next().is_none() {
        return if query.anywhere { Files::Unknown } else { Files::Gone };
    }
    // What no skill may have is another content than the one that was locked.
    match tree.skill(query.path(), &Limits::default()).and_then(|set| set.digest()) {
        Ok(digest) if digest == query.locked.digest => Files::Same,
        _ => Files::Changed,
    }
}
