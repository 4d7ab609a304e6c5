"""Make `skillpm/outcomes.py` from the files of `schema/`."""

from __future__ import annotations

import json
import textwrap
from keyword import iskeyword
from typing import Any

from .documents import ROOT

PAGES = (
    "agents",
    "available",
    "doctor",
    "error",
    "install",
    "list",
    "outdated",
    "registry",
    "remove",
    "search",
    "test",
    "trust",
    "update",
    "verify",
)
PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
HEADER = '''"""What verbs return: the outcomes that ``skillpm VERB --json`` prints, as types.

Each is a dictionary of plain data, which JSON, pickle and message packs take as it is.
"""

# Made from schema/ by python/tests/test_outcomes.py; `SKILLPM_BLESS=1 pytest` writes it anew.
# ruff: noqa: D205 - some sentences of the schemas are longer than a line

from typing import TYPE_CHECKING, Any, Literal, Optional, Union

if TYPE_CHECKING:
    from typing_extensions import TypedDict
else:
    try:
        # The one that pydantic takes before Python 3.12, where it is there.
        from typing_extensions import TypedDict
    except ImportError:
        from typing import TypedDict
'''


class Types:
    """The types of several schemas, in an order in which each is defined before it is used."""

    def __init__(self) -> None:
        self.definitions: dict[str, Any] = {}
        self.made: dict[str, str] = {}

    def add(self, schema: dict[str, Any]) -> None:
        """Add the definitions of a schema. One name stands for one type."""
        for name, definition in schema.get("$defs", {}).items():
            known = self.definitions.setdefault(name, definition)
            assert known == definition, f"two types are called {name}"

    def all(self) -> dict[str, str]:
        """Return the source of each type by its name."""
        for name in sorted(self.definitions):
            self.named(name)
        return self.made

    def named(self, name: str) -> str:
        """Return the type of a definition, which is made after those that it needs."""
        if name not in self.made:
            source = self.source(name, self.definitions[name])
            self.made[name] = source
        return name

    def source(self, name: str, schema: dict[str, Any]) -> str:
        """Return the definition of a type."""
        about = documented(schema["description"])
        variants = schema.get("oneOf", [])
        if "properties" in schema:
            return self.dictionary(name, schema, about)
        if variants and all("properties" in variant for variant in variants):
            return self.dictionary(name, joined(variants), about, total=False)
        if variants:
            return f"{name} = {self.union(name, variants)}\n{about}\n"
        return f"{name} = {self.written(schema, name)}\n{about}\n"

    def union(self, name: str, variants: list[dict[str, Any]]) -> str:
        """Return one of several texts, or of dictionaries with one key."""
        texts, others = "", []
        for variant in variants:
            if "const" in variant:
                about = textwrap.wrap(variant.get("description", ""), 94)
                texts += "".join(f"    # {line}\n" for line in about)
                texts += f'    "{variant["const"]}",\n'
            else:
                [field] = variant["properties"]
                others.append(self.written(variant, name + title(field)))
        if not others:
            return f"Literal[\n{texts}]"
        plain = ", ".join(f'"{variant["const"]}"' for variant in variants if "const" in variant)
        return f"Union[Literal[{plain}], {', '.join(others)}]"

    def dictionary(
        self, name: str, schema: dict[str, Any], about: str, *, total: bool = True
    ) -> str:
        """Return the definition of a dictionary."""
        fields = schema["properties"]
        if total:
            assert sorted(fields) == sorted(schema["required"]), f"{name} leaves members away"
        written = {field: self.written(fields[field], name + title(field)) for field in fields}
        words = {field: kind for field, kind in written.items() if iskeyword(field)}
        before, base = "", "TypedDict" if total else "TypedDict, total=False"
        if words:
            # No class has a field of that name.
            base = f"_{name}"
            pairs = ", ".join(f'"{field}": {kind}' for field, kind in words.items())
            before = f'{base} = TypedDict("{base}", {{{pairs}}})\n\n\n'
        lines = [f"{before}class {name}({base}):", textwrap.indent(about, "    "), ""]
        for field, part in fields.items():
            if field in words:
                continue
            lines.append(f"    {field}: {written[field]}")
            if "description" in part:
                lines.append(textwrap.indent(documented(part["description"]), "    "))
        return "\n".join(lines) + "\n"

    def written(self, schema: dict[str, Any], name: str) -> str:
        """Return how a type is written; one without a name of its own is called `name`."""
        if "$ref" in schema:
            return self.named(schema["$ref"].rpartition("/")[2])
        if "anyOf" in schema:
            parts = [self.written(part, name) for part in schema["anyOf"]]
            return optional(parts)
        kinds = schema.get("type", [])
        kinds = [kinds] if isinstance(kinds, str) else kinds
        return optional([self.plain(kind, schema, name) for kind in kinds]) if kinds else "Any"

    def plain(self, kind: str, schema: dict[str, Any], name: str) -> str:
        if kind == "array":
            return f"list[{self.written(schema['items'], name)}]"
        if kind == "object":
            if "properties" not in schema:
                return "dict[str, Any]"
            self.definitions[name] = {"description": f"What `{name}` has.", **schema}
            return self.named(name)
        return PLAIN[kind]


def joined(variants: list[dict[str, Any]]) -> dict[str, Any]:
    """Return variants that have one key each as one dictionary, which has one of them."""
    fields = {}
    for variant in variants:
        for field, part in variant["properties"].items():
            fields[field] = {"description": variant["description"], **part}
    return {"properties": fields}


def optional(parts: list[str]) -> str:
    rest = [part for part in parts if part != "None"]
    if not rest:
        return "None"
    kind = rest[0] if len(rest) == 1 else f"Union[{', '.join(rest)}]"
    return f"Optional[{kind}]" if len(rest) < len(parts) else kind


def title(field: str) -> str:
    return "".join(word.capitalize() for word in field.split("_"))


def documented(text: str) -> str:
    """Return a docstring, for a place that is indented once."""
    text = " ".join(text.split()).replace("\\", "\\\\").replace("`", "``")
    text = text.replace("``null``", "``None``")
    first, _, rest = text.rstrip(".").partition(". ")
    lines = textwrap.wrap(first + ".", 90)
    if not rest and len(lines) == 1:
        return f'"""{lines[0]}"""'
    if rest:
        lines += ["", *textwrap.wrap(rest + ".", 96)]
    return '"""' + "\n".join(lines) + '\n"""'


def module() -> str:
    """Return the whole module."""
    types = Types()
    for page in PAGES:
        types.add(json.loads((ROOT / "schema" / f"{page}.schema.json").read_text("utf-8")))
    made = types.all()
    names = "".join(f'    "{name}",\n' for name in sorted(made))
    text, after_class = f"{HEADER}\n__all__ = [\n{names}]\n", False
    for source in made.values():
        is_class = source.startswith(("class ", "_"))
        text += ("\n\n" if is_class or after_class else "\n") + source
        after_class = is_class
    return text
