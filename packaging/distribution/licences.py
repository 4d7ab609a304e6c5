"""The licences of all crates that are compiled into the programs, and of what those crates contain.

`overview` is a page of the documentation, `texts` is the file `THIRD-PARTY-LICENSES.txt` of each archive.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from .project import ROOT, TEMPLATES, DistError, run_output, targets, version
from .templates import fill

PAGE = ROOT / "docs" / "reference" / "licences.md"
# Each package that is released as a program or a library of its own.
RELEASED = ("skillpm", "skillpm-registry", "skillpm-python")
# The last is of a crate that may also be used under the LGPL, which `deny.toml` does not accept.
LICENCE_FILE = re.compile(r"(licen[cs]e|copying|copyright|notice|unlicense|mpl-2\.0)", re.IGNORECASE)
# What every program contains besides crates: its label, and who holds the copyright.
STANDARD_LIBRARY = ("the standard library of Rust (MIT OR Apache-2.0)", "The Rust Project Contributors")

# What crates compile that has another author: crate, component, licence, and the file with its text.
BUNDLED = (
    (
        "libgit2-sys",
        "libgit2",
        "GPL-2.0-only with linking exception",
        "libgit2/COPYING",
    ),
    ("libgit2-sys", "llhttp", "MIT", "libgit2/deps/llhttp/LICENSE-MIT"),
    ("libgit2-sys", "PCRE2", "BSD-3-Clause", "libgit2/deps/pcre2/LICENCE.md"),
    ("libz-sys", "zlib", "Zlib", "src/zlib/LICENSE"),
    ("ring", "fiat-crypto", "MIT", "third_party/fiat/LICENSE"),
)


@dataclass(frozen=True)
class Crate:
    """A crate that is compiled into a released program."""

    name: str
    version: str
    licence: str
    directory: Path
    authors: tuple[str, ...] = ()


def crates() -> list[Crate]:
    """Return all crates from registries that are compiled into what is released, by name and version."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1"]
    for target in targets():
        command += ["--filter-platform", target.triple]
    data = json.loads(run_output([*command, "--manifest-path", str(ROOT / "Cargo.toml")]))
    packages = {package["id"]: package for package in data["packages"]}
    nodes = {node["id"]: node for node in data["resolve"]["nodes"]}
    waiting = [package["id"] for package in data["packages"] if package["name"] in RELEASED]
    seen: set[str] = set()
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        # `None` is what is compiled in; the others are for builds and tests.
        waiting += [
            dependency["pkg"]
            for dependency in nodes[current]["deps"]
            if any(kind["kind"] is None for kind in dependency["dep_kinds"])
        ]
    external = [packages[package] for package in seen if packages[package]["source"]]
    for package in external:
        if not package["license"]:
            raise DistError(f"the crate `{package['name']}` states no licence: it cannot be distributed")
    found = [
        Crate(
            package["name"],
            package["version"],
            normalise(package["license"]),
            Path(package["manifest_path"]).parent,
            tuple(package["authors"]),
        )
        for package in external
    ]
    return sorted(found, key=lambda crate: (crate.name, crate.version))


def normalise(expression: str) -> str:
    """Return an SPDX expression with its alternatives in order, so that equal ones look equal."""
    expression = re.sub(r"\s*/\s*", " OR ", expression)
    if " AND " in expression or "(" in expression:
        return expression
    return " OR ".join(sorted(expression.split(" OR "), key=lambda name: (name != "MIT", name)))


def overview(of: list[Crate]) -> str:
    """Return the page of the documentation: each licence with the crates under it."""
    groups: dict[str, set[str]] = {}
    for crate in of:
        groups.setdefault(crate.licence, set()).add(crate.name)
    rows = "".join(
        f"| {licence} | {len(names)} | {', '.join(sorted(names))} |\n"
        for licence, names in sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))
    )
    bundled = "".join(f"| {component} | {crate} | {licence} |\n" for crate, component, licence, _ in BUNDLED)
    text = (TEMPLATES / "licences.md").read_text(encoding="utf-8")
    return fill(text, version(), ROOT, {"CRATES": rows, "BUNDLED": bundled})


def licence_files(crate: Crate) -> list[Path]:
    """Return the files with the text of the licence that is used, and notices."""
    files = sorted(file for file in crate.directory.iterdir() if file.is_file() and LICENCE_FILE.match(file.name))
    is_choice = "MIT" in crate.licence.split(" OR ")
    mit = [file for file in files if "mit" in file.name.lower()]
    if not is_choice or not mit:
        return files
    return mit + [file for file in files if "notice" in file.name.lower()]


def mit(holders: str) -> str:
    """Return the text of the MIT license for the work of `holders`: ours, with another line about the copyright."""
    ours = (ROOT / "LICENSE").read_text(encoding="utf-8").strip()
    text, changed = re.subn(r"^Copyright .*$", lambda _: f"Copyright (c) {holders}", ours, flags=re.MULTILINE)
    if changed != 1:
        raise DistError("`LICENSE` has not one line that begins with `Copyright`")
    return text


def texts(of: list[Crate]) -> str:
    """Return the texts of all licences, each once, below the names of the components under it.

    A crate under the MIT license that lacks the text gets it, with the authors that its manifest names. Raise
    `DistError` for a crate that lacks another text.
    """
    label, holders = STANDARD_LIBRARY
    names: dict[str, list[str]] = {mit(holders): [label]}
    for crate in of:
        label = f"{crate.name} {crate.version} ({crate.licence})"
        files = [(label, file) for file in licence_files(crate)]
        if not files and crate.licence == "MIT":
            names.setdefault(mit(", ".join(crate.authors) or f"the authors of {crate.name}"), []).append(label)
        elif not files:
            raise DistError(f"the crate `{crate.name}` has no text of its licence, `{crate.licence}`")
        for name, component, licence, path in BUNDLED:
            if name == crate.name:
                files.append(
                    (
                        f"{component}, in {crate.name} {crate.version} ({licence})",
                        crate.directory / path,
                    )
                )
        for label, file in files:
            text = file.read_text(encoding="utf-8", errors="replace").replace("\r\n", "\n").strip()
            names.setdefault(text, []).append(label)
    missing = {name for name, *_ in BUNDLED} - {crate.name for crate in of}
    if missing:
        raise DistError(f"no longer a dependency, remove it from `BUNDLED`: {', '.join(sorted(missing))}")
    rule = "=" * 80
    parts = ["skillpm contains the following components. Each is distributed under the license below its name.\n"]
    parts += [
        f"{rule}\n" + "\n".join(dict.fromkeys(labels)) + f"\n{rule}\n\n{text}\n"
        for text, labels in sorted(names.items(), key=lambda entry: entry[1][0])
    ]
    return "\n".join(parts)
