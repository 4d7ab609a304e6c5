#!/usr/bin/env python3
"""Runs skillpm beside a floor and beside other validators, and prints medians and ratios.

    compare.py PROGRAM

Each round runs the floor and then the program, so that both see the same machine; the ratio is the
median of the rounds' ratios. CPU is user and system time of the process. The program that runs is a
copy, as an installed one is: a file that a linker wrote here and there lies in small pieces in memory,
and to start from it takes up to a quarter longer. With BENCH_FULL=1 there
are 10,000 skills too and more rounds. Other validators are run where they are installed: on PATH,
or in one of the directories that BENCH_PEERS names. Nothing is installed for this.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

HERE = Path(__file__).resolve().parent
FULL = os.environ.get("BENCH_FULL") == "1"
COUNTS = [1, 100, 1_000, 10_000] if FULL else [1, 100, 1_000]
ROUNDS = 21 if FULL else 9
# Other validators of SKILL.md: the command, its arguments before the path, and whether the path may be a
# directory of many skills. One that takes a single skill is measured with one.
PEERS = [
    ("agentskills", ["validate"], False),
    ("skills-ref", ["validate"], False),
    ("agnix", [], True),
    ("skill-check", ["check", "--no-security-scan"], True),
    ("skilo", ["lint"], True),
]
# Findings are no failure of a tool.
FINDINGS = (0, 1)
# The reference validator as a library: its interpreter starts once for all skills.
LIBRARY = """
import sys
from pathlib import Path
from skills_ref import validate
for skill in sorted(Path(sys.argv[1]).iterdir()):
    validate(skill)
