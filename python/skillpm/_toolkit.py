"""The tools by which an agent uses skills: the same in every framework."""

# Annotations are no texts here: some frameworks do not resolve those.
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Callable, NamedTuple, Optional, TypeVar, Union

from skillpm._arguments import check_budget, texts, usage_error
from skillpm._manager import SkillManager, _told
from skillpm._native import Kit, SkillMetadata
from skillpm._threads import stop, stoppable
from skillpm._tracing import traced
from skillpm._types import CatalogChoice, RunOptions, Sources, Unpack

T = TypeVar("T")

# What providers of models take in the name of a tool.
_TAKEN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

SEARCH = "search_skills"
LOAD = "load_skill"
READ = "read_skill_file"
RUN = "run_skill_script"

# How many bytes of a file, of instructions or of output one answer has.
MOST = 64 << 10

_SAYS = """Skills are instructions for kinds of jobs. These are the skills that you have. \
Where one fits the task, call `{load}` with its name before you start, and do as it says."""


class Tool(NamedTuple):
    """A tool: what a model is told of it. ``Toolkit.call`` answers its calls."""

    name: str
    """The name by which it is called."""
    description: str
    """What it does, and when to call it."""
    parameters: dict[str, Any]
    """What it takes: a JSON schema of an object."""
    title: str
    """The name for people."""
    read_only: bool
    """Whether it changes nothing."""


class ToolResult(NamedTuple):
    """What a tool answers."""

    text: str
    """What the model gets: it is cut where it is long, and says how to go on."""
    is_error: bool = False
    """Whether it says why the call failed."""
    about: Optional[dict[str, Any]] = None
    """What was loaded: ``skill``, and of an installed one ``source``, ``version`` and ``digest``.
    Of a script that ran what ``skillpm run --json`` has, but for what it wrote."""


