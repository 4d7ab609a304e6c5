"""LlamaIndex: an agent that uses skills."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, get_type_hints

import pytest
from conftest import World
from support.adapters import ends, slow
from support.documents import GUIDE, examples

pytest.importorskip("llama_index.core", reason="llama-index-core is not installed")

from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent, ToolCallResult
from llama_index.core.base.llms.types import ChatMessage, ToolCallBlock
from llama_index.core.llms import mock
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import HumanResponseEvent, InputRequiredEvent
from pydantic import PrivateAttr

from skillpm import SkillManager, Toolkit
from skillpm.llama_index import SkillTool, create_skill_tools, skill_instructions


class ScriptedLLM(mock.MockFunctionCallingLLM):
    """Gives its answers one after the other: texts, or tools with what they get."""

    _answers: list[Any] = PrivateAttr(default_factory=list)
    _asked: list[list[ChatMessage]] = PrivateAttr(default_factory=list)

    def __init__(self, *answers: Any) -> None:
        super().__init__(response_generator=self._answer, is_chat_model=True)
        self._answers = list(answers)

    def _answer(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatMessage:
        self._asked.append(list(messages))
        answer = self._answers.pop(0)
        if isinstance(answer, str):
            return ChatMessage(role="assistant", content=answer)
        name, arguments = answer
        call = ToolCallBlock(
            tool_call_id=f"call-{len(self._asked)}", tool_name=name, tool_kwargs=arguments
        )
        return ChatMessage(role="assistant", blocks=[call])

    def last(self, number: int) -> str:
        """Return the last message of a question."""
        return str(self._asked[number][-1].content)


CHECK = "run_skill_script", {"name": "pdf", "script": "check", "arguments": {"arguments": ["a"]}}


@pytest.fixture
def skills(world: World) -> Path:
    world.skill("pdf", "Fill in: $ARGUMENTS.\n", source="skills")
    world.write("skills/pdf/references/forms.md", "Forms have fields.\n")
    world.write("skills/pdf/scripts/check.py", "import sys\nprint('Checked', sys.argv[1])\n")
    world.skill("secret", fields="disable-model-invocation: true\n", source="skills")
    return world.project / "skills"


def allowed(skills: Path) -> Toolkit:
    return Toolkit(SkillManager(skills, scripts="allow", trusted=True), scripts=True)


def agent_with(llm: Any, kit: Toolkit, **options: Any) -> FunctionAgent:
    return FunctionAgent(
        tools=[*create_skill_tools(kit, **options)],
        llm=llm,
        system_prompt=skill_instructions(kit, "You are a clerk."),
        streaming=False,
    )


def test_an_agent_uses_a_skill(skills: Path) -> None:
    llm = ScriptedLLM(
        ("search_skills", {"query": "forms pdf"}),
        ("load_skill", {"name": "pdf", "arguments": "a.pdf"}),
        ("read_skill_file", {"name": "pdf", "path": "references/forms.md"}),
        CHECK,
        "It is filled in.",
    )
    results: list[Any] = []

    async def run() -> str:
        handler = agent_with(llm, allowed(skills)).run(user_msg="Fill in a.pdf.")
        async for event in handler.stream_events():
            if isinstance(event, ToolCallResult):
                results.append(event.tool_output)
        return str(await handler)

    assert asyncio.run(run()) == "It is filled in."
    for number, said in enumerate(("Does pdf.", "Fill in: a.pdf.", "Forms have", "Checked a"), 1):
        assert said in llm.last(number)
    assert [result.is_error for result in results] == [False] * 4
    assert results[3].raw_output["exit_code"] == 0
    system = str(llm._asked[0][0].content)
    assert system.count("Does pdf. Use it in tests.") == 1
    assert system.startswith("You are a clerk.\n\nSkills are")
    assert "secret" not in system


def test_a_model_reads_why_a_call_failed(skills: Path) -> None:
    llm = ScriptedLLM(
        ("load_skill", {"name": "docx"}),
        ("load_skill", {"nmae": "pdf"}),
        ("run_skill_script", {"name": "pdf", "script": "check"}),
        "No.",
    )
    results: list[Any] = []

    async def run() -> None:
        handler = agent_with(llm, allowed(skills)).run(user_msg="?")
        async for event in handler.stream_events():
            if isinstance(event, ToolCallResult):
                results.append(event.tool_output)
        await handler

    asyncio.run(run())
    assert "there is no skill `docx`" in llm.last(1)
    assert "there is no argument `nmae`" in llm.last(2)
    assert "IndexError" in llm.last(3)
    assert [result.is_error for result in results] == [True] * 3
    assert results[2].raw_output["exit_code"] == 1


@pytest.mark.parametrize("response", ["yes", "no"])
def test_a_script_that_is_to_be_confirmed(skills: Path, response: str) -> None:
    llm = ScriptedLLM(("load_skill", {"name": "pdf"}), CHECK, CHECK, "Done.")
    asked: list[Any] = []

    async def run() -> None:
        handler = agent_with(llm, allowed(skills), confirm=True).run(user_msg="?")
        async for event in handler.stream_events():
            if isinstance(event, InputRequiredEvent):
                asked.append(event)
                answer: Any = {"response": response, "call": event.call}
                handler.ctx.send_event(HumanResponseEvent(**answer))
        await handler

    asyncio.run(run())
    # Each of two equal calls.
    assert [event.prefix for event in asked] == ["Run `check` of the skill `pdf`?"] * 2
    assert asked[0].arguments == {"arguments": ["a"]}
    said = "Checked a" if response == "yes" else "the user did not allow it"
    assert said in llm.last(2)
    assert said in llm.last(3)


def test_nobody_is_asked_outside_of_an_agent(skills: Path) -> None:
    script = create_skill_tools(allowed(skills), confirm=True)[-1]
    assert script(**CHECK[1]).is_error
    assert asyncio.run(script.acall(**CHECK[1])).is_error
    assert not create_skill_tools(allowed(skills))[-1](**CHECK[1]).is_error


def test_a_cancelled_run_ends_its_script(world: World, skills: Path) -> None:
    call = slow(world)
    llm = ScriptedLLM(("run_skill_script", call), "Done.")

    async def run() -> None:
        handler = agent_with(llm, allowed(skills)).run(user_msg="?")
        try:
            await handler
        finally:
            await handler.cancel_run()

    assert ends(run, call)


def test_the_schema_is_that_of_the_core(skills: Path) -> None:
    kit = Toolkit(skills, scripts=True)
    for tool, definition in zip(create_skill_tools(kit), kit.tools):
        assert tool.metadata.fn_schema is not None
        assert tool.metadata.fn_schema.model_json_schema() == definition.parameters
        sent = tool.metadata.to_openai_tool()["function"]
        assert sent["name"] == definition.name
        assert sent["parameters"]["properties"] == definition.parameters["properties"]


def test_options(skills: Path) -> None:
    tools = create_skill_tools(skills, prefix="team", max_output=20)
    assert [tool.metadata.name for tool in tools][1:] == ["team_load_skill", "team_read_skill_file"]
    assert "Does" not in tools[2](name="pdf", path="SKILL.md").content
    assert skill_instructions(skills, exclude="pdf") == ""
    # The budget has room for the names only.
    said = skill_instructions(skills, budget=10)
    assert "pdf" in said
    assert "Does pdf" not in said


def test_other_agents(skills: Path) -> None:
    kit = Toolkit(skills)
    acting = 'Thought: I need it.\nAction: load_skill\nAction Input: {"name": "pdf"}'
    llm = ScriptedLLM(acting, "Thought: I can answer.\nAnswer: Done.")
    agent = ReActAgent(tools=[*create_skill_tools(kit)], llm=llm, streaming=False)
    workflow = AgentWorkflow(agents=[agent])

    async def run() -> str:
        return str(await workflow.run(user_msg="?"))

    assert asyncio.run(run()) == "Done."
    assert "Fill in:" in llm.last(1)


def test_functions_become_tools(skills: Path) -> None:
    manager = SkillManager(skills)
    found = FunctionTool.from_defaults(manager.invoke_skill)
    assert "Fill in: a.pdf." in found(name="pdf", arguments="a.pdf").content
    later = FunctionTool.from_defaults(async_fn=manager.ainvoke_skill)
    assert "Fill in" in asyncio.run(later.acall(name="pdf")).content
    for function in Toolkit(manager).functions():
        made = FunctionTool.from_defaults(function).metadata.to_openai_tool()["function"]
        assert made["parameters"]["required"][0] in ("query", "name")


def test_hints_resolve() -> None:
    for function in (create_skill_tools, skill_instructions, SkillTool.__init__, SkillTool.acall):
        get_type_hints(function)


def test_the_guide(
    skills: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    loading = ("load_skill", {"name": "pdf", "arguments": "a.pdf"})
    llms = [
        ScriptedLLM(loading, "It has fields."),
        ScriptedLLM(loading, CHECK, "It was checked."),
        ScriptedLLM(CHECK, "It may run."),
    ]
    given = iter(llms)
    names: dict[str, Any] = {"__name__": "guide"}
    # The package of the provider is not here.
    module: Any = ModuleType("llama_index.llms.anthropic")
    module.Anthropic = lambda **options: next(given)
    monkeypatch.setitem(sys.modules, "llama_index.llms", ModuleType("llama_index.llms"))
    monkeypatch.setitem(sys.modules, "llama_index.llms.anthropic", module)
    monkeypatch.setattr("builtins.input", lambda question: print(question) or "yes")
    for number, example in enumerate(examples(GUIDE / "llama-index.md")):
        exec(compile(example, f"docs/guide/llama-index.md, {number}", "exec"), names)
    said = capsys.readouterr().out
    for text in ("It has fields.", "It was checked.", "It may run.", "there is no skill `xlsx`"):
        assert text in said
    assert "Run `check` of the skill `pdf`?" in said
    assert "Checked a" in llms[2].last(1)
    assert not any(llm._answers for llm in llms)
