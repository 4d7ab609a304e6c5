"""The toolkit: skills as two tools."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, TypeVar, Union

from langchain_core.tools import BaseTool, BaseToolkit, StructuredTool
from pydantic import AfterValidator, BaseModel, Field, PrivateAttr
from typing_extensions import Self

from skillpm import SkillManager
from skillpm.langchain._errors import as_tool_errors, tool_error

StrPath = Union[str, "os.PathLike[str]"]

Kit = TypeVar("Kit", bound="SkillKit")

SKILL = "Skill"
SKILL_READ = "SkillRead"

_SKILL_SAYS = (
    "Load the instructions of a skill: expert knowledge of how to do one kind of job. "
    "Load the skill that fits the task before you start."
)
_SKILL_READ_SAYS = (
    "Read a file of a skill that its instructions refer to, such as a reference, a template or a "
    "script."
)


def _whole(text: str) -> str:
    """Return a text without halves of characters, which JSON can have and no name has."""
    return text.encode("utf-8", "replace").decode()


_Name = Annotated[str, AfterValidator(_whole)]


class _SkillInput(BaseModel):
    skill_name: _Name = Field(description="The name of the skill, as it is listed")


class _SkillReadInput(BaseModel):
    skill_name: _Name = Field(description="The name of the skill that the file belongs to")
    file_name: _Name = Field(
        description="The path of the file below the skill's directory, such as references/forms.md"
    )


class SkillKit(BaseToolkit):
    """Skills as two tools for any graph or agent.

    ``Skill`` lists the skills in its description and returns the instructions of one. ``SkillRead``
    returns a file of a skill, and no path or link leads it out of that skill's directory. Both can
    be invoked and awaited. What goes wrong is told to the model, so that it can go on. Skills that
    only a person is to start (``disable-model-invocation``) are neither listed nor loaded.

    Nothing is read before the tools are asked for. One kit can serve any number of nodes, threads
    and event loops; it sees when skills change on disk. Kits of the same directories are equal. A
    copy, and one that was pickled, reads its skills anew.

    Args:
        skills_dirs: A directory of skills, or several: of two skills with one name the first is
            used. One that does not exist has no skills. What could not be used is in
            ``kit.manager.diagnostics``.

    """

    skills_dirs: list[str]
    """The directories, as absolute paths."""

    _built: tuple[str, list[BaseTool], list[BaseTool]] | None = PrivateAttr(default=None)

    def __init__(self, skills_dirs: StrPath | Iterable[StrPath]) -> None:
        if isinstance(skills_dirs, (str, os.PathLike)):
            skills_dirs = [skills_dirs]
        # They stay what they are now where the process moves elsewhere.
        directories = [str(Path(path).absolute()) for path in skills_dirs if path]
        super().__init__(skills_dirs=directories)  # type: ignore[call-arg]

    def __eq__(self, other: object) -> bool:
        # What was read of the skills meanwhile does not count.
        if not isinstance(other, SkillKit) or type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in type(self).model_fields)

    def __copy__(self) -> Self:
        return self._unread(super().__copy__())

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        return super(SkillKit, self.__copy__()).__deepcopy__(memo)

    def __getstate__(self) -> dict[Any, Any]:
        return super(SkillKit, self.__copy__()).__getstate__()

    @staticmethod
    def _unread(kit: Kit) -> Kit:
        """Return a copy without what its original made, which has its directories and methods."""
        kit.__dict__.pop("manager", None)
        kit._built = None
        return kit

    @cached_property
    def manager(self) -> SkillManager:
        """The manager of these skills, which answers what the tools do not."""
        return SkillManager(self.skills_dirs, profile="langchain-skillkit")

    def get_tools(self) -> list[BaseTool]:
        """Return ``[Skill, SkillRead]``, with the skills that there are now.

        They are the same objects as before as long as the list of skills stays as it is.

        Raises:
            SkillpmError: The directories cannot be read. A skill that cannot be used is left out.

        """
        return list(self._current()[1])

    def _current(self) -> tuple[str, list[BaseTool], list[BaseTool]]:
        """Return the catalog that there is now, its tools, and the list that ``tools`` returns."""
        catalog = self.manager.catalog(fields=["description"])
        built = self._built
        if built is None or built[0] != catalog:
            tools = self._tools(catalog)
            self._built = built = (catalog, tools, list(tools))
        return built

    @property
    def tools(self) -> list[BaseTool]:
        """The tools, as ``get_tools()`` returns them.

        It is the same list, too, as long as the list of skills stays as it is.
        """
        return self._current()[2]

    def _tools(self, catalog: str = "") -> list[BaseTool]:
        """Return the tools. Without a catalog nothing is read."""
        return [
            StructuredTool.from_function(
                func=self._load,
                coroutine=self._aload,
                name=SKILL,
                description=f"{_SKILL_SAYS}\n\n{catalog}" if catalog else _SKILL_SAYS,
                args_schema=_SkillInput,
                handle_tool_error=tool_error,
            ),
            StructuredTool.from_function(
                func=self._read,
                coroutine=self._aread,
                name=SKILL_READ,
                description=_SKILL_READ_SAYS,
                args_schema=_SkillReadInput,
                handle_tool_error=tool_error,
            ),
        ]

    def _load(self, skill_name: str) -> str:
        with as_tool_errors:
            self.manager._check_for_model(skill_name)
            return self.manager.invoke_skill(skill_name, form="bare")

    async def _aload(self, skill_name: str) -> str:
        with as_tool_errors:
            await asyncio.to_thread(self.manager._check_for_model, skill_name)
            return await self.manager.ainvoke_skill(skill_name, form="bare")

    def _read(self, skill_name: str, file_name: str) -> str:
        with as_tool_errors:
            return self.manager.read_skill_file(skill_name, file_name)

    async def _aread(self, skill_name: str, file_name: str) -> str:
        with as_tool_errors:
            return await self.manager.aread_skill_file(skill_name, file_name)
