"""Skills for the OpenAI Agents SDK: tools for agents, and what their instructions say.

from agents import Agent
from skillpm import Toolkit
from skillpm.openai_agents import create_skill_tools, skill_instructions

kit = Toolkit("./skills")
agent = Agent("clerk", instructions=skill_instructions(kit), tools=create_skill_tools(kit))
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any, Callable, Union

from skillpm._extras import missing

try:
    from agents import Agent, FunctionTool, RunContextWrapper
    from agents import Tool as AgentTool
    from agents.tool_context import ToolContext
except ModuleNotFoundError as _error:
    raise missing(_error, __name__, "openai-agents", "agents") from None

from skillpm._manager import SkillManager
from skillpm._toolkit import Tool, Toolkit, toolkit_of
from skillpm._types import Sources

__all__ = ["Approval", "create_skill_tools", "skill_instructions"]

Approval = Union[bool, Callable[[RunContextWrapper[Any], dict[str, Any], str], Awaitable[bool]]]
"""Whether a person has to approve of a call: for all, or what says so of a call's arguments."""


def create_skill_tools(
    skills: Union[Toolkit, SkillManager, Sources] = None,
    *,
    needs_approval: Approval = False,
    **options: Any,
) -> list[AgentTool]:
    """Return the tools by which an agent uses skills.

    They are ``search_skills``, ``load_skill``, ``read_skill_file`` and, with ``scripts=True``,
    ``run_skill_script``. The model reads why a call failed, and the run goes on. Where the run is
    cancelled, a script is ended.

    Args:
        skills: A ``Toolkit``, a ``SkillManager``, or the directories that one is made of.
        needs_approval: Whether a person has to approve before a script runs, as ``FunctionTool``
            takes it.
        options: Those of ``Toolkit``.

    Raises:
        ConfigurationError: An option that makes no sense.

    """
    kit = toolkit_of(skills, **options)
    return [_made(kit, tool, needs_approval) for tool in kit.tools]


def _made(kit: Toolkit, tool: Tool, needs_approval: Approval) -> FunctionTool:
    async def invoke(_: ToolContext[Any], arguments: str) -> str:
        return (await kit.acall(tool.name, arguments)).text

    return FunctionTool(
        name=tool.name,
        description=tool.description,
        params_json_schema=tool.parameters,
        on_invoke_tool=invoke,
        # Strict schemas have neither optional properties nor objects with any names.
        strict_json_schema=False,
        needs_approval=False if tool.read_only else needs_approval,
    )


def skill_instructions(
    skills: Union[Toolkit, SkillManager, Sources] = None, text: str = "", **options: Any
) -> Callable[[RunContextWrapper[Any], Agent[Any]], Awaitable[str]]:
    """Return the instructions of an agent with skills: how to use them, and the catalog.

    They are made anew for each call of the model, so that it knows of skills that come later.

    Args:
        skills: As for ``create_skill_tools``; a ``Toolkit`` is best given to both.
        text: The agent's own instructions, which come before.
        options: Those of ``Toolkit``.

    Raises:
        ConfigurationError: An option that makes no sense.

    """
    kit = toolkit_of(skills, **options)

    async def instructions(context: RunContextWrapper[Any], agent: Agent[Any]) -> str:
        return await asyncio.to_thread(kit.instructions, text)

    return instructions
