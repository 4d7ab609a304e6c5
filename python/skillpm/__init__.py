"""The engine for Agent Skills: directories with a ``SKILL.md`` that teach agents how to do a job.

    >>> from skillpm import SkillManager
    >>> manager = SkillManager()
    >>> manager.list_skills()                                    # doctest: +SKIP
    >>> manager.invoke_skill("code-reviewer", "src/main.py")     # doctest: +SKIP

``SkillManager`` answers every question about skills, in threads and in event loops alike. Adapters
lie in modules of their own, which are imported by name: ``skillpm.langchain``.
"""

from __future__ import annotations

from skillpm._errors import (
    ConfigurationError,
    ConflictError,
    IntegrityError,
    InternalError,
    NetworkError,
    PathError,
    PolicyError,
    SkillInvocationError,
    SkillNotFoundError,
    SkillParseError,
    SkillpmError,
    StorageError,
)
from skillpm._manager import SkillManager
from skillpm._native import (
    Diagnostic,
    Script,
    ScriptResult,
    Skill,
    SkillMetadata,
    __version__,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillpm import outcomes
    from skillpm._project import Project
    from skillpm._registry import Registry
    from skillpm._verbs import install, validate

__all__ = [
    "ConfigurationError",
    "ConflictError",
    "Diagnostic",
    "IntegrityError",
    "InternalError",
    "NetworkError",
    "PathError",
    "PolicyError",
    "Project",
    "Registry",
    "Script",
    "ScriptResult",
    "Skill",
    "SkillInvocationError",
    "SkillManager",
    "SkillMetadata",
    "SkillNotFoundError",
    "SkillParseError",
    "SkillpmError",
    "StorageError",
    "__version__",
    "install",
    "outcomes",
    "validate",
]

# Tracebacks and `pickle` name the classes as they are imported.
for _kind in SkillpmError, *SkillpmError.__subclasses__():
    _kind.__module__ = __name__
del _kind


if not TYPE_CHECKING:
    _LAZY = {
        "Project": "_project",
        "Registry": "_registry",
        "install": "_verbs",
        "validate": "_verbs",
    }

    def __getattr__(name: str) -> object:
        """Return what is imported when it is first used: not every program manages skills."""
        from importlib import import_module

        if name == "outcomes":
            return import_module("skillpm.outcomes")
        module = _LAZY.get(name)
        if module is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"skillpm.{module}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return __all__
