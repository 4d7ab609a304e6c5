"""What most tests need: a project and a home of its own for each."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillpm import SkillManager


class World:
    """A project with skills, which is the working directory, and a home beside it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.project = root / "project"
        self.home = root / "home"
        # A project's root is where its git directory lies.
        (self.project / ".git").mkdir(parents=True)
        self.home.mkdir()

    def write(self, path: str, text: str | bytes) -> Path:
        """Write a file of the project; ``../home/...`` is one of the home."""
        file = self.project / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    def skill(
        self,
        name: str,
        body: str = "Do $ARGUMENTS.\n",
        *,
        description: str | None = None,
        fields: str = "",
        source: str = ".claude/skills",
        directory: str | None = None,
    ) -> Path:
        """Write a skill and return its directory."""
        said = f"Does {name}. Use it in tests." if description is None else description
        text = f"---\nname: {name}\ndescription: {said}\n{fields}---\n{body}"
        return self.write(f"{source}/{directory or name}/SKILL.md", text).parent


def names(manager: SkillManager) -> list[str]:
    """Return the names of the skills that there are."""
    return [skill.name for skill in manager.list_skills()]


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """Return a fresh project, and make it the working directory of this process."""
    world = World(tmp_path.resolve())
    monkeypatch.chdir(world.project)
    monkeypatch.setenv("HOME", str(world.home))
    for variable in (
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
        "XDG_CACHE_HOME",
        "XDG_STATE_HOME",
        "CLAUDE_CONFIG_DIR",
    ):
        monkeypatch.delenv(variable, raising=False)
    return world
