"""A release of stand-ins, made once, and web servers for it."""

from __future__ import annotations

import contextlib
import functools
import http.server
import os
import tempfile
import threading
import unittest
from collections.abc import Iterator
from pathlib import Path

import dist as command
from distribution import archive, contents, project

EPOCH = "1700000000"
# `wait` holds still until a signal comes, and `end CODE` ends with an exit code.
STAND_IN = """#!/bin/sh
case "${{1:-}}" in
    wait) echo ready; exec sleep 600 ;;
    end) exit "$2" ;;
esac
exec {program} "$@"
"""


def program() -> Path:
    """Return the program whose completions and pages go into the stand-ins."""
    path = os.environ.get("SKILLPM_DIST_PROGRAM", "")
    if not Path(path).is_file():
        raise RuntimeError(f"SKILLPM_DIST_PROGRAM is `{path}`: `make dist-tests` sets it to a program")
    return Path(path)


def make_release(into: Path) -> list[str]:
    """Make a release for all targets, with a script as the program; return what was left out."""
    os.environ["SOURCE_DATE_EPOCH"] = EPOCH
    executable = into.parent / "stand-in"
    executable.write_text(STAND_IN.format(program=program()), encoding="utf-8")
    executable.chmod(0o755)
    shared = archive.Files()
    for name in ("LICENSE", "README.md", "CHANGELOG.md"):
        shared.add(name, (project.ROOT / name).read_bytes())
    shared.add("THIRD-PARTY-LICENSES.txt", "The licenses of all components.\n")
    shared.add("BUILD.txt", contents.build_record("rustc 1.0.0"))
    pages = contents.pages(executable)
    for target in project.targets():
        for name in project.PROGRAMS:
            files = contents.archive_files(
                target,
                name,
                executable,
                shared,
                pages if name == "skillpm" else archive.Files(),
                b"{}\n",
            )
            command.write_archive(target, name, into, files)
    return command.make_packages(into)


class Release(unittest.TestCase):
    """A test that looks at a release of stand-ins."""

    dist: Path
    left_out: list[str]

    @classmethod
    def setUpClass(cls) -> None:
        """Make the release, once for all tests."""
        cls.dist, cls.left_out = made_release()

    def needs(self, *tools: str) -> None:
        """Skip the test where a program is missing; with `CI` set that is a failure."""
        for tool in tools:
            if not any((Path(part) / tool).exists() for part in os.environ["PATH"].split(os.pathsep)):
                if os.environ.get("CI", "") not in ("", "0", "false"):
                    self.fail(f"`{tool}` was not found")
                self.skipTest(f"`{tool}` was not found")


@functools.cache
def made_release() -> tuple[Path, list[str]]:
    """Return a release and what was left out of it."""
    # Kept until the process ends.
    made_release.directory = tempfile.TemporaryDirectory()  # type: ignore[attr-defined]
    into = Path(made_release.directory.name) / "dist"  # type: ignore[attr-defined]
    with contextlib.redirect_stdout(None):
        return into, make_release(into)


@contextlib.contextmanager
def serve(handler: type[http.server.BaseHTTPRequestHandler], **arguments: object) -> Iterator[str]:
    """Serve on a free port of this machine and return the address."""
    make = functools.partial(handler, **arguments)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), make) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files without a word on the terminal."""

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""
