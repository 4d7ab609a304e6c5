//! The keyword options of a verb.

use std::path::PathBuf;
use std::time::Duration;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::errors;
use crate::given::Given;

/// Options that are not taken yet.
pub(super) struct Options<'py>(Bound<'py, PyDict>);

impl<'py> Options<'py> {
    /// Those in `given`, which stays as it is.
    pub(super) fn new(given: &Bound<'py, PyDict>) -> PyResult<Self> {
        Ok(Self(given.copy()?))
    }

    pub(super) fn py(&self) -> Python<'py> {
        self.0.py()
    }

    /// The value of `name`; `None` where it is not given, or is `None`.
    pub(super) fn value(&self, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let value = self.0.get_item(name)?;
        if value.is_some() {
            self.0.del_item(name)?;
        }
        Ok(value.filter(|value| !value.is_none()))
    }

    /// The value of `name`, if it is given.
    pub(super) fn optional<T: for<'a, 'b> FromPyObject<'a, 'b>>(&self, name: &str) -> PyResult<Option<T>> {
        self.value(name)?.map(|value| extracted(&value, name)).transpose()
    }

    /// The value of `name`, else `false`, `0` or the like.
    pub(super) fn take<T: for<'a, 'b> FromPyObject<'a, 'b> + Default>(&self, name: &str) -> PyResult<T> {
        Ok(self.optional(name)?.unwrap_or_default())
    }

    pub(super) fn flag(&self, name: &str) -> PyResult<bool> {
        self.take(name)
    }

    pub(super) fn text(&self, name: &str) -> PyResult<Option<String>> {
        Ok(self.optional::<Given<String>>(name)?.map(|text| text.0))
    }

    pub(super) fn path(&self, name: &str) -> PyResult<Option<PathBuf>> {
        Ok(self.optional::<Given<PathBuf>>(name)?.map(|path| path.0))
    }

    /// Texts, of which one may stand alone.
    pub(super) fn texts(&self, name: &str) -> PyResult<Vec<String>> {
        self.several(name)
    }

    /// Paths, of which one may stand alone.
    pub(super) fn paths(&self, name: &str) -> PyResult<Vec<PathBuf>> {
        self.several(name)
    }

    fn several<T: for<'a, 'b> FromPyObject<'a, 'b>>(&self, name: &str) -> PyResult<Vec<T>> {
        let Some(value) = self.value(name)? else { return Ok(Vec::new()) };
        several(&value, name)
    }

    /// A whole number from 1; `None` where it is not given.
    pub(super) fn count(&self, name: &str) -> PyResult<Option<usize>> {
        let Some(value) = self.value(name)? else { return Ok(None) };
        match errors::number(&value, name)? {
            0 => Err(errors::choice(self.py(), name, "a whole number from 1", "0")),
            number => Ok(Some(number)),
        }
    }

    /// A number of seconds above 0; `None` where it is not given.
    pub(super) fn seconds(&self, name: &str) -> PyResult<Option<Duration>> {
        let Some(seconds) = self.optional::<f64>(name)? else { return Ok(None) };
        match Duration::try_from_secs_f64(seconds) {
            Ok(time) if !time.is_zero() => Ok(Some(time)),
            _ => {
                let choices = "a number of seconds above 0";
                Err(errors::choice(self.py(), name, choices, &seconds.to_string()))
            }
        }
    }

    /// The value of `name`, which is written as one of `T`; `choices` says what there is.
    pub(super) fn parsed<T: std::str::FromStr>(&self, name: &str, choices: &str) -> PyResult<Option<T>> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        text.parse().map(Some).map_err(|_| errors::choice(self.py(), name, choices, &text))
    }

    /// Refuses more than one of these options, of which each is given or not.
    pub(super) fn exclusive(&self, options: &[(&str, bool)]) -> PyResult<()> {
        let given: Vec<_> = options.iter().filter(|(_, is_given)| *is_given).map(|(name, _)| name).collect();
        match given[..] {
            [one, other, ..] => {
                Err(errors::unknown(self.py(), &format!("`{one}` and `{other}` exclude each other")))
            }
            _ => Ok(()),
        }
    }

    /// Refuses what no verb has taken.
    pub(super) fn finish(self) -> PyResult<()> {
        match self.0.keys().iter().next() {
            Some(name) => Err(PyTypeError::new_err(format!("unexpected keyword argument '{name}'"))),
            None => Ok(()),
        }
    }
}

/// Values of `given` for `name`, of which one may stand alone.
pub(super) fn several<T: for<'a, 'b> FromPyObject<'a, 'b>>(
    given: &Bound<'_, PyAny>,
    name: &str,
) -> PyResult<Vec<T>> {
    let is_path = |value: &Bound<'_, PyAny>| value.hasattr("__fspath__").unwrap_or_default();
    if given.is_instance_of::<PyString>() || is_path(given) {
        return Ok(vec![extracted(given, name)?]);
    }
    let items = given.try_iter().map_err(|error| errors::named(given.py(), name, &error))?;
    items.map(|item| extracted(&item?, name)).collect()
}

fn extracted<T: for<'a, 'b> FromPyObject<'a, 'b>>(value: &Bound<'_, PyAny>, name: &str) -> PyResult<T> {
    value.extract::<T>().map_err(|error| errors::named(value.py(), name, &error.into()))
}
