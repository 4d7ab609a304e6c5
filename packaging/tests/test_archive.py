"""Archives have the same bytes wherever they are made."""

import io
import tarfile
import tempfile
import unittest
import zipfile
from pathlib import Path

from distribution import archive

EPOCH = 1700000000


def files(*paths: str) -> archive.Files:
    """Return a set of files; one below `bin/` is a program."""
    made = archive.Files()
    for path in paths:
        made.add(path, f"text of {path}\n", executable=path.startswith("bin/"))
    return made


class Archives(unittest.TestCase):
    """What decides the bytes is the files alone."""

    def test_the_order_in_which_files_are_added_does_not_matter(self) -> None:
        for form in ("tar.xz", "zip"):
            one = archive.pack(form, files("bin/a", "b", "c/d"), EPOCH)
            other = archive.pack(form, files("c/d", "b", "bin/a"), EPOCH)
            self.assertEqual(one, other, form)

    def test_a_tar_archive_tells_nothing_of_the_machine(self) -> None:
        data = archive.pack("tar.xz", files("bin/a", "b"), EPOCH)
        with tarfile.open(fileobj=io.BytesIO(data)) as made:
            entries = made.getmembers()
        self.assertEqual(
            [(entry.name, entry.mode) for entry in entries],
            [("b", 0o644), ("bin/a", 0o755)],
        )
        owners = {(entry.uid, entry.gid, entry.uname, entry.gname) for entry in entries}
        self.assertEqual(owners, {(0, 0, "", "")})
        self.assertEqual({entry.mtime for entry in entries}, {EPOCH})

    def test_a_zip_archive_has_the_time_in_utc_and_the_executable_bit(self) -> None:
        data = archive.pack("zip", files("bin/a", "b"), EPOCH)
        with zipfile.ZipFile(io.BytesIO(data)) as made:
            entries = made.infolist()
        self.assertEqual({entry.date_time for entry in entries}, {(2023, 11, 14, 22, 13, 20)})
        self.assertEqual(
            [oct(entry.external_attr >> 16) for entry in entries],
            ["0o100644", "0o100755"],
        )

    def test_what_was_packed_is_unpacked(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            for form in ("tar.xz", "zip"):
                path = Path(directory) / f"it.{form}"
                path.write_bytes(archive.pack(form, files("bin/a", "b"), EPOCH))
                self.assertEqual(archive.unpack(path).items(), files("bin/a", "b").items())

    def test_a_path_is_added_once(self) -> None:
        with self.assertRaises(ValueError):
            files("a", "a")
