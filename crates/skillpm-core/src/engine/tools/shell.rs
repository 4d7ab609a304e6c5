//! Reads facts from a shell script: its first comment, a usage line, `getopts`, and variables assigned from `$1` etc.

use super::input::{Input, Kind, Parameter, ParameterPosition, TypedBy, WORDS};
use super::{Facts, comment, usage};

/// The maximum number of arguments that get a name.
const MAX_WORDS: usize = 9;

/// Returns the facts in a script.
pub(super) fn facts(text: &str, file: &str) -> Facts {
    let description = comment::summary(text, "#", file);
    let input = usage::input(text, file).or_else(|| getopts(text)).or_else(|| words(text));
    Facts { description, input: Some(input.unwrap_or_else(Input::words)) }
}

/// Returns the options of the only `getopts` call in a script.
fn getopts(text: &str) -> Option<Input> {
    let mut calls = text.lines().filter(|line| !line.trim_start().starts_with('#')).filter_map(|line| {
        let (before, after) = line.split_once("getopts ")?;
        before.chars().next_back().is_none_or(char::is_whitespace).then(|| after.trim_start())
    });
    let (after, None) = (calls.next()?, calls.next()) else { return None };
    let spec = after.trim_start_matches(['"', '\'']);
    let spec = spec.split(['"', '\'', ' ']).next().unwrap_or_default().trim_start_matches(':');
    let fits = |c: char| c.is_ascii_alphanumeric() || c == ':';
    if spec.is_empty() || !spec.chars().all(fits) {
        return None;
    }
    let mut parameters: Vec<Parameter> = Vec::new();
    for c in spec.chars() {
        if c == ':' {
            let last = parameters.last_mut()?;
            last.kind = Kind::String;
            last.place = ParameterPosition::Option(format!("-{}", last.name));
        } else if parameters.iter().any(|one| one.name.starts_with(c)) {
            return None;
        } else {
            let place = ParameterPosition::Switch(format!("-{c}"));
            parameters.push(Parameter::new(c, Kind::Boolean, place).optional());
        }
    }
    // `-h` only prints help.
    parameters.retain(|one| one.name != "h" || one.kind != Kind::Boolean);
    for parameter in &mut parameters {
        parameter.description = usage::description(text, parameter);
    }
    // The arguments after the options, which the script skips to reach.
    if text.contains("OPTIND") {
        parameters.push(Parameter::new(WORDS, Kind::strings(), ParameterPosition::Positional).optional());
    }
    Some(Input { parameters, open: false, typed_by: TypedBy::Getopts, knows_end: true })
}

/// Returns the parameters from `name="$1"` and the like outside functions; `None` if the script uses an argument that
/// has no name.
fn words(text: &str) -> Option<Input> {
    let unclear = |line: &str| {
        let all = ["$@", "$*", "${@", "${*"];
        line == "shift" || line.starts_with("shift ") || all.iter().any(|all| line.contains(all))
    };
    let mut found: Vec<Option<Parameter>> = Vec::new();
    for line in text.lines() {
        if unclear(line.trim()) {
            return None;
        }
        let Some((name, value)) = line.split_once('=') else { continue };
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let Some((number, default, required)) = word(value).filter(|_| is_name) else { continue };
        if !(1..=MAX_WORDS).contains(&number) {
            return None;
        }
        found.resize(found.len().max(number), None);
        if found[number - 1].is_none() {
            let parameter =
                Parameter::new(name.to_ascii_lowercase(), Kind::String, ParameterPosition::Positional);
            found[number - 1] = Some(Parameter { required, default: default.map(Into::into), ..parameter });
        }
    }
    let mut parameters = found.into_iter().collect::<Option<Vec<_>>>()?;
    let mut optional = false;
    for parameter in &mut parameters {
        optional |= !parameter.required;
        parameter.required = !optional;
    }
    let names: std::collections::BTreeSet<_> = parameters.iter().map(|one| &one.name).collect();
    if parameters.is_empty() || names.len() < parameters.len() || last_used(text)? > parameters.len() {
        return None;
    }
    Some(Input { parameters, open: false, typed_by: TypedBy::Argv, knows_end: false })
}

