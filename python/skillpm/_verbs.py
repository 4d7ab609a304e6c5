"""What is done with skills without a manager."""

# Hints are values here: nothing is postponed, and everything that they name is imported.
from typing import Literal, Optional

from skillpm import _native
from skillpm._project import Project
from skillpm._work import StrPath, Texts
from skillpm.outcomes import InstalledSkill


def validate(path: StrPath, *, profile: Optional[str] = None) -> list[_native.Diagnostic]:
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
    skills: Texts = (),
    scope: Literal["project", "user"] = "project",
    agents: Texts = (),
    project: Optional[StrPath] = None,
    copy: bool = False,
    force: bool = False,
    no_deps: bool = False,
    dry_run: bool = False,
    locked: bool = False,
    frozen: bool = False,
    offline: bool = False,
) -> list[InstalledSkill]:
    """Install skills, or without ``sources`` exactly those that the lockfile names.

    It is ``Project(project, scope=scope, offline=offline).install(...)``, which has more options.

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

    Raises:
        ConfigurationError: A source, a manifest or a lockfile that makes no sense.
        NetworkError: A server or a login.
        IntegrityError: Bytes that are not what was promised, or that no skill may have.
        PolicyError: A policy keeps a source or a skill out, or a version has new capabilities.
        StorageError: The file system.

    """
    outcome = Project(project, scope=scope, offline=offline).install(
        *sources,
        skills=skills,
        agents=agents,
        copy=copy,
        force=force,
        no_deps=no_deps,
        dry_run=dry_run,
        locked=locked,
        frozen=frozen,
    )
    return outcome["skills"]
