"""Nodes that are awaited or not, and many of them at the same time."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import pytest
from conftest import World

pytest.importorskip("langgraph", reason="langgraph is not installed")

from langchain_core.tools import StructuredTool, tool
from langgraph.prebuilt import InjectedState
from support.model import ScriptedChatModel, calling
from support.nodes import ASK, CALLERS, ainvoke, async_handler, contents, made, sync_handler


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
def test_a_handler_calls_a_tool_that_can_only_be_awaited() -> None:
    @tool
    async def search(query: str) -> str:
        """Search for it."""
        await asyncio.sleep(0)
        return f"found {query}"

    def handler(state: Any, *, tools: Any) -> dict[str, Any]:
        return {"sender": tools[0].invoke({"query": "x"})}

    for call in CALLERS:
        assert call(made(tools=[search], handler=handler), ASK)["sender"] == "found x"


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


def test_a_task_that_is_cancelled_leaves_a_handler_that_blocks() -> None:
    """It raised a ``RuntimeError`` instead of the cancellation: the thread was in its context."""
    go_on = threading.Event()

    def blocks(state: Any) -> None:
        started.set()
        go_on.wait(30)

    def makes_a_model() -> ScriptedChatModel:
        started.set()
        go_on.wait(30)
        return ScriptedChatModel()

    async def main(agent: Any) -> None:
        task = asyncio.ensure_future(agent.ainvoke(ASK))
        await asyncio.to_thread(started.wait)
        task.cancel()
        try:
            with pytest.raises(asyncio.CancelledError):
                await task
        finally:
            go_on.set()

    for agent in (made(handler=blocks), made(llm=makes_a_model, handler=async_handler)):
        started = threading.Event()
        go_on.clear()
        asyncio.run(main(agent))


@pytest.mark.parametrize("end", [SystemExit, KeyboardInterrupt])
@pytest.mark.parametrize("where", ["handler", "task", "tool"])
def test_what_ends_a_program_ends_no_loop(end: type[BaseException], where: str) -> None:
    """Its thread ended, and the caller waited for ever."""

    @tool
    async def leave() -> str:
        """Leave."""
        raise end(3)

    async def inner() -> None:
        raise end(3)

    async def handler(state: Any) -> None:
        await (inner() if where == "handler" else asyncio.ensure_future(inner()))

    if where == "tool":
        model = ScriptedChatModel(calling("leave"))
        agent = made(llm=model, tools=[leave], handler=sync_handler)
    else:
        agent = made(handler=handler)
    raised: list[BaseException] = []

    def work() -> None:
        try:
            agent.invoke(ASK)
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(30)
    assert [(type(error), error.args) for error in raised] == [(end, (3,))]
    assert contents(made(llm=ScriptedChatModel("Done."), handler=async_handler).invoke(ASK))


@pytest.mark.skipif(os.name != "posix", reason="Windows cannot send SIGINT to a single process")
def test_nobody_waits_for_what_was_interrupted(tmp_path: Path) -> None:
    """The next node got the loop in which a handler still blocked."""
    program = """
        import os
        import signal
        import threading
        from support.nodes import ASK, made

        go_on = threading.Event()
        # A shell that starts something in the background has it ignore this.
        signal.signal(signal.SIGINT, signal.default_int_handler)

        async def blocks(state):
            threading.Timer(0.1, os.kill, [os.getpid(), signal.SIGINT]).start()
            go_on.wait(60)

        async def quick(state):
            return {"sender": "quick"}

        try:
            made(handler=blocks).invoke(ASK)
        except KeyboardInterrupt:
            print(made(handler=quick).invoke(ASK)["sender"])
    """
    file = tmp_path / "program.py"
    file.write_text(textwrap.dedent(program))
    here = str(Path(__file__).parent)
    paths = os.pathsep.join([here, *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, str(file)],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=40,
    )
    assert (done.stdout, done.stderr) == ("quick\n", "")
