#!/usr/bin/env python3
"""Times MCP servers of skills from their start, and prints medians and ratios.

    mcp.py PROGRAM [JOB ...] [--skills 1000] [--rounds 5] [--python PYTHON] [--beside COMMAND ...] [--skillport PROGRAM]

PROGRAM is `skillpm`. Jobs, all unless some are named:

    list      from the start of the process to the answer with the first page of `skills/list`
    load      `load_skill` of a running server, beside `skillpm invoke` in the same process: the time of one call
    memory    the resident memory after every page was read, with ten times as many skills
    tools     what a client of today waits for: from the start to the answer of the first `load_skill`, then one call of
              `load_skill` and of `search_skills`, and the resident memory

PYTHON has `fastmcp`: its provider is then started in each round, too. So is each COMMAND, a server of the directory that
is added to it as its last word, and `skillport-mcp` for the job `tools`. A round runs all servers one after the other, so that they see the same machine.
"""

import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

VERSION = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
FASTMCP = """
import sys
from pathlib import Path
from fastmcp import FastMCP
from fastmcp.skills.provider import SkillsDirectoryProvider
server = FastMCP("skills")
server.add_provider(SkillsDirectoryProvider(Path(sys.argv[1])))
server.run(show_banner=False)
"""


class Server:
    """A server over standard input and output."""

    def __init__(self, command, cwd):
        quiet = subprocess.DEVNULL
        self.process = subprocess.Popen(
            command, cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=quiet, bufsize=1 << 20
        )
        self.count = 0
        self.is_older = False

    def send(self, message):
        """Sends a message."""
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method, **params):
        """Returns the result of a request."""
        self.count += 1
        # An older client says no version with each message, but at the start.
        meta = {} if self.is_older or method == "initialize" else {"_meta": META}
        self.is_older |= method == "initialize"
        self.send({"jsonrpc": "2.0", "id": self.count, "method": method, "params": {**meta, **params}})
        for line in self.process.stdout:
            answer = json.loads(line)
            if answer.get("id") == self.count:
                if "result" not in answer:
                    sys.exit(f"{method}: {answer}")
                return answer["result"]
        sys.exit(f"{method}: the server ended")

    def memory(self):
        """Returns the resident memory in MiB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1024

    def end(self):
        self.process.stdin.close()
        self.process.wait(30)


def make(root, count):
    """Writes `count` skills of about 20 KB in five files."""
    text = "Read this before you start, and follow each step in order. " * 16
    for number in range(count):
        skill = root / ".agents/skills" / f"skill-{number:05}"
        (skill / "references").mkdir(parents=True)
        (skill / "scripts").mkdir()
        head = f"---\nname: {skill.name}\ndescription: Does job {number}. Use it when job {number} is mentioned.\n---\n\n"
        (skill / "SKILL.md").write_text(f"{head}# Job {number}\n\n{text * 4}")
        for file in ("a", "b", "c"):
            (skill / "references" / f"{file}.md").write_text(f"# {file} of {number}\n\n{text * 5}")
        (skill / "scripts/run.py").write_text(f"print({number})\n" + f"# {text}\n")
    (root / ".git").mkdir()


def with_tools(command, cwd, argument):
    """Returns four figures of a server with the tools `load_skill`, whose argument is called `argument`, and `search_skills`.

    They are the milliseconds to the first answer, of a call and of a search, and the memory in MiB.
    """
    began = time.perf_counter()
    server = Server(command, cwd)

    def timed(tool, **arguments):
        called = time.perf_counter()
        result = server.ask("tools/call", name=tool, arguments=arguments)
        assert not result.get("isError"), result
        return (time.perf_counter() - called) * 1000

    client = {"name": "bench", "version": "1"}
    server.ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=client)
    server.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    timed("load_skill", **{argument: "skill-00007"})
    first = (time.perf_counter() - began) * 1000
    loads = [timed("load_skill", **{argument: f"skill-{number:05}"}) for number in range(100)]
    searches = [timed("search_skills", query=f"job {number}") for number in range(10)]
    memory = server.memory()
    server.end()
    return first, statistics.median(loads), statistics.median(searches), memory


def tools(servers, rounds):
    figures = {name: [] for name in servers}
    for _ in range(rounds):
        for name, (command, cwd, argument) in servers.items():
            figures[name].append(with_tools(command, cwd, argument))
    for name, all_figures in figures.items():
        first, load, search, memory = map(statistics.median, zip(*all_figures))
        print(
            f"tools: {name}: {first:.0f} ms to the first skill, {load:.1f} ms a call, {search:.1f} ms a search, {memory:.0f} MiB"
        )


def first_page(command, cwd):
    """Returns the milliseconds from the start of a server to the first page of its skills, and their number."""
    began = time.perf_counter()
    server = Server(command, cwd)
    skills = server.ask("skills/list")["skills"]
    took = (time.perf_counter() - began) * 1000
    server.end()
    return took, len(skills)


def listing(servers, rounds):
    times = {name: [] for name in servers}
    for _ in range(rounds):
        for name, (command, cwd) in servers.items():
            took, count = first_page(command, cwd)
            times[name].append(took)
            assert count, name
    own = times["skillpm"]
    for name, all_times in times.items():
        ratio = statistics.median(other / mine for other, mine in zip(all_times, own))
        print(f"list: {name}: {statistics.median(all_times):.0f} ms, {ratio:.1f} times skillpm")


def loading(program, root, rounds):
    server = Server([program, "mcp", "--untrusted"], root)
    server.ask("skills/list")
    calls, whole = [], []
    for number in range(50 * rounds):
        began = time.perf_counter()
        name = f"skill-{number % 100:05}"
        result = server.ask("tools/call", name="load_skill", arguments={"name": name})
        calls.append((time.perf_counter() - began) * 1000)
        assert not result.get("isError"), result
    server.end()
    for _ in range(rounds):
        began = time.perf_counter()
        subprocess.run([program, "invoke", "skill-00007"], cwd=root, check=True, stdout=subprocess.DEVNULL)
        whole.append((time.perf_counter() - began) * 1000)
    print(
        f"load: {statistics.median(calls):.2f} ms a call, slowest of a hundred {sorted(calls)[len(calls) * 99 // 100]:.2f} ms;"
        f" `skillpm invoke` as a process {statistics.median(whole):.1f} ms"
    )


def memory(program, root, count):
    server = Server([program, "mcp", "--untrusted"], root)
    cursor, skills = {}, 0
    while True:
        page = server.ask("skills/list", **cursor)
        skills += len(page["skills"])
        if "nextCursor" not in page:
            break
        cursor = {"cursor": page["nextCursor"]}
    assert skills == count, skills
    server.ask("tools/call", name="list_skills", arguments={})
    print(f"memory: {server.memory():.0f} MiB with {count} skills")
    server.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("jobs", nargs="*", choices=["list", "load", "memory", "tools", []])
    parser.add_argument("--skills", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--python")
    parser.add_argument("--beside", action="append", default=[])
    parser.add_argument("--skillport")
    given = parser.parse_args()
    jobs = given.jobs or ["list", "load", "memory", "tools"]
    program = os.path.abspath(given.program)
    with tempfile.TemporaryDirectory() as place:
        root = Path(place).resolve() / "few"
        make(root, given.skills)
        directory = str(root / ".agents/skills")
        servers = {"skillpm": ([program, "mcp", "--untrusted"], root)}
        if given.python:
            servers["fastmcp"] = ([given.python, "-c", FASTMCP, directory], root)
        for command in given.beside:
            words = shlex.split(command)
            servers[Path(words[0]).name] = ([*words, directory], root)
        if "list" in jobs:
            listing(servers, given.rounds)
        if "load" in jobs:
            loading(program, root, given.rounds)
        if "tools" in jobs:
            with_names = {"skillpm": ([program, "mcp", "--untrusted"], root, "name")}
            if given.skillport:
                os.environ["SKILLPORT_SKILLS_DIR"] = directory
                with_names["skillport"] = ([os.path.abspath(given.skillport)], root, "skill_id")
            tools(with_names, given.rounds)
        if "memory" in jobs:
            many = Path(place).resolve() / "many"
            make(many, given.skills * 10)
            memory(program, many, given.skills * 10)


if __name__ == "__main__":
    main()
