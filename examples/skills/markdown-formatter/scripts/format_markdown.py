#!/usr/bin/env python3
"""Format Markdown files without changing what they mean.

What is normalised:

  headings      `#` style with one space and no closing hashes; a blank line around
  list markers  `-` for every bullet, where no neighbouring list would merge
  tables        columns padded to equal width; wide tables get single spaces
  blanks        no trailing blanks (hard line breaks stay), no double blank lines,
                one line end at the end of the file

What is never touched: front matter, fenced and indented code, HTML blocks, math
blocks and block quotes. Line ends (LF or CRLF) stay as they are.

Needs Python 3.8 or newer and nothing else.
"""

import argparse
import difflib
import os
import re
import sys
import tempfile
import unicodedata

EXIT_OK, EXIT_FINDINGS, EXIT_ERROR = 0, 1, 2
# A table with wider rows than this is written without padding.
MAX_TABLE_WIDTH = 120

# What a line is.
BLANK, TEXT, ITEM, HEADING, RULE, TABLE, CODE, VERBATIM, GONE = range(9)

ATX = re.compile(r"(#{1,6})(?:[ \t]+(.*?))?[ \t]*$")
CLOSING_HASHES = re.compile(r"[ \t]+#+$")
FENCE = re.compile(r"(`{3,})[^`]*$|(~{3,})")
THEMATIC_BREAK = re.compile(r"([-*_])[ \t]*(?:\1[ \t]*){2,}$")
MARKER = re.compile(r"([*+-]|\d{1,9}[.)])(?=[ \t]|$)")
QUOTE_MARKS = re.compile(r"(?:>[ \t]*)+")
SETEXT = re.compile(r"(=+|-+)[ \t]*$")
DELIMITER_ROW = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
REFERENCE_DEFINITION = re.compile(r"\[[^\]]*\]:")
MATH = re.compile(r"[ \t]*\$\$[ \t]*$")

BLOCK_TAGS = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|"
    "dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|"
    "hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|"
    "search|section|source|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul"
)
ATTRIBUTE = r"[ \t]+[A-Za-z_:][\w.:-]*(?:[ \t]*=[ \t]*(?:[^ \t\"'=<>`]+|'[^']*'|\"[^\"]*\"))?"
# Where an HTML block begins, and where it ends: `None` is the next blank line.
HTML_BLOCKS = [
    (re.compile(r"<(?:script|pre|style|textarea)(?:[ \t>]|$)", re.I),
     re.compile(r"</(?:script|pre|style|textarea)>", re.I)),
    (re.compile(r"<!--"), re.compile(r"-->")),
    (re.compile(r"<\?"), re.compile(r"\?>")),
    (re.compile(r"<![A-Za-z]"), re.compile(r">")),
    (re.compile(r"<!\[CDATA\["), re.compile(r"\]\]>")),
    (re.compile(r"</?(?:%s)(?:[ \t]|/?>|$)" % BLOCK_TAGS, re.I), None),
]
LONE_TAG = re.compile(r"(?:<[A-Za-z][A-Za-z0-9-]*(?:%s)*[ \t]*/?>|</[A-Za-z][A-Za-z0-9-]*[ \t]*>)[ \t]*$" % ATTRIBUTE)


def skip_blanks(line, position, column):
    """Returns position and column of the first character that is no blank."""
    while position < len(line) and line[position] in " \t":
        column += 4 - column % 4 if line[position] == "\t" else 1
        position += 1
    return position, column


def display_width(text):
    """Returns how many columns `text` takes on a terminal."""
    width = 0
    for character in text:
        if unicodedata.category(character) not in ("Mn", "Me", "Cf"):
            width += 2 if unicodedata.east_asian_width(character) in "WF" else 1
    return width


def html_start(text, in_paragraph):
    """Returns `(True, end)` where an HTML block begins."""
    for start, end in HTML_BLOCKS:
        if start.match(text):
            return True, end
    if not in_paragraph and LONE_TAG.match(text):
        return True, None
    return False, None


def split_row(text):
    """Splits a table row into cells, or returns None where readers disagree about it."""
    text = text.strip(" \t")
    if "\\\\|" in text:
        return None
    cells = re.split(r"(?<!\\)\|", text)
    if len(cells) > 1 and cells[0] == "":
        cells.pop(0)
    if len(cells) > 1 and cells[-1].strip(" \t") == "":
        cells.pop()
    return [cell.strip(" \t") for cell in cells]


