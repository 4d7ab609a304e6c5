"""Requests from Python: from threads, from event loops, and from copies of the process."""

from __future__ import annotations

import asyncio
import http.server
import io
import os
import threading
import zipfile
from typing import TYPE_CHECKING

import pytest

import skillpm

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import World

TEXT = "---\nname: pdf\ndescription: d\n---\n"


class Handler(http.server.BaseHTTPRequestHandler):
    """Has one archive at every address, and keeps connections open."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Send the archive."""
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as file:
            file.writestr("pdf/SKILL.md", TEXT)
        self.send_response(200)
        self.send_header("content-length", str(len(archive.getvalue())))
        self.end_headers()
        self.wfile.write(archive.getvalue())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def address() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()


def ask(address: str, name: str) -> list[str]:
    return [skill["name"] for skill in skillpm.install(f"{address}{name}.zip", dry_run=True)]


def test_threads_and_event_loops(world: World, address: str) -> None:
    assert world.project.is_dir()

    async def inside() -> list[str]:
        # It blocks the loop, which is the caller's choice, and does no more.
        return ask(address, "inside")

    async def beside() -> list[list[str]]:
        return await asyncio.gather(*(asyncio.to_thread(ask, address, f"t{i}") for i in range(8)))

    assert asyncio.run(inside()) == ["pdf"]
    assert asyncio.run(beside()) == [["pdf"]] * 8


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not copy processes")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_copy_of_the_process_makes_its_own_connections(world: World, address: str) -> None:
    assert world.project.is_dir()
    assert ask(address, "before") == ["pdf"]
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if ask(address, "child") == ["pdf"] else 2
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert status == 0
    assert ask(address, "after") == ["pdf"]