"""


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
        # Kilobytes on Linux, bytes elsewhere.
        self.peak = usage.ru_maxrss / (1024 if sys.platform == "linux" else 1024 * 1024)
        # What `wait4` took, `Popen` need not wait for.
        self.code = child.returncode = os.waitstatus_to_exitcode(status)
        if codes is not None and self.code not in codes:
            sys.exit(f"`{' '.join(map(str, command))}` ended with {self.code}:\n{said}")


def pairs(title, floor, tool, reset=lambda: None, rounds=ROUNDS):
    """Prints one line: `tool` beside `floor`, both called for a `Run`. Returns the peak memory of `tool`, in MiB."""
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
    return max(b.peak for _, b in runs)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    built = Path(sys.argv[1]).resolve()
    with directory(Path("/dev/shm")) as work, directory(built.parent) as beside:
        compare(shutil.copy2(built, beside), Path(work))


def directory(place):
    """A directory for a while: in `place`, or where such are made usually."""
    usable = place.is_dir() and os.access(place, os.W_OK)
    return tempfile.TemporaryDirectory(prefix="skillpm-bench-", dir=place if usable else None)


def compare(program, work):
    floor = str(work / "floor")
    subprocess.run([os.environ.get("CC", "cc"), "-O2", "-o", floor, str(HERE / "floor.c")], check=True)
    # Nothing of the user's is read or written.
    home = work / "home"
    home.mkdir()
    env = {"PATH": os.environ.get("PATH", ""), "HOME": str(home), "TMPDIR": str(work)}
    true = shutil.which("true") or "/bin/true"
    print("\nTimes in milliseconds, medians; a ratio is the median of the rounds' ratios.\n")
    head("floor")
    for count in COUNTS:
        skills = generate(work, count)
        first = sorted(skills.iterdir())[0]

        def run(*command, cwd=work, codes=(0,)):
            return lambda: Run(command, cwd, env, codes)

        def read(directory):
            return run(floor, "read", str(directory))

        if count == 1:
            pairs("`--version` and `true`", run(true), run(program, "--version"), rounds=10 * ROUNDS)
            pairs("validate 1 skill and `true`", run(true), run(program, "validate", str(first)),
                  rounds=10 * ROUNDS)
        else:
            pairs(f"validate {count:,}", read(skills), run(program, "validate", str(skills)))
            catalog(program, skills, count, run, read)
        if count <= 1_000:
            tell = install(program, work, skills, count, floor, run, read)
        if count == 1_000:
            archives(program, work, skills, env)
            tell()
        shutil.rmtree(skills)
    if FULL:
        growth(program, work, env)
    peers(program, work, env)


def catalog(program, skills, count, run, read):
    """The catalog of a directory."""
    pairs(f"catalog {count:,}", read(skills), run(program, "catalog", "--dir", str(skills)))


def install(program, work, skills, count, floor, run, read):
    """Install all into a fresh project, again from the store, and with nothing to do; then list what is there.
    Returns what tells the rest, for many."""
    project, copy, home = work / "project", work / "copy", work / "home"
    command = [program, "install", str(skills), "--skill", "*", "--agent", "claude-code", "--yes"]
    again, copied = [program, "install"], run(floor, "copy", str(skills), str(copy))

    def clear(*places):
        for place in places:
            shutil.rmtree(place, ignore_errors=True)

    def project_only():
        clear(project, copy)
        project.mkdir()
        (project / "skillpm.toml").touch()

    def fresh():
        # Not into a warm store.
        clear(home)
        home.mkdir()
        project_only()

    peak = pairs(f"install {count:,}", copied, run(*command, cwd=project), reset=fresh, rounds=5)
    if count < 1_000:
        # Files this young are read once more, as the clock cannot tell whether they changed since.
        time.sleep(1)
        pairs(f"list {count:,}", read(project / ".agents" / "skills"), run(program, "list", cwd=project))
        return None
    pairs(f"install {count:,}, in the store already", copied, run(*command, cwd=project), reset=project_only, rounds=5)
    pairs(f"reinstall {count:,} from the store", copied, run(*again, cwd=project),
          reset=lambda: clear(copy, project / ".agents", project / ".claude"), rounds=5)
    stat = run(floor, "stat", str(project / ".agents" / "skills"))
    pairs(f"install {count:,}, nothing to do, and `stat`", stat, run(*again, cwd=project))
    if Run([program, "verify", "--help"], project, {"HOME": str(home)}, codes=None).code == 0:
        checked = "find .agents/skills -type f -print0 | sort -z | xargs -0 -n 600 -P 2 sha256sum"
        pairs(f"verify {count:,}, and `sha256sum`", run("sh", "-c", checked, cwd=project),
              run(program, "verify", cwd=project))
    pairs(f"list {count:,}", read(project / ".agents" / "skills"), run(program, "list", cwd=project))
    return lambda: after(program, work, skills, run, command, fresh, peak)


def after(program, work, skills, run, command, fresh, peak):
    """What is told of the installation of many behind the table."""
    print(f"\nPeak memory of the installation of 1,000: {peak:.1f} MiB.\n")
    npm(program, work, skills, run, command, fresh)


def npm(program, work, skills, run, command, fresh):
    """The npm tool `skills` beside skillpm, where it is installed: the same directory, once each."""
    places = os.pathsep.join(filter(None, [os.environ.get("BENCH_PEERS", ""), os.environ.get("PATH", "")]))
    tool = shutil.which("skills", path=places)
    if not tool:
        print("The npm tool `skills` is not installed, so it was not measured.\n")
        return
    other = [tool, "add", str(skills), "--skill", "*", "--agent", "claude-code", "--yes", "--copy"]
    env = {"PATH": places, "HOME": str(work / "home"), "TMPDIR": str(work), "DISABLE_TELEMETRY": "1", "CI": "1"}
    head("skillpm")
    pairs("the npm tool `skills`, 1,000", run(*command, cwd=work / "project"),
          lambda: Run(other, work / "project", env, codes=None), reset=fresh, rounds=1)


def growth(program, work, env):
    """What ten times the skills cost, installed into a fresh project and store."""
    cpu = {}
    for count in (100, 1_000, 10_000):
        skills = generate(work, count)
        command = [program, "install", str(skills), "--skill", "*", "--agent", "claude-code", "--yes"]
        runs = []
        for _ in range(3):
            for place in (work / "project", work / "home"):
                shutil.rmtree(place, ignore_errors=True)
                place.mkdir()
            (work / "project" / "skillpm.toml").touch()
            runs.append(Run(command, work / "project", env))
        cpu[count] = statistics.median(run.cpu for run in runs)
        shutil.rmtree(skills)
    print("\nTen times the skills cost, in CPU time: "
          f"{cpu[1_000] / cpu[100]:.1f} from 100 to 1,000, {cpu[10_000] / cpu[1_000]:.1f} from 1,000 to 10,000.")


def archives(program, work, skills, env):
    """Install all of an archive: a zip file beside `unzip`, a repository beside `curl` and `tar`."""
    commit = "0123456789abcdef" * 2 + "01234567"
    packed, tarred = work / "skills.zip", work / "skills.tar.gz"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(path for path in skills.rglob("*") if path.is_file()):
            archive.write(file, f"repo/skills/{file.relative_to(skills)}")
        archive.comment = commit.encode()
    with tarfile.open(tarred, "w:gz") as archive:
        archive.add(skills, "repo/skills")
    server = serve({"commits": commit.encode(), "zipball": packed.read_bytes(), "tar": tarred.read_bytes()})
    address = f"http://127.0.0.1:{server.server_port}"
    project, other = work / "project", work / "copy"

    def fresh():
        for old in (project, other, work / "home"):
            shutil.rmtree(old, ignore_errors=True)
            old.mkdir()
        (project / "skillpm.toml").touch()

    def beside(title, floor, source):
        command = [program, "install", source, "--skill", "*", "--agent", "claude-code", "--yes"]
        pairs(title, lambda: Run(floor, other, env),
              lambda: Run(command, project, env | {"GITHUB_API_URL": address}), reset=fresh, rounds=5)

    if unzip := shutil.which("unzip"):
        beside("install 1,000 from a zip file, and `unzip -q`", [unzip, "-q", str(packed)], str(packed))
    if shutil.which("curl") and shutil.which("tar"):
        beside("install 1,000 from a server, and `curl` into `tar xz`",
               ["sh", "-c", f"curl -s {address}/tar | tar xz"], "owner/repo")
    server.shutdown()


def serve(answers):
    """A server on this machine; the name in `answers` that is a part of the path says what it sends."""
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            body = next(body for name, body in answers.items() if name in self.path.split("/"))
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def head(beside):
    print(f"| what | {beside} CPU | CPU | ratio | {beside} wall | wall | ratio |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")


def generate(work, count):
    skills = work / f"skills-{count}"
    subprocess.run([sys.executable, str(HERE / "generate.py"), str(count), str(skills)], check=True,
                   stdout=subprocess.DEVNULL)
    return skills


def peers(program, work, env):
    """Other validators beside `skillpm validate`, each in pairs with it."""
    # A script's own interpreter stands in its first line, or is found on PATH, as `node` is.
    places = os.pathsep.join(filter(None, [os.environ.get("BENCH_PEERS", ""), env["PATH"]]))
    found = [(name, path, arguments, many) for name, arguments, many in PEERS
             if (path := shutil.which(name, path=places))]
    if not found:
        print("\nNo other validator is installed, so none was measured: "
              + ", ".join(name for name, _, _ in PEERS) + ".")
        return
    env = env | {"PATH": places}
    skills = generate(work, 1)
    found = [peer for peer in found if works(peer, next(skills.iterdir()), work, env)]
    shutil.rmtree(skills)
    if not found:
        return
    print("\nOther validators beside `skillpm validate`; the ratio is theirs to that of skillpm.\n")
    head("skillpm")
    for count in COUNTS:
        skills = generate(work, count)
        rounds = 3 if count > 100 else 9
        for name, path, arguments, many in found:
            def run(*command):
                return lambda: Run(command, work, env, codes=FINDINGS)

            if count == 1 or many:
                place = sorted(skills.iterdir())[0] if count == 1 else skills
                title = "1 skill" if count == 1 else f"{count:,} skills"
                pairs(f"`{name}`, {title}", run(program, "validate", str(place)),
                      run(path, *arguments, str(place)), rounds=rounds)
            elif python := interpreter(path):
                pairs(f"`{name}`, {count:,} skills in one process", run(program, "validate", str(skills)),
                      run(python, "-c", LIBRARY, str(skills)), rounds=rounds)
        shutil.rmtree(skills)


def works(peer, skill, work, env):
    """Whether the tool can be run at all: one that is broken here ends no benchmark."""
    name, path, arguments, _ = peer
    code = Run([path, *arguments, str(skill)], work, env, codes=None).code
    if code not in FINDINGS:
        print(f"\n`{name}` ended with {code} and was left out.")
    return code in FINDINGS


def interpreter(script):
    """The Python that runs `script` and has the reference library, if there is one."""
    with open(script, "rb") as file:
        line = file.readline().decode(errors="replace")
    python = line[2:].strip()
    if not line.startswith("#!") or "python" not in python or not Path(python).is_file():
        return None
    has = subprocess.run([python, "-c", "import skills_ref"], capture_output=True)
    return python if has.returncode == 0 else None


if __name__ == "__main__":
    main()
