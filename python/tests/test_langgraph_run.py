"""Nodes that run: alone and in other graphs, with what LangGraph gives them."""

# Handlers have no `self`.
# mypy: disable-error-code=misc

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any
from unittest.mock import ANY

import pytest
from conftest import World

pytest.importorskip("langgraph", reason="langgraph is not installed")

from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_stream_writer
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime, get_runtime
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command, StateSnapshot, interrupt
from support.model import ScriptedChatModel, calling, calling_all
from support.nodes import (
    ASK,
    CALLERS,
    HANDLERS,
    ainvoke,
    async_handler,
    contents,
    made,
    sync_handler,
)
from typing_extensions import TypedDict

from skillpm.langgraph import AgentState, SkillKit, node


class Context(TypedDict):
    user: str


@pytest.mark.req("S2-R14", "S2-R21", "S2-T9", "C30")
@pytest.mark.parametrize("handler", HANDLERS, ids=lambda handler: type(handler).__name__)
@pytest.mark.parametrize("call", CALLERS)
def test_any_handler_for_any_caller(
    world: World, handler: Callable[..., Any], call: Callable[..., Any]
) -> None:
    """The handler, its tools, the handler again, and the end when no more tools are called."""
    world.skill("pdf", "Read.\n", source="skills")
    world.write("skills/pdf/a/b.md", "B.\n")
    model = ScriptedChatModel(
        calling("Skill", skill_name="pdf"),
        calling("SkillRead", skill_name="pdf", file_name="a/b.md"),
        "Done.",
    )
    agent = made(llm=model, skills="skills", handler=handler)
    state = call(agent, ASK)
    assert contents(state) == ["?", "", "Read.\n", "", "B.\n", "Done."]
    assert state["sender"] == "agent"
    assert [len(asked.messages) for asked in model.calls] == [1, 3, 5]


@pytest.mark.req("S2-R16", "S2-T12")
@pytest.mark.parametrize("call", CALLERS)
def test_without_tools_the_handler_runs_once(call: Callable[..., Any]) -> None:
    # Even where the model calls a tool that nobody gave it.
    model = ScriptedChatModel(calling("Skill", skill_name="pdf"))
    agent = made(llm=model, handler=async_handler)
    assert set(agent.nodes) == {"agent"}
    assert len(call(agent, ASK)["messages"]) == 2
    assert model.calls[0].tools == []


@pytest.mark.req("S2-R14")
def test_several_tools_in_one_turn_and_a_failure_among_them(world: World) -> None:
    world.skill("pdf", "Read.\n", source="skills")
    model = ScriptedChatModel(
        calling_all(
            calling("Skill", skill_name="pdf"),
            calling("Skill", skill_name="fdp"),
            calling("SkillRead", skill_name="pdf"),
        ),
        "Done.",
    )
    messages = made(llm=model, skills="skills", handler=sync_handler).invoke(ASK)["messages"]
    loaded, unknown, wrong = messages[2:5]
    assert (loaded.content, loaded.status) == ("Read.\n", "success")
    assert (unknown.status, wrong.status) == ("error", "error")
    assert "Available skills: `pdf`" in unknown.content
    assert "file_name" in wrong.content
    assert messages[-1].content == "Done."


@pytest.mark.req("S2-R13", "S2-R22", "C24", "S2-PL")
@pytest.mark.parametrize("call", CALLERS)
@pytest.mark.parametrize("is_async", [True, False])
@pytest.mark.parametrize("nested", [True, False])
def test_the_real_runtime(call: Callable[..., Any], is_async: bool, nested: bool) -> None:
    """The public package's runtime is always None."""
    seen: list[Any] = []

    def handler(
        state: AgentState, *, store: Any, config: RunnableConfig, runtime: Runtime[Context]
    ) -> dict[str, Any]:
        # LangGraph's own functions see it too, also before Python 3.11 and in an event loop.
        assert get_runtime().context == runtime.context
        get_stream_writer()
        seen.append((runtime, store, config))
        store.put(("users",), runtime.context["user"], {"seen": True})
        return {"sender": runtime.context["user"]}

    async def ahandler(
        state: AgentState, *, store: Any, config: RunnableConfig, runtime: Runtime[Context]
    ) -> dict[str, Any]:
        await asyncio.sleep(0)
        return handler(state, store=store, config=config, runtime=runtime)

    store = InMemoryStore()
    agent = made(handler=ahandler if is_async else handler)
    assert agent.context_schema is Context
    if nested:
        parent: StateGraph[Any, Any] = StateGraph(AgentState, context_schema=Context)
        graph = parent.add_node("a", agent).add_edge(START, "a").compile(store=store)
    else:
        graph = agent.compile(store=store)
    config = {"tags": ["mine"], "configurable": {"extra": 1}}
    state = call(graph, {"messages": []}, config, context={"user": "ada"})
    assert state["sender"] == "ada"
    [(runtime, given, config)] = seen
    assert isinstance(runtime, Runtime)
    assert runtime.context == {"user": "ada"}
    assert given is runtime.store
    assert store.get(("users",), "ada") is not None
    assert callable(runtime.stream_writer)
    assert config["configurable"]["extra"] == 1
    assert config["tags"] == ["mine"]


