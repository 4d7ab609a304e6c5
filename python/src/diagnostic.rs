//! What went wrong, or is worth knowing, where nothing is raised.

use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use skillpm_core::engine;
use skillpm_format::document::Position;
use skillpm_format::lint::Severity;

use crate::errors;
use crate::fields::{Field, Kind, Table};
use crate::given::Given;
use crate::repr::Repr;
use crate::value::{Value, init, value};

/// All severities. The worst is first.
const SEVERITIES: [&str; 3] = ["error", "warning", "note"];

/// Something that was found, with its place. It cannot be changed.
///
/// ``skillpm explain`` explains most codes.
#[pyclass(frozen, eq, hash, get_all, extends = Value, module = "skillpm", from_py_object)]
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Diagnostic {
    /// What it is, for programs: often a rule of ``skillpm validate``.
    code: String,
    /// How bad it is. Nothing has to be done about a ``note``.
    severity: &'static str,
    /// What it is, for people.
    message: String,
    /// The file or directory that it is about.
    path: Option<PathBuf>,
    /// The line in the file, from 1.
    line: Option<usize>,
    /// The column in the line, from 1.
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
            severity: word(severity),
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
        py: Python<'_>,
        code: Given<String>,
        severity: Given<String>,
        message: Given<String>,
        path: Option<Given<PathBuf>>,
        line: Option<usize>,
        column: Option<usize>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let Some(severity) = SEVERITIES.into_iter().find(|known| *known == severity.0) else {
            return Err(errors::choice(py, "severity", "`error`, `warning` or `note`", &severity));
        };
        let (code, message, path) = (code.0, message.0, path.map(|path| path.0));
        Ok(init(Self { code, severity, message, path, line, column }))
    }

    #[classattr]
    fn __match_args__(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
        TABLE.match_args(py)
    }

    fn __repr__(&self) -> String {
        let place = |repr: Repr, name: &str, at: Option<usize>| match at {
            Some(at) => repr.plain(name, at),
            None => repr,
        };
        let repr = Repr::of("Diagnostic").text("code", &self.code).text("severity", self.severity);
        let repr = repr.text("message", &self.message);
        let repr = self.path.iter().fold(repr, |repr, path| repr.path("path", path));
        place(place(repr, "line", self.line), "column", self.column).finish()
    }
}

value!(Diagnostic);

pub(crate) static TABLE: Table = Table::new(
    "Diagnostic",
    6,
    &[
        Field::required("code", Kind::Text),
        Field::required("severity", Kind::OneOf(&SEVERITIES)),
        Field::required("message", Kind::Text),
        Field::or_none("path", Kind::Path),
        Field::or_none("line", Kind::Position),
        Field::or_none("column", Kind::Position),
    ],
);

/// Returns the word for `severity`.
fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}
