"""Skills as tools for LangChain, with LangChain itself."""

from __future__ import annotations

import asyncio
import pickle
import re
import shutil
from typing import Any

import pytest
from conftest import World

pytest.importorskip("langchain", reason="langchain is not installed")

from langchain.agents import create_agent
from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import StructuredTool, ToolException
from langchain_core.utils.function_calling import convert_to_openai_tool
from support.documents import ROOT
from support.model import ScriptedChatModel, calling

from skillpm import InternalError, PathError, SkillManager, SkillNotFoundError, SkillpmError
from skillpm.langchain import create_langchain_tools, tool_error

EXAMPLES = ROOT / "examples" / "skills"


@pytest.mark.req("S0-US4.1", "S0-FR-029", "S0-FR-030", "S0-FR-031", "S0-FR-032", "S0-FR-033")
@pytest.mark.req("S0-K4")
def test_each_skill_is_a_tool(world: World) -> None:
    for name in ("code-reviewer", "git-helper", "pdf"):
        world.skill(name)
    tools = create_langchain_tools(SkillManager())
    assert all(type(tool) is StructuredTool for tool in tools)
    assert [(tool.name, tool.description) for tool in tools] == [
        (name, f"Does {name}. Use it in tests.") for name in ("code-reviewer", "git-helper", "pdf")
    ]
    for tool in tools:
        assert list(tool.args) == ["arguments"]
        assert tool.args["arguments"]["type"] == "string"
        parameters = convert_to_openai_tool(tool)["function"]["parameters"]
        assert list(parameters["properties"]) == ["arguments"]


def test_a_skill_that_only_a_person_is_to_start_is_no_tool(world: World) -> None:
    world.skill("pdf")
    world.skill("deploy", fields="disable-model-invocation: true\n")
    manager = SkillManager(freshness="stat")
    [tool] = create_langchain_tools(manager, handle_tool_error=True)
    assert tool.name == "pdf"
    shutil.rmtree(world.project / ".claude/skills/pdf")
    world.skill("csv")
    # A program may name it, and is told of it; what a model is told does not have it.
    assert manager.invoke_skill("deploy")
    assert tool.invoke("x") == "there is no skill `pdf`. Available skills: `csv`"
    with pytest.raises(SkillNotFoundError) as raised:
        manager.get_skill("pdf")
    told = (raised.value.available, raised.value.for_models)
    assert told == (("csv", "deploy"), ("csv",))


def test_no_skills_are_no_tools(world: World) -> None:
    assert create_langchain_tools(SkillManager()) == []


def test_a_skill_that_cannot_be_used_hides_no_other(world: World) -> None:
    world.skill("pdf")
    world.write(".claude/skills/bad/SKILL.md", "---\nname: [\n---\n")
    assert [tool.name for tool in create_langchain_tools(SkillManager())] == ["pdf"]


@pytest.mark.req("S0-US4.2", "S0-FR-034", "S0-FR-035")
def test_a_tool_returns_what_invoking_the_skill_does(world: World) -> None:
    directory = world.skill("review", "Review $ARGUMENTS.\n")
    [tool] = create_langchain_tools(SkillManager())
    expected = f"Base directory for this skill: {directory}\n\nReview analyze code.py.\n"
    assert tool.invoke("analyze code.py") == expected
    assert tool.invoke({"arguments": "analyze code.py"}) == expected
    assert tool.run("analyze code.py") == expected
    assert "Review .\n" in tool.invoke({})


def test_a_tool_reads_its_skill_when_it_is_called(world: World) -> None:
    world.skill("review", "Old.\n")
    [tool] = create_langchain_tools(SkillManager())
    world.skill("review", "New.\n")
    assert "New.\n" in tool.invoke("")


def test_annotations_are_types(world: World) -> None:
    """LangChain evaluates texts at each call, which takes longer than the call itself."""
    world.skill("review")
    [tool] = create_langchain_tools(SkillManager())
    for function in (tool.func, tool.coroutine):
        assert function.__annotations__ == {"arguments": str, "return": str}


@pytest.mark.req("C30")
def test_a_tool_awaits_too(world: World) -> None:
    """skillkit refused to await what had been discovered without."""
    world.skill("review", "Review $ARGUMENTS.\n")
    manager = SkillManager()
    manager.discover()
    [tool] = create_langchain_tools(manager)

    async def both() -> None:
        assert await tool.ainvoke("a") == tool.invoke("a")
        many = await asyncio.gather(*(tool.ainvoke(str(n)) for n in range(200)))
        assert [re.findall(r"Review (\d+)\.", text) for text in many] == [
            [str(n)] for n in range(200)
        ]

    asyncio.run(both())


@pytest.mark.req("C2")
def test_names_are_such_that_providers_take_them(world: World) -> None:
    """skillkit's tools had names that providers refuse."""
    long = "x" * 70
    names = [
        "plain-1",
        "my skill",
        "caf\u00e9",
        "a.b",
        "a b",
        "a_b",
        "\u8bed\u8a00",
        long,
        long + "y",
    ]
    for directory, name in enumerate(names):
        world.skill(name, "Named $ARGUMENTS.\n", directory=str(directory))
    manager = SkillManager(profile="skillkit")
    tools = create_langchain_tools(manager)
    assert [skill.name for skill in manager.list_skills()] == names
    found = [tool.name for tool in tools]
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in found)
    assert len(set(found)) == len(names)
    assert found[:3] == ["plain-1", "my_skill", "caf_"]
    assert found[5] == "a_b"
    assert re.fullmatch(r"a_b_[0-9a-f]{8}", found[3])
    assert re.fullmatch(r"x{55}_[0-9a-f]{8}", found[7])
    assert "Named it." in tools[8].invoke("it")


