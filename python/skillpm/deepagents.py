"""Skills for deepagents: a backend whose files are skills, read only.

    from deepagents import create_deep_agent
    from deepagents.backends import CompositeBackend, StateBackend
    from skillpm.deepagents import SkillsBackend

    backend = CompositeBackend(StateBackend(), {"/skills/": SkillsBackend("./skills")})
    agent = create_deep_agent(model, backend=backend, skills=["/skills/"])

The agent's own tools list, read and search the skills.
"""

from __future__ import annotations

import base64
import copy
import json
import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any, Optional, Union

from skillpm._extras import missing

try:
    from deepagents.backends import protocol as of
except ModuleNotFoundError as _error:
    raise missing(_error, __name__, "deepagents", "deepagents") from None

from deepagents.backends.utils import compile_grep_include_glob, slice_read_response

from skillpm._manager import SkillManager
from skillpm._native import SkillMetadata
from skillpm._toolkit import Toolkit, toolkit_of
from skillpm._types import Sources
from skillpm.errors import SkillpmError

__all__ = ["SkillsBackend"]

_MAIN = "SKILL.md"
_FIELDS = {
    "name": "name",
    "description": "description",
    "license": "license",
    "compatibility": "compatibility",
    "allowed_tools": "allowed-tools",
    "metadata": "metadata",
}
_LISTED = re.compile(r"^- \*\*(.+?)\*\*(?:: (.*))?$", re.MULTILINE)
_FRONTMATTER = re.compile(
    rb"\A(?:\xef\xbb\xbf)?---[ \t]*\r?\n.*?^---[ \t]*\r?(?:\n|\Z)", re.M | re.S
)
_REFUSED = "skills are read-only: `{}` stays as it is"


