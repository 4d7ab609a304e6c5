//! Reads facts from a JavaScript file: its first comment, `@param` lines of `main`, a usage line, and variables
//! assigned from `process.argv`.

mod passed;

use serde_json::Value;

use super::input::{Input, Kind, Parameter, ParameterPosition, TypedBy};
use super::{Facts, comment, usage};

/// The maximum length of a comment that is examined, in bytes.
const MAX_COMMENT: usize = 64 << 10;
/// The maximum number of parameters that are examined.
const MAX_PARAMETERS: usize = 64;

/// Returns the facts in a script.
pub(super) fn facts(text: &str, file: &str) -> Facts {
    let body =
        text.strip_prefix("#!").map_or(text, |rest| rest.split_once('\n').map_or("", |(_, rest)| rest));
    let top = first_comment(body);
    let of_main = main_comment(text);
    let in_comment = |comment: &str| {
        comment
            .lines()
            .map(unstarred)
            .take_while(|line| !line.starts_with('@'))
            .find_map(|line| comment::telling(line, file))
    };
    let tagged = |comment: &str| {
        let tags = ["@file ", "@fileoverview ", "@description "];
        comment.lines().map(unstarred).find_map(|line| {
            tags.iter().find_map(|tag| line.strip_prefix(tag)).map(|text| text.trim().to_owned())
        })
    };
    let description = [top, of_main]
        .into_iter()
        .flatten()
        .find_map(|comment| in_comment(comment).or_else(|| tagged(comment)));
    let description = description.or_else(|| comment::summary(body, "//", file));
    let input = of_main.or(top).and_then(|comment| params(comment, text));
    let input = input.or_else(|| usage::input(text, file)).or_else(|| argv(text));
    Facts { description, input: Some(input.unwrap_or_else(|| unknown(text))) }
}

/// Returns the input of a script about which nothing more is known.
fn unknown(text: &str) -> Input {
    if reads_input(text) && !text.contains("process.argv") { Input::object() } else { Input::words() }
}

fn reads_input(text: &str) -> bool {
    ["process.stdin", "readFileSync(0", "readFileSync('/dev/stdin'", "readFileSync(\"/dev/stdin\""]
        .iter()
        .any(|part| text.contains(part))
}

/// Returns the block comment at the top.
fn first_comment(body: &str) -> Option<&str> {
    let mut rest = body.trim_start();
    for strict in ["'use strict';", "\"use strict\";"] {
        rest = rest.strip_prefix(strict).unwrap_or(rest).trim_start();
    }
    let inner = rest.strip_prefix("/*")?;
    let inner = &inner[..inner.floor_char_boundary(MAX_COMMENT)];
    Some(&inner[..inner.find("*/")?])
}

/// Returns the comment directly before the function `main`.
fn main_comment(text: &str) -> Option<&str> {
    let at = ["function main(", "const main = "].iter().find_map(|start| text.find(start))?;
    let before = text[..at].trim_end();
    let before = before.strip_suffix("async").unwrap_or(before).trim_end();
    let before = before.strip_suffix("export").unwrap_or(before).trim_end();
    let inner = before.strip_suffix("*/")?;
    let inner = &inner[inner.ceil_char_boundary(inner.len().saturating_sub(MAX_COMMENT))..];
    Some(&inner[inner.rfind("/**")? + 3..])
}

/// Returns a line of a block comment without its leading star.
fn unstarred(line: &str) -> &str {
    line.trim().trim_start_matches('*').trim()
}

