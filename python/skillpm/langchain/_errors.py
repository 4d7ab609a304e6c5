"""What tools raise: the exceptions of skillpm, each of them a ``ToolException`` too."""

from __future__ import annotations

from langchain_core.tools import ToolException

import skillpm

_KINDS: dict[type[skillpm.SkillpmError], type[skillpm.SkillpmError]] = {}
for _name in skillpm.__all__:
    # No model can help a defect of skillpm.
    if _name.endswith("Error") and _name != "InternalError":
        _kind = getattr(skillpm, _name)
        _said = {"__doc__": _kind.__doc__, "__module__": __name__}
        # Under this name `pickle` looks for it.
        globals()[_name] = _KINDS[_kind] = type(_name, (_kind, ToolException), _said)


def as_tool_exception(error: skillpm.SkillpmError) -> skillpm.SkillpmError:
    """Return ``error`` as what LangChain handles: it has the same class, fields and text."""
    kind = _KINDS.get(type(error))
    if kind is None:
        return error
    also = kind.__new__(kind, *error.args)
    also.__dict__.update(error.__dict__)
    return also


def tool_error(error: Exception) -> str:
    """Return what a model is told of an exception of a tool: ``handle_tool_error=tool_error``.

    It is what was wrong, with what a script wrote to its standard error. Where there is no skill of
    a name, it has the names that there are. What is of use only to who wrote the program is left
    out.
    """
    if isinstance(error, skillpm.SkillNotFoundError):
        names = ", ".join(f"`{name}`" for name in error.available)
        return f"{error.message}. Available skills: {names or 'none'}"
    return error.message if isinstance(error, skillpm.SkillpmError) else str(error)
