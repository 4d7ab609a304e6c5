"""Which skills a manager finds, and what it says of them."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest
from conftest import World, names

from skillpm import ConfigurationError, PathError, SkillManager, SkillNotFoundError, StorageError


@pytest.mark.req("S0-US1.1", "S0-FR-001", "S0-FR-003", "S0-FR-017")
def test_skills_of_the_project_are_found(world: World) -> None:
    for name in ("pdf", "code-reviewer", "git-helper"):
        world.skill(name)
    found = SkillManager().list_skills()
    assert [skill.name for skill in found] == ["code-reviewer", "git-helper", "pdf"]
    assert [skill.description for skill in found] == [
        f"Does {skill.name}. Use it in tests." for skill in found
    ]


def test_an_agent_s_view(world: World) -> None:
    world.skill("pdf", description="The project's.")
    world.skill("pdf", description="Mine.", source="../home/.claude/skills")
    world.skill("xlsx", source=".agents/skills")
    assert SkillManager().get_skill("pdf").description == "The project's."
    claude = SkillManager(agent="claude-code")
    assert names(claude) == ["pdf"], "it does not read `.agents/skills`"
    assert claude.get_skill("pdf").description == "Mine.", "a person's own skill wins there"
    assert names(SkillManager(agent="claude-code", user=False, project=True)) == ["pdf"]
    with pytest.raises(ConfigurationError, match="claude-code"):
        SkillManager(agent="claude-cod")


@pytest.mark.req("S0-US1.2", "S0-US1.3", "S0-FR-004", "S0-FR-005", "S0-FR-038", "S0-SC-007", "C14")
def test_no_skills_are_no_error(world: World) -> None:
    assert SkillManager().list_skills() == []
    (world.project / ".claude" / "skills").mkdir(parents=True)
    assert SkillManager().discover() == []
    assert SkillManager().diagnostics == [], "nobody said that there are skills"
    missing = SkillManager(world.project / "nowhere")
    assert missing.list_skills() == []
    told = [(told.code, told.severity, told.path) for told in missing.diagnostics]
    assert told == [("source-missing", "warning", world.project / "nowhere")]
    with pytest.raises(ConfigurationError) as raised:
        SkillManager(world.project / "nowhere", strict_sources=True).discover()
    assert raised.value.code == "source-missing"


@pytest.mark.req("S0-E9")
def test_what_is_no_directory_is_empty(world: World) -> None:
    world.write(".claude/skills", "no directory")
    manager = SkillManager()
    assert manager.list_skills() == []
    assert [told.code for told in manager.diagnostics] == ["source-unreadable"]


@pytest.mark.req("S0-E9")
@pytest.mark.skipif(sys.platform == "win32", reason="on Windows `chmod` closes no directory")
@pytest.mark.usefixtures("world")
def test_a_directory_that_cannot_be_read_is_empty() -> None:
    # Those of `tmp_path` are closed to others, and root can read everything: it is somebody else.
    with tempfile.TemporaryDirectory() as closed:
        Path(closed).chmod(0o755)
        directory = Path(closed, "skills")
        (directory / "pdf").mkdir(parents=True)
        (directory / "pdf" / "SKILL.md").write_text("---\nname: pdf\ndescription: d\n---\n")
        manager = SkillManager(directory)
        assert names(manager) == ["pdf"]
        directory.chmod(0)
        manager.invalidate()
        was = os.geteuid()
        try:
            if was == 0:
                os.seteuid(65534)
            assert manager.list_skills() == []
            assert [told.code for told in manager.diagnostics] == ["source-unreadable"]
        finally:
            os.seteuid(was)
            directory.chmod(0o755)


@pytest.mark.req("C11")
def test_where_it_looks(world: World) -> None:
    world.skill("a")
    world.skill("b", source="../home/.agents/skills")
    world.skill("c", source="more/skills")
    (world.project / "deep" / "er").mkdir(parents=True)
    assert names(SkillManager()) == ["a", "b"]
    assert names(SkillManager(user=False)) == ["a"]
    assert names(SkillManager(project=False)) == ["b"]
    assert names(SkillManager(project="deep/er")) == ["a", "b"]
    assert names(SkillManager("more/skills")) == ["c"]
    assert names(SkillManager(Path("more/skills"), project=True)) == ["a", "c"]
    team = SkillManager({"team": "more/skills"}, project=".", user=True)
    assert names(team) == ["a", "b", "c"]
    assert team.get_skill("team:c").source == "team"
    assert list(team.sources) == [
        "project",
        "project-claude",
        "project-skillpm",
        "user",
        "user-claude",
        "user-skillpm",
        "team",
    ]
    assert repr(SkillManager({"team": "more/skills"})).startswith("<SkillManager team: ")


def test_paths_are_those_of_the_process_whatever_the_project_is(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They were looked for below the project, where nothing was found and nothing was said."""
    world.skill("a", source="skills")
    world.skill("b", source="other/.claude/skills")
    (world.project / "other" / ".git").mkdir()
    manager = SkillManager({"mine": "skills"}, project="other", user=False)
    assert names(manager) == ["b", "a"]
    assert manager.sources["mine"] == str(world.project / "skills")
    monkeypatch.chdir(world.home)
    assert manager.sources["mine"] == str(world.project / "skills"), "they stay what they were"
    assert names(manager) == ["b", "a"]


