"""The state of an agent."""

from __future__ import annotations

from typing import Annotated, Any

from langgraph.graph.message import add_messages
from typing_extensions import TypedDict


class AgentState(TypedDict, total=False):
    """What the nodes of a graph of agents share. Inherit from it to add fields.

    ``messages`` is the conversation, to which every node adds; ``sender`` is the name of the node
    that spoke last, by which a graph finds back to it.
    """

    messages: Annotated[list[Any], add_messages]
    sender: str
