"""What verbs return: the outcomes that ``skillpm VERB --json`` prints, as types.

Each is a dictionary of plain data, which JSON, pickle and message packs take as it is.
"""

# Made from schema/ by python/tests/test_outcomes.py; `SKILLPM_BLESS=1 pytest` writes it anew.
# ruff: noqa: D205 - some sentences of the schemas are longer than a line

from typing import TYPE_CHECKING, Any, Literal, Optional, Union

if TYPE_CHECKING:
    from typing_extensions import TypedDict
else:
    try:
        # The one that pydantic takes before Python 3.12, where it is there.
        from typing_extensions import TypedDict
    except ImportError:
        from typing import TypedDict

__all__ = [
    "AccessOutcome",
    "AccessWorkflow",
    "AddedVersion",
    "AgentView",
    "AlikeView",
    "Available",
    "BundleOutcome",
    "Call",
    "Change",
    "ChangedFile",
    "ChangedFiles",
    "CheckedPrerequisite",
    "Collision",
    "Conflict",
    "Counts",
    "Defect",
    "DefectKind",
    "Diagnosis",
    "DifferentFile",
    "Digest",
    "DirectoryView",
    "DoctorOutcome",
    "Error",
    "ErrorKind",
    "Evidence",
    "FileChange",
    "FilePosition",
    "FileProblem",
    "FileStatus",
    "Form",
    "FoundIn",
    "FoundSkill",
    "Hint",
    "InstallChange",
    "InstallOutcome",
    "InstalledSkill",
    "KeptLogin",
    "Kind",
    "LackingView",
    "Line",
    "ListedSkill",
    "ListedState",
    "ListedVersion",
    "ListedView",
    "ListingView",
    "Location",
    "LocationAgent",
    "LoginOutcome",
    "LoginsOutcome",
    "LogoutOutcome",
    "MergedPath",
    "MirrorOutcome",
    "MirroredVersion",
    "NamedFailure",
    "NewLink",
    "NewVersion",
    "OfferedPlugin",
    "Option",
    "OutdatedSkill",
    "Owner",
    "PartData",
    "PathChange",
    "PathEffect",
    "PolicyDecision",
    "Prefer",
    "PrerequisiteKind",
    "Presence",
    "RegistryAddOutcome",
    "RegistryIndexOutcome",
    "RegistryInitOutcome",
    "RegistryListOutcome",
    "RegistrySkill",
    "RegistryVerifyOutcome",
    "RegistryYankOutcome",
    "RemoveOutcome",
    "Review",
    "Role",
    "Runs",
    "ScopeKind",
    "SearchOutcome",
    "SearchPlace",
    "Setting",
    "Severity",
    "SkillName",
    "SkillState",
    "SkillView",
    "SourceKind",
    "Status",
    "Step",
    "StepDisable",
    "StepEdit",
    "StepEnable",
    "StepLink",
    "StepPut",
    "StepRelink",
    "StepRemove",
    "StepUnlink",
    "TestOutcome",
    "TestedCase",
    "TestedFile",
    "Trial",
    "TrustOutcome",
    "TrustState",
    "Trusted",
    "TwiceView",
    "Unit",
    "UnlockedCode",
    "Unseen",
    "UpdateChange",
    "UpdateFailure",
    "UpdateOutcome",
    "UpdatedSkill",
    "Verdict",
    "VerifiedPlace",
    "VerifiedSkill",
    "VerifyOutcome",
    "Version",
    "Visibility",
    "Warning",
    "YankedVersion",
]


class AccessWorkflow(TypedDict):
    """A workflow of a repository."""

    environment: Optional[str]
    """The environment that a job must run in, if one is required."""
    issuer: str
    """The address of the CI system that states which job it is."""
    repository: str
    """The repository, as ``owner/name``."""
    repository_id: Optional[str]
    """The id of the repository at the CI system, if it is known."""
    workflow: str
    """The file of the workflow, such as ``publish.yml``."""


Visibility = Literal[
    # All who may read the registry.
    "public",
    # The owners, and those whom the operator lets read it. Only a server enforces that: a static
    # host serves each file to everyone.
    "private",
]
"""The visibility of a skill."""


class AccessOutcome(TypedDict):
    """The outcome."""

    changed: bool
    """Whether something was changed."""
    name: str
    """The skill."""
    owners: list[str]
    """The accounts that own it."""
    publishers: list[AccessWorkflow]
    """The workflows whose jobs may publish it."""
    registry: str
    """The address of the registry."""
    visibility: Visibility
    """The visibility: ``public`` is for all who may read the registry, ``private`` for its
    owners.
    """


Digest = str
"""A SHA-256 digest, written as ``sha256:`` and 64 lower-case hexadecimal digits."""


class AddedVersion(TypedDict):
    """A version that a registry has now."""

    already: bool
    """Whether the registry already had it."""
    artifact: Digest
    """The digest of the archive."""
    digest: Digest
    """The digest of the skill's files."""
    name: str
    """The name of the skill."""
    size: int
    """The number of bytes of the archive."""
    version: str
    """The version."""


ScopeKind = Literal[
    # The project around the working directory.
    "project",
    # The user, in every project.
    "user",
]
"""One of the two scopes."""

Role = Literal[
    # It holds the canonical copies.
    "canonical",
    # It belongs to the agent itself.
    "own",
    # Some tool considers it the agent's; whether the agent reads it depends on its version.
    "other",
    # It belongs to another agent, and this one reads it too.
    "shared",
]
"""The reason why an agent reads a directory."""

Form = Literal[
    # The canonical copy itself.
    "canonical",
    # A link to the canonical copy.
    "link",
    # A copy of an installed skill.
    "copy",
    # Something that skillpm did not put there.
    "foreign",
    # A broken link: the agent sees nothing.
    "broken",
]
"""The form of a skill in an agent's directory."""


class SkillView(TypedDict):
    """A skill in a directory of an agent."""

    form: Form
    """The form of the skill."""
    name: str
    """The name of its directory."""
    target: Optional[str]
    """The text of its link."""


class DirectoryView(TypedDict):
    """A directory that an agent reads."""

    exists: bool
    """Whether it exists."""
    path: str
    """The path, whether it exists or not."""
    problem: Optional[str]
    """Why it cannot be examined."""
    role: Role
    """Why the agent reads it."""
    scope: ScopeKind
    """The scope that it belongs to."""
    skills: list[SkillView]
    """The skills in it."""


class AlikeView(TypedDict):
    """Two skills whose descriptions are alike."""

    names: list[str]
    """Their names."""
    percent: int
    """The part of their words that they share, in percent."""


