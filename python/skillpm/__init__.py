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
from skillpm._verbs import install, validate

__all__ = [
    "ConfigurationError",
    "Diagnostic",
    "IntegrityError",
    "InternalError",
    "NetworkError",
    "PathError",
    "PolicyError",
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
    "validate",
]

# Tracebacks and `pickle` name the classes as they are imported.
for _kind in SkillpmError, *SkillpmError.__subclasses__():
    _kind.__module__ = __name__
del _kind
