"""What other packages know of the classes of values; imported where one of them asks."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, Literal, Optional, Union, get_origin

from skillpm._native import Diagnostic, Script, ScriptResult, Skill, SkillMetadata

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic_core import CoreSchema

    Value = Union[Diagnostic, Script, ScriptResult, Skill, SkillMetadata]

#: The types of fields, by the names that the native part has for them.
TYPES: dict[str, Any] = {
    "text": str,
    "path": Path,
    "texts": tuple[str, ...],
    "object": dict[str, Any],
    "metadata": SkillMetadata,
    "flag": bool,
    "integer": int,
    "number": float,
}


def dataclass(kind: type[Value], fields: Sequence[tuple[str, str, str, Sequence[str]]]) -> type:
    """Return a dataclass like ``kind``: a field has a name, a type, a need, and its choices."""
    declared: list[tuple[str, Any, Any]] = []
    for name, word, need, choices in fields:
        annotation = Literal[tuple(choices)] if choices else TYPES[word]
        held = dataclasses.field()
        if need == "empty":
            # `tuple` for `tuple[str, ...]`: called, it is empty.
            empty: Any = get_origin(annotation) or annotation
            held = dataclasses.field(default_factory=empty)
        elif need == "nothing":
            annotation, held = Optional[annotation], dataclasses.field(default=None)
        declared.append((name, annotation, held))
    return dataclasses.make_dataclass(kind.__name__, declared, frozen=True)


def core_schema(kind: type[Value]) -> CoreSchema:
    """Return what pydantic validates and serializes ``kind`` with."""
    from pydantic_core import core_schema

    def validated(value: Any) -> Value:
        return value if isinstance(value, kind) else kind.from_dict(value)

    return core_schema.no_info_plain_validator_function(
        validated,
        serialization=core_schema.plain_serializer_function_ser_schema(kind.to_dict),
    )
