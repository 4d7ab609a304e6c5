"""Skills for Langflow: a store, two tools for agents, and a component.

    from skillpm.langflow import SkillStore, create_skill_tools, inject_catalog

    store = SkillStore("./skills")
    prompt = inject_catalog("You are a helpful assistant.", store.get_skill_catalog())
    tools = create_skill_tools(store)

An agent that has the prompt knows which skills there are, and calls ``load_skill`` and
``read_skill_file`` for those that it needs. The tools need ``langchain-core``, which Langflow
brings; the rest of this module needs nothing. Langflow finds the component ``Skills`` by itself
where this package is installed.
"""

from __future__ import annotations

from skillpm.langflow._display import TOOL_DISPLAY, ToolDisplay
from skillpm.langflow._prompt import CATALOG_PLACEHOLDER, inject_catalog
from skillpm.langflow._store import CATALOG_BUDGET, SkillLoad, SkillStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from skillpm.langflow._tools import create_skill_tools

__all__ = [
    "CATALOG_BUDGET",
    "CATALOG_PLACEHOLDER",
    "TOOL_DISPLAY",
    "SkillLoad",
    "SkillStore",
    "ToolDisplay",
    "create_skill_tools",
    "inject_catalog",
]


def __getattr__(name: str) -> Any:
    """Import what needs LangChain when it is asked for."""
    if name == "create_skill_tools":
        from skillpm.langflow._tools import create_skill_tools

        return create_skill_tools
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return all names, also of what was not asked for yet."""
    return sorted({*globals(), *__all__})
