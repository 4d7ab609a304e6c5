"""A node that is used alone: it reviews a function with the skill `code-reviewer`.

pip install "skillpm-py[langgraph]" langchain && python examples/python/langgraph_alone.py
"""

from pathlib import Path

from skillpm.langgraph import node

from model import calls, chat_model, show


class reviewer(node):
    llm = chat_model(
        calls("Skill", skill_name="code-reviewer"),
        calls("SkillRead", skill_name="code-reviewer", file_name="references/errors.md"),
        "`mean([])` divides by zero. Say in its docstring what it does then, and test it.",
    )
    skills = Path(__file__).parent.parent / "skills"

    async def handler(state, *, llm):
        return {"messages": [await llm.ainvoke(state["messages"])], "sender": "reviewer"}


question = "Review this: def mean(numbers): return sum(numbers) / len(numbers)"
show(reviewer.invoke({"messages": [("user", question)]})["messages"])
