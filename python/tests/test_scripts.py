"""Scripts of skills: which there are, and what comes of running them."""

from __future__ import annotations

import asyncio
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from conftest import World

import skillpm
from skillpm import (
    ConfigurationError,
    PathError,
    PolicyError,
    ScriptResult,
    SkillInvocationError,
    SkillManager,
    SkillParseError,
    _threads,
)

for_sh = pytest.mark.skipif(
    sys.platform == "win32", reason="this script is for `sh`, which Windows does not have"
)

GREET = 'import sys\nprint(f"Hello, {sys.argv[1]}!")\n'
# What `print` ends a line with.
END = os.linesep


def script(world: World, name: str, text: str) -> Path:
    return world.write(f".claude/skills/pdf/scripts/{name}", text)


def manager() -> SkillManager:
    return SkillManager(profile="skillkit", trusted=True)


@pytest.mark.req("S1-AC-1", "S1-FR-201.1", "S1-FR-201.2", "S1-FR-201.3", "S1-FR-204.1", "S1-Q3")
def test_scripts_are_tools_and_nothing_else_is(world: World) -> None:
    world.skill("pdf")
    script(world, "tool1.py", "")
    script(world, "tool2.sh", "")
    script(world, "tool3.js", "")
    script(world, "helper.txt", "")
    script(world, "below/tool4.py", "")
    tools = SkillManager().get_skill_tools("pdf")
    assert [tool.name for tool in tools] == ["tool1", "tool2", "tool3"]
    assert [tool.language for tool in tools] == ["python", "shell", "javascript"]


@pytest.mark.req("S1-FR-201.4")
def test_no_scripts_are_no_tools(world: World) -> None:
    world.skill("pdf")
    assert SkillManager().get_skill_tools("pdf") == []


@pytest.mark.req("S1-AC-2", "S1-D3", "S1-FR-202.1", "S1-FR-202.2", "S1-FR-202.4", "S1-Q2")
def test_what_a_script_says_of_itself(world: World) -> None:
    world.skill("pdf")
    path = script(
        world,
        "tool1.py",
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('path')\n"
        "p.add_argument('--pages', type=int, default=1)\n\n"
        'def main():\n    """Process a file and return results."""\n',
    )
    script(world, "tool2.py", "raise SystemExit('this is never run')\n")
    one, two = SkillManager().get_skill_tools("pdf")
    assert (one.description, one.path, one.script, one.skill) == (
        "Process a file and return results.",
        path,
        "scripts/tool1.py",
        "pdf",
    )
    assert one.input_schema["properties"]["pages"] == {"type": "integer", "default": 1}
    assert one.input_schema["required"] == ["path"]
    assert two.description == "Execute tool2"


@pytest.mark.req("S1-FR-203.2", "C21")
def test_tool_names_are_unique(world: World) -> None:
    world.skill("pdf")
    script(world, "echo.py", "")
    script(world, "echo.sh", "")
    names = [tool.tool_name for tool in SkillManager().get_skill_tools("pdf")]
    assert names == ["pdf__echo_py", "pdf__echo_sh"]


@pytest.mark.req("S1-FR-202.3", "S1-D3")
def test_a_manifest(world: World) -> None:
    world.skill("pdf")
    script(world, "tool.py", '"""Of the script."""\n')
    manifest = (
        "tools:\n  - name: fill\n    script: tool.py\n    description: Of the manifest.\n"
        "    parameters:\n      - {name: file, type: string, description: The form.}\n"
    )
    script(world, "manifest.yml", manifest)
    [tool] = SkillManager().get_skill_tools("pdf")
    assert (tool.name, tool.description) == ("fill", "Of the manifest.")
    assert tool.input_schema["properties"]["file"]["description"] == "The form."
    wrong = script(world, "manifest.yml", "tools: none\n")
    with pytest.raises(SkillParseError) as raised:
        SkillManager().get_skill_tools("pdf")
    assert (raised.value.code, raised.value.path) == ("manifest", str(wrong))
    assert raised.value.line == 1


