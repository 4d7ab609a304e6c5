"""Skills in agents of the OpenAI Agents SDK, with the SDK itself and a scripted model."""

from __future__ import annotations

import typing
from typing import Any

import pytest
from conftest import World
from support.adapters import ends, for_pipes, office, slow

pytest.importorskip("agents", reason="openai-agents is not installed")

from agents import Agent, RunConfig, Runner, function_tool
from support.openai_model import Call, ScriptedModel, calling, calling_text

import skillpm.openai_agents as adapter
from skillpm import ConfigurationError, SkillManager, Toolkit
from skillpm.openai_agents import create_skill_tools, skill_instructions

QUIET = RunConfig(tracing_disabled=True)


def run(kit: Toolkit, *answers: Any, text: str = "", **options: Any) -> list[Call]:
    """Return what the model of an agent with skills was asked."""
    model = ScriptedModel(*answers)
    agent = Agent(
        name="clerk",
        model=model,
        instructions=skill_instructions(kit, text),
        tools=create_skill_tools(kit, **options),
    )
    result = Runner.run_sync(agent, "Go on.", run_config=QUIET)
    assert result.final_output == answers[-1]
    return model.calls


def test_an_agent_uses_a_skill(world: World) -> None:
    kit = Toolkit(office(world), scripts=True)
    calls = run(
        kit,
        calling("search_skills", query="forms"),
        calling("load_skill", name="pdf", arguments="a.pdf"),
        calling("read_skill_file", name="pdf", path="references/forms.md"),
        calling("run_skill_script", name="pdf", script="check", arguments={"path": "a.pdf"}),
        "Done.",
        text="You are terse.",
    )
    assert "Fills in forms." in calls[1].result
    assert "Fill a.pdf." in calls[2].result
    assert "About forms." in calls[3].result
    assert "a.pdf has fields." in calls[4].result
    for call in calls:
        assert call.system.startswith("You are terse.\n\nSkills are instructions")
        assert call.system.count("<name>pdf</name>") == 1
    names = ["search_skills", "load_skill", "read_skill_file", "run_skill_script"]
    assert [tool.name for tool in calls[0].tools] == names
    for tool, expected in zip(calls[0].tools, kit.tools):
        assert tool.params_json_schema == expected.parameters
        assert tool.description == expected.description
        assert not tool.strict_json_schema


def test_a_call_that_fails_is_told(world: World) -> None:
    calls = run(
        Toolkit(office(world), scripts=True),
        calling("load_skill", name="pfd"),
        calling("load_skill", nam="pdf"),
        calling_text("load_skill", "{"),
        calling_text("load_skill", "[1]"),
        calling("run_skill_script", name="pdf", script="check", arguments={"path": "missing.pdf"}),
        "I could not.",
    )
    told = [call.result for call in calls[1:]]
    assert "there is no skill `pfd`" in told[0]
    assert "there is no argument `nam`" in told[1]
    assert told[2].startswith("the arguments are not JSON: ")
    assert told[3] == "the arguments are not a JSON object"
    assert "missing.pdf does not exist" in told[4]


def test_skills_that_come_later_are_seen(world: World) -> None:
    office(world)
    kit = Toolkit(SkillManager("skills", freshness="stat"))
    assert "<name>docx</name>" not in run(kit, "ok")[0].system
    world.skill("docx", source="skills")
    assert "<name>docx</name>" in run(kit, "ok")[0].system


def test_without_skills_only_the_own_text_is_there(world: World) -> None:
    (world.project / "none").mkdir()
    assert run(Toolkit("none"), "ok", text="You are terse.")[0].system == "You are terse."


def test_a_budget_bounds_the_catalog(world: World) -> None:
    for n in range(50):
        world.skill(f"skill-{n}", description="Does many things. " * 20, source="skills")
    whole, cut = (run(Toolkit("skills", budget=b), "ok")[0].system for b in (None, 500))
    assert len(cut) < len(whole) / 4
    assert "skill-49" in cut


def test_a_person_approves_of_scripts(world: World) -> None:
    model = ScriptedModel(
        calling("load_skill", name="pdf"),
        calling("run_skill_script", name="pdf", script="check", arguments={"path": "a.pdf"}),
        "Done.",
    )
    tools = create_skill_tools(office(world), scripts=True, needs_approval=True)
    agent = Agent(name="clerk", model=model, tools=tools)
    result = Runner.run_sync(agent, "Go on.", run_config=QUIET)
    [asked] = result.interruptions
    assert asked.name == "run_skill_script"
    state = result.to_state()
    state.approve(asked)
    result = Runner.run_sync(agent, state, run_config=QUIET)
    assert result.final_output == "Done."
    assert "a.pdf has fields." in model.calls[-1].result


@for_pipes
def test_cancelling_the_run_ends_the_script(world: World) -> None:
    call = slow(world)
    model = ScriptedModel(calling("run_skill_script", **call))
    tools = create_skill_tools(office(world), scripts=True, sandbox="off")
    agent = Agent(name="clerk", model=model, tools=tools)
    assert ends(lambda: Runner.run(agent, "Go on.", run_config=QUIET), call)


def test_options_of_a_toolkit_are_its_own(world: World) -> None:
    with pytest.raises(ConfigurationError, match="`budget`: a `Toolkit` has its own options"):
        skill_instructions(Toolkit(office(world)), budget=5)
    assert [tool.name for tool in create_skill_tools("skills", prefix="team")][1] == (
        "team_load_skill"
    )


def test_hints_resolve() -> None:
    for name in ("create_skill_tools", "skill_instructions"):
        assert typing.get_type_hints(getattr(adapter, name))["return"]


def test_methods_of_a_manager_are_tools(world: World) -> None:
    manager = office(world)
    model = ScriptedModel(calling("invoke_skill", name="pdf", arguments="b.pdf"), "Done.")
    tools = [function_tool(manager.invoke_skill), function_tool(manager.read_skill_file)]
    agent = Agent(name="clerk", model=model, tools=[*tools])
    assert Runner.run_sync(agent, "Go on.", run_config=QUIET).final_output == "Done."
    assert "Fill b.pdf." in model.calls[1].result
