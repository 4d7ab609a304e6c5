"""Twins for event loops: the work is done in a thread of its own, and ends where nobody waits."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from contextvars import ContextVar, copy_context
from functools import partial, wraps
from inspect import isawaitable
from threading import Thread
from typing import TYPE_CHECKING, Any, Callable, TypeVar

from skillpm._native import Waiter

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from typing_extensions import ParamSpec

    P = ParamSpec("P")

T = TypeVar("T")


class Waiting:
    """An event loop that waits for work in a thread."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.waiter = Waiter()
        # Both are for the thread of the event loop alone.
        self.answering: asyncio.Task[Any] | None = None
        self.is_over = False

    def ask(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return what a function answers that the event loop calls, and awaits where it has to."""

        async def answer() -> Any:
            if self.is_over:
                raise RuntimeError("nobody waits for an answer any more")
            self.answering = asyncio.current_task()
            # What the function calls itself is waited for by nobody else.
            waiting.set(None)
            answer = function(*arguments)
            return await answer if isawaitable(answer) else answer

        return asyncio.run_coroutine_threadsafe(answer(), self.loop).result()

    def stop(self) -> bool:
        """End the work, unless a change has begun."""
        self.is_over = self.waiter.stop()
        if self.is_over and self.answering is not None:
            self.answering.cancel()
        return self.is_over


# Who waits for the work that is done: nobody where it was called without an event loop.
waiting: ContextVar[Waiting | None] = ContextVar("waiting", default=None)


def twin_of(
    work: Callable[P, T],
) -> Callable[[Callable[..., object]], Callable[P, Coroutine[Any, Any, T]]]:
    """Make a method one that does `work` without holding up the event loop."""

    def made(named: Callable[..., object]) -> Callable[P, Coroutine[Any, Any, T]]:
        @wraps(work)
        async def twin(*args: P.args, **kwargs: P.kwargs) -> T:
            return await aside(partial(work, *args, **kwargs))

        twin.__name__, twin.__qualname__ = named.__name__, named.__qualname__
        twin.__doc__ = named.__doc__
        return twin

    return made


async def aside(work: Callable[[], T]) -> T:
    """Do work in a thread. After a cancellation nothing is changed any more."""
    who = Waiting()
    context = copy_context()
    context.run(waiting.set, who)
    outcome: Future[T] = Future()
    outcome.set_running_or_notify_cancel()

    def done() -> None:
        try:
            outcome.set_result(context.run(work))
        except StopIteration:
            # No future of an event loop can hold it. Of a coroutine the language makes the same.
            outcome.set_exception(RuntimeError("a function raised StopIteration"))
        except BaseException as error:
            outcome.set_exception(error)

    # The interpreter waits for it at its end: a thread that comes back later would find none.
    Thread(target=done, name="skillpm").start()
    future = asyncio.wrap_future(outcome)
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        if not who.stop():
            await asyncio.wait([future])
        future.cancel()
        raise