@pytest.mark.req("S0-E7", "S0-A11", "C1")
def test_of_two_of_one_name_the_first_wins(world: World) -> None:
    first = world.skill("pdf", "first", source="one", directory="z")
    second = world.skill("pdf", "second", source="two", directory="a")
    manager = SkillManager(["one", "two"])
    assert manager.get_skill("pdf").skill_path.parent == first
    [told] = [told for told in manager.diagnostics if told.code == "shadowed"]
    assert told.path == second
    assert str(first) in told.message
    assert [skill.skill_path.parent for skill in manager.shadowed] == [second]
    assert manager.invoke_skill("two:pdf").endswith("second")
    assert SkillManager(["one", "two"], on_duplicate="last").invoke_skill("pdf").endswith("second")
    with pytest.raises(ConfigurationError) as raised:
        SkillManager(["one", "two"], on_duplicate="error").list_skills()
    assert raised.value.code == "shadowed"


@pytest.mark.req("S0-E3", "S0-FR-006")
def test_other_files_and_directories_do_not_matter(world: World) -> None:
    world.skill("pdf")
    world.write(".claude/skills/notes/README.md", "no skill")
    world.write(".claude/skills/file", "no directory")
    world.write(".claude/skills/pdf/picture.png", b"\xff\0")
    manager = SkillManager()
    assert names(manager) == ["pdf"]
    assert manager.diagnostics == []
    assert manager.invoke_skill("pdf", "x").endswith("Do x.\n")


@pytest.mark.req("S0-US2.1", "S0-FR-015", "S0-FR-016", "S0-K1")
def test_metadata_without_instructions(world: World) -> None:
    directory = world.skill("pdf", "x" * 100_000, fields="allowed-tools: Read Grep\n")
    skill = SkillManager().list_skills()[0]
    assert skill.skill_path == directory / "SKILL.md"
    assert skill.allowed_tools == ("Read", "Grep")
    assert skill.source == "project-claude"
    assert "xxxx" not in repr(skill.to_dict())


@pytest.mark.req("S0-US2.2", "S0-FR-018", "S0-FR-040")
def test_one_skill_without_its_instructions(world: World) -> None:
    world.skill("pdf", "body")
    skill = SkillManager().get_skill("pdf")
    assert (skill.name, skill.description) == ("pdf", "Does pdf. Use it in tests.")


@pytest.mark.req("S0-US5.4", "S0-FR-010", "C5")
@pytest.mark.parametrize(
    "written",
    ["Read Grep Bash(git:*)", "Read, Grep, Bash(git:*)", "[Read, Grep, 'Bash(git:*)']"],
)
def test_allowed_tools_in_every_form(world: World, written: str) -> None:
    """skillkit dropped the form that the specification has."""
    world.skill("pdf", fields=f"allowed-tools: {written}\n")
    assert SkillManager().get_skill("pdf").allowed_tools == ("Read", "Grep", "Bash(git:*)")


