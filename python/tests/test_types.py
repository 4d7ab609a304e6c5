"""The values that tell of skills: frozen, compared by all fields, copied and pickled."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from skillpm import SkillMetadata

ALL: dict[str, Any] = {
    "name": "pdf",
    "description": "Reads PDF files.",
    "skill_path": Path("/skills/pdf/SKILL.md"),
    "allowed_tools": ("Read", "Bash(git:*)"),
    "version": "1.10",
    "tags": ("office",),
    "dependencies": ("base",),
    "license": "MIT",
    "compatibility": "Python",
    "metadata": {"author": "Ada", "nested": {"list": [1, 2.5, None, True, 2**63]}},
    "extra": {"color": "red"},
    "source": "project",
}


def metadata(**changed: Any) -> SkillMetadata:
    return SkillMetadata(**{**ALL, **changed})


@pytest.mark.req("S0-FR-015", "S0-K1")
def test_every_field_is_kept() -> None:
    skill = metadata()
    assert {field: getattr(skill, field) for field in ALL} == ALL
    least = SkillMetadata("a", "b", "/a/SKILL.md")
    assert (least.allowed_tools, least.version, dict(least.extra)) == ((), None, {})


@pytest.mark.parametrize(
    "written, is_hidden", [(True, True), ("True", True), (False, False), (1, False)]
)
def test_who_may_start_it(written: object, is_hidden: bool) -> None:
    skill = metadata(extra={"disable-model-invocation": written})
    assert skill.disable_model_invocation is is_hidden
    assert pickle.loads(pickle.dumps(skill)).disable_model_invocation is is_hidden
    assert not metadata().disable_model_invocation


def test_nothing_can_be_changed() -> None:
    skill = metadata()
    for field in ALL:
        with pytest.raises(AttributeError):
            setattr(skill, field, "x")
    with pytest.raises(AttributeError):
        skill.other = 1  # type: ignore[attr-defined]
    skill.metadata["author"] = "Eve"
    skill.metadata["nested"]["list"].clear()
    assert skill == metadata()


@pytest.mark.parametrize("field", sorted(ALL))
def test_every_field_counts_for_equality(field: str) -> None:
    other = {"other": "x"} if field in ("metadata", "extra") else "other"
    if field in ("allowed_tools", "tags", "dependencies"):
        other = ["other"]  # type: ignore[assignment]
    assert metadata() != metadata(**{field: other})


def test_equal_ones_are_one_key() -> None:
    assert metadata() == metadata()
    assert len({metadata(), metadata()}) == 1
    assert metadata() != "pdf"


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(protocol: int) -> None:
    assert pickle.loads(pickle.dumps(metadata(), protocol)) == metadata()


def test_copies() -> None:
    assert copy.copy(metadata()) == metadata() == copy.deepcopy(metadata())


def test_a_path_that_is_no_text_survives() -> None:
    skill = metadata(skill_path=Path("/skills/\udcff/SKILL.md"))
    assert pickle.loads(pickle.dumps(skill)).skill_path == skill.skill_path
    assert "\\" not in repr(skill)


def test_a_dictionary_for_json() -> None:
    plain = metadata().to_dict()
    assert list(plain) == list(ALL)
    assert json.loads(json.dumps(plain))["skill_path"] == "/skills/pdf/SKILL.md"


def test_its_representation_can_be_read() -> None:
    assert repr(metadata(description="x" * 200 + "'")) == (
        f"SkillMetadata(name='pdf', description='{'x' * 60}...', "
        "skill_path='/skills/pdf/SKILL.md', version='1.10', source='project')"
    )
    assert "name='it\\'s\\n\\x1b'" in repr(metadata(name="it's\n\x1b"))


@pytest.mark.parametrize(
    "wrong",
    [
        {"metadata": []},
        {"metadata": {1: "x"}},
        {"extra": {"a": object()}},
        {"extra": {"a": float("inf")}},
        {"name": None},
        {"tags": "office"},
    ],
)
def test_what_no_skill_can_have(wrong: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        metadata(**wrong)


def test_what_holds_itself() -> None:
    endless: dict[str, Any] = {}
    endless["again"] = endless
    with pytest.raises(RecursionError):
        metadata(extra=endless)
