//! Reads usage lines such as `Usage: deploy.sh [-n] <environment> [FILE]...`.
//!
//! A line counts only if all of it is understood: a lower-case word may be an example, and `[options]` are described
//! elsewhere.

use serde_json::Value;

use super::input::{Input, Kind, Parameter, ParameterPosition, TypedBy};

/// The maximum length of a line that is examined, in bytes.
const MAX_LINE: usize = 1000;
/// The number of bytes of a script that are searched for descriptions of parameters.
const MAX_TEXT: usize = 16 << 10;
/// The maximum number of occurrences of `Usage:` that are examined.
const MAX_TRIES: usize = 8;
/// Words that stand for all options.
const OPTIONS: [&str; 6] = ["options", "option", "flags", "opts", "args", "arguments"];

/// Returns the input that the first usage line in `text` describes; `file` is the name of the script.
pub(super) fn input(text: &str, file: &str) -> Option<Input> {
    let (line, after) = found(text)?;
    let mut parameters = Reader { rest: words(line, file)?, found: Vec::new() }.read()?;
    if parameters.is_empty() {
        return None;
    }
    let after = &after[..after.floor_char_boundary(MAX_TEXT)];
    for parameter in &mut parameters {
        parameter.description = description(after, parameter);
    }
    Some(Input { parameters, open: false, typed_by: TypedBy::Usage, knows_end: false })
}

/// Returns the text after `Usage:` on its line, and the text after that line.
fn found(text: &str) -> Option<(&str, &str)> {
    let bytes = text.as_bytes();
    let mut tries = 0;
    for at in memchr::memmem::find_iter(bytes, "sage:").take(MAX_TRIES * 8) {
        let Some(start) = at.checked_sub(1).filter(|start| matches!(bytes[*start], b'U' | b'u')) else {
            continue;
        };
        let before = text[..start].chars().next_back();
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let is_first =
            text[line_start..start].chars().all(|c| c.is_whitespace() || matches!(c, '#' | '*' | '/'));
        let quote = before.filter(|c| matches!(c, '"' | '\'' | '`'));
        if quote.is_none() && !is_first {
            continue;
        }
        tries += 1;
        if tries > MAX_TRIES {
            return None;
        }
        let after = &text[start + "usage:".len()..];
        let (mut line, mut rest) = cut(after);
        if line.trim().trim_matches(|c| matches!(c, '#' | '*' | '\\' | 'n')).is_empty() {
            (line, rest) = cut(rest);
        }
        if let Some(quote) = quote {
            line = line.split(quote).next().unwrap_or_default();
        }
        let line = line.split("\\n").next().unwrap_or_default();
        let line = line.trim().trim_start_matches(['#', '*']).trim().trim_end_matches(['"', '\'']);
        // If the next line is a usage line as well, there are several forms.
        let (next, _) = cut(rest);
        let next = next.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '#' | '*'));
        let program = line.split_whitespace().next().unwrap_or_default();
        let again = !program.is_empty() && next.split_whitespace().next() == Some(program);
        if line.len() > MAX_LINE || line.ends_with('\\') || again {
            return None;
        }
        return Some((line, rest));
    }
    None
}

/// Returns the first line of a text, and the rest.
fn cut(text: &str) -> (&str, &str) {
    text.split_once('\n').unwrap_or((text, ""))
}

/// Returns the part of a usage line after the name of the program.
fn words<'a>(line: &'a str, file: &str) -> Option<&'a str> {
    let mut rest = line.trim();
    for _ in 0..4 {
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let word = &rest[..end];
        rest = rest[end..].trim_start();
        if word.starts_with("$(basename") || word.starts_with("`basename") {
            let end = rest.find([')', '`'])?;
            return Some(rest[end + 1..].trim_start_matches('"').trim());
        }
        let is_program = word.contains(file)
            || word == super::stem(file)
            || ["$0", "argv", "__file__", "%s", "{", "__filename"].iter().any(|part| word.contains(part));
        if is_program {
            return Some(rest.trim());
        }
    }
    None
}

