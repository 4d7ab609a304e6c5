"""deepagents: a backend whose files are skills."""

from __future__ import annotations

import asyncio
import base64
import inspect
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from conftest import World
from support.documents import GUIDE, examples

pytest.importorskip("deepagents", reason="deepagents is not installed")

from deepagents import create_deep_agent
from deepagents.backends import CompositeBackend, StateBackend
from deepagents.backends.protocol import BackendProtocol
from langchain import chat_models
from langchain_core.messages import ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from support.model import ScriptedChatModel, calling

from skillpm import SkillManager, Toolkit
from skillpm.deepagents import SkillsBackend
from skillpm.langchain import SkillsMiddleware, create_skill_tools

ASK: Any = {"messages": [("user", "Fill in a.pdf.")]}
READING = calling("read_file", file_path="/skills/pdf/SKILL.md")
CHECKING = calling(
    "run_skill_script", name="pdf", script="check", arguments={"arguments": ["a.pdf"]}
)


@pytest.fixture
def skills(world: World) -> Path:
    # deepagents reads no such YAML.
    said = "Does pdf: reads & fills forms. Use it in tests, and wherever a form has to be filled."
    world.skill("pdf", "Fill in the form.\n", source="skills", description=said)
    world.write("skills/pdf/references/forms.md", "".join(f"Line {i}.\n" for i in range(1, 300)))
    world.write("skills/pdf/logo.png", b"\x89PNG\xff")
    world.write("skills/pdf/scripts/check.py", "import sys\nprint('Checked', sys.argv[1])\n")
    world.skill("docx", source="skills", fields="license: MIT\nallowed-tools: Read Grep\n")
    world.skill("secret", fields="disable-model-invocation: true\n", source="skills")
    return world.project / "skills"


def agent_with(model: Any, skills: BackendProtocol, **options: Any) -> Any:
    backend = CompositeBackend(StateBackend(), {"/skills/": skills})
    return create_deep_agent(model, backend=backend, skills=["/skills/"], **options)


def answers(state: Any) -> list[Any]:
    return [message for message in state["messages"] if isinstance(message, ToolMessage)]


@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
def test_an_agent_uses_a_skill(skills: Path, how: str) -> None:
    model = ScriptedChatModel(
        READING,
        calling("read_file", file_path="/skills/pdf/references/forms.md", offset=200, limit=2),
        calling("ls", path="/skills/pdf/"),
        calling("glob", pattern="**/*.py", path="/skills"),
        calling("grep", pattern="Line 77.", path="/skills"),
        "It is filled in.",
    )
    agent = agent_with(model, SkillsBackend(skills))
    state = agent.invoke(ASK) if how == "invoke" else asyncio.run(agent.ainvoke(ASK))
    texts = [str(message.content) for message in answers(state)]
    assert "Fill in the form." in texts[0]
    assert "Line 201." in texts[1]
    assert "Line 203." not in texts[1]
    assert "/skills/pdf/references/" in texts[2]
    assert "/skills/pdf/scripts/check.py" in texts[3]
    assert "/skills/pdf/references/forms.md" in texts[4]
    system = model.calls[0].messages[0].text
    assert system.count("- **pdf**: Does pdf: reads & fills forms.") == 1
    assert "- **docx**: Does docx. Use it in tests. (License: MIT)" in system
    assert "Allowed tools: Read, Grep" in system
    assert "/skills/pdf/SKILL.md" in system
    assert "secret" not in system


def test_a_model_reads_why_a_call_failed(skills: Path) -> None:
    model = ScriptedChatModel(
        calling("read_file", file_path="/skills/pdf/nope.md"),
        calling("read_file", file_path="/skills/secret/SKILL.md"),
        calling("write_file", file_path="/skills/pdf/SKILL.md", content="?"),
        calling("edit_file", file_path="/skills/pdf/SKILL.md", old_string="F", new_string="?"),
        calling("ls", path="/skills/xlsx"),
        "No.",
    )
    found = answers(agent_with(model, SkillsBackend(skills)).invoke(ASK))
    for message, said in zip(
        found,
        (
            "`nope.md`",
            "only a person may start the skill `secret`",
            "skills are read-only",
            "skills are read-only",
            "there is no skill `xlsx`",
        ),
    ):
        assert said in message.content
    assert [message.status for message in found[:4]] == ["error"] * 4
    assert "Fill in the form." in (skills / "pdf" / "SKILL.md").read_text()


def test_a_budget_shortens_the_list(skills: Path, caplog: pytest.LogCaptureFixture) -> None:
    def system(**options: Any) -> str:
        model = ScriptedChatModel(READING, "Done.")
        state = agent_with(model, SkillsBackend(skills, **options)).invoke(ASK)
        # What is read is the file itself.
        assert "description: " in str(answers(state)[0].content)
        return model.calls[0].messages[0].text

    assert "wherever a form has to be filled" in system()
    assert not caplog.records
    assert "- **pdf**: …\n" in system(budget=40)
    assert any("pdf" in record.getMessage() for record in caplog.records)
    # A description is shortened to no less than 60 characters.
    long = f"Reads & fills forms. {'Use it in tests. ' * 20}"
    (skills / "pdf/SKILL.md").write_text(f"---\nname: pdf\ndescription: {long}\n---\nFill.\n")
    assert "- **pdf**: Reads & fills forms. Use it" in (cut := system(budget=90))
    assert long.strip() not in cut
    assert "docx" not in system(include="pdf", budget=100)


