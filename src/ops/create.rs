//! `create`: a new skill.

use std::path::PathBuf;

use crate::context::Context;
use crate::error::Result;

/// What is to be made.
#[derive(Debug, Clone, Default)]
pub struct CreateRequest {
    /// The skill's name.
    pub name: String,
    /// What it does and when to use it; a text to be replaced where it is `None`.
    pub description: Option<String>,
    /// The directory in which the skill's own is made; the working directory where it is `None`.
    pub parent: Option<PathBuf>,
}

/// What was made.
#[derive(Debug, Clone)]
pub struct CreateOutcome {
    /// The skill's directory.
    pub path: PathBuf,
}

/// Makes a new skill in a directory of its name.
///
/// # Errors
///
/// A name that the specification refuses, a directory that is there already, or one that cannot be
/// written.
pub fn create(context: &Context, request: &CreateRequest) -> Result<CreateOutcome> {
    let _ = (context, request);
    Err(crate::error::Error::usage("not built yet"))
}
