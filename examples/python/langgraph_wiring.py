"""The tools of a `SkillKit` in a graph that is wired by hand.

pip install "skillpm-py[langgraph]" langchain && python examples/python/langgraph_wiring.py
"""

from pathlib import Path

from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from skillpm.langgraph import SkillKit

from model import calls, chat_model, show

kit = SkillKit(Path(__file__).parent.parent / "skills")
model = chat_model(
    calls("Skill", skill_name="markdown-formatter"),
    "# Tea\n\n- green\n- black",
).bind_tools(kit.get_tools())


def agent(state: MessagesState):
    return {"messages": [model.invoke(state["messages"])]}


graph = StateGraph(MessagesState)
graph.add_node("agent", agent)
graph.add_node("tools", ToolNode(kit.get_tools()))
graph.add_edge(START, "agent")
graph.add_conditional_edges("agent", tools_condition)
graph.add_edge("tools", "agent")

question = "Format this Markdown: #Tea\n* green\n+ black"
show(graph.compile().invoke({"messages": [("user", question)]})["messages"])
