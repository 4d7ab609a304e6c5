"""Nodes that are declared as classes."""

from __future__ import annotations

import asyncio
import functools
import inspect
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextvars import Context
from typing import TYPE_CHECKING, Any

from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import ensure_config, run_in_executor, set_config_context
from langchain_core.tools import BaseTool
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.prebuilt import ToolNode
from langgraph.pregel.protocol import PregelProtocol
from langgraph.runtime import get_runtime

from skillpm.langgraph._bridge import is_async, wait_for
from skillpm.langgraph._definition import AnyTool, Definition, is_model, read

TOOLS = "tools"


def _compiled(name: str) -> Callable[..., Any]:
    """Return a method that does what the compiled graph does."""

    @functools.wraps(getattr(CompiledStateGraph, name))
    def method(self: SkillNode, *args: Any, **kwargs: Any) -> Any:
        return getattr(self.graph, name)(*args, **kwargs)

    return method


# What a graph asks of those that it has as nodes, and what else a compiled graph is asked for.
_OF_THE_COMPILED = {
    *PregelProtocol.__abstractmethods__,
    *("get_input_schema", "get_input_jsonschema", "get_output_schema", "get_output_jsonschema"),
    *("config_schema", "get_config_jsonschema", "get_context_jsonschema"),
    *("get_subgraphs", "aget_subgraphs", "stream_events", "astream_events"),
}
if TYPE_CHECKING:
    from typing_extensions import Self

    class _Graph(Runnable[Any, Any]):
        # What a `StateGraph` and a compiled graph have, in types that all type checkers know:
        # pyright does not know those classes from within another package.
        state_schema: type[Any]
        context_schema: type[Any] | None
        nodes: dict[str, Any]
        edges: set[tuple[str, str]]
        branches: dict[str, Any]
        channels: dict[str, Any]
        managed: dict[str, Any]
        waiting_edges: set[tuple[tuple[str, ...], str]]
        compiled: bool

        def __init__(self, state_schema: Any, context_schema: Any = None) -> None: ...
        def invoke(
            self, input: Any, config: RunnableConfig | None = None, **options: Any
        ) -> Any: ...
        def add_node(self, node: Any, action: Any = None, **options: Any) -> Self: ...
        def add_edge(self, start_key: str | list[str], end_key: str) -> Self: ...
        def add_conditional_edges(self, source: str, path: Any, path_map: Any = None) -> Self: ...
        def add_sequence(self, nodes: Sequence[Any]) -> Self: ...
        def set_entry_point(self, key: str) -> Self: ...
        def set_conditional_entry_point(self, path: Any, path_map: Any = None) -> Self: ...
        def set_finish_point(self, key: str) -> Self: ...
        def validate(self, interrupt: Sequence[str] | None = None) -> Self: ...
        def compile(self, checkpointer: Any = None, **options: Any) -> Any: ...
        def get_state(self, config: RunnableConfig, *, subgraphs: bool = False) -> Any: ...
        async def aget_state(self, config: RunnableConfig, *, subgraphs: bool = False) -> Any: ...
        def get_state_history(self, config: RunnableConfig, **options: Any) -> Iterator[Any]: ...
        def aget_state_history(
            self, config: RunnableConfig, **options: Any
        ) -> AsyncIterator[Any]: ...
        def update_state(
            self, config: RunnableConfig, values: Any, as_node: str | None = None
        ) -> RunnableConfig: ...
        async def aupdate_state(
            self, config: RunnableConfig, values: Any, as_node: str | None = None
        ) -> RunnableConfig: ...
        def bulk_update_state(
            self, config: RunnableConfig, supersteps: Sequence[Sequence[Any]]
        ) -> RunnableConfig: ...
        async def abulk_update_state(
            self, config: RunnableConfig, supersteps: Sequence[Sequence[Any]]
        ) -> RunnableConfig: ...
        def get_context_jsonschema(self) -> dict[str, Any] | None: ...
        def get_subgraphs(
            self, *, namespace: str | None = None, recurse: bool = False
        ) -> Iterator[tuple[str, Any]]: ...
        def aget_subgraphs(
            self, *, namespace: str | None = None, recurse: bool = False
        ) -> AsyncIterator[tuple[str, Any]]: ...
