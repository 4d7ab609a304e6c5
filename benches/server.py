#!/usr/bin/env python3
"""Runs the server of registries beside nginx with the same files, and prints medians and ratios.

    server.py PROGRAM [JOB ...] [--rounds 5] [--seconds 3] [--work DIR]

PROGRAM is `skillpm-registry`. Jobs, all unless some are named:

    reads     an archive of 20 KB and the list of a skill, with `wrk` on 1 and on 32 connections
    publish   1,000 versions one after the other, of 100 skills of 20 KB: the time of each hundred
    search    200 searches among 20,000 skills: CPU of the server for each
    memory    the resident memory of a server with 1,000, 10,000 and 100,000 versions

A round of `reads` runs nginx and then the server, so that both see the same machine; both write a line of a log for each
request. A ratio is the median of the rounds' ratios.
"""

import argparse
import contextlib
import io
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import time
import urllib.parse
import urllib.request
import zipfile
from pathlib import Path

from compare import directory
from registry import make, name, served

NGINX = """daemon off; worker_processes auto; pid PLACE/pid; error_log PLACE/log;
events { worker_connections 1024; }
http { access_log PLACE/access; keepalive_requests 1000000; etag on;
types { application/json json; application/zip zip; }
client_body_temp_path PLACE; proxy_temp_path PLACE; fastcgi_temp_path PLACE; uwsgi_temp_path PLACE; scgi_temp_path PLACE;
server { listen 127.0.0.1:PORT; root ROOT; } }
"""
# Nothing is refused while it is measured.
SETTINGS = """[limits]
requests-per-minute = 4000000000
publishes-per-hour = 4000000000
"""
UNITS = {"us": 1e-3, "ms": 1.0, "s": 1e3}


