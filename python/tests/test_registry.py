"""A registry in a directory: made, filled, yanked, copied, and installed from."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from conftest import World

from skillpm import ConfigurationError, Project, Registry, SkillpmError


def skill(world: World, name: str, version: str, more: str = "") -> Path:
    fields = f'license: MIT\nmetadata:\n  version: "{version}"\n'
    return world.skill(name, "Do it.\n" + more, fields=fields, source="src")


@pytest.fixture
def registry(world: World) -> Registry:
    """Return a registry with a skill in two versions."""
    registry = Registry("site")
    made = registry.init(name="acme")
    assert (made["name"], made["dry_run"]) == ("acme", False)
    for version in ("1.0.0", "1.1.0"):
        added = registry.add(skill(world, "pdf", version))
        assert [(one["name"], one["version"]) for one in added["added"]] == [("pdf", version)]
    return registry


def test_its_life(world: World, registry: Registry) -> None:
    again = registry.add("src/pdf", dry_run=True)
    assert [one["already"] for one in again["added"]] == [True]
    [listed] = registry.list()["skills"]
    assert (listed["name"], listed["newest"]) == ("pdf", "1.1.0")
    assert (
        registry.yank("pdf@1.1.0", reason="loses pages")["versions"][0]["yanked"] == "loses pages"
    )
    assert registry.list()["skills"][0]["newest"] == "1.0.0"
    assert registry.unyank("pdf@1.1.0")["versions"][0]["yanked"] is None
    checked = registry.verify()
    assert (checked["skills"], checked["versions"], checked["defects"]) == (1, 2, [])
    (world.project / "site" / "index" / "pdf.json").unlink()
    assert registry.verify()["defects"]
    assert registry.index()["versions"] == 2
    assert not registry.verify()["defects"]
    with pytest.raises(SkillpmError) as raised:
        registry.yank("pdf@9.0.0")
    assert raised.value.code


def test_it_is_installed_from(world: World, registry: Registry) -> None:
    world.write("skillpm.toml", '[registries]\ndefault = "./site"\n[skills]\npdf = "^1"\n')
    project = Project(offline=True)
    assert project.registry("default").list("pdf")["skills"][0]["name"] == "pdf"
    [installed] = project.install()["skills"]
    assert installed["version"] == "1.1.0"
    assert project.update("pdf", precise="1.0.0")["skills"][0]["change"] == "updated"
    [newer] = project.outdated()
    assert newer["newest"] == "1.1.0"


def test_it_is_copied(world: World, registry: Registry) -> None:
    copied = registry.mirror("copy", "pdf", no_deps=True)
    assert len(copied["added"]) == 2
    assert not Registry("copy").verify()["defects"]
    written = registry.bundle("skills.zip")
    assert (world.project / "skills.zip").stat().st_size == written["size"]
    with pytest.raises(ConfigurationError, match="exclude each other"):
        registry.mirror("copy", "pdf", locked=True)


def test_tokens_are_kept(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    project = Project()
    registry = project.registry("https://skills.example.com")
    assert project.logins()["logins"] == []
    assert registry.login("secret-token")["origin"] == "https://skills.example.com"
    assert [login["origin"] for login in project.logins()["logins"]] == [
        "https://skills.example.com"
    ]
    assert registry.logout()["removed"]
    with pytest.raises(ConfigurationError):
        project.registry("nobody").login("x")


def test_the_twins(registry: Registry) -> None:
    async def main() -> None:
        listed, checked = await asyncio.gather(registry.alist(), registry.averify())
        assert len(listed["skills"]) == checked["skills"] == 1

    asyncio.run(main())
