use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::engine::tools::input::{ParameterPosition, TypedBy};

fn input(text: &str) -> Input {
    facts(text, "x.py").input.expect("an input")
}

fn schema(text: &str) -> (TypedBy, Value) {
    let input = input(text);
    (input.typed_by, input.schema())
}

fn places(text: &str) -> Vec<ParameterPosition> {
    input(text).parameters.into_iter().map(|one| one.place).collect()
}

/// S1-AC-2, S1-D3, S1-FR-202.2.
#[test]
fn a_docstring_of_the_module_or_of_main_is_the_description() {
    let main = "import sys\n\ndef main(path):\n    \"\"\"Process a file and return results.\"\"\"\n    print(path)\n";
    let description = |text: &str| facts(text, "tool1.py").description;
    assert_eq!(description(main).as_deref(), Some("Process a file and return results."));
    for (text, expected) in [
        (
            "#!/usr/bin/env python3\n# A comment.\n'''\n  The first line.\n\nMore.\n'''\ndef main():\n    'Runs.'\n",
            Some("The first line."),
        ),
        ("async def main():\n    r'''Runs it.\n    More.'''\n", Some("Runs it.")),
        (
            "import argparse\np = argparse.ArgumentParser(\n    description='Reads '\n    'it.')\n",
            Some("Reads it."),
        ),
        ("# tool1.py - Reads it.\nimport os\n", Some("Reads it.")),
        ("f'''{x}'''\n", None),
        ("x = 1\n'''Not a docstring.'''\n", None),
        ("def main(): pass\n'''Neither.'''\n", None),
        ("class A:\n    def main(self):\n        '''Nor this.'''\n", None),
        ("", None),
    ] {
        assert_eq!(description(text).as_deref(), expected, "{text}");
    }
}

/// S1-Q2: calls of `add_argument` are read, on any object.
#[test]
fn argparse_calls() {
    let text = r#"
import argparse
LIMIT = 5

def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path, help="The file, 100%% of it")
    parser.add_argument("rest", nargs="*")
    group = parser.add_argument_group("more")
    group.add_argument("-n", "--max-count", type=int, default=3, help="How many (default: %(default)s)")
    group.add_argument("--mode", choices=("a", "b"), required=True)
    parser.add_argument("--rate", type=float, default="1.5")
    parser.add_argument("-v", action="count", default=0)
    parser.add_argument("--dry-run", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--keep", dest="clean", action="store_false")
    parser.add_argument("--tag", action="append", default=[])
    parser.add_argument("--color", action=argparse.BooleanOptionalAction)
    parser.add_argument("--version", action="version", version="1")
    parser.add_argument("--size", nargs=2, type=int)
    parser.add_argument("--levels", type=int, choices=range(3), default=LIMIT)
    return parser.parse_args()

def main(config):
    "Ignored: the words are read by the parser."
"#;
    let (typed_by, schema) = schema(text);
    assert_eq!(typed_by, TypedBy::Argparse);
    assert_eq!(
        schema,
        json!({
            "type": "object",
            "properties": {
                "path": { "type": "string", "description": "The file, 100% of it" },
                "rest": { "type": "array", "items": { "type": "string" } },
                "max_count": { "type": "integer", "default": 3, "description": "How many (default: 3)" },
                "mode": { "type": "string", "enum": ["a", "b"] },
                "rate": { "type": "number", "default": 1.5 },
                "v": { "type": "integer", "default": 0 },
                "dry_run": { "type": "boolean", "default": false },
                "clean": { "type": "boolean", "default": true },
                "tag": { "type": "array", "items": { "type": "string" }, "default": [] },
                "color": { "type": "boolean" },
                "size": { "type": "array", "items": { "type": "integer" } },
                "levels": { "type": "integer" },
            },
            "required": ["path", "mode"],
            "additionalProperties": false,
        })
    );
    assert_eq!(
        places(text)[2..9],
        [
            ParameterPosition::Option("--max-count".into()),
            ParameterPosition::Option("--mode".into()),
            ParameterPosition::Option("--rate".into()),
            ParameterPosition::Count("-v".into()),
            ParameterPosition::Switch("--dry-run".into()),
            ParameterPosition::Unless("--keep".into()),
            ParameterPosition::Repeated("--tag".into()),
        ]
    );
}

