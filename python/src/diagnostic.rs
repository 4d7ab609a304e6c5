//! What went wrong, or is worth knowing, where nothing is raised.

use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use skillpm_core::engine;
use skillpm_format::document::Position;
use skillpm_format::lint::Severity;

use crate::given::Given;
use crate::repr::Repr;

/// Something that was found, with its place. It cannot be changed.
#[pyclass(frozen, eq, hash, get_all, module = "skillpm", from_py_object)]
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Diagnostic {
    code: String,
    severity: String,
    message: String,
    path: Option<PathBuf>,
    line: Option<usize>,
    column: Option<usize>,
}

impl Diagnostic {
    /// `message` of the kind `code` about `path`, at the place `at` of it.
    pub(crate) fn at(
        code: &str,
        severity: Severity,
        message: String,
        path: &Path,
        at: Option<Position>,
    ) -> Self {
        Self {
            code: code.to_owned(),
            severity: severity.to_string(),
            message,
            path: Some(path.to_owned()),
            line: at.map(|at| at.line),
            column: at.map(|at| at.column),
        }
    }
}

impl From<&engine::Diagnostic> for Diagnostic {
    fn from(told: &engine::Diagnostic) -> Self {
        Self::at(told.code(), told.severity(), told.to_string(), told.path(), told.at())
    }
}

#[pymethods]
impl Diagnostic {
    #[new]
    #[pyo3(signature = (code, severity, message, path=None, line=None, column=None))]
    fn new(
        code: Given<String>,
        severity: Given<String>,
        message: Given<String>,
        path: Option<Given<PathBuf>>,
        line: Option<usize>,
        column: Option<usize>,
    ) -> Self {
        let (code, severity, message) = (code.0, severity.0, message.0);
        Self { code, severity, message, path: path.map(|path| path.0), line, column }
    }

    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("code", &self.code)?;
        dict.set_item("severity", &self.severity)?;
        dict.set_item("message", &self.message)?;
        dict.set_item("path", self.path.as_ref().map(|path| path.to_string_lossy()))?;
        dict.set_item("line", self.line)?;
        dict.set_item("column", self.column)?;
        Ok(dict)
    }

    fn __repr__(&self) -> String {
        let place = |repr: Repr, name: &str, at: Option<usize>| match at {
            Some(at) => repr.plain(name, at),
            None => repr,
        };
        let repr = Repr::of("Diagnostic").text("code", &self.code).text("severity", &self.severity);
        let repr = repr.text("message", &self.message);
        let repr = self.path.iter().fold(repr, |repr, path| repr.path("path", path));
        place(place(repr, "line", self.line), "column", self.column).finish()
    }

    fn __getnewargs__(&self) -> (&str, &str, &str, Option<PathBuf>, Option<usize>, Option<usize>) {
        (&self.code, &self.severity, &self.message, self.path.clone(), self.line, self.column)
    }
}