struct Reader<'a> {
    rest: &'a str,
    found: Vec<Parameter>,
}

impl<'a> Reader<'a> {
    fn read(mut self) -> Option<Vec<Parameter>> {
        while !self.rest.is_empty() && !self.rest.starts_with('#') {
            match self.rest.as_bytes()[0] {
                b'[' => self.bracket()?,
                b'-' => {
                    let flag = self.word();
                    let value = self.value();
                    // A required option offers no choice, and may be an example.
                    let (flag, value) = match flag.split_once('=') {
                        Some((flag, value)) => (flag, Some(value)),
                        None => (flag, value),
                    };
                    value?;
                    self.option(flag, value, true)?;
                }
                _ => {
                    let word = self.angle().unwrap_or_else(|| self.word());
                    self.positional(word, true)?;
                }
            }
            self.rest = self.rest.trim_start();
        }
        let mut optional = false;
        for one in self.found.iter_mut().filter(|one| one.place == ParameterPosition::Positional) {
            optional |= !one.required;
            if optional && one.required {
                return None;
            }
        }
        let names: std::collections::BTreeSet<_> = self.found.iter().map(|one| &one.name).collect();
        (names.len() == self.found.len()).then_some(self.found)
    }

    /// Reads the next word, up to white space.
    fn word(&mut self) -> &'a str {
        let end = self.rest.find(char::is_whitespace).unwrap_or(self.rest.len());
        let word = &self.rest[..end];
        self.rest = self.rest[end..].trim_start();
        word
    }

    /// Reads `<environment>`, with the dots after it, if it is next.
    fn angle(&mut self) -> Option<&'a str> {
        let inner = self.rest.strip_prefix('<')?;
        let mut end = self.rest.len() - inner.len() + inner.find('>')? + 1;
        if self.rest[end..].starts_with("...") {
            end += 3;
        }
        let word = &self.rest[..end];
        self.rest = &self.rest[end..];
        Some(word)
    }

    /// Reads the placeholder for the value of an option, if one is next.
    fn value(&mut self) -> Option<&'a str> {
        let is_value =
            self.rest.starts_with('<') || is_upper(self.rest.split_whitespace().next().unwrap_or_default());
        if !is_value {
            return None;
        }
        Some(self.angle().unwrap_or_else(|| self.word()))
    }

    /// Reads `[...]`, an optional part.
    fn bracket(&mut self) -> Option<()> {
        let end = self.rest.find(']')?;
        let mut inner = self.rest[1..end].trim();
        self.rest = &self.rest[end + 1..];
        let many = self.rest.starts_with("...");
        self.rest = self.rest.trim_start_matches("...");
        if !(self.rest.is_empty() || self.rest.starts_with(char::is_whitespace)) || inner.contains('[') {
            return None;
        }
        if inner.starts_with('-') {
            if many {
                return None;
            }
            // `-v|--verbose`, `-n, --count N`
            let mut flag = "";
            loop {
                let end = inner.find([' ', '=', '|', ',']).unwrap_or(inner.len());
                if inner[..end].len() > flag.len() {
                    flag = &inner[..end];
                }
                let rest = inner[end..].trim_start_matches(['|', ',', ' ']);
                if rest.len() == inner.len() || !rest.starts_with('-') {
                    inner = inner[end..].trim_start_matches(['=', ' ']);
                    break;
                }
                inner = rest;
            }
            let value = Some(inner).filter(|value| !value.is_empty());
            return self.option(flag, value, false);
        }
        let word = if many { format!("{inner}...") } else { inner.to_owned() };
        let is_name = inner.starts_with('<') || !inner.contains(char::is_whitespace);
        if !is_name || OPTIONS.contains(&inner.trim_end_matches('.').to_lowercase().as_str()) {
            return None;
        }
        self.positional(&word, false)
    }

    fn option(&mut self, flag: &str, value: Option<&str>, required: bool) -> Option<()> {
        let name = flag.trim_start_matches('-').replace('-', "_");
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return None;
        }
        let Some(value) = value else {
            // `-abc` stands for three switches.
            if !flag.starts_with("--") && name.len() > 1 {
                for letter in name.chars() {
                    self.switch(&format!("-{letter}"), letter.to_string());
                }
            } else {
                self.switch(flag, name);
            }
            return Some(());
        };
        let (_, choices, many) = named(value)?;
        let kind = if many { Kind::strings() } else { Kind::String };
        let parameter = Parameter::new(name, kind, ParameterPosition::Option(flag.to_owned()));
        self.found.push(Parameter { required, choices, ..parameter });
        Some(())
    }

    fn switch(&mut self, flag: &str, name: String) {
        self.found
            .push(Parameter::new(name, Kind::Boolean, ParameterPosition::Switch(flag.to_owned())).optional());
    }

    fn positional(&mut self, word: &str, required: bool) -> Option<()> {
        let clear = word.starts_with('<') || is_upper(word) || !required;
        let (name, choices, many) = named(word).filter(|_| clear)?;
        let kind = if many { Kind::strings() } else { Kind::String };
        self.found.push(Parameter {
            required,
            choices,
            ..Parameter::new(name, kind, ParameterPosition::Positional)
        });
        Some(())
    }
}

