"""Skills for LlamaIndex: tools for agents, and what their system prompt says of the skills.

    from llama_index.core.agent.workflow import FunctionAgent
    from skillpm import Toolkit
    from skillpm.llama_index import create_skill_tools, skill_instructions

    kit = Toolkit("./skills")
    tools = create_skill_tools(kit)
    agent = FunctionAgent(tools=tools, llm=llm, system_prompt=skill_instructions(kit))

Other agents take them as well.
"""

from __future__ import annotations

import copy
import json
from hashlib import sha256
from typing import Any, ClassVar, Union

from skillpm._extras import missing

try:
    from llama_index.core.tools import FunctionTool, ToolMetadata, ToolOutput
except ModuleNotFoundError as _error:
    raise missing(_error, __name__, "llama-index-core", "llama_index") from None

from llama_index.core.base.llms.types import TextBlock
from llama_index.core.workflow import Context, HumanResponseEvent, InputRequiredEvent
from pydantic import BaseModel, create_model

from skillpm._manager import SkillManager
from skillpm._toolkit import Tool, Toolkit, ToolResult, toolkit_of
from skillpm._types import Sources

__all__ = ["SkillTool", "create_skill_tools", "skill_instructions"]

_REFUSED = ToolResult("the user did not allow it", is_error=True)


class SkillTool(FunctionTool):
    """A tool of a toolkit. What a model gives it is checked by the core."""

    def __init__(self, kit: Toolkit, tool: Tool, *, confirm: bool = False) -> None:
        async def run(**arguments: Any) -> str:
            return (await self.acall(**arguments)).content

        super().__init__(run, ToolMetadata(tool.description, tool.name, _schema(tool)))
        self._kit = kit
        self.requires_context = confirm
        self.ctx_param_name = "ctx" if confirm else None

    def call(self, *args: Any, **kwargs: Any) -> ToolOutput:
        """Call the tool. One that is to be confirmed fails: only agents ask their users."""
        given = {**self.partial_params, **kwargs}
        if self.requires_context:
            return self._output(given, _REFUSED)
        return self._output(given, self._kit.call(self.metadata.get_name(), given))

    async def acall(self, *args: Any, **kwargs: Any) -> ToolOutput:
        """Call the tool without holding up the event loop. A cancelled call ends its script."""
        given = {**self.partial_params, **kwargs}
        if self.requires_context and not await _confirmed(given.pop("ctx", None), given):
            return self._output(given, _REFUSED)
        return self._output(given, await self._kit.acall(self.metadata.get_name(), given))

    def _output(self, given: dict[str, Any], result: ToolResult) -> ToolOutput:
        return ToolOutput(
            tool_name=self.metadata.get_name(),
            blocks=[TextBlock(text=result.text)],
            raw_input={"args": (), "kwargs": given},
            raw_output=result.text if result.about is None else result.about,
            is_error=result.is_error,
        )


def create_skill_tools(
    skills: Union[Toolkit, SkillManager, Sources] = None, *, confirm: bool = False, **options: Any
) -> list[FunctionTool]:
    """Return the tools by which an agent uses skills.

    They are ``search_skills``, ``load_skill``, ``read_skill_file`` and, with ``scripts=True``,
    ``run_skill_script``. A call that fails is an output with ``is_error``. The ``raw_output`` says
    which skill was loaded, or how a script ran.

    Args:
        skills: A ``Toolkit``, a ``SkillManager``, or the directories that one is made of.
        confirm: Whether the user is asked before a script runs: by an ``InputRequiredEvent`` with
            ``prefix``, ``arguments`` and ``call``. A ``HumanResponseEvent`` with the same ``call``
            and the ``response`` ``yes`` lets it run.
        options: Those of ``Toolkit``.

    Raises:
        ConfigurationError: An option that makes no sense.

    """
    kit = toolkit_of(skills, **options)
    return [SkillTool(kit, tool, confirm=confirm and not tool.read_only) for tool in kit.tools]


def skill_instructions(
    skills: Union[Toolkit, SkillManager, Sources] = None, text: str = "", **options: Any
) -> str:
    """Return an agent's ``system_prompt``: ``text``, and what there is to say of the skills.

    Args:
        skills: As for ``create_skill_tools``; a ``Toolkit`` is best given to both.
        text: The agent's own instructions, which come before.
        options: Those of ``Toolkit``.

    Raises:
        ConfigurationError: An option that makes no sense.

    """
    return toolkit_of(skills, **options).instructions(text)


class _Arguments(BaseModel):
    """What a tool takes. Its schema is that of the core."""

    parameters: ClassVar[dict[str, Any]]

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: Any) -> dict[str, Any]:
        return copy.deepcopy(cls.parameters)


def _schema(tool: Tool) -> type[BaseModel]:
    fields: dict[str, Any] = dict.fromkeys(tool.parameters["properties"], (Any, None))
    made = create_model(tool.name, __base__=_Arguments, **fields)
    made.parameters = tool.parameters
    return made


async def _confirmed(context: Any, given: dict[str, Any]) -> bool:
    """Ask the user of a workflow whether a script may run."""
    if not isinstance(context, Context):
        return False
    # The step is run again when the answer is there: the call has to have the same name then.
    call = sha256(json.dumps(given, sort_keys=True, default=str).encode()).hexdigest()
    asked = f"Run `{given.get('script')}` of the skill `{given.get('name')}`?"
    about: dict[str, Any] = {"prefix": asked, "arguments": given.get("arguments"), "call": call}
    answer = await context.wait_for_event(
        HumanResponseEvent, InputRequiredEvent(**about), requirements={"call": call}
    )
    return str(answer.get("response", "")).strip().lower() in ("y", "yes", "true")
