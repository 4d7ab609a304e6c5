"""An agent with a tool for each skill: it words a message for a commit with `git-helper`.

pip install "skillpm-py[langchain]" && python examples/python/langchain_tools.py
"""

import asyncio
from pathlib import Path

from langchain.agents import create_agent
from skillpm import SkillManager
from skillpm.langchain import create_langchain_tools

from model import calls, chat_model, show

model = chat_model(
    calls("git-helper", arguments="a message for a typing error that was mended in README.md"),
    "Tell readers the name of the file that the program reads",
)
manager = SkillManager(Path(__file__).parent.parent / "skills")
agent = create_agent(model, create_langchain_tools(manager, handle_tool_error=True))


async def main() -> None:
    """Ask once. The same agent can be invoked without awaiting it."""
    result = await agent.ainvoke({"messages": [("user", "Word the message of the commit.")]})
    show(result["messages"])


asyncio.run(main())
