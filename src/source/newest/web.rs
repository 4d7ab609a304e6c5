//! Files on the web, and sites: what their servers say of what was fetched before.

use std::sync::Arc;

use super::{Ask, Files, Newest, Query, here::hashed};
use crate::context::Context;
use crate::error::Result;
use crate::refusal::Limits;
use crate::source::{Shelf, download, site};
use crate::spec::{Address, Identity, Reference};

/// A file.
pub(super) struct File<'a> {
    pub(super) context: &'a Context,
    pub(super) address: &'a Address,
}

impl Ask for File<'_> {
    fn tip(&mut self, _: Option<&Reference>) -> Result<Option<String>> {
        Ok(None)
    }

    fn newest(&mut self, _: Option<&Reference>, queries: &[&Query<'_>]) -> Result<Vec<Newest>> {
        let current = download::current(self.context, self.address, &Limits::default())?;
        // The file that is kept need not be the one that was locked: its bytes tell.
        let files = |query| current.as_ref().map_or(Files::Unknown, |opened| hashed(&opened.tree, query));
        Ok(queries.iter().map(|query| Newest { revision: None, files: files(query) }).collect())
    }

    fn tags(&mut self, _: &str) -> Result<Vec<String>> {
        Ok(Vec::new())
    }
}

/// A site, with its index.
pub(super) struct Site {
    shelf: Option<Arc<dyn Shelf>>,
}

impl Site {
    pub(super) fn new(context: &Context, address: &Address) -> Result<Self> {
        Ok(Self { shelf: site::open(context, address, &Limits::default())?.shelf })
    }
}

impl Ask for Site {
    fn tip(&mut self, _: Option<&Reference>) -> Result<Option<String>> {
        Ok(None)
    }

    fn newest(&mut self, _: Option<&Reference>, queries: &[&Query<'_>]) -> Result<Vec<Newest>> {
        let answer = |query: &&Query<'_>| {
            let listed = match &self.shelf {
                Some(shelf) => shelf.revision(query.path())?,
                None => Identity::Unknown,
            };
            let locked = query.locked.revision.as_deref();
            Ok(match listed {
                Identity::Id(digest) if locked == Some(digest.as_str()) => {
                    Newest { revision: Some(digest), files: Files::Same }
                }
                Identity::Id(digest) => Newest { revision: Some(digest), files: Files::Changed },
                Identity::Absent => Newest { revision: None, files: Files::Gone },
                Identity::Unknown => Newest { revision: None, files: Files::Unknown },
            })
        };
        queries.iter().map(answer).collect()
    }

    fn tags(&mut self, _: &str) -> Result<Vec<String>> {
        Ok(Vec::new())
    }
}
