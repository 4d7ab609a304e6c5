//! `invoke`: what an agent would get.

use crate::context::Context;
use crate::error::Result;

/// Which skill, with what.
#[derive(Debug, Clone, Default)]
pub struct InvokeRequest {
    /// The skill's name.
    pub name: String,
    /// The arguments, as one text.
    pub arguments: String,
}

/// What an agent would get.
#[derive(Debug, Clone)]
pub struct InvokeOutcome {
    /// The processed content.
    pub content: String,
    /// What was wrong with the skill and did not matter.
    pub warnings: Vec<String>,
}

/// Returns what an agent would get. Nothing is run and nothing is written.
///
/// # Errors
///
/// An unknown skill, or one that cannot be loaded.
pub fn invoke(context: &Context, request: &InvokeRequest) -> Result<InvokeOutcome> {
    let _ = (context, request);
    Err(crate::error::Error::usage("not built yet"))
}
