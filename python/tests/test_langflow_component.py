"""The component of `skillpm.langflow`, in Langflow's executor `lfx`, without a front end."""

from __future__ import annotations

import asyncio
import gc
import json
import subprocess
import sys
import weakref
from importlib.metadata import distribution
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import World
from support.documents import GUIDE, examples

pytest.importorskip("lfx", reason="lfx is not installed")

from lfx.graph import Graph
from lfx.testing import LocalFlowRunner

import skillpm.langflow
from skillpm.langflow.components.skillpm.skills import SkillsComponent

EXTENSION = Path(skillpm.langflow.__file__).parent

# A flow as users of `lfx` write one: the model is scripted, and what the agent did is written down.
FLOW = """
import json, sys
from pathlib import Path

sys.path.insert(0, {tests!r})
from lfx.components.input_output import ChatInput, ChatOutput
from lfx.components.models_and_agents import AgentComponent
from lfx.custom.custom_component.component import Component
from lfx.field_typing import LanguageModel
from lfx.graph import Graph
from lfx.io import MessageInput, Output
from lfx.schema.message import Message
from skillpm.langflow.components.skillpm.skills import SkillsComponent
from support.model import ScriptedChatModel, calling

model = ScriptedChatModel(*[
    calling(name, **arguments) if name else "answered" for name, arguments in {calls!r}
])


class Model(Component):
    inputs = []
    outputs = [Output(display_name="Model", name="model", method="build_model")]

    def build_model(self) -> LanguageModel:
        return model


class Recorder(Component):
    inputs = [MessageInput(name="message", display_name="Message")]
    outputs = [Output(display_name="Message", name="out", method="record")]

    def record(self) -> Message:
        blocks = [block for block in self.message.content_blocks if block.type == "tool_use"]
        said = [[block.name, str(block.output), block.duration] for block in blocks]
        first = model.calls[0]
        seen = {{"blocks": said, "prompt": first.messages[0].text, "tools": first.tool_names,
                 "session": self.graph.session_id}}
        Path("seen.json").write_text(json.dumps(seen))
        return self.message


question = ChatInput()
skills = SkillsComponent().set(
    enable_skills={enabled}, skills_directory="skills", system_prompt={prompt!r}
)
agent = AgentComponent().set(
    model=Model().build_model,
    tools=skills.build_tools,
    system_prompt=skills.build_instructions,
    input_value=question.message_response,
)
recorder = Recorder().set(message=agent.message_response)
graph = Graph(question, ChatOutput().set(input_value=recorder.record))
"""
LOAD = ("load_skill", {"skill_name": "pdf"})
READ = ("read_skill_file", {"skill_name": "pdf", "filename": "forms.md"})
END: tuple[str, dict[str, str]] = ("", {})


