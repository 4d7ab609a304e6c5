"""Draws the chart of docs/guide/benchmarks.md from the tables of that page.

    python3 benches/chart.py             write docs/images/benchmarks.svg
    python3 benches/chart.py --check     end with 1 if it is not what the tables say
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/guide/benchmarks.md"
CHART = ROOT / "docs/images/benchmarks.svg"
# What is shown of each table: the heading of its section, a title, and a pattern of the rows.
PANELS = (
    (
        "Beside the least that is needed",
        "CPU time of skillpm for 1,000 skills; the least that is needed is 1",
        r"(?P<what>(?:validate|list|catalog|install|verify) 1,000(?:| from a .*))$",
    ),
    (
        "Beside other validators",
        "CPU time of other validators for 1,000 skills; skillpm is 1",
        r"(?P<what>.*), 1,000 skills",
    ),
)
WIDTH, LABELS, LINE, END = 720, 230, 26, 60
STYLE = """
text { font: 14px system-ui, sans-serif; fill: #1f2430 }
.title { font-weight: 600 } .scale { stroke: #59616e; stroke-dasharray: 3 3 }
.ground { fill: #f6f7fa } .first { fill: #3f51b5 } .second { fill: #9aa3b2 }
@media (prefers-color-scheme: dark) {
  text { fill: #dfe3ea } .ground { fill: #23262f } .first { fill: #8c9eff } .second { fill: #6b7485 }
  .scale { stroke: #aab2c0 }
}
"""


def rows(text, heading, pattern):
    """Return the names and the last numbers of the rows of a section that match."""
    section = re.split(r"\n## ", text.split(f"## {heading}\n", 1)[1])[0]
    cells = ([cell.strip().replace("`", "") for cell in line.strip("|").split("|")] for line in section.splitlines())
    found = ((re.match(pattern, row[0]), row) for row in cells)
    named = [(match["what"].replace(" 1,000", ""), float(row[-1])) for match, row in found if match]
    return sorted(named, key=lambda row: row[1])


def drawn(text):
    """Return the chart of the page `text`."""
    panels = [(title, rows(text, heading, pattern)) for heading, title, pattern in PANELS]
    most = max(value for _, bars in panels for _, value in bars)
    unit = (WIDTH - LABELS - END) / most
    body, y = [], 14
    for kind, (title, bars) in zip(("first", "second"), panels):
        y += LINE
        body.append(f'<text class="title" x="20" y="{y - 8}">{title}</text>')
        for what, value in bars:
            body.append(f'<text x="20" y="{y + 17}">{what}</text>')
            body.append(
                f'<rect class="{kind}" x="{LABELS}" y="{y + 4}" width="{value * unit:.1f}" height="{LINE - 8}" rx="2"/>'
            )
            body.append(f'<text x="{LABELS + max(value, 1) * unit + 8:.1f}" y="{y + 17}">{value:.1f}</text>')
            y += LINE
        top = y - LINE * len(bars)
        body.append(f'<path class="scale" d="M{LABELS + unit:.1f} {top}V{y}"/>')
        y += 12
    height = y + 4
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}">\n'
        f"<style>{STYLE}</style>\n"
        f'<rect class="ground" width="100%" height="100%" rx="8"/>\n' + "\n".join(body) + "\n</svg>\n"
    )


def main():
    """Write or check the chart. Return whether it differs."""
    chart = drawn(PAGE.read_text(encoding="utf-8"))
    if "--check" in sys.argv[1:]:
        return not CHART.exists() or CHART.read_text(encoding="utf-8") != chart
    CHART.write_text(chart, encoding="utf-8")
    return False


if __name__ == "__main__":
    sys.exit(main())
