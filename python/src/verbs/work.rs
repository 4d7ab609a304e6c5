//! A verb that is ready to be done, and what it has to say.

use serde_json::Value;
use skillpm_format::advice::{Message, Warning};
use skillpm_sources::context::Context;
use skillpm_sources::error::{Error, Failure, Result};

use super::review::{Accept, Reviewer};

/// What is done in a context. New capabilities are for the reviewer.
type Do = Box<dyn FnOnce(&Context, &Reviewer) -> Result<Told> + Send>;

/// A verb with its request.
pub(super) struct Work {
    pub(super) accept: Option<Accept>,
    pub(super) run: Do,
}

impl Work {
    pub(super) fn new(run: impl FnOnce(&Context) -> Result<Told> + Send + 'static) -> Self {
        Self::reviewed(None, move |context, _| run(context))
    }

    /// Work whose new capabilities `accept` is asked about.
    pub(super) fn reviewed(
        accept: Option<Accept>,
        run: impl FnOnce(&Context, &Reviewer) -> Result<Told> + Send + 'static,
    ) -> Self {
        Self { accept, run: Box::new(run) }
    }
}

/// An outcome as data, and what is to be said beside it.
pub(super) struct Told {
    pub(super) value: Value,
    pub(super) warnings: Vec<Message>,
}

impl Told {
    pub(super) fn new(outcome: serde_json::Result<Value>) -> Self {
        // Plain data always serializes.
        Self { value: outcome.unwrap_or_default(), warnings: Vec::new() }
    }

    pub(super) fn warnings(mut self, warnings: &[Warning]) -> Self {
        self.warnings.extend(warnings.iter().map(|warning| warning.message.clone()));
        self
    }

    pub(super) fn failures<'a>(mut self, failures: impl IntoIterator<Item = &'a Failure>) -> Self {
        self.warnings.extend(failures.into_iter().map(|failure| failure.message.clone()));
        self
    }

    pub(super) fn errors(mut self, errors: &[Error]) -> Self {
        self.warnings.extend(errors.iter().map(Error::with_causes));
        self
    }
}
