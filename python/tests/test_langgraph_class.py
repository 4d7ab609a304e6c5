"""What the class of a node may say: errors come when it is made, and nothing is read then."""

# Handlers have no `self`, and lists of a class's body are read once.
# mypy: disable-error-code=misc
# ruff: noqa: RUF012

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Generic, Optional, TypeVar, Union

import pytest
from conftest import World

pytest.importorskip("langgraph", reason="langgraph is not installed")

from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable
from langchain_core.tools import tool
from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.prebuilt import ToolNode
from langgraph.runtime import Runtime
from support import nodes
from support.model import ScriptedChatModel, calling
from typing_extensions import TypedDict

from skillpm import ConfigurationError, SkillManager
from skillpm.langgraph import AgentState, SkillKit, SkillNode, node

if TYPE_CHECKING:
    from decimal import Decimal as OnlyForTypes

Body = dict[str, Any]


def handler(state: Any, *, llm: Any) -> dict[str, Any]:
    return {"messages": [llm.invoke(state["messages"])]}


def made(**body: Any) -> SkillNode:
    """Return what a class of the name `agent` becomes, which has a handler."""
    return nodes.made(**{"handler": handler, **body})


@pytest.mark.req("S2-R7", "S2-R8", "S2-T3", "S2-T4", "C24")
def test_a_class_becomes_a_graph() -> None:
    class researcher(node):
        """Finds out."""

        llm = ScriptedChatModel()
        handler = handler

    assert isinstance(researcher, SkillNode)
    assert isinstance(researcher, StateGraph)
    assert isinstance(researcher, Runnable)
    assert isinstance(researcher.graph, CompiledStateGraph)
    assert researcher.graph is researcher.graph
    assert isinstance(researcher.compile(), CompiledStateGraph)
    assert (researcher.name, researcher.get_name()) == ("researcher", "researcher")
    assert researcher.compile().name == "researcher"
    assert researcher.__doc__ == "Finds out."
    assert repr(researcher) == "<SkillNode researcher>"


@pytest.mark.req("S2-R7")
@pytest.mark.parametrize("shape", [str, list, SkillKit, "path"])
def test_shapes_of_skills(world: World, shape: Any) -> None:
    world.skill("pdf", "Read.\n", source="skills")
    shapes: dict[Any, Any] = {
        str: "skills",
        list: ["skills"],
        SkillKit: SkillKit("skills"),
        "path": world.project / "skills",
    }
    model = ScriptedChatModel(calling("Skill", skill_name="pdf"), "Done.")
    agent = made(llm=model, skills=shapes[shape])
    messages = agent.invoke({"messages": [("user", "?")]})["messages"]
    assert [message.content for message in messages[1:]] == ["", "Read.\n", "Done."]


@pytest.mark.req("S2-I1", "S2-T11", "C25")
def test_making_it_reads_nothing(world: World) -> None:
    """Neither directories nor a model have to be there before the first call."""
    made_models = []

    def model() -> ScriptedChatModel:
        made_models.append(ScriptedChatModel("One.", "Two."))
        return made_models[-1]

    agent = made(llm=model, skills=["skills"])
    parent = StateGraph(AgentState).add_node("agent", agent).add_edge("__start__", "agent")
    compiled = parent.compile()
    assert made_models == []
    assert agent._graph is None
    # Not even the list of what is there was read.
    world.skill("pdf", source="skills")
    assert agent.invoke({"messages": []})["messages"][-1].content == "One."
    assert compiled.invoke({"messages": []})["messages"][-1].content == "Two."
    [only] = made_models
    assert "<name>pdf</name>" in only.calls[0].description("Skill")


@pytest.mark.req("S2-I1", "C25")
def test_a_manager_is_made_when_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: SkillManager, *args: Any, **kwargs: Any) -> None:
        raise AssertionError("nobody asked for skills")

    monkeypatch.setattr(SkillManager, "__init__", refuse)
    agent = made(llm=ScriptedChatModel(), skills="skills")
    assert agent.compile()


