"""The store of `skillpm.langflow`, which needs nothing but skillpm."""

from __future__ import annotations

import json
import logging
import pickle
import shutil
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from conftest import World

from skillpm import ConfigurationError, PathError, SkillNotFoundError
from skillpm.langflow import CATALOG_BUDGET, TOOL_DISPLAY, SkillLoad, SkillStore, inject_catalog

SOURCE = "skills"


@pytest.fixture
def store(world: World) -> SkillStore:
    pdf = 'version: "2.0"\ntags: [documents, pdf]\ndependencies: [ocr]\n'
    world.skill("pdf", "# PDF\n\nSee forms.md.\n", source=SOURCE, fields=pdf)
    world.write(f"{SOURCE}/pdf/forms.md", "How to fill forms.\n")
    world.write(f"{SOURCE}/pdf/tool.py", "print()\n")
    world.skill("csv", "# CSV\n", source=SOURCE, description="Reads <tables> & lists.")
    return SkillStore(world.project / SOURCE)


def many(world: World, count: int, description: str, body: str = "x\n") -> SkillStore:
    for number in range(count):
        world.skill(f"s{number:03}", body, source=SOURCE, description=description)
    return SkillStore(world.project / SOURCE)


@pytest.mark.req("S3-FR-1", "S3-FR-6", "S3-US-7", "S3-TEST")
def test_a_store_scans_its_directory_when_it_is_made_and_no_other(world: World) -> None:
    world.skill("elsewhere")
    world.skill("here", source=SOURCE)
    world.write(f"{SOURCE}/no-skill/README.md", "")
    store = SkillStore(world.project / SOURCE)
    world.skill("later", source=SOURCE)
    assert store.get_skill_names() == ["here"]
    assert store.scan() == 2
    assert SkillStore().get_skill_names() == []
    assert SkillStore(SOURCE, ".claude/skills").scan() == 3


@pytest.mark.req("C14", "C27")
def test_a_directory_that_is_not_there_has_no_skills(world: World) -> None:
    store = SkillStore(world.project / "none")
    assert store.scan() == 0
    assert store.get_skill_catalog() == "No skills available."


