//! What lies on this machine: it is read and hashed.

use super::{Ask, Files, Newest, Query};
use crate::context::Context;
use crate::error::Result;
use crate::refusal::Limits;
use crate::scope::ScopeRoot;
use crate::source::{self, Wanted};
use crate::spec::{Origin, Reference};
use crate::tree::Tree;

/// A path, or an installed package.
pub(super) struct Here<'a> {
    pub(super) context: &'a Context,
    pub(super) scope: ScopeRoot<'a>,
    pub(super) origin: &'a Origin,
}

impl Ask for Here<'_> {
    fn tip(&mut self, _: Option<&Reference>) -> Result<Option<String>> {
        Ok(source::open(self.context, self.scope, self.origin, Wanted::Now(None))?.revision)
    }

    fn newest(&mut self, _: Option<&Reference>, queries: &[&Query<'_>]) -> Result<Vec<Newest>> {
        let opened = source::open(self.context, self.scope, self.origin, Wanted::Now(None))?;
        let answer = |query: &&Query<'_>| Newest {
            revision: opened.revision.clone(),
            files: hashed(&opened.tree, query),
        };
        Ok(queries.iter().map(answer).collect())
    }

    fn tags(&mut self, _: &str) -> Result<Vec<String>> {
        Ok(Vec::new())
    }
}

/// How the skill in `tree` compares to what is locked, byte by byte.
pub(super) fn hashed(tree: &Tree, query: &Query<'_>) -> Files {
    if tree.below(query.path()).next().is_none() {
        return if query.anywhere { Files::Unknown } else { Files::Gone };
    }
    // What no skill may have is another content than the one that was locked.
    match tree.skill(query.path(), &Limits::default()).and_then(|set| set.digest()) {
        Ok(digest) if digest == query.locked.digest => Files::Same,
        _ => Files::Changed,
    }
}
