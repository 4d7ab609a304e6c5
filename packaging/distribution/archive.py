"""Archives with the same bytes wherever they are made of the same files."""

from __future__ import annotations

import gzip
import hashlib
import io
import lzma
import os
import tarfile
import time
import zipfile
from pathlib import Path

# Zip knows no earlier time.
ZIP_EPOCH = 315532800


class Files:
    """The files of an archive: a path with `/`, the bytes, and whether it is a program."""

    def __init__(self) -> None:
        self._files: dict[str, tuple[bytes, bool]] = {}

    def add(self, path: str, data: bytes | str, *, executable: bool = False) -> None:
        """Add a file; a text is written as UTF-8."""
        if path in self._files:
            raise ValueError(f"`{path}` was added twice")
        self._files[path] = (
            data.encode() if isinstance(data, str) else data,
            executable,
        )

    def __getitem__(self, path: str) -> bytes:
        return self._files[path][0]

    def __contains__(self, path: str) -> bool:
        return path in self._files

    def paths(self) -> list[str]:
        """Return all paths in order."""
        return sorted(self._files)

    def items(self) -> list[tuple[str, bytes, bool]]:
        """Return path, bytes and executable bit of each file, in the order of the paths."""
        return [(path, *self._files[path]) for path in self.paths()]

    def below(self, directory: str) -> Files:
        """Return the same files in a directory."""
        moved = Files()
        for path, data, executable in self.items():
            moved.add(f"{directory}/{path}", data, executable=executable)
        return moved

    def write_to(self, directory: Path, epoch: int) -> None:
        """Write the files into a directory, with the time `epoch`."""
        for path, data, executable in self.items():
            file = directory / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
            file.chmod(0o755 if executable else 0o644)
            os.utime(file, (epoch, epoch))


def tar(files: Files, epoch: int) -> bytes:
    """Return a tar archive: sorted, owned by root, with one time."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as out:
        for path, data, executable in files.items():
            entry = tarfile.TarInfo(path)
            entry.size = len(data)
            entry.mtime = epoch
            entry.mode = 0o755 if executable else 0o644
            out.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


def tar_xz(files: Files, epoch: int) -> bytes:
    """Return a tar archive that xz compressed."""
    return lzma.compress(tar(files, epoch), preset=9)


def tar_gz(files: Files, epoch: int) -> bytes:
    """Return a tar archive that gzip compressed, as npm reads it."""
    return gzip.compress(tar(files, epoch), 9, mtime=0)


def zipped(files: Files, epoch: int) -> bytes:
    """Return a zip archive: sorted, with one time, in UTC."""
    buffer = io.BytesIO()
    moment = time.gmtime(max(epoch, ZIP_EPOCH))[:6]
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        for path, data, executable in files.items():
            entry = zipfile.ZipInfo(path, moment)
            entry.create_system = 3
            entry.external_attr = (0o100755 if executable else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            out.writestr(entry, data)
    return buffer.getvalue()


def pack(form: str, files: Files, epoch: int) -> bytes:
    """Return an archive of the form `tar.xz` or `zip`."""
    return {"tar.xz": tar_xz, "zip": zipped}[form](files, epoch)


def unpack(archive: Path) -> Files:
    """Return the files of an archive that `pack` made."""
    files = Files()
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as source:
            for entry in source.infolist():
                files.add(
                    entry.filename,
                    source.read(entry),
                    executable=bool(entry.external_attr >> 16 & 0o100),
                )
    else:
        with tarfile.open(archive) as source:
            for entry in source:
                if data := source.extractfile(entry):
                    files.add(entry.name, data.read(), executable=bool(entry.mode & 0o100))
    return files


def sha256(file: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal digits."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def write_checksums(directory: Path) -> None:
    """Write `NAME.sha256` for each archive of a directory, and `SHA256SUMS` for all its files."""
    made = sorted(
        file
        for file in directory.iterdir()
        if file.is_file() and file.suffix != ".sha256" and file.name != "SHA256SUMS"
    )
    sums = [f"{sha256(file)}  {file.name}\n" for file in made]
    for file, line in zip(made, sums, strict=True):
        if file.name.endswith((".tar.xz", ".zip")):
            file.with_name(f"{file.name}.sha256").write_bytes(line.encode())
    (directory / "SHA256SUMS").write_bytes("".join(sums).encode())
