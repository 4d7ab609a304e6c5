"""smolagents: an agent that uses skills."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from conftest import World
from support.documents import GUIDE, examples

pytest.importorskip("smolagents", reason="smolagents is not installed")

import smolagents  # type: ignore[import-untyped,unused-ignore]
from smolagents import CodeAgent, ToolCallingAgent
from smolagents.models import (  # type: ignore[import-untyped,unused-ignore]
    ChatMessage,
    ChatMessageToolCall,
    ChatMessageToolCallFunction,
    MessageRole,
    Model,
)

from skillpm import SkillManager, SkillpmError, Toolkit
from skillpm.smolagents import create_skill_tools, skill_instructions


class ScriptedModel(Model):  # type: ignore[misc,unused-ignore]
    """Gives its answers one after the other: texts, or tools with what they get."""

    def __init__(self, *answers: Any) -> None:
        super().__init__(model_id="scripted")
        self.answers = list(answers)
        self.asked: list[str] = []
        self.tools: list[Any] = []

    def generate(self, messages: list[Any], **kwargs: Any) -> ChatMessage:
        self.asked.append("\n".join(_text(message) for message in messages))
        self.tools = kwargs.get("tools_to_call_from") or []
        answer = self.answers.pop(0)
        if isinstance(answer, str):
            return ChatMessage(role=MessageRole.ASSISTANT, content=answer)
        name, arguments = answer
        function = ChatMessageToolCallFunction(name=name, arguments=arguments)
        call = ChatMessageToolCall(function=function, id=f"call-{len(self.asked)}", type="function")
        return ChatMessage(role=MessageRole.ASSISTANT, content="", tool_calls=[call])


def _text(message: Any) -> str:
    content = message.content
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) for part in content or ())


def final(answer: str) -> tuple[str, dict[str, Any]]:
    return "final_answer", {"answer": answer}


@pytest.fixture
def skills(world: World) -> Path:
    world.skill("pdf", "Fill in: $ARGUMENTS.\n", source="skills")
    world.write("skills/pdf/references/forms.md", "Forms have fields.\n")
    world.write("skills/pdf/scripts/check.py", "import sys\nprint('Checked', sys.argv[1])\n")
    world.skill("secret", fields="disable-model-invocation: true\n", source="skills")
    return world.project / "skills"


def agent_with(model: Model, kit: Toolkit, kind: Any = ToolCallingAgent) -> Any:
    return kind(
        create_skill_tools(kit),
        model,
        instructions=skill_instructions(kit, "You are a clerk."),
        verbosity_level=0,
    )


def test_an_agent_uses_a_skill(skills: Path) -> None:
    model = ScriptedModel(
        ("search_skills", {"query": "forms pdf"}),
        ("load_skill", {"name": "pdf", "arguments": "a.pdf"}),
        ("read_skill_file", {"name": "pdf", "path": "references/forms.md"}),
        (
            "run_skill_script",
            {"name": "pdf", "script": "check", "arguments": {"arguments": ["a.pdf"]}},
        ),
        final("It is filled in."),
    )
    kit = Toolkit(SkillManager(skills, scripts="allow", trusted=True), scripts=True)
    assert agent_with(model, kit).run("Fill in a.pdf.") == "It is filled in."
    assert "Does pdf." in model.asked[1].rpartition("Observation")[2]
    assert "Fill in: a.pdf." in model.asked[2].rpartition("Observation")[2]
    assert "Forms have fields." in model.asked[3].rpartition("Observation")[2]
    assert "Checked a.pdf" in model.asked[4].rpartition("Observation")[2]
    # The system prompt has the catalog once, after the agent's own instructions.
    first = model.asked[0]
    assert first.count("Does pdf. Use it in tests.") == 1
    assert first.index("You are a clerk.") < first.index("call `load_skill`")
    assert "secret" not in first
    assert {"load_skill", "run_skill_script"} < {tool.name for tool in model.tools}


def test_code_calls_the_tools(skills: Path) -> None:
    code = (
        "<code>\ntext = load_skill('pdf', 'a.pdf')\n"
        "print(text, read_skill_file('pdf', path='references/forms.md', limit=5))\n</code>"
    )
    model = ScriptedModel(code, "<code>\nfinal_answer('Done.')\n</code>")
    assert agent_with(model, Toolkit(skills), CodeAgent).run("Fill in a.pdf.") == "Done."
    assert "def load_skill(name: string, arguments: string) -> string" in model.asked[0]
    assert "Fill in: a.pdf." in model.asked[1]
    assert "Forms" in model.asked[1]
    assert "Forms have" not in model.asked[1]


def test_a_model_reads_why_a_call_failed(skills: Path) -> None:
    model = ScriptedModel(
        ("load_skill", {"name": "docx"}),
        ("load_skill", {"name": "secret"}),
        ("run_skill_script", {"name": "pdf", "script": "check"}),
        final("No."),
    )
    manager = SkillManager(skills, scripts="allow", trusted=True)
    assert agent_with(model, Toolkit(manager, scripts=True)).run("?") == "No."
    assert "there is no skill `docx`" in model.asked[1]
    assert "only a person may start the skill `secret`" in model.asked[2]
    assert "IndexError" in model.asked[3]


def test_the_schema_is_that_of_the_core(skills: Path) -> None:
    tools = {tool.name: tool for tool in create_skill_tools(skills, scripts=True)}
    assert list(tools["read_skill_file"].inputs) == ["name", "path", "offset", "limit"]
    schema = smolagents.models.get_tool_json_schema(tools["read_skill_file"])["function"]
    assert schema["parameters"]["required"] == ["name", "path"]
    assert schema["parameters"]["properties"]["offset"]["minimum"] == 0
    assert tools["load_skill"](name="pdf", arguments=None).count("Fill in: .") == 1
    with pytest.raises(SkillpmError, match="no argument `nmae`"):
        tools["load_skill"](nmae="pdf")


def test_options(skills: Path) -> None:
    tools = create_skill_tools(skills, prefix="team", max_output=20)
    assert [tool.name for tool in tools][1:] == ["team_load_skill", "team_read_skill_file"]
    assert "Forms have fields." not in tools[2]("pdf", "SKILL.md")
    assert skill_instructions(skills, exclude="pdf") == ""
    # The budget has room for the names only.
    said = skill_instructions(skills, budget=10)
    assert "pdf" in said
    assert "Does pdf" not in said
    with pytest.raises(ValueError, match="has its own options"):
        create_skill_tools(Toolkit(skills), scripts=True)


def test_functions_become_tools(skills: Path) -> None:
    manager = SkillManager(skills)
    assert "Fill in: a.pdf." in smolagents.tool(manager.invoke_skill)("pdf", "a.pdf")
    tools = [smolagents.tool(function) for function in Toolkit(manager).functions()]
    assert "Forms have" in tools[2](name="pdf", path="references/forms.md")


def test_hints_resolve() -> None:
    for function in (create_skill_tools, skill_instructions):
        get_type_hints(function)


def test_the_guide(
    skills: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    loading = ("load_skill", {"name": "pdf", "arguments": "a.pdf"})
    checking = {"name": "pdf", "script": "check", "arguments": {"arguments": ["a.pdf"]}}
    models = [
        ScriptedModel(loading, final("It has fields.")),
        ScriptedModel("<code>\nfinal_answer(load_skill('pdf', 'a.pdf'))\n</code>"),
        ScriptedModel(loading, ("run_skill_script", checking), final("It was checked.")),
    ]
    given = iter(models)
    monkeypatch.setattr(smolagents, "InferenceClientModel", lambda **options: next(given))
    names: dict[str, Any] = {"__name__": "guide"}
    for number, example in enumerate(examples(GUIDE / "smolagents.md")):
        exec(compile(example, f"docs/guide/smolagents.md, {number}", "exec"), names)
    said = capsys.readouterr().out
    assert "It has fields." in said
    assert "Fill in: a.pdf." in said
    assert "It was checked." in said
    assert "there is no skill `xlsx`" in said
    assert "Checked a.pdf" in models[-1].asked[-1]
    assert not any(model.answers for model in models), json.dumps(said)
