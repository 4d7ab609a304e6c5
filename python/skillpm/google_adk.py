"""Skills for Google's Agent Development Kit: a toolset that tells the model of its skills.

    from google.adk.agents import LlmAgent
    from skillpm.google_adk import SkillToolset

    agent = LlmAgent(name="clerk", model="gemini-2.5-flash", tools=[SkillToolset("./skills")])

``create_skill_tools`` and ``skill_instructions`` are its parts, for agents that are put together
otherwise.
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Awaitable
from typing import Any, Callable, Optional, Union

from skillpm._extras import missing

try:
    from google.adk.tools.base_tool import BaseTool
except ModuleNotFoundError as _error:
    raise missing(_error, __name__, "google-adk", "google") from None

from google.adk.agents.readonly_context import ReadonlyContext
from google.adk.models.llm_request import LlmRequest
from google.adk.tools.base_toolset import BaseToolset, ToolPredicate
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from skillpm._manager import SkillManager
from skillpm._toolkit import Tool, Toolkit, toolkit_of
from skillpm._types import Sources

__all__ = ["SkillTool", "SkillToolset", "create_skill_tools", "skill_instructions"]


class SkillTool(BaseTool):
    """A tool of a toolkit. What a model gives it is checked by the core."""

    def __init__(self, kit: Toolkit, tool: Tool, *, require_confirmation: bool = False) -> None:
        super().__init__(name=tool.name, description=tool.description)
        self.kit = kit
        self._tool = tool
        self._confirm = require_confirmation

    def _get_declaration(self) -> types.FunctionDeclaration:
        return types.FunctionDeclaration(
            name=self.name,
            description=self.description,
            parameters_json_schema=copy.deepcopy(self._tool.parameters),
        )

    async def check_require_confirmation(
        self, args: dict[str, Any], tool_context: ToolContext
    ) -> bool:
        """Return whether the user is asked before this call."""
        return self._confirm

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> dict[str, Any]:
        """Return a ``result``, or an ``error`` where the call failed.

        ADK asks before it runs a tool that is to be confirmed. Nothing runs where nobody asked.
        """
        answer = tool_context.tool_confirmation
        if self._confirm and not (answer and answer.confirmed):
            return {"error": "the user did not allow it"}
        result = await self.kit.acall(self._tool.name, args)
        return {"error" if result.is_error else "result": result.text}


class SkillToolset(BaseToolset):
    """The tools by which an agent uses skills, with what its instructions say of them.

    They are ``search_skills``, ``load_skill``, ``read_skill_file`` and, with ``scripts=True``,
    ``run_skill_script``. Each request of the agent has the skills that there are then.

    Args:
        skills: A ``Toolkit``, a ``SkillManager``, or the directories that one is made of.
        instructions: Whether the toolset adds what ``skill_instructions`` returns.
        require_confirmation: Whether the user is asked before a script runs.
        tool_filter: The only tools that the agent gets, as for other toolsets.
        options: Those of ``Toolkit``.

    Raises:
        ConfigurationError: An option that makes no sense.

    """

    def __init__(
        self,
        skills: Union[Toolkit, SkillManager, Sources] = None,
        *,
        instructions: bool = True,
        require_confirmation: bool = False,
        tool_filter: Union[ToolPredicate, list[str], None] = None,
        **options: Any,
    ) -> None:
        super().__init__(tool_filter=tool_filter)
        self.kit: Toolkit = toolkit_of(skills, **options)
        self._tools = create_skill_tools(self.kit, require_confirmation=require_confirmation)
        self._instructions = instructions

    async def get_tools(self, readonly_context: Optional[ReadonlyContext] = None) -> list[BaseTool]:
        """Return the tools that the filter lets through."""
        return [tool for tool in self._tools if self._is_tool_selected(tool, readonly_context)]

    async def process_llm_request(
        self, *, tool_context: ToolContext, llm_request: LlmRequest
    ) -> None:
        """Tell the model of the skills."""
        said = await asyncio.to_thread(self.kit.instructions) if self._instructions else ""
        if said:
            llm_request.append_instructions([said])


def create_skill_tools(
    skills: Union[Toolkit, SkillManager, Sources] = None,
    *,
    require_confirmation: bool = False,
    **options: Any,
) -> list[SkillTool]:
    """Return the tools of a ``SkillToolset``, without the instructions; the arguments are its."""
    kit = toolkit_of(skills, **options)
    return [
        SkillTool(kit, tool, require_confirmation=require_confirmation and not tool.read_only)
        for tool in kit.tools
    ]


def skill_instructions(
    skills: Union[Toolkit, SkillManager, Sources] = None, text: str = "", **options: Any
) -> Callable[[ReadonlyContext], Awaitable[str]]:
    """Return an agent's ``instruction``: ``text``, and what there is to say of the skills."""
    kit = toolkit_of(skills, **options)

    async def instruction(context: ReadonlyContext) -> str:
        return await asyncio.to_thread(kit.instructions, text)

    return instruction
