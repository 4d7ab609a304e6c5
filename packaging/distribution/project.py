"""What a release is about: the version, its date, and the targets of `targets.tsv`."""

from __future__ import annotations

import csv
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

PACKAGING = Path(__file__).resolve().parent.parent
ROOT = PACKAGING.parent
TEMPLATES = PACKAGING / "templates"
REPOSITORY = "https://github.com/skillpm/skillpm"
PROGRAMS = ("skillpm", "skillpm-registry")


class DistError(Exception):
    """A reason why a part of the release cannot be made, with what to do about it."""


@dataclass(frozen=True)
class Target:
    """A row of `targets.tsv`: a platform, and what each package manager calls it.

    A field is empty where the package manager has no package for the platform.
    """

    triple: str
    archive: str
    npm_os: str
    npm_cpu: str
    npm_libc: str
    deb: str
    rpm: str
    winget: str
    scoop: str
    wheel: str
    runner: str
    build: str
    here: str

    @property
    def is_built_here(self) -> bool:
        """Return whether `make dist` on a development machine (x86-64 Linux) builds it."""
        return self.here == "yes"

    def program(self, name: str) -> str:
        """Return the name of the file of the program `name`."""
        return f"{name}.exe" if self.npm_os == "win32" else name

    def archive_name(self, program: str) -> str:
        """Return the file name of the archive of `program`, without a version.

        The address `releases/latest/download/NAME` then works for every release.
        """
        return f"{self.archive_stem(program)}.{self.archive}"

    def archive_stem(self, program: str) -> str:
        """Return the name of the directory that the archive of `program` contains."""
        return f"{program}-{self.triple}"


def targets() -> list[Target]:
    """Return the rows of `targets.tsv`."""
    with (PACKAGING / "targets.tsv").open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t")
        return [Target(**{key: "" if value == "-" else value for key, value in row.items()}) for row in rows]


def target(triple: str) -> Target:
    """Return the target `triple`, or raise `DistError` if there is no such row."""
    for row in targets():
        if row.triple == triple:
            return row
    known = ", ".join(row.triple for row in targets())
    raise DistError(f"`{triple}` is not a target: `packaging/targets.tsv` has {known}")


def version() -> str:
    """Return the version of the workspace, from `Cargo.toml`."""
    text = (ROOT / "Cargo.toml").read_text(encoding="utf-8")
    found = re.search(r'^\[workspace\.package\]\nversion = "([^"]+)"', text, re.MULTILINE)
    if not found:
        raise DistError("`Cargo.toml` has no version in `[workspace.package]`")
    return found.group(1)


def source_date_epoch() -> int:
    """Return the time that all files of the release bear: `SOURCE_DATE_EPOCH`, else the commit's."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given is not None:
        if not given.isdecimal():
            raise DistError(f"`SOURCE_DATE_EPOCH` is `{given}`: a number of seconds is expected")
        return int(given)
    return int(run_output(["git", "-C", str(ROOT), "log", "-1", "--format=%ct"]))


def download(name: str, of_version: str) -> str:
    """Return the address of the file `name` of a release."""
    return f"{REPOSITORY}/releases/download/v{of_version}/{name}"


def run_output(command: list[str]) -> str:
    """Run a command and return what it prints, or raise `DistError` if it fails."""
    try:
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, encoding="utf-8")
    except FileNotFoundError:
        raise DistError(f"`{command[0]}` was not found") from None
    except subprocess.CalledProcessError as error:
        raise DistError(f"`{' '.join(command)}` failed with exit code {error.returncode}") from None
    return done.stdout.strip()


def run(
    command: list[str],
    environment: dict[str, str] | None = None,
    cwd: Path = ROOT,
    *,
    quiet: bool = False,
) -> None:
    """Run a command whose output is shown, unless `quiet`, or raise `DistError` if it fails."""
    variables = {**os.environ, **(environment or {})}
    stdout = subprocess.DEVNULL if quiet else None
    try:
        done = subprocess.run(command, cwd=cwd, env=variables, stdout=stdout, check=False)
    except FileNotFoundError:
        raise DistError(f"`{command[0]}` was not found") from None
    if done.returncode != 0:
        raise DistError(f"`{' '.join(command)}` failed with exit code {done.returncode}")
