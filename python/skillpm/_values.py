"""What other packages know of the classes of values; imported where one of them asks."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, Literal, Optional, get_origin

from skillpm._native import SkillMetadata, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic_core import CoreSchema


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


def dataclass(name: str, fields: Sequence[tuple[str, str, str, Sequence[str]]]) -> type:
    """Return a dataclass whose fields have a name, a type, a need, and their choices."""
    declared: list[tuple[str, Any, Any]] = []
    for field, word, need, choices in fields:
        annotation = Literal[tuple(choices)] if choices else TYPES[word]
        held = dataclasses.field()
        if need == "empty":
            # `tuple` for `tuple[str, ...]`: called, it is empty.
            empty: Any = get_origin(annotation) or annotation
            held = dataclasses.field(default_factory=empty)
        elif need == "nothing":
            annotation, held = Optional[annotation], dataclasses.field(default=None)
        declared.append((field, annotation, held))
    return dataclasses.make_dataclass(name, declared, frozen=True)


def core_schema(kind: type[Value]) -> CoreSchema:
    """Return what pydantic validates and serializes ``kind`` with."""
    from pydantic_core import PydanticSerializationUnexpectedValue, core_schema

    def validated(value: Any) -> Value:
        return value if isinstance(value, kind) else kind.from_dict(value)

    def serialized(value: Any) -> dict[str, Any]:
        if isinstance(value, kind):
            return value.to_dict()
        # Another class of a union has it.
        raise PydanticSerializationUnexpectedValue(f"expected `{kind.__name__}`")

    # Where a value may be of several classes, errors say of which each is by this name.
    validated.__name__ = kind.__name__
    return core_schema.no_info_plain_validator_function(
        validated,
        serialization=core_schema.plain_serializer_function_ser_schema(serialized),
    )
