//! Prompts: skills that a person starts, as with a command.

use serde_json::{Map, Value};
use skillpm_sources::error::{Error, Result};

use crate::offer::{Offer, Served, View};
use crate::tools::skills::{Loaded, MAX_DESCRIPTION, loaded, one_line};

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
pub(crate) fn list(offer: &Offer) -> Result<Vec<Prompt>> {
    let view = offer.view()?;
    let prompts = view.skills.iter().filter(|served| is_for_people(served)).map(|served| {
        let meta = &served.skill.meta;
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
    offer: &Offer,
    name: &str,
    arguments: &Map<String, Value>,
    client: Option<&str>,
) -> Result<(String, String)> {
    let view = offer.view()?;
    let served = view.skills.iter().find(|served| served.skill.meta.name == name && is_for_people(served));
    let served = served.ok_or_else(|| Error::usage(format!("there is no prompt `{name}`")))?;
    if let Some(other) = arguments.keys().find(|key| *key != ALL) {
        return Err(Error::usage(format!("the prompt `{name}` has no argument `{other}`, only `{ALL}`")));
    }
    let words = match arguments.get(ALL) {
        None | Some(Value::Null) => "",
        Some(Value::String(text)) => text,
        Some(_) => return Err(Error::usage(format!("the argument `{ALL}` is not a string"))),
    };
    // What a person starts is what a model loads.
    let Loaded { text, notes } = loaded(offer, served, words, client)?;
    Ok((one_line(&served.skill.meta.description, MAX_DESCRIPTION), [vec![text], notes].concat().join("\n")))
}

/// Returns what the argument of a prompt may be, if its author lists it: `[low|high]` or `low | high`.
pub(crate) fn complete(view: &View, name: &str, argument: &str, start: &str) -> Vec<String> {
    let served = view.skills.iter().find(|served| served.skill.meta.name == name && is_for_people(served));
    let hint = served.and_then(|served| served.skill.meta.extra.get("argument-hint")).and_then(Value::as_str);
    let Some(hint) = hint.filter(|hint| argument == ALL && hint.contains('|')) else { return Vec::new() };
    let choices = hint.trim_matches(['[', ']', '<', '>', '(', ')']).split('|').map(str::trim);
    let is_word = |choice: &&str| !choice.is_empty() && !choice.contains(char::is_whitespace);
    choices.filter(is_word).filter(|choice| choice.starts_with(start)).map(str::to_owned).collect()
}

/// Reports whether a person may start the skill: unless its frontmatter has `user-invocable: false`.
fn is_for_people(served: &Served) -> bool {
    match served.skill.meta.extra.get("user-invocable") {
        Some(Value::Bool(invocable)) => *invocable,
        Some(Value::String(text)) => !text.eq_ignore_ascii_case("false"),
        _ => true,
    }
}
