"""A long thread whose history is summarised again and again: a loaded skill stays.

pip install "skillpm-py[langchain]" && python examples/python/langchain_long_thread.py
"""

from pathlib import Path

from langchain.agents import create_agent
from langchain.agents.middleware import SummarizationMiddleware, wrap_model_call
from langgraph.checkpoint.memory import InMemorySaver
from skillpm.langchain import SkillsMiddleware

from model import calls, chat_model

SAW = []


@wrap_model_call
def look(request, handler):
    """Note what the model is about to see."""
    SAW.append(str([request.system_message, *request.messages]))
    return handler(request)


model = chat_model(
    calls("load_skill", name="markdown-formatter", arguments="notes.md"),
    *("That is done." for _ in range(8)),
)
summarizer = chat_model(*("The notes were formatted." for _ in range(8)))
agent = create_agent(
    model,
    middleware=[
        SummarizationMiddleware(summarizer, trigger=("messages", 6), keep=("messages", 2)),
        SkillsMiddleware(Path(__file__).parent.parent / "skills"),
        look,
    ],
    checkpointer=InMemorySaver(),
)
thread = {"configurable": {"thread_id": "notes"}}
for turn in range(8):
    result = agent.invoke({"messages": [("user", f"Format part {turn} of notes.md.")]}, thread)
print("Messages that are left:", len(result["messages"]))
seen = SAW[-1].count("<skill_content name=") == 1
print("The skill is in what the model saw:", "yes" if seen else "no")
