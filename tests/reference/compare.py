#!/usr/bin/env python3
"""Makes skills with small faults and asks the reference validator about each of them.

    python -m venv venv && venv/bin/pip install skills-ref
    venv/bin/python tests/reference/compare.py --seeds DIRECTORY --count 5000 > cases.jsonl
    SKILLPM_REFERENCE_CASES=cases.jsonl cargo test --lib reference_cases -- --nocapture

DIRECTORY holds real skills; without it only texts that are made from scratch are written. The same
seed and the same skills give the same cases. `--check` writes the skills as they are.
"""

import argparse
import contextlib
import io
import json
import pathlib
import random
import tempfile

from skills_ref.validator import validate

VALUES = [
    "[]", "{}", "[a, b]", "{a: b}", "[a", "a]", "{{x}}", "a: b", "a:b", "a : b", ": a", ":a", "a:", "- a", "-a", "-",
    "? a", "?a", "?", "# a", "a # b", "a#b", "&a b", "*a", "!a b", "!!str a", "@a", "`a`", "%a", "|", ">", "|-", ">-",
    "|+", ">+", "|2", "|2-", ">-2", "|0", "| a", "|# a", "| # a", "|\t", "'a'", '"a"', "'a", '"a', "'a' b", '"a" b',
    "'it''s'", "'it's'", '"a\\"b"', '"\\q"', '"\\x41"', '"\\u00e9"', '"\\ud800"', '"\\ud83d\\ude00"', '"\\U00110000"',
    '"\\', '"\\/"', '"\\\t"', "~", "null", "true", "yes", "no", "1.0", "0x1f", "2026-01-01", "2026-01-01 10:00:00",
    "12:30:45", "=", "<<", ".inf", "...", "a ... b", "--- a", "a --- b", "a---b", "\ta", "a\t", "a\tb", "a\t# b", "",
    " ", "  ", "\u00a0", "\u2028", "a\u2028b", "\u0085", "a\u0085b", "\ufeff", "a\ufeffb", "\u200b", "a\x01b", "\x7f",
    "\ufffe", '"\\x1c"', '"\\x1fpdf \\x1d"', "𝐚", "ｐｄｆ", "技能", "हिन्दी", "ﬁle", "ǅ", "ß", "İ", "½", "①", "Ⅷ", "·", "a_b", "A", "a--b", "-a-", "a-",
    ",a", "a,b", "}", "]", "a]b", "a}", "\"a\": b", "'a': b", "x" * 64, "x" * 65, "x" * 500, "x" * 501, "x" * 1024,
    "x" * 1025, "é" * 1025, "'" + "x" * 1024 + " '", "'" + " " * 600 + "'", "'" + "x" * 499 + "  '", "\\", "a\\",
]
LINES = [
    "license: MIT", "version: 1.0", "name: other", "description: other", "compatibility:", "compatibility: ''",
    "compatibility: [a]", "compatibility:\n  - a", "compatibility:\n- a", "metadata:", "metadata: text", "metadata:\n  a: b",
    "metadata:\n  a:\n    b: c\n  d:\n      e: f", "metadata:\n    a: b\n  c: d", "metadata:\n  a: b\n    c: d",
    "metadata:\n  a: b\n   c", "metadata:\n\ta: b", "metadata:\n  \ta: b", "metadata:\n  a: b\n\n\tc: d", "metadata:\n  - a\n  - b: c\n    d: e",
    "metadata:\n- a\n- b", "metadata:\n- a\n  b: c", "metadata:\n  - - a", "metadata:\n  -\n  - a", "metadata:\n  -", "allowed-tools: Read",
    "allowed-tools:\n  - Read", "allowed-tools: [Read]", "x:\n  y: z", "x:\n y: z", "x:\n      y: z", "? x", "? x\n: y", "? [x]\n: y",
    "? - x\n: y", "? a: b\n: y", ": x", "x", "x y", "x:y", "# comment", "  # comment", "\t# comment", "   ", "\t", "...", "... ", "...x",
    "... # x", "%YAML 1.2", "%TAG ! x", "%x", " --- ", "  ---", "-----", "# ---", "x: |\n  a\n b", "x: |\n  a\n\n  b\n", "x: |\n\n  a", "x: |\n    a\n  b\nc: d",
    "x: |\n   \n  a", "x: >\n  a\n  b\n\n  c\n   d\n", "x: >2\n   a\n  b", "x: |1\n a", "x: |-\n  a  \n\n\n", "x: |\n# a\n  b", "x: |\n  a\n# b\n  c", "x: |\n",
    "x: 'a\n  b'", "x: 'a\nb'", "x: 'a\n\n  b'", 'x: "a\\\n  b"', 'x: "a\n  b', "x: a\n  b", "x: a\n  b: c", "x: a\n  # b\n  c", "x: a\nb", "x: a\n  - b",
    "x:\n  a\n  b", "x:\n  a\n  b: c", "x:\n  'a': b", "'x': y", '"x": y', "'x' : y", "x : y", "x\t: y", "x:\ty", "&x y: z", "!x y: z", "*x : y",
    "<<: x", "<<:\n  a: b", "<<:", "=: x", "x: =", "null: x", "~: x", "1: x", "true: x", "- x", "-", "- x: y", "[x]: y", "{x: y}", "{x}: y",
    "x" * 1020 + ": y", "x" * 1030 + ": y", '"' + "x" * 1030 + '": y', "x: y\nx: z", "x:\n  y: 1\n  y: 2", "Name: x", "name : x", "metadata:\n  name: x",
    "<<<<<<< ours", "=======", ">>>>>>> theirs", "x: 'a' # b", "x: 'a'# b", "x: a\n\n\n# b\n\ny: z", "x:\n\n  # b\n\n  y: z", "x:\n# b\n  y: z\n# c\n  d: e",
    "x:\n  y:\n  # b\nz: a", "x:\n  - a\n  # b\n\n  # c\n  - d", "x:\n  - a\n # b\n  - d", "x: # c\n  y: z", "x: # c\n  - y", "x: #c", "x: #\n- y", "x: >- # c\n  y",
    "license: # a\n  b\n\n", "license: # a\n  |\n  b\n\n", "license: # a\n  b\nc: d", "metadata:\n  a: # x\n    b\n\n    c\n\n  d: e",
    "license:\n  # a\n  b\n", "license: | # a\n  b\n\n", "<<:\n- a: b", "<<:\n  name: y", "metadata:\n  a: =\n  <<:\n    b: c", "compatibility: =",
    "x:\n  -   a: b\n      c: d", "x:\n  - a: b\n     c: d", "x: - y", "x: ? y", "x: a: b", "x: http://a.b", "x: a :b", "x: \"a\": b", "x: 'a': b", "x:: y", "x:",
]
CHARACTERS = list("\t\n\r :#-'\"|>[]{}&*!%@`?,.\\~_aZé0") + ["\u0085", "\u2028", "\ufeff", "\x00", "\x01", "---", "\r\n", " #", ": ", "\n\n", "\n  "]
COMMENTS = [
    "a:", "b:", "c:", "d:", " x", " # c", "# c", "\n", "\n", "\n  ", "\n  ", "\n    ", "- ", "-", "? ", ": ", " |", " >-", " |+", "\n\n", "\u0085",
    "\n  # d\n", "'q'", "\\x1c",
]
NAMES = ["pdf", "PDF", "-pdf", "p--f", "p_f", "p f", "p.f", "技能", "pаypal", "ｐｄｆ", "ﬁle", "Ⅷ", "½", "हिन्दी", "x" * 64, "x" * 65, "ß", "ŉ", "e\u0301", "\u00e9"]