/// Returns the input that the `@param` lines of a comment describe.
fn params(comment: &str, text: &str) -> Option<Input> {
    let place = if reads_input(text) || !text.contains("process.argv") {
        ParameterPosition::Key
    } else {
        ParameterPosition::Positional
    };
    let mut parameters: Vec<Parameter> = Vec::new();
    for line in comment.lines().map(unstarred) {
        let Some(rest) = line.strip_prefix("@param ") else { continue };
        let rest = rest.trim_start();
        let (of, rest) = match rest.strip_prefix('{') {
            Some(rest) => rest.split_once('}')?,
            None => ("", rest),
        };
        let (name, text) = named(rest.trim_start())?;
        let (name, default) = name;
        let optional = default.is_some() || of.ends_with('=');
        // `options.name` is a property of another parameter.
        if name.0.contains('.') || of.starts_with("...") || parameters.len() == MAX_PARAMETERS {
            return None;
        }
        let (kind, choices) = kind(of.trim_end_matches('='));
        let default = default.filter(|text| !text.is_empty()).and_then(|text| value(text, &kind));
        let description = text.trim_start_matches(['-', ' ']).trim();
        let parameter = Parameter::new(name.0, kind, place.clone());
        parameters.push(Parameter {
            required: !optional,
            default,
            choices,
            description: (!description.is_empty()).then(|| description.to_owned()),
            ..parameter
        });
    }
    // A function with a single object parameter gets an object that the caller reads from somewhere.
    if parameters.is_empty()
        || matches!(&parameters[..], [one] if matches!(one.kind, Kind::Array(_)) && one.name == "argv")
    {
        return None;
    }
    if place == ParameterPosition::Positional {
        parameters = in_order(parameters, passed::is_of_script(comment, text), text)?;
        parameters.iter_mut().filter(|one| one.kind == Kind::Any).for_each(|one| one.kind = Kind::String);
    } else {
        let names: Vec<_> = parameters.iter().map(|one| one.name.as_str()).collect();
        if !passed::has_keys(text, &names) {
            return None;
        }
    }
    Some(Input { parameters, open: false, typed_by: TypedBy::Jsdoc, knows_end: false })
}

/// Returns the parameters that get command-line arguments, in the order of the arguments: those of `main`, those named
/// by the variables that the arguments are assigned to, or if the comment is about the whole script, those in the
/// comment. `None` if the order is in doubt, or if a required parameter gets no argument.
fn in_order(mut told: Vec<Parameter>, of_script: bool, text: &str) -> Option<Vec<Parameter>> {
    let named = || argv(text).map(|input| input.parameters.into_iter().map(|one| one.name).collect());
    let words: Option<Vec<String>> =
        passed::words(text).map(|names| names.into_iter().map(Into::into).collect());
    let mut parameters = Vec::new();
    let all = || told.iter().map(|one| one.name.clone()).collect();
    let as_told = || (of_script && passed::takes_so_many(text, told.len())).then(all);
    for name in words.or_else(named).or_else(as_told)? {
        let at = told.iter().position(|one| one.name == name)?;
        parameters.push(told.remove(at));
    }
    // No argument is a list or an object, and every argument counts as true.
    let is_odd = |one: &Parameter| matches!(one.kind, Kind::Boolean | Kind::Array(_) | Kind::Object);
    let end = parameters.iter().position(is_odd).unwrap_or(parameters.len());
    told.extend(parameters.drain(end..));
    (!parameters.is_empty() && !told.iter().any(|one| one.required)).then_some(parameters)
}

/// The name of a parameter.
struct Name<'a>(&'a str);

/// Returns the name of a parameter, its default (`Some` if it is optional), and the text that follows: `name - text`,
/// `[name=default] text`.
fn named(rest: &str) -> Option<((Name<'_>, Option<&str>), &str)> {
    let fits = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '.'))
    };
    if let Some(inner) = rest.strip_prefix('[') {
        let (inner, text) = inner.split_once(']')?;
        let (name, default) = inner.split_once('=').unwrap_or((inner, ""));
        return fits(name.trim()).then(|| ((Name(name.trim()), Some(default.trim())), text));
    }
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    fits(&rest[..end]).then(|| ((Name(&rest[..end]), None), &rest[end..]))
}

