"""Skills for the Claude Agent SDK: a server of tools in the process, and what the agent is told.

from claude_agent_sdk import ClaudeAgentOptions, query
from skillpm.claude_agent_sdk import add_skills

options = add_skills(ClaudeAgentOptions(), "./skills")
async for message in query(prompt="Which fields does a.pdf have?", options=options):
    print(message)
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any, Union, cast

from skillpm._extras import missing

try:
    from claude_agent_sdk import (
        ClaudeAgentOptions,
        McpSdkServerConfig,
        SdkMcpTool,
        ToolAnnotations,
        create_sdk_mcp_server,
    )
except ModuleNotFoundError as _error:
    raise missing(_error, __name__, "claude-agent-sdk", "claude_agent_sdk") from None

from skillpm._arguments import usage_error
from skillpm._manager import SkillManager
from skillpm._native import __version__
from skillpm._toolkit import LOAD, RUN, SEARCH, Tool, Toolkit, toolkit_of
from skillpm._types import Sources

__all__ = ["add_skills", "create_skill_server", "skill_instructions"]

# An answer is cut by the toolkit: Claude Code is to put none into a file instead.
_INLINE = 500_000

# The SDK hands over the system prompt as an argument of a program: Linux takes 128 KiB of one, and
# Windows 32 KiB of all.
_LONGEST = (24 if sys.platform == "win32" else 120) << 10
_BUDGET = 4_000 if sys.platform == "win32" else 20_000


def add_skills(
    options: ClaudeAgentOptions,
    skills: Union[Toolkit, SkillManager, Sources] = None,
    *,
    server: str = "skills",
    needs_approval: bool = False,
    **kit_options: Any,
) -> ClaudeAgentOptions:
    """Return options with skills: a server of the tools, those that are allowed, and the catalog.

    The tools are ``search_skills``, ``load_skill``, ``read_skill_file`` and, with ``scripts=True``,
    ``run_skill_script``. The model reads why a call failed. Where the agent is interrupted, a
    script is ended.

    Args:
        options: Those of the agent, which stay as they are.
        skills: A ``Toolkit``, a ``SkillManager``, or the directories that one is made of.
        server: The name of the server, which is a part of the tools' names.
        needs_approval: Whether scripts are not among the tools that are allowed beforehand: the
            permission mode and ``can_use_tool`` decide.
        kit_options: Those of ``Toolkit``. ``budget`` is 20,000 tokens unless given, and
            4,000 on Windows.

    Raises:
        ConfigurationError: An option that makes no sense, or a catalog that is too long.

    """
    if not isinstance(skills, Toolkit):
        kit_options = {"budget": _BUDGET, **kit_options}
    kit = toolkit_of(skills, **kit_options)
    if not isinstance(options.mcp_servers, dict):
        raise usage_error("`mcp_servers` is a file, which has no servers of this process")
    asked = kit.prefix + RUN if needs_approval else None
    names = [f"mcp__{server}__{tool.name}" for tool in kit.tools if tool.name != asked]
    return replace(
        options,
        mcp_servers={**options.mcp_servers, server: create_skill_server(kit, server)},
        allowed_tools=[*options.allowed_tools, *names],
        system_prompt=_prompt(options.system_prompt, skill_instructions(kit, server)),
    )


def create_skill_server(kit: Toolkit, name: str = "skills") -> McpSdkServerConfig:
    """Return a server of the tools, for ``mcp_servers`` of ``ClaudeAgentOptions``."""
    made = create_sdk_mcp_server(name, __version__, [_made(kit, tool) for tool in kit.tools])
    # Else Claude Code tells the model of none of them before it looks for tools.
    return cast("McpSdkServerConfig", {**made, "alwaysLoad": True})


def _made(kit: Toolkit, tool: Tool) -> SdkMcpTool[Any]:
    async def handler(arguments: dict[str, Any]) -> dict[str, Any]:
        result = await kit.acall(tool.name, arguments)
        content = [{"type": "text", "text": result.text}]
        return {"content": content, "is_error": result.is_error}

    hints = ToolAnnotations(
        title=tool.title, readOnlyHint=tool.read_only, maxResultSizeChars=_INLINE
    )
    return SdkMcpTool(tool.name, tool.description, tool.parameters, handler, hints)


def skill_instructions(kit: Toolkit, server: str = "skills") -> str:
    """Return what the system prompt says of the skills, with the names that the tools have here.

    A session keeps its system prompt: skills that come later are found by ``search_skills``.

    Raises:
        ConfigurationError: The catalog is longer than the SDK can hand over.

    """
    text = kit.instructions()
    for name in (kit.prefix + LOAD, kit.prefix + SEARCH):
        text = text.replace(f"`{name}`", f"`mcp__{server}__{name}`", 1)
    size = len(text.encode())
    if size > _LONGEST:
        problem = f"the catalog has {size} bytes, and the SDK hands over {_LONGEST} at most"
        raise usage_error(problem, hint=f"`Toolkit(..., budget={_BUDGET:_})` shortens it")
    return text


def _prompt(given: Any, text: str) -> Any:
    """Return a system prompt with a text at its end."""
    if not text:
        return given
    if given is None or isinstance(given, str):
        return "\n\n".join(filter(None, (given, text)))
    part = {"preset": "append", "custom": "prompt"}.get(given["type"])
    if part is None:
        hint = "write what `skill_instructions` returns into the file"
        raise usage_error("`system_prompt` is a file, to which nothing is added", hint=hint)
    return {**given, part: "\n\n".join(filter(None, (given.get(part), text)))}
