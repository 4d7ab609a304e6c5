//! The input of a tool: its parameters, and how a script gets them.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::names;

/// The type of a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// Any value: the script does not reveal the type.
    Any,
    /// Text.
    String,
    /// An integer.
    Integer,
    /// A number.
    Number,
    /// A boolean.
    Boolean,
    /// A list.
    Array(Box<Self>),
    /// An object.
    Object,
}

impl Kind {
    /// Returns the type of a list of strings.
    pub(super) fn strings() -> Self {
        Self::Array(Box::new(Self::String))
    }

    /// Reports whether `value` has this type.
    pub(super) fn takes(&self, value: &Value) -> bool {
        match self {
            Self::Any => true,
            Self::String => value.is_string(),
            Self::Integer => {
                value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0)
            }
            Self::Number => value.is_number(),
            Self::Boolean => value.is_boolean(),
            Self::Array(items) => {
                value.as_array().is_some_and(|values| values.iter().all(|value| items.takes(value)))
            }
            Self::Object => value.is_object(),
        }
    }

    /// Returns its name in JSON Schema, which is also its name in manifests.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::String => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Array(_) => "array",
            Self::Object => "object",
        }
    }

    fn schema(&self) -> Map<String, Value> {
        let mut schema = Map::new();
        if *self != Self::Any {
            schema.insert("type".into(), self.name().into());
        }
        if let Self::Array(items) = self
            && **items != Self::Any
        {
            schema.insert("items".into(), items.schema().into());
        }
        schema
    }
}

/// How a script receives a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParameterPosition {
    /// As an argument that belongs to no option, in the order of the parameters.
    Positional,
    /// After an option such as `--count`; several values follow each other.
    Option(String),
    /// After an option that is repeated for each value.
    Repeated(String),
    /// As an option that is present if the value is true.
    Switch(String),
    /// As an option that is present if the value is false.
    Unless(String),
    /// As one of two options: the first if the value is true, otherwise the second.
    Either(String, String),
    /// As an option that is repeated as often as the value says.
    Count(String),
    /// As a key of the object that the script reads from its standard input.
    Key,
}

/// A parameter of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// The name.
    pub name: String,
    /// The type.
    pub kind: Kind,
    /// The description.
    pub description: Option<String>,
    /// Whether a value is required.
    pub required: bool,
    /// The value that the script uses if none is given.
    pub default: Option<Value>,
    /// The permitted values; any value if empty.
    pub choices: Vec<Value>,
    /// How the script receives it.
    pub place: ParameterPosition,
}

impl Parameter {
    /// Returns a required parameter without any other known facts.
    pub(super) fn new(name: impl Into<String>, kind: Kind, place: ParameterPosition) -> Self {
        Self {
            name: name.into(),
            kind,
            description: None,
            required: true,
            default: None,
            choices: Vec::new(),
            place,
        }
    }

    /// Makes the parameter optional.
    pub(super) fn optional(self) -> Self {
        Self { required: false, ..self }
    }

    /// Restricts the choices of a switch that cannot change the default: the other value could not be passed.
    pub(super) fn within_reach(mut self) -> Self {
        let value = match self.place {
            ParameterPosition::Switch(_) => true,
            ParameterPosition::Unless(_) => false,
            _ => return self,
        };
        if self.default == Some(value.into()) {
            self.choices = vec![value.into()];
        }
        self
    }

    fn schema(&self) -> Map<String, Value> {
        let mut schema = self.kind.schema();
        if let Some(text) = &self.description {
            schema.insert("description".into(), text.clone().into());
        }
        if !self.choices.is_empty() {
            // The choices of a list apply to its items.
            match schema.get_mut("items") {
                Some(Value::Object(items)) => items.insert("enum".into(), self.choices.clone().into()),
                _ => schema.insert("enum".into(), self.choices.clone().into()),
            };
        }
        if let Some(value) = &self.default {
            schema.insert("default".into(), value.clone());
        }
        schema
    }
}

/// The part of a script or manifest that the types of an input were read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TypedBy {
    /// The manifest.
    Manifest,
    /// Calls of `add_argument`.
    Argparse,
    /// A line that starts with `Usage:`.
    Usage,
    /// None: the script takes arguments, or an object, and nothing more is known.
    Nothing,
}