fn kind(of: &str) -> (Kind, Vec<Value>) {
    let of = of.trim().trim_start_matches(['?', '!']);
    if of.contains('|') {
        let quoted = |part: &str| {
            let part = part.trim().trim_matches(['(', ')']);
            let inner = part.strip_prefix(['\'', '"'])?.strip_suffix(['\'', '"'])?;
            Some(Value::from(inner))
        };
        return match of.split('|').map(quoted).collect::<Option<Vec<_>>>() {
            Some(choices) => (Kind::String, choices),
            None => (Kind::Any, Vec::new()),
        };
    }
    let kind = match of {
        "string" | "String" => Kind::String,
        "number" | "Number" => Kind::Number,
        "integer" | "int" => Kind::Integer,
        "boolean" | "Boolean" | "bool" => Kind::Boolean,
        "object" | "Object" => Kind::Object,
        "string[]" | "Array<string>" | "Array.<string>" => Kind::strings(),
        "number[]" | "Array<number>" => Kind::Array(Box::new(Kind::Number)),
        "Array" | "array" | "any[]" => Kind::Array(Box::new(Kind::Any)),
        _ => Kind::Any,
    };
    (kind, Vec::new())
}

/// Returns the value of a default, which is written as `text`; `None` if it is not of `kind`.
fn value(text: &str, kind: &Kind) -> Option<Value> {
    let text = text.trim_matches(['\'', '"']);
    let value = match kind {
        Kind::String => Value::from(text),
        _ => serde_json::from_str(text).ok()?,
    };
    kind.takes(&value).then_some(value)
}

/// Returns the parameters from `const [input, output] = process.argv.slice(2)` or `const input = process.argv[2]`.
fn argv(text: &str) -> Option<Input> {
    let uses = memchr::memmem::find_iter(text.as_bytes(), "process.argv").count();
    let harmless = memchr::memmem::find_iter(text.as_bytes(), "process.argv.length").count();
    let mut told = 0;
    let mut found: Vec<Option<Parameter>> = Vec::new();
    for line in text.lines().filter(|line| line.contains("process.argv")) {
        let declared =
            ["const ", "let ", "var "].iter().find_map(|word| line.trim_start().strip_prefix(word));
        // A default has an equals sign, too.
        let divided = declared.and_then(|rest| {
            let equals = rest[..rest.find("process.argv")?].rfind('=')?;
            Some((&rest[..equals], &rest[equals + 1..]))
        });
        let Some((left, right)) = divided else { continue };
        let (left, right) = (left.trim(), right.trim().trim_end_matches(';'));
        if let Some(list) = left.strip_prefix('[').and_then(|left| left.strip_suffix(']')) {
            let skipped = match right {
                "process.argv" => 2,
                "process.argv.slice(2)" => 0,
                _ => return None,
            };
            if !found.is_empty() {
                return None;
            }
            for name in list.split(',').map(str::trim).skip(skipped) {
                let (name, default) =
                    name.split_once('=').map_or((name, None), |(name, default)| (name.trim(), Some(default)));
                found.push(Some(word(name, default)?));
            }
            told += 1;
        } else if let Some(rest) = right.strip_prefix("process.argv[") {
            let (number, rest) = rest.split_once(']')?;
            let number =
                number.parse::<usize>().ok().filter(|number| (2..=MAX_PARAMETERS).contains(number))?;
            let default = rest.trim().strip_prefix("||").or_else(|| rest.trim().strip_prefix("??"));
            if default.is_none() && !rest.trim().is_empty() {
                return None;
            }
            found.resize(found.len().max(number - 1), None);
            found[number - 2] = Some(word(left, default)?);
            told += 1;
        }
    }
    let mut parameters = found.into_iter().collect::<Option<Vec<_>>>()?;
    let names: std::collections::BTreeSet<_> = parameters.iter().map(|one| &one.name).collect();
    if parameters.is_empty() || names.len() < parameters.len() || uses > told + harmless {
        return None;
    }
    let mut optional = false;
    for parameter in &mut parameters {
        optional |= !parameter.required;
        parameter.required = !optional;
    }
    Some(Input { parameters, open: false, typed_by: TypedBy::Argv, knows_end: false })
}

