//! Reads facts from a Python script without running it.
//!
//! The sources are docstrings, the signature of `main`, calls of `add_argument`, decorators of click, and variables
//! assigned from `sys.argv[1]` and so on. If anything is in doubt, the input is unknown.

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

/// The maximum number of parameters that are examined.
const MAX_PARAMETERS: usize = 256;

/// Returns the facts in a script.
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

/// Returns the first line of a docstring that describes the script.
fn first_line(doc: &str) -> Option<String> {
    let line = doc.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.to_owned())
}

/// A script, split into tokens.
struct Script<'a, 'b> {
    source: &'b Source<'a>,
    /// The lines that assign names; `None` for a name that is assigned several times.
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

    /// Reports whether these names, joined by dots, occur in the script.
    fn mentions(&self, names: &[&str]) -> bool {
        self.find(names, 0).is_some()
    }

    /// Returns the first position at or after `start` of these names, joined by dots.
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

    /// Returns the number of calls of anything called `name`, on any object.
    fn calls(&self, name: &str) -> usize {
        let pairs = self.source.tokens.windows(2);
        pairs.filter(|pair| pair[0].is_name(name) && pair[1].is_op("(")).count()
    }

    /// Reports whether the script reads an object from its standard input.
    fn reads_input(&self) -> bool {
        self.mentions(&["sys", "stdin"])
    }

    /// Reports whether the script uses its command-line arguments.
    fn reads_words(&self) -> bool {
        self.mentions(&["sys", "argv"]) || self.mentions(&["argv"])
    }

    /// Returns the value of an expression; a name that is assigned exactly once, at the top level, stands for its
    /// value.
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

    /// Returns the input of a script about which nothing more is known.
    fn unknown(&self) -> Input {
        if self.reads_input() && !self.reads_words() { Input::object() } else { Input::words() }
    }
}

/// Returns the parameters from `name = sys.argv[1]` and so on, including conversions such as `int(...)` and defaults.
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
        // A branch on one line has no name in front, so arguments in it have no name.
        if is_conditional(tokens) {
            continue;
        }
        // After a bracket, the equals sign names a keyword argument and not a variable.
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
            // In a branch, it is not known when the argument is used.
            parameter.required = found.len() + 1 == number && !in_branch;
        }
        if found.iter().all(|(other, one)| *other != number && one.name != parameter.name) {
            found.push((number, parameter));
        }
    }
    found.sort_by_key(|(number, _)| *number);
    let in_order = found.iter().enumerate().all(|(index, (number, _))| index + 1 == *number);
    // `len(sys.argv)` and `sys.argv[0]` use no argument; a slice uses all of them.
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

/// Reports whether a call of `name` opens the file that it is given, so its result is not the argument.
fn opens(name: &str) -> bool {
    const CALLS: [&str; 4] = ["open", "load_workbook", "parse", "load"];
    const ENDS: [&str; 8] =
        ["Reader", "Writer", "Document", "Presentation", "Workbook", "File", "Image", "Archive"];
    CALLS.contains(&name) || name.starts_with("read_") || ENDS.iter().any(|end| name.ends_with(end))
}

/// Returns a name for an argument that is opened, different from the names in `found`.
fn path_name(found: &[(usize, Parameter)]) -> String {
    let names = ["path", "path2", "path3", "path4"];
    let is_free = |name: &&&str| found.iter().all(|(_, one)| one.name != **name);
    names.iter().find(is_free).map_or_else(|| format!("path{}", found.len() + 1), |name| (*name).to_owned())
}

/// The blocks that contain a line.
#[derive(Default)]
struct Blocks {
    /// The indentation of each block's first line, and whether a condition decides if the block runs.
    open: Vec<(usize, bool)>,
}

impl Blocks {
    /// Reports whether the next line is in a branch of its function or of the script.
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

/// Reports whether a line begins a block that does not always run. The block of `if __name__ == "__main__"` always runs
/// in a script.
fn is_branch(tokens: &[Token<'_>]) -> bool {
    is_conditional(tokens) && !tokens.get(1).is_some_and(|token| token.is_name("__name__"))
}

/// Reports whether a line begins with a keyword that makes its block conditional.
fn is_conditional(tokens: &[Token<'_>]) -> bool {
    const WORDS: [&str; 9] = ["if", "elif", "else", "for", "while", "try", "except", "match", "case"];
    let [Token::Name(first), rest @ ..] = tokens else { return false };
    // `match` and `case` can also be names.
    WORDS.contains(first) && !rest.first().is_some_and(|token| token.is_op("="))
}

/// Returns how many uses of `sys.argv` only take its length or its first entry, on lines that assign no parameter.
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

/// Reports whether these tokens begin with `sys.argv[`.
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
