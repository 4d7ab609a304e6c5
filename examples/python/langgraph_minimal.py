"""The least that a node needs, a handler, and a context that it is given.

pip install "skillpm-py[langgraph]" langchain && python examples/python/langgraph_minimal.py
"""

from dataclasses import dataclass

from langchain_core.messages import SystemMessage
from langgraph.runtime import Runtime
from skillpm.langgraph import AgentState, node

from model import chat_model, show


@dataclass
class Context:
    language: str


class translator(node):
    llm = chat_model("Tee ist ein Getränk.")

    async def handler(state: AgentState, *, llm, runtime: Runtime[Context]):
        told = SystemMessage(f"Translate into {runtime.context.language}. Say nothing else.")
        return {"messages": [await llm.ainvoke([told, *state["messages"]])]}


result = translator.invoke(
    {"messages": [("user", "Tea is a drink.")]}, context=Context(language="German")
)
show(result["messages"])