/// Reports whether `word` is a placeholder in upper case: `FILE`, `FILE...`.
fn is_upper(word: &str) -> bool {
    let word = word.trim_end_matches("...");
    word.starts_with(|c: char| c.is_ascii_uppercase())
        && word.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || matches!(c, '_' | '-'))
}

/// Returns the name that a placeholder gives, its permitted values, and whether it may be repeated.
fn named(word: &str) -> Option<(String, Vec<Value>, bool)> {
    let many = word.ends_with("...");
    let word = word.trim_end_matches("...");
    let inner = word.strip_prefix('<').and_then(|word| word.strip_suffix('>')).unwrap_or(word);
    let fits = |text: &str| {
        !text.is_empty()
            && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ' '))
    };
    if inner.contains('|') {
        let choices: Vec<&str> = inner.split('|').map(str::trim).collect();
        return choices
            .iter()
            .all(|text| fits(text))
            .then(|| ("choice".to_owned(), choices.into_iter().map(Value::from).collect(), many));
    }
    if !fits(inner) {
        return None;
    }
    Some((inner.to_lowercase().replace(['-', '.', ' '], "_"), Vec::new(), many))
}

/// Returns the description of a parameter in the text: `  -n, --count N   how many`, `  <file> - the file`.
fn description(text: &str, parameter: &Parameter) -> Option<String> {
    let flag = match &parameter.place {
        ParameterPosition::Option(flag) | ParameterPosition::Switch(flag) => Some(flag.as_str()),
        _ => None,
    };
    for line in text.lines().take(80) {
        let line = line.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '#' | '*' | '"'));
        let line = line.strip_prefix("echo ").unwrap_or(line).trim_start_matches(['"', '\'', ' ']);
        let Some((left, right)) = halves(line) else { continue };
        let is_it = if let Some(flag) = flag {
            left.split([' ', ',', '|', '=']).any(|word| word == flag)
        } else {
            let word = left.trim_matches(['<', '>', '[', ']', '.', '`']);
            word.to_lowercase().replace(['-', '.', ' '], "_") == parameter.name
        };
        if is_it {
            return Some(right.trim_end_matches(['"', '\'']).trim().to_owned())
                .filter(|text| !text.is_empty());
        }
    }
    None
}

