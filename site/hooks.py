"""Adds pages from outside of `docs/` to the site, resolves links to other files, describes pages.

The generator calls these functions; `mkdocs.yml` names this file. A link to a file that does not
exist is a warning, and so an error of a strict build.
"""

import logging
import re
from html import escape, unescape
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
# Pages with a directory of generated pages beside them, which follow in the navigation.
INDEXES = ("reference/cli.md", "reference/rules.md")
# How much a page counts in the search; one with 0 is not found.
BOOSTS = {
    "reference/requirements.md": 0,
    "reference/licences.md": 0,
    "changelog.md": 0.1,
    "contributing.md": 0.1,
    "design/": 0.1,
    "reference/rules/": 0.5,
    "reference/": 2,
    "guide/": 3,
    "start/": 3,
}
# Pages with a style of their own.
STYLES = {
    "compare.md": "wide",
    "reference/cli": "command",
    "reference/rules.md": "rules",
}
# `](path#anchor)`, or the same in a line `[name]: path#anchor`.
LINK = re.compile(r"(\]\(|^\[[^\]]+\]: )(?!https?:|mailto:|#)([^)\s#]+)(#[^)\s]*)?(?=\)|$)")
FENCE = re.compile(r"\s*(```|~~~)")
PARAGRAPH = re.compile(r"<p>(.*?)</p>", re.DOTALL)
OPTION = re.compile(r'<a id="[^"]*--([a-z-]+)"')
# An option in a sentence, which is not to be broken after its hyphens.
SHORT = re.compile(r"<code>(-[^<]{1,28}</code>)")
BLOCK = re.compile(r"<pre.*?</pre>", re.DOTALL)
LONG = re.compile(r"(?<=[ >])(--[a-z-]+)(?=[\s<=])")
TAG = re.compile(r"<[^>]+>")
# How many characters of a page's description are shown by those who list it.
DESCRIPTION = 160

log = logging.getLogger("mkdocs.hooks.site")


def on_config(config):
    """Add the version, and the pages of `INDEXES` to the navigation."""
    cargo = (ROOT / "Cargo.toml").read_text(encoding="utf-8")
    config.extra["version_of_skillpm"] = re.search(r'^version = "(.+)"', cargo, re.MULTILINE)[1]
    config.copyright = f"skillpm {config.extra['version_of_skillpm']}. {config.copyright}"
    config.nav = [expanded(entry) for entry in config.nav]
    return config


def expanded(entry):
    """Return an entry of the navigation with the pages that belong to an index."""
    if not isinstance(entry, dict):
        return entry
    ((title, inside),) = entry.items()
    if isinstance(inside, list):
        return {title: [expanded(below) for below in inside]}
    if inside not in INDEXES:
        return entry
    directory = inside.removesuffix(".md")
    pages = sorted((ROOT / "docs" / directory).glob("*.md"))
    return {title: [{"All": inside}, *({page.stem: f"{directory}/{page.name}"} for page in pages)]}


def on_files(files, config):
    """Add `PAGES`."""
    for source, page in PAGES.items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / source)))
    return files


def source_of(page):
    """Return the path of a page's file in the repository."""
    uri = page.file.src_uri
    return next((path for path, name in PAGES.items() if name == uri), f"docs/{uri}")


def chosen(table, uri, otherwise):
    """Return what a table has for a page, or for a directory that the page is in."""
    return next((value for path, value in table.items() if uri.startswith(path)), otherwise)


def on_page_markdown(markdown, page, config, files):
    """Resolve the links of a page, except those in blocks of code."""
    uri = page.file.src_uri
    source = source_of(page)
    boost = chosen(BOOSTS, uri, 1)
    page.meta["search"] = {"boost": boost} if boost else {"exclude": True}
    # `docs/javascripts/search.js` looks for these words where somebody looks for an option.
    options = {f"option{name.replace('-', '')}" for name in OPTION.findall(markdown)}
    page.meta["tags"] = sorted(options)
    # What a program wrote is not edited.
    is_generated = any(uri.startswith(index.replace(".md", "/")) for index in INDEXES)
    page.edit_url = None if is_generated else f"{config.repo_url}/edit/main/{source}"

    def resolved(link):
        target = normpath(f"{source}/../{link[2]}")
        inside = PAGES.get(target, target.removeprefix("docs/"))
        anchor = link[3] or ""
        if inside != target:
            return f"{link[1]}{relpath(inside, normpath(f'{uri}/..'))}{anchor}"
        if not (ROOT / target).exists():
            log.warning("%s links to `%s`, which does not exist", source, target)
        kind = "tree" if (ROOT / target).is_dir() else "blob"
        return f"{link[1]}{config.repo_url}/{kind}/main/{target}{anchor}"

    lines, is_code = [], False
    for line in markdown.split("\n"):
        is_fence = FENCE.match(line)
        is_code ^= bool(is_fence)
        lines.append(line if is_code or is_fence else LINK.sub(resolved, line))
    return "\n".join(lines)


def on_page_content(html, page, config, files):
    """Describe a page by its first paragraph, and mark one with a style of its own."""
    uri = page.file.src_uri
    if uri == "index.md":
        page.meta["title"] = "Package manager for Agent Skills"
    paragraphs = (unescape(TAG.sub("", paragraph)) for paragraph in PARAGRAPH.findall(html))
    text = next((" ".join(text.split()) for text in paragraphs if text.strip()), page.title)
    style = chosen(STYLES, uri, None)
    if uri.startswith("reference/cli/"):
        text = f"skillpm {page.title}: {text}"
    if len(text) > DESCRIPTION:
        text = text[: DESCRIPTION - 1].rsplit(" ", 1)[0].rstrip(",;:.") + "…"
    page.meta["description"] = escape(text)
    html = SHORT.sub(r'<code class="option">\1', html)
    html = BLOCK.sub(lambda block: LONG.sub(r'<span class="option">\1</span>', block[0]), html)
    return f'<div class="{style}">{html}</div>' if style else html
