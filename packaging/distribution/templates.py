"""Filling the templates: `@VERSION@`, and `@URL …@` and `@SHA256 …@` of a file of the release."""

from __future__ import annotations

import re
from pathlib import Path

from .archive import sha256
from .project import TEMPLATES, DistError, download

PLACEHOLDER = re.compile(r"@([A-Z0-9_]+)(?: ([A-Za-z0-9._-]+))?@")


class MissingArchive(DistError):
    """A package needs an archive that was not made on this machine."""

    def __init__(self, name: str) -> None:
        super().__init__(f"`{name}` was not made here")


def fill(text: str, version: str, dist: Path, values: dict[str, str] | None = None) -> str:
    """Return a template with its placeholders replaced.

    `@URL name@` and `@SHA256 name@` are the address and the digest of the file `name` in `dist`. Raises
    `MissingArchive` if that file does not exist, and `DistError` for an unknown placeholder.
    """
    known = {"VERSION": version, **(values or {})}

    def value(found: re.Match[str]) -> str:
        key, name = found.groups()
        if name is None and key in known:
            return known[key]
        if name is None or key not in ("URL", "SHA256"):
            raise DistError(f"unknown placeholder `{found.group()}`")
        if not (dist / name).is_file():
            raise MissingArchive(name)
        return download(name, version) if key == "URL" else sha256(dist / name)

    return PLACEHOLDER.sub(value, text)


def fill_directory(
    source: str,
    into: Path,
    version: str,
    dist: Path,
    values: dict[str, str] | None = None,
) -> None:
    """Fill every file of a directory of templates into `into`, or none if an archive is missing."""
    root = TEMPLATES / source
    filled = {
        file.relative_to(root): fill(file.read_text(encoding="utf-8"), version, dist, values)
        for file in sorted(root.rglob("*"))
        if file.is_file()
    }
    for name, text in filled.items():
        (into / name).parent.mkdir(parents=True, exist_ok=True)
        (into / name).write_bytes(text.encode())
