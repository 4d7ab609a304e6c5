"""Agents of LangChain with skills: what the model sees of them, and what stays."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from typing import Any

import pytest
from conftest import World

pytest.importorskip("langchain", reason="langchain is not installed")

from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    ClearToolUsesEdit,
    ContextEditingMiddleware,
    SummarizationMiddleware,
    before_model,
)
from langchain_core.messages import RemoveMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from support.model import Call, ScriptedChatModel, calling, calling_all

from skillpm import ConfigurationError, SkillManager
from skillpm.langchain import SkillsMiddleware

THREAD: Any = {"configurable": {"thread_id": "1"}}


@pytest.fixture(params=["sync", "async"])
def ask(request: pytest.FixtureRequest) -> Any:
    """Return a function that asks an agent in one of both ways, and returns the messages."""

    def ask(agent: Any, text: str = "Go on.", config: Any = None) -> list[Any]:
        asked = {"messages": [("user", text)]}
        sync = request.param == "sync"
        result = agent.invoke(asked, config) if sync else asyncio.run(agent.ainvoke(asked, config))
        messages: list[Any] = result["messages"]
        return messages

    return ask


def system(call: Call) -> str:
    """Return the system message that a model got, of which there is one at most."""
    found = [message for message in call.messages if isinstance(message, SystemMessage)]
    assert len(found) <= 1
    return str(found[0].content) if found else ""


def sees(call: Call, text: str) -> int:
    """Return how often a model saw a text."""
    return sum(str(message.content).count(text) for message in call.messages)


def test_the_catalog_is_in_each_call_once(world: World, ask: Any) -> None:
    world.skill("pdf", description="Fills <b>forms</b> & more.")
    model = ScriptedChatModel(*("ok" for _ in range(3)))
    agent = create_agent(
        model,
        system_prompt="You are terse.",
        middleware=[SkillsMiddleware()],
        checkpointer=InMemorySaver(),
    )
    for _ in range(3):
        messages = ask(agent, config=THREAD)
    assert not any(isinstance(message, SystemMessage) for message in messages)
    for call in model.calls:
        assert system(call).startswith("You are terse.\n\nSkills are instructions")
        assert sees(call, "<available_skills>") == 1
        assert sees(call, "<description>Fills &lt;b&gt;forms&lt;/b&gt; &amp; more.") == 1
        assert call.tool_names == ["load_skill", "read_skill_file"]
    # A provider's cache of prompts holds as long as no skill changes.
    assert len({system(call) for call in model.calls}) == 1


def test_without_a_system_prompt(world: World, ask: Any) -> None:
    world.skill("pdf")
    model = ScriptedChatModel("ok")
    ask(create_agent(model, middleware=[SkillsMiddleware(".claude/skills")]))
    assert system(model.calls[0]).startswith("Skills are instructions")


def test_marks_of_a_cache_stay(world: World, ask: Any) -> None:
    world.skill("pdf")
    block = {"type": "text", "text": "Terse.", "cache_control": {"type": "ephemeral"}}
    model = ScriptedChatModel("ok")
    prompt = SystemMessage([block])
    ask(create_agent(model, system_prompt=prompt, middleware=[SkillsMiddleware()]))
    content: Any = model.calls[0].messages[0].content
    assert content[0] == block
    assert "<name>pdf</name>" in content[1]["text"]
    assert prompt.content == [block]


def test_without_skills_there_is_nothing(world: World, ask: Any) -> None:
    @tool
    def other() -> str:
        """Do something else."""
        return ""

    model = ScriptedChatModel("ok")
    ask(create_agent(model, [other], middleware=[SkillsMiddleware()]))
    assert system(model.calls[0]) == ""
    assert model.calls[0].tool_names == ["other"]


def test_a_skill_is_loaded_and_a_file_is_read(world: World, ask: Any) -> None:
    directory = world.skill("pdf", "Fill $ARGUMENTS.\n")
    world.write(".claude/skills/pdf/references/forms.md", "About forms.\n")
    model = ScriptedChatModel(
        calling("load_skill", name="pdf", arguments="a.pdf"),
        calling("read_skill_file", name="pdf", path="references/forms.md"),
        "Done.",
    )
    messages = ask(create_agent(model, middleware=[SkillsMiddleware()]))
    assert [message.type for message in messages] == ["human", "ai", "tool", "ai", "tool", "ai"]
    for expected in ("Fill a.pdf.", str(directory), "<file>references/forms.md</file>"):
        assert expected in messages[2].content
    assert messages[4].content == "About forms.\n"
    assert sees(model.calls[2], "Fill a.pdf.") == 1


def test_the_model_is_told_of_its_mistakes(world: World, ask: Any) -> None:
    world.skill("pdf")
    model = ScriptedChatModel(
        calling("load_skill", name="pfd"),
        calling("read_skill_file", name="pdf", path="../../secret"),
        calling("load_skill"),
        "Sorry.",
    )
    world.write("secret", "s3cret")
    messages = ask(create_agent(model, middleware=[SkillsMiddleware()]))
    told: list[Any] = [message for message in messages if isinstance(message, ToolMessage)]
    assert [message.status for message in told] == ["error"] * 3
    assert told[0].content == "there is no skill `pfd`\ndid you mean `pdf`?"
    assert "s3cret" not in told[1].content
    assert told[2].content == "the argument `name` is missing"


@pytest.mark.req("C17")
def test_a_skill_that_only_a_person_is_to_start_is_not_loaded(world: World, ask: Any) -> None:
    world.skill("pdf")
    world.skill("deploy", "Deploy it.\n", fields="disable-model-invocation: true\n")
    model = ScriptedChatModel(
        calling("load_skill", name="deploy"),
        calling("load_skill", name="project-claude:deploy"),
        calling("load_skill", name="nope"),
        "Sorry.",
    )
    messages = ask(create_agent(model, middleware=[SkillsMiddleware()]))
    told = [message for message in messages if isinstance(message, ToolMessage)]
    assert [message.status for message in told] == ["error"] * 3
    assert [message.content for message in told] == [
        "only a person may start the skill `deploy`",
        "only a person may start the skill `project-claude:deploy`",
        "there is no skill `nope`\nthe skills are `pdf`",
    ]
    assert sees(model.calls[-1], "Deploy it.") == 0


def test_skills_that_come_and_go_on_a_thread(world: World, ask: Any) -> None:
    """The skills of deepagents stay as they were at the first turn of a thread."""
    gone = world.skill("pdf")
    model = ScriptedChatModel("one", "two", "three")
    agent = create_agent(
        model,
        middleware=[SkillsMiddleware(SkillManager(freshness="stat"))],
        checkpointer=InMemorySaver(),
    )
    ask(agent, config=THREAD)
    world.skill("zip")
    ask(agent, config=THREAD)
    shutil.rmtree(gone)
    ask(agent, config=THREAD)
    names = [
        [name for name in ("pdf", "zip") if f"<name>{name}</name>" in system(call)]
        for call in model.calls
    ]
    assert names == [["pdf"], ["pdf", "zip"], ["zip"]]


def summarizing() -> SummarizationMiddleware:
    model = ScriptedChatModel(*("A summary." for _ in range(20)))
    return SummarizationMiddleware(model, trigger=("messages", 6), keep=("messages", 1))


@pytest.mark.parametrize("first", [True, False])
def test_a_skill_outlives_a_summary(world: World, ask: Any, first: bool) -> None:
    world.skill("pdf", "Fill $ARGUMENTS with care.\n")
    model = ScriptedChatModel(
        calling("load_skill", name="pdf", arguments="a.pdf"), *("ok" for _ in range(6))
    )
    ours = SkillsMiddleware()
    middleware = [ours, summarizing()] if first else [summarizing(), ours]
    agent = create_agent(model, middleware=middleware, checkpointer=InMemorySaver())
    for _ in range(6):
        messages = ask(agent, config=THREAD)
    assert not any(isinstance(message, ToolMessage) for message in messages)
    assert sees(model.calls[-1], "A summary.") == 1
    for call in model.calls[1:]:
        assert sees(call, "Fill a.pdf with care.") == 1
    assert "Fill a.pdf with care." in system(model.calls[-1])
    assert "Fill a.pdf with care." not in system(model.calls[1])


def test_a_skill_outlives_a_history_that_is_cut(world: World, ask: Any) -> None:
    world.skill("pdf", "Fill $ARGUMENTS with care.\n")

    @before_model
    def cut(state: Any, runtime: Any) -> dict[str, Any]:
        return {"messages": [RemoveMessage(id=message.id) for message in state["messages"][:-1]]}

    model = ScriptedChatModel(calling("load_skill", name="pdf"), "ok", "ok")
    agent = create_agent(model, middleware=[SkillsMiddleware(), cut], checkpointer=InMemorySaver())
    ask(agent, config=THREAD)
    ask(agent, config=THREAD)
    assert len(model.calls[-1].messages) == 2
    assert sees(model.calls[-1], "Fill  with care.") == 1


def test_a_skill_outlives_a_result_that_is_cleared(world: World, ask: Any) -> None:
    world.skill("pdf", "Fill $ARGUMENTS with care.\n")
    clearing = ContextEditingMiddleware(edits=[ClearToolUsesEdit(trigger=1, keep=0)])
    model = ScriptedChatModel(calling("load_skill", name="pdf"), "ok")
    ask(create_agent(model, middleware=[clearing, SkillsMiddleware()]))
    assert "[cleared]" in str(model.calls[-1].messages)
    assert sees(model.calls[-1], "Fill  with care.") == 1


def test_a_skill_that_is_not_pinned_goes(world: World, ask: Any) -> None:
    world.skill("pdf", "Fill $ARGUMENTS with care.\n")
    clearing = ContextEditingMiddleware(edits=[ClearToolUsesEdit(trigger=1, keep=0)])
    model = ScriptedChatModel(calling("load_skill", name="pdf"), "ok")
    ask(create_agent(model, middleware=[clearing, SkillsMiddleware(pin=False)]))
    assert sees(model.calls[-1], "Fill  with care.") == 0


def test_instructions_that_changed_are_told(world: World, ask: Any) -> None:
    directory = world.skill("pdf", "Old.\n")
    model = ScriptedChatModel(calling("load_skill", name="pdf"), "ok", "ok", "ok")
    agent = create_agent(
        model,
        middleware=[SkillsMiddleware(SkillManager(freshness="stat"))],
        checkpointer=InMemorySaver(),
    )
    ask(agent, config=THREAD)
    world.skill("pdf", "New and longer.\n")
    ask(agent, config=THREAD)
    assert "New and longer." in system(model.calls[2])
    shutil.rmtree(directory)
    ask(agent, config=THREAD)
    assert "New and longer." not in system(model.calls[3])


def test_several_skills_are_loaded_in_one_step(world: World, ask: Any) -> None:
    world.skill("pdf", "Body of pdf.\n")
    world.skill("zip", "Body of zip.\n")
    both = (calling("load_skill", name=name) for name in ("pdf", "zip"))
    model = ScriptedChatModel(calling_all(*both), "ok")
    clearing = ContextEditingMiddleware(edits=[ClearToolUsesEdit(trigger=1, keep=0)])
    ask(create_agent(model, middleware=[clearing, SkillsMiddleware()]))
    text = system(model.calls[-1])
    assert text.index("Body of pdf.") < text.index("Body of zip.")


def test_the_state_of_a_thread(world: World, ask: Any) -> None:
    """It is names and arguments, and neither goes in nor out with the messages."""
    world.skill("pdf", "A long body.\n" * 100)
    saver = InMemorySaver()
    model = ScriptedChatModel(calling("load_skill", name="pdf", arguments="a.pdf"), "ok", "ok")
    agent = create_agent(model, middleware=[SkillsMiddleware()], checkpointer=saver)
    ask(agent, config=THREAD)
    values = agent.get_state(THREAD).values
    assert json.loads(json.dumps(values["loaded_skills"])) == {"pdf": "a.pdf"}
    assert "loaded_skills" not in agent.get_output_jsonschema()["properties"]
    assert "loaded_skills" not in agent.get_input_jsonschema()["properties"]
    # Another process goes on with it.
    agent = create_agent(model, middleware=[SkillsMiddleware(), summarizing()], checkpointer=saver)
    ask(agent, config=THREAD)
    assert sees(model.calls[-1], "A long body.") == 100


def test_other_threads_have_nothing_of_it(world: World, ask: Any) -> None:
    world.skill("pdf", "Body of pdf.\n")
    model = ScriptedChatModel(calling("load_skill", name="pdf"), "ok", "ok")
    agent = create_agent(model, middleware=[SkillsMiddleware()], checkpointer=InMemorySaver())
    ask(agent, config=THREAD)
    ask(agent, config={"configurable": {"thread_id": "2"}})
    assert sees(model.calls[-1], "Body of pdf.") == 0


BAD = 'import sys\nsys.stderr.write("wrong\\n")\nsys.exit(3)\n'


def test_scripts_of_a_loaded_skill_are_tools(world: World, ask: Any) -> None:
    world.skill("pdf")
    world.write(".claude/skills/pdf/scripts/greet.py", "import sys\nprint('Hello,', sys.argv[1])\n")
    world.write(".claude/skills/pdf/scripts/bad.py", BAD)
    model = ScriptedChatModel(
        calling("load_skill", name="pdf"),
        calling("pdf__greet", arguments=["World"]),
        calling("pdf__bad", arguments=[]),
        "Done.",
    )
    ours = SkillsMiddleware(SkillManager(profile="skillkit", trusted=True), scripts=True)
    messages = ask(create_agent(model, middleware=[ours]))
    always = ["load_skill", "read_skill_file", "run_skill_script"]
    assert model.calls[0].tool_names == always
    both = [*always, "pdf__bad", "pdf__greet"]
    assert model.calls[1].tool_names == both
    told = [message for message in messages if isinstance(message, ToolMessage)]
    assert told[1].content == f"Hello, World{os.linesep}"
    assert (told[2].status, "wrong" in told[2].content) == ("error", True)


def test_a_skill_that_another_hides_has_tools_of_its_own(world: World, ask: Any) -> None:
    for source in ("one", "two"):
        world.skill("pdf", f"Body of {source}.\n", source=source)
        world.write(f"{source}/pdf/scripts/say.py", f"print('{source}')\n")
    manager = SkillManager({"one": "one", "two": "two"}, scripts="allow", trusted=True)

    def second(_: Any) -> Any:
        return calling(model.calls[-1].tool_names[-1], arguments=[])

    model = ScriptedChatModel(
        calling("load_skill", name="pdf"),
        calling("load_skill", name="two:pdf"),
        calling("pdf__say", arguments=[]),
        second,
        "Done.",
    )
    messages = ask(create_agent(model, middleware=[SkillsMiddleware(manager, scripts=True)]))
    told = [message.content for message in messages if isinstance(message, ToolMessage)]
    assert told[2:] == [f"one{os.linesep}", f"two{os.linesep}"]
    names = model.calls[-1].tool_names
    assert names[3] == "pdf__say"
    assert names[4] == "two_pdf__say"
    assert len(names) == 5


def test_a_skill_that_was_loaded_under_two_names_is_there_once(world: World, ask: Any) -> None:
    world.skill("pdf", "Fill $ARGUMENTS.\n", source="skills", fields="allowed-tools: Write\n")
    world.write("skills/pdf/scripts/say.py", "print('it')\n")
    model = ScriptedChatModel(
        calling("load_skill", name="pdf", arguments="a.pdf"),
        calling("load_skill", name="skills:pdf", arguments="b.pdf"),
        calling("load_skill", name="pdf", arguments="c.pdf"),
        calling("Read", path="a"),
        "Done.",
    )
    clearing = ContextEditingMiddleware(edits=[ClearToolUsesEdit(trigger=1, keep=0)])
    ours = SkillsMiddleware("skills", scripts=True, enforce="deny")
    messages = ask(create_agent(model, [Read], middleware=[clearing, ours]))
    assert messages[-2].content == (
        "`Read` is not a tool of the loaded skills (`pdf`): they name `Write`"
    )
    always = ["load_skill", "read_skill_file", "run_skill_script"]
    assert model.calls[-1].tool_names == [*always, "Read", "pdf__say"]
    seen = [sees(model.calls[-1], f"Fill {letter}.pdf.") for letter in "abc"]
    assert seen == [0, 0, 1], "what it was loaded with last"


def test_scripts_of_skills_that_are_not_loaded_do_not_run(world: World, ask: Any) -> None:
    world.skill("pdf")
    ran = world.project / "ran"
    world.write(".claude/skills/pdf/scripts/mark.py", f"open({str(ran)!r}, 'w').close()\n")
    manager = SkillManager(profile="skillkit", trusted=True)
    call = calling("pdf__mark", arguments=[])
    for scripts in (True, False):
        ours = SkillsMiddleware(manager, scripts=scripts)
        messages = ask(create_agent(ScriptedChatModel(call, "Sorry."), middleware=[ours]))
        assert messages[-2].status == "error"
        assert "pdf__mark" in messages[-2].content
    assert not ran.exists()
    model = ScriptedChatModel(calling("load_skill", name="pdf"), call, "Done.")
    ask(create_agent(model, middleware=[SkillsMiddleware(manager, scripts=True)]))
    assert ran.exists()


def test_what_was_not_loaded_is_not_kept(world: World, ask: Any) -> None:
    """Another middleware may answer instead of a tool."""

    class Refusing(AgentMiddleware):
        def wrap_tool_call(self, request: Any, handler: Any) -> ToolMessage:
            return ToolMessage("No.", tool_call_id=request.tool_call["id"], status="error")

        async def awrap_tool_call(self, request: Any, handler: Any) -> ToolMessage:
            return self.wrap_tool_call(request, handler)

    world.skill("pdf", "Body of pdf.\n")
    model = ScriptedChatModel(calling("load_skill", name="pdf"), "ok")
    ask(create_agent(model, middleware=[SkillsMiddleware(), Refusing()]))
    assert sees(model.calls[-1], "Body of pdf.") == 0


@tool
def Read(path: str) -> str:
    """Read a file."""
    return f"read {path}"


@tool
def Write(path: str) -> str:
    """Write a file."""
    return f"wrote {path}"


def tried(ask: Any, name: str, enforce: Any, *skills: str) -> str:
    """Return what an agent is told that loads skills and then calls a tool."""
    calls = [calling("load_skill", name=skill) for skill in skills]
    model = ScriptedChatModel(*calls, calling(name, path="a"), "ok")
    agent = create_agent(model, [Read, Write], middleware=[SkillsMiddleware(enforce=enforce)])
    told = [message for message in ask(agent) if isinstance(message, ToolMessage)]
    return str(told[-1].content)


@pytest.mark.req("C5")
def test_calls_are_held_to_the_tools_of_loaded_skills_where_that_is_asked_for(
    world: World, ask: Any, caplog: pytest.LogCaptureFixture
) -> None:
    world.skill("pdf", fields="allowed-tools: Read Bash(git:*)\n")
    world.skill("writer", fields="allowed-tools: Write\n")
    world.skill("free")
    assert tried(ask, "Write", "off", "pdf") == "wrote a"
    assert tried(ask, "Write", "deny") == "wrote a"
    assert tried(ask, "Read", "deny", "pdf") == "read a"
    assert tried(ask, "Write", "deny", "pdf") == (
        "`Write` is not a tool of the loaded skills (`pdf`): they name `Bash`, `Read`"
    )
    assert tried(ask, "Write", "deny", "pdf", "writer") == "wrote a"
    assert tried(ask, "Write", "deny", "pdf", "free") == "wrote a"
    assert not caplog.records
    assert tried(ask, "Write", "advise", "pdf") == "wrote a"
    assert [record.levelname for record in caplog.records] == ["WARNING"]


@pytest.mark.req("C5")
@pytest.mark.parametrize("wrong", ["Deny", "none", "", None, True, []])
def test_what_is_no_way_to_hold_calls(wrong: Any) -> None:
    """Each of them stood for `deny`."""
    with pytest.raises(ConfigurationError, match="`enforce` is `off`, `advise` or `de") as raised:
        SkillsMiddleware(enforce=wrong)
    assert raised.value.code == "usage"


@pytest.mark.parametrize("budget", [-1, 2**70])
def test_a_budget_that_makes_no_sense_is_told_at_once(budget: int) -> None:
    with pytest.raises(ConfigurationError, match="`budget` is a whole number") as raised:
        SkillsMiddleware(budget=budget)
    assert raised.value.code == "usage"
    with pytest.raises(TypeError, match="argument 'budget'"):
        SkillsMiddleware(budget="many")  # type: ignore[arg-type]


@pytest.mark.req("S3-US-10")
def test_a_skill_that_stays_loaded_was_loaded_once(
    world: World, ask: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = world.root / "audit.jsonl"
    monkeypatch.setenv("SKILLPM_AUDIT", str(log))
    world.skill("pdf")
    model = ScriptedChatModel(calling("load_skill", name="pdf"), calling("Read", path="a"), "ok")
    ask(create_agent(model, [Read], middleware=[SkillsMiddleware()]))
    assert len(log.read_text().splitlines()) == 1


def test_a_tool_of_the_agent_has_another_name(world: World, ask: Any) -> None:
    """It took the place of the middleware's own, which no skill was loaded with any more."""
    world.skill("pdf", source="skills")

    @tool("load_skill")
    def another(skill_name: str) -> str:
        """Load something else."""
        return skill_name

    hosted = {"type": "function", "function": {"name": "read_skill_file", "parameters": {}}}
    for clash in (another, hosted):
        middleware = [SkillsMiddleware("skills")]
        agent = create_agent(ScriptedChatModel("Done."), [clash], middleware=middleware)
        with pytest.raises(ConfigurationError, match="as one of `SkillsMiddleware` is"):
            ask(agent)


def test_another_middleware_may_describe_the_tools(world: World, ask: Any) -> None:
    world.skill("pdf", source="skills")

    class Describes(AgentMiddleware[Any, Any]):
        def changed(self, request: Any) -> Any:
            tools = [each.model_copy(update={"description": "Mine."}) for each in request.tools]
            return request.override(tools=tools)

        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            return handler(self.changed(request))

        async def awrap_model_call(self, request: Any, handler: Any) -> Any:
            return await handler(self.changed(request))

    model = ScriptedChatModel("Done.")
    ask(create_agent(model, middleware=[Describes(), SkillsMiddleware("skills")]))
    assert model.calls[0].description("load_skill") == "Mine."
