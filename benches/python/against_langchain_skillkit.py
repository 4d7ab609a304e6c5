"""The CPU time of a `SkillKit`, beside that of the package `langchain-skillkit`.

    python benches/python/against_langchain_skillkit.py [--theirs PYTHON] [--skills 10,100]

It runs in an environment that has `skillpm-py[langgraph]`, built for release (`make python`), and
`langchain-skillkit` 0.3.0, or `--theirs` names the interpreter of another one that has the latter.
Each cell is a process of its own, and counts the CPU time of user and system after the imports. The
two are measured in turns; the ratio is the median of those of the pairs. Files lie in memory where
`/dev/shm` is a directory and `TMPDIR` does not say otherwise, so that no disk is measured.
"""

from __future__ import annotations

from measure import asked, skills

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

STEPS = "".join(f"Step {step}: do what has to be done.\n" for step in range(1, 100))


def main() -> None:
    given = asked(__doc__.splitlines()[0], "langchain-skillkit", "10,100")
    for count in given.counts:
        with skills(count, STEPS) as directory:
            for skill in directory.iterdir():
                (skill / "table.md").write_text("row\n" * 50)
            for what, before, work in WORK:
                ours = f"from skillpm.langgraph import SkillKit\n{before}"
                theirs = f"from langchain_skillkit import SkillKit\n{before}"
                given.compare(count, what, (ours, work), (theirs, work), directory)


if __name__ == "__main__":
    main()
