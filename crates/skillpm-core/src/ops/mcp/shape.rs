//! The fields that clients expect in the entry of a server.

use std::path::Path;

use serde_json::{Value, json};

use crate::interop::servers::Field;

/// The key of the server in a client's file unless another one is requested, and the name of the program.
pub const NAME: &str = "skillpm";

/// The shape of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// `command` and `args`.
    Plain,
    /// As [`Shape::Plain`], with `type = "stdio"`.
    Typed,
    /// That of `opencode`: one list of the command and its arguments.
    OpenCode,
    /// That of `goose`: an extension.
    Goose,
}

impl Shape {
    /// Returns all fields of a new entry `name` that starts `command`: a program and its arguments.
    pub(super) fn entry(self, name: &str, command: &[String]) -> Vec<Field> {
        let mut fields: Vec<Field> = match self {
            Self::Plain => Vec::new(),
            Self::Typed => vec![("type", json!("stdio"))],
            Self::OpenCode => vec![("type", json!("local"))],
            Self::Goose => {
                vec![("name", json!(name)), ("description", json!("Agent Skills")), ("type", json!("stdio"))]
            }
        };
        fields.extend(self.command_fields(command));
        match self {
            Self::Plain | Self::Typed => {}
            Self::OpenCode => fields.push(("enabled", json!(true))),
            Self::Goose => fields.extend([("enabled", json!(true)), ("timeout", json!(300))]),
        }
        fields
    }

    /// Returns the fields that name `command`.
    pub(super) fn command_fields(self, command: &[String]) -> Vec<Field> {
        let (program, arguments) =
            command.split_first().map_or(("", command), |(first, rest)| (&**first, rest));
        match self {
            Self::Plain | Self::Typed => vec![("command", json!(program)), ("args", json!(arguments))],
            Self::OpenCode => vec![("command", json!(command))],
            Self::Goose => vec![("cmd", json!(program)), ("args", json!(arguments))],
        }
    }

    /// Returns the keys of the fields that a new entry has.
    pub(super) fn field_names(self) -> Vec<&'static str> {
        self.entry(NAME, &[]).into_iter().map(|(name, _)| name).collect()
    }

    /// Returns the command that `entry` starts: a program and its arguments. Empty if it starts none.
    pub(super) fn command(self, entry: &Value) -> Vec<String> {
        let texts = |value: &Value| match value {
            Value::String(text) => vec![text.clone()],
            Value::Array(items) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            _ => Vec::new(),
        };
        let program = if self == Self::Goose { "cmd" } else { "command" };
        let mut command = texts(&entry[program]);
        if !command.is_empty() {
            command.extend(texts(&entry["args"]));
        }
        command
    }
}

/// Reports whether `command` starts this program's server.
pub(super) fn is_ours(command: &[String]) -> bool {
    let [program, verb, ..] = command else { return false };
    // A file may have been written on Windows and be read elsewhere.
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let stem = Path::new(name).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    stem.eq_ignore_ascii_case(NAME) && verb == "mcp"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_says_what_it_starts() {
        let command: Vec<String> = ["/bin/skillpm", "mcp", "--tag", "x"].map(str::to_owned).to_vec();
        for shape in [Shape::Plain, Shape::Typed, Shape::OpenCode, Shape::Goose] {
            let fields = shape.entry("s", &command).into_iter();
            let entry: Value = fields.map(|(name, value)| (name.to_owned(), value)).collect();
            assert_eq!(shape.command(&entry), command, "{shape:?}");
        }
        assert!(Shape::Plain.command(&json!({"url": "https://x", "args": ["a"]})).is_empty());
        assert!(Shape::Plain.command(&json!("x")).is_empty());
    }

    #[test]
    fn only_this_program_s_server_is_ours() {
        for (command, ours) in [
            (["skillpm", "mcp"], true),
            (["/opt/a b/skillpm", "mcp"], true),
            (["C:\\Tools\\SkillPM.exe", "mcp"], true),
            (["skillpm", "list"], false),
            (["skillpm-registry", "mcp"], false),
            (["npx", "mcp"], false),
        ] {
            assert_eq!(is_ours(&command.map(str::to_owned)), ours, "{command:?}");
        }
        assert!(!is_ours(&["skillpm".to_owned()]));
    }
}
