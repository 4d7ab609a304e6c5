//! Reads the function `main` of a script: its docstring, and its parameters with their types.

use serde_json::Value;

use super::expr::{Arguments, Expr, Parser};
use super::tokens::Token;
use super::{MAX_PARAMETERS, Script, passed};
use crate::engine::tools::input::{Input, Kind, Parameter, ParameterPosition, TypedBy};

/// The maximum nesting depth of types.
const MAX_DEPTH: usize = 8;
/// The number of bytes of a docstring that are searched for descriptions.
const MAX_DOC: usize = 64 << 10;
/// Names of a parameter that takes the list of arguments, for tests of the script.
const WORDS: [&str; 6] = ["argv", "args", "arguments", "_argv", "cli_args", "raw_args"];
/// Libraries that parse the command line in their own way and pass the result to `main`.
const READERS: [&str; 3] = ["getopt", "optparse", "docopt"];

/// The function `main`.
pub(super) struct Main<'a, 'b> {
    /// Its docstring.
    pub(super) doc: Option<&'b str>,
    /// Its name and the tokens after it.
    tokens: &'b [Token<'a>],
    /// Whether a decorator makes it a command of a library that parses the command line.
    decorated: bool,
}

/// Returns the function `main` at the top level of the script; `None` if there is none, or several.
pub(super) fn main<'a, 'b>(script: &Script<'a, 'b>) -> Option<Main<'a, 'b>> {
    let source = script.source;
    let mut found = None;
    for (at, line) in source.lines.iter().enumerate().filter(|(_, line)| line.indent == 0) {
        let tokens = source.words(line);
        let tokens = if tokens[0].is_name("async") { &tokens[1..] } else { tokens };
        if let [first, second, rest @ ..] = tokens
            && first.is_name("def")
            && second.is_name("main")
        {
            if found.is_some() {
                return None;
            }
            let next = source.lines.get(at + 1).filter(|next| next.indent > line.indent);
            let decorated = at > 0 && source.words(&source.lines[at - 1])[0].is_op("@");
            found = Some(Main { doc: next.and_then(|_| script.docstring(at + 1)), tokens: rest, decorated });
        }
    }
    found
}

impl Main<'_, '_> {
    /// Returns the input that the function's parameters describe; `None` if they do not determine it.
    pub(super) fn input(&self, script: &Script<'_, '_>) -> Option<Input> {
        let typer = script.mentions(&["typer"]);
        if self.decorated && !typer || READERS.iter().any(|reader| script.mentions(&[reader])) {
            return None;
        }
        let way = if typer {
            if !self.is_program_of_typer(script) {
                return None;
            }
            Way::Typer
        } else if script.mentions(&["fire"]) {
            if !is_program_of_fire(script) {
                return None;
            }
            Way::Fire
        } else if script.reads_input() && !script.reads_words() {
            Way::Key
        } else if script.reads_words() {
            Way::Words
        } else {
            // The adapters that call `main` pass it an object.
            Way::Key
        };
        let Signature { mut parameters, open, has_rest } = parameters(self.tokens, way, script)?;
        let words =
            matches!(&parameters[..], [one] if WORDS.contains(&one.name.as_str()) && way != Way::Typer);
        if words || (parameters.is_empty() && !open) {
            return None;
        }
        match way {
            Way::Words => parameters = passed::words(script)?.to(parameters, has_rest)?,
            Way::Key if !passed::has_keys_of(script, &parameters) => return None,
            Way::Key | Way::Typer | Way::Fire => {}
        }
        if let Some(doc) = self.doc {
            let doc = &doc[..doc.floor_char_boundary(MAX_DOC)];
            for parameter in parameters.iter_mut().filter(|one| one.description.is_none()) {
                parameter.description = described(doc, &parameter.name);
            }
        }
        Some(Input {
            parameters,
            open: open && way == Way::Key,
            typed_by: TypedBy::Signature,
            knows_end: way == Way::Typer,
        })
    }