@pytest.mark.req("S2-R13")
def test_what_is_written_reaches_the_stream() -> None:
    async def handler(state: Any, *, runtime: Any) -> None:
        runtime.stream_writer({"step": 1})

    parent = StateGraph(AgentState).add_node("a", made(handler=handler)).add_edge(START, "a")
    for graph, nested in ((made(handler=handler), False), (parent.compile(), True)):
        written = list(graph.stream({"messages": []}, stream_mode="custom", subgraphs=nested))
        assert written == [((ANY,), {"step": 1}) if nested else {"step": 1}]


@pytest.mark.req("S2-R8", "S2-R23", "S2-T10", "C24")
@pytest.mark.parametrize("call", CALLERS)
def test_nodes_of_a_parent_graph(world: World, call: Callable[..., Any]) -> None:
    world.skill("pdf", "Read.\n", source="skills")
    first = ScriptedChatModel(calling("Skill", skill_name="pdf"), "Found.")
    second = ScriptedChatModel("Written.")

    class researcher(node):
        llm = first
        skills = "skills"

        async def handler(state: Any, *, llm: Any) -> dict[str, Any]:
            return {"messages": [await llm.ainvoke(state["messages"])], "sender": "researcher"}

    class writer(node):
        llm = second

        def handler(state: Any, *, llm: Any) -> dict[str, Any]:
            return {"messages": [llm.invoke(state["messages"])], "sender": "writer"}

    graph = StateGraph(AgentState)
    graph.add_node("researcher", researcher)
    graph.add_node(writer)
    graph.add_edge(START, "researcher")
    graph.add_edge("researcher", "writer")
    graph.add_edge("writer", END)
    state = call(graph.compile(), ASK)
    assert contents(state) == ["?", "", "Read.\n", "Found.", "Written."]
    assert state["sender"] == "writer"
    # No message appears twice, and the second model saw all of them.
    assert len(second.calls[0].messages) == 4


@pytest.mark.req("S2-R23", "C24")
def test_a_parent_knows_it_as_a_subgraph(world: World) -> None:
    """What is streamed, drawn, kept and resumed of a subgraph is so of a node."""
    world.skill("pdf", "Read.\n", source="skills")
    model = ScriptedChatModel(calling("Skill", skill_name="pdf"), "Found.")

    class agent(node):
        llm = model
        skills = "skills"

        async def handler(state: Any, *, llm: Any) -> dict[str, Any]:
            answer = await llm.ainvoke(state["messages"])
            return {"messages": [answer], "sender": interrupt("who?") if answer.content else "?"}

    graph = StateGraph(AgentState).add_node("agent", agent).add_edge(START, "agent")
    compiled = graph.compile(checkpointer=InMemorySaver())
    thread: RunnableConfig = {"configurable": {"thread_id": "1"}}
    parts = list(compiled.stream(ASK, thread, subgraphs=True))  # type: ignore[call-overload]
    assert [(bool(names), *part) for names, part in parts] == [
        (True, "agent"),
        (True, "tools"),
        (True, "__interrupt__"),
        (False, "__interrupt__"),
    ]
    [task] = compiled.get_state(thread, subgraphs=True).tasks
    assert isinstance(task.state, StateSnapshot)
    assert contents(task.state.values) == ["?", "", "Read.\n"]
    model.answers.append("Found again.")
    state = compiled.invoke(Command(resume="me"), thread)
    assert contents(state) == ["?", "", "Read.\n", "Found again."]
    assert state["sender"] == "me"
    assert [name for name, _ in compiled.get_subgraphs()] == ["agent"]
    drawn = compiled.get_graph(xray=True)
    assert {"agent:agent", "agent:tools"} <= set(drawn.nodes)


