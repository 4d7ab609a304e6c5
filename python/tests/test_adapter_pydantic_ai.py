"""Skills in agents of PydanticAI, with PydanticAI itself and a scripted model."""

from __future__ import annotations

import typing
from typing import Any

import pytest
from conftest import World
from support.adapters import ends, for_pipes, office, slow

pytest.importorskip("pydantic_ai", reason="pydantic-ai-slim is not installed")

from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults
from pydantic_ai.messages import ToolReturnPart
from support.pydantic_model import Call, ScriptedModel, calling

from skillpm import ConfigurationError, SkillManager, Toolkit
from skillpm.pydantic_ai import SkillToolset


def run(toolset: SkillToolset, *answers: Any, **options: Any) -> list[Call]:
    """Return what the model of an agent with skills was asked."""
    model = ScriptedModel(*answers)
    agent = Agent(model.function, toolsets=[toolset], **options)
    assert agent.run_sync("Go on.").output == answers[-1]
    return model.calls


def test_an_agent_uses_a_skill(world: World) -> None:
    toolset = SkillToolset(office(world), scripts=True)
    calls = run(
        toolset,
        calling("search_skills", query="forms"),
        calling("load_skill", name="pdf", arguments="a.pdf"),
        calling("read_skill_file", name="pdf", path="references/forms.md"),
        calling("run_skill_script", name="pdf", script="check", arguments={"path": "a.pdf"}),
        "Done.",
        instructions="You are terse.",
    )
    assert "Fills in forms." in calls[1].result
    assert "Fill a.pdf." in calls[2].result
    assert "About forms." in calls[3].result
    assert "a.pdf has fields." in calls[4].result
    for call in calls:
        assert call.system.startswith("You are terse.\n\nSkills are instructions")
        assert call.system.count("<name>pdf</name>") == 1
    found = [(tool.name, tool.description, tool.parameters_json_schema) for tool in calls[0].tools]
    assert found == [(tool.name, tool.description, tool.parameters) for tool in toolset.kit.tools]


def test_how_a_script_ran_is_metadata(world: World) -> None:
    calls = run(
        SkillToolset(office(world), scripts=True),
        calling("run_skill_script", name="pdf", script="check", arguments={"path": "a.pdf"}),
        "Done.",
    )
    metadata: Any = calls[1].answer.metadata
    assert (metadata["skill"], metadata["exit_code"]) == ("pdf", 0)


def test_a_call_that_fails_is_told_and_costs_no_retry(world: World) -> None:
    calls = run(
        SkillToolset(office(world), scripts=True),
        *(calling("load_skill", name="pfd") for _ in range(3)),
        calling("load_skill", nam="pdf"),
        calling("run_skill_script", name="pdf", script="check", arguments={"path": "missing.pdf"}),
        "I could not.",
        retries=0,
    )
    told = [call.answer for call in calls[1:]]
    assert all(isinstance(part, ToolReturnPart) and part.outcome == "failed" for part in told)
    assert "there is no skill `pfd`" in calls[3].result
    assert "there is no argument `nam`" in calls[4].result
    assert "missing.pdf does not exist" in calls[5].result


def test_skills_that_come_later_are_seen(world: World) -> None:
    office(world)
    toolset = SkillToolset(SkillManager("skills", freshness="stat"))
    assert "<name>docx</name>" not in run(toolset, "ok")[0].system
    world.skill("docx", source="skills")
    assert "<name>docx</name>" in run(toolset, "ok")[0].system


def test_without_skills_only_the_own_text_is_there(world: World) -> None:
    (world.project / "none").mkdir()
    [call] = run(SkillToolset("none"), "ok", instructions="You are terse.")
    assert call.system == "You are terse."


def test_a_budget_bounds_the_catalog(world: World) -> None:
    for n in range(50):
        world.skill(f"skill-{n}", description="Does many things. " * 20, source="skills")
    whole, cut = (run(SkillToolset("skills", budget=b), "ok")[0].system for b in (None, 500))
    assert len(cut) < len(whole) / 4
    assert "skill-49" in cut


def test_a_person_approves_of_scripts(world: World) -> None:
    model = ScriptedModel(
        calling("load_skill", name="pdf"),
        calling("run_skill_script", name="pdf", script="check", arguments={"path": "a.pdf"}),
        "Done.",
    )
    toolset = SkillToolset(office(world), scripts=True, requires_approval=True)
    agent = Agent(model.function, toolsets=[toolset], output_type=[str, DeferredToolRequests])
    result = agent.run_sync("Go on.")
    assert isinstance(result.output, DeferredToolRequests)
    [asked] = result.output.approvals
    assert asked.tool_name == "run_skill_script"
    answers = DeferredToolResults(approvals={asked.tool_call_id: True})
    result = agent.run_sync(message_history=result.all_messages(), deferred_tool_results=answers)
    assert result.output == "Done."
    assert "a.pdf has fields." in model.calls[-1].result


@for_pipes
def test_cancelling_the_run_ends_the_script(world: World) -> None:
    call = slow(world)
    model = ScriptedModel(calling("run_skill_script", **call))
    toolset = SkillToolset(office(world), scripts=True, sandbox="off")
    agent = Agent(model.function, toolsets=[toolset])
    assert ends(lambda: agent.run("Go on."), call)


def test_two_toolsets_in_one_agent(world: World) -> None:
    world.skill("csv", source="team")
    model = ScriptedModel(calling("team_load_skill", name="csv", arguments="it"), "Done.")
    toolsets = [SkillToolset(office(world), id="own"), SkillToolset("team", prefix="team")]
    Agent(model.function, toolsets=toolsets).run_sync("Go on.")
    assert "Do it." in model.calls[1].result
    assert [toolset.id for toolset in toolsets] == ["own", None]


def test_options_of_a_toolkit_are_its_own(world: World) -> None:
    with pytest.raises(ConfigurationError, match="`budget`: a `Toolkit` has its own options"):
        SkillToolset(Toolkit(office(world)), budget=5)


def test_hints_resolve() -> None:
    for function in (SkillToolset.__init__, SkillToolset.call_tool, SkillToolset.get_instructions):
        assert "return" in typing.get_type_hints(function)


def test_methods_of_a_manager_are_tools(world: World) -> None:
    manager = office(world)
    model = ScriptedModel(calling("invoke_skill", name="pdf", arguments="b.pdf"), "Done.")
    agent = Agent(model.function, tools=[manager.invoke_skill, manager.read_skill_file])
    assert agent.run_sync("Go on.").output == "Done."
    assert "Fill b.pdf." in model.calls[1].result