def lines_of(text):
    """The text before, in and after the frontmatter, if it has one."""
    parts = text.split("---\n", 2)
    return parts if len(parts) == 3 and not parts[0] else None


def change_value(rng, lines):
    fields = [i for i, line in enumerate(lines) if ":" in line]
    if fields:
        i = rng.choice(fields)
        key = lines[i].split(":")[0]
        lines[i] = f"{key}:{rng.choice(['', ' ', ' ', ' ', '  ', chr(9)])}{rng.choice(VALUES)}"


def insert_line(rng, lines):
    lines[rng.randint(0, len(lines)):0] = rng.choice(LINES).split("\n")


def indent_line(rng, lines):
    if lines:
        i = rng.randrange(len(lines))
        lines[i] = rng.choice([" ", "  ", "   ", "\t", "    "]) + lines[i]


def outdent_line(rng, lines):
    if lines:
        i = rng.randrange(len(lines))
        lines[i] = lines[i].lstrip(" ") if rng.random() < 0.5 else lines[i][1:]


def drop_line(rng, lines):
    if lines:
        del lines[rng.randrange(len(lines))]


def double_line(rng, lines):
    if lines:
        lines.insert(rng.randint(0, len(lines)), rng.choice(lines))


def change_character(rng, lines):
    text = "\n".join(lines)
    at = rng.randint(0, len(text))
    lines[:] = (text[:at] + rng.choice(CHARACTERS) + text[at + rng.randint(0, 1):]).split("\n")