def test_scripts_are_values(world: World) -> None:
    world.skill("pdf")
    script(world, "tool.py", "def main(count: int): ...\n")
    [tool] = SkillManager().get_skill_tools("pdf")
    assert tool == SkillManager().get_skill_tools("pdf")[0]
    assert len({tool, pickle.loads(pickle.dumps(tool))}) == 1
    assert repr(tool).startswith("Script(tool_name='pdf__tool', description='Execute tool', path=")
    assert json.loads(json.dumps(tool.to_dict()))["input_schema"] == tool.input_schema
    with pytest.raises(AttributeError):
        tool.name = "other"  # type: ignore[misc]


@pytest.mark.req("S1-AC-3", "S1-FR-203.4")
def test_a_text_is_one_argument(world: World) -> None:
    world.skill("pdf")
    script(world, "greet.py", GREET)
    done = manager().run_script("pdf", "greet", "World")
    assert done.stdout == f"Hello, World!{END}" == str(done)
    assert (done.exit_code, done.stderr, done.truncated) == (0, "", False)
    [tool] = manager().get_skill_tools("pdf")
    assert manager().run_script("pdf", tool, ["a; b", "c"]).stdout == f"Hello, a; b!{END}"
    assert pickle.loads(pickle.dumps(done)) == done
    assert repr(done).startswith(f"ScriptResult(stdout={done.stdout!r}")


def test_a_mapping_is_checked(world: World) -> None:
    world.skill("pdf")
    text = (
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('file')\n"
        "p.add_argument('--pages', type=int, default=1)\nprint(vars(p.parse_args()))\n"
    )
    script(world, "fill.py", text)
    done = manager().run_script("pdf", "fill", {"file": "-a b", "pages": 3})
    assert done.stdout == f"{{'file': '-a b', 'pages': 3}}{END}"
    for wrong in ({"pages": 3}, {"file": 1}, {"file": "a", "page": 2}, 7):
        with pytest.raises(ConfigurationError) as raised:
            manager().run_script("pdf", "fill", wrong)  # type: ignore[arg-type]
        assert raised.value.code == "arguments"


@pytest.mark.req("S1-AC-4", "S1-FR-203.5")
def test_a_script_that_fails(world: World) -> None:
    world.skill("pdf")
    script(world, "bad.py", "import sys\nprint('so far')\nsys.exit('no such page')\n")
    with pytest.raises(SkillInvocationError, match="no such page") as raised:
        manager().run_script("pdf", "bad")
    error = raised.value
    told = (error.exit_code, error.stdout, error.stderr)
    assert told == (1, f"so far{END}", f"no such page{END}")
    assert error.code == "script-failed"
    assert error.signal is None
    assert error.duration is not None and error.duration > 0


@for_sh
@pytest.mark.req("S1-FR-205.2", "S1-FR-203.3", "S1-SM-5")
def test_a_script_ends_with_its_grandchildren(world: World) -> None:
    """skillkit ended the script only: what it had started lived on."""
    world.skill("pdf")
    script(world, "slow.sh", "sleep 600 &\necho $!\nsleep 600\n")
    with pytest.raises(SkillInvocationError) as raised:
        manager().run_script("pdf", "slow", timeout=0.5)
    assert raised.value.code == "script-timeout"
    assert raised.value.exit_code is None
    assert raised.value.signal is not None
    assert raised.value.duration is not None and raised.value.duration >= 0.5
    assert not lives(int(raised.value.stdout))


