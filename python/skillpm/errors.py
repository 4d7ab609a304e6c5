"""What is raised. Each failure has one class, a ``code`` for programs and a message for people."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from skillpm.outcomes import Hint


class SkillpmError(Exception):
    """The root of everything that skillpm raises.

    ``message`` says what was wrong. ``code`` names the kind of failure and does not change between
    versions. ``path``, ``line`` and ``column`` say where, or are ``None``. ``hint`` says what to do
    about it, or is ``None``; ``hints`` are its lines as data, with verbs to run and options to pass
    as values. ``str()`` is the message with the hint.
    """

    def __init__(
        self,
        message: str = "",
        *,
        code: str = "error",
        path: str | None = None,
        line: int | None = None,
        column: int | None = None,
        hint: str | None = None,
        hints: Iterable[Hint] = (),
    ) -> None:
        super().__init__(message)
        if hint is not None:
            hints = [*hints, {"text": hint, "parts": [{"text": hint}]}]
        self.message = message
        self.code = code
        self.path = path
        self.line = line
        self.column = column
        self.hints: tuple[Hint, ...] = tuple(hints)
        self.hint: str | None = "\n".join(hint["text"] for hint in self.hints) or None

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\nhint: {self.hint}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.message!r}, code={self.code!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (type(self), self.message, dict(self.__dict__))


def _rebuilt(kind: type[SkillpmError], message: str, state: dict[str, Any]) -> SkillpmError:
    """Return the exception that was pickled: its class may want more than a message."""
    # Of several kinds in one, this one makes objects that have room for all.
    make = OSError.__new__ if issubclass(kind, OSError) else kind.__new__
    error = make(kind, message)
    error.__dict__.update(state)
    return error


class ConfigurationError(SkillpmError, ValueError):
    """An argument, a settings file, a manifest or a lockfile that makes no sense."""


class SkillNotFoundError(SkillpmError, KeyError):
    """There is no skill of that name. ``available`` has the names that there are, sorted.

    ``for_models`` has those of them that a model may be told: skills that only a person is to start
    are left out. It is a ``KeyError`` too, and unlike that one its text can be read.
    """

    def __init__(
        self,
        message: str = "",
        *,
        name: str | None = None,
        available: Iterable[str] = (),
        for_models: Iterable[str] | None = None,
        code: str = "skill-not-found",
        hint: str | None = None,
        hints: Iterable[Hint] = (),
    ) -> None:
        super().__init__(message, code=code, hint=hint, hints=hints)
        self.name = name
        self.available: tuple[str, ...] = tuple(available)
        self.for_models: tuple[str, ...] = (
            self.available if for_models is None else tuple(for_models)
        )

    def __str__(self) -> str:
        # That of `KeyError` is the representation of its argument.
        return SkillpmError.__str__(self)


class SkillParseError(SkillpmError, ValueError):
    """A ``SKILL.md`` that no agent can use: a field is missing, or it is not YAML or not text."""


class PathError(SkillpmError):
    """A file of a skill that does not exist or may not be read: it is outside, or is not a file."""


class SkillInvocationError(SkillpmError):
    """A script that failed, or that could not be run or was ended.

    ``exit_code`` is ``None`` where it did not end by itself. ``signal`` is the number of the signal
    that ended it, if one did, and ``duration`` how many seconds it ran, if it was started.
    ``stdout`` and ``stderr`` are what it wrote, as far as it is kept.
    """

    def __init__(
        self,
        message: str = "",
        *,
        exit_code: int | None = None,
        stdout: str = "",
        stderr: str = "",
        signal: int | None = None,
        duration: float | None = None,
        code: str = "script-failed",
        path: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, code=code, path=path, hint=hint)
        self.exit_code = exit_code
        self.stdout = stdout
        self.stderr = stderr
        self.signal = signal
        self.duration = duration


class PolicyError(SkillpmError):
    """Something that a policy does not allow: a source, a skill, a script."""


class ConflictError(SkillpmError):
    """Something is in the way of a change: edits, an open merge, a skill that needs another."""


class IntegrityError(SkillpmError):
    """Bytes that are not those that were promised, or that no skill may have."""


class NetworkError(SkillpmError):
    """A server that could not be reached, a login that it refused, or a request while offline."""


class StorageError(SkillpmError):
    """The file system did not do what was asked of it."""


class InternalError(SkillpmError):
    """A defect of skillpm. Nothing that a caller passes may lead to it: please report it."""
