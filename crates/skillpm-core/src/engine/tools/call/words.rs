//! Turns values into arguments of a command line.

use serde_json::Value;

use crate::engine::tools::input::{Parameter, ParameterPosition};

/// Adds an option with its value; returns `None` if the script would take a part of the value for another option.
pub(super) fn option(
    parameter: &Parameter,
    value: &Value,
    knows_end: bool,
    words: &mut Vec<String>,
) -> Option<()> {
    match &parameter.place {
        ParameterPosition::Option(flag) => {
            let values = flat(value);
            match &values[..] {
                // An empty list is left out.
                [] => {}
                [one] => single(flag, one, knows_end, words)?,
                // An equals sign would protect only the first of several values.
                values if values.iter().any(|one| is_option(one)) => return None,
                values => {
                    words.push(flag.clone());
                    words.extend_from_slice(values);
                }
            }
        }
        ParameterPosition::Repeated(flag) => {
            for one in flat(value) {
                single(flag, &one, knows_end, words)?;
            }
        }
        ParameterPosition::Switch(flag) => words.extend((*value == Value::Bool(true)).then(|| flag.clone())),
        ParameterPosition::Unless(flag) => words.extend((*value == Value::Bool(false)).then(|| flag.clone())),
        ParameterPosition::Either(on, off) => {
            words.push(if *value == Value::Bool(true) { on.clone() } else { off.clone() });
        }
        ParameterPosition::Count(flag) => {
            // More repetitions would have no further effect.
            let count = usize::try_from(value.as_u64().unwrap_or_default()).unwrap_or_default().min(16);
            words.extend(std::iter::repeat_n(flag.clone(), count));
        }
        ParameterPosition::Positional | ParameterPosition::Key => {}
    }
    Some(())
}

/// Adds an option with one value. A value that looks like an option is added after an equals sign, or joined to a short
/// option if the script is known to support that; returns `None` if neither is possible.
fn single(flag: &str, value: &str, knows_end: bool, words: &mut Vec<String>) -> Option<()> {
    if value.starts_with('-') && flag.starts_with("--") {
        words.push(format!("{flag}={value}"));
    } else if !is_option(value) {
        words.extend([flag.to_owned(), value.to_owned()]);
    } else if !knows_end {
        return None;
    } else {
        // `-m-x`, but `-mode=-x`.
        let divider = if flag.chars().count() > 2 { "=" } else { "" };
        words.push(format!("{flag}{divider}{value}"));
    }
    Some(())
}

/// Reports whether a script could take `word` for an option: it begins with `-` and is not a negative number. `-` alone
/// stands for the standard input.
pub(super) fn is_option(word: &str) -> bool {
    let Some(rest) = word.strip_prefix('-').filter(|rest| !rest.is_empty()) else { return false };
    let is_number = rest.ends_with(|c: char| c.is_ascii_digit())
        && rest.chars().all(|c| c.is_ascii_digit() || c == '.')
        && rest.matches('.').count() < 2;
    !is_number
}

/// Returns a value as arguments: a list is several.
pub(super) fn flat(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().map(text).collect(),
        value => vec![text(value)],
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Returns a string or a number as an argument.
pub(super) fn word(value: &Value) -> Option<String> {
    (value.is_string() || value.is_number()).then(|| text(value))
}
