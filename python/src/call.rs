//! The one way into the library.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use pyo3::prelude::*;
use skillpm::engine::tools::{CallError, ToolSet};
use skillpm::engine::{FileError, LookupError, Skill};
use skillpm::error::Error;

use crate::errors;
#[cfg(debug_assertions)]
use crate::given::Given;

/// Why the library did not do what was asked of it.
pub(crate) enum Failure {
    /// A name that leads to no skill.
    Lookup(LookupError),
    /// A file of a skill that is not read.
    File(FileError),
    /// A manifest of scripts that is not right.
    Manifest {
        /// Whose it is.
        skill: Arc<Skill>,
        /// What it has, the faults included.
        set: Arc<ToolSet>,
    },
    /// A name that leads to no script of a skill.
    NoScript {
        /// What was asked for.
        script: String,
        /// Why there is none.
        error: Error,
    },
    /// Arguments that do not fit a script.
    Call(CallError),
    /// Anything else that a verb fails by.
    Verb(Error),
}

impl From<LookupError> for Failure {
    fn from(error: LookupError) -> Self {
        Self::Lookup(error)
    }
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Skill(error) => Self::Lookup(error),
            error @ FileError::File { .. } => Self::File(error),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Verb(error)
    }
}

/// Runs `work` without the interpreter, so that other threads go on, and turns its failure into an exception.
///
/// A panic is a defect of skillpm. It becomes an exception like any other: what is no subclass of `Exception`
/// would end a host that is prepared for everything else.
pub(crate) fn run<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T, Failure> + Send) -> PyResult<T> {
    // Whatever `work` borrows is either read only or whole again after a failure.
    let done = py.detach(|| catch_unwind(AssertUnwindSafe(work)));
    match done {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(failure)) => Err(errors::raised(py, failure)),
        Err(panic) => {
            let text = panic.downcast_ref::<&str>().copied();
            let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
            Err(errors::defect(py, text.unwrap_or("no reason was given")))
        }
    }
}

/// Panics, in builds for tests only: what becomes of a panic can be seen in no other way.
#[cfg(debug_assertions)]
#[pyfunction]
pub(crate) fn fail(py: Python<'_>, text: Given<String>) -> PyResult<()> {
    #[expect(clippy::panic, reason = "it is what is tested")]
    run(py, || panic!("{}", *text))
}
