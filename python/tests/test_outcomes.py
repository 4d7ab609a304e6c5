"""The types of outcomes: made from the schemas, and what they are good for."""

from __future__ import annotations

import os
import typing
from importlib.util import find_spec

import pytest
from support.documents import ROOT
from support.outcomes import module

from skillpm import outcomes

FILE = ROOT / "python" / "skillpm" / "outcomes.py"


def test_they_are_made_from_the_schemas() -> None:
    if os.environ.get("SKILLPM_BLESS"):
        FILE.write_text(module(), "utf-8", newline="\n")
    assert FILE.read_text("utf-8") == module(), "SKILLPM_BLESS=1 writes the file anew"


def test_their_hints_resolve() -> None:
    for name in outcomes.__all__:
        kind = getattr(outcomes, name)
        if isinstance(kind, type) and issubclass(kind, dict):
            assert typing.get_type_hints(kind), name
    assert typing.get_type_hints(outcomes.NewVersion)["from"] is str


def test_pydantic_takes_them() -> None:
    if not find_spec("pydantic"):
        pytest.skip("pydantic is not installed")
    from pydantic import TypeAdapter, ValidationError

    adapter = TypeAdapter(outcomes.Location)
    assert adapter.validate_python({"agent": "codex"}) == {"agent": "codex"}
    assert adapter.validate_python("canonical") == "canonical"
    with pytest.raises(ValidationError):
        adapter.validate_python("nowhere")
    for name in outcomes.__all__:
        assert TypeAdapter(getattr(outcomes, name)).json_schema()
