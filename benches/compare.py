#!/usr/bin/env python3
"""Runs skillpm beside a floor and beside other tools, and prints medians and ratios.

    compare.py PROGRAM

Each round runs the floor and then the program, so that both see the same machine; the ratio is the
median of the rounds' ratios. CPU is user and system time of the process. With BENCH_FULL=1 there
are 10,000 skills too and more rounds. Other validators are run where they are installed.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
FULL = os.environ.get("BENCH_FULL") == "1"
COUNTS = [1, 100, 1_000, 10_000] if FULL else [1, 100, 1_000]
ROUNDS = 21 if FULL else 9
# Those that take one skill at a time are slow enough to be measured on a few.
OTHERS = {"skills-ref": ["validate"], "agentskills": ["validate"], "skilo": ["lint"]}


class Run:
    """How long one process took, in seconds."""

    def __init__(self, command, cwd, env, codes=(0,)):
        start = time.perf_counter()
        child = subprocess.Popen(command, cwd=cwd, env=env, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        said = child.stderr.read().decode(errors="replace")
        _, status, usage = os.wait4(child.pid, 0)
        self.wall = time.perf_counter() - start
        self.cpu = usage.ru_utime + usage.ru_stime
        child.returncode = os.waitstatus_to_exitcode(status)
        if codes is not None and child.returncode not in codes:
            sys.exit(f"`{' '.join(map(str, command))}` ended with {child.returncode}:\n{said}")


def pairs(title, floor, tool, reset=lambda: None, rounds=ROUNDS):
    """Prints one line: `tool` beside `floor`, both called for a `Run`."""
    runs = []
    for _ in range(rounds + 1):
        reset()
        runs.append((floor(), tool()))
    runs = runs[1:]  # The first one warms the cache.
    row = [title]
    for what in ("cpu", "wall"):
        times = [(getattr(a, what), getattr(b, what)) for a, b in runs]
        base = statistics.median(a for a, _ in times)
        ours = statistics.median(b for _, b in times)
        ratio = statistics.median(b / a for a, b in times if a > 0)
        row += [f"{base * 1e3:.1f}", f"{ours * 1e3:.1f}", f"{ratio:.2f}"]
    print("| " + " | ".join(row) + " |", flush=True)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    program = str(Path(sys.argv[1]).resolve())
    shared = Path("/dev/shm")
    place = shared if shared.is_dir() and os.access(shared, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="skillpm-bench-", dir=place) as name:
        compare(program, Path(name))


def compare(program, work):
    floor = str(work / "floor")
    subprocess.run([os.environ.get("CC", "cc"), "-O2", "-o", floor, str(HERE / "floor.c")], check=True)
    # Nothing of the user's is read or written.
    home = work / "home"
    home.mkdir()
    env = {"PATH": os.environ.get("PATH", ""), "HOME": str(home), "TMPDIR": str(work)}
    true = shutil.which("true") or "/bin/true"
    print("\nTimes in milliseconds, medians; a ratio is the median of the rounds' ratios.\n")
    print("| what | floor CPU | CPU | ratio | floor wall | wall | ratio |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for count in COUNTS:
        skills = work / f"skills-{count}"
        subprocess.run([sys.executable, str(HERE / "generate.py"), str(count), str(skills)], check=True,
                       stdout=subprocess.DEVNULL)
        first = sorted(skills.iterdir())[0]

        def run(*command, cwd=work, codes=(0,)):
            return lambda: Run(command, cwd, env, codes)

        def read(directory):
            return run(floor, "read", str(directory))

        if count == 1:
            pairs("`--version` and `true`", run(true), run(program, "--version"), rounds=10 * ROUNDS)
            pairs("validate 1 skill and `true`", run(true), run(program, "validate", str(first)),
                  rounds=10 * ROUNDS)
            others(pairs, "1 skill and `true`", run(true), run, first)
        else:
            pairs(f"validate {count:,}", read(skills), run(program, "validate", str(skills)))
        if count <= 1_000:
            install(program, work, skills, count, floor, run, read)
        if count == 1_000 and (tool := shutil.which("skilo")):
            pairs("`skilo` 1,000", read(skills), run(tool, "lint", str(skills), codes=None), rounds=3)
        shutil.rmtree(skills)


def install(program, work, skills, count, floor, run, read):
    """Install all into a fresh project, then list what is there."""
    project, copy = work / "project", work / "copy"

    def fresh():
        for old in (project, copy):
            shutil.rmtree(old, ignore_errors=True)
        # Not into a warm store.
        shutil.rmtree(work / "home", ignore_errors=True)
        (work / "home").mkdir()
        project.mkdir()
        (project / "skillpm.toml").touch()

    command = [program, "install", str(skills), "--skill", "*", "--agent", "claude-code", "--yes"]
    pairs(f"install {count:,}", run(floor, "copy", str(skills), str(copy)), run(*command, cwd=project),
          reset=fresh, rounds=5)
    pairs(f"list {count:,}", read(project / ".agents" / "skills"), run(program, "list", cwd=project))


def others(pairs, title, floor, run, skill):
    for tool, arguments in OTHERS.items():
        if path := shutil.which(tool):
            pairs(f"`{tool}` {title}", floor, run(path, *arguments, str(skill), codes=None), rounds=5)


if __name__ == "__main__":
    main()
