"""What comes of loading a skill and of invoking it."""

from __future__ import annotations

import json

import pytest
from conftest import World

from skillpm import ConfigurationError, SkillManager, SkillNotFoundError


@pytest.mark.req("S0-US3.1", "S0-US3.4", "S0-FR-021", "S0-FR-022", "S0-FR-023", "S0-FR-028")
@pytest.mark.req("S0-US5.5", "S0-FR-011", "S0-SC-002", "S1-FR-204.2")
def test_an_invocation_is_the_directory_and_the_body(world: World) -> None:
    directory = world.skill("pdf", "Read $ARGUMENTS now.\n")
    text = SkillManager().invoke_skill("pdf", "a.pdf")
    assert text == f"Base directory for this skill: {directory}\n\nRead a.pdf now.\n"
    assert type(text) is str


@pytest.mark.req("S0-US3.2", "S0-FR-025", "S0-FR-041")
def test_arguments_without_a_placeholder(world: World) -> None:
    world.skill("pdf", "Read.")
    assert SkillManager().invoke_skill("pdf", "a b").endswith("\n\nRead.\n\nARGUMENTS: a b")
    assert SkillManager().invoke_skill("pdf").endswith("\n\nRead.")


@pytest.mark.req("S0-US3.3", "S0-FR-024", "S0-E4", "S0-E5", "S0-SC-006", "S0-FR-026")
def test_placeholders(world: World) -> None:
    world.skill("pdf", "<$ARGUMENTS> <$ARGUMENTS> <$arguments>")
    assert SkillManager().invoke_skill("pdf").endswith("\n\n<> <> <$arguments>")
    assert SkillManager().invoke_skill("pdf", "x").endswith("\n\n<x> <x> <$arguments>")


@pytest.mark.req("S0-FR-023", "C10")
def test_white_space_and_placeholders_in_arguments_stay(world: World) -> None:
    """Of two invocations that differ in white space only, skillkit's cache gave one text."""
    world.skill("pdf", "<$ARGUMENTS>")
    manager = SkillManager()
    for arguments in ("a b", "a  b", " a b ", "a\tb\n", "$ARGUMENTS", "$$ARGUMENTS", "\\1", "é\0"):
        assert manager.invoke_skill("pdf", arguments).endswith(f"\n\n<{arguments}>")


@pytest.mark.req("S0-FR-027")
def test_the_file_is_never_changed(world: World) -> None:
    file = world.skill("pdf") / "SKILL.md"
    before = (file.read_bytes(), file.stat().st_mtime_ns)
    manager = SkillManager()
    manager.invoke_skill("pdf", "x")
    manager.load_skill("pdf")
    assert (file.read_bytes(), file.stat().st_mtime_ns) == before


@pytest.mark.req("S0-US5.1", "S0-FR-007", "S0-FR-039", "S0-K2")
def test_a_loaded_skill(world: World) -> None:
    directory = world.skill("pdf", "\n# PDF\n", fields="license: MIT\n")
    world.write(".claude/skills/pdf/references/forms.md", "forms")
    world.write(".claude/skills/pdf/scripts/fill.py", "")
    skill = SkillManager().load_skill("pdf")
    assert skill.content == "# PDF\n"
    assert skill.base_directory == directory
    assert skill.files == ("references/forms.md", "scripts/fill.py")
    assert skill.metadata.license == "MIT"
    assert (skill.name, skill.description) == (skill.metadata.name, skill.metadata.description)


def test_forms(world: World) -> None:
    world.skill("pdf", "Do it.\n")
    manager = SkillManager()
    assert manager.invoke_skill("pdf", form="bare") == "Do it.\n"
    assert manager.invoke_skill("pdf", form="json").startswith('{"skill_name":"pdf",')
    assert manager.invoke_skill("pdf", form="xml").startswith('<skill_content name="pdf">')
    with pytest.raises(ConfigurationError, match="`form` is one of `plain`"):
        manager.invoke_skill("pdf", form="yaml")  # type: ignore[arg-type]


@pytest.mark.req("S3-US-10")
def test_what_agents_load_is_written_down(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    log = world.root / "audit.jsonl"
    monkeypatch.setenv("SKILLPM_AUDIT", str(log))
    monkeypatch.setenv("SKILLPM_SESSION", "s-1")
    directory = world.skill("pdf")
    manager = SkillManager(directory.parent)
    manager.invoke_skill("pdf", "a.pdf")
    manager.get_skill("pdf")
    with pytest.raises(SkillNotFoundError):
        manager.invoke_skill("none")
    SkillManager(directory.parent, audit=False).invoke_skill("pdf")
    [record] = map(json.loads, log.read_text().splitlines())
    assert (record["event"], record["skill"], record["session"]) == ("activation", "pdf", "s-1")
    assert record["digest"].startswith("sha256:")
    assert record["arguments_digest"].startswith("sha256:")
    assert record["arguments"] is None
    assert record["source"] == f"path:{directory}"
