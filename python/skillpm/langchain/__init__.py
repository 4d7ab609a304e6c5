"""Skills for LangChain: tools for agents, and a middleware for ``create_agent``.

    from langchain.agents import create_agent
    from skillpm.langchain import SkillsMiddleware

    agent = create_agent(model, middleware=[SkillsMiddleware("./skills")])

``create_skill_tools`` makes the tools by which any agent uses skills, ``create_langchain_tools`` a
tool of each skill, and ``create_script_tools`` one of each script of a skill. The middleware tells
the model which skills there are and lets it load those that it needs. Everything can be invoked
with and without ``await``.
"""

from __future__ import annotations

try:
    import langchain_core.tools as _langchain  # noqa: F401
except ModuleNotFoundError as _error:
    if (_error.name or "").partition(".")[0] != "langchain_core":
        raise
    raise ModuleNotFoundError(
        f"`skillpm.langchain` needs the package `{_error.name}`: "
        'install it with `pip install "skillpm-py[langchain]"`',
        name=_error.name,
    ) from None

from skillpm.langchain._errors import tool_error
from skillpm.langchain._scripts import SkillManager, create_script_tools
from skillpm.langchain._skills import create_langchain_tools
from skillpm.langchain._toolkit import create_skill_tools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from skillpm.langchain._middleware import SkillsMiddleware, SkillsState

__all__ = [
    "SkillManager",
    "SkillsMiddleware",
    "SkillsState",
    "create_langchain_tools",
    "create_script_tools",
    "create_skill_tools",
    "tool_error",
]


def __getattr__(name: str) -> Any:
    """Import what needs the whole of ``langchain`` when it is asked for: that takes its time."""
    if name in ("SkillsMiddleware", "SkillsState"):
        from skillpm.langchain import _middleware

        return getattr(_middleware, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return all names, also of what was not asked for yet."""
    return sorted({*globals(), *__all__})
