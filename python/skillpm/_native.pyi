"""The native part of the package."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Literal, final

from typing_extensions import Self

_StrPath = str | PathLike[str]
_Severity = Literal["error", "warning", "note"]

__all__ = [
    "Diagnostic",
    "Kit",
    "Library",
    "Script",
    "ScriptResult",
    "Skill",
    "SkillMetadata",
    "Stop",
    "Value",
    "Waiter",
    "__version__",
    "fail",
    "main",
    "manage",
    "run",
    "validate",
]

__version__: str

class Value:
    """What all values have: they turn into plain values and back."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain values that fit into JSON.

        Paths are texts, and tuples are lists. ``from_dict`` takes what it returns.
        """

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Self:
        """Return the value whose ``to_dict`` returns ``fields``.

        Fields that have a default may be left out. Others, fields of other names and values of
        other types raise ``ConfigurationError``.
        """

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """Return the JSON Schema of what ``to_dict`` returns and ``from_dict`` takes."""

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: object, _handler: object) -> Any: ...
    @classmethod
    def __get_pydantic_json_schema__(cls, _schema: object, _handler: object) -> dict[str, Any]: ...
    def __replace__(self, **changes: Any) -> Self:
        """Return a value like this one with ``changes``, for ``copy.replace``."""

    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]:
        """Return what ``pickle`` and ``copy`` make the value of again."""

@final
class SkillMetadata(Value):
    """What the frontmatter of a skill says, and where it lies. It cannot be changed.

    Agents choose a skill by ``name`` and ``description``. ``to_dict`` and ``from_dict`` turn it
    into plain values and back.
    """

    __match_args__ = ("name", "description", "skill_path", "allowed_tools")

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
    def name(self) -> str:
        """The name, by which it is called."""

    @property
    def description(self) -> str:
        """What the skill does and when to use it: agents choose by it."""

    @property
    def skill_path(self) -> Path:
        """The path of its ``SKILL.md``."""

    @property
    def allowed_tools(self) -> tuple[str, ...]:
        """The tools that the skill asks for. Nothing is enforced."""

    @property
    def version(self) -> str | None:
        """The version, as written."""

    @property
    def tags(self) -> tuple[str, ...]:
        """The words to filter by."""

    @property
    def dependencies(self) -> tuple[str, ...]:
        """The skills that it needs, as written."""

    @property
    def license(self) -> str | None:
        """The license, as written."""

    @property
    def compatibility(self) -> str | None:
        """What it needs to run, in words."""

    @property
    def metadata(self) -> dict[str, Any]:
        """The mapping ``metadata`` of the frontmatter. Each call returns a new dictionary."""

    @property
    def extra(self) -> dict[str, Any]:
        """The fields that the specification does not have. Each call returns a new dictionary."""

    @property
    def source(self) -> str | None:
        """The name of the directory of skills that it was found in: ``source:name`` finds it."""

    @property
    def disable_model_invocation(self) -> bool:
        """Whether only a person may start it: models are not told of such a skill."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Skill(Value):
    """A skill with its instructions and the names of its other files. It cannot be changed.

    It stays as it was loaded when its files change.
    """

    __match_args__ = ("metadata", "content", "base_directory", "files")

    def __new__(
        cls,
        metadata: SkillMetadata,
        content: str,
        base_directory: _StrPath,
        files: Sequence[str] = ...,
    ) -> Skill: ...
    @property
    def metadata(self) -> SkillMetadata:
        """What the frontmatter says, and where the skill lies."""

    @property
    def content(self) -> str:
        """The instructions: the Markdown after the frontmatter, as written."""

    @property
    def base_directory(self) -> Path:
        """The directory of the skill."""

    @property
    def files(self) -> tuple[str, ...]:
        """The paths of its other files below ``base_directory``, with ``/``."""

    @property
    def name(self) -> str:
        """The name, as in ``metadata``."""

    @property
    def description(self) -> str:
        """The description, as in ``metadata``."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Script(Value):
    """A script of a skill, what it is for and what it takes. It cannot be changed.

    Skills of one name, of which one hides the others, may have scripts with the same ``tool_name``.
    """

    __match_args__ = ("name", "tool_name", "description", "path")

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
    def name(self) -> str:
        """The name within the skill."""

    @property
    def tool_name(self) -> str:
        """The name for models: no script of a skill with another name has it."""

    @property
    def description(self) -> str:
        """What it is for."""

    @property
    def path(self) -> Path:
        """The path of its file."""

    @property
    def skill(self) -> str:
        """The name of the skill."""

    @property
    def script(self) -> str:
        """Its path below the directory of the skill, with ``/``."""

    @property
    def language(self) -> str:
        """The language, such as ``python``."""

    @property
    def input_schema(self) -> dict[str, Any]:
        """What it takes, as a JSON Schema. Each call returns a new dictionary."""

    @property
    def timeout(self) -> float | None:
        """The seconds that it may take, where its manifest says so."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class ScriptResult(Value):
    """What a script that ended well wrote. It cannot be changed.

    ``str()`` of it is ``stdout``.
    """

    __match_args__ = ("stdout", "stderr", "exit_code", "truncated", "duration")

    def __new__(
        cls,
        stdout: str,
        stderr: str = ...,
        exit_code: int = 0,
        truncated: bool = False,
        duration: float = 0.0,
    ) -> ScriptResult: ...
    @property
    def stdout(self) -> str:
        """What it wrote to standard output, with a mark for what is not text."""

    @property
    def stderr(self) -> str:
        """What it wrote to standard error, with a mark for what is not text."""

    @property
    def exit_code(self) -> int:
        """The code with which it ended."""

    @property
    def truncated(self) -> bool:
        """Whether it wrote more than is kept."""

    @property
    def duration(self) -> float:
        """The seconds that it took."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Diagnostic(Value):
    """Something that was found, with its place. It cannot be changed.

    ``skillpm explain`` explains most codes.
    """

    __match_args__ = ("code", "severity", "message", "path", "line", "column")

    def __new__(
        cls,
        code: str,
        severity: _Severity,
        message: str,
        path: _StrPath | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> Diagnostic: ...
    @property
    def code(self) -> str:
        """What it is, for programs: often a rule of ``skillpm validate``."""

    @property
    def severity(self) -> _Severity:
        """How bad it is. Nothing has to be done about a ``note``."""

    @property
    def message(self) -> str:
        """What it is, for people."""

    @property
    def path(self) -> Path | None:
        """The file or directory that it is about."""

    @property
    def line(self) -> int | None:
        """The line in the file, from 1."""

    @property
    def column(self) -> int | None:
        """The column in the line, from 1."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

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
        ask: Callable[..., bool] | None = None,
        stop: Stop | None = None,
    ) -> tuple[str, bool, dict[str, Any] | None, Any] | None: ...
    def catalog(self, form: str, budget: int | None) -> tuple[str, str | None]: ...
    def skills(self) -> list[SkillMetadata]: ...
    def skill(self, name: str) -> SkillMetadata: ...
    def again(self, name: str, arguments: str) -> str: ...
    def told(self) -> list[str]: ...

@final
class Waiter:
    """Whoever waits for a call in another thread, and may stop waiting."""

    def __new__(cls) -> Waiter: ...
    def stop(self) -> bool: ...

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
def manage(
    verb: str,
    options: dict[str, Any],
    *,
    root: _StrPath | None = None,
    scope: str | None = None,
    offline: bool = False,
    waiter: Waiter | None = None,
) -> tuple[Any, list[str]]: ...
def main(argv: Sequence[str]) -> int: ...
def fail(text: str) -> None: ...
