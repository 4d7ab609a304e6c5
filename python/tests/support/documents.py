"""The documentation and the example agents, which tests run as they stand."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
GUIDE = ROOT / "docs" / "guide"
AGENTS = ROOT / "examples" / "python"


def examples(document: Path) -> list[str]:
    """Return what a document has of Python."""
    text = document.read_text("utf-8")
    return re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def run_agent(name: str) -> str:
    """Return what an example agent prints. It has no key: what a model would say is played."""
    surroundings = {
        **{name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")},
        "PYTHONIOENCODING": "utf-8",
    }
    ran = subprocess.run(
        [sys.executable, str(AGENTS / f"{name}.py")],
        capture_output=True,
        encoding="utf-8",
        env=surroundings,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout
