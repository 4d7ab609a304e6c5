//! Values that come from Python with texts in them.

use std::ops::Deref;

use pyo3::exceptions::PyUnicodeEncodeError;
use pyo3::prelude::*;

use crate::errors;

/// A value with texts or paths in it.
///
/// A text of Python may hold half of a surrogate pair, as after `json.loads`. No file, no program and no name of
/// a skill has such a character, so it is an argument like any other that makes no sense.
pub(crate) struct Given<T>(pub(crate) T);

impl<T> Deref for Given<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<'a, 'py, T: FromPyObject<'a, 'py>> FromPyObject<'a, 'py> for Given<T> {
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        T::extract(value).map(Self).map_err(|error| told(value.py(), error.into()))
    }
}

/// `error`, or what is raised in its place where a text that cannot be encoded is behind it.
pub(crate) fn told(py: Python<'_>, error: PyErr) -> PyErr {
    let mut cause = Some(error.clone_ref(py));
    while let Some(behind) = cause {
        if behind.is_instance_of::<PyUnicodeEncodeError>(py) {
            let index = behind.value(py).getattr("start").and_then(|start| start.extract::<usize>());
            return errors::no_text(py, index.unwrap_or_default());
        }
        cause = behind.cause(py);
    }
    error
}
