"""Google ADK: an agent that uses skills."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_type_hints

import pytest
from conftest import World
from support.adapters import ends, slow
from support.documents import GUIDE, examples

pytest.importorskip("google.adk", reason="google-adk is not installed")

from google.adk.agents import LlmAgent
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.models.registry import LLMRegistry
from google.adk.runners import InMemoryRunner
from google.adk.tools.function_tool import FunctionTool
from google.genai import types
from pydantic import PrivateAttr

from skillpm import SkillManager, Toolkit
from skillpm.google_adk import SkillTool, SkillToolset, create_skill_tools, skill_instructions


class ScriptedLlm(BaseLlm):
    """Gives its answers one after the other: texts, or tools with what they get."""

    model: str = "scripted"
    _answers: list[Any] = PrivateAttr(default_factory=list)
    _asked: list[LlmRequest] = PrivateAttr(default_factory=list)

    def __init__(self, *answers: Any, **fields: Any) -> None:
        super().__init__(**fields)
        self._answers = list(answers)

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        self._asked.append(llm_request.model_copy(deep=False))
        answer = self._answers.pop(0)
        if isinstance(answer, str):
            part = types.Part(text=answer)
        else:
            part = types.Part(function_call=types.FunctionCall(name=answer[0], args=answer[1]))
        yield LlmResponse(content=types.Content(role="model", parts=[part]))

    def system(self, number: int = 0) -> str:
        config: Any = self._asked[number].config
        return str(config.system_instruction)

    def tools(self) -> list[types.FunctionDeclaration]:
        config: Any = self._asked[0].config
        return list(config.tools[0].function_declarations)


CHECK = "run_skill_script", {"name": "pdf", "script": "check", "arguments": {"arguments": ["a"]}}


@pytest.fixture
def skills(world: World) -> Path:
    world.skill("pdf", "Fill in: $ARGUMENTS.\n", source="skills")
    world.write("skills/pdf/references/forms.md", "Forms have {fields}.\n")
    world.write("skills/pdf/scripts/check.py", "import sys\nprint('Checked', sys.argv[1])\n")
    world.skill("secret", fields="disable-model-invocation: true\n", source="skills")
    return world.project / "skills"


def allowed(skills: Path) -> Toolkit:
    return Toolkit(SkillManager(skills, scripts="allow", trusted=True), scripts=True)


def message(part: types.Part) -> types.Content:
    return types.Content(role="user", parts=[part])


async def events_of(runner: InMemoryRunner, session: str, new: types.Content) -> list[Any]:
    return [
        event
        async for event in runner.run_async(user_id="user", session_id=session, new_message=new)
    ]


async def run(agent: LlmAgent, text: str = "Fill in a.pdf.") -> tuple[list[Any], Any, str]:
    """Return what the tools answered, and the runner with the session."""
    runner = InMemoryRunner(agent=agent)
    session = await runner.session_service.create_session(app_name=runner.app_name, user_id="user")
    events = await events_of(runner, session.id, message(types.Part(text=text)))
    return events, runner, session.id


def responses(events: list[Any]) -> list[Any]:
    return [call.response for event in events for call in event.get_function_responses()]


def test_an_agent_uses_a_skill(skills: Path) -> None:
    llm = ScriptedLlm(
        ("search_skills", {"query": "forms pdf"}),
        ("load_skill", {"name": "pdf", "arguments": "a.pdf"}),
        ("read_skill_file", {"name": "pdf", "path": "references/forms.md"}),
        CHECK,
        "It is filled in.",
    )
    kit = allowed(skills)
    agent = LlmAgent(
        name="clerk", model=llm, instruction="You are a clerk.", tools=[SkillToolset(kit)]
    )
    events, _, _ = asyncio.run(run(agent))
    answers = responses(events)
    assert [list(answer) for answer in answers] == [["result"]] * 4
    for answer, said in zip(answers, ("Does pdf.", "Fill in: a.pdf.", "{fields}", "Checked a")):
        assert said in answer["result"]
    assert events[-1].content.parts[0].text == "It is filled in."
    for number in range(5):
        assert llm.system(number).count("Does pdf. Use it in tests.") == 1
    assert llm.system().index("You are a clerk.") < llm.system().index("call `load_skill`")
    assert "secret" not in llm.system()
    # The schemas are those of the core.
    sent = {tool.name: tool.parameters_json_schema for tool in llm.tools()}
    assert sent == {tool.name: tool.parameters for tool in kit.tools}


def test_a_model_reads_why_a_call_failed(skills: Path) -> None:
    llm = ScriptedLlm(
        ("load_skill", {"name": "docx"}),
        ("load_skill", {"nmae": "pdf"}),
        ("run_skill_script", {"name": "pdf", "script": "check"}),
        "No.",
    )
    agent = LlmAgent(name="clerk", model=llm, tools=[SkillToolset(allowed(skills))])
    answers = responses(asyncio.run(run(agent))[0])
    assert "there is no skill `docx`" in answers[0]["error"]
    assert "there is no argument `nmae`" in answers[1]["error"]
    assert "IndexError" in answers[2]["error"]


@pytest.mark.parametrize("confirmed", [True, False])
def test_a_script_that_is_to_be_confirmed(skills: Path, confirmed: bool) -> None:
    llm = ScriptedLlm(("load_skill", {"name": "pdf"}), CHECK, "Done.")
    toolset = SkillToolset(allowed(skills), require_confirmation=True)
    agent = LlmAgent(name="clerk", model=llm, tools=[toolset])

    async def main() -> tuple[list[Any], list[Any]]:
        events, runner, session = await run(agent)
        [call] = [
            call
            for event in events
            for call in event.get_function_calls()
            if call.name == "adk_request_confirmation"
        ]
        assert call.args["originalFunctionCall"]["args"] == CHECK[1]
        answer = types.FunctionResponse(
            id=call.id, name=call.name, response={"confirmed": confirmed}
        )
        return events, await events_of(
            runner, session, message(types.Part(function_response=answer))
        )

    before, after = asyncio.run(main())
    assert "result" in responses(before)[0]
    assert "confirmation" in responses(before)[1]["error"]
    [answer] = [answer for answer in responses(after) if set(answer) & {"result", "error"}]
    assert answer == {"result": "Checked a\n"} if confirmed else "error" in answer


def test_nothing_runs_where_nobody_asked(skills: Path) -> None:
    script = create_skill_tools(allowed(skills), require_confirmation=True)[-1]
    context: Any = SimpleNamespace(tool_confirmation=None)
    answer = asyncio.run(script.run_async(args=dict(CHECK[1]), tool_context=context))
    assert answer == {"error": "the user did not allow it"}


def test_a_cancelled_run_ends_its_script(world: World, skills: Path) -> None:
    call = slow(world)
    llm = ScriptedLlm(("run_skill_script", call), "Done.")
    agent = LlmAgent(name="clerk", model=llm, tools=[SkillToolset(allowed(skills))])
    assert ends(lambda: run(agent), call)


def test_tools_and_instructions_apart(skills: Path) -> None:
    llm = ScriptedLlm(("load_skill", {"name": "pdf"}), "Done.")
    kit = Toolkit(skills)
    agent = LlmAgent(
        name="clerk",
        model=llm,
        # Nothing of it is a variable of the session.
        instruction=skill_instructions(kit, "You are a {clerk}."),
        tools=[*create_skill_tools(kit), SkillToolset(kit, instructions=False, tool_filter=[])],
    )
    asyncio.run(run(agent))
    assert llm.system().count("Does pdf.") == 1
    assert "You are a {clerk}.\n\nSkills are" in llm.system()


def test_options(skills: Path) -> None:
    tools = create_skill_tools(skills, prefix="team", scripts=True)
    assert [tool.name for tool in tools][3] == "team_run_skill_script"
    toolset = SkillToolset(skills, tool_filter=["load_skill"])
    assert [tool.name for tool in asyncio.run(toolset.get_tools())] == ["load_skill"]
    context: Any = None

    async def said_with(**options: Any) -> str:
        return await skill_instructions(skills, **options)(context)

    assert asyncio.run(said_with(exclude="pdf")) == ""
    # The budget has room for the names only.
    said = asyncio.run(said_with(budget=10))
    assert "pdf" in said
    assert "Does pdf" not in said


def test_functions_become_tools(skills: Path) -> None:
    manager = SkillManager(skills)
    functions: list[Any] = [manager.invoke_skill, manager.ainvoke_skill]
    for function in (*functions, *Toolkit(manager, scripts=True).functions()):
        declaration = FunctionTool(function)._get_declaration()
        schema: Any = declaration and declaration.parameters_json_schema
        assert schema["required"][0] in ("query", "name")
    llm = ScriptedLlm(("invoke_skill", {"name": "pdf", "arguments": "a.pdf"}), "Done.")
    agent = LlmAgent(name="clerk", model=llm, tools=[manager.invoke_skill])
    [answer] = responses(asyncio.run(run(agent))[0])
    assert "Fill in: a.pdf." in answer["result"]


def test_hints_resolve() -> None:
    functions = (create_skill_tools, skill_instructions, SkillToolset.__init__)
    for function in (*functions, SkillToolset.get_tools, SkillTool.__init__, SkillTool.run_async):
        get_type_hints(function)


def test_the_guide(
    skills: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    llms = [
        ScriptedLlm(("load_skill", {"name": "pdf", "arguments": "a.pdf"}), "It has fields."),
        ScriptedLlm(CHECK, "It was checked."),
        ScriptedLlm(CHECK, "It may run."),
        ScriptedLlm("Hello."),
    ]
    given = list(llms)
    monkeypatch.setattr(LLMRegistry, "new_llm", staticmethod(lambda model: given[0]))
    monkeypatch.setattr("builtins.input", lambda question: print(question) or "yes")
    names: dict[str, Any] = {"__name__": "guide"}
    for number, example in enumerate(examples(GUIDE / "google-adk.md")):
        exec(compile(example, f"docs/guide/google-adk.md, {number}", "exec"), names)
        if given and not given[0]._answers:
            given.pop(0)
    said = capsys.readouterr().out
    for text in ("It has fields.", "It was checked.", "It may run.", "there is no skill `xlsx`"):
        assert text in said
    assert "Run {'name': 'pdf', 'script': 'check'" in said
    assert not given
