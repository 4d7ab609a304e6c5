//! Turns the input from a model into the arguments and the standard input of a script (conflict C19).

mod error;
mod words;

use serde_json::{Map, Value};

pub use self::error::CallError;
use self::words::{flat, is_option, option, word};
use super::Tool;
use super::input::{Kind, Parameter, ParameterPosition};

/// The arguments and input that a script is started with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Call {
    /// The arguments after the script's path. No shell interprets them.
    pub words: Vec<String>,
    /// The text for its standard input.
    pub input: Option<String>,
}

impl Tool {
    /// Returns the arguments and standard input for `input`.
    ///
    /// A string is one argument, and a list of strings is as many (S1-AC-3). An object is checked against the
    /// parameters, even if nothing is known except that the script takes arguments. It becomes options and arguments
    /// if the script parses those, otherwise JSON on the standard input.
    ///
    /// # Errors
    ///
    /// Fails with [`CallError`] if `input` does not fit the parameters.
    pub fn call(&self, input: &Value) -> Result<Call, CallError> {
        let call = match input {
            Value::Null => self.keyed(Map::new())?,
            Value::String(text) => Call { words: vec![text.clone()], input: None },
            Value::Array(items) => {
                let words = items.iter().map(|item| word(item).ok_or(CallError::Shape));
                Call { words: words.collect::<Result<_, _>>()?, input: None }
            }
            Value::Object(object) => self.keyed(object.clone())?,
            Value::Bool(_) | Value::Number(_) => return Err(CallError::Shape),
        };
        if call.words.iter().any(|word| word.contains('\0')) {
            return Err(CallError::Nul);
        }
        Ok(call)
    }

    /// Works like [`Self::object`] for an object with the keys of the schema, which may differ from the names that the
    /// script uses. These names are accepted, too, because a caller that has only read the script knows no others.
    fn keyed(&self, given: Map<String, Value>) -> Result<Call, CallError> {
        let keyed: Vec<_> = self.input.keyed().filter(|(key, one)| **key != one.name).collect();
        if keyed.is_empty() {
            return self.object(given);
        }
        // If there are two values for one parameter, neither is right: the key stays and is reported.
        let name = |key: &String| {
            let found = keyed.iter().find(|(other, _)| **other == *key);
            found.map(|(_, one)| &one.name).filter(|name| !given.contains_key(*name)).unwrap_or(key).clone()
        };
        let named = given.iter().map(|(key, value)| (name(key), value.clone())).collect();
        let key = |name: String| match keyed.iter().find(|(_, one)| one.name == name) {
            Some((key, _)) => key.to_string(),
            None => name,
        };
        self.object(named).map_err(|error| error.under(key))
    }

