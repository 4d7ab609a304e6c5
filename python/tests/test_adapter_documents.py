"""The guides to the adapters, run as they stand."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from conftest import World
from support.adapters import CHECK
from support.documents import GUIDE, examples
from support.messages_api import MessagesAPI, results, use

import skillpm

LOAD = {"name": "pdf", "arguments": "a.pdf"}
RUN = {"name": "pdf", "script": "check_fillable_fields", "arguments": {"path": "a.pdf"}}

# What each guide needs.
PACKAGES = {
    "openai-agents": ["agents"],
    "pydantic-ai": ["pydantic_ai"],
    "anthropic": ["anthropic", "claude_agent_sdk"],
}


def run_guide(world: World, guide: str) -> dict[str, Any]:
    """Run the examples of a guide one after the other, and return the names that they bind."""
    world.skill("pdf", "Fill in $ARGUMENTS.\n", source="vendor")
    world.write("vendor/pdf/scripts/check_fillable_fields.py", CHECK)
    world.skill("docx", "Write reports.\n", source="vendor")
    skillpm.install("./vendor", skills=["docx", "pdf"])
    names: dict[str, Any] = {"__name__": "guide"}
    for number, example in enumerate(examples(GUIDE / f"{guide}.md")):
        exec(compile(example, f"docs/guide/{guide}.md, {number}", "exec"), names)
    return names


def test_the_guide_to_the_openai_agents_sdk(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("agents", reason="openai-agents is not installed")
    from agents import set_tracing_disabled
    from support.openai_model import ScriptedModel, calling

    model = ScriptedModel(
        # An agent with skills.
        *(calling("load_skill", **LOAD), "Filled."),
        # With scripts.
        *(calling("load_skill", **LOAD), calling("run_skill_script", **RUN), "It has."),
        # With a method of the manager.
        *(calling("invoke_skill", **LOAD), "Filled."),
    )
    provider = import_module("agents.models.multi_provider").MultiProvider
    monkeypatch.setattr(provider, "get_model", lambda self, name: model)
    set_tracing_disabled(True)
    run_guide(world, "openai-agents")
    assert "Fill in a.pdf." in model.calls[1].result
    assert "a.pdf has fields." in model.calls[4].result
    assert "Fill in a.pdf." in model.calls[6].result
    assert len(model.calls) == len(model.answers)
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "Filled." and printed[-1] == "It has."
    assert printed[1].startswith("run_skill_script {")


def test_the_guide_to_pydantic_ai(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pydantic_ai", reason="pydantic-ai-slim is not installed")
    from pydantic_ai import models
    from support.pydantic_model import ScriptedModel, calling

    model = ScriptedModel(
        # An agent with skills.
        *(calling("load_skill", **LOAD), "Filled."),
        # With scripts.
        *(calling("load_skill", **LOAD), calling("run_skill_script", **RUN), "It has."),
        # With approval.
        *(calling("run_skill_script", **RUN), "It does."),
        # With a method of the manager.
        *(calling("invoke_skill", **LOAD), "Filled."),
    )
    monkeypatch.setattr(models, "infer_model", lambda *_, **__: model.function)
    run_guide(world, "pydantic-ai")
    assert "Fill in a.pdf." in model.calls[1].result
    assert "a.pdf has fields." in model.calls[4].result
    assert "a.pdf has fields." in model.calls[6].result
    assert "Fill in a.pdf." in model.calls[8].result
    assert len(model.calls) == len(model.answers)
    printed = capsys.readouterr().out.splitlines()
    assert printed[:2] == ["Filled.", "It has."]
    assert printed[2].startswith("run_skill_script {") and printed[3] == "It does."


def test_the_guide_to_anthropics_sdks(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("anthropic", reason="anthropic is not installed")
    pytest.importorskip("claude_agent_sdk", reason="claude-agent-sdk is not installed")
    ours = "mcp__skills__"
    answers = (
        # The tool runner, and a loop of one's own.
        *(use("load_skill", **LOAD), "Filled."),
        *(use("load_skill", **LOAD), "Filled."),
        # The Agent SDK.
        *(use(ours + "load_skill", **LOAD), "Filled."),
        # Scripts, with both.
        *(use("run_skill_script", **RUN), "It has."),
        *(use(ours + "run_skill_script", **RUN), "It has."),
    )
    for name in list(os.environ):
        if name.startswith(("ANTHROPIC_", "CLAUDE")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    monkeypatch.setenv("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
    monkeypatch.setenv("CLAUDE_CODE_TMPDIR", str(world.root))
    with MessagesAPI(*answers).served() as api:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
        run_guide(world, "anthropic")
    told = [results(request) for request in api.requests]
    assert [len(answers) for answers in told] == [0, 1] * 5
    for turn, text in ((1, "Fill in a.pdf."), (3, "Fill in a.pdf."), (5, "Fill in a.pdf.")):
        assert text in told[turn][0][0]
    for turn in (7, 9):
        assert "a.pdf has fields." in told[turn][0][0]
    assert not any(failed for answers in told for _, failed in answers)
    printed = capsys.readouterr().out.splitlines()
    assert [printed[2], printed[4]] == ["Filled.", "It has."]


@pytest.mark.parametrize("guide", PACKAGES)
def test_the_examples_of_a_guide_are_typed(guide: str, tmp_path: Path) -> None:
    """They are there to be copied, into code bases whose types are checked too."""
    for package in PACKAGES[guide]:
        pytest.importorskip(package, reason=f"{package} is not installed")
    program = tmp_path / "guide.py"
    program.write_text("\n".join(examples(GUIDE / f"{guide}.md")), "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--check-untyped-defs", str(program)],
        cwd=Path(skillpm.__file__).resolve().parent.parent,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("module", "package", "extra"),
    [
        ("openai_agents", "agents", "openai-agents"),
        ("pydantic_ai", "pydantic_ai", "pydantic-ai"),
        ("anthropic", "anthropic", "anthropic"),
        ("claude_agent_sdk", "claude_agent_sdk", "claude-agent-sdk"),
    ],
)
def test_a_package_that_is_missing_is_named(module: str, package: str, extra: str) -> None:
    program = (
        "import sys\n"
        f"sys.modules[{package!r}] = None\n"
        "try:\n"
        f"    import skillpm.{module}\n"
        "except ModuleNotFoundError as error:\n"
        "    print(error)\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert f'install it with `pip install "skillpm-py[{extra}]"`' in ran.stdout, ran.stderr
    assert ran.stdout.startswith(f"`skillpm.{module}` needs the package `")
