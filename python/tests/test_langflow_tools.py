"""The tools of `skillpm.langflow`, with langchain-core and without Langflow."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import World
from support import documents

pytest.importorskip("langchain_core", reason="langchain-core is not installed")

from langchain_core.tools import StructuredTool, tool

from skillpm.langflow import SkillStore, create_skill_tools


@pytest.fixture
def tools(world: World) -> dict[str, StructuredTool]:
    world.skill("pdf", "# PDF\n", source="skills")
    world.skill("csv", "# CSV\n", source="skills")
    world.write("skills/pdf/forms.md", "forms")
    return {tool.name: tool for tool in create_skill_tools(SkillStore("skills"))}


@pytest.mark.req("S3-FR-18", "S3-FR-21")
def test_there_are_two_structured_tools_with_typed_arguments(
    tools: dict[str, StructuredTool],
) -> None:
    assert [type(each) for each in tools.values()] == [StructuredTool, StructuredTool]
    assert {name: list(each.args) for name, each in tools.items()} == {
        "load_skill": ["skill_name"],
        "read_skill_file": ["skill_name", "filename"],
    }


@pytest.mark.req("S3-FR-17")
def test_their_descriptions_name_the_skills(world: World, tools: dict[str, StructuredTool]) -> None:
    assert all("Available skills: csv, pdf." in each.description for each in tools.values())
    assert "none" in create_skill_tools(SkillStore("nowhere"))[0].description
    for number in range(120):
        world.skill(f"s{number:03}", source="many")
    description = create_skill_tools(SkillStore("many"))[0].description
    assert "s099 and 20 more." in description


@pytest.mark.req("S3-FR-14", "S3-FR-15", "S3-FR-16", "C30")
def test_skills_that_only_a_person_is_to_start_are_not_named(world: World) -> None:
    world.skill("pdf", source="vendor")
    world.skill("deploy", source="vendor", fields="disable-model-invocation: true\n")
    store = SkillStore("vendor")
    assert (store.scan(), store.get_skill_names()) == (1, ["pdf"])
    assert not [tool for tool in create_skill_tools(store) if "deploy" in tool.description]
    for name, error in (
        ("deploy", "there is no skill `deploy` that a model may start"),
        ("nope", "there is no skill `nope`"),
    ):
        told = json.loads(store.load_skill(name))
        assert told == {"error": error, "available_skills": ["pdf"]}
    # A program may load it.
    assert store.load("deploy") is not None


def test_they_answer_in_json_with_and_without_await(tools: dict[str, StructuredTool]) -> None:
    load, read = tools["load_skill"], tools["read_skill_file"]
    asked = {"skill_name": "pdf", "filename": "forms.md"}

    async def awaited() -> tuple[str, str]:
        return await load.ainvoke({"skill_name": "pdf"}), await read.ainvoke(asked)

    answers = load.invoke({"skill_name": "pdf"}), read.invoke(asked)
    assert answers == asyncio.run(awaited())
    assert list(json.loads(answers[0])) == [
        "skill_name",
        "description",
        "instructions",
        "available_files",
    ]
    assert json.loads(answers[1]) == {**asked, "content": "forms"}
    assert json.loads(load.invoke({"skill_name": "x"}))["available_skills"] == ["csv", "pdf"]


@pytest.mark.req("S3-US-3")
def test_no_failure_is_raised(world: World, tools: dict[str, StructuredTool]) -> None:
    (world.project / "skills/pdf/SKILL.md").unlink()
    assert "error" in json.loads(tools["load_skill"].invoke({"skill_name": "pdf"}))
    asked = {"skill_name": "pdf", "filename": "../x"}
    assert "error" in json.loads(tools["read_skill_file"].invoke(asked))


@pytest.mark.req("S3-FR-24")
def test_tools_of_several_agents_share_a_store(world: World) -> None:
    world.skill("a", "old", source="skills")
    store = SkillStore("skills")
    (load, _), (also, _) = create_skill_tools(store), create_skill_tools(store)
    first = load.invoke({"skill_name": "a"})
    world.skill("a", "new", source="skills")
    # What one of them read is what the other gets: nothing is scanned or read again.
    assert also.invoke({"skill_name": "a"}) == first


@pytest.mark.req("S3-FR-23", "S3-US-9")
def test_they_stand_beside_other_tools(tools: dict[str, StructuredTool]) -> None:
    from support.model import ScriptedChatModel, calling, calling_all

    agents = pytest.importorskip("langchain.agents", reason="langchain is not installed")

    def other(name: str) -> object:
        @tool(name)
        def run(text: str = "") -> str:
            """Do something else."""
            return name

        return run

    names = ["write_todos", "write_context", "read_context", "delegate_task", "summarize"]
    model = ScriptedChatModel(
        calling_all(calling("write_todos"), calling("load_skill", skill_name="pdf")), "done"
    )
    agent = agents.create_agent(model, tools=[*map(other, names), *tools.values()])
    messages = agent.invoke({"messages": [("user", "go")]})["messages"]
    assert model.calls[0].tool_names == [*names, *tools]
    assert messages[2].content == "write_todos"
    assert json.loads(messages[3].content)["skill_name"] == "pdf"
    assert messages[-1].content == "done"


def test_the_store_imports_no_langchain() -> None:
    code = (
        "import sys, skillpm.langflow; skillpm.langflow.SkillStore();"
        "assert not {'langchain_core', 'pydantic', 'lfx'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_the_tools_need_is_named_and_no_more() -> None:
    code = (
        "import sys; sys.modules['langchain_core'] = None\n"
        "try:\n    from skillpm.langflow import create_skill_tools\n"
        "except ModuleNotFoundError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "`pip install langchain-core`" in done.stdout, done.stderr


@pytest.mark.parametrize("module", ["skillpm.langflow", "skillpm.langchain"])
def test_names_that_are_imported_later_are_listed(module: str) -> None:
    """Editors and notebooks complete them."""
    code = f"import {module} as module; assert {{*module.__all__}} <= {{*dir(module)}}"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_examples_of_the_guide(
    tools: dict[str, StructuredTool], capsys: pytest.CaptureFixture[str]
) -> None:
    # There the skills of the guide are.
    Path(".agents").mkdir()
    Path("skills").rename(".agents/skills")
    flow, *examples = documents.examples(documents.GUIDE / "langflow.md")
    assert len(examples) == 2 and "AgentComponent" in flow
    names: dict[str, object] = {"__name__": "guide"}
    for example in examples:
        exec(compile(example, "docs/guide/langflow.md", "exec"), names)
    assert "<name>pdf</name>" in str(names["prompt"])
    assert capsys.readouterr().out.startswith("SkillLoad(skill='pdf', milliseconds=")
