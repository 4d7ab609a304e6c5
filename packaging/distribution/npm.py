"""The npm packages: `@skillpm/cli`, which starts the program, and one package with the program per platform.

npm installs the package that fits `os`, `cpu` and `libc`; no script runs during an installation.
"""

from __future__ import annotations

import json
from pathlib import Path

from .archive import Files, tar_gz, unpack
from .project import REPOSITORY, TEMPLATES, Target
from .templates import fill

SCOPE = "@skillpm"


def platform(target: Target) -> str:
    """Return the end of the package's name, such as `linux-x64-musl`."""
    suffix = "-musl" if target.npm_libc == "musl" else ""
    return f"{target.npm_os}-{target.npm_cpu}{suffix}"


def package_name(target: Target) -> str:
    """Return the name of the package with the program for a target."""
    return f"{SCOPE}/cli-{platform(target)}"


def file_name(name: str, version: str) -> str:
    """Return the name that `npm pack` gives to the file of a package."""
    return f"{name.removeprefix('@').replace('/', '-')}-{version}.tgz"


def _manifest(name: str, version: str, description: str, more: dict[str, object]) -> str:
    manifest = {
        "name": name,
        "version": version,
        "description": description,
        "license": "MIT",
        "repository": {
            "type": "git",
            "url": f"git+{REPOSITORY}.git",
            "directory": "packaging",
        },
        "homepage": REPOSITORY,
        "publishConfig": {"access": "public", "provenance": True},
        **more,
    }
    return json.dumps(manifest, indent=2) + "\n"


def platform_package(target: Target, version: str, archive: Path) -> Files:
    """Return the package with the program of an archive."""
    stem = target.archive_stem("skillpm")
    inside = unpack(archive)
    limits: dict[str, object] = {"os": [target.npm_os], "cpu": [target.npm_cpu]}
    if target.npm_libc:
        limits["libc"] = [target.npm_libc]
    program = target.program("skillpm")
    files = Files()
    files.add(
        "package.json",
        _manifest(
            package_name(target),
            version,
            f"The program skillpm for {platform(target)}",
            limits,
        ),
    )
    files.add(
        "README.md",
        f"# {package_name(target)}\n\nThe program of the package `{SCOPE}/cli` for this platform: install that one.\n",
    )
    files.add(f"bin/{program}", inside[f"{stem}/{program}"], executable=True)
    for name in ("LICENSE", "THIRD-PARTY-LICENSES.txt"):
        files.add(name, inside[f"{stem}/{name}"])
    return files


def command_package(targets: list[Target], version: str, dist: Path, licence: bytes) -> Files:
    """Return the package `@skillpm/cli`, which depends on one package per platform and starts its program."""
    packages: dict[str, list[str]] = {}
    for target in targets:
        packages.setdefault(f"{target.npm_os}-{target.npm_cpu}", []).append(package_name(target))
    more: dict[str, object] = {
        "keywords": ["agent-skills", "skill-md", "package-manager", "agents", "llm"],
        "bin": {"skillpm": "bin/skillpm.js"},
        "files": ["bin"],
        "engines": {"node": ">=18"},
        "optionalDependencies": {package_name(target): version for target in targets},
    }
    values = {"PACKAGES": json.dumps(packages, indent=2)}
    text = {name: (TEMPLATES / "npm" / name).read_text(encoding="utf-8") for name in ("skillpm.js", "README.md")}
    files = Files()
    files.add(
        "package.json",
        _manifest(f"{SCOPE}/cli", version, "Package manager for Agent Skills", more),
    )
    files.add("README.md", fill(text["README.md"], version, dist))
    files.add("LICENSE", licence)
    files.add(
        "bin/skillpm.js",
        fill(text["skillpm.js"], version, dist, values),
        executable=True,
    )
    return files


def write(name: str, version: str, files: Files, into: Path, epoch: int) -> Path:
    """Write a package as `npm pack` does and return the file."""
    into.mkdir(parents=True, exist_ok=True)
    file = into / file_name(name, version)
    file.write_bytes(tar_gz(files.below("package"), epoch))
    return file