@pytest.fixture
def skills(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    world.skill("pdf", "# PDF\n\nSee forms.md.\n", source="skills")
    world.write("skills/pdf/forms.md", "How to fill forms.\n")
    monkeypatch.setenv("SKILLPM_AUDIT", str(world.root / "audit.jsonl"))
    # Its settings and its database lie with the test.
    monkeypatch.setenv("LANGFLOW_CONFIG_DIR", str(world.root / "langflow"))
    monkeypatch.setenv("DO_NOT_TRACK", "true")
    return world


def flow(world: World, *calls: Any, enabled: bool = True, prompt: str = "Be helpful.") -> Path:
    tests = str(Path(__file__).parent)
    text = FLOW.format(tests=tests, calls=calls, enabled=enabled, prompt=prompt)
    return world.write("flow.py", text)


def seen(world: World) -> Any:
    return json.loads((world.project / "seen.json").read_text())


def component(**inputs: Any) -> SkillsComponent:
    made = SkillsComponent()
    made.set(**inputs)
    return made


def enabled(**inputs: Any) -> SkillsComponent:
    return component(enable_skills=True, skills_directory="skills", **inputs)


@pytest.mark.req("S3-US-1", "S3-US-2", "S3-US-5", "S3-US-10", "S3-FR-21", "S3-FR-22", "S3-FR-26")
@pytest.mark.req("S3-FR-27", "S3-FR-28")
def test_an_agent_loads_a_skill_reads_its_file_and_answers(skills: World) -> None:
    result = LocalFlowRunner()(flow(skills, LOAD, READ, END), "Fill it", session_id="s-1")
    assert result.ok and result.text == "answered", result.raw
    told = seen(skills)
    names = [name for name, _, _ in told["blocks"]]
    assert names == ["load_skill", "read_skill_file"]
    load, read = (output for _, output, _ in told["blocks"])
    for text in ("See forms.md.", '"skill_name":"pdf"', '"description":"Does pdf.'):
        assert text in load
    for text in ("How to fill forms.", '"skill_name": "pdf"', '"filename": "forms.md"'):
        assert text in read
    assert all(isinstance(duration, int) for _, _, duration in told["blocks"])
    assert told["prompt"].startswith("Be helpful.")
    assert told["prompt"].count("<available_skills>") == 1
    lines = (skills.root / "audit.jsonl").read_text().splitlines()
    loads = [(line["skill"], line["session"]) for line in map(json.loads, lines)]
    assert loads == [("pdf", told["session"])]
    assert told["session"]


@pytest.mark.req("S3-US-1", "S3-TEST")
def test_it_runs_with_the_command_of_lfx(skills: World) -> None:
    made = flow(skills, LOAD, READ, END)
    command = [sys.executable, "-m", "lfx", "run", str(made), "Fill it"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert '"result": "answered"' in done.stdout
    assert [name for name, _, _ in seen(skills)["blocks"]] == ["load_skill", "read_skill_file"]


@pytest.mark.req("S3-US-3", "S3-FR-15")
def test_a_conversation_goes_on_after_a_failure(skills: World) -> None:
    wrong = ("load_skill", {"skill_name": "pfd"})
    escape = ("read_skill_file", {"skill_name": "pdf", "filename": "../../x"})
    result = LocalFlowRunner()(flow(skills, wrong, escape, LOAD, END), "Fill it")
    assert result.text == "answered", result.raw
    answers = [output for _, output, _ in seen(skills)["blocks"]]
    assert "available_skills" in answers[0] and "error" in answers[1]


@pytest.mark.req("S3-US-8", "S3-TEST")
def test_an_agent_without_skills_has_no_tool_and_no_catalog(skills: World) -> None:
    made = flow(skills, END, enabled=False, prompt="Be {skill_catalog}helpful.")
    assert LocalFlowRunner()(made, "Hello").text == "answered"
    told = seen(skills)
    assert told["prompt"] == "Be helpful."
    assert not {"load_skill", "read_skill_file"} & set(told["tools"])


@pytest.mark.req("S3-FR-23", "S3-US-9")
def test_the_agents_own_tools_stay(skills: World) -> None:
    assert LocalFlowRunner()(flow(skills, END), "Hello").text == "answered"
    tools = seen(skills)["tools"]
    assert {"load_skill", "read_skill_file"} < set(tools)
    assert len(tools) == len(set(tools)) >= 4, "the date and the calculator of an Agent"


@pytest.mark.req("S3-FR-19", "S3-FR-20", "S3-US-8")
def test_skills_are_off_and_the_directory_shows_only_where_they_are_on() -> None:
    inputs = {each.name: each for each in SkillsComponent.inputs}
    assert inputs["enable_skills"].value is False
    directory = inputs["skills_directory"]
    assert directory.advanced and not directory.show
    config: dict[str, Any] = {"enable_skills": {}, "skills_directory": {"show": False}}
    made = SkillsComponent()
    for value in (True, False):
        config = made.update_build_config(config, value, "enable_skills")
        assert config["skills_directory"]["show"] is value
    assert made.update_build_config(config, "x", "skills_directory") == config


@pytest.mark.req("S3-FR-18", "S3-FR-21", "S3-US-7")
def test_outputs_are_tools_catalog_and_instructions(skills: World) -> None:
    types = {output.name: output.types for output in SkillsComponent.outputs}
    assert types["tools"] == ["Tool"]
    frontend = SkillsComponent().to_frontend_node()["data"]["node"]
    told = {output["name"]: output["types"] for output in frontend["outputs"]}
    assert told == {"tools": ["Tool"], "catalog": ["Message"], "instructions": ["Message"]}
    made = enabled(system_prompt="P")
    assert [tool.name for tool in made.build_tools()] == ["load_skill", "read_skill_file"]
    assert made.build_catalog().text.startswith("<available_skills>")
    assert made.build_catalog().text in made.build_instructions().text
    off = component(enable_skills=False, skills_directory="skills", system_prompt="P")
    assert (off.build_tools(), off.build_catalog().text) == ([], "")
    assert off.build_instructions().text == "P"


@pytest.mark.req("S3-FR-22")
@pytest.mark.parametrize("prompt", ["Be helpful.", "Skills: {skill_catalog}. Be helpful."])
def test_the_catalog_is_there_once_on_a_reused_instance(skills: World, prompt: str) -> None:
    made = enabled(system_prompt=prompt)
    texts = []
    for _ in range(3):
        made._pre_run_setup()
        made.build_tools()
        texts.append(made.build_instructions().text)
    assert texts[0] == texts[1] == texts[2]
    assert texts[0].count("<available_skills>") == 1
    assert "{skill_catalog}" not in texts[0]
    # What one component put in, another one does not put in again.
    assert enabled(system_prompt=texts[0]).build_instructions().text == texts[0]


@pytest.mark.req("S3-FR-8", "S3-US-4")
def test_a_run_has_one_store_and_the_next_one_sees_what_changed(skills: World) -> None:
    made = enabled()
    made._pre_run_setup()
    store = made.store
    made.build_tools()
    made.build_catalog()
    assert made.store is store
    skills.skill("added", source="skills")
    assert "added" not in made.build_catalog().text
    made._pre_run_setup()
    assert made.store is not store
    assert "added" in made.build_catalog().text


@pytest.mark.req("S3-FR-24")
def test_agents_that_share_the_tools_share_the_store(skills: World) -> None:
    made = enabled()
    load, _ = made.build_tools()
    inherited, _ = made.build_tools()
    first = load.invoke({"skill_name": "pdf"})
    skills.skill("pdf", "new", source="skills")
    assert asyncio.run(inherited.ainvoke({"skill_name": "pdf"})) == first


@pytest.mark.req("S3-FR-24")
def test_components_of_one_flow_and_directory_share_the_store(skills: World) -> None:
    def member(flow: Graph | None, directory: str = "skills") -> SkillsComponent:
        made = component(enable_skills=True, skills_directory=directory)
        made._vertex = None if flow is None else SimpleNamespace(graph=flow)
        return made

    def begin(*members: SkillsComponent) -> None:
        for made in members:
            made._pre_run_setup()
            made.build_tools()

    flow = Graph()
    flow.session_id = "one"
    first, second = member(flow), member(flow, str(Path("skills").absolute()))
    begin(first, second)
    assert first.store is second.store is not None
    first.store.load_skill("pdf")
    log = (skills.root / "audit.jsonl").read_text()
    assert json.loads(log.splitlines()[-1])["session"] == "one"
    # Nobody else has it: another flow has another session, and what stands alone has no flow.
    for other in (member(Graph()), member(None), member(flow, "elsewhere")):
        begin(other)
        assert other.store is not first.store
    # The next run sees what changed, in all of them, whichever comes first.
    before = first.store
    skills.skill("added", source="skills")
    for run in ((first, second), (second, first)):
        begin(*run)
        assert first.store is second.store is not before
        assert "added" in second.build_catalog().text
        before = first.store
    # Nothing is kept that no component and no tool holds.
    held = weakref.ref(before)
    del before, first, second, run, flow, other
    gc.collect()
    assert held() is None


@pytest.mark.req("S3-US-3", "C14")
@pytest.mark.parametrize("directory", ["", "  ", "nowhere", "flow.py"])
def test_a_directory_that_is_none_is_told_and_ends_nothing(skills: World, directory: str) -> None:
    skills.write("flow.py", "")
    made = component(enable_skills=True, skills_directory=directory)
    assert len(made.build_tools()) == 2
    assert made.build_catalog().text == "No skills available."
    assert made.status


def test_it_is_an_extension_that_validates(skills: World) -> None:
    command = [sys.executable, "-m", "lfx", "extension", "validate", str(EXTENSION)]
    for arguments in ([], ["--execute-imports"]):
        done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "validate: ok" in done.stdout


def test_an_installed_package_is_found_and_loaded_under_its_version(skills: World) -> None:
    from lfx.extension import discover_installed_extensions, load_extension

    found, errors = discover_installed_extensions([distribution("skillpm-py")])
    assert not errors
    (extension,) = found
    assert (extension.extension_id, extension.version) == ("skillpm", skillpm.__version__)
    result = load_extension(extension.extension_root)
    assert not result.errors
    assert [each.class_name for each in result.components] == ["SkillsComponent"]


def test_the_flow_of_the_guide_is_one(skills: World) -> None:
    example, *_ = examples(GUIDE / "langflow.md")
    names: dict[str, Any] = {"__name__": "guide"}
    exec(compile(example, "docs/guide/langflow.md", "exec"), names)
    edges = {(edge.source_id, edge.target_id) for edge in names["graph"].edges}
    assert (names["skills"]._id, names["agent"]._id) in edges
