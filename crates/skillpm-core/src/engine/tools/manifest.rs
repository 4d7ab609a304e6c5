//! Reads `scripts/manifest.yml`, in which the author of a skill describes its tools.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::time::Duration;

use serde_json::{Number, Value};

use super::input::{Input, Kind, Parameter, ParameterPosition, TypedBy};
use crate::document::{LineIndex, Node, Position, Problem, ProblemKind, Style, Value as Yaml, read_yaml};
use crate::text::closest;

/// The names of manifests in `scripts/`. The first that exists is used.
pub const MANIFESTS: [&str; 2] = ["manifest.yml", "manifest.yaml"];
/// The maximum time limit in a manifest, in seconds: one day.
const MAX_TIMEOUT: f64 = 86_400.0;

const TOP_KEYS: &[&str] = &["tools"];
const TOOL_KEYS: &[&str] = &["name", "script", "description", "parameters", "arguments", "timeout"];
const PARAMETER_KEYS: &[&str] =
    &["name", "type", "description", "required", "default", "enum", "items", "option"];
const TYPES: &[(&str, Kind)] = &[
    ("string", Kind::String),
    ("str", Kind::String),
    ("integer", Kind::Integer),
    ("int", Kind::Integer),
    ("number", Kind::Number),
    ("float", Kind::Number),
    ("boolean", Kind::Boolean),
    ("bool", Kind::Boolean),
    ("object", Kind::Object),
    ("dict", Kind::Object),
    ("any", Kind::Any),
];

/// How a script receives its parameters (conflict C19).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Passing {
    /// As options: `--key value`.
    Options,
    /// As an object on standard input.
    Json,
    /// As arguments, in order.
    Positional,
}

const PASSINGS: &[(&str, Passing)] =
    &[("options", Passing::Options), ("json", Passing::Json), ("positional", Passing::Positional)];

/// The entry for one tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ManifestTool {
    /// The bare name, if the entry has one.
    pub(super) name: Option<String>,
    /// The path of the script below `scripts/`.
    pub(super) script: String,
    /// The position of the script's path in the manifest.
    pub(super) span: Range<usize>,
    /// The tool's description.
    pub(super) description: Option<String>,
    /// The tool's input, if the entry describes it.
    pub(super) input: Option<Input>,
    /// The time limit.
    pub(super) timeout: Option<Duration>,
}

/// A fault in a manifest, with its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManifestFault {
    /// The position.
    pub at: Position,
    /// The message.
    pub message: String,
}

impl fmt::Display for ManifestFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (line {}, column {})", self.message, self.at.line, self.at.column)
    }
}

/// A fault at a range of bytes in a manifest.
pub(super) type SpannedFault = (Range<usize>, String);

/// Reads a manifest: returns the entries that can be read, and all faults in the text. A valid entry may still name a
/// file that is not a script, so both are returned.
pub(super) fn read(text: &str) -> (Vec<ManifestTool>, Vec<SpannedFault>) {
    let mut reader = Reader { faults: Vec::new() };
    let entries = reader.document(text);
    (entries, reader.faults)
}

/// Returns the faults with their positions, in order.
pub(super) fn located(text: &str, mut faults: Vec<SpannedFault>) -> Vec<ManifestFault> {
    let lines = LineIndex::new(text);
    faults.sort_by_key(|(span, _)| span.start);
    let fault = |(span, message): SpannedFault| ManifestFault { at: lines.position(span.start), message };
    faults.into_iter().map(fault).collect()
}

/// Collects faults and continues, so one pass reports all of them.
struct Reader {
    faults: Vec<SpannedFault>,
}

impl Reader {
    fn fault(&mut self, span: &Range<usize>, message: impl Into<String>) {
        self.faults.push((span.clone(), message.into()));
    }

