"""An agent that has skills by a middleware: it reviews a function with `code-reviewer`.

pip install "skillpm-py[langchain]" && python examples/python/langchain_agent.py
"""

from pathlib import Path

from langchain.agents import create_agent
from skillpm.langchain import SkillsMiddleware

from model import calls, chat_model, show

model = chat_model(
    calls("load_skill", name="code-reviewer", arguments="the function mean"),
    calls("read_skill_file", name="code-reviewer", path="references/errors.md"),
    "`mean([])` divides by zero. Say in its docstring what it does then, and test it.",
)
skills = Path(__file__).parent.parent / "skills"
agent = create_agent(model, middleware=[SkillsMiddleware(skills)])
question = "Review this: def mean(numbers): return sum(numbers) / len(numbers)"
show(agent.invoke({"messages": [("user", question)]})["messages"])
