//! The parts of messages as data.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Call, Opt, Part};
use crate::scope_kind::ScopeKind;
use crate::text::without_secrets;

/// A [`Part`] as data, for programs that word messages themselves. The JSON form is an interface: fields are only
/// added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PartData {
    /// Prose.
    Text(String),
    /// A verb to run.
    Run(CallData),
    /// An option to pass.
    Option(OptionData),
    /// A key to set to a text, in a manifest or a policy.
    Setting(SettingData),
}

/// A verb to run, with its arguments. Nothing is quoted; addresses are without passwords and queries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Call")]
pub struct CallData {
    /// The verb.
    pub verb: &'static str,
    /// The scope to run it in, if it matters.
    pub scope: Option<ScopeKind>,
    /// The project to run it in, if it is not the current one.
    pub project: Option<String>,
    /// The positional arguments, or placeholders such as `NAME`.
    pub arguments: Vec<String>,
    /// The options, in the order in which they read best.
    pub options: Vec<OptionData>,
}

/// An option to pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Option")]
pub struct OptionData {
    /// The name, without hyphens.
    pub name: &'static str,
    /// The value, or a placeholder such as `NAME`; null for an option without one.
    pub value: Option<String>,
}

/// A key to set to a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Setting")]
pub struct SettingData {
    /// The key.
    pub key: &'static str,
    /// The text.
    pub value: String,
}

/// Returns `text` without passwords in addresses: data goes into the logs of programs.
fn shown(text: &str) -> String {
    without_secrets(text).into_owned()
}

impl OptionData {
    fn new(option: Opt, value: Option<&str>) -> Self {
        Self { name: option.name(), value: value.map(shown) }
    }
}

impl From<&Call> for CallData {
    fn from(call: &Call) -> Self {
        Self {
            verb: call.verb.name(),
            scope: call.scope,
            project: call.project.as_ref().map(|project| project.to_string_lossy().into_owned()),
            arguments: call.positional().map(shown).collect(),
            options: call.named().map(|(option, value)| OptionData::new(option, value)).collect(),
        }
    }
}

impl From<&Part> for PartData {
    fn from(part: &Part) -> Self {
        match part {
            Part::Text(text) => Self::Text(shown(text)),
            Part::Run(call) => Self::Run(call.into()),
            Part::Option(option, value) => Self::Option(OptionData::new(*option, value.as_deref())),
            Part::Setting(key, value) => Self::Setting(SettingData { key, value: shown(value) }),
        }
    }
}
