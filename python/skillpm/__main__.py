"""The command ``skillpm``: ``python -m skillpm`` and the script that the package installs."""

from __future__ import annotations

import sys

from skillpm import _native


def main() -> int:
    """Run the command with the arguments of this process and return its exit code."""
    return _native.main(["skillpm", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