@pytest.mark.req("S2-R8")
def test_a_checkpointer_of_its_own() -> None:
    agent = made(llm=ScriptedChatModel("One.", "Two."), handler=async_handler)
    graph = agent.compile(checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "1"}}
    graph.invoke(ASK, thread)
    assert contents(ainvoke(graph, ASK, thread)) == ["?", "One.", "?", "Two."]
    # `graph` is another one: it keeps nothing.
    assert agent.graph.checkpointer is None


@pytest.mark.req("S2-R8")
def test_it_is_a_runnable() -> None:
    agent = made(llm=ScriptedChatModel("a", "b", "c", "d"), handler=async_handler)

    def asks(text: str) -> dict[str, Any]:
        return {"messages": [("user", text)]}

    chain = RunnableLambda(asks) | agent
    assert contents(chain.invoke("?")) == ["?", "a"]
    assert sorted(contents(state)[-1] for state in agent.batch([ASK, ASK])) == ["b", "c"]
    named = agent.with_config(run_name="other")
    assert contents(named.invoke(ASK)) == ["?", "d"]
    assert "messages" in agent.get_input_jsonschema()["properties"]
    assert "messages" in agent.get_output_jsonschema()["properties"]
    assert "__start__" in agent.get_graph().draw_mermaid()


@pytest.mark.req("S2-R21")
@pytest.mark.parametrize("is_async", [True, False])
def test_tokens_are_streamed_from_a_handler(is_async: bool) -> None:
    agent = made(
        llm=ScriptedChatModel("Hello."), handler=async_handler if is_async else sync_handler
    )

    async def tokens() -> list[Any]:
        found = []
        async for message, _ in agent.astream(ASK, stream_mode="messages"):
            found.append(message)
        return found

    [message] = asyncio.run(tokens())
    assert isinstance(message, (BaseMessage, AIMessageChunk))
    assert message.content == "Hello."


@pytest.mark.req("S2-R20", "S2-T13")
def test_nodes_share_a_kit(world: World) -> None:
    world.skill("pdf", "Read.\n", source="skills")
    kit = SkillKit("skills")
    given: list[Any] = []

    def handler(state: Any, *, llm: Any, tools: Any) -> dict[str, Any]:
        given.append(tools)
        return {"messages": [llm.invoke(state["messages"])]}

    for name in ("one", "two"):
        model = ScriptedChatModel(calling("Skill", skill_name="pdf"), "Done.")
        agent = made(name, llm=model, skills=kit, handler=handler)
        assert contents(agent.invoke(ASK)) == ["?", "", "Read.\n", "Done."]
    first = given[0]
    assert all(list(map(id, tools)) == list(map(id, first)) for tools in given)


@pytest.mark.req("C17", "S2-R18")
def test_a_skill_that_comes_later_is_listed(world: World) -> None:
    world.skill("pdf", "Read.\n", source="skills")

    def another(messages: list[BaseMessage]) -> Any:
        world.skill("csv", "Commas.\n", source="skills")
        return calling("Skill", skill_name="csv")

    model = ScriptedChatModel(another, "Done.", "Again.")
    agent = made(llm=model, skills="skills", handler=sync_handler)
    assert contents(agent.invoke(ASK))[2:] == ["Commas.\n", "Done."]
    lists = [call.description("Skill").count("<name>") for call in model.calls]
    assert lists == [1, 2]


def test_the_model_is_bound_once(world: World) -> None:
    world.skill("pdf", "Read.\n", source="skills")
    bound = []

    class Counting(ScriptedChatModel):
        def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
            bound.append(len(tools))
            return super().bind_tools(tools, **kwargs)

    model = Counting(answers=[calling("Skill", skill_name="pdf"), "Done.", "Again."])
    agent = made(llm=model, skills="skills", handler=sync_handler)
    agent.invoke(ASK)
    agent.invoke(ASK)
    assert bound == [2]