Evidence = Literal[
    # The agent's own program was run, and its listing compared.
    "measured",
    # Its source code was read.
    "source",
    # Its vendor documents it.
    "documented",
    # Only others describe it.
    "described",
]
"""What the rules of an agent rest on."""


class LackingView(TypedDict):
    """A number of skills: a range where it depends on what is unknown, such as how often each
    was used.
    """

    least: int
    """The least that it can be."""
    most: int
    """The most that it can be."""


Owner = Literal[
    # They come with the agent.
    "built-in",
    # Whoever administers the machine put them there.
    "managed",
    # They come with a plugin or extension.
    "plugin",
    # They belong to the user.
    "user",
    # They belong to the project.
    "project",
]
"""Whose skills a directory holds."""

ListedState = Literal[
    # Name and description.
    "whole",
    # The name, and the start of the description.
    "cut",
    # The name; and the whole description, unless it is among those for which there is no room.
    "uncertain",
    # Only the name.
    "name-only",
    # One of several files with this name is listed, and nobody can say which.
    "contested",
    # Nothing, for want of room.
    "omitted",
    # Nothing: only a person can start it, or nobody.
    "hidden",
    # Nothing: another skill has the same name.
    "shadowed",
    # Nothing: the file does not load.
    "not-loaded",
]
"""How much of a skill is listed."""


class ListedView(TypedDict):
    """A file in which an agent looks for a skill."""

    by: Optional[str]
    """The file of the agent's settings that says so."""
    characters: int
    """The characters of its description."""
    file: str
    """The file."""
    installed: Optional[ScopeKind]
    """The scope in which skillpm installed it, if it did."""
    kept: Optional[int]
    """How many characters of its description are listed, if not all."""
    lacks_room: bool
    """Whether there is no room for more of it."""
    name: str
    """What the agent calls the skill; for a file that does not load, the name of its directory."""
    others: list[str]
    """The files of the same name that win, or may win."""
    owner: Owner
    """Whose it is."""
    size: int
    """What it takes of the budget when it is whole, in units."""
    state: ListedState
    """How much of it is listed."""
    uses: Optional[int]
    """How often it was used, as the sessions of the agent record it; ``None`` if they were not
    read.
    """
    why: Optional[str]
    """Why no more of it is listed, in words."""


Unit = Literal[
    # Characters of the listing, as JavaScript counts them.
    "characters",
    # Tokens, of which each line takes a quarter of its bytes.
    "tokens",
    # Bytes of names and descriptions.
    "bytes",
]
"""What a budget counts."""


class ListingView(TypedDict):
    """What the model of an agent gets to see."""

    alike: list[AlikeView]
    """The pairs of listed skills whose descriptions share half of their words or more, the most
    alike first.
    """
    budget: Optional[int]
    """What the listing may hold, in units; ``None`` without a limit, or if it is unknown."""
    date: str
    """The day on which they were."""
    evidence: Evidence
    """What they rest on."""
    knows_budget: bool
    """Whether it is known if there is a limit."""
    lacking: LackingView
    """The number of skills whose whole descriptions do not fit."""
    missed: list[str]
    """The directories of the project that the agent would read if it were started in the root of
    the project.
    """
    notes: list[str]
    """What else is worth knowing, in words."""
    settings: list[str]
    """The settings that change the listing and are read."""
    skills: list[ListedView]
    """The skills: those that are listed in the order of the listing, then the others."""
    text: Optional[str]
    """The listing as the model gets it; ``None`` if its form is not known to the byte, or not
    what is in it.
    """
    uncounted: list[str]
    """What else decides and is not counted here, in words."""
    unit: Unit
    """What is counted."""
    unread: list[str]
    """The settings that change the listing and are not read here."""
    used: Optional[int]
    """What it holds, in units; ``None`` if that is unknown."""
    version: str
    """The version of the agent that the rules were taken from."""
    whole: Optional[int]
    """What it would hold if every description were whole, in units; ``None`` if that is unknown."""
    window: Optional[int]
    """The model's window in tokens, if the budget depends on it."""


class TwiceView(TypedDict):
    """A skill that an agent finds in several places."""

    name: str
    """The name."""
    places: list[str]
    """The places."""
    same: bool
    """Whether they all lead to one directory."""


class AgentView(TypedDict):
    """One agent."""

    chosen: list[ScopeKind]
    """The scopes whose manifests name it."""
    detected: bool
    """Whether it is on this machine, or set up in this project."""
    directories: list[DirectoryView]
    """The directories that it reads."""
    found_by: list[str]
    """The paths that prove this."""
    id: str
    """The id, for ``--agent`` and ``skillpm.toml``."""
    listing: Optional[ListingView]
    """What its model gets to see of all skills of both scopes; ``None`` if it is unknown how it
    lists skills, and of agents that are neither named nor used here.
    """
    name: str
    """The name for people."""
    sees: int
    """The number of skills that it sees, each name once."""
    twice: list[TwiceView]
    """The skills that it finds in several places."""
    universal: bool
    """Whether it reads the canonical copies, so that it gets no links."""


class Available(TypedDict):
    """A skill that a source holds."""

    description: str
    """What it does and when to use it."""
    name: str
    """The skill's own name, or that of its directory if it cannot be read."""
    path: str
    """The directory in the source; empty is its root."""
    problem: Optional[str]
    """Why it cannot be installed."""
    source: str
    """The full source."""


class BundleOutcome(TypedDict):
    """The outcome."""

    elsewhere: list[str]
    """Skills that others need and that the registry does not have: they come from elsewhere."""
    path: str
    """The file."""
    replaced: bool
    """Whether a file that was there was replaced."""
    size: int
    """The number of bytes of the file."""
    skills: int
    """The number of skills in it."""
    source: str
    """The registry, as typed."""
    versions: int
    """The number of their versions."""


class Option(TypedDict):
    """An option to pass."""

    name: str
    """The name, without hyphens."""
    value: Optional[str]
    """The value, or a placeholder such as ``NAME``; null for an option without one."""


class Call(TypedDict):
    """A verb to run, with its arguments.

    Nothing is quoted; addresses are without passwords and queries.
    """

    arguments: list[str]
    """The positional arguments, or placeholders such as ``NAME``."""
    options: list[Option]
    """The options, in the order in which they read best."""
    project: Optional[str]
    """The project to run it in, if it is not the current one."""
    scope: Optional[ScopeKind]
    """The scope to run it in, if it matters."""
    verb: str
    """The verb."""


