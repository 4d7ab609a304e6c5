#!/usr/bin/env python3
"""Makes what a release of skillpm consists of, in `target/dist`; `packaging/README.md` describes it."""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path

from distribution import archive, build, contents, licences, linux, npm, templates
from distribution.project import (
    PACKAGING,
    PROGRAMS,
    REPOSITORY,
    ROOT,
    DistError,
    Target,
    source_date_epoch,
    target,
    targets,
    version,
)

INSTALLERS = ("install.sh", "install.ps1")
MANIFESTS = "skillpm-manifests.tar.gz"
# A link in the changelog to another file of the repository.
LINK = re.compile(r"(\]\()(?!https?:|mailto:|#)([^)\s]+\))")


def make_archives(of: Target, dist: Path, profile: str) -> None:
    """Write the archives of both programs for a target, which `build` compiled, with their bills of materials."""
    shared = contents.common()
    for program in PROGRAMS:
        executable = build.program_path(of, program, profile)
        pages = contents.pages(executable) if program == "skillpm" else archive.Files()
        sbom = contents.bill_of_materials(of, program)
        write_archive(
            of,
            program,
            dist,
            contents.archive_files(of, program, executable, shared, pages, sbom),
        )


def write_archive(of: Target, program: str, dist: Path, files: archive.Files) -> None:
    """Write one archive into `dist`."""
    dist.mkdir(parents=True, exist_ok=True)
    name = of.archive_name(program)
    (dist / name).write_bytes(archive.pack(of.archive, files, source_date_epoch()))
    print(f"made {name}")


