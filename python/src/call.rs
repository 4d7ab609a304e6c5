//! The one way into the library.

use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::prelude::*;
use skillpm::error::Error;

use crate::errors;

/// Runs `work` without the interpreter, so that other threads go on, and turns its failure into an exception.
///
/// A panic is a defect of skillpm. It becomes an exception like any other: what is no subclass of `Exception`
/// would end a host that is prepared for everything else.
pub(crate) fn run<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T, Error> + Send) -> PyResult<T> {
    // Whatever `work` borrows is either read only or not looked at again after a failure.
    let done = py.detach(|| catch_unwind(AssertUnwindSafe(work)));
    match done {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(errors::raised(py, &error)),
        Err(panic) => {
            let said =
                panic.downcast_ref::<&str>().copied().or(panic.downcast_ref::<String>().map(String::as_str));
            Err(errors::defect(py, said.unwrap_or("no reason was given")))
        }
    }
}
