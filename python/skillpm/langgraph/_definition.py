"""What the class of a node says, checked when the class is made: nothing is read or started."""

from __future__ import annotations

import difflib
import functools
import inspect
import os
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ForwardRef, Union, get_args, get_origin, get_type_hints

from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool, tool
from langgraph.runtime import Runtime

from skillpm import ConfigurationError
from skillpm.langgraph._bridge import is_async, with_sync
from skillpm.langgraph._kit import SKILL, SKILL_READ, SkillKit
from skillpm.langgraph._state import AgentState

ATTRIBUTES = ("llm", "tools", "skills", "handler", "context_schema")
INJECTED = ("llm", "tools", "runtime", "config", "store")

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)

# `X | None` is of another kind than `Optional[X]`.
_UNIONS = (Union, getattr(types, "UnionType", Union))

# What is bound to a model: providers run those that are mappings themselves.
AnyTool = Union[BaseTool, dict[str, Any]]


class WrongTypeError(ConfigurationError, TypeError):
    """A value of the class is of a type that it cannot be."""


@dataclass(frozen=True)
class Definition:
    """A node as its class has it."""

    name: str
    doc: str | None
    handler: Callable[..., Any]
    # What the handler asks for.
    wants: frozenset[str]
    llm: Any
    tools: tuple[AnyTool, ...]
    kit: SkillKit | None
    state_schema: type
    context_schema: type | None


def read(name: str, body: Mapping[str, Any], names: Mapping[str, Any]) -> Definition:
    """Return what a class says.

    Args:
        name: The class's name.
        body: What was defined in it.
        names: The local names where it was defined, in which its annotations are looked up.

    Raises:
        ConfigurationError: Something is missing, unknown or contradicts itself; it is a
            ``TypeError`` too where a value is of the wrong type.

    """
    for attribute in body:
        if not attribute.startswith("_") and attribute not in ATTRIBUTES:
            raise _unknown(name, f"attribute `{attribute}`", attribute, ATTRIBUTES)
    handler = _handler(name, body)
    first, wants = _parameters(name, handler)
    tools = _tools(name, body.get("tools"))
    kit = _kit(name, body.get("skills"))
    taken = {_name_of(each) for each in tools}
    if kit is not None and (both := taken & {SKILL, SKILL_READ}):
        raise ConfigurationError(
            f"class {name}(node): a tool is named `{both.pop()}`, as one of its skills' tools is",
            code="node-tools",
        )
    llm = body.get("llm")
    if llm is None and "llm" in wants:
        raise ConfigurationError(
            f"class {name}(node): the handler asks for `llm`, and the class has none",
            code="node-llm",
            hint="`llm = ...` names a chat model, or a function that makes one",
        )
    if llm is not None and not is_model(llm):
        if not callable(llm):
            raise _wrong(name, "llm", "a chat model, or a function that makes one", llm)
        # To call a class makes an object, whatever it is to call that one.
        if is_async(llm) and not isinstance(llm, type):
            raise ConfigurationError(
                f"class {name}(node): `llm` is an `async` function, and nobody awaits it",
                code="node-llm",
                hint="a function without `async` makes a model",
            )
    context = body.get("context_schema")
    if context is not None and not isinstance(context, type):
        raise _wrong(name, "context_schema", "a class", context)
    return Definition(
        name=name,
        doc=body.get("__doc__"),
        handler=handler,
        wants=frozenset(wants),
        llm=llm,
        tools=tools,
        kit=kit,
        state_schema=_state(name, handler, first, names),
        context_schema=context or _context(handler, wants.get("runtime"), names),
    )


def is_model(llm: Any) -> bool:
    """Return whether ``llm`` is a model, and not what makes one, as a model's class does."""
    return not isinstance(llm, type) and (isinstance(llm, Runnable) or hasattr(llm, "bind_tools"))


def _handler(name: str, body: Mapping[str, Any]) -> Callable[..., Any]:
    handler = body.get("handler")
    if isinstance(handler, staticmethod):
        handler = handler.__func__
    if handler is None:
        raise ConfigurationError(
            f"class {name}(node): it has no handler",
            code="node-handler",
            hint="a handler is a function of the class: `async def handler(state, *, llm): ...`",
        )
    if not callable(handler):
        raise _wrong(name, "handler", "a function", handler)
    if inspect.isgeneratorfunction(handler) or inspect.isasyncgenfunction(handler):
        raise _wrong(name, "handler", "a function that returns, and does not yield,", handler)
    return handler


def _parameters(
    name: str, handler: Callable[..., Any]
) -> tuple[inspect.Parameter, dict[str, inspect.Parameter]]:
    """Return the state's parameter, and those that something is injected into."""
    parameters = list(inspect.signature(handler).parameters.values())
    if not parameters or parameters[0].kind not in _POSITIONAL:
        raise ConfigurationError(
            f"class {name}(node): the handler's first parameter must be the state: "
            "`handler(state, *, ...)`",
            code="node-handler",
        )
    first, *others = parameters
    for parameter in others:
        if parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_KEYWORD):
            continue
        raise ConfigurationError(
            f"class {name}(node): the handler's parameter `{parameter.name}` must stand after "
            f"`*`: `handler({first.name}, *, {parameter.name})`",
            code="node-handler",
        )
    wants = {each.name: each for each in others if each.kind is each.KEYWORD_ONLY}
    for wanted in wants:
        if wanted not in INJECTED:
            raise _unknown(name, f"handler parameter `{wanted}`", wanted, (first.name, *INJECTED))
    return first, wants


