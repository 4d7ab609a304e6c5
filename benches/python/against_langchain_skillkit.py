"""The CPU time of a `SkillKit`, beside that of the package `langchain-skillkit`.

    python benches/python/against_langchain_skillkit.py [--theirs PYTHON] [--skills 10,100]

It runs in an environment that has `skillpm-py[langgraph]`, built for release (`make python`), and
`langchain-skillkit` 0.3.0, or `--theirs` names the interpreter of another one that has the latter.
Each cell is a process of its own, and counts the CPU time of user and system after the imports. The
two are measured in turns; the ratio is the median of those of the pairs.
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
from {module} import SkillKit
directory = sys.argv[1]
{before}
start = time.process_time()
{work}
print(time.process_time() - start)
"""

# What is measured: its name, what comes before, and the work.
WORK = [
    ("tools", "", "SkillKit(directory).tools"),
    (
        "Skill",
        "skill, _ = SkillKit(directory).tools",
        "assert 'Step 1' in skill.invoke({'skill_name': 'skill-7'})",
    ),
    (
        "SkillRead",
        "_, read = SkillKit(directory).tools",
        "assert 'row' in read.invoke({'skill_name': 'skill-7', 'file_name': 'table.md'})",
    ),
]


def write_skills(directory: Path, count: int) -> None:
    for number in range(count):
        skill = directory / f"skill-{number}"
        skill.mkdir(parents=True)
        steps = "".join(f"Step {step}: do what has to be done.\n" for step in range(1, 100))
        (skill / "SKILL.md").write_text(
            f"---\nname: skill-{number}\ndescription: Does the job with the number {number}. Use "
            f"it when that job has to be done.\nlicense: MIT\n---\n# Skill {number}\n\n{steps}"
        )
        (skill / "table.md").write_text("row\n" * 50)


def cpu(python: str, module: str, before: str, work: str, directory: Path) -> float:
    code = CELL.format(module=module, before=before, work=work)
    ran = subprocess.run(
        [python, "-c", code, str(directory)], capture_output=True, text=True, check=True
    )
    return float(ran.stdout)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--theirs", default=sys.executable, help="the other package's interpreter")
    options.add_argument("--skills", default="10,100", help="how many skills: 10,100")
    options.add_argument("--pairs", type=int, default=5, help="how often each is measured")
    given = options.parse_args()
    print(f"{'skills':>6}  {'what':9}  {'skillpm':>10}  {'langchain-skillkit':>18}  ratio")
    for count in map(int, given.skills.split(",")):
        with tempfile.TemporaryDirectory() as directory:
            write_skills(Path(directory), count)
            for name, before, work in WORK:
                pairs = []
                for _ in range(given.pairs):
                    ours = cpu(sys.executable, "skillpm.langgraph", before, work, Path(directory))
                    theirs = cpu(given.theirs, "langchain_skillkit", before, work, Path(directory))
                    pairs.append((ours, theirs))
                ours, theirs = (statistics.median(each) for each in zip(*pairs))
                ratio = statistics.median(theirs / ours for ours, theirs in pairs)
                print(
                    f"{count:6}  {name:9}  {ours * 1e3:7.3f} ms  {theirs * 1e3:15.3f} ms  "
                    f"{ratio:.0f}x",
                    flush=True,
                )


if __name__ == "__main__":
    main()
