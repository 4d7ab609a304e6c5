"""The skills of some directories, with answers in the form that agents of Langflow get."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Optional, Union

from skillpm._arguments import check_budget
from skillpm._manager import SkillManager, _for_models
from skillpm.errors import PathError, SkillNotFoundError, SkillpmError, _rebuilt

if TYPE_CHECKING:
    from skillpm._native import Diagnostic, Skill
    from skillpm._types import StrPath

CATALOG_BUDGET = 5000
"""The largest number of tokens of a catalog, unless a store is told another one."""

_NO_SKILLS = "No skills available."
_log = logging.getLogger("skillpm")


class SkillLoad(NamedTuple):
    """A skill that an agent loaded."""

    skill: str
    milliseconds: float
    session: str | None


class UnknownSkillError(SkillNotFoundError, ValueError, FileNotFoundError):
    """There is no skill of that name: what callers of Langflow's own store may catch, too."""


class UnreadableFileError(PathError, ValueError, FileNotFoundError):
    """A file that does not exist or may not be read: as ``UnknownSkillError``."""


OnLoad = Callable[[SkillLoad], object]
Session = Union[str, Callable[[], Optional[str]]]


class SkillStore:
    """The skills of directories, read when they are asked for and kept until ``invalidate``.

    A skill is a directory with a ``SKILL.md``, in one of the directories or deeper. Only its
    frontmatter is read before an agent loads it. Its other Markdown files are read at each call.
    Where two skills have one name, the last one is used. A skill that cannot be used is logged, and
    hides no other. A directory that does not exist has no skills.

    One store may be used by any number of threads and agents. What a call sees is always whole.

    Args:
        directories: Where the skills are.
        session: What ties the loads of one session together in the audit log, or a function that
            says it. What is not text is written as ``str()`` has it.
        on_load: What is called after each load. What it raises is logged.
        budget: The largest number of tokens of the catalog. The longest descriptions are shortened,
            and no skill is left out.

    Raises:
        ConfigurationError: The budget or the settings of this user make no sense.

    """

    def __init__(
        self,
        *directories: StrPath,
        session: Session | None = None,
        on_load: OnLoad | None = None,
        budget: int = CATALOG_BUDGET,
    ) -> None:
        check_budget(budget)
        self._manager = SkillManager(directories, profile="langflow", audit=True)
        self._session = session
        self._on_load = on_load
        self._budget = budget
        self._lock = threading.Lock()
        self._told = False
        self.scan()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {', '.join(self._manager.sources.values())}>"

    @property
    def manager(self) -> SkillManager:
        """The manager of the same skills, for everything that is not here."""
        return self._manager

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """What kept skills from being used, or is worth knowing of them."""
        return self._manager.diagnostics

    def scan(self) -> int:
        """Look for skills anew, and return how many the catalog has."""
        self.invalidate()
        return len(self.get_skill_names())

    def invalidate(self) -> None:
        """Forget everything that was read. The next call looks for skills anew."""
        with self._lock:
            self._manager.invalidate()
            self._told = False

    def get_skill_names(self) -> list[str]:
        """Return the names of the skills that the catalog has, in its order.

        Skills that only a person is to start (``disable-model-invocation``) are not among them.
        """
        return _for_models(self._looked().list_skills())

    def get_skill_catalog(self) -> str:
        """Return what an agent learns about all skills, as XML: names, descriptions, tags, files.

        Everything in it is escaped. Without skills it is ``No skills available.``
        """
        fields = ("description", "tags", "files")
        return self._looked().catalog("xml", fields=fields, budget=self._budget) or _NO_SKILLS

    def load(self, skill_name: str) -> Skill | None:
        """Return a skill with its instructions and the names of its files; ``None`` for no skill.

        Raises:
            SkillParseError: It cannot be used.
            PathError: Its file is gone, leads out of its directory, or is not a regular file.

        """
        try:
            return self._looked().load_skill(skill_name)
        except SkillNotFoundError:
            return None

    def list_supporting_files(self, skill_name: str) -> list[str]:
        """Return the names of the Markdown files of a skill, without its ``SKILL.md``."""
        skill = self.load(skill_name)
        return [] if skill is None else list(skill.files)

    def read_supporting_file(self, skill_name: str, filename: str) -> str:
        """Return the text of a file of a skill.

        Raises:
            SkillNotFoundError: No skill has the name.
            PathError: There is no such file in the skill, or it is not read. A name with ``..`` and
                an absolute one are refused, and no link leads out of the skill's directory.

        Both are a ``ValueError`` and a ``FileNotFoundError`` too.

        """
        try:
            return self._looked().read_skill_file(skill_name, filename)
        except SkillNotFoundError as error:
            raise _as(UnknownSkillError, error) from None
        except PathError as error:
            raise _as(UnreadableFileError, error) from None

    def load_skill(self, skill_name: str) -> str:
        """Return what ``load_skill`` tells an agent: JSON, whatever happens.

        Its keys are ``skill_name``, ``description``, ``instructions`` and ``available_files``; of a
        failure ``error``, and ``available_skills`` where there is no such skill.
        """
        start = time.perf_counter()
        session = self._current()
        try:
            self._looked()._check_for_model(skill_name)
            answer = self._looked()._invoke(skill_name, "", "json", session=session)
        except SkillpmError as error:
            return self._failed(error, skill_name)
        if self._on_load is not None:
            milliseconds = (time.perf_counter() - start) * 1000
            try:
                self._on_load(SkillLoad(skill_name, milliseconds, session))
            except Exception:
                _log.exception("nobody was told that the skill `%s` was loaded", skill_name)
        return answer

    def read_skill_file(self, skill_name: str, filename: str) -> str:
        """Return what ``read_skill_file`` tells an agent: JSON, whatever happens.

        Its keys are ``skill_name``, ``filename`` and ``content``; of a failure ``error``, and what
        there is instead of what was asked for: ``available_skills`` or ``available_files``.
        """
        try:
            content = self.read_supporting_file(skill_name, filename)
        except SkillpmError as error:
            return self._failed(error, skill_name)
        return _json(skill_name=skill_name, filename=filename, content=content)

    def _looked(self) -> SkillManager:
        """Return the manager, after what it found was logged, once for each search."""
        if not self._told:
            with self._lock:
                problems = [] if self._told else self._manager.diagnostics
                self._told = True
            for problem in problems:
                where = problem.path
                if where is None:
                    _log.warning("%s [%s]", problem.message, problem.code)
                    continue
                name = where.parent.name if where.suffix else where.name
                level = logging.ERROR if problem.severity == "error" else logging.WARNING
                _log.log(
                    level, "skill `%s`: %s [%s] (%s)", name, problem.message, problem.code, where
                )
        return self._manager

    def _current(self) -> str | None:
        """Return the session. Where there is none, an agent gets its skill all the same."""
        try:
            session = self._session() if callable(self._session) else self._session
            # Such as a UUID, as flows and databases have them.
            return None if session is None else str(session)
        except Exception:
            _log.exception("the session is not known")
            return None

    def _failed(self, error: SkillpmError, skill_name: str) -> str:
        """Return what an agent is told of a failure, and what it may ask for instead."""
        _log.warning(
            "skill `%s`: %s%s", skill_name, error.message, f" ({error.path})" * bool(error.path)
        )
        if isinstance(error, SkillNotFoundError):
            return _json(error=error.message, available_skills=list(error.for_models))
        try:
            return _json(
                error=error.message, available_files=self.list_supporting_files(skill_name)
            )
        except SkillpmError:
            return _json(error=error.message, available_skills=self.get_skill_names())


def _as(kind: type[SkillpmError], error: SkillpmError) -> SkillpmError:
    """Return ``error`` as one of another ``kind``."""
    return _rebuilt(kind, error.message, error.__dict__)


def _json(**members: object) -> str:
    return json.dumps(members, ensure_ascii=False)
