//! Tests of scripts that read their arguments with a library.

use serde_json::json;

use super::*;

/// Fire and typer expect the name of the function first if there are several, or a callback.
#[test]
fn programs_of_several_functions_are_not_told() {
    let fire = |call: &str| format!("import fire\ndef main(a): pass\ndef other(b): pass\n{call}\n");
    assert_eq!(schema(&fire("fire.Fire(main)")).0, TypedBy::Signature);
    assert_eq!(schema(&fire("fire.Fire(main, name='x')")).0, TypedBy::Signature);
    for call in ["fire.Fire()", "fire.Fire({'a': main})", "fire.Fire(other)", "fire.Fire(main, command='1')"]
    {
        assert_eq!(input(&fire(call)), Input::words(), "{call}");
    }
    let typer = |text: &str| format!("import typer\napp = typer.Typer()\n{text}");
    let one = "@app.command()\ndef main(a: str): pass\napp()\n";
    assert_eq!(schema(&typer(one)).0, TypedBy::Signature);
    for text in [
        &format!("@app.callback()\ndef root(b: bool = False): pass\n{one}"),
        "@app.callback()\ndef main(a: str): pass\napp()\n",
        "def main(a: str): pass\n@app.command()\ndef run(b: str): pass\napp()\n",
    ] {
        assert_eq!(input(&typer(text)), Input::words(), "{text}");
    }
}

#[test]
fn typer() {
    let text = "import typer\ndef main(name: str, count: int = 1, loud: bool = False, tag: list[str] = [],\n    \
                out: str = typer.Option(..., '--out', '-o', help='Where.'), who: str = typer.Argument('me')):\n    'Says.'\ntyper.run(main)\n";
    assert_eq!(
        places(text),
        [
            ParameterPosition::Positional,
            ParameterPosition::Option("--count".into()),
            ParameterPosition::Either("--loud".into(), "--no-loud".into()),
            ParameterPosition::Repeated("--tag".into()),
            ParameterPosition::Option("--out".into()),
            ParameterPosition::Positional,
        ]
    );
    assert_eq!(schema(text).1["required"], json!(["name", "out"]));
    assert_eq!(schema(text).1["properties"]["out"]["description"], "Where.");
    assert_eq!(schema(text).1["properties"]["who"]["default"], "me");
}

/// A call after the type in `Annotated` means the same as a default.
#[test]
fn typer_with_annotated() {
    let text = "import typer\nfrom typing_extensions import Annotated\ndef main(\n    \
                target: Annotated[str, typer.Option('--to', '-t', help='Where to.')],\n    \
                source: Annotated[str, typer.Argument(help='What.')] = 'in.txt',\n    \
                tags: Annotated[list[str], typer.Option(default_factory=list)],\n    \
                count: Annotated[int, 'just a note'] = 1,\n): pass\ntyper.run(main)\n";
    assert_eq!(
        places(text),
        [
            ParameterPosition::Option("--to".into()),
            ParameterPosition::Positional,
            ParameterPosition::Repeated("--tags".into()),
            ParameterPosition::Option("--count".into())
        ]
    );
    let schema = schema(text).1;
    assert_eq!(schema["required"], json!(["target"]));
    assert_eq!(schema["properties"]["target"]["description"], "Where to.");
    assert_eq!(
        schema["properties"]["source"],
        json!({ "type": "string", "description": "What.", "default": "in.txt" })
    );
}

/// If the script names a flag, there is no second flag that turns it off.
#[test]
fn booleans_of_typer() {
    let text = "import typer\ndef main(force: bool = typer.Option(False, '--force', '-f'),\n    \
                quiet: Annotated[bool, typer.Option('--quiet')] = True,\n    \
                wait: bool = typer.Option(True, '--wait/--go', '-w/-g'),\n    \
                safe: bool = typer.Option(True, ' /--unsafe'), plain: bool = typer.Option(False, help='x'),\n\
                ): pass\ntyper.run(main)\n";
    assert_eq!(
        places(text),
        [
            ParameterPosition::Switch("--force".into()),
            ParameterPosition::Switch("--quiet".into()),
            ParameterPosition::Either("--wait".into(), "--go".into()),
            ParameterPosition::Unless("--unsafe".into()),
            ParameterPosition::Either("--plain".into(), "--no-plain".into()),
        ]
    );
    assert_eq!(schema(text).1["properties"]["quiet"]["enum"], json!([true]));
}

