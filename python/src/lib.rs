//! The extension module `skillpm._native`.
//!
//! It translates: types and errors of the library into those of Python, and back. What a call does is the
//! library's to decide. Every call that looks at a disk, runs a program or waits for a server lets go of the
//! interpreter for as long, see [`call`].

mod call;
mod command;
mod errors;
mod json;
mod metadata;
mod repr;

use pyo3::prelude::pymodule;

/// The native part of the package `skillpm`.
#[pymodule]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::command::main;
    #[pymodule_export]
    use crate::metadata::SkillMetadata;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
