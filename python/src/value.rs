//! What all classes of values have: their fields are a table, and from it come dictionaries, schemas and copies.
//!
//! LangGraph's checkpointer, `dataclasses` and what writes JSON know a value by the fields that a dataclass has.

use std::path::PathBuf;

use pyo3::PyClass;
use pyo3::exceptions::{PyOverflowError, PyRecursionError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyMapping, PyString, PyTuple, PyType};
use serde_json::{Value as Json, json};

use crate::given::Given;
use crate::metadata::SkillMetadata;
use crate::{errors, given, json};

/// The module with what is written in Python.
const MODULE: &str = "skillpm._values";

/// A class whose fields are a table. The constructor takes them by these names, in this order.
pub(crate) trait Fields: PyClass {
    const FIELDS: &'static [Field];
    /// The number of fields that the constructor takes by position.
    const POSITIONAL: usize;
}

/// A field of a value.
pub(crate) struct Field {
    name: &'static str,
    kind: Kind,
    need: Need,
}

/// What a field holds.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Text,
    OneOf(&'static [&'static str]),
    Path,
    Texts,
    Object,
    Metadata,
    Flag,
    Integer,
    /// A number of a line or a column.
    Position,
    Number,
}

/// What holds where a field is left out.
#[derive(Clone, Copy)]
enum Need {
    /// An error.
    Required,
    /// It is empty.
    Empty,
    /// It is `None`, as where a value says so.
    Nothing,
}

impl Field {
    pub(crate) const fn required(name: &'static str, kind: Kind) -> Self {
        Self { name, kind, need: Need::Required }
    }

    pub(crate) const fn or_empty(name: &'static str, kind: Kind) -> Self {
        Self { name, kind, need: Need::Empty }
    }

    pub(crate) const fn or_none(name: &'static str, kind: Kind) -> Self {
        Self { name, kind, need: Need::Nothing }
    }

    /// Returns what the constructor of `T` takes for `held`, which came in a dictionary.
    fn taken<'py, T: Fields>(&self, held: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if held.is_none() && matches!(self.need, Need::Nothing) {
            return Ok(held);
        }
        let py = held.py();
        if let Kind::Metadata = self.kind
            && !held.is_instance_of::<SkillMetadata>()
        {
            return from_dict::<SkillMetadata>(&py.get_type::<SkillMetadata>(), &held);
        }
        self.kind.check(&held).map_err(|error| {
            let is_unfit = error.is_instance_of::<PyTypeError>(py)
                || error.is_instance_of::<PyOverflowError>(py)
                || error.is_instance_of::<PyRecursionError>(py);
            if !is_unfit {
                return error;
            }
            let (name, expected, reason) = (self.name, self.kind.expected(), error.value(py));
            errors::unknown(py, &format!("`{name}` of `{}` is {expected}: {reason}", T::NAME))
        })?;
        Ok(held)
    }

    /// Returns the JSON Schema of this field of `class`, with the documentation of the property.
    fn schema<'py>(&self, class: &Bound<'py, PyType>) -> PyResult<Bound<'py, PyDict>> {
        let py = class.py();
        let mut schema = self.kind.schema(py)?;
        match self.need {
            Need::Required => {}
            Need::Empty => schema.set_item("default", json::to_python(py, &self.kind.empty())?)?,
            Need::Nothing => {
                let null = PyDict::new(py);
                null.set_item("type", "null")?;
                let either = [schema, null];
                schema = PyDict::new(py);
                schema.set_item("anyOf", either)?;
                schema.set_item("default", py.None())?;
            }
        }
        schema.set_item("description", documentation(&class.getattr(self.name)?)?)?;
        Ok(schema)
    }
}

impl Need {
    /// Returns how `skillpm/_values.py` calls it.
    fn word(self) -> &'static str {
        match self {
            Self::Required => "required",
            Self::Empty => "empty",
            Self::Nothing => "nothing",
        }
    }
}