/// S1-Q2: calls of `add_argument` are read, whatever object they are called on.
#[test]
fn argparse_calls() {
    let text = r#"
import argparse
MODES = ("a", "b")

def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path, help="The file, 100%% of it")
    parser.add_argument("rest", nargs="*")
    group = parser.add_argument_group("more")
    group.add_argument("-n", "--max-count", type=int, default=3, help="How many (default: %(default)s)")
    group.add_argument("--mode", choices=MODES, required=True)
    parser.add_argument("--rate", type=float, default="1.5")
    parser.add_argument("-v", action="count", default=0)
    parser.add_argument("--dry-run", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--keep", dest="clean", action="store_false")
    parser.add_argument("--tag", action="append", default=[])
    parser.add_argument("--color", action=argparse.BooleanOptionalAction)
    parser.add_argument("--version", action="version", version="1")
    parser.add_argument("--size", nargs=2, type=int)
    parser.add_argument("--levels", type=int, choices=range(3))
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

#[test]
fn click() {
    let text = r"
import click

@click.command()
@click.argument('src', type=click.Path(exists=True))
@click.argument('rest', nargs=-1)
@click.option('-c', '--count', default=1, help='How many.')
@click.option('--mode', type=click.Choice(['a', 'b']), required=True)
@click.option('--shout/--no-shout', default=False)
@click.option('--dry-run', is_flag=True)
@click.option('--tag', 'tags', multiple=True)
@click.version_option('1')
def run(src, rest, count, mode, shout, dry_run, tags):
    '''Runs it.'''
";
    let (typed_by, schema) = schema(text);
    assert_eq!(typed_by, TypedBy::Click);
    assert_eq!(
        schema["properties"],
        json!({
            "src": { "type": "string" },
            "rest": { "type": "array", "items": { "type": "string" } },
            "count": { "type": "integer", "default": 1, "description": "How many." },
            "mode": { "type": "string", "enum": ["a", "b"] },
            "shout": { "type": "boolean", "default": false },
            "dry_run": { "type": "boolean" },
            "tags": { "type": "array", "items": { "type": "string" } },
        })
    );
    assert_eq!(schema["required"], json!(["src", "mode"]));
    assert_eq!(facts(text, "x.py").description.as_deref(), Some("Runs it."));
    let several = "import click\n@click.group()\ndef cli(): pass\n@cli.command()\n@click.option('--a')\ndef one(a):\n    'One.'\n";
    let found = facts(several, "x.py");
    assert_eq!((found.description, found.input), (None, Some(Input::words())));
}

/// Click: a flag with a value of its own takes none, an empty name turns nothing off, and prompts are never answered.
#[test]
fn switches_and_questions_of_click() {
    let text = r"
import click

@click.command()
@click.option('--upper', 'how', flag_value='upper', default=True)
@click.option('--lower', 'how', flag_value='lower')
@click.option('--level', is_flag=False, flag_value='1')
@click.option('--wait/', default=False)
@click.option('--name', prompt=True)
@click.option('--city', prompt='Where?', default='Bern')
def run(how, level, wait, name, city): pass
";
    assert_eq!(
        places(text),
        [
            ParameterPosition::Switch("--upper".into()),
            ParameterPosition::Switch("--lower".into()),
            ParameterPosition::Option("--level".into()),
            ParameterPosition::Switch("--wait".into()),
            ParameterPosition::Option("--name".into()),
            ParameterPosition::Option("--city".into()),
        ]
    );
    let schema = schema(text).1;
    assert_eq!(schema["required"], json!(["name"]));
    assert_eq!(schema["properties"]["lower"], json!({ "type": "boolean" }));
    assert_eq!(schema["properties"]["wait"], json!({ "type": "boolean", "default": false }));
}
