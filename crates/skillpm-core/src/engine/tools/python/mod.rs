//! What a Python script says of itself, without running it.
//!
//! Docstrings, the signature of `main`, calls of `add_argument`, decorators of click, and names that are
//! given to `sys.argv[1]` and those behind it. Where anything is in doubt the input is unknown.

mod argparse;
mod click;
mod expr;
mod passed;
mod signature;
mod tokens;

use std::collections::BTreeMap;

use serde_json::Value;

use self::expr::{Expr, Parser};
use self::tokens::{Source, Token};
use super::input::{Input, Kind, Parameter, ParameterPosition, TypedBy};
use super::{Facts, comment, usage};

/// The largest number of parameters that are examined.
const MAX_PARAMETERS: usize = 256;

/// Returns what a script says.
pub(super) fn facts(text: &str, file: &str) -> Facts {
    let source = tokens::read(text);
    let script = Script::new(&source);
    let main = signature::main(&script);
    let module = script.docstring(0);
    let docs: Vec<&str> = [module, main.as_ref().and_then(|main| main.doc)].into_iter().flatten().collect();
    let click = click::command(&script);
    let description =
        docs.iter().chain(click.iter().flat_map(|click| &click.doc)).find_map(|doc| first_line(doc));
    let description =
        description.or_else(|| argparse::description(&script)).or_else(|| comment::summary(text, "#", file));
    if source.broken {
        return Facts { description, input: None };
    }
    let input = match (argparse::input(&script), click) {
        (Ok(Some(input)), _) => Some(input),
        (Err(argparse::Unclear), _) => None,
        (Ok(None), Some(click)) => click.input,
        (Ok(None), None) => main
            .and_then(|main| main.input(&script))
            .or_else(|| usage::input(text, file))
            .or_else(|| argv(&script)),
    };
    Facts { description, input: Some(input.unwrap_or_else(|| script.unknown())) }
}

/// Returns the first line of a docstring that says something.
fn first_line(doc: &str) -> Option<String> {
    let line = doc.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.to_owned())
}

/// A script in words.
struct Script<'a, 'b> {
    source: &'b Source<'a>,
    /// The lines at which names get their values; `None` for a name that gets several.
    assigned: BTreeMap<&'a str, Option<usize>>,
}

impl<'a, 'b> Script<'a, 'b> {
    fn new(source: &'b Source<'a>) -> Self {
        let mut assigned = BTreeMap::new();
        for (at, line) in source.lines.iter().enumerate() {
            if let [Token::Name(name), Token::Op("=" | ":"), ..] = source.words(line) {
                assigned.entry(*name).and_modify(|line| *line = None).or_insert(Some(at));
            }
        }
        Self { source, assigned }
    }

