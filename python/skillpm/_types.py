"""The types of arguments, which annotations name: so that they can be resolved at run time too."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Callable, Literal, Optional, TypedDict, Union

from skillpm._ask import Question

if TYPE_CHECKING:
    from typing_extensions import Unpack as Unpack
elif sys.version_info >= (3, 11):
    from typing import Unpack
else:

    class Unpack:
        """Stands for ``typing.Unpack`` where there is none: hints resolve there, too."""

        def __class_getitem__(cls, options: Any) -> Any:
            """Return what is unpacked."""
            return options


StrPath = Union[str, PathLike[str]]
"""A path, as a text or as a ``pathlib.Path``."""

Profile = Literal[
    "default",
    "strict",
    "skillkit",
    "langchain-skillkit",
    "langflow",
    "btw",
    # Older names of the last four.
    "s0",
    "s2",
    "s3",
    "s4",
]
"""The rules by which skills are loaded: skillpm's own, or those of another program."""

CatalogForm = Literal["xml", "reference", "json", "markdown", "plain"]
"""How a catalog is written."""

CatalogChoice = Literal["auto", "xml", "markdown"]
"""How a catalog is written, or that the budget decides."""

Form = Literal["plain", "bare", "markdown", "json", "xml", "btw"]
"""How the instructions of a skill are written."""

Sandbox = Literal["auto", "require", "off"]
"""Whether files are kept from a script."""

Scripts = Literal["allow", "ask", "deny"]
"""Whether scripts run where no policy has a say."""

Arguments = Union[str, Sequence[str], Mapping[str, Any], None]
"""What a script gets: one argument, as many as there are texts, or values by their names."""

Ask = Callable[[Question], Union[bool, Awaitable[bool]]]
"""What is asked before a script runs: a function from a question to yes or no."""

Sources = Union[StrPath, Sequence[StrPath], Mapping[str, StrPath], None]
"""Directories whose subdirectories are skills."""


class RunOptions(TypedDict, total=False):
    """How scripts run: the keyword arguments of ``SkillManager.run_script``."""

    timeout: Optional[float]
    cwd: Optional[StrPath]
    env: Optional[Mapping[str, str]]
    sandbox: Sandbox
    network: bool
    unix_sockets: bool
    allow_modified: bool
    read: Sequence[StrPath]
    write: Sequence[StrPath]
    memory: Optional[int]
    processes: Optional[int]
    cpu_time: Optional[float]
    file_size: Optional[int]
    python: Optional[StrPath]
    interpreters: Optional[Mapping[str, StrPath]]
