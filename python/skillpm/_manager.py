"""The manager: every question about skills, asked in threads and in event loops alike."""

from __future__ import annotations

import os
from contextvars import ContextVar

from skillpm._arguments import (
    check_options,
    kind_of,
    named_sources,
    texts,
    usage_error,
    yes_or_no,
)
from skillpm._native import Library, Stop, run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from os import PathLike
    from typing import Any, Literal, TypeVar, Union

    from typing_extensions import ParamSpec

    from skillpm._native import Diagnostic, Script, ScriptResult, Skill, SkillMetadata, _How

    P = ParamSpec("P")
    T = TypeVar("T")
    StrPath = Union[str, PathLike[str]]
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
    CatalogForm = Literal["xml", "reference", "json", "markdown", "plain"]
    Form = Literal["plain", "bare", "markdown", "json", "xml", "btw"]


# What ends the script that is run for a task. `run_script` takes no such thing, nor does that of a
# subclass.
_stop: ContextVar[Stop | None] = ContextVar("_stop", default=None)

# Whether a skill that is invoked becomes a line of the log, and for which session. `invoke_skill`
# takes neither, nor does that of a subclass, whose text an agent is to get.
_logged: ContextVar[tuple[bool, str | None]] = ContextVar("_logged", default=(True, None))

# Another object in each process that was forked.
_process = object()
_FORKS = hasattr(os, "register_at_fork")


def _forked() -> None:
    global _process
    _process = object()


