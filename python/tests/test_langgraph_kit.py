"""The toolkit: skills as two tools, for any graph."""

from __future__ import annotations

import asyncio
import copy
import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from conftest import World

pytest.importorskip("langgraph", reason="langgraph is not installed")

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, BaseToolkit
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from support.model import ScriptedChatModel, calling, calling_all

import skillpm.langgraph
from skillpm.langgraph import SkillKit


def tools(kit: SkillKit) -> tuple[BaseTool, BaseTool]:
    skill, read = kit.get_tools()
    return skill, read


def both(tool: BaseTool, **arguments: str) -> str:
    """Return what a tool says, which is the same for those that await."""
    said = tool.invoke(arguments)
    assert asyncio.run(tool.ainvoke(arguments)) == said
    assert isinstance(said, str)
    return said


@pytest.mark.req("S2-R2")
def test_what_is_exported() -> None:
    assert {"SkillKit", "node", "AgentState"} <= set(skillpm.langgraph.__all__)


@pytest.mark.req("S2-R3", "S2-R5", "S2-T1", "C23")
def test_it_is_a_toolkit_of_two_tools(world: World) -> None:
    world.skill("pdf", source="skills")
    kit = SkillKit("skills")
    assert isinstance(kit, BaseToolkit)
    assert [tool.name for tool in kit.get_tools()] == ["Skill", "SkillRead"]
    assert all(isinstance(tool, BaseTool) for tool in kit.get_tools())
    assert all(map(lambda a, b: a is b, kit.tools, kit.get_tools()))
    # The list is made once. Who adds tools to it does not change what others get.
    assert kit.tools is kit.tools
    kit.tools.append(kit.tools[0])
    assert len(kit.get_tools()) == 2


@pytest.mark.req("S2-R4", "S2-T2", "C1")
def test_one_directory_or_several(world: World) -> None:
    first = world.skill("pdf", "The first.\n", source="a/skills").parent
    world.skill("pdf", "The second.\n", source="b/skills")
    world.skill("csv", "Commas.\n", source="b/skills")
    for one in ("a/skills", Path("a/skills"), ["a/skills"], ("a/skills", "")):
        kit = SkillKit(one)
        assert kit.skills_dirs == [str(first)]
        assert both(tools(kit)[0], skill_name="pdf") == "The first.\n"
    skill, _ = tools(SkillKit(["a/skills", "b/skills"]))
    assert both(skill, skill_name="pdf") == "The first.\n"
    assert both(skill, skill_name="csv") == "Commas.\n"
    assert skill.description.count("<name>") == 2


@pytest.mark.req("S2-R18", "S2-T14", "C9", "C10")
def test_skill_lists_the_skills_and_loads_instructions(world: World) -> None:
    body = "  Read $ARGUMENTS and $1.\n\n---\n\nThen ${SKILL_DIR} write.\n"
    world.skill("pdf", body, source="skills", description="Reads <b> & 'PDF'")
    world.skill("csv", source="skills")
    skill, _ = tools(SkillKit("skills"))
    assert skill.description.endswith(
        "\n\n<available_skills>\n"
        "  <skill>\n    <name>csv</name>\n"
        "    <description>Does csv. Use it in tests.</description>\n  </skill>\n"
        "  <skill>\n    <name>pdf</name>\n"
        "    <description>Reads &lt;b&gt; &amp; 'PDF'</description>\n  </skill>\n"
        "</available_skills>"
    )
    # Neither the frontmatter nor a line about the directory, and nothing is filled in.
    assert both(skill, skill_name="pdf") == body


@pytest.mark.req("C27", "C14")
@pytest.mark.parametrize("directories", ["nowhere", [], "empty", ["", "nowhere"]])
def test_no_skills(world: World, directories: Any) -> None:
    (world.project / "empty").mkdir()
    skill, read = tools(SkillKit(directories))
    assert "available_skills" not in skill.description
    assert both(skill, skill_name="pdf") == "there is no skill `pdf`. Available skills: none"
    assert both(read, skill_name="pdf", file_name="x") == (
        "there is no skill `pdf`. Available skills: none"
    )


@pytest.mark.req("S2-R17", "C3", "C4", "C5")
def test_the_frontmatter_is_a_name_and_a_description(world: World) -> None:
    """Both may be missing, and `allowed-tools` is nothing that is known."""
    world.write("skills/bare/SKILL.md", "---\n---\nOnly a text.\n")
    world.write("skills/half/SKILL.md", "---\nname: other\nallowed-tools: Bash\n---\nHalf.\n")
    kit = SkillKit("skills")
    skill, _ = tools(kit)
    assert both(skill, skill_name="bare") == "Only a text.\n"
    assert both(skill, skill_name="other") == "Half.\n"
    assert "Bash" not in skill.description
    assert kit.manager.get_skill("other").allowed_tools == ()


