"""Skills for Anthropic's SDK, with the SDK itself and a server of this machine."""

from __future__ import annotations

import asyncio
import typing
from collections.abc import Iterator
from typing import Any

import pytest
from conftest import World
from support.adapters import ends, for_pipes, office, slow
from support.messages_api import MessagesAPI, Request, results, system, use

pytest.importorskip("anthropic", reason="anthropic is not installed")

from anthropic import Anthropic, AsyncAnthropic, beta_tool
from anthropic.lib.tools import BetaFunctionTool

import skillpm.anthropic as adapter
from skillpm import ConfigurationError, Toolkit
from skillpm.anthropic import (
    atool_results,
    create_async_skill_tools,
    create_skill_tools,
    tool_params,
    tool_results,
)

MODEL: Any = {"model": "claude-sonnet-5-5", "max_tokens": 1024}
GO: Any = [{"role": "user", "content": "Go on."}]

# A model that uses a skill, and fails at first.
USES = (
    use("load_skill", name="pfd"),
    use("load_skill", nam="pdf"),
    use("search_skills", query="forms"),
    use("load_skill", name="pdf", arguments="a.pdf"),
    [
        use("read_skill_file", name="pdf", path="references/forms.md"),
        use("run_skill_script", name="pdf", script="check", arguments={"path": "a.pdf"}),
        use("run_skill_script", name="pdf", script="check", arguments={"path": "missing.pdf"}),
    ],
    "Done.",
)


def check(requests: list[Request], kit: Toolkit) -> None:
    """Assert that a model was asked what it is to be asked, for the answers of ``USES``."""
    told = [results(request) for request in requests[1:]]
    assert [[failed for _, failed in answers] for answers in told] == [
        [True],
        [True],
        [False],
        [False],
        [False, False, True],
    ]
    texts = [text for answers in told for text, _ in answers]
    expected = (
        "there is no skill `pfd`",
        "there is no argument `nam`",
        "Fills in forms.",
        "Fill a.pdf.",
        "About forms.",
        "a.pdf has fields.",
        "missing.pdf does not exist",
    )
    for text, part in zip(texts, expected):
        assert part in text
    for request in requests:
        assert system(request) == kit.instructions()
        assert system(request).count("<name>pdf</name>") == 1
        given = [(t["name"], t["description"], t["input_schema"]) for t in request["tools"]]
        assert given == [(t.name, t.description, t.parameters) for t in kit.tools]


@pytest.fixture
def kit(world: World) -> Toolkit:
    """Return a toolkit of a skill whose scripts may run."""
    return Toolkit(office(world), scripts=True)


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Iterator[MessagesAPI]:
    """Return a server that plays ``USES``, which clients talk to."""
    with MessagesAPI(*USES).served() as api:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
        yield api


def test_the_tool_runner(kit: Toolkit, api: MessagesAPI) -> None:
    with Anthropic() as client:
        runner = client.beta.messages.tool_runner(
            **MODEL, system=kit.instructions(), tools=create_skill_tools(kit), messages=GO
        )
        last = runner.until_done()
    assert last.content[0].type == "text" and last.content[0].text == "Done."
    check(api.requests, kit)


def test_the_tool_runner_that_streams(kit: Toolkit, api: MessagesAPI) -> None:
    with Anthropic() as client:
        runner = client.beta.messages.tool_runner(
            **MODEL,
            system=kit.instructions(),
            tools=create_skill_tools(kit),
            messages=GO,
            stream=True,
        )
        for stream in runner:
            stream.get_final_message()
    check(api.requests, kit)


def test_the_tool_runner_that_is_awaited(kit: Toolkit, api: MessagesAPI) -> None:
    async def run() -> None:
        async with AsyncAnthropic() as client:
            tools = create_async_skill_tools(kit)
            runner = client.beta.messages.tool_runner(
                **MODEL, system=kit.instructions(), tools=tools, messages=GO
            )
            await runner.until_done()

    asyncio.run(run())
    check(api.requests, kit)


