"""An agent that runs the scripts of a skill: it computes with `calculator`.

pip install "skillpm-py[langchain]" && python examples/python/langchain_scripts.py
"""

from pathlib import Path

from langchain.agents import create_agent
from skillpm import SkillManager
from skillpm.langchain import SkillsMiddleware

from model import calls, chat_model, show

model = chat_model(
    calls("load_skill", name="calculator"),
    calls("calculator__add", a=2, b=3),
    calls("calculator__multiply", a=5, b=4),
    "20",
)
# The skills lie beside the program, so it can vouch for them.
skills = SkillManager(Path(__file__).parent.parent / "tools", scripts="allow", trusted=True)
agent = create_agent(model, middleware=[SkillsMiddleware(skills, scripts=True)])
show(agent.invoke({"messages": [("user", "What is (2 + 3) * 4?")]})["messages"])
