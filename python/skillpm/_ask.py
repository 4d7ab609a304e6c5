"""What is asked before a script runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from os import fspath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skillpm._types import Ask


# How many characters of an answer that is none are logged.
_LONGEST = 300


class Question(str):
    """A question whether a script may run: a text, and what it is about.

    It is a text, so that ``input`` and LangGraph's ``interrupt`` take it as it is. ``to_dict()``
    has its parts, for what shows them.
    """

    skill: str
    """The name of the skill."""
    script: str
    """The script, as it was asked for."""
    arguments: Any
    """What the script gets: a text, a list of texts or a mapping, or ``None``."""
    digest: str
    """The digest of all files of the skill, ``sha256:...``. The answer counts for these alone."""
    cwd: str | None
    """The directory in which it runs; ``None`` is the working directory."""
    network: bool
    """Whether it may use the network."""
    sandbox: str
    """Whether files are kept from it: ``auto``, ``require`` or ``off``."""
    read: tuple[str, ...]
    """The paths that it may read beside the skill's and the system's."""
    write: tuple[str, ...]
    """The paths that it may write beside its working directory."""

    __slots__ = (
        "arguments",
        "cwd",
        "digest",
        "network",
        "read",
        "sandbox",
        "script",
        "skill",
        "write",
    )

    def __new__(cls, text: str, **about: Any) -> Question:
        """Return a question with what it is about: its text ends with the arguments."""
        arguments = about.get("arguments")
        said = f" arguments: {arguments!r}" if arguments else ""
        question = super().__new__(cls, text if text.endswith(said) else text + said)
        for name in cls.__slots__:
            setattr(question, name, about.get(name))
        question.cwd = None if question.cwd is None else fspath(question.cwd)
        question.read = tuple(fspath(path) for path in question.read or ())
        question.write = tuple(fspath(path) for path in question.write or ())
        return question

    def __reduce_ex__(self, _: Any) -> tuple[Any, ...]:
        return _question, (str(self), {name: getattr(self, name) for name in self.__slots__})

    def to_dict(self) -> dict[str, Any]:
        """Return the parts as plain values, fit for JSON."""
        parts = {name: getattr(self, name) for name in sorted(self.__slots__)}
        return {"question": str(self), **parts, "read": list(self.read), "write": list(self.write)}


def _question(text: str, about: dict[str, Any]) -> Question:
    return Question(text, **about)


def asking(
    ask: Ask, run: Callable[[Any], bool] | None, about: dict[str, Any]
) -> Callable[[str, str], bool]:
    """Return what the core asks: ``ask`` with a question that says what it is about.

    Args:
        ask: The function of the caller.
        run: Waits for an answer that is awaited; without it, such a function is refused.
        about: The parts of the question that are known before.

    """
    import logging

    from skillpm._arguments import usage_error

    def asked(text: str, digest: str, *called: Any) -> bool:
        # What a model called is known where the call is answered.
        known = {**about, **dict(zip(("skill", "script", "arguments"), called))}
        answer: object = ask(Question(text, digest=digest, **known))
        if isinstance(answer, Awaitable):
            if run is None:
                # Nobody is to be warned of a coroutine that was never awaited.
                getattr(answer, "close", bool)()
                raise usage_error(
                    "`ask` is an `async` function, and nobody awaits it here",
                    hint="`await manager.arun_script(...)` and `await toolkit.acall(...)` do",
                )
            answer = run(answer)
        if not isinstance(answer, bool):
            # It may be what a person typed, and the same answer comes again where an agent goes on.
            told = f"`ask` answered {answer!a}, not `True` or `False`: the script does not run"
            logging.getLogger("skillpm").warning("%s", told[:_LONGEST])
        return answer is True

    return asked