fn word(name: &str, default: Option<&str>) -> Option<Parameter> {
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$'));
    let parameter = is_name.then(|| Parameter::new(name, Kind::String, ParameterPosition::Positional))?;
    let Some(default) = default.map(str::trim) else { return Some(parameter) };
    let quote = default.chars().next().filter(|c| matches!(c, '\'' | '"'));
    let inner = quote
        .and_then(|quote| default[1..].strip_suffix(quote))
        .filter(|text| !text.contains(['\'', '"', '\\']));
    Some(Parameter { default: inner.map(Value::from), ..parameter.optional() })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn input(text: &str) -> Input {
        facts(text, "x.js").input.expect("an input")
    }

    /// S1-D3.
    #[test]
    fn the_comment_at_the_top_or_of_main() {
        for (text, expected) in [
            ("#!/usr/bin/env node\n/**\n * Says hello.\n * @param {string} x\n */\n", Some("Says hello.")),
            ("'use strict';\n/* x.js - Says hello */\n", Some("Says hello")),
            ("// Says hello.\n", Some("Says hello.")),
            ("const a = 1;\n/** Says hello. */\nasync function main() {}\n", Some("Says hello.")),
            ("/** @fileoverview Says hello. */\n", Some("Says hello.")),
            ("const a = 1;\n", None),
            ("/* never closed", None),
        ] {
            assert_eq!(facts(text, "x.js").description.as_deref(), expected, "{text:?}");
        }
    }

    #[test]
    fn parameters_of_main() {
        let text = "/**\n * Adds.\n * @param {number} a - The first.\n * @param {number} [b=2] The second.\n * @param {'x'|'y'} mode\n \
                    * @param {string[]=} tags\n */\nfunction main(a, b, mode, tags) {}\nmain(...process.argv.slice(2));\n";
        let found = input(text);
        assert_eq!(
            found.schema(),
            json!({
                "type": "object",
                "properties": {
                    "a": { "type": "number", "description": "The first." },
                    "b": { "type": "number", "description": "The second.", "default": 2 },
                    "mode": { "type": "string", "enum": ["x", "y"] },
                },
                "required": ["a", "mode"],
                "additionalProperties": false,
            })
        );
        assert!(!found.is_json(), "the words of the command line are read");
        let text = "/** @param {object} a */\nfunction main(a) {}\nmain(JSON.parse(fs.readFileSync(0)))\n";
        assert!(input(text).is_json());
        let text = "/**\n * @param {object} o\n * @param {string} o.a\n */\nfunction main(o) {}\n";
        assert_eq!(input(text).typed_by, TypedBy::Nothing);
    }

    /// Arguments belong to parameters only if the call of `main` says so: in another order, a model would swap source
    /// and target of a copy.
    #[test]
    fn words_have_names_where_main_gets_them_in_order() {
        let copy = |call: &str| {
            format!(
                "/**\n * @param {{string}} src\n * @param {{string}} dst\n * @param {{number}} [n]\n */\n\
                 async function main(src, dst, n = 1) {{}}\n{call}\n"
            )
        };
        let names = |text: &str| input(text).parameters.into_iter().map(|one| one.name).collect::<Vec<_>>();
        for (call, expected) in [
            ("main(...process.argv.slice(2))", &["src", "dst", "n"][..]),
            ("main(process.argv[2], process.argv[3]).catch(console.error)", &["src", "dst"]),
            (
                "if (process.argv.length < 4) { usage() }\nmain(String(process.argv[2]), process.argv[3], parseInt(process.argv[4], 10),)",
                &["src", "dst", "n"],
            ),
            (
                "// main() is called once.\nconst [src, dst] = process.argv.slice(2);\nmain(src, dst)",
                &["src", "dst"],
            ),
            ("const dst = process.argv[2];\nconst src = process.argv[3];\nmain(src, dst)", &["dst", "src"]),
        ] {
            let text = copy(call);
            assert_eq!(
                (names(&text), input(&text).typed_by),
                (expected.iter().map(ToString::to_string).collect(), TypedBy::Jsdoc),
                "{call}"
            );
        }
        for call in [
            "main(process.argv[3], process.argv[2])",
            "main(process.argv[2])",
            "main(process.argv[2], 'x')",
            "main(process.argv[2], process.argv[3], process.argv[4], process.argv[5])",
            "main(...process.argv.slice(3))",
            "main(process.argv)",
            "main(process.argv[2], process.argv[3], process.argv.includes('--fast'))",
            "main(process.argv[2], process.argv[3])\nmain(process.argv[2], process.argv[3])",
            "const [from, to] = process.argv;\nmain(to, from)",
            "other.main(...process.argv.slice(2))",
        ] {
            assert_eq!(input(&copy(call)).typed_by, TypedBy::Nothing, "{call}");
        }
        // The comment may list them in a different order than the function.
        let turned = copy("main(...process.argv.slice(2))").replace("(src, dst, n = 1)", "(dst, src, n)");
        assert_eq!(names(&turned), ["dst", "src", "n"]);
        // A comment at the top that precedes no function is about the script.
        let script =
            |code: &str| format!("/**\n * @param {{string}} src\n * @param {{string}} dst\n */\n{code}\n");
        for code in
            ["copy(process.argv[2], process.argv[3])", "const args = process.argv.slice(2);\ncopy(...args)"]
        {
            assert_eq!(names(&script(code)), ["src", "dst"], "{code}");
        }
        for code in [
            "copy(process.argv[2], process.argv[4])",
            "copy(process.argv)",
            "function copy(src, dst) {}\ncopy(process.argv[3], process.argv[2])",
            "const copy = (src, dst) => {};\ncopy(process.argv[3], process.argv[2])",
            "x();\nfunction main(src, dst) {}\nmain(process.argv[3], process.argv[2])",
        ] {
            assert_eq!(input(&script(code)).typed_by, TypedBy::Nothing, "{code}");
        }
    }

    /// The parameter does not describe the keys of an object that is passed as one argument.
    #[test]
    fn keys_are_parameters_where_main_gets_their_values() {
        let script = |parameters: &str, call: &str| {
            format!(
                "/**\n * @param {{string}} src\n * @param {{string}} dst\n */\nfunction main({parameters}) {{}}\n\
                 const data = JSON.parse(fs.readFileSync(0));\n{call}\n"
            )
        };
        for (parameters, call) in [
            ("src, dst", "main(data.src, data['dst'])"),
            ("src, dst", "const { dst, src } = data;\nmain(src, dst);"),
            ("{ dst, src = 'x' }", "main(data)"),
            ("{ src, dst }: Options", "main(data)"),
            ("src, dst", "module.exports = main;"),
        ] {
            let found = input(&script(parameters, call));
            assert_eq!((found.typed_by, found.is_json()), (TypedBy::Jsdoc, true), "{parameters} {call}");
        }
        for (parameters, call) in [
            ("src, dst", "main(data.dst, data.src)"),
            ("src, dst", "main(data)"),
            ("src, dst", "main(data.src, 'x')"),
            ("src, dst", "const src = data.from;\nmain(src, data.dst)"),
            ("{ from, to }", "main(data)"),
        ] {
            assert_eq!(input(&script(parameters, call)), Input::object(), "{parameters} {call}");
        }
        let whole =
            "/** @param {object} data */\nfunction main(data) {}\nmain(JSON.parse(fs.readFileSync(0)))\n";
        assert_eq!(input(whole), Input::object());
    }

    #[test]
    fn names_of_words() {
        for text in [
            "const [input, out = 'a.txt'] = process.argv.slice(2);\n",
            "const [, , input, out = \"a.txt\"] = process.argv\n",
            "if (process.argv.length < 3) x();\nconst input = process.argv[2];\nconst out = process.argv[3] || 'a.txt';\n",
        ] {
            let found = input(text);
            assert_eq!(found.typed_by, TypedBy::Argv, "{text}");
            assert_eq!(found.schema()["required"], json!(["input"]), "{text}");
            assert_eq!(
                found.schema()["properties"]["out"],
                json!({ "type": "string", "default": "a.txt" }),
                "{text}"
            );
        }
        for text in [
            "const a = process.argv[3];\n",
            "const args = process.argv.slice(2);\n",
            "const a = process.argv[2];\nf(process.argv)\n",
            "const [a, ...b] = process.argv.slice(2);\n",
            "const a = Number(process.argv[2]);\n",
            "x();\n",
        ] {
            assert_eq!(input(text), Input::words(), "{text}");
        }
        assert_eq!(input("process.stdin.on('data', x)\n"), Input::object());
    }
}
