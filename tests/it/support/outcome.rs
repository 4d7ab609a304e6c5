//! What a run means to a program: its exit code, the code of its error, the fields of its outcome. Words are no part of it.

use serde_json::Value;
use skillpm_format::advice::CommandLine;
use skillpm_sources::error::Error;

use super::sandbox::{Output, Sandbox};

impl Sandbox {
    /// Runs the program, which has to fail with `exit` and an error of this `code`, in whose message, causes and hints
    /// all `values` are: paths, names, commands. Returns the error.
    #[track_caller]
    pub fn fails(&self, args: &[&str], exit: i32, code: &str, values: &[&str]) -> Value {
        self.run(&[&["--error-format", "json"], args].concat()).failed_with(exit, code, values)
    }

    /// Runs the program with `--json`: it has to end with `exit`, and [`fields`] of its outcome are to be these.
    /// Returns the outcome.
    #[track_caller]
    pub fn tells(&self, args: &[&str], exit: i32, wanted: &str, expected: &[&str]) -> Value {
        let output = self.run(&[&["--json"], args].concat());
        assert_eq!(output.code, Some(exit), "{args:?}: {output}");
        let outcome = output.json();
        assert_eq!(fields(&outcome, wanted), expected, "{args:?}: {output}");
        outcome
    }
}

impl Output {
    /// The JSON on standard output.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self}"))
    }

    /// Checks the last error of a run with `--json` or `--error-format json`, as [`Sandbox::fails`] does.
    #[track_caller]
    pub fn failed_with(&self, exit: i32, code: &str, values: &[&str]) -> Value {
        let line = self.stderr.lines().rfind(|line| line.starts_with('{'));
        let error: Value = line
            .and_then(|line| serde_json::from_str(line).ok())
            .unwrap_or_else(|| panic!("no error in JSON: {self}"));
        assert_eq!(self.code, Some(exit), "{self}");
        assert!(!self.stderr.contains('\u{1b}'), "a raw escape: {self}");
        check(&error, exit, code, values);
        error
    }
}

/// Checks an error of the library, as [`Sandbox::fails`] does one of the program.
#[track_caller]
pub fn failed(error: &Error, exit: i32, code: &str, values: &[&str]) {
    check(&serde_json::to_value(error.data(&CommandLine)).expect("JSON"), exit, code, values);
}

#[track_caller]
fn check(error: &Value, exit: i32, code: &str, values: &[&str]) {
    assert_eq!((&error["exit_code"], &error["code"]), (&exit.into(), &code.into()), "{error}");
    let texts = fields(error, ": message; causes:; hints: text");
    for value in values {
        assert!(texts.iter().any(|text| text.contains(value)), "nothing names `{value}`: {error}");
    }
}

/// The fields of what is in lists: `skills: name change; warnings: code` makes `pdf added` and `edited-kept`. A list
/// without a name is the outcome itself, `a.b` is `b` of each `a`, and what is null or empty is `-`.
pub fn fields(outcome: &Value, wanted: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for part in wanted.split("; ") {
        let (list, names) = part.split_once(':').expect("a list and its fields");
        let list = if list.is_empty() { outcome.clone() } else { at(outcome, list) };
        let items = list.as_array().map_or(std::slice::from_ref(&list), Vec::as_slice);
        for item in items.iter().filter(|item| !item.is_null()) {
            let texts: Vec<_> = names.split_whitespace().map(|name| text(&at(item, name))).collect();
            lines.push(if texts.is_empty() { text(item) } else { texts.join(" ") });
        }
    }
    lines
}

fn at(value: &Value, path: &str) -> Value {
    path.split('.').fold(value.clone(), |value, name| match value {
        Value::Array(items) => items
            .iter()
            .flat_map(|item| match &item[name] {
                Value::Array(inner) => inner.clone(),
                inner => vec![inner.clone()],
            })
            .collect(),
        value => value[name].clone(),
    })
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::Array(items) if items.is_empty() => "-".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(text).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}
