//! The command `skillpm`.

use std::ffi::OsString;

use pyo3::prelude::*;

use crate::call;
use crate::given::Given;

/// Runs the command with `argv`, the program's name first, and returns its exit code.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, argv: Given<Vec<OsString>>) -> PyResult<u8> {
    call::run(py, || Ok(skillpm::cli::run(argv.0)))
}
