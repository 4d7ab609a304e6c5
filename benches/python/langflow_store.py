"""Hold `skillpm.langflow.SkillStore` against the bars of time that agents in Langflow need.

Run it where the package is installed, a release build of it:
`python benches/python/langflow_store.py`. It ends with 1 where a bar is missed. Processor time is
measured: a busy machine does not count.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import process_time

from skillpm.langflow import SkillStore

ROUNDS = 20


def milliseconds(work: Callable[[], object]) -> float:
    def once() -> float:
        start = process_time()
        work()
        return (process_time() - start) * 1000

    return statistics.median(once() for _ in range(ROUNDS))


def main() -> int:
    with tempfile.TemporaryDirectory() as directory:
        for number in range(100):
            skill = Path(directory) / f"s{number:03}"
            skill.mkdir()
            (skill / "SKILL.md").write_text(
                f"---\nname: s{number:03}\ndescription: Does one thing well.\n---\n{'word ' * 1000}"
            )
        (Path(directory) / "s000" / "big.md").write_text("x" * 50_000)
        store = SkillStore(directory)
        store.load_skill("s000")
        rows = [
            ("scan of 100 skills", store.scan, 200),
            ("cached load", lambda: store.load_skill("s000"), 100),
            ("file of 50 KB", lambda: store.read_skill_file("s000", "big.md"), 200),
        ]
        missed = 0
        for name, work, bar in rows:
            taken = milliseconds(work)
            missed += taken >= bar
            print(f"{name:20}  {taken:8.3f} ms  of {bar} ms")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