@pytest.mark.req("S0-E8", "S0-FR-019", "S0-FR-040", "C15")
def test_an_unknown_skill(world: World) -> None:
    world.skill("pdf-tools")
    world.skill("word")
    manager = SkillManager()
    for ask in (
        manager.get_skill,
        manager.load_skill,
        manager.invoke_skill,
        manager.get_skill_tools,
    ):
        with pytest.raises(KeyError) as raised:
            ask("pdf-tool")
        error = raised.value
        assert isinstance(error, SkillNotFoundError)
        assert str(error).startswith(
            "there is no skill `pdf-tool`\nhint: did you mean `pdf-tools`?"
        )
        assert (error.name, error.available) == ("pdf-tool", ("pdf-tools", "word"))


def test_a_directory_that_vanishes_is_told_as_such(world: World) -> None:
    directory = world.skill("pdf")
    manager = SkillManager(freshness="session")
    assert names(manager) == ["pdf"]
    shutil.rmtree(directory)
    with pytest.raises(PathError, match="the file no longer exists") as raised:
        manager.invoke_skill("pdf")
    assert (raised.value.code, raised.value.path) == ("gone", str(directory / "SKILL.md"))
    with pytest.raises(StorageError, match="No such file or directory"):
        manager.read_skill_file("pdf", "a.md")
    manager.invalidate()
    with pytest.raises(SkillNotFoundError):
        manager.invoke_skill("pdf")


@pytest.mark.req("C17")
def test_freshness(world: World) -> None:
    world.skill("a")
    managers = [
        SkillManager(freshness="stat"),
        SkillManager(freshness="session"),
        SkillManager(freshness=3600),
        SkillManager(freshness=0.0),
    ]
    assert [names(manager) for manager in managers] == [["a"]] * 4
    world.skill("b")
    assert [len(names(manager)) for manager in managers] == [2, 1, 1, 2]
    assert [len(manager.discover()) for manager in managers] == [2, 2, 2, 2]
    # What is asked for by its name is looked for where a search may be old.
    world.skill("c")
    assert [name in manager for manager in managers for name in ("b", "c")] == (
        [True, True, True, False] + [True, True] * 2
    )


@pytest.mark.parametrize(
    "wrong",
    [
        {"profile": "strickt"},
        {"freshness": "often"},
        {"freshness": -1},
        {"freshness": float("nan")},
        {"on_duplicate": "both"},
        {"scripts": "alow"},
        {"scripts": ""},
        {"scripts": True},
        {"ask": 3},
        {"max_depth": -1},
        {"max_depth": 2**70},
        {"trusted": "no"},
        {"trusted": None},
    ],
)
def test_arguments_that_make_no_sense(world: World, wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigurationError) as raised:
        SkillManager(**wrong)  # type: ignore[arg-type]
    assert next(iter(wrong)) in str(raised.value)
    assert raised.value.code == "usage"


def test_a_source_has_a_name(world: World) -> None:
    with pytest.raises(ConfigurationError, match="name is empty") as raised:
        SkillManager({"": "skills"})
    assert raised.value.code == "usage"


def test_numbers_that_make_no_sense(world: World) -> None:
    """A bare ``OverflowError`` was raised, which says nothing of the argument."""
    world.skill("pdf")
    manager = SkillManager()
    for argument, ask in (
        ("budget", lambda number: manager.catalog(budget=number)),
        ("max_bytes", lambda number: manager.read_skill_file("pdf", "SKILL.md", max_bytes=number)),
        ("max_bytes", lambda number: manager.read_skill_bytes("pdf", "SKILL.md", max_bytes=number)),
    ):
        for number in (-1, 2**70):
            with pytest.raises(
                ConfigurationError, match=f"`{argument}` is a whole number"
            ) as raised:
                ask(number)
            assert raised.value.code == "usage"
        with pytest.raises(TypeError, match=f"argument '{argument}'"):
            ask("many")


@pytest.mark.parametrize(
    "profile",
    [
        *("default", "strict", "skillkit", "langchain-skillkit", "langflow", "btw"),
        # Older names.
        *("s0", "s2", "s3", "s4"),
    ],
)
def test_every_profile(world: World, profile: str) -> None:
    world.skill("pdf")
    manager = SkillManager(".claude/skills", profile=profile)  # type: ignore[arg-type]
    assert names(manager) == ["pdf"]
