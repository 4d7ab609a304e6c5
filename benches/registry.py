#!/usr/bin/env python3
"""Runs skillpm with registries beside the least that does the same job, and prints medians and ratios.

    registry.py PROGRAM [JOB ...] [--rounds 7] [--work DIR]

Jobs, all unless some are named:

    resolve   50 wishes that need 300 skills, which have 3,000 versions, from a warm cache;
              the floor reads the lists of these skills and walks through their JSON
    index     `registry index` of 10,000 skills with 100,000 versions; the floor is `sha256sum` of the records
    install   100 skills of a registry on a web server; the floor is skillpm with the same skills in one zip file
              on the same server
    search    `search` in a registry of 20,000 skills; the floor is `grep -c` in the same texts, a line for each skill

The registries are the same ones each time. A round runs the floor and then the program, so that both find the files in
memory and see the same machine. CPU is user and system time of the process and its children. The server is nginx, or
Python's where nginx is not installed; its time does not count.

    registry.py --make DIR [--skills 10000] [--versions 100000]

only writes a registry, of records: an index reads nothing else.
"""

import argparse
import contextlib
import functools
import hashlib
import http.server
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from pathlib import Path

from compare import HERE, Run, directory, generate, head, pairs

WORDS = ("archive budget calendar contract dataset diagram email form glossary incident inventory invoice log meeting "
         "notebook patent photo query receipt recipe release report schema survey ticket timetable").split()
NGINX = """daemon off; worker_processes 1; pid PLACE/pid; error_log PLACE/log;
events { worker_connections 256; }
http { access_log off; keepalive_requests 100000; types { application/json json; application/zip zip; }
client_body_temp_path PLACE; proxy_temp_path PLACE; fastcgi_temp_path PLACE; uwsgi_temp_path PLACE; scgi_temp_path PLACE;
server { listen 127.0.0.1:PORT; root ROOT; } }
"""


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


def forget(place):
    """Removes what is derived."""
    for path in (place / "index").glob("*.json"):
        path.unlink()
    for path in ("search.json", ".well-known"):
        path = place / path
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def write_skills(place, skills, versions, wishes):
    """Writes each version of small skills, and returns their directories. Each skill needs the one `wishes` numbers
    further and another one, so that the first ones need all."""
    dice, places = random.Random(1), []
    for number in range(skills):
        for at in range(versions):
            needed = [f"{name(number + wishes)}@^1"] if number + wishes < skills else []
            if number + 1 < skills:
                needed.append(f"{name(dice.randrange(number + 1, skills))}@^1.{dice.randrange(versions // 2 + 1)}")
            dependencies = f"\n  skill-dependencies: {' '.join(needed)}" if needed else ""
            skill = place / str(at) / name(number)
            skill.mkdir(parents=True)
            (skill / "SKILL.md").write_text(
                f"---\nname: {name(number)}\ndescription: Works with {name(number)}. Use it for that.\nlicense: MIT\n"
                f"metadata:\n  version: \"1.{at}.0\"{dependencies}\n---\n\n# Number {number}\n\nVersion {at}.\n")
            places.append(str(skill))
    return places


class Bench:
    """What all jobs need."""

    def __init__(self, program, work, rounds):
        self.program, self.work, self.rounds = str(program), work, rounds
        self.home, self.project = work / "home", work / "project"
        # Nothing of the user's is read or written.
        self.env = {"PATH": os.environ.get("PATH", ""), "HOME": str(self.home), "TMPDIR": str(work)}
        self.fresh("")

    def fresh(self, manifest):
        """Makes a new project with this manifest, and forgets everything that was fetched."""
        for place in (self.home, self.project):
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir()
        (self.project / "skillpm.toml").write_text(manifest)

    def skillpm(self, *arguments):
        return Run([self.program, *arguments], self.project, self.env)

    def floor(self, *command):
        return Run(list(command), self.work, self.env)

    def pairs(self, title, floor, tool, reset=lambda: None):
        pairs(title, floor, tool, reset=reset, rounds=self.rounds)

    def publish(self, skills):
        """Returns a new registry that has the skills in these directories."""
        place = self.work / "registry"
        self.skillpm("registry", "init", str(place), "--name", "bench")
        self.skillpm("registry", "add", "-r", str(place), *skills)
        return place


def manifest(address, names):
    return f'[registries]\ndefault = "{address}"\n\n[skills]\n' + "".join(f'{name} = "*"\n' for name in names)


def resolve(bench):
    skills, versions, wishes = 300, 10, 50
    place = bench.publish(write_skills(bench.work / "skills", skills, versions, wishes))
    walk = str(bench.work / "floor")
    subprocess.run([os.environ.get("CC", "cc"), "-O2", "-o", walk, str(HERE / "floor.c")], check=True)
    lists = sorted(str(path) for path in (place / "index").glob("*.json"))
    with served(bench.work, place) as address:
        bench.fresh(manifest(address, map(name, range(wishes))))
        bench.skillpm("install")
    update = functools.partial(bench.skillpm, "update", "--dry-run", "--offline")
    bench.pairs(f"resolve {wishes} wishes, {skills} skills, {skills * versions:,} versions, and a walk through the lists",
                lambda: bench.floor(walk, "json", *lists), update)
    if jq := shutil.which("jq"):
        bench.pairs("the same, and `jq -c .` of the lists", lambda: bench.floor(jq, "-c", ".", *lists), update)
    bench.pairs("the same, and `install` that does not resolve",
                lambda: bench.skillpm("install", "--dry-run", "--offline"), update)