else:
    _Compiled = type(
        "_Compiled",
        (),
        {name: _compiled(name) for name in _OF_THE_COMPILED if hasattr(CompiledStateGraph, name)},
    )

    class _Graph(StateGraph, _Compiled, PregelProtocol):
        pass


class SkillNode(_Graph):
    """A node: a graph that can be invoked as it is, and be a node of another graph.

    It is what a class that inherits from ``node`` becomes: its handler, and the tools if there are
    any. It is a ``StateGraph``, so ``compile(checkpointer=...)`` gives a compiled graph; and it is
    a ``Runnable`` that does what ``graph`` does, which is compiled when it is first needed.
    """

    # Here they are the types of the state, as with every `StateGraph`; `get_input_schema()` and
    # `get_output_schema()` are those of a `Runnable`.
    input_schema: Any = None
    output_schema: Any = None

    def __init__(self, definition: Definition) -> None:
        super().__init__(definition.state_schema, definition.context_schema)
        self.name: str = definition.name
        self.__doc__ = definition.doc
        self._lock = threading.Lock()
        self._graph: CompiledStateGraph[Any, Any, Any, Any] | None = None
        self.add_node(definition.name, _Handler(definition))
        self.add_edge(START, definition.name)
        # They are all there from the first turn. That they list skills matters to the model only.
        tools = [each for each in definition.tools if isinstance(each, BaseTool)]
        if definition.kit is not None:
            tools += definition.kit._tools()
        if tools:
            self.add_node(TOOLS, ToolNode(tools))
            self.add_conditional_edges(definition.name, _after_handler, [TOOLS, END])
            self.add_edge(TOOLS, definition.name)
        else:
            self.add_edge(definition.name, END)

    @property
    def graph(self) -> CompiledStateGraph[Any, Any, Any, Any]:
        """The compiled graph that is invoked. In another graph it uses that one's checkpointer."""
        with self._lock:
            if self._graph is None:
                self._graph = self.compile()
            return self._graph

    def compile(self, checkpointer: Any = None, *, name: str | None = None, **options: Any) -> Any:
        """Return a compiled graph of its own, with all options of ``StateGraph.compile``."""
        return super().compile(checkpointer, name=name or self.name, **options)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        raise TypeError(f"`{self.name}` is a node and no class: inherit from `node`")


