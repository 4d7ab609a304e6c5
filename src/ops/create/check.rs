//! What may go into a skill, and what comes of it.

use crate::document::Document;
use crate::engine::files;
use crate::engine::load::SKILL_FILE;
use crate::error::{Error, ErrorKind, Result};
use crate::lint::{self, Finding, Profile, Ruleset, Severity, Subject};
use crate::name::SkillName;
use crate::template::{Template, Values};
use crate::text::line_column;
use crate::tree::FileSet;

/// The largest number of characters in a description (specification, `description`).
const MAX_DESCRIPTION: usize = 1024;
/// The largest number of characters in any other value.
const MAX_LINE: usize = 500;

/// Returns the skill's name.
///
/// # Errors
///
/// A text that the specification refuses as a name, or that some tools do.
pub(super) fn name(text: &str) -> Result<SkillName> {
    let message = match SkillName::new(text) {
        Ok(name) if name.as_str().is_ascii() => return Ok(name),
        // The specification has it both ways, and many tools have it one way.
        Ok(name) => format!("the name `{name}` has letters that not every tool accepts"),
        Err(error) => error.to_string(),
    };
    let error = Error::usage(message)
        .hint("a name is 1 to 64 of `a` to `z`, `0` to `9` and single hyphens between them");
    Err(match SkillName::slug(text).filter(|slug| slug.as_str().is_ascii()) {
        Some(slug) => error.hint(format!("`skillpm create {slug}` would do")),
        None => error,
    })
}

/// The description of a skill that was made without one. It is true and says when, as little as a
/// name can tell.
pub(super) fn default_description(name: &SkillName) -> String {
    let topic = name.as_str().replace('-', " ");
    format!("Helps with {topic}. Use when the task is about {topic}.")
}

/// Returns the description without white space around it.
///
/// # Errors
///
/// One that is empty, too long or of several lines.
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
    Err(Error::usage(message).hint("say in one line what the skill does and when to use it"))
}

/// Returns `text` without white space around it; `what` is what it is.
///
/// # Errors
///
/// One that is empty, or as [`one_line`].
pub(super) fn line(what: &str, text: &str) -> Result<String> {
    let text = one_line(what, text)?;
    if text.is_empty() {
        return Err(Error::usage(format!("the {what} is empty")).hint("leave the flag away to have none"));
    }
    Ok(text)
}

/// Returns `text` without white space around it; `what` is what it is.
///
/// # Errors
///
/// One of several lines, with control characters, or of more than [`MAX_LINE`] characters.
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
    Err(Error::usage(message).hint("say it in one short line"))
}

/// What keeps `text` from being one line that can be shown.
fn fault(text: &str) -> Option<String> {
    if text.contains(['\n', '\r', '\u{2028}', '\u{2029}']) {
        return Some("more than one line".to_owned());
    }
    let control = text.chars().find(|c| c.is_control());
    control.map(|c| format!("the control character U+{:04X}", u32::from(c)))
}

/// Checks what comes of `template`, and returns what keeps it from being published.
///
/// # Errors
///
/// Files that are no valid skill, with the first reason.
pub(super) fn result(template: &Template, values: &Values, set: &FileSet) -> Result<Vec<String>> {
    let Some(file) = set.get(SKILL_FILE) else {
        return Err(Error::config(format!("the template `{}` makes no `{SKILL_FILE}`", template.name)));
    };
    let document = Document::from_bytes(set.read(file)?);
    let files = files::of_set(set)?;
    let subject = Subject::new(&document, Some(values.name.as_str()), SKILL_FILE).with_files(&files);
    let shown = |finding: &Finding| {
        let (line, _) = line_column(document.text(), finding.span.start);
        format!("`{SKILL_FILE}`, line {line}: {}", finding.message)
    };
    let found = lint::check_with(&subject, &Ruleset::new(Profile::Spec));
    if let Some(error) = found.iter().find(|finding| finding.severity == Severity::Error) {
        let message = format!("the template `{}` makes no valid skill: {}", template.name, shown(error));
        let error = Error::new(ErrorKind::Findings, message);
        return Err(error.hint("nothing was written; put the template or the value right"));
    }
    let found = lint::check_with(&subject, &Ruleset::new(Profile::Publish));
    Ok(found.iter().filter(|finding| finding.severity == Severity::Error).map(shown).collect())
}
