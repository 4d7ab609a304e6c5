//! Reads decorators of click.

use serde_json::Value;

use super::expr::{Arguments, Expr, Parser};
use super::tokens::Token;
use super::{MAX_PARAMETERS, Script};
use crate::engine::tools::input::{Input, Kind, Parameter, ParameterPosition, TypedBy};

/// The command of a script.
pub(super) struct Command<'b> {
    /// The docstring of its function.
    pub(super) doc: Option<&'b str>,
    /// Its input; `None` if part of it is unknown.
    pub(super) input: Option<Input>,
}

/// Returns the only command of a script that uses click; `None` if it does not use click or has several commands.
pub(super) fn command<'b>(script: &Script<'_, 'b>) -> Option<Command<'b>> {
    if !script.mentions(&["click"]) {
        return None;
    }
    let source = script.source;
    let (mut commands, mut doc, mut parameters) = (0, None, Some(Vec::new()));
    let mut decorated = false;
    for (at, line) in source.lines.iter().enumerate() {
        let tokens = source.words(line);
        if line.indent > 0 || !tokens[0].is_op("@") {
            if decorated && doc.is_none() {
                doc = script.docstring(at + 1);
            }
            decorated = false;
            continue;
        }
        let Expr::Call(name, call) = Parser::new(&tokens[1..]).expr() else {
            decorated |= matches!(&tokens[1..], [Token::Name("click"), _, Token::Name("command")]);
            commands += usize::from(decorated);
            continue;
        };
        match name.as_str() {
            "click.command" => {
                commands += 1;
                decorated = true;
            }
            "click.option" | "click.argument" => {
                decorated = true;
                match (parameter(script, &name, &call), &mut parameters) {
                    (Some(parameter), Some(list)) if list.len() < MAX_PARAMETERS => list.push(parameter),
                    _ => parameters = None,
                }
            }
            // These add no parameter.
            "click.version_option" | "click.help_option" => {}
            name if matches!(name.rsplit('.').next(), Some("command" | "group")) => commands += 2,
            name if name.starts_with("click.") && name.ends_with("_option") => parameters = None,
            _ => {}
        }
    }
    if commands == 0 {
        return None;
    }
    let parameters = parameters.filter(|_| commands == 1);
    let input = parameters.map(|parameters| Input {
        parameters,
        open: false,
        typed_by: TypedBy::Click,
        knows_end: true,
    });
    Some(Command { doc: doc.filter(|_| commands == 1), input })
}

fn parameter(script: &Script<'_, '_>, function: &str, call: &Arguments) -> Option<Parameter> {
    if call.open {
        return None;
    }
    let names: Vec<&str> = call.positional.iter().map(Expr::text).collect::<Option<_>>()?;
    let default =
        call.named.get("default").and_then(|default| script.value(default)).filter(|value| !value.is_null());
    let (mut kind, choices) = of_type(script, call.named.get("type"));
    if kind == Kind::Any {
        kind = default.as_ref().map_or(Kind::String, |value| match Kind::of(value) {
            Kind::Any => Kind::String,
            kind => kind,
        });
    }
    if function == "click.argument" {
        let &[name] = &names[..] else { return None };
        let count = call.named.get("nargs").map(Expr::value);
        let many = match count {
            None => false,
            Some(Some(Value::Number(count))) => count.as_i64() != Some(1),
            Some(_) => return None,
        };
        let endless = matches!(call.named.get("nargs").and_then(Expr::value), Some(Value::Number(n)) if n.as_i64() == Some(-1));
        let optional = default.is_some() || call.named.get("required") == Some(&Expr::Literal(false.into()));
        let required = (!optional && !endless) || call.is_true("required");
        let kind = if many { Kind::Array(Box::new(kind)) } else { kind };
        let default = default.filter(|value| kind.takes(value));
        let name = name.to_lowercase().replace('-', "_");
        return Some(Parameter {
            name,
            kind,
            description: None,
            required,
            default,
            choices,
            place: ParameterPosition::Positional,
        });
    }
    let flags: Vec<&str> = names.iter().filter(|name| name.starts_with('-')).copied().collect();
    let flag = flags.iter().find(|flag| flag.starts_with("--")).or_else(|| flags.first())?;
    let has_value = call.named.get("is_flag") == Some(&Expr::Literal(false.into()));
    // Several flags may set different values of one parameter: each becomes a switch with its own name.
    let is_choice = call.named.contains_key("flag_value") && !has_value;
    let on = flag.split('/').next().unwrap_or_default().trim().to_owned();
    let named = names.iter().find(|name| !name.starts_with('-') && !is_choice);
    let name = named.map_or_else(|| on.trim_start_matches('-').replace('-', "_"), |name| (*name).to_owned());
    let (kind, place) = if flag.contains('/') || call.is_true("is_flag") || is_choice {
        (Kind::Boolean, ParameterPosition::switch(flag))
    } else if call.is_true("count") {
        (Kind::Integer, ParameterPosition::Count(on))
    } else if call.is_true("multiple") {
        let items = if matches!(kind, Kind::Array(_)) { Kind::String } else { kind };
        (Kind::Array(Box::new(items)), ParameterPosition::Repeated(on))
    } else if call.named.contains_key("nargs") {
        (Kind::Array(Box::new(kind)), ParameterPosition::Option(on))
    } else {
        (kind, ParameterPosition::Option(on))
    };
    // Nobody would answer the prompt.
    let asks = call.is_true("prompt") || call.text("prompt").is_some();
    let parameter = Parameter {
        name: name.to_lowercase(),
        required: call.is_true("required") || (asks && default.is_none()),
        default: default.filter(|value| kind.takes(value)),
        description: call.text("help").map(|help| help.split_whitespace().collect::<Vec<_>>().join(" ")),
        kind,
        choices,
        place,
    };
    Some(parameter.within_reach())
}

fn of_type(script: &Script<'_, '_>, of: Option<&Expr>) -> (Kind, Vec<Value>) {
    match of {
        Some(Expr::Name(name)) => match name.as_str() {
            "int" | "click.INT" => (Kind::Integer, Vec::new()),
            "float" | "click.FLOAT" => (Kind::Number, Vec::new()),
            "bool" | "click.BOOL" => (Kind::Boolean, Vec::new()),
            _ => (Kind::String, Vec::new()),
        },
        Some(Expr::Call(name, call)) => match name.as_str() {
            "click.IntRange" => (Kind::Integer, Vec::new()),
            "click.FloatRange" => (Kind::Number, Vec::new()),
            "click.Choice" => {
                let choices = call.positional.first().and_then(|choices| script.value(choices));
                let choices = choices.and_then(|choices| choices.as_array().cloned()).unwrap_or_default();
                (Kind::String, choices)
            }
            _ => (Kind::String, Vec::new()),
        },
        Some(_) => (Kind::String, Vec::new()),
        None => (Kind::Any, Vec::new()),
    }
}