def _tools(name: str, given: Any) -> tuple[AnyTool, ...]:
    if given is None:
        return ()
    if not isinstance(given, (list, tuple)):
        raise _wrong(name, "tools", "a list", given)
    tools: list[AnyTool] = []
    for each in given:
        if not isinstance(each, (BaseTool, dict)) and not callable(each):
            raise _wrong(name, "tools", "a list of tools and functions", each)
        try:
            made = each if isinstance(each, (BaseTool, dict)) else tool(each)
            # A handler that does not await may call it too.
            tools.append(with_sync(made) if isinstance(made, BaseTool) else made)
        except ValueError as error:
            raise ConfigurationError(
                f"class {name}(node): `{_name_of(each)}` makes no tool: {error}", code="node-tools"
            ) from error
    # What a provider runs itself may have none.
    names = [name for name in map(_name_of, tools) if name]
    for each in names:
        if names.count(each) > 1:
            raise ConfigurationError(
                f"class {name}(node): two tools are named `{each}`", code="node-tools"
            )
    return tuple(tools)


def _name_of(tool: Any) -> Any:
    if isinstance(tool, dict):
        function = tool.get("function")
        return tool.get("name") or (function.get("name") if isinstance(function, dict) else None)
    return getattr(tool, "name", None) or getattr(tool, "__name__", repr(tool))


def _kit(name: str, skills: Any) -> SkillKit | None:
    if skills is None or isinstance(skills, SkillKit):
        return skills
    listed = skills if isinstance(skills, (list, tuple)) else [skills]
    if not all(isinstance(path, (str, os.PathLike)) for path in listed):
        raise _wrong(name, "skills", "a path, a list of paths or a SkillKit", skills)
    return SkillKit(listed)


def _state(
    name: str, handler: Callable[..., Any], first: inspect.Parameter, names: Mapping[str, Any]
) -> type:
    """Return the type of the state: what the handler's first parameter is annotated with."""
    try:
        schema = _schema(first.annotation, handler, names)
        says_nothing = schema in (inspect.Parameter.empty, Any, None, object)
        if isinstance(schema, type) and not says_nothing:
            if get_type_hints(schema):
                return schema
            # Nothing is known of what is in a `dict`.
            says_nothing = issubclass(schema, Mapping)
    except NameError as error:
        raise ConfigurationError(
            f"class {name}(node): the type of the state, `{first.annotation}`, is not known where "
            f"the class is made: {error}",
            code="node-state",
            hint="import it when the program runs too, not only under `TYPE_CHECKING`",
        ) from error
    if not says_nothing:
        raise ConfigurationError(
            f"class {name}(node): the type of the state, `{first.annotation}`, has no fields",
            code="node-state",
            hint="a `TypedDict`, a dataclass or a model of pydantic has them",
        )
    return AgentState


def _schema(annotation: Any, handler: Callable[..., Any], names: Mapping[str, Any]) -> Any:
    """Return the class that an annotation is about: without parameters, marks and ``None``."""
    while True:
        if isinstance(annotation, ForwardRef):
            annotation = annotation.__forward_arg__
        annotation = _evaluated(annotation, handler, names)
        origin = get_origin(annotation)
        if origin is Annotated:
            annotation = get_args(annotation)[0]
        elif origin in _UNIONS:
            some = [each for each in get_args(annotation) if each is not type(None)]
            if len(some) > 1:
                return annotation
            annotation = some[0]
        else:
            return annotation if origin is None else origin


def _context(
    handler: Callable[..., Any], runtime: inspect.Parameter | None, names: Mapping[str, Any]
) -> type | None:
    """Return what ``runtime: Runtime[...]`` says of the context."""
    try:
        annotation = runtime and _evaluated(runtime.annotation, handler, names)
    except NameError:
        return None
    context = get_args(annotation)[0] if get_origin(annotation) is Runtime else None
    return context if isinstance(context, type) else None


def _evaluated(annotation: Any, handler: Callable[..., Any], names: Mapping[str, Any]) -> Any:
    if not isinstance(annotation, str):
        return annotation
    # Of a partial function, of a decorated one, of an object that can be called.
    while isinstance(handler, functools.partial):
        handler = handler.func
    function = inspect.unwrap(handler)
    if not hasattr(function, "__globals__"):
        function = inspect.unwrap(type(handler).__call__)
    return eval(annotation, dict(getattr(function, "__globals__", {})), dict(names))


def _wrong(name: str, attribute: str, wanted: str, given: Any) -> WrongTypeError:
    kind = type(given).__name__
    return WrongTypeError(
        f"class {name}(node): `{attribute}` must be {wanted}, and is of the type `{kind}`",
        code="node-type",
    )


def _unknown(name: str, what: str, given: str, known: tuple[str, ...]) -> ConfigurationError:
    close = difflib.get_close_matches(given, known, n=1)
    return ConfigurationError(
        f"class {name}(node): unknown {what}; there are {', '.join(f'`{each}`' for each in known)}",
        code="node-unknown",
        hint=f"did you mean `{close[0]}`?" if close else None,
    )
