"""Adapters whose package is not installed say what to install."""

from __future__ import annotations

import subprocess
import sys

import pytest

MISSING = {
    "deepagents": ("deepagents", "deepagents", "deepagents"),
    "google_adk": ("google.adk", "google-adk", "google-adk"),
    "llama_index": ("llama_index", "llama-index-core", "llama-index"),
    "smolagents": ("smolagents", "smolagents", "smolagents"),
}


@pytest.mark.parametrize("module", MISSING)
def test_a_missing_package(module: str) -> None:
    imported, package, extra = MISSING[module]
    code = f"""
import sys
sys.modules[{imported!r}] = None
try:
    import skillpm.{module}
except ModuleNotFoundError as error:
    print(error, error.__suppress_context__)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == (
        f"`skillpm.{module}` needs the package `{package}`: "
        f'install it with `pip install "skillpm-py[{extra}]"` True\n'
    )