Kind = Literal[
    # Invisible characters, or characters that reverse the direction of text.
    "hidden-characters",
    # A comment that addresses the agent.
    "comment-instruction",
    # A line far to the right of the others, or far below them.
    "out-of-sight",
    # A line of `hooks` in the frontmatter: agents run the commands it names without asking.
    "hook",
    # A command that runs before the agent reads the text: `` !`command` ``.
    "dynamic-command",
    # A command that runs downloaded or decoded code unseen, such as `curl … | sh`.
    "download-exec",
    # An entry of `allowed-tools`.
    "tool",
    # A limit that the previous version had set itself, and that this one has not: `allowed-tools`,
    # or `disable-model-invocation`.
    "limit-removed",
    # A skill that it needs.
    "dependency",
    # A file that agents treat as their own settings or instructions, such as `.mcp.json`.
    "agent-settings",
    # A script: in `scripts/`, executable, or recognized by its first line or its extension.
    "script",
    # The executable bit on a file that already existed.
    "executable",
    # A file that is not text.
    "binary",
    # A command in a code block or in inline code, or a program that a shell script calls.
    "command",
    # An address on another machine.
    "url",
    # A link to a place outside the skill's directory.
    "link-outside",
    # An XML tag in the description, which agents get inside XML.
    "description-markup",
    # A text that is too long to be read to the end.
    "unread",
]
"""The kinds of reported additions, the most serious first.

Their names are the identifiers in JSON.
"""


class Change(TypedDict):
    """One addition."""

    kind: Kind
    """The kind of addition."""
    line: Optional[int]
    """The line, from 1; ``None`` means the whole file."""
    new_capability: bool
    """Whether the previous version had nothing of this kind: not this host, not this command.

    If so, the skill may now do something that it could not do before.
    """
    path: str
    """The file."""
    text: str
    """The added text, safe to display and on one line."""


FileStatus = Literal[
    # It was added.
    "added",
    # It was removed.
    "removed",
    # It was changed.
    "changed",
]
"""The status of a file."""


class ChangedFile(TypedDict):
    """A file that differs between two versions."""

    path: str
    """Where it is below the skill's directory."""
    status: FileStatus
    """The change."""


class ChangedFiles(TypedDict):
    """Which of the two files of a scope change."""

    lockfile: bool
    """``skillpm.lock``."""
    manifest: bool
    """``skillpm.toml``."""


PrerequisiteKind = Literal[
    # A program that is found in `PATH`.
    "program",
    # An environment variable.
    "variable",
    # An operating system, by any name that agents use.
    "system",
    # A Python package by its name on an index, such as `pyyaml`.
    "python-package",
    # A Python module by the name that scripts import, such as `yaml`.
    "python-module",
    # A package of Node.js.
    "node-package",
    # An MCP server.
    "mcp-server",
    # A setting of an agent.
    "setting",
    # A file outside of the skill.
    "file",
    # Free text, which nothing judges.
    "text",
]
"""The kind of a prerequisite."""

Presence = Literal[
    # It is there, in whatever version.
    "present",
    # It is not there.
    "missing",
    # Nothing looked, or nothing can tell.
    "unknown",
]
"""Whether this machine has what a skill requires."""


class CheckedPrerequisite(TypedDict):
    """A prerequisite that was looked for."""

    any_of: list[str]
    """The names, or the text.

    Of several names, one is enough.
    """
    column: int
    """The column, in characters."""
    file: str
    """The file that states it, below the skill's directory."""
    key: str
    """The key that states it, ``#!`` or ``import``."""
    kind: PrerequisiteKind
    """The kind."""
    line: int
    """The line."""
    optional: bool
    """Whether the skill works without it, as far as is known: an import in ``try``, a package
    for some systems.
    """
    state: Presence
    """Whether this machine has it."""
    version: Optional[str]
    """The versions that are required, as written.

    Nothing compares them.
    """


class Collision(TypedDict):
    """A skill that wins requests for another one."""

    requests: int
    """The number of these requests."""
    skill: str
    """The skill that the requests are for."""
    winner: str
    """The skill that ranks first."""


Conflict = Literal[
    # Both changed the same lines: the file has conflict markers.
    "lines",
    # Both changed it and it is not text, or too long: the file of the new version is there.
    "binary",
    # The user deleted it and the new version changed it: the file of the new version is there.
    "deleted-here",
    # The new version deleted it and the user changed it: the user's file is there.
    "deleted-there",
    # The new version has a directory where the user has a file, or a file where the user has a
    # directory, or a name that is the same on some file systems: the file of the new version is
    # there.
    "name",
]
"""The reason why the user has to look at a path.

The names are the identifiers in JSON.
"""


class Counts(TypedDict):
    """The number of changes."""

    added: int
    """Added files."""
    added_lines: int
    """Added lines, in the files that are compared line by line."""
    changed: int
    """Changed files."""
    removed: int
    """Removed files."""
    removed_lines: int
    """Removed lines."""


DefectKind = Literal[
    # A record or event cannot be used.
    "damaged",
    # The record of a version that was published is missing.
    "record-missing",
    # The archive of a version is missing.
    "artifact-missing",
    # The archive of a version does not have the recorded size or digest.
    "artifact-differs",
    # The contents of the archive differ from the record.
    "content-differs",
    # A derived file is not what the records and events make.
    "outdated",
]
"""The kind of a defect."""


class Defect(TypedDict):
    """Something wrong with a registry."""

    kind: DefectKind
    """The kind."""
    message: str
    """The same for people."""
    path: str
    """The file, below the registry."""


Severity = Literal[
    # Worth knowing; nothing is wrong.
    "note",
    # It works, but not as it should.
    "warning",
    # Something does not work.
    "error",
]
"""The severity of a problem."""


class Diagnosis(TypedDict):
    """Something that is wrong, or worth knowing."""

    advice: Optional[str]
    """The advice to a person."""
    agent: Optional[str]
    """The agent that it is about."""
    failure: Optional[str]
    """Why it could not be."""
    fix: Optional[str]
    """The repair that ``--fix`` makes."""
    fixed: bool
    """Whether it was repaired."""
    id: str
    """The code: ``link-missing``."""
    lacks: list[CheckedPrerequisite]
    """What the skill requires and this machine lacks."""
    message: str
    """The problem."""
    path: str
    """Where it is."""
    scope: Optional[ScopeKind]
    """Where; ``None`` for the store and the downloads."""
    severity: Severity
    """How bad it is."""
    skill: Optional[str]
    """The skill that it is about."""


FileChange = Literal[
    # It has other bytes, or is not a regular file.
    "changed",
    # It is locked but missing.
    "missing",
    # It is there and not locked.
    "extra",
    # The executable bit differs.
    "mode",
]
"""The way in which a file differs from the locked one."""


class DifferentFile(TypedDict):
    """A file that differs."""

    change: FileChange
    """The difference."""
    path: str
    """The path below the skill's directory."""


