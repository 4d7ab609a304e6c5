"""The adapters, their tests and their guides are typed, where all their packages are."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from support.documents import GUIDE, examples

for _package in (
    "anthropic",
    "claude-agent-sdk",
    "deepagents",
    "google-adk",
    "llama-index-core",
    "openai-agents",
    "pydantic-ai-slim",
    "smolagents",
):
    try:
        version(_package)
    except PackageNotFoundError:
        pytest.skip(
            f"{_package} is not installed: `make python-agents-tests` has all frameworks",
            allow_module_level=True,
        )

PYTHON = Path(__file__).resolve().parent.parent
ADAPTERS = (
    "anthropic",
    "claude_agent_sdk",
    "deepagents",
    "google_adk",
    "llama_index",
    "openai_agents",
    "pydantic_ai",
    "smolagents",
)


GUIDES = ("deepagents", "google-adk", "llama-index", "smolagents")


def test_everything_is_typed(tmp_path: Path) -> None:
    checked = [f"skillpm/{name}.py" for name in ADAPTERS]
    checked += [str(test) for test in sorted(PYTHON.glob("tests/test_adapter_*.py"))]
    for guide in GUIDES:
        program = tmp_path / f"{guide.replace('-', '_')}_guide.py"
        program.write_text("\n".join(examples(GUIDE / f"{guide}.md")), "utf-8")
        checked.append(str(program))
    # smolagents has no types, and the package of a provider is not here.
    left_out = ("--disable-error-code=import-untyped", "--disable-error-code=import-not-found")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", *left_out, *checked],
        cwd=PYTHON,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
