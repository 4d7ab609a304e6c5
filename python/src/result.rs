//! What a script wrote.

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use skillpm_core::engine::run::{Captured, Ran};

use crate::fields::{Field, Kind, Table};
use crate::given::Given;
use crate::repr::Repr;
use crate::running;
use crate::value::{Value, init, value};

/// What a script that ended well wrote. It cannot be changed.
///
/// ``str()`` of it is ``stdout``.
#[pyclass(frozen, eq, get_all, extends = Value, module = "skillpm", from_py_object)]
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ScriptResult {
    /// What it wrote to standard output, with a mark for what is not text.
    stdout: String,
    /// What it wrote to standard error, with a mark for what is not text.
    stderr: String,
    /// The code with which it ended.
    exit_code: i32,
    /// Whether it wrote more than is kept.
    truncated: bool,
    /// The seconds that it took.
    duration: f64,
}

impl ScriptResult {
    pub(crate) fn of(ran: Ran) -> Self {
        Self {
            exit_code: running::exit_code(&ran).unwrap_or_default(),
            truncated: ran.stdout.is_cut() || ran.stderr.is_cut(),
            duration: ran.duration.as_secs_f64(),
            stdout: text(ran.stdout),
            stderr: text(ran.stderr),
        }
    }
}

/// Returns what was written, with a mark for what is not text. Text is not copied: it may be much.
fn text(captured: Captured) -> String {
    String::from_utf8(captured.bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

#[pymethods]
impl ScriptResult {
    #[new]
    #[pyo3(signature = (stdout, stderr=Given(String::new()), exit_code=0, truncated=false, duration=0.0))]
    fn new(
        stdout: Given<String>,
        stderr: Given<String>,
        exit_code: i32,
        truncated: bool,
        duration: f64,
    ) -> PyClassInitializer<Self> {
        init(Self { stdout: stdout.0, stderr: stderr.0, exit_code, truncated, duration })
    }

    fn __str__(&self) -> &str {
        &self.stdout
    }

    fn __hash__(&self) -> isize {
        isize::try_from(self.stdout.len()).unwrap_or_default()
    }

    #[classattr]
    fn __match_args__(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
        TABLE.match_args(py)
    }

    fn __repr__(&self) -> String {
        Repr::of("ScriptResult")
            .short("stdout", &self.stdout)
            .short("stderr", &self.stderr)
            .plain("exit_code", self.exit_code)
            .finish()
    }
}

value!(ScriptResult);

pub(crate) static TABLE: Table = Table::new(
    "ScriptResult",
    5,
    &[
        Field::required("stdout", Kind::Text),
        Field::or_empty("stderr", Kind::Text),
        Field::or_empty("exit_code", Kind::Integer),
        Field::or_empty("truncated", Kind::Flag),
        Field::or_empty("duration", Kind::Number),
    ],
);
