"""Skills that are not as they should be, and questions that make no sense."""

from __future__ import annotations

import pytest
from conftest import World, names

import skillpm
from skillpm import Diagnostic, SkillManager, SkillParseError

BROKEN = {
    "S0-E1": ("", "frontmatter-missing", "empty"),
    "S0-E2": ("---\nname: bad\ndescription: d\nnonsense\n---\n", "yaml-syntax", "not valid YAML"),
    "S0-US5.2": ("---\ndescription: d\n---\n", "name-missing", "`name` is missing"),
    "S0-US5.3": ("---\nname: bad\n---\n", "description-missing", "`description` is missing"),
}


@pytest.mark.req("S0-E1", "S0-E2", "S0-US5.2", "S0-US5.3", "S0-FR-008", "S0-FR-009", "S0-FR-012")
@pytest.mark.req("S0-FR-013", "S0-FR-014", "S0-FR-039", "S0-SC-007")
@pytest.mark.parametrize("line", BROKEN)
def test_a_skill_that_cannot_be_used_hides_no_other(world: World, line: str) -> None:
    """One bad YAML broke every skill of langchain-skillkit."""
    text, code, reason = BROKEN[line]
    world.skill("good")
    file = world.write(".claude/skills/bad/SKILL.md", text)
    # A name that is missing is that of the directory, as in Claude Code; skillkit refuses it.
    manager = SkillManager(profile="s0" if code == "name-missing" else "default")
    assert names(manager) == ["good"]
    [told] = manager.diagnostics
    assert (told.code, told.severity, told.path) == (code, "error", file)
    assert reason in told.message
    for ask in (manager.get_skill, manager.load_skill, manager.invoke_skill):
        with pytest.raises(SkillParseError, match=reason) as raised:
            ask("bad")
        assert (raised.value.code, raised.value.path) == (code, str(file))
        assert raised.value.hint is not None


@pytest.mark.req("C3")
def test_a_skill_without_a_name_has_that_of_its_directory(world: World) -> None:
    world.write(".claude/skills/plain/SKILL.md", "---\ndescription: d\n---\n")
    manager = SkillManager()
    assert names(manager) == ["plain"]
    assert [told.severity for told in manager.diagnostics] == ["warning"]


@pytest.mark.req("S0-E2", "S0-FR-014")
def test_the_place_of_what_is_wrong(world: World) -> None:
    world.write(".claude/skills/bad/SKILL.md", BROKEN["S0-E2"][0])
    with pytest.raises(SkillParseError) as raised:
        SkillManager().get_skill("bad")
    assert (raised.value.line, raised.value.column) == (4, 1)
    [told] = SkillManager().diagnostics
    assert (told.line, told.column) == (4, 1)


@pytest.mark.req("C3", "C4")
def test_a_file_without_frontmatter_is_a_skill_under_the_profile_s2(world: World) -> None:
    world.write("skills/pdf/SKILL.md", "# PDF\n\nRead it.\n")
    world.write("skills/none/SKILL.md", "")
    manager = SkillManager("skills", profile="langchain-skillkit")
    (skill,) = manager.list_skills()
    assert (skill.name, skill.description) == ("pdf", "")
    assert manager.invoke_skill("pdf", form="bare") == "# PDF\n\nRead it.\n"
    told = [(told.code, told.severity) for told in manager.diagnostics]
    assert told[0] == ("frontmatter-missing", "error"), "nothing at all is not a skill"
    assert {severity for _, severity in told[1:]} == {"warning"}
    assert SkillManager("skills").list_skills() == []


@pytest.mark.req("S0-FR-002")
def test_any_case_of_the_file_s_name(world: World) -> None:
    file = world.skill("pdf") / "SKILL.md"
    file.rename(file.with_name("skill.md"))
    manager = SkillManager(profile="skillkit")
    assert names(manager) == ["pdf"]
    assert manager.diagnostics == []
    assert [told.code for told in SkillManager().diagnostics] == ["file-name"]


@pytest.mark.req("S0-E6")
def test_names_are_used_as_they_are(world: World) -> None:
    for index, name in enumerate(("My Skill!", "../../etc", "a/b", "日本語")):
        world.skill(f'"{name}"', directory=f"d{index}")
    manager = SkillManager(profile="skillkit")
    assert names(manager) == ["My Skill!", "../../etc", "a/b", "日本語"]
    assert manager.diagnostics == []
    assert manager.invoke_skill("../../etc").endswith("d1\n\nDo .\n")


def test_diagnostics_are_values(world: World) -> None:
    world.skill("pdf", fields="licence: MIT\n")
    [told] = SkillManager().diagnostics
    assert (told.code, told.severity, told.line, told.column) == ("unknown-field", "warning", 4, 1)
    assert told == SkillManager().diagnostics[0]
    assert repr(told).startswith("Diagnostic(code='unknown-field', severity='warning', message=")
    assert told.to_dict()["path"] == str(told.path)
    assert Diagnostic("a", "warning", "b") != told


UGLY = [
    "",
    " ",
    "\0",
    "\ud800",
    "..",
    "/",
    ":",
    "a:",
    ":a",
    "project-claude:",
    "é" * 10_000,
    "\x1b[2J",
    "%s{}",
]


@pytest.mark.parametrize("text", UGLY)
def test_whatever_is_asked_is_answered_by_an_exception_of_ours(world: World, text: str) -> None:
    """A panic would not be an `Exception`, and a fault of ours no `SkillpmError`."""
    world.skill("pdf")
    manager = SkillManager(scripts="allow", trusted=True)
    for ask in (
        manager.get_skill,
        manager.load_skill,
        manager.invoke_skill,
        manager.get_skill_tools,
        lambda text: manager.invoke_skill("pdf", form=text),
        lambda text: manager.read_skill_file("pdf", text),
        lambda text: manager.read_skill_file(text, "SKILL.md"),
        lambda text: manager.run_script("pdf", text),
        lambda text: SkillManager(profile=text),
        lambda text: SkillManager(on_duplicate=text),
        lambda text: skillpm.install("./vendor", scope=text),
    ):
        with pytest.raises(skillpm.SkillpmError) as raised:
            ask(text)
        assert not isinstance(raised.value, skillpm.InternalError)


@pytest.mark.parametrize("wrong", [None, 1, b"pdf", ["pdf"], object()])
def test_arguments_of_other_types(world: World, wrong: object) -> None:
    world.skill("pdf")
    manager = SkillManager()
    for ask in (manager.get_skill, manager.invoke_skill, manager.get_skill_tools):
        with pytest.raises(TypeError):
            ask(wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        manager.invoke_skill("pdf", wrong)  # type: ignore[arg-type]
