"""The native part of the package."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any, final

_StrPath = str | PathLike[str]

__all__ = [
    "Diagnostic",
    "Kit",
    "Library",
    "Script",
    "ScriptResult",
    "Skill",
    "SkillMetadata",
    "Stop",
    "__version__",
    "fail",
    "install",
    "main",
    "run",
    "validate",
]

__version__: str

@final
class SkillMetadata:
    """What the frontmatter of a skill says, and where it lies. It cannot be changed.

    ``name`` and ``description`` are what agents choose by. ``skill_path`` is its file. ``source``
    names the directory of skills that it was found in; ``source:name`` finds it.
    ``allowed_tools`` are those that it asks for; nothing is enforced. ``version`` is as written.
    ``metadata`` is the mapping of that name, and ``extra`` has the fields that the specification
    does not have. ``disable_model_invocation`` is whether one of these says that only a person is
    to start it: models are not told of such a skill.
    """

    def __new__(
        cls,
        name: str,
        description: str,
        skill_path: _StrPath,
        allowed_tools: Sequence[str] = ...,
        *,
        version: str | None = None,
        tags: Sequence[str] = ...,
        dependencies: Sequence[str] = ...,
        license: str | None = None,
        compatibility: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        extra: Mapping[str, Any] | None = None,
        source: str | None = None,
    ) -> SkillMetadata: ...
    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def skill_path(self) -> Path: ...
    @property
    def allowed_tools(self) -> tuple[str, ...]: ...
    @property
    def version(self) -> str | None: ...
    @property
    def tags(self) -> tuple[str, ...]: ...
    @property
    def dependencies(self) -> tuple[str, ...]: ...
    @property
    def license(self) -> str | None: ...
    @property
    def compatibility(self) -> str | None: ...
    @property
    def metadata(self) -> MappingProxyType[str, Any]: ...
    @property
    def extra(self) -> MappingProxyType[str, Any]: ...
    @property
    def source(self) -> str | None: ...
    @property
    def disable_model_invocation(self) -> bool: ...
    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain values that fit into JSON."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __getnewargs_ex__(self) -> tuple[tuple[str, str, Path], dict[str, Any]]: ...

@final
class Skill:
    """A skill with its instructions. It cannot be changed.

    ``content`` is the Markdown after the frontmatter. ``files`` are the paths of its other files
    below ``base_directory``, with ``/``.
    """

    def __new__(
        cls,
        metadata: SkillMetadata,
        content: str,
        base_directory: _StrPath,
        files: Sequence[str] = ...,
    ) -> Skill: ...
    @property
    def metadata(self) -> SkillMetadata: ...
    @property
    def content(self) -> str: ...
    @property
    def base_directory(self) -> Path: ...
    @property
    def files(self) -> tuple[str, ...]: ...
    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __getnewargs__(self) -> tuple[SkillMetadata, str, Path, list[str]]: ...

@final
class Script:
    """A script of a skill that an agent can call. It cannot be changed.

    ``name`` is its bare name, ``tool_name`` one that providers of models take and that no other
    script of this skill or of a skill with another name has. Skills of one name, of which one hides
    the others, may have scripts with the same ``tool_name``. ``input_schema`` is what it takes, as
    a JSON Schema. ``timeout`` is in seconds, where its manifest says one.
    """

    def __new__(
        cls,
        name: str,
        tool_name: str,
        description: str,
        path: _StrPath,
        *,
        skill: str,
        script: str,
        language: str,
        input_schema: Mapping[str, Any],
        timeout: float | None = None,
    ) -> Script: ...
    @property
    def name(self) -> str: ...
    @property
    def tool_name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def path(self) -> Path: ...
    @property
    def skill(self) -> str: ...
    @property
    def script(self) -> str: ...
    @property
    def language(self) -> str: ...
    @property
    def input_schema(self) -> dict[str, Any]: ...
    @property
    def timeout(self) -> float | None: ...
    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain values that fit into JSON."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __getnewargs_ex__(self) -> tuple[tuple[str, str, str, Path], dict[str, Any]]: ...

@final
class ScriptResult:
    """What a script that ended well wrote; ``str()`` of it is ``stdout``. It cannot be changed.

    ``truncated`` says whether there was more than is kept. ``duration`` is in seconds.
    """

    def __new__(
        cls,
        stdout: str,
        stderr: str = ...,
        exit_code: int = 0,
        truncated: bool = False,
        duration: float = 0.0,
    ) -> ScriptResult: ...
    @property
    def stdout(self) -> str: ...
    @property
    def stderr(self) -> str: ...
    @property
    def exit_code(self) -> int: ...
    @property
    def truncated(self) -> bool: ...
    @property
    def duration(self) -> float: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __getnewargs__(self) -> tuple[str, str, int, bool, float]: ...

@final
class Diagnostic:
    """Something that was found and not raised. It cannot be changed.

    ``code`` names what it is: often a rule that ``skillpm explain`` explains. ``severity`` is
    ``error`` where it keeps a skill from being used, else ``warning``. ``line`` and ``column``
    count from 1.
    """

    def __new__(
        cls,
        code: str,
        severity: str,
        message: str,
        path: _StrPath | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> Diagnostic: ...
    @property
    def code(self) -> str: ...
    @property
    def severity(self) -> str: ...
    @property
    def message(self) -> str: ...
    @property
    def path(self) -> Path | None: ...
    @property
    def line(self) -> int | None: ...
    @property
    def column(self) -> int | None: ...
    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain values that fit into JSON."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __getnewargs__(
        self,
    ) -> tuple[str, str, str, Path | None, int | None, int | None]: ...

@final
class Library:
    """What ``SkillManager`` asks."""

    def __new__(
        cls,
        sources: Sequence[tuple[str | None, _StrPath]],
        *,
        project: bool,
        root: _StrPath | None = None,
        user: bool,
        agent: str | None = None,
        profile: str,
        freshness: str | float | None = None,
        on_duplicate: str | None = None,
        max_depth: int | None = None,
        strict_sources: bool | None = None,
        scripts: str,
        audit: bool | None = None,
    ) -> Library: ...
    def sources(self) -> list[tuple[str, Path]]: ...
    def skills(self) -> list[SkillMetadata]: ...
    def shadowed(self) -> list[SkillMetadata]: ...
    def diagnostics(self) -> list[Diagnostic]: ...
    def get(self, name: str) -> SkillMetadata: ...
    def load(self, name: str) -> tuple[Skill, list[str]]: ...
    def invoke(
        self,
        name: str,
        arguments: str,
        form: str,
        *,
        record: bool = True,
        session: str | None = None,
    ) -> tuple[str, list[str]]: ...
    def read(self, name: str, file: str, max: int) -> str | bytes: ...
    def catalog(
        self,
        form: str,
        *,
        fields: Sequence[str],
        tags: Sequence[str],
        hidden: bool,
        budget: int | None,
    ) -> tuple[str, list[str]]: ...
    def tools(self, name: str) -> tuple[list[Script], list[str]]: ...
    def invalidate(self) -> None: ...

@final
class Stop:
    """Ends a script that runs in another thread."""

    def __new__(cls) -> Stop: ...
    def set(self) -> None: ...

@final
class Kit:
    """The tools for the skills of a library."""

    def __new__(
        cls,
        library: Library,
        *,
        names: Sequence[str],
        excluded: Sequence[str],
        tags: Sequence[str],
        scripts: bool,
        most: int,
        prefix: str,
        how: Mapping[str, Any],
    ) -> Kit: ...
    def definitions(
        self, loaded: Sequence[str]
    ) -> list[tuple[str, str, str, dict[str, Any], bool]]: ...
    def call(
        self,
        name: str,
        arguments: object,
        *,
        loaded: Sequence[str],
        session: str | None = None,
        ask: Callable[[str, str], bool] | None = None,
        stop: Stop | None = None,
    ) -> tuple[str, bool, dict[str, Any] | None, Any] | None: ...
    def catalog(self, form: str, budget: int | None) -> tuple[str, str | None]: ...
    def skills(self) -> list[SkillMetadata]: ...
    def skill(self, name: str) -> SkillMetadata: ...
    def again(self, name: str, arguments: str) -> str: ...
    def told(self) -> list[str]: ...

def run(
    library: Library,
    name: str,
    script: str,
    arguments: object,
    how: Mapping[str, Any],
    *,
    ask: Callable[[str, str], bool] | None = None,
    stop: Stop | None = None,
) -> tuple[ScriptResult, list[str]]: ...
def validate(path: _StrPath, *, profile: str | None = None) -> list[Diagnostic]: ...
def install(
    sources: Sequence[str],
    *,
    skills: Sequence[str],
    scope: str,
    agents: Sequence[str],
    project: _StrPath | None,
    copy: bool,
    force: bool,
    no_deps: bool,
    dry_run: bool,
    locked: bool,
    frozen: bool,
    offline: bool,
) -> tuple[list[dict[str, Any]], list[str]]: ...
def main(argv: Sequence[str]) -> int: ...
def fail(text: str) -> None: ...
