"""The bars of time that the requirements set, and what the Python package takes.

    python benches/python/bars.py [--times 5]

It runs in an environment that has `skillpm-py[langchain]`, built for release (`make python`). Each
cell is a process of its own and counts the CPU time of user and system; what is printed is the
median, in milliseconds. The lines are those of `docs/reference/requirements.md`. Exit code 1 says
that a bar was not met.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

CELL = """
import sys, time
directory = sys.argv[1]
{before}
taken = []
for _ in range({rounds}):
    start = time.process_time()
    {work}
    taken.append(time.process_time() - start)
print(sorted(taken)[int(len(taken) * 0.95)] * 1000)
"""
MANAGER = "from skillpm import SkillManager\nmanager = SkillManager(directory, preset='s0')\n"
STORE = "from skillpm.langflow import SkillStore\n"
STORED = STORE + "store = SkillStore(directory)\nstore.load_skill('skill-000')\n"
TOOLS = MANAGER + "from skillpm.langchain import create_langchain_tools\n"
# What a call takes is beside what LangChain takes for any tool: the whole of it is held to the bar.
TOOL = TOOLS + "tool = create_langchain_tools(manager)[0]\ntool.invoke('a')\n"
LOAD = "store.load_skill('skill-000')"
READ = "store.read_skill_file('skill-000', 'big.md')"

# The lines, what is measured, the bar in milliseconds, the number of skills, what comes before, the
# work, and how often it is done: of several times the one counts that 95 of 100 do not exceed.
BARS = [
    (["S0-FR-020", "S0-SC-001"], "metadata", 500, 10, MANAGER, "manager.list_skills()", 1),
    (["S0-US2.3"], "metadata", 500, 100, MANAGER, "manager.list_skills()", 1),
    (["S0-US4.4", "S0-FR-036"], "call of a tool", 10, 10, TOOL, "tool.invoke('analyze a.py')", 1),
    (["S3-SM-2"], "scan of a store", 200, 50, STORE, "SkillStore(directory).scan()", 1),
    (["S3-NFR-1"], "scan of a store", 500, 100, STORE, "SkillStore(directory).scan()", 1),
    (["C29"], "discovery", 200, 50, MANAGER, "manager.discover()", 1),
    (["C29"], "discovery", 500, 100, MANAGER, "manager.discover()", 1),
    (["S3-NFR-2"], "load, the second time", 100, 100, STORED, LOAD, 1),
    (["S3-SM-1"], "load, 95 of 100", 100, 100, STORED, LOAD, 1000),
    (["S3-NFR-3"], "file of 50 KB", 200, 10, STORED, READ, 1),
]


def write_skills(directory: Path, count: int) -> None:
    """Write skills with 5 KB of instructions each, and a large file in the first."""
    for number in range(count):
        skill = directory / f"skill-{number:03}"
        skill.mkdir(parents=True)
        (skill / "SKILL.md").write_text(
            f"---\nname: {skill.name}\ndescription: Does the job with the number {number}. Use it "
            "when that job has to be done.\n---\n" + "Do it to $ARGUMENTS.\n" * 250
        )
    (directory / "skill-000" / "big.md").write_text("x" * 50_000)


def cell(directory: Path, before: str, work: str, rounds: int) -> float:
    """Return how many milliseconds of CPU time the work takes in a process of its own."""
    code = CELL.format(before=before, work=work, rounds=rounds)
    ran = subprocess.run(
        [sys.executable, "-c", code, directory], capture_output=True, text=True, check=True
    )
    return float(ran.stdout)


def main() -> int:
    """Measure every bar and return whether one was not met."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--times", type=int, default=5, help="how often each is measured")
    times = options.parse_args().times
    missed = 0
    print(f"{'lines':20}  {'what':22}  {'skills':>6}  {'bar':>7}  {'taken':>10}   to spare")
    for lines, what, bar, count, before, work, rounds in BARS:
        with tempfile.TemporaryDirectory() as made:
            write_skills(Path(made), count)
            taken = statistics.median(cell(Path(made), before, work, rounds) for _ in range(times))
        missed += taken >= bar
        named = " ".join(lines)
        print(f"{named:20}  {what:22}  {count:6}  {bar:4} ms  {taken:7.3f} ms  {bar / taken:8.0f}x")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