class DoctorOutcome(TypedDict):
    """The findings."""

    dry_run: bool
    """Whether nothing was repaired because it was only to be shown."""
    findings: list[Diagnosis]
    """The findings: project, user, then the store and the downloads."""


class Setting(TypedDict):
    """A key to set to a text."""

    key: str
    """The key."""
    value: str
    """The text."""


class PartData(TypedDict, total=False):
    """A ``Part`` as data, for programs that word messages themselves."""

    text: str
    """Prose."""
    run: Call
    """A verb to run."""
    option: Option
    """An option to pass."""
    setting: Setting
    """A key to set to a text, in a manifest or a policy."""


class Hint(TypedDict):
    """A hint of an error."""

    parts: list[PartData]
    """The same as data: prose, verbs to run, options to pass, settings."""
    text: str
    """The hint in the words of the front end."""


ErrorKind = Literal[
    # A check found something.
    "findings",
    # The request itself makes no sense, or names something that is not there.
    "usage",
    # A settings file, manifest or lockfile is wrong.
    "config",
    # The network, a server or a login.
    "network",
    # Bytes that are not the ones that were promised, or that no skill may have.
    "integrity",
    # The file system.
    "io",
]
"""The kind of failure.

The numbers are the program's exit codes, which scripts rely on.
"""


class FilePosition(TypedDict):
    """A position in a file."""

    column: int
    """The column, from 1, in characters."""
    file: str
    """The path of the file, for display."""
    line: int
    """The line, from 1."""


class Error(TypedDict):
    """A failure, for programs."""

    causes: list[str]
    """Why, the nearest cause first, without those that the message states.

    One of several failures states all.
    """
    code: str
    """The name of the error if it has one of its own, else that of its kind.

    Codes do not change.
    """
    exit_code: int
    """The exit code of the program for this kind."""
    hints: list[Hint]
    """The hints."""
    kind: ErrorKind
    """The kind of failure."""
    message: str
    """The message, in the words of the front end."""
    parts: list[PartData]
    """The message as data: prose, verbs to run, options to pass, settings."""
    places: list[FilePosition]
    """The positions in files that it is about."""


class FileProblem(TypedDict):
    """Why a file of requests cannot be read."""

    column: int
    """The column, from 1, in characters."""
    hint: Optional[str]
    """What to do."""
    line: int
    """The line, from 1."""
    message: str
    """What is wrong there."""


FoundIn = Literal[
    # `skills-lock.json`.
    "skills-lock",
    # `.skill-lock.json` of the user.
    "global-lock",
    # The frontmatter of the copy, which `gh skill` wrote.
    "gh-skill",
    # None: a directory with a `SKILL.md`.
    "directory",
    # None: a directory with a `SKILL.md` that no agent can load.
    "unreadable",
]
"""The origin of the report about a skill."""

SearchPlace = Literal[
    # A registry.
    "registry",
    # The project or the user has it.
    "installed",
    # The public site skills.sh.
    "skills.sh",
]
"""The kind of place in which a skill was found."""

SourceKind = Literal[
    # The project.
    "project",
    # The user.
    "user",
    # A directory that a caller named.
    "extra",
    # The program itself.
    "bundled",
]
"""The owner of a source."""


class FoundSkill(TypedDict):
    """A skill in one place.

    Another place may have a skill of the same name.
    """

    also_in: list[str]
    """The other registries that have a skill of this name."""
    description: str
    """What it does and when to use it.

    Empty for a skill of skills.sh, which has no descriptions.
    """
    found_in: SearchPlace
    """The kind of place."""
    installed: bool
    """Whether a skill of this name is available here."""
    installs: Optional[int]
    """How often a skill of skills.sh was installed, as that site counts."""
    name: str
    """The name."""
    registry: Optional[str]
    """The name of its registry."""
    scope: Optional[SourceKind]
    """The scope of a skill that is available here."""
    source: Optional[str]
    """The source to install it from, as typed; ``None`` for a skill that is available here."""
    tags: list[str]
    """The tags."""
    version: Optional[str]
    """The newest version, or the one that is installed, if it is known."""


InstallChange = Literal[
    # It was added.
    "added",
    # It replaced another version.
    "updated",
    # It is the version of before, and took the place of other files.
    "replaced",
    # It was already installed.
    "unchanged",
    # It is no longer requested.
    "removed",
    # It was edited, and left as it is.
    "kept",
    # Agents no longer see it.
    "disabled",
    # Agents see it again.
    "enabled",
]
"""The change of a skill."""


class Line(TypedDict):
    """A line that decided."""

    column: int
    """The column, from 1, in characters."""
    file: str
    """The file, as displayed."""
    line: int
    """The line number, from 1."""
    text: str
    """The key and its value: ``deny = "github:acme/*"``."""


class PolicyDecision(TypedDict):
    """The decision about a source or a skill."""

    admitted: bool
    """Whether this line admits the skill."""
    line: Line
    """The line that decides; the first line of an allow list if no entry matches the source."""
    reason: str
    """The reason, as half a sentence: ``is allowed``, ``was released only 2 days ago``."""
    subject: str
    """The source or the skill."""


class NamedFailure(TypedDict):
    """One of several skills, with the reason why it was not done."""

    code: str
    """The code, which never changes."""
    exit_code: int
    """The exit code of the program for this kind."""
    hints: list[str]
    """The hints."""
    kind: ErrorKind
    """The kind of failure."""
    message: str
    """The message."""
    name: str
    """The name, or the directory if several have the same name."""
    places: list[FilePosition]
    """The positions in files that it is about."""


SkillName = str
"""A skill's name that is valid by the specification.

1 to 64 characters after NFKC; lower-case letters, digits and hyphens; no hyphen at an edge and
no two in a row. Letters and digits are those of Unicode, as in the reference validator, so
``技能`` is a name; letters that need a combining mark are not. A value of this type is safe as
the name of one directory: it has no separator, no dot and no control character.
"""


class LocationAgent(TypedDict):
    """The directory of the agent with this id."""

    agent: str


Location = Union[Literal["canonical", "disabled"], LocationAgent]
"""The place of a copy or link: the canonical directory, the directory of disabled skills, or
an agent's own directory.
"""


class NewLink(TypedDict):
    """A link to make."""

    name: SkillName
    """The skill."""
    place: Location
    """The place of the link."""


PathEffect = Literal[
    # Nothing was there.
    "created",
    # Something else is there afterwards.
    "replaced",
    # Nothing is there afterwards.
    "deleted",
]
"""The change of a path."""


class PathChange(TypedDict):
    """A path and what happens to it."""

    change: PathEffect
    """The change."""
    path: str
    """The path.

    For a directory it stands for everything in it.
    """


