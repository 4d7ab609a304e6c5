"""The engine for Agent Skills: directories with a ``SKILL.md`` that teach agents how to do a job.

    >>> from skillpm import SkillManager
    >>> manager = SkillManager()
    >>> manager.list_skills()                                    # doctest: +SKIP
    >>> manager.invoke_skill("code-reviewer", "src/main.py")     # doctest: +SKIP

``SkillManager`` answers every question about skills, in threads and in event loops alike. Adapters
lie in modules of their own, which are imported by name: ``skillpm.langchain``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

try:
    from skillpm import _native as _  # noqa: F401
except ImportError as _error:
    if "subinterpreter" not in str(_error):
        raise
    raise ImportError(
        "skillpm cannot be imported in a subinterpreter: use threads, which share a manager, or "
        "processes, which a manager can be sent to"
    ) from _error

from skillpm import errors
from skillpm._ask import Question
from skillpm._manager import SkillManager
from skillpm._native import (
    Diagnostic,
    Script,
    ScriptResult,
    Skill,
    SkillMetadata,
    __version__,
)
from skillpm.errors import SkillpmError

if TYPE_CHECKING:
    from skillpm import outcomes
    from skillpm._project import Project
    from skillpm._registry import Registry
    from skillpm._toolkit import Toolkit
    from skillpm._verbs import install, validate
    from skillpm.errors import ConfigurationError as ConfigurationError
    from skillpm.errors import ConflictError as ConflictError
    from skillpm.errors import IntegrityError as IntegrityError
    from skillpm.errors import InternalError as InternalError
    from skillpm.errors import NetworkError as NetworkError
    from skillpm.errors import PathError as PathError
    from skillpm.errors import PolicyError as PolicyError
    from skillpm.errors import SkillInvocationError as SkillInvocationError
    from skillpm.errors import SkillNotFoundError as SkillNotFoundError
    from skillpm.errors import SkillParseError as SkillParseError
    from skillpm.errors import StorageError as StorageError

__all__ = [
    "Diagnostic",
    "Project",
    "Question",
    "Registry",
    "Script",
    "ScriptResult",
    "Skill",
    "SkillManager",
    "SkillMetadata",
    "SkillpmError",
    "Toolkit",
    "__version__",
    "errors",
    "install",
    "outcomes",
    "validate",
]

# Where the names are that are imported when they are asked for.
_LATER = {
    "Project": "_project",
    "Registry": "_registry",
    "Toolkit": "_toolkit",
    "install": "_verbs",
    "validate": "_verbs",
}


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Import a name when it is asked for; the exceptions are those of ``skillpm.errors``."""
        from importlib import import_module

        if name in _LATER:
            value = getattr(import_module(f"skillpm.{_LATER[name]}"), name)
        elif name == "outcomes":
            value = import_module("skillpm.outcomes")
        elif name.endswith("Error") and hasattr(errors, name):
            value = getattr(errors, name)
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    """Return all names, also of what was not asked for yet."""
    return sorted({*globals(), *__all__})


# Tracebacks and `pickle` name the classes as they are imported.
for _kind in SkillpmError, *SkillpmError.__subclasses__():
    _kind.__module__ = __name__
del _kind