def make_packages(dist: Path) -> list[str]:
    """Make everything that consists of archives in `dist`; return what was left out, with the reason."""
    epoch, number = source_date_epoch(), version()
    left_out: list[str] = []
    made: list[Target] = []
    for of in targets():
        file = dist / of.archive_name("skillpm")
        if not file.is_file():
            left_out.append(f"{of.triple}: `{file.name}` was not made here")
            continue
        made.append(of)
        npm.write(
            npm.package_name(of),
            number,
            npm.platform_package(of, number, file),
            dist / "npm",
            epoch,
        )
        for kind, tool, write in (
            (of.deb, "dpkg-deb", linux.write_deb),
            (of.rpm, "rpmbuild", linux.write_rpm),
        ):
            if kind and not linux.has_tool(tool):
                left_out.append(f"{of.triple}: `{tool}` was not found")
            elif kind:
                write(of, number, file, dist, epoch)
    # It names all platforms, also where not all of them were built.
    licence = (ROOT / "LICENSE").read_bytes()
    command = npm.command_package(targets(), number, dist, licence)
    npm.write(f"{npm.SCOPE}/cli", number, command, dist / "npm", epoch)
    values = {"DATE": datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%d")}
    for manifest in ("homebrew", "scoop", "winget", "pre-commit"):
        try:
            templates.fill_directory(manifest, dist / "manifests" / manifest, number, dist, values)
        except templates.MissingArchive as error:
            left_out.append(f"{manifest}: {error}")
    write_hooks(dist / "manifests" / "pre-commit")
    write_manifests(dist, epoch)
    for name in INSTALLERS:
        shutil.copyfile(PACKAGING / name, dist / name)
    archive.write_checksums(dist)
    return left_out


def write_hooks(into: Path) -> None:
    """Write the hooks of this repository so that they install the released program instead of compiling it."""
    hooks = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    (into / ".pre-commit-hooks.yaml").write_bytes(hooks.replace("language: rust", "language: python").encode())


def write_manifests(dist: Path, epoch: int) -> None:
    """Write the manifests into one file, which is a part of the release and has a checksum like the others."""
    files = archive.Files()
    for file in sorted((dist / "manifests").rglob("*")):
        if file.is_file():
            files.add(file.relative_to(dist).as_posix(), file.read_bytes())
    (dist / MANIFESTS).write_bytes(archive.tar_gz(files, epoch))


def matrix() -> str:
    """Return the matrix of the release workflow: one job per row of `targets.tsv`."""
    rows = [{"triple": of.triple, "runner": of.runner, "build": of.build} for of in targets()]
    return json.dumps({"include": rows})


def check_tag(tag: str) -> None:
    """Raise `DistError` unless a tag names the version of `Cargo.toml` and the changelog has it, with a date."""
    if tag != f"v{version()}":
        raise DistError(f"the tag `{tag}` is not the version of `Cargo.toml`: `v{version()}` is expected")
    check_changelog(version(), (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))


def check_changelog(of_version: str, changelog: str) -> None:
    """Raise `DistError` unless the changelog has a section of the version whose heading has a date."""
    changes(of_version, changelog)
    if not re.search(rf"^## \[{re.escape(of_version)}\] - \d{{4}}-\d\d-\d\d$", changelog, re.MULTILINE):
        raise DistError(f"the heading `## [{of_version}]` of `CHANGELOG.md` has no date: `- YYYY-MM-DD` is expected")


def changes(of_version: str, changelog: str) -> str:
    """Return the section of a version in the changelog, or raise `DistError` if there is none."""
    head = rf"^## \[{re.escape(of_version)}\][^\n]*\n(.*?)(?=^## |\Z)"
    found = re.search(head, changelog, re.MULTILINE | re.DOTALL)
    if not found or not found.group(1).strip():
        raise DistError(f"`CHANGELOG.md` has no section `## [{of_version}]`")
    return found.group(1).strip() + "\n"


def notes() -> str:
    """Return the text of the release on GitHub: what changed, and how to install and verify it."""
    text = (templates.TEMPLATES / "notes.md").read_text(encoding="utf-8")
    changed = changes(version(), (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    # The page of a release is not beside the files of the repository.
    changed = LINK.sub(rf"\g<1>{REPOSITORY}/blob/v{version()}/\g<2>", changed)
    return templates.fill(text, version(), ROOT, {"CHANGES": changed})


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    top = argparse.ArgumentParser(prog="dist.py", description=__doc__)
    default = build.target_directory() / "dist"
    top.add_argument(
        "--out",
        type=Path,
        default=default,
        help="where the release is made [default: target/dist]",
    )
    top.add_argument(
        "--profile",
        default="release",
        help="the profile of Cargo.toml [default: release]",
    )
    commands = top.add_subparsers(dest="command", required=True)
    for name, text in (
        ("build", "compile both programs for a target"),
        ("archive", "make the archives of what `build` compiled"),
        ("wheel", "build the wheel of the Python package for a target"),
    ):
        commands.add_parser(name, help=text).add_argument("triple")
    commands.add_parser(
        "packages",
        help="make packages, manifests and checksums of the archives that are there",
    )
    commands.add_parser("all", help="build, archive and package what this machine can build")
    commands.add_parser("matrix", help="print the targets as a matrix of GitHub Actions")
    commands.add_parser("check-tag", help="check that a tag fits version and changelog").add_argument("tag")
    commands.add_parser("notes", help="print the text of the release on GitHub")
    commands.add_parser("licences", help="write docs/reference/licences.md")
    return top


def run(arguments: argparse.Namespace) -> None:
    """Carry out one command."""
    dist: Path = arguments.out
    match arguments.command:
        case "build":
            build.build_programs(target(arguments.triple), arguments.profile)
        case "archive":
            make_archives(target(arguments.triple), dist, arguments.profile)
        case "wheel":
            # In its own profile a panic unwinds, and becomes an exception.
            profile = "wheel" if arguments.profile == "release" else arguments.profile
            build.build_wheel(target(arguments.triple), dist / "wheels", profile)
        case "packages":
            finish(make_packages(dist))
        case "all":
            for of in targets():
                if of.is_built_here:
                    build.build_programs(of, arguments.profile)
                    make_archives(of, dist, arguments.profile)
            finish(make_packages(dist))
        case "matrix":
            print(matrix())
        case "check-tag":
            check_tag(arguments.tag)
        case "notes":
            print(notes(), end="")
        case "licences":
            licences.PAGE.write_bytes(licences.overview(licences.crates()).encode())


def finish(left_out: list[str]) -> None:
    """Say what was left out. A release, for which `SKILLPM_DIST_COMPLETE` is set, has to be complete."""
    for reason in left_out:
        print(f"left out: {reason}", file=sys.stderr)
    if left_out and os.environ.get("SKILLPM_DIST_COMPLETE"):
        raise DistError("the release is not complete")


def main() -> int:
    """Run the command line and return the exit code."""
    try:
        run(parser().parse_args())
    except DistError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
