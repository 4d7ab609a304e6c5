"""Skills for LangGraph: a toolkit, and nodes that are declared as classes.

``SkillKit`` gives the two tools ``Skill`` and ``SkillRead`` to any graph. A class that inherits
from ``node`` becomes a graph of its own: a handler that calls a model, and the tools that it may
use.

    from skillpm.langgraph import node

    class researcher(node):
        llm = model
        tools = [web_search]
        skills = "skills/"

        async def handler(state, *, llm):
            return {"messages": [await llm.ainvoke(state["messages"])], "sender": "researcher"}

    researcher.invoke({"messages": [("user", "How large is the market?")]})
"""

from __future__ import annotations

try:
    import langgraph.graph as _langgraph  # noqa: F401
except ModuleNotFoundError as _error:
    if (_error.name or "").partition(".")[0] not in ("langgraph", "langchain_core"):
        raise
    raise ModuleNotFoundError(
        f"`skillpm.langgraph` needs the package `{_error.name}`: "
        'install it with `pip install "skillpm-py[langgraph]"`',
        name=_error.name,
    ) from None

from skillpm.langgraph._kit import SkillKit
from skillpm.langgraph._node import SkillNode, node
from skillpm.langgraph._state import AgentState

__all__ = ["AgentState", "SkillKit", "SkillNode", "node"]
