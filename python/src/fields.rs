//! The fields of values. Each class has a table of them, and from it come dictionaries, schemas and copies.

use std::path::PathBuf;

use pyo3::exceptions::{PyOverflowError, PyRecursionError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyMapping, PyString, PyTuple, PyType};
use serde_json::{Value as Json, json};

use crate::diagnostic::{self, Diagnostic};
use crate::given::Given;
use crate::metadata::{self, SkillMetadata};
use crate::result::{self, ScriptResult};
use crate::script::{self, Script};
use crate::skill::{self, Skill};
use crate::{errors, given, json};

/// The module with what is written in Python.
pub(crate) const MODULE: &str = "skillpm._values";

/// The fields of a class of values. The constructor takes them by these names, in this order.
pub(crate) struct Table {
    name: &'static str,
    /// The number of fields that the constructor takes by position.
    positional: usize,
    fields: &'static [Field],
    /// A dataclass with these fields. It is made when somebody asks for it: `dataclasses` takes longer to import than
    /// the package.
    dataclass: PyOnceLock<Py<PyAny>>,
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

    /// Returns what the constructor takes for `held`, which came in a dictionary.
    fn taken<'py>(&self, held: Bound<'py, PyAny>, table: &Table) -> PyResult<Bound<'py, PyAny>> {
        if held.is_none() && matches!(self.need, Need::Nothing) {
            return Ok(held);
        }
        let py = held.py();
        if let Kind::Metadata = self.kind
            && !held.is_instance_of::<SkillMetadata>()
        {
            return metadata::TABLE.value(&py.get_type::<SkillMetadata>(), &held);
        }
        self.kind.check(&held).map_err(|error| {
            let is_unfit = error.is_instance_of::<PyTypeError>(py)
                || error.is_instance_of::<PyOverflowError>(py)
                || error.is_instance_of::<PyRecursionError>(py);
            if !is_unfit {
                return error;
            }
            let (name, expected, reason) = (self.name, self.kind.expected(), error.value(py));
            errors::unknown(py, &format!("`{name}` of `{}` is {expected}: {reason}", table.name))
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
            Self::Metadata => return metadata::TABLE.schema(&py.get_type::<SkillMetadata>()),
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
    fn plain(self, held: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyAny>> {
        if held.is_none() {
            return Ok(held);
        }
        Ok(match self {
            Self::Path => {
                let path: PathBuf = held.extract()?;
                PyString::new(held.py(), &path.to_string_lossy()).into_any()
            }
            Self::Texts => held.cast_into::<PyTuple>()?.to_list().into_any(),
            Self::Metadata => metadata::TABLE.plain(&held)?.into_any(),
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

impl Table {
    pub(crate) const fn new(name: &'static str, positional: usize, fields: &'static [Field]) -> Self {
        Self { name, positional, fields, dataclass: PyOnceLock::new() }
    }

    /// Returns the table of `class`.
    pub(crate) fn of(class: &Bound<'_, PyType>) -> PyResult<&'static Self> {
        let py = class.py();
        let tables = [
            (py.get_type::<Diagnostic>(), &diagnostic::TABLE),
            (py.get_type::<Script>(), &script::TABLE),
            (py.get_type::<ScriptResult>(), &result::TABLE),
            (py.get_type::<Skill>(), &skill::TABLE),
            (py.get_type::<SkillMetadata>(), &metadata::TABLE),
        ];
        let found = tables.into_iter().find(|(known, _)| known.is(class));
        found.map(|(_, table)| table).ok_or_else(|| PyTypeError::new_err("the class has no fields"))
    }

    /// Returns the fields of `value` as JSON has them.
    pub(crate) fn plain<'py>(&self, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(value.py());
        for field in self.fields {
            dict.set_item(field.name, field.kind.plain(value.getattr(field.name)?)?)?;
        }
        Ok(dict)
    }

    /// Returns the value of `class` with `fields`, which are data: what is wrong with them is wrong input, not a wrong
    /// call.
    pub(crate) fn value<'py>(
        &self,
        class: &Bound<'py, PyType>,
        fields: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, class_name) = (class.py(), self.name);
        let Ok(fields) = fields.cast::<PyMapping>() else {
            let given = fields.get_type().name()?;
            let message = format!("the fields of `{class_name}` are a mapping, not `{given}`");
            return Err(errors::unknown(py, &message));
        };
        let arguments = PyDict::new(py);
        for pair in fields.items()? {
            let (name, held): (Bound<'py, PyAny>, Bound<'py, PyAny>) = pair.extract()?;
            let known = name.cast::<PyString>().ok().and_then(|name| name.to_cow().ok());
            let Some(field) = self.fields.iter().find(|field| known.as_deref() == Some(field.name)) else {
                return Err(self.stranger(&name));
            };
            arguments.set_item(field.name, field.taken(held, self)?)?;
        }
        for field in self.required() {
            if !arguments.contains(field.name)? {
                return Err(errors::unknown(py, &format!("`{class_name}` needs `{}`", field.name)));
            }
        }
        class.call((), Some(&arguments))
    }

    /// The exception for the field `name`, which there is not.
    fn stranger(&self, name: &Bound<'_, PyAny>) -> PyErr {
        let py = name.py();
        let has: Vec<_> = self.fields.iter().map(|field| format!("`{}`", field.name)).collect();
        match name.str().and_then(|name| Ok(name.to_cow()?.into_owned())) {
            Ok(name) => {
                let message = format!("`{}` has no field `{name}`: it has {}", self.name, has.join(", "));
                errors::unknown(py, &message)
            }
            Err(error) => given::told(py, error),
        }
    }

    /// Returns the fields that have to be given.
    fn required(&self) -> impl Iterator<Item = &Field> {
        self.fields.iter().filter(|field| matches!(field.need, Need::Required))
    }

    /// Returns the JSON Schema of what `plain` returns. The fields are in their order: models fill them in that order.
    pub(crate) fn schema<'py>(&self, class: &Bound<'py, PyType>) -> PyResult<Bound<'py, PyDict>> {
        let py = class.py();
        let properties = PyDict::new(py);
        for field in self.fields {
            properties.set_item(field.name, field.schema(class)?)?;
        }
        let schema = PyDict::new(py);
        schema.set_item("title", self.name)?;
        schema.set_item("description", documentation(class)?)?;
        schema.set_item("type", "object")?;
        schema.set_item("properties", properties)?;
        schema.set_item("required", self.required().map(|field| field.name).collect::<Vec<_>>())?;
        schema.set_item("additionalProperties", false)?;
        Ok(schema)
    }

    /// Returns the arguments that make a value like `value`: they keep what JSON has no text for.
    pub(crate) fn arguments<'py>(&self, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        let arguments = PyDict::new(value.py());
        for field in self.fields {
            arguments.set_item(field.name, value.getattr(field.name)?)?;
        }
        Ok(arguments)
    }

    /// Returns the names of the fields that a pattern takes by position.
    pub(crate) fn match_args<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.fields.iter().take(self.positional).map(|field| field.name))
    }

    /// Returns a dataclass with these fields.
    pub(crate) fn dataclass<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let made = self.dataclass.get_or_try_init(py, || {
            let fields = self.fields.iter().map(|field| {
                let choices = if let Kind::OneOf(choices) = field.kind { choices } else { &[] };
                (field.name, field.kind.word(), field.need.word(), choices)
            });
            let fields: Vec<_> = fields.collect();
            py.import(MODULE)?.call_method1("dataclass", (self.name, fields)).map(Bound::unbind)
        })?;
        Ok(made.bind(py).clone())
    }
}

/// Returns the first paragraph of a docstring, on one line.
fn documentation(of: &Bound<'_, PyAny>) -> PyResult<String> {
    let text: Option<String> = of.getattr("__doc__")?.extract()?;
    let text = text.unwrap_or_default();
    let first = text.split("\n\n").next().unwrap_or_default();
    Ok(first.split_whitespace().collect::<Vec<_>>().join(" ").replace("``", "`"))
}