class _NodeMeta(type):
    """Makes nodes of classes that inherit from ``node``."""

    def __new__(mcs, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> Any:
        if not bases:
            return super().__new__(mcs, name, bases, body)
        made = SkillNode(read(name, body, sys._getframe(1).f_locals))
        made.__module__ = body["__module__"]
        return made


if TYPE_CHECKING:
    # A class that inherits from `node` has what a node has.
    class _Node(_NodeMeta, SkillNode):  # type: ignore[misc]
        pass
else:
    _Node = _NodeMeta


class node(metaclass=_Node):
    """What is inherited from to declare a node. The class becomes a ``SkillNode``.

        class researcher(node):
            llm = model
            tools = [web_search]
            skills = "skills/"

            async def handler(state, *, llm):
                return {"messages": [await llm.ainvoke(state["messages"])], "sender": "researcher"}

    The class may have:

    ``handler(state, *, ...)``
        What the node does: it gets the state and returns what changes of it. It may be ``async`` or
        not, however the node is invoked. After ``*`` it names what it wants, in any order: ``llm``,
        the model with all tools bound; ``tools``, the list of them; ``runtime``, LangGraph's with
        the context, the store and the stream writer; ``config``; ``store``. As long as its last
        message calls tools, they are run and the handler is called again.
    ``llm``
        A chat model, or a function without parameters that makes one when it is first needed; a
        class of models is one. It is not ``async``.
    ``tools``
        A list of tools or functions.
    ``skills``
        A directory, a list of directories or a ``SkillKit``. The tools ``Skill`` and ``SkillRead``
        are added for it.
    ``context_schema``
        The type of the context, where ``runtime: Runtime[...]`` does not say it.

    The type of ``state`` is what it is annotated with, or ``AgentState`` where that is nothing,
    ``Any`` or a ``dict``. Of ``Optional[X]`` and ``X[int]`` it is ``X``.

    Raises:
        ConfigurationError: When the class is made: it has no handler, the handler asks for
            something that there is not, a value is of a wrong type. It is a ``ValueError``, and in
            the last case a ``TypeError`` too.

    """


class _Handler(Runnable[Any, Any]):
    """The handler as a step of a graph, for callers that await and for those that do not."""

    def __init__(self, definition: Definition) -> None:
        self.name = definition.name
        self._definition = definition
        self._is_async = is_async(definition.handler)
        self._lock = threading.Lock()
        self._llm: Any = None
        self._bound: tuple[Sequence[AnyTool], Any] | None = None

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        config = ensure_config(config)
        with set_config_context(config) as context:
            result = context.run(self._called, input, config)
            return context.run(wait_for, result) if inspect.isawaitable(result) else result

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        config = ensure_config(config)
        with set_config_context(config) as context:
            if self._is_async:
                injected = await _aside(context, self._injected, config)
                result = context.run(self._definition.handler, input, **injected)
            else:
                result = await _aside(context, self._called, input, config)
            if inspect.isawaitable(result):
                # A task keeps the context: from Python 3.11 on LangGraph sees to it, before not.
                result = await context.run(asyncio.ensure_future, _awaited(result))
            return result

    def _called(self, state: Any, config: RunnableConfig) -> Any:
        return self._definition.handler(state, **self._injected(config))

    def _injected(self, config: RunnableConfig) -> dict[str, Any]:
        """Return what the handler asks for, and make nothing else."""
        wants = self._definition.wants
        injected: dict[str, Any] = {}
        if wants & {"llm", "tools"}:
            tools = self._tools()
            if "llm" in wants:
                injected["llm"] = self._model(tools)
            if "tools" in wants:
                injected["tools"] = tools
        if wants & {"runtime", "store"}:
            runtime = get_runtime()
            if "runtime" in wants:
                injected["runtime"] = runtime
            if "store" in wants:
                injected["store"] = runtime.store
        if "config" in wants:
            injected["config"] = config
        return injected

    def _tools(self) -> list[AnyTool]:
        """Return all tools. Those of skills list the skills that there are now."""
        kit = self._definition.kit
        return [*self._definition.tools, *(kit.get_tools() if kit is not None else ())]

    def _model(self, tools: list[AnyTool]) -> Any:
        """Return the model with the tools bound, which is done again where they changed."""
        with self._lock:
            if self._llm is None:
                llm = self._definition.llm
                self._llm = llm if is_model(llm) else llm()
            if not tools:
                return self._llm
            if self._bound is None or not _same(self._bound[0], tools):
                self._bound = (list(tools), self._llm.bind_tools(tools))
            return self._bound[1]


def _same(some: Sequence[AnyTool], others: Sequence[AnyTool]) -> bool:
    return len(some) == len(others) and all(map(lambda a, b: a is b, some, others))


def _after_handler(state: Any) -> str:
    """Return where it goes on: to the tools that the last message calls, or nowhere."""
    # The type of the state may have no messages, and no tool is called then.
    messages = (
        state.get("messages") if isinstance(state, dict) else getattr(state, "messages", None)
    )
    return TOOLS if messages and getattr(messages[-1], "tool_calls", None) else END


async def _aside(context: Context, work: Callable[..., Any], *args: Any) -> Any:
    """Do work that may take its time in a thread."""
    # A copy: where the task is cancelled, the thread goes on, and nobody can leave a context that
    # another thread is in.
    return await run_in_executor(None, context.copy().run, work, *args)


async def _awaited(awaitable: Awaitable[Any]) -> Any:
    return await awaitable
