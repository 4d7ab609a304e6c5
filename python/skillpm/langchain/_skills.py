"""A tool for each skill."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Union

from langchain_core.tools import StructuredTool, ToolException
from pydantic import BaseModel, Field

from skillpm.langchain._errors import as_tool_errors, tool_error

if TYPE_CHECKING:
    from skillpm import SkillManager

HandleToolError = Union[bool, str, Callable[[ToolException], str]]

# What providers take as the name of a tool is `[a-zA-Z0-9_-]{1,64}`.
_LONGEST = 64
_NOT_TAKEN = re.compile(r"[^a-zA-Z0-9_-]")

# LangChain asks for a function's types at each call. Texts, as annotations of this module are, it
# evaluates each time, which takes longer than to read a skill.
_TYPES = {"arguments": str, "return": str}


class _SkillInput(BaseModel):
    """What a tool of a skill takes: one class for all of them."""

    arguments: str = Field(default="", description="What the skill is to work on, as one text.")


def create_langchain_tools(
    manager: SkillManager, *, handle_tool_error: HandleToolError = False
) -> list[StructuredTool]:
    """Return a tool for each skill that there is now, in the order of ``manager.list_skills()``.

    A tool has the name and the description of its skill, and takes one text, ``arguments``. It
    returns what ``manager.invoke_skill`` does: the instructions are read when it is called. It may
    be invoked with or without ``await``. Skills that only a person is to start
    (``disable-model-invocation``) get none.

    Where a name has characters that providers of models do not take, they become ``_``; where that
    makes two names alike, or the name is too long, digits of a hash are added.

    Args:
        manager: Whose skills they are.
        handle_tool_error: As LangChain has it: ``False`` raises, ``True`` returns what a model is
            told (``tool_error``); a text or a function is used as it is.

    Raises:
        SkillpmError: The skills cannot be listed. A skill that cannot be used is left out.

    """
    skills = [skill for skill in manager.list_skills() if not skill.disable_model_invocation]
    names = tool_names([skill.name for skill in skills])
    # Another one in the state of this one costs a tenth of what it costs to check each.
    blank = StructuredTool(
        name="",
        description="",
        args_schema=_SkillInput,
        func=None,
        coroutine=None,
        handle_tool_error=handling(handle_tool_error),
    )
    state = blank.__getstate__()
    return [
        _tool(state, manager, skill.name, name, skill.description)
        for skill, name in zip(skills, names)
    ]


def _tool(
    state: dict[Any, Any], manager: SkillManager, skill: str, name: str, description: str
) -> StructuredTool:
    def invoke(arguments: str = "") -> str:
        with as_tool_errors:
            return manager.invoke_skill(skill, arguments)

    async def ainvoke(arguments: str = "") -> str:
        with as_tool_errors:
            return await manager.ainvoke_skill(skill, arguments)

    invoke.__annotations__ = ainvoke.__annotations__ = _TYPES
    tool = StructuredTool.__new__(StructuredTool)
    fields = {
        **state["__dict__"],
        "name": name,
        # There is none where the manager's profile lets a skill have none.
        "description": description or f"Load the skill {skill}",
        "func": invoke,
        "coroutine": ainvoke,
    }
    fields_set = state["__pydantic_fields_set__"].copy()
    tool.__setstate__({**state, "__dict__": fields, "__pydantic_fields_set__": fields_set})
    return tool


def handling(handle_tool_error: HandleToolError) -> HandleToolError:
    """Return what LangChain gets: more than a message where exceptions are told as they are."""
    return tool_error if handle_tool_error is True else handle_tool_error


def tool_names(names: Sequence[str]) -> list[str]:
    """Return names that providers take, in the order of ``names``, no two of them alike."""
    # Nearly always all of them will do, which one look tells.
    if max(map(len, names), default=0) <= _LONGEST and not _NOT_TAKEN.search("".join(names)):
        return list(names)
    plain = [_NOT_TAKEN.sub("_", name) if _NOT_TAKEN.search(name) else name for name in names]
    uses = Counter(plain)
    taken = {name for name, mapped in zip(names, plain) if name == mapped and len(name) <= _LONGEST}
    found = []
    for name, mapped in zip(names, plain):
        if name not in taken:
            # A name of underscores only says nothing.
            if uses[mapped] > 1 or len(mapped) > _LONGEST or not mapped.strip("_-"):
                mapped = _hashed(name, mapped, taken)
            taken.add(mapped)
        found.append(mapped)
    return found


def _hashed(name: str, mapped: str, taken: set[str]) -> str:
    digest = hashlib.sha256(name.encode()).hexdigest()
    # Someone may have made a skill whose name is what this one's becomes.
    for digits in range(8, _LONGEST - 1):
        hashed = f"{mapped[: _LONGEST - 1 - digits]}_{digest[:digits]}"
        if hashed not in taken:
            break
    return hashed
