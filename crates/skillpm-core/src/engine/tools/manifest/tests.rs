use proptest::prelude::*;
use serde_json::json;

use super::*;

fn faults(text: &str) -> Vec<String> {
    let faults = located(text, read(text).1);
    assert!(!faults.is_empty(), "{text}");
    faults.iter().map(ToString::to_string).collect()
}

/// S1-D3, S1-FR-202.3, conflict C19.
#[test]
fn a_manifest_says_all_of_a_tool() {
    let text = "\
tools:
  - name: add
    script: scripts/calc.py
    description: Adds two numbers.
    timeout: 2.5
    parameters:
      - {name: a, type: number, description: The first.}
      - {name: b, type: float, default: 1.5}
      - {name: mode, enum: [exact, fast], default: exact}
      - {name: quiet, type: bool, required: false, option: -q}
      - {name: tags, type: array, items: string, default: [a, 1]}
  - script: ./json.py
    arguments: json
    parameters:
      - {name: any, default: {a: [1, 'x', ~]}}
  - {name: plain, script: plain.sh, arguments: positional}
  - {name: bare, script: bare.sh}
";
    let (entries, faults) = read(text);
    assert_eq!(faults, []);
    let names: Vec<_> = entries.iter().map(|entry| (entry.name.as_deref(), &*entry.script)).collect();
    assert_eq!(
        names,
        [(Some("add"), "calc.py"), (None, "json.py"), (Some("plain"), "plain.sh"), (Some("bare"), "bare.sh")]
    );
    assert_eq!(entries[0].timeout, Some(Duration::from_millis(2500)));
    assert_eq!(entries[0].description.as_deref(), Some("Adds two numbers."));
    let input = entries[0].input.as_ref().expect("an input");
    assert_eq!(
        input.schema(),
        json!({
            "type": "object",
            "properties": {
                "a": { "type": "number", "description": "The first." },
                "b": { "type": "number", "default": 1.5 },
                "mode": { "type": "string", "enum": ["exact", "fast"], "default": "exact" },
                "quiet": { "type": "boolean" },
                "tags": { "type": "array", "items": { "type": "string" }, "default": ["a", "1"] },
            },
            "required": ["a"],
            "additionalProperties": false,
        })
    );
    let places: Vec<_> = input.parameters.iter().map(|one| one.place.clone()).collect();
    assert_eq!(
        places[2..4],
        [ParameterPosition::Option("--mode".into()), ParameterPosition::Switch("-q".into())],
        "`--key value`"
    );
    let json = entries[1].input.as_ref().expect("an input");
    assert_eq!(json.parameters[0].place, ParameterPosition::Key);
    assert_eq!(json.parameters[0].default, Some(json!({ "a": [1, "x", null] })));
    assert_eq!(entries[2].input, Some(Input::words()));
    assert_eq!(entries[3].input, None, "the script is asked");
}

#[test]
fn nothing_is_no_fault() {
    for text in ["", "# soon\n", "tools:\n", "tools: []\n"] {
        assert_eq!(read(text), (vec![], vec![]), "{text:?}");
    }
}

/// S1-FR-202.3: each fault has a position.
#[test]
fn faults_have_their_places() {
    let text = "\
tool: 1
tools:
  - name: a
    script: a.py
    timeout: soon
  - name: a
    script: b.py
    arguments: stdin
    parameters:
      - {name: x, type: strng}
      - {name: x, type: integer, default: 1.5, required: maybe}
      - {type: string}
      - x
      - {name: e, type: integer, enum: [1, b], option: e}
  - {name: c}
  - name: [c]
    script: c.py
    parameters: all
  - {name: '', script: d.py}
";
    assert_eq!(
        faults(text),
        [
            "a manifest has no key `tool`; did you mean `tools`? (line 1, column 1)",
            "`timeout` must be a number of seconds up to 86400, but it is `soon` (line 5, column 14)",
            "the tool `a` appears twice (line 6, column 11)",
            "`arguments` must be `options`, `json` or `positional`, but it is `stdin` (line 8, column 16)",
            "there is no type `strng`; use `string` (line 10, column 25)",
            "the parameter `x` appears twice (line 11, column 16)",
            "`1.5` is not of type integer (line 11, column 43)",
            "`required` must be `true` or `false`, but it is `maybe` (line 11, column 58)",
            "the parameter has no `name` (line 12, column 9)",
            "a parameter must be lines of `key: value`, but it is text (line 13, column 9)",
            "`b` is not of type integer (line 14, column 44)",
            "`option` is for `arguments: options`, and starts with `-` (line 14, column 56)",
            "the tool has no `script` (line 15, column 5)",
            "`name` must be text, but it is a list (line 16, column 11)",
            "`parameters` must be a list, but it is text (line 18, column 17)",
            "`name` must be text, but it is empty (line 19, column 12)",
        ]
    );
}

#[test]
fn what_is_no_manifest() {
    for (text, fault) in [
        ("- a\n", "a manifest must be lines of `key: value`, but it is a list (line 1, column 1)"),
        ("tools: {}\n", "`tools` must be a list, but it is a mapping (line 1, column 8)"),
        (
            "tools: &a [*a]\n",
            "the file has a YAML anchor; write the value where it is needed (line 1, column 11)",
        ),
        ("tools: []\ntools: []\n", "the key `tools` appears twice (line 2, column 1)"),
        ("tools: []\n---\ntools: []\n", "a second YAML document is not read (line 2, column 1)"),
    ] {
        assert_eq!(faults(text)[0], fault, "{text:?}");
    }
    assert!(faults("tools: [\n")[0].starts_with("this is not YAML: "));
    assert!(faults(&"[".repeat(60_000))[0].contains("nested more than 16 levels"));
    assert!(faults(&" ".repeat(70_000))[0].contains("70000 bytes"));
    assert!(faults(&format!("tools: [{}]\n", "{a: b},".repeat(9_000)))[0].contains("values"));
}

#[test]
fn a_choice_of_nothing_is_wrong() {
    let list =
        |choices: &str| format!("tools:\n  - script: a.py\n    parameters: [{{name: a, enum: {choices}}}]\n");
    assert_eq!(faults(&list("[]")), ["`enum` has no values, so none could be passed (line 3, column 34)"]);
    assert_eq!(faults(&list("x")), ["`enum` must be a list, but it is text (line 3, column 34)"]);
    assert_eq!(read(&list("[x]")).1, []);
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(
        text in "(tools:|\n|  |- |name: |script: |x|parameters:|type: |integer|default: |enum: |\\[|\\]|\\{|\\}|&a|\\*a|\"|'|:|#|,|1|~){0,40}",
    ) {
        if let Err(faults) = super::super::check_manifest(&text) {
            prop_assert!(!faults.is_empty());
            prop_assert!(faults.iter().all(|fault| fault.at.line > 0 && !fault.message.is_empty()));
        }
    }
}
