//! Prompts: skills that a person starts, as with a command.

use serde_json::{Map, Value};
use skillpm_core::engine::Skill;
use skillpm_core::toolkit::{Loaded, MAX_DESCRIPTION, Toolkit, View, one_line};
use skillpm_sources::error::{Error, Result};

/// The argument that stands for all words, for skills that name none.
const ALL: &str = "arguments";

/// A prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Prompt {
    /// The name of the skill.
    pub(crate) name: String,
    /// The description.
    pub(crate) description: String,
    /// What it takes, as its author says.
    pub(crate) hint: Option<String>,
}

/// Returns the skills that a person may start, as prompts.
pub(crate) fn list(kit: &Toolkit) -> Result<Vec<Prompt>> {
    let view = kit.view()?;
    let prompts = view.skills.iter().filter(|skill| is_for_people(skill)).map(|skill| {
        let meta = &skill.meta;
        let hint = meta.extra.get("argument-hint").and_then(Value::as_str);
        Prompt {
            name: meta.name.clone(),
            description: one_line(&meta.description, MAX_DESCRIPTION),
            hint: hint.map(|hint| one_line(hint, MAX_DESCRIPTION)),
        }
    });
    Ok(prompts.collect())
}

/// Returns the instructions of the skill `name` with the arguments of a person.
pub(crate) fn get(
    kit: &Toolkit,
    name: &str,
    arguments: &Map<String, Value>,
    client: Option<&str>,
) -> Result<(String, String)> {
    let view = kit.view()?;
    let skill = view.skills.iter().find(|skill| skill.meta.name == name && is_for_people(skill));
    let skill = skill.ok_or_else(|| Error::usage(format!("there is no prompt `{name}`")))?;
    if let Some(other) = arguments.keys().find(|key| *key != ALL) {
        return Err(Error::usage(format!("the prompt `{name}` has no argument `{other}`, only `{ALL}`")));
    }
    let words = match arguments.get(ALL) {
        None | Some(Value::Null) => "",
        Some(Value::String(text)) => text,
        Some(_) => return Err(Error::usage(format!("the argument `{ALL}` is not a string"))),
    };
    // What a person starts is what a model loads.
    let Loaded { text, notes, .. } = kit.load(skill, words, client)?;
    Ok((one_line(&skill.meta.description, MAX_DESCRIPTION), [vec![text], notes].concat().join("\n")))
}

/// Returns what the argument of a prompt may be, if its author lists it: `[low|high]` or `low | high`.
pub(crate) fn complete(view: &View, name: &str, argument: &str, start: &str) -> Vec<String> {
    let skill = view.skills.iter().find(|skill| skill.meta.name == name && is_for_people(skill));
    let hint = skill.and_then(|skill| skill.meta.extra.get("argument-hint")).and_then(Value::as_str);
    let Some(hint) = hint.filter(|hint| argument == ALL && hint.contains('|')) else { return Vec::new() };
    let choices = hint.trim_matches(['[', ']', '<', '>', '(', ')']).split('|').map(str::trim);
    let is_word = |choice: &&str| !choice.is_empty() && !choice.contains(char::is_whitespace);
    choices.filter(is_word).filter(|choice| choice.starts_with(start)).map(str::to_owned).collect()
}

/// Reports whether a person may start the skill: unless its frontmatter has `user-invocable: false`.
fn is_for_people(skill: &Skill) -> bool {
    match skill.meta.extra.get("user-invocable") {
        Some(Value::Bool(invocable)) => *invocable,
        Some(Value::String(text)) => !text.eq_ignore_ascii_case("false"),
        _ => true,
    }
}
