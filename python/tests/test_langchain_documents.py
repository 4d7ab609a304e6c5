"""The guide to LangChain and the example agents, run as they stand."""

from __future__ import annotations

import os
from typing import Any

import pytest
from conftest import World

pytest.importorskip("langchain", reason="langchain is not installed")

from langchain import chat_models
from support.documents import AGENTS, GUIDE, examples, run_agent
from support.model import ScriptedChatModel, calling

import skillpm

CHECK = """import argparse
import sys

parser = argparse.ArgumentParser(description="Check whether a PDF has form fields.")
parser.add_argument("path")
path = parser.parse_args().path
if path == "missing.pdf":
    sys.exit(f"{path} does not exist")
print("It has fields.")
"""


@pytest.mark.req("S1-SM-3", "S1-SM-4")
def test_the_guide(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    world.skill("pdf", "Fill in $ARGUMENTS.\n", source="vendor")
    world.write("vendor/pdf/scripts/check_fillable_fields.py", CHECK)
    world.skill("docx", "Write reports.\n", source="vendor")
    world.skill("letters", description="Writes letters.", source="skills-of-ann")
    skillpm.install("./vendor", skills=["docx", "pdf"])
    loading = calling("load_skill", name="pdf", arguments="a.pdf")
    model = ScriptedChatModel(
        # An agent with skills.
        *(loading, "Filled."),
        # With other middleware.
        *(loading, "Filled."),
        # Of a user.
        "Only letters.",
        # With scripts.
        *(loading, calling("pdf__check_fillable_fields", path="a.pdf"), "It has."),
        # With tools.
        *(calling("pdf", arguments="a.pdf"), "Filled."),
    )
    monkeypatch.setattr(chat_models, "init_chat_model", lambda name: model)
    names: dict[str, Any] = {"__name__": "guide"}
    results = []
    for number, example in enumerate(examples(GUIDE / "langchain.md")):
        exec(compile(example, f"docs/guide/langchain.md, {number}", "exec"), names)
        if "result" in names:
            results.append([message.content for message in names.pop("result")["messages"]])
    assert len(results) == 5
    assert results.pop(2)[-1] == "Only letters."
    assert "Writes letters." in str(model.calls[4].messages[0].content)
    assert all(
        "Fill in a.pdf." in said[2] and said[-1] in ("Filled.", "It has.") for said in results
    )
    assert results[2][-2] == f"It has fields.{os.linesep}"
    assert "Fill in a.pdf." in names["text"]
    printed = capsys.readouterr().out
    assert "['docx', 'pdf']" in printed
    said = "pdf__check_fillable_fields Check whether a PDF has form fields."
    assert f"{said}\nIt has fields.{os.linesep}" in printed
    assert "1 missing.pdf does not exist" in printed
    assert len(model.calls) == len(model.answers)


SAID = {
    "agent": [
        'load_skill: <skill_content name="code-reviewer">',
        "file: #",
        "ai: `mean([])` divides",
    ],
    "tools": ["git-helper: Base directory for this skill: ", "ai: Tell readers"],
    "scripts": ["calls calculator__add {'a': 2, 'b': 3}", "calculator__add: 5", "ai: 20"],
    "long_thread": ["Messages that are left: ", "The skill is in what the model saw: yes"],
}


@pytest.mark.req("S0-US6.1", "S0-US6.3", "S1-T")
@pytest.mark.parametrize("script", SAID)
def test_the_example_agents(world: World, script: str) -> None:
    rest = said = run_agent(f"langchain_{script}")
    for text in SAID[script]:
        assert text in rest, said
        rest = rest[rest.index(text) :]


def test_every_example_agent_is_run() -> None:
    assert {file.stem for file in AGENTS.glob("langchain_*.py")} == {
        f"langchain_{script}" for script in SAID
    }