@pytest.mark.req("S2-I3", "S2-T5", "C25")
def test_a_handler_is_required() -> None:
    with pytest.raises(ValueError, match=r"class agent\(node\): it has no handler") as raised:

        class agent(node):
            llm = ScriptedChatModel()

    assert isinstance(raised.value, ConfigurationError)
    assert raised.value.hint


@pytest.mark.req("S2-I2", "S2-T7", "C25")
def test_an_unknown_parameter_is_an_error() -> None:
    def wants(state: Any, *, llm: Any, tool: Any) -> None: ...

    with pytest.raises(ValueError, match="unknown handler parameter `tool`") as raised:
        made(handler=wants)
    assert "did you mean `tools`?" in str(raised.value)

    def has_a_default(state: Any, *, temperature: float = 0.5) -> None: ...

    with pytest.raises(ValueError, match="`temperature`; there are `state`, `llm`, `tools`, `run"):
        made(handler=has_a_default)


def no_state() -> None: ...


def keyword_state(*, state: Any) -> None: ...


def positional_llm(state: Any, llm: Any) -> None: ...


def many(*states: Any) -> None: ...


def yields(state: Any) -> Any:
    yield state


async def ayields(state: Any) -> Any:
    yield state


def plain(state: Any) -> None: ...


async def amodel() -> ScriptedChatModel:
    return ScriptedChatModel()


class Greeting(ScriptedChatModel):
    """A model that needs no parameters, and could itself be awaited."""

    def __init__(self) -> None:
        super().__init__("Hello.")

    async def __call__(self) -> None: ...


def undocumented(x: int) -> int:
    return x


@tool("Skill")
def another_skill(x: int) -> int:
    """Return `x`."""
    return x


def hosted(name: str) -> Body:
    return {"type": "function", "function": {"name": name, "parameters": {}}}


@pytest.mark.req("S2-R9", "C25")
@pytest.mark.parametrize(
    ("body", "kind", "message"),
    [
        ({"handler": no_state}, ValueError, "first parameter must be the state"),
        ({"handler": keyword_state}, ValueError, "first parameter must be the state"),
        ({"handler": many}, ValueError, "first parameter must be the state"),
        ({"handler": positional_llm}, ValueError, r"`llm` must stand after `\*`"),
        ({"handler": "text"}, TypeError, "`handler` must be a function, and is of the type `str`"),
        ({"handler": yields}, TypeError, "does not yield"),
        ({"handler": ayields}, TypeError, "does not yield"),
        ({"llm": None}, ValueError, "asks for `llm`, and the class has none"),
        ({"llm": "gpt"}, TypeError, "`llm` must be a chat model"),
        ({"llm": amodel}, ValueError, "`llm` is an `async` function"),
        ({"llm": functools.partial(amodel)}, ValueError, "`llm` is an `async` function"),
        ({"handler": plain, "llm": 5}, TypeError, "`llm` must be a chat model"),
        ({"tools": another_skill}, TypeError, "`tools` must be a list"),
        ({"tools": ["search"]}, TypeError, "`tools` must be a list of tools and functions"),
        ({"tools": [undocumented]}, ValueError, "`undocumented` makes no tool"),
        ({"tools": [another_skill] * 2}, ValueError, "two tools are named `Skill`"),
        ({"tools": [another_skill], "skills": "x"}, ValueError, "a tool is named `Skill`"),
        ({"tools": [hosted("Skill")], "skills": "x"}, ValueError, "a tool is named `Skill`"),
        ({"tools": [another_skill, hosted("Skill")]}, ValueError, "two tools are named `Skill`"),
        ({"skills": 5}, TypeError, "`skills` must be a path"),
        ({"skills": [5]}, TypeError, "`skills` must be a path"),
        ({"skills": {"a": "b"}}, TypeError, "`skills` must be a path"),
        ({"context_schema": "Context"}, TypeError, "`context_schema` must be a class"),
        ({"skils": "skills"}, ValueError, "unknown attribute `skils`"),
    ],
)
def test_what_cannot_be(body: Body, kind: type[Exception], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message) as raised:
        made(**{"llm": ScriptedChatModel(), **body})
    error = raised.value
    assert isinstance(error, kind)
    assert error.message.startswith("class agent(node): ")
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.code) == (type(error), str(error), error.code)