@pytest.mark.req("C19")
def test_the_environment_is_clean(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """skillkit handed the whole environment of the host to scripts."""
    world.skill("pdf", fields='metadata:\n  version: "1.10"\n')
    monkeypatch.setenv("API_KEY", "secret")
    script(world, "env.py", "import json, os\nprint(json.dumps(dict(os.environ)))\n")
    seen = json.loads(manager().run_script("pdf", "env", env={"GIVEN": "1"}).stdout)
    assert "API_KEY" not in seen
    assert (seen["GIVEN"], seen["SKILL_NAME"], seen["SKILL_VERSION"]) == ("1", "pdf", "1.10")


def test_output_is_cut(world: World) -> None:
    world.skill("pdf")
    script(world, "much.py", "print('x' * 1000)\n")
    done = manager().run_script("pdf", "much", max_output=10)
    assert (done.stdout, done.truncated) == ("x" * 10, True)


def test_output_that_is_no_text(world: World) -> None:
    world.skill("pdf")
    script(world, "odd.py", "import sys\nsys.stdout.buffer.write(b'a\\xffb')\n")
    assert manager().run_script("pdf", "odd").stdout == "a\ufffdb"


@pytest.mark.req("S1-FR-205.1")
def test_what_is_no_script(world: World) -> None:
    world.skill("pdf")
    script(world, "a.py", "")
    for name, near in (
        ("b", ""),
        ("../../../x", ""),
        ("/bin/sh", ""),
        ("", ""),
        ("a\0", "did you mean `a.py`?\n"),
    ):
        with pytest.raises(PathError) as raised:
            manager().run_script("pdf", name)
        assert (raised.value.code, raised.value.hint) == (
            "script-not-found",
            f"{near}in its `scripts/` are `a.py`",
        )


@pytest.mark.skipif(
    sys.platform == "win32",
    reason="Windows has no set-id bit, and lets few users make symbolic links",
)
@pytest.mark.req("S1-FR-205.3", "C20")
def test_set_id_scripts_and_links_are_no_tools(world: World) -> None:
    world.skill("pdf")
    script(world, "a.sh", "").chmod(0o4755)
    (world.project / ".claude/skills/pdf/scripts/b.sh").symlink_to("/bin/sh")
    assert manager().get_skill_tools("pdf") == []
    with pytest.raises(PathError):
        manager().run_script("pdf", "a")


@pytest.mark.req("C18")
def test_nothing_runs_unless_it_may(world: World) -> None:
    world.skill("pdf")
    ran = world.project / "ran"
    script(world, "mark.py", f"open({str(ran)!r}, 'w').close()\n")
    for careful in (
        SkillManager(trusted=True),
        SkillManager(scripts="ask", trusted=True),
        SkillManager(scripts="ask", trusted=True, ask=lambda question: False),
        SkillManager(scripts="allow"),
        SkillManager(profile="skillkit"),
    ):
        with pytest.raises(PolicyError, match="may not run") as raised:
            careful.run_script("pdf", "mark")
        assert raised.value.code == "script-not-permitted"
    assert not ran.exists()
    asked: list[str] = []

    def ask(question: str) -> bool:
        asked.append(question)
        return True

    willing = SkillManager(scripts="ask", trusted=True, ask=ask)
    willing.run_script("pdf", "mark")
    assert ran.exists()
    assert [question.startswith("run `scripts/mark.py` of `pdf`") for question in asked] == [True]


@pytest.mark.req("C18")
def test_a_program_vouches_for_what_only_its_lockfile_knows(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The machine that it is installed on never fetched the skills that it ships."""
    world.write("vendor/pdf/SKILL.md", "---\nname: pdf\ndescription: Greets people.\n---\n")
    world.write("vendor/pdf/scripts/greet.py", GREET)
    skillpm.install("./vendor", skills="pdf")
    monkeypatch.setenv("XDG_DATA_HOME", str(world.root / "another-machine"))
    with pytest.raises(PolicyError, match="may not run"):
        SkillManager(scripts="allow").run_script("pdf", "greet", "World")
    result = SkillManager(scripts="allow", trusted=True).run_script("pdf", "greet", "World")
    assert result.stdout == f"Hello, World!{END}"


@pytest.mark.req("S1-FR-205.4")
def test_each_run_and_each_refusal_is_logged(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    log = world.root / "audit.jsonl"
    monkeypatch.setenv("SKILLPM_AUDIT", str(log))
    world.skill("pdf")
    script(world, "greet.py", GREET)
    script(world, "bad.py", "raise SystemExit(3)\n")
    manager().run_script("pdf", "greet", "World")
    with pytest.raises(SkillInvocationError):
        manager().run_script("pdf", "bad")
    with pytest.raises(PolicyError):
        SkillManager(trusted=True).run_script("pdf", "greet", "World")
    records = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(told["event"], told["script"], told["exit_code"]) for told in records] == [
        ("run", "scripts/greet.py", 0),
        ("run", "scripts/bad.py", 3),
        ("refused", "scripts/greet.py", None),
    ]
    assert "World" not in log.read_text(), "arguments are not written down"


def test_what_the_answer_raises_is_raised(world: World) -> None:
    world.skill("pdf")
    script(world, "a.sh", "")

    def ask(question: str) -> bool:
        raise LookupError("nobody is there")

    with pytest.raises(LookupError, match="nobody is there"):
        SkillManager(scripts="ask", trusted=True, ask=ask).run_script("pdf", "a")


def test_an_answer_that_is_no_more_does_not_hang(world: World) -> None:
    """An event loop can hand on every exception but this one."""
    world.skill("pdf")
    script(world, "a.sh", "")
    ours = SkillManager(scripts="ask", trusted=True, ask=lambda _: next(iter(())))
    with pytest.raises(StopIteration):
        ours.run_script("pdf", "a")
    raised: list[BaseException] = []

    def work() -> None:
        try:
            asyncio.run(ours.arun_script("pdf", "a"))
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(30)
    assert [type(error) for error in raised] == [RuntimeError]


@pytest.mark.parametrize(
    "wrong",
    [
        {"timeout": 0},
        {"timeout": -1},
        {"timeout": float("nan")},
        {"timeout": 1e300},
        {"timeout": 1e-12},
        {"timeout": 10**400},
        {"timeout": -(10**400)},
        {"sandbox": "some"},
        {"max_output": -1},
        {"max_output": 2**70},
    ],
)
def test_options_that_make_no_sense(world: World, wrong: dict[str, object]) -> None:
    world.skill("pdf")
    script(world, "a.sh", "")
    with pytest.raises(ConfigurationError, match=next(iter(wrong))):
        manager().run_script("pdf", "a", **wrong)  # type: ignore[arg-type]


def test_a_script_runs_where_the_process_is(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may write there: it was the project's directory, or where the process once was."""
    world.skill("pdf", source="skills")
    world.write("skills/pdf/scripts/where.py", "import os\nprint(os.getcwd())\n")
    (world.project / "other" / ".git").mkdir(parents=True)
    (world.home / "sub").mkdir()
    ours = SkillManager("skills", project="other", scripts="allow", trusted=True)

    def where(**options: str) -> Path:
        return Path(ours.run_script("pdf", "where", {}, **options).stdout.rstrip())  # type: ignore[arg-type]

    assert where() == world.project
    assert where(cwd="other") == world.project / "other"
    monkeypatch.chdir(world.home)
    assert where() == world.home
    assert where(cwd="sub") == world.home / "sub"
    assert where(cwd=str(world.project)) == world.project


def test_a_script_is_a_text_or_a_script(world: World) -> None:
    world.skill("pdf")
    script(world, "a.sh", "")
    for wrong in (None, 1):
        with pytest.raises(TypeError, match=r"^argument 'script': an object of the type"):
            manager().run_script("pdf", wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("answer", ["yes", None, 1])
def test_an_answer_is_yes_or_no(
    world: World, answer: object, caplog: pytest.LogCaptureFixture
) -> None:
    """An agent that was stopped gets the same answer each time it goes on."""
    world.skill("pdf")
    script(world, "a.sh", "touch ran")
    ours = SkillManager(scripts="ask", trusted=True, ask=lambda _: answer)  # type: ignore[arg-type,return-value]
    with pytest.raises(PolicyError, match="you said no"):
        ours.run_script("pdf", "a")
    assert not (world.project / "ran").exists()
    assert f"`ask` answered {answer!a}, not `True` or `False`" in caplog.text


@pytest.mark.parametrize(
    "wrong",
    [
        {"env": {"A": 1}},
        {"env": "A=1"},
        {"timeout": "1"},
        {"cwd": 3},
        {"max_output": "x"},
        {"sandbox": 1},
    ],
)
def test_options_of_other_types(world: World, wrong: dict[str, object]) -> None:
    """The error named a structure that no caller knows."""
    world.skill("pdf")
    script(world, "a.sh", "")
    with pytest.raises(TypeError, match=f"^argument '{next(iter(wrong))}': "):
        manager().run_script("pdf", "a", **wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["A=B", "=A", "A=", ""])
def test_names_that_no_variable_has(world: World, name: str) -> None:
    """`A=B` set the variable `A`."""
    world.skill("pdf")
    script(world, "a.sh", "")
    with pytest.raises(skillpm.ConfigurationError):
        manager().run_script("pdf", "a", env={name: "1"})


def test_the_value_of_a_variable_is_in_no_error(world: World) -> None:
    """It may be a secret, and a model may be told of the error."""
    world.skill("pdf")
    script(world, "a.sh", "")
    with pytest.raises(skillpm.ConfigurationError, match="`TOKEN`") as raised:
        manager().run_script("pdf", "a", env={"TOKEN": "s3cret\0"})
    assert "s3cret" not in f"{raised.value} {raised.value.hint}"


def test_hints_have_the_words_of_python(world: World) -> None:
    world.skill("pdf")
    script(world, "a.sh", "")

    def hint(ours: SkillManager, **options: str) -> str:
        with pytest.raises(skillpm.SkillpmError) as raised:
            ours.run_script("pdf", "a", **options)  # type: ignore[arg-type]
        assert raised.value.hint is not None
        assert "`--" not in raised.value.hint
        return raised.value.hint

    assert "choose another with `cwd`" in hint(manager(), cwd="nope")
    assert "`SkillManager(ask=...)`" in hint(SkillManager(scripts="ask", trusted=True))
    assert '`SkillManager(scripts="allow")`' in hint(SkillManager(trusted=True))
    world.skill("word", source="vendor")
    world.skill("csv", source="vendor")
    with pytest.raises(ConfigurationError) as raised:
        skillpm.install("./vendor")
    told = '`skillpm.Project().install("./vendor", skills="csv")` (more names may follow), or `'
    assert told in str(raised.value)
    with pytest.raises(ConfigurationError, match="`frozen=True` only restores") as raised:
        skillpm.install("./vendor", frozen=True)
    assert "`locked=True`" in str(raised.value)


@pytest.mark.req("S1-Q1")
def test_event_loops(world: World) -> None:
    world.skill("pdf")
    script(world, "greet.py", GREET)

    async def work() -> None:
        done = await asyncio.gather(
            *(manager().arun_script("pdf", "greet", str(number)) for number in range(8))
        )
        assert [one.stdout for one in done] == [f"Hello, {number}!{END}" for number in range(8)]
        with pytest.raises(TypeError, match=r"arun_script\(\) got an unexpected keyword .*'time'"):
            await manager().arun_script("pdf", "greet", "x", time=1)  # type: ignore[call-arg]

    asyncio.run(work())


def test_a_method_of_a_subclass_is_called_in_event_loops_too(world: World) -> None:
    world.skill("pdf")
    script(world, "greet.py", GREET)

    class Guard(SkillManager):
        def run_script(self, *args: Any, **options: Any) -> ScriptResult:
            if options["network"]:
                raise PermissionError("without the network only")
            return super().run_script(*args, **options)

    guard = Guard(profile="skillkit", trusted=True)
    with pytest.raises(PermissionError):
        asyncio.run(guard.arun_script("pdf", "greet", "World"))
    done = asyncio.run(guard.arun_script("pdf", "greet", "World", network=False))
    assert done.stdout == f"Hello, World!{END}"


def slow(world: World) -> Path:
    """Write a script that takes its time, and return a pipe that it writes its number to."""
    ready = world.project / "ready"
    os.mkfifo(ready)
    script(world, "slow.sh", f"echo $$ > '{ready}'\nsleep 600\n")
    return ready


def lives(process: int) -> bool:
    """Whether a process does anything still; one that only waits to be collected does not."""
    try:
        os.kill(process, 0)
        stat = Path(f"/proc/{process}/stat")
        return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


@for_sh
def test_a_task_that_is_cancelled_ends_its_script(world: World) -> None:
    world.skill("pdf")
    ready = slow(world)

    async def work() -> int:
        task = asyncio.ensure_future(manager().arun_script("pdf", "slow"))
        process = int(await asyncio.to_thread(ready.read_text))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return process

    process = asyncio.run(work())
    # The thread that waits for the script ends after it.
    _threads.end_threads()
    assert not lives(process)


@for_sh
def test_a_signal_ends_a_script(world: World) -> None:
    world.skill("pdf")
    ready = slow(world)
    # As at a terminal: what a shell starts in the background ignores the signal.
    code = (
        "import signal\n"
        "from skillpm import SkillManager\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "SkillManager(profile='skillkit', trusted=True).run_script('pdf', 'slow')\n"
    )
    host = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)
    process = int(ready.read_text())
    os.kill(host.pid, signal.SIGINT)
    _, said = host.communicate(timeout=60)
    assert "KeyboardInterrupt" in said
    assert not lives(process)


@pytest.mark.req("C19")
@pytest.mark.parametrize(
    "text", ["echo $1\n", '# Usage: a.sh [-l] <text>\necho "$2"\n'], ids=["untyped", "typed"]
)
def test_what_the_schema_forbids_is_refused(world: World, text: str) -> None:
    world.skill("pdf")
    script(world, "a.sh", text)
    (tool,) = manager().get_skill_tools("pdf")
    assert tool.input_schema["additionalProperties"] is False
    with pytest.raises(ConfigurationError, match="there is no parameter `colour`") as raised:
        manager().run_script("pdf", "a", {"colour": "red"})
    assert raised.value.code == "arguments"


BEYOND = {
    "large": '{"x": 100000000000000000000}',
    "no number": '{"x": NaN}',
    "infinite": '{"x": 1e999}',
    "deep": '{"x": %s}' % ("[" * 120 + "]" * 120),
}


@pytest.mark.parametrize("written", BEYOND)
def test_what_json_can_be_written_of_and_no_script_gets(world: World, written: str) -> None:
    """A model writes it: it is told, as of all other arguments that do not fit."""
    world.skill("pdf")
    script(world, "a.sh", "")
    with pytest.raises(ConfigurationError, match="the arguments do not fit the script: ") as raised:
        manager().run_script("pdf", "a", json.loads(BEYOND[written]))
    assert raised.value.code == "arguments"
    with pytest.raises(TypeError):
        manager().run_script("pdf", "a", {"x": object()})


@pytest.mark.req("C18")
def test_who_vouches_for_a_directory_vouches_for_no_edited_skill(world: World) -> None:
    source = world.skill("pdf", source="source")
    (source / "scripts").mkdir()
    (source / "scripts" / "a.py").write_text("print('one')\n")
    skillpm.install("./source/pdf", project=world.project)
    willing = SkillManager(scripts="allow", trusted=True)
    assert willing.run_script("pdf", "a").stdout == f"one{END}"
    (world.project / ".agents/skills/pdf/scripts/a.py").write_text("print('two')\n")
    with pytest.raises(PolicyError, match="differs from what is locked"):
        willing.run_script("pdf", "a")
    assert willing.run_script("pdf", "a", allow_modified=True).stdout == f"two{END}"