impl Kind {
    /// Returns how `skillpm/_values.py` calls the type.
    fn word(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::OneOf(_) => "choice",
            Self::Path => "path",
            Self::Texts => "texts",
            Self::Object => "object",
            Self::Metadata => "metadata",
            Self::Flag => "flag",
            Self::Integer | Self::Position => "integer",
            Self::Number => "number",
        }
    }

    fn schema(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let schema = match self {
            Self::Metadata => return json_schema::<SkillMetadata>(&py.get_type::<SkillMetadata>()),
            Self::Text => json!({ "type": "string" }),
            Self::OneOf(choices) => json!({ "type": "string", "enum": choices }),
            Self::Path => json!({ "type": "string", "format": "path" }),
            Self::Texts => json!({ "type": "array", "items": { "type": "string" } }),
            Self::Object => json!({ "type": "object" }),
            Self::Flag => json!({ "type": "boolean" }),
            Self::Integer => json!({ "type": "integer" }),
            Self::Position => json!({ "type": "integer", "minimum": 0 }),
            Self::Number => json!({ "type": "number" }),
        };
        Ok(json::to_python(py, &schema)?.cast_into()?)
    }

    /// Returns an error if the constructor does not take `held`.
    fn check(self, held: &Bound<'_, PyAny>) -> PyResult<()> {
        match self {
            Self::Text | Self::OneOf(_) => held.extract::<Given<String>>().map(drop),
            Self::Path => held.extract::<Given<PathBuf>>().map(drop),
            Self::Texts => held.extract::<Given<Vec<String>>>().map(drop),
            Self::Object => json::map_from_python(held).map(drop),
            Self::Metadata => Ok(()),
            Self::Flag => held.extract::<bool>().map(drop),
            Self::Integer => held.extract::<i32>().map(drop),
            Self::Position => held.extract::<usize>().map(drop),
            Self::Number => held.extract::<f64>().map(drop),
        }
    }

    /// Returns what `check` accepts, in words.
    fn expected(self) -> &'static str {
        match self {
            Self::Text | Self::OneOf(_) => "a text",
            Self::Path => "a path",
            Self::Texts => "a list of texts",
            Self::Object => "a JSON object",
            Self::Metadata => "the metadata of a skill",
            Self::Flag => "true or false",
            Self::Integer | Self::Position => "a whole number",
            Self::Number => "a number",
        }
    }

    /// Returns what a field of this type holds if it is empty.
    fn empty(self) -> Json {
        match self {
            Self::Text | Self::OneOf(_) | Self::Path => json!(""),
            Self::Texts => json!([]),
            Self::Object | Self::Metadata => json!({}),
            Self::Flag => json!(false),
            Self::Integer | Self::Position => json!(0),
            Self::Number => json!(0.0),
        }
    }

    /// Returns what JSON has for `held`.
    fn plain<'py>(self, held: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if held.is_none() {
            return Ok(held);
        }
        Ok(match self {
            Self::Path => {
                let path: PathBuf = held.extract()?;
                PyString::new(held.py(), &path.to_string_lossy()).into_any()
            }
            Self::Texts => held.cast_into::<PyTuple>()?.to_list().into_any(),
            Self::Metadata => to_dict(held.cast::<SkillMetadata>()?)?.into_any(),
            Self::Text
            | Self::OneOf(_)
            | Self::Object
            | Self::Flag
            | Self::Integer
            | Self::Position
            | Self::Number => held,
        })
    }
}

/// Returns the fields of `value` as JSON has them.
pub(crate) fn to_dict<'py, T: Fields>(value: &Bound<'py, T>) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(value.py());
    for field in T::FIELDS {
        dict.set_item(field.name, field.kind.plain(value.as_any().getattr(field.name)?)?)?;
    }
    Ok(dict)
}

