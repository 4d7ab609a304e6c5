//! Checks of the values for a new skill.

use crate::advice::{Opt, Verb, message};
use crate::error::{Error, Result};
use crate::name::SkillName;

/// The largest number of characters in a description (specification, `description`).
const MAX_DESCRIPTION: usize = 1024;
/// The largest number of characters in any other value.
const MAX_LINE: usize = 500;

/// Returns the skill's name.
pub(super) fn name(text: &str) -> Result<SkillName> {
    let message = match SkillName::new(text) {
        Ok(name) if name.as_str().is_ascii() => return Ok(name),
        // The specification says both, and many tools accept only one.
        Ok(name) => format!("the name `{name}` has letters that not every tool accepts"),
        Err(error) => error.to_string(),
    };
    let error = Error::usage(message)
        .hint("a name has 1 to 64 of `a` to `z`, `0` to `9` and single hyphens between them");
    // Other tools accept a path there.
    if let Some((dir, last)) = text.trim_end_matches('/').rsplit_once('/').filter(|(dir, _)| !dir.is_empty())
        && let Ok(name) = SkillName::new(last)
    {
        return Err(
            error.hint(message!(Verb::Create.call().word(name).option(Opt::Path, dir), " makes it there"))
        );
    }
    Err(match SkillName::slug(text).filter(|slug| slug.as_str().is_ascii()) {
        Some(slug) => error.hint(message!(Verb::Create.call().word(slug), " would work")),
        None => error,
    })
}

/// The placeholder for a missing description: `validate` asks to replace it, and `publish` refuses it.
pub(super) const PLACEHOLDER: &str = "[TODO: what this skill does, and when to use it]";

/// Returns the description, trimmed.
pub(super) fn description(text: &str) -> Result<&str> {
    let text = text.trim();
    let count = text.chars().count();
    let message = if text.is_empty() {
        "the description is empty".to_owned()
    } else if count > MAX_DESCRIPTION {
        format!("the description has {count} characters, {MAX_DESCRIPTION} are allowed")
    } else if let Some(fault) = fault(text) {
        format!("the description has {fault}")
    } else {
        return Ok(text);
    };
    Err(Error::usage(message).hint("write one line: what the skill does and when to use it"))
}

/// Returns `text`, trimmed. `what` is its name in messages.
pub(super) fn line(what: &str, text: &str) -> Result<String> {
    let text = one_line(what, text)?;
    if text.is_empty() {
        return Err(Error::usage(format!("the {what} is empty")).hint("leave out the flag to have none"));
    }
    Ok(text)
}

/// Returns `text`, trimmed. `what` is its name in messages.
pub(super) fn one_line(what: &str, text: &str) -> Result<String> {
    let text = text.trim();
    let count = text.chars().count();
    let message = if count > MAX_LINE {
        format!("the {what} has {count} characters, {MAX_LINE} are allowed")
    } else if let Some(fault) = fault(text) {
        format!("the {what} has {fault}")
    } else {
        return Ok(text.to_owned());
    };
    Err(Error::usage(message).hint("write it in one short line"))
}

/// Returns why `text` cannot be shown as one line, if so.
fn fault(text: &str) -> Option<String> {
    if text.contains(['\n', '\r', '\u{2028}', '\u{2029}']) {
        return Some("more than one line".to_owned());
    }
    let control = text.chars().find(|c| c.is_control());
    control.map(|c| format!("the control character U+{:04X}", u32::from(c)))
}