/// The input of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// The parameters, in order.
    pub parameters: Vec<Parameter>,
    /// Whether it also takes other keys.
    pub open: bool,
    /// The source of the types.
    pub typed_by: TypedBy,
    /// Whether a library parses the arguments that takes nothing after `--` for an option, and that takes a value
    /// joined to its option for the value.
    pub knows_end: bool,
}

/// The name of the only parameter of a tool whose input is unknown.
pub const WORDS: &str = "arguments";

impl Input {
    /// Returns the input of a script that takes unknown command-line arguments.
    pub(super) fn words() -> Self {
        let words = Parameter {
            description: Some("The words of the command line, in order.".into()),
            ..Parameter::new(WORDS, Kind::strings(), ParameterPosition::Positional).optional()
        };
        Self { parameters: vec![words], open: false, typed_by: TypedBy::Nothing, knows_end: false }
    }

    /// Returns the input of a script that reads an unknown object from its standard input.
    pub(super) fn object() -> Self {
        Self { parameters: Vec::new(), open: true, typed_by: TypedBy::Nothing, knows_end: false }
    }

    /// Reports whether anything is known about the parameters.
    pub fn is_typed(&self) -> bool {
        self.typed_by != TypedBy::Nothing
    }

    /// Reports whether the script reads an object from its standard input.
    pub fn is_json(&self) -> bool {
        self.open || self.parameters.iter().any(|parameter| parameter.place == ParameterPosition::Key)
    }

    /// Returns the parameters, each with the key for its value: its name, or a similar key if model APIs do not accept
    /// the name.
    pub(super) fn keyed(&self) -> impl Iterator<Item = (Cow<'_, str>, &Parameter)> {
        let all: Vec<&str> = self.parameters.iter().map(|one| one.name.as_str()).collect();
        names::keys(&all).into_iter().zip(&self.parameters)
    }

    /// Returns the input as a JSON Schema: an object with a property for each parameter. If the key of a parameter
    /// differs from its name, the name is its title.
    pub fn schema(&self) -> Value {
        let (mut properties, mut required) = (Map::new(), Vec::new());
        for (key, parameter) in self.keyed() {
            let mut schema = parameter.schema();
            if *key != parameter.name {
                schema.insert("title".into(), parameter.name.clone().into());
            }
            if parameter.required {
                required.push(key.clone());
            }
            properties.insert(key.into_owned(), schema.into());
        }
        let mut schema = json!({ "type": "object", "properties": properties });
        if !required.is_empty() {
            schema["required"] = required.into();
        }
        schema["additionalProperties"] = self.open.into();
        schema
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_a_kind() {
        assert!(Kind::Number.takes(&json!(1)) && Kind::Integer.takes(&json!(2.0)));
        assert!(!Kind::Integer.takes(&json!(1.5)) && !Kind::strings().takes(&json!([1])));
        assert!(Kind::Any.takes(&json!(null)) && Kind::Object.takes(&json!({})));
    }

    /// S1-Q2: the schema describes a tool's input.
    #[test]
    fn a_schema_says_what_is_known() {
        let mut mode =
            Parameter::new("modes", Kind::strings(), ParameterPosition::Repeated("--mode".into())).optional();
        mode.choices = vec!["a".into(), "b".into()];
        mode.default = Some(json!(["a"]));
        let mut any = Parameter::new("any", Kind::Any, ParameterPosition::Positional);
        any.description = Some("Whatever.".into());
        let input =
            Input { parameters: vec![any, mode], open: false, typed_by: TypedBy::Argparse, knows_end: true };
        assert_eq!(
            input.schema(),
            json!({
                "type": "object",
                "properties": {
                    "any": { "description": "Whatever." },
                    "modes": {
                        "type": "array",
                        "items": { "type": "string", "enum": ["a", "b"] },
                        "default": ["a"],
                    },
                },
                "required": ["any"],
                "additionalProperties": false,
            })
        );
        assert_eq!(Input::object().schema()["additionalProperties"], true);
        assert!(Input::object().is_json() && !Input::words().is_json());
    }
}
