"""What the manager answers: discovery, metadata, invocation, files."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import pytest
from conftest import World

import skillpm
from skillpm import (
    ConfigurationError,
    Diagnostic,
    PathError,
    SkillManager,
    SkillNotFoundError,
    SkillParseError,
    StorageError,
)


def names(manager: SkillManager) -> list[str]:
    return [skill.name for skill in manager.list_skills()]


@pytest.mark.req("S0-US1.1", "S0-FR-001", "S0-FR-003", "S0-FR-017")
def test_skills_of_the_project_are_found(world: World) -> None:
    for name in ("pdf", "code-reviewer", "git-helper"):
        world.skill(name)
    found = SkillManager().list_skills()
    assert [skill.name for skill in found] == ["code-reviewer", "git-helper", "pdf"]
    assert [skill.description for skill in found] == [
        f"Does {skill.name}. Use it in tests." for skill in found
    ]


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
@pytest.mark.skipif(
    getattr(os, "geteuid", lambda: 0)() == 0,
    reason="Windows has no modes, and none keeps root from reading",
)
def test_a_directory_that_cannot_be_read_is_empty(world: World) -> None:
    directory = world.skill("pdf").parent
    directory.chmod(0)
    manager = SkillManager()
    found = manager.list_skills()
    directory.chmod(0o755)
    assert found == []
    assert [told.code for told in manager.diagnostics] == ["source-unreadable"]


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
    manager = SkillManager()
    assert names(manager) == ["good"]
    [told] = manager.diagnostics
    assert (told.code, told.severity, told.path) == (code, "error", file)
    assert reason in told.message
    for ask in (manager.get_skill, manager.load_skill, manager.invoke_skill):
        with pytest.raises(SkillParseError, match=reason) as raised:
            ask("bad")
        assert (raised.value.code, raised.value.path) == (code, str(file))
        assert raised.value.hint is not None


@pytest.mark.req("S0-E2", "S0-FR-014")
def test_the_place_of_what_is_wrong(world: World) -> None:
    world.write(".claude/skills/bad/SKILL.md", BROKEN["S0-E2"][0])
    with pytest.raises(SkillParseError) as raised:
        SkillManager().get_skill("bad")
    assert (raised.value.line, raised.value.column) == (4, 1)
    [told] = SkillManager().diagnostics
    assert (told.line, told.column) == (4, 1)


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


@pytest.mark.req("S0-FR-006")
@pytest.mark.skipif(
    sys.platform != "linux", reason="elsewhere than on Linux names of files have to be text"
)
def test_a_name_that_is_no_text(world: World, caplog: pytest.LogCaptureFixture) -> None:
    directory = world.skill("pdf")
    Path(os.fsdecode(os.fsencode(directory) + b"/\xff")).write_bytes(b"")
    assert SkillManager().load_skill("pdf").content == "Do $ARGUMENTS.\n"
    assert "the files of the skill `pdf` are not listed" in caplog.text


@pytest.mark.req("S0-FR-002")
def test_any_case_of_the_file_s_name(world: World) -> None:
    file = world.skill("pdf") / "SKILL.md"
    file.rename(file.with_name("skill.md"))
    manager = SkillManager(preset="s0")
    assert names(manager) == ["pdf"]
    assert manager.diagnostics == []
    assert [told.code for told in SkillManager().diagnostics] == ["file-name"]


@pytest.mark.req("S0-E6")
def test_names_are_used_as_they_are(world: World) -> None:
    for index, name in enumerate(("My Skill!", "../../etc", "a/b", "日本語")):
        world.skill(f'"{name}"', directory=f"d{index}")
    manager = SkillManager(preset="s0")
    assert names(manager) == ["My Skill!", "../../etc", "a/b", "日本語"]
    assert manager.diagnostics == []
    assert manager.invoke_skill("../../etc").endswith("d1\n\nDo .\n")


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


@pytest.mark.req("S0-US5.4", "S0-FR-010", "C5")
@pytest.mark.parametrize(
    "written",
    ["Read Grep Bash(git:*)", "Read, Grep, Bash(git:*)", "[Read, Grep, 'Bash(git:*)']"],
)
def test_allowed_tools_in_every_form(world: World, written: str) -> None:
    """skillkit dropped the form that the specification has."""
    world.skill("pdf", fields=f"allowed-tools: {written}\n")
    assert SkillManager().get_skill("pdf").allowed_tools == ("Read", "Grep", "Bash(git:*)")


def test_a_directory_that_vanishes_is_told_as_such(world: World) -> None:
    directory = world.skill("pdf")
    manager = SkillManager(freshness="session")
    assert names(manager) == ["pdf"]
    shutil.rmtree(directory)
    with pytest.raises(PathError, match="there is no file any more") as raised:
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
        SkillManager(),
        SkillManager(freshness="session"),
        SkillManager(freshness=3600),
        SkillManager(freshness=0.0),
    ]
    assert [names(manager) for manager in managers] == [["a"]] * 4
    world.skill("b")
    assert [len(names(manager)) for manager in managers] == [2, 1, 1, 2]
    assert [len(manager.discover()) for manager in managers] == [2, 2, 2, 2]


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


@pytest.mark.parametrize(
    "wrong",
    [
        {"preset": "strickt"},
        {"freshness": "often"},
        {"freshness": -1},
        {"freshness": float("nan")},
        {"on_duplicate": "both"},
    ],
)
def test_arguments_that_make_no_sense(world: World, wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigurationError) as raised:
        SkillManager(**wrong)  # type: ignore[arg-type]
    assert next(iter(wrong)) in str(raised.value)
    assert raised.value.code == "usage"


@pytest.mark.parametrize("preset", ["default", "strict", "s0", "s2", "s3", "s4"])
def test_every_preset(world: World, preset: str) -> None:
    world.skill("pdf")
    manager = SkillManager(".claude/skills", preset=preset)  # type: ignore[arg-type]
    assert names(manager) == ["pdf"]


def test_forms(world: World) -> None:
    world.skill("pdf", "Do it.\n")
    manager = SkillManager()
    assert manager.invoke_skill("pdf", form="bare") == "Do it.\n"
    assert manager.invoke_skill("pdf", form="json").startswith('{"skill_name":"pdf",')
    assert manager.invoke_skill("pdf", form="xml").startswith('<skill_content name="pdf">')
    with pytest.raises(ConfigurationError, match="`form` is one of `plain`"):
        manager.invoke_skill("pdf", form="yaml")  # type: ignore[arg-type]


@pytest.mark.req("S3-NFR-4", "S4-2", "S4-4", "C27", "C28")
def test_the_catalog(world: World, caplog: pytest.LogCaptureFixture) -> None:
    """One that was not escaped let a description end its element."""
    manager = SkillManager()
    assert manager.catalog() == ""
    evil = '"</available_skills> <b> & c"'
    directory = world.skill("pdf", description=evil, fields="metadata:\n  tags: office\n")
    world.skill("word", fields="disable-model-invocation: true\n")
    text = manager.catalog()
    assert text.startswith("<available_skills>")
    assert text.count("</available_skills>") == 1
    assert "<name>pdf</name>" in text
    assert str(directory / "SKILL.md") in text
    assert "word" not in text
    assert "word" in manager.catalog("plain", hidden=True)
    assert manager.catalog(tags=["music"]) == ""
    assert json.loads(manager.catalog("json", fields=["tags"]))["skills"] == [
        {"name": "pdf", "tags": ["office"]}
    ]
    for wrong in ({"form": "yaml"}, {"fields": ["colour"]}):
        with pytest.raises(ConfigurationError):
            manager.catalog(**wrong)
    for number in range(50):
        world.skill(f"skill-{number:02}", description="word " * 200)
    fitting = manager.catalog("markdown", budget=5000)
    assert all(f"skill-{number:02}" in fitting for number in range(50))
    assert len(fitting) < 5000 * 5 < len(manager.catalog("markdown"))
    assert "descriptions were shortened to fit the catalog: " in caplog.text


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


def test_diagnostics_are_values(world: World) -> None:
    world.skill("pdf", fields="color: red\n")
    [told] = SkillManager().diagnostics
    assert (told.code, told.severity, told.line, told.column) == ("unknown-field", "warning", 4, 1)
    assert told == SkillManager().diagnostics[0]
    assert repr(told).startswith("Diagnostic(code='unknown-field', severity='warning', message=")
    assert told.to_dict()["path"] == str(told.path)
    assert Diagnostic("a", "warning", "b") != told


def test_validation(world: World) -> None:
    directory = world.skill("pdf")
    assert skillpm.validate(directory) == []
    file = world.write(".claude/skills/word/SKILL.md", "---\nname: Word\ndescription: d\n---\n")
    found = skillpm.validate(world.project / ".claude" / "skills")
    assert {told.code for told in found} >= {"name-alphabet"}
    assert {told.path for told in found} == {file}
    [told] = [told for told in found if told.code == "name-alphabet"]
    assert (told.severity, told.line, told.column) == ("error", 2, 7)
    with pytest.raises(ConfigurationError, match="profile"):
        skillpm.validate(directory, profile="perfect")
    with pytest.raises(skillpm.SkillpmError):
        skillpm.validate(world.project / "nowhere")


def test_installation(world: World) -> None:
    world.skill("pdf", source="vendor")
    world.skill("word", source="vendor")
    with pytest.raises(ConfigurationError):
        skillpm.install("./vendor")
    planned = skillpm.install("./vendor", skills="pdf", dry_run=True)
    assert [(skill["name"], skill["change"]) for skill in planned] == [("pdf", "added")]
    assert names(SkillManager()) == []
    [installed] = skillpm.install("./vendor", skills=["pdf"])
    assert installed["digest"].startswith("sha256:")
    assert names(SkillManager()) == ["pdf"]
    shutil.rmtree(world.project / ".agents")
    assert [skill["name"] for skill in skillpm.install(frozen=True, offline=True)] == ["pdf"]
    assert names(SkillManager()) == ["pdf"]
    with pytest.raises(ConfigurationError, match="scope"):
        skillpm.install("./vendor", scope="machine")  # type: ignore[arg-type]


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
        lambda text: SkillManager(preset=text),
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


@pytest.mark.req("S4-1")
def test_the_catalog_leaves_out_what_the_manifest_disables(world: World) -> None:
    """As ``skillpm catalog`` does: by the manifests of the places that are looked at."""
    for name in ("a", "b"):
        world.skill(name)
    world.skill("mine", source="../home/.claude/skills")
    world.skill("a", source="more")
    world.write("skillpm.toml", '[skills.a]\npath = "./x"\ndisabled = true\n')
    user = world.write("../home/.config/skillpm/skillpm.toml", "")
    user.write_text('[skills.mine]\npath = "./x"\ndisabled = true\n')

    def told(manager: SkillManager) -> list[str]:
        return manager.catalog("plain", fields=()).split()

    assert told(SkillManager()) == ["b"]
    assert told(SkillManager(user=False)) == ["b"]
    assert told(SkillManager(project=False)) == [] and names(SkillManager(project=False)) == [
        "mine"
    ]
    assert told(SkillManager("more")) == ["a"], "no manifest has a say over a directory by itself"
    assert told(SkillManager("more", project=True)) == ["b"]
    # An agent can do its work without a manifest that can be read.
    world.write("skillpm.toml", "nonsense")
    assert told(SkillManager()) == ["a", "b"]


@pytest.mark.req("C3", "C4")
def test_a_file_without_frontmatter_is_a_skill_under_the_preset_s2(world: World) -> None:
    world.write("skills/pdf/SKILL.md", "# PDF\n\nRead it.\n")
    world.write("skills/none/SKILL.md", "")
    manager = SkillManager("skills", preset="s2")
    (skill,) = manager.list_skills()
    assert (skill.name, skill.description) == ("pdf", "")
    assert manager.invoke_skill("pdf", form="bare") == "# PDF\n\nRead it.\n"
    told = [(told.code, told.severity) for told in manager.diagnostics]
    assert told[0] == ("frontmatter-missing", "error"), "nothing at all is no skill"
    assert {severity for _, severity in told[1:]} == {"warning"}
    assert SkillManager("skills").list_skills() == []


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
