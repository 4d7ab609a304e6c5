"""Skills for the Claude Agent SDK, with the Claude Code that it brings and a server beside it."""

from __future__ import annotations

import asyncio
import os
import typing
from collections.abc import Iterator
from typing import Any

import pytest
from conftest import World
from support.adapters import ends, for_pipes, office, slow
from support.messages_api import MessagesAPI, Request, results, system, use

pytest.importorskip("claude_agent_sdk", reason="claude-agent-sdk is not installed")

from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    PermissionResultAllow,
    PermissionResultDeny,
    ResultMessage,
)

import skillpm.claude_agent_sdk as adapter
from skillpm import ConfigurationError, SkillManager, Toolkit
from skillpm.claude_agent_sdk import add_skills, skill_instructions

OURS = "mcp__skills__"


@pytest.fixture
def api(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[MessagesAPI]:
    """Return a server without answers, which Claude Code talks to and to nothing else."""
    for name in list(os.environ):
        if name.startswith(("ANTHROPIC_", "CLAUDE")):
            monkeypatch.delenv(name)
    with MessagesAPI().served() as api:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
        monkeypatch.setenv("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        monkeypatch.setenv("DISABLE_AUTOUPDATER", "1")
        monkeypatch.setenv("CLAUDE_CODE_TMPDIR", str(world.root))
        yield api


async def said(options: ClaudeAgentOptions) -> str:
    """Return what an agent says in the end."""
    async with ClaudeSDKClient(options) as client:
        await client.query("Go on.")
        messages = [message async for message in client.receive_response()]
    last = messages[-1]
    assert isinstance(last, ResultMessage)
    return str(last.result)


def run(api: MessagesAPI, options: ClaudeAgentOptions, *answers: Any) -> list[Request]:
    """Return what the model of an agent was asked."""
    api.answers[:] = answers
    assert asyncio.run(said(options)) == answers[-1]
    return api.requests


def test_an_agent_uses_a_skill(world: World, api: MessagesAPI) -> None:
    kit = Toolkit(office(world), scripts=True)
    given = ClaudeAgentOptions(system_prompt="You are terse.", tools=[], setting_sources=[])
    requests = run(
        api,
        add_skills(given, kit),
        use(OURS + "search_skills", query="forms"),
        use(OURS + "load_skill", name="pdf", arguments="a.pdf"),
        use(OURS + "read_skill_file", name="pdf", path="references/forms.md"),
        use(OURS + "run_skill_script", name="pdf", script="check", arguments={"path": "a.pdf"}),
        use(OURS + "load_skill", name="pfd"),
        use(
            OURS + "run_skill_script", name="pdf", script="check", arguments={"path": "missing.pdf"}
        ),
        "Done.",
    )
    expected = (
        ("Fills in forms.", False),
        ("Fill a.pdf.", False),
        ("About forms.", False),
        ("a.pdf has fields.", False),
        ("there is no skill `pfd`", True),
        ("missing.pdf does not exist", True),
    )
    assert len(requests) == len(expected) + 1
    for request, (text, failed) in zip(requests[1:], expected):
        [answer] = results(request)
        assert text in answer[0] and answer[1] == failed
    for request in requests:
        assert "You are terse.\n\nSkills are instructions" in system(request)
        assert "call `mcp__skills__load_skill` with its name" in system(request)
        assert system(request).count("<name>pdf</name>") == 1
        # None of them waits for a search of tools.
        found = {tool["name"]: tool for tool in request["tools"] if OURS in tool["name"]}
        assert found.keys() == {OURS + tool.name for tool in kit.tools}
        for tool in kit.tools:
            assert found[OURS + tool.name]["description"] == tool.description
            assert found[OURS + tool.name]["input_schema"] == tool.parameters


@pytest.mark.filterwarnings("ignore:can_use_tool will not be invoked")
@pytest.mark.parametrize("answer", [True, False])
def test_a_person_approves_of_scripts(world: World, api: MessagesAPI, answer: bool) -> None:
    asked: list[str] = []

    async def can_use_tool(name: str, *_: Any) -> Any:
        asked.append(name)
        return PermissionResultAllow() if answer else PermissionResultDeny(message="Rather not.")

    given = ClaudeAgentOptions(can_use_tool=can_use_tool, tools=[], setting_sources=[])
    requests = run(
        api,
        add_skills(given, office(world), scripts=True, needs_approval=True),
        use(OURS + "load_skill", name="pdf"),
        use(OURS + "run_skill_script", name="pdf", script="check", arguments={"path": "a.pdf"}),
        "Done.",
    )
    assert asked == [OURS + "run_skill_script"]
    [(text, failed)] = results(requests[-1])
    assert ("a.pdf has fields." if answer else "Rather not.") in text
    assert failed is not answer


def test_a_long_file_comes_whole(world: World, api: MessagesAPI) -> None:
    """Claude Code puts long answers into files, of which a model without its tools sees nothing."""
    manager = office(world)
    text = "About forms.\n" * 4000
    world.write("skills/pdf/references/forms.md", text)
    requests = run(
        api,
        add_skills(ClaudeAgentOptions(tools=[], setting_sources=[]), manager),
        use(OURS + "read_skill_file", name="pdf", path="references/forms.md"),
        "Done.",
    )
    assert text.strip() in results(requests[1])[0][0]


@for_pipes
def test_cancelling_the_run_ends_the_script(world: World, api: MessagesAPI) -> None:
    call = slow(world)
    api.answers[:] = [use(OURS + "run_skill_script", **call)]
    given = ClaudeAgentOptions(tools=[], setting_sources=[])
    options = add_skills(given, office(world), scripts=True, sandbox="off")
    assert ends(lambda: said(options), call)


def test_options_are_added_to(world: World) -> None:
    given = ClaudeAgentOptions(
        allowed_tools=["Read"],
        mcp_servers={"other": {"command": "other"}},
        system_prompt={"type": "preset", "preset": "claude_code", "append": "You are terse."},
    )
    options = add_skills(given, office(world), server="team", prefix="our", scripts=True)
    assert given.allowed_tools == ["Read"]
    names = ["search_skills", "load_skill", "read_skill_file", "run_skill_script"]
    assert options.allowed_tools == ["Read", *(f"mcp__team__our_{name}" for name in names)]
    for left, servers in ((given, {"other"}), (options, {"other", "team"})):
        assert isinstance(left.mcp_servers, dict)
        assert left.mcp_servers.keys() == servers
    prompt: Any = options.system_prompt
    assert prompt["preset"] == "claude_code"
    assert prompt["append"].startswith("You are terse.\n\nSkills are instructions")
    assert "`mcp__team__our_load_skill`" in prompt["append"]
    custom = add_skills(ClaudeAgentOptions(system_prompt={"type": "custom", "prompt": "x"}))
    assert custom.system_prompt == {"type": "custom", "prompt": "x"}


def test_without_skills_the_system_prompt_stays(world: World) -> None:
    (world.project / "none").mkdir()
    for given in (None, "You are terse."):
        assert add_skills(ClaudeAgentOptions(system_prompt=given), "none").system_prompt == given


def test_files_cannot_be_added_to(world: World) -> None:
    for options, told in (
        (ClaudeAgentOptions(mcp_servers="servers.json"), "`mcp_servers` is a file"),
        (ClaudeAgentOptions(system_prompt={"type": "file", "path": "x"}), "`system_prompt` is a"),
    ):
        with pytest.raises(ConfigurationError, match=told):
            add_skills(options, office(world))


def test_a_budget_bounds_the_catalog(world: World) -> None:
    for n in range(500):
        world.skill(f"skill-{n}", description="Does many things. " * 20, source="skills")
    manager = SkillManager("skills")
    prompt: Any = add_skills(ClaudeAgentOptions(), manager).system_prompt
    assert len(prompt.encode()) <= adapter._LONGEST and "skill-499" in prompt
    with pytest.raises(ConfigurationError, match="the SDK hands over") as raised:
        skill_instructions(Toolkit(manager))
    assert raised.value.hint == f"`Toolkit(..., budget={adapter._BUDGET:_})` shortens it"
    shorter: Any = add_skills(ClaudeAgentOptions(), manager, budget=3_000).system_prompt
    assert len(shorter) < len(prompt)


def test_hints_resolve() -> None:
    for name in adapter.__all__:
        assert typing.get_type_hints(getattr(adapter, name))["return"]
