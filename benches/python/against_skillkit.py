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

import statistics
import sys
from pathlib import Path

from measure import asked, cell, run, skills

OURS = (
    "from skillpm import SkillManager\n"
    "manager = SkillManager(directory, profile='skillkit', trusted=True)"
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

# In turns: to start a process takes half as long again in one minute as in the next.
TURNS = """
import statistics, time
bare, more = [], []
def median(seconds):
    return statistics.median(seconds[1:]) * 1e3
for _ in range(200):
    start = time.perf_counter()
    {spawn}
    middle = time.perf_counter()
    {run}
    bare.append(middle - start)
    more.append(time.perf_counter() - middle - bare[-1])
"""

STEPS = "".join(f"Step {step}: do it to $ARGUMENTS.\n" for step in range(1, 60))


def alone(directory: Path, times: int) -> None:
    """Print what is measured of this package only."""

    def median(before: str, work: str, clock: str = "process_time") -> float:
        found = [cell(sys.executable, before, work, directory, clock=clock) for _ in range(times)]
        return statistics.median(found) * 1e3

    print(f"import skillpm: {median('', 'import skillpm'):.1f} ms of CPU time")

    before = f"{OURS}\n{TOOL}"
    many = "for _ in range(500): {}.invoke('a')"
    # In turns, as they are so near to each other that the machine's mood counts.
    found = [
        [cell(sys.executable, before, many.format(each), directory) for each in ("bare", "tool")]
        for _ in range(times)
    ]
    bare, tool = (statistics.median(each) / 500 * 1e6 for each in zip(*found))
    more = statistics.median(tool / bare - 1 for bare, tool in found)
    print(
        f"a call of a tool: {tool:.0f} us, of which LangChain's {bare:.0f} us: "
        f"{more * 100:.0f}% more"
    )

    for sandbox in ("off", "auto"):
        script = SCRIPT.format(sandbox=sandbox)
        before = f"import subprocess, sys\ndirectory = sys.argv[1]\n{OURS}"
        turns = TURNS.format(spawn=SPAWN, run=script)
        bare, more = (
            run(sys.executable, f"{before}\n{turns}\nprint(median({what}))", directory)
            for what in ("bare", "more")
        )
        print(f"a script, sandbox {sandbox}: {more:+.2f} ms over a bare process of {bare:.2f} ms")

    code = (
        f"import resource, sys\ndirectory = sys.argv[1]\n{OURS}\n"
        "result = manager.run_script('skill-0', 'much', [])\nassert result.truncated\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    peak = run(sys.executable, code, directory)
    print(f"peak memory while a script prints 300 MiB: {peak / 1024:.1f} MiB")


def main() -> None:
    given = asked(__doc__.splitlines()[0], "skillkit", "10,1000")
    for count in given.counts:
        with skills(count, STEPS) as directory:
            for what, ours_before, theirs_before, ours, theirs in PAIRS:
                before = f"{OURS}\n{ours_before}", f"{THEIRS}\n{theirs_before}"
                given.compare(count, what, (before[0], ours), (before[1], theirs), directory)
    with skills(10, STEPS) as directory:
        scripts = directory / "skill-0" / "scripts"
        scripts.mkdir()
        (scripts / "nothing.sh").write_text("exit 0\n")
        (scripts / "much.py").write_text(
            "import sys\nfor _ in range(300):\n    sys.stdout.write('x' * (1 << 20))\n"
        )
        alone(directory, given.pairs)


if __name__ == "__main__":
    main()