class Toolkit:
    """The tools by which an agent uses skills, for any framework.

    ``search_skills(query)`` finds skills for a task, ``load_skill(name, arguments)`` returns the
    instructions of one, ``read_skill_file(name, path, offset, limit)`` a file that they name, and
    ``run_skill_script(name, script, arguments)`` runs a script of one, where ``scripts`` says that
    there is such a tool. Every answer is bounded, and says where it was cut and how to go on. A
    failure is an answer, too: the model reads it and may try again.

    ``instructions()`` is what stands in the system prompt. ``tools`` are what a model is told of
    them and ``call`` answers; ``functions()`` are the same as plain functions.

    Args:
        skills: A ``SkillManager``, or the directories that one is made of.
        include: The only skills that the agent gets, by name; all unless given.
        exclude: Skills that it does not get.
        tags: Only skills with one of these tags.
        scripts: Whether there is a tool that runs scripts. The manager decides whether they may.
        budget: The largest number of tokens that the catalog may be.
        catalog: How the catalog is written: ``xml`` or ``markdown``; ``auto`` takes markdown where
            the budget has no room for XML.
        max_output: How many bytes of a file, of instructions or of output one answer has.
        prefix: What the names of the tools begin with, so that an agent can have two toolkits:
            ``team`` makes ``team_load_skill``.
        session: What ties the loads of one conversation together in the audit log.
        options: How scripts run, as ``SkillManager.run_script`` takes it: ``timeout``, ``cwd``,
            ``env``, ``network``, ``read``, ``write``, ``python`` and others.

    Raises:
        ConfigurationError: An argument that makes no sense.

    """

    def __init__(
        self,
        skills: Union[SkillManager, Sources] = None,
        *,
        include: Union[str, Iterable[str]] = (),
        exclude: Union[str, Iterable[str]] = (),
        tags: Union[str, Iterable[str]] = (),
        scripts: bool = False,
        budget: Optional[int] = None,
        catalog: CatalogChoice = "auto",
        max_output: int = MOST,
        session: Optional[str] = None,
        prefix: str = "",
        **options: Unpack[RunOptions],
    ) -> None:
        check_budget(budget)
        if catalog not in ("auto", "xml", "markdown"):
            raise usage_error(f"`catalog` is `auto`, `xml` or `markdown`, not `{catalog}`")
        self.manager: SkillManager = (
            skills if isinstance(skills, SkillManager) else SkillManager(skills)
        )
        self.scripts: bool = scripts
        self.budget = budget
        self.session = session
        if prefix.strip(_TAKEN):
            raise usage_error(f"`prefix` has only letters, digits, `_` and `-`, not `{prefix}`")
        self.prefix: str = f"{prefix}_" if prefix else ""
        self._form = catalog
        self._how = self.manager._how(**options)
        self._chosen: dict[str, Any] = {
            "names": texts(include),
            "excluded": texts(exclude),
            "tags": texts(tags),
            "scripts": scripts,
            "most": max_output,
            "prefix": self.prefix,
        }
        self._last_problem: Optional[str] = None
        self._looked = False
        self._kit: Optional[tuple[Any, Kit]] = None
        self._core()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_kit": None}

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.manager!r}>"

    def _core(self) -> Kit:
        """Return what answers: another one where the manager has another library, after a fork."""
        library = self.manager._library
        if self._kit is None or self._kit[0] is not library:
            self._kit = library, Kit(library, how=self._how, **self._chosen)
        return self._kit[1]

    def skills(self) -> list[SkillMetadata]:
        """Return the skills that the agent gets, in the order of the sources."""
        return self._told(self._core().skills())

    def _missing(self) -> Optional[str]:
        """Return what is to be said of skills that were chosen and are not there."""
        if not self._chosen["names"]:
            return None
        names = {skill.name for skill in self.manager.list_skills()}
        missing = [name for name in self._chosen["names"] if name not in names]
        listed = ", ".join(f"`{name}`" for name in missing)
        return f"there is no skill {listed}, which `include` names" if missing else None

    def skill(self, name: str) -> SkillMetadata:
        """Return the metadata of a skill that the agent gets.

        Raises:
            ConfigurationError: The agent gets no such skill.

        """
        return self._told(self._core().skill(name))

    def loaded_again(self, name: str, arguments: str = "") -> str:
        """Return what ``load_skill`` returns now, for a skill that the agent has: unrecorded.

        Raises:
            SkillpmError: The skill is gone, or cannot be loaded any more.

        """
        return self._told(self._core().again(name, arguments))

    def catalog(self) -> str:
        """Return the names and descriptions of the skills, as far as the budget has room for them.

        Without skills it is empty. The logger ``skillpm`` says what was shortened or left out, once
        for each change.
        """
        return self._catalog()[0]

    def _catalog(self) -> tuple[str, bool]:
        """Return the catalog, and whether anything was cut."""
        text, problem = self._core().catalog(self._form, self.budget)
        if not self._looked:
            self._looked = True
            _told(None, self._missing())
        if problem != self._last_problem:
            self._last_problem = problem
            _told(None, problem)
        return self._told(text), problem is not None

    def instructions(self, text: str = "") -> str:
        """Return what the system prompt says of the skills: how to use them, and the catalog.

        Args:
            text: The agent's own instructions, which come before.

        """
        return "\n\n".join(filter(None, (text, self.instructions_with(self.catalog()))))

    def instructions_with(self, catalog: str) -> str:
        """Return what ``instructions`` does, for a catalog that is known."""
        catalog = catalog.strip()
        says = _SAYS.format(load=self.prefix + LOAD)
        return f"{says}\n\n{catalog}" if catalog else ""

    @property
    def tools(self) -> list[Tool]:
        """The tools, whatever skills there are now."""
        return self.tools_with(())

    def tools_with(self, loaded: Iterable[str]) -> list[Tool]:
        """Return the tools, with one for each script of the skills ``loaded``, by their names."""
        found = self._core().definitions(list(loaded) if self.scripts else [])
        made = [
            Tool(self.prefix + name, description, parameters, title, read_only)
            for name, title, description, parameters, read_only in found
            # The catalog lists them.
            if name != "list_skills"
        ]
        return self._told(made)

    def call(
        self,
        name: str,
        arguments: Union[Mapping[str, Any], str, None] = None,
        *,
        loaded: Sequence[str] = (),
    ) -> ToolResult:
        """Answer the call of a tool.

        Args:
            name: The name of the tool. One that does not exist is told to the model, too.
            arguments: What a model gives it, by name, or as a text of JSON.
            loaded: The skills that were loaded, of which the scripts are tools.

        Raises:
            Exception: What ``ask`` raises.

        """
        asked, problem = name, None
        given: Any = arguments or {}
        if isinstance(given, str):
            given, problem = _read(given)
        if problem is None and not isinstance(given, Mapping):
            problem = "the arguments are not a JSON object"
        if problem is not None:
            return ToolResult(problem, is_error=True)
        given = dict(given)
        name = name[len(self.prefix) :] if name.startswith(self.prefix) else f"?{name}"
        ask = self.manager._asking(self._how)
        with traced(asked, given) as told:
            answer = self._core().call(
                name, given, loaded=list(loaded), session=self.session, ask=ask, stop=stop.get()
            )
            if answer is None:
                names = ", ".join(f"`{tool.name}`" for tool in self.tools_with(loaded))
                answer = f"there is no tool `{asked}`; the tools are {names}", True, None, None
            told({**(answer[2] or answer[3] or {}), "is_error": answer[1]})
        text, is_error, about, run = answer
        return self._told(ToolResult(text, is_error, about or run))

    async def acall(
        self,
        name: str,
        arguments: Union[Mapping[str, Any], str, None] = None,
        *,
        loaded: Sequence[str] = (),
    ) -> ToolResult:
        """Do what ``call`` does, without holding up the event loop.

        Where the task is cancelled, a script is ended.
        """
        return await stoppable(self.call, name, arguments, loaded=loaded)

    def search_skills(self, query: str) -> str:
        """Find skills for a task by words of their names, tags and descriptions, the best first.

        Args:
            query: What the task is about, in a few words.

        """
        return self.call(self.prefix + SEARCH, {"query": query}).text

    def load_skill(self, name: str, arguments: str = "") -> str:
        """Return the instructions of a skill and the names of its files.

        Call this before a task that a skill fits, and follow what it returns.

        Args:
            name: The name of the skill.
            arguments: What the skill gets as its arguments, if its instructions take any.

        """
        return self.call(self.prefix + LOAD, {"name": name, "arguments": arguments}).text

    def read_skill_file(
        self, name: str, path: str, offset: int = 0, limit: Optional[int] = None
    ) -> str:
        """Return a file of a skill, such as a reference or a template that its instructions name.

        A long one comes in parts: the answer says how many bytes are left, and where they begin.

        Args:
            name: The name of the skill.
            path: The path of the file below the skill's directory, such as `references/forms.md`.
            offset: How many bytes of the file to skip.
            limit: The largest number of bytes of the file in the answer.

        """
        given = {"name": name, "path": path, "offset": offset, "limit": limit}
        return self.call(self.prefix + READ, given).text

    def run_skill_script(
        self, name: str, script: str, arguments: Union[dict[str, Any], list[str], None] = None
    ) -> str:
        """Run a script that a skill brings along and return its output.

        Load the skill first: its instructions say which script to run, and what it takes.

        Args:
            name: The name of the skill.
            script: The script, such as `fill_form` or `scripts/fill_form.py`.
            arguments: What the script takes, by name, or a list of words.

        """
        given = {"name": name, "script": script, "arguments": arguments}
        return self.call(self.prefix + RUN, given).text

    def functions(self) -> list[Callable[..., str]]:
        """Return the tools as functions, for frameworks that read signatures and docstrings."""
        found: list[Callable[..., str]] = [
            self.search_skills,
            self.load_skill,
            self.read_skill_file,
        ]
        return [*found, self.run_skill_script] if self.scripts else found

    def _told(self, value: T) -> T:
        """Return ``value``, and log what is to be said of the skills, once."""
        return _told(value, *self._core().told())


def _read(text: str) -> tuple[Any, Optional[str]]:
    """Return what a model wrote as JSON, or why that is none."""
    import json

    try:
        return (json.loads(text) if text.strip() else {}), None
    except ValueError as error:
        return None, f"the arguments are not JSON: {error}"


def toolkit_of(skills: Union[Toolkit, SkillManager, Sources], **options: Any) -> Toolkit:
    """Return ``skills`` if they are a toolkit, else one that is made of them.

    Raises:
        ConfigurationError: Options beside a toolkit, which has its own.

    """
    if not isinstance(skills, Toolkit):
        return Toolkit(skills, **options)
    if options:
        names = ", ".join(f"`{name}`" for name in sorted(options))
        raise usage_error(
            f"{names}: a `Toolkit` has its own options", hint="give them to `Toolkit`"
        )
    return skills
