"""Skills for Anthropic's SDK: tools for its tool runner, and for loops of your own.

from anthropic import Anthropic
from skillpm import Toolkit
from skillpm.anthropic import create_skill_tools

kit = Toolkit("./skills")
runner = Anthropic().beta.messages.tool_runner(
    model="claude-sonnet-5-5",
    max_tokens=4096,
    system=kit.instructions(),
    tools=create_skill_tools(kit),
    messages=[{"role": "user", "content": "Which fields does a.pdf have?"}],
)
print(runner.until_done().content)
"""

from __future__ import annotations

from typing import Any, Union, cast

from skillpm._extras import missing

try:
    from anthropic.lib.tools import BetaAsyncFunctionTool, BetaFunctionTool, ToolError
    from anthropic.types import Message, ToolParam, ToolResultBlockParam, ToolUseBlock
    from anthropic.types.beta import BetaMessage, BetaToolUseBlock
except ModuleNotFoundError as _error:
    raise missing(_error, __name__, "anthropic", "anthropic") from None

from skillpm._manager import SkillManager
from skillpm._toolkit import Tool, Toolkit, ToolResult, toolkit_of
from skillpm._types import Sources

__all__ = [
    "atool_results",
    "create_async_skill_tools",
    "create_skill_tools",
    "tool_params",
    "tool_results",
]


def create_skill_tools(
    skills: Union[Toolkit, SkillManager, Sources] = None, **options: Any
) -> list[BetaFunctionTool[Any]]:
    """Return the tools by which an agent uses skills, for ``tool_runner`` of ``Anthropic``.

    They are ``search_skills``, ``load_skill``, ``read_skill_file`` and, with ``scripts=True``,
    ``run_skill_script``. ``Toolkit.instructions()`` belongs into the system prompt. A call that
    fails becomes a result with ``is_error``, and the runner goes on.

    Args:
        skills: A ``Toolkit``, a ``SkillManager``, or the directories that one is made of.
        options: Those of ``Toolkit``.

    Raises:
        ConfigurationError: An option that makes no sense.

    """
    kit = toolkit_of(skills, **options)

    def made(tool: Tool) -> BetaFunctionTool[Any]:
        def run(**arguments: Any) -> str:
            return _told(kit.call(tool.name, arguments))

        return BetaFunctionTool(run, **_described(tool))

    return [made(tool) for tool in kit.tools]


def create_async_skill_tools(
    skills: Union[Toolkit, SkillManager, Sources] = None, **options: Any
) -> list[BetaAsyncFunctionTool[Any]]:
    """Return what ``create_skill_tools`` does, for ``tool_runner`` of ``AsyncAnthropic``.

    Where the task is cancelled, a script is ended.
    """
    kit = toolkit_of(skills, **options)

    def made(tool: Tool) -> BetaAsyncFunctionTool[Any]:
        async def run(**arguments: Any) -> str:
            return _told(await kit.acall(tool.name, arguments))

        return BetaAsyncFunctionTool(run, **_described(tool))

    return [made(tool) for tool in kit.tools]


def tool_params(kit: Toolkit) -> list[ToolParam]:
    """Return the tools as ``messages.create(tools=...)`` takes them."""
    return [cast("ToolParam", _described(tool)) for tool in kit.tools]


def tool_results(kit: Toolkit, message: Union[Message, BetaMessage]) -> list[ToolResultBlockParam]:
    """Answer the calls of the toolkit's tools in a message of the model.

    Args:
        kit: The toolkit whose tools the model has.
        message: What the model said. Calls of other tools are left to the caller.

    Returns:
        A result for each call, with ``is_error`` where it failed: the content of the next message.

    """
    calls = _calls(kit, message)
    return [_result(call.id, kit.call(call.name, call.input)) for call in calls]


async def atool_results(
    kit: Toolkit, message: Union[Message, BetaMessage]
) -> list[ToolResultBlockParam]:
    """Do what ``tool_results`` does, without holding up the event loop.

    Where the task is cancelled, a script is ended.
    """
    calls = _calls(kit, message)
    return [_result(call.id, await kit.acall(call.name, call.input)) for call in calls]


def _calls(
    kit: Toolkit, message: Union[Message, BetaMessage]
) -> list[Union[ToolUseBlock, BetaToolUseBlock]]:
    names = {tool.name for tool in kit.tools}
    return [part for part in message.content if part.type == "tool_use" and part.name in names]


def _described(tool: Tool) -> dict[str, Any]:
    parts = {"name": tool.name, "description": tool.description}
    return {**parts, "input_schema": tool.parameters}


def _result(call: str, result: ToolResult) -> ToolResultBlockParam:
    return {
        "type": "tool_result",
        "tool_use_id": call,
        "content": result.text,
        "is_error": result.is_error,
    }


def _told(result: ToolResult) -> str:
    if result.is_error:
        raise ToolError(result.text)
    return result.text
