"""The state of an agent."""

from typing import Annotated, Any

from langgraph.graph.message import add_messages
from typing_extensions import NotRequired, TypedDict


# Annotations are no texts here: Python 3.10 would not see in them which field is required.
class AgentState(TypedDict):
    """What the nodes of a graph of agents share. Inherit from it to add fields.

    ``messages`` is the conversation, to which every node adds; ``sender`` is the name of the node
    that spoke last, by which a graph finds back to it.
    """

    messages: Annotated[list[Any], add_messages]
    sender: NotRequired[str]
