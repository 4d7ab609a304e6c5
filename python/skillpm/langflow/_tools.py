"""The two tools of an agent that uses skills."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

try:
    from langchain_core.tools import StructuredTool
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] != "langchain_core":
        raise
    raise ModuleNotFoundError(
        f"the tools of `skillpm.langflow` need the package `{error.name}`: "
        "install it with `pip install langchain-core`",
        name=error.name,
    ) from None
from pydantic import BaseModel, Field

if TYPE_CHECKING:
    from skillpm.langflow._store import SkillStore

# The catalog has all names; those in a description are paid for with every call of a model.
_MAX_NAMES = 100


class LoadSkillInput(BaseModel):
    """What ``load_skill`` takes."""

    skill_name: str = Field(description="The name of the skill, as the catalog has it.")


class ReadSkillFileInput(BaseModel):
    """What ``read_skill_file`` takes."""

    skill_name: str = Field(description="The name of the skill, as the catalog has it.")
    filename: str = Field(description="The name of the file, as `available_files` has it.")


def create_skill_tools(store: SkillStore) -> list[StructuredTool]:
    """Return the tools ``load_skill`` and ``read_skill_file`` on the skills of ``store``.

    They may be invoked with and without ``await``, and by several agents at once, which then share
    what the store has read. They answer in JSON and raise nothing, so that a conversation goes on
    after a failure. Their descriptions name the skills that there are now.
    """
    names = store.get_skill_names()
    shown = ", ".join(names[:_MAX_NAMES]) or "none"
    if len(names) > _MAX_NAMES:
        shown += f" and {len(names) - _MAX_NAMES} more"

    def load_skill(skill_name: str) -> str:
        return store.load_skill(skill_name)

    async def aload_skill(skill_name: str) -> str:
        return await asyncio.to_thread(store.load_skill, skill_name)

    def read_skill_file(skill_name: str, filename: str) -> str:
        return store.read_skill_file(skill_name, filename)

    async def aread_skill_file(skill_name: str, filename: str) -> str:
        return await asyncio.to_thread(store.read_skill_file, skill_name, filename)

    return [
        StructuredTool(
            name="load_skill",
            description="Load the instructions of a skill and the names of its files, before you "
            f"start on a task that the skill is about. Available skills: {shown}.",
            args_schema=LoadSkillInput,
            func=load_skill,
            coroutine=aload_skill,
            tags=["load_skill"],
        ),
        StructuredTool(
            name="read_skill_file",
            description="Read a file of a skill that `load_skill` named in `available_files`. "
            f"Available skills: {shown}.",
            args_schema=ReadSkillFileInput,
            func=read_skill_file,
            coroutine=aread_skill_file,
            tags=["read_skill_file"],
        ),
    ]
