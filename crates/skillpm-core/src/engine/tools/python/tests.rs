mod libraries;

use proptest::prelude::*;
use serde_json::json;

use super::*;

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

/// S1-Q2: types come from the signature of `main`, with defaults and docstrings.
#[test]
fn a_signature_with_types() {
    let text = r#"
import json, sys
from typing import Optional, Literal
LIMIT = 5

def main(
    path: Path,
    count: int = LIMIT,
    ratio: "float" = -0.5,
    fast: bool = False,
    tags: list[str] | None = None,
    mode: Literal["a", 'b'] = "a",
    extra: Optional[dict] = None,
    either: int | float = 1,
    free=None,
    *,
    names: tuple[str, ...] = (),
    pair: tuple[int, str] = (1, "x"),
    odd: SomeType = compute(),
) -> int:
    """Does it.

    Args:
        path: Where it lies.
        count (int): How many.
    :param fast: Whether to hurry.

    ratio : float
        How much.
    """

main(**json.load(sys.stdin))
"#;
    let (typed_by, schema) = schema(text);
    assert_eq!(typed_by, TypedBy::Signature);
    assert_eq!(
        schema,
        json!({
            "type": "object",
            "properties": {
                "path": { "type": "string", "description": "Where it lies." },
                "count": { "type": "integer", "default": 5, "description": "How many." },
                "ratio": { "type": "number", "default": -0.5, "description": "How much." },
                "fast": { "type": "boolean", "default": false, "description": "Whether to hurry." },
                "tags": { "type": "array", "items": { "type": "string" } },
                "mode": { "type": "string", "enum": ["a", "b"], "default": "a" },
                "extra": { "type": "object" },
                "either": { "type": "number", "default": 1 },
                "free": {},
                "names": { "type": "array", "items": { "type": "string" }, "default": [] },
                "pair": { "type": "array", "default": [1, "x"] },
                "odd": {},
            },
            "required": ["path"],
            "additionalProperties": false,
        })
    );
    assert!(input(text).is_json());
}

#[test]
fn how_main_is_called_decides_where_values_go() {
    let words = "import sys\ndef main(a: int, b='x', *rest): pass\nmain(*sys.argv[1:])\n";
    assert_eq!(
        places(words),
        [ParameterPosition::Positional, ParameterPosition::Positional, ParameterPosition::Positional]
    );
    assert_eq!(
        schema(words).1["properties"]["rest"],
        json!({ "type": "array", "items": { "type": "string" } })
    );
    let fire = "import fire\ndef main(a: int, b=True): pass\nfire.Fire(main)\n";
    assert_eq!(
        places(fire),
        [ParameterPosition::Literal("--a".into()), ParameterPosition::Literal("--b".into())]
    );
    assert_eq!(schema("import fire\ndef main(a): pass\nfire.Fire(main)\n").1["properties"]["a"], json!({}));
    assert_eq!(input("import fire\ndef main(a, *b): pass\nfire.Fire(main)\n"), Input::words());
    let open = "def main(a: int, **more): pass\n";
    assert_eq!(schema(open).1["additionalProperties"], true);
    for text in
        ["def main(argv: list[str] | None = None): pass\n", "def main(): pass\n", "def main(a, b c): pass\n"]
    {
        assert_eq!(input(text), Input::words(), "{text}");
    }
    let twice = "if x:\n    pass\ndef main(a): pass\ndef main(b): pass\n";
    assert_eq!(schema(twice).0, TypedBy::Nothing);
}

