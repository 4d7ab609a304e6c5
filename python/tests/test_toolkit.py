"""The tools by which agents use skills, whatever the framework."""

from __future__ import annotations

import asyncio
import inspect
import logging
import multiprocessing
import os
import sys
import typing
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from conftest import World

import skillpm
from skillpm import ConfigurationError, Project, Question, Registry, SkillManager, Toolkit

for_sh = pytest.mark.skipif(sys.platform == "win32", reason="needs `sh` and pipes with names")

WHERE = "import sys\nprint(sys.prefix)\n"
FILL = """\
'''Fill in a form.'''
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("form")
parser.add_argument("--count", type=int)
given = parser.parse_args()
print(given.form, given.count)
"""


def toolkit(world: World, **options: Any) -> Toolkit:
    """Return a toolkit of the directory ``skills``, whose scripts run."""
    manager = SkillManager("skills", scripts="allow", trusted=True)
    return Toolkit(manager, **{"scripts": True, **options})


def test_the_tools_have_one_vocabulary(world: World) -> None:
    world.skill("pdf", source="skills")
    found = {tool.name: tool.parameters for tool in toolkit(world).tools}
    taken = {name: list(parameters["properties"]) for name, parameters in found.items()}
    assert {name: sorted(names) for name, names in taken.items()} == {
        "search_skills": ["query"],
        "load_skill": ["arguments", "name"],
        "read_skill_file": ["limit", "name", "offset", "path"],
        "run_skill_script": ["arguments", "name", "script"],
    }
    functions = [function.__name__ for function in toolkit(world).functions()]
    assert functions == list(found)
    assert [tool.name for tool in Toolkit("skills").tools] == list(found)[:3]
    assert [tool.read_only for tool in toolkit(world).tools] == [True, True, True, False]


def test_an_answer_is_bounded_and_says_how_to_go_on(world: World) -> None:
    world.skill("pdf", "Long.\n" * 1000, source="skills")
    world.write("skills/pdf/a.md", "x" * 5000)
    world.write("skills/pdf/scripts/flood.py", "print('Z' * 5000)\n")
    kit = toolkit(world, max_output=2000)
    read = kit.call("read_skill_file", {"name": "pdf", "path": "a.md"})
    assert read.text.count("x") == 2000
    assert "3000 are left. Go on with `offset` 2000." in read.text
    rest = kit.call("read_skill_file", {"name": "pdf", "path": "a.md", "offset": 2000})
    assert rest.text.count("x") == 2000
    run = kit.call("run_skill_script", {"name": "pdf", "script": "flood"})
    assert run.text.count("Z") == 2000
    assert "these are the first 2000 of" in run.text
    loaded = kit.call("load_skill", {"name": "pdf"})
    assert len(loaded.text) < 3000
    assert "The instructions are cut" in loaded.text
    too_much = kit.call("read_skill_file", {"name": "pdf", "path": "a.md", "limit": 10**6})
    assert (too_much.is_error, "between 1 and 32000" in too_much.text) == (True, True)


def test_what_failed_is_an_answer(world: World) -> None:
    world.skill("pdf", source="skills")
    world.write("skills/pdf/scripts/bad.py", "raise SystemExit('no form')\n")
    world.write("skills/pdf/scripts/quiet.py", "")
    kit = toolkit(world)
    bad = kit.call("run_skill_script", {"name": "pdf", "script": "bad"})
    assert (bad.is_error, "no form" in bad.text) == (True, True)
    assert bad.about is not None
    assert (bad.about["skill"], bad.about["exit_code"]) == ("pdf", 1)
    quiet = kit.call("run_skill_script", {"name": "pdf", "script": "quiet"})
    assert (quiet.is_error, quiet.text) == (False, "The script ended well and wrote nothing.")
    unknown = kit.call("load_skill", {"name": "zip"})
    assert (unknown.is_error, unknown.text) == (
        True,
        "there is no skill `zip`\nthe skills are `pdf`",
    )
    invented = kit.call("open_skill", {})
    assert invented.is_error
    assert invented.text.startswith("there is no tool `open_skill`; the tools are `search_skills`")
    assert (
        kit.call("search_skills", {"query": "qqq"}).text == "No skill matches: try other words.\n"
    )
    assert "Does pdf." in kit.call("search_skills", '{"query": "pdf"}').text
    for wrong in ("{", "[1]"):
        assert kit.call("search_skills", wrong).is_error