class Review(TypedDict):
    """The additions in a version."""

    changes: list[Change]
    """The additions: by kind, new capabilities first, then by position."""
    omitted: int
    """The number of further changes of kinds with more than ``MAX_OF_A_KIND``."""
    omitted_capabilities: int
    """The number of new capabilities among those."""


_NewVersion = TypedDict("_NewVersion", {"from": str})


class NewVersion(_NewVersion):
    """A version of a skill in the place of another."""

    name: str
    """The name under which it is installed."""
    refused: bool
    """Whether it has new capabilities without consent."""
    review: Review
    """The changes from the version before."""
    to: str
    """The digest."""


class InstalledSkill(TypedDict):
    """A requested skill."""

    change: InstallChange
    """The change."""
    digest: Optional[str]
    """The digest; ``None`` for an editable skill."""
    disabled: bool
    """Whether it is currently hidden from agents."""
    editable: bool
    """Whether it is a link to a directory in which it is written."""
    name: str
    """The name under which it is installed."""
    needed_by: list[str]
    """The skills that need it, if it is not requested."""
    path: Optional[str]
    """The directory in the source."""
    revision: Optional[str]
    """The commit."""
    source: str
    """The source."""
    version: Optional[str]
    """The version as the skill states it."""


class StepPut(TypedDict):
    """Puts a tree in a place, and exchanges it for an existing one."""

    digest: Digest
    """The digest of the new tree."""
    name: SkillName
    """The skill."""
    place: Location
    """The place."""
    replaces: Optional[Digest]
    """The digest of the existing tree."""


class StepRemove(TypedDict):
    """Removes a tree."""

    name: SkillName
    """The skill."""
    old: Digest
    """The digest of the existing tree."""
    place: Location
    """The place."""


class StepLink(TypedDict):
    """Makes a link to the canonical copy in an agent's directory, replacing another link there."""

    agent: str
    """The agent."""
    name: SkillName
    """The skill."""


class StepUnlink(TypedDict):
    """Removes a link."""

    name: SkillName
    """The skill."""
    place: Location
    """The place."""


class StepDisable(TypedDict):
    """Hides the canonical copy, including edits, from agents."""

    digest: Optional[Digest]
    """The digest of what is there; ``None`` for content that no skill may have, which is moved
    anyway.
    """
    name: SkillName
    """The skill."""


class StepEnable(TypedDict):
    """Moves a disabled skill back."""

    digest: Optional[Digest]
    """The digest of what is there; ``None`` for content that no skill may have, which is moved
    anyway.
    """
    name: SkillName
    """The skill."""


class StepEdit(TypedDict):
    """Makes a link at the canonical place to the directory that the manifest names, replacing
    another link there.
    """

    name: SkillName
    """The skill."""


class StepRelink(TypedDict):
    """Restores a link that an earlier transaction set aside, wherever it leads, and sets aside
    another link there.

    Only ``undo`` does this: a stranger's journal cannot.
    """

    name: SkillName
    """The skill."""
    place: Location
    """The place."""
    says: Digest
    """The digest of the link's text."""


class Step(TypedDict, total=False):
    """One change.

    Steps hold names, never paths: a stranger's journal can only name places that the program would
    write to anyway.
    """

    put: StepPut
    """Puts a tree in a place, and exchanges it for an existing one."""
    remove: StepRemove
    """Removes a tree."""
    link: StepLink
    """Makes a link to the canonical copy in an agent's directory, replacing another link there."""
    unlink: StepUnlink
    """Removes a link."""
    disable: StepDisable
    """Hides the canonical copy, including edits, from agents."""
    enable: StepEnable
    """Moves a disabled skill back."""
    edit: StepEdit
    """Makes a link at the canonical place to the directory that the manifest names, replacing
    another link there.
    """
    relink: StepRelink
    """Restores a link that an earlier transaction set aside, wherever it leads, and sets aside
    another link there.

    Only ``undo`` does this: a stranger's journal cannot.
    """


class Unseen(TypedDict):
    """An agent on this machine that does not see some installed skills."""

    agent: str
    """The agent's id."""
    skills: list[str]
    """The names of the skills that it does not see."""


class Warning(TypedDict):
    """Something that the user should know although the verb continued."""

    code: str
    """The kind of warning, for programs.

    Codes do not change.
    """
    hints: list[str]
    """The hints, one line each."""
    message: str
    """The problem."""


class InstallOutcome(TypedDict):
    """The outcome of an installation."""

    agents: list[str]
    """The ids of the agents that have links or copies of their own."""
    decided: list[PolicyDecision]
    """The policy lines that decided about the sources."""
    dry_run: bool
    """Whether this was a dry run."""
    files_changed: ChangedFiles
    """Which files changed or would change."""
    left_in_conflict: list[str]
    """Skills in which an update left conflicts, and that are left as they are."""
    left_modified: list[str]
    """Skills that were edited and left as they are: the outcome is not what was requested."""
    left_out: list[NamedFailure]
    """The requested skills that could not be installed; the warnings say why."""
    left_unreadable: list[str]
    """Skills that cannot be read and are left as they are; the warnings say why."""
    links: list[NewLink]
    """The links that were or would be made."""
    paths: list[PathChange]
    """The paths that were or would be changed."""
    refused: list[str]
    """In a dry run: the skills with new capabilities without consent."""
    reviewed: list[NewVersion]
    """The changes in the versions that took the place of others."""
    scope: Optional[ScopeKind]
    """The scope of the skills."""
    seen_by: list[str]
    """The ids of the agents, of this machine or named by the manifest, that see all of these
    skills.
    """
    skills: list[InstalledSkill]
    """The requested skills, sorted by name."""
    steps: list[Step]
    """The steps that were or would be taken, in order."""
    unseen: list[Unseen]
    """The agents of this machine that do not see all skills of the scope."""
    warnings: list[Warning]
    """Warnings for the user."""


class KeptLogin(TypedDict):
    """An origin whose token is kept."""

    origin: str
    """The origin."""
    registries: list[str]
    """The names of the configured registries there."""


SkillState = Literal[
    # Every byte is as locked.
    "ok",
    # The bytes, files or modes differ, or an editable skill is not linked.
    "modified",
    # The line endings differ, and nothing else, for example because git wrote it with those of
    # Windows.
    "line-ends",
    # An update left unresolved conflicts in it. Agents may see it or not.
    "conflict",
    # It should exist but does not.
    "missing",
    # A link leads to something else, or something else is in its place.
    "elsewhere",
    # It cannot be read, so nothing is known about its content.
    "unreadable",
    # It exists, and the manifest requests it or skillpm put it there for one that it requests; the
    # lockfile that named it is missing, or does not yet.
    "unlocked",
    # It exists, and no file names it.
    "untracked",
    # It exists, and agents do not see it.
    "disabled",
    # It is a link to a directory in which it is written, which is not locked.
    "editable",
    # It is in the directory of an agent, and skillpm did not put it there.
    "foreign",
]
"""The state of a skill, or of one of its places, compared with the lockfile."""


