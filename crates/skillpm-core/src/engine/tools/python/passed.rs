//! Determines which arguments a script passes on to its function `main`.

use super::tokens::Token;
use super::{MAX_PARAMETERS, Script, harmless, is_argv};
use crate::engine::tools::input::{Kind, Parameter};

/// The command-line arguments that the only call of `main` passes on.
pub(super) enum Passed {
    /// All arguments: `main(*sys.argv[1:])`.
    All,
    /// The first arguments, in order, each with the type that it is converted to; `None` for text.
    First(Vec<Option<Kind>>),
}

/// Returns what the only call of `main` passes on, if that is command-line arguments in their order and nothing else in
/// the script uses them; `None` if that is in doubt, because the arguments could belong to other parameters.
pub(super) fn words(script: &Script<'_, '_>) -> Option<Passed> {
    let tokens = &script.source.tokens;
    let mut calls = calls_of_main(script);
    let (at, None) = (calls.next()?, calls.next()) else { return None };
    // A method is a different `main`.
    if at.checked_sub(1).is_some_and(|before| tokens[before].is_op(".")) {
        return None;
    }
    let passed = words_of(&tokens[at + 2..])?;
    let count = if let Passed::First(kinds) = &passed { kinds.len() } else { 1 };
    let uses = tokens.iter().filter(|token| token.is_name("argv")).count();
    (uses == count + harmless(script)).then_some(passed)
}

/// Reads the arguments of a call. `tokens` follow the opening bracket.
fn words_of(mut tokens: &[Token<'_>]) -> Option<Passed> {
    if let [star, sys, dot, argv, open, one, colon, close, rest @ ..] = tokens
        && star.is_op("*")
        && sys.is_name("sys")
        && dot.is_op(".")
        && argv.is_name("argv")
        && open.is_op("[")
        && *one == Token::Number("1")
        && colon.is_op(":")
        && close.is_op("]")
    {
        return ends_call(rest).then_some(Passed::All);
    }
    let mut kinds = Vec::new();
    loop {
        let (kind, inner) = conversion(tokens);
        if !is_argv(inner)
            || inner[4] != Token::Number(&(kinds.len() + 1).to_string())
            || kinds.len() >= MAX_PARAMETERS
        {
            return None;
        }
        tokens = &inner[6..];
        if kind.is_some() {
            tokens = tokens.split_first().filter(|(token, _)| token.is_op(")"))?.1;
        }
        kinds.push(kind.flatten());
        if ends_call(tokens) {
            return Some(Passed::First(kinds));
        }
        tokens = tokens.split_first().filter(|(token, _)| token.is_op(","))?.1;
    }
}

/// Reports whether a call ends here, possibly after a trailing comma.
fn ends_call(tokens: &[Token<'_>]) -> bool {
    match tokens {
        [close, ..] if close.is_op(")") => true,
        [comma, close, ..] => comma.is_op(",") && close.is_op(")"),
        _ => false,
    }
}

/// Returns the conversion whose call begins here, and the tokens after its opening bracket. The inner option is the
/// type that the conversion makes, or `None` if the value stays text.
#[expect(clippy::option_option, reason = "the outer one says whether there is a conversion")]
fn conversion<'a, 'b>(tokens: &'b [Token<'a>]) -> (Option<Option<Kind>>, &'b [Token<'a>]) {
    let rest = match tokens {
        [module, dot, rest @ ..] if module.is_name("pathlib") && dot.is_op(".") => rest,
        other => other,
    };
    let [Token::Name(name), open, rest @ ..] = rest else { return (None, tokens) };
    if !open.is_op("(") {
        return (None, tokens);
    }
    match *name {
        "int" => (Some(Some(Kind::Integer)), rest),
        "float" => (Some(Some(Kind::Number)), rest),
        "str" | "Path" | "PurePath" => (Some(None), rest),
        _ => (None, tokens),
    }
}