def test_a_model_learns_what_a_script_takes(world: World) -> None:
    world.skill("pdf", source="skills")
    world.write("skills/pdf/scripts/fill.py", FILL)
    kit = toolkit(world)
    loaded = kit.call("load_skill", {"name": "pdf"}).text
    assert "- `fill` takes `form` (string), [`count` (integer)]: Fill in a form." in loaded
    assert "Scripts" not in Toolkit("skills").call("load_skill", {"name": "pdf"}).text
    call = {"name": "pdf", "script": "fill", "arguments": {"wrong": 1}}
    wrong = kit.call("run_skill_script", call)
    assert "there is no parameter `wrong`; it takes `form`, `count`" in wrong.text
    words = {"name": "pdf", "script": "fill", "arguments": {"arguments": ["a", "--count", "2"]}}
    assert kit.call("run_skill_script", words).text.split() == ["a", "2"]


def test_an_option_that_does_not_exist_is_an_error(world: World) -> None:
    world.skill("pdf", source="skills")
    for wrong, meant in (("netwrk", "network"), ("bugdet", None), ("skils", None)):
        options: Any = {wrong: False}
        with pytest.raises(ConfigurationError, match=f"there is no option `{wrong}`") as raised:
            Toolkit("skills", **options)
        assert raised.value.hint == (f"did you mean `{meant}`?" if meant else None)
    with pytest.raises(ConfigurationError, match="`prefix` has only letters"):
        Toolkit("skills", prefix="team ")


def test_skills_are_chosen(world: World) -> None:
    for name, fields in (("pdf", "tags: [office]\n"), ("docx", "tags: [office]\n"), ("git", "")):
        world.skill(name, source="skills", fields=fields)

    def names(**chosen: Any) -> list[str]:
        return [skill.name for skill in Toolkit("skills", **chosen).skills()]

    assert names() == ["docx", "git", "pdf"]
    assert names(include=("pdf", "git"), exclude="git") == ["pdf"]
    assert names(tags="office") == ["docx", "pdf"]
    kit = Toolkit("skills", exclude="git")
    assert kit.call("load_skill", {"name": "git"}).is_error
    assert kit.call("load_skill", {"name": "skills:git"}).is_error


def test_two_toolkits_have_other_names(world: World) -> None:
    world.skill("pdf", source="skills")
    kit = Toolkit("skills", prefix="team")
    assert [tool.name for tool in kit.tools][1] == "team_load_skill"
    assert "call `team_load_skill` with its name" in kit.instructions()
    assert not kit.call("team_load_skill", {"name": "pdf"}).is_error
    missing = kit.call("team_read_skill_file", {"name": "pdf", "path": "no.md"})
    assert "`team_load_skill` with `name` `pdf` lists its files" in missing.text
    assert "there is no tool `load_skill`" in kit.call("load_skill", {"name": "pdf"}).text


