"""Skills for PydanticAI: a toolset that brings the tools and the instructions.

from pydantic_ai import Agent
from skillpm.pydantic_ai import SkillToolset

agent = Agent("anthropic:claude-sonnet-5-5", toolsets=[SkillToolset("./skills")])
"""

from __future__ import annotations

import asyncio
from typing import Any, Optional, Union

from skillpm._extras import missing

try:
    from pydantic_ai import RunContext, ToolDefinition, ToolFailed, ToolReturn
    from pydantic_ai.messages import InstructionPart
    from pydantic_ai.toolsets import AbstractToolset, ToolsetTool
    from pydantic_core import SchemaValidator, core_schema
except ModuleNotFoundError as _error:
    raise missing(_error, __name__, "pydantic-ai-slim", "pydantic_ai", "pydantic_core") from None

from skillpm._manager import SkillManager
from skillpm._toolkit import Toolkit, toolkit_of
from skillpm._types import Sources

__all__ = ["SkillToolset"]

# What does not fit the schema is told by the core, which names what does.
_ANY_OBJECT = SchemaValidator(core_schema.dict_schema(core_schema.str_schema()))


class SkillToolset(AbstractToolset[Any]):
    """The tools by which an agent uses skills, and what its instructions say of them.

    The tools are ``search_skills``, ``load_skill``, ``read_skill_file`` and, with ``scripts=True``,
    ``run_skill_script``. The catalog is made anew for each call of the model, so that it knows of
    skills that come later. A call that fails is a ``ToolFailed``: the model reads why, and may do
    something else; it costs none of the retries. What was loaded, and how a script ran, is the
    ``metadata`` of what the tool returned. Where the run is cancelled, a script is ended.

    Args:
        skills: A ``Toolkit``, a ``SkillManager``, or the directories that one is made of.
        id: What tells the toolset from others of the agent: durable execution needs it.
        requires_approval: Whether a person has to approve before a script runs.
        options: Those of ``Toolkit``.

    Raises:
        ConfigurationError: An option that makes no sense.

    """

    def __init__(
        self,
        skills: Union[Toolkit, SkillManager, Sources] = None,
        *,
        id: Optional[str] = None,
        requires_approval: bool = False,
        **options: Any,
    ) -> None:
        self.kit: Toolkit = toolkit_of(skills, **options)
        self.requires_approval = requires_approval
        self._id = id

    @property
    def id(self) -> Optional[str]:
        """What tells the toolset from others of the agent."""
        return self._id

    @property
    def tool_name_conflict_hint(self) -> str:
        """What to do where another tool has the name of one of these."""
        return "Give one of them another name: `Toolkit(..., prefix=...)` does."

    async def get_instructions(self, ctx: RunContext[Any]) -> Optional[InstructionPart]:
        """Return how to use the skills, and the catalog."""
        text = await asyncio.to_thread(self.kit.instructions)
        # It stays the same as long as the skills do: a provider can cache it.
        return InstructionPart(text) if text else None

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        """Return the tools by their names."""
        found: dict[str, ToolsetTool[Any]] = {}
        for tool in self.kit.tools:
            asked = self.requires_approval and not tool.read_only
            definition = ToolDefinition(
                name=tool.name,
                description=tool.description,
                parameters_json_schema=tool.parameters,
                kind="unapproved" if asked else "function",
            )
            found[tool.name] = ToolsetTool(
                toolset=self,
                tool_def=definition,
                max_retries=ctx.max_retries,
                args_validator=_ANY_OBJECT,
            )
        return found

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> ToolReturn:
        """Answer the call of a tool.

        Raises:
            ToolFailed: The call failed; the text says why.

        """
        result = await self.kit.acall(name, tool_args)
        if result.is_error:
            # A `ModelRetry` would ask for the same call again, and end the run after a few.
            raise ToolFailed(result.text)
        return ToolReturn(result.text, metadata=result.about)