/// Arguments belong to parameters only if the call of `main` says so: in another order, a model would swap source and
/// target of a copy.
#[test]
fn words_have_names_where_main_gets_them_in_order() {
    let copy = |call: &str| format!("import sys\ndef main(src: str, dst: str, n: int = 1): pass\n{call}\n");
    for (call, names, required) in [
        ("main(*sys.argv[1:])", &["src", "dst", "n"][..], &["src", "dst"][..]),
        ("main(*sys.argv[1:],)", &["src", "dst", "n"], &["src", "dst"]),
        ("sys.exit(main(sys.argv[1], sys.argv[2]))", &["src", "dst"], &["src", "dst"]),
        (
            "if len(sys.argv) < 4:\n    sys.exit(sys.argv[0])\nmain(Path(sys.argv[1]), str(sys.argv[2]), int(sys.argv[3]),)",
            &["src", "dst", "n"],
            &["src", "dst", "n"],
        ),
    ] {
        let (typed_by, schema) = schema(&copy(call));
        let found: Vec<_> = input(&copy(call)).parameters.into_iter().map(|one| one.name).collect();
        assert_eq!(
            (typed_by, found),
            (TypedBy::Signature, names.iter().map(ToString::to_string).collect()),
            "{call}"
        );
        assert_eq!(schema["required"], json!(required), "{call}");
    }
    for call in [
        "main(src=sys.argv[2], dst=sys.argv[1])",
        "main(dst=sys.argv[1])",
        "main(sys.argv[2], sys.argv[1])",
        "main(sys.argv[1], sys.argv[3])",
        "main(sys.argv[1])",
        "main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4])",
        "main(sys.argv[1], 'x')",
        "main(sys.argv[1], *sys.argv[2:])",
        "main(*sys.argv[2:])",
        "main(json.load(open(sys.argv[1])))",
        "main(open(sys.argv[1]), sys.argv[2])",
        "main(sys.argv[1], sys.argv[2], fast='--fast' in sys.argv)",
        "fast = '--fast' in sys.argv\nmain(sys.argv[1], sys.argv[2])",
        "main(sys.argv[1], sys.argv[2])\nmain(sys.argv[1], sys.argv[2])",
        "import getopt\noptions, words = getopt.getopt(sys.argv[1:], 'n:')\nmain(*words)",
        "words = sys.argv[1:]\nmain(*words)",
        "other.main(*sys.argv[1:])",
        "print(sys.argv)",
    ] {
        assert_eq!(input(&copy(call)), Input::words(), "{call}");
    }
    let by_name = "import sys\ndef main(a, *, fast=False): pass\nmain(*sys.argv[1:])\n";
    assert_eq!(places(by_name).len(), 1, "no word comes to what is given by name only");
    for parameters in ["a, *, b", "a: list[str]", "a: dict", "a: bool"] {
        let text = format!("import sys\ndef main({parameters}): pass\nmain(*sys.argv[1:])\n");
        assert_eq!(input(&text), Input::words(), "{parameters}");
    }
    let turned = "import sys\ndef main(a, b): pass\nmain(int(sys.argv[1]), float(sys.argv[2]))\n";
    let kinds: Vec<_> = input(turned).parameters.into_iter().map(|one| one.kind).collect();
    assert_eq!(kinds, [Kind::Integer, Kind::Number]);
    let options =
        "import optparse\ndef main(a): pass\np = optparse.OptionParser()\nmain(p.parse_args()[0])\n";
    assert_eq!(input(options), Input::words());
}

/// The signature does not describe the keys of an object that is passed as one argument.
#[test]
fn keys_are_parameters_where_main_gets_their_values() {
    let copy = |call: &str| {
        format!(
            "import json, sys\ndef main(src: str, dst: str = 'x'): pass\nd = json.load(sys.stdin)\n{call}\n"
        )
    };
    for call in [
        "main(**d)",
        "sys.exit(main(**json.loads(text)))",
        "main(d['src'], d.get('dst', f('x')))",
        "main(dst=d['dst'], src=d['src'],)",
        "main(d['src'], **rest)",
        "main()",
        "other.main(d)",
        "",
    ] {
        assert_eq!(input(&copy(call)).typed_by, TypedBy::Signature, "{call}");
    }
    for call in [
        "main(d)",
        "main(json.load(sys.stdin))",
        "main(d['dst'], d['src'])",
        "main(src=d['dst'])",
        "main(d['src'], 'x')",
        "main(d['src'] + 'x')",
        "main(*d)",
        "main(d['src'], d['dst'], d['n'])",
        "main(**d)\nmain(d)",
    ] {
        assert_eq!(input(&copy(call)), Input::object(), "{call}");
    }
}