@pytest.mark.req("S3-FR-2", "S3-NFR-7", "S3-US-3")
def test_name_and_description_are_required_and_what_is_wrong_is_logged(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.skill("good", source=SOURCE)
    nameless = world.write(f"{SOURCE}/nameless/SKILL.md", "---\ndescription: d\n---\n")
    world.write(f"{SOURCE}/told-nothing/SKILL.md", "---\nname: told-nothing\n---\n")
    with caplog.at_level(logging.WARNING, logger="skillpm"):
        store = SkillStore(world.project / SOURCE)
    assert store.get_skill_names() == ["good"]
    said = [record.getMessage() for record in caplog.records]
    assert any("`nameless`" in text and str(nameless) in text and "`name`" in text for text in said)
    assert any("`told-nothing`" in text and "`description`" in text for text in said)
    caplog.clear()
    store.get_skill_catalog()
    assert not caplog.records, "once for each search"


@pytest.mark.req("S3-FR-3", "S3-US-6", "C7")
def test_version_tags_and_dependencies_are_read(store: SkillStore) -> None:
    pdf, csv = (store.manager.get_skill(name) for name in ("pdf", "csv"))
    assert (pdf.version, pdf.tags, pdf.dependencies) == ("2.0", ("documents", "pdf"), ("ocr",))
    assert (csv.version, csv.tags, csv.dependencies) == ("1.0", (), ())


@pytest.mark.req("S3-FR-4")
def test_other_markdown_files_are_supporting_files(store: SkillStore) -> None:
    assert store.list_supporting_files("pdf") == ["forms.md"]
    assert store.list_supporting_files("csv") == []
    assert store.list_supporting_files("none") == []


@pytest.mark.req("S3-FR-5", "C1")
def test_of_two_skills_with_one_name_the_last_is_used_and_it_is_told(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    first = world.skill("a", "first\n", source="one")
    second = world.skill("a", "second\n", source="two")
    with caplog.at_level(logging.WARNING, logger="skillpm"):
        store = SkillStore("one", "two")
    skill = store.load("a")
    assert skill is not None and skill.content.strip() == "second"
    assert any(
        str(first) in r.getMessage() and str(second) in r.getMessage() for r in caplog.records
    )


@pytest.mark.req("S3-FR-8", "S3-FR-9", "S3-FR-10", "S3-FR-13", "S3-US-4", "C17")
def test_what_was_read_is_kept_until_it_is_invalidated(world: World, store: SkillStore) -> None:
    assert "# PDF" in store.load_skill("pdf")
    world.skill("pdf", "new\n", source=SOURCE, description="New.")
    world.skill("added", source=SOURCE)
    world.write(f"{SOURCE}/pdf/forms.md", "Now")
    # Metadata and bodies that were read are those of the session, files are read at each call.
    assert "# PDF" in store.load_skill("pdf")
    assert "New." not in store.get_skill_catalog()
    assert store.get_skill_names() == ["csv", "pdf"]
    assert json.loads(store.read_skill_file("pdf", "forms.md"))["content"] == "Now"
    store.invalidate()
    assert "new" in json.loads(store.load_skill("pdf"))["instructions"]
    assert store.get_skill_names() == ["added", "csv", "pdf"]
    # Another store, as each run of a flow has one, sees the files as they are.
    assert "New." in SkillStore(world.project / SOURCE).get_skill_catalog()


@pytest.mark.req("S3-FR-7")
def test_a_scan_reads_no_body(world: World) -> None:
    world.skill("a", "as it was", source=SOURCE)
    store = SkillStore(world.project / SOURCE)
    world.skill("a", "as it is", source=SOURCE)
    assert json.loads(store.load_skill("a"))["instructions"] == "as it is"


@pytest.mark.req("S3-FR-12", "S3-US-6", "C27")
def test_the_catalog_has_names_descriptions_tags_and_files_escaped(store: SkillStore) -> None:
    catalog = store.get_skill_catalog()
    assert catalog.startswith("<available_skills>")
    for text in ("<name>pdf</name>", "Does pdf.", "documents", "forms.md", "&lt;tables&gt; &amp;"):
        assert text in catalog, text
    assert "tool.py" not in catalog
    assert "# PDF" not in catalog


@pytest.mark.req("S3-NFR-4", "C28")
def test_the_catalog_stays_within_its_budget_and_has_every_name(world: World) -> None:
    # A word and a space are a token and five characters.
    store = many(world, 50, "word " * 200)
    catalog = store.get_skill_catalog()
    assert len(store.manager.catalog()) > 5 * CATALOG_BUDGET > len(catalog) > 4 * CATALOG_BUDGET
    assert all(f"<name>s{number:03}</name>" in catalog for number in range(50))
    short = SkillStore(world.project / SOURCE, budget=2500).get_skill_catalog()
    assert len(short) < 0.6 * len(catalog)
    assert all(f"<name>s{number:03}</name>" in short for number in range(50))


@pytest.mark.req("S3-SM-3")
def test_the_catalog_is_less_than_half_of_all_bodies(world: World) -> None:
    store = many(world, 20, "Does one thing well. Use it for that thing.", "word " * 400)
    bodies = sum(len(store.load_skill(name)) for name in store.get_skill_names())
    assert len(store.get_skill_catalog()) < bodies * 0.4


@pytest.mark.req("S3-FR-14", "S3-US-5", "C9")
def test_load_skill_answers_with_the_keys_of_the_specification(store: SkillStore) -> None:
    assert json.loads(store.load_skill("pdf")) == {
        "skill_name": "pdf",
        "description": "Does pdf. Use it in tests.",
        "instructions": "# PDF\n\nSee forms.md.\n",
        "available_files": ["forms.md"],
    }


@pytest.mark.req("S3-FR-15", "S3-US-3", "C15")
@pytest.mark.parametrize("name", ["none", "", "../pdf", "/etc"])
def test_an_unknown_skill_is_an_error_with_the_names_there_are(
    store: SkillStore, name: str
) -> None:
    for answer in (store.load_skill(name), store.read_skill_file(name, "forms.md")):
        told = json.loads(answer)
        assert set(told) == {"error", "available_skills"}
        assert told["available_skills"] == ["csv", "pdf"]
    assert store.load(name) is None


@pytest.mark.req("S3-FR-16", "S3-US-5", "C16")
def test_read_skill_file_answers_with_the_keys_of_the_specification(
    world: World, store: SkillStore
) -> None:
    world.write(f"{SOURCE}/pdf/references/é.md", "Größe\n")
    for name, content in (("forms.md", "How to fill forms.\n"), ("references/é.md", "Größe\n")):
        answer = store.read_skill_file("pdf", name)
        assert json.loads(answer) == {"skill_name": "pdf", "filename": name, "content": content}


@pytest.mark.req("S3-FR-11", "S3-US-11", "S3-SM-5", "C16")
@pytest.mark.parametrize(
    "name",
    [
        "../csv/SKILL.md",
        "notes..md",
        "a/../../x",
        "/etc/passwd",
        "\\etc",
        "link.md",
        "sib/x.md",
        "",
    ],
)
def test_no_name_and_no_link_leads_out_of_a_skill(
    world: World, store: SkillStore, name: str
) -> None:
    world.write("secret.md", "secret")
    # A directory whose name begins as the skill's: a comparison of texts would let it pass.
    world.write(f"{SOURCE}/pdf-more/x.md", "secret")
    world.write(f"{SOURCE}/pdf/notes..md", "secret")
    pdf = world.project / SOURCE / "pdf"
    (pdf / "link.md").symlink_to(world.project / "secret.md")
    (pdf / "sib").symlink_to("../pdf-more")
    told = json.loads(store.read_skill_file("pdf", name))
    assert "secret" not in json.dumps(told)
    assert told["error"]
    assert "forms.md" in told["available_files"]
    # Callers of the store that this one takes the place of catch one of the last two.
    for kind in (PathError, ValueError, FileNotFoundError):
        with pytest.raises(kind):
            store.read_supporting_file("pdf", name)


def test_what_is_not_there_is_raised_as_callers_expect_it(world: World, store: SkillStore) -> None:
    for kind in (SkillNotFoundError, KeyError, ValueError, FileNotFoundError):
        with pytest.raises(kind) as unknown:
            store.read_supporting_file("nowhere", "forms.md")
    error = unknown.value
    assert isinstance(error, SkillNotFoundError) and "pdf" in error.available
    with pytest.raises(FileNotFoundError, match=r"`missing\.md`") as missing:
        store.read_supporting_file("pdf", "missing.md")
    for error in (unknown.value, missing.value):
        same = pickle.loads(pickle.dumps(error))
        assert (type(same), str(same)) == (type(error), str(error))


@pytest.mark.req("S3-US-3")
def test_a_skill_that_vanishes_is_told_as_such(world: World, store: SkillStore) -> None:
    (world.project / SOURCE / "pdf" / "SKILL.md").unlink()
    assert json.loads(store.load_skill("pdf"))["error"]
    (world.project / SOURCE / "pdf" / "forms.md").unlink()
    assert "forms.md" in json.loads(store.read_skill_file("pdf", "forms.md"))["error"]


@pytest.mark.req("S3-US-10", "S3-US-2")
def test_each_load_is_written_down_with_skill_time_and_session(
    world: World, store: SkillStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = world.root / "audit.jsonl"
    monkeypatch.setenv("SKILLPM_AUDIT", str(log))
    loads: list[SkillLoad] = []
    store = SkillStore(world.project / SOURCE, session=lambda: "s-1", on_load=loads.append)
    store.load_skill("pdf")
    store.load_skill("none")
    SkillStore(world.project / SOURCE, session="s-2").load_skill("csv")
    records = [json.loads(line) for line in log.read_text().splitlines()]
    said = [(r["event"], r["skill"], r["session"]) for r in records]
    assert said == [("activation", "pdf", "s-1"), ("activation", "csv", "s-2")]
    assert all(isinstance(record["duration_ms"], int) for record in records)
    assert [(load.skill, load.session) for load in loads] == [("pdf", "s-1")]
    assert loads[0].milliseconds > 0


@pytest.mark.parametrize("is_function", [True, False])
def test_a_session_need_not_be_a_text(
    world: World, store: SkillStore, monkeypatch: pytest.MonkeyPatch, is_function: bool
) -> None:
    log = world.root / "audit.jsonl"
    monkeypatch.setenv("SKILLPM_AUDIT", str(log))
    session: Any = uuid.UUID(int=1)
    loads: list[SkillLoad] = []
    store = SkillStore(
        world.project / SOURCE,
        session=(lambda: session) if is_function else session,
        on_load=loads.append,
    )
    assert json.loads(store.load_skill("pdf"))["skill_name"] == "pdf"
    assert json.loads(log.read_text())["session"] == str(session) == loads[0].session


@pytest.mark.parametrize("budget", [-1, 2**70])
def test_a_budget_that_makes_no_sense_is_told_at_once(world: World, budget: int) -> None:
    with pytest.raises(ConfigurationError, match="`budget` is a whole number"):
        SkillStore(world.project / SOURCE, budget=budget)


@pytest.mark.req("S3-US-3")
def test_what_cannot_be_written_down_keeps_no_skill_from_an_agent(
    world: World,
    store: SkillStore,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(load: SkillLoad) -> None:
        raise RuntimeError(load.skill)

    monkeypatch.setenv("SKILLPM_AUDIT", str(world.write("file", "") / "audit.jsonl"))
    store = SkillStore(world.project / SOURCE, on_load=fail)
    assert json.loads(store.load_skill("pdf"))["skill_name"] == "pdf"
    assert "audit log" in caplog.text
    assert "RuntimeError: pdf" in caplog.text


@pytest.mark.req("S3-NFR-6")
def test_no_thread_sees_a_part_of_a_store(world: World) -> None:
    store = many(world, 40, "d")
    done = threading.Event()

    def ask(number: int) -> int:
        asked = 0
        while not done.is_set() or asked == 0:
            assert len(store.get_skill_names()) == 40
            assert "error" not in json.loads(store.load_skill(f"s{number:03}"))
            asked += 1
        return asked

    with ThreadPoolExecutor(32) as threads:
        asking = [threads.submit(ask, number) for number in range(32)]
        try:
            for _ in range(50):
                store.scan()
        finally:
            done.set()
        assert all(answer.result() > 0 for answer in asking)


@pytest.mark.req("S3-FR-7", "C17")
def test_no_file_is_read_that_nobody_asked_for(world: World) -> None:
    """What the bars of time rest on. ``benches/python/bars.py`` measures them."""
    broken = b"---\nname: s\ndescription: Does one thing.\n---\n" + b"\xff" * 10_000
    for number in range(20):
        text = broken.replace(b"name: s", b"name: s%02d" % number)
        world.write(f"{SOURCE}/s{number:02}/SKILL.md", text)
    world.skill("pdf", body="Old.\n", source=SOURCE)
    big = world.write(f"{SOURCE}/pdf/big.md", "x" * 50_000)
    store = SkillStore(SOURCE)
    assert len(store.get_skill_names()) == 21, "instructions that are no text are not looked at"
    assert store.diagnostics == []
    # Nor is a directory that is gone, or a file that was changed, before somebody looks anew.
    shutil.rmtree(world.project / SOURCE / "s00")
    assert len(store.get_skill_names()) == 21
    assert json.loads(store.load_skill("pdf"))["instructions"] == "Old.\n"
    world.skill("pdf", body="New.\n", source=SOURCE)
    assert json.loads(store.load_skill("pdf"))["instructions"] == "Old.\n"
    assert len(json.loads(store.read_skill_file("pdf", "big.md"))["content"]) == 50_000
    big.unlink()
    assert "error" in json.loads(store.read_skill_file("pdf", "big.md")), "files are not kept"
    assert store.scan() == 20
    assert json.loads(store.load_skill("pdf"))["instructions"] == "New.\n"


@pytest.mark.req("S3-FR-22")
def test_the_catalog_is_put_into_a_prompt_once() -> None:
    catalog = "<available_skills>{skill_catalog}</available_skills>"
    placed = inject_catalog("A {skill_catalog} B {skill_catalog} C", catalog)
    assert placed == f"A {catalog} B  C"
    appended = inject_catalog("Be helpful.\n", catalog)
    assert appended.startswith("Be helpful.\n\n## Skills\n") and appended.endswith(catalog)
    for prompt in (placed, appended):
        assert inject_catalog(prompt, catalog) == prompt
    assert inject_catalog("", catalog).startswith("## Skills\n")
    assert inject_catalog("A {skill_catalog}B", "") == "A B"
    assert inject_catalog('{"json": 1}', "") == '{"json": 1}'


@pytest.mark.req("S3-FR-25")
def test_the_tools_have_icons_and_titles() -> None:
    shown = {name: (told["icon"], told["title_start"]) for name, told in TOOL_DISPLAY.items()}
    assert shown == {
        "load_skill": ("BookMarked", "Loading skill"),
        "read_skill_file": ("FileSearch", "Reading skill reference"),
    }
