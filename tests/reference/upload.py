#!/usr/bin/env python3
"""Says of skills whether claude.ai takes them, as scripts for skills do; the test `upload` compares `claude-ai` with it.

    upload.py [SCRIPT] < FILES

FILES are paths of `SKILL.md`, one per line. For each a line of JSON is written: the first reason to refuse it, by the
rules of Anthropic's `quick_validate.py`, or null; and what the `quick_validate.py` SCRIPT of some repository says.
"""

import importlib.util
import json
import pathlib
import re
import sys

import yaml

FIELDS = {"name", "description", "license", "allowed-tools", "metadata", "compatibility"}


def reason(file):
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return "encoding"
    found = re.match(r"---\n(.*?)\n---", text, re.DOTALL)
    if file.name != "SKILL.md" or not found:
        return "no frontmatter"
    try:
        fields = yaml.safe_load(found[1])
    except yaml.YAMLError:
        return "YAML"
    if not isinstance(fields, dict):
        return "no mapping"
    if set(fields) - FIELDS:
        return "unknown field"
    for field in ["name", "description", "compatibility"]:
        if field not in fields and field != "compatibility":
            return f"no {field}"
        if not isinstance(fields.get(field, ""), str):
            return f"{field} is no text"
    name, description = fields["name"].strip(), fields["description"].strip()
    if name and (len(name) > 64 or not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)):
        return "name"
    if len(description) > 1024 or "<" in description or ">" in description:
        return "description"
    if not 1 <= len(fields.get("compatibility", "x")) <= 500:
        return "compatibility"
    return None


def variant(script):
    spec = importlib.util.spec_from_file_location("quick_validate", script)
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    spec.loader.exec_module(module)
    return lambda file: module.validate_skill(file.parent)[1]


other = variant(sys.argv[1]) if len(sys.argv) > 1 else lambda file: []
for line in sys.stdin:
    file = pathlib.Path(line.rstrip("\n"))
    print(json.dumps([reason(file), other(file)]))
