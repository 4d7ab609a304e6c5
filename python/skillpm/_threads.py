"""Threads in which work is done while an event loop goes on, and processes that were forked."""

import os
from collections.abc import Awaitable
from contextvars import ContextVar
from typing import Any, Callable, Optional, TypeVar

from skillpm._native import Stop

T = TypeVar("T")

# What ends the script that is run for a task. `run_script` takes no such thing, nor does that of a
# subclass.
stop: ContextVar[Optional[Stop]] = ContextVar("stop", default=None)

# What waits in another thread for an answer that is awaited, for the script of a task.
awaiting: ContextVar[Optional[Callable[[Awaitable[bool]], bool]]] = ContextVar(
    "awaiting", default=None
)

# Another object in each process that was forked.
_process = object()


def process() -> object:
    """Return an object that this process alone has: not the one that it was forked from."""
    return _process


def _forked() -> None:
    global _process
    _process = object()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


async def aside(work: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """Do work of the manager in a thread: the interpreter is free for others while it lasts."""
    import asyncio

    return await asyncio.to_thread(_done, work, *args, **kwargs)


async def stoppable(work: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """Do work that may run a script, in a thread of the scripts' own.

    Where the task is cancelled, the script is ended. Scripts that run keep no thread from the
    event loop's own work. A question that is to be awaited is answered in the event loop.
    """
    import asyncio
    from contextvars import copy_context

    loop, ends = asyncio.get_running_loop(), Stop()

    async def answer(question: Awaitable[bool]) -> bool:
        return await question

    def awaited(question: Awaitable[bool]) -> bool:
        return asyncio.run_coroutine_threadsafe(answer(question), loop).result()

    # The context is one of this call: what is set is seen by nobody else.
    context = copy_context()
    context.run(stop.set, ends)
    context.run(awaiting.set, awaited)
    run = lambda: context.run(_done, work, *args, **kwargs)  # noqa: E731
    try:
        return await loop.run_in_executor(_executor(), run)
    finally:
        # After its end this does nothing.
        ends.set()


def _done(work: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    try:
        return work(*args, **kwargs)
    except StopIteration as error:
        # No future can hold it, and who waits would wait for ever. Of a coroutine the language
        # makes the same.
        raise RuntimeError("a function raised StopIteration") from error


# How many scripts run at the same time; others wait for one to end.
_MOST_SCRIPTS = 64
# The threads in which scripts are waited for, and the process that they are of.
_threads: Optional[tuple[object, Any]] = None


def _executor() -> Any:
    """Return the threads for scripts: made when they are first needed, and anew after a fork."""
    global _threads
    if _threads is None or _threads[0] is not _process:
        from concurrent.futures import ThreadPoolExecutor

        _threads = _process, ThreadPoolExecutor(_MOST_SCRIPTS, "skillpm-script")
    return _threads[1]


def end_threads() -> None:
    """Wait for the scripts that run in threads: for tests."""
    global _threads
    _executor().shutdown()
    _threads = None