    /// Reports whether typer makes this function the whole program. If there are several commands, or a callback beside
    /// the only one, the name of the command comes before its arguments.
    fn is_program_of_typer(&self, script: &Script<'_, '_>) -> bool {
        let tokens = &script.source.tokens;
        let callback = ["callback", "add_typer"];
        let has_callback = tokens.windows(3).any(|three| {
            three[0].is_op(".") && callback.iter().any(|name| three[1].is_name(name)) && three[2].is_op("(")
        });
        // `typer.run(main)`, or the call of a decorated command.
        let is_given = tokens.windows(4).any(|four| {
            (four[0].is_name("run") || four[0].is_op(")"))
                && four[1].is_op("(")
                && four[2].is_name("main")
                && four[3].is_op(")")
        });
        (self.decorated || is_given) && !has_callback && script.calls("command") < 2
    }
}

/// Reports whether fire makes the function `main` the whole program. A call without a function takes the whole script,
/// and then the name of a function comes first.
fn is_program_of_fire(script: &Script<'_, '_>) -> bool {
    let tokens = &script.source.tokens;
    let mut calls = tokens.windows(4).filter(|four| four[0].is_name("Fire") && four[1].is_op("("));
    let is_main = |four: &[Token<'_>]| four[2].is_name("main") && (four[3].is_op(")") || four[3].is_op(","));
    // An argument `command` replaces the command line.
    calls.next().is_some_and(is_main)
        && script.calls("Fire") == 1
        && !tokens.windows(2).any(|pair| pair[0].is_name("command") && pair[1].is_op("="))
}

/// How input is passed to the function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// By the library typer.
    Typer,
    /// By the library fire.
    Fire,
    /// By command-line arguments, in order.
    Words,
    /// By the keys of an object on standard input.
    Key,
}

/// The parameters of a function.
struct Signature {
    parameters: Vec<Parameter>,
    /// Whether there are further ones without a name.
    open: bool,
    /// Whether the last one takes all further arguments.
    has_rest: bool,
}