def has_pipe(text):
    return re.search(r"(?<!\\)\|", text) is not None


class Formatter:
    """Reads the blocks of a document line by line, as CommonMark and GitHub do."""

    def __init__(self, text):
        self.lines = text.split("\n")
        self.carriage = [line.endswith("\r") for line in self.lines]
        self.lines = [line[:-1] if line.endswith("\r") else line for line in self.lines]
        self.crlf = sum(self.carriage) * 2 > len(self.lines) - 1 > 0
        self.kinds = [VERBATIM] * len(self.lines)
        self.new = list(self.lines)
        self.continues = [False] * len(self.lines)  # the line goes on with the paragraph before
        self.in_span = [False] * len(self.lines)  # the line ends inside of a code span
        self.after_code = set()  # lines right after a fence that nothing closed: a blank would be code
        self.warnings = []
        # Where the reader stands.
        self.stack = []  # columns at which the content of the open list items begins
        self.paragraph = None  # first line of the open paragraph
        self.last = None  # its last line so far
        self.empty_item = None  # a line that ends with a bare marker
        self.opaque = False  # the open paragraph belongs to a quote or a table
        self.block = None  # an open fence, HTML block or table
        self.ticks = 0
        self.lists = {}  # open bullet lists by depth
        self.all_lists = []
        self.tables = []

    # -- reading -----------------------------------------------------------------------------

    def read(self):
        index = self.front_matter()
        while index < len(self.lines):
            self.read_line(index)
            index += 1
        if self.block and self.block[0] == "fence":
            self.unclosed()

    def unclosed(self):
        self.warnings.append("line %d: this code fence is never closed" % (self.block[3] + 1))

    def front_matter(self):
        first = self.lines[0].rstrip(" \t")
        ends = {"---": ("---", "..."), "+++": ("+++",)}.get(first, ())
        for index in range(1, len(self.lines) if ends else 0):
            if self.lines[index].rstrip(" \t") in ends:
                return index + 1
        return 0

    def read_line(self, index):
        line = self.lines[index]
        position, column = skip_blanks(line, 0, 0)
        text = line[position:]
        if self.block and self.inside_block(index, text, column):
            return
        if not text:
            self.kinds[index] = BLANK
            self.end_paragraph()
            if self.empty_item is not None and self.empty_item == index - 1:
                self.stack.pop()  # nothing more can come into that item
            return
        matched = 0
        while matched < len(self.stack) and self.stack[matched] <= column:
            matched += 1
        base = self.stack[matched - 1] if matched else 0
        whole = matched == len(self.stack)
        if column - base >= 4:
            if self.paragraph is None:
                self.leave(matched)
                self.kinds[index] = CODE
            else:
                self.continue_paragraph(index)
            return
        here = self.paragraph is not None and whole and not self.opaque
        if here and SETEXT.match(text):
            self.setext(index, text)
            return
        if self.starts_block(text, here):
            self.end_paragraph()
            self.leave(matched)
            self.start_block(index, position, column, matched)
        elif self.paragraph is not None:
            if here and self.starts_table(index, text):
                return
            self.continue_paragraph(index)
        else:
            self.leave(matched)
            self.start_paragraph(index, TEXT)

    def inside_block(self, index, text, column):
        """Whether the line belongs to the open block, which it may close."""
        kind, end, base = self.block[:3]
        left = text and column < base
        if kind == "fence":
            if left:
                self.unclosed()
                self.after_code.add(index)
                self.block = None
                return False
            fence, length = end
            bare = text.rstrip(" \t")
            if column - base < 4 and len(bare) >= length and bare == fence * len(bare):
                self.block = None
            return True
        if kind == "html":
            if left or (end is None and not text):
                self.block = None
                return False
            if end is not None and end.search(text):
                self.block = None
            return True
        # A table: it ends at a blank line or at another block.
        table = self.tables[-1]
        if not text or left or column - base >= 4 or self.starts_block(text, True):
            self.block = None
            return False
        if has_pipe(text):
            table.append(index)
            self.kinds[index] = TABLE
        else:
            # A row without a pipe: what follows it is a row as well.
            self.block = None
            self.paragraph, self.opaque = index, True
        return True

    def starts_block(self, text, in_paragraph):
        if text[0] == ">" or ATX.match(text) or FENCE.match(text) or THEMATIC_BREAK.match(text):
            return True
        if html_start(text, self.in_prose())[0]:
            return True
        marker = MARKER.match(text)
        if not marker:
            return False
        if in_paragraph:
            # Only some items may interrupt a paragraph.
            return text[marker.end():].strip(" \t") != "" and marker.group(1) in ("*", "+", "-", "1.", "1)")
        return True

    def in_prose(self):
        """Whether the line before is text of a paragraph, which a lone tag goes on with."""
        if self.block:
            return True  # rows of a table
        if self.paragraph is None:
            return False
        if self.opaque:
            return True
        ends = (self.lines[self.paragraph], self.lines[self.last])
        return not all(REFERENCE_DEFINITION.match(line.lstrip(" \t")) for line in ends)

    def start_block(self, index, position, column, depth):
        """Reads the block that begins at `position`, and the ones in it on the same line."""
        line = self.lines[index]
        text = line[position:]
        top_level = depth == 0
        kind = VERBATIM
        while THEMATIC_BREAK.match(text) is None and MARKER.match(text):
            marker = MARKER.match(text).group(1)
            after = position + len(marker)
            next_position, next_column = skip_blanks(line, after, column + len(marker))
            blanks = next_column - column - len(marker)
            empty = next_position == len(line)
            self.add_item(index, position, marker, depth, empty)
            kind = ITEM
            depth += 1
            top_level = False
            if empty or blanks >= 5:
                self.stack.append(column + len(marker) + 1)
                self.empty_item = index if empty else None
                self.kinds[index] = VERBATIM
                return
            self.stack.append(next_column)
            position, column, text = next_position, next_column, line[next_position:]
        base = self.stack[-1] if self.stack else 0
        self.kinds[index] = VERBATIM
        fence = FENCE.match(text)
        if text[0] == ">":
            inner = QUOTE_MARKS.sub("", text)
            if inner and not (ATX.match(inner) or FENCE.match(inner) or THEMATIC_BREAK.match(inner)):
                self.paragraph, self.opaque = index, True
        elif fence:
            run = fence.group(1) or fence.group(2)
            self.block = ("fence", (run[0], len(run)), base, index)
        elif html_start(text, False)[0]:
            end = html_start(text, False)[1]
            if end is None or not end.search(text):
                self.block = ("html", end, base)
        elif ATX.match(text):
            if top_level:
                self.heading(index, ATX.match(text))
        elif THEMATIC_BREAK.match(text):
            self.kinds[index] = VERBATIM if kind == ITEM else RULE
        else:
            self.start_paragraph(index, ITEM)

    def start_paragraph(self, index, kind):
        if kind == TEXT and MATH.match(self.lines[index]) and self.math(index):
            return
        self.kinds[index] = kind
        self.paragraph, self.opaque, self.ticks = index, False, 0
        self.last = index
        self.count_ticks(index)

    def continue_paragraph(self, index):
        if self.opaque:
            return
        self.kinds[index] = TEXT
        self.continues[index] = True
        self.last = index
        self.count_ticks(index)

    def count_ticks(self, index):
        self.ticks += self.lines[index].count("`")
        self.in_span[index] = self.ticks % 2 == 1

    def math(self, index):
        """Whether a block of math begins here: a `$$` line with another one after it."""
        for later in range(index + 1, len(self.lines)):
            text = self.lines[later].strip(" \t")
            if FENCE.match(text):
                return False
            if text == "$$":
                self.block = ("html", MATH, self.stack[-1] if self.stack else 0)
                return True
        return False

    def end_paragraph(self):
        self.paragraph, self.opaque = None, False

    def leave(self, depth):
        """Closes the list items and lists that a block at `depth` does not belong to."""
        del self.stack[depth:]
        self.lists = {at: group for at, group in self.lists.items() if at < depth or (at == depth and group)}
        self.pending = self.lists.pop(depth, None)

    def add_item(self, index, position, marker, depth, empty):
        """Adds an item to the bullet list at `depth`, or begins a list there."""
        group = self.pending
        self.pending = None
        if marker not in "*+-":
            return
        if group is None:
            group = {"markers": set(), "places": []}
            self.all_lists.append(group)
        group["markers"].add(marker)
        if empty:
            # `*` alone: as a `-` it might turn the line before into a heading.
            group["markers"].add("")
        group["places"].append((index, position))
        self.lists[depth] = group

    def heading(self, index, match):
        content = match.group(2) or ""
        shorter = CLOSING_HASHES.sub("", content)
        if not shorter.strip("#") or CLOSING_HASHES.search(shorter):
            return  # an empty heading, or one whose text ends with a hash
        self.kinds[index] = HEADING
        self.new[index] = match.group(1) + " " + shorter

    def setext(self, index, underline):
        """A paragraph that its underline makes a heading."""
        text = self.lines[index - 1].strip(" \t")
        plain = (
            self.paragraph == index - 1
            and self.kinds[index - 1] == TEXT
            and not self.stack
            and self.kinds[index - 2:index - 1] != [VERBATIM]
            and "|" not in text
            and not REFERENCE_DEFINITION.match(text)
            and not text.endswith(("#", "\\"))
        )
        if "|" in text and underline[0] == "-":
            self.opaque = True  # some readers see a table here
            return
        if plain:
            self.kinds[index - 1] = HEADING
            self.new[index - 1] = ("# " if underline[0] == "=" else "## ") + text
            self.kinds[index] = GONE
        self.end_paragraph()

    def starts_table(self, index, text):
        """Whether the line is the delimiter row of a table whose header is the line before."""
        if not DELIMITER_ROW.match(text) or self.kinds[index - 1] != TEXT:
            return False
        header = self.lines[index - 1]
        if not has_pipe(header) or not has_pipe(text):
            return False
        cells = split_row(header)
        if cells is None or len(cells) != len(split_row(text)):
            return False
        if self.paragraph != index - 1 and not header.lstrip(" \t").startswith("|"):
            self.opaque = True  # some readers see a table here
            return True
        self.tables.append([index - 1, index])
        self.kinds[index - 1] = self.kinds[index] = TABLE
        self.continues[index - 1] = False
        self.end_paragraph()
        self.block = ("table", None, self.stack[-1] if self.stack else 0)
        return True

    # -- writing -----------------------------------------------------------------------------

    def normalise_markers(self):
        for group in self.all_lists:
            if len(group["markers"]) != 1 or group["markers"] == {"-"}:
                continue  # lists that touch would merge under one marker
            changed = {}
            for index, position in group["places"]:
                line = changed.get(index, self.new[index])
                changed[index] = line[:position] + "-" + line[position + 1:]
            if not any(THEMATIC_BREAK.match(line.lstrip(" \t")) for line in changed.values()):
                for index, line in changed.items():
                    self.new[index] = line

    def align_tables(self):
        for table in self.tables:
            indents = {re.match(r"[ \t]*", self.lines[index]).group() for index in table}
            rows = [split_row(self.lines[index]) for index in table]
            columns = len(rows[0])
            if len(indents) != 1 or any(row is None or len(row) > columns for row in rows):
                continue
            rows = [row + [""] * (columns - len(row)) for row in rows]
            widths = [max(3, *(display_width(row[at]) for row in rows[:1] + rows[2:])) for at in range(columns)]
            if sum(widths) + 3 * columns + 1 > MAX_TABLE_WIDTH:
                widths = [3 if ":" in cell else 0 for cell in rows[1]]
            for index, row in zip(table, rows):
                if index == table[1]:
                    cells = [delimiter(cell, width) for cell, width in zip(row, widths)]
                else:
                    cells = [pad(cell, width, mark) for cell, width, mark in zip(row, widths, rows[1])]
                self.new[index] = next(iter(indents)) + "| " + " | ".join(cells) + " |"

    def strip_blanks(self):
        for index, kind in enumerate(self.kinds):
            line = self.new[index]
            bare = line.rstrip(" \t")
            if kind in (TEXT, ITEM):
                goes_on = index + 1 < len(self.lines) and self.continues[index + 1]
                if goes_on and (self.in_span[index] or bare.endswith("\\")):
                    continue
                hard_break = goes_on and line.endswith("  ")
                self.new[index] = bare + "  " if hard_break else bare
            elif kind == RULE:
                self.new[index] = bare

    def write(self):
        out = []  # (line, carriage return, whether it is a blank line of ours to place)
        count = len(self.lines)
        index = 0
        while index < count:
            kind = self.kinds[index]
            if kind == BLANK:
                end = index
                while end < count and self.kinds[end] == BLANK:
                    end += 1
                if 0 < index and end < count and self.kinds[index - 1] == self.kinds[end] == CODE:
                    out += [(self.lines[at], self.carriage[at]) for at in range(index, end)]
                elif end < count and (out[-1][0] != "" if out else opens_front_matter(self.lines[end])):
                    out.append(("", self.crlf))
                index = end
                continue
            if kind != GONE:
                if kind == HEADING and out and out[-1][0] != "" and index not in self.after_code:
                    out.append(("", self.crlf))
                out.append((self.new[index], self.carriage[index]))
                following = index + 1 + (self.kinds[index + 1:index + 2] == [GONE])
                if kind == HEADING and following < count and self.kinds[following] != BLANK:
                    out.append(("", self.crlf))
            index += 1
        if not out:
            return ""
        text = "\n".join(line + ("\r" if carriage else "") for line, carriage in out)
        if self.block and self.block[0] == "fence":
            return text  # inside of code to the end
        if text.endswith("\n"):
            return text
        return text + "\n" if text.endswith("\r") or not self.crlf else text + "\r\n"


