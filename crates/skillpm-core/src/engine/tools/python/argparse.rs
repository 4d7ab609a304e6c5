//! Reads calls of `add_argument`.

use serde_json::Value;

use super::expr::{Arguments, Expr, Parser};
use super::tokens::Source;
use crate::engine::tools::input::{Input, Kind, Parameter, ParameterPosition, TypedBy};

/// The maximum number of parameters that are examined.
const MAX_PARAMETERS: usize = 256;

/// Reports whether a script has a parser, or adds arguments to one.
pub(super) fn is_used(source: &Source<'_>) -> bool {
    source.calls("ArgumentParser") > 0 || source.calls("add_argument") > 0
}

/// Returns the input that the calls of `add_argument` describe; `None` if they are only partly understood.
pub(super) fn input(source: &Source<'_>) -> Option<Input> {
    let one = source.calls("ArgumentParser") == 1
        && source.calls("add_subparsers") == 0
        && source.calls("add_parser") == 0;
    let parser = calls(source, "ArgumentParser").into_iter().next()?;
    let calls = calls(source, "add_argument");
    if !one
        || calls.len() > MAX_PARAMETERS
        || parser.open
        || parser.named.contains_key("parents")
        || parser.named.contains_key("prefix_chars")
    {
        return None;
    }
    let mut parameters: Vec<Parameter> = Vec::new();
    for call in &calls {
        let action = action(call)?;
        // These take no value.
        if matches!(action, "help" | "version") {
            continue;
        }
        let parameter = parameter(call, action)?;
        // Two options set one value, such as `--yes` and `--no`: only the first is offered.
        if parameters.iter().all(|other| other.name != parameter.name) {
            parameters.push(parameter);
        }
    }
    Some(Input { parameters, open: false, typed_by: TypedBy::Argparse, knows_end: true })
}

/// Returns the arguments of all calls of `name` or of something that ends with `.name`.
fn calls(source: &Source<'_>, name: &str) -> Vec<Arguments> {
    let tokens = &source.tokens;
    let mut found = Vec::new();
    let mut at = 0;
    while at + 1 < tokens.len() {
        if tokens[at].is_name(name) && tokens[at + 1].is_op("(") && !(at > 0 && tokens[at - 1].is_name("def"))
        {
            let mut parser = Parser::new(&tokens[at + 1..]);
            found.push(parser.arguments(0));
            at += 1 + parser.position();
        } else {
            at += 1;
        }
    }
    found
}

/// Returns the description that the parser gives of the script.
pub(super) fn description(source: &Source<'_>) -> Option<String> {
    if !source.mentions(&["argparse"]) {
        return None;
    }
    calls(source, "ArgumentParser").iter().find_map(|call| super::first_line(call.text("description")?))
}

/// Returns the action of an argument.
fn action(call: &Arguments) -> Option<&str> {
    match call.named.get("action") {
        None => Some("store"),
        Some(Expr::Literal(Value::String(text))) => Some(text),
        Some(Expr::Name(name)) => name.rsplit('.').next(),
        Some(_) => None,
    }
}

