"""One `SkillKit` for two nodes, of which one only looks at what the skills are.

pip install "skillpm-py[langgraph]" langchain && python examples/python/langgraph_shared_kit.py
"""

import asyncio
from pathlib import Path

from skillpm.langgraph import SkillKit, node

from model import calls, chat_model, show

kit = SkillKit(Path(__file__).parent.parent / "skills")


class planner(node):
    llm = chat_model("First `code-reviewer`, then `git-helper`.")
    skills = kit

    async def handler(state, *, llm, tools):
        print("The planner's tools:", ", ".join(tool.name for tool in tools))
        return {"messages": [await llm.ainvoke(state["messages"])], "sender": "planner"}


class worker(node):
    llm = chat_model(
        calls("Skill", skill_name="git-helper"),
        "Run `git add --patch`, then `git commit`.",
    )
    skills = kit

    async def handler(state, *, llm):
        return {"messages": [await llm.ainvoke(state["messages"])], "sender": "worker"}


async def main():
    asked = {"messages": [("user", "Which skills help me to commit my work, and how?")]}
    planned = await planner.ainvoke(asked)
    show((await worker.ainvoke({"messages": planned["messages"]}))["messages"])


asyncio.run(main())
