"""The answers that all front ends give.

Cases, questions and expected answers are those of ``tests/it/fronts.rs``, which writes them.
"""

from __future__ import annotations

import asyncio
import base64
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import World

from skillpm import (
    ConfigurationError,
    IntegrityError,
    PathError,
    PolicyError,
    SkillInvocationError,
    SkillManager,
    SkillMetadata,
    SkillNotFoundError,
    SkillParseError,
    SkillpmError,
    StorageError,
)

pytestmark = pytest.mark.skipif(
    sys.platform == "win32",
    reason="the cases have symbolic links, which Windows lets few users make, and scripts for `sh`",
)

CASES = Path(__file__).resolve().parents[2] / "tests" / "fixtures" / "engine"
NAMES = sorted(path.name for path in CASES.iterdir())
PROFILES = ("default", "strict", "skillkit", "langchain-skillkit", "langflow", "btw")

# What is raised where the program ends with an exit code.
RAISED: dict[int, tuple[type[SkillpmError], ...]] = {
    1: (SkillParseError, ConfigurationError),
    2: (SkillNotFoundError, ConfigurationError, PathError),
    3: (ConfigurationError, SkillParseError),
    5: (PathError, PolicyError, IntegrityError),
    6: (StorageError, PathError),
}


def read(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the questions and the answers of a case."""
    case = json.loads((CASES / name / "case.json").read_text("utf-8"))
    return case, json.loads((CASES / name / "expected.json").read_text("utf-8"))


def make(world: World, name: str, case: dict[str, Any]) -> None:
    own = shutil.ignore_patterns("case.json", "expected.json")
    shutil.copytree(CASES / name, world.root, dirs_exist_ok=True, ignore=own)
    recipe = case.get("make", {})
    for path, digits in recipe.get("bytes", {}).items():
        world.write(f"../{path}", bytes.fromhex(digits))
    for path, target in recipe.get("links", {}).items():
        link = world.root / path
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(target)


def scrubbed(value: Any, root: Path) -> Any:
    """Return plain values with ``[DIR]`` instead of the machine's directory."""
    if isinstance(value, (str, Path)):
        return str(value).replace(str(root), "[DIR]")
    if isinstance(value, (list, tuple)):
        return [scrubbed(item, root) for item in value]
    if isinstance(value, dict):
        return {key: scrubbed(item, root) for key, item in value.items()}
    return value


def filled(fields: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value not in (None, [], {})}


class Asked:
    """Asks a manager, through the methods for threads or those for event loops."""

    def __init__(self, manager: SkillManager, later: bool) -> None:
        self.manager = manager
        self.later = later

    def __getattr__(self, name: str) -> Any:
        if not self.later:
            return getattr(self.manager, name)
        method = getattr(self.manager, f"a{name}")
        return lambda *args, **options: asyncio.run(method(*args, **options))

    def answer(self, ask: dict[str, Any]) -> Any:
        name = ask.get("name", "")
        verb = ask["verb"]
        if verb == "list":
            return self.listed()
        if verb == "catalog":
            options = {
                key: ask[key] for key in ("fields", "tags", "hidden", "budget") if key in ask
            }
            return parsed(self.catalog(ask["form"], **options), ask["form"])
        if verb == "show":
            return self.shown(name)
        if verb == "invoke":
            form = ask.get("form", "plain")
            return parsed(self.invoke_skill(name, ask["arguments"], form=form), form)
        if verb == "files":
            return list(self.load_skill(name).files)
        if verb == "read":
            return self.read(name, ask["path"])
        if verb == "tools":
            return [tool(script.to_dict()) for script in self.get_skill_tools(name)]
        # A list of words is what a command line has, and what `call` is about is refused.
        assert verb in ("run", "call")
        try:
            ran = self.run_script(name, ask["script"], ask["arguments"])
        except SkillInvocationError as error:
            assert error.code == "script-failed"
            return outcome(error)
        return outcome(ran)

    def listed(self) -> list[list[str]]:
        """Return what is where the program installs skills, usable or not."""
        found: set[tuple[str, str]] = set()
        manager = self.manager
        paths = [skill.skill_path.parent for skill in self.list_skills()]
        paths += [skill.skill_path.parent for skill in manager.shadowed]
        paths += [told.path.parent for told in manager.diagnostics if told.path]
        for path in paths:
            for scope in ("project", "user"):
                # A name that the program would not install under is not listed.
                if path.parent == Path(manager.sources[scope]) and path.name.islower():
                    found.add((scope, path.name))
        return [list(each) for each in sorted(found)]

    def shown(self, name: str) -> dict[str, Any]:
        skill: SkillMetadata = self.get_skill(name)
        fields = skill.to_dict()
        del fields["source"]
        fields["file"] = fields.pop("skill_path")
        mine = [
            told
            for told in self.manager.diagnostics
            if told.path == skill.skill_path and told.line is not None
        ]
        fields = {"description": skill.description, **filled(fields)}
        return {
            **fields,
            "deviations": [
                {
                    "line": told.line,
                    "column": told.column,
                    "message": told.message.split(f"line {told.line}: ", 1)[1],
                }
                for told in mine
            ],
        }

    def read(self, name: str, path: str) -> dict[str, str]:
        told = {"skill_name": self.get_skill(name).name, "filename": path}
        try:
            return {**told, "content": self.read_skill_file(name, path)}
        except PathError as error:
            if error.code != "file-not-text":
                raise
        content = base64.b64encode(self.read_skill_bytes(name, path)).decode()
        return {**told, "content": content, "encoding": "base64"}


def parsed(text: str, form: str) -> Any:
    return json.loads(text) if form == "json" else text


def tool(script: dict[str, Any]) -> dict[str, Any]:
    timeout = script.pop("timeout")
    del script["path"]
    return {**script, "timeout_ms": None if timeout is None else round(timeout * 1000)}


def outcome(ran: Any) -> dict[str, Any]:
    return {"exit_code": ran.exit_code, "stdout": ran.stdout, "stderr": ran.stderr}


def failure(error: SkillpmError, expected: Any) -> dict[str, Any]:
    """Return the error as the program tells it, whose exit code has such exceptions."""
    told = expected.get("exit") if isinstance(expected, dict) else None
    assert told is None or isinstance(error, RAISED[told]), repr(error)
    return {"error": error.message, "exit": told}


@pytest.mark.req("C1", "C2", "C3", "C4", "C5", "C6", "C7", "C8", "C9", "C10", "C13", "C15", "C16")
@pytest.mark.req("C19", "C20", "C21", "C22", "C27", "C28", "C30")
@pytest.mark.parametrize("later", [False, True], ids=["threads", "loops"])
@pytest.mark.parametrize("name", [name for name in NAMES if "ask" in read(name)[0]])
def test_the_answers_are_those_of_the_program(world: World, name: str, later: bool) -> None:
    case, expected = read(name)
    make(world, name, case)
    asked = Asked(SkillManager(scripts="allow", trusted=True, audit=False), later)
    wrong = []
    assert len(case["ask"]) == len(expected["answers"]) > 0
    for ask, answer in zip(case["ask"], expected["answers"]):
        assert ask == answer["ask"]
        try:
            found = asked.answer(ask)
        except SkillpmError as error:
            found = failure(error, answer["answer"])
        found = scrubbed(found, world.root)
        if found != answer["answer"]:
            wrong.append((ask, found, answer["answer"]))
    assert not wrong, "\n".join(f"{ask}\n  {found}\n  {want}" for ask, found, want in wrong)


@pytest.mark.req("C1", "C2", "C3", "C4", "C5", "C6", "C7", "C8", "C10", "C11", "C12", "C13", "C14")
@pytest.mark.req("C16", "C20", "C21")
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("name", [name for name in NAMES if "profiles" in read(name)[1]])
def test_a_profile_is_the_same_everywhere(world: World, name: str, profile: Any) -> None:
    case, answers = read(name)
    make(world, name, case)
    expected = answers["profiles"][profile]
    places = case.get("places", True)
    sources = [world.root / source for source in case["sources"]]
    manager = SkillManager(sources, project=places, user=places, profile=profile, audit=False)
    try:
        skills = manager.list_skills()
    except SkillpmError as error:
        found: Any = failure(error, expected)
    else:
        names = [skill.name for skill in skills]
        found = {
            "skills": [facts(skill) for skill in skills],
            "shadowed": [facts(skill) for skill in manager.shadowed],
            "diagnostics": [told.to_dict() for told in manager.diagnostics],
            "invoked": {each: manager.invoke_skill(each, "a 'b c'") for each in names},
            "files": {each: manager.load_skill(each).files for each in names},
            "tools": {each: [s.tool_name for s in manager.get_skill_tools(each)] for each in names},
            "reads": [],
        }
        reads = case.get("reads", [])
        assert len(reads) == len(expected["reads"])
        for (skill, path), answer in zip(reads, expected["reads"]):
            try:
                found["reads"].append(manager.read_skill_file(skill, path))
            except SkillpmError as error:
                found["reads"].append(failure(error, answer))
    found = scrubbed(found, world.root)
    for key in expected:
        assert found[key] == expected[key], key
    assert found == expected


def facts(skill: SkillMetadata) -> dict[str, Any]:
    fields = skill.to_dict()
    kept = ("name", "description", "version", "tags", "dependencies", "allowed_tools", "source")
    return {**{key: fields[key] for key in kept}, "file": fields["skill_path"]}