@pytest.mark.req("C2")
def test_a_name_that_is_what_another_becomes(world: World) -> None:
    for directory, name in enumerate(("a.b", "a b")):
        world.skill(name, directory=str(directory))
    first = [tool.name for tool in create_langchain_tools(SkillManager(profile="skillkit"))]
    for directory, name in enumerate(first):
        world.skill(name, directory=f"z{directory}")
    again = [tool.name for tool in create_langchain_tools(SkillManager(profile="skillkit"))]
    assert again[2:] == first
    assert len(set(again)) == 4


def test_a_skill_that_is_gone(world: World) -> None:
    directory = world.skill("pdf")
    world.skill("zip")
    tool, _ = create_langchain_tools(SkillManager(freshness="stat"))
    shutil.rmtree(directory)
    with pytest.raises(SkillNotFoundError, match="`pdf`") as raised:
        tool.invoke("x")
    error = raised.value
    for kind in (ToolException, KeyError, SkillpmError):
        assert isinstance(error, kind)
    assert type(error.__cause__) is SkillNotFoundError
    assert error.available == ("zip",)
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.available) == (type(error), str(error), ("zip",))
    with pytest.raises(ToolException):
        asyncio.run(tool.ainvoke("x"))


def test_what_a_model_is_told_of_a_failure(world: World) -> None:
    directory = world.skill("pdf")
    world.skill("zip")
    manager = SkillManager(freshness="stat")
    tool, _ = create_langchain_tools(manager, handle_tool_error=True)
    plain, _ = create_langchain_tools(manager, handle_tool_error="It is gone.")
    shutil.rmtree(directory)
    call = {"name": "pdf", "args": {}, "id": "1", "type": "tool_call"}
    message: Any = tool.invoke(call)
    assert isinstance(message, ToolMessage)
    assert message.status == "error"
    assert str(message.content).endswith("Available skills: `zip`")
    assert asyncio.run(tool.ainvoke(call)).content == message.content
    assert plain.invoke(call).content == "It is gone."
    assert tool_error(PathError("no file", hint="look")) == "no file"
    assert tool_error(ValueError("other")) == "other"


def test_a_defect_is_nothing_that_a_model_is_told(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: Any) -> str:
        raise InternalError("it broke")

    async def abroken(*args: Any) -> str:
        return broken()

    world.skill("pdf")
    [tool] = create_langchain_tools(SkillManager(), handle_tool_error=True)
    monkeypatch.setattr(SkillManager, "invoke_skill", broken)
    monkeypatch.setattr(SkillManager, "ainvoke_skill", abroken)
    for call in (tool.invoke, lambda given: asyncio.run(tool.ainvoke(given))):
        with pytest.raises(InternalError, match="it broke") as raised:
            call("x")
        assert type(raised.value) is InternalError


@pytest.mark.req("S0-US4.3", "S0-FR-037", "S0-FR-042", "S0-SC-003")
def test_an_agent_uses_a_skill(world: World) -> None:
    directory = world.skill("review", "Review $ARGUMENTS.\n")
    expected = f"Base directory for this skill: {directory}\n\nReview a.py.\n"

    def agent() -> tuple[ScriptedChatModel, Any]:
        model = ScriptedChatModel(calling("review", arguments="a.py"), "It is fine.")
        return model, create_agent(model, create_langchain_tools(SkillManager()))

    asked: Any = {"messages": [("user", "Review a.py")]}
    model, sync = agent()
    result = sync.invoke(asked)
    assert [message.content for message in result["messages"]][-2:] == [expected, "It is fine."]
    assert model.calls[0].description("review") == "Does review. Use it in tests."
    model, other = agent()
    result = asyncio.run(other.ainvoke(asked))
    assert [message.content for message in result["messages"]][-2:] == [expected, "It is fine."]


@pytest.mark.req("S0-FR-037")
def test_a_chain_uses_a_skill(world: World) -> None:
    world.skill("review", "Review $ARGUMENTS.\n")
    [tool] = create_langchain_tools(SkillManager())
    model = ScriptedChatModel(lambda messages: f"{messages[0].text.splitlines()[-1]} Done.")
    chain: Any = RunnableLambda(lambda path: {"arguments": path}) | tool | model
    assert chain.invoke("a.py").content == "Review a.py. Done."


@pytest.mark.req("S0-US6.1", "S0-US6.3")
def test_an_agent_uses_the_example_skills(world: World) -> None:
    manager = SkillManager(EXAMPLES)
    tools = create_langchain_tools(manager)
    assert [tool.name for tool in tools] == ["code-reviewer", "git-helper", "markdown-formatter"]
    for tool in tools:
        model = ScriptedChatModel(calling(tool.name, arguments="README.md"), "Done.")
        agent: Any = create_agent(model, tools)
        result = agent.invoke({"messages": [("user", "Do it")]})
        text = result["messages"][-2].content
        assert text == manager.invoke_skill(tool.name, "README.md")
        assert "README.md" in text
        assert len(text.splitlines()) > 10
