"""The model of the examples: a real one where a key is set, else one that plays its part."""

from __future__ import annotations

import os
from typing import Any

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage

# Each needs a package of its own: `pip install langchain-anthropic`.
PROVIDERS = {
    "ANTHROPIC_API_KEY": "anthropic:claude-sonnet-4-5",
    "OPENAI_API_KEY": "openai:gpt-5-mini",
}


class Player(GenericFakeChatModel):
    """Gives the answers that it was given, one after the other."""

    def bind_tools(self, tools: Any, **options: Any) -> Player:
        return self


def chat_model(*answers: str | AIMessage) -> Any:
    """Return a model whose key is in the environment, else one that plays ``answers``."""
    for key, name in PROVIDERS.items():
        if os.environ.get(key):
            from langchain.chat_models import init_chat_model

            return init_chat_model(name)
    return Player(messages=iter(answers))


def calls(tool: str, **arguments: Any) -> AIMessage:
    """Return the answer of a model that calls a tool."""
    return AIMessage("", tool_calls=[{"name": tool, "args": arguments, "id": f"call-{tool}"}])


def show(messages: list[BaseMessage]) -> None:
    """Print a conversation: of each message who it is from, and its first line."""
    for message in messages:
        text = " ".join(message.text.split())
        print(f"{message.name or message.type}: {text[:100]}".rstrip())
        for call in getattr(message, "tool_calls", []):
            print(f"  calls {call['name']} {call['args']}")