def test_a_script_waits_for_approval(skills: Path) -> None:
    kit = Toolkit(SkillManager(skills, scripts="allow", trusted=True), scripts=True)
    model = ScriptedChatModel(READING, CHECKING, "Done.")
    agent = agent_with(
        model,
        SkillsBackend(kit),
        tools=[tool for tool in create_skill_tools(kit) if tool.name == "run_skill_script"],
        interrupt_on={"run_skill_script": True},
        checkpointer=InMemorySaver(),
    )
    thread: Any = {"configurable": {"thread_id": "1"}}
    state = agent.invoke(ASK, thread)
    assert state["__interrupt__"][0].value["action_requests"][0]["args"]["script"] == "check"
    state = agent.invoke(Command(resume={"decisions": [{"type": "approve"}]}), thread)
    assert "Checked a.pdf" in answers(state)[-1].content


def test_the_middleware_of_skillpm_is_the_other_way(skills: Path) -> None:
    loading = calling("load_skill", name="pdf")
    model = ScriptedChatModel(loading, "Done.")
    middleware: Any = SkillsMiddleware(str(skills))
    state = create_deep_agent(model, middleware=[middleware]).invoke(ASK)
    assert len(answers(state)) == 1
    assert "load_skill" in model.calls[0].tool_names


def test_files(skills: Path) -> None:
    backend = SkillsBackend(skills, include=["pdf", "secret"])
    assert backend.ls("/").entries == [{"path": "/pdf/", "is_dir": True}]
    listed = backend.ls("/pdf/").entries
    assert listed is not None
    assert [entry["path"] for entry in listed] == [
        "/pdf/SKILL.md",
        "/pdf/logo.png",
        "/pdf/references/",
        "/pdf/scripts/",
    ]
    assert backend.read("/pdf/SKILL.md", -1, 1).file_data == {
        "content": "---\n",
        "encoding": "utf-8",
    }
    assert "exceeds" in str(backend.read("/pdf/SKILL.md", 100).error)
    image = backend.read("/pdf/logo.png").file_data
    assert image is not None
    assert base64.b64decode(image["content"]) == b"\x89PNG\xff"
    for outside in ("/pdf/../secret/SKILL.md", "/docx/SKILL.md", "/pdf", "/"):
        assert backend.read(outside).error, outside
    assert backend.download_files(["/docx/SKILL.md", "/pdf/logo.png"])[0].error == "file_not_found"
    assert backend.upload_files([("/pdf/x", b"")])[0].error == "permission_denied"
    assert "read-only" in str(backend.delete("/pdf/SKILL.md").error)


def test_files_are_searched(skills: Path) -> None:
    backend = SkillsBackend(skills)
    found = backend.grep("Line", "/pdf", "*.md", max_count=3)
    assert found.truncated
    assert found.matches == [
        {"path": "/pdf/references/forms.md", "line": line, "text": f"Line {line}."}
        for line in (1, 2, 3)
    ]
    one = backend.grep("Line 299.", "/pdf/references/forms.md", max_count=1)
    assert (one.truncated, len(one.matches or ())) == (False, 1)
    assert backend.grep("PNG").matches == []
    assert backend.grep("x", "/xlsx").error == backend.glob("*", "/xlsx").error
    assert "Path traversal" in str(backend.glob("../*").error)
    assert asyncio.run(backend.aglob("*.png")).matches == [
        {"path": "/pdf/logo.png", "is_dir": False}
    ]
    # A skill that is gone keeps nobody from the others.
    manager = SkillManager(skills, freshness="session")
    backend = SkillsBackend(manager)
    assert len(backend.glob("SKILL.md").matches or ()) == 2
    (skills / "docx" / "SKILL.md").unlink()
    assert [match["path"] for match in backend.glob("SKILL.md").matches or ()] == ["/pdf/SKILL.md"]


def test_hints_resolve() -> None:
    for _, function in inspect.getmembers(SkillsBackend, inspect.isfunction):
        if function.__module__ == "skillpm.deepagents":
            get_type_hints(function)


def test_the_guide(
    skills: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model = ScriptedChatModel(
        *(READING, "It has fields."),
        *(READING, "It has few."),
        *(CHECKING, "It was checked."),
        *(calling("load_skill", name="pdf"), "It was loaded."),
    )
    monkeypatch.setattr(chat_models, "init_chat_model", lambda name: model)
    names: dict[str, Any] = {"__name__": "guide"}
    for number, example in enumerate(examples(GUIDE / "deepagents.md")):
        exec(compile(example, f"docs/guide/deepagents.md, {number}", "exec"), names)
    said = capsys.readouterr().out
    for text in ("It has fields.", "It has few.", "It was checked.", "It was loaded."):
        assert text in said
    assert "Run check of pdf?" in said
    assert "there is no skill `xlsx`" in said
    assert len(model.calls) == len(model.answers)
