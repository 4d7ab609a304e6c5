//! Several values after one option, as in `--skill pdf docx`.
//!
//! clap would assign all following words to the option, including sources and skills. Here they keep their
//! meaning: the option is repeated before each of its values, which is the form that clap reads.

use std::ffi::OsString;

use super::commands::Command;
use skillpm_core::agents;
use skillpm_core::ops::remove::ALL;
use skillpm_format::spec::{SourceSpec, SpecError};

/// Reports whether a word is a value of the option.
type IsValue = fn(&str) -> bool;

/// The commands with such options, by their own names, each with a test for further values of the option.
const COMMANDS: &[(&str, IsValue)] =
    &[("install", is_name), ("sync", is_name), ("link", is_agent), ("list", is_agent), ("unlink", is_agent)];
/// The options, and the prefixes of forms that include a value.
const OPTIONS: &[&str] = &["-s", "--skill", "-a", "--agent"];

/// Returns `arguments`, the program's name first, with `--skill pdf docx` as `--skill pdf --skill docx`.
///
/// The first word is always a value of the option. The next ones are too, up to a flag or a word that looks like a source:
/// from there on, words have the meaning that they have without the option. `link`, `list` and `unlink` take names of
/// skills, so there only agents that skillpm knows are further values of `--agent`. With `--marketplace`, words name plugins, and
/// nothing is changed.
pub(crate) fn repeated(arguments: Vec<OsString>) -> Vec<OsString> {
    // Without such an option nothing changes, and the names of all commands are not needed.
    let is_such = |word: &OsString| {
        word.to_str().is_some_and(|text| OPTIONS.iter().any(|option| belongs(text, option)))
    };
    if !arguments.iter().any(is_such) {
        return arguments;
    }
    // The first word that names a command is the command: a name after another command belongs to that one.
    let named = |(at, word): (usize, &OsString)| Some((at, Command::own_name(word.to_str()?)?));
    let command = arguments.iter().enumerate().skip(1).find_map(named);
    let market = |word: &OsString| word.to_str().is_some_and(|word| word.starts_with("--marketplace"));
    let known = |(at, name): (usize, &str)| {
        COMMANDS.iter().find(|(command, _)| *command == name).map(|(_, is_value)| (at, is_value))
    };
    let Some((start, is_value)) = command.and_then(known).filter(|_| !arguments.iter().any(market)) else {
        return arguments;
    };
    let mut result = Vec::with_capacity(arguments.len());
    let mut option: Option<&str> = None;
    let mut has_value = false;
    let mut rest = arguments.iter();
    result.extend(rest.by_ref().take(start + 1).cloned());
    for word in rest.by_ref() {
        let text = word.to_str();
        if text == Some("--") {
            result.push(word.clone());
            break;
        }
        if let Some(flag) = text.filter(|text| text.starts_with('-') && text.len() > 1) {
            option = OPTIONS.iter().copied().find(|known| belongs(flag, known));
            has_value = option.is_some_and(|option| flag != option);
        } else if let Some(known) = option {
            if !has_value {
                has_value = true;
            } else if text.is_some_and(is_value) {
                result.push(known.into());
            } else {
                option = None;
            }
        }
        result.push(word.clone());
    }
    result.extend(rest.cloned());
    result
}

/// Reports whether `flag` is `option`, alone or with a value in the same word.
fn belongs(flag: &str, option: &str) -> bool {
    match flag.strip_prefix(option) {
        Some("") => true,
        Some(value) => !option.starts_with("--") || value.starts_with('='),
        None => false,
    }
}

/// Reports whether `text` does not look like a source.
fn is_name(text: &str) -> bool {
    matches!(text.parse::<SourceSpec>(), Err(SpecError::Word(_)))
}

/// Reports whether `text` names an agent, or several in a list.
fn is_agent(text: &str) -> bool {
    text.split(',').all(|name| agents::find(name).is_ok())
}

/// Returns `values` with lists such as `pdf,docx` split. Paths stay whole.
pub(crate) fn listed(values: &[String]) -> Vec<String> {
    let parts = values.iter().flat_map(|value| {
        let is_path = value.contains(['/', '\\']);
        let parts = value.split(move |c: char| c == ',' && !is_path);
        parts.map(str::trim).filter(|part| !part.is_empty())
    });
    parts.map(ToOwned::to_owned).collect()
}

/// Returns `names`, and none if they are `'*'`, for commands where no name means all.
pub(crate) fn or_all(names: &[String]) -> Vec<String> {
    if names == [ALL] { Vec::new() } else { names.to_vec() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> String {
        let words = text.split(' ').map(OsString::from).collect();
        let words = repeated(words).into_iter().map(|word| word.into_string().expect("UTF-8"));
        words.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn words_behind_an_option_are_its_values() {
        for (typed, read) in [
            (
                "x add a/s --skill pdf docx -a cursor codex -y",
                "x add a/s --skill pdf --skill docx -a cursor -a codex -y",
            ),
            ("x add -s pdf docx a/s xlsx", "x add -s pdf -s docx a/s xlsx"),
            ("x install --skill=pdf docx ./here", "x install --skill=pdf --skill docx ./here"),
            ("x i -spdf docx", "x i -spdf -s docx"),
            ("x install --skill skills/pdf a/s", "x install --skill skills/pdf a/s"),
            ("x install -s pdf --tag v1 a/s", "x install -s pdf --tag v1 a/s"),
            ("x install -a '*' -s * b", "x install -a '*' -s * -s b"),
            ("x sync -a cursor codex", "x sync -a cursor -a codex"),
            ("x install a/s -s pdf -- docx", "x install a/s -s pdf -- docx"),
            ("x install --marketplace a/s -s pdf office", "x install --marketplace a/s -s pdf office"),
            ("x install a/s --agents b c", "x install a/s --agents b c"),
            ("x link -a cursor pdf", "x link -a cursor pdf"),
            ("x link -a cursor junie,roo pdf codex", "x link -a cursor -a junie,roo pdf codex"),
            ("x list -a cursor junie pdf", "x list -a cursor -a junie pdf"),
            ("x unlink pdf --agent cursor Junie", "x unlink pdf --agent cursor --agent Junie"),
            // The arguments of another command are not parsed here.
            ("x run pdf demo install -a one two", "x run pdf demo install -a one two"),
            ("x invoke pdf add -s one two", "x invoke pdf add -s one two"),
        ] {
            assert_eq!(line(typed), read);
        }
    }

    #[test]
    fn lists_are_taken_apart() {
        let values = ["a,b", "c", "./d,e", ",", "f, g"].map(ToOwned::to_owned);
        assert_eq!(listed(&values), ["a", "b", "c", "./d,e", "f", "g"]);
    }
}