def test_what_a_budget_leaves_out_is_told_once_for_each_change(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(30):
        world.skill(f"skill-{number:02}", source="skills")
    kit = Toolkit(SkillManager("skills", freshness="stat"), budget=300)
    text = kit.catalog()
    assert kit.catalog() == text
    assert all(f"skill-{number:02}" in text for number in range(30))
    assert "`search_skills` finds skills" in text
    assert "<available_skills>" not in text, "markdown keeps more"
    assert len(caplog.records) == 1
    world.skill("skill-30", source="skills")
    assert "skill-30" in kit.catalog()
    assert len(caplog.records) == 2
    assert "<available_skills>" in Toolkit("skills").catalog()


def test_a_directory_that_does_not_exist_is_told(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    Toolkit("nowhere").catalog()
    manager = SkillManager("nowhere")
    assert manager.list_skills() == manager.list_skills() == []
    told = [record.getMessage() for record in caplog.records]
    assert len(told) == 2
    assert all("there is no directory" in message for message in told)
    world.skill("pdf", source="skills")
    SkillManager("skills/pdf").list_skills()
    assert "is a skill itself: name the directory" in caplog.text
    Toolkit("skills", include=["pdf", "zip"]).catalog()
    assert caplog.records[-1].getMessage() == "there is no skill `zip`, which `include` names"


def test_scripts_run_under_the_python_of_the_program(world: World) -> None:
    world.skill("pdf", source="skills")
    world.write("skills/pdf/scripts/where.py", WHERE)
    manager = SkillManager("skills", scripts="allow", trusted=True)
    assert manager.run_script("pdf", "where").stdout.strip() == sys.prefix
    call = {"name": "pdf", "script": "where"}
    assert toolkit(world).call("run_skill_script", call).text.strip() == sys.prefix
    base = Path(sys.base_prefix) / ("python.exe" if os.name == "nt" else "bin/python3")
    if base.exists():
        chosen: Any
        for chosen in ({"python": base}, {"interpreters": {"python": base}}):
            done = manager.run_script("pdf", "where", **chosen)
            assert done.stdout.strip() == sys.base_prefix
    with pytest.raises(ConfigurationError, match="nowhere/python"):
        manager.run_script("pdf", "where", python="/nowhere/python")


@for_sh
def test_scripts_that_run_hold_up_nothing_else(world: World) -> None:
    """The usual threads of an event loop are fewer than these scripts."""
    count = min(32, (os.cpu_count() or 1) + 4) + 2
    world.skill("pdf", source="skills")
    started, go = world.project / "started", world.project / "go"
    os.mkfifo(started)
    os.mkfifo(go)
    world.write("skills/pdf/scripts/wait.sh", f"echo > '{started}'\nread line < '{go}'\n")
    kit = toolkit(world)
    manager = kit.manager

    def wait_for_all() -> None:
        with started.open() as pipe:
            assert len([pipe.readline() for _ in range(count)]) == count

    async def work() -> None:
        runs = [
            asyncio.ensure_future(manager.arun_script("pdf", "wait", cwd=world.project))
            for _ in range(count)
        ]
        keep = os.open(started, os.O_RDWR)
        await asyncio.to_thread(wait_for_all)
        assert await manager.ainvoke_skill("pdf")
        assert not (await kit.acall("load_skill", {"name": "pdf"})).is_error
        assert not any(run.done() for run in runs)
        with go.open("w") as pipe:
            pipe.write("\n" * count)
            pipe.flush()
            await asyncio.gather(*runs)
        os.close(keep)

    asyncio.run(work())


def test_a_question_says_what_it_is_about(world: World) -> None:
    world.skill("pdf", source="skills")
    world.write("skills/pdf/scripts/where.py", WHERE)
    asked: list[Question] = []

    def ask(question: Question) -> bool:
        asked.append(question)
        return question.network is False

    async def later(question: Question) -> bool:
        await asyncio.sleep(0)
        return ask(question)

    manager = SkillManager("skills", scripts="ask", trusted=True, ask=ask)
    assert manager.run_script("pdf", "where", ["a.pdf"], network=False).exit_code == 0
    with pytest.raises(skillpm.PolicyError, match="you said no"):
        manager.run_script("pdf", "where")
    first = asked[0]
    assert first.startswith("run `scripts/where.py` of `pdf` (")
    assert (first.skill, first.script, first.arguments) == ("pdf", "where", ["a.pdf"])
    assert first.digest.startswith("sha256:")
    assert first.to_dict()["network"] is False
    awaited = SkillManager("skills", scripts="ask", trusted=True, ask=later)
    asyncio.run(awaited.arun_script("pdf", "where", network=False))
    kit = Toolkit(awaited, scripts=True, network=False)
    call = {"name": "pdf", "script": "where", "arguments": ["b.pdf"]}
    assert not asyncio.run(kit.acall("run_skill_script", call)).is_error
    assert asked[-1].arguments == ["b.pdf"]
    assert asked[-1].endswith("arguments: ['b.pdf']")
    asyncio.run(kit.acall("pdf__where", {"arguments": ["c.pdf"]}, loaded=["pdf"]))
    of_tool = asked[-1]
    assert (of_tool.skill, of_tool.script) == ("pdf", "where")
    assert of_tool.arguments == {"arguments": ["c.pdf"]}
    with pytest.raises(ConfigurationError, match="nobody awaits it here"):
        awaited.run_script("pdf", "where")


def test_managers_are_collections(world: World) -> None:
    world.skill("pdf", source="skills")
    manager = SkillManager("skills")
    assert len(manager) == 1
    assert [skill.name for skill in manager] == ["pdf"]
    assert "pdf" in manager
    assert manager["pdf"] in manager
    assert "zip" not in manager
    assert 1 not in manager
    with pytest.raises(KeyError):
        manager["zip"]
    world.write("empty/none", "")
    assert SkillManager("empty"), "one without skills is one"


RUN_ID = "import os, time\nprint(os.environ['SKILLPM_RUN_ID'])\ntime.sleep(0.2)\n"


def run_by(manager: SkillManager) -> str:
    """Run a script: in another process."""
    return manager.run_script("pdf", "id").stdout


def test_forked_processes_leave_each_others_scripts_alone(world: World) -> None:
    """They shared the marks by which what a script left behind is found."""
    if "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("no `fork` here")
    world.skill("pdf", source="skills")
    world.write("skills/pdf/scripts/id.py", RUN_ID)
    manager = SkillManager("skills", scripts="allow", trusted=True)
    with ProcessPoolExecutor(4, mp_context=multiprocessing.get_context("fork")) as pool:
        found = list(pool.map(run_by, [manager] * 12))
    assert len(set(found)) == 12


def loaded_by(kit: Toolkit) -> str:
    """Load a skill: in another process."""
    return kit.load_skill("pdf") + str(len(kit.manager))


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_other_processes_get_managers_and_toolkits(
    world: World, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no `{method}` here")
    world.skill("pdf", "Body.\n", source="skills")
    kit = Toolkit("skills")
    monkeypatch.chdir(world.home)
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        assert "Body." in pool.submit(loaded_by, kit).result()


@for_sh
def test_a_working_directory_that_is_gone(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.skill("pdf", source="skills")
    gone = world.project / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert len(SkillManager(world.project / "skills")) == 1
    with pytest.raises(skillpm.StorageError, match="failed to find the working directory"):
        SkillManager()


def test_a_library_writes_into_nobodys_home(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SKILLPM_AUDIT", raising=False)
    world.skill("pdf", source="skills")
    SkillManager("skills").invoke_skill("pdf")
    Toolkit("skills").load_skill("pdf")
    assert list(world.home.iterdir()) == []
    SkillManager("skills", audit=True).invoke_skill("pdf")
    [log] = world.home.rglob("audit.jsonl")
    assert len(log.read_text().splitlines()) == 1


def test_hints_resolve_at_run_time() -> None:
    kinds: list[Any] = [SkillManager, Toolkit, Question, Project, Registry]
    found = [
        function
        for kind in kinds
        for name, function in vars(kind).items()
        if inspect.isfunction(function) and (not name.startswith("_") or name == "__init__")
    ]
    if sys.version_info < (3, 10):
        # It has no `X | Y`, which some have whose frameworks need 3.10.
        found = [one for one in found if one.__module__ != "skillpm._ask"]
    assert len(found) > 90
    for function in [*found, skillpm.install, skillpm.validate]:
        typing.get_type_hints(function)


def test_calls_are_traced_where_a_program_traces(world: World) -> None:
    exporters = pytest.importorskip("opentelemetry.sdk.trace.export.in_memory_span_exporter")
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor

    exporter = exporters.InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    world.skill("pdf", source="skills")
    world.write("skills/pdf/scripts/bad.py", "raise SystemExit(3)\n")
    kit = toolkit(world)
    before = trace.get_tracer
    trace.get_tracer = provider.get_tracer  # type: ignore[assignment]
    try:
        kit.load_skill("pdf")
        asyncio.run(kit.acall("run_skill_script", {"name": "pdf", "script": "bad"}))
    finally:
        trace.get_tracer = before
    load, run = exporter.get_finished_spans()
    assert load.name == "execute_tool load_skill"
    assert load.attributes["skillpm.skill"] == "pdf"
    assert load.status.status_code.name == "UNSET"
    assert run.attributes["skillpm.exit_code"] == 3
    assert run.attributes["skillpm.script"] == "scripts/bad.py"
    assert run.attributes["skillpm.digest"].startswith("sha256:")
    assert run.status.status_code.name == "ERROR"


def test_a_run_of_langsmith_knows_the_skill(world: World) -> None:
    helpers = pytest.importorskip("langsmith.run_helpers")
    world.skill("pdf", source="skills")
    kit = Toolkit("skills")
    seen: list[Any] = []

    def load() -> str:
        seen.append(helpers.get_current_run_tree())
        return kit.load_skill("pdf")

    traced: Any = helpers.traceable(run_type="tool")(load)

    logging.getLogger("langsmith").setLevel(logging.CRITICAL)
    with helpers.tracing_context(enabled="local"):
        traced()
    assert seen[0].metadata["skillpm.skill"] == "pdf"