def index(bench, skills=10_000, versions=100_000):
    place, listing = bench.work / "registry", bench.work / "listing"
    listing.write_text("\0".join(make(place, skills, versions)))
    sums = functools.partial(bench.floor, "xargs", "-0", "-a", str(listing), "sha256sum")
    again = functools.partial(bench.skillpm, "registry", "index", "-r", str(place))
    many = f"{skills:,} skills with {versions:,} versions"
    bench.pairs(f"index {many} anew, and `sha256sum`", sums, again, reset=lambda: forget(place))
    bench.pairs(f"index {many}, nothing changed, and `sha256sum`", sums, again)


def install(bench, count=100):
    skills = generate(bench.work, count)
    for path in skills.glob("*/SKILL.md"):
        with_version(path)
    names = sorted(path.name for path in skills.iterdir())
    place = bench.publish([str(skills / name) for name in names])
    with zipfile.ZipFile(place / "all.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(path for path in skills.rglob("*") if path.is_file()):
            archive.write(file, f"skills/{file.relative_to(skills)}")
    with served(bench.work, place) as address:
        wanted = manifest(address, names)

        def from_zip():
            bench.fresh("")
            return bench.skillpm("install", f"{address}/all.zip", "--skill", "*", "--yes")

        def from_registry():
            bench.fresh(wanted)
            return bench.skillpm("install", "--yes")

        bench.pairs(f"install {count} from a registry, and from one zip file", from_zip, from_registry)


def search(bench, skills=20_000):
    place = bench.work / "registry"
    make(place, skills, skills)
    bench.skillpm("registry", "index", "-r", str(place))
    lines = bench.work / "lines"
    listed = json.loads((place / "search.json").read_text())["skills"]
    lines.write_text("".join(json.dumps(skill, separators=(",", ":")) + "\n" for skill in listed))
    for kind, directory in (("a directory", place), ("a server, cached", None)):
        with contextlib.ExitStack() as stack:
            address = directory or stack.enter_context(served(bench.work, place))
            bench.fresh(manifest(address, []))
            bench.skillpm("search", "timetable")
            # `grep` ends at the first line that matches if its output goes nowhere.
            count = f'test "$(grep -c timetable {lines})" -gt 9'
            bench.pairs(f"search {skills:,} in {kind}, and `grep -c`", lambda: bench.floor("sh", "-c", count),
                        lambda: bench.skillpm("search", "timetable"))


def with_version(path):
    """Gives a generated skill the version that a registry asks for, unless it has one."""
    start, fields, rest = path.read_text().split("---\n", 2)
    if "metadata:\n" not in fields:
        fields += "metadata:\n"
    if "  version:" not in fields:
        fields = fields.replace("metadata:\n", 'metadata:\n  version: "1.0.0"\n')
    path.write_text("---\n".join((start, fields, rest)))


@contextlib.contextmanager
def served(work, root, settings=NGINX):
    """A web server for the files in `root`, by default nginx with these settings; its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    nginx = shutil.which("nginx", path=os.environ.get("PATH", "") + os.pathsep + "/usr/sbin")
    if not nginx:
        handler = type("Quiet", (http.server.SimpleHTTPRequestHandler,),
                       {"protocol_version": "HTTP/1.1", "wbufsize": 1 << 16, "log_message": lambda *_: None})
        kind = type("Queue", (http.server.ThreadingHTTPServer,), {"request_queue_size": 64})
        server = kind(("127.0.0.1", port), functools.partial(handler, directory=str(root)))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{port}"
        return server.shutdown()
    place = work / "nginx"
    place.mkdir(exist_ok=True)
    config = place / "nginx.conf"
    config.write_text(settings.replace("PLACE", str(place)).replace("PORT", str(port)).replace("ROOT", str(root)))
    server = subprocess.Popen([nginx, "-p", str(place), "-c", str(config), "-e", str(place / "log")],
                              stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


JOBS = {job.__name__: job for job in (resolve, index, install, search)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", type=Path)
    parser.add_argument("jobs", nargs="*", choices=[[], *JOBS], metavar="JOB")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--work", type=Path, default=Path("/dev/shm"))
    parser.add_argument("--make", type=Path)
    parser.add_argument("--skills", type=int, default=10_000)
    parser.add_argument("--versions", type=int, default=100_000)
    options = parser.parse_args()
    if options.make:
        return print(f"{len(make(options.make, options.skills, options.versions))} records")
    if not options.program:
        return sys.exit("name the program")
    built = options.program.resolve()
    head("floor")
    for job in options.jobs or JOBS:
        # As an installed program is: see `compare.py`.
        with directory(options.work) as work, tempfile.TemporaryDirectory(dir=built.parent) as beside:
            # The processes of a web server may have a user of their own.
            Path(work).chmod(0o755)
            JOBS[job](Bench(shutil.copy2(built, beside), Path(work), options.rounds))
    return None


if __name__ == "__main__":
    main()
