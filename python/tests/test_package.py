"""What is in the package."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from conftest import World
from support.documents import ROOT

import skillpm


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=60)


def test_one_version() -> None:
    assert metadata.version("skillpm-py") == skillpm.__version__
    said = run("-m", "skillpm", "--version").stdout.split()
    assert said[:2] == ["skillpm", skillpm.__version__]


@pytest.mark.req("S0-FR-045", "S0-A1", "S3-NFR-5", "C31")
def test_the_metadata_of_the_package() -> None:
    told = metadata.metadata("skillpm-py")
    assert told["Requires-Python"] == ">=3.9"
    assert "SKILL.md" in told["Summary"]
    assert told["Description-Content-Type"].startswith("text/markdown")
    assert set(told.get_all("Provides-Extra") or []) == {
        "anthropic",
        "claude-agent-sdk",
        "deepagents",
        "google-adk",
        "langchain",
        "langflow",
        "langgraph",
        "lfx",
        "llama-index",
        "openai-agents",
        "pydantic-ai",
        "smolagents",
    }
    needed = metadata.requires("skillpm-py") or []
    assert all("; " in line and "extra ==" in line for line in needed), "nothing for the core"
    # Both ends of what is supported are named, and Langflow's adapter says which Python it needs.
    assert all(">=" in line and "<" in line for line in needed)
    [lfx] = [line for line in needed if line.startswith("lfx")]
    assert ">= '3.10'" in lfx.replace('"', "'")


@pytest.mark.req("S0-FR-047")
def test_the_license_is_that_of_the_repository() -> None:
    own = (ROOT / "python" / "LICENSE").read_text()
    assert own == (ROOT / "LICENSE").read_text()
    assert own.startswith("MIT License")
    assert metadata.metadata("skillpm-py")["License-Expression"] == "MIT"


def test_the_command_is_the_program(world: World) -> None:
    world.skill("pdf", "Read $ARGUMENTS.\n")
    script = Path(sys.executable).with_name("skillpm")
    for command in ([str(script)], [sys.executable, "-m", "skillpm"]):
        done = subprocess.run([*command, "invoke", "pdf", "a.pdf"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert done.stdout.endswith("pdf\n\nRead a.pdf.\n")
        wrong = subprocess.run([*command, "invoke", "nothing"], capture_output=True, text=True)
        assert (wrong.returncode, wrong.stdout) == (2, "")
        assert "there is no skill `nothing`" in wrong.stderr


def test_the_import_is_lean() -> None:
    code = "import sys, skillpm; print(*sorted(sys.modules))"
    modules = run("-c", code).stdout.split()
    assert "skillpm._native" in modules
    heavy = {
        "asyncio",
        "dataclasses",
        "inspect",
        "json",
        "logging",
        "pathlib",
    }
    bare = run("-c", "import sys; print(*sys.modules)").stdout.split()
    assert heavy & set(modules) <= set(bare), "nothing that does not exist already"
    assert not any(name.startswith(("langchain", "langgraph", "lfx")) for name in modules)
