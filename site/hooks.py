"""Adds pages from outside of `docs/` to the site, and makes links to other files lead to GitHub.

The generator calls these functions; `mkdocs.yml` names this file. A link to a file that does not
exist is a warning, and so an error of a strict build.
"""

import logging
import re
from pathlib import Path
from posixpath import normpath, relpath

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parent.parent
# Files outside of `docs/` that are pages too.
PAGES = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "report.md",
}
# `](path#anchor)`, or the same in a line `[name]: path#anchor`.
LINK = re.compile(r"(\]\(|^\[[^\]]+\]: )(?!https?:|mailto:|#)([^)\s#]+)(#[^)\s]*)?(?=\)|$)")
FENCE = re.compile(r"\s*(```|~~~)")

log = logging.getLogger("mkdocs.hooks.site")


def on_files(files, config):
    """Add `PAGES`."""
    for source, page in PAGES.items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / source)))
    return files


def on_page_markdown(markdown, page, config, files):
    """Resolve the links of a page, except those in blocks of code."""
    uri = page.file.src_uri
    source = next((path for path, name in PAGES.items() if name == uri), f"docs/{uri}")

    def resolved(link):
        target = normpath(f"{source}/../{link[2]}")
        inside = PAGES.get(target, target.removeprefix("docs/"))
        anchor = link[3] or ""
        if inside != target:
            return f"{link[1]}{relpath(inside, normpath(f'{uri}/..'))}{anchor}"
        if not (ROOT / target).exists():
            log.warning("%s links to `%s`, which does not exist", source, target)
        kind = "tree" if (ROOT / target).is_dir() else "blob"
        return f"{link[1]}{config.extra['repository']}/{kind}/main/{target}{anchor}"

    lines, is_code = [], False
    for line in markdown.split("\n"):
        is_fence = FENCE.match(line)
        is_code ^= bool(is_fence)
        lines.append(line if is_code or is_fence else LINK.sub(resolved, line))
    return "\n".join(lines)
