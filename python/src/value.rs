//! What all classes of values have.
//!
//! Other packages know a value by what dataclasses have: `LangGraph`'s checkpointer keeps it, and pydantic writes it
//! where any object may be.

use pyo3::PyClass;
use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};

use crate::fields::{MODULE, Table};

/// What all values have: they turn into plain values and back.
// What a dataclass has stands here and not in the classes: `orjson` looks for it in the class alone, and takes what
// properties return for what the object holds, which ends the process.
#[pyclass(frozen, subclass, module = "skillpm._native")]
pub(crate) struct Value;

#[pymethods]
impl Value {
    /// Return all fields as plain values that fit into JSON.
    ///
    /// Paths are texts, and tuples are lists. ``from_dict`` takes what it returns.
    fn to_dict<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        Table::of(&slf.get_type())?.plain(slf)
    }

    /// Return the value whose ``to_dict`` returns ``fields``.
    ///
    /// Fields that have a default may be left out. Others, fields of other names and values of other types raise
    /// ``ConfigurationError``.
    #[classmethod]
    fn from_dict<'py>(cls: &Bound<'py, PyType>, fields: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        Table::of(cls)?.value(cls, fields)
    }

    /// Return the JSON Schema of what ``to_dict`` returns and ``from_dict`` takes.
    #[classmethod]
    fn json_schema<'py>(cls: &Bound<'py, PyType>) -> PyResult<Bound<'py, PyDict>> {
        Table::of(cls)?.schema(cls)
    }

    #[classattr]
    fn __dataclass_fields__() -> OfClass {
        OfClass("__dataclass_fields__")
    }

    #[classattr]
    fn __dataclass_params__() -> OfClass {
        OfClass("__dataclass_params__")
    }

    #[classmethod]
    fn __get_pydantic_core_schema__<'py>(
        cls: &Bound<'py, PyType>,
        _source: &Bound<'py, PyAny>,
        _handler: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        cls.py().import(MODULE)?.call_method1("core_schema", (cls,))
    }

    #[classmethod]
    fn __get_pydantic_json_schema__<'py>(
        cls: &Bound<'py, PyType>,
        _schema: &Bound<'py, PyAny>,
        _handler: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyDict>> {
        Self::json_schema(cls)
    }

    /// Return a value like this one with ``changes``, for ``copy.replace``.
    #[pyo3(signature = (**changes))]
    fn __replace__<'py>(
        slf: &Bound<'py, Self>,
        changes: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let class = slf.get_type();
        let arguments = Table::of(&class)?.arguments(slf)?;
        if let Some(changes) = changes {
            arguments.update(changes.as_mapping())?;
        }
        class.call((), Some(&arguments))
    }

    /// Return what ``pickle`` and ``copy`` make the value of again.
    fn __getnewargs_ex__<'py>(slf: &Bound<'py, Self>) -> PyResult<((), Bound<'py, PyDict>)> {
        Ok(((), Table::of(&slf.get_type())?.arguments(slf)?))
    }
}

/// An attribute that each class of values has for itself.
#[pyclass(frozen, module = "skillpm._native")]
struct OfClass(&'static str);

#[pymethods]
impl OfClass {
    fn __get__<'py>(
        &self,
        _value: &Bound<'py, PyAny>,
        class: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let class = class.cast::<PyType>()?;
        let table = Table::of(class).map_err(|_| PyAttributeError::new_err(self.0))?;
        table.dataclass(class.py())?.getattr(self.0)
    }
}

/// Returns what `PyO3` makes an object of.
pub(crate) fn init<T: PyClass<BaseType = Value>>(value: T) -> PyClassInitializer<T> {
    PyClassInitializer::from(Value).add_subclass(value)
}

/// Makes a class a value: what is returned to Python has the methods of `Value`.
macro_rules! value {
    ($class:ident) => {
        impl<'py> IntoPyObject<'py> for $class {
            type Target = Self;
            type Output = Bound<'py, Self>;
            type Error = PyErr;

            fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, Self>> {
                Bound::new(py, $crate::value::init(self))
            }
        }
    };
}

pub(crate) use value;
