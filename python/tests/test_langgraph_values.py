"""Values in the state of a graph: its checkpointer writes them, and reads them again."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langgraph", reason="langgraph is not installed")

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.graph import START, StateGraph
from test_values import CLASSES, VALUES
from typing_extensions import TypedDict

from skillpm import Diagnostic, ScriptResult, Skill


class State(TypedDict, total=False):
    """What a graph may keep."""

    skill: Skill
    results: list[ScriptResult]
    found: dict[str, Diagnostic]


def kept(value: Any, serializer: JsonPlusSerializer) -> Any:
    return serializer.loads_typed(serializer.dumps_typed(value))


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_checkpoint_keeps_a_value(value: Any) -> None:
    again = kept(value, JsonPlusSerializer())
    assert type(again) is type(value)
    assert again == value
    nested = {"state": [{"value": value, "others": [value]}, VALUES]}
    assert kept(nested, JsonPlusSerializer()) == nested


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_checkpoint_of_permitted_classes_says_nothing(
    value: Any, caplog: pytest.LogCaptureFixture
) -> None:
    try:
        serializer = JsonPlusSerializer(allowed_msgpack_modules=CLASSES)
    except TypeError:
        pytest.skip("this version permits every class")
    with caplog.at_level(logging.DEBUG):
        assert kept(value, serializer) == value
    assert caplog.messages == []


def built() -> Any:
    """Return a graph whose only node fills its state with values."""
    state: State = {"skill": VALUES[2], "results": VALUES[6:8], "found": {"a": VALUES[-1]}}
    builder = StateGraph(State)
    builder.add_node("work", lambda _: state)
    builder.add_edge(START, "work")
    return builder


def test_the_state_of_a_graph() -> None:
    saver = InMemorySaver()
    config: Any = {"configurable": {"thread_id": "1"}}
    state = built().compile(checkpointer=saver).invoke({}, config)
    assert state == {"skill": VALUES[2], "results": VALUES[6:8], "found": {"a": VALUES[-1]}}
    assert built().compile(checkpointer=saver).get_state(config).values == state


STRICT = """
import logging
logging.basicConfig(level=logging.WARNING)
from langgraph.checkpoint.memory import InMemorySaver
from test_langgraph_values import VALUES, built
saver = InMemorySaver()
config = {"configurable": {"thread_id": "1"}}
built().compile(checkpointer=saver).invoke({}, config)
[skill, results, found] = built().compile(checkpointer=saver).get_state(config).values.values()
assert (skill, results, found) == (VALUES[2], VALUES[6:8], {"a": VALUES[-1]}), skill
"""


@pytest.mark.skipif(not find_spec("langgraph._internal._serde"), reason="permits no class")
def test_a_strict_graph_permits_the_classes_of_its_state() -> None:
    """LangGraph looks for them in the types of dataclasses, and ours are as good."""
    ran = subprocess.run(
        [sys.executable, "-c", STRICT],
        cwd=Path(__file__).parent,
        env={**os.environ, "LANGGRAPH_STRICT_MSGPACK": "true"},
        capture_output=True,
        text=True,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
