"""A tool for each script of a skill."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from langchain_core.tools import StructuredTool

import skillpm
from skillpm import ConfigurationError, Script, Skill, SkillMetadata
from skillpm._arguments import check_options
from skillpm.langchain._errors import as_tool_errors
from skillpm.langchain._skills import _NOT_TAKEN, _hashed, handling

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike
    from typing import Literal

    from skillpm import ScriptResult
    from skillpm.langchain._skills import HandleToolError

# How much of what a script says beside its result is logged: characters, the last ones.
_LOGGED = 4000


class SkillManager(skillpm.SkillManager):
    """A ``skillpm.SkillManager`` whose ``get_skill_tools`` returns tools for LangChain."""

    def get_skill_tools(self, name: str) -> list[StructuredTool]:  # type: ignore[override]
        """Return a tool for each script of a skill, as ``create_script_tools`` does.

        Raises:
            SkillNotFoundError: No skill has the name.
            SkillParseError: Its manifest of scripts is wrong.

        """
        return create_script_tools(self, name)

    async def aget_skill_tools(self, name: str) -> list[StructuredTool]:  # type: ignore[override]
        """Do what ``get_skill_tools`` does, without holding up the event loop."""
        return await super().aget_skill_tools(name)  # type: ignore[return-value]


def create_script_tools(
    manager: skillpm.SkillManager,
    skill: str | Skill | SkillMetadata,
    *,
    handle_tool_error: HandleToolError = False,
    timeout: float | None = None,
    cwd: str | PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    sandbox: Literal["auto", "require", "off"] = "auto",
    network: bool = True,
    unix_sockets: bool = False,
    allow_modified: bool = False,
    max_output: int = 10 << 20,
) -> list[StructuredTool]:
    """Return a tool for each script of a skill. None of them is run.

    A tool has the ``tool_name`` and the ``description`` of its ``Script``, and takes what that
    one's ``input_schema`` says, or one text. It returns what the script writes to its standard
    output. What it writes to standard error is logged by the logger ``skillpm``, as information. It
    may be invoked with or without ``await``.

    Where another skill hides this one, the names of its tools start with its source and end with
    digits of a hash, so that an agent can have the tools of both. Where both are of one source, the
    skill's path in it follows.

    Called, it does what ``manager.run_script`` does, and raises the same exceptions, each of which
    is LangChain's ``ToolException`` too: ``SkillInvocationError`` for a script that fails,
    ``PolicyError`` for one that may not run.

    Args:
        manager: Whose skill it is. It decides whether scripts may run.
        skill: The skill, or its name.
        handle_tool_error: As LangChain has it: ``False`` raises, ``True`` returns what a model is
            told (``tool_error``); a text or a function is used as it is.
        timeout: As for ``run_script``; so are all others.
        cwd: Where scripts run.
        env: Variables beside those few that every script gets.
        sandbox: Whether files are kept from scripts.
        network: Whether scripts may use the network.
        unix_sockets: Whether they may reach programs of this machine by unix sockets.
        allow_modified: Whether files of an installed skill may run that somebody edited.
        max_output: How many bytes of each of a script's outputs are kept.

    Raises:
        SkillNotFoundError: There is no such skill.
        SkillParseError: Its manifest of scripts is wrong.
        ConfigurationError: An option that makes no sense.

    """
    check_options(timeout=timeout, env=env)
    if sandbox not in ("auto", "require", "off"):
        # The core would say it when the tool is called, and to a model.
        raise ConfigurationError(
            f"`sandbox` is `auto`, `require` or `off`, not {sandbox!a}", code="usage"
        )
    name = _named(manager, skill)
    options = {
        "timeout": timeout,
        "cwd": cwd,
        "env": env,
        "sandbox": sandbox,
        "network": network,
        "unix_sockets": unix_sockets,
        "allow_modified": allow_modified,
        "max_output": max_output,
    }
    handled = handling(handle_tool_error)
    # A manager of this module has tools there.
    scripts = skillpm.SkillManager.get_skill_tools(manager, name)
    names = _tool_names(manager, name, scripts)
    return [
        _tool(manager, name, script, tool_name, options, handled)
        for script, tool_name in zip(scripts, names)
    ]


def _named(manager: skillpm.SkillManager, skill: str | Skill | SkillMetadata) -> str:
    """Return the name that finds this very skill, also where another hides it."""
    if isinstance(skill, str):
        return skill
    metadata = skill.metadata if isinstance(skill, Skill) else skill
    if not metadata.source:
        return metadata.name
    return _whole_name(manager, metadata)


def _whole_name(manager: skillpm.SkillManager, skill: SkillMetadata) -> str:
    """Return ``source:name``, or ``source:path`` where that finds another skill of its source."""
    name = f"{skill.source}:{skill.name}"
    source = manager.sources.get(skill.source or "")
    try:
        if source is None or manager.get_skill(name).skill_path == skill.skill_path:
            return name
        path = skill.skill_path.parent.relative_to(source)
    except (skillpm.SkillpmError, ValueError):
        # It is gone, or one of another manager: who uses the name is told.
        return name
    return f"{skill.source}:{path.as_posix()}"


def _tool_names(manager: skillpm.SkillManager, skill: str, scripts: Sequence[Script]) -> list[str]:
    """Return the names of the tools of a skill: others than those of one that hides it."""
    names = [script.tool_name for script in scripts]
    # One that is found by its name alone is not hidden.
    if not names or ":" not in skill:
        return names
    found = manager.get_skill(skill)
    if manager.get_skill(found.name).skill_path == found.skill_path:
        return names
    # By whatever name it was asked for, its tools have the same ones.
    whole = _whole_name(manager, found)
    before = found.source if whole == f"{found.source}:{found.name}" else whole
    return [
        _hashed(name, _NOT_TAKEN.sub("_", name), set())
        for name in (f"{before}:{name}" for name in names)
    ]


class ScriptTool(StructuredTool):
    """A tool whose arguments may have any names, and which takes a text as well."""

    def _to_args_and_kwargs(
        self, tool_input: str | dict[str, Any], tool_call_id: Any
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        # LangChain lets no tool with a schema of JSON take a text. The rest is checked by the core.
        return (tool_input,), {}

    # LangChain's own also give the function what is called `config` and `run_manager`.
    def _run(self, arguments: Any) -> Any:  # type: ignore[override]
        return self.func(arguments)  # type: ignore[misc]

    async def _arun(self, arguments: Any) -> Any:  # type: ignore[override]
        return await self.coroutine(arguments)  # type: ignore[misc]


def _output(script: Script, result: ScriptResult) -> str:
    """Return what a model sees of a run, and log the rest."""
    if result.stderr:
        said = result.stderr[-_LOGGED:]
        # It is a stranger's text: escaped, it can do nothing to a terminal.
        logging.getLogger("skillpm").info(
            "`%s` of `%s` wrote to standard error: %r", script.script, script.skill, said
        )
    return result.stdout


def _tool(
    manager: skillpm.SkillManager,
    skill: str,
    script: Script,
    name: str,
    options: dict[str, Any],
    handled: HandleToolError,
) -> StructuredTool:
    def run(arguments: Any = None) -> str:
        with as_tool_errors:
            return _output(script, manager.run_script(skill, script, arguments, **options))

    async def arun(arguments: Any = None) -> str:
        with as_tool_errors:
            return _output(script, await manager.arun_script(skill, script, arguments, **options))

    return ScriptTool(
        name=name,
        description=script.description,
        args_schema=script.input_schema,
        func=run,
        coroutine=arun,
        handle_tool_error=handled,
    )
