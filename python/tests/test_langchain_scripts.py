"""Scripts of skills as tools for LangChain, with LangChain itself."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import pickle
from pathlib import Path
from typing import Any

import pytest
from conftest import World

pytest.importorskip("langchain", reason="langchain is not installed")

from langchain.agents import create_agent
from langchain_core.messages import ToolMessage
from langchain_core.tools import StructuredTool, ToolException
from langchain_core.utils.function_calling import convert_to_openai_tool
from support.documents import ROOT
from support.model import ScriptedChatModel, calling

import skillpm
from skillpm import (
    ConfigurationError,
    PolicyError,
    SkillInvocationError,
    SkillNotFoundError,
    SkillParseError,
)
from skillpm.langchain import SkillManager, create_langchain_tools, create_script_tools

EXAMPLES = ROOT / "examples" / "tools"
GREET = 'import sys\nprint(f"Hello, {sys.argv[1]}!")\n'
# What `print` ends a line with.
END = os.linesep


def script(world: World, name: str, text: str) -> Path:
    return world.write(f".claude/skills/pdf/scripts/{name}", text)


def manager() -> SkillManager:
    return SkillManager(profile="skillkit", trusted=True)


def only(world: World, text: str, name: str = "it.py") -> StructuredTool:
    world.skill("pdf")
    script(world, name, text)
    [tool] = manager().get_skill_tools("pdf")
    return tool


@pytest.mark.req("S1-AC-1", "S1-D1", "S1-D2", "S1-FR-203.1", "S1-FR-204.1")
def test_each_script_is_a_tool(world: World) -> None:
    world.skill("pdf")
    for name in ("tool1.py", "tool2.sh", "helper.txt"):
        script(world, name, "")
    tools = manager().get_skill_tools("pdf")
    assert all(isinstance(tool, StructuredTool) for tool in tools)
    assert [tool.name for tool in tools] == ["pdf__tool1", "pdf__tool2"]
    found = [
        tool.name for tool in create_script_tools(skillpm.SkillManager(profile="skillkit"), "pdf")
    ]
    assert found == ["pdf__tool1", "pdf__tool2"]
    assert [tool.name for tool in asyncio.run(manager().aget_skill_tools("pdf"))] == found


@pytest.mark.req("S1-FR-201.4")
def test_no_scripts_are_no_tools(world: World) -> None:
    world.skill("pdf")
    assert manager().get_skill_tools("pdf") == []


def test_skills_are_named_in_each_way(world: World) -> None:
    world.skill("pdf", source="one")
    world.skill("pdf", source="two")
    world.write("two/pdf/scripts/second.py", "")
    both = SkillManager({"one": "one", "two": "two"})
    [hidden] = both.shadowed
    assert create_script_tools(both, both.get_skill("pdf")) == []
    for skill in (hidden, both.load_skill("two:pdf"), "two:pdf"):
        [second] = create_script_tools(both, skill)
        assert second.name.startswith("two_pdf__second_")


@pytest.mark.req("S1-FR-203.2", "C21")
def test_no_tool_has_the_name_of_one_of_a_skill_that_hides_its_own(world: World) -> None:
    for source in ("one", "two", "three"):
        world.skill("pdf", source=source)
        world.write(f"{source}/pdf/scripts/say.py", f"print('{source}')\n")
    for on_duplicate, used in (("first", "one"), ("last", "three")):
        each = SkillManager(
            {source: source for source in ("one", "two", "three")},
            on_duplicate=on_duplicate,  # type: ignore[arg-type]
            scripts="allow",
            trusted=True,
        )
        names = set()
        for source in ("one", "two", "three"):
            [tool] = create_script_tools(each, f"{source}:pdf")
            assert (tool.name == "pdf__say") == (source == used)
            assert tool.invoke({"arguments": []}) == f"{source}{END}"
            names.add(tool.name)
        assert len(names) == 3


def test_a_skill_that_one_of_its_own_source_hides(world: World) -> None:
    """``source:name`` finds the other one, whose script ran in its place."""
    for directory in ("a", "b", "deep/c"):
        world.skill("pdf", source="skills", directory=directory)
        world.write(f"skills/{directory}/scripts/say.py", f"print('{directory}')\n")
    ours = SkillManager("skills", profile="skillkit", scripts="allow", trusted=True, max_depth=3)
    [used] = ours.list_skills()
    names = set()
    for skill in (used, *ours.shadowed):
        [tool] = create_script_tools(ours, skill)
        directory = skill.skill_path.parent.relative_to(world.project / "skills").as_posix()
        assert tool.invoke({"arguments": []}) == f"{directory}{END}"
        [same] = create_script_tools(ours, f"skills:{directory}")
        assert same.name == tool.name
        names.add(tool.name)
    assert len(names) == 3
    assert "pdf__say" in names


@pytest.mark.parametrize("wrong", [{"sandbox": "bogus"}, {"timeout": 0}, {"timeout": 10**400}])
def test_options_that_make_no_sense_are_told_at_once(world: World, wrong: Any) -> None:
    """A model was told of them, which cannot help it."""
    world.skill("pdf")
    with pytest.raises(ConfigurationError, match=next(iter(wrong))):
        create_script_tools(SkillManager(), "pdf", handle_tool_error=True, **wrong)


@pytest.mark.req("S1-AC-2", "S1-FR-202.2")
def test_the_docstring_of_main_is_the_description(world: World) -> None:
    """skillkit said `Execute tool1 script`."""
    tool = only(world, 'def main():\n    """Process a file and return results."""\n')
    assert tool.description == "Process a file and return results."


@pytest.mark.req("S1-AC-3", "S1-FR-203.4", "C19")
def test_a_text_is_one_argument(world: World) -> None:
    """skillkit took no text."""
    tool = only(world, GREET)
    assert tool.invoke("World").strip() == "Hello, World!"
    assert tool.run("all the World").strip() == "Hello, all the World!"
    assert tool.invoke({"arguments": ["World", "!"]}).strip() == "Hello, World!"
    assert asyncio.run(tool.ainvoke("World")).strip() == "Hello, World!"
    assert asyncio.run(tool.arun({"arguments": ["World"]})).strip() == "Hello, World!"


@pytest.mark.req("S1-AC-4", "S1-FR-203.5", "C22")
def test_a_script_that_fails(world: World) -> None:
    """skillkit raised a ToolException, which was none of its own exceptions."""
    tool = only(world, "import sys\nprint('so far')\nsys.exit('no such page')\n")
    with pytest.raises(SkillInvocationError, match="no such page") as raised:
        tool.invoke("x")
    error = raised.value
    assert isinstance(error, ToolException)
    told = (error.exit_code, error.stdout, error.stderr)
    assert told == (1, f"so far{END}", f"no such page{END}")
    again = pickle.loads(pickle.dumps(error))
    assert isinstance(again, SkillInvocationError)
    assert (again.stderr, str(again)) == (error.stderr, str(error))
    with pytest.raises(ToolException) as also:
        asyncio.run(tool.ainvoke("x"))
    assert isinstance(also.value, SkillInvocationError)


@pytest.mark.parametrize(
    "written", ['{"n": 100000000000000000000}', '{"x": NaN}', '{"x": %s}' % ("[" * 120 + "]" * 120)]
)
def test_a_model_is_told_of_what_it_wrote_and_no_script_gets(world: World, written: str) -> None:
    """The agent goes on: the exception left it, though it was told to handle errors."""
    world.skill("pdf")
    script(world, "it.py", "")
    [tool] = create_script_tools(manager(), "pdf", handle_tool_error=True)
    said = tool.invoke(json.loads(written))
    assert said.startswith("the arguments do not fit the script: ")
    assert asyncio.run(tool.ainvoke(json.loads(written))) == said


@pytest.mark.req("S1-FR-203.5")
def test_what_a_script_says_beside_its_result_is_logged(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    tool = only(world, "import sys\nprint('3')\nprint('page 2 \\x1b[2J is odd', file=sys.stderr)\n")
    with caplog.at_level(logging.INFO, logger="skillpm"):
        assert tool.invoke("x") == f"3{END}"
        assert asyncio.run(tool.ainvoke("x")) == f"3{END}"
    said = [record.getMessage() for record in caplog.records if record.levelno == logging.INFO]
    wrote = f"page 2 \x1b[2J is odd{END}"
    assert said == [f"`scripts/it.py` of `pdf` wrote to standard error: {wrote!r}"] * 2


@pytest.mark.req("S1-AC-5", "S1-SM-2", "S1-FR-204.2")
def test_skills_with_scripts_are_used_as_before(world: World) -> None:
    world.skill("pdf", "Fill $ARGUMENTS.\n")
    script(world, "fill.py", "")
    ours = manager()
    assert "Fill a.pdf.\n" in ours.invoke_skill("pdf", "a.pdf")
    [tool] = create_langchain_tools(ours)
    assert tool.invoke("a.pdf") == ours.invoke_skill("pdf", "a.pdf")


TYPED = """import json, sys

