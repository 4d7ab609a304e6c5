"""Files of skills, and nothing outside of them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from conftest import World

from skillpm import PathError, SkillManager


def test_files_are_read(world: World) -> None:
    world.skill("pdf")
    world.write(".claude/skills/pdf/references/forms.md", "Förms\r\n")
    world.write(".claude/skills/pdf/assets/logo.png", b"\x89PNG\0")
    manager = SkillManager()
    assert manager.read_skill_file("pdf", "references/forms.md") == "Förms\r\n"
    assert manager.read_skill_bytes("pdf", "references/forms.md") == "Förms\r\n".encode()
    assert manager.read_skill_bytes("pdf", "assets/logo.png") == b"\x89PNG\0"
    with pytest.raises(PathError) as raised:
        manager.read_skill_file("pdf", "assets/logo.png")
    assert (raised.value.code, raised.value.hint) == (
        "file-not-text",
        "`read_skill_bytes` reads it",
    )


@pytest.mark.req("S3-FR-11", "S3-SM-5", "S3-US-11", "C16")
@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("../word/SKILL.md", "path-parent"),
        ("references/../../word/SKILL.md", "path-parent"),
        ("..\\word\\SKILL.md", "path-parent"),
        ("/etc/passwd", "path-absolute"),
        ("C:\\x", "path-absolute"),
        ("", "path-empty"),
        ("a\0b", "path-nul"),
        ("nothing.md", "file-not-found"),
        ("references", "file-is-directory"),
        ("sibling/SKILL.md", "path-outside"),
        ("away.md", "path-outside"),
    ],
)
def test_nothing_outside_of_a_skill_is_read(world: World, path: str, code: str) -> None:
    """A check by prefix let a link into a sibling through, `pdf` into `pdf-secret`."""
    world.skill("word")
    world.skill("pdf-secret")
    world.skill("pdf")
    directory = world.write(".claude/skills/pdf/references/a.md", "a").parent.parent
    (directory / "sibling").symlink_to("../pdf-secret")
    (directory / "away.md").symlink_to("/etc/passwd")
    manager = SkillManager()
    for read in (manager.read_skill_file, manager.read_skill_bytes):
        with pytest.raises(PathError) as raised:
            read("pdf", path)
        assert raised.value.code == code


def test_large_files(world: World) -> None:
    world.skill("pdf")
    world.write(".claude/skills/pdf/a.txt", "x" * 101)
    manager = SkillManager()
    with pytest.raises(PathError) as raised:
        manager.read_skill_file("pdf", "a.txt", max_bytes=100)
    assert (raised.value.code, raised.value.hint) == ("too-large", "`max_bytes=101` reads it")
    assert len(manager.read_skill_file("pdf", "a.txt", max_bytes=101)) == 101


@pytest.mark.req("S0-FR-006")
@pytest.mark.skipif(
    sys.platform != "linux", reason="macOS and Windows refuse to make a file whose name is not text"
)
def test_a_name_that_is_no_text(world: World) -> None:
    """It is not listed; the other files are."""
    directory = world.skill("pdf")
    world.write(".claude/skills/pdf/a.md", "a")
    Path(os.fsdecode(os.fsencode(directory) + b"/\xff")).write_bytes(b"")
    assert list(SkillManager().load_skill("pdf").files) == ["a.md"]


@pytest.mark.req("S0-FR-006")
@pytest.mark.skipif(
    os.mkdir not in os.supports_dir_fd,
    reason="a tree that is deeper than any path is made with `dir_fd`, which Windows does not have",
)
def test_files_that_cannot_be_listed(world: World, caplog: pytest.LogCaptureFixture) -> None:
    """A path that is longer than any system call takes."""
    at = os.open(world.skill("pdf"), os.O_DIRECTORY)
    for _ in range(20):
        os.mkdir("d" * 250, dir_fd=at)
        below = os.open("d" * 250, os.O_DIRECTORY, dir_fd=at)
        os.close(at)
        at = below
    os.close(at)
    assert SkillManager().load_skill("pdf").content == "Do $ARGUMENTS.\n"
    assert "the files of the skill `pdf` are not listed" in caplog.text