class Server:
    """A server of the registry in `place`."""

    def __init__(self, program, work, place):
        settings = work / "settings.toml"
        settings.write_text(SETTINGS)
        self.program, self.place = program, place
        self.child = subprocess.Popen(
            [program, "serve", place, "--listen", "127.0.0.1:0", "--config", settings],
            stdout=subprocess.PIPE, stderr=(work / "server.log").open("w"), text=True)
        self.address = re.search(r"http://\S+", self.child.stdout.readline()).group()

    def __enter__(self):
        # Some versions load after the address is known.
        while True:
            with contextlib.suppress(OSError), urllib.request.urlopen(f"{self.address}/readyz"):
                return self
            time.sleep(0.05)

    def __exit__(self, *_):
        self.child.terminate()
        self.child.wait()

    def token(self):
        made = subprocess.run([self.program, "token", "create", "--account", "bench", "--json", self.place], check=True,
                              capture_output=True)
        return json.loads(made.stdout)["secret"]

    def cpu(self):
        """User and system time of the process, in seconds."""
        fields = Path(f"/proc/{self.child.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self):
        """Resident memory, in MB."""
        status = Path(f"/proc/{self.child.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) * 1024 / 1e6


def archive(skill, version, dice):
    """The archive of a skill of about 20 KB, and its bytes."""
    words = " ".join(dice.choice(("read", "form", "page", "table", "merge", "split", "sign")) for _ in range(300))
    text = (f"---\nname: {skill}\ndescription: Works with {skill}. Use it for {skill}.\nlicense: MIT\nmetadata:\n"
            f"  version: '{version}'\n---\n\n# {skill}\n\n{words}\n")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("SKILL.md", text)
        # What is random is not compressed.
        file.writestr("references/data.csv", dice.randbytes(9_000).hex())
    return out.getvalue()


def publish_one(server, token, skill, version, dice):
    request = urllib.request.Request(f"{server.address}/api/v1/skills/{skill}/versions/{version}", method="PUT",
                                     data=archive(skill, version, dice), headers={"Authorization": f"Bearer {token}"})
    urllib.request.urlopen(request).read()


def init(program, work):
    place = work / "registry"
    subprocess.run([program, "init", place, "--name", "bench"], check=True, capture_output=True)
    return place


def wrk(url, connections, seconds):
    """Requests for each second, and the 99th percentile in milliseconds."""
    said = subprocess.run(["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", url], check=True,
                          capture_output=True, text=True).stdout
    if "Non-2xx" in said or "Socket errors" in said:
        sys.exit(said)
    number, unit = re.search(r"99%\s+([\d.]+)(\w+)", said).groups()
    return float(re.search(r"Requests/sec:\s+([\d.]+)", said).group(1)), float(number) * UNITS[unit]


def reads(program, work, options):
    if not shutil.which("nginx", path=os.environ.get("PATH", "") + os.pathsep + "/usr/sbin"):
        sys.exit("nginx was not found")
    place, dice = init(program, work), random.Random(1)
    with Server(program, work, place) as server, served(work, place, NGINX) as other:
        token = server.token()
        for number in range(20):
            publish_one(server, token, name(number), "1.0.0", dice)
        file = next((place / "artifacts").rglob("*.zip"))
        print("\n| what | connections | nginx, requests/s | server | ratio | nginx, 99 % ms | server | ratio |")
        print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
        for what, path in (("an archive", f"/{file.relative_to(place)}"), ("the list of a skill", f"/index/{name(0)}.json")):
            for connections in (1, 32):
                rounds = [(wrk(other + path, connections, options.seconds),
                           wrk(server.address + path, connections, options.seconds)) for _ in range(options.rounds)]
                row = [what, connections]
                for at, form in ((0, "{:,.0f}"), (1, "{:.2f}")):
                    row += [form.format(statistics.median(one[at] for one, _ in rounds)),
                            form.format(statistics.median(two[at] for _, two in rounds)),
                            f"{statistics.median(two[at] / one[at] for one, two in rounds):.2f}"]
                print("| " + " | ".join(map(str, row)) + " |", flush=True)


def publish(program, work, options):
    place, dice = init(program, work), random.Random(1)
    with Server(program, work, place) as server:
        token, times = server.token(), []
        for at in range(1_000):
            if at % 100 == 0:
                times.append(-time.perf_counter())
            publish_one(server, token, name(at % 100), f"1.{at // 100}.0", dice)
            if at % 100 == 99:
                times[-1] += time.perf_counter()
        print("\n1,000 publishes in a row, milliseconds for each, by hundreds: "
              + " ".join(f"{one * 10:.1f}" for one in times) + f"; the last hundred to the first: {times[-1] / times[0]:.2f}")


def indexed(program, work, skills, versions):
    """A registry of records, as a server reads it."""
    place = init(program, work)
    config = (place / "config.json").read_text()
    shutil.rmtree(place)
    make(place, skills, versions)
    (place / "config.json").write_text(config)
    return place


def search(program, work, options):
    with Server(program, work, indexed(program, work, 20_000, 20_000)) as server:
        for path in ("/api/v1/search?q=", "/?q="):
            before = server.cpu()
            for at in range(200):
                words = ("timetable", "invoice budget", "form", "reads", "calendar-7")[at % 5]
                urllib.request.urlopen(server.address + path + urllib.parse.quote(words)).read()
            print(f"\nsearch of 20,000 skills, `{path}`: {(server.cpu() - before) * 1e3 / 200:.2f} ms of CPU each")


def memory(program, work, options):
    print("\n| versions | skills | start, s | memory, MB | 100 MB + 1 KB each |")
    print("| ---: | ---: | ---: | ---: | ---: |")
    for skills, versions in ((1_000, 1_000), (1_000, 10_000), (10_000, 100_000)):
        place = indexed(program, work, skills, versions)
        start = time.perf_counter()
        with Server(program, work, place) as server:
            took = time.perf_counter() - start
            print(f"| {versions:,} | {skills:,} | {took:.1f} | {server.memory():.0f} | {100 + versions / 1e3:.0f} |", flush=True)
        shutil.rmtree(place)


JOBS = {job.__name__: job for job in (reads, publish, search, memory)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("jobs", nargs="*", choices=[[], *JOBS], metavar="JOB")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--work", type=Path, default=Path("/dev/shm"))
    options = parser.parse_args()
    for job in options.jobs or JOBS:
        with directory(options.work) as work:
            # The processes of nginx may have a user of their own.
            Path(work).chmod(0o755)
            JOBS[job](str(options.program.resolve()), Path(work), options)


if __name__ == "__main__":
    main()
