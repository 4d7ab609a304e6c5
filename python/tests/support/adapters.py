"""What the tests of the adapters share: a skill, and a script that is ended."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import World

from skillpm import SkillManager, _threads

# The script says that it runs by a pipe that has a name in the file system.
for_pipes = pytest.mark.skipif(
    sys.platform == "win32", reason="Windows has no pipes with names in the file system"
)

CHECK = """import argparse
import sys

parser = argparse.ArgumentParser(description="Check whether a PDF has form fields.")
parser.add_argument("path")
path = parser.parse_args().path
if path == "missing.pdf":
    sys.exit(f"{path} does not exist")
print(f"{path} has fields.")
"""

# Writes the number of its process into a pipe, and takes its time.
_SLOW = """import argparse
import os
import time

parser = argparse.ArgumentParser(description="Take your time.")
parser.add_argument("ready")
with open(parser.parse_args().ready, "w") as ready:
    ready.write(str(os.getpid()))
time.sleep(600)
"""


def office(world: World, **options: Any) -> SkillManager:
    """Return a manager of the skill ``pdf``, whose scripts may run."""
    world.skill("pdf", "Fill $ARGUMENTS.\n", description="Fills in forms.", source="skills")
    world.write("skills/pdf/references/forms.md", "About forms.\n")
    world.write("skills/pdf/scripts/check.py", CHECK)
    return SkillManager("skills", scripts="allow", trusted=True, **options)


def slow(world: World) -> dict[str, Any]:
    """Write a script that takes its time, and return the arguments of the tool that runs it."""
    os.mkfifo(world.project / "ready")
    world.write("skills/pdf/scripts/slow.py", _SLOW)
    arguments = {"ready": str(world.project / "ready")}
    return {"name": "pdf", "script": "slow", "arguments": arguments}


def ends(run: Callable[[], Awaitable[Any]], call: dict[str, Any]) -> bool:
    """Return whether the script of ``slow``, which ``run`` runs, is ended with the task of it."""
    ready = Path(call["arguments"]["ready"])

    async def cancelled() -> int:
        task = asyncio.ensure_future(run())
        reading = asyncio.ensure_future(asyncio.to_thread(ready.read_text))
        await asyncio.wait({task, reading}, return_when=asyncio.FIRST_COMPLETED)
        if not reading.done():
            ready.write_text("")
            raise AssertionError(f"no script runs: {task.result()}")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return int(reading.result())

    process = asyncio.run(cancelled())
    # The thread that waits for the script ends after it.
    _threads.end_threads()
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return False
