"""Coroutines for callers that cannot await.

A coroutine runs in an event loop of a thread of its own. So it does not matter whether the caller's
thread has a loop that is running, as in a notebook. Loops are kept: a model's client keeps the
connections that it opened in one. A loop serves one caller at a time, because what runs in it may
itself wait for another coroutine in this way.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import inspect
import os
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
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
        thread = threading.Thread(target=_serve, args=(loop,), name="skillpm-async", daemon=True)
        thread.start()
    outcome: Future[T] = Future()
    tasks: list[asyncio.Task[T]] = []

    def start() -> None:
        task = loop.create_task(_awaited(awaitable))
        task.add_done_callback(end)
        tasks.append(task)

    def end(task: asyncio.Task[T]) -> None:
        # Not before: where the caller was interrupted, the coroutine may go on for a while, and
        # the next caller is not to wait for it.
        _idle.append(loop)
        if task.cancelled():
            outcome.cancel()
        elif (error := task.exception()) is not None:
            outcome.set_exception(error)
        else:
            outcome.set_result(task.result())

    loop.call_soon_threadsafe(start)
    try:
        return outcome.result()
    except BaseException:
        # The caller was interrupted. Where the coroutine failed, there is nothing to end.
        if not outcome.done():
            loop.call_soon_threadsafe(lambda: tasks[0].cancel())
        raise


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    """Run a loop for as long as the process lasts."""
    while True:
        # A task that raises one of these has it as its result, which its caller is told, and then
        # throws it at whoever runs the loop too.
        with contextlib.suppress(SystemExit, KeyboardInterrupt):
            loop.run_forever()


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
