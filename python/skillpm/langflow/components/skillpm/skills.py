"""The component ``Skills``: tools for an agent, and instructions that name its skills."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from skillpm.langflow import SkillStore, create_skill_tools, inject_catalog
from skillpm.langflow._lfx import (
    BoolInput,
    Component,
    Message,
    MultilineInput,
    Output,
    StrInput,
    Tool,
)
from skillpm.langflow._shared import forget, store_of


class SkillsComponent(Component):
    """Gives an agent the skills of a directory.

    ``tools`` goes to the tools of an Agent, of several, and of what calls other agents: all of them
    share one store, and so do several of these components in one flow that have one directory.
    ``instructions`` goes to the agent's instructions. Each run looks for skills anew and keeps what
    it read to its end.
    """

    display_name = "Skills"
    description = "Lets an agent find skills (SKILL.md) and load those that it needs."
    icon = "BookMarked"
    name = "SkillpmSkills"

    inputs: ClassVar[list[Any]] = [
        BoolInput(
            name="enable_skills",
            display_name="Enable Skills",
            info="Whether the agent gets the skills of the directory.",
            value=False,
            real_time_refresh=True,
        ),
        StrInput(
            name="skills_directory",
            display_name="Skills Directory",
            info="The directory whose subdirectories are skills.",
            value="",
            advanced=True,
            show=False,
        ),
        MultilineInput(
            name="system_prompt",
            display_name="Agent Instructions",
            info="The instructions that the catalog of skills is put into: where they say "
            "{skill_catalog}, else at their end.",
            value="You are a helpful assistant that can use tools to answer questions.",
        ),
    ]
    outputs: ClassVar[list[Output]] = [
        Output(display_name="Tools", name="tools", method="build_tools", types=["Tool"]),
        Output(display_name="Catalog", name="catalog", method="build_catalog"),
        Output(display_name="Instructions", name="instructions", method="build_instructions"),
    ]

    _store: SkillStore | None = None

    def update_build_config(
        self, build_config: dict[str, Any], field_value: Any, field_name: str | None = None
    ) -> dict[str, Any]:
        """Show the directory where skills are enabled, and hide it where they are not."""
        if field_name == "enable_skills":
            build_config["skills_directory"]["show"] = bool(field_value)
        return build_config

    def _pre_run_setup(self) -> None:
        # What was edited since the last run is seen in this one. Of several components the first
        # one drops the store of the last run, and the others find that of this one.
        forget(self._store)
        self._store = None

    @property
    def store(self) -> SkillStore | None:
        """The skills of this run; ``None`` where they are not enabled."""
        if not self.enable_skills:
            return None
        if self._store is None:
            directory = str(self.skills_directory or "").strip()
            directories = [Path(directory).expanduser()] if directory else []
            flow = getattr(self._vertex, "graph", None)
            if flow is None:
                self._store = SkillStore(*directories)
            else:
                self._store = store_of(flow, directories)
        return self._store

    def build_tools(self) -> list[Tool]:
        """Return ``load_skill`` and ``read_skill_file``; nothing where skills are not enabled."""
        store = self.store
        tools = [] if store is None else create_skill_tools(store)
        self.status: Any = self._told()
        return tools

    def build_catalog(self) -> Message:
        """Return what the agent is told of all skills; nothing where they are not enabled."""
        return Message(text=self._catalog())

    def build_instructions(self) -> Message:
        """Return the agent's instructions with the catalog in them, once however often asked."""
        prompt = getattr(self.system_prompt, "text", self.system_prompt) or ""
        return Message(text=inject_catalog(prompt, self._catalog()))

    def _catalog(self) -> str:
        store = self.store
        return "" if store is None else store.get_skill_catalog()

    def _told(self) -> str:
        store = self.store
        if store is None:
            return "Skills are not enabled."
        if not str(self.skills_directory or "").strip():
            return "No directory of skills is named."
        lines = [f"Skills: {', '.join(store.get_skill_names()) or 'none'}"]
        return "\n".join(lines + [problem.message for problem in store.diagnostics])
