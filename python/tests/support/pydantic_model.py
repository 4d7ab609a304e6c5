"""A model for PydanticAI that plays what it was given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Union

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.tools import ToolDefinition

Answer = Union[str, ToolCallPart]


def calling(tool: str, /, **arguments: Any) -> ToolCallPart:
    """Return the call of a tool."""
    return ToolCallPart(tool, arguments)


@dataclass(frozen=True)
class Call:
    """What a model was asked."""

    system: str
    messages: list[ModelMessage]
    tools: list[ToolDefinition]

    @property
    def answer(self) -> ToolReturnPart:
        """What the last tool answered, as a part of a message."""
        last = self.messages[-1]
        assert isinstance(last, ModelRequest)
        part = last.parts[0]
        assert isinstance(part, ToolReturnPart)
        return part

    @property
    def result(self) -> str:
        """What the last tool answered."""
        return self.answer.model_response_str()


class ScriptedModel:
    """Gives its answers one after the other, and fails when it is asked more often.

    ``function`` is the model.
    """

    def __init__(self, *answers: Answer) -> None:
        self.answers = answers
        self.calls: list[Call] = []
        self.function = FunctionModel(self._answer)

    def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        turn = len(self.calls)
        self.calls.append(Call(info.instructions or "", list(messages), info.function_tools))
        assert turn < len(self.answers), f"the model was asked more than {len(self.answers)} times"
        answer = self.answers[turn]
        return ModelResponse([TextPart(answer) if isinstance(answer, str) else answer])