/// Returns the value of the class `class` with `fields`, which are data: what is wrong with them is wrong input, not
/// a wrong call.
pub(crate) fn from_dict<'py, T: Fields>(
    class: &Bound<'py, PyType>,
    fields: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    let Ok(fields) = fields.cast::<PyMapping>() else {
        let given = fields.get_type().name()?;
        return Err(errors::unknown(
            py,
            &format!("the fields of `{}` are a mapping, not `{given}`", T::NAME),
        ));
    };
    let arguments = PyDict::new(py);
    for pair in fields.items()? {
        let (name, held): (Bound<'py, PyAny>, Bound<'py, PyAny>) = pair.extract()?;
        let known = name.cast::<PyString>().ok().and_then(|name| name.to_cow().ok());
        let Some(field) = T::FIELDS.iter().find(|field| known.as_deref() == Some(field.name)) else {
            return Err(stranger::<T>(&name));
        };
        arguments.set_item(field.name, field.taken::<T>(held)?)?;
    }
    for field in required::<T>() {
        if !arguments.contains(field.name)? {
            return Err(errors::unknown(py, &format!("`{}` needs `{}`", T::NAME, field.name)));
        }
    }
    class.call((), Some(&arguments))
}

/// The exception for the field `name`, which `T` does not have.
fn stranger<T: Fields>(name: &Bound<'_, PyAny>) -> PyErr {
    let py = name.py();
    let has: Vec<_> = T::FIELDS.iter().map(|field| format!("`{}`", field.name)).collect();
    match name.str().and_then(|name| Ok(name.to_cow()?.into_owned())) {
        Ok(name) => {
            let message = format!("`{}` has no field `{name}`: it has {}", T::NAME, has.join(", "));
            errors::unknown(py, &message)
        }
        Err(error) => given::told(py, error),
    }
}

/// Returns the JSON Schema of what `to_dict` returns. The fields are in their order: models fill them in that order.
pub(crate) fn json_schema<'py, T: Fields>(class: &Bound<'py, PyType>) -> PyResult<Bound<'py, PyDict>> {
    let py = class.py();
    let properties = PyDict::new(py);
    for field in T::FIELDS {
        properties.set_item(field.name, field.schema(class)?)?;
    }
    let schema = PyDict::new(py);
    schema.set_item("title", T::NAME)?;
    schema.set_item("description", documentation(class)?)?;
    schema.set_item("type", "object")?;
    schema.set_item("properties", properties)?;
    schema.set_item("required", required::<T>().map(|field| field.name).collect::<Vec<_>>())?;
    schema.set_item("additionalProperties", false)?;
    Ok(schema)
}

/// Returns the fields that have to be given.
fn required<T: Fields>() -> impl Iterator<Item = &'static Field> {
    T::FIELDS.iter().filter(|field| matches!(field.need, Need::Required))
}

/// Returns the first paragraph of a docstring, on one line.
fn documentation(of: &Bound<'_, PyAny>) -> PyResult<String> {
    let text: Option<String> = of.getattr("__doc__")?.extract()?;
    let text = text.unwrap_or_default();
    let first = text.split("\n\n").next().unwrap_or_default();
    Ok(first.split_whitespace().collect::<Vec<_>>().join(" ").replace("``", "`"))
}

/// Returns the arguments that make a value like `value`: they keep what JSON has no text for.
pub(crate) fn arguments<'py, T: Fields>(value: &Bound<'py, T>) -> PyResult<Bound<'py, PyDict>> {
    let arguments = PyDict::new(value.py());
    for field in T::FIELDS {
        arguments.set_item(field.name, value.as_any().getattr(field.name)?)?;
    }
    Ok(arguments)
}

/// Returns the names of the fields that a pattern takes by position.
pub(crate) fn match_args<T: Fields>(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
    PyTuple::new(py, T::FIELDS.iter().take(T::POSITIONAL).map(|field| field.name))
}

/// Returns the schema that validates and serializes in pydantic.
pub(crate) fn core_schema<'py>(class: &Bound<'py, PyType>) -> PyResult<Bound<'py, PyAny>> {
    class.py().import(MODULE)?.call_method1("core_schema", (class,))
}

/// An attribute of a class of values that a dataclass has. It is made when somebody asks for it: `dataclasses` takes
/// longer to import than the package.
#[pyclass(frozen, module = "skillpm._native")]
pub(crate) struct OfDataclass {
    name: &'static str,
    fields: &'static [Field],
    made: PyOnceLock<Py<PyAny>>,
}

impl OfDataclass {
    pub(crate) fn new<T: Fields>(name: &'static str) -> Self {
        Self { name, fields: T::FIELDS, made: PyOnceLock::new() }
    }
}

