//! The extension module `skillpm._native`.
//!
//! It translates types and errors of the library into those of Python, and back. The library decides what a call
//! does. Every call that reads a disk, runs a program or waits for a server releases the interpreter meanwhile:
//! see `call`.

mod call;
#[cfg(feature = "command")]
mod command;
mod diagnostic;
mod errors;
mod fields;
mod given;
mod json;
mod library;
mod metadata;
mod repr;
mod result;
mod running;
mod script;
mod skill;
mod surroundings;
mod toolkit;
mod value;
mod verbs;
mod words;

use pyo3::prelude::pymodule;

/// The native part of the package `skillpm`.
#[pymodule]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::call::Waiter;
    #[cfg(debug_assertions)]
    #[pymodule_export]
    use crate::call::fail;
    #[cfg(feature = "command")]
    #[pymodule_export]
    use crate::command::main;
    #[pymodule_export]
    use crate::diagnostic::Diagnostic;
    #[pymodule_export]
    use crate::library::Library;
    #[pymodule_export]
    use crate::metadata::SkillMetadata;
    #[pymodule_export]
    use crate::result::ScriptResult;
    #[pymodule_export]
    use crate::running::{Stop, run};
    #[pymodule_export]
    use crate::script::Script;
    #[pymodule_export]
    use crate::skill::Skill;
    #[pymodule_export]
    use crate::toolkit::Kit;
    #[pymodule_export]
    use crate::value::Value;
    #[pymodule_export]
    use crate::verbs::{manage, validate};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
