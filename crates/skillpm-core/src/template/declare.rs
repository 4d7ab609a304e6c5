//! Reads `template.toml`, in which a template declares its variables.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::DECLARATION;
use crate::error::{Error, Result};

/// The names of the variables that every template has.
const TAKEN: [&str; 7] = ["author", "description", "license", "name", "resources", "title", "topic"];

/// A variable that a template declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// The name by which the template's files use it.
    pub name: String,
    /// The question to ask a person for its value.
    pub prompt: String,
    /// The default value; without one, a value is required.
    pub default: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    variables: BTreeMap<String, Declaration>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Declaration {
    prompt: Option<String>,
    default: Option<String>,
}

/// Reads the declaration of the template called `template`.
pub(super) fn read(template: &str, bytes: &[u8]) -> Result<Vec<Variable>> {
    let wrong = |why: String| {
        Error::config(format!("`{DECLARATION}` of the template `{template}` cannot be used: {why}"))
            .hint("it has tables `[variables.NAME]` with `prompt` and `default`, both strings")
    };
    let text = std::str::from_utf8(bytes).map_err(|_| wrong("it is not UTF-8 text".into()))?;
    let file: File = toml::from_str(text).map_err(|error| wrong(error.message().to_owned()))?;
    let mut variables = Vec::new();
    for (name, entry) in file.variables {
        if !is_variable(&name) {
            return Err(wrong(format!("`{name}` is not a name: use a letter, then letters, digits and `_`")));
        }
        if TAKEN.contains(&name.as_str()) {
            return Err(wrong(format!("every template already has `{name}`")));
        }
        let prompt = entry.prompt.unwrap_or_else(|| name.replace('_', " "));
        variables.push(Variable { name, prompt, default: entry.default });
    }
    Ok(variables)
}

fn is_variable(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_and_defaults() {
        let text = "[variables.audience]\nprompt = \"who reads it\"\ndefault = \"developers\"\n\
            [variables.ticket_system]\n";
        let variable = |name: &str, prompt: &str, default: Option<&str>| Variable {
            name: name.into(),
            prompt: prompt.into(),
            default: default.map(Into::into),
        };
        assert_eq!(
            read("t", text.as_bytes()).expect("reads"),
            [
                variable("audience", "who reads it", Some("developers")),
                variable("ticket_system", "ticket system", None),
            ]
        );
        assert_eq!(read("t", b"").expect("reads"), []);
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, message) in [
            ("[variables.name]", "every template already has `name`"),
            ("[variables.a-b]", "`a-b` is not a name"),
            ("[variables.\"\"]", "`` is not a name"),
            ("[variables.a]\nsecret = true", "unknown field `secret`"),
            ("variables = 1", "invalid type"),
            ("hooks = []", "unknown field `hooks`"),
            ("\u{1}", ""),
        ] {
            let error = read("t", text.as_bytes()).expect_err(text).to_string();
            assert!(error.starts_with("`template.toml` of the template `t` cannot be used: "), "{error}");
            assert!(error.contains(message), "{error}");
        }
        assert!(read("t", b"\xff").is_err());
    }
}
