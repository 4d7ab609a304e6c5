"""What is raised."""

from __future__ import annotations

import copy
import pickle

import pytest
from conftest import World

import skillpm
from skillpm import (
    ConfigurationError,
    Project,
    SkillInvocationError,
    SkillNotFoundError,
    SkillParseError,
    SkillpmError,
)

CLASSES = [
    value
    for value in vars(skillpm.errors).values()
    if isinstance(value, type) and issubclass(value, SkillpmError)
]


def test_one_root() -> None:
    assert len(CLASSES) == 12
    for kind in CLASSES:
        assert issubclass(kind, SkillpmError)
        assert kind.__module__ == "skillpm"
        assert kind.__doc__


@pytest.mark.req("S0-E8", "S0-FR-019")
def test_an_unknown_skill_is_a_key_error_that_can_be_read() -> None:
    error = SkillNotFoundError("there is no skill `a`", name="a", available=["b"], hint="try `b`")
    assert isinstance(error, KeyError)
    assert str(error) == "there is no skill `a`\nhint: try `b`"
    assert (error.name, error.available, error.code) == ("a", ("b",), "skill-not-found")
    assert error.for_models == ("b",)


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))]
)
def test_copies_keep_everything(kind: type[SkillpmError], again: object) -> None:
    error = kind("it is wrong", hint="do it right")
    error.note = ["mine"]  # type: ignore[attr-defined]
    same = again(error)  # type: ignore[operator]
    assert type(same) is kind
    assert same.args == error.args
    assert same.__dict__ == error.__dict__
    assert (str(same), repr(same)) == (str(error), repr(error))


def test_what_a_script_said_is_kept() -> None:
    error = SkillInvocationError("it failed", exit_code=1, stdout="out", stderr="err", duration=2.5)
    assert (error.exit_code, error.stdout, error.stderr) == (1, "out", "err")
    assert error.code == "script-failed"
    assert (error.signal, error.duration) == (None, 2.5)


def test_places() -> None:
    error = SkillParseError("no YAML", code="yaml", path="/x/SKILL.md", line=3, column=7)
    assert isinstance(error, ValueError)
    assert (error.path, error.line, error.column) == ("/x/SKILL.md", 3, 7)
    assert repr(error) == "SkillParseError('no YAML', code='yaml')"


def test_hints_are_values() -> None:
    error = SkillpmError("it is wrong", hint="do it right")
    assert error.hints == ({"text": "do it right", "parts": [{"text": "do it right"}]},)
    assert (SkillpmError("x").hints, SkillpmError("x").hint) == ((), None)
    several = SkillNotFoundError("x", hints=[*error.hints, *error.hints])
    assert several.hint == "do it right\ndo it right"
    assert str(several) == "x\nhint: do it right\ndo it right"


def test_the_place_of_a_broken_manifest(world: World) -> None:
    manifest = world.write("skillpm.toml", '[skills]\npdf = { nope = "x" }\n')
    with pytest.raises(ConfigurationError) as raised:
        Project().list()
    error = raised.value
    assert (error.code, error.path, error.line) == ("manifest-unreadable", str(manifest), 2)
    assert error.column == 9
