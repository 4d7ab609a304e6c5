"""A chat model that plays what it was given: for tests of agents without a network."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Union

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import PrivateAttr

Answer = Union[str, AIMessage, Callable[[list[BaseMessage]], Union[str, AIMessage]]]


@dataclass(frozen=True)
class Call:
    """What a model was asked: the messages, and the tools as a provider gets them."""

    messages: list[BaseMessage]
    tools: list[dict[str, Any]]

    @property
    def tool_names(self) -> list[str]:
        return [tool["function"]["name"] for tool in self.tools]

    def description(self, name: str) -> str:
        """Return the description of a tool as the model sees it."""
        found = [tool["function"] for tool in self.tools if tool["function"]["name"] == name]
        return str(found[0]["description"])


class ScriptedChatModel(BaseChatModel):
    """Gives its answers one after the other, and fails when it is asked more often.

    An answer is a text, a message, or a function from the messages to one of them: so an answer can
    depend on what a tool returned. ``calls`` has what it was asked.
    """

    answers: list[Any]
    _calls: list[Call] = PrivateAttr(default_factory=list)
    _lock: Any = PrivateAttr(default_factory=threading.Lock)

    def __init__(self, *given: Answer, answers: Iterable[Answer] = ()) -> None:
        super().__init__(answers=[*given, *answers])  # type: ignore[call-arg]

    @property
    def calls(self) -> list[Call]:
        return self._calls

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(
        self, tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool], **kwargs: Any
    ) -> Runnable[Any, AIMessage]:
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> ChatResult:
        with self._lock:
            turn = len(self._calls)
            self._calls.append(Call(list(messages), list(kwargs.get("tools", []))))
        assert turn < len(self.answers), f"the model was asked more than {len(self.answers)} times"
        answer = self.answers[turn]
        if callable(answer) and not isinstance(answer, BaseMessage):
            answer = answer(messages)
        message = AIMessage(answer) if isinstance(answer, str) else answer
        return ChatResult(generations=[ChatGeneration(message=message)])


def calling(tool: str, *, id: str | None = None, **arguments: Any) -> AIMessage:
    """Return the message of a model that calls one tool."""
    call = {"name": tool, "args": arguments, "id": id or f"call-{tool}", "type": "tool_call"}
    return AIMessage("", tool_calls=[call])


def calling_all(*messages: AIMessage) -> AIMessage:
    """Return one message that makes the tool calls of several at once."""
    calls = [call for message in messages for call in message.tool_calls]
    return AIMessage("", tool_calls=[{**call, "id": f"call-{i}"} for i, call in enumerate(calls)])