class ListedSkill(TypedDict):
    """One skill."""

    agents: list[str]
    """The ids of the agents that have a link or a copy of their own."""
    alias_of: Optional[str]
    """The skill's own name, where it is installed under another one."""
    dependencies: list[str]
    """The names of the skills that it needs, as they are locked."""
    digest: Optional[str]
    """The locked digest."""
    disabled: bool
    """Whether it is currently hidden from agents."""
    editable: bool
    """Whether it is a link to a directory in which it is written."""
    edited_copies: list[str]
    """Those of them whose copy was edited: it is neither what is locked nor what is in the
    project or home.
    """
    found_in: Optional[FoundIn]
    """Where it was found, if skillpm did not install it."""
    location: str
    """The directory in which it is."""
    modified: bool
    """Whether its bytes are not those that are locked, wherever it is."""
    name: str
    """The name under which it is installed."""
    outer: Optional[str]
    """The directory of the project around this one that it is of, as it is named in the working
    directory; ``None`` for the project itself and for the user.
    """
    path: Optional[str]
    """The directory in the source."""
    requested: Optional[str]
    """The revision that was asked for; ``None`` is the default branch of a source that has
    branches.
    """
    revision: Optional[str]
    """The commit."""
    scope: ScopeKind
    """Where it is installed."""
    seen_by: list[str]
    """The ids of the agents, of this machine or chosen here, that see it."""
    source: Optional[str]
    """Where it came from; ``None`` for a skill that is not in the lockfile."""
    source_type: Optional[str]
    """The kind of source: ``github``, ``git``, ``url``, ``site``, ``path``, or that of a
    package.
    """
    source_url: Optional[str]
    """The address of the source, where it has one."""
    state: SkillState
    """How what is there compares with what is locked."""
    version: Optional[str]
    """The version as the skill writes it."""


class ListedVersion(TypedDict):
    """A version of a skill."""

    artifact: Digest
    """The digest of the archive."""
    dependencies: list[str]
    """The declared dependencies."""
    digest: Digest
    """The digest of the skill's files."""
    published: str
    """When it was published, in the format of RFC 3339."""
    size: int
    """The number of bytes of the archive."""
    version: str
    """The version."""
    yanked: Optional[str]
    """If it is yanked: the reason, which may be empty."""


class LoginOutcome(TypedDict):
    """The outcome: a token is kept."""

    file: str
    """The file that has it."""
    origin: str
    """The origin that the token is sent to, and no other."""
    replaced: bool
    """Whether it takes the place of another token."""


class LoginsOutcome(TypedDict):
    """The outcome: the origins whose tokens are kept."""

    file: str
    """The file that has the tokens."""
    logins: list[KeptLogin]
    """The origins."""


class LogoutOutcome(TypedDict):
    """The outcome: a token is gone."""

    file: str
    """The file that had its token."""
    origin: str
    """The origin."""
    removed: bool
    """Whether there was a token."""


Prefer = Literal[
    # The user's side.
    "ours",
    # The new version.
    "theirs",
]
"""The side whose file is taken if both sides conflict.

The names are the identifiers in JSON.
"""


class MergedPath(TypedDict):
    """The result for a file that the user had changed."""

    conflict: Optional[Conflict]
    """Why it cannot be merged, where it cannot."""
    kept: Optional[str]
    """Where the user's file is kept as it was."""
    path: str
    """Where it is below the skill's directory."""
    result: str
    """``ours``, ``theirs``, ``same``, ``merged``, ``conflict``, or ``decided`` where a side was
    asked for.
    """
    side: Optional[Prefer]
    """The side whose file is there, where a side was asked for."""


class MirroredVersion(TypedDict):
    """A version that is new in a mirror."""

    name: str
    """The name of the skill."""
    size: int
    """The number of bytes of the archive."""
    version: str
    """The version."""


class YankedVersion(TypedDict):
    """The change of a version."""

    changed: bool
    """Whether that is new."""
    name: str
    """The name of the skill."""
    version: str
    """The version."""
    yanked: Optional[str]
    """If it is yanked now: the reason, which may be empty."""


class MirrorOutcome(TypedDict):
    """The outcome."""

    added: list[MirroredVersion]
    """The versions that are new in the mirror, sorted."""
    elsewhere: list[str]
    """Skills that others need and that the registry does not have: they come from elsewhere."""
    failures: list[NamedFailure]
    """The skills that are not as the registry says.

    Nothing new of them is in the mirror.
    """
    fetched: int
    """The number of archives that were fetched."""
    fetched_bytes: int
    """The number of bytes of these archives."""
    registry: str
    """The directory of the mirror."""
    removed: list[str]
    """The files that were not a registry's and in its way, and were removed."""
    replaced: list[str]
    """The files that were not a registry's and were replaced when the mirror was made, below its
    directory.
    """
    skills: int
    """The number of skills that were asked for."""
    source: str
    """The registry that was mirrored, as typed."""
    versions: int
    """The number of their versions."""
    yanked: list[YankedVersion]
    """The versions that were yanked, or no longer are."""


class OfferedPlugin(TypedDict):
    """A plugin of a marketplace."""

    description: str
    """The purpose of the plugin."""
    name: str
    """The name."""
    problem: Optional[str]
    """Why it cannot be installed."""
    skills: Optional[list[str]]
    """The directories of its skills; ``None`` if only fetching it would tell."""
    source: Optional[str]
    """The full source; ``None`` if skillpm cannot fetch it."""
    version: Optional[str]
    """The version according to the marketplace."""


Status = Literal[
    # They are the same.
    "current",
    # They differ.
    "changed",
    # They no longer exist where the skill was.
    "gone",
    # They no longer exist where the skill was, but its source has a skill of its name elsewhere.
    "moved",
    # The source no longer has this branch, tag or commit.
    "ref-gone",
    # Only a download would show this.
    "unknown",
    # The source could not be queried.
    "failed",
    # The machine is offline, and nothing is cached.
    "not-asked",
    # A policy refuses the source.
    "refused",
    # It is a link to a directory in which it is written.
    "editable",
    # It is locked from another place than the one in the manifest.
    "locked-otherwise",
    # It is in the manifest and not installed yet.
    "not-installed",
    # Neither the manifest nor another skill requests it any more.
    "no-longer-asked",
]
"""How the files of a skill in its source compare with the locked ones."""