/// Returns the highest number of an argument used outside functions, which have their own arguments; `None` if the end
/// of a function is in doubt.
fn last_used(text: &str) -> Option<usize> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let lines: Vec<&str> = text.lines().collect();
    let (mut last, mut at) = (0, 0);
    while let Some(line) = lines.get(at) {
        at += match function(line, lines.get(at + 1).copied().unwrap_or_default()) {
            Some("") => {
                let is_end = |end: &&str| end.trim() == "}" && indent(end) == indent(line);
                lines[at..].iter().position(is_end)? + 1
            }
            Some(_) => 1,
            None => {
                last = last.max(last_used_in(line));
                1
            }
        };
    }
    Some(last)
}

/// Returns the text after the opening brace of the function that begins in `line`; an empty text if its body is on the
/// next lines, and `None` if no function begins there.
fn function<'a>(line: &'a str, next: &str) -> Option<&'a str> {
    let head = line.trim();
    let (name, body) = match head.split_once('{') {
        Some((name, body)) => (name.trim_end(), body.trim()),
        None => (head, ""),
    };
    let begins = head.contains('{') || next.trim() == "{";
    let is_whole = body.strip_suffix('}').is_some_and(|body| body.trim_end().ends_with(';'));
    let is_name = name.ends_with("()") || name.starts_with("function ");
    (is_name && begins && (body.is_empty() || is_whole)).then_some(body)
}

/// Returns the highest number of an argument that `line` uses, such as `$2` or `"${3:-x}"`. Text in single quotes, such
/// as an awk program, and comments that take the whole line do not count.
fn last_used_in(line: &str) -> usize {
    if line.trim_start().starts_with('#') {
        return 0;
    }
    // Whether double quotes are open, at the top level and in each enclosing `$(`.
    let mut quoted = vec![false];
    let (mut last, mut rest) = (0, line);
    while let Some(at) = rest.find(['$', '\\', '"', '\'', ')']) {
        let (found, behind) = (rest.as_bytes()[at], &rest[at + 1..]);
        rest = behind;
        let is_quoted = quoted.last().copied().unwrap_or_default();
        match found {
            b'\\' => rest = behind.strip_prefix(|_: char| true).unwrap_or_default(),
            b'"' => {
                quoted.pop();
                quoted.push(!is_quoted);
            }
            // A quote that does not end on this line may not be a quote.
            b'\'' if !is_quoted => rest = behind.split_once('\'').map_or(behind, |(_, behind)| behind),
            b')' if !is_quoted && quoted.len() > 1 => drop(quoted.pop()),
            b'$' if behind.starts_with('(') => quoted.push(false),
            b'$' => {
                let inner = behind.strip_prefix('{').map(|inner| inner.trim_start_matches(['#', '!']));
                let digits = inner.unwrap_or(behind.get(..1).unwrap_or_default());
                let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
                // A number with too many digits is an argument without a name, too.
                let number = if end == 0 { 0 } else { digits[..end].parse().unwrap_or(usize::MAX) };
                last = last.max(number);
            }
            _ => {}
        }
    }
    last
}

