"""Compiling the programs and the wheel so that every machine gets the same bytes."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from .project import PROGRAMS, ROOT, DistError, Target, run, source_date_epoch

# The oldest glibc on which the programs run: CentOS 7 has it, and so does every Debian since 8.
GLIBC = "2.17"


def target_directory() -> Path:
    """Return the directory that cargo builds in."""
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()


def program_path(target: Target, program: str, profile: str = "release") -> Path:
    """Return where cargo puts a program."""
    return target_directory() / target.triple / profile / target.program(program)


def environment() -> dict[str, str]:
    """Return the variables of a reproducible build: no path of this machine gets into a program."""
    cargo_home = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo")).resolve()
    # Where several match, rustc takes the last one; the target directory is usually below the sources.
    renamed = [
        (cargo_home, "/cargo"),
        (ROOT, "/skillpm"),
        (target_directory(), "/target"),
    ]
    rust = [os.environ.get("RUSTFLAGS", "")]
    rust += [f"--remap-path-prefix={path}={name}" for path, name in renamed]
    variables = {
        "RUSTFLAGS": " ".join(rust).strip(),
        "SOURCE_DATE_EPOCH": str(source_date_epoch()),
        "CARGO_INCREMENTAL": "0",
    }
    if sys.platform != "win32":
        c = [os.environ.get("CFLAGS", "")]
        c += [f"-ffile-prefix-map={path}={name}" for path, name in renamed]
        variables["CFLAGS"] = " ".join(c).strip()
    return variables


def cargo_target(target: Target) -> str:
    """Return the name under which the build tool knows the target, with the oldest glibc."""
    return f"{target.triple}.{GLIBC}" if target.triple.endswith("-gnu") else target.triple


def build_programs(target: Target, profile: str = "release") -> None:
    """Compile both programs for a target, each by itself.

    Together they would share features of crates, and the program would carry what only the server needs.
    """
    platform = ("--profile", profile, "--target", cargo_target(target))
    for program in PROGRAMS:
        run(
            ["cargo", target.build, "--locked", *platform, "--package", program, "--bin", program],
            environment(),
        )


def build_wheel(target: Target, into: Path, profile: str) -> None:
    """Build the wheel of the Python package for a target; maturin has to be installed."""
    command = [
        "maturin",
        "build",
        "--locked",
        "--profile",
        profile,
        "--target",
        target.triple,
    ]
    if target.build == "zigbuild":
        command.append("--zig")
    if target.npm_os == "linux":
        command += [
            "--compatibility",
            target.wheel.rsplit("_x86_64", 1)[0].rsplit("_aarch64", 1)[0],
        ]
    variables = {
        **environment(),
        "PYO3_NO_PYTHON": "1",
        "PYO3_BUILD_EXTENSION_MODULE": "1",
    }
    run([*command, "--out", str(into)], variables, ROOT / "python")
    if not list(into.glob(f"skillpm_py-*{target.wheel}*.whl")):
        raise DistError(f"maturin built no wheel for `{target.wheel}` in `{into}`")