    fn object(&self, object: Map<String, Value>) -> Result<Call, CallError> {
        let parameters = &self.input.parameters;
        for (key, value) in &object {
            let Some(parameter) = parameters.iter().find(|one| one.name == *key) else {
                if self.input.open {
                    continue;
                }
                let closest = match &parameters[..] {
                    [only] => Some(only.name.as_str()),
                    several => crate::text::closest(key, several.iter().map(|one| one.name.as_str())),
                };
                return Err(CallError::Unknown {
                    given: key.clone(),
                    closest: closest.map(str::to_owned),
                    known: parameters.iter().map(|one| one.name.clone()).collect(),
                });
            };
            check(parameter, value)?;
        }
        if let Some(missing) = parameters.iter().find(|one| one.required && !object.contains_key(&one.name)) {
            return Err(CallError::Missing(missing.name.clone()));
        }
        if self.input.is_json() {
            return Ok(Call { words: Vec::new(), input: Some(Value::from(object).to_string()) });
        }
        let (mut options, mut words) = (Vec::new(), Vec::new());
        let mut greedy = false;
        for parameter in parameters {
            let given = object.get(&parameter.name).filter(|value| !value.is_null());
            if parameter.place == ParameterPosition::Positional {
                // If an argument is left out, the next one would take its position.
                let later = parameters.iter().skip_while(|one| one.name != parameter.name).skip(1);
                let needed = later
                    .filter(|one| one.place == ParameterPosition::Positional)
                    .any(|one| object.contains_key(&one.name));
                let value = given.or(parameter.default.as_ref().filter(|_| needed));
                match value {
                    Some(value) => {
                        let values = flat(value);
                        let refused = given.is_some() && !self.input.knows_end && self.input.is_typed();
                        if refused && values.iter().any(|one| is_option(one)) {
                            return Err(CallError::Option(parameter.name.clone()));
                        }
                        words.extend(values);
                    }
                    None if needed => return Err(CallError::Missing(parameter.name.clone())),
                    None => {}
                }
            } else if let Some(value) = given {
                greedy |= matches!(parameter.place, ParameterPosition::Option(_))
                    && value.as_array().is_some_and(|values| !values.is_empty());
                option(parameter, value, self.input.knows_end, &mut options)
                    .ok_or_else(|| CallError::Option(parameter.name.clone()))?;
            }
        }
        // After `--`, no argument is taken for an option or for another value of the previous option.
        let looks_like_one = self.input.knows_end && words.iter().any(|word| word.starts_with('-'));
        if !words.is_empty() && (greedy || looks_like_one) {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::input::{Input, TypedBy};
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

    /// A tool whose manifest names its parameters.
    fn by_manifest(parameters: Vec<Parameter>) -> Tool {
        let input = Input { parameters, open: false, typed_by: TypedBy::Manifest, knows_end: false };
        Tool { input, ..tool("") }
    }

    const ARGPARSE: &str = "import argparse\np = argparse.ArgumentParser()\np.add_argument('files', nargs='+')\n\
        p.add_argument('-n', '--count', type=int)\np.add_argument('--mode', choices=['a', 'b'])\n\
        p.add_argument('--tag', action='append')\np.add_argument('--many', nargs='*')\n\
        p.add_argument('-q', action='store_true')\np.add_argument('-v', action='count')\n\
        p.add_argument('--no-color', dest='color', action='store_false')\np.add_argument('--x', action=argparse.BooleanOptionalAction)\n";

    /// S1-AC-3's input, conflict C19: a string is one argument, a list is several, and no shell interprets them.
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
        let mut b = Parameter::new("b", Kind::String, ParameterPosition::Key).optional();
        b.default = Some("x".into());
        let typed = by_manifest(vec![Parameter::new("a", Kind::Integer, ParameterPosition::Key), b]);
        assert_eq!(typed.call(&json!({ "a": 1 })).expect("fits").input.as_deref(), Some("{\"a\":1}"));
        assert_eq!(typed.call(&json!({ "b": "x" })), Err(CallError::Missing("a".into())));
        let slip = typed.call(&json!({ "a": 1, "bb": 2 })).expect_err("unknown");
        assert_eq!(slip.to_string(), "there is no parameter `bb`; did you mean `b`?");
        let type_error = typed.call(&json!({ "a": "1" })).expect_err("a text");
        assert_eq!(type_error.to_string(), "the parameter `a` must be of the type `integer`");
    }

    /// Input that the schema forbids is refused, even if the schema is a guess: a script that reads no object would run
    /// without its input.
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

    /// Conflict C19: no value from a model becomes an option of the script, even in a list.
    #[test]
    fn no_value_becomes_an_option() {
        let argparse = tool(
            "import argparse\np = argparse.ArgumentParser()\np.add_argument('--files', nargs='+')\n\
             p.add_argument('--delete', action='store_true')\np.add_argument('--size', nargs=2, type=int)\n",
        );
        let usage = tool("# Usage: x.py [--delete] [-n COUNT] [--to FILE] <dir>\n");
        let untyped = tool("import sys\nprint(sys.argv[1])\n");
        let manifest = by_manifest(vec![Parameter::new(
            "files",
            Kind::strings(),
            ParameterPosition::Option("--files".into()),
        )]);
        for (tool, input, expected) in [
            (&argparse, json!({ "files": ["--delete"] }), Some("--files=--delete")),
            (&argparse, json!({ "files": ["a", "--delete"] }), None),
            (&argparse, json!({ "files": ["--delete", "a"] }), None),
            (&argparse, json!({ "files": ["a", "-"], "size": [-1, 2] }), Some("--files a - --size -1 2")),
            (&usage, json!({ "dir": "--delete" }), None),
            (&usage, json!({ "dir": "a", "n": "--delete" }), None),
            (&usage, json!({ "dir": "-1.5", "n": "-1", "to": "-x" }), Some("-n -1 --to=-x -1.5")),
            (&usage, json!({ "dir": "-1." }), None),
            (&manifest, json!({ "files": ["a", "--delete"] }), None),
            (&untyped, json!({ "arguments": ["- milk", "--delete"] }), Some("- milk --delete")),
        ] {
            match expected {
                Some(expected) => assert_eq!(words(tool, &input).join(" "), expected, "{input}"),
                None => assert!(matches!(tool.call(&input), Err(CallError::Option(_))), "{input}"),
            }
        }
        let error = usage.call(&json!({ "dir": "-r" })).expect_err("an option");
        assert_eq!(
            error.to_string(),
            "the parameter `dir` cannot have a value that begins with `-`; the script could read it as an option"
        );
    }

    /// A value that begins with `-` is joined to its option, even to a short option or one that is repeated for each
    /// value.
    #[test]
    fn values_that_look_like_options_are_joined_to_theirs() {
        let tool = tool(
            "import argparse\np = argparse.ArgumentParser()\np.add_argument('--tag', action='append')\n\
             p.add_argument('-m')\np.add_argument('-mode')\n",
        );
        let input = json!({ "tag": ["-x", "y"], "m": "-x", "mode": "--y" });
        assert_eq!(words(&tool, &input).join(" "), "--tag=-x --tag y -m-x -mode=--y");
        assert_eq!(words(&tool, &json!({ "m": "-1" })), ["-m", "-1"]);
    }

    /// A key that model APIs do not accept is replaced in the schema, and still means the same parameter.
    #[test]
    fn keys_of_the_schema_are_the_names_of_the_script() {
        let words_of = tool(
            "import argparse\np = argparse.ArgumentParser()\np.add_argument('ein gabe')\n\
             p.add_argument('--größe', type=int)\np.add_argument('--plain')\n",
        );
        let schema = words_of.input.schema();
        let properties = schema["properties"].as_object().expect("properties");
        let key = |title: &str| {
            let found = properties.iter().find(|(_, one)| one["title"] == title);
            found.expect(title).0.clone()
        };
        let (file, size) = (key("ein gabe"), key("größe"));
        assert!(file.starts_with("ein_gabe_") && size.starts_with("gr__e_"), "{schema}");
        assert_eq!(schema["required"], json!([file]));
        assert_eq!(properties["plain"], json!({ "type": "string" }));
        let input = json!({ &*file: "a b", &*size: 3, "plain": "x" });
        assert_eq!(words(&words_of, &input), ["--größe", "3", "--plain", "x", "a b"]);
        assert_eq!(words(&words_of, &json!({ "ein gabe": "a" })), ["a"]);
        assert_eq!(words_of.call(&json!({})), Err(CallError::Missing(file.clone())));
        let twice = words_of.call(&json!({ &*file: "a", "ein gabe": "b" })).expect_err("two values");
        assert!(matches!(twice, CallError::Unknown { given, .. } if given == file));
        let object = by_manifest(vec![Parameter::new("größe", Kind::Integer, ParameterPosition::Key)]);
        let call = object.call(&json!({ &*size: 3 })).expect("fits");
        assert_eq!(call.input.as_deref(), Some("{\"größe\":3}"));
    }

    #[test]
    fn a_word_keeps_its_place() {
        let word = |name: &str| Parameter::new(name, Kind::String, ParameterPosition::Positional);
        let mut b = word("b").optional();
        b.default = Some("x".into());
        let tool = by_manifest(vec![word("a"), b, word("c").optional()]);
        assert_eq!(words(&tool, &json!({ "a": "1", "c": "3" })), ["1", "x", "3"]);
        assert_eq!(words(&tool, &json!({ "a": "1" })), ["1"]);
    }
}
