//! From the input that a model gives to the words and the standard input of a script (conflict C19).

use serde_json::{Map, Value};

use super::Tool;
use super::input::{Kind, Parameter, Place, TypedBy};

/// What a script is started with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Call {
    /// The words behind the script's path. No shell reads them.
    pub words: Vec<String>,
    /// What it reads from its standard input.
    pub input: Option<String>,
}

/// Why an input does not fit a tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// A parameter that must be there is not.
    #[error("the parameter `{0}` is missing")]
    Missing(String),
    /// A key that is no parameter.
    #[error("there is no parameter `{given}`{}", closest.as_ref().map_or_else(String::new, |name| format!("; did you mean `{name}`?")))]
    Unknown {
        /// The key.
        given: String,
        /// What was probably meant.
        closest: Option<String>,
    },
    /// A value of another type.
    #[error("the parameter `{name}` must be of the type `{expected}`")]
    Type {
        /// The parameter.
        name: String,
        /// Its type.
        expected: &'static str,
    },
    /// A value that is none of those that there are.
    #[error("the parameter `{name}` must be one of {choices}")]
    Choice {
        /// The parameter.
        name: String,
        /// The values, as JSON.
        choices: String,
    },
    /// An input that is neither a text, nor a list of texts, nor an object.
    #[error("the input must be a text, a list of texts or an object")]
    Shape,
    /// A text with a character that no word of a command line has.
    #[error("the input has a NUL character, which no command line has")]
    Nul,
}

impl Tool {
    /// Returns what the script is started with for `input`.
    ///
    /// A text is one word and a list of texts is as many (S1-AC-3). An object is checked against the
    /// parameters, also where nothing is known of them but that they are words, and becomes options and words
    /// where the script reads those, else JSON on the standard input.
    ///
    /// # Errors
    ///
    /// [`CallError`] where `input` does not fit the parameters.
    pub fn call(&self, input: &Value) -> Result<Call, CallError> {
        let call = match input {
            Value::Null => self.object(&Map::new())?,
            Value::String(text) => Call { words: vec![text.clone()], input: None },
            Value::Array(items) => {
                let words = items.iter().map(|item| word(item).ok_or(CallError::Shape));
                Call { words: words.collect::<Result<_, _>>()?, input: None }
            }
            Value::Object(object) => self.object(object)?,
            Value::Bool(_) | Value::Number(_) => return Err(CallError::Shape),
        };
        if call.words.iter().any(|word| word.contains('\0')) {
            return Err(CallError::Nul);
        }
        Ok(call)
    }

    fn object(&self, object: &Map<String, Value>) -> Result<Call, CallError> {
        let parameters = &self.input.parameters;
        let json = |object: &Map<String, Value>| Call {
            words: Vec::new(),
            input: Some(Value::from(object.clone()).to_string()),
        };
        for (key, value) in object {
            let Some(parameter) = parameters.iter().find(|one| one.name == *key) else {
                if self.input.open {
                    continue;
                }
                let closest = match &parameters[..] {
                    [only] => Some(only.name.as_str()),
                    several => crate::text::closest(key, several.iter().map(|one| one.name.as_str())),
                };
                return Err(CallError::Unknown { given: key.clone(), closest: closest.map(str::to_owned) });
            };
            check(parameter, value)?;
        }
        if let Some(missing) = parameters.iter().find(|one| one.required && !object.contains_key(&one.name)) {
            return Err(CallError::Missing(missing.name.clone()));
        }
        if self.input.is_json() {
            return Ok(json(object));
        }
        let (mut options, mut words) = (Vec::new(), Vec::new());
        let mut greedy = false;
        for parameter in parameters {
            let given = object.get(&parameter.name).filter(|value| !value.is_null());
            if parameter.place == Place::Positional {
                // A word that is left out would give its place to the next one.
                let later = parameters.iter().skip_while(|one| one.name != parameter.name).skip(1);
                let needed = later
                    .filter(|one| one.place == Place::Positional)
                    .any(|one| object.contains_key(&one.name));
                let value = given.or(parameter.default.as_ref().filter(|_| needed));
                match value {
                    Some(value) => words.extend(flat(value)),
                    None if needed => return Err(CallError::Missing(parameter.name.clone())),
                    None => {}
                }
            } else if let Some(value) = given {
                greedy |= matches!(parameter.place, Place::Option(_))
                    && value.as_array().is_some_and(|values| !values.is_empty());
                option(parameter, value, &mut options);
            }
        }
        // Behind `--` nothing is taken for an option, nor for another value of the option before.
        let knows_end = matches!(self.input.typed_by, TypedBy::Argparse | TypedBy::Click | TypedBy::Getopts);
        if !words.is_empty() && (greedy || (knows_end && words.iter().any(|word| word.starts_with('-')))) {
            options.push("--".to_owned());
        }
        options.append(&mut words);
        Ok(Call { words: options, input: None })
    }
}

