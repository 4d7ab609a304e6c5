"""The manager: every question about skills, asked in threads and in event loops alike."""

# Annotations are no texts here: some frameworks do not resolve those.
import os
from collections.abc import Iterable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any, Callable, Literal, Optional, TypeVar, Union

from skillpm import _native
from skillpm._arguments import (
    check_options,
    kind_of,
    named_interpreters,
    named_profile,
    named_sources,
    own_python,
    paths,
    texts,
    unknown_option,
    usage_error,
    working_directory,
)
from skillpm._ask import asking
from skillpm._native import (
    Diagnostic,
    Library,
    Script,
    ScriptResult,
    Skill,
    SkillMetadata,
)
from skillpm._threads import aside, awaiting, process, stop, stoppable
from skillpm._types import (
    Arguments,
    Ask,
    CatalogForm,
    Form,
    Profile,
    Sandbox,
    Scripts,
    Sources,
    StrPath,
)

T = TypeVar("T")

# Whether a skill that is invoked becomes a line of the log, and for which session. `invoke_skill`
# takes neither, nor does that of a subclass, whose text an agent is to get.
_logged: ContextVar[tuple[bool, Optional[str]]] = ContextVar("_logged", default=(True, None))

# How a script runs where nothing is said of it.
_USUAL: dict[str, Any] = {
    "allow_modified": False,
    "cwd": None,
    "sandbox": "auto",
    "network": True,
    "unix_sockets": False,
    "max_output": 10 << 20,
    "memory": None,
    "processes": None,
    "cpu_time": None,
    "file_size": None,
}

# What else is said of how a script runs.
_GIVEN = ("timeout", "env", "read", "write", "python", "interpreters")

# What a pickled manager does without.
_UNPICKLED = ("_kept", "_process")