/// Returns the parameter that a call adds; `None` if it is not fully known.
fn parameter(call: &Arguments, action: &str) -> Option<Parameter> {
    if call.open || call.positional.is_empty() {
        return None;
    }
    let names: Vec<&str> = call.positional.iter().map(Expr::text).collect::<Option<_>>()?;
    let is_option = names[0].starts_with('-');
    // The long option is clearer, both to people and in the script's error messages.
    let flag = names.iter().find(|name| name.starts_with("--")).unwrap_or(&names[0]);
    let name =
        call.text("dest").map_or_else(|| flag.trim_start_matches('-').replace('-', "_"), str::to_owned);
    let name = if is_option { name } else { (*flag).to_owned() };
    if name.is_empty() {
        return None;
    }
    let flag = (*flag).to_owned();
    let single = of_type(call.named.get("type"));
    let count = Count::of(call.named.get("nargs"))?;
    let (kind, place) = match action {
        "store" if is_option => match count {
            Count::One | Count::Optional => (single, ParameterPosition::Option(flag)),
            Count::Many(_) => (Kind::Array(Box::new(single)), ParameterPosition::Option(flag)),
        },
        "store" => match count {
            Count::One | Count::Optional => (single, ParameterPosition::Positional),
            Count::Many(_) => (Kind::Array(Box::new(single)), ParameterPosition::Positional),
        },
        "store_true" | "store_const" => (Kind::Boolean, ParameterPosition::Switch(flag)),
        "store_false" => (Kind::Boolean, ParameterPosition::Unless(flag)),
        "BooleanOptionalAction" => {
            let off = format!("--no-{}", flag.trim_start_matches('-'));
            (Kind::Boolean, ParameterPosition::Either(flag, off))
        }
        "append" if count == Count::One => (Kind::Array(Box::new(single)), ParameterPosition::Repeated(flag)),
        "extend" => (Kind::Array(Box::new(single)), ParameterPosition::Option(flag)),
        "count" => (Kind::Integer, ParameterPosition::Count(flag)),
        _ => return None,
    };
    // A required option is never in a group of mutually exclusive ones: Python refuses that.
    let required =
        if is_option { call.is_true("required") } else { matches!(count, Count::One | Count::Many(true)) };
    let choices = match call.named.get("choices").and_then(Expr::value) {
        Some(Value::Array(choices)) => choices,
        _ => Vec::new(),
    };
    let default = match (call.named.get("default"), action) {
        (Some(default), _) => default.value(),
        (None, "store_true") => Some(Value::Bool(false)),
        (None, "store_false") => Some(Value::Bool(true)),
        (None, _) => None,
    };
    let default = default.and_then(|value| fitting(value, &kind));
    let description = call.text("help").map(|help| help_text(help, default.as_ref()));
    Some(Parameter { name, kind, description, required, default, choices, place }.within_reach())
}

/// Returns a default as a value of `kind`; the script parses a string as if it had been typed.
fn fitting(value: Value, kind: &Kind) -> Option<Value> {
    if kind.takes(&value) && !value.is_null() {
        return Some(value);
    }
    let text = value.as_str()?;
    match kind {
        Kind::Integer => text.parse::<i64>().ok().map(Value::from),
        Kind::Number => text.parse::<f64>().ok().map(Value::from),
        _ => None,
    }
}

/// Returns a help text with the placeholders of argparse filled in.
fn help_text(help: &str, default: Option<&Value>) -> String {
    let shown = match default {
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => "None".to_owned(),
    };
    let text = help.replace("%(default)s", &shown).replace("%(default)r", &shown).replace("%%", "%");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn of_type(of: Option<&Expr>) -> Kind {
    match of.and_then(Expr::name) {
        Some("int") => Kind::Integer,
        Some("float") => Kind::Number,
        // Functions may convert the argument to anything, but it is passed as text. For `bool`, every text but one is
        // true.
        _ => Kind::String,
    }
}

/// The number of command-line arguments that a parameter takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Count {
    One,
    Optional,
    /// Several; at least one if `true`.
    Many(bool),
}

impl Count {
    fn of(nargs: Option<&Expr>) -> Option<Self> {
        match nargs {
            None => Some(Self::One),
            Some(Expr::Literal(Value::String(text))) => match text.as_str() {
                "?" => Some(Self::Optional),
                "*" | "..." => Some(Self::Many(false)),
                "+" => Some(Self::Many(true)),
                _ => None,
            },
            Some(Expr::Literal(Value::Number(_))) => Some(Self::Many(true)),
            Some(Expr::Name(name)) => match name.rsplit('.').next() {
                Some("REMAINDER" | "ZERO_OR_MORE") => Some(Self::Many(false)),
                Some("ONE_OR_MORE") => Some(Self::Many(true)),
                Some("OPTIONAL") => Some(Self::Optional),
                _ => None,
            },
            Some(_) => None,
        }
    }
}