/// A literal default takes precedence over that of the action. A switch that is on by default cannot be turned off.
#[test]
fn defaults_of_switches() {
    let text = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--a', action='store_true', default=True)\n\
                p.add_argument('--b', action='store_true', default=None)\np.add_argument('--c', action='store_false', default=False)\n\
                p.add_argument('--d', action='store_false')\n";
    assert_eq!(
        schema(text).1["properties"],
        json!({
            "a": { "type": "boolean", "enum": [true], "default": true },
            "b": { "type": "boolean" },
            "c": { "type": "boolean", "enum": [false], "default": false },
            "d": { "type": "boolean", "default": true },
        })
    );
}

/// If anything is in doubt, the input is unknown: plain arguments always work.
#[test]
fn parsers_that_cannot_be_told() {
    let with =
        |line: &str| format!("import argparse\np = argparse.ArgumentParser()\np.add_argument('a')\n{line}\n");
    assert_eq!(schema(&with("")).0, TypedBy::Argparse);
    for line in [
        "s = p.add_subparsers()",
        "q = argparse.ArgumentParser()",
        "for n in names: p.add_argument('--' + n)",
        "for n in names: p.add_argument(n)",
        "p.add_argument('b', **more)",
        "p.add_argument('b', nargs=N)",
        "p.add_argument('b', action=Custom)",
        "p.add_argument(f'{x}')",
        "p.add_argument()",
    ] {
        assert_eq!(input(&with(line)), Input::words(), "{line}");
    }
    assert_eq!(input("import argparse\np = argparse.ArgumentParser(parents=[x])\n"), Input::words());
    let group = "g = p.add_mutually_exclusive_group(required=True)\ng.add_argument('--x')\n\
        g.add_argument('--y')\np.add_argument('--z', required=True)";
    assert_eq!(schema(&with(group)).1["required"], json!(["a", "z"]));
    assert_eq!(facts(&with("x = '''"), "x.py").input, None, "a string without end");
}

/// S1-AC-3: a script that uses its command line, and names no parameters, takes words.
#[test]
fn whether_the_command_line_is_read() {
    for text in [
        "import sys\nprint(f'Hello, {sys.argv[1]}!')\n",
        "from sys import argv\nprint(argv[1])\n",
        "import json, sys\nd = json.load(sys.stdin)\nprint(sys.argv[1:])\n",
        "import click\n@click.command()\n@click.argument('src')\ndef run(src): pass\n",
        "def main(a: int): pass\n",
    ] {
        assert_eq!(input(text), Input::words(), "{text}");
    }
    for text in [
        "import sys, json\nd = json.load(sys.stdin)\n",
        "import json, sys\ndef main(a: int): pass\nmain(**json.load(sys.stdin))\n",
    ] {
        assert_eq!(input(text), Input::object(), "{text}");
    }
    let usage = "import sys\nif len(sys.argv) != 3:\n    print(f\"Usage: {sys.argv[0]} <in> [<out>]\")\n";
    assert_eq!((schema(usage).0, input(usage).parameters.len()), (TypedBy::Usage, 2));
}

/// A mebibyte of any text is read in linear time.
#[test]
fn large_hostile_texts_end() {
    for piece in [
        "(",
        "f'{",
        "'''",
        "f'''{",
        "'''a'''\nf'''",
        "x.add_argument(",
        "def main(",
        "Usage: x.py <",
        "a[",
        "{'a':",
        "-",
        "\\\n",
        "#\n",
        "import argparse\np.add_argument('a', choices=C)\n",
    ] {
        let text = format!("import argparse, sys\n{}", piece.repeat((1 << 20) / piece.len()));
        drop(facts(&text, "x.py"));
    }
}

proptest! {
    #[test]
    fn any_text_is_looked_at(
        text in "(import argparse\n|import sys\n|def main\\(|p.add_argument\\(|argparse.ArgumentParser\\(|sys.argv\\[1\\]|a: |int|'--x'|'x'|\"\"\"|\n|    |=|,|\\)|\\]|\\*|f'\\{|nargs=|default=|choices=|Usage: x.py <a>|é){0,40}",
    ) {
        let facts = facts(&text, "x.py");
        if let Some(input) = facts.input {
            prop_assert!(input.schema().is_object());
        }
    }
}
