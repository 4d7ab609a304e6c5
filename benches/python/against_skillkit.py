"""The CPU time of the Python package, beside that of the package `skillkit`.

    python benches/python/against_skillkit.py [--theirs PYTHON] [--skills 10,1000] [--pairs 5]

It runs in an environment that has `skillpm-py[langchain]`, built for release (`make python`), and
`skillkit[langchain]` 0.4.0 with `aiofiles`, or `--theirs` names the interpreter of another one that
has the latter. Each cell is a process of its own, and counts the CPU time of user and system of the
work alone. The two are measured in turns; the ratio is the median of those of the pairs. After that
come what has nothing of the kind beside it: the import, a call of a tool beside one of LangChain's
own, a script beside a bare process, and the memory that a script's output takes.

Files lie in memory where `/dev/shm` is a directory and `TMPDIR` does not say otherwise, so that no
disk is measured.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

CELL = """
import os, resource, subprocess, sys, time
directory = sys.argv[1]
{before}
start = time.{clock}()
{work}
print(time.{clock}() - start)
"""

OURS = (
    "from skillpm import SkillManager\nmanager = SkillManager(directory, preset='s0', trusted=True)"
)
THEIRS = "from skillkit import SkillManager\nmanager = SkillManager(project_skill_dir=directory)"
FOUND = "manager.discover()"
TOOLS = "from {}langchain import create_langchain_tools"
INVOKED = "for n in range(200): manager.invoke_skill(f'skill-{n % 10}', f'file {n}')"

# What is measured: its name, what comes before it in ours and in theirs, and the work of both.
PAIRS = [
    ("discover", "", "", FOUND, FOUND),
    ("discover again", FOUND, FOUND, FOUND, FOUND),
    ("list after a look", FOUND, FOUND, "manager.list_skills()", FOUND),
    (
        "LangChain tools",
        f"{FOUND}\n{TOOLS.format('skillpm.')}",
        f"{FOUND}\n{TOOLS.format('skillkit.integrations.')}",
        "create_langchain_tools(manager)",
        "create_langchain_tools(manager)",
    ),
    ("200 x invoke", FOUND, FOUND, INVOKED, INVOKED),
]

TOOL = """
from langchain_core.tools import StructuredTool
from skillpm.langchain import create_langchain_tools
tool = create_langchain_tools(manager)[0]
text = tool.invoke('a')
def plain(arguments: str = '') -> str:
    return text
bare = StructuredTool(name='a', description='b', args_schema=tool.args_schema, func=plain)
bare.invoke('a')
"""
SCRIPT = "manager.run_script('skill-0', 'nothing', [], sandbox={sandbox!r})"
SPAWN = (
    "subprocess.run(['sh', directory + '/skill-0/scripts/nothing.sh'], "
    "capture_output=True, stdin=subprocess.DEVNULL)"
)


def write_skills(directory: Path, count: int) -> None:
    for number in range(count):
        skill = directory / f"skill-{number}"
        skill.mkdir(parents=True)
        steps = "".join(f"Step {step}: do it to $ARGUMENTS.\n" for step in range(1, 60))
        (skill / "SKILL.md").write_text(
            f"---\nname: skill-{number}\ndescription: Does the job with the number {number}. Use "
            f"it when that job has to be done.\nlicense: MIT\n---\n# Skill {number}\n\n{steps}"
        )
    scripts = directory / "skill-0" / "scripts"
    scripts.mkdir()
    (scripts / "nothing.sh").write_text("exit 0\n")
    (scripts / "much.py").write_text(
        "import sys\nfor _ in range(300):\n    sys.stdout.write('x' * (1 << 20))\n"
    )


def cell(
    python: str, before: str, work: str, directory: Path, *, clock: str = "process_time"
) -> float:
    code = CELL.format(before=before, work=work, clock=clock)
    ran = subprocess.run([python, "-c", code, directory], capture_output=True, text=True)
    if ran.returncode:
        sys.exit(ran.stderr)
    return float(ran.stdout.split()[-1])


def pairs(theirs: str, directory: Path, count: int, times: int) -> None:
    for name, ours_before, theirs_before, ours_work, theirs_work in PAIRS:
        found = [
            (
                cell(sys.executable, f"{OURS}\n{ours_before}", ours_work, directory),
                cell(theirs, f"{THEIRS}\n{theirs_before}", theirs_work, directory),
            )
            for _ in range(times)
        ]
        a, b = (statistics.median(each) * 1e3 for each in zip(*found))
        ratio = statistics.median(b / a for a, b in found)
        print(f"{count:6}  {name:17}  {a:9.3f} ms  {b:9.3f} ms  {ratio:5.0f}x", flush=True)


def alone(directory: Path, times: int) -> None:
    """Print what is measured of this package only."""

    def median(before: str, work: str, **options: str) -> float:
        found = [cell(sys.executable, before, work, directory, **options) for _ in range(times)]
        return statistics.median(found) * 1e3

    print(f"import skillpm: {median('', 'import skillpm'):.1f} ms of CPU time")

    before = f"{OURS}\n{TOOL}"
    many = "for _ in range(500): {}.invoke('a')"
    bare, tool = (median(before, many.format(each)) / 500 for each in ("bare", "tool"))
    print(
        f"a call of a tool: {tool * 1e3:.0f} us, of which LangChain's {bare * 1e3:.0f} us: "
        f"{(tool / bare - 1) * 100:.0f}% more"
    )

    before = f"{OURS}\nrun = lambda: {SCRIPT}\nrun()\nspawn = lambda: {SPAWN}\nspawn()"
    for sandbox in ("off", "auto"):
        started = before.format(sandbox=sandbox)
        many = "for _ in range(50): {}()"
        spawn, run = (
            median(started, many.format(each), clock="perf_counter") / 50
            for each in ("spawn", "run")
        )
        print(
            f"a script, sandbox {sandbox}: {run:.2f} ms, a bare process: {spawn:.2f} ms: "
            f"{run - spawn:+.2f} ms"
        )

    peak = "resource.getrusage(resource.RUSAGE_SELF).ru_maxrss"
    code = (
        f"import resource, sys\ndirectory = sys.argv[1]\n{OURS}\n"
        "result = manager.run_script('skill-0', 'much', [])\n"
        f"assert result.truncated\nprint({peak})"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, directory], capture_output=True, text=True, check=True
    )
    print(f"peak memory while a script prints 300 MiB: {int(ran.stdout) / 1024:.1f} MiB")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--theirs", default=sys.executable, help="the other package's interpreter")
    options.add_argument("--skills", default="10,1000", help="how many skills: 10,1000")
    options.add_argument("--pairs", type=int, default=5, help="how often each is measured")
    given = options.parse_args()
    if Path("/dev/shm").is_dir():
        os.environ.setdefault("TMPDIR", "/dev/shm")
    print(f"{'skills':>6}  {'what':17}  {'skillpm':>12}  {'skillkit':>12}   ratio")
    for count in map(int, given.skills.split(",")):
        with tempfile.TemporaryDirectory() as name:
            directory = Path(name).resolve()
            write_skills(directory, count)
            pairs(given.theirs, directory, count, given.pairs)
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name).resolve()
        write_skills(directory, 10)
        alone(directory, given.pairs)


if __name__ == "__main__":
    main()
