"""The middleware for agents of ``create_agent``."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union

from langchain.agents.middleware.types import (
    AgentMiddleware,
    AgentState,
    ModelRequest,
    ModelResponse,
    PrivateStateAttr,
)
from langchain_core.messages import SystemMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.types import Command
from pydantic import BaseModel, Field
from typing_extensions import NotRequired

from skillpm import ConfigurationError, SkillManager, SkillMetadata, SkillpmError
from skillpm._arguments import check_budget
from skillpm.langchain._errors import as_tool_errors, tool_error
from skillpm.langchain._scripts import ScriptTool, create_script_tools

if TYPE_CHECKING:
    from langchain.agents.middleware.types import ToolCallRequest

StrPath = Union[str, "PathLike[str]"]

_log = logging.getLogger("skillpm")

LOAD = "load_skill"
READ = "read_skill_file"

_SAYS = f"""Skills are instructions for kinds of jobs. These are the skills that you have. \
Where one fits the task, call `{LOAD}` with its name before you start, and do as it says."""
_STILL_SAYS = """You loaded these skills earlier in this conversation. Their instructions still \
hold; there is no need to load them again."""


class _LoadInput(BaseModel):
    skill_name: str = Field(description="The name of the skill, as it is listed.")
    arguments: str = Field(default="", description="What the skill is to work on, as one text.")


class _ReadInput(BaseModel):
    skill_name: str = Field(description="The name of the skill.")
    file_name: str = Field(
        description="The path of the file below the skill's directory, such as `references/api.md`."
    )


def _merged(old: dict[str, str] | None, new: dict[str, str] | None) -> dict[str, str]:
    """Return what both have, what was loaded last at the end: several may be loaded in one step."""
    new = new or {}
    return {**{name: given for name, given in (old or {}).items() if name not in new}, **new}


class SkillsState(AgentState[Any]):
    """The state of an agent with skills."""

    # Names, each with the arguments it was loaded with: all of it goes into a checkpoint. The
    # function that merges has to stand last.
    loaded_skills: NotRequired[Annotated[dict[str, str], PrivateStateAttr, _merged]]


class SkillsMiddleware(AgentMiddleware[Any, Any]):
    """Gives an agent of ``create_agent`` skills.

    Each time the model is called, the system message says which skills there are, once, and as they
    are then: the messages of the conversation do not have it. Skills that say that models are not
    to use them are left out, and not loaded. The model gets tools to load a skill and to read a
    file of one, as long as there are skills.

    A skill that was loaded stays loaded. Where the message with its instructions is gone, because
    the history was summarised, trimmed or cleared, or where the instructions changed since, the
    system message has them. Middleware that changes the messages of a single call, such as
    ``ContextEditingMiddleware``, has to stand before this one in the list.

    The state of a thread has the names of the skills that were loaded in it, and nothing else: any
    checkpointer can keep it.

    Args:
        skills: A ``SkillManager``, or the directories that one is made of.
        scripts: Whether the scripts of a skill become tools once it is loaded. The manager decides
            whether they may run.
        pin: Whether loaded skills stay in what the model sees.
        budget: The largest number of tokens that the list of skills may be. The longest
            descriptions are shortened for it.
        enforce: What becomes of the call of a tool that no loaded skill has in its
            ``allowed-tools``: ``off`` lets it pass, ``advise`` too, with a warning in the log, and
            ``deny`` tells the model that it may not. Before a skill is loaded, and as long as one
            is loaded that names no tools, every call passes. Patterns in parentheses, as in
            ``Bash(git:*)``, are not looked at: the tool is named.

    Raises:
        ConfigurationError: An argument that makes no sense. When the model is called: the agent has
            a tool of its own that is named as one of these.

    """

    state_schema: type[Any] = SkillsState

    def __init__(
        self,
        skills: SkillManager | StrPath | Iterable[StrPath] | Mapping[str, StrPath] | None = None,
        *,
        scripts: bool = False,
        pin: bool = True,
        budget: int | None = None,
        enforce: Literal["off", "advise", "deny"] = "off",
    ) -> None:
        super().__init__()
        if enforce not in ("off", "advise", "deny"):
            raise ConfigurationError(
                f"`enforce` is `off`, `advise` or `deny`, not `{enforce}`", code="usage"
            )
        check_budget(budget)
        self.manager: SkillManager = (
            skills if isinstance(skills, SkillManager) else SkillManager(skills)
        )
        self.scripts = scripts
        self.pin = pin
        self.budget = budget
        self.enforce = enforce
        self.tools: list[BaseTool] = [
            StructuredTool(
                name=LOAD,
                description="Load a skill: return its instructions and the names of its files.",
                args_schema=_LoadInput,
                func=self._load,
                coroutine=self._aload,
                handle_tool_error=tool_error,
            ),
            StructuredTool(
                name=READ,
                description="Read a file of a skill that its instructions refer to.",
                args_schema=_ReadInput,
                func=self._read,
                coroutine=self._aread,
                handle_tool_error=tool_error,
            ),
        ]

    def wrap_model_call(
        self, request: ModelRequest, handler: Callable[[ModelRequest], ModelResponse]
    ) -> ModelResponse:
        """Tell the model of skills."""
        return handler(self._told(request))

    async def awrap_model_call(
        self, request: ModelRequest, handler: Callable[[ModelRequest], Awaitable[ModelResponse]]
    ) -> ModelResponse:
        """Tell the model of skills."""
        return await handler(await asyncio.to_thread(self._told, request))

    def wrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]],
    ) -> ToolMessage | Command[Any]:
        """Note which skills are loaded, run their scripts, and hold calls to their tools."""
        request = self._found(request)
        return self._denied(request) or self._noted(request, handler(request))

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """Note which skills are loaded, run their scripts, and hold calls to their tools."""
        if request.tool is None and self.scripts:
            request = await asyncio.to_thread(self._found, request)
        denied = None
        if self.enforce != "off":
            denied = await asyncio.to_thread(self._denied, request)
        return denied or self._noted(request, await handler(request))

    def _told(self, request: ModelRequest) -> ModelRequest:
        """Return the request with the skills that there are now."""
        catalog = self.manager.catalog(fields=("description",), budget=self.budget)
        loaded = _loaded(request.state)
        texts = [f"{_SAYS}\n\n{catalog.strip()}"] if catalog else []
        skills = self._resolved(loaded) if self.pin or self.scripts else {}
        if still := self._missing(request, skills) if self.pin else []:
            texts.append("\n\n".join([_STILL_SAYS, *still]))
        tools = list(request.tools)
        self._check_names(tools)
        if not catalog and not loaded:
            tools = [tool for tool in tools if not self._is_ours(tool)]
        elif self.scripts:
            taken = {tool.name for tool in tools if isinstance(tool, BaseTool)}
            tools += [tool for tool in self._script_tools(skills) if tool.name not in taken]
        message = request.system_message
        if texts:
            message = _with(message, "\n\n".join(texts))
        return request.override(system_message=message, tools=tools)

    def _resolved(self, loaded: Iterable[str]) -> dict[str, SkillMetadata]:
        """Return those of loaded skills that are there, each once, by the name it had last.

        A model may call a skill ``pdf`` now and ``source:pdf`` later.
        """
        found = {}
        for name in loaded:
            try:
                skill = self.manager.get_skill(name)
            except SkillpmError:
                # It is gone. The catalog does not list it either.
                continue
            found[skill.skill_path] = (name, skill)
        return dict(found.values())

    def _missing(self, request: ModelRequest, skills: Iterable[str]) -> list[str]:
        """Return the instructions of loaded skills that no message has."""
        loaded = _loaded(request.state)
        seen = {
            message.content
            for message in request.messages
            if isinstance(message, ToolMessage) and isinstance(message.content, str)
        }
        texts = []
        for name in skills:
            try:
                # It was loaded before, and is now compared with what the model sees.
                text = self.manager._invoke(name, loaded[name], "xml", record=False)
            except SkillpmError:
                continue
            if text not in seen:
                texts.append(text)
        return texts

    def _script_tools(self, skills: Iterable[str]) -> list[StructuredTool]:
        """Return the tools of the scripts of loaded skills, no two of one name."""
        tools: dict[str, StructuredTool] = {}
        for name in skills:
            try:
                made = create_script_tools(self.manager, name, handle_tool_error=True)
            except SkillpmError:
                continue
            for tool in made:
                tools.setdefault(tool.name, tool)
        return list(tools.values())

    def _found(self, request: ToolCallRequest) -> ToolCallRequest:
        """Return the request with its tool, where that is a script of a loaded skill."""
        if request.tool is not None or not self.scripts:
            return request
        for tool in self._script_tools(self._resolved(_loaded(request.state))):
            if tool.name == request.tool_call["name"]:
                return request.override(tool=tool)
        return request

    def _denied(self, request: ToolCallRequest) -> ToolMessage | None:
        """Return what a model is told of a call that may not be, or nothing."""
        tool = request.tool
        if self.enforce == "off" or self._is_ours(tool) or isinstance(tool, ScriptTool):
            return None
        allowed = {
            name: {each.partition("(")[0].strip() for each in skill.allowed_tools}
            for name, skill in self._resolved(_loaded(request.state)).items()
        }
        call = request.tool_call
        named = set().union(*allowed.values())
        # A skill that names no tools says nothing of them.
        if not all(allowed.values()) or not allowed or call["name"] in named:
            return None
        skills = ", ".join(f"`{name}`" for name in allowed)
        known = ", ".join(f"`{each}`" for each in sorted(named))
        says = f"`{call['name']}` is not a tool of the loaded skills ({skills}): they name {known}"
        if self.enforce == "advise":
            _log.warning("%s", says)
            return None
        return ToolMessage(says, name=call["name"], tool_call_id=call["id"] or "", status="error")

    def _noted(
        self, request: ToolCallRequest, result: ToolMessage | Command[Any]
    ) -> ToolMessage | Command[Any]:
        """Return ``result``, and that a skill is loaded where it is what one was loaded with."""
        if request.tool is not self.tools[0] or not isinstance(result, ToolMessage):
            return result
        if result.status == "error":
            return result
        given = _LoadInput.model_validate(request.tool_call["args"])
        loaded = {given.skill_name: given.arguments}
        return Command(update={"messages": [result], "loaded_skills": loaded})

    def _check_names(self, tools: Iterable[BaseTool | dict[str, Any]]) -> None:
        """Raise where a tool of the agent has the name of one of these: it would take its place.

        A copy of one, of which other middleware may have changed the description, is none such.
        """
        ours = {tool.name: tool for tool in self.tools}
        for tool in tools:
            if isinstance(tool, dict):
                name, copied = (tool.get("function") or tool).get("name"), False
            else:
                name = tool.name
                copied = getattr(tool, "func", None) == getattr(ours.get(name), "func", None)
            if name in ours and not copied:
                raise ConfigurationError(
                    f"a tool of the agent is named `{name}`, as one of `SkillsMiddleware` is",
                    code="usage",
                    hint="give it another name",
                )

    def _is_ours(self, tool: object) -> bool:
        return any(tool is each for each in self.tools)

    def _load(self, skill_name: str, arguments: str = "") -> str:
        with as_tool_errors:
            self.manager._check_for_model(skill_name)
            return self.manager.invoke_skill(skill_name, arguments, form="xml")

    async def _aload(self, skill_name: str, arguments: str = "") -> str:
        with as_tool_errors:
            await asyncio.to_thread(self.manager._check_for_model, skill_name)
            return await self.manager.ainvoke_skill(skill_name, arguments, form="xml")

    def _read(self, skill_name: str, file_name: str) -> str:
        with as_tool_errors:
            return self.manager.read_skill_file(skill_name, file_name)

    async def _aread(self, skill_name: str, file_name: str) -> str:
        with as_tool_errors:
            return await self.manager.aread_skill_file(skill_name, file_name)


def _loaded(state: Any) -> dict[str, str]:
    """Return the skills that were loaded, with their arguments, the first first."""
    return state.get("loaded_skills") or {}


def _with(message: SystemMessage | None, text: str) -> SystemMessage:
    """Return a system message that ends with ``text``. Marks of a cache in it stay."""
    if message is None or not message.content:
        return SystemMessage(text)
    if isinstance(message.content, str):
        content: Any = f"{message.content}\n\n{text}"
    else:
        content = [*message.content, {"type": "text", "text": text}]
    return message.model_copy(update={"content": content})
