#!/usr/bin/env python3
"""Measures `skillpm registry index` over a large registry against `sha256sum` over the same bytes.

    registry.py PROGRAM [--skills 10000] [--versions 100000] [--rounds 5] [--work DIR]

The registry has records only, the same ones each time: an index reads nothing else. Each round runs one after the
other, so that both find the files in memory: `sha256sum` over all records, `registry index` that writes everything
anew, and `registry index` that finds nothing to change. Shown are medians of processor time and of elapsed time, and
the medians of the rounds' ratios to `sha256sum`. `--make DIR` only writes the registry.
"""

import argparse
import hashlib
import json
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WORDS = ("archive budget calendar contract dataset diagram email form glossary incident inventory invoice log meeting "
         "notebook patent photo query receipt recipe release report schema survey ticket timetable").split()


def digest(text):
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def name(number):
    return f"{WORDS[number % len(WORDS)]}-{number}"


def record(dice, number, skills, version):
    skill = name(number)
    about = " ".join(dice.choice(WORDS) for _ in range(dice.randint(8, 30)))
    fields = {"name": skill, "version": version, "description": f"Works with {about}. Use it for {skill}.",
              "license": "MIT", "tags": [dice.choice(WORDS)], "digest": digest(f"{skill} {version}"),
              "artifact": {"digest": digest(f"{skill} {version} zip"), "size": dice.randint(2000, 60000)},
              "published": f"2026-{dice.randint(1, 12):02}-{dice.randint(1, 28):02}T12:00:00Z"}
    # Dependencies lead to skills with higher numbers only.
    needed = [f"{name(dice.randrange(number + 1, skills))}@^1" for _ in range(dice.randint(0, 3))
              if number + 1 < skills]
    return {**fields, "dependencies": needed} if needed else fields


def make(place, skills, versions):
    """Writes a registry, and returns the paths of its records."""
    dice, paths = random.Random(1), []
    place.mkdir(parents=True)
    (place / "config.json").write_text('{"format": 1, "name": "bench"}\n')
    for number in range(skills):
        directory = place / "index" / name(number)
        directory.mkdir(parents=True)
        for at in range(versions // skills + (number < versions % skills)):
            version = f"1.{at}.{dice.randint(0, 9)}"
            path = directory / f"{version}.json"
            path.write_text(json.dumps(record(dice, number, skills, version), separators=(",", ":")) + "\n")
            paths.append(str(path))
    return paths


def measured(run):
    """Returns the seconds of processor time and of elapsed time that the processes of `run` take."""
    def used():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime
    before, began = used(), time.perf_counter()
    run()
    return used() - before, time.perf_counter() - began


def forget(place):
    """Removes what is derived."""
    for path in (place / "index").glob("*.json"):
        path.unlink()
    for path in ("search.json", ".well-known"):
        path = place / path
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?")
    parser.add_argument("--skills", type=int, default=10_000)
    parser.add_argument("--versions", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--work", type=Path, default=Path("/dev/shm") if Path("/dev/shm").is_dir() else None)
    parser.add_argument("--make", type=Path)
    options = parser.parse_args()
    if options.make:
        return print(f"{len(make(options.make, options.skills, options.versions))} records")
    if not options.program:
        return sys.exit("name the program")
    with tempfile.TemporaryDirectory(dir=options.work) as work:
        place = Path(work) / "registry"
        listing = "\0".join(make(place, options.skills, options.versions)).encode()
        index = [options.program, "registry", "index", "-r", str(place)]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "check": True}
        sums = {"sha256sum": lambda: subprocess.run(["xargs", "-0", "sha256sum"], input=listing, **quiet),
                "index, anew": lambda: subprocess.run(index, **quiet),
                "index, again": lambda: subprocess.run(index, **quiet)}
        times = {what: [] for what in sums}
        for number in range(options.rounds + 1):
            forget(place)
            for what, run in sums.items():
                taken = measured(run)
                # The first round fills the cache of the system.
                if number:
                    times[what].append(taken)
    print("| what | CPU s | elapsed s | CPU ratio | elapsed ratio |\n| --- | --- | --- | --- | --- |")
    floor = times["sha256sum"]
    for what, rows in times.items():
        medians = [statistics.median(column) for column in zip(*rows)]
        ratios = [statistics.median(took[at] / least[at] for took, least in zip(rows, floor)) for at in (0, 1)]
        print(f"| {what} | " + " | ".join(f"{number:.2f}" for number in medians + ratios) + " |")


if __name__ == "__main__":
    main()