    fn document(&mut self, text: &str) -> Vec<ManifestTool> {
        let mut problems = Vec::new();
        let tree = match read_yaml(text, &mut problems) {
            Ok(tree) => tree,
            Err(problem) => {
                self.fault(&problem.span, said(&problem));
                return Vec::new();
            }
        };
        for problem in problems {
            self.fault(&problem.span, said(&problem));
        }
        // An empty manifest has no entries.
        let Some(root) = tree else { return Vec::new() };
        if !self.is_mapping(&root, "a manifest", TOP_KEYS) {
            return Vec::new();
        }
        let Some(tools) = root.get("tools").filter(|node| !node.is_absent()) else { return Vec::new() };
        let mut entries = Vec::new();
        let mut names = BTreeMap::new();
        for node in self.items(tools, "tools") {
            if let Some(entry) = self.tool(node) {
                let name = entry.name.clone().unwrap_or_else(|| super::stem(&entry.script).to_owned());
                let span = node.get("name").unwrap_or(node).span.clone();
                self.once(&mut names, name, &span, "the tool");
                entries.push(entry);
            }
        }
        entries
    }

    /// Reports a name that occurs twice.
    fn once(&mut self, names: &mut BTreeMap<String, usize>, name: String, span: &Range<usize>, what: &str) {
        if names.contains_key(&name) {
            self.fault(span, format!("{what} `{name}` appears twice"));
        }
        names.entry(name).or_insert(span.start);
    }

    fn tool(&mut self, node: &Node) -> Option<ManifestTool> {
        if !self.is_mapping(node, "a tool", TOOL_KEYS) {
            return None;
        }
        let name = self.text(node, "name");
        let Some(script) = self.text(node, "script") else {
            if node.get("script").is_none_or(Node::is_absent) {
                self.fault(&node.span, "the tool has no `script`");
            }
            return None;
        };
        let span = node.get("script").unwrap_or(node).span.clone();
        let script = script.strip_prefix("./").unwrap_or(&script).to_owned();
        let script = script.strip_prefix("scripts/").unwrap_or(&script).to_owned();
        let passing = self.passing(node);
        let timeout = self.timeout(node);
        let input =
            node.get("parameters").map(|list| self.parameters(list, passing.unwrap_or(Passing::Options)));
        let input = input.or_else(|| passing.map(untyped));
        Some(ManifestTool { name, script, span, description: self.text(node, "description"), input, timeout })
    }

    fn passing(&mut self, node: &Node) -> Option<Passing> {
        let text = self.text(node, "arguments")?;
        let found = PASSINGS.iter().find(|(name, _)| *name == text);
        if found.is_none() {
            let span = &node.get("arguments").unwrap_or(node).span;
            self.fault(
                span,
                format!("`arguments` must be `options`, `json` or `positional`, but it is `{text}`"),
            );
        }
        found.map(|(_, passing)| *passing)
    }

    fn timeout(&mut self, node: &Node) -> Option<Duration> {
        let text = self.text(node, "timeout")?;
        let seconds = text.parse::<f64>().ok().filter(|seconds| *seconds > 0.0 && *seconds <= MAX_TIMEOUT);
        if seconds.is_none() {
            let span = &node.get("timeout").unwrap_or(node).span;
            self.fault(
                span,
                format!("`timeout` must be a number of seconds up to {MAX_TIMEOUT}, but it is `{text}`"),
            );
        }
        seconds.map(Duration::from_secs_f64)
    }

    fn parameters(&mut self, list: &Node, passing: Passing) -> Input {
        let mut parameters = Vec::new();
        let mut names = BTreeMap::new();
        if !list.is_absent() {
            for node in self.items(list, "parameters") {
                if let Some(parameter) = self.parameter(node, passing) {
                    let span = &node.get("name").unwrap_or(node).span;
                    self.once(&mut names, parameter.name.clone(), span, "the parameter");
                    parameters.push(parameter);
                }
            }
        }
        let open = parameters.is_empty() && passing == Passing::Json;
        Input { parameters, open, typed_by: TypedBy::Manifest, knows_end: false }
    }

