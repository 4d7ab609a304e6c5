"""Where the catalog stands in the instructions of an agent."""

from __future__ import annotations

CATALOG_PLACEHOLDER = "{skill_catalog}"

_SECTION = """\
## Skills

These skills are available. Before you start on a task, see whether one of them is about it: if so,
call `load_skill` with its name and follow what it says. Where it names files, `read_skill_file`
reads them.

"""


def inject_catalog(prompt: str, catalog: str) -> str:
    """Return the instructions ``prompt`` with ``catalog`` in them, once.

    It stands where the first ``{skill_catalog}`` is, and further ones are taken out. Without one it
    is added at the end, in a section that says how skills are used. A prompt that has the catalog
    already is returned as it is. With an empty catalog only the placeholders go.
    """
    if catalog and catalog in prompt:
        return prompt
    before, placeholder, after = prompt.partition(CATALOG_PLACEHOLDER)
    if placeholder:
        return before + catalog + after.replace(CATALOG_PLACEHOLDER, "")
    if not catalog:
        return prompt
    said = prompt.rstrip()
    return f"{said}\n\n{_SECTION}{catalog}" if said else _SECTION + catalog