print(json.dumps(json.load(sys.stdin), sort_keys=True))
"""
MANIFEST = """tools:
  - script: it.py
    description: Fill a form.
    arguments: json
    parameters:
      - {name: path, type: string, description: The form.}
      - {name: pages, type: integer, default: 1}
      - {name: config, type: string, default: ""}
      - {name: callbacks, type: boolean, default: false}
"""


def typed(world: World) -> StructuredTool:
    world.skill("pdf")
    script(world, "manifest.yml", MANIFEST)
    return only(world, TYPED)


@pytest.mark.req("S1-Q2")
def test_what_a_script_takes_is_typed(world: World) -> None:
    tool = typed(world)
    function = convert_to_openai_tool(tool)["function"]
    assert function["name"] == "pdf__it"
    assert function["description"] == "Fill a form."
    properties = function["parameters"]["properties"]
    assert properties["path"] == {"type": "string", "description": "The form."}
    assert properties["pages"] == {"type": "integer", "default": 1}
    assert function["parameters"]["required"] == ["path"]
    assert json.loads(tool.invoke({"path": "a.pdf", "pages": 2})) == {"path": "a.pdf", "pages": 2}
    with pytest.raises(ConfigurationError, match="pages") as raised:
        tool.invoke({"path": "a.pdf", "pages": "two"})
    assert isinstance(raised.value, ToolException)


def test_arguments_may_have_names_that_langchain_uses(world: World) -> None:
    given = {"path": "a.pdf", "config": "c.toml", "callbacks": True}
    tool = typed(world)
    assert json.loads(tool.invoke(given)) == given
    assert json.loads(asyncio.run(tool.ainvoke(given))) == given


def test_a_script_that_may_not_run(world: World) -> None:
    world.skill("pdf")
    script(world, "it.py", "")
    [tool] = create_script_tools(skillpm.SkillManager(), "pdf")
    with pytest.raises(PolicyError) as raised:
        tool.invoke("x")
    assert isinstance(raised.value, ToolException)


def test_a_manifest_that_is_wrong(world: World) -> None:
    world.skill("pdf")
    script(world, "manifest.yml", "tools: 5\n")
    with pytest.raises(SkillParseError):
        manager().get_skill_tools("pdf")
    with pytest.raises(SkillNotFoundError):
        manager().get_skill_tools("pfd")


@pytest.mark.req("S1-FR-203.3", "S1-FR-205.2")
def test_a_script_ends_in_time(world: World) -> None:
    world.skill("pdf")
    script(world, "slow.py", "import time\ntime.sleep(600)\n")
    [tool] = create_script_tools(manager(), "pdf", timeout=0.3)
    with pytest.raises(SkillInvocationError) as raised:
        tool.invoke("")
    assert raised.value.code == "script-timeout"


def test_options_reach_the_script(world: World, tmp_path: Path) -> None:
    world.skill("pdf")
    script(world, "it.py", "import os\nprint(os.environ['MODE'], os.getcwd())\n")
    [tool] = create_script_tools(manager(), "pdf", env={"MODE": "fast"}, cwd=tmp_path)
    assert tool.invoke("") == f"fast {tmp_path.resolve()}{END}"


@pytest.mark.req("S1-SM-3", "S1-T")
def test_an_agent_uses_scripts(world: World) -> None:
    tools = SkillManager(EXAMPLES, profile="skillkit", trusted=True).get_skill_tools("calculator")
    assert [tool.name for tool in tools] == ["calculator__add", "calculator__multiply"]
    asked: Any = {"messages": [("user", "2 + 3, times 4")]}

    def model() -> ScriptedChatModel:
        return ScriptedChatModel(
            calling("calculator__add", a=2, b=3),
            calling("calculator__multiply", a=5, b=4),
            lambda messages: f"It is {messages[-1].text.strip()}.",
        )

    result = create_agent(model(), tools).invoke(asked)
    assert result["messages"][-1].content in ("It is 20.", "It is 20.0.")
    result = asyncio.run(create_agent(model(), tools).ainvoke(asked))
    assert result["messages"][-1].content in ("It is 20.", "It is 20.0.")


def test_an_agent_is_told_that_a_script_failed(world: World) -> None:
    world.skill("pdf")
    script(world, "bad.py", "import sys\nsys.stderr.write('no such page\\n')\nsys.exit(3)\n")
    tools = create_script_tools(manager(), "pdf", handle_tool_error=True)
    model = ScriptedChatModel(calling("pdf__bad", arguments=[]), "It failed.")
    agent: Any = create_agent(model, tools)
    messages = agent.invoke({"messages": [("user", "go")]})["messages"]
    told = messages[-2]
    assert isinstance(told, ToolMessage)
    assert told.status == "error"
    assert "exit code 3" in told.content
    assert "no such page" in told.content
