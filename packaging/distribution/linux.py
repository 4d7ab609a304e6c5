"""Packages for Debian and Fedora and their relatives, from the archives for glibc.

`dpkg-deb` and `rpmbuild` write them: Debian and Ubuntu have both, and the same files give the same bytes.
"""

from __future__ import annotations

import gzip
import hashlib
import shutil
import tempfile
from pathlib import Path

from .archive import Files, unpack
from .project import TEMPLATES, Target, run
from .templates import fill

# Where each system looks for completions, besides those of bash.
DEBIAN_COMPLETIONS = {
    "skillpm.bash": "usr/share/bash-completion/completions/skillpm",
    "_skillpm": "usr/share/zsh/vendor-completions/_skillpm",
    "skillpm.fish": "usr/share/fish/vendor_completions.d/skillpm.fish",
}
FEDORA_COMPLETIONS = {
    **DEBIAN_COMPLETIONS,
    "_skillpm": "usr/share/zsh/site-functions/_skillpm",
}


def has_tool(tool: str) -> bool:
    """Report whether this machine has the program that writes a package."""
    return shutil.which(tool) is not None


def installed_files(target: Target, archive: Path, completions: dict[str, str]) -> Files:
    """Return what a package installs, with paths from the root."""
    stem = target.archive_stem("skillpm")
    inside = unpack(archive)
    files = Files()
    files.add("usr/bin/skillpm", inside[f"{stem}/skillpm"], executable=True)
    for name, path in completions.items():
        files.add(path, inside[f"{stem}/completions/{name}"])
    for path in inside.paths():
        if path.startswith(f"{stem}/man/"):
            page = Path(path).name
            files.add(f"usr/share/man/man1/{page}.gz", gzip.compress(inside[path], 9, mtime=0))
    for name in ("THIRD-PARTY-LICENSES.txt", "skillpm.cdx.json"):
        files.add(f"usr/share/doc/skillpm/{name}", inside[f"{stem}/{name}"])
    changes = gzip.compress(inside[f"{stem}/CHANGELOG.md"], 9, mtime=0)
    files.add("usr/share/doc/skillpm/changelog.gz", changes)
    files.add("usr/share/doc/skillpm/copyright", inside[f"{stem}/LICENSE"])
    return files


def write_deb(target: Target, version: str, archive: Path, dist: Path, epoch: int) -> Path:
    """Write the Debian package of an archive and return the file."""
    files = installed_files(target, archive, DEBIAN_COMPLETIONS)
    size = sum(len(data) for _, data, _ in files.items())
    values = {"ARCHITECTURE": target.deb, "INSTALLED_SIZE": str(size // 1024 + 1)}
    control = (TEMPLATES / "deb" / "control").read_text(encoding="utf-8")
    sums = "".join(f"{hashlib.md5(data).hexdigest()}  {path}\n" for path, data, _ in files.items())
    files.add("DEBIAN/control", fill(control, version, dist, values))
    files.add("DEBIAN/md5sums", sums)
    made = dist / f"skillpm_{version}-1_{target.deb}.deb"
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory) / "root"
        files.write_to(root, epoch)
        for path in [root, *root.rglob("*")]:
            if path.is_dir():
                path.chmod(0o755)
        run(
            ["dpkg-deb", "--root-owner-group", "-Zxz", "--build", str(root), str(made)],
            {"SOURCE_DATE_EPOCH": str(epoch)},
            quiet=True,
        )
    return made


def write_rpm(target: Target, version: str, archive: Path, dist: Path, epoch: int) -> Path:
    """Write the RPM of an archive and return the file."""
    files = installed_files(target, archive, FEDORA_COMPLETIONS)
    spec = (TEMPLATES / "rpm" / "skillpm.spec").read_text(encoding="utf-8")
    kinds = {"usr/share/man/": "%doc ", "usr/share/doc/": "%doc "}
    lines = []
    for path, _, executable in files.items():
        kind = next((kind for start, kind in kinds.items() if path.startswith(start)), "")
        lines.append(f"%attr({'0755' if executable else '0644'}, root, root) {kind}/{path}")
    with tempfile.TemporaryDirectory() as directory:
        top = Path(directory)
        files.write_to(top / "files", epoch)
        values = {
            "FILES": str(top / "files"),
            "LIST": "\n".join(["%dir /usr/share/doc/skillpm", *lines]),
        }
        (top / "skillpm.spec").write_text(fill(spec, version, dist, values), encoding="utf-8")
        defines = ["--define", f"_topdir {top}", "--define", f"_rpmdir {top}/made"]
        run(
            ["rpmbuild", "--quiet", "-bb", "--target", target.rpm, *defines, str(top / "skillpm.spec")],
            {"SOURCE_DATE_EPOCH": str(epoch)},
            quiet=True,
        )
        (built,) = (top / "made").rglob("*.rpm")
        made = dist / f"skillpm-{version}-1.{target.rpm}.rpm"
        shutil.copyfile(built, made)
    return made
