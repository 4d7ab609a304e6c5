"""Nodes of LangGraph: handlers of every kind, and every way to call them."""

from __future__ import annotations

import asyncio
import functools
from typing import Any

from skillpm.langgraph import SkillNode, node

ASK = {"messages": [("user", "?")]}


def made(name: str = "agent", **body: Any) -> SkillNode:
    """Return what a class of this name and body becomes."""
    result = type(node)(name, (node,), {"__module__": __name__, **body})  # type: ignore[misc]
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
