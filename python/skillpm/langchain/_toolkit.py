"""The tools of a toolkit as those of LangChain."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, Union

from langchain_core.messages import ToolMessage
from langchain_core.tools import StructuredTool

from skillpm import SkillManager
from skillpm._toolkit import Tool, Toolkit, ToolResult, toolkit_of
from skillpm._types import Sources


class SkillTool(StructuredTool):
    """A tool whose arguments are checked by the core, which tells the model what does not fit."""

    def _to_args_and_kwargs(
        self, tool_input: Union[str, dict[str, Any]], tool_call_id: Any
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        # LangChain lets no tool with a schema of JSON take a text.
        return (tool_input, tool_call_id), {}

    # LangChain's own also give the function what is called `config` and `run_manager`.
    def _run(self, arguments: Any, call: Any) -> Any:  # type: ignore[override]
        return self._message(self.func(arguments), call)  # type: ignore[misc]

    async def _arun(self, arguments: Any, call: Any) -> Any:  # type: ignore[override]
        return self._message(await self.coroutine(arguments), call)  # type: ignore[misc]

    def _message(self, result: ToolResult, call: Any) -> Any:
        """Return what a model gets: a failure is told, and has an artifact as a success has."""
        if call is None:
            return result.text
        status: Literal["success", "error"] = "error" if result.is_error else "success"
        return ToolMessage(
            result.text, artifact=result.about, status=status, name=self.name, tool_call_id=call
        )


def create_skill_tools(
    skills: Union[Toolkit, SkillManager, Sources] = None, **options: Any
) -> list[StructuredTool]:
    """Return the tools by which an agent uses skills, for any agent or graph.

    They are ``search_skills``, ``load_skill``, ``read_skill_file`` and, with ``scripts=True``,
    ``run_skill_script``. ``Toolkit.instructions()`` belongs into the system prompt. A call that
    fails is a message of the status ``error``; what was loaded and how a script ran is the
    message's ``artifact``.

    Args:
        skills: A ``Toolkit``, a ``SkillManager``, or the directories that one is made of.
        options: Those of ``Toolkit``.

    Raises:
        ConfigurationError: An option that makes no sense.

    """
    kit = toolkit_of(skills, **options)
    return [made(tool, lambda: kit) for tool in kit.tools]


def made(
    tool: Tool, kit: Callable[[], Toolkit], loaded: Callable[[], Iterable[str]] = tuple
) -> StructuredTool:
    """Return a tool of LangChain that calls ``tool`` of the toolkit that ``kit`` returns."""

    def run(arguments: Any = None) -> ToolResult:
        return kit().call(tool.name, _mapping(arguments), loaded=tuple(loaded()))

    async def arun(arguments: Any = None) -> ToolResult:
        return await kit().acall(tool.name, _mapping(arguments), loaded=tuple(loaded()))

    return SkillTool(
        name=tool.name,
        description=tool.description,
        args_schema=tool.parameters,
        func=run,
        coroutine=arun,
    )


def _mapping(arguments: Any) -> Any:
    """Return arguments by their names. A text alone is one for a tool that takes one."""
    return {"arguments": [arguments]} if isinstance(arguments, str) else arguments
