"""Coroutines for callers that cannot await.

A coroutine runs in an event loop of a thread of its own. So it does not matter whether the caller's
thread has a loop that is running, as in a notebook. Loops are kept: a model's client keeps the
connections that it opened in one. A loop serves one caller at a time, because what runs in it may
itself wait for another coroutine in this way.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import os
import threading
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from langchain_core.tools import BaseTool, StructuredTool

T = TypeVar("T")

# The loop that was used last is on top: calls that follow each other use the same one.
_idle: list[asyncio.AbstractEventLoop] = []
if hasattr(os, "register_at_fork"):
    # Their threads are not in the child.
    os.register_at_fork(after_in_child=_idle.clear)


def wait_for(awaitable: Awaitable[T]) -> T:
    """Return what ``awaitable`` gives, or raise what it raises. It sees the caller's context."""
    try:
        loop = _idle.pop()
    except IndexError:
        loop = asyncio.new_event_loop()
        threading.Thread(target=loop.run_forever, name="skillpm-async", daemon=True).start()
    future = asyncio.run_coroutine_threadsafe(_awaited(awaitable), loop)
    try:
        return future.result()
    except BaseException:
        # The caller was interrupted. Where the coroutine failed, this does nothing.
        future.cancel()
        raise
    finally:
        _idle.append(loop)


async def _awaited(awaitable: Awaitable[T]) -> T:
    return await awaitable


def with_sync(tool: BaseTool) -> BaseTool:
    """Return a tool that can also be called where nobody awaits; one that can be is returned."""
    if not isinstance(tool, StructuredTool) or tool.func is not None or tool.coroutine is None:
        return tool
    return tool.model_copy(update={"func": _waiting(tool.coroutine)})


def _waiting(coroutine: Callable[..., Awaitable[Any]]) -> Callable[..., Any]:
    # What a tool is given beside its arguments goes by the signature.
    @functools.wraps(coroutine)
    def call(*args: Any, **kwargs: Any) -> Any:
        return wait_for(coroutine(*args, **kwargs))

    return call


def is_async(function: Callable[..., Any]) -> bool:
    """Return whether calling ``function`` does nothing yet but make a coroutine."""
    while isinstance(function, functools.partial):
        function = function.func
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004
    )