fn check(parameter: &Parameter, value: &Value) -> Result<(), CallError> {
    if value.is_null() && !parameter.required {
        return Ok(());
    }
    if !parameter.kind.takes(value) {
        return Err(CallError::Type { name: parameter.name.clone(), expected: parameter.kind.name() });
    }
    let one_of = |value: &Value| parameter.choices.contains(value);
    let right = match value {
        _ if parameter.choices.is_empty() => true,
        Value::Array(values) if matches!(parameter.kind, Kind::Array(_)) => values.iter().all(one_of),
        value => one_of(value),
    };
    if right {
        return Ok(());
    }
    let choices = parameter.choices.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    Err(CallError::Choice { name: parameter.name.clone(), choices })
}

fn option(parameter: &Parameter, value: &Value, words: &mut Vec<String>) {
    match &parameter.place {
        Place::Option(flag) => {
            let values = flat(value);
            match &values[..] {
                // What looks like an option is put behind an equals sign.
                [one] if one.starts_with('-') && flag.starts_with("--") => {
                    words.push(format!("{flag}={one}"));
                }
                // A list of nothing is left out.
                [] => {}
                values => {
                    words.push(flag.clone());
                    words.extend_from_slice(values);
                }
            }
        }
        Place::Repeated(flag) => {
            for one in flat(value) {
                words.push(flag.clone());
                words.push(one);
            }
        }
        Place::Switch(flag) => words.extend((*value == Value::Bool(true)).then(|| flag.clone())),
        Place::Unless(flag) => words.extend((*value == Value::Bool(false)).then(|| flag.clone())),
        Place::Either(on, off) => {
            words.push(if *value == Value::Bool(true) { on.clone() } else { off.clone() });
        }
        Place::Count(flag) => {
            // More would say no more.
            let count = usize::try_from(value.as_u64().unwrap_or_default()).unwrap_or_default().min(16);
            words.extend(std::iter::repeat_n(flag.clone(), count));
        }
        Place::Positional | Place::Key => {}
    }
}