@pytest.mark.req("C8")
def test_one_bad_skill_breaks_no_other(world: World) -> None:
    """One file that is not YAML broke the public package's whole kit."""
    world.skill("good", "Good.\n", source="skills")
    world.write("skills/bad/SKILL.md", "---\nname: [\n---\nBad.\n")
    world.write("skills/bytes/SKILL.md", b"---\nname: \xff\n---\n")
    kit = SkillKit("skills")
    skill, _ = tools(kit)
    assert both(skill, skill_name="good") == "Good.\n"
    told = {each.path for each in kit.manager.diagnostics}
    assert world.project / "skills/bytes/SKILL.md" in told


@pytest.mark.req("C15", "C2")
@pytest.mark.parametrize("name", ["nope", "", "../pdf", "/etc", "a\0b", "\ud800", "P" * 300])
def test_an_unknown_skill_is_told_with_the_names(world: World, name: str) -> None:
    world.skill("pdf", source="skills")
    world.skill("csv", source="skills")
    for tool, rest in zip(tools(SkillKit("skills")), ({}, {"file_name": "x"})):
        message = tool.invoke({**calling(tool.name, skill_name=name, **rest).tool_calls[0]})
        assert isinstance(message, ToolMessage)
        assert message.status == "error"
        assert str(message.content).endswith("Available skills: `csv`, `pdf`")


def test_a_skill_that_only_a_person_is_to_start(world: World) -> None:
    world.skill("pdf", source="skills")
    world.skill("deploy", source="skills", fields="disable-model-invocation: true\n")
    skill, read = tools(SkillKit("skills"))
    assert "deploy" not in skill.description
    assert both(skill, skill_name="deploy") == (
        "there is no skill `deploy` that a model may start. Available skills: `pdf`"
    )
    for tool, rest in ((skill, {}), (read, {"file_name": "x"})):
        said = both(tool, skill_name="x", **rest)
        assert said == "there is no skill `x`. Available skills: `pdf`"


@pytest.mark.req("S2-R19", "S2-T8", "C16")
def test_files_in_directories_can_be_read(world: World) -> None:
    """The public package reads files of the skill's root only."""
    world.skill("pdf", source="skills")
    world.write("skills/pdf/notes.md", "Notes.\n")
    world.write("skills/pdf/references/deep/forms.md", "Forms, ümläut.\n")
    _, read = tools(SkillKit("skills"))
    assert both(read, skill_name="pdf", file_name="notes.md") == "Notes.\n"
    deep = both(read, skill_name="pdf", file_name="references/deep/forms.md")
    assert deep == "Forms, ümläut.\n"


@pytest.mark.req("S2-R19", "S2-T8", "C16")
@pytest.mark.parametrize(
    "file",
    [
        *("../secret.md", "../pdf-two/own.md", "references/../../secret.md", "/etc/passwd", ""),
        *("sibling", "outside.md", "up/secret.md", "references", "nope.md", "pipe", "data.bin"),
        *("..", ".", "a\0b", "\ud800", "x" * 5000),
    ],
)
def test_nothing_else_is_read(world: World, file: str) -> None:
    """The public package follows a link to another skill: it compares prefixes of texts."""
    skill = world.skill("pdf", source="skills")
    world.skill("pdf-two", source="skills")
    world.write("skills/pdf-two/own.md", "TOP SECRET")
    world.write("skills/secret.md", "TOP SECRET")
    world.write("skills/pdf/references/a.md", "A.\n")
    world.write("skills/pdf/data.bin", b"\xff\xfe\x00")
    os.mkfifo(skill / "pipe")
    (skill / "sibling").symlink_to("../pdf-two/own.md")
    (skill / "outside.md").symlink_to(world.project / "skills/secret.md")
    (skill / "up").symlink_to("..")
    _, read = tools(SkillKit("skills"))
    said = both(read, skill_name="pdf", file_name=file)
    assert "SECRET" not in said
    assert said.startswith("the file `")
    # What is said is for a model, not for who types commands.
    assert "hint" not in said