#[test]
fn names_of_words() {
    let text = "import sys\nif len(sys.argv) < 2:\n    print('no')\npath = Path(sys.argv[1])\n\
                count = int(sys.argv[2]) if len(sys.argv) > 2 else 3\n";
    let (typed_by, schema) = schema(text);
    assert_eq!(typed_by, TypedBy::Argv);
    assert_eq!(
        (&schema["properties"], &schema["required"]),
        (
            &json!({ "path": { "type": "string" }, "count": { "type": "integer", "default": 3 } }),
            &json!(["path"])
        )
    );
    for text in [
        "import sys\na = sys.argv[2]\n",
        "import sys\na = sys.argv[1]\nrest = sys.argv[2:]\n",
        "import sys\na = sys.argv[1]\nuse(sys.argv)\n",
        "import sys\nprint(sys.argv[1])\n",
    ] {
        assert_eq!(input(text), Input::words(), "{text}");
    }
    assert_eq!(input("import sys, json\nd = json.load(sys.stdin)\n"), Input::object());
    let usage = "import sys\nif len(sys.argv) != 3:\n    print(f\"Usage: {sys.argv[0]} <in> [<out>]\")\n";
    assert_eq!((schema_of(usage), input(usage).parameters.len()), (TypedBy::Usage, 2));
}

/// An argument that is used in a branch is optional, however deep the branch is indented.
#[test]
fn words_in_branches_are_optional() {
    let required = |text: &str| schema(text).1["required"].clone();
    let branch = "if len(sys.argv) > 2:\n{I}mode = sys.argv[2]\n";
    for indent in ["  ", "    ", "\t"] {
        let branch = branch.replace("{I}", indent);
        let text = format!("import sys\npath = sys.argv[1]\nmode = 'fast'\n{branch}print(path, mode)\n");
        assert_eq!(required(&text), json!(["path"]), "{text}");
        let body = format!("path = sys.argv[1]\n{branch}");
        for head in ["def run():", "async def run():", "if __name__ == '__main__':", "with x as y:"] {
            let body = format!("{indent}{}\n", body.trim_end().replace('\n', &format!("\n{indent}")));
            let text = format!("import sys\n{head}\n{body}");
            assert_eq!(required(&text), json!(["path"]), "{text}");
        }
    }
    let nested = "import sys\nif True:\n  def run():\n      a = sys.argv[1]\n  b = sys.argv[2]\n";
    assert_eq!(required(nested), json!(["a"]));
    let tried =
        "import sys\ntry:\n    a = sys.argv[1]\nexcept IndexError:\n    a = '.'\nmatch = sys.argv[2]\n";
    assert_eq!(required(tried), json!(null));
    for text in ["if x: b = sys.argv[2]\n", "if __name__ == '__main__': b = sys.argv[2]\n"] {
        let text = format!("import sys\na = sys.argv[1]\n{text}");
        assert_eq!(input(&text), Input::words(), "{text}");
    }
}

fn schema_of(text: &str) -> TypedBy {
    schema(text).0
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
        "@click.option(",
        "sys.argv[1]=",
        "Usage: x.py <",
        "a[",
        "{'a':",
        "-",
        "\\\n",
        "#\n",
        "import argparse\np.add_argument('a', choices=C)\n",
        "main: a|",
    ] {
        let text = format!("import argparse, click, sys, typer\n{}", piece.repeat((1 << 20) / piece.len()));
        drop(facts(&text, "x.py"));
    }
}

proptest! {
    #[test]
    fn any_text_is_looked_at(
        text in "(import argparse\n|import click\n|import typer\n|import sys\n|def main\\(|@click.command\\(\\)\n|@click.option\\(|p.add_argument\\(|argparse.ArgumentParser\\(|sys.argv\\[1\\]|a: |int|'--x'|'x'|\"\"\"|\n|    |=|,|\\)|\\]|\\*|f'\\{|nargs=|default=|choices=|Usage: x.py <a>|é){0,40}",
    ) {
        let facts = facts(&text, "x.py");
        if let Some(input) = facts.input {
            prop_assert!(input.schema().is_object());
        }
    }
}

/// A variable that holds an opened file does not name the argument.
#[test]
fn a_word_that_is_opened_is_a_path() {
    let names = |text: &str| {
        let text = format!("import sys\n{text}\n");
        input(&text).parameters.into_iter().map(|one| one.name).collect::<Vec<_>>()
    };
    assert_eq!(names("reader = PdfReader(sys.argv[1])"), ["path"]);
    assert_eq!(names("a = docx.Document(sys.argv[1])\nb = open(sys.argv[2])"), ["path", "path2"]);
    assert_eq!(names("data = json.load(open(sys.argv[1]))"), ["path"]);
    assert_eq!(names("src = Path(sys.argv[1])\ncount = int(sys.argv[2])"), ["src", "count"]);
}