#[pymethods]
impl OfDataclass {
    fn __get__(&self, _value: &Bound<'_, PyAny>, class: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let py = class.py();
        let made = self.made.get_or_try_init(py, || {
            let fields = self.fields.iter().map(|field| {
                let choices = if let Kind::OneOf(choices) = field.kind { choices } else { &[] };
                (field.name, field.kind.word(), field.need.word(), choices)
            });
            let fields: Vec<_> = fields.collect();
            let twin = py.import(MODULE)?.call_method1("dataclass", (class, fields))?;
            twin.getattr(self.name).map(Bound::unbind)
        })?;
        Ok(made.clone_ref(py))
    }
}

/// Gives a class of values the methods that all have.
macro_rules! methods_of_values {
    ($class:ident) => {
        #[pymethods]
        impl $class {
            /// Return all fields as plain values that fit into JSON.
            ///
            /// Paths are texts, and tuples are lists. ``from_dict`` takes what it returns.
            fn to_dict<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, pyo3::types::PyDict>> {
                $crate::value::to_dict(slf)
            }

            /// Return the value whose ``to_dict`` returns ``fields``.
            ///
            /// Fields that have a default may be left out. Others, fields of other names and values of other
            /// types raise ``ConfigurationError``.
            #[classmethod]
            fn from_dict<'py>(
                cls: &Bound<'py, pyo3::types::PyType>,
                fields: &Bound<'py, PyAny>,
            ) -> PyResult<Bound<'py, PyAny>> {
                $crate::value::from_dict::<Self>(cls, fields)
            }

            /// Return the JSON Schema of what ``to_dict`` returns and ``from_dict`` takes.
            #[classmethod]
            fn json_schema<'py>(
                cls: &Bound<'py, pyo3::types::PyType>,
            ) -> PyResult<Bound<'py, pyo3::types::PyDict>> {
                $crate::value::json_schema::<Self>(cls)
            }

            #[classattr]
            fn __match_args__(py: Python<'_>) -> PyResult<Bound<'_, pyo3::types::PyTuple>> {
                $crate::value::match_args::<Self>(py)
            }

            #[classattr]
            fn __dataclass_fields__() -> $crate::value::OfDataclass {
                $crate::value::OfDataclass::new::<Self>("__dataclass_fields__")
            }

            #[classattr]
            fn __dataclass_params__() -> $crate::value::OfDataclass {
                $crate::value::OfDataclass::new::<Self>("__dataclass_params__")
            }

            #[classmethod]
            fn __get_pydantic_core_schema__<'py>(
                cls: &Bound<'py, pyo3::types::PyType>,
                _source: &Bound<'py, PyAny>,
                _handler: &Bound<'py, PyAny>,
            ) -> PyResult<Bound<'py, PyAny>> {
                $crate::value::core_schema(cls)
            }

            #[classmethod]
            fn __get_pydantic_json_schema__<'py>(
                cls: &Bound<'py, pyo3::types::PyType>,
                _schema: &Bound<'py, PyAny>,
                _handler: &Bound<'py, PyAny>,
            ) -> PyResult<Bound<'py, pyo3::types::PyDict>> {
                $crate::value::json_schema::<Self>(cls)
            }

            /// Return a value like this one with ``changes``, for ``copy.replace``.
            #[pyo3(signature = (**changes))]
            fn __replace__<'py>(
                slf: &Bound<'py, Self>,
                changes: Option<&Bound<'py, pyo3::types::PyDict>>,
            ) -> PyResult<Bound<'py, PyAny>> {
                let arguments = $crate::value::arguments(slf)?;
                if let Some(changes) = changes {
                    arguments.update(changes.as_mapping())?;
                }
                slf.get_type().call((), Some(&arguments))
            }

            /// Return what ``pickle`` and ``copy`` make the value of again.
            fn __getnewargs_ex__<'py>(
                slf: &Bound<'py, Self>,
            ) -> PyResult<((), Bound<'py, pyo3::types::PyDict>)> {
                Ok(((), $crate::value::arguments(slf)?))
            }
        }
    };
}

pub(crate) use methods_of_values;
