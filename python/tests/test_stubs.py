"""The types that are promised are those that are there."""

from __future__ import annotations

import inspect
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from support import documents

import skillpm
from skillpm import SkillManager, _native

PYTHON = Path(skillpm.__file__).resolve().parent.parent


# What reaches into frameworks that are not here.
ADAPTERS = (
    "adapters",
    "anthropic",
    "claude_agent_sdk",
    "deepagents",
    "google_adk",
    "llama_index",
    "messages_api",
    "openai_agents",
    "openai_model",
    "pydantic_ai",
    "pydantic_model",
    "smolagents",
)


def tool(*arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *arguments], cwd=PYTHON, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_stubs_are_those_of_the_module() -> None:
    tool("mypy.stubtest", "skillpm._native", "--concise", "--ignore-disjoint-bases")


def test_the_package_the_tests_and_the_benches_are_typed() -> None:
    # The tests of the component reach into lfx, which is not here. Other frameworks have an
    # environment of their own, in which `test_adapter_types` checks what reaches into them.
    left_out = f"/(test_langflow_component|test_adapter_|({'|'.join(ADAPTERS)})\\.py)"
    if not find_spec("langgraph"):
        # `test_given` reaches into `skillpm.langflow`, whose types come from LangChain.
        left_out = f"({left_out}|/(lang|support|test_lang|test_given))"
    benches = map(str, PYTHON.parent.glob("benches/python/*.py"))
    tool("mypy", "--strict", "--exclude", left_out, "skillpm", "tests", *benches)


@pytest.mark.parametrize("guide", ["python", "langchain", "langgraph"])
def test_the_examples_of_a_guide_are_typed(guide: str, tmp_path: Path) -> None:
    """They are there to be copied, into code bases whose types are checked too."""
    if guide != "python" and not find_spec(guide):
        pytest.skip(f"{guide} is not installed")
    program = tmp_path / f"{guide}_guide.py"
    program.write_text("\n".join(documents.examples(documents.GUIDE / f"{guide}.md")), "utf-8")
    tool("mypy", "--check-untyped-defs", str(program))


def test_everything_has_a_docstring() -> None:
    """What the stubs say, the module says too: editors show the one, `help()` the other."""
    for name in skillpm.__all__:
        value = getattr(skillpm, name)
        assert name == "__version__" or inspect.getdoc(value), name
    for name, value in vars(SkillManager).items():
        assert name.startswith("_") or inspect.getdoc(value), name
    for name, value in vars(_native).items():
        if inspect.isclass(value):
            assert value.__doc__, name
