//! Kinds of sources that this build leaves out.

use super::{FetchedSource, Source, Wanted};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::scope_kind::ScopeRoot;
use crate::spec::Origin;

/// A source that can be named and locked, but not fetched.
impl Source for Origin {
    fn open(&self, _: &Context, _: ScopeRoot<'_>, _: Wanted<'_>) -> Result<FetchedSource> {
        let why = if self.web_address().is_none() && cfg!(feature = "http") {
            "reads no git repositories"
        } else {
            "has no network"
        };
        Err(Error::network(format!("`{}` cannot be fetched: this build {why}", self.typed())))
    }

    fn settle(&self, context: &Context, _: ScopeRoot<'_>) -> Result<Option<Origin>> {
        Ok(self.on_host(&context.settings.github.host))
    }
}
