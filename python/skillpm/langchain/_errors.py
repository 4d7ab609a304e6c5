"""What tools raise: the exceptions of skillpm, each of them a ``ToolException`` too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from langchain_core.tools import ToolException

import skillpm

if TYPE_CHECKING:
    from types import TracebackType

_KINDS: dict[type[skillpm.SkillpmError], type[skillpm.SkillpmError]] = {}
for _name in dir(skillpm.errors):
    # No model can help a defect of skillpm.
    if _name.endswith("Error") and _name != "InternalError":
        _kind = getattr(skillpm.errors, _name)
        _said = {"__doc__": _kind.__doc__, "__module__": __name__}
        # Under this name `pickle` looks for it.
        globals()[_name] = _KINDS[_kind] = type(_name, (_kind, ToolException), _said)


class _AsToolErrors:
    """Turns what leaves its block into what LangChain handles.

    It is no generator under ``contextmanager``, which takes several times as long.
    """

    __slots__ = ()

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, _: type[BaseException] | None, error: BaseException | None, __: TracebackType | None
    ) -> None:
        kind = _KINDS.get(type(error))  # type: ignore[arg-type]
        if kind is None or error is None:
            return
        also = kind.__new__(kind, *error.args)
        also.__dict__.update(error.__dict__)
        raise also from error


# One serves all calls, also those at the same time: it has no state.
as_tool_errors = _AsToolErrors()
"""``with as_tool_errors:`` raises an exception of skillpm as LangChain's ``ToolException`` too.

It has the same class, fields and text. All other exceptions are raised as they are.
"""


def tool_error(error: Exception) -> str:
    """Return what a model is told of an exception of a tool: ``handle_tool_error=tool_error``.

    It is what was wrong, with what a script wrote to its standard error. Where there is no skill of
    a name, it has the names that there are, but for skills that only a person is to start. What is
    of use only to who wrote the program is left out.
    """
    if isinstance(error, skillpm.SkillNotFoundError):
        names = ", ".join(f"`{name}`" for name in error.for_models)
        return f"{error.message}. Available skills: {names or 'none'}"
    return error.message if isinstance(error, skillpm.SkillpmError) else str(error)
