//! Checks that the given values make a skill that passes `validate --profile publish`, once its text is edited.

use std::ops::Range;

use super::check::PLACEHOLDER;
use crate::advice::{Verb, message};
use crate::document::{Document, Node, Value};
use crate::engine::files;
use crate::engine::load::SKILL_FILE;
use crate::error::{Error, ErrorKind, Result};
use crate::lint::{self, Finding, Profile, Ruleset, Severity, Subject};
use crate::template::{Template, Values};
use crate::text::line_column;
use crate::tree::FileSet;

/// The names of the values that every skill has.
pub(super) const NAME: &str = "name";
pub(super) const DESCRIPTION: &str = "description";
pub(super) const LICENSE: &str = "license";
pub(super) const AUTHOR: &str = "author";

/// Something that keeps a skill from being published.
#[derive(Debug)]
pub(super) struct PublishFault {
    /// The value that causes it; `None` if the template does.
    pub(super) value: Option<String>,
    /// The position: a character of the value, otherwise a line of the file; `None` for the whole value.
    place: Option<usize>,
    finding: Finding,
}

impl PublishFault {
    /// Returns position and reason in one line.
    fn told(&self) -> String {
        let message = &self.finding.message;
        match (&self.value, self.place) {
            (Some(value), Some(at)) => format!("{value}, character {at}: {message}"),
            (Some(value), None) => format!("{value}: {message}"),
            (None, line) => format!("`{SKILL_FILE}`, line {}: {message}", line.unwrap_or(1)),
        }
    }
}

/// Returns the faults that keep `set`, made from `template` and `values`, from being published.
pub(super) fn faults(template: &Template, values: &Values, set: &FileSet) -> Result<Vec<PublishFault>> {
    let Some(file) = set.get(SKILL_FILE) else {
        return Err(Error::config(format!(
            "the template `{}` does not make a `{SKILL_FILE}`",
            template.name
        )));
    };
    let document = Document::from_bytes(set.read(file)?);
    let files = files::of_set(set)?;
    let subject = Subject::new(&document, Some(values.name.as_str()), SKILL_FILE).with_files(&files);
    let found = lint::check_with(&subject, &Ruleset::new(Profile::Publish));
    // What a template says is edited after this.
    let is_fault =
        |finding: &Finding| finding.severity == Severity::Error && finding.rule != lint::TEMPLATE_UNTOUCHED;
    let errors = found.into_iter().filter(is_fault);
    let faults = errors.map(|finding| fault(&document, values, finding));
    // So is what stands for a description.
    let is_left = values.description == PLACEHOLDER;
    Ok(faults.filter(|fault| !(is_left && fault.value.as_deref() == Some(DESCRIPTION))).collect())
}

/// Returns the error for `faults` of a skill made from `template`; `None` if there are none.
pub(super) fn refusal(template: &Template, faults: &[PublishFault]) -> Option<Error> {
    let first = faults.first()?;
    let lines: Vec<String> = faults.iter().map(PublishFault::told).collect();
    let typed = faults.iter().all(|fault| fault.value.is_some());
    let error = if typed {
        Error::usage(format!("this skill could not be published: {}", lines.join("\n")))
    } else {
        let message = format!(
            "the template `{}` makes a skill that cannot be published: {}",
            template.name,
            lines.join("\n")
        );
        Error::new(ErrorKind::Findings, message)
    };
    let mut helps: Vec<_> = faults.iter().filter_map(|fault| fault.finding.help.clone()).collect();
    helps.dedup();
    let error = helps.into_iter().fold(error, Error::hint);
    let rule = first.finding.rule;
    Some(error.hint(message!(
        "nothing was written; ",
        Verb::Explain.call().word(rule),
        " says why this matters"
    )))
}

fn fault(document: &Document, values: &Values, finding: Finding) -> PublishFault {
    let (text, span) = (document.text(), &finding.span);
    // A finding about several lines does not belong to one of the values in them.
    let one_line = !text[span.clone()].contains('\n');
    let typed = typed(values).into_iter().filter(|_| one_line);
    let found =
        typed.filter_map(|(name, value)| Some((place(document, &value, name == NAME, span)?, value, name)));
    if let Some((at, value, name)) = found.min_by_key(|(_, _, name)| name == NAME) {
        let rest = &value[at..];
        // A position is pointless if the whole value is meant.
        let whole = at == 0 && span.len() >= rest.len();
        let place = (!whole).then(|| value[..at].chars().count() + 1);
        return PublishFault { value: Some(name), place, finding };
    }
    let (line, _) = line_column(text, span.start);
    PublishFault { value: None, place: Some(line), finding }
}

/// Returns `values` if the one named `what` does not keep the skill from being published.
pub(super) fn tried(template: &Template, values: &Values, what: &str) -> Result<Values> {
    // Other faults are reported at the end, when all values are known.
    if let Ok(set) = template.fill(values) {
        let mut faults = faults(template, values, &set)?;
        faults.retain(|fault| fault.value.as_deref() == Some(what));
        if let Some(error) = refusal(template, &faults) {
            return Err(error);
        }
    }
    Ok(values.clone())
}

/// Returns the values with their names.
fn typed(values: &Values) -> Vec<(String, String)> {
    let fixed = [
        (DESCRIPTION, Some(&values.description)),
        (LICENSE, values.license.as_ref()),
        (AUTHOR, values.author.as_ref()),
    ];
    let mut typed: Vec<_> =
        fixed.into_iter().filter_map(|(name, text)| Some((name.to_owned(), text?.clone()))).collect();
    typed.extend(values.variables.iter().map(|(name, text)| (format!("`{name}`"), text.clone())));
    typed.push((NAME.to_owned(), values.name.to_string()));
    typed.retain(|(_, text)| !text.is_empty());
    typed
}

/// Returns the offset in `value` of the bytes `span` of the document, or `None` if they do not come from it.
fn place(document: &Document, value: &str, is_name: bool, span: &Range<usize>) -> Option<usize> {
    let text = document.text();
    // A heading has the name with spaces and a capital; the replacements keep the length in bytes.
    let plain = |text: &str| text.to_ascii_lowercase().replace('-', " ");
    let (in_text, of_value) =
        if is_name { (plain(text), plain(value)) } else { (text.to_owned(), value.to_owned()) };
    let is_word = |c: char| c.is_alphanumeric();
    let stands = |at: usize| {
        let (before, after) = (&in_text[..at], &in_text[at + of_value.len()..]);
        let apart = !before.ends_with(is_word) && !after.starts_with(is_word);
        apart && at < span.end.max(span.start + 1) && span.start <= at + of_value.len()
    };
    if let Some((at, _)) = in_text.match_indices(&of_value).find(|(at, _)| stands(*at)) {
        return Some(value.floor_char_boundary(span.start.saturating_sub(at)));
    }
    // In quotes the text of a value differs.
    let quoted = scalar_at(document.frontmatter()?, span.start)?;
    quoted.contains(value).then(|| value.find(&text[span.clone()]).unwrap_or(0))
}

/// Returns the text of the scalar at byte `at`.
fn scalar_at(root: &Node, at: usize) -> Option<&str> {
    let mut nodes = vec![root];
    while let Some(node) = nodes.pop() {
        match &node.value {
            Value::Scalar { .. } if node.span.contains(&at) => return node.text(),
            Value::Scalar { .. } => {}
            Value::Sequence { items, .. } => nodes.extend(items),
            Value::Mapping { pairs, .. } => nodes.extend(pairs.iter().flat_map(|(key, value)| [key, value])),
        }
    }
    None
}
