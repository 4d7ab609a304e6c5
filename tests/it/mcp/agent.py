"""An agent of LangChain that finds, loads and uses a skill through LangChain's adapter for MCP.

Its model plays a script, so that no network is needed; what it answers depends on what the tools
returned. The argument says how to reach the server, as the adapter takes it. What happened goes to
standard output as JSON.
"""

import asyncio
import json
import sys

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools


def content(message):
    """Return the text of a message, which may have blocks."""
    if isinstance(message.content, str):
        return message.content
    return "".join(block.get("text", "") for block in message.content)


class Script(BaseChatModel):
    """Searches, loads what it found, reads the file that it names, and runs the script."""

    @property
    def _llm_type(self):
        return "script"

    def bind_tools(self, tools, **kwargs):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        answer = self.next([content(one) for one in messages if isinstance(one, ToolMessage)])
        return ChatResult(generations=[ChatGeneration(message=answer)])

    def next(self, told):
        def call(tool, **arguments):
            return AIMessage("", tool_calls=[{"name": tool, "args": arguments, "id": tool}])

        if len(told) == 0:
            return call("search_skills", query="greet somebody")
        if len(told) == 1:
            name = told[0].removeprefix("- ").split(":")[0]
            return call("load_skill", name=name)
        if len(told) == 2:
            assert "references/tone.md" in told[1], told[1]
            return call("read_skill_file", name="hello", path="references/tone.md")
        if len(told) == 3:
            arguments = {"arguments": [told[2].strip()]}
            return call("run_skill_script", name="hello", script="greet", arguments=arguments)
        return AIMessage(f"It said: {told[3].strip()}")


async def main():
    client = MultiServerMCPClient({"skills": json.loads(sys.argv[1])})
    async with client.session("skills") as session:
        tools = await load_mcp_tools(session)
        agent = create_agent(Script(), tools)
        done = await agent.ainvoke({"messages": [("user", "Greet my friend.")]})
    calls = [call["name"] for one in done["messages"] for call in getattr(one, "tool_calls", [])]
    print(json.dumps({"calls": calls, "answer": content(done["messages"][-1])}))


asyncio.run(main())
