//! Values of JSON as those of Python, and back.

use std::fmt;

use pyo3::exceptions::{PyOverflowError, PyRecursionError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};
use serde_json::{Map, Number, Value};
use skillpm_core::session::SessionError;

use crate::{errors, given};

/// Deeper values are refused: each level costs stack.
const MAX_DEPTH: usize = 100;

/// Why a value is none of JSON.
pub(crate) enum Unfit {
    /// More levels than are read.
    Deep,
    /// A whole number that no machine word holds.
    Large,
    /// Not a number, or one without end.
    Infinite,
    /// A value of another type, and whatever Python raised.
    Raised(PyErr),
}

impl From<PyErr> for Unfit {
    fn from(error: PyErr) -> Self {
        Self::Raised(error)
    }
}

impl Unfit {
    /// What is raised where a program made the value.
    fn into_error(self, py: Python<'_>) -> PyErr {
        let text = self.to_string();
        match self {
            Self::Deep => PyRecursionError::new_err(text),
            Self::Large => PyOverflowError::new_err(text),
            Self::Infinite => PyTypeError::new_err(text),
            Self::Raised(error) => given::told(py, error),
        }
    }
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Deep => "the value is nested too deeply",
            Self::Large => "a whole number is too large",
            Self::Infinite => "JSON has no infinite numbers",
            Self::Raised(_) => "the value is not JSON",
        })
    }
}

/// `value` as Python has it: numbers that fit no machine word are floats, as for the reader of JSON.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(value) => PyBool::new(py, *value).to_owned().into_any(),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => number.into_pyobject(py)?.into_any(),
            (None, Some(number)) => number.into_pyobject(py)?.into_any(),
            (None, None) => PyFloat::new(py, number.as_f64().unwrap_or(f64::NAN)).into_any(),
        },
        Value::String(text) => PyString::new(py, text).into_any(),
        Value::Array(values) => {
            let items: Vec<_> = values.iter().map(|value| to_python(py, value)).collect::<PyResult<_>>()?;
            PyList::new(py, items)?.into_any()
        }
        Value::Object(map) => dict(py, map)?.into_any(),
    })
}

/// A dictionary of its own for each caller.
pub(crate) fn dict<'py>(py: Python<'py>, map: &Map<String, Value>) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (key, value) in map {
        dict.set_item(key, to_python(py, value)?)?;
    }
    Ok(dict)
}

/// What JSON can say of `value`.
pub(crate) fn from_python(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    level(value, MAX_DEPTH).map_err(|unfit| unfit.into_error(value.py()))
}

/// The arguments of a script. Models write them: what JSON can be written of and no script gets is told of as all
/// arguments that do not fit.
pub(crate) fn arguments(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    let py = value.py();
    level(value, MAX_DEPTH).map_err(|unfit| match unfit {
        Unfit::Raised(error) => given::told(py, error),
        unfit => errors::raised(py, SessionError::Arguments(unfit.to_string())),
    })
}

/// The pairs of a mapping.
pub(crate) fn map_from_python(value: &Bound<'_, PyAny>) -> PyResult<Map<String, Value>> {
    match from_python(value)? {
        Value::Object(map) => Ok(map),
        Value::Null => Ok(Map::new()),
        _ => Err(PyTypeError::new_err(format!("a mapping is expected, not {}", value.get_type().name()?))),
    }
}

fn level(value: &Bound<'_, PyAny>, left: usize) -> Result<Value, Unfit> {
    let Some(left) = left.checked_sub(1) else { return Err(Unfit::Deep) };
    if value.is_none() {
        return Ok(Value::Null);
    }
    // A bool is an int, too.
    if let Ok(value) = value.cast::<PyBool>() {
        return Ok(Value::Bool(value.is_true()));
    }
    if value.is_instance_of::<PyInt>() {
        if let Ok(number) = value.extract::<i64>() {
            return Ok(number.into());
        }
        return value.extract::<u64>().map(Value::from).map_err(|_| Unfit::Large);
    }
    if let Ok(number) = value.cast::<PyFloat>() {
        let finite = Number::from_f64(number.value());
        return finite.map(Value::Number).ok_or(Unfit::Infinite);
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Value::String(text.to_cow()?.into_owned()));
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let items = value.try_iter()?.map(|item| level(&item?, left)).collect::<Result<_, _>>()?;
        return Ok(Value::Array(items));
    }
    if let Ok(mapping) = value.cast::<PyMapping>() {
        let mut map = Map::new();
        for pair in mapping.items()? {
            let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair.extract()?;
            let key = key.cast::<PyString>().map_err(|_| PyTypeError::new_err("keys must be strings"))?;
            map.insert(key.to_cow()?.into_owned(), level(&value, left)?);
        }
        return Ok(Value::Object(map));
    }
    Err(PyTypeError::new_err(format!("{} cannot be written as JSON", value.get_type().name()?)).into())
}