def drop_character(rng, lines):
    text = "\n".join(lines)
    at = rng.randint(0, len(text))
    lines[:] = (text[:at] + text[at + 1:]).split("\n")


FAULTS = [change_value, change_value, insert_line, insert_line, indent_line, outdent_line, drop_line, double_line, change_character, drop_character]


def change_file(rng, text):
    kind = rng.randrange(14)
    if kind == 0:
        return "\ufeff" + text
    if kind == 1:
        return rng.choice(["\n", " \n", " ", "\t\n", "# x\n", "x"]) + text
    if kind == 2:
        return text.replace("\n", "\r\n")
    if kind == 3:
        return text.replace("\n", "\r")
    if kind == 4:
        return text.replace("---\n", rng.choice(["----\n", "--- \n", "---\t\n", "--- x\n", "---x: y\n", "--- # x\n", "--\n", "---\n\n"]), 1)
    if kind == 5:
        head, _, rest = text.rpartition("---")
        return head + rng.choice(["", "--", "- - -", " ---", "...", "----", "--- x", "***"]) + rest
    if kind == 6:
        return text[: rng.randint(0, min(len(text), 600))]
    return text


def soup(rng):
    words = rng.choices(CHARACTERS + ["a", "b", ": ", "\n", "\n", "\n  ", "- ", "name:", "description:"], k=rng.randint(1, 25))
    return "---\n" + "".join(words) + "\n---\n"


def commented(rng):
    """Comments and empty lines in odd places, below a skill that is right."""
    words = "".join(rng.choices(COMMENTS, k=rng.randint(3, 16)))
    return "---\nname: pdf\ndescription: Reads PDF files.\nmetadata:\n  " + words + "\n---\n"


def made(rng):
    if rng.random() < 0.2:
        return soup(rng)
    if rng.random() < 0.2:
        return commented(rng)
    lines = rng.choices(LINES, k=rng.randint(0, 3))
    if rng.random() < 0.9:
        lines.append(f"name: {rng.choice(NAMES) if rng.random() < 0.3 else 'pdf'}")
    if rng.random() < 0.9:
        lines.append(f"description: {rng.choice(VALUES) if rng.random() < 0.3 else 'Reads PDF files.'}")
    rng.shuffle(lines)
    return "---\n" + "\n".join(lines) + "\n---\nBody.\n"


def case(rng, seeds):
    name, text = rng.choice(seeds) if seeds and rng.random() < 0.6 else ("pdf", made(rng))
    parts = lines_of(text)
    if parts and rng.random() < 0.8:
        lines = parts[1].split("\n")
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            rng.choice(FAULTS)(rng, lines)
        text = "---\n" + "\n".join(lines) + "---\n" + parts[2]
    if rng.random() < 0.3:
        text = change_file(rng, text)
    if rng.random() < 0.02:
        name = rng.choice(NAMES)
    file = rng.choice(["skill.md", "Skill.md", "SKILL.MD"]) if rng.random() < 0.02 else "SKILL.md"
    return name, file, text[:100_000].encode()


def verdict(root, name, file, data):
    """The first lines of the reference validator's messages."""
    directory = pathlib.Path(root, name)
    directory.mkdir(exist_ok=True)
    path = directory / file
    path.write_bytes(data)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            return [error.split("\n")[0] for error in validate(directory)]
    except Exception as error:  # Whatever nobody caught there is a crash of the program.
        return [f"CRASH {type(error).__name__}: {str(error)[:80]}"]
    finally:
        path.unlink()


def read_seeds(root):
    seeds = []
    for path in sorted(pathlib.Path(root).rglob("SKILL.md")):
        seeds.append((path.parent.name, path.read_bytes()))
    return seeds


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--seeds", help="a directory with real skills")
    options.add_argument("--count", type=int, default=1000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--check", action="store_true", help="no faults: the real skills as they are")
    given = options.parse_args()
    seeds = read_seeds(given.seeds) if given.seeds else []
    rng = random.Random(given.seed)
    texts = [(name, data.decode(errors="replace")[:8000]) for name, data in seeds]
    with tempfile.TemporaryDirectory() as root:
        wanted = [(n, "SKILL.md", d) for n, d in seeds] if given.check else (case(rng, texts) for _ in range(given.count))
        for name, file, data in wanted:
            errors = verdict(root, name, file, data)
            # Half of a surrogate pair is no text outside of Python.
            errors = [error.encode(errors="replace").decode() for error in errors]
            print(json.dumps({"directory": name, "file": file, "hex": data.hex(), "errors": errors}))


if __name__ == "__main__":
    main()