impl Passed {
    /// Returns the parameters that get arguments; with `has_rest`, the last parameter takes all further arguments.
    /// `None` if a required parameter gets none, or gets one that does not have its type.
    pub(super) fn to(self, mut parameters: Vec<Parameter>, has_rest: bool) -> Option<Vec<Parameter>> {
        let rest = parameters.pop_if(|_| has_rest);
        let rest = match self {
            Self::All => rest,
            Self::First(kinds) => {
                if kinds.len() > parameters.len() || parameters[kinds.len()..].iter().any(|one| one.required)
                {
                    return None;
                }
                parameters.truncate(kinds.len());
                for (parameter, kind) in parameters.iter_mut().zip(kinds) {
                    // Each argument is accessed by its index, so none may be missing.
                    (parameter.required, parameter.default) = (true, None);
                    if let Some(kind) = kind {
                        parameter.choices.retain(|choice| kind.takes(choice));
                        parameter.kind = kind;
                    }
                }
                None
            }
        };
        // No argument is a list or an object, and every argument counts as true.
        let is_odd = |one: &Parameter| matches!(one.kind, Kind::Boolean | Kind::Array(_) | Kind::Object);
        match parameters.iter().position(is_odd) {
            Some(at) if parameters[at].required => return None,
            Some(at) => parameters.truncate(at),
            None => parameters.extend(rest),
        }
        (!parameters.is_empty()).then_some(parameters)
    }
}

/// Returns the positions of calls of `main`, including methods of that name.
fn calls_of_main(script: &Script<'_, '_>) -> impl Iterator<Item = usize> {
    let tokens = &script.source.tokens;
    (0..tokens.len()).filter(move |at| {
        tokens[*at].is_name("main")
            && tokens.get(at + 1).is_some_and(|token| token.is_op("("))
            && !at.checked_sub(1).is_some_and(|before| tokens[before].is_name("def"))
    })
}

/// Reports whether the keys of the input object are the `parameters`: the script calls `main` with the whole object
/// (`**`), with its values by these keys, or not at all, because the program that loads the script calls it. The
/// signature says nothing about the keys of an object that is passed as one argument.
pub(super) fn has_keys_of(script: &Script<'_, '_>, parameters: &[Parameter]) -> bool {
    let tokens = &script.source.tokens;
    let is_own = |at: &usize| !at.checked_sub(1).is_some_and(|before| tokens[before].is_op("."));
    calls_of_main(script).filter(is_own).all(|at| takes_keys(&tokens[at + 2..], parameters))
}

/// Reports whether a call passes to each parameter the value whose key is its name. `tokens` follow the opening
/// bracket.
fn takes_keys(mut tokens: &[Token<'_>], parameters: &[Parameter]) -> bool {
    let mut place = 0;
    loop {
        let wanted = match tokens {
            [close, ..] if close.is_op(")") => return true,
            [star, ..] if star.is_op("**") => return true,
            [Token::Name(name), equals, rest @ ..] if equals.is_op("=") => {
                tokens = rest;
                Some(*name)
            }
            _ => parameters.get(place).map(|one| one.name.as_str()),
        };
        place += 1;
        let Some((_, rest)) = looked_up(tokens).filter(|(key, _)| Some(*key) == wanted) else { return false };
        tokens = rest;
        match tokens {
            [comma, rest @ ..] if comma.is_op(",") => tokens = rest,
            [close, ..] if close.is_op(")") => {}
            _ => return false,
        }
    }
}

/// Returns the key in `data["key"]` or `data.get("key")`, possibly with a default, and the tokens that follow.
fn looked_up<'a, 'b>(tokens: &'b [Token<'a>]) -> Option<(&'b str, &'b [Token<'a>])> {
    match tokens {
        [Token::Name(_), open, Token::Text(key), close, rest @ ..] if open.is_op("[") && close.is_op("]") => {
            Some((key.as_str(), rest))
        }
        [Token::Name(_), dot, get, open, Token::Text(key), rest @ ..]
            if dot.is_op(".") && get.is_name("get") && open.is_op("(") =>
        {
            let mut depth = 1;
            let end = rest.iter().position(|token| {
                if let Token::Op("(" | "[" | "{") = token {
                    depth += 1;
                } else if let Token::Op(")" | "]" | "}") = token {
                    depth -= 1;
                }
                depth == 0
            })?;
            Some((key.as_str(), &rest[end + 1..]))
        }
        _ => None,
    }
}
