"""How a front end shows the tools."""

from __future__ import annotations

from typing import TypedDict


class ToolDisplay(TypedDict):
    """How a call of a tool is shown: a Lucide icon, and titles while it runs and after."""

    icon: str
    title_start: str
    title_end: str


TOOL_DISPLAY: dict[str, ToolDisplay] = {
    "load_skill": {
        "icon": "BookMarked",
        "title_start": "Loading skill",
        "title_end": "Skill loaded",
    },
    "read_skill_file": {
        "icon": "FileSearch",
        "title_start": "Reading skill reference",
        "title_end": "Reference loaded",
    },
}
"""By the names of the tools."""