if _FORKS:
    os.register_at_fork(after_in_child=_forked)


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
        freshness: ``stat`` looks at every call whether files changed, and reads those that did.
            ``session`` never looks again before ``invalidate()``. A number is seconds for which
            an answer is good.
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
            question to ``True`` or ``False``.
        audit: Whether the audit log has a line for each skill that is invoked and each script that
            runs, as ``skillpm audit`` shows it. Where it lies, and what else it holds, is said by
            the environment; ``SKILLPM_AUDIT=off`` switches it off for all.
        preset: The former name of ``profile``.

    Raises:
        ConfigurationError: An argument that makes no sense.

    """

    def __init__(
        self,
        sources: StrPath | Iterable[StrPath] | Mapping[str, StrPath] | None = None,
        *,
        project: StrPath | bool | None = None,
        user: bool | None = None,
        agent: str | None = None,
        profile: Profile = "default",
        freshness: Literal["stat", "session"] | float | None = None,
        on_duplicate: Literal["first", "last", "error"] | None = None,
        max_depth: int | None = None,
        strict_sources: bool | None = None,
        scripts: Literal["allow", "ask", "deny"] | None = None,
        trusted: bool = False,
        ask: Callable[[str], bool] | None = None,
        audit: bool = True,
        preset: Profile | None = None,
    ) -> None:
        if preset is not None:
            import warnings

            profile = preset
            warnings.warn("`preset` is called `profile`", DeprecationWarning, stacklevel=2)
        if not isinstance(trusted, bool):
            # Of what is no truth value, such as the text `no`, the wrong one would be made.
            raise usage_error(f"`trusted` is `True` or `False`, not {kind_of(trusted)}")
        ask = yes_or_no(ask)
        unnamed = sources is None
        unsaid: str = (
            ("allow" if profile in ("skillkit", "s0") else "deny") if scripts is None else scripts
        )
        self._opened: Callable[[list[Any], StrPath | None], Library] = lambda listed, root: Library(
            listed,
            project=unnamed if project is None else project is not False,
            root=root,
            user=unnamed if user is None else user,
            agent=agent,
            profile=profile,
            freshness=freshness,
            on_duplicate=on_duplicate,
            max_depth=max_depth,
            strict_sources=strict_sources,
            scripts=unsaid,
            ask=ask,
            audit=audit,
        )
        self._scripts = unsaid
        self._trusted = trusted
        self._ask = ask
        listed = named_sources(sources)
        root = None if project is None or isinstance(project, bool) else project
        self._process, self._kept = _process, self._opened(listed, root)
        # Relative paths stay what they are now where the process moves before it is forked.
        # `Path.cwd()` would import `pathlib`, which takes longer than all else here.
        self._given = len(listed), os.getcwd() if _FORKS else "", root  # noqa: PTH109

    @property
    def _library(self) -> Library:
        """What answers: another one after a fork.

        A thread that is not in the new process may have held a lock of the old one.
        """
        if self._process is not _process:
            from pathlib import Path

            extra, directory, root = self._given
            sources = self._kept.sources()
            listed = sources[len(sources) - extra :]
            self._kept = self._opened(listed, Path(directory) / (root or ""))
            self._process = _process
        return self._kept

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
        return self._library.skills()

    def list_skills(self) -> list[SkillMetadata]:
        """Return the metadata of all skills, in the order of the sources, then by their paths.

        Only frontmatter was read. One skill of each name is there; ``shadowed`` has the others.

        Raises:
            ConfigurationError: As for ``discover``.

        """
        return self._library.skills()

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
        session: str | None = None,
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
            from skillpm._errors import SkillNotFoundError

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
            from skillpm._errors import PathError

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
        fields: str | Iterable[str] = ("description", "location"),
        tags: str | Iterable[str] = (),
        hidden: bool = False,
        budget: int | None = None,
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
        script: str | Script,
        arguments: str | list[str] | Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        cwd: StrPath | None = None,
        env: Mapping[str, str] | None = None,
        sandbox: Literal["auto", "require", "off"] = "auto",
        network: bool = True,
        unix_sockets: bool = False,
        allow_modified: bool = False,
        max_output: int = 10 << 20,
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

        Raises:
            SkillInvocationError: It failed, or was ended; with its exit code and what it wrote.
            PolicyError: It may not run: a policy, this manager, an edited file, or a directory
                that nobody trusts. The message says which.
            SkillNotFoundError: No skill has the name.
            PathError: The skill has no such script.
            ConfigurationError: The arguments do not fit the script, or an option makes no sense.
            TypeError: An argument or an answer of ``ask`` is of a type that it cannot be.

        """
        check_options(timeout=timeout, env=env)
        how: _How = {
            "scripts": self._scripts,
            "trusted": self._trusted,
            "allow_modified": allow_modified,
            "timeout": timeout,
            "cwd": cwd,
            "env": dict(env or {}),
            "sandbox": sandbox,
            "network": network,
            "unix_sockets": unix_sockets,
            "max_output": max_output,
        }
        wanted = script if isinstance(script, str) else getattr(script, "tool_name", None)
        if wanted is None:
            raise TypeError(
                f"argument 'script': {kind_of(script)} is neither a text nor a `Script`"
            )
        result, warnings = run(
            self._library, name, wanted, arguments, how, ask=self._ask, stop=_stop.get()
        )
        for warning in warnings:
            _told(None, warning)
        return result

    def invalidate(self) -> None:
        """Forget everything that was read: the next question looks at the files again."""
        self._library.invalidate()

    async def adiscover(self) -> list[SkillMetadata]:
        """Do what ``discover`` does, without holding up the event loop."""
        return await _aside(self.discover)

    async def alist_skills(self) -> list[SkillMetadata]:
        """Do what ``list_skills`` does, without holding up the event loop."""
        return await _aside(self.list_skills)

    async def aget_skill(self, name: str) -> SkillMetadata:
        """Do what ``get_skill`` does, without holding up the event loop."""
        return await _aside(self.get_skill, name)

    async def aload_skill(self, name: str) -> Skill:
        """Do what ``load_skill`` does, without holding up the event loop."""
        return await _aside(self.load_skill, name)

    async def ainvoke_skill(self, name: str, arguments: str = "", *, form: Form = "plain") -> str:
        """Do what ``invoke_skill`` does, without holding up the event loop."""
        return await _aside(self.invoke_skill, name, arguments, form=form)

    async def aread_skill_file(self, name: str, path: str, *, max_bytes: int = 10 << 20) -> str:
        """Do what ``read_skill_file`` does, without holding up the event loop."""
        return await _aside(self.read_skill_file, name, path, max_bytes=max_bytes)

    async def aread_skill_bytes(self, name: str, path: str, *, max_bytes: int = 10 << 20) -> bytes:
        """Do what ``read_skill_bytes`` does, without holding up the event loop."""
        return await _aside(self.read_skill_bytes, name, path, max_bytes=max_bytes)

    async def acatalog(
        self,
        form: CatalogForm = "xml",
        *,
        fields: str | Iterable[str] = ("description", "location"),
        tags: str | Iterable[str] = (),
        hidden: bool = False,
        budget: int | None = None,
    ) -> str:
        """Do what ``catalog`` does, without holding up the event loop."""
        return await _aside(
            self.catalog, form, fields=fields, tags=tags, hidden=hidden, budget=budget
        )

    async def aget_skill_tools(self, name: str) -> list[Script]:
        """Do what ``get_skill_tools`` does, without holding up the event loop."""
        return await _aside(self.get_skill_tools, name)

    async def arun_script(
        self,
        name: str,
        script: str | Script,
        arguments: str | list[str] | Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        cwd: StrPath | None = None,
        env: Mapping[str, str] | None = None,
        sandbox: Literal["auto", "require", "off"] = "auto",
        network: bool = True,
        unix_sockets: bool = False,
        allow_modified: bool = False,
        max_output: int = 10 << 20,
    ) -> ScriptResult:
        """Do what ``run_script`` does, without holding up the event loop.

        Where the task is cancelled, the script is ended.
        """
        stop = Stop()

        def run_script() -> ScriptResult:
            # The context is one of this call: what is set is seen by nobody else.
            _stop.set(stop)
            return self.run_script(
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
            )

        try:
            return await _aside(run_script)
        finally:
            # After its end this does nothing.
            stop.set()

    async def ainvalidate(self) -> None:
        """Do what ``invalidate`` does, without holding up the event loop."""
        await _aside(self.invalidate)


def _for_models(skills: Iterable[SkillMetadata]) -> list[str]:
    """Return the names of the skills that a model may start, in their order."""
    return [skill.name for skill in skills if not skill.disable_model_invocation]


def _told(value: T, *problems: str | None) -> T:
    """Return ``value``, and log what is to be said of it."""
    for problem in problems:
        if problem is not None:
            import logging

            logging.getLogger("skillpm").warning("%s", problem)
    return value


async def _aside(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Do work of the manager in a thread: the interpreter is free for others while it lasts."""
    import asyncio

    def done() -> T:
        try:
            return work(*args, **kwargs)
        except StopIteration as error:
            # No future can hold it, and who waits would wait for ever. Of a coroutine the language
            # makes the same.
            raise RuntimeError("a function raised StopIteration") from error

    return await asyncio.to_thread(done)