class OutdatedSkill(TypedDict):
    """One skill."""

    disabled: bool
    """Whether it is hidden from agents."""
    held_back: Optional[str]
    """Why a policy does not admit the newest files yet, with its line; of a registry, also from
    which day on it admits that version.

    ``None`` if it admits them, and if only a fetch would tell.
    """
    latest: Optional[str]
    """The highest tag past the pin or the range, the newest commit past a pinned one, or the
    highest version in the registry that is old enough.
    """
    locked: Optional[str]
    """The locked revision: a commit, a digest of a site, the version of a package."""
    modified: bool
    """Whether the installed skill was edited."""
    moved_to: Optional[str]
    """The new directory in its source, if it has moved."""
    name: str
    """The name under which it is installed."""
    newest: Optional[str]
    """The current revision of what is requested."""
    path: Optional[str]
    """The directory in the source."""
    requested: Optional[str]
    """The requested revision, in git's form; ``None`` is the default branch."""
    scope: ScopeKind
    """The scope in which it is installed."""
    source: str
    """The source."""
    status: Status
    """How the skill's files compare with the locked ones."""
    tag_moved: bool
    """Whether the requested tag led to another revision when the skill was locked."""
    yanked: bool
    """Whether the locked version was withdrawn from its registry."""


class RegistryAddOutcome(TypedDict):
    """The outcome."""

    added: list[AddedVersion]
    """The versions, in the order of the request."""
    dry_run: bool
    """Whether nothing was written because it was only to be shown."""
    registry: str
    """The directory of the registry."""


class RegistryIndexOutcome(TypedDict):
    """The outcome."""

    dry_run: bool
    """Whether nothing was written because it was only to be shown."""
    left_out: list[NamedFailure]
    """The skills that are damaged: what was derived of them before stays as it is."""
    registry: str
    """The directory of the registry."""
    removed: list[str]
    """The files that were removed."""
    skills: int
    """The number of skills."""
    versions: int
    """The number of their versions."""
    written: list[str]
    """The files that were written, below the registry."""


class RegistryInitOutcome(TypedDict):
    """The outcome."""

    dry_run: bool
    """Whether nothing was written because it was only to be shown."""
    name: str
    """The name of the registry."""
    registry: str
    """The directory."""
    removed: list[str]
    """The files that were not the registry's and in its way, and were removed."""
    replaced: list[str]
    """The files that were not the registry's and were replaced, below the directory."""


class RegistrySkill(TypedDict):
    """A skill of a registry."""

    description: str
    """The description of the newest version."""
    name: str
    """The name."""
    newest: Optional[str]
    """The version that describes it; ``None`` if all are yanked."""
    versions: list[ListedVersion]
    """The versions, ascending.

    Of a server, they are only listed if the skill was named.
    """


class RegistryListOutcome(TypedDict):
    """The outcome."""

    name: str
    """The name of the registry."""
    registry: str
    """The directory or the address of the registry."""
    skills: list[RegistrySkill]
    """The skills, sorted by name."""


class RegistryVerifyOutcome(TypedDict):
    """The outcome."""

    bytes: int
    """The number of bytes of their archives."""
    defects: list[Defect]
    """The defects, sorted by path."""
    pending: list[str]
    """Skills that a writer was at work on when it was killed."""
    registry: str
    """The directory of the registry."""
    skills: int
    """The number of skills."""
    strays: list[str]
    """Files that belong to nothing and harm nothing, sorted."""
    versions: int
    """The number of their versions."""


class RegistryYankOutcome(TypedDict):
    """The outcome."""

    dry_run: bool
    """Whether nothing was written because it was only to be shown."""
    registry: str
    """The directory or the address of the registry."""
    versions: list[YankedVersion]
    """The versions, in the order of the request."""


class RemoveOutcome(TypedDict):
    """The outcome of a removal."""

    dry_run: bool
    """Whether this was a dry run."""
    files_changed: ChangedFiles
    """Which of manifest and lockfile changed or would change."""
    kept: list[str]
    """Messages about copies that were saved, about what stays in place for another scope, and
    about what skillpm did not make, a sentence each.
    """
    paths: list[PathChange]
    """The paths that were or would be changed."""
    removed: list[str]
    """The names."""
    skills_lock: list[str]
    """The entries that left the project's ``skills-lock.json``, or would leave it: from there
    the npm tool would bring the skills back.
    """
    undoable: bool
    """Whether ``undo`` restores them."""
    unneeded: list[str]
    """The dependencies that were removed as well: no other skill needs them."""


class Runs(TypedDict):
    """Some runs of an agent."""

    count: int
    """How many there were."""
    dollars: Optional[float]
    """What they cost in US dollars, as far as they tell."""
    failed: int
    """How many failed, or took too long."""
    others: dict[str, Any]
    """The other skills that were used, and how often."""
    problem: Optional[str]
    """What the first one that failed said."""
    seconds: float
    """How long they took, in seconds."""
    silent: int
    """How many did not tell which skills they used."""
    tokens: Optional[int]
    """The tokens that went in and out, as far as they tell."""
    used: int
    """How many used the skill."""


class SearchOutcome(TypedDict):
    """The outcome of a search."""

    skills: list[FoundSkill]
    """The best matches, best first."""
    suggestions: list[str]
    """Similar names, if nothing matches."""
    total: int
    """The number of all matches."""


_Trial = TypedDict("_Trial", {"with": Runs})


class Trial(_Trial):
    """What an agent did with a request."""

    without: Runs
    """The runs without it."""


Verdict = Literal[
    # The skill is where it should be.
    "passed",
    # The model does not see the skill.
    "invisible",
    # Other skills rank before the right one.
    "ranks-low",
    # The skill ranks first for a request that is not meant for it.
    "collides",
    # The agent did not use the right skill, or used the wrong one.
    "failed",
    # There is no other skill that could win.
    "undecided",
]
"""What came out of a request."""


class TestedCase(TypedDict):
    """A request, and how the skill ranks for it."""

    before: list[str]
    """The skills that rank before it, the first of them."""
    column: int
    """The column, from 1, in characters."""
    id: str
    """What the file calls it, or its number in the file."""
    line: int
    """The line, from 1."""
    query: str
    """What a person asks for."""
    rank: Optional[int]
    """The place of the skill among all, from 1; ``None`` if no word of the request is in its
    texts, or if it is invisible.
    """
    should_trigger: bool
    """Whether the skill is the right one for it."""
    skill: str
    """The skill that it is about."""
    trial: Optional[Trial]
    """What an agent did with the request, if it was asked."""
    verdict: Verdict
    """What came out."""
    why: Optional[str]
    """Why the skill is invisible."""


