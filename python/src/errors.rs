//! Exceptions. Their classes are written in Python, `skillpm/_errors.py`.

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use skillpm::error::{Error, ErrorKind};

/// The module with the classes.
const MODULE: &str = "skillpm._errors";

/// An exception of the class `class`, with what else is known as keyword arguments.
pub(crate) struct Raise<'py> {
    class: &'static str,
    message: String,
    known: Bound<'py, PyDict>,
}

impl<'py> Raise<'py> {
    pub(crate) fn new(py: Python<'py>, class: &'static str, message: impl Into<String>) -> Self {
        Self { class, message: message.into(), known: PyDict::new(py) }
    }

    /// Adds what is called `name`. A value that Python cannot have is left out: the message is what matters.
    pub(crate) fn with<T: IntoPyObjectExt<'py>>(self, name: &str, value: T) -> Self {
        if let Ok(value) = value.into_py_any(self.known.py()) {
            let _ = self.known.set_item(name, value);
        }
        self
    }

    /// The exception; where not even its class can be found, the reason for that.
    pub(crate) fn into_error(self) -> PyErr {
        let Self { class, message, known } = self;
        let py = known.py();
        let made = py
            .import(MODULE)
            .and_then(|module| module.getattr(class))
            .and_then(|class| class.call((message,), Some(&known)));
        made.map_or_else(|error| error, PyErr::from_value)
    }
}

/// The exception for a failure of a verb.
pub(crate) fn raised(py: Python<'_>, error: &Error) -> PyErr {
    let (class, code) = match error.kind() {
        ErrorKind::Findings => ("SkillParseError", "unusable"),
        ErrorKind::Usage => ("ConfigurationError", "usage"),
        ErrorKind::Config => ("ConfigurationError", "configuration"),
        ErrorKind::Network => ("NetworkError", "network"),
        ErrorKind::Integrity => ("IntegrityError", "integrity"),
        ErrorKind::Io => ("StorageError", "storage"),
    };
    let raise = Raise::new(py, class, error.with_causes()).with("code", code);
    with_hints(raise, error.hints()).into_error()
}

/// Adds what to do about it, a line each.
pub(crate) fn with_hints<'py>(raise: Raise<'py>, hints: &[String]) -> Raise<'py> {
    if hints.is_empty() { raise } else { raise.with("hint", hints.join("\n")) }
}

/// The exception for a panic that said `said`.
pub(crate) fn defect(py: Python<'_>, said: &str) -> PyErr {
    Raise::new(py, "InternalError", format!("skillpm failed in a way that it should not: {said}"))
        .with("code", "internal")
        .with("hint", concat!("please report it: ", env!("CARGO_PKG_REPOSITORY"), "/issues"))
        .into_error()
}