    fn parameter(&mut self, node: &Node, passing: Passing) -> Option<Parameter> {
        if !self.is_mapping(node, "a parameter", PARAMETER_KEYS) {
            return None;
        }
        let Some(name) = self.text(node, "name") else {
            if node.get("name").is_none_or(Node::is_absent) {
                self.fault(&node.span, "the parameter has no `name`");
            }
            return None;
        };
        let items = node.get("items").map(|items| self.kind(items));
        let mut kind = match node.get("type") {
            Some(of) if matches!(of.text(), Some("array" | "list")) => {
                Kind::Array(Box::new(items.unwrap_or(Kind::Any)))
            }
            Some(of) => self.kind(of),
            None => items.map_or(Kind::Any, |items| Kind::Array(Box::new(items))),
        };
        // Command-line arguments are text, whatever they stand for.
        if kind == Kind::Any && passing != Passing::Json {
            kind = Kind::String;
        }
        let of_choice = if let Kind::Array(items) = &kind { (**items).clone() } else { kind.clone() };
        let choices = match node.get("enum") {
            Some(list) => {
                let items = self.items(list, "enum");
                if items.is_empty() && matches!(list.value, Yaml::Sequence { .. }) {
                    self.fault(&list.span, "`enum` has no values, so none could be passed");
                }
                items.iter().filter_map(|one| self.value(one, &of_choice)).collect()
            }
            None => Vec::new(),
        };
        let default = node.get("default").filter(|value| !value.is_absent());
        let default = default.and_then(|value| self.value(value, &kind));
        let required = match self.text(node, "required").as_deref() {
            Some("true") => true,
            Some("false") => false,
            Some(text) => {
                let span = &node.get("required").unwrap_or(node).span;
                self.fault(span, format!("`required` must be `true` or `false`, but it is `{text}`"));
                true
            }
            None => default.is_none(),
        };
        let place = self.place(node, &name, &kind, passing);
        let description = self.text(node, "description");
        Some(Parameter { name, kind, description, required, default, choices, place })
    }

    fn place(&mut self, node: &Node, name: &str, kind: &Kind, passing: Passing) -> ParameterPosition {
        let option = self.text(node, "option");
        if let Some(text) = &option
            && (!text.starts_with('-') || text.contains(char::is_whitespace) || passing != Passing::Options)
        {
            let span = &node.get("option").unwrap_or(node).span;
            self.fault(span, "`option` is for `arguments: options`, and starts with `-`");
        }
        match passing {
            Passing::Json => ParameterPosition::Key,
            Passing::Positional => ParameterPosition::Positional,
            Passing::Options => {
                let flag = option.unwrap_or_else(|| format!("--{name}"));
                if *kind == Kind::Boolean {
                    ParameterPosition::Switch(flag)
                } else {
                    ParameterPosition::Option(flag)
                }
            }
        }
    }

    fn kind(&mut self, node: &Node) -> Kind {
        let text = node.text().unwrap_or_default();
        if let Some((_, kind)) = TYPES.iter().find(|(name, _)| *name == text) {
            return kind.clone();
        }
        if matches!(text, "array" | "list") {
            return Kind::Array(Box::new(Kind::Any));
        }
        let known = TYPES.iter().map(|(name, _)| *name).chain(["array"]);
        let meant = closest(text, known).map_or_else(
            || "`string`, `integer`, `number`, `boolean`, `array`, `object` or `any`".to_owned(),
            |name| format!("`{name}`"),
        );
        self.fault(&node.span, format!("there is no type {}; use {meant}", shown(node)));
        Kind::Any
    }

    /// Returns the value of `node` as `kind`.
    fn value(&mut self, node: &Node, kind: &Kind) -> Option<Value> {
        let value = value(node, kind);
        if value.is_none() {
            self.fault(&node.span, format!("{} is not of type {}", shown(node), kind.name()));
        }
        value
    }

