"""Two nodes of one graph: one reviews a change, the other one writes the commit message.

pip install "skillpm-py[langgraph]" langchain && python examples/python/langgraph_team.py
"""

from pathlib import Path

from langgraph.graph import END, START, StateGraph
from skillpm.langgraph import AgentState, node

from model import calls, chat_model, show

SKILLS = Path(__file__).parent.parent / "skills"


class reviewer(node):
    llm = chat_model(
        calls("Skill", skill_name="code-reviewer"),
        "The change is sound: an empty list gives None now.",
    )
    skills = SKILLS

    async def handler(state, *, llm):
        return {"messages": [await llm.ainvoke(state["messages"])], "sender": "reviewer"}


class committer(node):
    llm = chat_model(
        calls("Skill", skill_name="git-helper"),
        calls(
            "SkillRead",
            skill_name="git-helper",
            file_name="references/conventional-commits.md",
        ),
        "fix: the mean of no numbers is None",
    )
    skills = SKILLS

    def handler(state, *, llm):
        return {"messages": [llm.invoke(state["messages"])], "sender": "committer"}


graph = StateGraph(AgentState)
graph.add_node("reviewer", reviewer)
graph.add_node("committer", committer)
graph.add_edge(START, "reviewer")
graph.add_edge("reviewer", "committer")
graph.add_edge("committer", END)

change = "- return sum(numbers) / len(numbers)\n+ return mean(numbers) if numbers else None"
result = graph.compile().invoke(
    {"messages": [("user", f"Review this change and write its commit message:\n{change}")]}
)
show(result["messages"])
print("The last word had:", result["sender"])
