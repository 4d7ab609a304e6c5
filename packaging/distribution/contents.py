"""What is in the archive of a program."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path

from . import licences
from .archive import Files
from .project import ROOT, DistError, Target, run, run_output, source_date_epoch, version

# The names that each shell looks for.
COMPLETIONS = {
    "bash": "skillpm.bash",
    "zsh": "_skillpm",
    "fish": "skillpm.fish",
    "powershell": "_skillpm.ps1",
    "elvish": "skillpm.elv",
}
SBOM = "skillpm.cdx.json"


def common() -> Files:
    """Return the files that both programs have in their archives."""
    files = Files()
    files.add("BUILD.txt", build_record(run_output(["rustc", "--version"])))
    for name in ("LICENSE", "README.md", "CHANGELOG.md"):
        files.add(name, (ROOT / name).read_bytes())
    files.add("THIRD-PARTY-LICENSES.txt", licences.texts(licences.crates()))
    return files


def build_record(compiler: str) -> str:
    """Return what it takes to build the same programs again: the version, the commit and the compiler."""
    commit = run_output(["git", "-C", str(ROOT), "rev-parse", "HEAD"])
    return f"skillpm {version()}\ncommit {commit}\n{compiler}\n"


def pages(program: Path) -> Files:
    """Return completions and man pages, which the program itself makes."""
    files = Files()
    for shell, name in COMPLETIONS.items():
        files.add(f"completions/{name}", _output(program, ["completions", shell]))
    with tempfile.TemporaryDirectory() as directory:
        _output(program, ["--quiet", "man", "--out", directory])
        for page in sorted(Path(directory).iterdir()):
            files.add(f"man/{page.name}", page.read_bytes())
    return files


def _output(program: Path, arguments: list[str]) -> bytes:
    # Nothing of the machine that builds gets in: no settings, no width of a terminal.
    variables = {
        "PATH": os.environ.get("PATH", ""),
        "SYSTEMROOT": os.environ.get("SYSTEMROOT", ""),
    }
    with tempfile.TemporaryDirectory() as home:
        variables |= {"HOME": home, "USERPROFILE": home}
        done = subprocess.run(
            [str(program), *arguments],
            stdout=subprocess.PIPE,
            env=variables,
            check=False,
        )
    if done.returncode != 0:
        raise DistError(f"`{program} {' '.join(arguments)}` failed with exit code {done.returncode}")
    return done.stdout


def archive_files(
    target: Target,
    program: str,
    executable: Path,
    shared: Files,
    of_program: Files,
    sbom: bytes,
) -> Files:
    """Return the files of the archive of a program, in the directory that bears its name.

    `shared` comes from `common`, `of_program` from `pages` (empty for the server), `sbom` from `bill_of_materials`.
    """
    if not executable.is_file():
        raise DistError(f"`{executable}` does not exist: `packaging/dist.py build {target.triple}` makes it")
    files = Files()
    files.add(target.program(program), executable.read_bytes(), executable=True)
    files.add(SBOM, sbom)
    for some in (shared, of_program):
        for path, data, is_program in some.items():
            files.add(path, data, executable=is_program)
    return files.below(target.archive_stem(program))


def bill_of_materials(target: Target, package: str) -> bytes:
    """Return the CycloneDX document of a package for a target; cargo-cyclonedx has to be installed.

    The same sources give the same bytes: `SOURCE_DATE_EPOCH` sets its time, and it has no serial number.
    """
    # The tool writes beside each manifest of the workspace.
    stem = "skillpm-dist.cdx"
    options = ["--format", "json", "--spec-version", "1.5", "--no-build-deps"]
    options += ["--target", target.triple, "--override-filename", stem]
    try:
        run(
            ["cargo", "cyclonedx", "--quiet", *options],
            {"SOURCE_DATE_EPOCH": str(source_date_epoch())},
        )
        directory = ROOT if package == "skillpm" else ROOT / "crates" / package
        document = json.loads((directory / f"{stem}.json").read_text(encoding="utf-8"))
    finally:
        for made in [
            *ROOT.glob(f"{stem}.json"),
            *ROOT.glob(f"*/{stem}.json"),
            *ROOT.glob(f"crates/*/{stem}.json"),
        ]:
            made.unlink()
    document.pop("serialNumber", None)
    text = json.dumps(document, indent=2, ensure_ascii=False).replace(ROOT.as_uri(), "file:///skillpm")
    return f"{text}\n".replace(str(ROOT), "/skillpm").encode()
