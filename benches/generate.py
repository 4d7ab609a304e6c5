#!/usr/bin/env python3
"""Writes COUNT skills into DIRECTORY, the same ones each time.

    generate.py COUNT DIRECTORY

A skill has about 5 files and 20 KB: a SKILL.md of 2 to 12 KB, one or two scripts, one to three
references, sometimes an asset or a file with the license. The SKILL.md links to a reference and says
how the scripts are run; the frontmatter is spread over the ways in which people write it. Every skill
is valid, and every file that one names is there.
"""

import random
import sys
from pathlib import Path

SUBJECTS = ["archive", "budget", "calendar", "changelog", "contract", "dataset", "diagram", "email", "form",
            "glossary", "incident", "inventory", "invoice", "log", "meeting", "migration", "notebook", "patent",
            "photo", "query", "receipt", "recipe", "release", "report", "schema", "survey", "ticket", "timetable"]
JOBS = ["checker", "cleaner", "comparer", "drafter", "explainer", "exporter", "finder", "importer", "merger",
        "planner", "reader", "reviewer", "sorter", "splitter", "summary", "tracker", "writer"]
VERBS = ["Ask", "Check", "Collect", "Compare", "Count", "Find", "Keep", "List", "Name", "Open", "Print", "Read",
         "Sort", "Store", "Tell", "Write"]
THINGS = ["the columns", "each entry", "what is missing", "the first page", "all dates", "the totals", "every name",
          "the units", "the result", "both versions", "the user's words", "its source", "the oldest one", "a table",
          "the open questions", "any error"]
PLACES = ["before anything else", "in one place", "as it is written", "with its line", "by hand if need be",
          "in the same order", "next to the original", "without changing it", "and say so", "once more at the end",
          "when the numbers differ", "if there is more than one", "in the language of the file", "and stop there"]


def sentence(dice):
    return f"{dice.choice(VERBS)} {dice.choice(THINGS)} {dice.choice(PLACES)}."


def paragraph(dice):
    return " ".join(sentence(dice) for _ in range(dice.randint(2, 6)))


def markdown(dice, title, size):
    """A text of about `size` bytes with headings, lists, tables, code and paragraphs."""
    parts = [f"# {title}"]
    length = 0
    while length < size:
        kind = dice.randrange(10)
        if kind == 0:
            part = "## " + sentence(dice).rstrip(".")
        elif kind < 3:
            part = "\n".join("- " + sentence(dice) for _ in range(dice.randint(3, 7)))
        elif kind == 3:
            rows = [f"| {dice.choice(SUBJECTS)} | {sentence(dice)} |" for _ in range(dice.randint(2, 6))]
            part = "\n".join(["| what | how |", "| --- | --- |", *rows])
        elif kind == 4:
            lines = [f"run --{dice.choice(JOBS)} {dice.choice(SUBJECTS)}.csv" for _ in range(dice.randint(1, 5))]
            part = "\n".join(["```sh", *lines, "```"])
        else:
            part = paragraph(dice)
        parts.append(part)
        length += len(part) + 2
    return "\n\n".join(parts) + "\n"


def mention(dice, file):
    """A sentence about a file of the skill: how a script is run, or a link."""
    if file.startswith("scripts/"):
        return f"Run `{file} {dice.choice(SUBJECTS)}.csv` {dice.choice(PLACES)}."
    return f"See [the {dice.choice(JOBS)}]({file}) — {sentence(dice)}"


def shell(dice, size):
    lines = ["#!/bin/sh", "set -eu", ""]
    while sum(map(len, lines)) < size:
        lines += [f"# {sentence(dice)}", f'grep -c "{dice.choice(SUBJECTS)}" "$1" || true']
    return "\n".join(lines) + "\n"


def python(dice, size):
    lines = ["#!/usr/bin/env python3", f'"""{sentence(dice)}"""', "", "import sys", ""]
    while sum(map(len, lines)) < size:
        name = f"{dice.choice(JOBS)}_{len(lines)}"
        lines += ["", f"def {name}(rows):", f"    # {sentence(dice)}",
                  f"    return [row for row in rows if {dice.choice(SUBJECTS)!r} in row]", ""]
    return "\n".join(lines) + "\n"


def frontmatter(dice, name, terms):
    subject = name.split("-")[0]
    text = f"Works on every {subject} of a project. Use it when the user speaks of a {subject}. "
    text += " ".join(sentence(dice) for _ in range(dice.randint(1, 9)))
    text = text[:1_000].rstrip()
    way = dice.randrange(20)
    if way < 10:
        description = [f"description: {text}"]
    elif way < 16:
        description = [f'description: "{text.replace(". Use", ": use")}"']
    elif way < 19:
        description = ["description: >-", *("  " + part.strip() + "." for part in text.rstrip(".").split("."))]
    else:
        quoted = text.replace("'", "''")
        description = [f"description: '{quoted}' # for agents"]
    lines = [f"name: {name}", *description]
    if terms:
        lines.append(f"license: Proprietary. {terms} has the terms")
    elif dice.random() < 0.5:
        lines.append(f"license: {dice.choice(['MIT', 'Apache-2.0', 'BSD-3-Clause'])}")
    if dice.random() < 0.2:
        lines.append("compatibility: needs a POSIX shell and python3")
    if dice.random() < 0.4:
        lines += ["metadata:", f"  author: {dice.choice(SUBJECTS)}-team", f'  version: "{dice.randrange(9)}.1.0"']
    if dice.random() < 0.3:
        lines.append("allowed-tools: Read Bash(grep:*)")
    return "\n".join(["---", *lines, "---", "", ""])


def skill(number):
    """The name of skill `number` and its files: text by path."""
    dice = random.Random(number)
    name = f"{dice.choice(SUBJECTS)}-{dice.choice(JOBS)}-{number}"
    title = name.replace("-", " ").capitalize()
    files = {"scripts/run.sh": shell(dice, dice.randint(800, 2_500))}
    if dice.random() < 0.5:
        files["scripts/table.py"] = python(dice, dice.randint(1_000, 4_000))
    named = [*files, "references/guide.md"]
    for reference in ["guide", "examples", "terms"][: dice.randint(1, 3)]:
        files[f"references/{reference}.md"] = markdown(dice, reference.capitalize(), dice.randint(2_500, 7_500))
    terms = "LICENSE.txt" if dice.random() < 0.1 else None
    if terms:
        files[terms] = "\n\n".join(paragraph(dice) for _ in range(8)) + "\n"
    size = min(12_000, max(2_000, int(dice.lognormvariate(8.5, 0.4))))
    body = "\n".join([markdown(dice, title, size), *(f"- {mention(dice, file)}" for file in named), ""])
    files["SKILL.md"] = frontmatter(dice, name, terms) + body
    if dice.random() < 0.4:
        rows = [f'  "{dice.choice(SUBJECTS)}-{n}": "{sentence(dice)}"' for n in range(dice.randint(8, 30))]
        files["assets/words.json"] = "{\n" + ",\n".join(rows) + "\n}\n"
    return name, files


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    total = files = 0
    for number in range(int(sys.argv[1])):
        name, content = skill(number)
        for path, text in content.items():
            file = Path(sys.argv[2], name, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            if path.startswith("scripts/"):
                file.chmod(0o755)
            total += len(text)
            files += 1
    print(f"{sys.argv[1]} skills, {files} files, {total} bytes")


if __name__ == "__main__":
    main()
