"""Asks whether every address that the pages link to exists, and prints those that do not.

It needs the network, so no test runs it: `make links`.
"""

import re
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"(?:\]\(|^\[[^\]]+\]: )(https?://[^\s)]+)", re.MULTILINE)
CODE = re.compile(r"^\s*```.*?^\s*```", re.MULTILINE | re.DOTALL)


def addresses() -> dict[str, set[str]]:
    """Return each address, without its fragment, with the pages that link to it."""
    found = defaultdict(set)
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("skills/**/*.md")]:
        for address in LINK.findall(CODE.sub("", page.read_text(encoding="utf-8"))):
            found[address.partition("#")[0]].add(str(page.relative_to(ROOT)))
    return found


def fault(address: str) -> str | None:
    """Return what is wrong with an address. A host that refuses programs is not at fault."""
    try:
        urlopen(Request(address, headers={"User-Agent": "skillpm-links"}), timeout=20).close()
    except HTTPError as error:
        return None if error.code in (403, 429) else str(error.code)
    except OSError as error:
        return str(error)
    return None


def main() -> bool:
    """Check all addresses. Return whether one is at fault."""
    found = addresses()
    with ThreadPoolExecutor(8) as pool:
        faults = dict(zip(found, pool.map(fault, found)))
    bad = {address: what for address, what in faults.items() if what}
    for address, what in sorted(bad.items()):
        print(f"{address}: {what} ({', '.join(sorted(found[address]))})")
    print(f"{len(found)} addresses, {len(bad)} with faults", file=sys.stderr)
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
