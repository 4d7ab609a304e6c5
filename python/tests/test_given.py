"""Texts of Python that nothing outside of it can have: half of a surrogate pair."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any, Callable

import pytest
from conftest import World

import skillpm
from skillpm import (
    ConfigurationError,
    Diagnostic,
    Script,
    ScriptResult,
    Skill,
    SkillManager,
    SkillMetadata,
    _native,
)
from skillpm.langflow import SkillStore

HALF = "pdf\ud800"
META = SkillMetadata("pdf", "d", "pdf/SKILL.md")

ASKED: dict[str, Callable[[SkillManager], object]] = {
    "get_skill": lambda manager: manager.get_skill(HALF),
    "load_skill": lambda manager: manager.load_skill(HALF),
    "invoke_skill: name": lambda manager: manager.invoke_skill(HALF),
    "invoke_skill: arguments": lambda manager: manager.invoke_skill("pdf", HALF),
    "invoke_skill: form": lambda manager: manager.invoke_skill("pdf", form=HALF),  # type: ignore[arg-type]
    "read_skill_file: name": lambda manager: manager.read_skill_file(HALF, "a.md"),
    "read_skill_file: path": lambda manager: manager.read_skill_file("pdf", HALF),
    "read_skill_bytes": lambda manager: manager.read_skill_bytes("pdf", HALF),
    "catalog: form": lambda manager: manager.catalog(HALF),  # type: ignore[arg-type]
    "catalog: fields": lambda manager: manager.catalog(fields=[HALF]),
    "catalog: tags": lambda manager: manager.catalog(tags=[HALF]),
    "get_skill_tools": lambda manager: manager.get_skill_tools(HALF),
    "run_script: name": lambda manager: manager.run_script(HALF, "a"),
    "run_script: script": lambda manager: manager.run_script("pdf", HALF),
    "run_script: text": lambda manager: manager.run_script("pdf", "a", HALF),
    "run_script: list": lambda manager: manager.run_script("pdf", "a", [HALF]),
    "run_script: key": lambda manager: manager.run_script("pdf", "a", {HALF: 1}),
    "run_script: value": lambda manager: manager.run_script("pdf", "a", {"x": [HALF]}),
    "run_script: cwd": lambda manager: manager.run_script("pdf", "a", cwd=HALF),
    "run_script: env": lambda manager: manager.run_script("pdf", "a", env={"A": HALF}),
    "run_script: sandbox": lambda manager: manager.run_script("pdf", "a", sandbox=HALF),  # type: ignore[arg-type]
    "aget_skill": lambda manager: asyncio.run(manager.aget_skill(HALF)),
    "aload_skill": lambda manager: asyncio.run(manager.aload_skill(HALF)),
    "ainvoke_skill": lambda manager: asyncio.run(manager.ainvoke_skill("pdf", HALF)),
    "aread_skill_file": lambda manager: asyncio.run(manager.aread_skill_file("pdf", HALF)),
    "aread_skill_bytes": lambda manager: asyncio.run(manager.aread_skill_bytes("pdf", HALF)),
    "acatalog": lambda manager: asyncio.run(manager.acatalog(tags=[HALF])),
    "aget_skill_tools": lambda manager: asyncio.run(manager.aget_skill_tools(HALF)),
    "arun_script": lambda manager: asyncio.run(manager.arun_script("pdf", "a", HALF)),
    "session": lambda manager: manager._invoke("pdf", "", "plain", session=HALF),
}

MADE: dict[str, Callable[[], Any]] = {
    "manager": lambda: SkillManager(HALF),
    "manager: sources": lambda: SkillManager([HALF]),
    "manager: names of sources": lambda: SkillManager({HALF: "skills"}),
    "manager: project": lambda: SkillManager(project=HALF),
    "manager: profile": lambda: SkillManager(profile=HALF),  # type: ignore[arg-type]
    "manager: freshness": lambda: SkillManager(freshness=HALF),  # type: ignore[arg-type]
    "manager: scripts": lambda: SkillManager(scripts=HALF),  # type: ignore[arg-type]
    "manager: on_duplicate": lambda: SkillManager(on_duplicate=HALF),  # type: ignore[arg-type]
    "metadata": lambda: SkillMetadata(HALF, "d", "p"),
    "metadata: path": lambda: SkillMetadata("n", "d", HALF),
    "metadata: tags": lambda: SkillMetadata("n", "d", "p", tags=[HALF]),
    "metadata: extra": lambda: SkillMetadata("n", "d", "p", extra={HALF: 1}),
    "metadata: source": lambda: SkillMetadata("n", "d", "p", source=HALF),
    "skill": lambda: Skill(META, HALF, "p"),
    "skill: files": lambda: Skill(META, "", "p", [HALF]),
    "script": lambda: Script(
        HALF, "n", "d", "p", skill="s", script="s", language="l", input_schema={}
    ),
    "script: schema": lambda: Script(
        "n", "n", "d", "p", skill="s", script="s", language="l", input_schema={"a": HALF}
    ),
    "result": lambda: ScriptResult("", HALF),
    "diagnostic": lambda: Diagnostic("c", "warning", HALF),
    "diagnostic: path": lambda: Diagnostic("c", "warning", "m", HALF),
    "validate": lambda: skillpm.validate(HALF),
    "validate: profile": lambda: skillpm.validate(".", profile=HALF),
    "install": lambda: skillpm.install(HALF),
    "install: skills": lambda: skillpm.install("./a", skills=HALF),
    "install: scope": lambda: skillpm.install("./a", scope=HALF),  # type: ignore[arg-type]
    "install: agents": lambda: skillpm.install("./a", agents=HALF),
    "install: project": lambda: skillpm.install("./a", project=HALF),
    "main": lambda: _native.main(["skillpm", HALF]),
}


def refused(work: Callable[[], object]) -> None:
    with pytest.raises(ConfigurationError) as raised:
        work()
    error = raised.value
    assert (error.code, error.hint is not None) == ("not-text", True)
    # What is logged or sent on can be written.
    str(error).encode()
    assert "half of a surrogate pair at the index 3" in str(error)


@pytest.mark.parametrize("name", ASKED)
def test_no_question_about_half_a_character_is_answered(world: World, name: str) -> None:
    world.skill("pdf")
    world.write(".claude/skills/pdf/scripts/a.sh", "echo $1\n")
    refused(lambda: ASKED[name](SkillManager()))


@pytest.mark.usefixtures("world")
@pytest.mark.parametrize("name", MADE)
def test_nothing_is_made_of_half_a_character(name: str) -> None:
    refused(MADE[name])


def test_an_agent_is_told_of_it(world: World) -> None:
    world.skill("pdf", source="skills")
    store = SkillStore("skills")
    for answer in (store.load_skill(HALF), store.read_skill_file("pdf", HALF)):
        assert "half of a surrogate pair" in json.loads(answer)["error"]


@pytest.mark.skipif(
    sys.platform != "linux", reason="macOS and Windows refuse to make a file whose name is not text"
)
def test_a_path_that_is_no_text_is_a_path_all_the_same(world: World) -> None:
    """What Python makes of bytes that are not UTF-8 is no half of a pair: it has a file."""
    name = b"b\xffd".decode(errors="surrogateescape")
    world.skill("pdf", source=f"{name}/skills")
    assert [skill.name for skill in SkillManager(Path(name) / "skills").list_skills()] == ["pdf"]