def test_a_node_is_no_class() -> None:
    base = made(llm=ScriptedChatModel())
    with pytest.raises(TypeError, match="`agent` is a node and no class: inherit from `node`"):

        class other(base):  # type: ignore[valid-type]
            pass


@pytest.mark.req("S2-R9", "S2-R10", "S2-T6")
def test_only_what_is_asked_for_is_there_in_any_order() -> None:
    seen: list[dict[str, Any]] = []
    everything: list[Callable[..., Any]] = [
        lambda state: seen.append({}),
        lambda state, *, store, config, runtime, tools, llm: seen.append(
            {"s": store, "c": config, "r": runtime, "t": tools, "l": llm}
        ),
        lambda state, *, runtime: seen.append({"r": runtime}),
        lambda state, *, tools, llm: seen.append({"t": tools, "l": llm}),
        lambda state, /, *, config, **others: seen.append({"c": config, **others}),
    ]
    model = ScriptedChatModel()
    for one in everything:
        made(llm=model, handler=one).invoke({"messages": []})
    assert [set(each) for each in seen] == [set(), set("scrtl"), {"r"}, {"t", "l"}, {"c"}]
    assert seen[1]["l"] is model
    assert isinstance(seen[1]["r"], Runtime)
    assert seen[1]["c"]["configurable"]
    assert (seen[1]["t"], seen[1]["s"]) == ([], None)


@pytest.mark.req("S2-R10")
def test_what_is_not_asked_for_is_not_made() -> None:
    def model() -> None:
        raise AssertionError("nobody asked for a model")

    assert made(llm=model, handler=plain).invoke({"messages": []}) == {"messages": []}
    assert made(handler=staticmethod(plain)).invoke({"messages": []}) == {"messages": []}


def test_the_class_of_a_model_makes_it(world: World) -> None:
    world.skill("pdf", source="skills")
    for llm in (Greeting, Greeting()):
        agent = made(llm=llm, skills="skills")
        assert agent.invoke({"messages": [("user", "?")]})["messages"][-1].content == "Hello."


def search(query: str) -> str:
    """Search for it."""
    return f"found {query}"


@pytest.mark.req("S2-R11", "S2-R12", "S2-R15")
def test_all_tools_are_there_from_the_first_turn(world: World) -> None:
    world.skill("pdf", source="skills")
    given: list[Any] = []

    def with_tools(state: Any, *, tools: Any, llm: Any) -> dict[str, Any]:
        given.append(tools)
        return {"messages": [llm.invoke(state["messages"])]}

    model = ScriptedChatModel(calling("search", query="x"), "Done.")
    hosted = {"type": "function", "function": {"name": "hosted", "parameters": {}}}
    agent = made(llm=model, tools=[search, hosted], skills="skills", handler=with_tools)
    runnable = agent.nodes["tools"].runnable
    assert isinstance(runnable, ToolNode)
    assert list(runnable.tools_by_name) == ["search", "Skill", "SkillRead"]
    messages = agent.invoke({"messages": []})["messages"]
    assert messages[-2].content == "found x"
    names = ["search", "hosted", "Skill", "SkillRead"]
    assert [call.tool_names for call in model.calls] == [names, names]
    assert "<name>pdf</name>" in model.calls[0].description("Skill")
    assert [getattr(each, "name", "hosted") for each in given[0]] == names
    # The list is the handler's own.
    assert given[0] is not given[1]


class Typed(AgentState):
    draft: str


@dataclass
class Data:
    messages: list[BaseMessage]
    draft: str = ""


@dataclass
class Quiet:
    draft: str = ""


@dataclass
class Context:
    user: str