    /// Returns the string that line `at` consists of.
    fn docstring(&self, at: usize) -> Option<&'b str> {
        let line = self.source.lines.get(at)?;
        match self.source.words(line) {
            [Token::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Reports whether these names, with dots between them, are anywhere in it.
    fn mentions(&self, names: &[&str]) -> bool {
        self.find(names, 0).is_some()
    }

    /// Returns the first position, from `start`, of these names with dots between them.
    fn find(&self, names: &[&str], start: usize) -> Option<usize> {
        let tokens = &self.source.tokens;
        let length = names.len() * 2 - 1;
        let is_here = |at: &usize| {
            let here = &tokens[*at..*at + length];
            here.iter().enumerate().all(|(index, token)| {
                if index % 2 == 0 { token.is_name(names[index / 2]) } else { token.is_op(".") }
            })
        };
        (start..=tokens.len().checked_sub(length)?).find(is_here)
    }

    /// Returns whether something of this name is called, whatever it belongs to.
    fn calls(&self, name: &str) -> usize {
        let pairs = self.source.tokens.windows(2);
        pairs.filter(|pair| pair[0].is_name(name) && pair[1].is_op("(")).count()
    }

    /// Reports whether the script reads an object from its standard input.
    fn reads_input(&self) -> bool {
        self.mentions(&["sys", "stdin"])
    }

    /// Reports whether it looks at the words of the command line.
    fn reads_words(&self) -> bool {
        self.mentions(&["sys", "argv"]) || self.mentions(&["argv"])
    }

    /// Returns the value of an expression; a name that is given a value once, at the top, stands for it.
    fn value(&self, expr: &Expr) -> Option<Value> {
        match expr {
            Expr::Name(name) => self.constant(name),
            other => other.value(),
        }
    }

    fn constant(&self, name: &str) -> Option<Value> {
        let line = &self.source.lines[(*self.assigned.get(name)?)?];
        let tokens = self.source.words(line);
        let equals = tokens.iter().position(|token| token.is_op("="))?;
        let mut parser = Parser::new(&tokens[equals + 1..]);
        let value = parser.expr().value();
        if parser.peek().is_none() { value } else { None }
    }

    /// Returns the input where nothing is known.
    fn unknown(&self) -> Input {
        if self.reads_input() && !self.reads_words() { Input::object() } else { Input::words() }
    }
}

/// `name = sys.argv[1]` and those behind it, `int(...)` and a default included.
fn argv(script: &Script<'_, '_>) -> Option<Input> {
    let mut found: Vec<(usize, Parameter)> = Vec::new();
    let mut uses = 0;
    let mut at = 0;
    while let Some(here) = script.find(&["sys", "argv"], at) {
        at = here + 3;
        uses += 1;
    }
    let mut told = 0;
    let mut blocks = Blocks::default();
    for line in &script.source.lines {
        let tokens = script.source.words(line);
        let in_branch = blocks.enter(line.indent, tokens);
        let [Token::Name(name), rest @ ..] = tokens else { continue };
        // A branch in one line has no name in front, and what it uses has none.
        if is_conditional(tokens) {
            continue;
        }
        // Behind a bracket it gives a name to what a call gets, and to nothing here.
        let target = rest.iter().take(8).take_while(|token| !token.is_op("("));
        let Some(equals) = target.enumerate().find_map(|(at, token)| token.is_op("=").then_some(at)) else {
            continue;
        };
        let rest = &rest[equals + 1..];
        let here: Vec<usize> = (0..rest.len().saturating_sub(5)).filter(|at| is_argv(&rest[*at..])).collect();
        let [at] = here[..] else { continue };
        let Token::Number(number) = rest[at + 4] else { continue };
        let Some(number) = number.parse::<usize>().ok().filter(|number| (1..=16).contains(number)) else {
            continue;
        };
        let lengths =
            rest.windows(3).filter(|three| three[0].is_name("sys") && three[2].is_name("argv")).count();
        told += lengths;
        let kind = match at.checked_sub(2).map(|before| &rest[before]) {
            Some(Token::Name("int")) => Kind::Integer,
            Some(Token::Name("float")) => Kind::Number,
            _ => Kind::String,
        };
        let name = match at.checked_sub(2).map(|before| &rest[before]) {
            Some(Token::Name(call)) if opens(call) && rest[at - 1].is_op("(") => path_name(&found),
            _ => (*name).to_owned(),
        };
        let mut parameter = Parameter::new(name, kind, ParameterPosition::Positional);
        if let Some(otherwise) = rest.iter().position(|token| token.is_name("else")) {
            parameter.required = false;
            let default = Parser::new(&rest[otherwise + 1..]).expr().value();
            parameter.default = default.filter(|value| parameter.kind.takes(value));
        } else if in_branch || rest.iter().any(|token| token.is_name("or")) {
            // In a branch nobody knows when it counts.
            parameter.required = found.len() + 1 == number && !in_branch;
        }
        if found.iter().all(|(other, one)| *other != number && one.name != parameter.name) {
            found.push((number, parameter));
        }
    }
    found.sort_by_key(|(number, _)| *number);
    let in_order = found.iter().enumerate().all(|(index, (number, _))| index + 1 == *number);
    // `len(sys.argv)` and `sys.argv[0]` take nothing; a part of the list takes all of it.
    let harmless = harmless(script);
    if found.is_empty() || !in_order || uses > told + harmless {
        return None;
    }
    let mut parameters: Vec<Parameter> = found.into_iter().map(|(_, parameter)| parameter).collect();
    let mut optional = false;
    for parameter in &mut parameters {
        optional |= !parameter.required;
        parameter.required = !optional;
    }
    Some(Input { parameters, open: false, typed_by: TypedBy::Argv, knows_end: false })
}

/// Reports whether a call of `name` opens the file that it is given: what comes of it is no word any more.
fn opens(name: &str) -> bool {
    const CALLS: [&str; 4] = ["open", "load_workbook", "parse", "load"];
    const ENDS: [&str; 8] =
        ["Reader", "Writer", "Document", "Presentation", "Workbook", "File", "Image", "Archive"];
    CALLS.contains(&name) || name.starts_with("read_") || ENDS.iter().any(|end| name.ends_with(end))
}

/// Returns a name for a word that is opened, other than those of `found`.
fn path_name(found: &[(usize, Parameter)]) -> String {
    let names = ["path", "path2", "path3", "path4"];
    let is_free = |name: &&&str| found.iter().all(|(_, one)| one.name != **name);
    names.iter().find(is_free).map_or_else(|| format!("path{}", found.len() + 1), |name| (*name).to_owned())
}

/// The blocks in which a line is.
#[derive(Default)]
struct Blocks {
    /// How far the line before each is indented, and whether something else than a call decides if it runs.
    open: Vec<(usize, bool)>,
}

impl Blocks {
    /// Reports whether the next line is in a branch of its function, or of the script.
    fn enter(&mut self, indent: usize, tokens: &[Token<'_>]) -> bool {
        while self.open.last().is_some_and(|(above, _)| *above >= indent) {
            self.open.pop();
        }
        let in_branch = self.open.last().is_some_and(|(_, in_branch)| *in_branch);
        if tokens.last().is_some_and(|token| token.is_op(":")) {
            let first = |name: &str| tokens[0].is_name(name);
            let is_function =
                first("def") || (first("async") && tokens.get(1).is_some_and(|token| token.is_name("def")));
            self.open.push((indent, !is_function && (in_branch || is_branch(tokens))));
        }
        in_branch
    }
}

/// Reports whether a line begins something that does not always run. What stands under `if __name__ == "__main__"` does
/// in a script.
fn is_branch(tokens: &[Token<'_>]) -> bool {
    is_conditional(tokens) && !tokens.get(1).is_some_and(|token| token.is_name("__name__"))
}

/// Reports whether a line begins with a word that makes what follows conditional.
fn is_conditional(tokens: &[Token<'_>]) -> bool {
    const WORDS: [&str; 9] = ["if", "elif", "else", "for", "while", "try", "except", "match", "case"];
    let [Token::Name(first), rest @ ..] = tokens else { return false };
    // `match` and `case` are names as well.
    WORDS.contains(first) && !rest.first().is_some_and(|token| token.is_op("="))
}

/// Returns how often `sys.argv` is asked for its length or its first word, outside of the lines with names.
fn harmless(script: &Script<'_, '_>) -> usize {
    let tokens = &script.source.tokens;
    let is_length = |at: usize| at >= 2 && tokens[at - 1].is_op("(") && tokens[at - 2].is_name("len");
    let is_first = |at: usize| is_argv(&tokens[at..]) && tokens.get(at + 4) == Some(&Token::Number("0"));
    let (mut count, mut at) = (0, 0);
    while let Some(here) = script.find(&["sys", "argv"], at) {
        count += usize::from(is_length(here) || is_first(here));
        at = here + 3;
    }
    count
}

/// Reports whether these words begin with `sys.argv[`.
fn is_argv(tokens: &[Token<'_>]) -> bool {
    tokens.len() > 5
        && tokens[0].is_name("sys")
        && tokens[1].is_op(".")
        && tokens[2].is_name("argv")
        && tokens[3].is_op("[")
        && tokens[5].is_op("]")
}

#[cfg(test)]
mod tests;
