//! Reads facts from a Python script without running it: docstrings, calls of `add_argument`, imports, and whether the
//! script uses its command-line arguments.

mod argparse;
mod expr;
mod imports;
mod tokens;

pub(in crate::engine) use self::imports::imports;
use self::tokens::{Source, Token};
use super::input::Input;
use super::{Facts, comment, usage};

/// Returns the facts in a script.
pub(super) fn facts(text: &str, file: &str) -> Facts {
    let source = tokens::read(text);
    let description = docstring(&source, 0)
        .or_else(|| docstring_of_main(&source))
        .and_then(first_line)
        .or_else(|| argparse::description(&source))
        .or_else(|| comment::summary(text, "#", file));
    if source.broken {
        return Facts { description, input: None };
    }
    let input = if source.mentions(&["argparse"]) && argparse::is_used(&source) {
        argparse::input(&source)
    } else {
        usage::input(text, file)
    };
    Facts { description, input: Some(input.unwrap_or_else(|| unknown(&source))) }
}

/// Returns the first line of a docstring that has text.
fn first_line(doc: &str) -> Option<String> {
    doc.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}

/// Returns the string that line `at` consists of.
fn docstring<'b>(source: &'b Source<'_>, at: usize) -> Option<&'b str> {
    match source.words(source.lines.get(at)?) {
        [Token::Text(text)] => Some(text),
        _ => None,
    }
}

/// Returns the docstring of the first function `main` at the top level.
fn docstring_of_main<'b>(source: &'b Source<'_>) -> Option<&'b str> {
    let at = source.lines.iter().position(|line| {
        let words = source.words(line);
        let words = if words[0].is_name("async") { &words[1..] } else { words };
        line.indent == 0 && matches!(words, [Token::Name("def"), Token::Name("main"), ..])
    })?;
    source.lines.get(at + 1).filter(|next| next.indent > 0)?;
    docstring(source, at + 1)
}

/// Returns the input of a script about which nothing more is known.
fn unknown(source: &Source<'_>) -> Input {
    let reads_words = source.mentions(&["sys", "argv"]) || source.mentions(&["argv"]);
    if source.mentions(&["sys", "stdin"]) && !reads_words { Input::object() } else { Input::words() }
}

#[cfg(test)]
mod tests;