/// Returns the two parts of a line that two spaces, a tab, a dash or a colon separate.
fn halves(line: &str) -> Option<(&str, &str)> {
    let dividers = ["  ", "\t", " - ", " – ", " — ", ": "];
    let (at, divider) = dividers.iter().filter_map(|divider| Some((line.find(divider)?, divider))).min()?;
    let right = line[at + divider.len()..].trim_start_matches([' ', '\t', '-', '–', '—', ':']).trim_end();
    Some((line[..at].trim(), right))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(line: &str) -> Option<String> {
        let input = input(&format!("# Usage: {line}\n"), "x.sh")?;
        let one = |one: &Parameter| {
            let mark = if one.required { "!" } else { "" };
            let kind = if matches!(one.kind, Kind::Array(_)) { "*" } else { "" };
            let choices =
                if one.choices.is_empty() { String::new() } else { format!("{}", one.choices.len()) };
            let place = match &one.place {
                ParameterPosition::Option(flag) => format!("={flag}"),
                ParameterPosition::Switch(flag) => format!("?{flag}"),
                _ => String::new(),
            };
            format!("{}{mark}{kind}{choices}{place}", one.name)
        };
        Some(input.parameters.iter().map(one).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn lines_that_are_understood() {
        for (line, expected) in [
            ("x.sh <input> <output>", "input! output!"),
            ("./x.sh INPUT [OUTPUT]", "input! output"),
            ("bash scripts/x.sh <in-file>...", "in_file!*"),
            ("$0 [-v|--verbose] [-n COUNT] [--out=FILE] <dir>", "verbose?--verbose n=-n out=--out dir!"),
            ("$(basename \"$0\") [-ab] FILE...", "a?-a b?-b file!*"),
            ("python x.sh --name NAME [files...]", "name!=--name files*"),
            ("x.sh [-n, --count <n>] <dev|prod>", "count=--count choice!2"),
            ("{sys.argv[0]} <a>  # now", "a!"),
        ] {
            assert_eq!(shown(line).as_deref(), Some(expected), "{line}");
        }
    }

    #[test]
    fn in_doubt_nothing_is_said() {
        for line in [
            "x.sh",
            "x.sh [options] <file>",
            "x.sh input.pdf output.pdf",
            "x.sh [input pdf]",
            "y.sh <a>",
            "x.sh [a] <b>",
            "x.sh <a> <a>",
            "x.sh [[a] b]",
            "x.sh --force <a> | less",
            "x.sh <a> \\",
            "x.sh <a>\n#   x.sh <b> <c>",
            "x.sh <a",
            "x.sh [-",
        ] {
            assert_eq!(shown(line), None, "{line}");
        }
    }

    #[test]
    fn the_lines_behind_it_describe() {
        let text =
            "#!/bin/sh\n# Usage: x.sh [-n COUNT] <dir>\n#   -n COUNT   how many\n#   dir - where\necho hi\n";
        let found = input(text, "x.sh").expect("a usage");
        let texts: Vec<_> = found.parameters.iter().map(|one| one.description.as_deref()).collect();
        assert_eq!(texts, [Some("how many"), Some("where")]);
        let printed = "if (x) console.error('Usage: node x.sh <file>'); // <b>\n";
        assert_eq!(input(printed, "x.sh").expect("a usage").parameters.len(), 1);
        let below = "cat <<EOF\nUsage:\n  x.sh <file>\nEOF\n";
        assert_eq!(input(below, "x.sh").expect("a usage").parameters[0].name, "file");
        assert_eq!(input("the usage: x.sh <file>\n", "x.sh"), None);
    }

    proptest! {
        #[test]
        fn any_line_is_read(line in "(x.sh|\\$0| |<|>|\\[|\\]|a|B|\\||-|--|=|,|\\.\\.\\.|é|\"|\\\\n|\n){0,30}") {
            if let Some(found) = input(&format!("Usage: {line}"), "x.sh") {
                prop_assert!(!found.parameters.is_empty());
                prop_assert!(found.parameters.iter().all(|one| !one.name.is_empty()));
            }
        }
    }
}
