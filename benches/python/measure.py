"""What the scripts beside this one share: skills, and a process for each cell."""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

# What comes before the work, and the work.
Work = tuple[str, str]

_CELL = """
import subprocess, sys, time
directory = sys.argv[1]
{before}
taken = []
for _ in range({rounds}):
    start = time.{clock}()
    {work}
    taken.append(time.{clock}() - start)
print(sorted(taken)[int(len(taken) * 0.95)])
"""


@contextmanager
def skills(count: int, instructions: str) -> Iterator[Path]:
    """Make a directory of skills, ``skill-0`` and so on, which is removed in the end.

    Where ``/dev/shm`` is a directory and ``TMPDIR`` does not say otherwise, it lies in memory, and
    so does what the measured processes put aside, the audit log among it: no disk is measured, and
    the user's own log gets no line.
    """
    if Path("/dev/shm").is_dir():
        os.environ.setdefault("TMPDIR", "/dev/shm")
    with tempfile.TemporaryDirectory() as made, tempfile.TemporaryDirectory() as state:
        os.environ["XDG_STATE_HOME"] = state
        directory = Path(made).resolve()
        for number in range(count):
            skill = directory / f"skill-{number}"
            skill.mkdir()
            (skill / "SKILL.md").write_text(
                f"---\nname: {skill.name}\ndescription: Does the job with the number {number}. Use "
                f"it when that job has to be done.\nlicense: MIT\n---\n# Skill {number}\n\n"
                f"{instructions}"
            )
        yield directory


def run(python: str, code: str, directory: Path) -> float:
    """Return the number that ``code`` prints last. It has the directory as ``sys.argv[1]``."""
    ran = subprocess.run([python, "-c", code, str(directory)], capture_output=True, text=True)
    if ran.returncode:
        sys.exit(ran.stderr)
    return float(ran.stdout.split()[-1])


def cell(
    python: str,
    before: str,
    work: str,
    directory: Path,
    *,
    clock: str = "process_time",
    rounds: int = 1,
) -> float:
    """Return how many seconds a line of work takes in a process of its own.

    They are the CPU time of user and system, or what another ``clock`` tells. Of several rounds the
    one counts that 95 of 100 do not exceed.
    """
    code = _CELL.format(before=before, work=work, clock=clock, rounds=rounds)
    return run(python, code, directory)


@dataclass(frozen=True)
class Asked:
    """What the command line says of a comparison."""

    theirs: str
    counts: list[int]
    pairs: int

    def compare(self, count: int, what: str, ours: Work, theirs: Work, directory: Path) -> None:
        """Measure ours and theirs in turns, and print the medians, and that of the ratios."""
        found = [
            (cell(sys.executable, *ours, directory), cell(self.theirs, *theirs, directory))
            for _ in range(self.pairs)
        ]
        a, b = (statistics.median(each) * 1e3 for each in zip(*found))
        ratio = statistics.median(b / a for a, b in found)
        print(f"{count:6}  {what:17}  {a:9.3f} ms  {b:15.3f} ms  {ratio:5.0f}x", flush=True)


def asked(description: str, package: str, counts: str) -> Asked:
    """Read the command line, and print the head of the table beside ``package``."""
    options = argparse.ArgumentParser(description=description)
    options.add_argument("--theirs", default=sys.executable, help="the other package's interpreter")
    options.add_argument("--skills", default=counts, help=f"how many skills: {counts}")
    options.add_argument("--pairs", type=int, default=5, help="how often each is measured")
    given = options.parse_args()
    print(f"{'skills':>6}  {'what':17}  {'skillpm':>12}  {package:>18}   ratio")
    return Asked(given.theirs, [int(count) for count in given.skills.split(",")], given.pairs)
