"""Skills for smolagents: tools for agents, and what their instructions say of the skills.

    from smolagents import ToolCallingAgent
    from skillpm import Toolkit
    from skillpm.smolagents import create_skill_tools, skill_instructions

    kit = Toolkit("./skills")
    agent = ToolCallingAgent(create_skill_tools(kit), model, instructions=skill_instructions(kit))

They work in a ``CodeAgent`` as well.
"""

from __future__ import annotations

import inspect
from typing import Any, Union

from skillpm._extras import missing

try:
    from smolagents import Tool  # type: ignore[import-untyped,unused-ignore]
except ModuleNotFoundError as _error:
    raise missing(_error, __name__, "smolagents", "smolagents") from None

from skillpm._manager import SkillManager
from skillpm._toolkit import Tool as Definition
from skillpm._toolkit import Toolkit, toolkit_of
from skillpm._types import Sources
from skillpm.errors import SkillpmError

__all__ = ["create_skill_tools", "skill_instructions"]


class _SkillTool(Tool):  # type: ignore[misc,unused-ignore]
    """A tool of a toolkit. What a model gives it is checked by the core."""

    skip_forward_signature_validation = True

    def __init__(self, kit: Toolkit, tool: Definition) -> None:
        self.name = tool.name
        self.description = tool.description
        self.inputs = _inputs(tool, getattr(kit, tool.name[len(kit.prefix) :]))
        self.output_type = "string"
        self._kit = kit
        super().__init__()

    def forward(self, *args: Any, **kwargs: Any) -> str:
        """Call the tool. Code may give arguments by their places, in the order of ``inputs``.

        Raises:
            SkillpmError: The call failed; an agent tells its model why.

        """
        given = {**dict(zip(self.inputs, args)), **kwargs}
        given = {name: value for name, value in given.items() if value is not None}
        result = self._kit.call(self.name, given)
        if result.is_error:
            raise SkillpmError(result.text)
        return result.text


def create_skill_tools(
    skills: Union[Toolkit, SkillManager, Sources] = None, **options: Any
) -> list[Tool]:
    """Return the tools by which an agent uses skills.

    They are ``search_skills``, ``load_skill``, ``read_skill_file`` and, with ``scripts=True``,
    ``run_skill_script``. ``skill_instructions`` belongs into the agent's instructions.

    Args:
        skills: A ``Toolkit``, a ``SkillManager``, or the directories that one is made of.
        options: Those of ``Toolkit``.

    Raises:
        ConfigurationError: An option that makes no sense.

    """
    kit = toolkit_of(skills, **options)
    return [_SkillTool(kit, tool) for tool in kit.tools]


def skill_instructions(
    skills: Union[Toolkit, SkillManager, Sources] = None, text: str = "", **options: Any
) -> str:
    """Return an agent's ``instructions``: ``text``, and what there is to say of the skills.

    Args:
        skills: As for ``create_skill_tools``; a ``Toolkit`` is best given to both.
        text: The agent's own instructions, which come before.
        options: Those of ``Toolkit``.

    Raises:
        ConfigurationError: An option that makes no sense.

    """
    return toolkit_of(skills, **options).instructions(text)


def _inputs(tool: Definition, function: Any) -> dict[str, dict[str, Any]]:
    """Return what a tool takes as smolagents has it, in the order of the function's parameters."""
    required = tool.parameters.get("required", ())
    properties = tool.parameters["properties"]
    names = [name for name in inspect.signature(function).parameters if name in properties]
    return {
        name: {**properties[name], **({} if name in required else {"nullable": True})}
        for name in names
    }