/// Returns the number of the argument that a value stands for, its default, and whether it is required: `"$1"`,
/// `${2:-x}`, `"${1:?say what}"`.
fn word(value: &str) -> Option<(usize, Option<&str>, bool)> {
    let value = value.trim();
    let value = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value);
    if let Some(number) = value.strip_prefix('$').filter(|rest| rest.len() == 1) {
        return Some((number.parse().ok()?, None, true));
    }
    let inner = value.strip_prefix("${")?.strip_suffix('}')?;
    let (number, rest) = inner.split_at(inner.find(|c: char| !c.is_ascii_digit()).unwrap_or(inner.len()));
    let number = number.parse().ok()?;
    if rest.is_empty() || rest.starts_with(":?") || rest.starts_with('?') {
        return Some((number, None, true));
    }
    let default = rest.strip_prefix(":-").or_else(|| rest.strip_prefix('-'))?;
    let is_plain = !default.is_empty() && !default.contains(['$', '`', '"', '\'', '}']);
    Some((number, is_plain.then_some(default), false))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema(text: &str) -> (TypedBy, serde_json::Value) {
        let input = facts(text, "x.sh").input.expect("an input");
        (input.typed_by, input.schema()["properties"].clone())
    }

    #[test]
    fn options_of_getopts() {
        let text =
            "# -o FILE  where to\nwhile getopts \":ho:vn:\" opt; do\n  :\ndone\nshift $((OPTIND - 1))\n";
        let (typed_by, properties) = schema(text);
        assert_eq!(typed_by, TypedBy::Getopts);
        assert_eq!(
            properties,
            json!({
                "o": { "type": "string", "description": "where to" },
                "v": { "type": "boolean" },
                "n": { "type": "string" },
                "arguments": { "type": "array", "items": { "type": "string" } },
            })
        );
        for text in ["getopts a x\ngetopts b x\n", "getopts \"$spec\" x\n", "getopts aa x\n", "# getopts a\n"]
        {
            assert_eq!(schema(text).0, TypedBy::Nothing, "{text:?}");
        }
    }

    #[test]
    fn names_of_words() {
        let text = "INPUT=\"$1\"\nout=${2:-a.txt}\nmode=\"${3-}\"\nf() {\n  local x=\"$4\"\n}\n";
        let input = facts(text, "x.sh").input.expect("an input");
        assert_eq!(input.typed_by, TypedBy::Argv);
        assert_eq!(
            input.schema(),
            json!({
                "type": "object",
                "properties": {
                    "input": { "type": "string" },
                    "out": { "type": "string", "default": "a.txt" },
                    "mode": { "type": "string" },
                },
                "required": ["input"],
                "additionalProperties": false,
            })
        );
        for text in ["a=$1\nshift\n", "a=$1\necho \"$@\"\n", "a=$2\n", "a=$1\nb=$a\na=$2\n", "echo $1\n"] {
            assert_eq!(schema(text).0, TypedBy::Nothing, "{text:?}");
        }
    }

    /// The schema would forbid an argument that the script uses without a name.
    #[test]
    fn a_word_without_a_name_makes_all_unknown() {
        for use_of_it in [
            "if [ \"$2\" = \"--dry-run\" ]; then echo dry; fi",
            "echo \"$2\"",
            "echo it\\'s \"$2\" that\\'s it",
            "echo \"it's $2, isn't it\"",
            "readonly OUT=\"$2\"",
            "  OUT=\"$2\"",
            "case \"$2\" in",
            "OUT=\"${2:-x}\" # comment",
            "echo ${#2} ${!12}",
            "echo \"$(echo \"$2\")\" ${99999999999999999999999}",
            "echo \"${@:2}\"",
            "f() {\n  echo \"$1\"\n}; echo $2",
            "f() { echo; }; OUT=x${2}",
            "f() {\n  echo $2\n  }",
            "echo \\é $2",
        ] {
            let text = format!("#!/bin/bash\nENVIRONMENT=\"$1\"\n{use_of_it}\n");
            assert_eq!(schema(&text).0, TypedBy::Nothing, "{text}");
        }
        for no_use in [
            "echo \"$1\" $# $0 $$ \"${1#x}\" \\$2",
            "# $2 is not taken",
            "awk '{print $2}' \"$1\"",
            "X=\"$(awk '{print $2}' f) of $1\"",
            "f() {\n  echo \"$2\"\n}",
            "function f {\n  if true; then\n    g \"$2\"\n  fi\n}",
            "f ()\n{\n  echo \"$2\"\n}",
            "f() { echo \"$2\"; }",
        ] {
            let text = format!("ENVIRONMENT=\"$1\"\n{no_use}\n");
            assert_eq!(schema(&text).0, TypedBy::Argv, "{text}");
        }
    }

    #[test]
    fn a_usage_line_is_better() {
        let text = "# Says hello.\n# Usage: x.sh <name>\nwhile getopts ab x; do :; done\n";
        assert_eq!(schema(text).0, TypedBy::Usage);
        assert_eq!(facts(text, "x.sh").description.as_deref(), Some("Says hello."));
    }
}
