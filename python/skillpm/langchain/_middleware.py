"""The middleware for agents of ``create_agent``."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, Optional, Union

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
from typing_extensions import NotRequired, Unpack

from skillpm import ConfigurationError, SkillManager, SkillMetadata, SkillpmError
from skillpm._toolkit import LOAD, MOST, RUN, SEARCH, Toolkit, toolkit_of
from skillpm._types import CatalogChoice, RunOptions, Sources
from skillpm.langchain._toolkit import SkillTool, made

if TYPE_CHECKING:
    from langchain.agents.middleware.types import ToolCallRequest

Skills = Union[Toolkit, SkillManager, Sources]

_log = logging.getLogger("skillpm")

_STILL_SAYS = """You loaded these skills earlier in this conversation. Their instructions still \
hold; there is no need to load them again."""

# How many toolkits are kept of a middleware that is told its skills at each call.
_KEPT = 256


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
        skills: A ``Toolkit``, a ``SkillManager``, or the directories that one is made of; or a
            function from the runtime to one of these, for agents that serve several users.
        scripts: Whether scripts run, by ``run_skill_script``. The manager decides whether they may.
        script_tools: Whether the scripts of a skill that was loaded become tools of their own as
            well, ``skill__script``. What asks a person by the names of tools has to know them.
        pin: Whether loaded skills stay in what the model sees.
        budget: The largest number of tokens that the list of skills may be. Where it has no room
            for all, the model gets ``search_skills`` too.
        catalog: How the list is written: ``xml`` or ``markdown``; ``auto`` takes markdown where
            the budget has no room for XML.
        include: The only skills that the agent gets, by name; all unless given.
        exclude: Skills that it does not get.
        tags: Only skills with one of these tags.
        max_output: How many bytes of a file, of instructions or of output one answer has.
        enforce: What becomes of the call of a tool that no loaded skill has in its
            ``allowed-tools``: ``off`` lets it pass, ``advise`` too, with a warning in the log, and
            ``deny`` tells the model that it may not. Before a skill is loaded, and as long as one
            is loaded that names no tools, every call passes. Patterns in parentheses, as in
            ``Bash(git:*)``, are not looked at: the tool is named.
        tool_names: What tools that skills name are called in this agent:
            ``{"Read": "read_file", "Bash": ["shell", "python"]}``.
        prefix: What the names of the tools begin with, so that an agent can have two of these.
        session: What ties the loads of one conversation together in the audit log.
        options: How scripts run, as ``SkillManager.run_script`` takes it: ``timeout``, ``env``,
            ``network``, ``python``, ``read``, ``write`` and others.

    Raises:
        ConfigurationError: An argument that makes no sense. When the model is called: the agent has
            a tool of its own that is named as one of these.

    """

    state_schema: type[Any] = SkillsState

    def __init__(
        self,
        skills: Union[Skills, Callable[[Any], Skills]] = None,
        *,
        scripts: bool = False,
        script_tools: bool = True,
        pin: bool = True,
        budget: Optional[int] = None,
        catalog: CatalogChoice = "auto",
        include: Union[str, Iterable[str]] = (),
        exclude: Union[str, Iterable[str]] = (),
        tags: Union[str, Iterable[str]] = (),
        max_output: int = MOST,
        enforce: Literal["off", "advise", "deny"] = "off",
        tool_names: Optional[Mapping[str, Union[str, Iterable[str]]]] = None,
        prefix: str = "",
        session: Optional[str] = None,
        **options: Unpack[RunOptions],
    ) -> None:
        super().__init__()
        if enforce not in ("off", "advise", "deny"):
            raise ConfigurationError(
                f"`enforce` is `off`, `advise` or `deny`, not `{enforce}`", code="usage"
            )
        self._options: dict[str, Any] = {
            "scripts": scripts,
            "budget": budget,
            "catalog": catalog,
            "include": include,
            "exclude": exclude,
            "tags": tags,
            "max_output": max_output,
            "prefix": prefix,
            "session": session,
            **options,
        }
        if isinstance(skills, Toolkit) and (given := _given(self._options)):
            # It raises: a toolkit has its own.
            toolkit_of(skills, **given)
        self._chosen = skills if callable(skills) else None
        self._kits: dict[Any, tuple[Any, Toolkit]] = {}
        # Without a runtime nobody's skills are known; the tools are the same for all.
        self.toolkit: Toolkit = self._made(() if callable(skills) else skills)
        self.scripts: bool = self.toolkit.scripts
        self.script_tools = script_tools
        self.pin = pin
        self.enforce = enforce
        if tool_names is not None and not hasattr(tool_names, "items"):
            raise ConfigurationError(
                f"`tool_names` is a mapping from names to names, not {tool_names!a}", code="usage"
            )
        self.tool_names: dict[str, set[str]] = {
            name: {names} if isinstance(names, str) else set(names)
            for name, names in (tool_names or {}).items()
        }
        self.tools: list[BaseTool] = [
            made(tool, lambda: self.toolkit) for tool in self.toolkit.tools
        ]

    @property
    def name(self) -> str:
        """The name of the middleware: an agent has no two of one name."""
        prefix = self.toolkit.prefix.rstrip("_")
        return f"{type(self).__name__}[{prefix}]" if prefix else type(self).__name__

    @property
    def manager(self) -> SkillManager:
        """The manager of the skills."""
        return self.toolkit.manager

    def _made(self, skills: Skills) -> Toolkit:
        """Return a toolkit, which has its own options where it was given as one."""
        return skills if isinstance(skills, Toolkit) else toolkit_of(skills, **self._options)

    def _kit(self, runtime: Any) -> Toolkit:
        """Return the toolkit of a call: the same one for the same skills."""
        if self._chosen is None:
            return self.toolkit
        skills = self._chosen(runtime)
        if isinstance(skills, Toolkit):
            return skills
        key = id(skills) if isinstance(skills, SkillManager) else repr(skills)
        kept = self._kits.get(key)
        if kept is None:
            while len(self._kits) >= _KEPT:
                self._kits.pop(next(iter(self._kits)), None)
            # The manager is kept as well: no other one gets its number meanwhile.
            kept = self._kits[key] = skills, self._made(skills)
        return kept[1]

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
        if self._chosen is not None or request.tool is None:
            request = await asyncio.to_thread(self._found, request)
        denied = None
        if self.enforce != "off":
            denied = await asyncio.to_thread(self._denied, request)
        return denied or self._noted(request, await handler(request))

    def _told(self, request: ModelRequest) -> ModelRequest:
        """Return the request with the skills that there are now."""
        kit = self._kit(request.runtime)
        catalog, is_cut = kit._catalog()
        loaded = self._loaded(request.state)
        texts = [kit.instructions_with(catalog)] if catalog else []
        skills = self._resolved(kit, loaded) if self.pin or kit.scripts else {}
        if still := self._missing(kit, request, skills) if self.pin else []:
            texts.append("\n\n".join([_STILL_SAYS, *still]))
        tools = list(request.tools)
        self._check_names(tools)
        if not catalog and not loaded:
            tools = [tool for tool in tools if not self._is_ours(tool)]
        else:
            if not is_cut:
                # The catalog has all that a search would find.
                search = kit.prefix + SEARCH
                tools = [t for t in tools if not (self._is_ours(t) and _name(t) == search)]
            if not kit.scripts:
                run = kit.prefix + RUN
                tools = [t for t in tools if not (self._is_ours(t) and _name(t) == run)]
            taken = {_name(tool) for tool in tools}
            tools += [tool for tool in self._more_tools(kit, skills) if tool.name not in taken]
        message = request.system_message
        if texts:
            message = _with(message, "\n\n".join(texts))
        return request.override(system_message=message, tools=tools)

    def _resolved(self, kit: Toolkit, loaded: Iterable[str]) -> dict[str, SkillMetadata]:
        """Return those of loaded skills that are there, each once, by the name it had last.

        A model may call a skill ``pdf`` now and ``source:pdf`` later.
        """
        found = {}
        for name in loaded:
            try:
                skill = kit.skill(name)
            except SkillpmError:
                # It is gone. The catalog does not list it either.
                continue
            found[skill.skill_path] = (name, skill)
        return dict(found.values())

    def _missing(self, kit: Toolkit, request: ModelRequest, skills: Iterable[str]) -> list[str]:
        """Return the instructions of loaded skills that no message has."""
        loaded = self._loaded(request.state)
        seen = {
            message.content
            for message in request.messages
            if isinstance(message, ToolMessage) and isinstance(message.content, str)
        }
        texts = []
        for name in skills:
            try:
                # It was loaded before, and is now compared with what the model sees.
                text = kit.loaded_again(name, loaded[name])
            except SkillpmError:
                continue
            if text not in seen:
                texts.append(text)
        return texts

    def _more_tools(self, kit: Toolkit, skills: Iterable[str]) -> list[StructuredTool]:
        """Return the tools that are not there from the start, no two of one name.

        They are those of the scripts of loaded skills, and ``run_skill_script`` of a user's own
        toolkit.
        """
        if not kit.scripts:
            return []
        loaded = tuple(skills) if self.script_tools else ()
        static = {tool.name for tool in self.tools}
        tools: dict[str, StructuredTool] = {}
        for tool in kit.tools_with(loaded):
            if tool.name not in static:
                tools.setdefault(tool.name, made(tool, lambda: kit, lambda: loaded))
        return list(tools.values())

    def _found(self, request: ToolCallRequest) -> ToolCallRequest:
        """Return the request with its tool: a script of a loaded skill, or one of this user."""
        name = request.tool_call["name"]
        if request.tool is None:
            kit = self._kit(request.runtime)
            for tool in self._more_tools(kit, self._resolved(kit, self._loaded(request.state))):
                if tool.name == name:
                    return request.override(tool=tool)
        elif self._chosen is not None and self._is_ours(request.tool):
            kit = self._kit(request.runtime)
            for each in kit.tools:
                if each.name == name:
                    return request.override(tool=made(each, lambda: kit))
        return request

    def _denied(self, request: ToolCallRequest) -> ToolMessage | None:
        """Return what a model is told of a call that may not be, or nothing."""
        tool = request.tool
        if self.enforce == "off" or isinstance(tool, SkillTool):
            return None
        kit = self._kit(request.runtime)
        allowed = {
            name: self._names_of(skill)
            for name, skill in self._resolved(kit, self._loaded(request.state)).items()
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

    def _names_of(self, skill: SkillMetadata) -> set[str]:
        """Return the tools that a skill allows, by the names that they have here."""
        named = {each.partition("(")[0].strip() for each in skill.allowed_tools}
        return set().union(*(self.tool_names.get(name, {name}) for name in named))

    def _noted(
        self, request: ToolCallRequest, result: ToolMessage | Command[Any]
    ) -> ToolMessage | Command[Any]:
        """Return ``result``, and that a skill is loaded where it is what one was loaded with."""
        call = request.tool_call
        load = self.toolkit.prefix + LOAD
        if not isinstance(request.tool, SkillTool) or call["name"] != load:
            return result
        if not isinstance(result, ToolMessage) or result.status == "error":
            return result
        given = call["args"]
        key = self.toolkit.prefix + str(given.get("name"))
        loaded = {key: str(given.get("arguments") or "")}
        return Command(update={"messages": [result], "loaded_skills": loaded})

    def _loaded(self, state: Any) -> dict[str, str]:
        """Return the skills that were loaded here, with their arguments, the first first."""
        prefix = self.toolkit.prefix
        loaded = state.get("loaded_skills") or {}
        return {
            name[len(prefix) :]: given for name, given in loaded.items() if name.startswith(prefix)
        }

    def _check_names(self, tools: Iterable[BaseTool | dict[str, Any]]) -> None:
        """Raise where a tool of the agent has the name of one of these: it would take its place.

        A copy of one, of which other middleware may have changed the description, is none such.
        """
        ours = {tool.name: tool for tool in self.tools}
        for tool in tools:
            name = _name(tool)
            function = getattr(tool, "func", None)
            copied = function is not None and function == getattr(ours.get(name), "func", None)
            if name in ours and not copied:
                raise ConfigurationError(
                    f"a tool of the agent is named `{name}`, as one of `SkillsMiddleware` is",
                    code="usage",
                    hint="give it another name",
                )

    def _is_ours(self, tool: object) -> bool:
        return any(tool is each for each in self.tools)


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options for a toolkit that are not as they are unless given."""
    usual = inspect.signature(SkillsMiddleware.__init__).parameters
    return {
        name: value
        for name, value in options.items()
        if name not in usual or value != usual[name].default
    }


def _name(tool: BaseTool | dict[str, Any]) -> Any:
    """Return the name of a tool, also of one that a provider runs."""
    if isinstance(tool, dict):
        return (tool.get("function") or tool).get("name")
    return tool.name


def _with(message: SystemMessage | None, text: str) -> SystemMessage:
    """Return a system message that ends with ``text``. Marks of a cache in it stay."""
    if message is None or not message.content:
        return SystemMessage(text)
    if isinstance(message.content, str):
        content: Any = f"{message.content}\n\n{text}"
    else:
        content = [*message.content, {"type": "text", "text": text}]
    return message.model_copy(update={"content": content})