class TestedFile(TypedDict):
    """A file with requests."""

    cases: list[TestedCase]
    """The requests, in the order of the file."""
    file: str
    """The file, as it is to be shown."""
    problem: Optional[FileProblem]
    """Why it cannot be read."""
    skill: str
    """The skill that it belongs to."""
    unread: int
    """The number of entries without a request."""


class TestOutcome(TypedDict):
    """What a test found."""

    agent: Optional[str]
    """The agent whose listing was ranked; ``None`` where names and descriptions of the tested
    skills were.
    """
    collisions: list[Collision]
    """The pairs of skills of which one wins requests for the other, the most frequent first."""
    files: list[TestedFile]
    """The files with requests."""
    listed: int
    """The number of skills that a model sees, among which each request was ranked."""
    top: int
    """A skill passes that is among this many."""
    unchanged: int
    """The number of skills that were found and not tested, because nothing in them changed."""
    without: list[str]
    """The tested skills without a request, by name."""


TrustState = Literal[
    # It is valid.
    "trusted",
    # The directory is gone, or another one has replaced it.
    "replaced",
    # Other users control its content.
    "exposed",
]
"""Whether the trust in a directory is valid."""


class Trusted(TypedDict):
    """One directory."""

    path: str
    """The path, with all links resolved."""
    reason: Optional[str]
    """The reason, if it is not."""
    since: str
    """The time when it was trusted."""
    state: TrustState
    """Whether the trust is still valid."""


class TrustOutcome(TypedDict):
    """The directories that are now trusted."""

    changed: list[str]
    """The paths that this command added or removed."""
    directories: list[Trusted]
    """All directories, sorted by path."""
    warnings: list[Warning]
    """Warnings for the user."""


class UnlockedCode(TypedDict):
    """Code that is not part of a skill, in its directory: no digest covers it, and a script may
    run it.
    """

    path: str
    """The path below the skill's directory, of a file or of a directory with everything in it."""
    shadows: Optional[str]
    """The script of the skill that it runs in place of."""


UpdateChange = Literal[
    # The new version took its place.
    "updated",
    # The new version took its place, and what the user changed is in it.
    "merged",
    # The new version took its place, and the user's changes need a review.
    "conflict",
    # It was not there: another one needs it now.
    "added",
    # It was removed: an unrequested skill that no other skill needs any more.
    "removed",
    # The source has nothing newer.
    "unchanged",
    # The manifest names a commit.
    "pinned",
    # It is a link to a directory in which it is written.
    "editable",
    # It is in the manifest and not installed.
    "missing",
    # An earlier merge has to be examined first.
    "unresolved",
    # An earlier merge was decided for one side.
    "resolved",
    # An earlier merge was taken back.
    "aborted",
    # It could not be asked for or used: the failures say why.
    "failed",
]
"""The change of a skill."""


class UpdateFailure(TypedDict):
    """Something that could not be asked or used; its skills stay as they are."""

    code: str
    """The code, which never changes."""
    exit_code: int
    """The exit code of the program for this kind."""
    hints: list[str]
    """The hints."""
    kind: ErrorKind
    """The kind of failure."""
    message: str
    """The message."""
    names: list[str]
    """The skills."""
    places: list[FilePosition]
    """The positions in files that it is about."""


class Version(TypedDict):
    """One version of a skill."""

    digest: str
    """The digest."""
    requested: Optional[str]
    """The revision that is asked for; ``None`` is the default branch."""
    revision: Optional[str]
    """The commit."""
    version: Optional[str]
    """The version as the skill writes it."""


_UpdatedSkill = TypedDict("_UpdatedSkill", {"from": Optional[Version]})


class UpdatedSkill(_UpdatedSkill):
    """A skill that was examined."""

    change: UpdateChange
    """The change."""
    counts: Optional[Counts]
    """The amount of change between the two versions."""
    disabled: bool
    """Whether it is currently hidden from agents."""
    files: list[ChangedFile]
    """The files that differ between the two versions."""
    held_back: Optional[str]
    """Why a policy does not admit the newest files yet."""
    merge: list[MergedPath]
    """The result for the files that the user had changed, or that a user has to resolve."""
    moved_to: Optional[str]
    """The new directory in its source, if it has moved."""
    name: str
    """The name under which it is installed."""
    review: Optional[Review]
    """The review of the new version; ``None`` if it has nothing to review."""
    source: str
    """The source."""
    status: Optional[Status]
    """How the files in its source compare with the locked ones, as ``outdated`` says it;
    ``None`` if the source was not asked.
    """
    to: Optional[Version]
    """The version that is locked now; ``None`` if that has not changed."""


class UpdateOutcome(TypedDict):
    """The outcome of an update."""

    decided: list[PolicyDecision]
    """The policy lines that decided about the sources."""
    dry_run: bool
    """Whether nothing was changed because a plan was asked for."""
    failures: list[UpdateFailure]
    """The failures."""
    files_changed: ChangedFiles
    """Which files changed or would change."""
    links: list[NewLink]
    """The links that were or would be made."""
    paths: list[PathChange]
    """The paths that were or would be changed."""
    refused: list[str]
    """Skills with new capabilities without consent."""
    scope: Optional[ScopeKind]
    """Where the skills are."""
    skills: list[UpdatedSkill]
    """The skills that were examined, sorted by name."""
    steps: list[Step]
    """The steps that were or would be taken, in order."""
    warnings: list[Warning]
    """The warnings."""


class VerifiedPlace(TypedDict):
    """One place of a skill."""

    agent: Optional[str]
    """The agent that reads it; ``None`` for the copy itself."""
    code: list[UnlockedCode]
    """The code among them."""
    files: Optional[list[DifferentFile]]
    """The files that differ; ``None`` if that is not known."""
    found: Optional[str]
    """The digest that was found, if it differs."""
    leftovers: list[str]
    """Leftovers of tools, which are not part of the skill: a directory stands for everything in
    it.
    """
    path: str
    """The path."""
    reason: Optional[str]
    """The reason, if the files alone do not show it."""
    target: Optional[str]
    """The text of the link, if it leads elsewhere."""
    verdict: SkillState
    """The verdict."""


class VerifiedSkill(TypedDict):
    """One skill."""

    digest: Optional[str]
    """The locked digest."""
    name: str
    """The name under which it is installed."""
    places: list[VerifiedPlace]
    """The places: the copy itself, then those of agents."""
    scope: ScopeKind
    """The scope."""
    verdict: SkillState
    """The verdict: that of its first place that differs."""


class VerifyOutcome(TypedDict):
    """The result of comparing what is installed with the lockfile, in JSON."""

    ok: bool
    """Whether everything is as locked."""
    skills: list[VerifiedSkill]
    """The skills, project before user, then by name."""
    warnings: list[Warning]
    """Warnings for the user."""