/// A value in words: a list has several.
fn flat(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().map(text).collect(),
        value => vec![text(value)],
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A text or a number as a word.
fn word(value: &Value) -> Option<String> {
    (value.is_string() || value.is_number()).then(|| text(value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{DescribedBy, Language, read_script};
    use super::*;

    fn tool(text: &str) -> Tool {
        let (_, input) = read_script(&Language::Python, text, "x.py");
        Tool {
            name: "x".into(),
            tool_name: "s__x".into(),
            description: String::new(),
            described_by: DescribedBy::Name,
            script: "scripts/x.py".into(),
            language: Language::Python,
            input: input.expect("an input"),
            timeout: None,
        }
    }

    fn words(tool: &Tool, input: &Value) -> Vec<String> {
        let call = tool.call(input).expect("fits");
        assert_eq!(call.input, None);
        call.words
    }

    const ARGPARSE: &str = "import argparse\np = argparse.ArgumentParser()\np.add_argument('files', nargs='+')\n\
        p.add_argument('-n', '--count', type=int)\np.add_argument('--mode', choices=['a', 'b'])\n\
        p.add_argument('--tag', action='append')\np.add_argument('--many', nargs='*')\n\
        p.add_argument('-q', action='store_true')\np.add_argument('-v', action='count')\n\
        p.add_argument('--no-color', dest='color', action='store_false')\np.add_argument('--x', action=argparse.BooleanOptionalAction)\n";

    /// S1-AC-3's input, conflict C19: a text is one word, a list is several, no shell.
    #[test]
    fn texts_are_words() {
        let greet = tool("import sys\nprint(f'Hello, {sys.argv[1]}!')\n");
        assert_eq!(words(&greet, &json!("World")), ["World"]);
        assert_eq!(words(&greet, &json!("a b; c")), ["a b; c"]);
        assert_eq!(words(&greet, &json!(["a", "b c", 1])), ["a", "b c", "1"]);
        assert_eq!(words(&greet, &json!({ "arguments": ["a", "b"] })), ["a", "b"]);
        assert_eq!(words(&greet, &json!({})), [""; 0]);
        assert_eq!(greet.call(&json!("a\0b")), Err(CallError::Nul));
        assert_eq!(greet.call(&json!(1)), Err(CallError::Shape));
        assert_eq!(greet.call(&json!([{}])), Err(CallError::Shape));
    }

    /// Conflict C19: an object is JSON on standard input.
    #[test]
    fn objects_are_json() {
        let reads = tool("import sys, json\nprint(json.load(sys.stdin))\n");
        let call = reads.call(&json!({ "a": [1, "x"] })).expect("fits");
        assert_eq!(call, Call { words: vec![], input: Some("{\"a\":[1,\"x\"]}".into()) });
        let typed =
            tool("import sys, json\ndef main(a: int, b: str = 'x'): pass\nmain(**json.load(sys.stdin))\n");
        assert_eq!(typed.call(&json!({ "a": 1 })).expect("fits").input.as_deref(), Some("{\"a\":1}"));
        assert_eq!(typed.call(&json!({ "b": "x" })), Err(CallError::Missing("a".into())));
        let slip = typed.call(&json!({ "a": 1, "bb": 2 })).expect_err("unknown");
        assert_eq!(slip.to_string(), "there is no parameter `bb`; did you mean `b`?");
        let type_error = typed.call(&json!({ "a": "1" })).expect_err("a text");
        assert_eq!(type_error.to_string(), "the parameter `a` must be of the type `integer`");
    }

    /// What the schema forbids is refused, where it is made of a guess too: a script that reads no object would
    /// run without what it was given.
    #[test]
    fn what_the_schema_forbids_is_refused() {
        let untyped = tool("import sys\nprint(sys.argv[1:])\n");
        assert!(!untyped.input.is_typed());
        for tool in [&untyped, &tool(ARGPARSE)] {
            assert_eq!(tool.input.schema()["additionalProperties"], false);
            let error = tool.call(&json!({ "files": ["a"], "argument": ["a"] })).expect_err("forbidden");
            assert!(error.to_string().starts_with("there is no parameter `"), "{error}");
        }
        let error = untyped.call(&json!({ "argument": ["a"] })).expect_err("forbidden");
        assert_eq!(error.to_string(), "there is no parameter `argument`; did you mean `arguments`?");
        let error = untyped.call(&json!({ "x": 1 })).expect_err("forbidden");
        assert_eq!(error.to_string(), "there is no parameter `x`; did you mean `arguments`?");
    }

    /// Conflict C19: `--key value`.
    #[test]
    fn objects_are_options_where_the_script_reads_them() {
        let tool = tool(ARGPARSE);
        let all = json!({
            "files": ["a", "b"], "count": 2, "mode": "a", "tag": ["x", "y"], "q": true, "v": 2, "color": false, "x": false,
        });
        assert_eq!(
            words(&tool, &all).join(" "),
            "--count 2 --mode a --tag x --tag y -q -v -v --no-color --no-x a b"
        );
        let none = json!({ "files": ["a"], "q": false, "color": true, "x": true, "count": null, "many": [] });
        assert_eq!(words(&tool, &none), ["--x", "a"]);
        assert_eq!(words(&tool, &json!({ "files": ["-a"] })), ["--", "-a"], "no word becomes an option");
        assert_eq!(words(&tool, &json!({ "files": ["a"], "many": ["b"] })), ["--many", "b", "--", "a"]);
        assert_eq!(words(&tool, &json!({ "files": ["a"], "count": -1 })), ["--count=-1", "a"]);
        let wrong = tool.call(&json!({ "files": ["a"], "mode": "c" })).expect_err("no choice");
        assert_eq!(wrong.to_string(), "the parameter `mode` must be one of \"a\", \"b\"");
    }

    #[test]
    fn a_word_keeps_its_place() {
        let tool = tool(
            "import sys\na = sys.argv[1]\nb = sys.argv[2] if len(sys.argv) > 2 else 'x'\nc = sys.argv[3] if len(sys.argv) > 3 else f()\n",
        );
        assert_eq!(words(&tool, &json!({ "a": "1", "c": "3" })), ["1", "x", "3"]);
        assert_eq!(words(&tool, &json!({ "a": "1" })), ["1"]);
    }
}
