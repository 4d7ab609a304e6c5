"""Validate values against the schemas of a directory, and print each disagreement."""

import json
import sys
from pathlib import Path

from jsonschema import Draft202012Validator

directory, cases = sys.argv[1:]
validators = {}
for file in Path(directory).glob("*.schema.json"):
    schema = json.loads(file.read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    validators[file.name.removesuffix(".schema.json")] = Draft202012Validator(schema)
for case in json.loads(Path(cases).read_text(encoding="utf-8")):
    faults = [f"{error.json_path}: {error.message}" for error in validators[case["schema"]].iter_errors(case["value"])]
    if case["right"] != (not faults):
        print(case["schema"], json.dumps(case["value"])[:200], faults)