    /// Returns the items of a list.
    fn items<'a>(&mut self, node: &'a Node, key: &str) -> &'a [Node] {
        if let Yaml::Sequence { items, .. } = &node.value {
            return items;
        }
        self.fault(&node.span, format!("`{key}` must be a list, but it is {}", node.kind()));
        &[]
    }

    /// Reports whether `node` is a mapping; adds a fault for each key that it may not have.
    fn is_mapping(&mut self, node: &Node, what: &str, keys: &[&str]) -> bool {
        let Yaml::Mapping { pairs, .. } = &node.value else {
            self.fault(
                &node.span,
                format!("{what} must be lines of `key: value`, but it is {}", node.kind()),
            );
            return false;
        };
        for (key, _) in pairs {
            let text = key.text().unwrap_or_default();
            if !keys.contains(&text) {
                let hint = closest(text, keys.iter().copied());
                let hint = hint.map_or_else(String::new, |key| format!("; did you mean `{key}`?"));
                self.fault(&key.span, format!("{what} has no key {}{hint}", shown(key)));
            }
        }
        true
    }

    /// Returns the text of `key`, if it exists; adds a fault if it is not text.
    fn text(&mut self, node: &Node, key: &str) -> Option<String> {
        let value = node.get(key)?;
        if value.is_absent() {
            return None;
        }
        let text = value.text().map(str::trim).filter(|text| !text.is_empty());
        if text.is_none() {
            let is = if value.text().is_some() { "empty" } else { value.kind() };
            self.fault(&value.span, format!("`{key}` must be text, but it is {is}"));
        }
        text.map(str::to_owned)
    }
}

/// Returns the input of a tool for which the manifest says only how parameters are passed.
fn untyped(passing: Passing) -> Input {
    match passing {
        Passing::Json => Input::object(),
        Passing::Options | Passing::Positional => Input::words(),
    }
}

fn value(node: &Node, kind: &Kind) -> Option<Value> {
    let plain = matches!(&node.value, Yaml::Scalar { style: Style::Plain, .. });
    match kind {
        Kind::String => Some(node.text()?.into()),
        Kind::Integer => node.text()?.parse::<i64>().ok().map(Value::from),
        Kind::Number => number(node.text()?),
        Kind::Boolean => match node.text()? {
            "true" => Some(true.into()),
            "false" => Some(false.into()),
            _ => None,
        },
        Kind::Array(kind) => match &node.value {
            Yaml::Sequence { items, .. } => items.iter().map(|item| value(item, kind)).collect(),
            _ => None,
        },
        Kind::Object => match &node.value {
            Yaml::Mapping { pairs, .. } => {
                let pair =
                    |(key, node): &(Node, Node)| Some((key.text()?.to_owned(), value(node, &Kind::Any)?));
                pairs.iter().map(pair).collect::<Option<serde_json::Map<_, _>>>().map(Value::from)
            }
            _ => None,
        },
        Kind::Any => match &node.value {
            Yaml::Scalar { style: Style::Alias, .. } => None,
            Yaml::Scalar { .. } if plain => Some(guessed(node.text()?)),
            Yaml::Scalar { text, .. } => Some(text.clone().into()),
            Yaml::Sequence { .. } => value(node, &Kind::Array(Box::new(Kind::Any))),
            Yaml::Mapping { .. } => value(node, &Kind::Object),
        },
    }
}

/// Returns a number that JSON can represent, which excludes infinity.
fn number(text: &str) -> Option<Value> {
    text.parse::<i64>()
        .map(Value::from)
        .ok()
        .or_else(|| Number::from_f64(text.parse().ok()?).map(Value::Number))
}

/// Returns the value of an unquoted text under the rules of YAML 1.2.
fn guessed(text: &str) -> Value {
    match text {
        "" | "null" | "~" => Value::Null,
        "true" => true.into(),
        "false" => false.into(),
        text => number(text).unwrap_or_else(|| text.into()),
    }
}

/// Returns a value as messages show it.
fn shown(node: &Node) -> String {
    match node.text() {
        Some(text) => format!("`{}`", text.chars().take(40).collect::<String>()),
        None => node.kind().to_owned(),
    }
}

/// Returns the message for a problem with the YAML. The messages for frontmatter do not fit here.
fn said(problem: &Problem) -> String {
    match &problem.kind {
        ProblemKind::Yaml(fault) => format!("this is not YAML: {fault}"),
        ProblemKind::TooLarge(size) => format!("the file has {size} bytes, more than any manifest needs"),
        ProblemKind::Alias => "a YAML alias is not followed; write the value itself".to_owned(),
        ProblemKind::SeveralDocuments => "a second YAML document is not read".to_owned(),
        kind => kind.to_string().replace("the frontmatter", "the file"),
    }
}

#[cfg(test)]
mod tests;
