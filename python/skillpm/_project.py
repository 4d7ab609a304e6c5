"""The skills of a project or of the user, and everything that the command line does with them."""

# Hints are values here: nothing is postponed, and everything that they name is imported.
from collections.abc import Awaitable, Iterable
from os import fspath
from typing import Any, Callable, Literal, Optional, Union

from skillpm import outcomes
from skillpm._registry import Registry
from skillpm._twin import twin_of
from skillpm._work import StrPath, Texts, managed

Accept = Union[
    bool, str, Iterable[str], Callable[[str, outcomes.Review], Union[bool, Awaitable[bool]]]
]
Agents = list[outcomes.AgentView]
Available = list[outcomes.Available]
Listed = list[outcomes.ListedSkill]
Outdated = list[outcomes.OutdatedSkill]
Plugins = list[outcomes.OfferedPlugin]


class Project:
    """The skills of a project, or of the user in every project, as the command line manages them.

    Each method is a command: its keywords are the flags, and it returns what the command prints
    with ``--json``, as the types in ``skillpm.outcomes``. Warnings go to the logger ``skillpm``.
    Nothing is looked at before a method is called, nobody is asked anything, and nothing is kept.

    Each method has a twin for event loops whose name starts with ``a``. It works in a thread of its
    own. Where its task is cancelled, it ends; a change that has begun is waited for.

    Args:
        root: A directory of the project, instead of the working directory: ``./directory`` lies
            below it.
        scope: ``project``; ``user`` for your own skills, which every project has; or ``None``, as
            without a flag: both where nothing is changed, else the project.
        offline: Use no network: only what is in the store and on this machine.

    Raises:
        ConfigurationError: Methods raise it of an argument, a manifest or a lockfile that makes no
            sense.
        NetworkError: Of a server or a login.
        IntegrityError: Of bytes that are not what was promised, or that no skill may have.
        PolicyError: Of what a policy keeps out, or of new capabilities that nobody accepted.
        StorageError: Of the file system.

    """

    __slots__ = ("offline", "root", "scope")

    def __init__(
        self,
        root: Optional[StrPath] = None,
        *,
        scope: Optional[Literal["project", "user"]] = "project",
        offline: bool = False,
    ) -> None:
        self.root: Optional[str] = None if root is None else fspath(root)
        self.scope: Optional[Literal["project", "user"]] = scope
        self.offline: bool = offline

    def _key(self) -> tuple[Any, ...]:
        return (self.root, self.scope, self.offline)

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Project) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"Project({self.root!r}, scope={self.scope!r}, offline={self.offline!r})"

    def _do(self, verb: str, options: dict[str, Any]) -> Any:
        """Do what a command does with the options of a method."""
        options.pop("self")
        return managed(verb, options, root=self.root, scope=self.scope, offline=self.offline)

    def install(
        self,
        *sources: str,
        skills: Texts = (),
        marketplace: Optional[str] = None,
        from_project: bool = False,
        as_: Optional[str] = None,
        editable: bool = False,
        tag: Optional[str] = None,
        branch: Optional[str] = None,
        rev: Optional[str] = None,
        agents: Texts = (),
        copy: bool = False,
        dry_run: bool = False,
        force: bool = False,
        accept: Accept = False,
        no_deps: bool = False,
        minimal: bool = False,
        locked: bool = False,
        frozen: bool = False,
    ) -> outcomes.InstallOutcome:
        """Install skills, or without a source exactly those that the lockfile names.

        A skill that could not be installed while others could is in ``left_out``, and is no error.

        Args:
            sources: Where skills come from: ``owner/repo``, an address, ``./directory``; with
                ``marketplace`` the names of its plugins.
            skills: Names or paths of skills of the sources; ``*`` is all of them. Needed where a
                source has several.
            marketplace: Take plugins from the marketplace in this source.
            from_project: Install the skills that come with the project's packages.
            as_: The name to install the skill under.
            editable: Link to directories on this machine instead of copying them.
            tag: Take the sources at this tag.
            branch: Take the sources at this branch.
            rev: Take the sources at this commit.
            agents: Agents that get links to the skills; ``*`` is all on this machine. Without any,
                those in use.
            copy: Give agents copies instead of links.
            dry_run: Change nothing.
            force: Replace what is in the way; the store keeps it.
            accept: The skills that may come in versions with new capabilities: ``True`` for all,
                names, or a function that is called with the name of each and its review, and
                returns whether it may. In the twin it may be a coroutine function.
            no_deps: Leave out the skills that others need.
            minimal: Take the lowest versions from registries that fit.
            locked: Fail where the lockfile would change.
            frozen: Resolve nothing: only what is locked.

        """
        outcome: outcomes.InstallOutcome = self._do("install", locals())
        return outcome

    def available(
        self,
        *sources: str,
        skills: Texts = (),
        marketplace: Optional[str] = None,
        from_project: bool = False,
        tag: Optional[str] = None,
        branch: Optional[str] = None,
        rev: Optional[str] = None,
    ) -> Available:
        """Return the skills that sources offer, as ``skillpm install --list`` shows them.

        The arguments are those of ``install``.
        """
        outcome: Available = self._do("available", locals())
        return outcome

    def plugins(
        self,
        marketplace: str,
        *,
        tag: Optional[str] = None,
        branch: Optional[str] = None,
        rev: Optional[str] = None,
    ) -> Plugins:
        """Return the plugins that a marketplace offers, for ``install`` with ``marketplace``."""
        outcome: Plugins = self._do("plugins", locals())
        return outcome

    def update(
        self,
        *names: str,
        latest: bool = False,
        accept: Accept = False,
        ours: bool = False,
        theirs: bool = False,
        abort: bool = False,
        no_deps: bool = False,
        precise: Optional[str] = None,
        minimal: bool = False,
        dry_run: bool = False,
        force: bool = False,
    ) -> outcomes.UpdateOutcome:
        """Update installed skills to newer versions, and keep what was edited.

        A source that could not be asked, while others could, is in ``failures``, and is no error.

        Args:
            names: The skills; without any, all of the scope.
            latest: Go past the tag or commit that the manifest names.
            accept: The skills that may come with new capabilities: ``True`` for all, names, or a
                function that is called with the name of each and its review, and returns whether it
                may. Those that it declines stay as they are. In the twin it may be a coroutine
                function. Without it, one that has new capabilities is an error, and nothing is
                changed.
            ours: Where both changed a file, keep yours; also resolves an earlier merge.
            theirs: Where both changed a file, take the new one; also resolves an earlier merge.
            abort: Undo a merge with conflicts.
            no_deps: Leave the skills that others need as they are locked.
            precise: The version that a skill of a registry is to have.
            minimal: Take the lowest versions from registries that fit.
            dry_run: Change nothing: ``skills`` has the review of each, ``refused`` those that
                ``accept`` would be needed for.
            force: Replace what is in the way and cannot be merged; the store keeps it.

        """
        outcome: outcomes.UpdateOutcome = self._do("update", locals())
        return outcome

    def remove(
        self, *names: str, dry_run: bool = False, force: bool = False
    ) -> outcomes.RemoveOutcome:
        """Remove skills: copies, links and their entries in manifest and lockfile.

        Args:
            names: The skills; ``*`` is all of them.
            dry_run: Change nothing.
            force: Remove skills too that were edited; the store keeps the copy.

        """
        outcome: outcomes.RemoveOutcome = self._do("remove", locals())
        return outcome

    def list(self) -> Listed:
        """Return the installed skills, and those that others put there."""
        outcome: Listed = self._do("list", locals())
        return outcome

    def outdated(self, *names: str) -> Outdated:
        """Return what is newer in the sources of skills, without a download where possible.

        Args:
            names: The skills; without any, all.

        """
        outcome: Outdated = self._do("outdated", locals())
        return outcome

    def search(
        self,
        query: str,
        *,
        registry: Optional[str] = None,
        installed: bool = False,
        skills_sh: bool = False,
        limit: int = 20,
    ) -> outcomes.SearchOutcome:
        """Search the registries of the project, and the skills that are available here.

        Args:
            query: What the skill should do: words of its name, tags or description.
            registry: Only the registry of this name.
            installed: Only the skills that are available here.
            skills_sh: Ask skills.sh as well, a public site that sees the words.
            limit: The largest number of matches.

        """
        outcome: outcomes.SearchOutcome = self._do("search", locals())
        return outcome

    def verify(self, *names: str, strict: bool = False) -> outcomes.VerifyOutcome:
        """Compare every byte and link of installed skills with the lockfile.

        A difference is in the outcome, and is no error: ``ok`` says whether there is none.

        Args:
            names: The skills; without any, all.
            strict: Whether code that tools left in a skill is a difference.

        """
        outcome: outcomes.VerifyOutcome = self._do("verify", locals())
        return outcome

    def doctor(self, *, fix: bool = False, dry_run: bool = False) -> outcomes.DoctorOutcome:
        """Look for what is broken, and with ``fix`` repair what nothing is lost by.

        With ``scope=None`` the store and the downloads are looked at, too.
        """
        outcome: outcomes.DoctorOutcome = self._do("doctor", locals())
        return outcome

    def trust(self, *directories: StrPath, force: bool = False) -> outcomes.TrustOutcome:
        """Trust directories: unlocked skills in and below them may run scripts.

        Args:
            directories: The directories; without any, nothing is changed.
            force: Trust the home directory or one above it as well.

        """
        outcome: outcomes.TrustOutcome = self._do("trust", locals())
        return outcome

    def trusted(self) -> outcomes.TrustOutcome:
        """Return the directories that are trusted."""
        return self.trust()

    def untrust(self, *directories: StrPath) -> outcomes.TrustOutcome:
        """Stop trusting directories."""
        outcome: outcomes.TrustOutcome = self._do("untrust", locals())
        return outcome

    def agents(
        self,
        *names: str,
        all: bool = False,
        window: Optional[int] = None,
        usage: bool = False,
    ) -> Agents:
        """Return the agents, what each of them sees, and how much of its budget that takes.

        Args:
            names: The agents; without any, those in use here.
            all: Return all agents that skillpm knows.
            window: The window of the model in tokens, instead of that of the agent.
            usage: Read the sessions of the agents, which tell how often each skill was used.

        """
        outcome: Agents = self._do("agents", locals())
        return outcome

    def test(
        self,
        *paths: StrPath,
        all: bool = False,
        agent: Optional[str] = None,
        window: Optional[int] = None,
        top: int = 5,
        bodies: bool = False,
        changed: bool = False,
        since: Optional[str] = None,
        repeat: int = 1,
        timeout: float = 300,
        keep: Optional[StrPath] = None,
    ) -> outcomes.TestOutcome:
        """Test whether the right skill wins for the requests that authors keep beside their skills.

        Args:
            paths: Skills, or directories to look for skills in; without any, the root.
            all: Test all skills of the repository around the root.
            agent: An agent, over whose listing is ranked; or a command that asks an agent.
            window: The window of its model in tokens.
            top: The right skill has to be among this many.
            bodies: Rank over the instructions of the skills too.
            changed: Test only skills with a file that is not committed.
            since: Test only skills with a file that changed since this commit, branch or tag.
            repeat: How often each request is put to the agent.
            timeout: How long the agent may take for one request, in seconds.
            keep: A directory for what the agent prints.

        """
        outcome: outcomes.TestOutcome = self._do("test", locals())
        return outcome

    def logins(self) -> outcomes.LoginsOutcome:
        """Return the servers of registries for which a token is saved."""
        outcome: outcomes.LoginsOutcome = self._do("registry logins", locals())
        return outcome

    def registry(self, place: Optional[StrPath] = None) -> Registry:
        """Return a registry of the project.

        Args:
            place: A name of ``[registries]``, an address, or a directory; the root without one.

        """
        return Registry(place, root=self.root, offline=self.offline)

    @twin_of(install)
    def ainstall(self) -> None:
        """Do what ``install`` does, without holding up the event loop."""

    @twin_of(available)
    def aavailable(self) -> None:
        """Do what ``available`` does, without holding up the event loop."""

    @twin_of(plugins)
    def aplugins(self) -> None:
        """Do what ``plugins`` does, without holding up the event loop."""

    @twin_of(update)
    def aupdate(self) -> None:
        """Do what ``update`` does, without holding up the event loop."""

    @twin_of(remove)
    def aremove(self) -> None:
        """Do what ``remove`` does, without holding up the event loop."""

    @twin_of(list)
    def alist(self) -> None:
        """Do what ``list`` does, without holding up the event loop."""

    @twin_of(outdated)
    def aoutdated(self) -> None:
        """Do what ``outdated`` does, without holding up the event loop."""

    @twin_of(search)
    def asearch(self) -> None:
        """Do what ``search`` does, without holding up the event loop."""

    @twin_of(verify)
    def averify(self) -> None:
        """Do what ``verify`` does, without holding up the event loop."""

    @twin_of(doctor)
    def adoctor(self) -> None:
        """Do what ``doctor`` does, without holding up the event loop."""

    @twin_of(trust)
    def atrust(self) -> None:
        """Do what ``trust`` does, without holding up the event loop."""

    @twin_of(trusted)
    def atrusted(self) -> None:
        """Do what ``trusted`` does, without holding up the event loop."""

    @twin_of(untrust)
    def auntrust(self) -> None:
        """Do what ``untrust`` does, without holding up the event loop."""

    @twin_of(agents)
    def aagents(self) -> None:
        """Do what ``agents`` does, without holding up the event loop."""

    @twin_of(test)
    def atest(self) -> None:
        """Do what ``test`` does, without holding up the event loop."""

    @twin_of(logins)
    def alogins(self) -> None:
        """Do what ``logins`` does, without holding up the event loop."""
