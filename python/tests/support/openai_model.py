"""A model for the OpenAI Agents SDK that plays what it was given."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Union

from agents import ModelResponse, Usage
from agents.models.interface import Model
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

Answer = Union[str, ResponseFunctionToolCall]


def calling(tool: str, /, **arguments: Any) -> ResponseFunctionToolCall:
    """Return the call of a tool."""
    return calling_text(tool, json.dumps(arguments))


def calling_text(name: str, arguments: str) -> ResponseFunctionToolCall:
    """Return the call of a tool whose arguments are a text, such as one that is no JSON."""
    return ResponseFunctionToolCall(
        type="function_call", name=name, arguments=arguments, call_id="set when it is said"
    )


@dataclass(frozen=True)
class Call:
    """What a model was asked."""

    system: str
    input: list[Any]
    tools: list[Any]

    @property
    def result(self) -> str:
        """What the last tool answered."""
        return str(self.input[-1]["output"])


class ScriptedModel(Model):
    """Gives its answers one after the other, and fails when it is asked more often."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = answers
        self.calls: list[Call] = []

    async def get_response(
        self,
        system_instructions: str | None,
        input: Any,
        model_settings: Any,
        tools: list[Any],
        *_: Any,
        **__: Any,
    ) -> ModelResponse:
        turn = len(self.calls)
        listed = list(input) if isinstance(input, list) else [input]
        self.calls.append(Call(system_instructions or "", listed, tools))
        assert turn < len(self.answers), f"the model was asked more than {len(self.answers)} times"
        answer: Any = self.answers[turn]
        if isinstance(answer, str):
            text = ResponseOutputText(type="output_text", text=answer, annotations=[])
            answer = ResponseOutputMessage(
                id="1", type="message", role="assistant", status="completed", content=[text]
            )
        else:
            answer = answer.model_copy(update={"call_id": f"call-{turn}"})
        return ModelResponse(output=[answer], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        raise NotImplementedError