def test_a_loop_of_ones_own(kit: Toolkit, api: MessagesAPI) -> None:
    messages = list(GO)
    with Anthropic() as client:
        while True:
            message = client.messages.create(
                **MODEL, system=kit.instructions(), tools=tool_params(kit), messages=messages
            )
            if message.stop_reason != "tool_use":
                break
            messages += [
                {"role": "assistant", "content": message.content},
                {"role": "user", "content": tool_results(kit, message)},
            ]
    check(api.requests, kit)


def test_a_loop_of_ones_own_that_is_awaited(kit: Toolkit, api: MessagesAPI) -> None:
    async def run() -> None:
        messages = list(GO)
        async with AsyncAnthropic() as client:
            while True:
                message = await client.messages.create(
                    **MODEL, system=kit.instructions(), tools=tool_params(kit), messages=messages
                )
                if message.stop_reason != "tool_use":
                    return
                messages += [
                    {"role": "assistant", "content": message.content},
                    {"role": "user", "content": await atool_results(kit, message)},
                ]

    asyncio.run(run())
    check(api.requests, kit)


def test_calls_of_other_tools_are_left(kit: Toolkit, api: MessagesAPI) -> None:
    api.answers[0] = [use("weather"), use("load_skill", name="pdf"), use("team_load_skill")]
    with Anthropic() as client:
        message = client.messages.create(**MODEL, tools=tool_params(kit), messages=GO)
    [answer] = tool_results(kit, message)
    assert answer["tool_use_id"] == "toolu_0_1"


def test_beside_other_tools(kit: Toolkit, api: MessagesAPI) -> None:
    @beta_tool
    def weather() -> str:
        """Say what the weather is."""
        return "Rain."

    api.answers[:] = [use("weather"), use("load_skill", name="pdf"), "Done."]
    with Anthropic() as client:
        tools: list[BetaFunctionTool[Any]] = [weather, *create_skill_tools(kit)]
        client.beta.messages.tool_runner(**MODEL, tools=tools, messages=GO).until_done()
    assert results(api.requests[1]) == [("Rain.", False)]
    assert "Fill ." in results(api.requests[2])[0][0]


def test_a_budget_bounds_the_catalog(world: World, api: MessagesAPI) -> None:
    for n in range(50):
        world.skill(f"skill-{n}", description="Does many things. " * 20, source="skills")
    with Anthropic() as client:
        for budget in (None, 500):
            kit = Toolkit("skills", budget=budget)
            said: Any = {"system": kit.instructions(), "tools": tool_params(kit), "messages": GO}
            client.messages.create(**MODEL, **said)
    whole, cut = map(system, api.requests)
    assert len(cut) < len(whole) / 4
    assert "skill-49" in cut


@for_pipes
def test_cancelling_the_run_ends_the_script(world: World, api: MessagesAPI) -> None:
    call = slow(world)
    api.answers[:] = [use("run_skill_script", **call)]
    tools = create_async_skill_tools(office(world), scripts=True, sandbox="off")

    async def run() -> None:
        async with AsyncAnthropic() as client:
            await client.beta.messages.tool_runner(**MODEL, tools=tools, messages=GO).until_done()

    assert ends(run, call)


def test_options_of_a_toolkit_are_its_own(kit: Toolkit) -> None:
    for function in (create_skill_tools, create_async_skill_tools):
        with pytest.raises(ConfigurationError, match="`budget`: a `Toolkit` has its own options"):
            function(kit, budget=5)


def test_hints_resolve() -> None:
    for name in adapter.__all__:
        assert typing.get_type_hints(getattr(adapter, name))["return"]


def test_methods_of_a_manager_are_tools(kit: Toolkit, api: MessagesAPI) -> None:
    api.answers[:] = [use("invoke_skill", name="pdf", arguments="b.pdf"), "Done."]
    with Anthropic() as client:
        methods = (kit.manager.invoke_skill, kit.manager.read_skill_file)
        tools: list[BetaFunctionTool[Any]] = [beta_tool(method) for method in methods]
        client.beta.messages.tool_runner(**MODEL, tools=tools, messages=GO).until_done()
    assert "Fill b.pdf." in results(api.requests[1])[0][0]