/// Reads the parameters between the brackets of a function.
fn parameters(tokens: &[Token<'_>], way: Way, script: &Script<'_, '_>) -> Option<Signature> {
    let mut parser = Parser::new(tokens);
    if !parser.eat("(") {
        return None;
    }
    let (mut found, mut open, mut has_rest, mut by_name) = (Vec::new(), false, false, false);
    while !parser.eat(")") {
        if parser.eat("/") {
        } else if parser.eat("**") {
            parser.name()?;
            if parser.eat(":") {
                parser.expr();
            }
            open = true;
        } else if parser.eat("*") {
            by_name = true;
            // A bare star only says that keyword-only parameters follow.
            if let Some(name) = parser.name() {
                let kind = if parser.eat(":") { kind(&parser.expr(), 0).kind } else { Kind::Any };
                let kind = Kind::Array(Box::new(if kind == Kind::Any { Kind::String } else { kind }));
                // Fire accepts further arguments, too, but also turns some arguments into options.
                if matches!(way, Way::Key | Way::Fire) {
                    return None;
                }
                found.push(Parameter::new(name, kind, ParameterPosition::Positional).optional());
                has_rest = true;
            }
        } else {
            let name = parser.name()?;
            let of = parser.eat(":").then(|| parser.expr());
            let default = parser.eat("=").then(|| parser.expr());
            let parameter = parameter(name, of.as_ref(), default, way, script);
            if way != Way::Words || !by_name {
                found.push(parameter);
            } else if parameter.required {
                // Positional arguments cannot set a keyword-only parameter.
                return None;
            }
        }
        if found.len() > MAX_PARAMETERS
            || !parser.eat(",") && !parser.peek().is_some_and(|token| token.is_op(")"))
        {
            return None;
        }
    }
    Some(Signature { parameters: found, open, has_rest })
}

fn parameter(
    name: &str,
    of: Option<&Expr>,
    default: Option<Expr>,
    way: Way,
    script: &Script<'_, '_>,
) -> Parameter {
    let typed = of.map_or_else(Typed::unknown, |of| kind(of, 0));
    let mut default = default;
    let (mut is_option, mut description, mut flag) = (default.is_some(), None, None);
    let mut made = false;
    if way == Way::Typer {
        let annotated = of.and_then(annotated);
        let said = annotated.or_else(|| declared(default.as_ref()?));
        if let Some((function, call)) = said {
            // In a type, all unnamed arguments are flags; in a default, the first one is the default value.
            let names = usize::from(annotated.is_none());
            is_option = function.ends_with("Option");
            description = call.text("help").map(str::to_owned);
            let flags = call.positional.iter().skip(names).filter_map(Expr::text);
            let flags = flags.map(str::trim).filter(|flag| flag.starts_with(['-', '/']));
            flag = flags.max_by_key(|flag| flag.len()).map(str::to_owned);
            made = call.named.contains_key("default_factory");
            if annotated.is_none() {
                default = call.positional.first().or_else(|| call.named.get("default")).cloned();
            }
        }
        default = default.filter(|default| default.name() != Some("..."));
    }
    let required = default.is_none() && !made;
    let value = default.as_ref().and_then(|default| script.value(default)).filter(|value| !value.is_null());
    let mut kind = typed.kind;
    if kind == Kind::Any
        && let Some(value) = &value
    {
        kind = Kind::of(value);
    }
    // Command-line arguments are text, whatever they stand for, but fire parses any value.
    if kind == Kind::Any && matches!(way, Way::Words | Way::Typer) {
        kind = Kind::String;
    }
    let place = match way {
        Way::Key => ParameterPosition::Key,
        Way::Fire => ParameterPosition::Literal(format!("--{name}")),
        Way::Typer if is_option => {
            let long = name.replace('_', "-");
            match (flag, &kind) {
                // Only a flag that typer generates has a counterpart that turns it off.
                (None, Kind::Boolean) => {
                    ParameterPosition::Either(format!("--{long}"), format!("--no-{long}"))
                }
                (Some(flag), Kind::Boolean) => ParameterPosition::switch(&flag),
                (flag, kind) => {
                    let flag = flag.unwrap_or_else(|| format!("--{long}"));
                    if matches!(kind, Kind::Array(_)) {
                        ParameterPosition::Repeated(flag)
                    } else {
                        ParameterPosition::Option(flag)
                    }
                }
            }
        }
        Way::Words | Way::Typer => ParameterPosition::Positional,
    };
    let default = value.filter(|value| kind.takes(value));
    Parameter { name: name.to_owned(), kind, description, required, default, choices: typed.choices, place }
        .within_reach()
}

/// Returns the call of `Option` or `Argument` that describes a parameter to typer: its function and arguments.
fn declared(expr: &Expr) -> Option<(&str, &Arguments)> {
    let Expr::Call(function, call) = expr else { return None };
    let name = function.rsplit('.').next()?;
    matches!(name, "Option" | "Argument").then_some((name, call))
}

/// Works like [`declared`], for the call in `Annotated[str, typer.Option("--to")]`.
fn annotated(of: &Expr) -> Option<(&str, &Arguments)> {
    let Expr::Subscript(name, parts) = of else { return None };
    let is_it = name.rsplit('.').next() == Some("Annotated");
    parts.iter().skip(1).find_map(declared).filter(|_| is_it)
}

/// The meaning of a type in a signature.
pub(super) struct Typed {
    pub(super) kind: Kind,
    pub(super) choices: Vec<Value>,
}

impl Typed {
    fn of(kind: Kind) -> Self {
        Self { kind, choices: Vec::new() }
    }

    fn unknown() -> Self {
        Self::of(Kind::Any)
    }
}

/// Reads a type.
pub(super) fn kind(expr: &Expr, depth: usize) -> Typed {
    if depth > MAX_DEPTH {
        return Typed::unknown();
    }
    let last = |name: &str| name.rsplit('.').next().unwrap_or_default().to_owned();
    match expr {
        // A type in quotes is one that is defined later.
        Expr::Literal(Value::String(text)) => {
            let source = super::tokens::read(text);
            kind(&Parser::new(&source.tokens).expr(), depth + 1)
        }
        Expr::Name(name) => Typed::of(plain(&last(name))),
        Expr::Union(parts) => one_of(parts, depth),
        Expr::Subscript(name, parts) => match last(name).as_str() {
            "Optional" | "Union" => one_of(parts, depth),
            "Annotated" | "Final" | "Required" | "NotRequired" => {
                parts.first().map_or_else(Typed::unknown, |first| kind(first, depth + 1))
            }
            "Literal" => literal(parts),
            of => match plain(of) {
                Kind::Array(_) => {
                    let items = parts.first().map_or_else(Typed::unknown, |first| kind(first, depth + 1));
                    // `tuple[int, str]` is a list of items of different types.
                    let rest = parts.iter().skip(1).all(|part| part.name() == Some("..."));
                    let kind = if rest { items.kind } else { Kind::Any };
                    Typed { kind: Kind::Array(Box::new(kind)), choices: items.choices }
                }
                other => Typed::of(other),
            },
        },
        _ => Typed::unknown(),
    }
}

fn plain(name: &str) -> Kind {
    match name {
        "str" | "Path" | "PurePath" | "PathLike" | "AnyStr" | "LiteralString" | "date" | "datetime"
        | "UUID" => Kind::String,
        "int" => Kind::Integer,
        "float" | "Decimal" => Kind::Number,
        "bool" => Kind::Boolean,
        "list" | "List" | "tuple" | "Tuple" | "set" | "Set" | "frozenset" | "FrozenSet" | "Sequence"
        | "Iterable" | "Collection" | "MutableSequence" => Kind::Array(Box::new(Kind::Any)),
        "dict" | "Dict" | "Mapping" | "MutableMapping" | "TypedDict" | "OrderedDict" => Kind::Object,
        _ => Kind::Any,
    }
}

/// Returns the type of a union. `None` does not count, because it means that the parameter is left out.
fn one_of(parts: &[Expr], depth: usize) -> Typed {
    let is_none = |part: &&Expr| **part == Expr::Literal(Value::Null);
    let mut others = parts.iter().filter(|part| !is_none(part));
    let Some(first) = others.next() else { return Typed::unknown() };
    let mut typed = kind(first, depth + 1);
    for other in others {
        typed = match (typed.kind, kind(other, depth + 1).kind) {
            (one, other) if one == other => Typed::of(one),
            (Kind::Integer, Kind::Number) | (Kind::Number, Kind::Integer) => Typed::of(Kind::Number),
            _ => return Typed::unknown(),
        };
    }
    typed
}

fn literal(parts: &[Expr]) -> Typed {
    let values: Option<Vec<Value>> = parts.iter().map(Expr::value).collect();
    let Some(choices) = values.filter(|values| !values.is_empty()) else { return Typed::unknown() };
    let Kind::Array(kind) = Kind::of(&Value::Array(choices.clone())) else { return Typed::unknown() };
    Typed { kind: *kind, choices }
}

/// Returns the description of the parameter `name` in a docstring in the style of Google, `NumPy` or Sphinx.
fn described(doc: &str, name: &str) -> Option<String> {
    let mut lines = doc.lines().map(str::trim);
    while let Some(line) = lines.next() {
        if let Some(rest) = line.strip_prefix(":param ") {
            let Some((left, text)) = rest.split_once(':') else { continue };
            if left.split_whitespace().last() == Some(name) {
                return said(text);
            }
        }
        let Some(rest) = line.strip_prefix(name) else { continue };
        let rest = match rest.trim_start().strip_prefix('(').and_then(|rest| rest.split_once(')')) {
            Some((_, rest)) => rest,
            None => rest,
        };
        if let Some(text) = rest.strip_prefix(':') {
            return said(text);
        }
        // NumPy: `name : type`, and the description on the next line.
        if rest.starts_with(" :") {
            return lines.next().and_then(said);
        }
    }
    None
}

fn said(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}