@pytest.mark.req("S2-I4")
def test_the_type_of_the_state() -> None:
    assert set(AgentState.__annotations__) == {"messages", "sender"}
    for says_nothing in (handler, plain):
        assert made(llm=ScriptedChatModel(), handler=says_nothing).state_schema is AgentState

    class Here(TypedDict):
        own: int

    class agent(node):
        def handler(state: Here) -> dict[str, Any]:
            return {"own": state["own"] + 1}

    assert agent.state_schema is Here
    assert agent.invoke({"own": 1}) == {"own": 2}

    class typed(node):
        def handler(state: Typed) -> dict[str, Any]:
            return {"draft": state["draft"] + "!", "sender": "typed"}

    assert typed.invoke({"messages": [], "draft": "a"}) == {
        "messages": [],
        "draft": "a!",
        "sender": "typed",
    }

    class data(node):
        tools = [search]

        def handler(state: Data) -> dict[str, Any]:
            return {"draft": state.draft + "!"}

    assert data.invoke({"messages": [], "draft": "a"})["draft"] == "a!"

    class quiet(node):
        tools = [search]

        def handler(state: Quiet) -> dict[str, Any]:
            return {"draft": state.draft + "!"}

    assert quiet.invoke({"draft": "a"}) == {"draft": "a!"}, "without messages no tool is called"


T = TypeVar("T")


class Counted(AgentState, Generic[T]):
    count: T


@dataclass
class Boxed(Generic[T]):
    count: T


@pytest.mark.parametrize(
    "annotation",
    [
        Counted,
        Counted[int],
        "Counted[int]",
        Annotated[Counted[int], "said of it"],
        Optional[Counted],
        Optional["Counted[int]"],
        Annotated[Optional[Counted[int]], "said of it"],
        Boxed[int],
    ],
)
def test_the_type_of_the_state_in_other_words(annotation: Any) -> None:
    """Fields that it has were dropped in silence."""

    def counts(state: Any) -> dict[str, Any]:
        return {"count": (state.count if isinstance(state, Boxed) else state["count"]) + 1}

    counts.__annotations__["state"] = annotation
    agent = made(handler=counts)
    assert agent.state_schema in (Counted, Boxed)
    assert agent.invoke({"messages": [], "count": 1})["count"] == 2


@pytest.mark.parametrize("annotation", [Any, dict, "dict[str, Any]", dict[str, int], object, None])
def test_a_type_that_says_nothing_of_the_state(annotation: Any) -> None:
    def says_nothing(state: Any) -> None: ...

    says_nothing.__annotations__["state"] = annotation
    assert made(handler=says_nothing).state_schema is AgentState


@pytest.mark.parametrize("annotation", [int, list[int], Union[Counted, Boxed], T, "Optional[str]"])
def test_a_type_without_fields_is_no_state(annotation: Any) -> None:
    def cannot_be(state: Any) -> None: ...

    cannot_be.__annotations__["state"] = annotation
    with pytest.raises(ConfigurationError, match="has no fields") as raised:
        made(handler=cannot_be)
    assert raised.value.code == "node-state"


def test_a_type_that_is_not_known() -> None:
    with pytest.raises(ConfigurationError, match="`OnlyForTypes`, is not known") as raised:

        class agent(node):
            def handler(state: OnlyForTypes) -> None: ...

    assert "TYPE_CHECKING" in str(raised.value)

    class other(node):
        llm = ScriptedChatModel()

        # What else is annotated does not matter.
        def handler(state: AgentState, *, llm: OnlyForTypes, runtime: OnlyForTypes) -> None: ...

    assert other.context_schema is None


@pytest.mark.req("S2-R22")
def test_the_type_of_the_context() -> None:
    class says(node):
        def handler(state: AgentState, *, runtime: Runtime[Context]) -> dict[str, Any]:
            return {"sender": runtime.context.user}

    assert says.context_schema is Context
    assert says.invoke({"messages": []}, context=Context("ada"))["sender"] == "ada"

    class names(node):
        context_schema = Context

        def handler(state: AgentState, *, runtime: Any) -> dict[str, Any]:
            return {"sender": runtime.context.user}

    # LangGraph makes the context of a mapping where it knows the type.
    assert names.invoke({"messages": []}, context={"user": "eve"})["sender"] == "eve"
