"""Nodes that run: alone and in other graphs, awaited and not, with what LangGraph gives them."""

# Handlers have no `self`.
# mypy: disable-error-code=misc

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Callable
from typing import Annotated, Any
from unittest.mock import ANY

import pytest
from conftest import World

pytest.importorskip("langgraph", reason="langgraph is not installed")

from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.tools import StructuredTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_stream_writer
from langgraph.graph import END, START, StateGraph
from langgraph.prebuilt import InjectedState
from langgraph.runtime import Runtime, get_runtime
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command, StateSnapshot, interrupt
from support.model import ScriptedChatModel, calling, calling_all
from typing_extensions import TypedDict

from skillpm.langgraph import AgentState, SkillKit, SkillNode, node

ASK = {"messages": [("user", "?")]}


class Context(TypedDict):
    user: str


def made(name: str = "agent", **body: Any) -> SkillNode:
    result = type(node)(name, (node,), {"__module__": __name__, **body})
    assert isinstance(result, SkillNode)
    return result


def sync_handler(state: Any, *, llm: Any) -> dict[str, Any]:
    return {"messages": [llm.invoke(state["messages"])], "sender": "agent"}


async def async_handler(state: Any, *, llm: Any) -> dict[str, Any]:
    await asyncio.to_thread(int)
    return {"messages": [await llm.ainvoke(state["messages"])], "sender": "agent"}


def returns_awaitable(state: Any, *, llm: Any) -> Any:
    return async_handler(state, llm=llm)


class Callable_:
    async def __call__(self, state: Any, *, llm: Any) -> dict[str, Any]:
        return await async_handler(state, llm=llm)


HANDLERS = [
    sync_handler,
    async_handler,
    returns_awaitable,
    Callable_(),
    functools.partial(async_handler),
]


def invoke(graph: Any, *args: Any, **kwargs: Any) -> Any:
    return graph.invoke(*args, **kwargs)


def ainvoke(graph: Any, *args: Any, **kwargs: Any) -> Any:
    return asyncio.run(graph.ainvoke(*args, **kwargs))


def invoke_in_a_loop(graph: Any, *args: Any, **kwargs: Any) -> Any:
    """Invoke as in a notebook: nobody awaits, and a loop is running in this thread."""

    async def cell() -> Any:
        return graph.invoke(*args, **kwargs)

    return asyncio.run(cell())


def stream(graph: Any, *args: Any, **kwargs: Any) -> Any:
    return list(graph.stream(*args, stream_mode="values", **kwargs))[-1]


def astream(graph: Any, *args: Any, **kwargs: Any) -> Any:
    async def all_() -> list[Any]:
        return [x async for x in graph.astream(*args, stream_mode="values", **kwargs)]

    return asyncio.run(all_())[-1]


CALLERS = [invoke, ainvoke, invoke_in_a_loop, stream, astream]


def contents(state: dict[str, Any]) -> list[Any]:
    return [message.content for message in state["messages"]]


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
    # No message is there twice, and the second model saw all of them.
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


@pytest.mark.req("C30")
def test_tools_that_can_only_be_awaited(world: World) -> None:
    """Tools of MCP servers are such."""

    @tool
    async def search(query: str, state: Annotated[dict[str, Any], InjectedState]) -> str:
        """Search for it."""
        await asyncio.sleep(0)
        return f"{query} of {len(state['messages'])}"

    assert isinstance(search, StructuredTool)
    assert search.func is None
    for call in CALLERS:
        model = ScriptedChatModel(calling("search", query="x"), "Done.")
        agent = made(llm=model, tools=[search], handler=sync_handler)
        assert contents(call(agent, ASK)) == ["?", "", "x of 2", "Done."]
        assert set(model.calls[0].tools[0]["function"]["parameters"]["properties"]) == {"query"}


@pytest.mark.req("C30")
def test_async_handlers_that_invoke_each_other() -> None:
    """Each waits in an event loop for another one that runs in an event loop."""
    innermost = made("c", llm=ScriptedChatModel("Done."), handler=async_handler)

    async def middle(state: Any) -> Any:
        return innermost.invoke(ASK)

    async def outer(state: Any) -> Any:
        # In a thread that knows nothing of the loop that waits for it.
        done: list[Any] = []
        thread = threading.Thread(target=lambda: done.append(made("b", handler=middle).invoke(ASK)))
        thread.start()
        thread.join()
        return done[0]

    assert "Done." in contents(made("a", handler=outer).invoke(ASK))


@pytest.mark.req("C30")
def test_calls_that_follow_each_other_share_an_event_loop() -> None:
    """Clients of models keep connections, which belong to the loop that they were opened in."""
    loops = []

    async def handler(state: Any) -> None:
        loops.append(asyncio.get_running_loop())

    agent = made(handler=handler)
    for _ in range(3):
        agent.invoke(ASK)
    assert len(set(loops)) == 1


def test_many_at_the_same_time() -> None:
    barrier = threading.Barrier(8, timeout=30)

    async def handler(state: Any) -> dict[str, Any]:
        # None of them goes on before all of them are here.
        await asyncio.to_thread(barrier.wait)
        return {"sender": state["sender"] + "!"}

    agent = made(handler=handler)
    done: list[str] = []

    def work(name: str) -> None:
        done.append(agent.invoke({"messages": [], "sender": name})["sender"])

    threads = [threading.Thread(target=work, args=(str(i),)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done) == [f"{i}!" for i in range(8)]


class Refused(Exception):
    pass


@pytest.mark.parametrize("call", CALLERS)
@pytest.mark.parametrize("is_async", [True, False])
def test_what_a_handler_raises_comes_through(call: Callable[..., Any], is_async: bool) -> None:
    def handler(state: Any) -> None:
        raise Refused("no")

    async def ahandler(state: Any) -> None:
        raise Refused("no")

    agent = made(handler=ahandler if is_async else handler)
    with pytest.raises(Refused, match="no"):
        call(agent, ASK)


def test_an_iterator_that_ended_does_not_hang() -> None:
    def handler(state: Any) -> Any:
        return next(iter(()))

    with pytest.raises(RuntimeError):
        ainvoke(made(handler=handler), ASK)


def test_a_task_that_is_cancelled_cancels_the_handler() -> None:
    ended: list[bool] = []

    async def handler(state: Any) -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    async def main() -> None:
        task = asyncio.ensure_future(made(handler=handler).ainvoke(ASK))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    started = asyncio.Event()
    asyncio.run(main())
    assert ended == [True]


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
