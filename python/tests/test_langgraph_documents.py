"""The guide to LangGraph and the example agents, run as they stand."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest
from conftest import World

pytest.importorskip("langgraph", reason="langgraph is not installed")
pytest.importorskip("langchain", reason="langchain is not installed")

from langchain import chat_models
from support.documents import AGENTS, GUIDE, examples, run_agent
from support.model import ScriptedChatModel, calling


@pytest.mark.req(
    *("S2-T3", "S2-T9", "S2-T10", "S2-T12", "S2-T13"),
    *("S2-R6", "S2-R7", "S2-R8", "S2-R16", "S2-R20", "S2-R22", "S2-R23"),
)
def test_the_guide(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Alone, in a parent graph, the least node, a wiring of one's own, a shared kit."""
    source = ".agents/skills"
    world.skill("internal-comms", "Write news.\n", source=source)
    world.write(f"{source}/internal-comms/examples/newsletter.md", "Of newsletters.\n")
    world.skill("doc-coauthoring", "Write reports.\n", source=source)
    loading = calling("Skill", skill_name="internal-comms")
    reading = calling("SkillRead", skill_name="internal-comms", file_name="examples/newsletter.md")
    model = ScriptedChatModel(
        # Alone.
        *(calling("web_search", query="tea"), loading, reading, "Large."),
        # In a parent graph.
        *(loading, "Large.", calling("Skill", skill_name="doc-coauthoring"), "Tea is large."),
        # The least node.
        "Tea.",
        # A wiring of one's own.
        *(loading, "Large."),
        # A shared kit.
        *(loading, "Both.", "Both."),
    )
    monkeypatch.setattr(chat_models, "init_chat_model", lambda name: model)
    guide = ModuleType("guide")
    monkeypatch.setitem(sys.modules, "guide", guide)
    found = examples(GUIDE / "langgraph.md")
    results: list[Any] = []
    for number, example in enumerate(found):
        code = compile(example, f"docs/guide/langgraph.md, {number}", "exec", dont_inherit=True)
        exec(code, vars(guide))
        results.append(vars(guide).pop("result", None))

    def said(number: int) -> list[str]:
        return [message.content for message in results[number]["messages"] if message.content]

    question = "What is new on the market for tea?"
    search = "Nothing was found for tea."
    assert said(1) == [question, search, "Write news.\n", "Of newsletters.\n", "Large."]
    team = ["Write news.\n", "Large.", "Write reports.\n", "Tea is large."]
    assert said(2) == ["Write a newsletter on the market for tea.", *team]
    assert said(3) == ["Summarize: tea is a drink.", "Tea."]
    assert said(4) == [question, "Write news.\n", "Large."]
    assert said(5) == ["Which skills fit?", "Both."]
    assert len(model.calls) == len(model.answers)
    assert model.calls[0].tool_names == ["web_search", "Skill", "SkillRead"]
    assert model.calls[8].tool_names == []
    assert "<name>doc-coauthoring</name>" in model.calls[-1].description("Skill")


SAID = {
    "alone": ["Skill: # Code reviewer", "SkillRead: #", "ai: `mean([])` divides by zero."],
    "team": ["Skill: # Code reviewer", "Skill: # Git", "The last word had: committer"],
    "minimal": ["human: Tea is a drink.", "ai: Tee ist ein Getränk."],
    "wiring": ["Skill: # Markdown", "ai: # Tea - green - black"],
    "shared_kit": ["The planner's tools: Skill, SkillRead", "ai: First", "ai: Run `git add"],
}


@pytest.mark.req("S2-R7", "S2-R20", "S2-R23")
@pytest.mark.parametrize("script", SAID)
def test_an_example_agent(world: World, script: str) -> None:
    """Each runs wherever it is started."""
    said = run_agent(f"langgraph_{script}")
    lines = iter(said.splitlines())
    for start in SAID[script]:
        assert any(line.startswith(start) for line in lines), f"{start} in {said}"


def test_every_example_agent_is_run() -> None:
    assert {file.stem for file in AGENTS.glob("langgraph_*.py")} == {
        f"langgraph_{script}" for script in SAID
    }
