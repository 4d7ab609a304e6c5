"""Verbs of the package manager."""

from __future__ import annotations

from skillpm import _native
from skillpm._arguments import texts
from skillpm._manager import _told

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike
    from typing import Any, Literal, Union

    StrPath = Union[str, PathLike[str]]


def validate(path: StrPath, *, profile: str | None = None) -> list[_native.Diagnostic]:
    """Check a skill, or all skills below a directory, and return what was found, in their order.

    Args:
        path: A ``SKILL.md``, a skill's directory, or a directory of skills.
        profile: The rules: ``spec``, ``publish`` or another profile of ``skillpm validate``.

    Raises:
        ConfigurationError: A path that holds no skill, or a profile that there is not.
        StorageError: A path that cannot be read.

    """
    return _native.validate(path, profile=profile)


def install(
    *sources: str,
    skills: str | Iterable[str] = (),
    scope: Literal["project", "user"] = "project",
    agents: str | Iterable[str] = (),
    project: StrPath | None = None,
    copy: bool = False,
    force: bool = False,
    no_deps: bool = False,
    dry_run: bool = False,
    locked: bool = False,
    frozen: bool = False,
    offline: bool = False,
) -> list[dict[str, Any]]:
    """Install skills, or without ``sources`` exactly those that the lockfile names.

    It does what ``skillpm install`` does and asks nobody.

    Args:
        sources: Where skills come from: ``owner/repo``, an address, ``./directory``.
        skills: Names of skills of the sources; ``*`` is all of them. Needed where a source has
            several.
        scope: ``project``, or ``user`` for every project of the user.
        agents: Agents that get links to the skills.
        project: A directory of the project, instead of the working directory: ``./directory`` lies
            below it.
        copy: Copies instead of links.
        force: Replace what is in the way; it is kept in the store.
        no_deps: Leave out the skills that the skills need.
        dry_run: Change nothing.
        locked: Fail where the lockfile would change.
        frozen: Resolve nothing: only what is locked.
        offline: Use no network.

    Returns:
        The skills, with the keys of ``skillpm install --json``: ``name``, ``version``, ``source``,
        ``revision``, ``digest``, ``needed_by``, ``change`` and others.

    Raises:
        ConfigurationError: A source, a manifest or a lockfile that makes no sense.
        NetworkError: A server or a login.
        IntegrityError: Bytes that are not what was promised, or that no skill may have.
        PolicyError: A policy keeps a source or a skill out.
        StorageError: The file system.

    """
    installed, warnings = _native.install(
        list(sources),
        skills=texts(skills),
        scope=scope,
        agents=texts(agents),
        project=project,
        copy=copy,
        force=force,
        no_deps=no_deps,
        dry_run=dry_run,
        locked=locked,
        frozen=frozen,
        offline=offline,
    )
    for warning in warnings:
        _told(None, warning)
    return installed
