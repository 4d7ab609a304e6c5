"""A registry of skills, as the command line manages it."""

# Hints are values here: nothing is postponed, and everything that they name is imported.
from os import fspath
from typing import Any, Optional

from skillpm import outcomes
from skillpm._twin import twin_of
from skillpm._work import StrPath, managed


class Registry:
    """A registry of skills: a directory, or one that others serve.

    Each method is an action of ``skillpm registry``: its keywords are the flags, and it returns
    what the command prints with ``--json``, as the types in ``skillpm.outcomes``. What is said of
    errors, warnings and twins for event loops is that of ``Project``.

    Args:
        place: A directory, an address, or a name of ``[registries]`` in the manifest of the
            project; without one, the root. Only a directory can be made, filled and verified.
        root: A directory of the project, instead of the working directory.
        offline: Use no network.

    """

    __slots__ = ("offline", "place", "root")

    def __init__(
        self,
        place: Optional[StrPath] = None,
        *,
        root: Optional[StrPath] = None,
        offline: bool = False,
    ) -> None:
        self.place: Optional[str] = None if place is None else fspath(place)
        self.root: Optional[str] = None if root is None else fspath(root)
        self.offline: bool = offline

    def _key(self) -> tuple[Any, ...]:
        return (self.place, self.root, self.offline)

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Registry) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"Registry({self.place!r}, root={self.root!r}, offline={self.offline!r})"

    def _do(self, action: str, options: dict[str, Any]) -> Any:
        """Do what an action does with the options of a method."""
        options.pop("self")
        options["registry"] = self.place
        verb = f"registry {action}"
        return managed(verb, options, root=self.root, scope=None, offline=self.offline)

    def init(
        self, *, name: Optional[str] = None, force: bool = False, dry_run: bool = False
    ) -> outcomes.RegistryInitOutcome:
        """Make a directory a registry, which any web server can serve.

        Args:
            name: The name of the registry, instead of that of the directory.
            force: Replace or remove files that are not the registry's.
            dry_run: Change nothing.

        """
        outcome: outcomes.RegistryInitOutcome = self._do("init", locals())
        return outcome

    def add(
        self, *sources: StrPath, allow_secrets: bool = False, dry_run: bool = False
    ) -> outcomes.RegistryAddOutcome:
        """Publish skills: all of them, or after an error none.

        Args:
            sources: Directories of skills, or archives that ``skillpm pack`` made.
            allow_secrets: Publish files that may hold secrets.
            dry_run: Change nothing.

        """
        outcome: outcomes.RegistryAddOutcome = self._do("add", locals())
        return outcome

    def index(self, *, dry_run: bool = False) -> outcomes.RegistryIndexOutcome:
        """Rebuild the lists from what was published."""
        outcome: outcomes.RegistryIndexOutcome = self._do("index", locals())
        return outcome

    def yank(
        self, *versions: str, reason: str = "", dry_run: bool = False
    ) -> outcomes.RegistryYankOutcome:
        """Hide versions from new installations; projects that have them locked still get them.

        Args:
            versions: Versions such as ``pdf@1.2.0``.
            reason: The reason, which those who have one of them are shown.
            dry_run: Change nothing.

        """
        outcome: outcomes.RegistryYankOutcome = self._do("yank", locals())
        return outcome

    def unyank(self, *versions: str, dry_run: bool = False) -> outcomes.RegistryYankOutcome:
        """Make yanked versions available again."""
        outcome: outcomes.RegistryYankOutcome = self._do("unyank", locals())
        return outcome

    def list(self, name: Optional[str] = None) -> outcomes.RegistryListOutcome:
        """Return the skills, or the versions of one."""
        outcome: outcomes.RegistryListOutcome = self._do("list", locals())
        return outcome

    def verify(self) -> outcomes.RegistryVerifyOutcome:
        """Check every file: archives and their contents, and all lists."""
        outcome: outcomes.RegistryVerifyOutcome = self._do("verify", locals())
        return outcome

    def mirror(
        self,
        dir: StrPath,
        *names: str,
        no_deps: bool = False,
        locked: bool = False,
        force: bool = False,
    ) -> outcomes.MirrorOutcome:
        """Copy the registry, or a part of it, to a directory.

        Args:
            dir: The directory. What it has already is not fetched again.
            names: The skills, with all that they need; without any, all.
            no_deps: Leave out what the named skills need.
            locked: Copy exactly what the lockfile of the project has from the registry.
            force: Replace or remove files of a directory that is no mirror yet.

        """
        outcome: outcomes.MirrorOutcome = self._do("mirror", locals())
        return outcome

    def bundle(
        self,
        file: StrPath,
        *names: str,
        no_deps: bool = False,
        locked: bool = False,
        force: bool = False,
    ) -> outcomes.BundleOutcome:
        """Write the registry, or a part of it, into one file, for machines without a network.

        The arguments are those of ``mirror``; ``force`` replaces a file that is there.
        """
        outcome: outcomes.BundleOutcome = self._do("bundle", locals())
        return outcome

    def login(self, token: str) -> outcomes.LoginOutcome:
        """Save the token for a registry that requires a login."""
        outcome: outcomes.LoginOutcome = self._do("login", locals())
        return outcome

    def logout(self) -> outcomes.LogoutOutcome:
        """Remove the token for the registry."""
        outcome: outcomes.LogoutOutcome = self._do("logout", locals())
        return outcome

    @twin_of(init)
    def ainit(self) -> None:
        """Do what ``init`` does, without holding up the event loop."""

    @twin_of(add)
    def aadd(self) -> None:
        """Do what ``add`` does, without holding up the event loop."""

    @twin_of(index)
    def aindex(self) -> None:
        """Do what ``index`` does, without holding up the event loop."""

    @twin_of(yank)
    def ayank(self) -> None:
        """Do what ``yank`` does, without holding up the event loop."""

    @twin_of(unyank)
    def aunyank(self) -> None:
        """Do what ``unyank`` does, without holding up the event loop."""

    @twin_of(list)
    def alist(self) -> None:
        """Do what ``list`` does, without holding up the event loop."""

    @twin_of(verify)
    def averify(self) -> None:
        """Do what ``verify`` does, without holding up the event loop."""

    @twin_of(mirror)
    def amirror(self) -> None:
        """Do what ``mirror`` does, without holding up the event loop."""

    @twin_of(bundle)
    def abundle(self) -> None:
        """Do what ``bundle`` does, without holding up the event loop."""

    @twin_of(login)
    def alogin(self) -> None:
        """Do what ``login`` does, without holding up the event loop."""

    @twin_of(logout)
    def alogout(self) -> None:
        """Do what ``logout`` does, without holding up the event loop."""