def opens_front_matter(line):
    """Whether the line would be taken for the start of front matter as the first of a file."""
    return line.rstrip(" \t") in ("---", "+++")


def delimiter(cell, width):
    left, right = cell.startswith(":"), cell.endswith(":")
    dashes = "-" * (max(width, 3) - left - right)
    return (":" if left else "") + dashes + (":" if right else "")


def pad(cell, width, mark):
    space = max(0, width - display_width(cell))
    if mark.startswith(":") and mark.endswith(":") and len(mark) > 1:
        return " " * (space // 2) + cell + " " * (space - space // 2)
    if mark.endswith(":"):
        return " " * space + cell
    return cell + " " * space


def format_markdown(text):
    """Returns the formatted text and a list of warnings."""
    if re.search("\r(?!\n)", text):
        return text, ["left alone: it has lone carriage returns, which readers take for line ends or not"]
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    formatter = Formatter(text[len(mark):])
    formatter.read()
    formatter.normalise_markers()
    formatter.align_tables()
    formatter.strip_blanks()
    return mark + formatter.write(), formatter.warnings


# -- command line ----------------------------------------------------------------------------


def replace_file(path, content):
    """Writes the new content beside the file, then takes its place."""
    path = os.path.realpath(path)
    mode = os.stat(path).st_mode & 0o7777
    handle, beside = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".format-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(beside, mode)
        os.replace(beside, path)
    except BaseException:
        os.unlink(beside)
        raise


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(
        prog="format_markdown.py",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="Exit status: 0 all is well, 1 --check found a file to format, 2 a file could not be "
        "read or written, or the arguments make no sense.",
    )
    parser.add_argument("files", nargs="*", metavar="FILE",
                        help="files to format in place; `-` or none formats standard input to standard output")
    parser.add_argument("--check", action="store_true", help="write nothing; name the files that would change")
    parser.add_argument("--diff", action="store_true", help="write nothing; show what would change")
    options = parser.parse_args(arguments)
    if not options.files:
        if sys.stdin is None or sys.stdin.isatty():
            parser.error("name a file, or pipe a document to standard input")
        options.files = ["-"]
    if "-" in options.files and len(options.files) > 1:
        parser.error("`-` stands for standard input and goes with no other file")
    return options


def run(arguments):
    options = parse_arguments(arguments)
    output = sys.stdout.buffer
    failed = changed = False
    for path in options.files:
        name = "<stdin>" if path == "-" else path
        try:
            if path == "-":
                old = sys.stdin.buffer.read()
            else:
                with open(path, "rb") as file:
                    old = file.read()
            text = old.decode("utf-8")
            formatted, warnings = format_markdown(text)
            new = formatted.encode("utf-8")
            for warning in warnings:
                print("%s: warning: %s" % (name, warning), file=sys.stderr)
            changed = changed or new != old
            if options.diff:
                lines = difflib.unified_diff(
                    text.splitlines(True), formatted.splitlines(True), name, name + " (formatted)")
                output.write("".join(line if line.endswith("\n") else line + "\n" for line in lines).encode("utf-8"))
            elif options.check:
                if new != old:
                    output.write((name + "\n").encode("utf-8", "surrogateescape"))
            elif path == "-":
                output.write(new)
            elif new != old:
                replace_file(path, new)
                print("formatted %s" % name, file=sys.stderr)
        except UnicodeDecodeError as error:
            failed = True
            print("%s: error: not UTF-8 (byte %d)" % (name, error.start), file=sys.stderr)
        except OSError as error:
            failed = True
            print("%s: error: %s" % (name, error.strerror or error), file=sys.stderr)
    output.flush()
    if failed:
        return EXIT_ERROR
    return EXIT_FINDINGS if options.check and changed else EXIT_OK


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