class SkillsBackend(of.BackendProtocol):
    """Skills as files: ``/pdf/SKILL.md`` and what lies beside it, by the names of the skills.

    The agent gets the skills of a ``Toolkit``: those that it chooses, and none that only a person
    may start. Where it has a ``budget``, the list of skills in the system prompt has the
    descriptions that the budget leaves. Nothing can be written.

    Args:
        skills: A ``Toolkit``, a ``SkillManager``, or the directories that one is made of.
        options: Those of ``Toolkit``.

    Raises:
        ConfigurationError: An option that makes no sense.

    """

    def __init__(
        self, skills: Union[Toolkit, SkillManager, Sources] = None, **options: Any
    ) -> None:
        self.kit: Toolkit = toolkit_of(skills, **options)
        self._listed = copy.copy(self.kit)
        self._listed._form = "markdown"

    def ls(self, path: str) -> of.LsResult:
        """List a directory: at ``/`` the skills."""
        start = path.rstrip("/") + "/"
        if start == "/":
            skills = sorted(skill.name for skill in self.kit.skills())
            return of.LsResult(entries=[{"path": f"/{name}/", "is_dir": True} for name in skills])
        entries: dict[str, of.FileInfo] = {}
        try:
            for file in self._files(start):
                first, slash, _ = file[len(start) :].partition("/")
                entries[first] = {"path": start + first + slash, "is_dir": bool(slash)}
        except SkillpmError as error:
            return of.LsResult(error=str(error))
        return of.LsResult(entries=[entries[first] for first in sorted(entries)])

    def read(self, file_path: str, offset: int = 0, limit: int = 2000) -> of.ReadResult:
        """Read lines of a file. What is not text in UTF-8 comes whole, in base64."""
        try:
            content = self._bytes(file_path)
        except SkillpmError as error:
            return of.ReadResult(error=str(error))
        try:
            data = of.FileData(content=content.decode(), encoding="utf-8")
        except UnicodeDecodeError:
            encoded = base64.standard_b64encode(content).decode()
            return of.ReadResult(file_data=of.FileData(content=encoded, encoding="base64"))
        return slice_read_response(data, offset, limit)

    def glob(self, pattern: str, path: Optional[str] = None) -> of.GlobResult:
        """Find files by a pattern."""
        root = "/" + (path or "").strip("/")
        try:
            matches = compile_grep_include_glob(pattern) if pattern else bool
            files = [
                file
                for file in self._files(root)
                if matches(file[len(root) :].lstrip("/") or PurePosixPath(file).name)
            ]
        except (SkillpmError, ValueError) as error:
            return of.GlobResult(error=str(error))
        return of.GlobResult(matches=[{"path": file, "is_dir": False} for file in files])

    def grep(
        self,
        pattern: str,
        path: Optional[str] = None,
        glob: Optional[str] = None,
        *,
        max_count: Optional[int] = None,
    ) -> of.GrepResult:
        """Find the lines of files that have a text in them."""
        found = self.glob(glob or "", path)
        matches: list[of.GrepMatch] = []
        for file in found.matches or ():
            try:
                lines = self._bytes(file["path"]).decode().splitlines()
            except (SkillpmError, UnicodeDecodeError):
                continue
            for number, line in enumerate(lines, 1):
                if pattern in line:
                    if len(matches) == max_count:
                        return of.GrepResult(matches=matches, truncated=True)
                    matches.append({"path": file["path"], "line": number, "text": line})
        return of.GrepResult(found.error, None if found.error else matches)

    def download_files(self, paths: list[str]) -> list[of.FileDownloadResponse]:
        """Return whole files. The frontmatter of a ``SKILL.md`` is written anew.

        The list of skills is made of it: it has the description that the budget leaves, and is
        YAML that everybody reads.
        """
        skills = {skill.name: skill for skill in self.kit.skills()}
        left = None
        if self.kit.budget is not None:
            left = dict(_LISTED.findall(self._listed.catalog()))
        found = []
        for path in paths:
            name, _, below = path.lstrip("/").partition("/")
            try:
                content = self._bytes(path)
            except SkillpmError:
                found.append(of.FileDownloadResponse(path, error=of.FILE_NOT_FOUND))
                continue
            if below == _MAIN and name in skills:
                content = _rewritten(content, skills[name], left)
            found.append(of.FileDownloadResponse(path, content))
        return found

    def write(self, file_path: str, content: str) -> of.WriteResult:
        """Refuse to write a file."""
        return of.WriteResult(error=_REFUSED.format(file_path))

    def edit(
        self, file_path: str, old_string: str, new_string: str, replace_all: bool = False
    ) -> of.EditResult:
        """Refuse to edit a file."""
        return of.EditResult(error=_REFUSED.format(file_path))

    def delete(self, file_path: str) -> of.DeleteResult:
        """Refuse to delete a file."""
        return of.DeleteResult(error=_REFUSED.format(file_path))

    def upload_files(self, files: list[tuple[str, bytes]]) -> list[of.FileUploadResponse]:
        """Refuse to write files."""
        return [of.FileUploadResponse(path, of.PERMISSION_DENIED) for path, _ in files]

    def _bytes(self, path: str) -> bytes:
        """Return a file of a skill that the agent gets."""
        name, _, below = path.lstrip("/").partition("/")
        skill = self.kit.skill(name)
        if below == _MAIN:
            below = skill.skill_path.name
        return self.kit.manager.read_skill_bytes(skill.name, below)

    def _files(self, path: str) -> Iterator[str]:
        """Yield the files of a directory and below it, or the file that the path names."""
        one = path.strip("/").partition("/")[0]
        for name in [one] if one else sorted(skill.name for skill in self.kit.skills()):
            try:
                skill = self.kit.manager.load_skill(self.kit.skill(name).name)
            except SkillpmError:
                if one:
                    raise
                continue
            for file in (_MAIN, *skill.files):
                whole = f"/{name}/{file}"
                if whole == path or whole.startswith(path.rstrip("/") + "/"):
                    yield whole


def _rewritten(content: bytes, skill: SkillMetadata, left: Optional[dict[str, str]]) -> bytes:
    """Return a ``SKILL.md`` with what is known of it, and with the description that is left."""
    fields = skill.to_dict()
    if left is not None:
        # A skill without a description is none to deepagents.
        fields["description"] = left.get(skill.name, "").replace("&lt;", "<") or "…"
    # JSON is YAML, too.
    head = "".join(
        f"{name}: {json.dumps(fields[field], ensure_ascii=False)}\n"
        for field, name in _FIELDS.items()
        if fields[field]
    )
    return f"---\n{head}---\n".encode() + _FRONTMATTER.sub(b"", content, count=1)
