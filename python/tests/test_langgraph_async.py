"""Nodes that are awaited or not, and many of them at the same time."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
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