class SkillManager:
    """The skills of some directories.

    Without arguments it looks where skillpm installs skills and where Claude Code looks: in the
    project around the working directory, then in the user's home. Nothing is looked at before the
    first question.

    One manager may be used by any number of threads and event loops at the same time. What a call
    sees is always whole: a search that is under way shows to nobody before it is over. A process
    that is forked may go on with it.

    Args:
        sources: Directories whose subdirectories are skills, or one of them; as a mapping, by the
            names under which ``source:name`` finds their skills. Where there are any, the places
            of the project and the user are only looked at if ``project`` and ``user`` say so, and
            come first. Relative ones lie below the working directory, whatever ``project`` is.
        project: A directory of the project, or whether the project's places are looked at.
        user: Whether the user's places are looked at.
        agent: An agent such as ``claude-code``, instead of the usual places: what it reads of the
            project and the user, and of skills with one name the one that it takes.
        profile: What is tolerated, and where skills are looked for: ``default``, ``strict``, or the
            rules of another program: ``skillkit``, ``langchain-skillkit``, ``langflow``, ``btw``.
            The reference has a table of them.
        freshness: A number is seconds for which an answer is good: 1 unless given. ``stat`` looks
            at every call whether files changed, and reads those that did. ``session`` never looks
            again before ``invalidate()``.
        on_duplicate: Which of several skills of one name is used: ``first``, ``last``, or
            ``error`` for none.
        max_depth: How many directories deep skills are looked for.
        strict_sources: Whether a directory that does not exist is an error.
        scripts: Whether scripts run where no policy of the machine, the user or the project has a
            say: ``allow``, ``deny``, or ``ask`` for each. Without it ``skillkit`` allows them and
            all other profiles do not.
        trusted: Whether the caller vouches for directories that no lockfile knows, as with skills
            that are shipped with a program. Else only installed skills run that nobody edited, and
            those in directories that ``skillpm trust`` was told of.
        ask: What is asked before a script runs where somebody has to be: a function from a
            ``Question`` to ``True`` or ``False``; any other answer is no. The question is a text,
            and says what it is about: skill, script, arguments, digest. The function may be
            ``async`` where the script is awaited.
        python: The Python that runs scripts in Python: that of this program unless given.
        interpreters: Programs that run scripts, by the names of the languages: ``node``, ``bash``.
        audit: Whether the audit log has a line for each skill that is invoked and each script that
            runs, as ``skillpm audit`` shows it. Unless given, it has where the environment says
            ``SKILLPM_AUDIT``, with the path of the log.
        preset: The former name of ``profile``.

    Raises:
        ConfigurationError: An argument that makes no sense.

    """

    def __init__(
        self,
        sources: Sources = None,
        *,
        project: Union[StrPath, bool, None] = None,
        user: Optional[bool] = None,
        agent: Optional[str] = None,
        profile: Profile = "default",
        freshness: Union[Literal["stat", "session"], float, None] = None,
        on_duplicate: Optional[Literal["first", "last", "error"]] = None,
        max_depth: Optional[int] = None,
        strict_sources: Optional[bool] = None,
        scripts: Optional[Scripts] = None,
        trusted: bool = False,
        ask: Optional[Ask] = None,
        python: Optional[StrPath] = None,
        interpreters: Optional[Mapping[str, StrPath]] = None,
        audit: Optional[bool] = None,
        preset: Optional[Profile] = None,
    ) -> None:
        if preset is not None:
            import warnings

            profile = preset
            warnings.warn("`preset` is called `profile`", DeprecationWarning, stacklevel=2)
        rules = named_profile(profile)
        if not isinstance(trusted, bool):
            # Of what is no truth value, such as the text `no`, the wrong one would be made.
            raise usage_error(f"`trusted` is `True` or `False`, not {kind_of(trusted)}")
        if ask is not None and not callable(ask):
            raise usage_error(f"`ask` is a function from a question to yes or no, not `{ask}`")
        unnamed = sources is None
        self._scripts: str = (
            ("allow" if rules == "skillkit" else "deny") if scripts is None else scripts
        )
        self._options: dict[str, Any] = {
            "project": unnamed if project is None else project is not False,
            "user": unnamed if user is None else user,
            "agent": agent,
            "profile": rules,
            "freshness": freshness,
            "on_duplicate": on_duplicate,
            "max_depth": max_depth,
            "strict_sources": strict_sources,
            "scripts": self._scripts,
            "audit": audit,
        }
        self._trusted = trusted
        self._ask = ask
        # A script that needs packages finds those of the program that runs it.
        self._interpreters = named_interpreters(own_python(), None)
        self._interpreters.update(named_interpreters(python, interpreters))
        listed = named_sources(sources)
        root = None if project is None or isinstance(project, bool) else project
        self._process, self._kept = process(), self._opened(listed, root)
        self._looked = False
        # Relative paths stay what they are now where the process moves before it is forked.
        self._given = len(listed), working_directory(), root

    def _opened(self, listed: list[Any], root: Optional[StrPath]) -> Library:
        return Library(listed, root=root, **self._options)

    def _listed(self) -> list[Any]:
        """Return the sources that were given, by their names, as they were found then."""
        sources = self._kept.sources()
        return sources[len(sources) - self._given[0] :]

    def _renew(self, listed: list[Any]) -> None:
        """Make another library of the same places."""
        _, directory, root = self._given
        place = os.path.join(directory, root or "") if directory or root else None  # noqa: PTH118
        self._process, self._kept = process(), self._opened(listed, place)

    def __getstate__(self) -> dict[str, Any]:
        """Return what makes such a manager: what was read stays behind."""
        state = {name: value for name, value in self.__dict__.items() if name not in _UNPICKLED}
        return {**state, "listed": self._listed()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        listed = state.pop("listed")
        self.__dict__.update(state)
        self._renew(listed)

    @property
    def _library(self) -> Library:
        """What answers: another one after a fork.

        A thread that is not in the new process may have held a lock of the old one.
        """
        if self._process is not process():
            self._renew(self._listed())
        return self._kept

    def __len__(self) -> int:
        """Return how many skills there are."""
        return len(self._library.skills())

    def __bool__(self) -> bool:
        """Return ``True``: a manager without skills is one."""
        return True

    def __iter__(self) -> Iterator[SkillMetadata]:
        """Return the skills, as ``list_skills`` does."""
        return iter(self._library.skills())

    def __contains__(self, name: object) -> bool:
        """Return whether ``get_skill`` finds a skill of this name, or whether the skill is here."""
        from skillpm.errors import SkillpmError

        wanted = getattr(name, "name", name)
        if not isinstance(wanted, str):
            return False
        try:
            found = self._library.get(wanted)
        except SkillpmError:
            return False
        return wanted is name or found == name

    def __getitem__(self, name: str) -> SkillMetadata:
        """Return the metadata of a skill, as ``get_skill`` does; it raises a ``KeyError`` too."""
        return self.get_skill(name)

    def __repr__(self) -> str:
        sources = ", ".join(f"{name}: {directory}" for name, directory in self._library.sources())
        return f"<{type(self).__name__} {sources}>"

    @property
    def sources(self) -> dict[str, str]:
        """The directories that are looked at, by their names, the first first."""
        return {name: str(directory) for name, directory in self._library.sources()}

    def discover(self) -> list[SkillMetadata]:
        """Look for skills now, and return them as ``list_skills`` does.

        No skill is ever a failure: ``diagnostics`` has what could not be used, and why. There is
        no need to call it, as every question looks for skills where nobody has.

        Raises:
            ConfigurationError: A directory that does not exist, or two skills of one name, where
                the profile makes errors of them.

        """
        self._library.invalidate()
        return self.list_skills()

    def list_skills(self) -> list[SkillMetadata]:
        """Return the metadata of all skills, in the order of the sources, then by their paths.

        Only frontmatter was read. One skill of each name is there; ``shadowed`` has the others.

        Raises:
            ConfigurationError: As for ``discover``.

        """
        skills = self._library.skills()
        self._tell_missing()
        return skills

    def _tell_missing(self) -> None:
        """Log which directories do not exist, once: nobody is to wonder where the skills are."""
        if not self._looked:
            self._looked = True
            for found in self._library.diagnostics():
                if found.code == "source-missing":
                    _told(None, found.message)
            for _, directory in self._listed():
                if (directory / "SKILL.md").is_file():
                    above = directory.parent
                    _told(None, f"`{directory}` is a skill itself: name the directory `{above}`")

    @property
    def shadowed(self) -> list[SkillMetadata]:
        """The skills that others of their name hide.

        ``source:name`` finds them, and ``source:path`` one that another of its source hides: the
        path of its directory below that of the source.
        """
        return self._library.shadowed()

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """What went wrong, or is worth knowing, of skills and sources: nothing of it was raised."""
        return self._library.diagnostics()

    def get_skill(self, name: str) -> SkillMetadata:
        """Return the metadata of a skill. Its instructions are not read.

        Args:
            name: Its name, or ``source:name`` or ``source:path`` for one that another hides.

        Raises:
            SkillNotFoundError: No skill has the name; ``available`` has those that there are.
            SkillParseError: There is one, and it cannot be used.

        """
        return self._library.get(name)

    def load_skill(self, name: str) -> Skill:
        """Return a skill with its instructions and the names of its files.

        Raises:
            SkillNotFoundError: No skill has the name.
            SkillParseError: It cannot be used.
            PathError: Its file is gone, leads out of its directory, or is not a regular file.

        """
        skill, problems = self._library.load(name)
        return _told(skill, *problems)

    def invoke_skill(self, name: str, arguments: str = "", *, form: Form = "plain") -> str:
        """Return what an agent gets of a skill.

        It starts with the line ``Base directory for this skill: ...``. Every ``$ARGUMENTS`` of the
        instructions becomes ``arguments``; where there is none, they are added at the end.

        Args:
            name: The skill's name.
            arguments: What it is to work on, as one text.
            form: ``plain``; ``bare`` without the first line; ``markdown`` and ``xml`` with the
                names of its files; ``json`` or ``btw`` as Langflow and btw have it.

        Raises:
            SkillNotFoundError: No skill has the name.
            SkillParseError: It cannot be used.
            PathError: Its file is gone, leads out of its directory, or is not a regular file.
            ConfigurationError: There is no such form.

        """
        record, session = _logged.get()
        text, problems = self._library.invoke(name, arguments, form, record=record, session=session)
        return _told(text, *problems) if problems else text

    def _invoke(
        self,
        name: str,
        arguments: str,
        form: Form,
        *,
        record: bool = True,
        session: Optional[str] = None,
    ) -> str:
        """Call ``invoke_skill`` in a named session, or without a line in the log."""
        token = _logged.set((record, session))
        try:
            return self.invoke_skill(name, arguments, form=form)
        finally:
            _logged.reset(token)

    def _check_for_model(self, name: str) -> None:
        """Raise where a model asks for a skill that only a person is to start.

        What was written of one may still name its files: reading them is not starting it.

        Raises:
            SkillNotFoundError: Models know of no such skill.
            SkillpmError: As for ``get_skill``.

        """
        if self.get_skill(name).disable_model_invocation:
            from skillpm.errors import SkillNotFoundError

            skills = self.list_skills()
            raise SkillNotFoundError(
                f"there is no skill `{name}` that a model may start",
                name=name,
                available=sorted(skill.name for skill in skills),
                for_models=sorted(_for_models(skills)),
            )

    def read_skill_file(self, name: str, path: str, *, max_bytes: int = 10 << 20) -> str:
        """Return the text of a file of a skill.

        Args:
            name: The skill's name.
            path: The file's path below the skill's directory, with ``/``.
            max_bytes: Larger files are refused.

        Raises:
            SkillNotFoundError: No skill has the name.
            PathError: There is no such file in the skill, it is not text, too large, or no regular
                file. No path and no link leads out of the skill's directory.

        """
        content = self._library.read(name, path, max_bytes)
        if isinstance(content, bytes):
            from skillpm.errors import PathError

            raise PathError(
                f"the file `{path}` of the skill `{name}` is not read: it is not text in UTF-8",
                code="file-not-text",
                path=path,
                hint="`read_skill_bytes` reads it",
            )
        return content

    def read_skill_bytes(self, name: str, path: str, *, max_bytes: int = 10 << 20) -> bytes:
        """Return the bytes of a file of a skill, as ``read_skill_file`` returns a text.

        Raises:
            SkillNotFoundError: No skill has the name.
            PathError: As for ``read_skill_file``, but for what is not text.

        """
        content = self._library.read(name, path, max_bytes)
        return content if isinstance(content, bytes) else content.encode()

    def catalog(
        self,
        form: CatalogForm = "xml",
        *,
        fields: Union[str, Iterable[str]] = ("description", "location"),
        tags: Union[str, Iterable[str]] = (),
        hidden: bool = False,
        budget: Optional[int] = None,
    ) -> str:
        """Return what an agent learns about all skills before it uses one.

        Names and descriptions are escaped, so that none can end its element. Without skills the
        text is empty, or in the form ``reference`` an element without skills. Where the places of
        the project or the user are looked at, skills that their ``skillpm.toml`` disables are left
        out.

        Args:
            form: ``xml`` (``<available_skills>``), ``reference``, ``json``, ``markdown`` or
                ``plain``.
            fields: What is told beside the name: ``description``, ``location``, ``compatibility``,
                ``allowed-tools``, ``tags``, ``version``, ``files``.
            tags: Only skills with one of these.
            hidden: Whether skills are told that say that models are not to use them.
            budget: The largest number of tokens. All names stay, then as many descriptions as fit,
                the longest shortened. The logger ``skillpm`` says what was cut, and what is enough.

        Raises:
            ConfigurationError: A form or a field that there is not, a budget below 0.

        """
        text, problems = self._library.catalog(
            form, fields=texts(fields), tags=texts(tags), hidden=hidden, budget=budget
        )
        for problem in problems:
            _told(None, problem)
        self._tell_missing()
        return text

    def get_skill_tools(self, name: str) -> list[Script]:
        """Return the scripts of a skill that an agent can call. None of them is run.

        Raises:
            SkillNotFoundError: No skill has the name.
            SkillParseError: Its manifest of scripts is wrong.

        """
        scripts, problems = self._library.tools(name)
        for problem in problems:
            _told(None, problem)
        return scripts

    def run_script(
        self,
        name: str,
        script: Union[str, Script],
        arguments: Arguments = None,
        *,
        timeout: Optional[float] = None,
        cwd: Optional[StrPath] = None,
        env: Optional[Mapping[str, str]] = None,
        sandbox: Sandbox = "auto",
        network: bool = True,
        unix_sockets: bool = False,
        allow_modified: bool = False,
        max_output: int = 10 << 20,
        read: Iterable[StrPath] = (),
        write: Iterable[StrPath] = (),
        memory: Optional[int] = None,
        processes: Optional[int] = None,
        cpu_time: Optional[float] = None,
        file_size: Optional[int] = None,
        python: Optional[StrPath] = None,
        interpreters: Optional[Mapping[str, StrPath]] = None,
    ) -> ScriptResult:
        """Run a script of a skill and return what it wrote.

        It runs without a shell, with a clean environment, from a checked copy of the skill, and
        ends within its time with everything that it started.

        Args:
            name: The skill's name.
            script: The script, as ``get_skill_tools`` has it, or its name there.
            arguments: A text is one argument, and a list of texts is as many. A mapping is checked
                against the script's ``input_schema``, and becomes options, or JSON on its
                standard input.
            timeout: Seconds, from a nanosecond to 1e15; the manifest's, or 30, where it is not
                given.
            cwd: Where it runs: the working directory that this process has then, unless it is
                given. A relative one is below that. Where the system can keep files from a
                script, it may write there.
            env: Variables beside those few that every script gets.
            sandbox: Whether files are kept from it: where the system can, ``require``, or ``off``.
            network: Whether it may use the network.
            unix_sockets: Whether it may reach programs of this machine by unix sockets, such as a
                container engine or an agent of keys.
            allow_modified: Whether files of an installed skill may run that somebody edited.
            max_output: How many bytes of each of its outputs are kept.
            read: Paths that it may read too, where files are kept from it.
            write: Paths that it may write too.
            memory: How many bytes of private memory each of its processes may have.
            processes: How many processes and threads it may have at a time; 256 unless given.
            cpu_time: How many seconds of a processor each of its processes may take.
            file_size: How many bytes a file that it writes may have; a gibibyte unless given.
            python: The Python that runs scripts in Python; the manager's unless given.
            interpreters: Programs that run scripts, by the names of the languages: ``node``,
                ``bash``. A name without a slash is looked up in ``PATH``, that of ``env`` first.

        Raises:
            SkillInvocationError: It failed, or was ended; with its exit code and what it wrote.
            PolicyError: It may not run: a policy, this manager, an edited file, or a directory
                that nobody trusts. The message says which.
            SkillNotFoundError: No skill has the name.
            PathError: The skill has no such script.
            ConfigurationError: The arguments do not fit the script, or an option makes no sense.
            TypeError: An argument is of a type that it cannot be.

        """
        wanted = script if isinstance(script, str) else getattr(script, "tool_name", None)
        if wanted is None:
            raise TypeError(
                f"argument 'script': {kind_of(script)} is neither a text nor a `Script`"
            )
        how = self._how(
            timeout=timeout,
            cwd=cwd,
            env=env,
            sandbox=sandbox,
            network=network,
            unix_sockets=unix_sockets,
            allow_modified=allow_modified,
            max_output=max_output,
            read=read,
            write=write,
            memory=memory,
            processes=processes,
            cpu_time=cpu_time,
            file_size=file_size,
            python=python,
            interpreters=interpreters,
        )
        ask = self._asking(how, skill=name, script=wanted, arguments=arguments)
        if isinstance(arguments, tuple):
            arguments = list(arguments)
        result, warnings = _native.run(
            self._library, name, wanted, arguments, how, ask=ask, stop=stop.get()
        )
        for warning in warnings:
            _told(None, warning)
        return result

    def _how(
        self,
        *,
        timeout: Optional[float] = None,
        env: Optional[Mapping[str, str]] = None,
        read: Iterable[StrPath] = (),
        write: Iterable[StrPath] = (),
        python: Optional[StrPath] = None,
        interpreters: Optional[Mapping[str, StrPath]] = None,
        **options: Any,
    ) -> dict[str, Any]:
        """Return how a script runs, as the core takes it.

        Raises:
            ConfigurationError: An option that makes no sense.

        """
        check_options(timeout=timeout, env=env)
        for name in options:
            if name not in _USUAL:
                raise unknown_option(name, [*_USUAL, *_GIVEN])
        return {
            **_USUAL,
            **options,
            "scripts": self._scripts,
            "trusted": self._trusted,
            "timeout": timeout,
            "env": dict(env or {}),
            "read": paths(read),
            "write": paths(write),
            "interpreters": {**self._interpreters, **named_interpreters(python, interpreters)},
        }

    def _asking(self, how: dict[str, Any], **about: Any) -> Optional[Callable[[str, str], bool]]:
        """Return what the core asks before a script runs."""
        if self._ask is None:
            return None
        for name in "cwd", "network", "sandbox", "read", "write":
            about[name] = how[name]
        return asking(self._ask, awaiting.get(), about)

    def invalidate(self) -> None:
        """Forget everything that was read: the next question looks at the files again."""
        self._library.invalidate()

    async def adiscover(self) -> list[SkillMetadata]:
        """Do what ``discover`` does, without holding up the event loop."""
        return await aside(self.discover)

    async def alist_skills(self) -> list[SkillMetadata]:
        """Do what ``list_skills`` does, without holding up the event loop."""
        return await aside(self.list_skills)

    async def aget_skill(self, name: str) -> SkillMetadata:
        """Do what ``get_skill`` does, without holding up the event loop."""
        return await aside(self.get_skill, name)

    async def aload_skill(self, name: str) -> Skill:
        """Do what ``load_skill`` does, without holding up the event loop."""
        return await aside(self.load_skill, name)

    async def ainvoke_skill(self, name: str, arguments: str = "", *, form: Form = "plain") -> str:
        """Do what ``invoke_skill`` does, without holding up the event loop."""
        return await aside(self.invoke_skill, name, arguments, form=form)

    async def aread_skill_file(self, name: str, path: str, *, max_bytes: int = 10 << 20) -> str:
        """Do what ``read_skill_file`` does, without holding up the event loop."""
        return await aside(self.read_skill_file, name, path, max_bytes=max_bytes)

    async def aread_skill_bytes(self, name: str, path: str, *, max_bytes: int = 10 << 20) -> bytes:
        """Do what ``read_skill_bytes`` does, without holding up the event loop."""
        return await aside(self.read_skill_bytes, name, path, max_bytes=max_bytes)

    async def acatalog(
        self,
        form: CatalogForm = "xml",
        *,
        fields: Union[str, Iterable[str]] = ("description", "location"),
        tags: Union[str, Iterable[str]] = (),
        hidden: bool = False,
        budget: Optional[int] = None,
    ) -> str:
        """Do what ``catalog`` does, without holding up the event loop."""
        return await aside(
            self.catalog, form, fields=fields, tags=tags, hidden=hidden, budget=budget
        )

    async def aget_skill_tools(self, name: str) -> list[Script]:
        """Do what ``get_skill_tools`` does, without holding up the event loop."""
        return await aside(self.get_skill_tools, name)

    async def arun_script(
        self,
        name: str,
        script: Union[str, Script],
        arguments: Arguments = None,
        *,
        timeout: Optional[float] = None,
        cwd: Optional[StrPath] = None,
        env: Optional[Mapping[str, str]] = None,
        sandbox: Sandbox = "auto",
        network: bool = True,
        unix_sockets: bool = False,
        allow_modified: bool = False,
        max_output: int = 10 << 20,
        read: Iterable[StrPath] = (),
        write: Iterable[StrPath] = (),
        memory: Optional[int] = None,
        processes: Optional[int] = None,
        cpu_time: Optional[float] = None,
        file_size: Optional[int] = None,
        python: Optional[StrPath] = None,
        interpreters: Optional[Mapping[str, StrPath]] = None,
    ) -> ScriptResult:
        """Do what ``run_script`` does, without holding up the event loop.

        Where the task is cancelled, the script is ended.
        """
        return await stoppable(
            self.run_script,
            name,
            script,
            arguments,
            timeout=timeout,
            cwd=cwd,
            env=env,
            sandbox=sandbox,
            network=network,
            unix_sockets=unix_sockets,
            allow_modified=allow_modified,
            max_output=max_output,
            read=read,
            write=write,
            memory=memory,
            processes=processes,
            cpu_time=cpu_time,
            file_size=file_size,
            python=python,
            interpreters=interpreters,
        )

    async def ainvalidate(self) -> None:
        """Do what ``invalidate`` does, without holding up the event loop."""
        await aside(self.invalidate)


def _for_models(skills: Iterable[SkillMetadata]) -> list[str]:
    """Return the names of the skills that a model may start, in their order."""
    return [skill.name for skill in skills if not skill.disable_model_invocation]


def _told(value: T, *problems: Optional[str]) -> T:
    """Return ``value``, and log what is to be said of it."""
    for problem in problems:
        if problem is not None:
            import logging

            logging.getLogger("skillpm").warning("%s", problem)
    return value