@pytest.mark.req("C17")
def test_it_sees_what_changes(world: World) -> None:
    world.skill("pdf", "One.\n", source="skills")
    kit = SkillKit("skills")
    skill, read = tools(kit)
    assert kit.get_tools()[0] is skill
    directory = world.skill("csv", "Commas.\n", source="skills")
    assert both(skill, skill_name="csv") == "Commas.\n"
    assert "<name>csv</name>" not in skill.description
    assert "<name>csv</name>" in tools(kit)[0].description
    (directory / "SKILL.md").unlink()
    kit.manager.invalidate()
    assert both(read, skill_name="csv", file_name="x").startswith("there is no skill `csv`")
    assert "<name>csv</name>" not in tools(kit)[0].description


def test_a_relative_directory_stays_where_it_was(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.skill("pdf", source="skills")
    kit = SkillKit("skills")
    monkeypatch.chdir(world.home)
    assert "<name>pdf</name>" in tools(kit)[0].description


@pytest.mark.req("S2-R6")
def test_a_wiring_of_ones_own(world: World) -> None:
    world.skill("pdf", "Read it.\n", source="skills")
    world.write("skills/pdf/a.md", "A.\n")
    kit = SkillKit("skills")
    model = ScriptedChatModel(
        calling_all(
            calling("Skill", skill_name="pdf"),
            calling("SkillRead", skill_name="pdf", file_name="a.md"),
        ),
        lambda messages: " ".join(str(message.content).strip() for message in messages[-2:]),
    )
    bound = model.bind_tools(kit.get_tools())

    def agent(state: MessagesState) -> dict[str, Any]:
        return {"messages": [bound.invoke(state["messages"])]}

    def on(state: MessagesState) -> str:
        last = state["messages"][-1]
        return "tools" if isinstance(last, AIMessage) and last.tool_calls else "__end__"

    graph = StateGraph(MessagesState)
    graph.add_node("agent", agent)
    graph.add_node("tools", ToolNode(kit.get_tools()))
    graph.add_edge(START, "agent")
    graph.add_conditional_edges("agent", on)
    graph.add_edge("tools", "agent")
    compiled = graph.compile()
    said = compiled.invoke({"messages": [HumanMessage("?")]})["messages"][-1]
    assert said.content == "Read it. A."
    assert model.calls[0].tool_names == ["Skill", "SkillRead"]
    parameters = model.calls[0].tools[1]["function"]["parameters"]
    assert parameters["required"] == ["skill_name", "file_name"]


@pytest.mark.req("C30", "S2-R20")
def test_threads_and_event_loops_share_a_kit(world: World) -> None:
    for name in ("a", "b", "c"):
        world.skill(name, f"{name}\n", source="skills")
    kit = SkillKit("skills")
    wrong: list[object] = []

    def work() -> None:
        for _ in range(20):
            skill, _ = tools(kit)
            for name in ("a", "b", "c"):
                if (said := skill.invoke({"skill_name": name})) != f"{name}\n":
                    wrong.append(said)

    async def loop() -> list[Any]:
        skill, _ = tools(kit)
        return await asyncio.gather(*(skill.ainvoke({"skill_name": "b"}) for _ in range(200)))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    assert set(asyncio.run(loop())) == {"b\n"}
    for thread in threads:
        thread.join()
    assert wrong == []


def test_what_is_missing_is_named() -> None:
    code = (
        "import sys; sys.modules['langgraph'] = None\n"
        "try:\n    import skillpm.langgraph\n"
        "except ModuleNotFoundError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert 'pip install "skillpm-py[langgraph]"' in done.stdout, done.stderr


def test_copies_of_a_kit_that_was_used(world: World) -> None:
    """A manager cannot be copied, and what was read is nobody else's."""
    world.skill("pdf", "Read.\n", source="skills")
    world.skill("csv", source="others")
    kit = SkillKit("skills")
    kit.get_tools()
    assert kit == SkillKit("skills")
    assert kit != SkillKit("others")
    for again in (
        copy.copy(kit),
        copy.deepcopy(kit),
        kit.model_copy(deep=True),
        pickle.loads(pickle.dumps(kit)),
    ):
        assert again == kit
        assert again.manager is not kit.manager
        assert again.tools[0].invoke({"skill_name": "pdf"}) == "Read.\n"
    assert copy.deepcopy(kit.tools[0]).invoke({"skill_name": "pdf"}) == "Read.\n"
    other = kit.model_copy(update={"skills_dirs": [str(world.project / "others")]})
    assert [skill.name for skill in other.manager.list_skills()] == ["csv"]
    assert "csv" in other.tools[0].description
